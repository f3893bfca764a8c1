//! Messages of JSON-RPC 2.0, one a line, as the protocol carries them over standard streams.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::io::{self, BufRead};

/// Bytes of one message.
pub const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The message is no JSON.
pub const PARSE: i64 = -32700;
/// It is JSON and no message.
pub const INVALID: i64 = -32600;
/// There is no such method.
pub const NO_METHOD: i64 = -32601;
/// What a method was given does not fit.
pub const PARAMS: i64 = -32602;
/// It could not be done.
pub const FAILED: i64 = -32603;
/// The agent is not signed in.
pub const AUTH: i64 = -32000;
/// There is no such thing.
pub const NOT_FOUND: i64 = -32002;

/// Why something was not done, as the other side reads it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// One of the numbers above.
    #[serde(default)]
    pub code: i64,
    /// In words.
    #[serde(default)]
    pub message: String,
    /// More of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl Fault {
    /// One without more.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Something is asked, and waits for an answer under this id.
    Asks {
        /// A number or a text.
        id: Value,
        /// What for.
        method: String,
        /// With what.
        params: Value,
    },
    /// Something is told.
    Tells {
        /// What.
        method: String,
        /// With what.
        params: Value,
    },
    /// What was asked is answered.
    Answers {
        /// As it was asked.
        id: Value,
        /// The answer.
        with: Result<Value, Fault>,
    },
}

impl Message {
    /// Reads one line.
    ///
    /// # Errors
    /// With the id that it has, where it has one, for the answer.
    pub fn read(line: &[u8]) -> Result<Self, Box<(Value, Fault)>> {
        let said: Value = serde_json::from_slice(line)
            .map_err(|e| Box::new((Value::Null, Fault::new(PARSE, format!("this is no JSON: {e}")))))?;
        let Value::Object(mut said) = said else {
            return Err(Box::new((Value::Null, Fault::new(INVALID, "a message is one object"))));
        };
        let id = said.remove("id");
        let wrong = |why: &str| {
            let id = id.clone().filter(|id| id.is_string() || id.is_number()).unwrap_or_default();
            Box::new((id, Fault::new(INVALID, why)))
        };
        let params = said.remove("params").unwrap_or_default();
        if let Some(method) = said.remove("method") {
            let Value::String(method) = method else { return Err(wrong("the name of a method is a text")) };
            return match id {
                None => Ok(Self::Tells { method, params }),
                Some(Value::String(_) | Value::Number(_)) => {
                    Ok(Self::Asks { id: id.unwrap_or_default(), method, params })
                }
                Some(_) => Err(wrong("the id of a request is a number or a text")),
            };
        }
        match (id, said.remove("result"), said.remove("error")) {
            (Some(id), Some(result), _) => Ok(Self::Answers { id, with: Ok(result) }),
            (Some(id), None, Some(error)) => {
                let fault = serde_json::from_value(error)
                    .unwrap_or_else(|_| Fault::new(FAILED, "it failed and did not say why"));
                Ok(Self::Answers { id, with: Err(fault) })
            }
            (id, ..) => {
                let why = Fault::new(INVALID, "this is no message of JSON-RPC");
                Err(Box::new((id.unwrap_or_default(), why)))
            }
        }
    }

    /// The line, with its end.
    pub fn line(&self) -> Vec<u8> {
        let said = match self {
            Self::Asks { id, method, params } => {
                json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
            }
            Self::Tells { method, params } => json!({ "jsonrpc": "2.0", "method": method, "params": params }),
            Self::Answers { id, with: Ok(result) } => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Self::Answers { id, with: Err(fault) } => json!({ "jsonrpc": "2.0", "id": id, "error": fault }),
        };
        format!("{said}\n").into_bytes()
    }
}

/// A line that was read.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// Its bytes, without the end.
    Whole(Vec<u8>),
    /// It had more than [`LINE_BYTES_MAX`], and was passed over.
    TooLong,
}

/// The next line that is not empty; none at the end.
///
/// # Errors
/// When it cannot be read.
pub fn next_line(from: &mut impl BufRead) -> io::Result<Option<Line>> {
    loop {
        let (mut line, mut total, mut ended) = (Vec::new(), 0_usize, false);
        while !ended {
            let piece = from.fill_buf()?;
            if piece.is_empty() {
                break;
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let taken = piece.get(..end.unwrap_or(piece.len())).unwrap_or(piece);
            total = total.saturating_add(taken.len());
            if total <= LINE_BYTES_MAX {
                line.extend_from_slice(taken);
            }
            ended = end.is_some();
            let used = taken.len().saturating_add(usize::from(ended));
            from.consume(used);
        }
        if total > LINE_BYTES_MAX {
            return Ok(Some(Line::TooLong));
        }
        if line.iter().any(|byte| !byte.is_ascii_whitespace()) {
            return Ok(Some(Line::Whole(line)));
        }
        if !ended {
            return Ok(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_message_is_read_as_it_was_written() {
        for message in [
            Message::Asks { id: json!(1), method: "a".to_owned(), params: json!({ "b": 1 }) },
            Message::Asks { id: json!("x"), method: "a".to_owned(), params: Value::Null },
            Message::Tells { method: "a".to_owned(), params: json!([]) },
            Message::Answers { id: json!(1), with: Ok(Value::Null) },
            Message::Answers { id: json!(1), with: Err(Fault::new(AUTH, "no")) },
        ] {
            let line = message.line();
            assert_eq!(line.last(), Some(&b'\n'));
            assert_eq!(Message::read(&line), Ok(message));
        }
    }

    #[test]
    fn what_is_no_message_is_answered_under_the_id_that_it_has() {
        let fault = |text: &str| *Message::read(text.as_bytes()).unwrap_err();
        assert_eq!(fault("{").1.code, PARSE);
        assert_eq!(fault("[]").1.code, INVALID);
        assert_eq!(fault("{}").1.code, INVALID);
        let (id, why) = fault("{\"id\":7,\"method\":1}");
        assert_eq!((id, why.code), (json!(7), INVALID));
        assert_eq!(fault("{\"id\":[],\"method\":\"a\"}").0, Value::Null);
    }

    #[test]
    fn lines_are_bounded_and_what_comes_after_one_that_is_too_long_is_read() {
        let long = vec![b'x'; LINE_BYTES_MAX + 1];
        let text = [b"\n  \nfirst\n".as_slice(), &long, b"\nlast"].concat();
        let mut from = io::Cursor::new(text);
        assert_eq!(next_line(&mut from).unwrap(), Some(Line::Whole(b"first".to_vec())));
        assert_eq!(next_line(&mut from).unwrap(), Some(Line::TooLong));
        assert_eq!(next_line(&mut from).unwrap(), Some(Line::Whole(b"last".to_vec())));
        assert_eq!(next_line(&mut from).unwrap(), None);
    }
}
