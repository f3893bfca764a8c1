//! The model in the box: a sidecar program that answers over its standard streams, asked as the OpenAI-compatible API
//! is. Its address is `box:NAME`, and `box:NAME@sha256:DIGEST` once it is known which weights are meant; the host starts
//! the program, and this file has what both sides say.

pub mod protocol;

use crate::port::HttpReply;
use protocol::{Because, Failure, Said};
use serde_json::{Value, json};

/// What stands in the place of a base URL.
pub const URL: &str = "box:";
/// Between a model's name and the digest of its weights.
pub const PIN: &str = "@sha256:";
/// Characters of a model's name.
pub const NAME_CHARS_MAX: usize = 80;

/// Whether this can be the name of a model in the box: it is the name of a file as well.
pub fn is_name(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
    let known = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.".contains(&b);
    begins && name.len() <= NAME_CHARS_MAX && name.bytes().all(known)
}

/// Name and digest, where one is given, of `NAME` or `NAME@sha256:DIGEST`.
///
/// # Errors
/// In words, for what is neither.
pub fn named(model: &str) -> Result<(&str, Option<&str>), &'static str> {
    let (name, digest) = match model.split_once(PIN) {
        Some((name, digest)) => (name, Some(digest)),
        None => (model, None),
    };
    if !is_name(name) {
        return Err(
            "a model in the box is named with a-z, 0-9, `-`, `_` and `.`, as `hermit models list` does",
        );
    }
    let is_digest =
        |digest: &str| digest.len() == 64 && digest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    match digest {
        Some(digest) if !is_digest(digest) => Err("a digest has 64 digits of 0-9 and a-f"),
        digest => Ok((name, digest)),
    }
}

/// Model, with the digest of its weights.
pub fn pinned(name: &str, digest: &str) -> String {
    format!("{name}{PIN}{digest}")
}

/// A line that asks for an answer to a request, which is one line of JSON already; none when it is not, or is too long.
pub fn generate(id: u64, request: &[u8]) -> Option<Vec<u8>> {
    if request.contains(&b'\n') || request.len() > protocol::ASKED_BYTES_MAX - 128 {
        return None;
    }
    let mut line = format!("{{\"generate\":{{\"id\":{id},\"request\":").into_bytes();
    line.extend_from_slice(request);
    line.extend_from_slice(b"}}\n");
    Some(line)
}

/// What a line of the sidecar is to whoever reads a stream of the OpenAI-compatible API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// Nothing.
    Nothing,
    /// A piece of the stream.
    Piece(Vec<u8>),
    /// The last piece of it.
    Last(Vec<u8>),
    /// An answer with this status, and no stream.
    Refused(HttpReply),
    /// It was called off.
    Stopped,
}

/// A line about the answer `id` as the stream has it; what is about another answer is nothing.
pub fn heard(id: u64, said: &Said) -> Heard {
    let delta = |delta: Value| Heard::Piece(event(&json!({ "choices": [{ "delta": delta }] })));
    match said {
        // As llama.cpp's own server tells it.
        Said::Reading { id: of, done, of: all } if *of == id => {
            let read = json!({ "processed": done, "total": all });
            Heard::Piece(event(&json!({ "choices": [], "prompt_progress": read })))
        }
        Said::Piece { id: of, text } if *of == id => delta(json!({ "content": text })),
        Said::Thought { id: of, text } if *of == id => delta(json!({ "reasoning_content": text })),
        Said::Call { id: of, name, arguments } if *of == id => {
            let function = json!({ "name": name, "arguments": arguments });
            delta(json!({ "tool_calls": [{ "function": function }] }))
        }
        Said::End { id: of, because: Because::Cancelled, .. } if *of == id => Heard::Stopped,
        Said::End { id: of, because, took } if *of == id => {
            let reason = if *because == Because::Length { "length" } else { "stop" };
            let usage = json!({
                "prompt_tokens": took.tokens_in,
                "completion_tokens": took.tokens_out,
                "prompt_tokens_details": { "cached_tokens": took.tokens_cached },
            });
            let mut last = event(&json!({ "choices": [{ "delta": {}, "finish_reason": reason }] }));
            last.extend(event(&json!({ "choices": [], "usage": usage })));
            last.extend_from_slice(b"data: [DONE]\n\n");
            Heard::Last(last)
        }
        Said::Failed { id: of, kind, why } if of.is_none_or(|of| of == id) => {
            Heard::Refused(refused(*kind, why))
        }
        _ => Heard::Nothing,
    }
}

fn event(value: &Value) -> Vec<u8> {
    format!("data: {value}\n\n").into_bytes()
}

/// The refusal of a prompt that is too long, with the tokens that there is room for, and whether a person can give more.
pub fn too_long(why: &str, context: u32, more: bool) -> HttpReply {
    let error = json!({ "message": why, "context": context, "more": more });
    let body = json!({ "error": error }).to_string().into_bytes();
    HttpReply { body, ..refused(Failure::TooLong, why) }
}

/// As a server says it.
pub fn refused(kind: Failure, why: &str) -> HttpReply {
    let status = match kind {
        Failure::TooLong => 413,
        Failure::Request => 400,
        // Neither asking again nor another request helps.
        Failure::Weights | Failure::Memory => 409,
        Failure::Engine => 500,
    };
    let body = json!({ "error": { "message": why } }).to_string().into_bytes();
    HttpReply { status, body, retry_after_ms: None }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use protocol::{Ask, Took};

    #[test]
    fn a_name_is_that_of_a_file_and_a_digest_is_whole() {
        let digest = "a".repeat(64);
        assert_eq!(named("qwen2.5-1.5b"), Ok(("qwen2.5-1.5b", None)));
        assert_eq!(named(&pinned("qwen", &digest)), Ok(("qwen", Some(digest.as_str()))));
        for wrong in ["", ".hidden", "../up", "a b", "A", "qwen@sha256:12", "qwen@sha256:", "q@md5:1"] {
            assert!(named(wrong).is_err(), "{wrong}");
        }
        assert!(named(&pinned("qwen", &digest.to_uppercase())).is_err());
        assert!(!is_name(&"a".repeat(NAME_CHARS_MAX + 1)));
    }

    #[test]
    fn a_request_goes_in_its_exact_bytes_and_is_one_line() {
        let request = br#"{"b":1,"a":"\n"}"#;
        let line = generate(7, request).unwrap();
        assert_eq!(line, br#"{"generate":{"id":7,"request":{"b":1,"a":"\n"}}}"#.iter().chain(b"\n").copied().collect::<Vec<u8>>());
        let read: Ask<Value> = serde_json::from_slice(&line).unwrap();
        assert_eq!(read, Ask::Generate { id: 7, request: json!({ "b": 1, "a": "\n" }) });
        assert_eq!(generate(7, b"{\n}"), None);
    }

    #[test]
    fn what_is_about_another_answer_is_nothing() {
        let piece = Said::Piece { id: 1, text: "x".to_owned() };
        assert!(matches!(heard(1, &piece), Heard::Piece(_)));
        assert_eq!(heard(2, &piece), Heard::Nothing);
        let end = |because| Said::End { id: 1, because, took: Took::default() };
        assert_eq!(heard(1, &end(Because::Cancelled)), Heard::Stopped);
        assert!(
            matches!(heard(1, &end(Because::Length)), Heard::Last(last) if String::from_utf8_lossy(&last).contains("length"))
        );
        assert_eq!(heard(2, &end(Because::Ended)), Heard::Nothing);
        let failed = Said::Failed { id: None, kind: Failure::Weights, why: "no GGUF".to_owned() };
        assert!(matches!(heard(2, &failed), Heard::Refused(reply) if reply.status == 409));
    }
}
