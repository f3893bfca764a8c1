//! What is read of one answer over HTTP.

use effects::{NoReply, Reply, Unspoken};
use model::limits::LOGIN_SCOPES_MAX;
use model::login::check_scope;
use model::web::WebUrl;
use rmcp::transport::auth::WWWAuthenticateParams;
use serde_json::Value;
use url::Url;

/// Bytes of the name of a session.
const SESSION_BYTES_MAX: usize = 256;

/// Why a server did not take a request, if it did not: a status that says so. One that sends elsewhere is not followed.
pub(super) fn refused(reply: &Reply, server: &str, url: &WebUrl) -> Option<String> {
    let log_in = format!("hermit tools login {server} --url {url}");
    match reply.status {
        status @ 300..=399 => {
            Some(format!("it leads to another address (status {status}), which is not followed"))
        }
        401 => Some(format!(
            "it wants you to log in, or does not accept how Hermit signs in (status 401); type `{log_in}`"
        )),
        403 => Some(match wanted_scope(reply) {
            Some(scope) => format!(
                "it wants your log-in to allow `{scope}` as well (status 403); type `{log_in} --scope \"{scope}\"`"
            ),
            None => "it does not allow this to whoever Hermit signs in as (status 403)".to_owned(),
        }),
        404 => Some("there is no such conversation or address (status 404)".to_owned()),
        status @ 400..=499 => Some(format!("it does not take the request (status {status})")),
        _ => None,
    }
}

/// The scopes that a server says a token lacks (RFC 6750, 3.1).
fn wanted_scope(reply: &Reply) -> Option<String> {
    let base = Url::parse("http://localhost").ok()?;
    let params = WWWAuthenticateParams::parse(header(reply, "www-authenticate")?, &base);
    let scope = params.scope.clone().filter(|_| params.is_insufficient_scope())?;
    let all: Vec<&str> = scope.split_whitespace().take(LOGIN_SCOPES_MAX).collect();
    (!all.is_empty() && all.iter().all(|one| check_scope(one).is_ok())).then(|| all.join(" "))
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

/// Why there is no reply, as of a call.
pub(super) fn no_reply(no: NoReply) -> Unspoken {
    match no {
        NoReply::NotSent(why) => Unspoken::NotCalled(why),
        NoReply::Lost(why) => Unspoken::Lost(why),
    }
}

/// The same in words alone.
pub(super) fn in_words(why: Unspoken) -> String {
    match why {
        Unspoken::NotCalled(why) | Unspoken::Lost(why) => why,
    }
}
