//! Sending a message through a gateway.

use super::{Execution, Executor};
use crate::change::scope::Scope;
use crate::{Delivered, Error, Executors, Outcome, Output, Progress, Settled, Undelivered};
use acts::{ActionRequest, Message};
use model::artifact::ArtifactKind;
use model::fault::Point;
use model::receipt::{ResultCode, SandboxLevel};
use model::witness::StateWitness;
use model::{Digest, RelPath, ResourceId};

impl Executor for Message {
    fn perform(&self, act: &Execution<'_>, _: &mut dyn FnMut(Progress<'_>)) -> Outcome {
        outcome(act, self, delivered(act, self))
    }

    /// Whether it went is not seen from here. It has the same key each time, so it may be sent again.
    fn settle(&self, _: &Executors, _: &ActionRequest, _: &StateWitness, settled: &mut Settled) {
        settled.repeats = true;
    }

    fn roll_forward(&self, act: &Execution<'_>, settled: &Settled) -> Option<Outcome> {
        settled.repeats.then(|| {
            let came = delivered(act, self);
            let is_repeat_safe = came.as_ref().is_ok_and(|delivered| delivered.is_repeat_safe);
            // Who changes a message twice to the same words has changed it once.
            let is_repeat_safe = is_repeat_safe || self.edits.is_some();
            let mut outcome = outcome(act, self, came);
            outcome.observed.push(match is_repeat_safe {
                true if self.edits.is_some() => {
                    "it was interrupted and said again, in the same words".to_owned()
                }
                true => "it was interrupted and sent again; the service shows it once, by its key".to_owned(),
                false => "it was interrupted and sent again: the chat may show it twice".to_owned(),
            });
            outcome
        })
    }
}

/// Sends it, where the grant names the chat and every host on the way.
fn delivered(act: &Execution<'_>, message: &Message) -> Result<Delivered, Undelivered> {
    let not_sent = |error: Error| Undelivered::NotSent(error.to_string());
    covered(act.scope, message).map_err(not_sent)?;
    let executors = act.executors;
    let file = message.file.as_ref().map(|file| executors.contents.read(&file.sha256)).transpose();
    let file = file.map_err(Undelivered::NotSent)?;
    let mut came = None;
    let sent = crate::change::step(executors, Point::CallSend, &RelPath::ROOT, || {
        came = Some(executors.messenger.send(message, file));
        Ok(())
    });
    match (came, sent) {
        (Some(came), Ok(())) => came,
        (None, Err(error)) => Err(not_sent(error)),
        (_, Err(error)) => Err(Undelivered::Unknown(error.to_string())),
        (None, Ok(())) => Err(Undelivered::NotSent("nothing was sent".to_owned())),
    }
}

fn covered(scope: &Scope<'_>, message: &Message) -> Result<(), Error> {
    acts::Tool::check(message).map_err(Error::Request)?;
    scope.covers(&ResourceId::Chat(message.gateway.clone(), message.chat.clone()))?;
    match message.hosts.iter().find(|host| !scope.hosts().contains(host)) {
        Some(host) => Err(Error::OutOfScope(format!("the grant does not name the host `{host}`"))),
        None => Ok(()),
    }
}

fn outcome(act: &Execution<'_>, message: &Message, came: Result<Delivered, Undelivered>) -> Outcome {
    let Execution { executors, request, started, .. } = act;
    let said = format!(
        "{} bytes of text for a chat of {}, sha256 {}, with the key {}",
        message.text.len(),
        message.service,
        Digest::of(message.text.as_bytes()),
        message.repeat_key
    );
    let mut outputs = Vec::new();
    let (result_code, observed, error) = match came {
        Ok(Delivered { message_id, .. }) => {
            let what = if message.edits.is_some() { "the new words of" } else { "it as" };
            outputs.push(Output {
                kind: ArtifactKind::ActionResult,
                media_type: "application/json".to_owned(),
                bytes: serde_json::json!({ "message_id": message_id }).to_string().into_bytes(),
                about: "how the service names the message".to_owned(),
            });
            let taken = format!("{} took {what} {}", message.service, acts::visible(&message_id));
            (ResultCode::Succeeded, vec![taken, said], None)
        }
        Err(Undelivered::NotSent(why)) => {
            // New words whose answer was lost may be there, and are said again.
            let nothing = if message.edits.is_some() { "nobody saw it change" } else { "nothing was sent" };
            (ResultCode::Failed, vec![nothing.to_owned()], Some(why))
        }
        Err(Undelivered::Unknown(why)) => {
            let unseen = format!("{} did not answer: it may have been sent", message.service);
            (ResultCode::UnknownOutcome, vec![unseen, said], Some(why))
        }
    };
    Outcome {
        result_code,
        changes: Vec::new(),
        outputs,
        ran: executors.ran("hermit.message", request, *started),
        sandbox_level: SandboxLevel::NotApplicable,
        observed,
        error,
        kept: Vec::new(),
    }
}
