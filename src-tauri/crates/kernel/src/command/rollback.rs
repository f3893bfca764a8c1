//! Undo: a task of its own whose one proposal the kernel plans, through the same governed path (HK-18.6).

use super::submit::{Reasoning, Submission, Submitted};
use crate::Error;
use crate::kernel::{Cell, Kernel};
use crate::state::TaskState;
use crate::track::Track;
use crate::writeup::Writeup;
use model::action::Action;
use model::attempt::{AttemptStatus, TerminationReason};
use model::body::TaskStatusChanged;
use model::fault::Point;
use model::ingress::Channel;
use model::policy::Profile;
use model::principal::PrincipalType;
use model::receipt::{Receipt, ResultCode, Statement};
use model::task::{Budget, Priority, TaskStatus};
use model::witness::Found;
use model::{Body, Event, ReceiptId, ResourceId, TaskId};
use std::sync::MutexGuard;

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
        if receipt.rollback.method == "none" {
            return Err(Error::Conflict(format!("receipt `{receipt_id}` says it cannot be undone")));
        }
        if receipt.rollback.method == crate::drive::INVALIDATE_MEMORY {
            let why = "is of a memory record; mark that record as wrong instead";
            return Err(Error::Conflict(format!("receipt `{receipt_id}` {why}")));
        }
        let original = self.task(task_id)?;
        let undone = |r: &crate::state::ReceiptRecord| {
            r.rolls_back == Some(receipt_id) && r.result_code == ResultCode::Succeeded
        };
        if self.children(task_id)?.iter().any(|child| child.receipts.iter().any(undone)) {
            return Err(Error::Conflict(format!(
                "receipt `{receipt_id}` is undone already; undo that undo instead"
            )));
        }
        self.submit(&Submission {
            goal: format!("Undo receipt {receipt_id}"),
            title: String::new(),
            workspace_id: original
                .task
                .workspace_hint
                .ok_or_else(|| Error::Input("the task had no workspace".to_owned()))?,
            profile: match original.task.policy_profile_ref {
                Profile::ReadonlyAnalysis => Profile::LocalEditAllowed,
                other => other,
            },
            reasoning: Reasoning::Rollback { receipt_id },
            budget: Budget::default(),
            priority: Priority::High,
            constraints: Vec::new(),
            deadline_at: None,
            channel,
            conversation_id: Some(original.task.conversation_id),
            parent_task_id: Some(task_id),
            continuation_anchor: None,
            attachments: Vec::new(),
            steps: Vec::new(),
            idempotency_key,
        })
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
        let payload = payload_of(&envelope)?;
        let value = seal::canon::parse_canonical(&payload)?;
        let value = seal::disclose::reveal(value, &|digest| self.reader.disclosure(digest).ok().flatten())?;
        let statement: Statement = serde_json::from_value(value)
            .map_err(|e| Error::Broken(format!("receipt `{receipt_id}`: {e}")))?;
        Ok((event.task_id, statement.predicate))
    }

    /// Plans the inverse of a receipt from what is there now, and puts it before policy: one commit.
    pub(crate) fn plan_rollback(
        &self,
        cell: &Cell,
        mut guard: MutexGuard<'_, TaskState>,
        receipt_id: ReceiptId,
    ) -> Result<(), Error> {
        let (_, receipt) = self.receipt(receipt_id)?;
        let state = &mut *guard;
        let hands = self.hands(state)?;
        let resources: Vec<ResourceId> = receipt
            .changes
            .iter()
            .filter_map(|change| change.resource.shown().and_then(|text| text.parse().ok()))
            .collect();
        let current = hands.observe(&resources);
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.writeup(Point::RollbackPlan, state, actor);
        let mut track = Track::of(state);
        track.unblock(&mut w, "planned")?;
        track.attempt(&mut w, AttemptStatus::CompilingContext, "planning the undo")?;
        track.attempt(&mut w, AttemptStatus::Reasoning, "planning the undo")?;
        // Only what is not as the act left it may have to be merged.
        let left: Vec<&Found> = receipt.changes.iter().map(|change| &change.after).collect();
        let paths = current.iter().filter(|print| !left.contains(&&print.state)).filter_map(|print| {
            if let ResourceId::File(_, path) = &print.resource { Some(path.clone()) } else { None }
        });
        let now = hands.texts(&paths.collect::<Vec<_>>());
        let read =
            |sha256: &seal::Digest| now.get(sha256).cloned().or_else(|| self.artifacts.read(sha256).ok());
        match effects::plan_rollback_keeping(&receipt, &current, &read) {
            Ok(plan) if plan.items.is_empty() => {
                self.push_end(state, &mut w, TerminationReason::Done, "there is nothing left to undo")?;
                self.commit(w, Some(state))?;
                Ok(())
            }
            Ok(plan) => {
                for bytes in &plan.merged {
                    w.keep(bytes)?;
                }
                let action = Action::Rollback { receipt_id, items: plan.items };
                let around: String = plan.notes.iter().map(|note| format!("; {note}")).collect();
                let reason = format!(
                    "undo what receipt {receipt_id} did; later edits by others are left alone{around}"
                );
                let normalised = self.request_of(state, &w, &*hands, action, &reason)?;
                let judged = self.judge(state, &mut w, normalised)?;
                self.proceed(cell, guard, w, track, &*hands, judged)
            }
            Err(conflict) => {
                let said =
                    conflict.items.iter().map(|i| format!("`{}`: {}", i.resource, i.why)).collect::<Vec<_>>();
                let said = format!("not undone, nothing was changed: {}", said.join("; "));
                self.push_end(state, &mut w, TerminationReason::FatalToolError, &said)?;
                self.commit(w, Some(state))?;
                Ok(())
            }
        }
    }

    /// The parent whose every reversible receipt is undone by now.
    pub(crate) fn rolled_back_parent(&self, state: &TaskState) -> Result<Option<TaskId>, Error> {
        let Some(parent) = state.task.parent_task_id else { return Ok(None) };
        if !state.receipts.iter().any(|r| r.rolls_back.is_some() && r.result_code == ResultCode::Succeeded) {
            return Ok(None);
        }
        let mut undone: Vec<ReceiptId> = state.receipts.iter().filter_map(|r| r.rolls_back).collect();
        for child in self.children(parent)? {
            undone.extend(
                child
                    .receipts
                    .iter()
                    .filter(|r| r.result_code == ResultCode::Succeeded)
                    .filter_map(|r| r.rolls_back),
            );
        }
        let parent_state = self.load(parent)?;
        let open = parent_state.receipts.iter().any(|r| {
            let effect = matches!(
                r.receipt_class,
                model::receipt::ReceiptClass::ToolExecution | model::receipt::ReceiptClass::CommandExecution
            );
            effect
                && r.reversibility != model::action::Reversibility::NoEffect
                && !undone.contains(&r.receipt_id)
        });
        let ended = matches!(parent_state.task.status, TaskStatus::Completed | TaskStatus::Failed);
        Ok((!open && ended).then_some(parent))
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

/// The statement inside a receipt's artifact: an envelope's payload, or the bare statement of a store without keys.
pub fn payload_of(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    match seal::dsse::Envelope::parse(bytes) {
        Ok(envelope) => Ok(envelope.payload),
        Err(_) => Ok(bytes.to_vec()),
    }
}
