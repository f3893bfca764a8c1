//! The asking end, for whoever attaches to the process that holds the store.

use crate::{Error, Token};
use serde_json::Value;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use wire::{Code, Command};

/// Bytes of an answer: a page of rows or a part of content fits many times over.
const ANSWER_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// A host on the same machine takes a connection at once or not at all.
const CONNECT: Duration = Duration::from_secs(2);

/// A way to a host.
#[derive(Clone, Debug)]
pub struct Client {
    address: SocketAddr,
    token: Token,
    agent: ureq::Agent,
}

impl Client {
    /// A client for a host at a loopback address, as `127.0.0.1:PORT`.
    ///
    /// # Errors
    /// [`Error::NotLoopback`]: the token is sent nowhere else.
    pub fn connect(address: &str, token: Token) -> Result<Self, Error> {
        let bare = address.strip_prefix("http://").unwrap_or(address).trim_end_matches('/');
        let parsed = bare.parse::<SocketAddr>().ok().filter(|a| a.ip().is_loopback());
        let address = parsed.ok_or_else(|| Error::NotLoopback(address.to_owned()))?;
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .timeout_connect(Some(CONNECT))
            .build();
        Ok(Self { address, token, agent: ureq::Agent::new_with_config(config) })
    }

    /// A client for the host that holds the store in `dir`, with the token it left there; it has answered once.
    ///
    /// # Errors
    /// [`Error::Token`], [`Error::NotLoopback`], and [`Error::Answer`] when it does not answer as a host.
    pub fn attach(address: &str, dir: &Path) -> Result<Self, Error> {
        let client = Self::connect(address, Token::read(dir)?)?;
        client.call(&wire::host::Status {}).map_err(Error::Answer)?;
        Ok(client)
    }

    /// Where it asks.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Runs a command there.
    ///
    /// # Errors
    /// What the command says; [`Code::Unavailable`] when nobody answers.
    pub fn call<C: Command>(&self, command: &C) -> Result<C::Answer, wire::Error> {
        let params = serde_json::to_value(command).map_err(garbled)?;
        serde_json::from_value(self.ask(C::NAME, &params)?).map_err(garbled)
    }

    /// Runs a command by name.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn ask(&self, name: &str, params: &Value) -> Result<Value, wire::Error> {
        let url = format!("http://{}/v1/command/{}", self.address, escaped(name));
        let sent = self
            .agent
            .post(url)
            .header("authorization", format!("Bearer {}", self.token.reveal()))
            .header("content-type", "application/json")
            .send(params.to_string());
        let mut answer = sent.map_err(|e| self.silent(&e))?;
        let read = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        let bytes = read.map_err(|e| self.silent(&e))?;
        if answer.status().as_u16() == 200 {
            return serde_json::from_slice(&bytes).map_err(garbled);
        }
        Err(serde_json::from_slice(&bytes).unwrap_or_else(|_| {
            wire::Error::new(
                Code::Failed,
                format!("the host at {} answered {}", self.address, answer.status()),
            )
        }))
    }

    fn silent(&self, error: &ureq::Error) -> wire::Error {
        wire::Error::new(Code::Unavailable, format!("the host at {} does not answer: {error}", self.address))
            .hint("it may have ended; run the command again")
    }
}

fn garbled(error: serde_json::Error) -> wire::Error {
    wire::Error::new(Code::Failed, format!("the host speaks another version: {error}"))
}

/// A name as a part of a path.
fn escaped(name: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    name.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}
