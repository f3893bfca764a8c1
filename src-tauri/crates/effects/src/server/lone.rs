//! A program of Hermit's own behind the walls: it has no network and no folder, and reads its own file and those that are
//! named. It is spoken to over its standard streams.

use super::{Pipes, ServerSessions};
use crate::command::process_limits::ProcessUse;
use crate::command::supervise::end_all;
use crate::command::view::View;
use crate::sandbox::Sandbox;
use std::collections::VecDeque;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Seconds of processor time: it is ended when it is idle, and works as long as somebody asks it.
const CPU_S: u64 = 30 * 24 * 60 * 60;
/// Bytes of what it complains of that are kept: the last ones.
const LAST_BYTES: usize = 4 * 1024;
/// How long the last of it may take to arrive after the program has ended.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A program that was started. Dropped, it is ended with everything it started.
pub struct Lone {
    child: Child,
    used: ProcessUse,
    pipes: Option<Pipes>,
    complaints: Arc<Complaints>,
}

impl Lone {
    /// Starts a program behind these walls, which may fill so much memory. Where this system has walls for commands and
    /// this machine has not, it is not started; a system for which Hermit knows no walls starts it without.
    ///
    /// # Errors
    /// In words, with what to do.
    pub fn start(
        walls: &Sandbox,
        sessions: &ServerSessions,
        program: &Path,
        reads: &[PathBuf],
        memory_bytes: u64,
    ) -> Result<Self, String> {
        let walls = walls.clone().reading_nothing_more().with_memory(memory_bytes);
        let mut command = walled(&walls, program, reads)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child =
            sessions.start(command).map_err(|e| format!("`{}` cannot be started: {e}", program.display()))?;
        let pipes = match (child.stdin.take(), child.stdout.take()) {
            (Some(stdin), Some(stdout)) => Some(Pipes { stdin, stdout }),
            _ => None,
        };
        let used = ProcessUse::of(child.id(), walls.bounds());
        let complaints = Arc::<Complaints>::default();
        let (stderr, told) = (child.stderr.take(), Arc::clone(&complaints));
        let lone = Self { child, used, pipes, complaints };
        if let Some(stderr) = stderr {
            let thread = std::thread::Builder::new().name("complaints".to_owned());
            thread.spawn(move || told.hear(stderr)).map_err(|e| e.to_string())?;
        }
        Ok(lone)
    }

    /// Its standard streams, once.
    pub fn pipes(&mut self) -> Option<Pipes> {
        self.pipes.take()
    }

    /// Why it has to be ended, or that it has ended by itself; none while it works.
    pub fn over(&mut self) -> Option<String> {
        match self.child.try_wait() {
            Ok(None) => self.used.too_large(),
            Ok(Some(status)) => Some(ended(status, &self.complaints.last())),
            Err(error) => Some(error.to_string()),
        }
    }

    /// Why it has to be ended, while it works or says something.
    pub fn too_large(&mut self) -> Option<String> {
        self.used.too_large()
    }
}

/// How it ended, with what it complained of last. These three codes say that it never began.
fn ended(status: ExitStatus, last: &str) -> String {
    let how = match status.code() {
        Some(code @ 125..=127) => format!("it could not be started in its sandbox (status {code})"),
        _ => format!("it ended by itself ({status})"),
    };
    if last.is_empty() { how } else { format!("{how}: {last}") }
}

/// The last of what it says beside its answers.
#[derive(Default)]
struct Complaints {
    heard: Mutex<Heard>,
    more: Condvar,
}

#[derive(Default)]
struct Heard {
    last: VecDeque<u8>,
    is_all: bool,
}

impl Complaints {
    /// Hears all of it, so that it never waits for somebody who listens.
    fn hear(&self, mut from: ChildStderr) {
        let mut buffer = [0; LAST_BYTES];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
            heard.last.extend(buffer.get(..read).unwrap_or_default());
            let over = heard.last.len().saturating_sub(LAST_BYTES);
            heard.last.drain(..over);
        }
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).is_all = true;
        self.more.notify_all();
    }

    /// What it said last, without what looks like a key.
    fn last(&self) -> String {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let heard = self.more.wait_timeout_while(heard, LAST_WORDS, |heard| !heard.is_all);
        let mut heard = heard.unwrap_or_else(PoisonError::into_inner).0;
        let text = String::from_utf8_lossy(heard.last.make_contiguous()).trim().to_owned();
        redact::Redactor::default().text(&text).rest.into_owned()
    }
}

impl Drop for Lone {
    fn drop(&mut self) {
        drop(self.pipes.take());
        end_all(&mut self.child);
    }
}

fn walled(walls: &Sandbox, program: &Path, reads: &[PathBuf]) -> Result<Command, String> {
    let argv = [program.to_string_lossy().into_owned()];
    let mut view = View::nowhere();
    view.reads = std::iter::once(program.to_owned()).chain(reads.iter().cloned()).collect();
    if let Some(command) = walls.server(&view, &argv, false, CPU_S) {
        return Ok(command);
    }
    if cfg!(target_os = "linux") {
        return Err(format!(
            "this machine has no sandbox for the model in the box ({}); install bubblewrap",
            walls.why()
        ));
    }
    let mut command = Command::new(program);
    command.env_clear();
    Ok(command)
}
