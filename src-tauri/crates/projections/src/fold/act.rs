//! The governed path: actions, approvals, grants, effects, receipts.

use super::Seen;
use crate::Error;
use crate::names::{ActionState, GrantState};
use crate::rows::{
    ActionRow, ApprovalRow, GrantRow, NewAction, NewApproval, NewGrant, NewReceipt, ReceiptRow, TaskRow,
};
use model::approval::ApprovalStatus;
use model::body::{
    ApprovalRequested, Body, EffectDispatched, EffectObserved, GrantIssued, OutcomeResolved, PolicyEvaluated,
    ReceiptIssued,
};
use model::policy::Verdict;
use model::receipt::{ReceiptClass, ResultCode};
use model::{ActionRequestId, ApprovalId, ReceiptId, TaskId, WitnessId};

pub(super) fn fold(seen: &Seen<'_>, body: &Body) -> Result<(), Error> {
    match body {
        Body::ActionRequested(b) => seen
            .add(NewAction {
                action_request_id: b.action_request_id,
                task_id: seen.event.task_id,
                step_id: seen.event.step_id,
                attempt_id: seen.event.attempt_id,
                action_class: b.action_class,
                tool: b.tool.clone(),
                summary: b.summary.clone(),
                request_ref: b.request.artifact_id,
                state: ActionState::Requested,
                requested_at: seen.at(),
            })
            .map(drop),
        Body::PolicyEvaluated(b) => judged(seen, b),
        Body::ActionDowngraded(b) => {
            seen.action(b.action_request_id, |action| action.state = ActionState::Downgraded)?;
            seen.action(b.instead, |action| {
                action.instead_of = Some(b.action_request_id);
                action.instead_rules = Some(b.rules.join(", "));
            })
        }
        Body::WitnessCaptured(b) => witness(seen, b.action_request_id, b.witness_id, "captured"),
        Body::WitnessValidated(b) => witness(seen, b.action_request_id, b.witness_id, "validated"),
        Body::WitnessDrifted(b) => witness(seen, b.action_request_id, b.witness_id, "drifted"),
        Body::GrantIssued(b) => granted(seen, b),
        // One that is used may be taken back too, while its act is under way: its uses stay.
        Body::GrantRevoked(b) => seen.set((b.grant_id,), |grant: &mut GrantRow| {
            if grant.state != GrantState::Revoked {
                grant.state = GrantState::Revoked;
                grant.reason.clone_from(&b.reason);
                grant.revoked_at = Some(seen.at());
            }
        }),
        Body::EffectDispatched(b) => dispatched(seen, b),
        Body::EffectObserved(b) => observed(seen, b),
        Body::EffectUncertain(b) => {
            seen.action(b.action_request_id, |action| action.trouble = Some(b.reason.clone()))?;
            stands(seen, b.action_request_id, ActionState::Uncertain)
        }
        Body::OutcomeResolved(b) => resolved(seen, b),
        Body::ReceiptIssued(b) => receipt(seen, b),
        Body::ReceiptsUndone(b) => b.undone.iter().try_for_each(|undone| undone_by(seen, *undone, b.by)),
        _ => approvals(seen, body),
    }
}

fn approvals(seen: &Seen<'_>, body: &Body) -> Result<(), Error> {
    match body {
        Body::ApprovalRequested(b) => asked(seen, b),
        Body::ApprovalGranted(b) => {
            resolve(seen, b.approval_id, (ApprovalStatus::Granted, ActionState::Approved), |approval| {
                (approval.resolved_by, approval.surface) = (Some(b.decided_by), Some(b.surface));
                approval.scope = Some(b.scope.clone());
                approval.envelope_ref = Some(b.envelope.artifact_id);
                approval.receipt_id = b.receipt_id;
            })
        }
        Body::ApprovalDenied(b) => {
            resolve(seen, b.approval_id, (ApprovalStatus::Denied, ActionState::Refused), |approval| {
                (approval.resolved_by, approval.surface) = (Some(b.decided_by), Some(b.surface));
                approval.envelope_ref = b.envelope.as_ref().map(|e| e.artifact_id);
                approval.feedback.clone_from(&b.feedback);
            })
        }
        Body::ApprovalExpired(b) => {
            resolve(seen, b.approval_id, (ApprovalStatus::Expired, ActionState::Refused), |_| {})
        }
        Body::ApprovalCancelled(b) => {
            resolve(seen, b.approval_id, (ApprovalStatus::Cancelled, ActionState::Refused), |_| {})
        }
        // What has changed is judged again; the action is not refused.
        Body::ApprovalInvalidated(b) => {
            let ends = (ApprovalStatus::Invalidated, ActionState::Requested);
            resolve(seen, b.approval_id, ends, |approval| approval.reason.clone_from(&b.reason))
        }
        _ => Ok(()),
    }
}

fn judged(seen: &Seen<'_>, b: &PolicyEvaluated) -> Result<(), Error> {
    seen.action(b.action_request_id, |action| {
        action.state = match b.verdict {
            Verdict::Allow => ActionState::Allowed,
            Verdict::RequireApproval => ActionState::AwaitingApproval,
            Verdict::Deny => ActionState::Refused,
            Verdict::Downgrade => ActionState::Downgraded,
        };
        (action.verdict, action.risk_band) = (Some(b.verdict), Some(b.risk_band));
        action.policy_result_id = Some(b.policy_result_id);
        action.policy_ref = Some(b.result.artifact_id);
    })
}

fn witness(seen: &Seen<'_>, action: ActionRequestId, witness: WitnessId, state: &str) -> Result<(), Error> {
    seen.action(action, |action| {
        (action.witness_id, action.witness_state) = (Some(witness), Some(state.to_owned()));
    })
}

fn asked(seen: &Seen<'_>, b: &ApprovalRequested) -> Result<(), Error> {
    let a = &b.approval;
    let made = seen.add(NewApproval {
        approval_id: a.approval_id,
        task_id: a.task_id,
        step_id: a.step_id,
        attempt_id: a.attempt_id,
        action_request_id: b.action_request_id,
        action_class: a.approval_type,
        risk_band: b.risk_band,
        summary: b.summary.clone(),
        status: ApprovalStatus::Pending,
        packet_ref: a.approval_packet_ref,
        packet_sha256: a.approval_packet_sha256,
        nonce: b.nonce.clone(),
        requested_at: a.requested_at,
        expires_at: a.expires_at,
    })?;
    if made {
        seen.touch_task(a.task_id, |task| task.open_approvals += 1)?;
    }
    seen.action(b.action_request_id, |action| {
        (action.approval_id, action.state) = (Some(a.approval_id), ActionState::AwaitingApproval);
    })
}

/// Ends a pending approval; one that has ended already stays as it ended.
fn resolve(
    seen: &Seen<'_>,
    approval: ApprovalId,
    (status, state): (ApprovalStatus, ActionState),
    set: impl FnOnce(&mut ApprovalRow),
) -> Result<(), Error> {
    let ended = seen.change((approval,), |row: &mut ApprovalRow| {
        (row.status == ApprovalStatus::Pending).then(|| {
            (row.status, row.resolved_at) = (status, Some(seen.at()));
            set(row);
            (row.task_id, row.action_request_id)
        })
    })?;
    let Some(Some((task, action))) = ended else { return Ok(()) };
    seen.touch_task(task, |task| task.open_approvals = task.open_approvals.saturating_sub(1))?;
    seen.action(action, |action| action.state = state)
}

fn granted(seen: &Seen<'_>, b: &GrantIssued) -> Result<(), Error> {
    seen.add(NewGrant {
        grant_id: b.grant_id,
        task_id: seen.event.task_id,
        attempt_id: seen.event.attempt_id,
        action_request_id: b.action_request_id,
        action_class: b.action_class,
        issued_to: b.issued_to,
        issued_at: seen.at(),
        expires_at: b.expires_at,
        max_uses: b.max_uses,
        state: GrantState::Active,
        approval_id: b.approval_ref.value().copied(),
        decision_id: b.decision_ref.value().copied(),
        grant_ref: b.grant.artifact_id,
    })?;
    seen.action(b.action_request_id, |action| {
        (action.grant_id, action.state) = (Some(b.grant_id), ActionState::Granted);
    })
}

fn dispatched(seen: &Seen<'_>, b: &EffectDispatched) -> Result<(), Error> {
    seen.set((b.grant_id,), |grant: &mut GrantRow| {
        grant.uses = grant.uses.saturating_add(1).min(grant.max_uses);
        if grant.uses == grant.max_uses && grant.state == GrantState::Active {
            (grant.state, grant.consumed_at) = (GrantState::Consumed, Some(seen.at()));
        }
    })?;
    seen.action(b.action_request_id, |action| {
        (action.state, action.grant_id) = (ActionState::Dispatched, Some(b.grant_id));
        (action.executor, action.dispatched_at) = (Some(b.executor.clone()), Some(seen.at()));
    })
}

fn observed(seen: &Seen<'_>, b: &EffectObserved) -> Result<(), Error> {
    seen.action(b.action_request_id, |action| {
        (action.result_ref, action.result_code) = (Some(b.result.artifact_id), Some(b.result_code));
        (action.sandbox_level, action.recovered) = (Some(b.sandbox_level), b.recovered);
        action.observed_at = Some(seen.at());
    })?;
    let known = b.result_code != ResultCode::UnknownOutcome;
    stands(seen, b.action_request_id, if known { ActionState::Observed } else { ActionState::Uncertain })
}

fn resolved(seen: &Seen<'_>, b: &OutcomeResolved) -> Result<(), Error> {
    stands(seen, b.action_request_id, ActionState::Observed)?;
    seen.action(b.action_request_id, |action| {
        (action.result_code, action.receipt_id) = (Some(b.result_code), Some(b.receipt_id));
        action.trouble = Some(b.note.clone());
    })?;
    let id = b.action_request_id.to_string();
    let of = |receipt: &ReceiptRow| receipt.action_request_id == Some(b.action_request_id);
    for receipt in seen.all_of(of, ("action_request_id", &id))? {
        seen.set(receipt, |receipt: &mut ReceiptRow| {
            if receipt.result_code == ResultCode::UnknownOutcome {
                receipt.resolved_code = Some(b.result_code);
            }
        })?;
    }
    Ok(())
}

/// Sets how an action stands behind its dispatch, and counts on its task the outcomes that are not known.
fn stands(seen: &Seen<'_>, action: ActionRequestId, state: ActionState) -> Result<(), Error> {
    let before = seen.change((action,), |action: &mut ActionRow| {
        (std::mem::replace(&mut action.state, state), action.task_id)
    })?;
    let count = |task: TaskId, with: fn(u32) -> u32| {
        seen.touch_task(task, |task| task.unknown_effects = with(task.unknown_effects))
    };
    match before {
        Some((before, _)) if before == state => Ok(()),
        Some((_, task)) if state == ActionState::Uncertain => count(task, |n| n.saturating_add(1)),
        Some((ActionState::Uncertain, task)) => count(task, |n| n.saturating_sub(1)),
        _ => Ok(()),
    }
}

fn receipt(seen: &Seen<'_>, b: &ReceiptIssued) -> Result<(), Error> {
    let made = seen.add(NewReceipt {
        receipt_id: b.receipt_id,
        task_id: seen.event.task_id,
        class: b.receipt_class,
        action_class: b.action_class,
        result_code: b.result_code,
        action_request_id: b.action_request_id,
        envelope_ref: b.envelope.artifact_id,
        statement_sha256: b.statement_sha256,
        reversibility: b.reversibility,
        rolls_back: b.rolls_back,
        verifiability: b.verifiability,
        summary: b.summary.clone(),
        issued_at: seen.at(),
    })?;
    // An approval's own receipt is none of what was done: it is not counted, and does not take the place of the act's.
    let is_of_act = b.receipt_class != ReceiptClass::ApprovalResolution;
    if made && is_of_act {
        seen.set((seen.event.task_id,), |task: &mut TaskRow| task.receipts += 1)?;
    }
    if let Some(action) = b.action_request_id.filter(|_| is_of_act) {
        seen.action(action, |action| action.receipt_id = Some(b.receipt_id))?;
    }
    match b.rolls_back.filter(|_| b.result_code == ResultCode::Succeeded) {
        Some(undone) => undone_by(seen, undone, b.receipt_id),
        None => Ok(()),
    }
}

fn undone_by(seen: &Seen<'_>, undone: ReceiptId, by: ReceiptId) -> Result<(), Error> {
    seen.set((undone,), |receipt: &mut ReceiptRow| receipt.undone_by = Some(by))
}

impl Seen<'_> {
    /// Changes the row of an action, where there is one.
    fn action(&self, id: ActionRequestId, with: impl FnOnce(&mut ActionRow)) -> Result<(), Error> {
        self.set((id,), with)
    }
}
