//! An act that a person has denied, proposed again: they are not asked twice.

use super::judge::Judged;
use crate::Error;
use crate::command::part::is_part;
use crate::gatepass::{Ask, Seat};
use crate::kernel::Kernel;
use crate::state::TaskState;
use crate::track::Track;
use crate::writeup::Writeup;
use acts::ActionRequest;
use model::approval::ApprovalStatus;
use model::attempt::AttemptStatus;
use model::body::IterationCompleted;
use model::policy::Verdict;
use serde_json::json;

impl Kernel {
    /// Whether a person has denied exactly this act in this task, and has said nothing since: they are not asked twice.
    pub(super) fn denied_before(&self, state: &TaskState, request: &ActionRequest) -> Result<bool, Error> {
        // What a person chose themselves is not refused because it is like what they chose from.
        if is_part(request) {
            return Ok(false);
        }
        let heard = state.absorbed.iter().chain(&state.inputs).map(|(id, _)| when(&id.to_string())).max();
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

    /// The same act again after a person's no: it is refused without asking them, and the model is told so.
    pub(super) fn denied_again(
        &self,
        state: &mut TaskState,
        mut w: Writeup<'_>,
        mut track: Track,
        judged: &Judged,
    ) -> Result<(), Error> {
        let said = "a person has denied exactly this already and was not asked again; propose something else, or end \
                    with `done`";
        let mut seat = Seat::take(self)?;
        let ask = Ask {
            tool: judged.request.action.tool(),
            request: &judged.request_ref,
            verdict: Verdict::Deny,
            granted_packet: None,
        };
        seat.pass(self, &mut w, &ask)?;
        let told = json!({ "result_code": "denied", "summary": said });
        let result = self.tell(&mut w, &judged.request, &told)?;
        let (answer, proposals) = self.stored_answer(state)?;
        let record = self.record(
            state,
            &proposals.unwrap_or_default(),
            &answer,
            Some(&result),
            Some(said.to_owned()),
        )?;
        w.push(IterationCompleted { about_attempt_id: self.attempt_id(state)?, record });
        track.attempt(&mut w, AttemptStatus::CompilingContext, "denied before")?;
        self.commit(w, Some(state))?;
        self.unstage(state, judged.request.attempt_id);
        seat.moved();
        Ok(())
    }
}

/// The part of an identifier that grows with time, whatever it names.
fn when(id: &str) -> String {
    id.rsplit('_').next().unwrap_or_default().to_owned()
}
