//! A command's transcript on disk, written so that after a crash of the host it can be told how far it came.
//!
//! `<spool>/<action_request_id>/`: `argv.json` before anything starts; `started`, empty, held open and locked by
//! everything between host and command, and written by `hermit-exec` in the instant before it becomes the command;
//! `stdout`, `stderr` while it runs; `exit.json` when it has ended. A change set that will make folders leaves
//! `absent.json` there: those that were missing before it. `<spool>/hosts-<attempt_id>` counts the hosts that began a
//! staged run and did not come back from it.

use super::removal::remove_tree;
use crate::system::permissions::private_folder;
use crate::{Error, Executors};
use acts::{Action, ActionRequest};
use model::{ActionRequestId, AttemptId, RelPath};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What the name of a folder begins with that belongs to no act.
const PROBE: &str = "probe-";
/// What the name of the HOME of an attempt's guest begins with.
const GUEST: &str = "guest-";

/// The folder for transcripts, outside every workspace.
#[derive(Debug, Clone)]
pub struct Spool(PathBuf);

model::names! {
    /// How far a command came.
    pub enum TranscriptState ("transcript state") {
        /// It ended, and how is known.
        Exited = "exited",
        /// It was never started.
        NeverStarted = "never_started",
        /// Something of it is still alive.
        Running = "running",
        /// It was started, and how it ended is not known.
        Unknown = "unknown",
    }
}

impl TranscriptState {
    /// Whether nothing is left open.
    pub const fn is_certain(self) -> bool {
        matches!(self, Self::Exited | Self::NeverStarted)
    }
}

/// What is known of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// How far it came.
    pub state: TranscriptState,
    /// Exit status; none when a signal ended it or it is not known.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// What it printed, as far as it was kept.
    pub stdout: Vec<u8>,
    /// What it complained about, as far as it was kept.
    pub stderr: Vec<u8>,
    /// What else can be said.
    pub notes: Vec<String>,
}

/// Folders that were missing before a change set.
const ABSENT: &str = "absent.json";

/// `argv.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Begun {
    pub(crate) argv: Vec<String>,
    pub(crate) cwd: RelPath,
    pub(crate) network: bool,
    /// Whether `started` will be written by `hermit-exec`.
    pub(crate) marked: bool,
}

/// `exit.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Ended {
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) ended_by: Option<String>,
    pub(crate) stdout_bytes: u64,
    pub(crate) stderr_bytes: u64,
}

impl Spool {
    /// A spool at `dir`, which is made when the first command needs it.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self(dir.into())
    }

    /// Forgets a transcript; the kernel does this when outcome and receipt are stored.
    ///
    /// # Errors
    /// [`Error::Spool`] when its files cannot be removed.
    pub fn forget(&self, request: ActionRequestId) -> Result<(), Error> {
        remove_tree(&self.folder(request)).map_err(fail("forgetting a transcript"))
    }

    /// Writes down folders that a change set will find missing, for whoever looks after a crash.
    pub(crate) fn note_absent(&self, request: ActionRequestId, absent: &[RelPath]) -> Result<(), Error> {
        let bytes = serde_json::to_vec(absent).map_err(|e| fail("noting missing folders")(e.into()))?;
        self.write_down(request, ABSENT, &bytes)
    }

    /// What [`Spool::note_absent`] wrote; empty when nothing was missing.
    pub(crate) fn absent(&self, request: ActionRequestId) -> Result<Vec<RelPath>, Error> {
        let fail = fail("reading which folders were missing");
        match read(&self.folder(request).join(ABSENT)).map_err(fail)? {
            Some(bytes) => serde_json::from_slice(&bytes).map_err(|e| fail(e.into())),
            None => Ok(Vec::new()),
        }
    }

    /// Writes something about an act down, durably, before it returns.
    pub(crate) fn write_down(&self, request: ActionRequestId, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let fail = fail("writing down what is about to be done");
        let folder = self.folder(request);
        fs::create_dir_all(&folder).map_err(fail)?;
        private_folder(&self.0).and_then(|()| private_folder(&folder)).map_err(fail)?;
        disk::replace(&folder.join(name), bytes).map_err(fail)?;
        disk::sync_folder(&self.0).map_err(fail)
    }

    /// Writes something more about an act down, durably, where [`Spool::write_down`] has written before.
    pub(crate) fn write_more(&self, request: ActionRequestId, name: &str, bytes: &[u8]) -> Result<(), Error> {
        disk::replace(&self.folder(request).join(name), bytes).map_err(fail("writing down what was done"))
    }

    /// Notes something about an act that only looks: it outlives this process, and may be lost with the power, when looking
    /// again is all there is to do.
    pub(crate) fn note(&self, request: ActionRequestId, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let fail = fail("noting what is looked at");
        let folder = self.folder(request);
        fs::create_dir_all(&folder).map_err(fail)?;
        private_folder(&self.0).and_then(|()| private_folder(&folder)).map_err(fail)?;
        fs::write(folder.join(name), bytes).map_err(fail)
    }

    /// What [`Spool::write_down`] wrote under this name.
    pub(crate) fn written(&self, request: ActionRequestId, name: &str) -> Result<Option<Vec<u8>>, Error> {
        read(&self.folder(request).join(name)).map_err(fail("reading what was sent"))
    }

    pub(crate) fn folder(&self, request: ActionRequestId) -> PathBuf {
        self.0.join(request.to_string())
    }

    /// A folder for a process that is looked at and belongs to no act. Whoever asks for it removes it.
    pub(crate) fn probe(&self) -> Result<PathBuf, Error> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let fail = fail("making a folder for a server");
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = self.0.join(format!("{PROBE}{}-{count}", std::process::id()));
        fs::create_dir_all(&folder).map_err(fail)?;
        private_folder(&self.0).and_then(|()| private_folder(&folder)).map_err(fail)?;
        Ok(folder)
    }

    /// Makes the folder and writes `argv.json`, durably; refuses to begin twice. Gives the folder and the locked
    /// `started` file that the command's first process gets as its standard input.
    pub(crate) fn begin(&self, request: ActionRequestId, begun: &Begun) -> Result<(PathBuf, File), Error> {
        let fail = fail("beginning a transcript");
        fs::create_dir_all(&self.0).map_err(fail)?;
        private_folder(&self.0).map_err(fail)?;
        let folder = self.folder(request);
        fs::create_dir(&folder).map_err(fail)?;
        private_folder(&folder).map_err(fail)?;
        let started = File::create_new(folder.join("started")).map_err(fail)?;
        lock(&started).map_err(fail)?;
        disk::replace(&folder.join("argv.json"), &json(begun)?).map_err(fail)?;
        disk::sync_folder(&self.0).map_err(fail)?;
        Ok((folder, started))
    }
}

/// What of a spool is still needed, said by whoever knows the log.
pub trait Needed {
    /// The staged run of an attempt, to be carried over.
    fn staged(&self, attempt: AttemptId) -> bool;
    /// What else is known of an attempt, which is still at work.
    fn attempt(&self, attempt: AttemptId) -> bool;
    /// The transcript of an act, of which nobody has recorded how it went.
    fn act(&self, act: ActionRequestId) -> bool;
}

/// Staged runs: `stage-<attempt_id>/`, one for an attempt, because an attempt has one act in hand.
impl Spool {
    /// The folder of an attempt's staged run.
    pub(crate) fn staged(&self, attempt: AttemptId) -> PathBuf {
        self.0.join(format!("stage-{attempt}"))
    }

    /// That folder, empty and private, with the locked `started` file as in [`Spool::begin`]. What an earlier run
    /// left there had no effect and is gone.
    pub(crate) fn begin_staged(&self, attempt: AttemptId) -> Result<(PathBuf, File), Error> {
        let fail = fail("beginning a staged run");
        self.unstage(attempt)?;
        let folder = self.staged(attempt);
        fs::create_dir_all(&folder).map_err(fail)?;
        private_folder(&self.0).and_then(|()| private_folder(&folder)).map_err(fail)?;
        let started = File::create_new(folder.join("started")).map_err(fail)?;
        lock(&started).map_err(fail)?;
        Ok((folder, started))
    }

    /// Notes that a host begins a staged run of this attempt, durably; how many have, without coming back from it.
    pub(crate) fn host_began(&self, attempt: AttemptId) -> Result<u32, Error> {
        let fail = fail("noting a staged run");
        fs::create_dir_all(&self.0).map_err(fail)?;
        private_folder(&self.0).map_err(fail)?;
        let at = self.hosts(attempt);
        let known = read(&at).map_err(fail)?.and_then(|bytes| String::from_utf8(bytes).ok()?.parse().ok());
        let hosts = known.unwrap_or(0u32).saturating_add(1);
        disk::replace(&at, hosts.to_string().as_bytes()).map_err(fail)?;
        Ok(hosts)
    }

    /// The staged run is over, and the host is still there.
    pub(crate) fn host_lives(&self, attempt: AttemptId) -> Result<(), Error> {
        match fs::remove_file(self.hosts(attempt)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(fail("noting a staged run")(e)),
            _ => Ok(()),
        }
    }

    fn hosts(&self, attempt: AttemptId) -> PathBuf {
        self.0.join(format!("hosts-{attempt}"))
    }

    /// Forgets what a host that died has left and nobody needs. How many places went.
    ///
    /// # Errors
    /// [`Error::Spool`] when the spool cannot be looked through, or something of it cannot be removed.
    pub fn sweep(&self, needed: &dyn Needed) -> Result<usize, Error> {
        let fail = fail("sweeping what a host left");
        let entries = match fs::read_dir(&self.0) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(0),
            other => other.map_err(fail)?,
        };
        let mut swept = 0;
        let own = format!("{PROBE}{}-", std::process::id());
        for entry in entries {
            let name = entry.map_err(fail)?.file_name();
            let Some(name) = name.to_str() else { continue };
            let of = |begin: &str| name.strip_prefix(begin).and_then(|id| id.parse::<AttemptId>().ok());
            if let Some(attempt) = of("stage-").filter(|attempt| !needed.staged(*attempt)) {
                self.unstage(attempt)?;
            } else if let Some(attempt) = of(GUEST).filter(|attempt| !needed.attempt(*attempt)) {
                self.forget_home(attempt)?;
            } else if let Some(attempt) = of("hosts-").filter(|attempt| !needed.attempt(*attempt)) {
                self.host_lives(attempt)?;
            } else if name.starts_with(PROBE) && !name.starts_with(&own) {
                // One host at a time has the store: another's process has ended, and with it what it looked at.
                remove_tree(&self.0.join(name)).map_err(fail)?;
            } else if let Some(act) = name.parse().ok().filter(|act| !needed.act(*act)) {
                self.forget(act)?;
            } else {
                continue;
            }
            swept += 1;
        }
        Ok(swept)
    }

    /// The HOME of an attempt's guest, made anew with these files unless it goes on with what is there.
    pub(crate) fn home(
        &self,
        attempt: AttemptId,
        files: &BTreeMap<RelPath, String>,
        goes_on: bool,
    ) -> Result<PathBuf, Error> {
        let fail = fail("making a guest's HOME");
        let home = self.0.join(format!("{GUEST}{attempt}"));
        if goes_on && home.is_dir() {
            return Ok(home);
        }
        self.forget_home(attempt)?;
        fs::create_dir_all(&home).map_err(fail)?;
        private_folder(&self.0).and_then(|()| private_folder(&home)).map_err(fail)?;
        for (path, text) in files {
            let at = crate::workspace::names::below(&home, path.as_bytes()).map_err(fail)?;
            let folder = at.parent().unwrap_or(&home);
            fs::create_dir_all(folder).and_then(|()| fs::write(&at, text)).map_err(fail)?;
        }
        Ok(home)
    }

    /// Forgets the HOME of an attempt's guest; one that never was is fine.
    pub(crate) fn forget_home(&self, attempt: AttemptId) -> Result<(), Error> {
        remove_tree(&self.0.join(format!("{GUEST}{attempt}"))).map_err(fail("forgetting a guest's HOME"))
    }

    /// Forgets a staged run, whatever the command did to its folders.
    pub(crate) fn unstage(&self, attempt: AttemptId) -> Result<(), Error> {
        remove_tree(&self.staged(attempt)).map_err(fail("forgetting a staged run"))
    }
}

fn fail(doing: &'static str) -> impl Fn(io::Error) -> Error + Copy {
    move |source| Error::Spool { doing, source }
}

fn json<T: Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    seal::canon::to_canonical(value)
        .map_err(|e| Error::Request(format!("the transcript has no canonical form: {e}")))
}

/// Writes `exit.json`, durably.
pub(crate) fn end(folder: &Path, ended: &Ended) -> Result<(), Error> {
    let bytes = json(ended)?;
    let fail = fail("ending a transcript");
    disk::replace(&folder.join("exit.json"), &bytes).map_err(fail)
}

/// What `hermit-exec` left in `started`.
pub(crate) enum Mark {
    /// Nothing: it never came to the command.
    Nothing,
    /// It became the command, or was about to.
    Started,
    /// It could not become the command.
    Failed(String),
}

/// Reads the mark.
pub(crate) fn mark(folder: &Path) -> io::Result<Mark> {
    let text = fs::read_to_string(folder.join("started"))?;
    Ok(match text.strip_prefix("started\n") {
        None => Mark::Nothing,
        Some("") => Mark::Started,
        Some(rest) => Mark::Failed(rest.trim().to_owned()),
    })
}

/// See [`Executors::settle`].
pub(crate) fn settle(executors: &Executors, request: &ActionRequest) -> Transcript {
    let folder = executors.spool.folder(request.action_request_id);
    let mut notes = Vec::new();
    let (state, ended) = judge(&folder, &request.action, &mut notes).unwrap_or_else(|error| {
        notes.push(format!("the transcript cannot be read: {error}"));
        (TranscriptState::Unknown, None)
    });
    if let Some(by) = ended.as_ref().and_then(|ended| ended.ended_by.clone()) {
        notes.push(by);
    }
    Transcript {
        state,
        exit_code: ended.as_ref().and_then(|ended| ended.exit_code),
        signal: ended.as_ref().and_then(|ended| ended.signal),
        stdout: printed(&folder.join("stdout")),
        stderr: printed(&folder.join("stderr")),
        notes,
    }
}

/// How far something that ran in an act's folder came, whatever its words were.
pub(crate) fn settle_any(executors: &Executors, request: &ActionRequest) -> Transcript {
    let folder = executors.spool.folder(request.action_request_id);
    let alive = is_locked(&folder.join("started")).unwrap_or(false);
    let state = if alive { TranscriptState::Running } else { TranscriptState::Unknown };
    let (stdout, stderr) = (printed(&folder.join("stdout")), printed(&folder.join("stderr")));
    Transcript { state, exit_code: None, signal: None, stdout, stderr, notes: Vec::new() }
}

fn judge(
    folder: &Path,
    action: &Action,
    notes: &mut Vec<String>,
) -> io::Result<(TranscriptState, Option<Ended>)> {
    let Some(begun) = read(&folder.join("argv.json"))? else {
        return Ok((TranscriptState::NeverStarted, None));
    };
    let begun: Begun = serde_json::from_slice(&begun)?;
    if !matches!(action, Action::Command(acts::Command { argv, .. }) if *argv == begun.argv) {
        notes.push("the transcript is of another command".to_owned());
        return Ok((TranscriptState::Unknown, None));
    }
    if let Some(ended) = read(&folder.join("exit.json"))? {
        return Ok((TranscriptState::Exited, Some(serde_json::from_slice(&ended)?)));
    }
    if !begun.marked {
        return Ok((TranscriptState::Unknown, None));
    }
    let alive = is_locked(&folder.join("started"))?;
    Ok((
        match mark(folder)? {
            Mark::Failed(why) => {
                notes.push(why);
                TranscriptState::NeverStarted
            }
            // The lock lives as long as anything that could still start it.
            Mark::Nothing if alive => TranscriptState::Running,
            Mark::Nothing => TranscriptState::NeverStarted,
            Mark::Started if alive => TranscriptState::Running,
            Mark::Started => TranscriptState::Unknown,
        },
        None,
    ))
}

fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

fn printed(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(path) {
        // A part is better than nothing: what cannot be read is simply not there.
        let _ = file.take(2 * model::limits::COMMAND_OUTPUT_BYTES_MAX as u64).read_to_end(&mut bytes);
    }
    bytes
}

/// The lock belongs to the open file, and is shared by every process that inherited it.
fn lock(file: &File) -> io::Result<()> {
    file.try_lock().map_err(io::Error::from)
}

fn is_locked(path: &Path) -> io::Result<bool> {
    match File::open(path)?.try_lock() {
        Ok(()) => Ok(false),
        Err(fs::TryLockError::WouldBlock) => Ok(true),
        Err(fs::TryLockError::Error(e)) => Err(e),
    }
}
