//! What the runs of a schedule would ask today: their acts put before the policy of now, and before the standing grants that hold
//! in them (schedule.md 1). Nothing is asked by it, and nothing changed.

use super::own_rules;
use super::schedules::{kept, known};
use crate::backtest::{Again, Asked, History};
use crate::convert::text;
use crate::{Host, Wire as _, fold, usage};
use governance::PolicyEngine;
use governance::standing::in_words;
use kernel::StoreState;
use kernel::command::standing::in_runs_of;
use kernel::schedule_registry::ScheduleRecord;
use ledger::Reader;
use model::policy::{Profile, Verdict};
use model::schedule::Schedule;
use model::standing::StandingGrant;
use model::{ActionRequestId, TaskId, UnixMs};
use projections::Ask;
use projections::query::TaskFilter;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use wire::Error;
use wire::schedules::{GrantOfRuns, Rehearsal, Rehearse, RehearsedAct};

/// Runs that are looked at, where nobody says how many.
const RUNS: u32 = 10;
/// Runs that are looked at, at most.
const RUNS_MAX: u32 = 20;
/// Parts of one run, given to helpers, that are looked at.
const PARTS_MAX: u32 = 50;
/// Acts that are judged at once.
const ACTS_MAX: u32 = 2_000;
/// Acts that are told one by one.
const ROWS_MAX: usize = 200;

/// A standing grant that answers in the runs.
struct Held {
    grant: StandingGrant,
    /// How often it can still be used.
    left: u32,
    /// The acts that it allowed here.
    acts: u32,
}

/// A task of a run: of which slot, and whether it is the run itself. In parts that it gave away no standing grant answers.
#[derive(Clone, Copy)]
struct Of {
    slot_at: UnixMs,
    is_run: bool,
}

pub(crate) fn rehearse(host: &dyn Host, p: Rehearse) -> Result<Rehearsal, Error> {
    let most = match p.runs.unwrap_or(RUNS) {
        most @ 1..=RUNS_MAX => usize::try_from(most).unwrap_or(usize::MAX),
        other => return Err(usage(format!("`runs` is {other}, and 1 to {RUNS_MAX} runs are looked at"))),
    };
    let reader = host.reader()?;
    let store = fold::store_state(&reader)?;
    let record = known(&store, &p.name)?.with_slots(&reader).wire()?;
    let schedule = kept(host, &record)?;
    let engine = in_force(host, &store, schedule.as_ref())?;
    let mut held = held(host, (&reader, &store), &record)?;
    let newest = record.slots.runs.iter().rev().take(most).rev();
    let runs: Vec<(TaskId, UnixMs)> = newest.map(|run| (run.task_id, run.slot_at)).collect();
    let (order, of) = tasks(host, &runs)?;
    let history = History::of(&reader, order)?;
    let mut told = Rehearsal {
        name: record.name,
        version: record.version,
        summary: String::new(),
        runs: u32::try_from(runs.len()).unwrap_or(u32::MAX),
        acts: 0,
        allowed: 0,
        granted: 0,
        asked: 0,
        denied: 0,
        lesser: 0,
        unreadable: 0,
        is_cut: false,
        grants: Vec::new(),
        rows: Vec::new(),
    };
    let profile: Option<Profile> = schedule.map(|schedule| schedule.profile);
    for (id, asked) in history.in_order() {
        let Some(of) = of.get(&asked.task_id) else { continue };
        if told.acts >= ACTS_MAX {
            told.is_cut = true;
            break;
        }
        let answering = held.iter().filter(|one| of.is_run && one.left > 0);
        let answering: Vec<StandingGrant> = answering.map(|one| one.grant.clone()).collect();
        match asked.again(host.artifacts()?, &engine, profile, &answering) {
            Ok(again) if again.is_part => {}
            Ok(again) => count(&mut told, &mut held, (id, asked, of.slot_at), again),
            Err(_) => told.unreadable = told.unreadable.saturating_add(1),
        }
    }
    told.rows.sort_by_key(|row| Reverse(row.slot_at));
    told.rows.truncate(ROWS_MAX);
    told.grants = held.into_iter().map(grant_of_runs).collect();
    told.summary = summary(&told);
    Ok(told)
}

/// The policy that a run of it is judged by now.
fn in_force(host: &dyn Host, store: &StoreState, of: Option<&Schedule>) -> Result<PolicyEngine, Error> {
    let root = of.and_then(|of| store.workspaces.get(&of.workspace_id).cloned().flatten());
    match root {
        Some(root) => own_rules::in_force_at(host, &kernel::workspace::decode_root(&root).wire()?),
        None => own_rules::in_force(host),
    }
}

/// The standing grants that answer in its runs now.
fn held(
    host: &dyn Host,
    (reader, store): (&Reader, &StoreState),
    record: &ScheduleRecord,
) -> Result<Vec<Held>, Error> {
    let named = (record.name.as_str(), record.version);
    let found = in_runs_of(named, store, (reader, host.artifacts()?), host.now()).wire()?;
    let one = |(grant, uses): (StandingGrant, u32)| Held {
        left: grant.max_uses.saturating_sub(uses),
        acts: 0,
        grant,
    };
    Ok(found.into_iter().map(one).collect())
}

/// The tasks of runs with the parts that these gave away, in order; and what each is.
fn tasks(host: &dyn Host, runs: &[(TaskId, UnixMs)]) -> Result<(Vec<TaskId>, BTreeMap<TaskId, Of>), Error> {
    let query = host.query()?;
    let (mut order, mut of) = (Vec::new(), BTreeMap::new());
    for (run, slot_at) in runs {
        order.push(*run);
        of.insert(*run, Of { slot_at: *slot_at, is_run: true });
        let filter = TaskFilter { parent: Some(*run), ..TaskFilter::default() };
        let ask = Ask { limit: PARTS_MAX, ..Ask::default() }.oldest_first();
        for part in query.tasks(&filter, ask).wire()?.rows {
            order.push(part.task_id);
            of.insert(part.task_id, Of { slot_at: *slot_at, is_run: false });
        }
    }
    Ok((order, of))
}

/// Counts an act, and the use of a standing grant that allows it.
fn count(
    told: &mut Rehearsal,
    held: &mut [Held],
    (id, asked, slot_at): (ActionRequestId, &Asked, UnixMs),
    again: Again,
) {
    let Again { was, would, .. } = again;
    let by = would.standing.as_ref().map(|standing| standing.grant_id);
    if let Some(one) = held.iter_mut().find(|one| Some(one.grant.grant_id) == by) {
        (one.left, one.acts) = (one.left.saturating_sub(1), one.acts.saturating_add(1));
    }
    let of = match would.verdict {
        Verdict::Allow if by.is_some() => &mut told.granted,
        Verdict::Allow => &mut told.allowed,
        Verdict::RequireApproval => &mut told.asked,
        Verdict::Deny => &mut told.denied,
        Verdict::Downgrade => &mut told.lesser,
    };
    *of = of.saturating_add(1);
    told.acts = told.acts.saturating_add(1);
    told.rows.push(RehearsedAct {
        action_request_id: id.to_string(),
        task_id: asked.task_id.to_string(),
        slot_at: slot_at.0,
        summary: text(&asked.summary),
        verdict: would.verdict,
        grant_id: by.map(|grant| grant.to_string()),
        rules: would.determining_rules,
        reason: would.reasoning_summary,
        was: was.verdict,
        answered: asked.answered,
    });
}

fn summary(of: &Rehearsal) -> String {
    let many = |n: u32, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    if of.runs == 0 {
        return "It has had no run yet, so there is nothing to judge.".to_owned();
    }
    let runs = if of.runs == 1 { "run".to_owned() } else { many(of.runs, "run") };
    if of.acts == 0 {
        return format!("Its last {runs} did nothing and asked for nothing that can be judged again.");
    }
    let parts = [
        (of.granted, "goes through under a standing grant", "go through under a standing grant"),
        (of.allowed, "is allowed by policy itself", "are allowed by policy itself"),
        (of.asked, "would ask you", "would ask you"),
        (of.denied, "would be denied", "would be denied"),
        (of.lesser, "would be done in a lesser form", "would be done in a lesser form"),
    ];
    let told = |(n, one, more): (u32, &str, &str)| {
        (n > 0).then(|| format!("{n} {}", if n == 1 { one } else { more }))
    };
    let parts: Vec<String> = parts.into_iter().filter_map(told).collect();
    format!("Of the {} of its last {runs}, {}.", many(of.acts, "act"), parts.join(", "))
}

fn grant_of_runs(one: Held) -> GrantOfRuns {
    GrantOfRuns {
        grant_id: one.grant.grant_id.to_string(),
        words: in_words(&one.grant),
        left: one.left,
        expires_at: one.grant.expires_at.0,
        acts: one.acts,
    }
}
