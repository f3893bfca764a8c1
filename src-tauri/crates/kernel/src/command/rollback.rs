//! Undo: a task of its own whose one proposal the kernel plans, through the same governed path (HK-18.6).

use super::submit::{Reasoning, Submission, Submitted};
use crate::Error;
use crate::drive::Then;
use crate::kernel::Kernel;
use crate::ports::Executors;
use crate::state::TaskState;
use crate::tx::Tx;
use crate::writeup::Writeup;
use acts::Action;
use acts::items::HOLDS_LATER;
pub use effects::{ConflictItem, Plan};
use model::action::{LeftAsIs, Reversibility};
use model::attempt::{AttemptStatus, TerminationReason};
use model::body::TaskStatusChanged;
use model::fault::Point;
use model::ingress::Channel;
use model::limits::CHANGE_ITEMS_MAX;
use model::policy::Profile;
use model::receipt::{Change, ItemOutcome, Receipt, ReceiptClass, Statement};
use model::task::{Priority, TaskStatus};
use model::witness::Found;
use model::{Body, Event, ReceiptId, RelPath, ResourceId, TaskId, WorkspaceId};
use serde_json::Value;

impl Kernel {
    /// Makes the task that undoes a receipt. It asks a person like any other act.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the receipt, [`Error::Conflict`] when it left nothing to undo.
    pub fn rollback(
        &self,
        receipt_id: ReceiptId,
        channel: Channel,
        idempotency_key: String,
    ) -> Result<Submitted, Error> {
        let (task_id, receipt) = self.receipt(receipt_id)?;
        if let Some(why) = beyond(&receipt) {
            return Err(Error::Conflict(format!("receipt `{receipt_id}` {why}")));
        }
        // Whoever asks again gets the task that was made for it, also when that has ended.
        let heard = self.reader.by_idempotency_key(&format!("ingress:{idempotency_key}"))?.is_some();
        if !heard && self.is_undone(receipt_id)? {
            return Err(Error::Conflict(format!(
                "receipt `{receipt_id}` is undone already; undo that undo instead"
            )));
        }
        let short = acts::short(&receipt_id);
        let goal = match receipt.result_summary.shown() {
            Some(done) => format!("Undo receipt {short}: {done}"),
            None => format!("Undo receipt {short}"),
        };
        self.submit_rollback(&[receipt_id], Some(task_id), goal, channel, idempotency_key)
    }

    /// Makes the task that undoes many receipts of one folder, given the newest first, as one change set.
    /// `parent` is the task they are of, if they are of one; `goal` says in words what is undone.
    ///
    /// # Errors
    /// [`Error::NotFound`] without one of the receipts, [`Error::Conflict`] when there are none, when they are of more
    /// than one folder, or more than [`UNDO_RECEIPTS_MAX`].
    pub fn rollback_many(
        &self,
        receipts: &[ReceiptId],
        parent: Option<TaskId>,
        goal: String,
        channel: Channel,
        idempotency_key: String,
    ) -> Result<Submitted, Error> {
        if receipts.is_empty() {
            return Err(Error::Conflict("there is nothing to undo".to_owned()));
        }
        if receipts.len() > UNDO_RECEIPTS_MAX {
            return Err(Error::Conflict(format!(
                "{} receipts are more than the {UNDO_RECEIPTS_MAX} of one undo; undo a later part first",
                receipts.len()
            )));
        }
        self.submit_rollback(receipts, parent, goal, channel, idempotency_key)
    }

    fn submit_rollback(
        &self,
        receipts: &[ReceiptId],
        parent: Option<TaskId>,
        goal: String,
        channel: Channel,
        idempotency_key: String,
    ) -> Result<Submitted, Error> {
        let (first, also) =
            receipts.split_first().ok_or_else(|| Error::Conflict("there is nothing to undo".to_owned()))?;
        let original = self.task(self.receipt(*first)?.0)?;
        let folder = original.task.workspace_hint;
        for receipt in also {
            if self.task(self.receipt(*receipt)?.0)?.task.workspace_hint != folder {
                let say = format!("receipt `{receipt}` is of another folder; undo each folder by itself");
                return Err(Error::Conflict(say));
            }
        }
        let folder = folder.ok_or_else(|| Error::Input("the task had no workspace".to_owned()))?;
        let reasoning = Reasoning::Rollback { receipt_id: *first, also: also.to_vec() };
        self.submit(&Submission {
            profile: match original.task.policy_profile_ref {
                Profile::ReadonlyAnalysis => Profile::LocalEditAllowed,
                other => other,
            },
            priority: Priority::High,
            conversation_id: Some(original.task.conversation_id),
            parent_task_id: parent,
            ..Submission::of(goal, folder, reasoning, channel, idempotency_key)
        })
    }

    /// What an undo of these receipts, the newest first, would do as things are now. Changes nothing.
    ///
    /// # Errors
    /// As [`Kernel::rollback_many`].
    pub fn preview_rollback(&self, receipts: &[ReceiptId]) -> Result<effects::Plan, Error> {
        let first = receipts.first().ok_or_else(|| Error::Conflict("there is nothing to undo".to_owned()))?;
        let state = self.task(self.receipt(*first)?.0)?;
        let workspace = folder_of(&state)?;
        self.undo_plan(workspace, &*self.executors(&state)?, receipts)
    }

    /// The one that has undone a receipt, unless that was undone again: found in views, believed from events.
    fn undone_by(&self, receipt_id: ReceiptId) -> Result<Option<(TaskId, ReceiptId)>, Error> {
        let row = |id| self.query()?.receipt(id).map_err(|e| Error::Broken(e.to_string()));
        let Some(by) = row(receipt_id)?.and_then(|row| row.undone_by) else { return Ok(None) };
        let Some(undo) = row(by)? else { return Ok(None) };
        let known = self.load(undo.task_id)?.receipts;
        let says_so = known.iter().any(|r| r.receipt_id == by && r.undoes.contains(&receipt_id));
        Ok(says_so.then_some((undo.task_id, by)))
    }

    /// Whether what a receipt did is not there any more because it was undone, and that undo still stands.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn is_undone(&self, receipt_id: ReceiptId) -> Result<bool, Error> {
        let (mut at, mut undone) = (receipt_id, false);
        let mut seen = vec![receipt_id];
        while let Some((_, by)) = self.undone_by(at)? {
            if seen.contains(&by) {
                break;
            }
            seen.push(by);
            (at, undone) = (by, !undone);
        }
        Ok(undone)
    }

    /// A receipt with its sensitive leaves, and its task.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is none.
    pub fn receipt(&self, receipt_id: ReceiptId) -> Result<(TaskId, Receipt), Error> {
        let stored = self.find_receipt(receipt_id)?;
        let event = Event::from_bytes(&stored.bytes)?;
        let Body::ReceiptIssued(issued) = self.body_of(&event)? else {
            return Err(Error::Broken(format!("`{}` is no receipt event", event.event_id)));
        };
        let envelope = self.artifacts.read(&issued.envelope.sha256)?;
        Ok((event.task_id, self.receipt_in(&envelope)?))
    }

    /// The receipt in an envelope, with its sensitive leaves.
    ///
    /// # Errors
    /// [`Error::Broken`] when there is none in it.
    pub fn receipt_in(&self, envelope: &[u8]) -> Result<Receipt, Error> {
        let payload = payload_of(envelope)?;
        let value = seal::canon::parse_canonical(&payload)?;
        let value = self.reader.revealing(|shown| seal::disclose::reveal(value, shown))??;
        let statement: Statement = serde_json::from_value(value)
            .map_err(|e| Error::Broken(format!("a receipt cannot be read: {e}")))?;
        Ok(statement.predicate)
    }

    /// The plan for what is there now, with receipts that cannot be undone at all named as left.
    fn undo_plan(
        &self,
        workspace: WorkspaceId,
        executors: &dyn Executors,
        receipts: &[ReceiptId],
    ) -> Result<effects::Plan, Error> {
        let mut known = Vec::with_capacity(receipts.len());
        let mut beyond_it = Vec::new();
        for id in receipts {
            let (_, receipt) = self.receipt(*id)?;
            match beyond(&receipt) {
                Some(why) if receipt.rollback.reversibility != Reversibility::NoEffect => {
                    beyond_it.push((receipt, why));
                }
                Some(_) => {}
                None => known.push(receipt),
            }
        }
        let look = |path: &RelPath| {
            let seen = executors.observe(&[ResourceId::File(workspace, path.clone())]);
            let unseen = || Found::Unreadable { reason: "it could not be looked at".to_owned() };
            seen.into_iter().next().map_or_else(unseen, |print| print.state)
        };
        // Only what is not as the act left it may have to be merged; its text is read when it is needed.
        let named = |change: &Change| match change.resource.shown()?.parse() {
            Ok(ResourceId::File(_, path)) => Some(path),
            _ => None,
        };
        let mut paths: Vec<RelPath> =
            known.iter().flat_map(|receipt| &receipt.changes).filter_map(named).collect();
        paths.sort();
        paths.dedup();
        let now = executors.texts(&paths);
        let read =
            |sha256: &seal::Digest| now.get(sha256).cloned().or_else(|| self.artifacts.read(sha256).ok());
        let mut plan = effects::plan_undo(&known.iter().collect::<Vec<_>>(), &look, &read);
        for (receipt, why) in beyond_it {
            plan.partly.push(receipt.receipt_id);
            plan.left.push(effects::ConflictItem {
                receipt_id: receipt.receipt_id,
                resource: ResourceId::Receipt(receipt.receipt_id).to_string(),
                left: Found::Absent,
                found: Found::Absent,
                why: format!("the receipt {why}"),
                beside: None,
            });
        }
        if plan.items.len() > CHANGE_ITEMS_MAX {
            return Err(Error::Conflict(format!(
                "it would change {}, more than the {} of one act; undo a later part first",
                acts::count(plan.items.len(), "place"),
                acts::count(CHANGE_ITEMS_MAX, "place")
            )));
        }
        Ok(plan)
    }

    /// Plans the inverse of receipts from what is there now: it is the request in hand.
    pub(crate) fn plan_rollback(&self, tx: &mut Tx<'_>, receipts: &[ReceiptId]) -> Result<Then, Error> {
        tx.at(Point::RollbackPlan);
        let executors = self.executors(tx)?;
        let planned = self.undo_plan(folder_of(tx)?, &*executors, receipts);
        tx.unblock("planned")?;
        tx.set_attempt(AttemptStatus::CompilingContext, "planning the undo")?;
        tx.set_attempt(AttemptStatus::Reasoning, "planning the undo")?;
        let plan = match planned.and_then(|plan| match executors.can_keep(&plan.items) {
            Ok(()) => Ok(plan),
            Err(why) => Err(Error::Conflict(why)),
        }) {
            Ok(plan) => plan,
            Err(Error::Conflict(why)) => {
                return self.end_rollback(tx, TerminationReason::FatalToolError, &not_undone(&why));
            }
            Err(other) => return Err(other),
        };
        if plan.items.is_empty() && plan.left.is_empty() {
            return self.end_rollback(tx, TerminationReason::Done, "there is nothing left to undo");
        }
        if plan.items.is_empty() {
            let said =
                plan.left.iter().map(|i| format!("{}: {}", shown(&i.resource), i.why)).collect::<Vec<_>>();
            return self.end_rollback(tx, TerminationReason::FatalToolError, &not_undone(&said.join("; ")));
        }
        for bytes in &plan.merged {
            tx.keep(bytes)?;
        }
        let around: String = plan.notes.iter().map(|note| format!("; {note}")).collect();
        let what = match receipts {
            [one] => format!("undo what receipt {} did", acts::short(one)),
            many => format!("undo what {} receipts did, the newest first", many.len()),
        };
        let reason = format!("{what}; later edits stay{around}");
        let normalised = self.request_of(tx, &*executors, action_of(plan)?, &reason)?;
        self.request(tx, normalised)?;
        Ok(Then::GoOn)
    }

    fn end_rollback(&self, tx: &mut Tx<'_>, reason: TerminationReason, said: &str) -> Result<Then, Error> {
        self.push_end(tx, reason, said)?;
        Ok(Then::Commit)
    }

    /// How an act ended that the kernel itself proposed, in words.
    pub(crate) fn undone_words(&self, tx: &Tx<'_>) -> Result<String, Error> {
        let left = match self.request_in_hand(tx)?.action {
            Action::Rollback(acts::Rollback { left, .. }) => left,
            Action::Register(change) => return Ok(Self::changed_words(&change)),
            Action::Call(_) => return self.answer_words(tx),
            Action::Message(_) => return Ok("The message was sent.".to_owned()),
            Action::Anchor(asked) => return Ok(Self::anchored_words(&asked)),
            Action::Publish(_) => {
                return Ok("It is published; `hermit identity show` tells where.".to_owned());
            }
            Action::Remember(_) => {
                return Ok("Remembered. Tasks that it is about are told of it from now on.".to_owned());
            }
            _ => return Ok("Undone.".to_owned()),
        };
        let stays = left.iter().map(|stays| format!("{}: {}", shown(&stays.resource.to_string()), stays.why));
        let all: Vec<String> = stays.chain(self.folders_left(tx)?).collect();
        let places = all.get(..NAMED).unwrap_or(&all);
        let more = match all.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!("; and {more} more, which the receipt names"),
        };
        Ok(match all.len() {
            0 => "Undone.".to_owned(),
            1 => format!("Undone, but for one place: {}", places.join("; ")),
            many => {
                format!("Undone, but for {}: {}{more}", acts::count(many, "place"), places.join("; "))
            }
        })
    }

    /// Folders that the undo in hand was to take away and that hold something by then, each in words.
    fn folders_left(&self, tx: &Tx<'_>) -> Result<Vec<String>, Error> {
        let told = self.result_in_hand(tx)?.unwrap_or_default();
        let items = told.get("items").and_then(Value::as_array).cloned().unwrap_or_default();
        let is =
            |item: &Value, name: &str, value: &str| item.get(name).and_then(Value::as_str) == Some(value);
        let left = items
            .iter()
            .filter(|item| is(item, "op", "delete") && is(item, "outcome", ItemOutcome::NotDone.as_str()));
        let path = |item: &Value| RelPath::from_bytes(item.get("path")?.as_str()?.as_bytes()).ok();
        Ok(left
            .filter_map(path)
            .map(|path| format!("the folder {} stays: {HOLDS_LATER}", acts::visible_path(&path)))
            .collect())
    }

    /// Tasks whose every effect is undone now that this undo is over, in order.
    pub(crate) fn rolled_back_tasks(&self, state: &TaskState) -> Result<Vec<TaskId>, Error> {
        let mut tasks = Vec::new();
        for receipt in state.receipts.iter().flat_map(|r| &r.undoes) {
            tasks.push(self.receipt(*receipt)?.0);
        }
        tasks.sort_unstable();
        tasks.dedup();
        let mut over = Vec::new();
        for task in tasks.into_iter().filter(|task| *task != state.task.task_id) {
            let undone = self.load(task)?;
            let ended = matches!(undone.task.status, TaskStatus::Completed | TaskStatus::Failed);
            if ended && !self.has_open_effect(&undone)? {
                over.push(task);
            }
        }
        Ok(over)
    }

    fn has_open_effect(&self, state: &TaskState) -> Result<bool, Error> {
        let effects = state.receipts.iter().filter(|r| {
            matches!(r.receipt_class, ReceiptClass::ToolExecution | ReceiptClass::CommandExecution)
                && r.reversibility != Reversibility::NoEffect
        });
        for receipt in effects {
            if !self.is_undone(receipt.receipt_id)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Adds to the undo's own end that its parent is undone, in the parent's stream. `parent` is locked by the caller.
    pub(crate) fn mark_rolled_back(&self, w: &mut Writeup<'_>, parent: &TaskState) {
        if parent.task.status == TaskStatus::RolledBack {
            return;
        }
        let marked = self.writeup(Point::TaskEnd, parent, w.actor);
        let scope = std::mem::replace(&mut w.scope, marked.scope);
        w.batch.expect.extend(marked.batch.expect);
        w.push(TaskStatusChanged {
            about_task_id: parent.task.task_id,
            from: parent.task.status,
            to: TaskStatus::RolledBack,
            reason: "every effect was undone".to_owned(),
            note: None,
        });
        w.scope = scope;
    }
}

/// Places that are left which an answer names one by one.
const NAMED: usize = 5;

/// Receipts that one undo takes back: each is read whole, and its plan stands on one card.
pub const UNDO_RECEIPTS_MAX: usize = 1_000;

/// Why a receipt cannot be undone by changing files; none when it can.
fn beyond(receipt: &Receipt) -> Option<&'static str> {
    match receipt.rollback.method.as_str() {
        "none" => Some("says it cannot be undone"),
        acts::INVALIDATE_MEMORY => Some("is of a memory record; mark that record as wrong instead"),
        _ => None,
    }
}

fn folder_of(state: &TaskState) -> Result<WorkspaceId, Error> {
    state.task.workspace_hint.ok_or_else(|| Error::Input("the task has no workspace".to_owned()))
}

/// A plan as what is asked for.
fn action_of(plan: effects::Plan) -> Result<Action, Error> {
    let mut undone = plan.undone.into_iter();
    let first = undone.next().or_else(|| plan.partly.first().copied());
    let left = plan.left.into_iter().map(|item| {
        let resource = item.resource.parse().unwrap_or(ResourceId::Receipt(item.receipt_id));
        LeftAsIs { receipt_id: item.receipt_id, resource, why: item.why, beside: item.beside }
    });
    Ok(Action::Rollback(acts::Rollback {
        receipt_id: first.ok_or_else(|| Error::Broken("an undo of no receipt".to_owned()))?,
        also: undone.collect(),
        partly: plan.partly,
        left: left.collect(),
        items: plan.items,
    }))
}

/// The statement inside a receipt's artifact: an envelope's payload, or the bare statement of a store without keys.
pub fn payload_of(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    match seal::dsse::Envelope::parse(bytes) {
        Ok(envelope) => Ok(envelope.payload),
        Err(_) => Ok(bytes.to_vec()),
    }
}

/// A place as a person reads it: the path within its folder.
fn shown(resource: &str) -> String {
    match resource.parse::<ResourceId>() {
        Ok(ResourceId::File(_, path)) => acts::visible_path(&path),
        _ => resource.to_owned(),
    }
}

/// That an undo changed nothing, as one sentence: what says why may end in a full stop of its own.
fn not_undone(why: &str) -> String {
    format!("Not undone, nothing was changed: {}.", why.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::not_undone;

    #[test]
    fn an_undo_that_changed_nothing_says_so_in_a_sentence_with_one_full_stop() {
        for why in ["`a.txt` is busy", "`a.txt` is busy."] {
            assert_eq!(not_undone(why), "Not undone, nothing was changed: `a.txt` is busy.");
        }
    }
}
