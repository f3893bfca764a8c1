//! Exactly what was sent to a model, and what came back.

use crate::convert::{every, opt_text, to_base64};
use crate::error::if_kept;
use crate::ids::find;
use crate::{Host, Wire as _, not_found, usage};
use model::artifact::ArtifactKind;
use model::{ArtifactId, EventId, TaskId};
use projections::query::ArtifactFilter;
use projections::rows::{ArtifactRow, AttemptRow, IterationRow};
use std::collections::{BTreeMap, BTreeSet};
use wire::context::{
    Compact, Compacted, Context, ContextSummary, Sent, Show, Shown, StoodFor, Summary, SummaryLine, Turn,
};
use wire::{Code, Error};

/// Events read at once.
const STRIDE: usize = 500;

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

pub(crate) fn compact(host: &dyn Host, p: Compact) -> Result<Compacted, Error> {
    let task: TaskId = find(host, &p.task)?;
    let made = host.kernel()?.compact(task, true).wire()?;
    let (through, results, lines) = made.as_ref().map_or((0, 0, 0), |m| (m.through, m.results, m.lines));
    let artifact_id = made.map(|made| made.summary.artifact_id.to_string());
    Ok(Compacted { task_id: task.to_string(), artifact_id, through, results, lines })
}

pub(crate) fn summary(host: &dyn Host, p: Summary) -> Result<ContextSummary, Error> {
    let task: TaskId = find(host, &p.task)?;
    let query = host.query()?;
    if query.task(task).wire()?.is_none() {
        return Err(not_found("task", &p.task));
    }
    let kind = Some(ArtifactKind::ContextSummary);
    let filter = ArtifactFilter { task: Some(task), kind, ..ArtifactFilter::default() };
    let made: Vec<ArtifactRow> = every(|ask| query.artifacts(&filter, ask))?;
    let row = match p.artifact.as_deref().map(|named| find::<ArtifactId>(host, named)).transpose()? {
        // The one in force is of the attempt at work; those of attempts before are named outright.
        None => {
            let now = every(|ask| query.attempts(task, ask))?.last().map(|attempt| attempt.attempt_id);
            let own = made.into_iter().filter(|row| row.produced_by == now);
            own.max_by_key(|row| (row.created_at, row.artifact_id))
        }
        Some(named) => made.into_iter().find(|row| row.artifact_id == named),
    };
    let none = || {
        Error::new(Code::NotFound, format!("no summary stands in the context of `{task}`")).hint(
            "there is one when a context has become too full for all that was seen: `hermit task compact`",
        )
    };
    let row = row.ok_or_else(none)?;
    let gone = || Error::new(Code::NotFound, "the summary was erased");
    let bytes = if_kept(host.artifacts()?.read(&row.content_hash))?.ok_or_else(gone)?;
    let summary: model::context::ContextSummary = serde_json::from_slice(&bytes).map_err(crate::failed)?;
    let named: BTreeSet<EventId> =
        summary.lines.iter().flat_map(|line| line.events.iter().copied()).collect();
    let events = stood_for(host, task, named)?;
    let line = |line: model::context::SummaryLine| SummaryLine {
        kind: line.kind,
        iteration: line.iteration,
        text: line.text,
        events: line.events.iter().filter_map(|event| events.get(event).cloned()).collect(),
        artifact_id: line.artifact_id.map(|id| id.to_string()),
    };
    Ok(ContextSummary {
        task_id: task.to_string(),
        artifact_id: row.artifact_id.to_string(),
        sha256: row.content_hash.to_string(),
        made_at: row.created_at.0,
        through: summary.through,
        results: summary.results,
        trust: summary.trust_tier,
        lines: summary.lines.into_iter().map(line).collect(),
        left_out: summary.left_out,
        before: summary.before.map(|before| before.artifact_id.to_string()),
        retold_by: summary.retold.map(|retold| retold.model),
    })
}

/// Where these events of a task stand in its log.
fn stood_for(
    host: &dyn Host,
    task: TaskId,
    mut named: BTreeSet<EventId>,
) -> Result<BTreeMap<EventId, StoodFor>, Error> {
    let reader = host.reader()?;
    let (mut found, mut after) = (BTreeMap::new(), 0);
    while !named.is_empty() {
        let page = reader.events(task, after, STRIDE).map_err(crate::of_ledger)?;
        let Some(last) = page.last() else { break };
        after = last.task_seq;
        for stored in &page {
            let event = stored.event().map_err(crate::of_ledger)?;
            if named.remove(&event.event_id) {
                let (event_id, seq) = (event.event_id.to_string(), stored.task_seq);
                found.insert(event.event_id, StoodFor { event_id, seq, event_type: event.event_type });
            }
        }
    }
    Ok(found)
}
