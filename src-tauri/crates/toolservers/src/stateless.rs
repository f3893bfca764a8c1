//! The wire of 2026-07-28 over HTTP: no conversation is kept, each request says who asks, and what a server wants to know
//! first is an answer, after which it is asked again.

use crate::conversation::capabilities;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use effects::Offers;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The wire.
pub(crate) const WIRE: &str = "2026-07-28";
/// The error of a server that does not speak the version of a request.
const VERSION_UNKNOWN: i64 = -32_022;
/// How often a server is asked again in one call.
pub(crate) const ROUNDS_MAX: usize = 10;
/// Bytes of what a server wants to have back.
const STATE_BYTES_MAX: usize = 64 * 1024;

/// Arguments of a call that stand above it.
const ARGUMENTS_MAX: usize = 32;
/// Members within members that are looked at for such.
const DEPTH_MAX: usize = 8;
/// Bytes of the name of such a header, and of what it says.
const HEADER_BYTES_MAX: usize = 64;
const VALUE_BYTES_MAX: usize = 2_048;

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

/// Whether a server refuses a version, and names this one among those that it speaks: it is asked once more.
pub(crate) fn says_it_is_spoken(answer: &Value) -> bool {
    let supported = answer.pointer("/error/data/supported").and_then(Value::as_array);
    answer.pointer("/error/code").and_then(Value::as_i64) == Some(VERSION_UNKNOWN)
        && supported.is_some_and(|all| all.iter().any(|one| one == WIRE))
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

/// Arguments that a tool wants above its call as well (`x-mcp-header` in its schema): texts, whole numbers and yes or no, on a
/// way of named members. What is annotated otherwise stays in the body alone.
pub(crate) fn arguments_above(schema: &Value, arguments: &Value) -> Vec<(String, String)> {
    let mut all = BTreeMap::new();
    annotated(schema, arguments, 0, &mut all);
    let named = |(name, values): (String, Vec<(String, String)>)| match <[_; 1]>::try_from(values) {
        // Twice the same name says nothing for sure.
        Ok([(written, value)]) if !name.is_empty() => {
            Some((format!("Mcp-Param-{written}"), as_header(&value)))
        }
        _ => None,
    };
    all.into_iter().take(ARGUMENTS_MAX).filter_map(named).collect()
}

/// What is wrong with the arguments that a tool wants above its calls: on this wire, one with such a schema is not used.
pub(crate) fn cannot_stand_above(schema: &Value) -> Option<&'static str> {
    fn look(schema: &Value, depth: usize, names: &mut BTreeSet<String>) -> Option<&'static str> {
        let members = schema.get("properties")?.as_object().filter(|_| depth < DEPTH_MAX)?;
        members.values().find_map(|member| {
            let wrong = member.get("x-mcp-header").and_then(|header| {
                let kind = member.get("type").and_then(Value::as_str);
                match header.as_str().filter(|header| is_name(header)) {
                    None => Some("the name of a header (`x-mcp-header`) is none"),
                    Some(_) if !matches!(kind, Some("string" | "integer" | "boolean")) => Some(
                        "what is to stand in a header (`x-mcp-header`) is no text, whole number or yes or no",
                    ),
                    Some(header) if !names.insert(header.to_ascii_lowercase()) => {
                        Some("two arguments are to stand in one header (`x-mcp-header`)")
                    }
                    Some(_) => None,
                }
            });
            wrong.or_else(|| look(member, depth + 1, names))
        })
    }
    look(schema, 0, &mut BTreeSet::new())
}

/// Whether it can be the name of a header.
fn is_name(header: &str) -> bool {
    let is_letter = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    (1..=HEADER_BYTES_MAX).contains(&header.len()) && header.bytes().all(is_letter)
}

/// Names of headers as they are compared, with how each is written and what it says.
type Annotated = BTreeMap<String, Vec<(String, String)>>;

fn annotated(schema: &Value, arguments: &Value, depth: usize, all: &mut Annotated) {
    let Some(members) = schema.get("properties").and_then(Value::as_object).filter(|_| depth < DEPTH_MAX)
    else {
        return;
    };
    for (name, schema) in members {
        let Some(value) = arguments.get(name) else { continue };
        annotated(schema, value, depth + 1, all);
        let header = schema.get("x-mcp-header").and_then(Value::as_str);
        let Some(header) = header.filter(|header| is_name(header)) else { continue };
        let text = match value {
            Value::String(text) if text.len() <= VALUE_BYTES_MAX => text.clone(),
            Value::Bool(yes) => yes.to_string(),
            Value::Number(number) if number.is_i64() || number.is_u64() => number.to_string(),
            _ => continue,
        };
        all.entry(header.to_ascii_lowercase()).or_default().push((header.to_owned(), text));
    }
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
    fn arguments_stand_above_a_call_where_its_tool_wants_that_and_nowhere_else() {
        let schema = json!({ "type": "object", "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "deep": { "type": "object", "properties": { "n": { "type": "integer", "x-mcp-header": "Number" } } },
            "dry": { "type": "boolean", "x-mcp-header": "Dry" },
            "list": { "type": "array", "x-mcp-header": "List" },
            "odd": { "type": "string", "x-mcp-header": "a b\r\nX" },
            "one": { "type": "string", "x-mcp-header": "Same" }, "two": { "type": "string", "x-mcp-header": "same" },
            "plain": { "type": "string" },
        } });
        let arguments = json!({ "region": "föhr\r\nX: y", "deep": { "n": 7 }, "dry": true, "list": [1], "odd": "x",
            "one": "1", "two": "2", "plain": "p" });
        let above = arguments_above(&schema, &arguments);
        let names: Vec<&str> = above.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["Mcp-Param-Dry", "Mcp-Param-Number", "Mcp-Param-Region"]);
        assert_eq!((above[0].1.as_str(), above[1].1.as_str()), ("true", "7"));
        assert!(above[2].1.starts_with("=?base64?") && above[2].1.is_ascii(), "{above:?}");
        assert!(
            arguments_above(&schema, &json!({})).is_empty()
                && arguments_above(&json!(1), &arguments).is_empty()
        );
        let long = json!({ "region": "x".repeat(VALUE_BYTES_MAX + 1) });
        assert!(arguments_above(&schema, &long).is_empty());
    }

    #[test]
    fn a_tool_that_wants_above_its_calls_what_cannot_stand_there_is_named_with_why() {
        let tool = |members: Value| json!({ "type": "object", "properties": members });
        let above = |kind: &str, header: &str| json!({ "type": kind, "x-mcp-header": header });
        for kind in ["string", "integer", "boolean"] {
            assert_eq!(cannot_stand_above(&tool(json!({ "a": above(kind, "Region") }))), None);
        }
        assert_eq!(cannot_stand_above(&tool(json!({ "a": { "type": "object" } }))), None);
        for (members, why) in [
            (json!({ "a": above("string", "") }), "is none"),
            (json!({ "a": above("string", "My Region") }), "is none"),
            (json!({ "a": { "type": "string", "x-mcp-header": 1 } }), "is none"),
            (json!({ "a": above("number", "Score") }), "is no text"),
            (json!({ "a": tool(json!({ "b": above("array", "List") })) }), "is no text"),
            (json!({ "a": above("string", "One"), "b": above("string", "oNE") }), "in one header"),
        ] {
            let wrong = cannot_stand_above(&tool(members.clone()));
            assert!(wrong.is_some_and(|wrong| wrong.contains(why)), "{members}: {wrong:?}");
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
