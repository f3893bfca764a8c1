//! The way out to the network: one POST at a time, streamed, with the proxy and the authorities that the owner set.

use crate::Config;
use crate::secrets::SecretBook;
use model::lasting;
use reasoning::{Head, HttpReply, ModelHttp, ModelHttpError, Scheme};
use seal::SecretSource;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use zeroize::Zeroizing;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);
/// How often a caller that waits is asked whether it still does.
const TICK: Duration = Duration::from_millis(200);
/// Bytes read at a time.
const CHUNK: usize = 16 * 1024;

/// Where secret values come from, once a vault is open.
pub type SecretSlot = Arc<RwLock<Option<Arc<dyn SecretSource>>>>;

/// Posts over HTTP and HTTPS.
pub struct Outbound {
    authorities: Option<PathBuf>,
    secrets: SecretSlot,
    book: SecretBook,
}

impl Outbound {
    /// A way out with these settings; secrets come out of the slot at the moment of sending.
    /// The book says where each may go.
    pub fn new(config: &Config, secrets: SecretSlot, book: SecretBook) -> Self {
        Self { authorities: config.authorities(), secrets, book }
    }

    fn agent(&self, url: &str, timeout_ms: u64) -> Result<ureq::Agent, ModelHttpError> {
        let mut config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // A redirect could carry the request, and with it what it says, to somebody else.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(Duration::from_millis(timeout_ms)))
            .user_agent(concat!("hermit/", env!("CARGO_PKG_VERSION")));
        // A proxy has no business between a program and a server on the same machine.
        config = config.proxy(if is_loopback(url) { None } else { ureq::Proxy::try_from_env() });
        if let Some(path) = &self.authorities {
            let roots = RootCerts::from(certificates(path)?);
            config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
        }
        Ok(config.build().into())
    }

    /// The line of the head that holds the key, wiped when dropped.
    fn key(&self, handle: &str, scheme: Scheme, url: &str) -> Result<Key, ModelHttpError> {
        let denied = |why: String| ModelHttpError::Denied(why);
        let host = server_of(url).ok_or_else(|| denied(format!("`{url}` names no server")))?;
        if model::login::server_of_login(handle).is_some() {
            return Err(denied(format!(
                "`secret:{handle}` is a log-in at a server of tools; no model is given it"
            )));
        }
        if !self.book.may_go(handle, &host) {
            return Err(denied(format!(
                "`secret:{handle}` may not go to `{host}`; see `hermit secret list`"
            )));
        }
        let source = self.secrets.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        let source = source.ok_or_else(|| denied(format!("the vault with secret `{handle}` is locked")))?;
        let value = source.secret(handle).map_err(|e| denied(e.to_string()))?;
        let text =
            std::str::from_utf8(&value).map_err(|_| denied(format!("secret `{handle}` is not text")))?;
        Ok(match scheme {
            Scheme::Bearer => ("Authorization", Zeroizing::new(format!("Bearer {}", text.trim()))),
            Scheme::Header(name) => (name, Zeroizing::new(text.trim().to_owned())),
        })
    }
}

/// Name and value of a line that holds a key.
type Key = (&'static str, Zeroizing<String>);

/// `name:port` of an address.
fn server_of(url: &str) -> Option<String> {
    let uri: ureq::http::Uri = url.parse().ok()?;
    let standard = if uri.scheme_str() == Some("https") { 443 } else { 80 };
    Some(format!("{}:{}", uri.host()?, uri.port_u16().unwrap_or(standard)))
}

fn is_loopback(url: &str) -> bool {
    let address: Result<reasoning::Address, _> =
        format!("openai:{}#m", url.split('?').next().unwrap_or(url)).parse();
    address.is_ok_and(|address| !address.is_remote())
}

/// A client for what Hermit posts of its own: it goes to the address that it was given to and to nobody else, by the person's proxy
/// unless that leads to this machine, and trusts these authorities where there are any.
pub(crate) fn poster(
    (connect, answer): (Duration, Duration),
    leads_here: bool,
    authorities: Option<&Path>,
) -> Result<ureq::Agent, String> {
    let mut config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_connect(Some(connect))
        .timeout_global(Some(answer))
        .user_agent("hermit");
    config = config.proxy(if leads_here { None } else { ureq::Proxy::try_from_env() });
    if let Some(path) = authorities {
        let roots = certificates(path).map_err(|e| e.to_string())?;
        config = config.tls_config(TlsConfig::builder().root_certs(RootCerts::from(roots)).build());
    }
    Ok(config.build().into())
}

pub(crate) fn certificates(path: &Path) -> Result<Vec<Certificate<'static>>, ModelHttpError> {
    let denied =
        |why: String| ModelHttpError::Denied(format!("the authorities in `{}`: {why}", path.display()));
    let pem = std::fs::read(path).map_err(|e| denied(e.to_string()))?;
    let mut found = Vec::new();
    for item in parse_pem(&pem) {
        if let PemItem::Certificate(certificate) = item.map_err(|e| denied(e.to_string()))? {
            found.push(certificate);
        }
    }
    if found.is_empty() { Err(denied("there is none in it".to_owned())) } else { Ok(found) }
}

/// What comes from the thread that talks.
enum Piece {
    Head { status: u16, retry_after_ms: Option<u64> },
    Bytes(Vec<u8>),
    End,
    Failed(ModelHttpError),
}

impl ModelHttp for Outbound {
    fn post(
        &self,
        url: &str,
        head: &Head<'_>,
        body: &[u8],
        timeout_ms: u64,
        on_chunk: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<HttpReply, ModelHttpError> {
        self.exchange(url, head, Some(body), timeout_ms, on_chunk)
    }

    fn get(
        &self,
        url: &str,
        head: &Head<'_>,
        timeout_ms: u64,
        on_chunk: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<HttpReply, ModelHttpError> {
        self.exchange(url, head, None, timeout_ms, on_chunk)
    }

    fn wait(&self, ms: u64, goes_on: &dyn Fn() -> bool) -> bool {
        let until = Instant::now() + Duration::from_millis(ms);
        while goes_on() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(TICK));
        }
        false
    }
}

impl Outbound {
    /// Posts a body, or asks for what is there.
    fn exchange(
        &self,
        url: &str,
        head: &Head<'_>,
        body: Option<&[u8]>,
        timeout_ms: u64,
        on_chunk: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<HttpReply, ModelHttpError> {
        let agent = self.agent(url, timeout_ms)?;
        let key = head.secret.map(|handle| self.key(handle, head.scheme, url)).transpose()?;
        let (send, receive) = sync_channel::<Piece>(16);
        let (url, body, also) = (url.to_owned(), body.map(<[u8]>::to_vec), head.also);
        // ureq waits without a word; a thread of its own lets the caller be asked meanwhile. When the caller stops,
        // the channel closes, and the thread ends with the next piece or its timeout.
        std::thread::Builder::new()
            .name("egress".to_owned())
            .spawn(move || {
                let mut lines = also.to_vec();
                lines.extend(key.as_ref().map(|(name, value)| (*name, value.as_str())));
                talk(&agent, &url, &lines, body.as_deref(), timeout_ms, &send);
            })
            .map_err(|e| ModelHttpError::Unreachable(e.to_string()))?;
        let until = Instant::now() + Duration::from_millis(timeout_ms) + CONNECT;
        let (mut status, mut retry_after_ms) = (0, None);
        loop {
            match receive.recv_timeout(TICK) {
                Ok(Piece::Head { status: code, retry_after_ms: after }) => {
                    (status, retry_after_ms) = (code, after);
                }
                Ok(Piece::Bytes(bytes)) if on_chunk(&bytes) => {}
                Ok(Piece::Bytes(_)) => return Err(ModelHttpError::Stopped),
                Ok(Piece::End) => return Ok(HttpReply { status, body: Vec::new(), retry_after_ms }),
                Ok(Piece::Failed(error)) => return Err(error),
                Err(RecvTimeoutError::Timeout) if Instant::now() > until => {
                    return Err(ModelHttpError::TimedOut(timeout_ms));
                }
                Err(RecvTimeoutError::Timeout) if on_chunk(&[]) => {}
                Err(RecvTimeoutError::Timeout) => return Err(ModelHttpError::Stopped),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(ModelHttpError::Cut("the exchange broke off".to_owned()));
                }
            }
        }
    }
}

fn talk(
    agent: &ureq::Agent,
    url: &str,
    lines: &[(&str, &str)],
    body: Option<&[u8]>,
    timeout_ms: u64,
    out: &SyncSender<Piece>,
) {
    let mut request = ureq::http::Request::builder().uri(url).header("Accept-Encoding", "identity");
    for (name, value) in lines {
        request = request.header(*name, *value);
    }
    let sent = match body {
        Some(body) => {
            request.method("POST").header("Content-Type", "application/json").body(body).map(|r| agent.run(r))
        }
        None => request.method("GET").header("Accept", "application/json").body(()).map(|r| agent.run(r)),
    };
    // Nobody may be listening any more; then there is nobody to tell.
    let mut reply = match sent.unwrap_or_else(|error| Err(ureq::Error::Http(error))) {
        Ok(reply) => reply,
        Err(error) => return drop(out.send(Piece::Failed(of_ureq(&error, timeout_ms, false)))),
    };
    let head = Piece::Head { status: reply.status().as_u16(), retry_after_ms: retry_after(reply.headers()) };
    if out.send(head).is_err() {
        return;
    }
    let mut stream = reply.body_mut().as_reader();
    let mut buffer = vec![0; CHUNK];
    loop {
        let piece = match stream.read(&mut buffer) {
            Ok(0) => Piece::End,
            Ok(n) => Piece::Bytes(buffer.get(..n).unwrap_or_default().to_vec()),
            Err(error) => Piece::Failed(of_stream(error, timeout_ms)),
        };
        let last = !matches!(piece, Piece::Bytes(_));
        if out.send(piece).is_err() || last {
            return;
        }
    }
}

/// After how long a server says that it may be asked again: in seconds, or as OpenAI says it beside, in milliseconds. A
/// date is not read.
fn retry_after(headers: &ureq::http::HeaderMap) -> Option<u64> {
    let told = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let ms = told("retry-after-ms").or_else(|| Some(told("retry-after")? * 1000.0))?;
    (0.0..=86_400_000.0).contains(&ms).then_some(ms.ceil() as u64)
}

fn of_stream(error: std::io::Error, timeout_ms: u64) -> ModelHttpError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>()) {
        Some(inner) => of_ureq(inner, timeout_ms, true),
        None if error.kind() == std::io::ErrorKind::TimedOut => ModelHttpError::TimedOut(timeout_ms),
        None => ModelHttpError::Cut(error.to_string()),
    }
}

fn of_ureq(error: &ureq::Error, timeout_ms: u64, begun: bool) -> ModelHttpError {
    use ureq::Error as E;
    match error {
        E::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
            ModelHttpError::Unreachable(format!("no connection within {}", lasting(CONNECT)))
        }
        E::Timeout(_) => ModelHttpError::TimedOut(timeout_ms),
        E::HostNotFound => ModelHttpError::Unreachable("no such host".to_owned()),
        E::Io(io) if begun || is_cut(io) => ModelHttpError::Cut(io.to_string()),
        E::Io(io) => ModelHttpError::Unreachable(io.to_string()),
        E::Protocol(why) => ModelHttpError::Cut(why.to_string()),
        other if begun => ModelHttpError::Cut(other.to_string()),
        other => ModelHttpError::Unreachable(other.to_string()),
    }
}

fn is_cut(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}
