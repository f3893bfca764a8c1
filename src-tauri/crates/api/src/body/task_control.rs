//! What a person does to a task. The kernel records the wish; a driver takes it up.

use super::encloses;
use super::slash::Heard;
use super::task::{channel, of_submitted, only_question};
use crate::caller::sender;
use crate::convert::word;
use crate::ids::{find, find_opt};
use crate::{Host, Wire as _, usage};
use kernel::command::add_input::Note as AddInput;
use kernel::command::person::Signed;
use model::TaskId;
use model::artifact::TrustTier;
use wire::Error;
use wire::conversations::Said;
use wire::task::{
    Answer, Cancel, Done, EditGoal, Note, Noted, Pause, Resume, Retry, SetPriority, Settle, Submitted,
};

/// Somebody drives it from here, and this is where it stands.
fn driven(host: &dyn Host, task: TaskId) -> Result<Done, Error> {
    host.drive(task)?;
    let status = host.kernel()?.task(task).wire()?.task.status;
    Ok(Done { task_id: task.to_string(), status })
}

pub(crate) fn pause(host: &dyn Host, p: Pause) -> Result<Done, Error> {
    let kernel = host.kernel()?;
    let task = find(host, &p.task)?;
    kernel.pause(task).wire()?;
    driven(host, task)
}

pub(crate) fn resume(host: &dyn Host, p: Resume) -> Result<Done, Error> {
    let kernel = host.kernel()?;
    let task = find(host, &p.task)?;
    kernel.resume(task).wire()?;
    driven(host, task)
}

pub(crate) fn cancel(host: &dyn Host, p: Cancel) -> Result<Done, Error> {
    let kernel = host.kernel()?;
    let task = find(host, &p.task)?;
    kernel.cancel(task, p.reason.as_deref().unwrap_or("cancelled by a person")).wire()?;
    driven(host, task)
}

pub(crate) fn retry(host: &dyn Host, p: Retry) -> Result<Submitted, Error> {
    let kernel = host.kernel()?;
    let task = find(host, &p.task)?;
    let submitted = kernel.retry(task, p.idempotency_key.unwrap_or_else(|| host.fresh_key())).wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

pub(crate) fn note(host: &dyn Host, p: Note) -> Result<Noted, Error> {
    let kernel = host.kernel()?;
    let task: TaskId = find(host, &p.task)?;
    let key = p.idempotency_key.unwrap_or_else(|| host.fresh_key());
    let sender = sender(host, channel(p.channel.as_deref())?);
    let encloses = encloses::named(host, p.quotes.as_deref(), p.passage.as_deref(), &p.encloses, p.spoken)?;
    if super::slash::is_command(&p.text) && sender.tier() == TrustTier::UserAsserted {
        encloses::none_with_a_command(&encloses)?;
    }
    let text = match super::slash::of_task(host, task, &p.text, sender, p.spoken, &key)? {
        Heard::Done(said) => return Ok(commanded(task, *said)),
        Heard::Words(words) => words,
    };
    let note = AddInput { encloses: Some(&encloses), ..AddInput::of(text, sender, &key) };
    let ingress = match p.mode.as_deref() {
        None | Some("steer") => kernel.steer(task, &note),
        Some("queue") => kernel.queue(task, &note),
        Some("stop_and_send") => kernel.stop_and_send(task, &note),
        Some(other) => {
            return Err(crate::usage(format!("there is no mode `{other}`"))
                .hint("there are `steer`, `queue` and `stop_and_send`"));
        }
    };
    let ingress = ingress.wire()?;
    host.drive(task)?;
    Ok(Noted {
        task_id: task.to_string(),
        ingress_id: ingress.to_string(),
        resolution: None,
        told: None,
        made: None,
    })
}

/// What a command came to, as the note that it was written in.
fn commanded(task: TaskId, said: Said) -> Noted {
    let task_id = task.to_string();
    let told = [said.rationale].into_iter().chain(said.told).collect();
    Noted {
        made: said.task_id.filter(|made| *made != task_id),
        task_id,
        ingress_id: said.message_id,
        resolution: Some(said.resolution),
        told: Some(told),
    }
}

pub(crate) fn set_priority(host: &dyn Host, p: SetPriority) -> Result<Done, Error> {
    let kernel = host.kernel()?;
    let task: TaskId = find(host, &p.task)?;
    kernel.set_priority(task, word(&p.priority)?).wire()?;
    driven(host, task)
}

pub(crate) fn edit_goal(host: &dyn Host, p: EditGoal) -> Result<Done, Error> {
    let kernel = host.kernel()?;
    let task: TaskId = find(host, &p.task)?;
    let sender = sender(host, channel(p.channel.as_deref())?);
    kernel.change_goal_heard(task, &p.goal, sender, p.spoken).wire()?;
    driven(host, task)
}

pub(crate) fn answer(host: &dyn Host, p: Answer) -> Result<Done, Error> {
    let kernel = host.kernel()?;
    let task = find(host, &p.task)?;
    let question = match find_opt(host, p.question.as_deref())? {
        Some(question) => question,
        None => only_question(host, task)?,
    };
    let sender = sender(host, channel(p.channel.as_deref())?);
    kernel.answer_heard(task, question, &p.text, sender, p.spoken).wire()?;
    driven(host, task)
}

pub(crate) fn settle(host: &dyn Host, p: Settle) -> Result<Done, Error> {
    let kernel = host.kernel()?;
    let task = find(host, &p.task)?;
    let signed = signed(kernel, p.signed.as_ref())?;
    kernel.resolve_signed(task, word(&p.result)?, &p.note, signed.as_ref()).wire()?;
    driven(host, task)
}

/// What a person signed, under the approval key in force: a signature of another key is nobody's.
pub(crate) fn signed(
    kernel: &kernel::Kernel,
    given: Option<&wire::PersonSigned>,
) -> Result<Option<Signed>, Error> {
    let Some(given) = given else { return Ok(None) };
    let keys = kernel.store_state().keys;
    let (_, key) = *keys
        .get(&model::body::KeyPurpose::Approval)
        .ok_or_else(|| usage("this store has no approval key, so nobody can have signed for it"))?;
    let signature = given.signature.parse::<seal::Signature>().wire()?;
    Ok(Some(Signed { text: given.text.clone().into_bytes(), signature, key }))
}
