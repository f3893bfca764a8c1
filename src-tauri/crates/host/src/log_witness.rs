//! A witness: a second machine that remembers how far it has seen a log, cosigns what has grown from there, and never
//! two histories (c2sp.org/tlog-witness). What it is about to sign is on its disk before it signs.

use crate::Error;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use keychain::{Cost, FileVault, Vault as _};
use model::fault::{Faults, Point};
use seal::cosignature::{AddCheckpoint, Judged, WitnessKey, judge};
pub use seal::note::VerifierKey as LogKey;
use seal::note::{Note, VerifierKey};
use seal::{Digest, SeedSigner, Signer as _};
use serde::{Deserialize, Serialize};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};
use zeroize::Zeroizing;

const KEY_FILE: &str = "witness.key";
const NAME_FILE: &str = "witness.json";
const SEED: &str = "witness-seed";
const LOGS: &str = "logs";
const FORMAT: &str = "hermit-witness/1";
/// Bytes of a request: 63 lines of a proof and a checkpoint with 16 signatures fit many times.
const REQUEST_BYTES_MAX: usize = 64 * 1024;
/// How long a connection may last: it says one thing, and is answered.
const VISIT: Duration = Duration::from_secs(30);
/// Connections at once; more wait their turn.
const VISITS_MAX: usize = 64;
/// What is under way when a witness is told to end has this long.
const ENDING: Duration = Duration::from_secs(5);
/// The content type of a conflict's answer.
const SIZE_TYPE: &str = "text/x.tlog.size";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    format: String,
    name: String,
}

/// What is remembered of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Remembered {
    origin: String,
    /// Keys that may sign for it: several after a rotation.
    keys: Vec<VerifierKey>,
    /// The checkpoint cosigned last; size 0 before the first.
    size: u64,
    root: Digest,
    note: Option<String>,
}

/// What is answered: a status, a content type, a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The content type.
    pub content_type: &'static str,
    /// The body.
    pub body: String,
}

/// A witness with its key and its memory.
pub struct Witness {
    dir: PathBuf,
    key: WitnessKey,
    signer: SeedSigner,
    faults: Arc<dyn Faults>,
    /// Checking and remembering are one step.
    one: Mutex<()>,
}

impl Witness {
    /// The witness in `dir`, made with this name when there is none yet. Its key sleeps in a file under `passphrase`.
    ///
    /// # Errors
    /// [`Error::Keys`], [`Error::Io`]; [`Error::Config`] when it has another name.
    pub fn open(dir: &Path, name: Option<&str>, passphrase: &[u8]) -> Result<Self, Error> {
        let home = crate::Home::find(Some(dir))?;
        home.make()?;
        let faults = crate::faults::from_environment()?;
        let (names, keys) = (home.path(NAME_FILE), home.path(KEY_FILE));
        let odd = |why: String| Error::Config { path: names.display().to_string(), why };
        let known: Option<Named> = match std::fs::read(&names) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
            Err(e) => return Err(Error::io("read", &names, &e)),
            Ok(bytes) => Some(serde_json::from_slice(&bytes).map_err(|e| odd(e.to_string()))?),
        };
        let name = match (&known, name) {
            (Some(known), Some(name)) if known.name != name => {
                return Err(odd(format!("this witness is called `{}`, and a name is for ever", known.name)));
            }
            (Some(known), _) => known.name.clone(),
            (None, Some(name)) => name.to_owned(),
            (None, None) => {
                return Err(odd("a new witness needs a name, such as `witness.home/desk`".to_owned()));
            }
        };
        let vault = if keys.exists() {
            FileVault::open(&keys, passphrase)?
        } else {
            FileVault::create(&keys, passphrase, Cost::STRONG)?
        };
        let seed = match vault.get(SEED)? {
            Some(seed) => seed,
            None => {
                let mut seed = Zeroizing::new(vec![0; 32]);
                getrandom::fill(&mut seed).map_err(|e| keychain::Error::Randomness(e.to_string()))?;
                vault.put(SEED, &seed)?;
                seed
            }
        };
        let seed: [u8; 32] =
            seed.as_slice().try_into().map_err(|_| odd("its seed is not 32 bytes".to_owned()))?;
        let signer = SeedSigner::from_seed(seed);
        let key = WitnessKey::new(&name, signer.public()).map_err(|e| odd(e.to_string()))?;
        if known.is_none() {
            let text = serde_json::to_vec(&Named { format: FORMAT.to_owned(), name })
                .map_err(|e| odd(e.to_string()))?;
            write(&names, &text)?;
        }
        let logs = home.path(LOGS);
        ledger::owner_only::folder(&logs).map_err(|e| Error::io("make", &logs, &e))?;
        Ok(Self { dir: home.dir().to_owned(), key, signer, faults, one: Mutex::new(()) })
    }

    /// Its public key, for whoever wants to be witnessed and for whoever checks.
    pub const fn key(&self) -> &WitnessKey {
        &self.key
    }

    /// From now on this log is witnessed; a further key of a known one is added, as after a rotation.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn know(&self, key: VerifierKey) -> Result<(), Error> {
        let _one = self.one.lock().unwrap_or_else(PoisonError::into_inner);
        let mut log = self.remembered(key.name())?.unwrap_or_else(|| Remembered {
            origin: key.name().to_owned(),
            keys: Vec::new(),
            size: 0,
            root: seal::merkle::empty_root(),
            note: None,
        });
        if !log.keys.contains(&key) {
            log.keys.push(key);
            self.remember(&log)?;
        }
        Ok(())
    }

    /// The logs that are witnessed, with how far each was seen.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Config`] for a memory that cannot be read.
    pub fn logs(&self) -> Result<Vec<(String, u64)>, Error> {
        let folder = self.dir.join(LOGS);
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(|e| Error::io("read", &folder, &e))?.flatten() {
            if entry.path().extension().is_some_and(|e| e == "json") {
                let log = read(&entry.path())?;
                found.push((log.origin, log.size));
            }
        }
        found.sort();
        Ok(found)
    }

    /// Answers one request. `now` is in seconds since 1970.
    pub fn add_checkpoint(&self, body: &[u8], now: u64) -> Reply {
        let said = |status: u16, text: &str| Reply {
            status,
            content_type: "text/plain; charset=utf-8",
            body: format!("{text}\n"),
        };
        let request = match AddCheckpoint::parse(body) {
            Ok(request) => request,
            Err(error) => return said(400, &error.to_string()),
        };
        let origin = String::from_utf8_lossy(&request.note).lines().next().unwrap_or_default().to_owned();
        // From the look at what was seen to the signature nobody else comes in between.
        let _one = self.one.lock().unwrap_or_else(PoisonError::into_inner);
        let log = match self.remembered(&origin) {
            Ok(log) => log,
            Err(error) => return said(500, &error.to_string()),
        };
        let of = |name: &str| log.as_ref().filter(|log| log.origin == name);
        let judged = judge(
            &request,
            |name| of(name).map(|log| log.keys.clone()).unwrap_or_default(),
            |name| of(name).map(|log| (log.size, log.root)),
        );
        let new = match judged {
            Judged::Cosign(new) => new,
            Judged::Conflict(size) => {
                return Reply { status: 409, content_type: SIZE_TYPE, body: format!("{size}\n") };
            }
            Judged::UnknownLog => return said(404, "this witness does not know that log"),
            Judged::Forbidden => return said(403, "no key known for that log has signed this"),
            Judged::Bad(why) => return said(400, why),
            Judged::Unprocessable => {
                return said(
                    422,
                    "this does not follow from what was seen: the log was rewritten, or the proof is wrong",
                );
            }
        };
        let Some(mut log) = log else { return said(404, "this witness does not know that log") };
        (log.size, log.root) = (new.size, new.root);
        log.note = Some(String::from_utf8_lossy(&request.note).into_owned());
        if let Err(error) = self.remember(&log) {
            return said(500, &error.to_string());
        }
        let line = Note::parse(&request.note).and_then(|note| self.key.cosign(&note.text, now, &self.signer));
        match line {
            Ok(line) => said(200, &line.to_string()),
            Err(error) => said(500, &error.to_string()),
        }
    }

    fn place(&self, origin: &str) -> PathBuf {
        self.dir.join(LOGS).join(format!("{}.json", Digest::of(origin.as_bytes())))
    }

    fn remembered(&self, origin: &str) -> Result<Option<Remembered>, Error> {
        let path = self.place(origin);
        if !path.exists() {
            return Ok(None);
        }
        let log = read(&path)?;
        if log.origin == origin {
            return Ok(Some(log));
        }
        Err(Error::Config { path: path.display().to_string(), why: "it is about another log".to_owned() })
    }

    fn remember(&self, log: &Remembered) -> Result<(), Error> {
        let path = self.place(&log.origin);
        let stopped = |e: std::io::Error| Error::io("remember in", &path, &e);
        let text = serde_json::to_vec_pretty(log)
            .map_err(|e| Error::Config { path: path.display().to_string(), why: e.to_string() })?;
        self.faults.before(Point::WitnessRemember).map_err(stopped)?;
        write(&path, &text)?;
        self.faults.after(Point::WitnessRemember).map_err(stopped)
    }
}

fn read(path: &Path) -> Result<Remembered, Error> {
    let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, &e))?;
    serde_json::from_slice(&bytes)
        .map_err(|e| Error::Config { path: path.display().to_string(), why: e.to_string() })
}

/// Whole or not at all, and on the disk when it returns.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    disk::replace(path, bytes).map_err(|e| Error::io("write", path, &e))
}

/// Serves until the process is told to end.
///
/// # Errors
/// [`Error::Io`] when it cannot listen.
pub fn serve(witness: Arc<Witness>, listener: TcpListener) -> Result<(), Error> {
    let failed = |e: std::io::Error| Error::io("serve from", Path::new("the address"), &e);
    listener.set_nonblocking(true).map_err(failed)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    runtime.block_on(async move {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
        let listener = Visits::new(listener, VISIT);
        let routes = Router::new()
            .route("/add-checkpoint", post(answer))
            .layer(DefaultBodyLimit::max(REQUEST_BYTES_MAX))
            .with_state(witness);
        let ended = || async {
            // Without a signal handler the process ends as it always would.
            let _ = tokio::signal::ctrl_c().await;
        };
        let late = async {
            ended().await;
            sleep(ENDING).await;
        };
        tokio::select! {
            served = axum::serve(listener, routes).with_graceful_shutdown(ended()).into_future() => {
                served.map_err(failed)
            }
            () = late => Ok(()),
        }
    })
}

/// Whoever comes, so many at once and each for a while: a stranger who says half a request and waits takes no more.
struct Visits {
    listener: tokio::net::TcpListener,
    places: Arc<Semaphore>,
    limit: Duration,
}

impl Visits {
    fn new(listener: tokio::net::TcpListener, limit: Duration) -> Self {
        Self { listener, places: Arc::new(Semaphore::new(VISITS_MAX)), limit }
    }
}

impl axum::serve::Listener for Visits {
    type Io = Visit;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Visit, SocketAddr) {
        // Nobody closes it, so a place comes free.
        let place = Arc::clone(&self.places).acquire_owned().await.ok();
        let (stream, from) = axum::serve::Listener::accept(&mut self.listener).await;
        (Visit { stream, over: Box::pin(sleep(self.limit)), _place: place }, from)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that breaks off when its time is over.
struct Visit {
    stream: TcpStream,
    over: Pin<Box<Sleep>>,
    _place: Option<OwnedSemaphorePermit>,
}

impl Visit {
    fn lasts(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        match self.over.as_mut().poll(context) {
            Poll::Ready(()) => Err(io::ErrorKind::TimedOut.into()),
            Poll::Pending => Ok(()),
        }
    }
}

impl AsyncRead for Visit {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.lasts(context)?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Visit {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.lasts(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

async fn answer(State(witness): State<Arc<Witness>>, body: Bytes) -> Response {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let reply = witness.add_checkpoint(&body, now);
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [(header::CONTENT_TYPE, reply.content_type)], reply.body).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};

    #[test]
    fn who_says_half_a_request_and_waits_is_left() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).enable_all().build().unwrap();
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            axum::serve(Visits::new(listener, Duration::from_millis(200)), Router::new()).await
        });
        let mut stream = std::net::TcpStream::connect(at).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
        stream.write_all(b"POST /add-checkpoint HTTP/1.1\r\nHost").unwrap();
        let mut said = Vec::new();
        let left = stream.read_to_end(&mut said);
        let waited = left.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::WouldBlock);
        assert!(!waited && !said.starts_with(b"HTTP/1.1 200"), "{left:?}");
    }
}
