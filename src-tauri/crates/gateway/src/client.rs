//! The asking end, for whoever attaches to the process that holds the store.

use crate::{Error, Token, sse};
use serde_json::{Value, json};
use std::io::BufReader;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;
use wire::{Code, Command, Notice};

/// Bytes of an answer: a page of rows or a part of content fits many times over.
const ANSWER_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// A host on the same machine takes a connection at once or not at all.
const CONNECT: Duration = Duration::from_secs(2);
/// How long a host may take to say that it is there: all its seats may be taken, and one that was stopped takes a
/// connection and never answers.
const GREETED: Duration = Duration::from_secs(30);
/// How long an answer may take: a summary waits for a model, a copy for a disk.
const ANSWERED: Duration = Duration::from_secs(3_600);
/// How long one waits that the store itself answers where the host does not.
const LOOKED: Duration = Duration::from_secs(5);
/// Notices that wait for whoever listens here.
const BEHIND_MAX: usize = 4_096;

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
            // A connection kept from before may be to a host that is gone; then nobody could say what it had heard.
            .max_idle_connections(0)
            .build();
        Ok(Self { address, token, agent: ureq::Agent::new_with_config(config) })
    }

    /// A client for the host that holds the store in `dir`, with the token it left there; it has answered once.
    ///
    /// # Errors
    /// [`Error::Token`], [`Error::NotLoopback`], and [`Error::Answer`] when it does not answer as a host, or not in half a
    /// minute.
    pub fn attach(address: &str, dir: &Path) -> Result<Self, Error> {
        let client = Self::named(address, dir)?;
        client.greet(GREETED).map_err(Error::Answer)?;
        Ok(client)
    }

    /// As [`Client::attach`], for whoever asks once and does without an answer: nothing was said there yet.
    ///
    /// # Errors
    /// [`Error::Token`], [`Error::NotLoopback`].
    pub fn named(address: &str, dir: &Path) -> Result<Self, Error> {
        Self::connect(address, Token::read(dir)?)
    }

    fn greet(&self, limit: Duration) -> Result<(), wire::Error> {
        self.call_within(&wire::host::Status {}, limit).map(drop)
    }

    /// Where it asks.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Runs a command there.
    ///
    /// # Errors
    /// What the command says; [`Code::Unavailable`] when nobody answers in an hour, with `details.sent` false when nobody
    /// can have heard it either.
    pub fn call<C: Command>(&self, command: &C) -> Result<C::Answer, wire::Error> {
        self.call_within(command, ANSWERED)
    }

    fn call_within<C: Command>(&self, command: &C, limit: Duration) -> Result<C::Answer, wire::Error> {
        let params = serde_json::to_value(command).map_err(garbled)?;
        serde_json::from_value(self.ask_within(C::NAME, &params, limit)?).map_err(garbled)
    }

    /// Runs a command by name.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn ask(&self, name: &str, params: &Value) -> Result<Value, wire::Error> {
        self.ask_within(name, params, ANSWERED)
    }

    /// Asks for what can be read without the host as well, which is not waited for long.
    ///
    /// # Errors
    /// As [`Client::call`], but within seconds.
    pub fn look(&self, name: &str, params: &Value) -> Result<Value, wire::Error> {
        self.ask_within(name, params, LOOKED)
    }

    fn ask_within(&self, name: &str, params: &Value, limit: Duration) -> Result<Value, wire::Error> {
        self.post(&format!("/api/{}", escaped(name)), params, limit)
    }

    /// The address of a new link for a browser.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn link(&self) -> Result<String, wire::Error> {
        let link = self.post("/api/session/link", &json!({}), GREETED)?;
        link.get("url")
            .and_then(serde_json::Value::as_str)
            .map(str::to_owned)
            .ok_or_else(|| wire::Error::new(Code::Failed, "the host gave no link"))
    }

    /// Hears what happens there, until the host is gone or the receiver is dropped.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn listen(&self) -> Result<Receiver<Notice>, wire::Error> {
        let url = format!("http://{}/api/notices", self.address);
        // The head comes at once; what happens may be long in coming.
        let asked = self.agent.get(url).config().timeout_recv_response(Some(GREETED)).build();
        let asked = asked.header("authorization", self.bearer()).call();
        let answer = asked.map_err(|e| self.silent(&e))?;
        if answer.status().as_u16() != 200 {
            return Err(wire::Error::new(Code::Unavailable, "the host has no place for another listener"));
        }
        let mut stream = BufReader::new(answer.into_body().into_reader());
        let (send, receive) = sync_channel(BEHIND_MAX);
        let hear = move || {
            while let Some((kind, data)) = sse::next(&mut stream) {
                let Ok(notice) = serde_json::from_str::<Notice>(&data) else {
                    // A greeting, or a kind that is younger than this program.
                    debug_assert!(kind != "event", "a notice of our own kind does not read");
                    continue;
                };
                // Who is slow misses some: notices are never truth.
                if matches!(send.try_send(notice), Err(std::sync::mpsc::TrySendError::Disconnected(_))) {
                    return;
                }
            }
        };
        // Without the thread nothing is heard, and whoever asks looks at the store.
        let _ = std::thread::Builder::new().name("notices".to_owned()).spawn(hear);
        Ok(receive)
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token.reveal())
    }

    fn post(&self, path: &str, params: &Value, limit: Duration) -> Result<Value, wire::Error> {
        let sent = self
            .agent
            .post(format!("http://{}{path}", self.address))
            .config()
            .timeout_global(Some(limit))
            .build()
            .header("authorization", self.bearer())
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
        let unsent = match error {
            ureq::Error::Io(e) => e.kind() == std::io::ErrorKind::ConnectionRefused,
            ureq::Error::ConnectionFailed | ureq::Error::Timeout(ureq::Timeout::Connect) => true,
            _ => false,
        };
        wire::Error::new(Code::Unavailable, format!("the host at {} does not answer: {error}", self.address))
            .hint("it may have ended; run the command again")
            .details(json!({ "sent": !unsent }))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_was_stopped_takes_a_connection_and_is_not_waited_for() {
        // Nobody ever takes it from the system, as with a process that was stopped.
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = silent.local_addr().unwrap().to_string();
        let client = Client::connect(&address, Token::new([7; 32])).unwrap();
        let error = client.greet(Duration::from_millis(200)).unwrap_err();
        assert_eq!(error.code, Code::Unavailable, "{error:?}");
        assert!(error.message.contains("does not answer"), "{error:?}");
        assert_eq!(error.details["sent"], true, "it may have been heard");
    }
}
