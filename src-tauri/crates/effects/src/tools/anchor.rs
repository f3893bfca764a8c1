//! Asking a clock elsewhere to stamp a digest, or how a stamp stands. What comes back is checked before it is kept.
//!
//! Time-stamp authorities and calendars may be asked twice about the same digest: nothing but a second stamp comes of it. A
//! transaction is looked for before it is made, and one that was interrupted is never made anew.

use super::{Execution, Executor};
use crate::anchoring::{self, Answered};
use crate::{AnchorCame, Executors, Outcome, Output, Progress, Settled, Undelivered};
use acts::{ActionRequest, Anchor};
use model::anchor::AnchorClock;
use model::artifact::ArtifactKind;
use model::receipt::{ResultCode, SandboxLevel};
use model::witness::StateWitness;

impl Executor for Anchor {
    fn perform(&self, act: &Execution<'_>, _: &mut dyn FnMut(Progress<'_>)) -> Outcome {
        outcome(act, self, asked(act, self, false), Vec::new())
    }

    /// Whether the clock has it is not seen from here. It may be asked again, and the wallet is looked through first.
    fn settle(&self, _: &Executors, _: &ActionRequest, _: &StateWitness, settled: &mut Settled) {
        settled.repeats = true;
    }

    fn roll_forward(&self, act: &Execution<'_>, settled: &Settled) -> Option<Outcome> {
        settled.repeats.then(|| {
            let said = match self.costs() {
                true => "it was interrupted; the wallet was looked through, and nothing was made anew",
                false => "it was interrupted, and the clock was asked again",
            };
            outcome(act, self, asked(act, self, true), vec![said.to_owned()])
        })
    }
}

fn asked(act: &Execution<'_>, anchor: &Anchor, is_repeat: bool) -> Result<Answered, Undelivered> {
    acts::Tool::check(anchor).map_err(Undelivered::NotSent)?;
    match (anchor.clock, anchor.completes) {
        (AnchorClock::Rfc3161, _) => anchoring::authorities::stamped(act, anchor),
        (AnchorClock::OpenTimestamps, false) => anchoring::calendars::stamped(act, anchor),
        (AnchorClock::OpenTimestamps, true) => anchoring::calendars::completed(act, anchor),
        (AnchorClock::OpReturn, false) => anchoring::transactions::sent(act, anchor, is_repeat),
        (AnchorClock::OpReturn, true) => anchoring::transactions::completed(act, anchor),
    }
}

fn outcome(
    act: &Execution<'_>,
    anchor: &Anchor,
    came: Result<Answered, Undelivered>,
    mut notes: Vec<String>,
) -> Outcome {
    let Execution { executors, request, started, .. } = act;
    let mut outputs = Vec::new();
    let (result_code, mut observed, error) = match came {
        Ok(answered) => match kept(request, &answered) {
            Ok(kept) => {
                outputs = kept;
                let first = match anchor.completes {
                    true => format!("{} told how it stands", said_by(&answered.came.at, anchor)),
                    false => format!("{} took it", said_by(&answered.came.at, anchor)),
                };
                let says = answered.came.says.iter().map(|said| acts::visible(said));
                (ResultCode::Succeeded, std::iter::once(first).chain(says).collect(), None)
            }
            Err(why) => (ResultCode::Failed, vec!["nothing that it answered was kept".to_owned()], Some(why)),
        },
        Err(Undelivered::NotSent(why)) => {
            (ResultCode::Failed, vec!["no clock gave what can be checked".to_owned()], Some(why))
        }
        Err(Undelivered::Unknown(why)) => {
            let unseen = "the node did not answer: the transaction may have been sent".to_owned();
            (ResultCode::UnknownOutcome, vec![unseen], Some(why))
        }
    };
    observed.append(&mut notes);
    observed.push(format!("about the 32 bytes {}", anchor.digest));
    Outcome {
        result_code,
        changes: Vec::new(),
        outputs,
        ran: executors.ran("hermit.anchor", request, *started),
        sandbox_level: SandboxLevel::NotApplicable,
        observed,
        error: error.map(|why| acts::visible(&why)),
        kept: Vec::new(),
    }
}

/// What is kept of an answer: what it came to, and the proof.
fn kept(request: &ActionRequest, answered: &Answered) -> Result<Vec<Output>, String> {
    let came = AnchorCame {
        action_request_id: request.action_request_id,
        proof_sha256: answered.proof.as_deref().map(model::Digest::of),
        ..answered.came.clone()
    };
    let mut outputs = vec![Output {
        kind: ArtifactKind::ActionResult,
        media_type: "application/json".to_owned(),
        bytes: serde_json::to_vec(&came).map_err(|e| e.to_string())?,
        about: "what the clock answered".to_owned(),
    }];
    outputs.extend(answered.proof.as_ref().map(|bytes| Output {
        kind: ArtifactKind::BinaryAttachment,
        media_type: "application/octet-stream".to_owned(),
        bytes: bytes.clone(),
        about: "the proof of the clock, as far as there is one".to_owned(),
    }));
    Ok(outputs)
}

fn said_by(at: &[String], anchor: &Anchor) -> String {
    match at {
        [] => format!("the clock `{}`", anchor.clock),
        some => some.iter().map(|host| acts::visible(host)).collect::<Vec<_>>().join(" and "),
    }
}
