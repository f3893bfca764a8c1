//! Who may come in: checked before anything of a request is read.

use crate::Token;
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName};
use std::net::SocketAddr;
use wire::{Code, Error};

/// The names this gateway goes by, and its token.
pub(crate) struct Guard {
    names: Vec<String>,
    token: Token,
}

impl Guard {
    pub(crate) fn new(address: SocketAddr, token: Token) -> Self {
        let port = address.port();
        // A page that bound its own name to 127.0.0.1 sends that name here, and it is none of these.
        let names = vec![address.to_string(), format!("localhost:{port}")];
        Self { names, token }
    }

    /// Lets a request in, or says why not. Host and origin come first: a foreign page learns nothing about tokens.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> Result<(), Error> {
        match one(headers, &HOST) {
            Some(host) if self.is_own(host) => {}
            _ => return Err(forbidden("this name is not the gateway's; use the address it announced")),
        }
        if headers.contains_key(ORIGIN) {
            let origin = one(headers, &ORIGIN).and_then(|origin| origin.strip_prefix("http://"));
            if !origin.is_some_and(|name| self.is_own(name)) {
                return Err(forbidden("pages of another origin may not come in"));
            }
        }
        let given = one(headers, &AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        match given {
            Some(given) if self.token.is(given) => Ok(()),
            _ => Err(Error::new(Code::Unauthorised, "the token is missing or wrong")
                .hint("send `Authorization: Bearer TOKEN` with the token of the host that runs now")),
        }
    }

    fn is_own(&self, name: &str) -> bool {
        self.names.iter().any(|own| own.eq_ignore_ascii_case(name))
    }
}

/// The value of a header that is there exactly once.
fn one<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

fn forbidden(message: &str) -> Error {
    Error::new(Code::Forbidden, message)
}
