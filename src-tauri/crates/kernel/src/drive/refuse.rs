//! An act that is not done: policy or a person said no, or what was approved has changed. Whoever proposed it is told why,
//! and may find another way.

use super::Then;
use super::answer::empty_answer;
use super::judge::Judged;
use super::several::acted;
use crate::Error;
use crate::command::partial_approval::is_part;
use crate::kernel::Kernel;
use crate::state::TaskState;
use crate::tx::{After, Tx};
use crate::writeup::NewArtifact;
use acts::ActionRequest;
use model::approval::ApprovalStatus;
use model::artifact::{ArtifactKind, ArtifactRef};
use model::attempt::{AttemptStatus, TerminationReason};
use model::body::{ApprovalInvalidated, EffectObserved, IterationCompleted, WitnessDrifted};
use model::fault::Point;
use model::policy::Verdict;
use model::receipt::{ResultCode, SandboxLevel};
use model::{ApprovalId, Sensitive, WitnessId, transition};
use serde_json::json;

/// An approval counts no more. Of a question that nobody has answered that is how it is resolved, under the key of its answer; a yes was
/// resolved before, and may be void twice.
pub(crate) fn void(tx: &mut Tx<'_>, approval_id: ApprovalId, reason: String) {
    let is_pending = tx.pending_approvals().any(|record| record.approval.approval_id == approval_id);
    let key = is_pending.then(|| format!("approval.resolve:{approval_id}"));
    tx.push_keyed(key, ApprovalInvalidated { approval_id, reason });
}

impl Kernel {
    /// Policy said no: nothing runs, and the model is told why.
    pub(super) fn forbid(&self, tx: &mut Tx<'_>) -> Result<Then, Error> {
        let Some(judged) = tx.hand.judged.take() else { return self.judge(tx) };
        self.forbid_judged(tx, &judged)
    }

    pub(super) fn forbid_judged(&self, tx: &mut Tx<'_>, judged: &Judged) -> Result<Then, Error> {
        tx.pass(&judged.ask(judged.policy.verdict, None))?;
        let reason = match &judged.request.instead_of {
            None => judged.policy.reasoning_summary.clone(),
            Some(instead) => {
                format!("{}; it was asked instead of `{}`", judged.policy.reasoning_summary, instead.asked)
            }
        };
        let told = json!({
            "result_code": "denied",
            "summary": format!("not allowed by policy: {reason}"),
            "rules": judged.policy.determining_rules,
        });
        self.tell(tx, &judged.request, &told)?;
        let (answer, proposals) = match self.proposer(tx)?.plans_once() {
            true => (empty_answer(), Ok(Vec::new())),
            false => self.stored_answer(tx)?,
        };
        let acted = acted(tx, proposals.unwrap_or_default());
        let record = self.record(tx, &acted, &answer, None, Some(reason))?;
        self.turn_is_over(tx, record, "denied by policy")?;
        tx.then(After::Unstage(judged.request.attempt_id));
        Ok(Then::Commit)
    }

    /// The same act again after a person's no: it is denied without asking them, and the model is told so.
    pub(super) fn deny_again(&self, tx: &mut Tx<'_>, judged: &Judged) -> Result<Then, Error> {
        let said = "a person has denied exactly this already and was not asked again; propose something else, or end \
                    with `done`";
        tx.pass(&judged.ask(Verdict::Deny, None))?;
        let told = json!({ "result_code": "denied", "summary": said });
        let result = self.tell(tx, &judged.request, &told)?;
        self.answer_is_over(tx, &result, said, "denied before")?;
        tx.then(After::Unstage(judged.request.attempt_id));
        Ok(Then::Commit)
    }

    /// A person said no: the model is told, with their words, and may find another way (HK-12.4-5).
    pub(super) fn refuse(&self, tx: &mut Tx<'_>) -> Result<Then, Error> {
        tx.at(Point::IterationComplete);
        let record = self.act(tx)?.authority.approval.and_then(|id| tx.approvals.get(&id));
        let feedback = record.and_then(|r| r.feedback.clone());
        let request = self.request_in_hand(tx)?;
        let told = json!({
            "result_code": "denied",
            "summary": match &request.instead_of {
                Some(part) if is_part(&request) => format!("a person denied this; nothing of `{}` was done", part.asked),
                _ => "a person denied this; nothing was done".to_owned(),
            },
            "feedback": feedback,
        });
        let plans_once = self.proposer(tx)?.plans_once();
        let result = self.tell(tx, &request, &told)?;
        tx.unblock("a person denied it")?;
        if plans_once {
            self.push_end(tx, TerminationReason::ApprovalDenied, "a person denied the undo")?;
        } else {
            let said = feedback
                .map_or_else(|| "denied by a person".to_owned(), |f| format!("denied by a person: {f}"));
            self.answer_is_over(tx, &result, &said, "denied by a person")?;
        }
        tx.then(After::Unstage(request.attempt_id));
        Ok(Then::Commit)
    }

    /// What it was about has changed since: the approval does not count any more (HK-16.8-4).
    pub(super) fn drifted(
        &self,
        tx: &mut Tx<'_>,
        witness_id: WitnessId,
        drifts: &[String],
    ) -> Result<Then, Error> {
        tx.at(Point::WitnessDrift);
        let request = self.request_in_hand(tx)?;
        let approval = self.act(tx)?.authority.approval;
        tx.push(WitnessDrifted {
            witness_id,
            action_request_id: request.action_request_id,
            differences: drifts.iter().cloned().map(Sensitive::from).collect(),
        });
        if let Some(approval_id) = approval {
            let reason = "what was approved has changed since".to_owned();
            void(tx, approval_id, reason);
        }
        let told = json!({
            "result_code": "drifted",
            "summary": "nothing was done: what was approved has changed since; look again and propose anew",
            "differences": drifts,
        });
        let plans_once = self.proposer(tx)?.plans_once();
        let result = self.tell(tx, &request, &told)?;
        tx.unblock("what was approved has changed")?;
        // A plan of the kernel's own is made anew from what is there now.
        if !plans_once {
            let (answer, proposals) = self.stored_answer(tx)?;
            let error = Some("what was approved has changed since".to_owned());
            let acted = acted(tx, proposals.unwrap_or_default());
            let record = self.record(tx, &acted, &answer, Some(&result), error)?;
            tx.push(IterationCompleted { about_attempt_id: self.attempt_id(tx)?, record });
        }
        let at = tx.attempt().map(|attempt| attempt.attempt.status);
        if at.is_some_and(|at| transition::attempt(at, AttemptStatus::AwaitingPolicy).is_ok()) {
            tx.set_attempt(AttemptStatus::AwaitingPolicy, "drift")?;
        }
        tx.set_attempt(AttemptStatus::CompilingContext, "drift")?;
        tx.then(After::Unstage(request.attempt_id));
        Ok(Then::Commit)
    }

    /// A yes does not count any more: the same request goes before policy again.
    pub(super) fn judge_again(&self, tx: &mut Tx<'_>, reason: &str) -> Result<Then, Error> {
        tx.at(Point::WitnessDrift);
        if let Some(approval_id) = self.act(tx)?.authority.approval {
            void(tx, approval_id, reason.to_owned());
        }
        tx.unblock(reason)?;
        tx.set_attempt(AttemptStatus::AwaitingPolicy, reason)?;
        Ok(Then::Commit)
    }

    /// New input changed what was asked: the packet is withdrawn and the context compiled anew (HK-16.7-2).
    pub(super) fn withdraw(&self, tx: &mut Tx<'_>, approval_id: ApprovalId) -> Result<Then, Error> {
        tx.at(Point::ApprovalLapse);
        void(tx, approval_id, "new input came in".to_owned());
        tx.unblock("new input came in")?;
        tx.set_attempt(AttemptStatus::CompilingContext, "new input came in")?;
        tx.then(After::Unstage(self.attempt_id(tx)?));
        Ok(Then::Commit)
    }

    /// A result that the reasoner sees, for an act that did not run.
    fn tell(
        &self,
        tx: &mut Tx<'_>,
        request: &ActionRequest,
        told: &serde_json::Value,
    ) -> Result<ArtifactRef, Error> {
        let result = tx.object(told, NewArtifact::audit(ArtifactKind::ActionResult))?;
        tx.push(EffectObserved {
            action_request_id: request.action_request_id,
            result: result.clone(),
            result_code: ResultCode::Denied,
            sandbox_level: SandboxLevel::NotApplicable,
            recovered: false,
        });
        Ok(result)
    }

    /// The turn of the answer in hand is over without its act having been done.
    fn answer_is_over(
        &self,
        tx: &mut Tx<'_>,
        result: &ArtifactRef,
        said: &str,
        why: &str,
    ) -> Result<(), Error> {
        let (answer, proposals) = self.stored_answer(tx)?;
        let acted = acted(tx, proposals.unwrap_or_default());
        let record = self.record(tx, &acted, &answer, Some(result), Some(said.to_owned()))?;
        self.turn_is_over(tx, record, why)
    }

    /// Whether a person has denied exactly this act in this task, and has said nothing since: they are not asked twice.
    pub(super) fn denied_before(&self, state: &TaskState, request: &ActionRequest) -> Result<bool, Error> {
        // What a person chose themselves is not refused because it is like what they chose from.
        if is_part(request) {
            return Ok(false);
        }
        let heard = state.absorbed.iter().chain(&state.inputs).filter(|input| input.is_the_persons());
        let heard = heard.map(|input| when(&input.ingress_id.to_string())).max();
        for record in state.approvals.values().filter(|r| r.approval.status == ApprovalStatus::Denied) {
            let asked = when(&record.approval.approval_id.to_string());
            if heard.as_ref().is_some_and(|heard| *heard > asked) {
                continue;
            }
            let denied: ActionRequest = self.read_object(state, record.approval.requested_action_ref)?;
            if denied.action_request_id == request.action_request_id {
                continue;
            }
            if denied.action == request.action || self.left_out_before(state, &denied, request)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The part of an identifier that grows with time, whatever it names.
fn when(id: &str) -> String {
    id.rsplit('_').next().unwrap_or_default().to_owned()
}
