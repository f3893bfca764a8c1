//! Steps by how they stand, over all tasks (HK-8.2, HK-21-2).

use crate::convert::{all, ask, opt, opt_word, text};
use crate::ids::find_opt;
use crate::{Host, Wire as _};
use model::ArtifactId;
use projections::Query;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use wire::task::{StepContract, StepInput, StepList, StepRow, Steps};
use wire::{Error, Text};

pub(crate) fn steps(host: &dyn Host, p: Steps) -> Result<StepList, Error> {
    let task = find_opt(host, p.task.as_deref())?;
    let query = host.query()?;
    let found =
        query.steps(task, opt_word(p.status.as_deref())?, ask(p.after.as_deref(), p.limit)?).wire()?;
    let mut tasks = BTreeMap::new();
    let mut rows = Vec::new();
    for step in &found.rows {
        if let Entry::Vacant(place) = tasks.entry(step.task_id) {
            let Some(row) = query.task(step.task_id).wire()? else { continue };
            let folder = super::task_show::workspace(host, &row)?;
            place.insert((row, folder));
        }
        let Some((row, folder)) = tasks.get(&step.task_id) else { continue };
        rows.push(StepRow {
            step_id: step.step_id.to_string(),
            kind: step.kind,
            title: text(&step.title),
            status: step.status,
            reason: step.reason.clone(),
            depends_on: all(&step.depends_on),
            attempts: step.attempts,
            max_attempts: step.max_attempts,
            created_at: step.created_at.0,
            updated_at: step.updated_at.0,
            task_id: step.task_id.to_string(),
            task_title: text(&row.title),
            run_status: row.run_status,
            priority: row.priority,
            workspace: folder.clone(),
            contract: contract(host, &query, step.contract_ref)?,
        });
    }
    Ok(wire::Page { rows, next: opt(found.next) })
}

/// What a step promises, unless its bytes are gone.
fn contract(host: &dyn Host, query: &Query, at: ArtifactId) -> Result<Option<StepContract>, Error> {
    let Some(artifact) = query.artifact(at).wire()? else { return Ok(None) };
    let bytes = host.artifacts()?.read(&artifact.content_hash).ok();
    let read = bytes.and_then(|bytes| serde_json::from_slice::<model::task::StepContract>(&bytes).ok());
    let Some(read) = read else { return Ok(None) };
    let mut inputs = Vec::new();
    for id in read.expected_inputs {
        let named = query.artifact(id).wire()?.and_then(|row| row.alias);
        inputs.push(StepInput {
            artifact_id: Some(id.to_string()),
            step_id: None,
            title: named.map_or_else(|| Text::Shown("(without a name)".to_owned()), |name| text(&name)),
            leaves: Vec::new(),
        });
    }
    inputs.extend(read.builds_on.into_iter().map(|before| StepInput {
        artifact_id: None,
        step_id: Some(before.step_id.to_string()),
        title: Text::Shown(before.title),
        leaves: before.outputs,
    }));
    Ok(Some(StepContract {
        objective: read.objective,
        inputs,
        leaves: read.expected_outputs,
        done_when: read.success_criteria,
        may: read.allowed_action_classes,
        undo: read.rollback_hint,
    }))
}
