//! Schedules: previews, proposals to a person, what narrows, and how each stands.

use super::conversations::conversation;
use super::mesh_names::Names;
pub(crate) use super::schedule_calendar::calendar;
pub(crate) use super::schedule_rehearsal::rehearse;
use super::task::{budget, channel, of_submitted};
use super::task_control::signed;
use crate::caller::{sender, speaker};
use crate::convert::opt_word;
use crate::files::absolute;
use crate::{Host, Wire as _, fold, not_found, usage};
use kernel::StoreState;
use kernel::command::submit::Reasoning;
use kernel::mesh_registry::MeshRegistry;
use kernel::schedule_registry::{ScheduleRecord, ScheduleRegistry};
use model::UnixMs;
use model::ingress::Channel;
use model::policy::Profile;
use model::schedule::{
    Bounds, CatchUp, DayBudget, Rule, Schedule as Kept, ScheduleProposer, Trigger, TriggerKind, When,
};
use wire::schedules::{
    Due, Keep, Limits, List, PassedOverAt, Pause, Preview, Previewed, Remove, Resume, Run, Schedule,
    ScheduleHolder, ScheduleHook, ScheduleRun, ScheduleTrigger, Schedules, Show,
};
use wire::task::Submitted;
use wire::{Code, Error};
use words::schedule::{CatchUpKind, ScheduleState};

/// Next times that are told.
const NEXT_SHOWN: usize = 5;

pub(crate) fn list(host: &dyn Host, _: List) -> Result<Schedules, Error> {
    let reader = host.reader()?;
    let store = fold::store_state(&reader)?;
    let mut registry = ScheduleRegistry::clone(&store.schedules);
    registry.read_slots(&reader).wire()?;
    let rows = registry.all_standing().map(|one| row(host, one, &store.mesh));
    Ok(Schedules { schedules: rows.collect::<Result<_, _>>()? })
}

pub(crate) fn show(host: &dyn Host, p: Show) -> Result<Schedule, Error> {
    shown(host, &p.name)
}

pub(crate) fn preview(host: &dyn Host, p: Preview) -> Result<Previewed, Error> {
    let zone = zone(host, p.zone.as_deref())?;
    let (said, only) = schedule::conditions(&p.said);
    let (rule, on) = schedule::said(said, &zone, host.now()).map_err(|why| usage(why.to_string()))?;
    let next = next(&rule, &zone, host.now())?;
    if next.is_empty() && on.is_none() {
        return Err(usage("that time has gone by: write one that is still to come"));
    }
    let words = on.as_ref().map_or_else(|| rule.in_words(), Trigger::in_words);
    let schedule::Only { conditions: only, battery_above } = only;
    Ok(Previewed { rule: words, zone, waits_for: on.as_ref().map(waits_for), next, only, battery_above })
}

pub(crate) fn keep(host: &dyn Host, p: Keep) -> Result<Submitted, Error> {
    let zone = zone(host, p.zone.as_deref())?;
    let (said, only) = schedule::conditions(&p.said);
    let (rule, on) = schedule::said(said, &zone, host.now()).map_err(|why| usage(why.to_string()))?;
    let on = chosen(on, &p.globs, p.quiet_seconds)?;
    let kernel = host.kernel()?;
    let root = host.workspace(&absolute("workspace", &p.workspace)?)?;
    let proposer = proposer(host.reasoning(&p.reasoner)?)?;
    let goal = match (&proposer, p.goal.trim()) {
        (ScheduleProposer::Playbook { name, .. }, "") => format!("Run the playbook {name}"),
        (_, goal) => goal.to_owned(),
    };
    let name = match p.name {
        Some(name) => name,
        None => free_name(&kernel.schedule_registry(), &proposer),
    };
    let schedule = Kept {
        name,
        said: p.said.trim().to_owned(),
        when: When {
            rule,
            catch_up: catch_up(p.catch_up, p.catch_up_most)?,
            grace_ms: p.grace_minutes.map(ms),
            jitter_ms: p.limits.jitter_minutes.map(ms),
        },
        goal,
        workspace_id: kernel.workspace(&root).wire()?,
        folder: root.display().to_string(),
        proposer,
        profile: opt_word(p.profile.as_deref())?.unwrap_or(Profile::LocalEditAllowed),
        budget: budget(p.budget)?,
        conversation_id: p.conversation.as_deref().map(|named| conversation(host, named)).transpose()?,
        bounds: bounds(&p.limits, &zone, only)?,
        on,
        quiet: p.quiet,
    };
    let key = p.idempotency_key.unwrap_or_else(|| host.fresh_key());
    let submitted = kernel.propose_schedule(schedule, &zone, (channel(p.channel.as_deref())?, key)).wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

pub(crate) fn pause(host: &dyn Host, p: Pause) -> Result<Schedule, Error> {
    let by = sender(host, Channel::Cli);
    let reason = p.reason.unwrap_or_else(|| format!("paused by a {}", by.by));
    host.kernel()?.pause_schedule(&p.name, &reason, by).wire()?;
    shown(host, &p.name)
}

pub(crate) fn resume(host: &dyn Host, p: Resume) -> Result<Schedule, Error> {
    let kernel = host.kernel()?;
    let signed = signed(kernel, p.signed.as_ref())?;
    kernel.resume_schedule_signed(&p.name, speaker(host, Channel::Cli), signed.as_ref()).wire()?;
    host.rouse();
    shown(host, &p.name)
}

pub(crate) fn remove(host: &dyn Host, p: Remove) -> Result<Schedule, Error> {
    let by = sender(host, Channel::Cli);
    let reason = p.reason.unwrap_or_else(|| format!("removed by a {}", by.by));
    host.kernel()?.remove_schedule(&p.name, &reason, by).wire()?;
    shown(host, &p.name)
}

pub(crate) fn run(host: &dyn Host, p: Run) -> Result<Submitted, Error> {
    let key = p.idempotency_key.unwrap_or_else(|| host.fresh_key());
    let by = sender(host, channel(p.channel.as_deref())?);
    let submitted = host.kernel()?.run_schedule(&p.name, by, key).wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

fn shown(host: &dyn Host, name: &str) -> Result<Schedule, Error> {
    let reader = host.reader()?;
    let store = fold::store_state(&reader)?;
    row(host, &known(&store, name)?.with_slots(&reader).wire()?, &store.mesh)
}

/// The schedule of a name, also one that is removed.
pub(super) fn known<'s>(store: &'s StoreState, name: &str) -> Result<&'s ScheduleRecord, Error> {
    let record = store.schedules.0.get(name);
    record.ok_or_else(|| not_found("schedule", name).hint("`hermit schedule list` lists them"))
}

/// All that a person approved of a schedule, unless it is erased.
pub(super) fn kept(host: &dyn Host, record: &ScheduleRecord) -> Result<Option<Kept>, Error> {
    let bytes = host.artifacts()?.read(&record.schedule.sha256);
    Ok(bytes.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

pub(super) fn zone(host: &dyn Host, named: Option<&str>) -> Result<String, Error> {
    match named {
        Some(name) => schedule::zone_named(name).map_err(|why| usage(why.to_string())),
        None => Ok(host.zone()),
    }
}

fn next(rule: &Rule, zone: &str, after: UnixMs) -> Result<Vec<Due>, Error> {
    let slots = schedule::slots(rule, after).map_err(|why| usage(why.to_string()))?.take(NEXT_SHOWN);
    let due = |slot: model::schedule::DueSlot| {
        let text = schedule::in_words(&slot, zone).map_err(|why| usage(why.to_string()))?;
        Ok(Due { at: slot.at.0, text })
    };
    slots.map(due).collect()
}

/// What is waited for, with what was said of files beside the words.
fn chosen(on: Option<Trigger>, more: &[String], quiet: Option<u32>) -> Result<Option<Trigger>, Error> {
    match on {
        Some(Trigger::Files { mut globs, changes, quiet_ms }) => {
            globs.extend(more.iter().filter(|glob| !glob.trim().is_empty()).cloned());
            let quiet_ms = quiet.map_or(quiet_ms, |seconds| u64::from(seconds).saturating_mul(1000));
            Ok(Some(Trigger::Files { globs, changes, quiet_ms }))
        }
        _ if !more.is_empty() || quiet.is_some() => {
            Err(usage("kinds of files and a quiet time belong to a schedule that waits for files")
                .hint("say when so: \"when files change\" or \"when a file lands here\""))
        }
        on => Ok(on),
    }
}

fn waits_for(on: &Trigger) -> ScheduleTrigger {
    let none = ScheduleTrigger {
        kind: TriggerKind::Files,
        globs: Vec::new(),
        changes: None,
        quiet_ms: None,
        ref_name: None,
        of: None,
        end: None,
        hook: None,
        server: None,
        resource: None,
        every_minutes: None,
        events: None,
        relays: None,
        machine: None,
        machine_event: None,
        silent_minutes: None,
    };
    match on.clone() {
        Trigger::Files { globs, changes, quiet_ms } => {
            ScheduleTrigger { globs, changes: Some(changes), quiet_ms: Some(quiet_ms), ..none }
        }
        Trigger::Ref { name } => ScheduleTrigger { kind: TriggerKind::Ref, ref_name: Some(name), ..none },
        Trigger::After { of, end } => {
            ScheduleTrigger { kind: TriggerKind::After, of: Some(of), end: Some(end), ..none }
        }
        Trigger::Hook { name } => ScheduleTrigger { kind: TriggerKind::Hook, hook: Some(name), ..none },
        Trigger::Resource { server, uri, every_ms } => ScheduleTrigger {
            kind: TriggerKind::Resource,
            server: Some(server),
            resource: Some(uri),
            every_minutes: minutes(every_ms),
            ..none
        },
        Trigger::Events { filter, every_ms } => ScheduleTrigger {
            kind: TriggerKind::Events,
            events: Some(filter.in_words()),
            relays: Some(filter.relays),
            every_minutes: minutes(every_ms),
            ..none
        },
        Trigger::Machine { name, event, minutes: silent } => ScheduleTrigger {
            kind: TriggerKind::Machine,
            machine: Some(name),
            machine_event: Some(event),
            silent_minutes: silent,
            ..none
        },
    }
}

pub(super) fn proposer(of: Reasoning) -> Result<ScheduleProposer, Error> {
    match of {
        Reasoning::Playbook { name, text, parameters } => {
            Ok(ScheduleProposer::Playbook { name, text, parameters })
        }
        Reasoning::Openai { api, base_url, model, secret } => {
            Ok(ScheduleProposer::Model { api, base_url, model, secret })
        }
        _ => Err(usage("it works with a model or a playbook")
            .hint("name one: `--model ADDRESS` or `--playbook NAME`")),
    }
}

fn catch_up(kind: Option<CatchUpKind>, most: Option<u32>) -> Result<CatchUp, Error> {
    match (kind.unwrap_or(CatchUpKind::Newest), most) {
        (CatchUpKind::Newer, Some(most)) => Ok(CatchUp::Newer(most)),
        (CatchUpKind::Newer, None) => Err(usage("`newer` says how many with `catch_up_most`")),
        (_, Some(_)) => Err(usage("`catch_up_most` belongs to `newer`")),
        (CatchUpKind::Newest, None) => Ok(CatchUp::Newest),
        (CatchUpKind::Skip, None) => Ok(CatchUp::Skip),
    }
}

const fn ms(minutes: u32) -> u64 {
    minutes as u64 * 60_000
}

fn minutes(ms: u64) -> Option<u32> {
    u32::try_from(ms / 60_000).ok()
}

/// What a person bounds; `zone`: by whose clock the hours are read. `only`: conditions that stood in the words.
fn bounds(of: &Limits, zone: &str, said: schedule::Only) -> Result<Bounds, Error> {
    let schedule::Only { conditions: mut only, battery_above } = said;
    for one in &of.only {
        if !only.contains(one) {
            only.push(*one);
        }
    }
    let day = DayBudget {
        runs_max: of.day_runs_max,
        iterations_max: of.day_iterations_max,
        tokens_max: of.day_tokens_max,
        cost_micros_max: of.day_cost_micros_max,
        wall_ms_max: of.day_minutes_max.map(|minutes| i64::from(minutes).saturating_mul(60_000)),
    };
    let hours = of.hours.as_deref().map(|text| schedule::hours(text, zone)).transpose();
    Ok(Bounds {
        overlap: of.overlap,
        per_hour_max: of.per_hour_max,
        ends_after_ms: of.ends_after_minutes.map(ms),
        day: (day != DayBudget::default()).then_some(day),
        hours: hours.map_err(|why| usage(why.to_string()))?,
        only,
        battery_above: of.battery_above.or(battery_above),
    })
}

fn limits(when: &When, bounds: Option<&Bounds>) -> Limits {
    let none = Bounds::default();
    let of = bounds.unwrap_or(&none);
    let day = of.day.unwrap_or_default();
    Limits {
        overlap: of.overlap,
        jitter_minutes: when.jitter_ms.and_then(minutes),
        per_hour_max: of.per_hour_max,
        ends_after_minutes: of.ends_after_ms.and_then(minutes),
        hours: of.hours.as_ref().map(ToString::to_string),
        day_runs_max: day.runs_max,
        day_iterations_max: day.iterations_max,
        day_tokens_max: day.tokens_max,
        day_cost_micros_max: day.cost_micros_max,
        day_minutes_max: day.wall_ms_max.and_then(|ms| u64::try_from(ms).ok()).and_then(minutes),
        only: of.only.clone(),
        battery_above: of.battery_above,
    }
}

/// A name that no schedule ever had: of the playbook, or a number. A goal stands in no name, because names are not erased.
fn free_name(registry: &ScheduleRegistry, proposer: &ScheduleProposer) -> String {
    let (base, first) = match proposer {
        ScheduleProposer::Playbook { name, .. } if model::skill::check_skill_name(name).is_ok() => {
            (name.as_str(), None)
        }
        _ => ("schedule", Some(1)),
    };
    let numbered = (first.unwrap_or(2)..).map(|n: u32| format!("{base}-{n}"));
    let mut names = first.is_none().then(|| base.to_owned()).into_iter().chain(numbered);
    names.find(|name| !registry.0.contains_key(name)).unwrap_or_else(|| base.to_owned())
}

/// Its newest runs, the newest first.
fn runs(host: &dyn Host, record: &ScheduleRecord, mesh: &MeshRegistry) -> Result<Vec<ScheduleRun>, Error> {
    let query = host.query()?;
    let mut runs = Vec::new();
    for run in record.slots.runs.iter().rev() {
        let row = query.task(run.task_id).map_err(|e| Error::new(Code::Failed, e.to_string()))?;
        runs.push(ScheduleRun {
            slot_at: run.slot_at.0,
            task_id: run.task_id.to_string(),
            run_status: row.as_ref().map(|row| row.run_status),
            status: row.map(|row| row.status.to_string()),
            counts_instead: mesh
                .counts_instead(&record.name, &record.when.rule, run.slot_at)
                .map(|node| mesh.name_of(node)),
        });
    }
    Ok(runs)
}

/// How the hook stands that a schedule waits for.
fn hook(host: &dyn Host, record: &ScheduleRecord, name: &str) -> Result<ScheduleHook, Error> {
    let secret = model::schedule::hook_secret(name);
    let has_secret = match host.kernel() {
        Ok(kernel) => kernel.secrets().contains_key(&secret),
        Err(_) => fold::store_state(&host.reader()?)?.secrets.contains_key(&secret),
    };
    Ok(ScheduleHook {
        name: name.to_owned(),
        path: format!("/v1/hooks/{name}"),
        secret,
        has_secret,
        called: record.slots.called,
        waiting: u32::try_from(record.slots.calls.len()).unwrap_or(u32::MAX),
        refused: record.slots.refused,
        last_refused: record.slots.last_refused,
    })
}

/// Which machines may run it, and which one does, where the mesh holds it.
fn held_by(host: &dyn Host, record: &ScheduleRecord, mesh: &MeshRegistry) -> Option<ScheduleHolder> {
    let held = mesh.holder_of(&record.name).filter(|_| record.state() != ScheduleState::Removed)?;
    let (me, names) = (mesh.node(), Names::of(mesh));
    // As the list of machines names each: a page chooses among them by these names.
    let name = |node| match me == Some(node) {
        true => mesh.name().unwrap_or("this machine").to_owned(),
        false => names.shown(node),
    };
    let rank = held.holder.and_then(|holder| held.nodes.iter().position(|node| *node == holder));
    Some(ScheduleHolder {
        is_here: me.is_some() && held.holder == me,
        holder: held.holder.map(name),
        rank: rank.and_then(|at| u32::try_from(at).ok()).map(|at| at.saturating_add(1)),
        nodes: held.nodes.into_iter().map(name).collect(),
        unready: held.unready.into_iter().map(name).collect(),
        is_cut_off: record.may_begin() && is_cut_off(host),
    })
}

/// Whether no way to another machine is open, so that this one begins nothing that machines hold together. Of a mesh that is on, only
/// the process that runs it knows.
fn is_cut_off(host: &dyn Host) -> bool {
    let Some(mesh) = host.mesh() else { return false };
    match mesh.live() {
        Some(live) => !live.is_reached,
        None => mesh.settings().is_ok_and(|set| !set.on),
    }
}

fn row(host: &dyn Host, record: &ScheduleRecord, mesh: &MeshRegistry) -> Result<Schedule, Error> {
    let kept = kept(host, record)?;
    let zone = match &record.when.rule {
        Rule::Cron { zone, .. } | Rule::Once { zone, .. } => zone.clone(),
        Rule::Every { .. } | Rule::Event => host.zone(),
    };
    let why = match (&record.why, record.next()) {
        (None, Err(why)) if record.may_begin() => Some(why.to_owned()),
        (why, _) => why.clone(),
    };
    let next = if record.may_begin() && record.next().is_ok() {
        next(&record.when.rule, &zone, record.settled().max(host.now()))?
    } else {
        Vec::new()
    };
    let erased = || "(erased)".to_owned();
    let (catch_up, catch_up_most) = match record.when.catch_up {
        CatchUp::Skip => (CatchUpKind::Skip, None),
        CatchUp::Newest => (CatchUpKind::Newest, None),
        CatchUp::Newer(most) => (CatchUpKind::Newer, Some(most)),
    };
    Ok(Schedule {
        name: record.name.clone(),
        version: record.version,
        state: record.state(),
        why,
        by_itself: record.asks(),
        said: kept.as_ref().map_or_else(erased, |kept| kept.said.clone()),
        rule: kept.as_ref().map_or_else(|| record.when.rule.in_words(), Kept::in_words),
        zone,
        waits_for: kept.as_ref().and_then(|kept| kept.on.as_ref()).map(waits_for),
        unseen: record.slots.unseen.filter(|_| record.waits_for_event() && record.may_begin()),
        hook: match kept.as_ref().and_then(|kept| kept.on.as_ref()) {
            Some(Trigger::Hook { name }) => Some(hook(host, record, name)?),
            _ => None,
        },
        goal: kept.as_ref().map_or_else(erased, |kept| kept.goal.clone()),
        folder: kept.as_ref().map_or_else(erased, |kept| kept.folder.clone()),
        worker: kept.as_ref().map_or_else(erased, |kept| match &kept.proposer {
            ScheduleProposer::Playbook { name, .. } => format!("playbook:{name}"),
            ScheduleProposer::Model { base_url, model, .. } => format!("{base_url}#{model}"),
        }),
        profile: kept.as_ref().map_or(Profile::Service, |kept| kept.profile),
        next,
        catch_up,
        catch_up_most,
        grace_minutes: record.when.grace_ms.and_then(minutes),
        limits: limits(&record.when, kept.as_ref().map(|kept| &kept.bounds)),
        quiet: kept.as_ref().is_some_and(|kept| kept.quiet),
        since: record.since.0,
        fired: record.slots.fired,
        passed_over: record.slots.passed_over,
        runs: runs(host, record, mesh)?,
        last_passed_over: record
            .slots
            .last_passed_over
            .map(|(until, why)| PassedOverAt { until: until.0, why }),
        artifact_id: record.schedule.artifact_id.to_string(),
        held_by: held_by(host, record, mesh),
    })
}
