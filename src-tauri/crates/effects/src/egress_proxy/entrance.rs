//! Where a command comes to its proxy: a socket that only its own walls show, or a port of the loopback address. Every program of
//! the machine reaches a port, so whoever comes there says the password of the one command.

use crate::system::local_sockets::{self, LocalListener, LocalStream};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;
use zeroize::Zeroizing;

/// How often a port is looked for that is free at both addresses of this machine.
const PORT_TRIES: usize = 16;
/// How long waking whoever waits at a port may take.
const KNOCK: Duration = Duration::from_secs(1);
/// Bytes of chance in a password.
const PASSWORD_BYTES: usize = 24;
/// What programs call the user whose password it is.
const USER: &str = "hermit";

/// Which of the two a command's walls can let it reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meets {
    /// A socket with a name, which walls of namespaces show to it alone.
    AtSocket,
    /// A port of the loopback address, which a profile leaves open.
    AtPort,
}

/// The open entrance of one proxy.
pub(super) enum Entrance {
    Socket {
        socket: PathBuf,
        /// A second way to the socket, short enough to connect to.
        folder: File,
    },
    Port {
        at: SocketAddr,
        password: Zeroizing<String>,
        /// The same port of the other loopback address. A profile that names `localhost` opens both, and nobody else is to listen there.
        _other: Option<TcpListener>,
    },
}

/// Who waits at it.
pub(super) enum Waits {
    Socket(LocalListener),
    Port(TcpListener),
}

impl Entrance {
    /// Opens one; a socket in `folder`, which is the command's own.
    pub(super) fn open(meets: Meets, folder: &Path) -> Result<(Self, Waits), String> {
        let failed = |e: io::Error| format!("the proxy for the network cannot be opened: {e}");
        match meets {
            Meets::AtSocket => {
                let opened = File::open(folder).map_err(failed)?;
                // The name of a socket is short; the folder's may be long.
                let listener = local_sockets::bind(&opened, "proxy").map_err(failed)?;
                let entrance = Self::Socket { socket: folder.join("proxy"), folder: opened };
                Ok((entrance, Waits::Socket(listener)))
            }
            Meets::AtPort => {
                let (listener, other) = loopback().map_err(failed)?;
                let at = listener.local_addr().map_err(failed)?;
                let entrance = Self::Port { at, password: password()?, _other: other };
                Ok((entrance, Waits::Port(listener)))
            }
        }
    }

    /// The socket, to be bound into the walls.
    pub(super) fn socket(&self) -> Option<&Path> {
        match self {
            Self::Socket { socket, .. } => Some(socket),
            Self::Port { .. } => None,
        }
    }

    /// The port that the walls leave open.
    pub(super) fn port(&self) -> Option<u16> {
        match self {
            Self::Socket { .. } => None,
            Self::Port { at, .. } => Some(at.port()),
        }
    }

    /// What a command finds the proxy by.
    pub(super) fn address(&self) -> String {
        match self {
            Self::Socket { .. } => super::ADDRESS.to_owned(),
            Self::Port { at, password, .. } => format!("http://{USER}:{}@{at}", password.as_str()),
        }
    }

    /// What whoever comes has to say in each request, as RFC 7617 has it; none where nobody else can come.
    pub(super) fn asks_for(&self) -> Option<Zeroizing<String>> {
        match self {
            Self::Socket { .. } => None,
            Self::Port { password, .. } => {
                let both = Zeroizing::new(format!("{USER}:{}", password.as_str()));
                Some(Zeroizing::new(STANDARD.encode(both.as_bytes())))
            }
        }
    }

    /// Comes as a client would, so that whoever waits goes on.
    pub(super) fn knock(&self) -> io::Result<()> {
        match self {
            Self::Socket { folder, .. } => local_sockets::connect(folder, "proxy").map(drop),
            Self::Port { at, .. } => TcpStream::connect_timeout(at, KNOCK).map(drop),
        }
    }

    /// Takes away what it left on the disk.
    pub(super) fn clear(&self) {
        if let Some(socket) = self.socket() {
            let _ = std::fs::remove_file(socket);
        }
    }
}

impl Waits {
    /// Who comes next.
    pub(super) fn accept(&self) -> io::Result<Client> {
        match self {
            Self::Socket(listener) => listener.accept().map(|(stream, _)| Client::Local(stream)),
            Self::Port(listener) => listener.accept().map(|(stream, _)| Client::Loopback(stream)),
        }
    }
}

/// A port that is free at both loopback addresses, and the other one where this machine has it.
fn loopback() -> io::Result<(TcpListener, Option<TcpListener>)> {
    for _ in 0..PORT_TRIES {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        match TcpListener::bind((Ipv6Addr::LOCALHOST, listener.local_addr()?.port())) {
            Ok(other) => return Ok((listener, Some(other))),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            // A machine without the other protocol has nobody there either.
            Err(_) => return Ok((listener, None)),
        }
    }
    Err(io::Error::new(
        io::ErrorKind::AddrInUse,
        "no port is free at both addresses of this machine; try again",
    ))
}

/// A password that nobody guesses, of letters that stand in an address as they are.
fn password() -> Result<Zeroizing<String>, String> {
    let mut chance = Zeroizing::new([0_u8; PASSWORD_BYTES]);
    let filled = rustls::crypto::ring::default_provider().secure_random.fill(chance.as_mut_slice());
    filled.map_err(|_| "this machine gives no chance for a password of the proxy".to_owned())?;
    Ok(Zeroizing::new(chance.iter().map(|byte| format!("{byte:02x}")).collect()))
}

/// What a head says by way of a password; none where it says nothing, and what fits none where it says two.
pub(super) fn said(head: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(head).ok()?;
    let fields = text.split("\r\n").skip(1).filter_map(|line| line.split_once(':'));
    let mut said = fields.filter(|(name, _)| name.eq_ignore_ascii_case("proxy-authorization"));
    let (_, value) = said.next()?;
    if said.next().is_some() {
        return Some("");
    }
    let value = value.trim_matches([' ', '\t']);
    let (scheme, password) = value.split_once(' ').unwrap_or(("", ""));
    Some(if scheme.eq_ignore_ascii_case("basic") { password.trim_start_matches(' ') } else { "" })
}

/// A connection to the proxy.
pub(super) enum Client {
    Local(LocalStream),
    Loopback(TcpStream),
}

impl Client {
    /// The same connection once more.
    pub(super) fn try_clone(&self) -> io::Result<Self> {
        match self {
            Self::Local(stream) => stream.try_clone().map(Self::Local),
            Self::Loopback(stream) => stream.try_clone().map(Self::Loopback),
        }
    }

    /// Ends a direction of it.
    pub(super) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        match self {
            Self::Local(stream) => stream.shutdown(how),
            Self::Loopback(stream) => stream.shutdown(how),
        }
    }

    /// How long a read waits.
    pub(super) fn set_read_timeout(&self, most: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Local(stream) => stream.set_read_timeout(most),
            Self::Loopback(stream) => stream.set_read_timeout(most),
        }
    }

    /// What comes first, which is left where it is; waits so long for it.
    pub(super) fn first_byte(&self, within: Duration) -> Option<u8> {
        match self {
            Self::Local(stream) => local_sockets::first_byte(stream, within),
            Self::Loopback(stream) => {
                let mut first = [0; 1];
                stream.set_read_timeout(Some(within)).ok()?;
                let came = stream.peek(&mut first);
                stream.set_read_timeout(None).ok()?;
                came.is_ok_and(|read| read == 1).then_some(first).map(|[byte]| byte)
            }
        }
    }
}

impl Read for &Client {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match *self {
            Client::Local(stream) => {
                let mut stream = stream;
                stream.read(buffer)
            }
            Client::Loopback(stream) => {
                let mut stream = stream;
                stream.read(buffer)
            }
        }
    }
}

impl Write for &Client {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match *self {
            Client::Local(stream) => {
                let mut stream = stream;
                stream.write(bytes)
            }
            Client::Loopback(stream) => {
                let mut stream = stream;
                stream.write(bytes)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match *self {
            Client::Local(stream) => {
                let mut stream = stream;
                stream.flush()
            }
            Client::Loopback(stream) => {
                let mut stream = stream;
                stream.flush()
            }
        }
    }
}

#[cfg(test)]
mod tests;
