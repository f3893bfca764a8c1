//! How drafts stand, as the log and the views say: also where a process only reads.

use super::key;
use crate::Error;
use crate::playbook_registry::PlaybookRegistry;
use crate::query::view;
use crate::store::StoreState;
use knowledge::dreamer::TASKS_MIN;
use ledger::Reader;
use model::attempt::TerminationReason;
use model::playbook::{DraftMark, PlaybookDraft, PlaybookState};
use model::{ArtifactId, Body, Digest, TaskId};
use projections::Query;
use projections::query::Ask;
use projections::rows::TaskRow;
use std::collections::BTreeSet;

/// A draft as a person sees it, and how it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftStanding {
    /// That it was drafted.
    pub mark: DraftMark,
    /// The draft; none where its words were erased.
    pub draft: Option<PlaybookDraft>,
    /// How it stands.
    pub state: PlaybookState,
    /// Why, in words.
    pub why: Option<String>,
    /// The task that asks a person, where one waits.
    pub asked_in: Option<TaskId>,
}

/// How a draft stands, why, and where a person is asked.
pub(super) type Stands = (PlaybookState, Option<String>, Option<TaskId>);

/// Every draft and how it stands, the oldest first.
///
/// # Errors
/// When the log or the views cannot be read.
pub fn standings(
    store: &StoreState,
    reader: &Reader,
    query: &Query,
    artifacts: &artifacts::Store,
) -> Result<Vec<DraftStanding>, Error> {
    let standing = |mark: &DraftMark| {
        let (state, why, asked_in) = state_of(&store.playbooks, reader, query, mark)?;
        let bytes = artifacts.read(&mark.draft.sha256).ok();
        let draft: Option<PlaybookDraft> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let (state, why) = match (&draft, state) {
            (None, PlaybookState::Draft | PlaybookState::Rejected) => {
                (PlaybookState::Withdrawn, Some("its words were erased".to_owned()))
            }
            _ => (state, why),
        };
        Ok(DraftStanding { draft, mark: mark.clone(), state, why, asked_in })
    };
    store.history.drafts.iter().map(standing).collect()
}

/// The draft that is meant by a name, or by the SHA-256 of its text: of a name the one that can be answered, else the one that
/// runs, else the one that ran, and of several the newest.
pub fn meant<'a>(all: &'a [DraftStanding], wanted: &str) -> Option<&'a DraftStanding> {
    let named = all.iter().filter(|one| one.is_called(wanted));
    named.max_by_key(|one| match one.state {
        PlaybookState::Draft => 4,
        PlaybookState::Adopted => 3,
        PlaybookState::Off => 2,
        PlaybookState::Rejected => 1,
        PlaybookState::Withdrawn => 0,
    })
}

impl DraftStanding {
    /// Whether it has this name, or its text this SHA-256.
    pub fn is_called(&self, wanted: &str) -> bool {
        self.mark.name == wanted || self.mark.playbook_sha256.to_string() == wanted
    }
}

/// What holds words of a task because playbooks were drafted from it: the drafts, texts that were adopted of them, and the tasks
/// in which each was drafted and asked about, with the digest of its text, which stands wherever its text does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DraftedFrom {
    /// Drafts and texts.
    pub contents: BTreeSet<ArtifactId>,
    /// Tasks that hold a text, and its digest.
    pub held: BTreeSet<(TaskId, Digest)>,
}

/// As [`DraftedFrom`], of one task.
///
/// # Errors
/// When the log or the views cannot be read.
pub fn drafted_from(
    store: &StoreState,
    reader: &Reader,
    query: &Query,
    task: TaskId,
) -> Result<DraftedFrom, Error> {
    let mut from = DraftedFrom::default();
    for (mark, drafted_in) in store.history.drafts.iter().zip(&store.history.drafted_in) {
        if !mark.tasks.contains(&task) {
            continue;
        }
        from.contents.insert(mark.draft.artifact_id);
        let adopted = store.playbooks.0.iter().filter(|one| one.sha256 == mark.playbook_sha256);
        from.contents.extend(adopted.map(|one| one.text.artifact_id));
        let mut held = asked_in(reader, query, mark)?.0;
        held.extend(*drafted_in);
        from.held.extend(held.into_iter().map(|task| (task, mark.playbook_sha256)));
    }
    Ok(from)
}

/// How one draft stands.
pub(super) fn state_of(
    registry: &PlaybookRegistry,
    reader: &Reader,
    query: &Query,
    mark: &DraftMark,
) -> Result<Stands, Error> {
    if let Some(known) = registry.known(mark.playbook_sha256) {
        let is_used = registry.in_use(&known.name).is_some_and(|used| used.sha256 == known.sha256);
        let other = || "another version of it was adopted after it".to_owned();
        return Ok(match is_used {
            true => (PlaybookState::Adopted, None, None),
            false => (PlaybookState::Off, Some(known.off.clone().unwrap_or_else(other)), None),
        });
    }
    if let Some(why) = withdrawn(query, mark)? {
        return Ok((PlaybookState::Withdrawn, Some(why), None));
    }
    Ok(match last_card(reader, query, mark)?.0 {
        None => (PlaybookState::Draft, None, None),
        Some(row) if !row.status.is_terminal() => (PlaybookState::Draft, None, Some(row.task_id)),
        Some(row) if row.termination == Some(TerminationReason::ApprovalDenied) => {
            (PlaybookState::Rejected, None, None)
        }
        Some(_) => (PlaybookState::Draft, Some("its card was not answered".to_owned()), None),
    })
}

/// The task of the last card of a draft, and the number that the next one has.
pub(super) fn last_card(
    reader: &Reader,
    query: &Query,
    mark: &DraftMark,
) -> Result<(Option<TaskRow>, u64), Error> {
    let (tasks, next) = asked_in(reader, query, mark)?;
    let last = match tasks.last() {
        Some(task) => query.task(*task).map_err(view)?,
        None => None,
    };
    Ok((last, next))
}

/// The tasks of every card of a draft, in order, and the number that the next one has.
fn asked_in(reader: &Reader, query: &Query, mark: &DraftMark) -> Result<(Vec<TaskId>, u64), Error> {
    let mut tasks = Vec::new();
    for number in 0_u64.. {
        let Some(stored) = reader.by_idempotency_key(&format!("ingress:{}", key(mark, number)))? else {
            return Ok((tasks, number));
        };
        let event = stored.event()?;
        let row = match reader.revealing(|shown| event.body(shown))?? {
            Body::IngressReceived(received) => query.message(received.record.ingress_id).map_err(view)?,
            _ => None,
        };
        tasks.extend(row.and_then(|row| row.chosen_task_id));
    }
    Ok((tasks, u64::MAX))
}

/// Why a draft is withdrawn: too few of the tasks that it rests on still stand.
pub(super) fn withdrawn(query: &Query, mark: &DraftMark) -> Result<Option<String>, Error> {
    let mut stand = 0_usize;
    for task in &mark.tasks {
        stand += usize::from(still_stands(query, *task)?);
    }
    let why = format!(
        "only {stand} of the {} tasks that it rests on still stand; the others were undone or erased",
        mark.tasks.len()
    );
    Ok((stand < TASKS_MIN).then_some(why))
}

/// Whether a task is evidence still: it was not erased, and nothing of it was undone.
pub(super) fn still_stands(query: &Query, task: TaskId) -> Result<bool, Error> {
    let receipts = query.receipts(Some(task), None, Ask::ALL).map_err(view)?.rows;
    let is_kept = query.task(task).map_err(view)?.is_some_and(|row| row.goal.shown().is_some());
    Ok(is_kept && !receipts.iter().any(|receipt| receipt.undone_by.is_some()))
}
