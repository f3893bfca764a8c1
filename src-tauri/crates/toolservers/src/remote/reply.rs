//! What is read of one answer over HTTP.

use effects::Reply;
use serde_json::Value;

/// Bytes of the name of a session.
const SESSION_BYTES_MAX: usize = 256;

/// Why a server did not take a request, if it did not: a status that says so. One that sends elsewhere is not followed.
pub(super) fn refused(reply: &Reply) -> Option<String> {
    match reply.status {
        status @ 300..=399 => {
            Some(format!("it leads to another address (status {status}), which is not followed"))
        }
        status @ (401 | 403) => Some(format!("it does not accept how Hermit signs in (status {status})")),
        404 => Some("there is no such conversation or address (status 404)".to_owned()),
        status @ 400..=499 => Some(format!("it does not take the request (status {status})")),
        _ => None,
    }
}

/// Whether a reply is the server's own refusal of this request, whatever status stands above it. What refuses the
/// conversation itself, as of one that is over, names no request.
pub(super) fn is_own_word(message: &Value, reply: &Reply) -> bool {
    let id = message.get("id");
    messages(reply).iter().any(|told| told.get("id") == id && told.get("error").is_some())
}

/// The name that a server gives a conversation.
pub(super) fn session_of(reply: &Reply) -> Result<Option<String>, String> {
    let Some(session) = header(reply, "mcp-session-id") else { return Ok(None) };
    match !session.is_empty()
        && session.len() <= SESSION_BYTES_MAX
        && session.bytes().all(|b| b.is_ascii_graphic())
    {
        true => Ok(Some(session.to_owned())),
        false => Err("the name that it gives the conversation cannot be kept".to_owned()),
    }
}

pub(super) fn header<'r>(reply: &'r Reply, name: &str) -> Option<&'r str> {
    reply.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// Every whole message of an answer.
pub(super) fn messages(reply: &Reply) -> Vec<Value> {
    let kind = header(reply, "content-type").unwrap_or_default();
    if !kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream") {
        return serde_json::from_slice(&reply.body).into_iter().collect();
    }
    let text = String::from_utf8_lossy(&reply.body);
    let mut all = Vec::new();
    let mut data = String::new();
    for line in text.lines() {
        if line.is_empty() {
            all.extend(serde_json::from_str::<Value>(&data).ok());
            data.clear();
        } else if let Some(more) = line.strip_prefix("data:") {
            data.push_str(more.strip_prefix(' ').unwrap_or(more));
            data.push('\n');
        }
    }
    all
}
