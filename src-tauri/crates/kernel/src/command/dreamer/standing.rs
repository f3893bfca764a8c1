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
use model::{Body, TaskId};
use projections::Query;
use projections::query::Ask;
use projections::rows::TaskRow;

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
        Ok(DraftStanding { draft, mark: mark.clone(), state, why, asked_in })
    };
    store.history.drafts.iter().map(standing).collect()
}

/// How one draft stands.
pub(super) fn state_of(
    registry: &PlaybookRegistry,
    reader: &Reader,
    query: &Query,
    mark: &DraftMark,
) -> Result<Stands, Error> {
    if let Some(known) = registry.known(mark.playbook_sha256) {
        return Ok(match &known.off {
            None => (PlaybookState::Adopted, None, None),
            Some(why) => (PlaybookState::Off, Some(why.clone()), None),
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
    let mut last = None;
    for number in 0_u64.. {
        let Some(stored) = reader.by_idempotency_key(&format!("ingress:{}", key(mark, number)))? else {
            return Ok((last, number));
        };
        let event = stored.event()?;
        let row = match reader.revealing(|shown| event.body(shown))?? {
            Body::IngressReceived(received) => query.message(received.record.ingress_id).map_err(view)?,
            _ => None,
        };
        last = match row.and_then(|row| row.chosen_task_id) {
            Some(task) => query.task(task).map_err(view)?,
            None => last,
        };
    }
    Ok((last, u64::MAX))
}

/// Why a draft is withdrawn: too few of the tasks that it rests on still stand.
pub(super) fn withdrawn(query: &Query, mark: &DraftMark) -> Result<Option<String>, Error> {
    let mut stand = 0_usize;
    for task in &mark.tasks {
        let receipts = query.receipts(Some(*task), None, Ask::ALL).map_err(view)?.rows;
        let is_kept = query.task(*task).map_err(view)?.is_some_and(|row| row.goal.shown().is_some());
        stand += usize::from(is_kept && !receipts.iter().any(|receipt| receipt.undone_by.is_some()));
    }
    let why = format!(
        "only {stand} of the {} tasks that it rests on still stand; the others were undone or erased",
        mark.tasks.len()
    );
    Ok((stand < TASKS_MIN).then_some(why))
}
