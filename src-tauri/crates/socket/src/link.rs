//! A connection that is held by hand: TCP or TLS, through the proxy of this machine's settings, with a time and a number of
//! bytes that reading ends at.

use crate::address::{Whom, host_of, is_loopback};
use crate::{Fault, lock};
use base64::Engine as _;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use ureq::tls::Certificate;
use url::Url;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);
/// How long it may take where a name has many addresses.
const CONNECT_ALL: Duration = Duration::from_secs(30);
/// How long a look takes at whether something came.
const LOOK: Duration = Duration::from_millis(1);
/// Bytes of a proxy's answer.
const PROXY_BYTES_MAX: usize = 8 * 1024;

/// A connection, and what may still be read from it.
pub struct Link {
    stream: Stream,
    allowance: Allowance,
}

enum Stream {
    Plain(TcpStream),
    Secure(Box<rustls::StreamOwned<rustls::ClientConnection, TcpStream>>),
}

/// What may still be read, shared with whoever renews it.
#[derive(Clone)]
pub struct Allowance(Arc<Mutex<Left>>);

struct Left {
    bytes: u64,
    until: Instant,
    /// How long one read waits at most.
    each: Duration,
}

impl Allowance {
    /// What may be read before anybody renews it.
    fn first() -> Self {
        let until = Instant::now() + CONNECT;
        Self(Arc::new(Mutex::new(Left { bytes: 64 * 1024, until, each: Duration::MAX })))
    }

    /// So many bytes, until then.
    pub fn renew(&self, bytes: u64, until: Instant) {
        *lock(&self.0) = Left { bytes, until, each: Duration::MAX };
    }

    /// So many bytes of those that are there, or come within a moment.
    pub(crate) fn look(&self, bytes: u64) {
        *lock(&self.0) = Left { bytes, until: Instant::now() + CONNECT, each: LOOK };
    }

    /// Bytes and time that are left.
    fn left(&self) -> (u64, Duration) {
        let left = lock(&self.0);
        (left.bytes, left.until.saturating_duration_since(Instant::now()).min(left.each))
    }

    fn used(&self, bytes: usize) {
        let mut left = lock(&self.0);
        left.bytes = left.bytes.saturating_sub(bytes as u64);
    }
}

/// How a connection comes about.
pub(crate) struct Terms<'a> {
    /// Which addresses it may lead to.
    pub(crate) whom: Whom,
    /// Whether it goes through the proxy of this machine's settings.
    pub(crate) by_proxy: bool,
    /// Is shown the connection before anything is said on it; whether it is still wanted.
    pub(crate) reached: &'a dyn Fn(&TcpStream) -> bool,
}

/// Connects to the host of an address, with TLS where the address says so.
///
/// # Errors
/// When it cannot be reached.
pub fn dial(url: &Url, authorities: &[Certificate<'static>]) -> Result<Link, Fault> {
    dial_on(url, authorities, &Terms { whom: Whom::Anybody, by_proxy: true, reached: &|_| true })
}

/// The same, on these terms.
pub(crate) fn dial_on(
    url: &Url,
    authorities: &[Certificate<'static>],
    terms: &Terms<'_>,
) -> Result<Link, Fault> {
    let (host, port) = host_of(url);
    let gone = |error: io::Error| Fault::new(format!("`{host}:{port}`: {}", in_words(&error)));
    let proxy = if is_loopback(url) || !terms.by_proxy { None } else { ureq::Proxy::try_from_env() };
    let uri = format!("https://{host}:{port}").parse::<ureq::http::Uri>().ok();
    let proxy = proxy.filter(|proxy| !uri.as_ref().is_some_and(|uri| proxy.is_no_proxy(uri)));
    let tcp = match &proxy {
        Some(proxy) => {
            refuse_near(&host, port, terms.whom).map_err(gone)?;
            through(proxy, &host, port).map_err(gone)?
        }
        None => connect(&host, port, terms.whom).map_err(gone)?,
    };
    if !(terms.reached)(&tcp) {
        return Err(Fault::new("it is not wanted any more"));
    }
    let stream = match url.scheme() {
        "https" | "wss" => {
            Stream::Secure(Box::new(secure(&tcp, &host, authorities).map_err(gone)?.over(tcp)))
        }
        _ => Stream::Plain(tcp),
    };
    Ok(Link { stream, allowance: Allowance::first() })
}

fn in_words(error: &io::Error) -> String {
    let inner = error.get_ref();
    if let Some(tls) = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        return tls.to_string();
    }
    match inner.and_then(|inner| inner.downcast_ref::<NotTaken>()) {
        Some(not_taken) => not_taken.to_string(),
        None => error.kind().to_string(),
    }
}

/// A host has only addresses that are not connected to.
#[derive(Debug)]
struct NotTaken;

impl fmt::Display for NotTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("that address is this machine's or of its own network, and nobody here set it")
    }
}

impl std::error::Error for NotTaken {}

/// A name that a proxy would look up is looked up here as well, where that can be done.
fn refuse_near(host: &str, port: u16, whom: Whom) -> io::Result<()> {
    if whom == Whom::Anybody {
        return Ok(());
    }
    let mut addresses = (bare(host), port).to_socket_addrs().into_iter().flatten();
    if addresses.all(|address| whom.takes(address.ip())) { Ok(()) } else { Err(io::Error::other(NotTaken)) }
}

fn bare(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

fn connect(host: &str, port: u16, whom: Whom) -> io::Result<TcpStream> {
    let until = Instant::now() + CONNECT_ALL;
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in (bare(host), port).to_socket_addrs()? {
        let left = until.saturating_duration_since(Instant::now()).min(CONNECT);
        if !whom.takes(address.ip()) {
            last = io::Error::other(NotTaken);
            continue;
        }
        if left.is_zero() {
            return Err(io::Error::from(io::ErrorKind::TimedOut));
        }
        match TcpStream::connect_timeout(&address, left) {
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

/// A connection that is read from and written to until a time, however slowly the other side goes.
struct Until<'a> {
    tcp: &'a TcpStream,
    until: Instant,
}

impl Until<'_> {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::Error::from(io::ErrorKind::TimedOut)) } else { Ok(Some(left)) }
    }
}

fn as_timed_out(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => io::Error::from(io::ErrorKind::TimedOut),
        _ => error,
    }
}

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.tcp.set_read_timeout(self.left()?)?;
        let mut tcp = self.tcp;
        tcp.read(buffer).map_err(as_timed_out)
    }
}

impl Write for Until<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.tcp.set_write_timeout(self.left()?)?;
        let mut tcp = self.tcp;
        tcp.write(buffer).map_err(as_timed_out)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A tunnel through a proxy.
fn through(proxy: &ureq::Proxy, host: &str, port: u16) -> io::Result<TcpStream> {
    if proxy.protocol() != ureq::ProxyProtocol::Http {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "only an HTTP proxy is gone through"));
    }
    let tcp = connect(proxy.host(), proxy.port(), Whom::Anybody)?;
    let mut stream = Until { tcp: &tcp, until: Instant::now() + CONNECT };
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
        Some(b"200") => {
            tcp.set_write_timeout(Some(CONNECT))?;
            Ok(tcp)
        }
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

fn secure(tcp: &TcpStream, host: &str, authorities: &[Certificate<'static>]) -> io::Result<Shaken> {
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
    let name = rustls::pki_types::ServerName::try_from(bare(host).to_owned()).map_err(io::Error::other)?;
    let mut session = rustls::ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    let mut stream = Until { tcp, until: Instant::now() + CONNECT };
    while session.is_handshaking() {
        session.complete_io(&mut stream)?;
    }
    tcp.set_write_timeout(Some(CONNECT))?;
    Ok(Shaken(session))
}

impl Link {
    /// Over a connection that somebody else made.
    pub(crate) fn over(tcp: TcpStream) -> io::Result<Self> {
        tcp.set_nonblocking(false)?;
        tcp.set_nodelay(true)?;
        tcp.set_write_timeout(Some(CONNECT))?;
        Ok(Self { stream: Stream::Plain(tcp), allowance: Allowance::first() })
    }

    /// What may still be read from it.
    pub fn allowance(&self) -> Allowance {
        self.allowance.clone()
    }

    /// The connection itself, where nothing lies over it.
    pub(crate) fn into_tcp(self) -> Option<TcpStream> {
        match self.stream {
            Stream::Plain(tcp) => Some(tcp),
            Stream::Secure(_) => None,
        }
    }

    /// The connection below it.
    pub(crate) fn tcp(&self) -> &TcpStream {
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
