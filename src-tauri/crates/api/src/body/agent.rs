//! Agents of other programs: the task that their calls belong to, and their calls, one turn each.

use crate::caller::sender;
use crate::convert::{every, opt_word};
use crate::files::absolute;
use crate::ids::find;
use crate::{Host, Stands, Wire as _, usage};
use kernel::command::submit::{Reasoning, Submission};
use kernel::state::RefusedBy;
use kernel::{CallResult, CallStanding, Proposed, Taken};
use model::ingress::Channel;
use model::policy::Profile;
use model::task::{Budget, ModelChoice, TaskContract, TaskStatus};
use model::{TaskId, WorkspaceId};
use projections::query::TaskFilter;
use std::path::Path;
use std::time::Duration;
use wire::Error;
use wire::agent::{Call, Called, Open, Opened, Stop, ToolList, ToolSpec, Tools};
use words::task::CallStatus;

/// Bytes of what a program calls itself.
const CLIENT_BYTES_MAX: usize = 64;
/// How long a call is waited for at most.
const WAIT_MS_MAX: u64 = 2_000;
/// How often a task that came to rest is driven again for a call.
const TAKEN_UP_MAX: usize = 4;
/// What a session may spend: it is led from outside, and a person's stop ends it, not the hour.
const WALL_MS_MAX: i64 = 30 * 24 * 3600 * 1000;

const OPEN: [TaskStatus; 5] =
    [TaskStatus::Created, TaskStatus::Ready, TaskStatus::Running, TaskStatus::Blocked, TaskStatus::Paused];

pub(crate) fn open(host: &dyn Host, p: Open) -> Result<Opened, Error> {
    let (client, version) = (name("client", &p.client)?, p.version.trim());
    if !version.is_empty() {
        name("version", version)?;
    }
    let kernel = host.kernel()?;
    let profile = opt_word(p.profile.as_deref())?.unwrap_or(Profile::LocalEditAllowed);
    let root = host.workspace(&absolute("workspace", &p.workspace)?)?;
    let workspace_id = kernel.workspace(&root).wire()?;
    let model = ModelChoice::Session { client: client.to_owned(), version: version.to_owned() };
    let told = |task_id: TaskId, again| Opened {
        task_id: task_id.to_string(),
        workspace: root.to_string_lossy().into_owned(),
        profile: profile.to_string(),
        again,
    };
    if let Some(task_id) = at_work(host, &model, workspace_id, profile)? {
        host.drive(task_id)?;
        return Ok(told(task_id, true));
    }
    let goal =
        format!("Do what {} asks for, call by call, in {}", who(client, version), root.to_string_lossy());
    let reasoning = Reasoning::Session { client: client.to_owned(), version: version.to_owned() };
    let key = p.idempotency_key.unwrap_or_else(|| host.fresh_key());
    let submission = Submission {
        title: format!("{} in {}", who(client, version), folder(&root)),
        profile,
        budget: Budget { wall_ms_max: WALL_MS_MAX, ..Budget::default() },
        by: Some(sender(host, Channel::Mcp).by),
        ..Submission::of(goal, workspace_id, reasoning, Channel::Mcp, key)
    };
    let submitted = kernel.submit(&submission).wire()?;
    host.drive(submitted.task_id)?;
    Ok(told(submitted.task_id, submitted.duplicate))
}

fn who(client: &str, version: &str) -> String {
    format!("{client} {version}").trim_end().to_owned()
}

fn folder(root: &Path) -> String {
    root.file_name().unwrap_or(root.as_os_str()).to_string_lossy().into_owned()
}

fn name<'n>(field: &str, text: &'n str) -> Result<&'n str, Error> {
    let text = text.trim();
    if text.is_empty() || text.len() > CLIENT_BYTES_MAX || text.chars().any(char::is_control) {
        return Err(usage(format!("`{field}` is a line of 1 to {CLIENT_BYTES_MAX} bytes")));
    }
    Ok(text)
}

/// The open task of the same program in the same folder under the same profile.
fn at_work(
    host: &dyn Host,
    model: &ModelChoice,
    workspace: WorkspaceId,
    profile: Profile,
) -> Result<Option<TaskId>, Error> {
    let query = host.query()?;
    let filter = TaskFilter { statuses: OPEN.to_vec(), ..TaskFilter::default() };
    for row in every(|ask| query.tasks(&filter, ask))? {
        if row.channel != Channel::Mcp || row.profile != profile || row.workspace_id != Some(workspace) {
            continue;
        }
        let Some(artifact) = query.artifact(row.contract_ref).wire()? else { continue };
        let Ok(bytes) = host.artifacts()?.read(&artifact.content_hash) else { continue };
        if serde_json::from_slice::<TaskContract>(&bytes).is_ok_and(|contract| contract.model == *model) {
            return Ok(Some(row.task_id));
        }
    }
    Ok(None)
}

pub(crate) fn tools(host: &dyn Host, p: Tools) -> Result<ToolList, Error> {
    let spec = |spec: model::proposal::ToolSpec| ToolSpec {
        name: spec.name,
        description: spec.description,
        parameters: spec.parameters,
    };
    let kernel = host.kernel()?;
    let workspace = match p.workspace {
        Some(workspace) => {
            let root = host.workspace(&absolute("workspace", &workspace)?)?;
            // Whoever only looks leaves nothing: a folder is registered with the first act that is proposed there.
            kernel.known_workspace(&root)
        }
        None => None,
    };
    let passed_on = kernel.passed_on(workspace).wire()?;
    Ok(ToolList { tools: kernel.tools().into_iter().chain(passed_on).map(spec).collect() })
}

pub(crate) fn call(host: &dyn Host, p: Call) -> Result<Called, Error> {
    let task = find(host, &p.task)?;
    let kernel = host.kernel()?;
    let status = kernel.task(task).wire()?.task.status;
    if status.is_terminal() && p.key.is_none() {
        return Ok(of_standing(String::new(), CallStanding::Ended(status)));
    }
    let proposed = Proposed { key: p.key.as_deref(), tool: &p.tool, arguments: &p.arguments, seen: &p.seen };
    let key = match kernel.propose(task, &proposed).wire()? {
        Taken::As(key) => key,
        Taken::Behind { tool, key } => {
            let text = format!(
                "nothing of this call was taken: your call of `{tool}` is still at work. Make that call again, word for \
                 word, until it is over; then make this one"
            );
            return Ok(Called { text: vec![text], is_error: true, ..bare(key, CallStatus::Behind) });
        }
    };
    host.drive(task)?;
    let mut patience = Duration::from_millis(p.wait_ms.unwrap_or(WAIT_MS_MAX).min(WAIT_MS_MAX));
    let mut stands = host.stands(task, patience)?;
    for _ in 0..TAKEN_UP_MAX {
        let standing = kernel.standing_of_call(task, &key).wire()?;
        let (status, text) = match (&standing, stands) {
            (CallStanding::Working, Stands::KeyLocked) => (
                CallStatus::KeyLocked,
                "Hermit's keys are locked; a person opens them with `hermit unlock`. Then make this call again",
            ),
            (CallStanding::Working, Stands::Halted) => (
                CallStatus::Halted,
                "Hermit is halted; only a person lets it work again, with `hermit boot`. Then make this call again",
            ),
            (CallStanding::Working, Stands::Broke(error)) => return Err(error),
            // It came to rest before this call was taken up.
            (CallStanding::Working, Stands::AtRest) => {
                host.drive(task)?;
                patience /= 2;
                stands = host.stands(task, patience)?;
                continue;
            }
            _ => return Ok(of_standing(key, standing)),
        };
        return Ok(Called { text: vec![text.to_owned()], ..bare(key, status) });
    }
    Ok(of_standing(key, CallStanding::Working))
}

pub(crate) fn stop(host: &dyn Host, p: Stop) -> Result<Called, Error> {
    let task = find(host, &p.task)?;
    let kernel = host.kernel()?;
    kernel.stop_call(task, &p.key).wire()?;
    let standing = kernel.standing_of_call(task, &p.key).wire()?;
    Ok(of_standing(p.key, standing))
}

fn bare(key: String, status: CallStatus) -> Called {
    Called {
        status,
        key,
        text: Vec::new(),
        said: Vec::new(),
        is_error: false,
        summary: String::new(),
        receipt_id: None,
        approval_id: None,
        clarification_id: None,
    }
}

const AGAIN: &str = "Make the same call again, word for word, to go on; nothing is done twice";

fn of_standing(key: String, standing: CallStanding) -> Called {
    let told = |status, text: String| Called { text: vec![text], ..bare(key.clone(), status) };
    match standing {
        CallStanding::Over(came) => over(key, *came),
        CallStanding::Approval { approval_id, summary } => Called {
            approval_id: Some(approval_id.to_string()),
            summary: summary.clone(),
            ..told(
                CallStatus::AwaitingApproval,
                format!(
                    "a person has to allow this, and sees exactly what would change: {summary}. They are asked in Hermit \
                     (`hermit approvals approve {approval_id}`); you cannot answer for them. {AGAIN}"
                ),
            )
        },
        CallStanding::Question(id) => Called {
            clarification_id: Some(id.to_string()),
            ..told(
                CallStatus::AwaitingAnswer,
                format!("a person was asked, and has not answered yet. {AGAIN}"),
            )
        },
        CallStanding::UnknownOutcome => told(
            CallStatus::UnknownOutcome,
            format!("nobody knows whether this has happened; a person looks, and settles it. {AGAIN}"),
        ),
        CallStanding::Paused => told(CallStatus::Paused, format!("a person has paused this. {AGAIN}")),
        CallStanding::Ended(status) => Called {
            is_error: true,
            ..told(CallStatus::Ended, format!("this session is {status}, and nothing of this call was done"))
        },
        CallStanding::Working | CallStanding::Unknown => {
            told(CallStatus::Working, format!("this is at work. {AGAIN}"))
        }
    }
}

fn over(key: String, came: CallResult) -> Called {
    let status = match came.refused {
        Some(RefusedBy::Person) => CallStatus::Refused,
        Some(RefusedBy::Policy) => CallStatus::Denied,
        None => CallStatus::Done,
    };
    Called {
        text: came.texts,
        said: came.said,
        is_error: came.is_error,
        summary: came.summary,
        receipt_id: came.receipt_id.map(|id| id.to_string()),
        ..bare(key, status)
    }
}
