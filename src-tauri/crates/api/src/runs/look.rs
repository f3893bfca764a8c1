//! How runs stand, and what there is.

use super::{controls, known, seconds};
use crate::convert::{all, every, text};
use crate::{Host, Stands, Wire as _};
use model::ConversationId;
use model::approval::ApprovalStatus;
use model::ingress::{Channel, ClarificationStatus};
use model::policy::Profile;
use model::task::{ModelApi, TaskStatus};
use projections::query::{Ask, TaskFilter};
use projections::rows::TaskRow;
use projections::{Query, RunStatus};
use runstream::Family;
use std::time::Duration;
use wire::Error;
use wire::runs::{Capabilities, SessionRun, SessionRuns};

/// Runs that a session's list holds; older ones are found as tasks.
const RUNS_MAX: u32 = 200;

/// `GET /v1/runs/{run_id}`.
///
/// # Errors
/// [`wire::Code::NotFound`].
pub fn status(host: &dyn Host, run_id: &str) -> Result<wire::runs::RunStatus, Error> {
    let row = known(host, run_id)?;
    let journal = host.journal(Some(row.task_id))?;
    // Read once more behind the stream: a status is never older than the event it names.
    let row = known(host, run_id)?;
    let told = || journal.reader.run(row.task_id).map_err(super::stream::of_journal);
    let mut run = told()?;
    if row.status.is_terminal() && run.as_ref().is_none_or(|run| run.ended.is_none()) {
        // It ended in this very moment: its end is told with it.
        drop(host.journal(Some(row.task_id))?);
        run = told()?;
    }
    let query = host.query()?;
    let ended = run.as_ref().and_then(|run| run.ended.as_ref());
    Ok(wire::runs::RunStatus {
        run_id: row.task_id.to_string(),
        session_id: super::session_name(host, row.conversation_id)?,
        status: row.run_status.to_string(),
        last_event_id: run.as_ref().and_then(|run| run.last_event_id.clone()),
        terminal_state: ended.map(|_| row.run_status.to_string()),
        terminal_event: ended.map(serde_json::to_value).transpose().map_err(crate::failed)?,
        active_controls: controls(row.run_status, row.hears_words()),
        pending_approval_id: pending_approval(&query, &row)?,
        pending_clarify_id: pending_question(&query, &row)?,
        interrupted: is_interrupted(host, &row)?,
        answer_check: match ended {
            Some(_) => last_words(host, &query, &row)?,
            None => None,
        },
    })
}

/// What bears each sentence of the last words of a run, where they are a model's.
fn last_words(
    host: &dyn Host,
    query: &Query,
    row: &TaskRow,
) -> Result<Option<wire::answer::AnswerCheck>, Error> {
    let attempts = every(|ask| query.attempts(row.task_id, ask))?;
    let Some(last) = attempts.last().filter(|attempt| attempt.answer_ref.is_some()) else { return Ok(None) };
    crate::body::answer_check::of(host, query, row.task_id, last.attempt_id)
}

/// It should be at work, and nobody works on it (RA 5.1).
pub(crate) fn is_interrupted(host: &dyn Host, row: &TaskRow) -> Result<bool, Error> {
    match row.run_status {
        RunStatus::Queued | RunStatus::Running | RunStatus::Cancelling => {
            // Nobody drives a task that waits for its parts.
            if row.status == TaskStatus::Blocked && host.kernel()?.waits_for_others(row.task_id).wire()? {
                return Ok(false);
            }
            Ok(host.stands(row.task_id, Duration::ZERO)? != Stands::AtWork)
        }
        RunStatus::AwaitingApproval
        | RunStatus::AwaitingClarify
        | RunStatus::Paused
        | RunStatus::Cancelled
        | RunStatus::Failed
        | RunStatus::Completed
        | RunStatus::Expired => Ok(false),
    }
}

pub(super) fn pending_approval(query: &Query, row: &TaskRow) -> Result<Option<String>, Error> {
    if row.open_approvals == 0 {
        return Ok(None);
    }
    let open = query.approvals(Some(row.task_id), Some(ApprovalStatus::Pending), Ask::ALL).wire()?;
    Ok(open.rows.first().map(|approval| approval.approval_id.to_string()))
}

pub(super) fn pending_question(query: &Query, row: &TaskRow) -> Result<Option<String>, Error> {
    if row.open_questions == 0 {
        return Ok(None);
    }
    let open = query.questions(Some(row.task_id), Some(ClarificationStatus::Pending), Ask::ALL).wire()?;
    Ok(open.rows.first().map(|question| question.clarification_id.to_string()))
}

/// `GET /v1/sessions/{session_id}/runs`: a restarted client finds its run here.
///
/// # Errors
/// [`wire::Code::NotFound`].
pub fn session_runs(host: &dyn Host, session_id: &str) -> Result<SessionRuns, Error> {
    let conversation = super::start::session(host, session_id)?;
    let query = host.query()?;
    let filter = TaskFilter { conversation: Some(conversation), ..TaskFilter::default() };
    let rows = query.tasks(&filter, Ask { limit: RUNS_MAX, ..Ask::default() }).wire()?.rows;
    let active = newest_open(&query, conversation)?;
    let run = |row: &TaskRow| {
        Ok(SessionRun {
            run_id: row.task_id.to_string(),
            status: row.run_status.to_string(),
            title: text(&row.title),
            started_at: seconds(row.created_at.0),
            ended_at: row.ended_at.map(|at| seconds(at.0)),
            pending_approval_id: pending_approval(&query, row)?,
            pending_clarify_id: pending_question(&query, row)?,
        })
    };
    Ok(SessionRuns {
        session_id: super::session_name(host, conversation)?,
        active_run_id: active.map(|row| row.task_id.to_string()),
        runs: rows.iter().map(run).collect::<Result<_, Error>>()?,
    })
}

/// The newest run of a session that has not ended.
pub(super) fn active(host: &dyn Host, session_id: &str) -> Result<Option<TaskRow>, Error> {
    let conversation = super::start::session(host, session_id)?;
    newest_open(&host.query()?, conversation)
}

fn newest_open(query: &Query, conversation: ConversationId) -> Result<Option<TaskRow>, Error> {
    let statuses = TaskStatus::ALL.iter().copied().filter(|status| !status.is_terminal()).collect();
    let filter = TaskFilter { statuses, conversation: Some(conversation), ..TaskFilter::default() };
    Ok(query.tasks(&filter, Ask { limit: 1, ..Ask::default() }).wire()?.rows.into_iter().next())
}

/// `GET /v1/capabilities`; `commands` and the two bounds are the gateway's to say.
pub fn capabilities(
    host: &dyn Host,
    commands: &[&str],
    body_bytes_max: usize,
    streams_max: usize,
) -> Capabilities {
    let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let own_words = |channel: &&Channel| matches!(channel, Channel::RunApi | Channel::Mcp | Channel::Webhook);
    let sources = Channel::ALL.iter().filter(own_words);
    Capabilities {
        contract: wire::runs::CONTRACT.to_owned(),
        version: kernel::VERSION.to_owned(),
        commands: own(commands),
        controls: own(&[
            "observe", "status", "cancel", "messages", "goal", "pause", "resume", "approval", "clarify",
        ]),
        statuses: all(RunStatus::ALL.iter()),
        control_statuses: own(&wire::runs::CONTROL_STATUSES),
        event_families: all(Family::ALL.iter()),
        message_modes: own(&super::control::MODES),
        goal_actions: own(&super::control::GOALS),
        slash_commands: all(words::slash::SlashCommand::ALL.iter()),
        approval_choices: own(&["deny"]),
        profiles: all(Profile::ALL.iter()),
        providers: ["playbook", "recorded", "box"]
            .into_iter()
            .chain(ModelApi::ALL.iter().map(|api| api.as_str()))
            .map(str::to_owned)
            .collect(),
        playbooks: host.playbooks().into_iter().map(|playbook| playbook.name).collect(),
        toolsets: own(&[super::start::TOOLSET]),
        sources: all(sources),
        body_bytes_max: body_bytes_max as u64,
        streams_max: streams_max as u64,
    }
}
