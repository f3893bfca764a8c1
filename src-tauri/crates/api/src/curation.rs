//! What finished work there is to learn from (HV-3.8-2, successor.md 6). An example is what a model was sent and what it
//! answered, of a task that completed, where a receipt says what came of it; each turn that is none says why.

mod prompt;
mod story;

use crate::convert::every;
use crate::error::if_kept;
use crate::stands::Flow;
use crate::{Host, Wire as _, failed, usage};
use kernel::Kernel;
use kernel::command::training::ExampleSource;
use kernel::training_registry::TrainingRegistry;
use model::artifact::Sensitivity;
use model::context::ContextPack;
use model::proposal::Answer;
use model::task::{Proposer, TaskStatus};
use model::{ArtifactId, Digest, ReceiptId, Sensitive, TaskId, WorkspaceId};
use projections::Query;
use projections::query::TaskFilter;
use projections::rows::TaskRow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use story::{Story, Turn};
use training::{Dataset, Example, SplitRule, Why};
use wire::Error;
use words::training::LeftOutReason;

/// What stands where a secret was.
const TAKEN_OUT: &str = "[secret:";

/// Projects of work in no folder.
const NO_FOLDER: &str = "none";

/// Examples with where they came from, and all that is left out.
pub(crate) struct Curation {
    /// What is kept, or why no dataset can be made of it.
    pub dataset: Result<Dataset, String>,
    /// Where each example came from.
    pub sources: BTreeMap<Digest, ExampleSource>,
    /// Turns that are left out, by the reason and the task.
    pub left_out: BTreeMap<LeftOutReason, BTreeMap<TaskId, u32>>,
}

impl Curation {
    /// How many turns are left out.
    pub fn left_out_turns(&self) -> u32 {
        self.left_out.values().flat_map(BTreeMap::values).fold(0, |all, one| all.saturating_add(*one))
    }
}

/// What decides what is learned from.
struct Curator<'h> {
    host: &'h dyn Host,
    kernel: &'h Kernel,
    query: Query,
    registry: std::sync::Arc<TrainingRegistry>,
    folders: BTreeMap<WorkspaceId, PathBuf>,
    private: Vec<PathBuf>,
    partly_undone: BTreeSet<ReceiptId>,
    undone: BTreeMap<ReceiptId, bool>,
}

/// Reads all finished work. `private`: folders whose work is left out.
pub(crate) fn curate(host: &dyn Host, private: Vec<PathBuf>, rule: SplitRule) -> Result<Curation, Error> {
    let kernel = host.kernel()?;
    let (reader, query) = (host.reader()?, host.query()?);
    let rows = every(|ask| query.tasks(&TaskFilter::default(), ask))?;
    let severed: BTreeSet<TaskId> = reader.severed().wire()?.into_iter().map(|one| one.task).collect();
    let mut told = Vec::new();
    let (mut partly_undone, total) = (BTreeSet::new(), rows.len() as u64);
    for (at, row) in rows.into_iter().enumerate() {
        if severed.contains(&row.task_id) {
            continue;
        }
        let story = Story::read(&reader, row.task_id)?;
        partly_undone.extend(&story.partly_undone);
        // Whoever is no model learned nothing by answering.
        if matches!(row.proposer, Some(Proposer::Model | Proposer::Recorded | Proposer::Scripted)) {
            told.push((row, story));
        }
        if host.progress("reading finished work", at as u64, total) == Flow::Stop {
            return Err(Error::new(wire::Code::Cancelled, "stopped before all of the work was read"));
        }
    }
    let folders = folders(&query)?;
    let mut curator = Curator {
        host,
        kernel,
        query,
        registry: kernel.training(),
        folders,
        private,
        partly_undone,
        undone: BTreeMap::new(),
    };
    curator.all(&told, rule)
}

/// The folders that were worked in, as far as they are known still.
pub(crate) fn folders(query: &Query) -> Result<BTreeMap<WorkspaceId, PathBuf>, Error> {
    let rows = every(|ask| query.workspaces(ask))?;
    let path = |root: &Sensitive<String>| kernel::workspace::decode_root(root.shown()?).ok();
    Ok(rows.into_iter().filter_map(|row| Some((row.workspace_id, path(&row.root_path)?))).collect())
}

impl Curator<'_> {
    fn all(&mut self, told: &[(TaskRow, Story)], rule: SplitRule) -> Result<Curation, Error> {
        let mut left_out: BTreeMap<LeftOutReason, BTreeMap<TaskId, u32>> = BTreeMap::new();
        let mut leave = |why: LeftOutReason, task: TaskId| {
            *left_out.entry(why).or_default().entry(task).or_default() += 1;
        };
        let (mut candidates, mut sources) = (Vec::new(), BTreeMap::new());
        let (mut bytes, mut tasks) = (0_usize, BTreeMap::new());
        for (row, story) in told {
            // What tainted one turn, or was secret there, may speak out of every later answer, though it is not shown any more.
            let mut since = None;
            for turn in story.turns.iter().filter(|turn| turn.answer.is_some()) {
                let came = self.example(row, story, turn)?;
                if let Err(why @ (LeftOutReason::Tainted | LeftOutReason::Secret)) = came {
                    since.get_or_insert(why);
                }
                let example = match (came, since) {
                    (Ok(example), None) => example,
                    (Ok(_), Some(why)) | (Err(why), _) => {
                        leave(why, row.task_id);
                        continue;
                    }
                };
                // What may stand in no dataset fills none.
                if example.check().is_err() {
                    leave(LeftOutReason::Unfit, row.task_id);
                    continue;
                }
                bytes = bytes.saturating_add(example.content_bytes());
                if bytes > training::DATASET_BYTES_MAX {
                    let why = "there is more finished work than a dataset may hold; mark folders private that need not \
                               be learned from";
                    return Err(usage(why));
                }
                tasks.insert((example.id, example.at), row.task_id);
                let source = self.source(row.task_id, story, turn, example.id);
                // Of two that are the same the earliest is kept.
                let known = sources.entry(example.id).or_insert((example.at, source.clone()));
                if example.at < known.0 {
                    *known = (example.at, source);
                }
                candidates.push(example);
            }
        }
        // What the room leaves out it names by its id; a duplicate is of the task that was read with it last.
        let of: BTreeMap<Digest, TaskId> = tasks.into_iter().map(|((id, _), task)| (id, task)).collect();
        let dataset = training::assemble(candidates, rule).map_err(|error| error.to_string());
        for one in dataset.iter().flat_map(|dataset| &dataset.left_out) {
            let why = match &one.why {
                Why::Refused { .. } => LeftOutReason::Unfit,
                Why::Duplicate => LeftOutReason::Duplicate,
                Why::NearDuplicate { .. } => LeftOutReason::NearDuplicate,
                Why::Late => LeftOutReason::Late,
            };
            if let Some(task) = of.get(&one.id) {
                leave(why, *task);
            }
        }
        let sources = sources.into_iter().map(|(id, (_, source))| (id, source)).collect();
        Ok(Curation { dataset, sources, left_out })
    }

    fn source(&self, task: TaskId, story: &Story, turn: &Turn, id: Digest) -> ExampleSource {
        let answer = turn.answer.as_ref().unwrap_or(&turn.request).artifact_id;
        ExampleSource {
            id,
            task,
            request: turn.request.artifact_id,
            answer,
            receipts: story.receipts_of(turn),
        }
    }

    /// The example of a turn, or why it is none. The first reason that holds is told.
    fn example(
        &mut self,
        row: &TaskRow,
        story: &Story,
        turn: &Turn,
    ) -> Result<Result<Example, LeftOutReason>, Error> {
        let receipts = story.receipts_of(turn);
        if let Some(why) = self.unfinished(row, story, turn, &receipts)? {
            return Ok(Err(why));
        }
        let (Some(pack), Some(answer)) = (&turn.pack, &turn.answer) else {
            return Ok(Err(LeftOutReason::Unkept));
        };
        let store = self.host.artifacts()?;
        let read = |digest: Digest| if_kept(store.read(&digest));
        let bytes = (read(pack.sha256)?, read(turn.request.sha256)?, read(answer.sha256)?);
        let (Some(pack), Some(request), Some(answered)) = bytes else {
            return Ok(Err(LeftOutReason::Unkept));
        };
        let pack: ContextPack = serde_json::from_slice(&pack).map_err(failed)?;
        if story.shows_untrusted(&pack) {
            return Ok(Err(LeftOutReason::Tainted));
        }
        let shown = [turn.request.artifact_id, answer.artifact_id];
        if story.is_redacted(turn, &pack.inputs) || self.is_secret(shown.into_iter().chain(pack.inputs))? {
            return Ok(Err(LeftOutReason::Secret));
        }
        let answer: Answer = serde_json::from_slice(&answered).map_err(failed)?;
        let Some(prompt) = prompt::prompt_of(&request) else { return Ok(Err(LeftOutReason::Unreadable)) };
        let text = prompt::answer_of(&answer);
        if !answer.stop.is_whole() || text.is_empty() {
            return Ok(Err(LeftOutReason::Failed));
        }
        if prompt.iter().map(|turn| turn.content.as_str()).chain([text.as_str()]).any(|text| self.shows(text))
        {
            return Ok(Err(LeftOutReason::Secret));
        }
        let project = row.workspace_id.map_or_else(|| NO_FOLDER.to_owned(), |id| id.to_string());
        let receipts = receipts.iter().take(training::RECEIPTS_MAX).map(ReceiptId::to_string).collect();
        Ok(Ok(Example::new(prompt, text, receipts, project, turn.at.0)))
    }

    /// Why a turn is no finished work that may be learned from, as far as it is told without its words.
    fn unfinished(
        &mut self,
        row: &TaskRow,
        story: &Story,
        turn: &Turn,
        receipts: &[ReceiptId],
    ) -> Result<Option<LeftOutReason>, Error> {
        let is_private = row.workspace_id.is_some_and(|id| match self.folders.get(&id) {
            // Work in a folder above a private one may have read it.
            Some(folder) => {
                let mut private = self.private.iter();
                private.any(|private| folder.starts_with(private) || private.starts_with(folder))
            }
            // Nobody can say any more which folder it was.
            None => true,
        });
        let why = match row.status {
            TaskStatus::RolledBack => Some(LeftOutReason::Undone),
            TaskStatus::Completed => None,
            _ => Some(LeftOutReason::Unfinished),
        };
        let is_recalled = self.registry.is_recalled(row.task_id, turn.request.artifact_id, receipts);
        let why = why
            .or(is_recalled.then_some(LeftOutReason::Recalled))
            .or(is_private.then_some(LeftOutReason::Private))
            .or(story.is_denied(turn).then_some(LeftOutReason::Denied))
            .or((turn.is_rejected || story.has_failed(turn)).then_some(LeftOutReason::Failed))
            .or(receipts.is_empty().then_some(LeftOutReason::Unreceipted));
        if why.is_some() {
            return Ok(why);
        }
        for receipt in receipts {
            if self.is_undone(*receipt)? {
                return Ok(Some(LeftOutReason::Undone));
            }
        }
        Ok(None)
    }

    /// Whether what a receipt did was taken back, all of it or a part.
    fn is_undone(&mut self, receipt: ReceiptId) -> Result<bool, Error> {
        if self.partly_undone.contains(&receipt) {
            return Ok(true);
        }
        if let Some(known) = self.undone.get(&receipt) {
            return Ok(*known);
        }
        let is_undone = self.kernel.is_undone(receipt).wire()?;
        self.undone.insert(receipt, is_undone);
        Ok(is_undone)
    }

    /// Whether any of these artifacts holds what must not leave.
    fn is_secret(&self, shown: impl IntoIterator<Item = ArtifactId>) -> Result<bool, Error> {
        for id in shown {
            let row = self.query.artifact(id).wire()?;
            if row.is_some_and(|row| row.sensitivity == Sensitivity::Secret) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a text shows a secret, something that looks like one, or where one was.
    fn shows(&self, text: &str) -> bool {
        text.contains(TAKEN_OUT) || !self.kernel.ports().redactor.now().text(text).found.is_empty()
    }
}
