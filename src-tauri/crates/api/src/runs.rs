//! The run API over kernel and journal (run-api.md): runs are tasks, seen as their life. It owns nothing: no queue, no
//! flag, no waiting; what it is asked it asks the kernel.

mod control;
mod look;
mod start;
mod stream;
mod tools;

pub use control::{approval, cancel, goal, message, respond};
pub(crate) use look::is_interrupted;
pub use look::{capabilities, session_runs, status};
pub use runstream::Position;
pub use start::start;
pub(crate) use stream::under_way;
pub use stream::{Follow, Journal, Part, page};
pub use tools::{
    propose as propose_tools, registered as registered_tools, remove as remove_tools, shown as shown_tools,
};

use crate::{Host, Wire as _};
use model::task::ModelChoice;
use model::{ConversationId, TaskId};
use projections::RunStatus;
use projections::rows::TaskRow;
use serde_json::Value;
use wire::Error;

/// Controls that would be accepted of a run that stands so, and that hears words or does not.
pub fn controls(status: RunStatus, hears_words: bool) -> Vec<String> {
    let more: &[&str] = match status {
        RunStatus::Queued => &["cancel", "messages", "goal"],
        RunStatus::Running => &["cancel", "messages", "goal", "pause"],
        RunStatus::AwaitingApproval => &["cancel", "messages", "goal", "pause", "approval"],
        RunStatus::AwaitingClarify => &["cancel", "messages", "goal", "pause", "clarify"],
        RunStatus::Paused => &["cancel", "messages", "goal", "resume"],
        RunStatus::Cancelling
        | RunStatus::Cancelled
        | RunStatus::Failed
        | RunStatus::Completed
        | RunStatus::Expired => &[],
    };
    let offered = |control: &&&str| hears_words || !["messages", "goal"].contains(*control);
    ["observe", "status"].iter().chain(more).filter(offered).map(|control| (*control).to_owned()).collect()
}

/// What stands in the place of a URL for a model in the box, and begins its address.
pub(crate) const IN_BOX: &str = "box:";

/// Who proposes, in a line.
pub fn model_name(model: &ModelChoice) -> String {
    match model {
        ModelChoice::Playbook { name, .. } => format!("playbook:{name}"),
        // A model in the box has no server, and the digest of its weights in its name.
        ModelChoice::Openai { base_url, model, .. } if base_url == IN_BOX => format!("{IN_BOX}{model}"),
        ModelChoice::Openai { api, base_url, model, .. } => format!("{api}:{base_url}#{model}"),
        ModelChoice::Recorded { artifact_id } => format!("recorded:{artifact_id}"),
        ModelChoice::Rollback { receipt_id, also } if also.is_empty() => format!("the undo of {receipt_id}"),
        ModelChoice::Rollback { also, .. } => {
            format!("the undo of {} receipts", also.len().saturating_add(1))
        }
        ModelChoice::Tools { .. } => "Hermit itself".to_owned(),
        ModelChoice::Scripted { name } => format!("scripted:{name}"),
        ModelChoice::Session { client, version } => format!("session:{client} {version}"),
        ModelChoice::Guest { guest, .. } => format!("guest:{guest}"),
    }
}

/// A run by its whole identifier; none when there is no such thing.
fn found(host: &dyn Host, run_id: &str) -> Result<Option<TaskRow>, Error> {
    let Ok(run) = run_id.parse::<TaskId>() else { return Ok(None) };
    host.query()?.task(run).wire()
}

/// The name that a client gave a session, or ours.
fn session_name(host: &dyn Host, id: ConversationId) -> Result<String, Error> {
    Ok(host.kernel()?.name_of_conversation(id).wire()?.unwrap_or_else(|| id.to_string()))
}

fn known(host: &dyn Host, run_id: &str) -> Result<TaskRow, Error> {
    found(host, run_id)?.ok_or_else(|| crate::not_found("run", run_id))
}

/// A body's shape, or which field does not fit.
fn body<T: serde::de::DeserializeOwned>(about: &str, given: Value) -> Result<T, Error> {
    let given = if given.is_null() { serde_json::json!({}) } else { given };
    serde_json::from_value(given).map_err(|e| crate::call::misfit(about, &e.to_string()))
}

#[allow(clippy::cast_precision_loss, reason = "milliseconds of this millennium are far below 2^53")]
fn seconds(ms: i64) -> f64 {
    ms as f64 / 1000.0
}
