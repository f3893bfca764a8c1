//! The way out for one command: a small proxy of our own, on a socket that only the command's walls can reach, or on a port that
//! they leave open and a password that only the command is told.
//!
//! A command has a network with nothing in it but the proxy. The proxy resolves a name once, checks the address
//! and dials exactly that address; only hosts that the grant names, and no address of this machine or its neighbours
//! unless the address itself was named. Each connection is on record. A secret is a sentinel inside: in requests to one of
//! the secret's hosts the value takes its place in headers, and in address and body where its terms say so; in TLS too,
//! which for these hosts ends here, with an authority that is made for the one command. An answer ends where it shows a
//! value, in any encoding that the redactor knows. What goes elsewhere in TLS goes through as it is, to the name that was
//! allowed: the first message says so.
//!
//! What this does not hold back: a value that its own host gives back changed (reversed, encrypted, a letter at a time),
//! or gives to another host that the command may reach in TLS. Nor does it see which name a request inside a foreign TLS
//! asks for after its first message.

mod address;
mod allow;
mod body;
mod client_hello;
mod entrance;
mod exchange;
mod head;
mod places;
mod request;
mod sent;
mod swap;
mod tls;

use crate::command::view::WayOut;
pub(crate) use allow::{Allowed, NoWay};
pub(crate) use entrance::Meets;
use entrance::{Client, Entrance, Waits};
use model::Digest;
use model::secret::SecretTerms;
use places::Places;
use redact::Redactor;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tls::Authority;
use zeroize::Zeroizing;

/// Connections that are told one by one; more are counted.
const TOLD_MAX: usize = 100;
/// The same of those who did not say the password: others of the machine leave room for the command's own.
const STRANGERS_TOLD_MAX: usize = 20;
/// Where the proxy is inside the walls.
pub(crate) const INSIDE: &str = "/run/hermit/proxy";
/// Where the file of authorities is inside, when there is one.
pub(crate) const ROOTS_INSIDE: &str = "/run/hermit/roots.pem";
/// What a command finds the proxy by; `hermit-exec` listens there.
pub(crate) const ADDRESS: &str = "http://127.0.0.1:3128";

/// Values of secrets, and where each may go.
pub trait Secrets: Send + Sync {
    /// The value behind a handle.
    ///
    /// # Errors
    /// Why it cannot be had, in words that do not show it.
    fn value(&self, handle: &str) -> Result<Zeroizing<Vec<u8>>, String>;

    /// The token of the log-in at a server of tools, renewed where it has ended; with one that the server has refused,
    /// another than that.
    ///
    /// # Errors
    /// Why there is none, in words that say what to do.
    fn login(&self, handle: &str, _refused: Option<&[u8]>) -> Result<Zeroizing<Vec<u8>>, String> {
        self.value(handle)
    }

    /// Where it may go.
    fn terms(&self, handle: &str) -> SecretTerms;

    /// Authorities, in DER, whose word is taken for a host that a value may go to: those of this machine.
    fn authorities(&self) -> Vec<Vec<u8>> {
        rustls_native_certs::load_native_certs().certs.into_iter().map(|der| der.to_vec()).collect()
    }
}

/// Nobody's secrets.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSecrets;

impl Secrets for NoSecrets {
    fn value(&self, handle: &str) -> Result<Zeroizing<Vec<u8>>, String> {
        Err(format!("there is no `secret:{handle}` here"))
    }

    fn terms(&self, _: &str) -> SecretTerms {
        SecretTerms::default()
    }
}

/// A connection as it went.
#[derive(Debug, Clone, Default)]
struct Connection {
    host: String,
    address: String,
    sent: u64,
    received: u64,
    verdict: String,
    /// Whoever it was has not said the password that is asked for.
    is_stranger: bool,
}

/// A secret while a command may use it.
struct LentSecret {
    handle: String,
    terms: SecretTerms,
    value: Zeroizing<Vec<u8>>,
    sentinel: Zeroizing<Vec<u8>>,
}

impl LentSecret {
    fn in_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.sentinel)
    }
}

/// What every connection of a session shares.
struct Session {
    allowed: Allowed,
    /// What whoever comes has to say in each request, where others can come.
    asks_for: Option<Zeroizing<String>>,
    lent: Vec<LentSecret>,
    /// Knows the values of all of these.
    redactor: Arc<Redactor>,
    /// For TLS to the hosts of these secrets; none when there are none.
    authority: Option<Authority>,
    told: Mutex<(Vec<Connection>, usize)>,
    /// What was sent to hosts of secrets, where it is kept.
    sent: sent::Sent,
    /// What is open, so that the end of the command ends it.
    open: Mutex<BTreeMap<usize, (Client, Option<TcpStream>)>>,
    places: Places,
    over: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The proxy of one command; it ends when this is dropped or closed.
pub(crate) struct Outlet {
    session: Arc<Session>,
    entrance: Entrance,
    /// Whom the command may trust, when it is not the machine's own list.
    roots: Option<PathBuf>,
}

impl Outlet {
    /// Opens a proxy with its files in `folder`, which is the command's own, for the hosts and secrets a grant names. `salt`
    /// tells sentinels of two commands apart.
    pub(crate) fn open(
        (folder, meets): (&Path, Meets),
        hosts: &[String],
        handles: &[String],
        secrets: &dyn Secrets,
        salt: &str,
    ) -> Result<Self, String> {
        let mut lent = Vec::new();
        for handle in handles {
            let value = secrets.value(handle)?;
            let sentinel = Zeroizing::new(sentinel(handle, salt, value.len()));
            lent.push(LentSecret { handle: handle.clone(), terms: secrets.terms(handle), value, sentinel });
        }
        let values = lent.iter().map(|lent| (lent.handle.clone(), lent.value.clone()));
        let redactor = Arc::new(Redactor::new(values).map_err(|e| e.to_string())?);
        let authority = match lent.is_empty() {
            true => None,
            false => Some(Authority::new(secrets.authorities())?),
        };
        let failed = |e: io::Error| format!("the proxy for the network cannot be opened: {e}");
        let roots = authority.as_ref().map(|authority| {
            let path = folder.join("roots.pem");
            std::fs::write(&path, authority.pem()).map(|()| path)
        });
        let roots = roots.transpose().map_err(failed)?;
        let (entrance, waits) = Entrance::open(meets, folder)?;
        let session = Arc::new(Session {
            allowed: Allowed::new(hosts),
            asks_for: entrance.asks_for(),
            lent,
            redactor,
            authority,
            told: Mutex::default(),
            sent: sent::Sent::default(),
            open: Mutex::default(),
            places: Places::default(),
            over: AtomicBool::new(false),
        });
        let serving = Arc::clone(&session);
        let thread = std::thread::Builder::new().name("proxy".to_owned());
        thread.spawn(move || serve(&waits, &serving)).map_err(failed)?;
        Ok(Self { session, entrance, roots })
    }

    /// What a view needs of it, with what the command is told.
    pub(crate) fn way_out(&self) -> WayOut {
        WayOut {
            socket: self.entrance.socket().map(Path::to_owned),
            port: self.entrance.port(),
            roots: self.roots.clone(),
            told: self.environment(),
        }
    }

    /// What a command is told: where the proxy is, a sentinel for each secret, and whom to trust.
    fn environment(&self) -> Vec<(String, std::ffi::OsString)> {
        let mut all: Vec<(String, std::ffi::OsString)> = Vec::new();
        let address = self.entrance.address();
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
            all.push((name.to_owned(), address.clone().into()));
            all.push((name.to_ascii_lowercase(), address.clone().into()));
        }
        if let Some(roots) = &self.roots {
            // What has no mounts sees the file where it lies.
            let at = if self.entrance.socket().is_some() { Path::new(ROOTS_INSIDE) } else { roots.as_path() };
            all.extend(tls::ROOTS_BY.iter().map(|name| ((*name).to_owned(), at.into())));
        }
        for lent in &self.session.lent {
            let name: String =
                lent.handle.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
            let sentinel = lent.in_text().into_owned();
            all.push((format!("HERMIT_SECRET_{}", name.to_ascii_uppercase()), sentinel.into()));
        }
        all
    }

    /// Keeps from now on what is sent to hosts of secrets, as it stood before any value took its place.
    pub(crate) fn keep_sent(&self) {
        self.session.sent.keep();
    }

    /// What was kept of that, as a text that is bounded, and how it is told in the receipt; none where nothing was sent.
    pub(crate) fn sent(&self) -> Option<(Vec<u8>, String)> {
        self.session.sent.take()
    }

    /// What stands for a secret inside the walls; none of one that is not lent.
    pub(crate) fn stand_in(&self, handle: &str) -> Option<std::ffi::OsString> {
        let lent = self.session.lent.iter().find(|lent| lent.handle == handle)?;
        Some(lent.in_text().into_owned().into())
    }

    /// Ends every connection; what there was, in words for result and receipt.
    pub(crate) fn close(self) -> Vec<String> {
        self.end();
        self.told()
    }

    /// What connections there were since this was last asked, in words for result and receipt.
    pub(crate) fn told(&self) -> Vec<String> {
        let (connections, more) = std::mem::take(&mut *lock(&self.session.told));
        let mut words: Vec<String> = connections.iter().map(in_words).collect();
        if more > 0 {
            words.push(format!("network: {more} further connections"));
        }
        if words.is_empty() {
            words.push("network: it made no connection".to_owned());
        }
        words
    }

    fn end(&self) {
        if self.session.over.swap(true, Ordering::SeqCst) {
            return;
        }
        for (inside, outside) in lock(&self.session.open).values() {
            let _ = inside.shutdown(std::net::Shutdown::Both);
            if let Some(outside) = outside {
                let _ = outside.shutdown(std::net::Shutdown::Both);
            }
        }
        // Whoever waits for the next connection gets one, sees that it is over, and ends.
        let _ = self.entrance.knock();
        self.entrance.clear();
        if let Some(roots) = &self.roots {
            let _ = std::fs::remove_file(roots);
        }
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        self.end();
    }
}

/// Letters that stand for a value inside the walls: as many as it has bytes, the same for one command and handle.
fn sentinel(handle: &str, salt: &str, length: usize) -> Vec<u8> {
    let mut letters = format!("hermit-{handle}-").into_bytes();
    // A short value leaves no room for a name: what tells sentinels apart comes first.
    letters.truncate(length.saturating_sub(16));
    let mut n = 0_u32;
    while letters.len() < length {
        letters
            .extend_from_slice(Digest::of(format!("{salt}:{handle}:{n}").as_bytes()).to_string().as_bytes());
        n += 1;
    }
    letters.truncate(length);
    letters
}

/// How a client is told which password is asked for.
const CHALLENGE: &str = "Proxy-Authenticate: Basic realm=\"hermit\"\r\n";

/// What a client is answered that asked without a password, as some do to learn which is wanted; it may ask again.
fn asks_again() -> Vec<u8> {
    let first = "HTTP/1.1 407 Proxy Authentication Required";
    format!("{first}\r\n{CHALLENGE}Content-Length: 0\r\nProxy-Connection: keep-alive\r\n\r\n").into_bytes()
}

/// A refusal as a client of HTTP reads it.
fn answer(status: u16, why: &str) -> Vec<u8> {
    let body = format!("hermit: {why}\n");
    let reason = match status {
        400 => "Bad Request",
        403 => "Forbidden",
        407 => "Proxy Authentication Required",
        503 => "Service Unavailable",
        _ => "Bad Gateway",
    };
    let length = body.len();
    let challenge = if status == 407 { CHALLENGE } else { "" };
    format!(
        "HTTP/1.1 {status} {reason}\r\n{challenge}Content-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

fn in_words(c: &Connection) -> String {
    let at = if c.address.is_empty() { String::new() } else { format!(" at {}", c.address) };
    let bytes = if c.sent + c.received > 0 {
        format!(", {} bytes sent, {} received", c.sent, c.received)
    } else {
        String::new()
    };
    format!("network: {}{at}: {}{bytes}", c.host, c.verdict)
}

fn serve(waits: &Waits, session: &Arc<Session>) {
    for number in 0.. {
        let came = waits.accept();
        if session.over.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = came else { continue };
        let Ok(second) = stream.try_clone() else { continue };
        // Nobody but the command comes to a socket.
        let is_command = session.asks_for.is_none();
        if is_command && !session.places.enters(number) {
            // Dropped: the command sees a connection that ends.
            continue;
        }
        lock(&session.open).insert(number, (second, None));
        if !is_command && let Some(oldest) = session.places.waits(number) {
            // It waits for what is said there, and sees that nothing more comes.
            if let Some((stranger, _)) = lock(&session.open).get(&oldest) {
                let _ = stranger.shutdown(std::net::Shutdown::Both);
            }
        }
        let spawned = std::thread::Builder::new().name("proxied".to_owned()).spawn({
            let session = Arc::clone(session);
            move || {
                let went = exchange::run(&session, number, &stream);
                session.tells(went);
                session.ends(number);
            }
        });
        if spawned.is_err() {
            session.ends(number);
        }
    }
}

impl Session {
    /// Puts a connection on record, or counts it.
    fn tells(&self, went: Connection) {
        let mut told = lock(&self.told);
        let strangers = told.0.iter().filter(|one| one.is_stranger).count();
        if told.0.len() < TOLD_MAX && !(went.is_stranger && strangers >= STRANGERS_TOLD_MAX) {
            told.0.push(went);
        } else {
            told.1 += 1;
        }
    }

    /// A connection is over, and its place is free.
    fn ends(&self, number: usize) {
        lock(&self.open).remove(&number);
        self.places.leaves(number);
    }
}
