//! `hermit schedule`.

use super::Came;
use super::run::{micros, parameters, playbook_file};
use super::tools::{absolute, stay};
use crate::args::{ScheduleAdd, ScheduleVerb};
use crate::context::{Context, Signs};
use crate::output::{Output, Tone, table};
use crate::text::{plain, time};
use std::path::Path;
use wire::schedules::{
    Keep, List, Pause, Preview, Previewed, Remove, Resume, Run, Schedule, Schedules, Show,
};
use wire::task::{Budget, Reasoner};
use wire::{Code, Error, exit};
use words::schedule::{CatchUpKind, ScheduleState};

/// `hermit schedule`.
pub fn schedule(context: &Context, verb: ScheduleVerb) -> Came {
    let cli = || Some("cli".to_owned());
    match verb {
        ScheduleVerb::Add(args) => {
            let keep = asked(*args)?;
            stay(context, |session| session.call(&keep))
        }
        ScheduleVerb::List => {
            let found = context.reading()?.call(&List {})?;
            context.out.answer(&found, listed)?;
            Ok(exit::DONE)
        }
        ScheduleVerb::Show { schedule } => {
            let found = context.reading()?.call(&Show { name: schedule })?;
            context.out.answer(&found, shown)?;
            Ok(exit::DONE)
        }
        ScheduleVerb::Preview { time, zone } => {
            let found = context.free()?.call(&Preview { said: time, zone })?;
            context.out.answer(&found, previewed)?;
            Ok(exit::DONE)
        }
        ScheduleVerb::Pause { schedule, reason } => changed(
            context,
            &Pause { name: schedule, reason },
            "is paused; its times pass until you resume it",
        ),
        ScheduleVerb::Resume { schedule } => changed(context, &Resume { name: schedule }, "is resumed"),
        ScheduleVerb::Rm { schedule, reason } => {
            changed(context, &Remove { name: schedule, reason }, "is removed; its history stays")
        }
        ScheduleVerb::Run { schedule } => {
            let run = Run { name: schedule, channel: cli(), idempotency_key: None };
            stay(context, |session| session.call(&run))
        }
    }
}

/// Asks for a change that needs no yes, and tells it in a line.
fn changed<C: wire::Command<Answer = Schedule>>(context: &Context, ask: &C, told: &str) -> Came {
    let session = context.writing(Signs::No)?;
    let done = session.call(ask);
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
        conversation: args.conversation,
        channel: Some("cli".to_owned()),
        idempotency_key: None,
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
        let next = one.next.first().map_or_else(String::new, |due| plain(&due.text));
        vec![plain(&one.name), one.state.to_string(), plain(&one.said), next]
    };
    table(out, &["schedule", "state", "when", "next"], &found.schedules.iter().map(row).collect::<Vec<_>>());
    for one in &found.schedules {
        if let Some(why) = &one.why {
            out.say(Tone::Warn, format!("{} is {}: {}", plain(&one.name), one.state, plain(why)));
        }
    }
}

fn shown(out: &Output, one: &Schedule) {
    out.say(Tone::Bold, format!("{}, {}: {}", plain(&one.name), one.state, plain(&one.said)));
    if let Some(why) = &one.why {
        out.say(Tone::Warn, format!("  {}", plain(why)));
    }
    out.line(format!("  read as {}, time zone {}", plain(&one.rule), plain(&one.zone)));
    out.line(format!("  {} in {}", plain(&one.worker), plain(&one.folder)));
    for line in one.goal.lines() {
        out.line(format!("  > {}", plain(line)));
    }
    for due in &one.next {
        out.line(format!("  next: {}", plain(&due.text)));
    }
    out.line(format!("  fired {} times, passed over {}", one.fired, one.passed_over));
    if let Some(passed) = &one.last_passed_over {
        out.say(Tone::Faint, format!("  last passed over until {}: {}", time(passed.until), passed.why));
    }
    for run in &one.runs {
        let status = run.status.as_deref().unwrap_or("unknown");
        out.line(format!("  {}  {} {}", time(run.slot_at), plain(&run.task_id), plain(status)));
    }
    if one.state == ScheduleState::Paused {
        out.say(Tone::Faint, format!("hermit schedule resume {} lets it run again", plain(&one.name)));
    }
}

fn previewed(out: &Output, found: &Previewed) {
    out.line(format!("read as {}, time zone {}", plain(&found.rule), plain(&found.zone)));
    for due in &found.next {
        out.line(format!("  {}", plain(&due.text)));
    }
}
