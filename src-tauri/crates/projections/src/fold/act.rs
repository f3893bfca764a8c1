//! The governed path: actions, approvals, grants, effects, receipts.

use super::{Seen, json, leaf, maybe, maybe_leaf, slot, text};
use crate::names::{ActionState, GrantState};
use model::body::{
    ApprovalGranted, ApprovalRequested, Body, EffectDispatched, EffectObserved, GrantIssued, PolicyEvaluated,
    ReceiptIssued,
};
use model::policy::Verdict;
use model::receipt::ResultCode;
use model::{ActionRequestId, ApprovalId};
use rusqlite::params;

pub(super) fn fold(seen: &Seen<'_>, body: &Body) -> rusqlite::Result<()> {
    match body {
        Body::ActionRequested(b) => seen
            .run(
                "INSERT INTO view_actions (action_request_id, seq, task_id, step_id, attempt_id, action_class, tool, \
                 summary, request_ref, state, requested_at, recovered) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 0) ON CONFLICT (action_request_id) DO NOTHING",
                params![
                    text(b.action_request_id),
                    seen.seq,
                    text(seen.event.task_id),
                    maybe(seen.event.step_id),
                    maybe(seen.event.attempt_id),
                    b.action_class.as_str(),
                    b.tool,
                    leaf(&b.summary),
                    text(b.request.artifact_id),
                    ActionState::Requested.as_str(),
                    seen.at(),
                ],
            )
            .map(drop),
        Body::PolicyEvaluated(b) => judged(seen, b),
        Body::ActionDowngraded(b) => {
            let statement = "UPDATE view_actions SET state = ?2 WHERE action_request_id = ?1";
            seen.run(statement, params![text(b.action_request_id), ActionState::Downgraded.as_str()])?;
            let statement =
                "UPDATE view_actions SET instead_of = ?2, instead_rules = ?3 WHERE action_request_id = ?1";
            let (asked, rules) = (text(b.action_request_id), b.rules.join(", "));
            seen.run(statement, params![text(b.instead), asked, rules]).map(drop)
        }
        Body::WitnessCaptured(b) => witness(seen, b.action_request_id, text(b.witness_id), "captured"),
        Body::WitnessValidated(b) => witness(seen, b.action_request_id, text(b.witness_id), "validated"),
        Body::WitnessDrifted(b) => witness(seen, b.action_request_id, text(b.witness_id), "drifted"),
        Body::GrantIssued(b) => granted(seen, b),
        Body::GrantRevoked(b) => {
            let statement = "UPDATE view_grants SET state = ?2, reason = ?3 WHERE grant_id = ?1 AND state = 'active'";
            seen.run(statement, params![text(b.grant_id), GrantState::Revoked.as_str(), b.reason]).map(drop)
        }
        Body::EffectDispatched(b) => dispatched(seen, b),
        Body::EffectObserved(b) => observed(seen, b),
        Body::EffectUncertain(b) => {
            let statement = "UPDATE view_actions SET trouble = ?2 WHERE action_request_id = ?1";
            seen.run(statement, params![text(b.action_request_id), leaf(&b.reason)])?;
            uncertain(seen, b.action_request_id)
        }
        Body::OutcomeResolved(b) => {
            settled(seen, b.action_request_id)?;
            let statement = "UPDATE view_actions SET state = ?2, result_code = ?3, trouble = ?4, receipt_id = ?5 \
                             WHERE action_request_id = ?1";
            let (id, receipt) = (text(b.action_request_id), text(b.receipt_id));
            let state = ActionState::Observed.as_str();
            seen.run(statement, params![id, state, b.result_code.as_str(), leaf(&b.note), receipt])?;
            let statement = "UPDATE view_receipts SET resolved_code = ?2 WHERE action_request_id = ?1 \
                             AND result_code = 'unknown_outcome'";
            seen.run(statement, params![id, b.result_code.as_str()]).map(drop)
        }
        Body::ReceiptIssued(b) => receipt(seen, b),
        Body::ReceiptsUndone(b) => {
            let statement = "UPDATE view_receipts SET undone_by = ?2 WHERE receipt_id = ?1";
            b.undone.iter().try_for_each(|undone| {
                seen.run(statement, params![text(undone), text(b.by)]).map(drop)
            })
        }
        _ => approvals(seen, body),
    }
}

fn approvals(seen: &Seen<'_>, body: &Body) -> rusqlite::Result<()> {
    match body {
        Body::ApprovalRequested(b) => asked(seen, b),
        Body::ApprovalGranted(b) => allowed(seen, b),
        Body::ApprovalDenied(b) => {
            if resolve(seen, b.approval_id, "denied", ActionState::Refused)? {
                let statement = "UPDATE view_approvals SET resolved_by = ?2, surface = ?3, envelope_ref = ?4, \
                                 feedback = ?5 WHERE approval_id = ?1";
                let envelope = b.envelope.as_ref().map(|e| text(e.artifact_id));
                let by = text(b.decided_by);
                let feedback = maybe_leaf(b.feedback.as_ref());
                let values = params![text(b.approval_id), by, b.surface.as_str(), envelope, feedback];
                seen.run(statement, values)?;
            }
            Ok(())
        }
        Body::ApprovalExpired(b) => resolve(seen, b.approval_id, "expired", ActionState::Refused).map(drop),
        Body::ApprovalCancelled(b) => {
            resolve(seen, b.approval_id, "cancelled", ActionState::Refused).map(drop)
        }
        Body::ApprovalInvalidated(b) => {
            // What has changed is judged again; the action is not refused.
            if resolve(seen, b.approval_id, "invalidated", ActionState::Requested)? {
                let statement = "UPDATE view_approvals SET reason = ?2 WHERE approval_id = ?1";
                seen.run(statement, params![text(b.approval_id), b.reason])?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn judged(seen: &Seen<'_>, b: &PolicyEvaluated) -> rusqlite::Result<()> {
    let state = match b.verdict {
        Verdict::Allow => ActionState::Allowed,
        Verdict::RequireApproval => ActionState::AwaitingApproval,
        Verdict::Deny => ActionState::Refused,
        Verdict::Downgrade => ActionState::Downgraded,
    };
    seen.run(
        "UPDATE view_actions SET verdict = ?2, risk_band = ?3, policy_result_id = ?4, policy_ref = ?5, state = ?6 \
         WHERE action_request_id = ?1",
        params![
            text(b.action_request_id),
            b.verdict.as_str(),
            b.risk_band.as_str(),
            text(b.policy_result_id),
            text(b.result.artifact_id),
            state.as_str(),
        ],
    )
    .map(drop)
}

fn witness(seen: &Seen<'_>, action: ActionRequestId, witness: String, state: &str) -> rusqlite::Result<()> {
    let statement =
        "UPDATE view_actions SET witness_id = ?2, witness_state = ?3 WHERE action_request_id = ?1";
    seen.run(statement, params![text(action), witness, state]).map(drop)
}

fn asked(seen: &Seen<'_>, b: &ApprovalRequested) -> rusqlite::Result<()> {
    let a = &b.approval;
    let made = seen.run(
        "INSERT INTO view_approvals (approval_id, seq, task_id, step_id, attempt_id, action_request_id, action_class, \
         risk_band, summary, status, packet_ref, packet_sha256, nonce, requested_at, expires_at, reason) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'pending', ?10, ?11, ?12, ?13, ?14, '') \
         ON CONFLICT (approval_id) DO NOTHING",
        params![
            text(a.approval_id),
            seen.seq,
            text(a.task_id),
            text(a.step_id),
            text(a.attempt_id),
            text(b.action_request_id),
            a.approval_type.as_str(),
            b.risk_band.as_str(),
            leaf(&b.summary),
            text(a.approval_packet_ref),
            text(a.approval_packet_sha256),
            b.nonce,
            a.requested_at.0,
            a.expires_at.0,
        ],
    )?;
    if made == 1 {
        seen.touch_task(&text(a.task_id), |task| task.open_approvals += 1)?;
    }
    let statement = "UPDATE view_actions SET approval_id = ?2, state = ?3 WHERE action_request_id = ?1";
    let state = ActionState::AwaitingApproval.as_str();
    seen.run(statement, params![text(b.action_request_id), text(a.approval_id), state]).map(drop)
}

fn allowed(seen: &Seen<'_>, b: &ApprovalGranted) -> rusqlite::Result<()> {
    if !resolve(seen, b.approval_id, "granted", ActionState::Approved)? {
        return Ok(());
    }
    seen.run(
        "UPDATE view_approvals SET resolved_by = ?2, surface = ?3, scope = ?4, envelope_ref = ?5, receipt_id = ?6 \
         WHERE approval_id = ?1",
        params![
            text(b.approval_id),
            text(b.decided_by),
            b.surface.as_str(),
            json(&b.scope),
            text(b.envelope.artifact_id),
            maybe(b.receipt_id),
        ],
    )
    .map(drop)
}

/// Ends a pending approval; one that has ended already stays as it ended.
fn resolve(
    seen: &Seen<'_>,
    approval: ApprovalId,
    status: &str,
    action: ActionState,
) -> rusqlite::Result<bool> {
    let id = text(approval);
    let statement = "UPDATE view_approvals SET status = ?2, resolved_at = ?3 WHERE approval_id = ?1 AND status = 'pending'";
    if seen.run(statement, params![id, status, seen.at()])? == 0 {
        return Ok(false);
    }
    if let Some(task) = seen.task_of("SELECT task_id FROM view_approvals WHERE approval_id = ?1", &id)? {
        seen.touch_task(&task, |task| task.open_approvals = (task.open_approvals - 1).max(0))?;
    }
    let statement = "UPDATE view_actions SET state = ?2 WHERE action_request_id = \
                     (SELECT action_request_id FROM view_approvals WHERE approval_id = ?1)";
    seen.run(statement, params![id, action.as_str()])?;
    Ok(true)
}

fn granted(seen: &Seen<'_>, b: &GrantIssued) -> rusqlite::Result<()> {
    seen.run(
        "INSERT INTO view_grants (grant_id, seq, task_id, attempt_id, action_request_id, action_class, issued_to, \
         issued_at, expires_at, max_uses, uses, state, approval_id, decision_id, grant_ref, reason) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 0, ?11, ?12, ?13, ?14, '') ON CONFLICT (grant_id) DO NOTHING",
        params![
            text(b.grant_id),
            seen.seq,
            text(seen.event.task_id),
            maybe(seen.event.attempt_id),
            text(b.action_request_id),
            b.action_class.as_str(),
            text(b.issued_to),
            seen.at(),
            b.expires_at.0,
            b.max_uses,
            GrantState::Active.as_str(),
            slot(&b.approval_ref),
            slot(&b.decision_ref),
            text(b.grant.artifact_id),
        ],
    )?;
    let statement = "UPDATE view_actions SET grant_id = ?2, state = ?3 WHERE action_request_id = ?1";
    let state = ActionState::Granted.as_str();
    seen.run(statement, params![text(b.action_request_id), text(b.grant_id), state]).map(drop)
}

fn dispatched(seen: &Seen<'_>, b: &EffectDispatched) -> rusqlite::Result<()> {
    let statement = "UPDATE view_grants SET uses = min(uses + 1, max_uses), \
                     state = CASE WHEN uses + 1 >= max_uses THEN ?2 ELSE state END WHERE grant_id = ?1";
    seen.run(statement, params![text(b.grant_id), GrantState::Consumed.as_str()])?;
    let statement = "UPDATE view_actions SET state = ?2, executor = ?3, dispatched_at = ?4, grant_id = ?5 \
                     WHERE action_request_id = ?1";
    let state = ActionState::Dispatched.as_str();
    let id = text(b.action_request_id);
    seen.run(statement, params![id, state, b.executor, seen.at(), text(b.grant_id)]).map(drop)
}

fn observed(seen: &Seen<'_>, b: &EffectObserved) -> rusqlite::Result<()> {
    let statement = "UPDATE view_actions SET result_ref = ?2, result_code = ?3, sandbox_level = ?4, recovered = ?5, \
                     observed_at = ?6 WHERE action_request_id = ?1";
    let (result, code) = (text(b.result.artifact_id), b.result_code.as_str());
    let values =
        params![text(b.action_request_id), result, code, b.sandbox_level.as_str(), b.recovered, seen.at()];
    seen.run(statement, values)?;
    if b.result_code == ResultCode::UnknownOutcome {
        return uncertain(seen, b.action_request_id);
    }
    settled(seen, b.action_request_id)?;
    let statement = "UPDATE view_actions SET state = ?2 WHERE action_request_id = ?1";
    seen.run(statement, params![text(b.action_request_id), ActionState::Observed.as_str()]).map(drop)
}

/// Counts an outcome that is not known, once.
fn uncertain(seen: &Seen<'_>, action: ActionRequestId) -> rusqlite::Result<()> {
    let statement =
        "UPDATE view_actions SET state = 'uncertain' WHERE action_request_id = ?1 AND state <> 'uncertain'";
    if seen.run(statement, [text(action)])? == 1 {
        count(seen, action, 1)?;
    }
    Ok(())
}

fn settled(seen: &Seen<'_>, action: ActionRequestId) -> rusqlite::Result<()> {
    let statement =
        "UPDATE view_actions SET state = 'observed' WHERE action_request_id = ?1 AND state = 'uncertain'";
    if seen.run(statement, [text(action)])? == 1 {
        count(seen, action, -1)?;
    }
    Ok(())
}

fn count(seen: &Seen<'_>, action: ActionRequestId, by: i64) -> rusqlite::Result<()> {
    let question = "SELECT task_id FROM view_actions WHERE action_request_id = ?1";
    match seen.task_of(question, &text(action))? {
        Some(task) => {
            seen.touch_task(&task, |task| task.unknown_effects = (task.unknown_effects + by).max(0))
        }
        None => Ok(()),
    }
}

fn receipt(seen: &Seen<'_>, b: &ReceiptIssued) -> rusqlite::Result<()> {
    let id = text(b.receipt_id);
    let made = seen.run(
        "INSERT INTO view_receipts (receipt_id, seq, task_id, class, action_class, result_code, action_request_id, \
         envelope_ref, statement_sha256, reversibility, rolls_back, verifiability, summary, issued_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) ON CONFLICT (receipt_id) DO NOTHING",
        params![
            id,
            seen.seq,
            text(seen.event.task_id),
            b.receipt_class.as_str(),
            b.action_class.as_str(),
            b.result_code.as_str(),
            maybe(b.action_request_id),
            text(b.envelope.artifact_id),
            text(b.statement_sha256),
            b.reversibility.as_str(),
            maybe(b.rolls_back),
            b.verifiability.as_str(),
            leaf(&b.summary),
            seen.at(),
        ],
    )?;
    if made == 1 {
        seen.task(&text(seen.event.task_id), |task| task.receipts += 1)?;
    }
    // An approval's own receipt does not take the place of the receipt of the act.
    if let Some(action) = b.action_request_id.filter(|_| b.receipt_class.as_str() != "approval_resolution") {
        let statement = "UPDATE view_actions SET receipt_id = ?2 WHERE action_request_id = ?1";
        seen.run(statement, params![text(action), id])?;
    }
    if let Some(undone) = b.rolls_back.filter(|_| b.result_code == ResultCode::Succeeded) {
        let statement = "UPDATE view_receipts SET undone_by = ?2 WHERE receipt_id = ?1";
        seen.run(statement, params![text(undone), id])?;
    }
    Ok(())
}
