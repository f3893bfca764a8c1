//! What models cost: each settled call by its model, and what is set aside for those that are not settled.

use super::Seen;
use crate::Error;
use crate::rows::{AskingRow, NewAsking, NewSpent};
use model::TaskId;
use model::body::{Body, BudgetSettled};

pub(super) fn fold(seen: &Seen<'_>, body: &Body) -> Result<(), Error> {
    match body {
        Body::BudgetReserved(b) => asking(seen, b.about_task_id, |row| row.cost_micros = b.cost_micros),
        Body::ModelRequested(b) => asked(seen, &b.provider, &b.model),
        Body::SamplingRequested(b) => asked(seen, &b.provider, &b.model),
        Body::BudgetSettled(b) => settled(seen, b),
        // Nobody settles what got no answer: nothing of it is set aside any more.
        Body::ModelFailed(_) | Body::RunTerminated(_) => let_go(seen, seen.event.task_id),
        Body::TaskStatusChanged(b) if b.to.is_terminal() => let_go(seen, b.about_task_id),
        _ => Ok(()),
    }
}

fn asking(seen: &Seen<'_>, task_id: TaskId, with: impl Fn(&mut AskingRow)) -> Result<(), Error> {
    let (provider, model) = (String::new(), String::new());
    if seen.change((task_id,), |row: &mut AskingRow| with(row))?.is_none() {
        seen.add(NewAsking { task_id, provider, model, cost_micros: 0 })?;
        seen.set((task_id,), |row: &mut AskingRow| with(row))?;
    }
    Ok(())
}

fn asked(seen: &Seen<'_>, provider: &str, model: &str) -> Result<(), Error> {
    asking(seen, seen.event.task_id, |row| {
        provider.clone_into(&mut row.provider);
        model.clone_into(&mut row.model);
    })
}

fn let_go(seen: &Seen<'_>, task_id: TaskId) -> Result<(), Error> {
    seen.set((task_id,), |row: &mut AskingRow| row.cost_micros = 0)
}

fn settled(seen: &Seen<'_>, b: &BudgetSettled) -> Result<(), Error> {
    let taken = seen.change((b.about_task_id,), |row: &mut AskingRow| {
        row.cost_micros = 0;
        (row.provider.clone(), row.model.clone())
    })?;
    if b.tokens == 0 && b.cost_micros == 0 {
        return Ok(());
    }
    let (provider, model) = taken.unwrap_or_default();
    let (tokens, cost_micros) = (b.tokens, b.cost_micros);
    let (task_id, task_seq, at) = (b.about_task_id, seen.event.task_seq, seen.at());
    seen.add(NewSpent { task_id, task_seq, at, provider, model, tokens, cost_micros }).map(drop)
}
