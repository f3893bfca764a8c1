//! Exactly what was sent to a model, and what came back.

use crate::convert::{every, opt_text, to_base64};
use crate::error::if_kept;
use crate::ids::find;
use crate::{Host, Wire as _, not_found, usage};
use model::{ArtifactId, TaskId};
use projections::rows::{AttemptRow, IterationRow};
use wire::Error;
use wire::context::{Context, Sent, Show, Shown, Turn};

pub(crate) fn show(host: &dyn Host, p: Show) -> Result<Context, Error> {
    let task: TaskId = find(host, &p.task)?;
    let query = host.query()?;
    if query.task(task).wire()?.is_none() {
        return Err(not_found("task", &p.task));
    }
    let attempts = every(|ask| query.attempts(task, ask))?;
    let chosen =
        match p.attempt {
            None => attempts.last(),
            Some(number) => Some(attempts.iter().find(|a| a.attempt_no == number).ok_or_else(|| {
                usage(format!("`{task}` has no attempt {number}; it has {}", attempts.len()))
            })?),
        };
    let only = if p.attempt.is_some() || p.iteration.is_some() { chosen.map(|a| a.attempt_id) } else { None };
    let turns = every(|ask| query.iterations(task, only, ask))?;
    let shown = match (p.iteration, chosen) {
        (None, _) => None,
        (Some(number), None) => {
            return Err(usage(format!("`{task}` has no attempt yet, so no turn {number}")));
        }
        (Some(number), Some(attempt)) => Some(shown(host, &turns, attempt, number)?),
    };
    let turns = turns.iter().map(|r| turn(r, &attempts)).collect();
    Ok(Context { task_id: task.to_string(), turns, shown })
}

fn turn(r: &IterationRow, attempts: &[AttemptRow]) -> Turn {
    Turn {
        attempt_id: r.attempt_id.to_string(),
        attempt: attempts.iter().find(|a| a.attempt_id == r.attempt_id).map_or(0, |a| a.attempt_no),
        iteration: r.iteration,
        provider: r.provider.clone(),
        model: r.model.clone(),
        remote: r.remote,
        pack_tokens: r.pack_tokens,
        pack_items: r.pack_items,
        pack_omissions: r.pack_omissions,
        tokens_in: r.tokens_in,
        tokens_out: r.tokens_out,
        cost_micros: r.cost_micros,
        finish_reason: r.finish_reason.clone(),
        rejections: r.rejections,
        tool: r.tool.clone(),
        summary: opt_text(r.summary.as_ref()),
        error: opt_text(r.error.as_ref().or(r.trouble.as_ref())),
        completed_at: r.completed_at.map(|at| at.0),
    }
}

fn shown(host: &dyn Host, turns: &[IterationRow], attempt: &AttemptRow, number: u32) -> Result<Shown, Error> {
    let of = turns.iter().find(|t| t.attempt_id == attempt.attempt_id && t.iteration == number);
    let of = of.ok_or_else(|| {
        usage(format!("attempt {} has no turn {number}; it has {}", attempt.attempt_no, attempt.iterations))
    })?;
    Ok(Shown {
        attempt: attempt.attempt_no,
        iteration: number,
        pack: sent(host, of.pack_ref)?,
        request: sent(host, of.request_ref)?,
        response: sent(host, of.response_ref)?,
    })
}

fn sent(host: &dyn Host, artifact: Option<ArtifactId>) -> Result<Option<Sent>, Error> {
    let Some(id) = artifact else { return Ok(None) };
    let row = host.query()?.artifact(id).wire()?.ok_or_else(|| not_found("artifact", &id.to_string()))?;
    let bytes = if_kept(host.artifacts()?.read(&row.content_hash))?.map(|bytes| to_base64(&bytes));
    Ok(Some(Sent {
        artifact_id: id.to_string(),
        sha256: row.content_hash.to_string(),
        byte_size: row.byte_size,
        bytes,
    }))
}
