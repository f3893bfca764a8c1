//! The effect of a command, or of a tool of a server that changes files, before anybody is asked: it runs in a copy-on-write view of
//! the lease root, behind the walls, with the network held; what it changed there is found by digest, and nothing of it is in the folder (governance.md 5).
//!
//! A staged run has no effect, so it needs no authorization and may be made anew after a crash. What it left waits in
//! the spool, under the attempt, until it is committed by [`commit`] or forgotten by [`Executors::unstage`].

pub(crate) mod commit;
mod diff;
pub(crate) mod door;
pub(crate) mod guest;
pub(crate) mod ignore;
mod index;
mod leftovers;
mod overlay;
mod text;
mod told;
mod touched;
mod work;

pub use door::{GuestDoor, NoGuestDoor, OpenDoor};
pub use text::difference;

pub(crate) use text::text;

use crate::command::view::view;
use crate::{Error, Executors, Output, Progress, STAGE_HOSTS_MAX};
use acts::Action;
use model::action::{Reach, StageMethod, Staged};
use model::approval::StagedChange;
use model::artifact::ArtifactKind;
use model::fault::Point;
use model::file_name::is_within;
use model::{AttemptId, Digest, RelPath, UnixMs};
use serde_json::json;
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::time::{Duration, Instant};
use work::{Came, Work};

/// How often the size of what a running command leaves behind is looked at.
const WEIGH: Duration = Duration::from_millis(500);
/// Bytes of the end of its output that a card shows.
const PRINTED_BYTES: usize = 4 * 1024;

/// What a staged run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Staging {
    /// What the request will say, digests and all.
    pub staged: Staged,
    /// Every change as a person reads it, deletions first.
    pub changes: Vec<StagedChange>,
    /// What it printed, artifact `command.transcript`; what a tool answered, artifact `action.result`.
    pub transcript: Output,
    /// Its changes, artifact `diff`.
    pub diff: Output,
    /// The last of what it printed.
    pub printed: String,
    /// Bytes it printed in all.
    pub printed_bytes: u64,
    /// What the words of a command lead to, and what it did not see.
    pub reach: Option<Reach>,
}

/// Why there is no staged run. The folder is untouched in either case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unstaged {
    /// It cannot be staged here, for this reason; it may still run in the folder itself, after a yes.
    Cannot(String),
    /// It was tried and came to nothing that could be committed; the proposer is told.
    Failed(String),
    /// The server of a tool says something else of it than when it was registered: why, and what it says now.
    Changed(String, Output),
}

impl From<Error> for Unstaged {
    fn from(error: Error) -> Self {
        Self::Failed(error.to_string())
    }
}

impl Executors {
    /// Whether a command can be staged here at all, looked at without running anything.
    ///
    /// # Errors
    /// Why not, in words for the card.
    pub fn stageable(&self, action: &Action) -> Result<(), String> {
        if !matches!(action, Action::Command(_) | Action::Call(_)) {
            return Err("only commands and calls of tools are staged".to_owned());
        }
        if !action.as_tool().may_be_staged() {
            return Err("it asks for the network, which a staged run does not have".to_owned());
        }
        if !self.sandbox.is_confined() {
            return Err(self.sandbox.missing("nothing on this machine would keep it to a copy"));
        }
        if !self.workspace.hidden().is_empty() {
            return Err("Hermit's own store lies in this folder; choose a smaller folder".to_owned());
        }
        Ok(())
    }

    /// Runs a command in a staged view. What it leaves waits under `attempt`; an earlier staged run of the same
    /// attempt is forgotten. The folder itself is never touched.
    ///
    /// # Errors
    /// [`Unstaged`]: it cannot be staged here, or it came to nothing that could be committed.
    pub fn stage(
        &self,
        attempt: AttemptId,
        action: &Action,
        cancelled: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Staging, Unstaged> {
        self.stageable(action).map_err(Unstaged::Cannot)?;
        let work = Work::of(self, action)?;
        let hosts = self.spool.host_began(attempt)?;
        if hosts > STAGE_HOSTS_MAX {
            self.spool.host_lives(attempt)?;
            self.spool.unstage(attempt)?;
            return Err(Unstaged::Failed(format!(
                "Hermit itself ended each of the {STAGE_HOSTS_MAX} times that this command ran in a copy of the folder; \
                 nothing was done, and it is not tried again"
            )));
        }
        let staged = self.stage_work(attempt, &work, cancelled, progress);
        self.spool.host_lives(attempt)?;
        if staged.is_err() {
            // A staged run that came to nothing leaves nothing; what resists is swept by the next one.
            let _ = self.spool.unstage(attempt);
        }
        staged
    }

    /// Bytes that a staged run left, for the store, compared with their digest.
    ///
    /// # Errors
    /// [`Error::Content`] when they are gone or are not what they were.
    pub fn staged_bytes(
        &self,
        attempt: AttemptId,
        path: &RelPath,
        sha256: &Digest,
    ) -> Result<Vec<u8>, Error> {
        let fail = |why: String| Error::Content { path: path.clone(), why };
        let at = self.spool.staged(attempt).join("bytes").join(sha256.to_string());
        let bytes = std::fs::read(at).map_err(|e| fail(format!("what the staged run left is gone: {e}")))?;
        if Digest::of(&bytes) == *sha256 {
            Ok(bytes)
        } else {
            Err(fail("what the staged run left was changed meanwhile".to_owned()))
        }
    }

    /// Forgets an attempt's staged run; one that never was is fine.
    ///
    /// # Errors
    /// [`Error::Spool`] when its files cannot be removed.
    pub fn unstage(&self, attempt: AttemptId) -> Result<(), Error> {
        self.spool.unstage(attempt)
    }

    fn stage_work(
        &self,
        attempt: AttemptId,
        work: &Work<'_>,
        cancelled: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Staging, Unstaged> {
        let mut said = Vec::new();
        let mut methods = overlay::methods(&self.sandbox).iter().copied().peekable();
        let mut tries = 0;
        while let Some(method) = methods.peek().copied() {
            match self.once(attempt, work, method, &said, cancelled, progress) {
                Ok(staging) => return Ok(staging),
                Err(Once::Over(over)) => return Err(over),
                Err(Once::NotThisWay(why)) => {
                    said.push(format!("{method} does not work here: {why}"));
                    methods.next();
                }
                Err(Once::Disturbed(path)) => {
                    tries += 1;
                    if tries >= work.tries() {
                        return Err(Unstaged::Failed(disturbed(&path, work.tries())));
                    }
                }
            }
        }
        Err(Unstaged::Cannot(format!("no copy of the folder could be made: {}", said.join("; "))))
    }

    fn once(
        &self,
        attempt: AttemptId,
        work: &Work<'_>,
        method: StageMethod,
        said: &[String],
        cancelled: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Staging, Once> {
        let started_at = self.clock.now();
        let (folder, mark) = self.spool.begin_staged(attempt)?;
        let begin = touched::moment(&folder)?;
        let clock = Instant::now();
        let mut seen = view(self, work.cwd(), &folder)?;
        seen.mask(work.hidden(), &folder)?;
        self.at(Point::StageLay, Edge::Before)?;
        let laid = overlay::lay(self, method, &folder, &mut seen)?;
        self.at(Point::StageLay, Edge::After)?;
        let mut notes = said.to_vec();
        notes.push(format!("staged by {method}, laid in {} ms", clock.elapsed().as_millis()));
        notes.push(self.sandbox.told());
        if !work.has_network() {
            notes.push("the network was held".to_owned());
        }
        let scale = Scale::new(work.home().into_iter().chain([laid.grows()]).collect(), work.bytes_max());
        let stop = || cancelled() || scale.is_over();
        self.at(Point::StageRun, Edge::Before)?;
        let came = work.run(self, &mut seen, (&folder, mark, method), &stop, progress)?;
        if cancelled() {
            return Err(Once::Over(Unstaged::Failed("it was cancelled; nothing was done".to_owned())));
        }
        scale.check()?;
        notes.extend(came.notes.iter().cloned());
        self.at(Point::StageRun, Edge::After)?;
        self.at(Point::StageDiff, Edge::Before)?;
        let touched::Seen { touched, left_out } = touched::find(self, &laid)?;
        let is_in = |path: &RelPath, hidden: &RelPath| is_within(path.as_bytes(), hidden.as_bytes());
        let hidden = |path: &&RelPath| work.hidden().iter().any(|hidden| is_in(path, hidden));
        if let Some(path) = touched.keys().find(hidden) {
            let say = format!(
                "nothing was done: it changed `{path}`, which was hidden from it because it looks like a key or a \
                 password; name it in the command, and a person is asked"
            );
            return Err(Once::Over(Unstaged::Failed(say)));
        }
        touched::undisturbed(self, &touched, begin).map_err(Once::Disturbed)?;
        let found = diff::Diff { left_out, ..diff::diff(self, &touched, &folder.join("bytes"))? };
        laid.clear();
        self.at(Point::StageDiff, Edge::After)?;
        let times = (started_at, self.clock.now());
        Ok(self.staging(work, came, method, times, notes, found)?)
    }

    /// Passes a boundary of the staged run: nothing of it is an effect, and whoever comes after a crash runs it anew.
    fn at(&self, point: Point, edge: Edge) -> Result<(), Error> {
        let passed = match edge {
            Edge::Before => self.faults.before(point),
            Edge::After => self.faults.after(point),
        };
        passed.map_err(|source| Error::Spool { doing: "staging a command", source })
    }

    fn staging(
        &self,
        work: &Work<'_>,
        came: Came,
        method: StageMethod,
        (started_at, finished_at): (UnixMs, UnixMs),
        mut notes: Vec<String>,
        found: diff::Diff,
    ) -> Result<Staging, Error> {
        let mut diff = json!({ "method": method.as_str(), "changes": found.changes });
        if let Some(diff) = diff.as_object_mut() {
            diff.extend(work.named());
            if !found.left_out.is_empty() {
                diff.insert("left_out".to_owned(), json!(found.left_out));
            }
        }
        let bytes = seal::canon::canonical_value(&diff)
            .map_err(|e| Error::Request(format!("the changes have no canonical form: {e}")))?;
        let diff = Output {
            kind: ArtifactKind::Diff,
            media_type: "application/json".to_owned(),
            bytes,
            about: format!("what `{}` changed", work.title()),
        };
        notes.extend(found.notes);
        let reach = work.reach();
        let staged = Staged {
            method,
            sandbox_level: self.sandbox.level(),
            items: found.items,
            transcript_sha256: Digest::of(&came.transcript.bytes),
            diff_sha256: Digest::of(&diff.bytes),
            exit_code: came.exit_code,
            error: came.error,
            executable_sha256: came.program,
            started_at,
            finished_at,
            notes,
            look_first: reach.and_then(look_first),
            left_out: found.left_out,
        };
        let printed = came.printed;
        let tail = printed.get(printed.len().saturating_sub(PRINTED_BYTES)..).unwrap_or(&[]);
        Ok(Staging {
            staged,
            changes: found.changes,
            transcript: came.transcript,
            diff,
            printed: String::from_utf8_lossy(tail).into_owned(),
            printed_bytes: came.printed_bytes,
            reach: reach.cloned(),
        })
    }
}

/// Why a person sees first what it printed: it could read what nobody reads unasked.
fn look_first(reach: &Reach) -> Option<String> {
    match (reach.secrets.first(), &reach.unsure) {
        (Some(path), _) => Some(format!("`{path}` looks like a key or a password, and it could read it")),
        (None, Some(why)) => Some(format!("not everything that it could read is known: {why}")),
        (None, None) => None,
    }
}

/// Which side of a boundary.
#[derive(Clone, Copy)]
enum Edge {
    Before,
    After,
}

/// Why one try came to nothing.
enum Once {
    /// No try will do better.
    Over(Unstaged),
    /// This way of making the view does not work here.
    NotThisWay(String),
    /// Somebody changed this place meanwhile.
    Disturbed(RelPath),
}

impl From<Error> for Once {
    fn from(error: Error) -> Self {
        Self::Over(error.into())
    }
}

impl From<Unstaged> for Once {
    fn from(unstaged: Unstaged) -> Self {
        Self::Over(unstaged)
    }
}

fn disturbed(path: &RelPath, tries: u32) -> String {
    match tries {
        0 | 1 => format!("`{path}` was changed by somebody while it worked on its copy; nothing was done"),
        _ => format!(
            "`{path}` was changed by somebody each time the command ran; nothing was done, propose it again when that \
             has ended"
        ),
    }
}

/// Weighs what a running command leaves behind, so that it cannot fill the disk.
struct Scale<'a> {
    folders: Vec<&'a Path>,
    bytes_max: u64,
    /// When it is weighed next: weighing must not take long beside what is weighed.
    next: Cell<Instant>,
    over: RefCell<Option<String>>,
}

impl<'a> Scale<'a> {
    fn new(folders: Vec<&'a Path>, bytes_max: u64) -> Self {
        Self { folders, bytes_max, next: Cell::new(Instant::now() + WEIGH), over: RefCell::new(None) }
    }

    fn weigh(&self) {
        let began = Instant::now();
        let over = self.folders.iter().find_map(|folder| overlay::weight(folder, self.bytes_max).too_much());
        self.over.replace(over);
        let ended = Instant::now();
        self.next.set(ended + WEIGH.max(ended.duration_since(began).saturating_mul(20)));
    }

    fn is_over(&self) -> bool {
        if self.over.borrow().is_none() && Instant::now() >= self.next.get() {
            self.weigh();
        }
        self.over.borrow().is_some()
    }

    fn check(&self) -> Result<(), Unstaged> {
        if self.over.borrow().is_none() {
            self.weigh();
        }
        match self.over.take() {
            None => Ok(()),
            Some(most) => Err(Unstaged::Failed(format!(
                "it left more than {most} behind and was ended; nothing was done"
            ))),
        }
    }
}
