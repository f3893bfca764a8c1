//! `hermit train`.

use super::Came;
use super::mesh::by_person;
use crate::args::{PersonArgs, TrainJoin, TrainRun, TrainTogether, TrainVerb};
use crate::context::{Context, Signs, absolute};
use crate::output::{Output, Tone, table};
use crate::terminal::{Echo, Typed};
use crate::text::{count, plain};
use host::Session;
use serde::Serialize;
use std::time::Duration;
use wire::training::{
    Curate, Curation, DatasetRow, Export, Join, List, LiveRun, MeasuresRow, Pause, Preview, Private,
    PrivateFolders, Prove, Recall, Recalled, Run, RunRow, RunStands, Stands, Stop, Together, TogetherRow,
    Trainings,
};
use wire::{Code, Command, Error, PersonSigned, exit};
use words::training::TrainingState;

/// How often a run that is waited for is asked how it stands.
const LOOK: Duration = Duration::from_millis(500);

/// Letters of an example on one line.
const CHARS_MAX: usize = 160;

/// `hermit train`.
pub fn train(context: &Context, verb: TrainVerb) -> Came {
    match verb {
        TrainVerb::Curate { by_time, keep: Some(shown) } => {
            answered(context, &asked(context, &Curate { by_time, shown })?, kept)
        }
        TrainVerb::Curate { by_time, keep: None } => curate(context, by_time),
        TrainVerb::Run(args) => run(context, *args),
        TrainVerb::Together(args) => together(context, *args),
        TrainVerb::Join(args) => join(context, *args),
        TrainVerb::Show => answered(context, &asked(context, &Stands {})?, stands),
        TrainVerb::Pause => answered(context, &asked(context, &Pause {})?, stands),
        TrainVerb::Stop => answered(context, &asked(context, &Stop {})?, stands),
        TrainVerb::Prove { run } => followed(context, &Prove { run }),
        TrainVerb::Export { run, name } => followed(context, &Export { run, name }),
        TrainVerb::List => answered(context, &context.reading()?.call(&List {})?, listed),
        TrainVerb::Recall { source } => {
            let path = std::path::Path::new(&source);
            // A folder that is gone is named by its whole path.
            let source = if path.is_dir() { absolute(path)? } else { source };
            answered(context, &asked(context, &Recall { source })?, recalled)
        }
        TrainVerb::Private { folder: Some(folder), off } => {
            let private = Private { folder: absolute(&folder)?, private: !off };
            answered(context, &asked(context, &private)?, private_folders)
        }
        TrainVerb::Private { folder: None, off: _ } => {
            let folders = asked(context, &Stands {})?.private;
            let gone = |folder: &&String| !std::path::Path::new(folder).is_dir();
            let missing = folders.iter().filter(gone).cloned().collect();
            answered(context, &PrivateFolders { folders, missing, learned: Vec::new() }, private_folders)
        }
    }
}

fn answered<T: Serialize>(context: &Context, answer: &T, say: fn(&Output, &T)) -> Came {
    context.out.answer(answer, say)?;
    Ok(exit::DONE)
}

fn asked<C: Command>(context: &Context, wanted: &C) -> Result<C::Answer, Error> {
    let session = context.writing(Signs::No)?;
    let came = session.call(wanted);
    session.close();
    came
}

/// Shows what would be kept, and asks where somebody is there to answer.
fn curate(context: &Context, by_time: bool) -> Came {
    let session = context.writing(Signs::No)?;
    let came = curate_in(context, &session, by_time);
    session.close();
    came
}

fn curate_in(context: &Context, session: &Session, by_time: bool) -> Came {
    let found = session.call(&Preview { by_time })?;
    let asks = found.trouble.is_none() && !context.out.is_json();
    let Some(terminal) = context.terminal.as_ref().filter(|_| asks) else {
        return answered(context, &found, would_hold);
    };
    would_hold(&context.out, &found);
    terminal.arm();
    match terminal.ask("Type `keep` to keep this dataset: ", Echo::Shown)? {
        Typed::Line(line) if line.trim() == "keep" => {
            let made = session.call(&Curate { by_time, shown: found.sha256 })?;
            answered(context, &made, kept)
        }
        _ => Err(Error::new(Code::Cancelled, "nothing was kept")),
    }
}

/// What a run is asked for.
fn wanted(args: TrainRun) -> Run {
    Run {
        dataset: args.dataset,
        base: args.base,
        licence: args.licence,
        steps: args.steps,
        rank: args.rank,
        batch: args.batch,
        tokens: args.tokens,
        rate: args.rate,
        seconds: args.seconds,
        memory_mb: args.memory_mb,
        threads: args.threads,
        seed: args.seed,
        quant: args.quant,
        always: args.always,
        resume: args.resume,
    }
}

fn together(context: &Context, args: TrainTogether) -> Came {
    let detach = args.run.detach;
    let together = Together {
        name: args.name,
        with: args.with,
        rounds: args.rounds,
        percent: args.percent,
        patience_s: args.patience,
        run: wanted(args.run),
        signed: None,
    };
    let with = |together: Together, signed| Together { signed: Some(signed), ..together };
    said_by_person(context, (together, detach), &args.person, with)
}

fn join(context: &Context, args: TrainJoin) -> Came {
    let run = Run {
        dataset: args.dataset,
        licence: args.licence,
        threads: args.threads,
        always: args.always,
        ..Run::default()
    };
    let join = Join { name: args.name, from: args.from, run, signed: None };
    let with = |join: Join, signed| Join { signed: Some(signed), ..join };
    said_by_person(context, (join, args.detach), &args.person, with)
}

/// Begins what a person says, and stays until it has come to its end unless it is not to.
fn said_by_person<C: Command<Answer = RunStands>>(
    context: &Context,
    (command, detach): (C, bool),
    person: &PersonArgs,
    with: impl FnOnce(C, PersonSigned) -> C,
) -> Came {
    let session = context.writing(Signs::No)?;
    let begun = by_person(context, &session, person, command, with);
    let came = begun.and_then(|now| if detach { Ok(now) } else { stay(context, &session, now) });
    session.close();
    let now = came?;
    if detach { answered(context, &now, stands) } else { ended(context, &now) }
}

fn run(context: &Context, args: TrainRun) -> Came {
    let detach = args.detach;
    let wanted = wanted(args);
    if !detach {
        return followed(context, &wanted);
    }
    let session = context.writing(Signs::No)?;
    if !session.is_attached() {
        session.close();
        return Err(Error::new(
            Code::Usage,
            "nobody would go on with it: no other process has this store open",
        )
        .hint("leave `--detach` out, or open the app or `hermit serve` first"));
    }
    let came = session.call(&wanted);
    session.close();
    answered(context, &came?, stands)
}

/// Begins something and stays until it has come to its end.
fn followed<C: Command<Answer = RunStands>>(context: &Context, wanted: &C) -> Came {
    let session = context.writing(Signs::No)?;
    let came = follow(context, &session, wanted);
    session.close();
    ended(context, &came?)
}

fn ended(context: &Context, now: &RunStands) -> Came {
    let state = now.run.as_ref().map(|run| run.state);
    context.out.answer(now, stands)?;
    Ok(match state {
        Some(TrainingState::Done | TrainingState::Stopped) => exit::DONE,
        _ => exit::OTHER,
    })
}

fn follow<C: Command<Answer = RunStands>>(
    context: &Context,
    session: &Session,
    wanted: &C,
) -> Result<RunStands, Error> {
    let now = session.call(wanted)?;
    stay(context, session, now)
}

/// Stays until the run in hand has come to its end.
fn stay(context: &Context, session: &Session, mut now: RunStands) -> Result<RunStands, Error> {
    let mut told = None;
    loop {
        let Some(run) = now.run.as_ref().filter(|run| is_at_work(run.state)) else { return Ok(now) };
        let line = line_of(run);
        if !context.out.is_json() && told.as_ref() != Some(&line) {
            context.out.line(&line);
            told = Some(line);
        }
        std::thread::sleep(LOOK);
        now = session.call(&Stands {})?;
    }
}

const fn is_at_work(state: TrainingState) -> bool {
    !matches!(state, TrainingState::Done | TrainingState::Stopped | TrainingState::Failed)
}

fn line_of(run: &LiveRun) -> String {
    let loss = run.losses.last().map_or(String::new(), |last| format!(", loss {}", millionths(last.micros)));
    let words = run.words.as_deref().map_or(String::new(), |words| format!("; {}", plain(words)));
    format!("{} {}: step {} of {}{loss}{words}", plain(&run.run_id), run.state, run.step, run.steps)
}

fn millionths(micros: u64) -> String {
    format!("{}.{:03}", micros / 1_000_000, micros % 1_000_000 / 1_000)
}

fn would_hold(out: &Output, found: &Curation) {
    match &found.trouble {
        Some(why) => out.say(Tone::Warn, format!("no dataset can be made: {}", plain(why))),
        None => {
            let learned = found.examples.saturating_sub(found.held_out);
            out.say(Tone::Bold, format!("a dataset of {}", count(found.examples as usize, "example")));
            out.line(format!(
                "  {learned} to learn from, with {}; {} held out{}",
                count(found.receipts as usize, "receipt"),
                found.held_out,
                if found.by_time { ", new in time alone" } else { ", of other projects" },
            ));
            out.say(Tone::Faint, format!("  sha256 {}", found.sha256));
        }
    }
    for one in &found.shown {
        let side = if one.held_out { "held out" } else { "learned from" };
        out.say(Tone::Faint, format!("{side}, of {}", plain(&one.task_id)));
        out.line(format!("  asked     {}", cut(&one.asked)));
        out.line(format!("  answered  {}", cut(&one.answer)));
    }
    if !found.left_out.is_empty() {
        out.say(Tone::Bold, "left out");
        let row = |one: &wire::training::LeftOut| {
            let tasks: Vec<String> = one.tasks.iter().take(3).map(|task| plain(task)).collect();
            vec![one.why.as_str().replace('_', " "), one.turns.to_string(), tasks.join(", ")]
        };
        table(out, &["why", "turns", "tasks"], &found.left_out.iter().map(row).collect::<Vec<_>>());
    }
    for folder in &found.private {
        out.say(Tone::Faint, format!("private: {}{}", plain(folder), gone(folder, &found.missing)));
    }
}

fn cut(text: &str) -> String {
    let line = plain(&text.replace(['\n', '\r'], " "));
    line.chars().take(CHARS_MAX).collect()
}

fn kept(out: &Output, kept: &DatasetRow) {
    out.say(Tone::Good, format!("kept: dataset {}", plain(&kept.dataset_id)));
    out.line(format!("  {} examples, {} held out; sha256 {}", kept.examples, kept.held_out, kept.sha256));
    out.say(Tone::Faint, "train with it: `hermit train run --base MODEL`");
}

fn stands(out: &Output, now: &RunStands) {
    match &now.run {
        None => out.line("no run is in hand"),
        Some(run) => {
            let tone = match run.state {
                TrainingState::Done => Tone::Good,
                TrainingState::Failed => Tone::Warn,
                _ => Tone::Bold,
            };
            out.say(tone, line_of(run));
            run.ran_on.iter().for_each(|on| out.line(format!("  runs on {}", plain(on))));
            if let Some(of) = &run.together {
                with_others(out, of);
            }
        }
    }
    for one in &now.invitations {
        out.line(format!(
            "{} asks whether this machine learns `{}` together with it: {} rounds of {} steps; `hermit train join \"{}\"`",
            plain(&one.from),
            plain(&one.name),
            one.rounds,
            one.steps,
            plain(&one.name)
        ));
    }
    for run in &now.resumable {
        out.say(
            Tone::Faint,
            format!("go on with one that was stopped: `hermit train run --resume {}`", plain(run)),
        );
    }
    if let Some(why) = &now.trouble {
        out.say(Tone::Warn, plain(why));
    }
}

/// How it stands with other machines, and what that cost.
fn with_others(out: &Output, of: &TogetherRow) {
    let lead = of
        .lead
        .as_deref()
        .map_or_else(|| "this machine leads".to_owned(), |lead| format!("{} leads", plain(lead)));
    let machines: Vec<String> = of.machines.iter().map(|one| plain(one)).collect();
    out.line(format!(
        "  `{}`: {} of {} rounds are learned, {} counted in the last one; {lead}; with {}",
        plain(&of.name),
        of.round,
        of.rounds,
        count(of.counted as usize, "machine"),
        if machines.is_empty() { "nobody yet".to_owned() } else { machines.join(", ") }
    ));
    out.line(format!("  sent {} bytes; plain averaging would have sent {}", of.sent_bytes, of.plain_bytes));
}

fn listed(out: &Output, all: &Trainings) {
    if all.datasets.is_empty() {
        return out.line("there is no dataset yet; see what one would hold: `hermit train curate`");
    }
    let row = |one: &DatasetRow| {
        let note = match (one.gone, &one.replaces) {
            (true, _) => "let go by a recall",
            (false, Some(_)) => "what a recall left",
            (false, None) => "",
        };
        let id = plain(&one.dataset_id);
        vec![
            id,
            one.examples.to_string(),
            one.held_out.to_string(),
            one.left_out.to_string(),
            note.to_owned(),
        ]
    };
    let rows = all.datasets.iter().map(row).collect::<Vec<_>>();
    table(out, &["dataset", "examples", "held out", "left out", ""], &rows);
    all.runs.iter().for_each(|run| told(out, run));
    for recall in &all.recalls {
        let source = recall.source.as_deref().map_or_else(|| "(erased)".to_owned(), plain);
        out.say(
            Tone::Faint,
            format!(
                "recalled: {source}; {}, {}",
                count(recall.datasets.len(), "dataset"),
                count(recall.runs.len(), "adapter")
            ),
        );
    }
}

fn told(out: &Output, run: &RunRow) {
    let (tone, stands) = match (run.recalled, run.offered) {
        (Some(_), _) => (Tone::Warn, "learned from something that was recalled: not offered any more"),
        (None, true) => (Tone::Good, "offered"),
        (None, false) => (Tone::Warn, "not offered"),
    };
    out.say(tone, format!("{}, of {}: {stands}", plain(&run.run_id), plain(&run.dataset_id)));
    if let Some(words) = &run.words {
        out.line(format!("  {}", plain(words)));
    }
    let row = |name: &str, of: &MeasuresRow| {
        vec![
            name.to_owned(),
            per_cent(of.next_act_per_mille),
            per_cent(of.valid_per_mille),
            plain(&of.perplexity),
        ]
    };
    if let (Some(before), Some(after)) = (&run.before, &run.after) {
        let rows = [row("before", before), row("after", after)];
        table(out, &["", "exact next act", "valid act", "perplexity"], &rows);
    }
    run.ran_on.iter().for_each(|on| out.line(format!("  ran on {}", plain(on))));
    match &run.exported {
        Some(one) if run.recalled.is_none() => {
            out.say(Tone::Faint, format!("  use it: `hermit models use {}`", plain(&one.address)));
        }
        None if run.offered => {
            out.say(
                Tone::Faint,
                format!("  make a model of it: `hermit train export {}`", plain(&run.run_id)),
            );
        }
        _ => {}
    }
}

fn per_cent(per_mille: u32) -> String {
    format!("{}.{} %", per_mille / 10, per_mille % 10)
}

fn recalled(out: &Output, came: &Recalled) {
    let recall = &came.recall;
    out.say(
        Tone::Good,
        format!(
            "recalled; {} lost examples, {} saw some",
            count(recall.datasets.len(), "dataset"),
            count(recall.runs.len(), "adapter")
        ),
    );
    recall.runs.iter().for_each(|run| out.line(format!("  {} is not offered any more", plain(run))));
    if let Some(words) = &came.standard {
        out.say(Tone::Warn, plain(words));
    }
}

fn private_folders(out: &Output, found: &PrivateFolders) {
    if found.folders.is_empty() {
        return out.line("no folder is marked private; `hermit train private FOLDER` marks one");
    }
    for folder in &found.folders {
        out.line(format!("{}{}", plain(folder), gone(folder, &found.missing)));
    }
    if !found.learned.is_empty() {
        let say = format!(
            "Datasets that you keep hold work of this folder, and adapters may have learned from it: {}. `hermit train recall \
             FOLDER` takes it out of them",
            plain(&found.learned.join(", "))
        );
        out.say(Tone::Warn, say);
    }
}

/// What is said of a marked folder that is not there.
fn gone(folder: &str, missing: &[String]) -> &'static str {
    if missing.iter().any(|one| one == folder) {
        " (not there; if you moved it, mark it where it is now)"
    } else {
        ""
    }
}
