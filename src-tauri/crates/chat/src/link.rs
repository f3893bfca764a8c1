//! A connection that is held by hand: TCP or TLS, through the proxy of this machine's settings, with a time and a number of
//! bytes that reading ends at.

use crate::Fault;
use crate::http::is_loopback;
use base64::Engine as _;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use ureq::tls::Certificate;
use url::Url;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);
/// Bytes of a proxy's answer.
const PROXY_BYTES_MAX: usize = 8 * 1024;

/// A connection, and what may still be read from it.
pub(crate) struct Link {
    stream: Stream,
    allowance: Allowance,
}

enum Stream {
    Plain(TcpStream),
    Secure(Box<rustls::StreamOwned<rustls::ClientConnection, TcpStream>>),
}

/// What may still be read, shared with whoever renews it.
#[derive(Clone)]
pub(crate) struct Allowance(Arc<Mutex<(u64, Instant)>>);

impl Allowance {
    /// So many bytes, until then.
    pub(crate) fn renew(&self, bytes: u64, until: Instant) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (bytes, until);
    }

    /// Bytes and time that are left.
    fn left(&self) -> (u64, Duration) {
        let (bytes, until) = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (bytes, until.saturating_duration_since(Instant::now()))
    }

    fn used(&self, bytes: usize) {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        left.0 = left.0.saturating_sub(bytes as u64);
    }
}

/// Connects to the host of an address, with TLS where the address says so.
pub(crate) fn dial(url: &Url, authorities: &[Certificate<'static>]) -> Result<Link, Fault> {
    let (host, port) = crate::http::host_of(url);
    let gone = |error: io::Error| Fault::away(format!("`{host}:{port}`: {}", in_words(&error)));
    let proxy = if is_loopback(url) { None } else { ureq::Proxy::try_from_env() };
    let uri = format!("https://{host}:{port}").parse::<ureq::http::Uri>().ok();
    let proxy = proxy.filter(|proxy| !uri.as_ref().is_some_and(|uri| proxy.is_no_proxy(uri)));
    let mut tcp = match &proxy {
        Some(proxy) => through(proxy, &host, port).map_err(gone)?,
        None => connect(&host, port).map_err(gone)?,
    };
    let stream = match url.scheme() {
        "https" | "wss" => {
            Stream::Secure(Box::new(secure(&mut tcp, &host, authorities).map_err(gone)?.over(tcp)))
        }
        _ => Stream::Plain(tcp),
    };
    let allowance = Allowance(Arc::new(Mutex::new((64 * 1024, Instant::now() + CONNECT))));
    Ok(Link { stream, allowance })
}

fn in_words(error: &io::Error) -> String {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(tls) => tls.to_string(),
        None => error.kind().to_string(),
    }
}

fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in (bare, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(stream) => {
                stream.set_read_timeout(Some(CONNECT))?;
                stream.set_write_timeout(Some(CONNECT))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// A tunnel through a proxy.
fn through(proxy: &ureq::Proxy, host: &str, port: u16) -> io::Result<TcpStream> {
    if proxy.protocol() != ureq::ProxyProtocol::Http {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "only an HTTP proxy is gone through"));
    }
    let mut stream = connect(proxy.host(), proxy.port())?;
    let mut head = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n");
    if let Some(user) = proxy.username() {
        let pair = format!("{user}:{}", proxy.password().unwrap_or_default());
        let pair = base64::engine::general_purpose::STANDARD.encode(pair);
        head.push_str(&format!("Proxy-Authorization: Basic {pair}\r\n"));
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    let (mut said, mut byte) = (Vec::new(), [0]);
    while !said.ends_with(b"\r\n\r\n") && said.len() < PROXY_BYTES_MAX {
        stream.read_exact(&mut byte)?;
        said.extend_from_slice(&byte);
    }
    match said.split(|b| *b == b' ').nth(1) {
        Some(b"200") => Ok(stream),
        _ => Err(io::Error::from(io::ErrorKind::ConnectionRefused)),
    }
}

/// TLS that stands.
struct Shaken(rustls::ClientConnection);

impl Shaken {
    fn over(self, tcp: TcpStream) -> rustls::StreamOwned<rustls::ClientConnection, TcpStream> {
        rustls::StreamOwned::new(self.0, tcp)
    }
}

fn secure(tcp: &mut TcpStream, host: &str, authorities: &[Certificate<'static>]) -> io::Result<Shaken> {
    let mut roots = rustls::RootCertStore::empty();
    if authorities.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    for authority in authorities {
        let der = rustls::pki_types::CertificateDer::from(authority.der().to_vec());
        roots.add(der).map_err(io::Error::other)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(io::Error::other)?.with_root_certificates(roots).with_no_client_auth();
    let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let name = rustls::pki_types::ServerName::try_from(bare).map_err(io::Error::other)?;
    let mut session = rustls::ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    while session.is_handshaking() {
        session.complete_io(tcp)?;
    }
    Ok(Shaken(session))
}

impl Link {
    /// What may still be read from it.
    pub(crate) fn allowance(&self) -> Allowance {
        self.allowance.clone()
    }

    fn tcp(&self) -> &TcpStream {
        match &self.stream {
            Stream::Plain(tcp) => tcp,
            Stream::Secure(tls) => tls.get_ref(),
        }
    }
}

impl Read for Link {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (bytes, time) = self.allowance.left();
        if bytes == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "more was sent than is read"));
        }
        if time.is_zero() {
            return Err(io::Error::from(io::ErrorKind::TimedOut));
        }
        self.tcp().set_read_timeout(Some(time.max(Duration::from_millis(1))))?;
        let room = usize::try_from(bytes).unwrap_or(usize::MAX).min(buffer.len());
        let part = buffer.get_mut(..room).unwrap_or_default();
        let read = match &mut self.stream {
            Stream::Plain(tcp) => tcp.read(part),
            Stream::Secure(tls) => tls.read(part),
        };
        match read {
            Ok(read) => {
                self.allowance.used(read);
                Ok(read)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Err(io::Error::from(io::ErrorKind::TimedOut))
            }
            Err(error) => Err(error),
        }
    }
}

impl Write for Link {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match &mut self.stream {
            Stream::Plain(tcp) => tcp.write(buffer),
            Stream::Secure(tls) => tls.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.stream {
            Stream::Plain(tcp) => tcp.flush(),
            Stream::Secure(tls) => tls.flush(),
        }
    }
}
