//! A Bitcoin node of the person's own, over its JSON-RPC: what an anchor and a wallet ask of it, and nothing else.
//!
//! It is reached without a proxy and without redirects: on this machine, or by HTTPS elsewhere, because what it is asked goes with the
//! password. What it answers is bounded. A node says what it likes: whoever counts on an answer checks it.

mod answers;

use crate::model_http::{SecretSlot, certificates};
use crate::secrets::SecretBook;
use crate::{Config, Error};
pub use answers::{Chain, Header, Shown, Unspent};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use effects::Undelivered;
use model::lasting;
use serde_json::{Value, json};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use ureq::http::{HeaderValue, Request, Uri};
use ureq::tls::{RootCerts, TlsConfig};
use zeroize::Zeroizing;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(5);
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a look through all unspent outputs may take: minutes on a slow disk.
const SCAN: Duration = Duration::from_secs(300);
/// Bytes of an answer: a list of the transactions of a full block, or of some ten thousand coins.
const ANSWER_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Bytes of a file with a name and a password.
const COOKIE_BYTES_MAX: u64 = 1_024;
/// Characters of what a node says that are passed on.
const SAID_CHARS_MAX: usize = 300;

/// What a node asks of whoever calls: `user:password`.
#[derive(Clone)]
pub enum Login {
    /// The node's own cookie file, on this machine; it writes another at each start.
    Cookie(PathBuf),
    /// The secret of this handle.
    Secret {
        /// The handle.
        handle: String,
        /// Where values come from.
        secrets: SecretSlot,
        /// Where each may go.
        book: SecretBook,
    },
}

/// Why a node did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NodeError {
    /// The address is none that is spoken to.
    #[error("the address of the Bitcoin node: {0}")]
    Address(String),
    /// It does not let us in, or there is nothing to show it.
    #[error("the Bitcoin node was not let know who asks: {0}")]
    Login(String),
    /// Nobody answers; nothing was asked.
    #[error("the Bitcoin node cannot be reached: {0}")]
    Away(String),
    /// It may have been asked, and there is no answer.
    #[error("the Bitcoin node did not answer: {0}")]
    Lost(String),
    /// It says no.
    #[error("the Bitcoin node says: {message} ({code})")]
    Refused {
        /// Its number for that.
        code: i64,
        /// Its words.
        message: String,
    },
    /// It answers what it cannot have meant.
    #[error("the Bitcoin node's answer is of no use: {0}")]
    Answer(String),
}

impl NodeError {
    /// The same, of something that was not to be sent twice.
    pub fn undelivered(self) -> Undelivered {
        match self {
            Self::Lost(_) | Self::Answer(_) => Undelivered::Unknown(self.to_string()),
            _ => Undelivered::NotSent(self.to_string()),
        }
    }

    /// The same, of a question: nothing was sent by it.
    pub fn unanswered(self) -> Undelivered {
        Undelivered::NotSent(self.to_string())
    }
}

/// A node.
#[derive(Clone)]
pub struct BitcoinNode {
    url: String,
    server: String,
    login: Login,
    authorities: Option<PathBuf>,
}

impl BitcoinNode {
    /// The node at this address; asks it nothing.
    ///
    /// # Errors
    /// [`NodeError::Address`].
    pub fn new(url: &str, login: Login, config: &Config) -> Result<Self, NodeError> {
        let server = server_at(url)?;
        Ok(Self { url: url.to_owned(), server, login, authorities: config.authorities() })
    }

    /// Where it is, as `name:port`.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Asks, within the usual time.
    fn ask(&self, method: &str, params: Value) -> Result<Value, NodeError> {
        self.ask_within(method, params, PATIENCE)
    }

    fn ask_within(&self, method: &str, params: Value, timeout: Duration) -> Result<Value, NodeError> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let mut line = HeaderValue::from_str(&self.authorization()?)
            .map_err(|_| NodeError::Login("name and password hold what no header may".to_owned()))?;
        line.set_sensitive(true);
        let request = Request::builder()
            .method("POST")
            .uri(&self.url)
            .header("Content-Type", "application/json")
            .header("Accept-Encoding", "identity")
            .header("Authorization", line)
            .body(body.as_bytes())
            .map_err(|e| NodeError::Address(e.to_string()))?;
        let mut reply = self.agent(timeout)?.run(request).map_err(|error| not_asked(&error, timeout))?;
        let status = reply.status().as_u16();
        let mut bytes = Vec::new();
        let mut stream = reply.body_mut().as_reader().take(ANSWER_BYTES_MAX + 1);
        stream.read_to_end(&mut bytes).map_err(|e| NodeError::Lost(e.to_string()))?;
        if bytes.len() as u64 > ANSWER_BYTES_MAX {
            return Err(NodeError::Answer(format!("it is longer than {ANSWER_BYTES_MAX} bytes")));
        }
        answered(status, &bytes)
    }

    fn agent(&self, timeout: Duration) -> Result<ureq::Agent, NodeError> {
        let mut config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // Where an answer leads is nobody's node.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(timeout))
            .user_agent(concat!("hermit/", env!("CARGO_PKG_VERSION")));
        if let Some(path) = &self.authorities {
            let roots = certificates(path).map_err(|e| NodeError::Address(e.to_string()))?;
            config = config.tls_config(TlsConfig::builder().root_certs(RootCerts::from(roots)).build());
        }
        Ok(config.build().into())
    }

    /// The line that says who asks, wiped when dropped.
    fn authorization(&self) -> Result<Zeroizing<String>, NodeError> {
        let words = match &self.login {
            // Any other file of this machine would do as well, and go elsewhere.
            Login::Cookie(_) if !is_here(self.server.rsplit_once(':').map_or("", |(host, _)| host)) => {
                let why =
                    "a cookie file is shown to a node on this machine only; name a secret for one elsewhere";
                return Err(NodeError::Login(why.to_owned()));
            }
            Login::Cookie(path) => cookie(path)?,
            Login::Secret { handle, secrets, book } => {
                let refused = |why: String| NodeError::Login(format!("`secret:{handle}` {why}"));
                if model::login::server_of_login(handle).is_some() || !book.may_go(handle, &self.server) {
                    return Err(refused(format!("may not go to `{}`", self.server)));
                }
                let source = secrets.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
                let source = source.ok_or_else(|| refused("is in a vault that is locked".to_owned()))?;
                source.secret(handle).map_err(|e| refused(format!("cannot be read: {e}")))?
            }
        };
        let words = words.trim_ascii();
        if !words.contains(&b':') {
            return Err(NodeError::Login("what is shown to it has to be `name:password`".to_owned()));
        }
        let encoded = Zeroizing::new(STANDARD.encode(words));
        Ok(Zeroizing::new(format!("Basic {}", encoded.as_str())))
    }
}

impl From<NodeError> for Error {
    fn from(error: NodeError) -> Self {
        Self::Said(wire::Error::new(wire::Code::Usage, error.to_string()))
    }
}

/// Whether a name is that of this machine.
fn is_here(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// `name:port` of an address that is spoken to.
fn server_at(url: &str) -> Result<String, NodeError> {
    let refused = |why: &str| NodeError::Address(format!("`{url}` {why}"));
    // First of all, so that no refusal says it again.
    if url.contains('@') {
        return Err(NodeError::Address("name and password go into a secret, not here".to_owned()));
    }
    let uri: Uri = url.parse().map_err(|_| refused("is no address"))?;
    let host = uri.host().ok_or_else(|| refused("names no machine"))?;
    match uri.scheme_str() {
        Some("https") => {}
        Some("http") if is_here(host) => {}
        Some("http") => {
            return Err(refused("is on another machine: only `https://` keeps its password to itself there"));
        }
        _ => return Err(refused("has to begin with `http://` or `https://`")),
    }
    if uri.query().is_some() {
        return Err(refused("has a `?`, which no node reads"));
    }
    let port =
        uri.port_u16().ok_or_else(|| refused("names no port; nodes listen at 8332, in regtest at 18443"))?;
    Ok(format!("{host}:{port}"))
}

fn cookie(path: &Path) -> Result<Zeroizing<Vec<u8>>, NodeError> {
    let refused = |why: String| NodeError::Login(format!("its cookie file `{}`: {why}", path.display()));
    let file = std::fs::File::open(path).map_err(|e| refused(e.to_string()))?;
    let mut words = Zeroizing::new(Vec::new());
    file.take(COOKIE_BYTES_MAX + 1).read_to_end(&mut words).map_err(|e| refused(e.to_string()))?;
    match words.len() as u64 > COOKIE_BYTES_MAX {
        true => Err(refused("it is too long for one".to_owned())),
        false => Ok(words),
    }
}

/// Why there is no answer, and whether it may have been asked.
fn not_asked(error: &ureq::Error, timeout: Duration) -> NodeError {
    use ureq::Error as E;
    match error {
        E::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
            NodeError::Away(format!("no connection within {}", lasting(CONNECT)))
        }
        E::Timeout(_) => NodeError::Lost(format!("nothing within {}", lasting(timeout))),
        E::HostNotFound => NodeError::Away("there is no machine of this name".to_owned()),
        E::ConnectionFailed => NodeError::Away("no connection came about".to_owned()),
        E::Io(io) if io.kind() == std::io::ErrorKind::ConnectionRefused => NodeError::Away(io.to_string()),
        other => NodeError::Lost(other.to_string()),
    }
}

/// What an answer says.
fn answered(status: u16, bytes: &[u8]) -> Result<Value, NodeError> {
    match status {
        401 => return Err(NodeError::Login("it refuses this name and password".to_owned())),
        403 => return Err(NodeError::Login("it lets nobody in from this machine".to_owned())),
        _ => {}
    }
    let odd = || NodeError::Answer(format!("it is no JSON-RPC, with the status {status}"));
    let Ok(Value::Object(mut answer)) = serde_json::from_slice(bytes) else { return Err(odd()) };
    match answer.remove("error") {
        None | Some(Value::Null) => answer.remove("result").ok_or_else(odd),
        Some(error) => Err(NodeError::Refused {
            code: error.get("code").and_then(Value::as_i64).unwrap_or_default(),
            message: said(error.get("message").and_then(Value::as_str).unwrap_or("no")),
        }),
    }
}

/// Words of a node, of a length and without what a terminal would obey.
fn said(words: &str) -> String {
    words.chars().filter(|c| !c.is_control()).take(SAID_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests;
