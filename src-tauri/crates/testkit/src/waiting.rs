//! Waiting that comes to an end: a place where a thread stops, words of a program as they come, the end of a program.
//!
//! A test that waits without a limit turns a defect into a run that nobody hears of again.

#![allow(clippy::disallowed_methods, reason = "it starts real programs and waits for them")]

use std::io::{BufRead as _, BufReader, ErrorKind, Read};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long anything expected may take on a slow machine.
const PATIENCE: Duration = Duration::from_secs(300);
/// How long a thread stands where it was stopped, when nobody lets it go on.
const HELD: Duration = Duration::from_secs(600);
/// How long a program may take that has all it needs to come to its end, on a machine that does much else.
pub const TO_THE_END: Duration = Duration::from_secs(900);

/// Where a model, an executor or a listener stops: the half that it holds.
pub struct Halted {
    reached: Sender<()>,
    /// Nothing is ever sent: it is let go when the other half is gone.
    goes: Mutex<Receiver<()>>,
}

/// The half of the test: whoever comes there stands until this is gone, by [`Stop::goes_on`] or by a panic of the test.
pub struct Stop {
    is_reached: Receiver<()>,
    /// Let go of with this.
    _go: Sender<()>,
}

/// A place where a thread stops until its test lets it go on.
pub fn stop() -> (Halted, Stop) {
    let (reached, is_reached) = channel();
    let (go, goes) = channel();
    (Halted { reached, goes: Mutex::new(goes) }, Stop { is_reached, _go: go })
}

impl Halted {
    /// Says that it was reached, and stands until it is let go. Whoever comes later goes on at once.
    ///
    /// # Panics
    /// When nobody lets it go in ten minutes.
    pub fn waits(&self) {
        let _ = self.reached.send(());
        let goes = self.goes.lock().unwrap_or_else(PoisonError::into_inner);
        let held = goes.recv_timeout(HELD);
        assert!(held != Err(RecvTimeoutError::Timeout), "nobody let it go on in {HELD:?}");
    }
}

impl Stop {
    /// Waits until somebody stands there.
    ///
    /// # Panics
    /// When nobody comes in five minutes.
    #[track_caller]
    pub fn is_reached(&self) {
        comes(&self.is_reached, "whoever is to stop here");
    }

    /// Lets whoever stands there go on. It takes itself, so that a closure that calls it owns it: where the closure
    /// panics before, this is dropped, and nobody stands there for ever.
    pub fn goes_on(self) {
        drop(self);
    }
}

/// The next of a channel.
///
/// # Panics
/// When nothing comes in five minutes.
#[track_caller]
pub fn comes<T>(from: &Receiver<T>, what: &str) -> T {
    from.recv_timeout(PATIENCE).unwrap_or_else(|e| panic!("{what} did not come: {e}"))
}

/// Lines of a program as they come. They are read to their end also where nobody asks for them any more, so that the
/// program never meets a closed pipe.
pub struct Lines(Receiver<String>);

impl Lines {
    /// Reads them on a thread of its own.
    pub fn of(from: impl Read + Send + 'static) -> Self {
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(from).lines().map_while(Result::ok) {
                // Nobody may ask any more.
                let _ = send.send(line);
            }
        });
        Self(lines)
    }
}

impl Iterator for Lines {
    type Item = String;

    /// The next one without its end; nothing when the program has closed its output.
    ///
    /// # Panics
    /// When nothing comes in five minutes.
    fn next(&mut self) -> Option<String> {
        match self.0.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("a program says nothing for {PATIENCE:?}"),
        }
    }
}

/// How a program ended that is about to: it was told to, or has all that it needs.
///
/// # Panics
/// When it has not ended in five minutes; then it is killed.
#[track_caller]
pub fn ends(child: &mut Child) -> ExitStatus {
    let until = Instant::now() + PATIENCE;
    ended(child, until).unwrap_or_else(|| {
        kill(child);
        panic!("a program that was to end goes on for {PATIENCE:?}; it was killed")
    })
}

/// As [`Command::output`], and ended in time. Standard input is as the command says: without a word it is the test's own.
///
/// # Errors
/// When it does not start.
///
/// # Panics
/// When it has not ended in time, or what it began still holds its output; then it is killed, with its process group
/// where it leads one, and what it printed is told.
#[track_caller]
pub fn output(command: &mut Command, limit: Duration) -> std::io::Result<Output> {
    Ok(finished(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?, limit))
}

/// As [`Child::wait_with_output`], and ended in time.
///
/// # Panics
/// As [`output`].
#[track_caller]
pub fn finished(mut child: Child, limit: Duration) -> Output {
    let until = Instant::now() + limit;
    drop(child.stdin.take());
    let (end, ends) = channel();
    let out = child.stdout.take().map(|from| gather(from, end.clone()));
    let err = child.stderr.take().map(|from| gather(from, end.clone()));
    drop(end);
    // When the last pipe is closed, nobody can say anything any more.
    let closed = loop {
        match ends.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(()) => {}
            Err(RecvTimeoutError::Disconnected) => break true,
            Err(RecvTimeoutError::Timeout) => break false,
        }
    };
    let status = if closed { ended(&mut child, until) } else { None };
    if status.is_none() {
        kill(&mut child);
        // What it printed comes once its end is there, unless another holds it still.
        let _ = ends.recv_timeout(Duration::from_secs(1));
    }
    let taken = |of: Option<Arc<Mutex<Vec<u8>>>>| {
        of.map(|bytes| std::mem::take(&mut *bytes.lock().unwrap_or_else(PoisonError::into_inner)))
            .unwrap_or_default()
    };
    let (stdout, stderr) = (taken(out), taken(err));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let status = status.unwrap_or_else(|| {
        panic!("it has not ended in {limit:?}, and was killed:\n{}\n{}", text(&stdout), text(&stderr))
    });
    Output { status, stdout, stderr }
}

/// Reads to the end on a thread of its own, and lets go of `end` there.
fn gather(mut from: impl Read + Send + 'static, end: Sender<()>) -> Arc<Mutex<Vec<u8>>> {
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let to = Arc::clone(&bytes);
    std::thread::spawn(move || {
        let mut buffer = [0; 8192];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => {
                    to.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&buffer[..read]);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        drop(end);
    });
    bytes
}

/// How it ended, when it has by then.
fn ended(child: &mut Child, until: Instant) -> Option<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait().expect("it is ours") {
            return Some(status);
        }
        if Instant::now() >= until {
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A program that is killed when whoever holds it is gone, also where its test panics.
#[derive(Debug)]
pub struct Killed(pub Child);

impl std::ops::Deref for Killed {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl std::ops::DerefMut for Killed {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Kills it, and its process group where it leads one.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    {
        let group = rustix::process::Pid::from_child(child);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}
