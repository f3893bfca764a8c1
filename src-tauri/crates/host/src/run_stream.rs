//! From the ledger to the run stream: folds each task, says how it stands after every event, and writes what the
//! mirror tells. Everything here can be thrown away and made again from the ledger, but for the deltas; what a model reasons
//! is in no file at all, and goes with this process.

use kernel::Kernel;
use kernel::state::TaskState;
use ledger::Stored;
use model::attempt::TerminationReason;
use model::task::TaskContract;
use model::{ActionRequestId, Body, Digest, Event, TaskId, UnixMs, limits};
use projections::{Ending, RunStatus, run_status};
use runstream::{Draft, Lifecycle, Mirrored, RunFold, Thoughts, Watch, Writer};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Events read and written at once.
const STRIDE: usize = 500;
/// Tasks kept folded; another one is folded again from the ledger when it goes on.
const FOLDED_MAX: usize = 128;
/// A text within a payload that is larger than an event may be is cut to this; the whole of it is in the ledger.
const TEXT_BYTES_MAX: usize = 16 * 1024;
/// Deltas of a run that has ended stay this long: what they told is an artifact by then. What was reasoned goes with them, or
/// with the process that heard it, whichever is first.
const DELTAS_MS_MAX: i64 = 7 * 24 * 3600 * 1000;
/// How far the store's own stream was searched for erasures.
const HEEDED: &str = "journal.heeded";

/// Why something could not be mirrored.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The journal says no.
    #[error(transparent)]
    Journal(#[from] runstream::Error),
    /// The ledger or what it holds says no.
    #[error("{0}")]
    Ledger(String),
}

fn ledger(error: impl ToString) -> Trouble {
    Trouble::Ledger(error.to_string())
}

struct Folded {
    mirror: RunFold,
    state: TaskState,
    status: RunStatus,
    reason: String,
    still: Still,
}

/// What does not change in a run's life.
struct Still {
    workspace: Option<String>,
    model: Option<String>,
}

/// A piece of what is said of one asking.
pub struct Piece {
    /// The asking that it answers.
    pub asking: u64,
    /// How much came before it, in UTF-16 code units.
    pub from: u64,
    /// Its words.
    pub text: String,
}

impl Piece {
    /// Takes in what follows at once, up to so many bytes; gives back what does not.
    pub fn join(&mut self, more: Self, bytes_max: usize) -> Option<Self> {
        let end = self.from.saturating_add(self.text.encode_utf16().count() as u64);
        let follows = (more.asking, more.from) == (self.asking, end);
        if !follows || self.text.len().saturating_add(more.text.len()) > bytes_max {
            return Some(more);
        }
        self.text.push_str(&more.text);
        None
    }
}

/// Writes the run stream of one store.
pub struct RunStreamWriter {
    kernel: Arc<Kernel>,
    writer: Writer,
    folded: HashMap<TaskId, Folded>,
    not_runs: HashSet<TaskId>,
    toolset: Vec<String>,
}

impl RunStreamWriter {
    /// A stream_writer over an open journal.
    pub fn new(kernel: Arc<Kernel>, writer: Writer) -> Self {
        let toolset = iteration::tools().into_iter().map(|tool| tool.name).collect();
        Self { kernel, writer, folded: HashMap::new(), not_runs: HashSet::new(), toolset }
    }

    /// What wakes whoever has caught up, and what was reasoned.
    pub fn live(&self) -> (Watch, Thoughts) {
        (self.writer.watch(), self.writer.thoughts())
    }

    /// Every task there is, the newest first: what is looked at is mostly new.
    pub fn tasks(&self) -> Result<Vec<TaskId>, Trouble> {
        let mut tasks = self.kernel.reader().task_ids().map_err(ledger)?;
        tasks.reverse();
        Ok(tasks)
    }

    /// Mirrors a task up to one of its events, which is committed; those mirrored before are left out.
    pub fn advance(&mut self, task: TaskId, up_to: u64) -> Result<(), Trouble> {
        if self.not_runs.contains(&task) {
            return Ok(());
        }
        if !self.folded.contains_key(&task) && !self.is_wanted(task, up_to)? {
            return Ok(());
        }
        self.fold_to(task, up_to)
    }

    fn fold_to(&mut self, task: TaskId, up_to: u64) -> Result<(), Trouble> {
        let done = self.mirror(task, up_to);
        if done.is_err() || self.folded.get(&task).is_some_and(|folded| folded.mirror.has_ended()) {
            self.folded.remove(&task);
        }
        if self.folded.len() > FOLDED_MAX
            && let Some(other) = self.folded.keys().copied().find(|other| *other != task)
        {
            self.folded.remove(&other);
        }
        done
    }

    /// Mirrors everything of a task that the ledger holds now.
    pub fn catch_up(&mut self, task: TaskId) -> Result<(), Trouble> {
        match self.kernel.reader().task_head(task).map_err(ledger)? {
            Some((head, _)) => self.advance(task, head),
            None => Ok(()),
        }
    }

    /// Whether the journal lacks something. A journal that is ahead of its ledger belongs to a younger one, which was
    /// set back since: its run is told anew.
    fn is_wanted(&self, task: TaskId, up_to: u64) -> Result<bool, Trouble> {
        let mirrored = self.writer.mirrored(task)?;
        let head = self.kernel.reader().task_head(task).map_err(ledger)?.map_or(0, |(head, _)| head);
        if mirrored > head {
            self.writer.forget(task)?;
            return Ok(true);
        }
        Ok(mirrored < up_to)
    }

    fn mirror(&mut self, task: TaskId, up_to: u64) -> Result<(), Trouble> {
        loop {
            let after = self.folded.get(&task).map_or(0, |folded| folded.state.seq);
            if after >= up_to {
                return Ok(());
            }
            let mut page = self.kernel.reader().events(task, after, STRIDE).map_err(ledger)?;
            page.retain(|stored| stored.task_seq <= up_to);
            if page.is_empty() {
                return Ok(());
            }
            let page = page.iter().map(|stored| self.read(stored)).collect::<Result<Vec<_>, _>>()?;
            let Some(batch) = self.fold(task, &page)? else { return Ok(()) };
            let session = self.folded.get(&task).and_then(|folded| folded.mirror.session_id());
            let session = session.ok_or_else(|| ledger(format!("`{task}` has no session")))?;
            self.writer.mirror(task, session, &batch)?;
            for (event, body) in &page {
                if let Body::DisclosuresErased(erased) = body {
                    tracing::info!(%task, seq = event.task_seq, "an erasure is heeded");
                    self.forget(&erased.digests)?;
                }
            }
        }
    }

    fn read(&self, stored: &Stored) -> Result<(Event, Body), Trouble> {
        let reader = self.kernel.reader();
        let event = stored.event().map_err(ledger)?;
        let body = reader.revealing(|shown| event.body(shown)).map_err(ledger)?.map_err(ledger)?;
        Ok((event, body))
    }

    /// What a part of a task's events becomes; none when the task is no run: the store's own, or an inbox.
    fn fold(&mut self, task: TaskId, page: &[(Event, Body)]) -> Result<Option<Vec<Mirrored>>, Trouble> {
        let mut batch = Vec::with_capacity(page.len());
        for (event, body) in page {
            match self.folded.get_mut(&task) {
                Some(folded) => folded.state.apply(event, body).map_err(ledger)?,
                None => {
                    let Ok(state) = TaskState::begin(event, body) else {
                        self.not_runs.insert(task);
                        return Ok(None);
                    };
                    let still = self.still(&state)?;
                    let (mirror, reason) = (RunFold::new(task), String::new());
                    let begun = Folded { mirror, state, status: RunStatus::Queued, reason, still };
                    self.folded.insert(task, begun);
                }
            }
            let Some(folded) = self.folded.get_mut(&task) else { continue };
            if let Body::TaskStatusChanged(changed) = body {
                folded.reason.clone_from(&changed.reason);
            }
            let now = lifecycle(folded, &self.toolset);
            let drafts = folded.mirror.event(event, body, &now).into_iter().map(fitted).collect();
            batch.push(Mirrored { task_seq: event.task_seq, drafts });
        }
        Ok(Some(batch))
    }

    /// The folder and the model of a run; the contract is made in the same commit as its task.
    fn still(&self, state: &TaskState) -> Result<Still, Trouble> {
        let store = self.kernel.store_state();
        let root = state.task.workspace_hint.and_then(|id| store.workspaces.get(&id).cloned().flatten());
        let workspace = root.map(|written| {
            kernel::workspace::decode_root(&written)
                .map_or(written, |path| path.to_string_lossy().into_owned())
        });
        // Looked for in the ledger: the first notice of a task may come alone, before those of the same commit.
        let first = self.kernel.reader().events(state.task.task_id, 0, STRIDE).map_err(ledger)?;
        let mut contract = None;
        for stored in &first {
            match self.read(stored)?.1 {
                Body::ArtifactCreated(b) if b.artifact.artifact_id == state.task.task_contract_ref => {
                    contract = Some(b.artifact.content_hash);
                    break;
                }
                _ => {}
            }
        }
        let contract = contract.and_then(|digest| self.kernel.artifacts().read(&digest).ok());
        let contract = contract.and_then(|bytes| serde_json::from_slice::<TaskContract>(&bytes).ok());
        Ok(Still { workspace, model: contract.map(|contract| api::runs::model_name(&contract.model)) })
    }

    /// A piece of text that a reasoner wrote, behind what was mirrored last.
    pub fn delta(&mut self, task: TaskId, piece: &Piece, at: UnixMs) -> Result<(), Trouble> {
        self.tell(task, |mirror| mirror.delta(&piece.text, piece.asking, piece.from, at))
    }

    /// A piece of a reasoner's reasoning, which is no part of its answer.
    pub fn reasoning(&mut self, task: TaskId, piece: &Piece, at: UnixMs) -> Result<(), Trouble> {
        self.tell(task, |mirror| mirror.thought(&piece.text, piece.asking, piece.from, at))
    }

    /// Long work went on.
    pub fn progress(
        &mut self,
        task: TaskId,
        what: &str,
        done: u64,
        total: u64,
        at: UnixMs,
    ) -> Result<(), Trouble> {
        self.tell(task, |mirror| mirror.progress(what, done, total, at))
    }

    /// A tool at work printed or said something.
    pub fn output(
        &mut self,
        task: TaskId,
        act: ActionRequestId,
        stream: &str,
        text: &str,
        at: UnixMs,
    ) -> Result<(), Trouble> {
        self.tell(task, |mirror| mirror.output(act, stream, text, at))
    }

    fn tell(&mut self, task: TaskId, draft: impl FnOnce(&mut RunFold) -> Draft) -> Result<(), Trouble> {
        // Where a host asks again what the one before had asked, words come before anything is committed.
        if !self.folded.contains_key(&task) && !self.not_runs.contains(&task) {
            let head = self.kernel.reader().task_head(task).map_err(ledger)?.map_or(0, |(head, _)| head);
            self.fold_to(task, head)?;
        }
        // A run that is not folded has ended, or nothing of it was committed yet.
        let Some(folded) = self.folded.get_mut(&task) else { return Ok(()) };
        self.writer.append(task, &[fitted(draft(&mut folded.mirror))])?;
        Ok(())
    }

    /// Texts with these digests were erased from the ledger: every run that tells one of them is told anew.
    fn forget(&mut self, digests: &[Digest]) -> Result<(), Trouble> {
        let marks: Vec<String> = digests.iter().map(ToString::to_string).collect();
        for task in self.tasks()? {
            if self.not_runs.contains(&task) || self.writer.mirrored(task)? == 0 {
                continue;
            }
            if self.holds(task, &marks)? {
                self.folded.remove(&task);
                self.writer.forget(task)?;
                self.mirror_whole(task)?;
            }
        }
        Ok(())
    }

    /// A run told anew from its first event; erasures in it were heeded already.
    fn mirror_whole(&mut self, task: TaskId) -> Result<(), Trouble> {
        let mut after = 0;
        loop {
            let page = self.kernel.reader().events(task, after, STRIDE).map_err(ledger)?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.task_seq;
            let page = page.iter().map(|stored| self.read(stored)).collect::<Result<Vec<_>, _>>()?;
            let Some(batch) = self.fold(task, &page)? else { return Ok(()) };
            let Some(session) = self.folded.get(&task).and_then(|folded| folded.mirror.session_id()) else {
                return Ok(());
            };
            self.writer.mirror(task, session, &batch)?;
        }
    }

    fn holds(&self, task: TaskId, marks: &[String]) -> Result<bool, Trouble> {
        let mut after = 0;
        loop {
            let page = self.kernel.reader().events(task, after, STRIDE).map_err(ledger)?;
            let Some(last) = page.last() else { return Ok(false) };
            after = last.task_seq;
            let text = |stored: &Stored| String::from_utf8_lossy(&stored.bytes).into_owned();
            if page.iter().map(text).any(|text| marks.iter().any(|mark| text.contains(mark.as_str()))) {
                return Ok(true);
            }
        }
    }

    /// Heeds erasures that stand in the store's own stream and were not heeded yet, by this host or an earlier one.
    pub fn heed(&mut self) -> Result<(), Trouble> {
        let Some(system) = self.kernel.store_state().system_task_id else { return Ok(()) };
        let path: PathBuf = self.kernel.dir().join(HEEDED);
        let heeded = std::fs::read_to_string(&path).ok().and_then(|text| text.trim().parse::<u64>().ok());
        let begun = heeded.unwrap_or_default();
        let mut after = begun;
        loop {
            let page = self.kernel.reader().events(system, after, STRIDE).map_err(ledger)?;
            let Some(last) = page.last() else { break };
            after = last.task_seq;
            for stored in &page {
                if let (_, Body::DisclosuresErased(erased)) = self.read(stored)? {
                    self.forget(&erased.digests)?;
                }
            }
        }
        if after != begun {
            ledger::owner_only::write(&path, after.to_string().as_bytes()).map_err(ledger)?;
        }
        Ok(())
    }

    /// Lets go of deltas and of what was reasoned in runs that ended long ago.
    pub fn compact(&self, now: UnixMs) -> Result<(), Trouble> {
        let reader = self.writer.reader()?;
        for run in reader.to_compact(limits::PAGE_ROWS_MAX)? {
            let ended = reader.run(run)?.and_then(|run| run.ended);
            if ended.is_some_and(|ended| now.0.saturating_sub(ended.created_at.0) > DELTAS_MS_MAX) {
                self.writer.compact(run)?;
            }
        }
        Ok(())
    }
}

/// How a run stands now (table T1).
fn lifecycle(folded: &mut Folded, toolset: &[String]) -> Lifecycle {
    let attempt = folded.state.attempt();
    let terminated = attempt.and_then(kernel::state::AttemptState::ended);
    let ran_out = terminated == Some(TerminationReason::Expired)
        || matches!(folded.reason.as_str(), "expired" | "deadline" | "deadline_passed");
    let ending = Ending { cancel_requested: folded.state.cancel_requested.is_some(), ran_out };
    let attempt = attempt.map(|attempt| attempt.attempt.status);
    folded.status = run_status(folded.state.task.status, attempt, ending, folded.status);
    Lifecycle {
        status: folded.status.to_string(),
        controls: api::runs::controls(folded.status, folded.state.hears_words()),
        workspace: folded.still.workspace.clone(),
        profile: folded.state.task.policy_profile_ref.to_string(),
        model: folded.still.model.clone(),
        toolset: toolset.to_vec(),
    }
}

/// A draft that an event can carry: what is too long is cut, and said to be.
fn fitted(mut draft: Draft) -> Draft {
    let bytes =
        draft.payload.iter().map(|(name, value)| name.len() + value.to_string().len() + 8).sum::<usize>();
    if bytes + 64 < limits::EVENT_BYTES_MAX {
        return draft;
    }
    cut(&mut draft.payload);
    draft.payload.insert("cut".to_owned(), json!(true));
    draft
}

fn cut(fields: &mut Map<String, Value>) {
    for value in fields.values_mut() {
        match value {
            Value::String(text) if text.len() > TEXT_BYTES_MAX => {
                *text = text.chars().take(TEXT_BYTES_MAX / 4).chain(['…']).collect();
            }
            Value::Object(fields) => cut(fields),
            Value::Array(items) if items.len() > limits::CALLS_MAX => items.truncate(limits::CALLS_MAX),
            _ => {}
        }
    }
}
