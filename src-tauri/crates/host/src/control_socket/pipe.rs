//! The same on Windows, over a pipe with a name that nobody knows before it is there, and which this user and the system alone may open. The name stands
//! in the store's folder. Whoever asks sees first whose pipe it is: a passphrase goes to nobody else.
//!
//! A read of a pipe has no time of its own, so both sides look what waits before they read it.

use super::until::{Comes, Until};
use super::*;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::windows::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Weak;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;
use win32::OrderPipe;
use win32::access::Sid;

/// The file that tells its name.
const TOLD_IN: &str = "control.pipe";
/// How each name begins.
const BEGINS: &str = "hermit.control.";
/// What may be said and not yet heard: an answer fits, so whoever gives it waits for nobody.
const BUFFER: u32 = 64 * 1024;
/// How often a side looks.
const BETWEEN: Duration = Duration::from_millis(10);
/// How long an answer may lie unread.
const UNREAD: Duration = Duration::from_secs(5);
/// How long it may take to see whether somebody is at a console: whoever asks may have stopped what would tell.
const LOOK: Duration = Duration::from_secs(10);
/// A program that is started so has no console.
const DETACHED: u32 = 0x0000_0008;

/// The host's side, until it ends.
pub struct Control {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
    path: PathBuf,
    name: String,
    user: Sid,
}

impl Control {
    /// Listens from now on.
    ///
    /// # Errors
    /// [`Error::Io`] when the pipe cannot be made; everything else works without.
    pub fn begin(local: &Arc<Local>) -> Result<Self, Error> {
        let path = local.home().path(TOLD_IN);
        let failed = |e: io::Error| Error::io("listen at", &path, &e);
        let user = win32::user().map_err(failed)?;
        let mut chance = [0; 16];
        getrandom::fill(&mut chance).map_err(|e| failed(io::Error::other(e.to_string())))?;
        let name = format!("{BEGINS}{:032x}", u128::from_ne_bytes(chance));
        let pipe = OrderPipe::new(&name, &user, BUFFER).map_err(failed)?;
        // What a host that died has left there is written over: this process owns the store.
        disk::replace(&path, name.as_bytes()).map_err(failed)?;
        let stop = Arc::new(AtomicBool::new(false));
        let (weak, stops) = (Arc::downgrade(local), Arc::clone(&stop));
        let run = move || listen(&pipe, &weak, &stops);
        let thread = std::thread::Builder::new().name("control".to_owned()).spawn(run).map_err(failed)?;
        Ok(Self { stop, thread, path, name, user })
    }

    /// Listens no longer.
    pub fn end(self) {
        let _ = std::fs::remove_file(&self.path);
        self.stop.store(true, Ordering::SeqCst);
        if self.thread.thread().id() == std::thread::current().id() {
            return;
        }
        // It waits until somebody comes, so somebody comes until it has seen that it is over.
        let by = Instant::now() + PATIENCE + UNREAD;
        while !self.thread.is_finished() && Instant::now() < by {
            drop(win32::open_order_pipe(&self.name, &self.user));
            std::thread::sleep(BETWEEN);
        }
        if self.thread.is_finished() {
            let _ = self.thread.join();
        }
    }
}

/// Hears one after another: nobody is in a hurry, and whoever guesses waits.
fn listen(pipe: &OrderPipe, local: &Weak<Local>, stop: &AtomicBool) {
    while !stop.load(Ordering::SeqCst) {
        let came = pipe.wait();
        if stop.load(Ordering::SeqCst) {
            return;
        }
        let Some(local) = local.upgrade() else { return };
        let served = came.and_then(|()| serve(&local, pipe, stop));
        if let Err(error) = served {
            tracing::warn!(%error, "an order was not heard to its end");
            std::thread::sleep(Duration::from_millis(100));
        }
        if let Err(error) = pipe.hang_up() {
            tracing::warn!(%error, "the control pipe does not let go of who came last");
        }
    }
}

fn serve(local: &Arc<Local>, pipe: &OrderPipe, stop: &AtomicBool) -> io::Result<()> {
    let stream = pipe.stream();
    let heard = hear(&mut Until { stream, by: Instant::now() + PATIENCE, stop })?;
    let at_terminal = heard.head.act != Act::Lock && has_terminal(pipe.who()?);
    let mut answer = answered(local, &heard, at_terminal)?;
    answer.push(b'\n');
    if answer.len() > usize::try_from(BUFFER).unwrap_or_default() {
        return Err(io::Error::other("an answer is longer than any of ours"));
    }
    let mut says = stream;
    says.write_all(&answer)?;
    // What is not read yet is lost when the pipe is let go of.
    let by = Instant::now() + UNREAD;
    while win32::waiting(stream)?.is_some() && Instant::now() < by {
        std::thread::sleep(BETWEEN);
    }
    Ok(())
}

/// Whether the process has a console with a window, at which a person may sit. A program of ours looks, since a process has to give
/// its own console up for it.
fn has_terminal(process: u32) -> bool {
    let looked = crate::executors::executor().map_err(io::Error::other).and_then(|program| {
        let mut looks = Command::new(program);
        looks.arg("--console").arg(process.to_string()).creation_flags(DETACHED);
        let mut looks = looks.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let by = Instant::now() + LOOK;
        loop {
            if let Some(ended) = looks.try_wait()? {
                return Ok(ended.success());
            }
            if Instant::now() >= by {
                looks.kill()?;
                return Err(io::ErrorKind::TimedOut.into());
            }
            std::thread::sleep(BETWEEN);
        }
    });
    looked.unwrap_or_else(|error| {
        tracing::warn!(%error, "it cannot be told whether somebody is at a terminal, so nobody is taken for a person");
        false
    })
}

/// A read of the pipe itself has no time, so it is looked first what waits there.
impl Comes for File {
    fn next(&self, buffer: &mut [u8], _left: Duration) -> io::Result<Option<usize>> {
        match win32::waiting(self)? {
            // Nobody is at the other end any more.
            None => Ok(Some(0)),
            Some(0) => {
                std::thread::sleep(BETWEEN);
                Ok(None)
            }
            Some(bytes) => {
                let (now, _) = buffer.split_at_mut(bytes.min(buffer.len()));
                let mut pipe = self;
                pipe.read(now).map(Some)
            }
        }
    }
}

/// Opens the pipe of the host that runs; while it hears somebody else, this waits.
fn opened(home: &Home) -> io::Result<File> {
    let name = std::fs::read_to_string(home.path(TOLD_IN))?;
    let is_ours = name
        .strip_prefix(BEGINS)
        .is_some_and(|rest| rest.len() == 32 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if !is_ours {
        return Err(io::Error::other(format!("`{TOLD_IN}` in the store's folder names no pipe of Hermit")));
    }
    let user = win32::user()?;
    let by = Instant::now() + PATIENCE;
    loop {
        match win32::open_order_pipe(&name, &user)? {
            Some(pipe) => return Ok(pipe),
            None if Instant::now() < by => std::thread::sleep(BETWEEN),
            None => return Err(io::Error::new(io::ErrorKind::TimedOut, "it hears somebody else")),
        }
    }
}

pub(super) fn ask(home: &Home, order: &Order<'_>) -> Result<Answer, wire::Error> {
    let pipe = opened(home).map_err(|e| unreached(&e))?;
    told(exchange(&pipe, order))
}

fn exchange(pipe: &File, order: &Order<'_>) -> io::Result<Answer> {
    let (line, words) = spelled(order)?;
    let mut says = pipe;
    says.write_all(&line)?;
    for words in words.into_iter().flatten() {
        says.write_all(words)?;
    }
    let mut answer = Vec::new();
    let stop = AtomicBool::new(false);
    let heard = BufReader::new(Until { stream: pipe, by: Instant::now() + PATIENCE + PATIENCE, stop: &stop });
    heard.take(ANSWER_BYTES_MAX).read_until(b'\n', &mut answer)?;
    serde_json::from_slice(&answer).map_err(io::Error::other)
}
