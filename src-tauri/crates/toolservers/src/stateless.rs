//! The wire of 2026-07-28 over HTTP: no conversation is kept, each request says who asks, and what a server wants to know
//! first is an answer, after which it is asked again.

use crate::conversation::capabilities;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use effects::Offers;
use serde_json::{Map, Value, json};

/// The wire.
pub(crate) const WIRE: &str = "2026-07-28";
/// How often a server is asked again in one call.
pub(crate) const ROUNDS_MAX: usize = 10;
/// Bytes of what a server wants to have back.
const STATE_BYTES_MAX: usize = 64 * 1024;

/// What stands beside the parameters of each request.
pub(crate) fn with_meta(params: &Value, offers: Offers) -> Value {
    let mut params = params.clone();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": WIRE,
        "io.modelcontextprotocol/clientInfo": { "name": "hermit", "version": env!("CARGO_PKG_VERSION") },
        "io.modelcontextprotocol/clientCapabilities": capabilities(offers),
    });
    if let Some(params) = params.as_object_mut() {
        params.insert("_meta".to_owned(), meta);
    }
    params
}

/// What stands above a message, so that whoever is in between need not read it.
pub(crate) fn headers(message: &Value) -> Vec<(String, String)> {
    let Some(method) = message.get("method").and_then(Value::as_str) else { return Vec::new() };
    let member = match method {
        "tools/call" | "prompts/get" => Some("/params/name"),
        "resources/read" => Some("/params/uri"),
        _ => None,
    };
    let name = member.and_then(|member| message.pointer(member)).and_then(Value::as_str);
    let name = name.map(|name| ("Mcp-Name".to_owned(), as_header(name)));
    [("Mcp-Method".to_owned(), method.to_owned())].into_iter().chain(name).collect()
}

/// A name as the value of a header: what could not stand there is written otherwise.
fn as_header(name: &str) -> String {
    let is_plain = name.chars().all(|c| (' '..='~').contains(&c)) && name.trim() == name;
    match is_plain && !name.starts_with("=?base64?") {
        true => name.to_owned(),
        false => format!("=?base64?{}?=", STANDARD.encode(name)),
    }
}

/// What a server wants to know before it goes on: its questions by name, and what it wants to have back.
pub(crate) struct Wants {
    pub(crate) questions: Vec<(String, String, Value)>,
    pub(crate) state: Option<String>,
}

/// What an answer wants first; nothing of one that is the result.
///
/// # Errors
/// When it cannot be read, or is more than is kept.
pub(crate) fn wants(result: &Value, most: usize) -> Result<Option<Wants>, String> {
    if result.get("resultType").and_then(Value::as_str) != Some("input_required") {
        return Ok(None);
    }
    let state = result.get("requestState").and_then(Value::as_str).map(str::to_owned);
    if state.as_ref().is_some_and(|state| state.len() > STATE_BYTES_MAX) {
        return Err(format!("what it wants to have back is more than {STATE_BYTES_MAX} bytes"));
    }
    let all = result.get("inputRequests").and_then(Value::as_object).cloned().unwrap_or_default();
    if all.len() > most {
        return Err(format!("it asks {} things at once, more than {most}", all.len()));
    }
    if all.is_empty() && state.is_none() {
        return Err("it wants something first and does not say what".to_owned());
    }
    let one = |(name, asked): (String, Value)| {
        let method = asked.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
        (name, method, asked.get("params").cloned().unwrap_or_default())
    };
    Ok(Some(Wants { questions: all.into_iter().map(one).collect(), state }))
}

/// The parameters of a request that is made again, with what the server wanted.
pub(crate) fn again(params: &Value, answers: Map<String, Value>, state: Option<String>) -> Value {
    let mut params = params.clone();
    if let Some(params) = params.as_object_mut() {
        params.insert("inputResponses".to_owned(), Value::Object(answers));
        params.extend(state.map(|state| ("requestState".to_owned(), json!(state))));
    }
    params
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_says_who_asks_and_what_for() {
        let params = with_meta(&json!({ "name": "échø" }), Offers { sampling: true });
        assert_eq!(params["_meta"]["io.modelcontextprotocol/protocolVersion"], WIRE);
        assert!(params["_meta"]["io.modelcontextprotocol/clientCapabilities"]["sampling"].is_object());
        let message = json!({ "method": "tools/call", "params": params });
        let above = headers(&message);
        assert_eq!(above[0], ("Mcp-Method".to_owned(), "tools/call".to_owned()));
        assert!(above[1].1.starts_with("=?base64?") && above[1].1.is_ascii(), "{above:?}");
        assert_eq!(headers(&json!({ "method": "tools/list", "params": {} })).len(), 1);
        for (name, plain) in [("echo", true), (" echo", false), ("=?base64?eA==?=", false), ("a\r\nb", false)]
        {
            assert_eq!(as_header(name) == name, plain, "{name:?}");
        }
    }

    #[test]
    fn what_a_server_wants_first_is_read_within_bounds() {
        assert!(wants(&json!({ "resultType": "complete" }), 4).expect("it reads").is_none());
        let asked = json!({ "method": "elicitation/create", "params": { "message": "who?" } });
        let first =
            json!({ "resultType": "input_required", "inputRequests": { "a": asked }, "requestState": "s" });
        let wanted = wants(&first, 4).expect("it reads").expect("it wants something");
        assert_eq!(
            (wanted.questions[0].1.as_str(), wanted.state.as_deref()),
            ("elicitation/create", Some("s"))
        );
        let made = again(&json!({ "name": "x" }), Map::new(), wanted.state);
        assert_eq!((&made["requestState"], &made["inputResponses"]), (&json!("s"), &json!({})));
        assert!(wants(&first, 0).is_err());
        assert!(wants(&json!({ "resultType": "input_required" }), 4).is_err());
        let long = json!({ "resultType": "input_required", "requestState": "x".repeat(STATE_BYTES_MAX + 1) });
        assert!(wants(&long, 4).is_err());
    }
}
