//! Trying a change of Hermit: whoever makes clones is asked, and waited for. A trial changes nothing, so that one that was interrupted
//! is looked for and never begun anew.

use super::{Execution, Executor};
use crate::{AskedTrial, Executors, Outcome, Output, Progress, Settled, TrialCame};
use acts::{ActionRequest, TryChange};
use model::UnixMs;
use model::artifact::ArtifactKind;
use model::receipt::{ResultCode, SandboxLevel};
use model::witness::StateWitness;

impl Executor for TryChange {
    fn perform(&self, act: &Execution<'_>, progress: &mut dyn FnMut(Progress<'_>)) -> Outcome {
        let Execution { executors, request, started, cancelled, .. } = act;
        let asked = AskedTrial {
            task_id: request.task_id,
            action_request_id: request.action_request_id,
            change: self,
        };
        let came = acts::Tool::check(self).and_then(|()| {
            executors.trials.try_change(&asked, *cancelled, &mut || progress(Progress::AtWork))
        });
        outcome(executors, request, *started, came)
    }

    fn settle(
        &self,
        executors: &Executors,
        request: &ActionRequest,
        before: &StateWitness,
        settled: &mut Settled,
    ) {
        let came = executors.trials.came(request.task_id, request.action_request_id);
        settled.outcome = Some(outcome(executors, request, before.observed_at, came));
    }
}

fn outcome(
    executors: &Executors,
    request: &ActionRequest,
    started: UnixMs,
    came: Result<TrialCame, String>,
) -> Outcome {
    let (result_code, sandbox_level, outputs, said, error) = match came {
        Ok(TrialCame { says, told }) => {
            let output = Output {
                kind: ArtifactKind::ActionResult,
                media_type: "application/json".to_owned(),
                bytes: told,
                about: "the verdict on a change of Hermit".to_owned(),
            };
            (ResultCode::Succeeded, executors.sandbox.level(), vec![output], acts::visible(&says), None)
        }
        Err(why) => {
            let said = "there is no verdict on the change".to_owned();
            (ResultCode::Failed, SandboxLevel::NotApplicable, Vec::new(), said, Some(acts::visible(&why)))
        }
    };
    Outcome {
        result_code,
        changes: Vec::new(),
        outputs,
        ran: executors.ran("hermit.try_change", request, started),
        sandbox_level,
        observed: vec![said, "nothing of Hermit was changed by the trial".to_owned()],
        error,
        kept: Vec::new(),
    }
}
