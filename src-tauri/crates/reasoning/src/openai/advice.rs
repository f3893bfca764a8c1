//! What a person can do about a server that does not answer.

use super::reply::{said, shorten};
use crate::{EgressError, Error};

/// No answer came at all.
pub fn unreached(url: &str, error: EgressError) -> Error {
    let base = url.strip_suffix("/chat/completions").unwrap_or(url);
    let (why, advice) = match error {
        EgressError::Unreachable(why) => (
            format!("nothing answers at `{base}`: {why}"),
            "start the model's server there, or choose another model".to_owned(),
        ),
        EgressError::TimedOut(ms) => (
            format!("no answer within {} s", ms.div_ceil(1000)),
            "give it more time in the model's settings, or use a smaller model or a smaller context"
                .to_owned(),
        ),
        EgressError::Cut(why) => (format!("the connection was cut: {why}"), CUT_ADVICE.to_owned()),
        EgressError::Stopped => return Error::Cancelled,
        EgressError::Denied(why) => return Error::NotAllowed { why },
    };
    Error::Unavailable { why, advice }
}

const CUT_ADVICE: &str =
    "try again; if it happens again, look at the server's log, it may have run out of memory";

/// The stream ended before the server said that it was finished.
pub fn cut() -> Error {
    Error::Unavailable { why: "the answer was cut in the middle".to_owned(), advice: CUT_ADVICE.to_owned() }
}

/// The server answered with an HTTP error.
pub fn refused(status: u16, body: &[u8], model: &str) -> Error {
    let text = String::from_utf8_lossy(body);
    let why = serde_json::from_str(&text).map_or_else(|_| text.clone().into_owned(), |value| said(&value));
    let why = if why.trim().is_empty() { "it gave no reason".to_owned() } else { shorten(&why) };
    let lower = why.to_lowercase();
    let mentions = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let advice = match status {
        301..=308 => "give the address it redirects to; redirects are not followed".to_owned(),
        400 | 413 | 422 if mentions(&["context", "too long", "too large", "n_ctx"]) => {
            "give the server more context, or set fewer `context_tokens`".to_owned()
        }
        400 | 422 if mentions(&["response_format", "json_schema", "grammar", "schema"]) => {
            "this server knows no structured output; set `mode` to `tools`".to_owned()
        }
        400 | 422 | 500 if mentions(&["tool", "template", "jinja"]) => {
            "this server knows no tools; set `mode` to `json_schema`".to_owned()
        }
        400 if mentions(&["temperature"]) => "set `temperature_milli` to none for this model".to_owned(),
        401 | 403 => "check the key of this model in the keychain".to_owned(),
        404 => format!("check the base URL, and that the server has a model named `{model}`"),
        429 => "wait a while; the provider limits how often it may be asked".to_owned(),
        503 if mentions(&["loading"]) => "wait until the model is loaded".to_owned(),
        500..=599 => "try again; if it happens again, look at the server's log".to_owned(),
        _ => "check the model's settings".to_owned(),
    };
    Error::Refused { status, why, advice }
}
