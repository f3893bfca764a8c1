//! `hermit schedule`.

use super::Came;
use super::keyring::approval_passphrase;
use super::run::{micros, parameters, playbook_file};
use super::schedule_hook;
use super::schedule_times::{asks, calendar, reason};
use super::tools::{absolute, stay};
use crate::args::{ScheduleAdd, ScheduleLimits, ScheduleVerb};
use crate::context::{Context, Signs};
use crate::output::{Output, Tone, table};
use crate::text::{plain, short, time};
use acts::money;
use host::Session;
use model::lasting;
use model::schedule::only_in_words;
use std::path::Path;
use std::time::Duration;
use wire::schedules::{
    Calendar, Keep, Limits, List, Pause, Preview, Previewed, Rehearse, Remove, Resume, Run, Schedule,
    ScheduleHolder, ScheduleTrigger, Schedules, Show,
};
use wire::task::{Budget, Reasoner};
use wire::{Code, Error, exit};
use words::schedule::{
    CatchUpKind, Condition, FileChanges, MachineEvent, Overlap, RunEnd, ScheduleState, TriggerKind, Unseen,
};

/// What is said of a schedule that machines hold together, where no way from here to another of them is open.
const WAITS_HERE: &str = "waits here: no other machine can be reached, so this one begins nothing of it until a relay or another \
                          machine is connected";

/// `hermit schedule`.
pub fn schedule(context: &Context, verb: ScheduleVerb) -> Came {
    let cli = || Some("cli".to_owned());
    match verb {
        ScheduleVerb::Add(args) => {
            let keep = asked(*args)?;
            stay(context, |session| session.call(&keep))
        }
        ScheduleVerb::List => {
            let found = context.told(&List {}, |found| found.schedules.iter().find_map(of_machines))?;
            context.out.answer(&found, listed)?;
            Ok(exit::DONE)
        }
        ScheduleVerb::Show { schedule } => {
            let found = context.told(&Show { name: schedule }, of_machines)?;
            let address = found.hook.as_ref().and_then(|_| schedule_hook::address(context));
            context.out.answer(&found, |out, one| shown(out, one, address.as_deref()))?;
            Ok(exit::DONE)
        }
        ScheduleVerb::Secret { schedule } => schedule_hook::secret(context, schedule),
        ScheduleVerb::Preview { time, zone } => {
            let found = context.free()?.call(&Preview { said: time, zone })?;
            context.out.answer(&found, previewed)?;
            Ok(exit::DONE)
        }
        ScheduleVerb::Asks { schedule, runs } => {
            let found = context.reading()?.call(&Rehearse { name: schedule, runs })?;
            context.out.answer(&found, asks)?;
            Ok(exit::DONE)
        }
        ScheduleVerb::Calendar { schedule, month, zone } => {
            let ask = Calendar { month, zone, name: schedule, ..Calendar::default() };
            let found = context.reading()?.call(&ask)?;
            context.out.answer(&found, calendar)?;
            Ok(exit::DONE)
        }
        ScheduleVerb::Pause { schedule, reason } => changed(
            context,
            &Pause { name: schedule, reason },
            "is paused; its times pass until you resume it",
        ),
        ScheduleVerb::Resume { schedule } => {
            let resume = |session: &Session| match session.is_attached() {
                true => session.resume_schedule_by(schedule, &approval_passphrase(context, None)?),
                false => session.call(&Resume { name: schedule, signed: None }),
            };
            changed_by(context, resume, "is resumed")
        }
        ScheduleVerb::Rm { schedule, reason } => {
            changed(context, &Remove { name: schedule, reason }, "is removed; its history stays")
        }
        ScheduleVerb::Run { schedule } => {
            let run = Run { name: schedule, channel: cli(), idempotency_key: None };
            stay(context, |session| session.call(&run))
        }
    }
}

/// What only the process that runs the mesh knows of a schedule that machines hold together.
fn of_machines(schedule: &Schedule) -> Option<&'static str> {
    schedule.held_by.as_ref().map(|_| "Whether another machine can be reached is not known")
}

/// Asks for a change that needs no yes, and tells it in a line.
fn changed<C: wire::Command<Answer = Schedule>>(context: &Context, ask: &C, told: &str) -> Came {
    changed_by(context, |session| session.call(ask), told)
}

fn changed_by(context: &Context, ask: impl FnOnce(&Session) -> Result<Schedule, Error>, told: &str) -> Came {
    let session = context.writing(Signs::No)?;
    let done = ask(&session);
    session.close();
    context.out.answer(&done?, |out, one| {
        out.line(format!("{} {told}", plain(&one.name)));
        one.next.first().into_iter().for_each(|due| out.line(format!("  next: {}", plain(&due.text))));
    })?;
    Ok(exit::DONE)
}

fn asked(args: ScheduleAdd) -> Result<Keep, Error> {
    let parameters = parameters(&args.params)?;
    let reasoner = match (args.playbook, args.model) {
        (Some(name), _) => {
            let text = playbook_file(&name)?;
            Reasoner::Playbook { name, text, parameters }
        }
        (None, _) if !parameters.is_empty() => {
            return Err(Error::new(Code::Usage, "parameters belong to a playbook, and none was named")
                .hint("add `--playbook NAME`, or leave `--param` out"));
        }
        (None, Some(address)) => Reasoner::Address { address },
        (None, None) => Reasoner::Standard,
    };
    let (catch_up, catch_up_most) = missed(&args.missed)?;
    Ok(Keep {
        name: args.name,
        said: args.time,
        zone: args.zone,
        globs: args.globs,
        quiet_seconds: args.quiet_seconds,
        goal: args.words.unwrap_or_default(),
        workspace: absolute(args.workspace.as_deref().unwrap_or(Path::new(".")))?,
        reasoner,
        catch_up: Some(catch_up),
        catch_up_most,
        grace_minutes: args.grace,
        profile: args.profile,
        budget: Budget {
            iterations_max: args.iterations,
            cost_micros_max: args.cost.map(micros).transpose()?,
            ..Budget::default()
        },
        limits: limits(args.limits)?,
        conversation: args.conversation,
        quiet: args.quiet,
        channel: Some("cli".to_owned()),
        idempotency_key: None,
    })
}

fn limits(args: ScheduleLimits) -> Result<Limits, Error> {
    let overlap = |text: String| {
        text.replace('-', "_").parse::<Overlap>().map_err(|_| {
            Error::new(Code::Usage, format!("`{text}` says nothing of runs that overlap"))
                .hint("write `--overlap skip`, `--overlap queue` or `--overlap end-older`")
        })
    };
    Ok(Limits {
        overlap: args.overlap.map(overlap).transpose()?,
        jitter_minutes: args.jitter,
        per_hour_max: args.per_hour,
        ends_after_minutes: args.ends_after,
        hours: args.hours,
        day_runs_max: args.day_runs,
        day_iterations_max: args.day_iterations,
        day_tokens_max: args.day_tokens,
        day_cost_micros_max: args.day_cost.map(micros).transpose()?,
        day_minutes_max: args.day_minutes,
        only: args.only.iter().map(|text| condition(text)).collect::<Result<_, _>>()?,
        battery_above: args.battery_above,
    })
}

fn condition(text: &str) -> Result<Condition, Error> {
    text.parse().map_err(|_| {
        Error::new(Code::Usage, format!("`{text}` is no condition"))
            .hint("write `--only mains`, `--only network`, `--only idle` or `--only unmetered`")
    })
}

fn missed(text: &str) -> Result<(CatchUpKind, Option<u32>), Error> {
    match text {
        "skip" => Ok((CatchUpKind::Skip, None)),
        "newest" => Ok((CatchUpKind::Newest, None)),
        number => number.parse().map(|most| (CatchUpKind::Newer, Some(most))).map_err(|_| {
            Error::new(Code::Usage, format!("`{number}` says nothing of missed times"))
                .hint("write `--missed skip`, `--missed newest` or `--missed 3`")
        }),
    }
}

fn listed(out: &Output, found: &Schedules) {
    if found.schedules.is_empty() {
        return out.say(
            Tone::Faint,
            "no schedules; `hermit schedule add \"every weekday at 8:30\" GOAL` asks you about one",
        );
    }
    let row = |one: &Schedule| {
        let next = match &one.waits_for {
            Some(on) if on.kind == TriggerKind::Files => {
                format!("watches {}", plain(&one.folder))
            }
            Some(_) => plain(&one.rule),
            None => one.next.first().map_or_else(String::new, |due| plain(&due.text)),
        };
        vec![plain(&one.name), stands(one), plain(&one.said), next]
    };
    table(out, &["schedule", "state", "when", "next"], &found.schedules.iter().map(row).collect::<Vec<_>>());
    for one in &found.schedules {
        if let Some(held) = &one.held_by {
            out.say(Tone::Faint, format!("{}: {}", plain(&one.name), held_by(held)));
            if held.is_cut_off {
                out.say(Tone::Warn, format!("{} {WAITS_HERE}", plain(&one.name)));
            }
        }
        if let Some(why) = &one.why {
            out.say(Tone::Warn, format!("{} {}: {}", plain(&one.name), stood(one), plain(why)));
            if one.by_itself {
                let name = plain(&one.name);
                out.say(
                    Tone::Faint,
                    format!("  hermit schedule resume {name}, or hermit schedule rm {name}"),
                );
            }
        }
    }
}

/// Which machines may run it, and which one does.
fn held_by(of: &ScheduleHolder) -> String {
    let all = |names: &[String]| plain(&names.join(", "));
    let holder = match (&of.holder, of.is_here) {
        (None, _) => "no machine runs it yet".to_owned(),
        (Some(_), true) => "this machine runs it".to_owned(),
        (Some(name), false) => format!("{} runs it", plain(name)),
    };
    let rank = of.rank.map_or_else(String::new, |rank| format!(", {rank} of {}", of.nodes.len()));
    let unready = match of.unready.as_slice() {
        [] => String::new(),
        names => format!("; cannot run it now: {}", all(names)),
    };
    format!("{holder}{rank} ({}){unready}", all(&of.nodes))
}

/// How it stands, in a table.
fn stands(one: &Schedule) -> String {
    if one.by_itself { "paused itself".to_owned() } else { one.state.to_string() }
}

/// The same in a sentence.
fn stood(one: &Schedule) -> String {
    if one.by_itself { "paused itself".to_owned() } else { format!("is {}", one.state) }
}

/// What bounds its runs, a line for each.
fn bounded(of: &Limits) -> Vec<String> {
    let overlap = of.overlap.map(|overlap| match overlap {
        Overlap::Skip => "a time is skipped while the run before is at work".to_owned(),
        Overlap::Queue => "a time that comes while a run is at work begins when that one rests".to_owned(),
        Overlap::EndOlder => "a run that is not over when the next time comes is ended".to_owned(),
    });
    let minutes = |most: u32| format!("{most} {}", if most == 1 { "minute" } else { "minutes" });
    let day = [
        of.day_runs_max.map(|most| format!("{most} runs")),
        of.day_iterations_max.map(|most| format!("{most} turns")),
        of.day_tokens_max.map(|most| format!("{most} tokens")),
        of.day_cost_micros_max.map(money),
        of.day_minutes_max.map(|most| format!("{} of work", minutes(most))),
    ];
    let day: Vec<String> = day.into_iter().flatten().collect();
    let lines = [
        overlap,
        of.jitter_minutes.map(|most| format!("begins up to {} later than its time", minutes(most))),
        of.per_hour_max.map(|most| format!("at most {most} runs begin within an hour")),
        of.ends_after_minutes.map(|most| format!("a run ends after {}", minutes(most))),
        of.hours.as_ref().map(|hours| format!("begins between {} only", plain(hours))),
        conditions(&of.only, of.battery_above),
        (!day.is_empty()).then(|| format!("its runs of a day use at most {}", day.join(", "))),
    ];
    lines.into_iter().flatten().collect()
}

/// What must be so for a run to begin, if anything must.
fn conditions(only: &[Condition], battery_above: Option<u32>) -> Option<String> {
    only_in_words(only, battery_above)
        .map(|all| format!("begins only {all}, as far as this machine can tell"))
}

fn shown(out: &Output, one: &Schedule, address: Option<&str>) {
    out.say(Tone::Bold, format!("{}, {}: {}", plain(&one.name), stands(one), plain(&one.said)));
    if let Some(why) = &one.why {
        out.say(Tone::Warn, format!("  {}", plain(why)));
    }
    match &one.waits_for {
        Some(on) => waits_for(on).into_iter().for_each(|line| out.line(format!("  {line}"))),
        None => out.line(format!("  read as {}, time zone {}", plain(&one.rule), plain(&one.zone))),
    }
    if let Some(why) = one.unseen {
        out.say(Tone::Warn, format!("  it cannot be seen now: {}", unseen(why)));
    }
    if let Some(hook) = &one.hook {
        schedule_hook::shown(out, hook, &one.name, address);
    }
    out.line(format!("  {} in {}", plain(&one.worker), plain(&one.folder)));
    for line in one.goal.lines() {
        out.line(format!("  > {}", plain(line)));
    }
    if one.quiet {
        out.line("  reports only runs that changed something, asked you, were denied something or failed");
    }
    bounded(&one.limits).into_iter().for_each(|line| out.line(format!("  {line}")));
    if let Some(held) = &one.held_by {
        out.line(format!("  held by the mesh: {}", held_by(held)));
        if held.is_cut_off {
            out.say(Tone::Warn, format!("  it {WAITS_HERE}"));
            out.say(Tone::Faint, "  `hermit mesh show` says which relays and machines are tried");
        }
    }
    for due in &one.next {
        out.line(format!("  next: {}", plain(&due.text)));
    }
    let runs = if one.fired == 1 { "1 run".to_owned() } else { format!("{} runs", one.fired) };
    out.line(format!("  {runs}, passed over {}", one.passed_over));
    if let Some(passed) = &one.last_passed_over {
        let why = reason(passed.why);
        out.say(Tone::Faint, format!("  last passed over until {}: {why}", time(passed.until)));
    }
    for run in &one.runs {
        let status = run.run_status.map_or_else(|| "unknown".to_owned(), |status| status.to_string());
        let status = status.replace('_', " ");
        let counts = run.counts_instead.as_ref().map_or_else(String::new, |name| {
            format!(" (not counted: {} began it too, and its run counts)", plain(name))
        });
        let task = plain(short(&run.task_id));
        out.line(format!("  {}  task {task}: {status}{counts}", time(run.slot_at)));
    }
    if one.state == ScheduleState::Paused {
        out.say(Tone::Faint, format!("hermit schedule resume {} lets it run again", plain(&one.name)));
    }
}

/// What it waits for that is no time, a line for each part.
fn waits_for(on: &ScheduleTrigger) -> Vec<String> {
    let name = |text: &Option<String>| text.as_deref().map(plain).unwrap_or_default();
    match on.kind {
        TriggerKind::Files => {
            let which = match on.globs.as_slice() {
                [] => String::new(),
                globs => format!(" matching {}", plain(&globs.join(", "))),
            };
            let changes = on.changes.map_or("change", |changes| match changes {
                FileChanges::Landed => "land",
                FileChanges::Changed => "land or be written",
                FileChanges::Any => "land, be written or go",
            });
            let quiet = on.quiet_ms.map(|ms| {
                let quiet = lasting(Duration::from_millis(ms));
                format!("a file counts once it was left alone for {quiet}")
            });
            [Some(format!("waits for a file{which} to {changes} in its folder, or one inside")), quiet]
                .into_iter()
                .flatten()
                .collect()
        }
        TriggerKind::Ref => vec![format!("waits until {} is somewhere else", name(&on.ref_name))],
        TriggerKind::After => {
            let how = on.end.map_or("has ended", |end| match end {
                RunEnd::Done => "is done",
                RunEnd::Failed => "has failed",
                RunEnd::Either => "has ended",
            });
            vec![format!("waits until a run of {} {how}", name(&on.of))]
        }
        TriggerKind::Hook => vec![format!("waits until the hook {} is called", name(&on.hook))],
        TriggerKind::Resource => {
            let (resource, server) = (name(&on.resource), name(&on.server));
            let every = on.every_minutes.map(|minutes| {
                let every = if minutes == 1 { "minute".to_owned() } else { format!("{minutes} minutes") };
                format!("looks every {every}: the server is started for it in its sandbox, without a network")
            });
            std::iter::once(format!("waits until {resource} of the server {server} reads otherwise"))
                .chain(every)
                .collect()
        }
        TriggerKind::Events => {
            let relays = on.relays.as_deref().unwrap_or_default().join(", ");
            let every = match on.every_minutes {
                None | Some(1) => "minute".to_owned(),
                Some(minutes) => format!("{minutes} minutes"),
            };
            vec![
                format!("waits until {} comes", name(&on.events)),
                format!("asks {} every {every}", plain(&relays)),
            ]
        }
        TriggerKind::Machine => vec![of_machine(on)],
    }
}

fn of_machine(on: &ScheduleTrigger) -> String {
    let machine = on.machine.as_deref().map(plain).unwrap_or_default();
    match on.machine_event {
        Some(MachineEvent::Silent) => {
            let minutes = on.silent_minutes.unwrap_or_default();
            format!("waits until the machine {machine} is silent for {minutes} minutes")
        }
        Some(MachineEvent::Message) => format!("waits until the machine {machine} sends a message"),
        Some(MachineEvent::Receipt) => format!("waits until the machine {machine} tells a receipt"),
        None => format!("waits for the machine {machine}"),
    }
}

/// Why what it waits for cannot be seen.
const fn unseen(why: Unseen) -> &'static str {
    match why {
        Unseen::FolderMissing => "the folder is not there",
        Unseen::TooManyFiles => "there are more files than a schedule may wait for",
        Unseen::NoRepository => "there is no repository whose branches can be read",
        Unseen::ScheduleMissing => "the schedule that it waits for was removed",
        Unseen::ServerMissing => "the server of tools is not there as it was registered, or does not answer",
        Unseen::RelayMissing => "no relay that it asks answers",
        Unseen::MachineMissing => "the machine is not paired, or the mesh does not run here",
        Unseen::Unreadable => "it cannot be read",
    }
}

fn previewed(out: &Output, found: &Previewed) {
    match &found.waits_for {
        Some(on) => {
            out.line(format!("read as {}", plain(&found.rule)));
            waits_for(on).into_iter().for_each(|line| out.line(format!("  {line}")));
        }
        None => {
            out.line(format!("read as {}, time zone {}", plain(&found.rule), plain(&found.zone)));
            found.next.iter().for_each(|due| out.line(format!("  {}", plain(&due.text))));
        }
    }
    conditions(&found.only, found.battery_above).into_iter().for_each(|line| out.line(format!("  {line}")));
}
