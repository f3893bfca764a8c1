//! The wire of 2026-07-28: no conversation is begun or named, and each request says who asks and what it is, in its body and
//! above it. What stands above has to be what stands in the body: who routes by the one must not be led astray by the other.

use super::{Asked, VERSION, options};
use crate::answer::{json as answered, refusal};
use crate::guard::one;
use crate::server::Gateway;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp::Conversation;
use serde_json::{Value, json};
use std::sync::Arc;

/// The version.
pub(crate) const WIRE: &str = "2026-07-28";
/// Says the method of a request above its body.
static METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// Says what the method is about: a tool, a resource.
static NAME: HeaderName = HeaderName::from_static("mcp-name");
/// Bytes of what a client is known by, which it says itself; its folder among them.
const KNOWN_BY_BYTES_MAX: usize = 16 * 1024;
/// Where a request says its version, and who asks.
const META_VERSION: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
const META_CLIENT: &str = "/params/_meta/io.modelcontextprotocol~1clientInfo";
const META_CAN: &str = "/params/_meta/io.modelcontextprotocol~1clientCapabilities";
/// Errors of the protocol.
const NOT_FOUND: i64 = -32_601;
const INVALID: i64 = -32_602;
const INTERNAL: i64 = -32_603;
const HEADER_MISMATCH: i64 = -32_020;
const VERSION_UNKNOWN: i64 = -32_022;

/// Whether a message is of this wire: it says so above it or in its body, or asks what only this wire knows.
pub(super) fn is(headers: &HeaderMap, message: &Value) -> bool {
    let method = message.get("method").and_then(Value::as_str);
    let says = message.pointer(META_VERSION).is_some() || one(headers, &VERSION) == Some(WIRE);
    method == Some("server/discover") || says
}

/// One request to its answer.
pub(super) async fn answer(
    gateway: &Arc<Gateway>,
    query: &str,
    headers: &HeaderMap,
    message: Value,
) -> Response {
    let id = message.get("id").cloned().unwrap_or_default();
    if id.is_null() || message.get("method").is_none() {
        // Nothing that an agent only notifies of, or answers, changes anything here. A call whose connection ends goes on, and
        // the same call again finds it.
        return StatusCode::ACCEPTED.into_response();
    }
    if let Err(why) = agrees(headers, &message) {
        let error =
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": HEADER_MISMATCH, "message": why } });
        return answered(StatusCode::BAD_REQUEST, &error);
    }
    if message.get("method").and_then(Value::as_str) == Some("initialize") {
        let error =
            json!({ "code": NOT_FOUND, "message": format!("nothing is begun on the wire of {WIRE}") });
        return answered(StatusCode::NOT_FOUND, &json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    }
    let options = match options(gateway, query).await {
        Ok(options) => options,
        Err(error) => return refusal(&error),
    };
    // What a client has received of its own calls is known as long as this stands; everything else stands in the store.
    let client = ["name", "version"].map(|member| message.pointer(&format!("{META_CLIENT}/{member}")));
    let name = json!([WIRE, options.workspace, options.profile, client]).to_string();
    if name.len() > KNOWN_BY_BYTES_MAX {
        let error = json!({ "code": INVALID, "message": "say in a few words who asks: what `clientInfo` says is too long" });
        return answered(StatusCode::BAD_REQUEST, &json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    }
    let begin = || Conversation::begin(Arc::new(Asked(Arc::clone(gateway))), options);
    let conversation = gateway.agents.find_or_begin(&name, gateway.now(), begin);
    let has_meta = [META_VERSION, META_CAN].iter().all(|at| message.pointer(at).is_some());
    match conversation.say(message).await {
        Some(answer) => answered(status(&answer, has_meta), &answer),
        None => {
            gateway.agents.end(&name);
            let error = json!({ "code": INTERNAL, "message": "it broke off; make the request again" });
            answered(
                StatusCode::INTERNAL_SERVER_ERROR,
                &json!({ "jsonrpc": "2.0", "id": id, "error": error }),
            )
        }
    }
}

/// The status of an answer: what a proxy between may see of an error.
fn status(answer: &Value, has_meta: bool) -> StatusCode {
    match answer.pointer("/error/code").and_then(Value::as_i64) {
        Some(NOT_FOUND) => StatusCode::NOT_FOUND,
        Some(VERSION_UNKNOWN) => StatusCode::BAD_REQUEST,
        Some(INVALID) if !has_meta => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// Whether version, method and name above the body are those in it.
fn agrees(headers: &HeaderMap, message: &Value) -> Result<(), String> {
    let text = |at: &str| message.pointer(at).and_then(Value::as_str);
    let about = match text("/method") {
        Some("tools/call" | "prompts/get") => text("/params/name"),
        Some("resources/read") => text("/params/uri"),
        _ => None,
    };
    let said = [
        ("MCP-Protocol-Version", &VERSION, text(META_VERSION)),
        ("Mcp-Method", &METHOD, text("/method")),
        ("Mcp-Name", &NAME, about),
    ];
    for (name, header, in_body) in said {
        let Some(in_body) = in_body else { continue };
        let above = one(headers, header).ok_or_else(|| format!("`{name}` is not there, or there twice"))?;
        if plain(above).as_deref() != Some(in_body) {
            return Err(format!("`{name}` says something else than the body of the request"));
        }
    }
    Ok(())
}

/// The value of a header: as it stands, or in Base64 where it could not stand there.
fn plain(value: &str) -> Option<String> {
    let inner = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    match inner {
        None => Some(value.to_owned()),
        Some(inner) => String::from_utf8(STANDARD.decode(inner).ok()?).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn above(all: &[(&HeaderName, &'static str)]) -> HeaderMap {
        all.iter().map(|(name, value)| ((*name).clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn what_stands_above_a_request_is_what_stands_in_it() {
        let call = json!({ "method": "tools/call", "params": {
            "name": "read", "_meta": { "io.modelcontextprotocol/protocolVersion": WIRE } } });
        let right = [(&VERSION, WIRE), (&METHOD, "tools/call"), (&NAME, "=?base64?cmVhZA==?=")];
        assert_eq!(agrees(&above(&right), &call), Ok(()));
        for at in 0..right.len() {
            let missing: Vec<_> =
                right.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, one)| *one).collect();
            assert!(agrees(&above(&missing), &call).is_err(), "{at}");
            let mut other = right;
            if let Some(one) = other.get_mut(at) {
                one.1 = "=?base64?!?=";
            }
            assert!(agrees(&above(&other), &call).is_err(), "{at}");
        }
        let list = json!({ "method": "tools/list" });
        assert_eq!(agrees(&above(&[(&METHOD, "tools/list")]), &list), Ok(()));
    }
}
