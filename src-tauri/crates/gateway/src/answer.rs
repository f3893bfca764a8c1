//! Requests read within bounds, and answers in the one shape.

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use futures_util::StreamExt as _;
use serde::de::{self, DeserializeOwned, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::fmt;
use wire::{Code, Error};
use zeroize::{Zeroize as _, Zeroizing};

/// Bytes of a request's body: a file given by its bytes fits, and no more than a few at once fill memory.
pub const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of a body that comes from somebody who has shown nothing yet: the token of a link fits.
pub(crate) const LINK_BYTES_MAX: usize = 1024;
/// Bytes of a passphrase.
const PASSPHRASE_BYTES_MAX: usize = 1024;
/// Bytes of a body that brings a passphrase.
const PASSPHRASE_BODY_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a body that is too large which are still read before the connection is cut.
const DRAINED_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The body as a JSON object; nothing at all is no parameters.
pub(crate) async fn params(request: Request) -> Result<Value, Error> {
    params_within(request, BODY_BYTES_MAX).await
}

/// The same, of a body with a bound of its own. What is beyond the bound is read on for a while, but not for strangers.
pub(crate) async fn params_within(request: Request, most: usize) -> Result<Value, Error> {
    let too_large = || {
        Error::new(Code::TooLarge, format!("the body is larger than {most} bytes"))
            .hint("name a file by its path instead of sending its bytes")
    };
    let drained = if most == BODY_BYTES_MAX { DRAINED_BYTES_MAX } else { most };
    let mut frames = request.into_body().into_data_stream();
    let (mut bytes, mut length) = (Vec::new(), 0_usize);
    while let Some(frame) = frames.next().await {
        let frame = frame.map_err(|e| Error::new(Code::Usage, format!("the body broke off: {e}")))?;
        length = length.saturating_add(frame.len());
        if length <= most {
            bytes.extend_from_slice(&frame);
        } else {
            // Thrown away, but read for a while: a client that is still sending would not see the answer.
            bytes = Vec::new();
            if length > drained {
                break;
            }
        }
    }
    if length > most {
        return Err(too_large());
    }
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    match serde_json::from_slice(&bytes) {
        Ok(value @ (Value::Object(_) | Value::Null)) => Ok(value),
        Ok(_) => Err(Error::new(Code::Usage, "parameters are a JSON object")
            .hint("send an object, such as `{}`, with `content-type: application/json`")),
        Err(e) => Err(Error::new(Code::Usage, format!("the body is no JSON: {e}"))
            .hint("send an object, such as `{}`, with `content-type: application/json`")),
    }
}

/// The bytes of a body, as they come. Of one that is too large no more is read.
pub(crate) async fn bytes_within(request: Request, most: usize) -> Result<Vec<u8>, Error> {
    let mut frames = request.into_body().into_data_stream();
    let mut bytes = Vec::new();
    while let Some(frame) = frames.next().await {
        let frame = frame.map_err(|e| Error::new(Code::Usage, format!("the body broke off: {e}")))?;
        if bytes.len().saturating_add(frame.len()) > most {
            return Err(Error::new(Code::TooLarge, format!("the body is larger than {most} bytes")));
        }
        bytes.extend_from_slice(&frame);
    }
    Ok(bytes)
}

/// A body that brings a passphrase. Its bytes are wiped when it was read, and nothing but its own fields is made of them.
pub(crate) async fn with_passphrase<T: DeserializeOwned>(about: &str, request: Request) -> Result<T, Error> {
    let mut frames = request.into_body().into_data_stream();
    // As large as it gets: what grows leaves copies behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(PASSPHRASE_BODY_BYTES_MAX));
    while let Some(frame) = frames.next().await {
        let frame = frame.map_err(|e| Error::new(Code::Usage, format!("the body broke off: {e}")))?;
        if bytes.len().saturating_add(frame.len()) > PASSPHRASE_BODY_BYTES_MAX {
            return Err(Error::new(
                Code::TooLarge,
                "the body is too large for a passphrase and what it signs",
            ));
        }
        bytes.extend_from_slice(&frame);
        if let Ok(mut frame) = frame.try_into_mut() {
            frame.as_mut().zeroize();
        }
    }
    serde_json::from_slice(&bytes).map_err(|e| api::misfit(about, &e.to_string()))
}

/// A passphrase as it was typed: text, or its bytes as a list of numbers. Text with characters that JSON escapes cannot
/// be read without a copy, and is refused: a page sends bytes.
pub(crate) struct Passphrase(pub(crate) Zeroizing<Vec<u8>>);

impl<'de> Deserialize<'de> for Passphrase {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Typed;
        impl<'de> Visitor<'de> for Typed {
            type Value = Passphrase;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a passphrase, as text that needs no escapes or as its bytes")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Passphrase, E> {
                Ok(Passphrase(Zeroizing::new(text.as_bytes().to_vec())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut typed: A) -> Result<Passphrase, A::Error> {
                let mut bytes = Zeroizing::new(Vec::with_capacity(PASSPHRASE_BYTES_MAX));
                while let Some(byte) = typed.next_element::<u8>()? {
                    if bytes.len() >= PASSPHRASE_BYTES_MAX {
                        return Err(de::Error::custom("it is longer than any passphrase"));
                    }
                    bytes.push(byte);
                }
                Ok(Passphrase(bytes))
            }
        }
        deserializer.deserialize_any(Typed)
    }
}

/// An error with the status of its code.
pub(crate) fn refusal(error: &Error) -> Response {
    let status = StatusCode::from_u16(error.code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    refusal_as(status, error)
}

/// An error with a status of its own.
pub(crate) fn refusal_as(status: StatusCode, error: &Error) -> Response {
    let mut answer = json(status, error);
    if error.code == Code::Unauthorised {
        answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    answer
}

/// Nothing lies at this path.
pub(crate) fn nowhere() -> Response {
    refusal(
        &Error::new(Code::UnknownCommand, "there is nothing at this path")
            .hint("`GET /api/commands` lists the commands, `GET /v1/capabilities` the run API"),
    )
}

/// The path is right, the method is not.
pub(crate) fn method() -> Response {
    let error = Error::new(Code::Usage, "this path takes another method")
        .hint("commands and controls are POST, everything that is read is GET");
    refusal_as(StatusCode::METHOD_NOT_ALLOWED, &error)
}

/// Any value as JSON.
pub(crate) fn json<T: Serialize>(status: StatusCode, value: &T) -> Response {
    let (status, text) = match serde_json::to_string(value) {
        Ok(text) => (status, text),
        Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, "{}".to_owned()),
    };
    let mut answer = Response::new(Body::from(text));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// What a body came to.
pub(crate) fn of<T: Serialize>(came: Result<T, Error>) -> Response {
    match came {
        Ok(value) => json(StatusCode::OK, &value),
        Err(error) => refusal(&error),
    }
}
