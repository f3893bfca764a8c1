//! Controls of a run. Each comes to a bounded result; what is unknown, late or said twice changes nothing and is no
//! error of the server.

use super::start::paths_of;
use super::{body, found, look};
use crate::body::encloses;
use crate::body::slash::{Heard, is_command, makes, of_task};
use crate::body::task::attached;
use crate::{Host, Wire as _};
use kernel::command::add_input::Note;
use kernel::command::approve::Answered;
use model::approval::{ApprovalStatus, Surface};
use model::ingress::{Channel, ClarificationStatus};
use model::task::TaskStatus;
use model::{ApprovalId, ClarificationId, Digest, TaskId};
use projections::rows::TaskRow;
use serde_json::Value;
use wire::runs::{AnswerApproval, CancelRun, ControlResult, Goal, Message, Respond};
use wire::{Error, runs};

/// How a message may be taken.
pub(super) const MODES: [&str; 3] = ["queue", "steer", "stop_and_send"];
/// What may be done to a session's goal.
pub(super) const GOALS: [&str; 6] = ["set", "pause", "resume", "clear", "status", "edit"];

/// What a control came to, before it is told.
enum Came {
    Accepted(&'static str),
    NotActive(String),
    Unsupported(&'static str),
    Conflict(String),
    Expired(&'static str),
}

fn told(host: &dyn Host, run: Option<TaskId>, came: Came) -> Result<ControlResult, Error> {
    let (accepted, status, message) = match came {
        Came::Accepted(message) => (true, 0, message.to_owned()),
        Came::NotActive(message) => (false, 1, message),
        Came::Unsupported(message) => (false, 2, message.to_owned()),
        Came::Conflict(message) => (false, 3, message),
        Came::Expired(message) => (false, 4, message.to_owned()),
    };
    let event_id = match run {
        // A host without a stream has still done what was asked.
        Some(run) => host.journal(Some(run)).ok().and_then(|journal| journal.reader.run(run).ok().flatten()),
        None => None,
    };
    Ok(ControlResult {
        accepted,
        status: runs::CONTROL_STATUSES.get(status).copied().unwrap_or_default().to_owned(),
        event_id: event_id.and_then(|run| run.last_event_id),
        ok: accepted,
        message: message.clone(),
        safe_message: message,
    })
}

fn no_run(host: &dyn Host) -> Result<ControlResult, Error> {
    told(host, None, Came::NotActive("there is no such run".to_owned()))
}

fn over(row: &TaskRow) -> Came {
    Came::NotActive(format!("the run is {} already", row.run_status))
}

/// What the kernel says no to is a conflict that a person can read; anything else is a failure of ours.
fn refused<T>(done: Result<T, kernel::Error>, accepted: &'static str) -> Result<Came, Error> {
    use kernel::Error as E;
    match done {
        Ok(_) => Ok(Came::Accepted(accepted)),
        Err(E::Conflict(why)) => Ok(Came::Conflict(why)),
        Err(E::Refused(refusal)) => Ok(Came::Conflict(refusal.reason)),
        Err(E::Halted) => Ok(Came::Conflict("Hermit is halted until a person boots it".to_owned())),
        Err(E::KeyLocked(_)) => {
            Ok(Came::Conflict("a key is locked; a person opens it at the host".to_owned()))
        }
        // What cannot be used is said in words that are meant for whoever asked.
        Err(E::Input(why)) => Err(crate::usage(why)),
        Err(E::NotFound { .. }) => Ok(Came::NotActive("there is no such thing any more".to_owned())),
        Err(error) => Err(crate::of_kernel(error)),
    }
}

/// `POST /v1/runs/{run_id}/cancel`.
///
/// # Errors
/// [`wire::Code::UnknownField`], and what the store says.
pub fn cancel(host: &dyn Host, run_id: &str, given: Value) -> Result<ControlResult, Error> {
    let CancelRun {} = body("cancel", given)?;
    let Some(row) = found(host, run_id)? else { return no_run(host) };
    let run = row.task_id;
    if row.status.is_terminal() {
        return told(host, Some(run), over(&row));
    }
    if row.cancel_requested {
        return told(host, Some(run), Came::NotActive("the run is being cancelled already".to_owned()));
    }
    let came = refused(host.kernel()?.cancel(run, "cancelled over the run API"), "the run will end")?;
    host.drive(run)?;
    told(host, Some(run), came)
}

/// `POST /v1/runs/{run_id}/approval`. A deny is taken; nothing that comes this way can grant (governance.md 2).
///
/// # Errors
/// As [`cancel`].
pub fn approval(host: &dyn Host, run_id: &str, given: Value) -> Result<ControlResult, Error> {
    let asked: AnswerApproval = body("approval", given)?;
    let Some(row) = found(host, run_id)? else { return no_run(host) };
    let run = row.task_id;
    let id = asked.approval_id.parse::<ApprovalId>().ok();
    let query = host.query()?;
    let known = id.map(|id| query.approval(id).wire()).transpose()?.flatten();
    let Some(known) = known.filter(|known| known.task_id == run) else {
        return told(host, Some(run), Came::NotActive("this run has no such approval".to_owned()));
    };
    match known.status {
        ApprovalStatus::Pending if known.expires_at <= host.now() => {
            return told(host, Some(run), Came::Expired("the approval has expired"));
        }
        ApprovalStatus::Pending => {}
        ApprovalStatus::Expired => return told(host, Some(run), Came::Expired("the approval has expired")),
        other => {
            return told(host, Some(run), Came::NotActive(format!("the approval is {other} already")));
        }
    }
    if asked.choice != "deny" {
        let why = "only a person on a native surface can allow; the approval still waits";
        return told(host, Some(run), Came::Unsupported(why));
    }
    let kernel = host.kernel()?;
    let came = match kernel.deny_approval(run, known.approval_id, Surface::RunApi, None) {
        Ok(Answered::NotActive { status, .. }) => {
            Came::NotActive(format!("the approval is {status} already"))
        }
        other => refused(other, "the approval is denied")?,
    };
    host.drive(run)?;
    told(host, Some(run), came)
}

/// `POST /v1/runs/{run_id}/clarifications/{clarify_id}/respond`.
///
/// # Errors
/// As [`cancel`].
pub fn respond(
    host: &dyn Host,
    run_id: &str,
    clarify_id: &str,
    given: Value,
) -> Result<ControlResult, Error> {
    let asked: Respond = body("respond", given)?;
    let Some(row) = found(host, run_id)? else { return no_run(host) };
    let run = row.task_id;
    let id = clarify_id.parse::<ClarificationId>().ok();
    let query = host.query()?;
    let known = id.map(|id| query.question(id).wire()).transpose()?.flatten();
    let Some(known) = known.filter(|known| known.task_id == run) else {
        return told(host, Some(run), Came::NotActive("this run has no such question".to_owned()));
    };
    match known.status {
        ClarificationStatus::Pending if known.expires_at <= host.now() => {
            return told(host, Some(run), Came::Expired("the question has expired"));
        }
        ClarificationStatus::Pending => {}
        ClarificationStatus::Expired => {
            return told(host, Some(run), Came::Expired("the question has expired"));
        }
        other => {
            return told(host, Some(run), Came::NotActive(format!("the question is {other} already")));
        }
    }
    let kernel = host.kernel()?;
    let done =
        kernel.answer_heard(run, known.clarification_id, &asked.response, Channel::RunApi, asked.spoken);
    let came = refused(done, "the answer is taken")?;
    host.drive(run)?;
    told(host, Some(run), came)
}

/// `POST /v1/runs/{run_id}/messages`. The same message is taken once until the run has taken it up; with a key from
/// the header `Idempotency-Key` once for ever.
///
/// # Errors
/// [`wire::Code::Usage`] for an empty message or an unknown mode; as [`cancel`].
pub fn message(
    host: &dyn Host,
    run_id: &str,
    given: Value,
    key: Option<String>,
) -> Result<ControlResult, Error> {
    let mut asked: Message = body("messages", given)?;
    if !MODES.contains(&asked.mode.as_str()) {
        return Err(crate::usage(format!("there is no mode `{}`", asked.mode))
            .hint(format!("there are `{}`", MODES.join("`, `"))));
    }
    if asked.message.trim().is_empty() {
        return Err(crate::usage("the message is empty"));
    }
    let paths = paths_of(host, &mut asked.attachments)?;
    if is_command(&asked.message) && (!paths.is_empty() || asked.quotes.is_some()) {
        return Err(encloses::with_a_command());
    }
    let Some(row) = found(host, run_id)? else { return no_run(host) };
    let run = row.task_id;
    let kernel = host.kernel()?;
    let key = match key {
        Some(key) => key,
        // Where a command stands for a state, the state tells whether it is done; it may be wanted again.
        None if is_command(&asked.message) && !makes(&asked.message) => host.fresh_key(),
        None => {
            let state = kernel.task(run).wire()?;
            let with = format!("{:?}{:?}{:?}", paths, asked.quotes, asked.passage);
            let digest = Digest::of(format!("{}\n{}\n{with}", asked.mode, asked.message).as_bytes());
            format!("message:{run}:{}:{digest}", state.absorbed.len())
        }
    };
    let text = match of_task(host, run, &asked.message, Channel::RunApi.into(), asked.spoken, &key) {
        Ok(Heard::Done(said)) => return obeyed(host, run, &said),
        Ok(Heard::Words(words)) => words,
        Err(error) if error.code == wire::Code::Conflict => {
            return told(host, Some(run), Came::Conflict(error.message));
        }
        Err(error) => return Err(error),
    };
    if row.status.is_terminal() {
        return told(host, Some(run), over(&row));
    }
    if row.cancel_requested {
        return told(host, Some(run), Came::Conflict("the run is being cancelled".to_owned()));
    }
    let mut encloses =
        encloses::named(host, asked.quotes.as_deref(), asked.passage.as_deref(), &[], asked.spoken)?;
    encloses.files = attached(host, &paths, Channel::RunApi.into())?;
    let note = Note { encloses: Some(&encloses), ..Note::of(text, Channel::RunApi, &key) };
    let came = match asked.mode.as_str() {
        "queue" => refused(kernel.queue(run, &note), "it is queued; the run takes it up when it is done")?,
        "steer" => refused(kernel.steer(run, &note), "the run takes it up at its next turn")?,
        _ => refused(
            kernel.stop_and_send(run, &note),
            "what it was at has ended; it begins anew with your message",
        )?,
    };
    host.drive(run)?;
    told(host, Some(run), came)
}

/// What a command behind a slash came to: what it tells, and the run that it made.
fn obeyed(host: &dyn Host, run: TaskId, said: &wire::conversations::Said) -> Result<ControlResult, Error> {
    let mut lines = vec![said.rationale.clone()];
    lines.extend(said.told.iter().cloned());
    lines.extend(
        said.task_id.iter().filter(|made| **made != run.to_string()).map(|made| format!("run {made}")),
    );
    let message = lines.join("\n");
    let came = told(host, Some(run), Came::Accepted("done"))?;
    Ok(ControlResult { message: message.clone(), safe_message: message, ..came })
}

/// `POST /v1/sessions/{session_id}/goal`, about the newest run of the session that has not ended.
///
/// # Errors
/// [`wire::Code::Usage`] for an unknown action; as [`cancel`].
pub fn goal(host: &dyn Host, session_id: &str, given: Value) -> Result<ControlResult, Error> {
    let asked: Goal = body("goal", given)?;
    if !GOALS.contains(&asked.action.as_str()) {
        return Err(crate::usage(format!("there is no action `{}`", asked.action))
            .hint(format!("there are `{}`", GOALS.join("`, `"))));
    }
    if matches!(asked.action.as_str(), "set" | "edit")
        && asked.text.as_deref().is_none_or(|text| text.trim().is_empty())
    {
        return Err(crate::usage(format!("`{}` needs a `text`", asked.action)));
    }
    let active = match look::active(host, session_id) {
        Err(error) if error.code == wire::Code::NotFound => {
            return told(host, None, Came::NotActive("there is no such session".to_owned()));
        }
        other => other?,
    };
    let Some(row) = active else {
        let none = Came::NotActive("no run of this session is open; start one with its goal".to_owned());
        return told(host, None, none);
    };
    let (run, kernel) = (row.task_id, host.kernel()?);
    let said = asked.text.as_deref().map(str::trim);
    let came = match asked.action.as_str() {
        "status" => {
            let message = format!("{}: {}", row.run_status, crate::convert::text(&row.goal));
            return told(host, Some(run), Came::Accepted("ok")).map(|told| ControlResult {
                message: message.clone(),
                safe_message: message,
                ..told
            });
        }
        // What the ceiling of a day paused would go on with the next one; what a person pauses does not.
        "pause" if row.status == TaskStatus::Paused && row.reason == "day_ceiling" => {
            refused(kernel.pause(run), "it stays paused until it is resumed")?
        }
        "pause" if row.status == TaskStatus::Paused => Came::Accepted("it is paused already"),
        "pause" => refused(kernel.pause(run), "it pauses at its next boundary")?,
        "resume" if row.status != TaskStatus::Paused => Came::Accepted("it is not paused"),
        "resume" => refused(kernel.resume(run), "it goes on")?,
        "clear" if row.cancel_requested => Came::Accepted("it is being cleared already"),
        "clear" => {
            refused(kernel.cancel(run, "its goal was cleared"), "the goal is cleared, and its run ends")?
        }
        "edit" => {
            let text = asked.text.as_deref().unwrap_or_default();
            match kernel.change_goal_heard(run, text, Channel::RunApi, asked.spoken) {
                Ok(false) => Came::Accepted("that is its goal already"),
                done => refused(done, "its goal is edited; the run hears it at its next turn")?,
            }
        }
        "set" if said.is_some() && said == row.goal.shown().map(String::as_str).map(str::trim) => {
            Came::Accepted("that is its goal already")
        }
        _ => Came::Conflict("this session has an open goal; edit or clear it first".to_owned()),
    };
    host.drive(run)?;
    told(host, Some(run), came)
}
