//! What a person can do about a server that does not answer.

use super::api::Protocol;
use super::draft::{said, shorten};
use crate::{Address, Error, ModelHttpError};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;
use words::time::lasting;

/// No answer came at all.
pub fn unreached(address: &Address, error: ModelHttpError) -> Error {
    let base = match address {
        Address::Server { url, .. } => url.as_str(),
        Address::Playbook(_) | Address::Recorded(_) | Address::Scripted => "",
    };
    let (why, advice) = match error {
        ModelHttpError::Unreachable(why) if address.in_box().is_some() => {
            (why, "choose another model with `hermit models use ADDRESS`, or do what is said here".to_owned())
        }
        ModelHttpError::Cut(why) if address.in_box().is_some() => (why, IN_BOX_CUT.to_owned()),
        ModelHttpError::Unreachable(why) => (
            format!("nothing answers at `{base}`: {why}"),
            "start the model's server there, or choose another model".to_owned(),
        ),
        ModelHttpError::TimedOut(ms) => {
            let within = lasting(Duration::from_secs(ms.div_ceil(1000)));
            (format!("no answer within {within}"), slow(&address.to_string()))
        }
        ModelHttpError::Cut(why) => (format!("the connection was cut: {why}"), CUT_ADVICE.to_owned()),
        ModelHttpError::Stopped => return Error::Cancelled,
        ModelHttpError::Denied(why) => return Error::NotAllowed { why },
    };
    Error::Unavailable { why, advice }
}

const IN_BOX_CUT: &str = "it is started again when it is asked again; if it happens again, use a smaller model: `hermit models list`";

const CUT_ADVICE: &str =
    "try again; if it happens again, look at the server's log, it may have run out of memory";

/// The stream ended before the server said that it was finished.
pub fn cut() -> Error {
    Error::Unavailable { why: "the answer was cut in the middle".to_owned(), advice: CUT_ADVICE.to_owned() }
}

/// What a server is remembered by that has refused pictures, beside the parameters that it has refused.
pub const PICTURES: &str = "pictures";

/// Whether a server has refused a request for the pictures in it, as far as anybody can tell: one that holds some and is refused
/// for no parameter. It is asked without them from then on, so that no task waits behind a picture for ever.
pub fn pictures(
    status: u16,
    body: &[u8],
    request: &[u8],
    refused: &BTreeSet<String>,
) -> Option<(&'static str, String)> {
    if !matches!(status, 400 | 413 | 415 | 422) || refused.contains(PICTURES) {
        return None;
    }
    let sent: Value = serde_json::from_slice(request).ok()?;
    crate::pictures::are_in(&sent).then(|| (PICTURES, shorten(&String::from_utf8_lossy(body))))
}

/// Which of [`super::PARAMETERS`] a server refuses, with its own words; none when it is about something else, or the
/// request does not hold it.
pub fn parameter(
    status: u16,
    body: &[u8],
    request: &[u8],
    refused: &BTreeSet<String>,
    protocol: &dyn Protocol,
) -> Option<(&'static str, String)> {
    if !matches!(status, 400 | 404 | 422 | 500 | 501) {
        return None;
    }
    let text = String::from_utf8_lossy(body);
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    let why = shorten(&if value.is_null() { text.into_owned() } else { said(&value) });
    let sent: Value = serde_json::from_slice(request).ok()?;
    let inner = value.get("error").unwrap_or(&value);
    let named = inner.get("param").and_then(Value::as_str).unwrap_or_default().to_lowercase();
    let words = why.to_lowercase();
    let about = |name: &str| {
        let aliases: &[&str] = match name {
            "max_tokens" => &[
                "max_tokens",
                "max_completion_tokens",
                "max_output_tokens",
                "maxoutputtokens",
                "num_predict",
            ],
            "response_format" => &[
                "response_format",
                "json_schema",
                "jsonschema",
                "text.format",
                "grammar",
                "structured output",
            ],
            "tools" => &["tools", "tool_choice", "tool use", "tool call", "function call", "jinja"],
            name => return named == name || words.contains(name),
        };
        aliases.iter().any(|alias| named.starts_with(alias) || words.contains(alias))
    };
    // A limit may be refused for its size: then its other name helps nobody.
    let too_much =
        ["context", "too large", "at most", "maximum", "less than"].iter().any(|w| words.contains(w));
    super::PARAMETERS
        .into_iter()
        .filter(|name| protocol.pointer(name).is_some_and(|at| sent.pointer(at).is_some()))
        .filter(|name| !refused.contains(*name))
        .filter(|name| *name != "max_tokens" || !too_much || words.contains("max_completion_tokens"))
        .find(|name| about(name))
        .map(|name| (name, why))
}

/// What a person can do about an answer's status; every setting that it names is one of `hermit models set`.
fn for_status(status: u16, words: &str, address: &str, model: &str) -> String {
    let mentions = |all: &[&str]| all.iter().any(|word| words.contains(word));
    match status {
        301..=308 => "give the address it redirects to; redirects are not followed".to_owned(),
        400 | 413 | 422 if mentions(&["context", "too long", "too large", "n_ctx"]) => format!(
            "give the server more context, or tell Hermit how much it has: `hermit models set {address} --context 4096`"
        ),
        400 | 422 if mentions(&["max_tokens", "max_completion_tokens"]) => {
            format!("tell Hermit how long an answer may be: `hermit models set {address} --output 2048`")
        }
        400 | 422 if mentions(&["response_format", "json_schema", "grammar", "schema"]) => {
            format!("this server knows no structured output: `hermit models set {address} --mode tools`")
        }
        400 | 422 | 500 if mentions(&["tool", "template", "jinja"]) => {
            format!("this server knows no tools: `hermit models set {address} --mode json_schema`")
        }
        400 | 422 if mentions(&["temperature"]) => {
            format!("let the model have its own temperature: `hermit models set {address} --temperature own`")
        }
        401 | 403 => "check its key, and give it again with `hermit models add`".to_owned(),
        404 => format!("check the base URL, and that the server has a model named `{model}`"),
        429 => "wait a while; the provider limits how often it may be asked".to_owned(),
        503 if mentions(&["loading"]) => "wait until the model is loaded".to_owned(),
        500..=599 => "try again; if it happens again, look at the server's log".to_owned(),
        _ => "look at the server's log".to_owned(),
    }
}

/// The same of the model in the box, which has no server that a person could look at.
fn in_box(status: u16, name: &str, said: Option<&Value>) -> String {
    let room = said.and_then(|said| said.pointer("/error/context")?.as_u64());
    let more = said.and_then(|said| said.pointer("/error/more")?.as_bool());
    match status {
        413 if more == Some(false) => format!(
            "it knows no more than {} tokens: give the task less to read, or use another model (`hermit models get`)",
            room.unwrap_or_default()
        ),
        413 => format!(
            "give it more context, which takes memory: `hermit models set box:{name} --context {}`",
            room.unwrap_or(8_192).saturating_mul(2).clamp(2_048, 1_000_000)
        ),
        404 => {
            format!("get it again: `hermit models get {name}`, with `--from FILE` where it came from a file")
        }
        501 => {
            "use a model that runs on this machine, or one by its address: `hermit models list` shows them"
                .to_owned()
        }
        409 => format!(
            "use a smaller model, or a smaller context: `hermit models set box:{name} --context 4096`"
        ),
        _ => "try again; if it happens again, look at `hermit logs`".to_owned(),
    }
}

/// Every advice about a status, as it is given for this model: a test tries the commands in them.
pub fn every(address: &str, model: &str) -> Vec<String> {
    let words = ["", "context", "max_tokens", "response_format", "tools", "temperature", "loading"];
    let statuses = [301, 400, 401, 403, 404, 413, 422, 429, 500, 503, 418];
    let all = statuses.iter().flat_map(|status| words.iter().map(move |word| (*status, *word)));
    let said: BTreeSet<String> = all.map(|(status, word)| for_status(status, word, address, model)).collect();
    let boxed = [404, 409, 413, 500, 501].map(|status| in_box(status, "qwen2.5-coder-1.5b", None));
    said.into_iter().chain(boxed).chain([slow(address)]).collect()
}

fn slow(address: &str) -> String {
    format!("use a smaller model, or a smaller context: `hermit models set {address} --context 8192`")
}

/// The server answered with an HTTP error; `retry_after_ms` is what its head says.
pub fn refused(
    status: u16,
    retry_after_ms: Option<u64>,
    body: &[u8],
    address: &Address,
    model: &str,
) -> Error {
    let text = String::from_utf8_lossy(body);
    let value: Option<Value> = serde_json::from_str(&text).ok();
    let why = value.as_ref().map_or_else(|| text.clone().into_owned(), said);
    let why = if why.trim().is_empty() { "it gave no reason".to_owned() } else { shorten(&why) };
    let advice = match address.in_box() {
        Some((name, _)) => in_box(status, name, value.as_ref()),
        None => for_status(status, &why.to_lowercase(), &address.to_string(), model),
    };
    let retry_after_ms = retry_after_ms.or_else(|| retry_delay(value.as_ref()?));
    Error::Refused { status, why, advice, retry_after_ms }
}

/// After how long Gemini says in its words that it may be asked again: `"retryDelay": "37s"`.
fn retry_delay(value: &Value) -> Option<u64> {
    let first = value.as_array().and_then(|all| all.first()).unwrap_or(value);
    let details = first.pointer("/error/details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    (0.0..=86_400.0).contains(&seconds).then_some((seconds * 1000.0).ceil() as u64)
}
