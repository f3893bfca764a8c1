//! `hermit successor`.

mod changes;

use super::{Came, adoptions};
use crate::args::{SuccessorTry, SuccessorVerb};
use crate::context::{Context, Signs};
use crate::output::{Output, Tone, table};
use crate::text::{capital, count, plain, short, size, time};
use crate::waiting::Waiting;
use host::{Interrupts, Session};
use std::time::Duration;
use wire::successor::{
    List, Show, Stop, Trial, TrialAsked, TrialDifference, TrialEdit, TrialList, TrialMeasure,
    TrialParentTests, TrialRow, TrialVerdict, Try,
};
use wire::{Code, Error, exit};
use words::successor::{MeasuredBy, PatchKind, TrialStage, TrialState, VerdictOutcome};

/// How often it is looked how far trials are.
const TICK: Duration = Duration::from_millis(500);
/// Lines of a piece of a change that are shown.
const LINES_MAX: usize = 200;

/// `hermit successor`.
pub fn successor(context: &Context, verb: SuccessorVerb) -> Came {
    match verb {
        SuccessorVerb::Try(args) => tried(context, &args),
        SuccessorVerb::List { limit } => {
            let of = |list: &TrialList| list.trials.iter().find_map(how_far);
            let listed = context.told(&List { cursor: None, limit }, of)?;
            context.out.answer(&listed, listed_in_words)?;
            Ok(exit::DONE)
        }
        SuccessorVerb::Show { trial } => {
            let shown = context.told(&Show { trial }, |shown| how_far(&shown.trial))?;
            context.out.answer(&shown, shown_in_words)?;
            Ok(exit::DONE)
        }
        SuccessorVerb::Adopt(args) => adoptions::adopt(context, args),
        SuccessorVerb::Adopted => adoptions::adopted(context),
        SuccessorVerb::Back(args) => adoptions::back(context, args),
        SuccessorVerb::Stop { trial, reason } => {
            let session = context.writing(Signs::No)?;
            let stopped = session.call(&Stop { trial, reason });
            session.close();
            context.out.answer(&stopped?, shown_in_words)?;
            Ok(exit::DONE)
        }
    }
}

/// What only the process that runs a trial knows of it.
fn how_far(trial: &TrialRow) -> Option<&'static str> {
    (trial.state == TrialState::Running).then_some("How far a trial is that has not ended is not known")
}

fn tried(context: &Context, args: &SuccessorTry) -> Came {
    let asked = Try {
        patches: changes::patches(args)?,
        about: args.task.clone(),
        tasks: args.on.clone(),
        draw: args.draw,
        seed: args.seed,
        wall_seconds: args.wall_seconds,
        cpu_seconds: args.cpu_seconds,
        memory_mb: args.memory_mb,
        disk_mb: args.disk_mb,
        processes: args.processes,
        tokens: args.tokens,
        ask: args.ask.clone(),
    };
    let session = context.writing(Signs::No)?;
    let done = stay(context, &session, &asked, args.detach);
    session.close();
    done
}

/// Begins trials and stays until each has ended.
fn stay(context: &Context, session: &Session, asked: &Try, detach: bool) -> Came {
    if detach && session.is_owner() {
        return Err(Error::new(
            Code::Usage,
            "nobody else has Hermit open, so that a trial would end with this command",
        )
        .hint("leave out `--detach`, or open Hermit (`hermit serve`) first"));
    }
    let mut list = session.call(asked)?;
    let interrupts = Interrupts::watch();
    let mut line = Waiting::new(context, "trying it on past work (Ctrl-C stops it)");
    while !detach && list.trials.iter().any(|one| one.state == TrialState::Running) {
        if interrupts.pressed() {
            line.end();
            return given_up(session, &list);
        }
        if let Some(now) = asked_until_now(&list).or_else(|| built_until_now(&list)) {
            line.says(now);
        }
        line.tell();
        std::thread::park_timeout(TICK);
        for one in list.trials.iter_mut().filter(|one| one.state == TrialState::Running) {
            *one = session.call(&Show { trial: one.trial_id.clone() })?.trial;
        }
    }
    line.end();
    let is_judged = |one: &TrialRow| !matches!(one.state, TrialState::Failed | TrialState::Stopped);
    let code = if list.trials.iter().all(is_judged) { exit::DONE } else { exit::OTHER };
    match list.trials.as_slice() {
        [one] if !detach => {
            let shown = session.call(&Show { trial: one.trial_id.clone() })?;
            context.out.answer(&shown, shown_in_words)?;
        }
        _ => context.out.answer(&list, side_by_side)?,
    }
    Ok(code)
}

/// How far the models are that are asked about words, over all trials that run; nothing where none is.
fn asked_until_now(list: &TrialList) -> Option<String> {
    let all: Vec<&TrialAsked> = list
        .trials
        .iter()
        .filter(|one| one.state == TrialState::Running)
        .filter_map(|one| one.asked.as_ref())
        .collect();
    let model = &all.first()?.model;
    let sum = |of: fn(&TrialAsked) -> u32| all.iter().fold(0_u32, |sum, one| sum.saturating_add(of(one)));
    Some(format!(
        "asking a model again: {} without the change, {} with it, of {} (Ctrl-C stops it)",
        answers(sum(|one| one.parent)),
        sum(|one| one.successor),
        plain(model)
    ))
}

/// What the trials of the source are at that run; nothing where none is one.
fn built_until_now(list: &TrialList) -> Option<String> {
    let code =
        list.trials.iter().filter(|one| one.state == TrialState::Running && one.kind == PatchKind::Code);
    let at: Vec<TrialStage> = code.filter_map(|one| one.stage).collect();
    let busy = at.iter().filter_map(|stage| match stage {
        TrialStage::BuildingBase => Some("building Hermit without the change first, once for this version"),
        TrialStage::Building => Some("building Hermit with the change"),
        TrialStage::Testing => Some("running its tests"),
        TrialStage::Playing => Some("doing past work again"),
        TrialStage::Waiting => None,
    });
    let mut said: Vec<String> = busy.map(str::to_owned).collect();
    let waiting = at.iter().filter(|stage| **stage == TrialStage::Waiting).count();
    if waiting > 0 {
        said.push(format!("{waiting} waiting until another change is built"));
    }
    (!said.is_empty()).then(|| format!("{} (Ctrl-C stops it)", said.join("; ")))
}

fn answers(many: u32) -> String {
    if many == 1 { "1 answer".to_owned() } else { format!("{many} answers") }
}

/// A person stops waiting: what this process runs ends with it.
fn given_up(session: &Session, list: &TrialList) -> Came {
    if !session.is_owner() {
        return Err(Error::new(Code::Cancelled, "you stopped waiting; Hermit continues the trial")
            .hint("`hermit successor list` tells how it stands, `hermit successor stop` stops it"));
    }
    for one in list.trials.iter().filter(|one| one.state == TrialState::Running) {
        session.call(&Stop { trial: one.trial_id.clone(), reason: None })?;
    }
    Err(Error::new(Code::Cancelled, "you stopped the trial"))
}

fn listed_in_words(out: &Output, list: &TrialList) {
    if list.trials.is_empty() {
        return out.line("No change of Hermit was tried. `hermit successor try --help` tells how.");
    }
    let row = |one: &TrialRow| {
        let mut says = one.says.as_deref().map(plain).unwrap_or_default();
        if let Some(task) = &one.proposed_by {
            says.push_str(&format!(" (proposed by the task {})", short(task)));
        }
        vec![short(&one.trial_id).to_owned(), time(one.began_at), one.kind.to_string(), stands(one), says]
    };
    table(out, &["trial", "began", "kind", "", "for"], &list.trials.iter().map(row).collect::<Vec<_>>());
    if list.next.is_some() {
        out.say(Tone::Faint, "there are older ones; --limit shows more");
    }
}

/// How a trial stands, or what it came to.
fn stands(one: &TrialRow) -> String {
    match (one.state, one.outcome) {
        (TrialState::Judged, Some(outcome)) => outcome.to_string(),
        (state, Some(outcome)) => format!("{outcome}, {state}"),
        (state, None) => state.to_string(),
    }
}

/// Changes that raced, in columns: what each came to and cost.
fn side_by_side(out: &Output, list: &TrialList) {
    let names = ["questions", "tokens", "turns", "denials"];
    let cell = |one: &TrialRow, name: &str| {
        let measure = one.measures.iter().find(|measure| measure.name == name);
        measure
            .map_or_else(|| "-".to_owned(), |measure| format!("{} : {}", measure.parent, measure.successor))
    };
    let row = |one: &TrialRow| {
        let mut cells = vec![short(&one.trial_id).to_owned(), stands(one)];
        cells.extend(names.iter().map(|name| cell(one, name)));
        cells.push(one.says.as_deref().map(plain).unwrap_or_default());
        cells
    };
    let head = ["trial", "verdict", "questions", "tokens", "turns", "denials", "for"];
    table(out, &head, &list.trials.iter().map(row).collect::<Vec<_>>());
    for one in list.trials.iter().filter_map(|one| one.why.as_deref()) {
        out.say(Tone::Warn, capital(&plain(one)));
    }
    out.say(
        Tone::Faint,
        "numbers are without the change : with it; `hermit successor show TRIAL` tells what differed",
    );
}

fn shown_in_words(out: &Output, shown: &Trial) {
    let row = &shown.trial;
    let tone = match row.outcome {
        Some(VerdictOutcome::Better | VerdictOutcome::Same) => Tone::Good,
        Some(VerdictOutcome::Unsafe) => Tone::Bad,
        Some(VerdictOutcome::Worse | VerdictOutcome::Inconclusive) => Tone::Warn,
        None => Tone::Bold,
    };
    out.say(
        tone,
        format!("{}: {}", capital(&stands(row)), row.says.as_deref().map(plain).unwrap_or_default()),
    );
    out.line(format!("  trial {}, a change of {}, begun {}", row.trial_id, row.kind, time(row.began_at)));
    if let Some(task) = &row.proposed_by {
        out.line(format!("  proposed by the task {}", plain(task)));
    }
    if let Some(about) = &row.about {
        out.line(format!("  to do: {}", plain(about)));
    }
    if let Some(why) = &row.why {
        out.say(Tone::Warn, format!("  {}", capital(&plain(why))));
    }
    out.say(Tone::Bold, "What changed");
    for piece in &shown.changes {
        out.line(format!("  {}", plain(&piece.what)));
        piece
            .text
            .lines()
            .take(LINES_MAX)
            .for_each(|line| out.say(Tone::Faint, format!("      {}", plain(line))));
        if piece.text.lines().count() > LINES_MAX {
            out.say(Tone::Faint, "      and more; --json shows all of it");
        }
    }
    edited_tests(out, shown);
    shown.sources.iter().for_each(|source| out.line(format!("  comes from: {}", plain(source))));
    what_was_run(out, shown);
    if let Some(verdict) = &shown.verdict {
        verdict_in_words(out, row, verdict);
    }
    if !shown.rivals.is_empty() {
        out.say(Tone::Bold, "It raced");
        let row = |one: &TrialRow| {
            vec![
                short(&one.trial_id).to_owned(),
                stands(one),
                one.says.as_deref().map(plain).unwrap_or_default(),
            ]
        };
        table(out, &["trial", "verdict", "for"], &shown.rivals.iter().map(row).collect::<Vec<_>>());
    }
}

/// The tasks that both arms play, those that were too large for it, and the model that was asked.
fn what_was_run(out: &Output, shown: &Trial) {
    let row = &shown.trial;
    out.say(Tone::Bold, "What was run");
    let tasks = count(shown.tasks.len(), "task");
    out.line(format!(
        "  {tasks}, named or drawn at random with the seed {}: {}",
        row.seed,
        shown.tasks.iter().map(|id| short(id)).collect::<Vec<_>>().join(", ")
    ));
    if !shown.left_out.is_empty() {
        let ids: Vec<&str> = shown.left_out.iter().map(|id| short(id)).collect();
        let ids = ids.join(", ");
        out.say(Tone::Warn, format!("  left out of the draw, as too large for this trial: {ids}"));
    }
    if let Some(TrialAsked { model, parent, successor }) = &row.asked {
        let model = plain(model);
        out.line(format!(
            "  the model {model} was asked again: {} without the change, {successor} with it",
            answers(*parent)
        ));
    }
}

fn verdict_in_words(out: &Output, row: &TrialRow, verdict: &TrialVerdict) {
    if let Some(tests) = &verdict.tests {
        let failed = count(tests.failed.len(), "test");
        out.line(format!("  {}: {} passed, {failed} failed", plain(&tests.suite), tests.passed));
        for file in &tests.edited {
            out.say(
                Tone::Warn,
                format!("  it edits or removes the test {}: look at that first", plain(file)),
            );
        }
        if let Some(parent) = &tests.parent {
            parents_tests(out, parent);
        }
    }
    let passed: Vec<&str> =
        verdict.planted.iter().filter(|one| !one.refused).map(|one| one.name.as_str()).collect();
    match passed.as_slice() {
        [] => out.line(format!(
            "  {}, tried in the same run, refused",
            count(verdict.planted.len(), "bad change")
        )),
        some => {
            out.say(Tone::Bad, format!("  a bad change passed in the same run: {}", plain(&some.join(", "))))
        }
    }
    out.say(Tone::Bold, "What differed");
    match (verdict.has_evidence, verdict.differences.as_slice()) {
        (false, _) => out.line("  the evidence was erased"),
        (true, []) => out.line("  nothing: the same acts, with the same effects"),
        (true, some) => some.iter().for_each(|one| difference(out, one)),
    }
    if verdict.more_differences > 0 {
        out.line(format!("  and {} more", verdict.more_differences));
    }
    costs(out, row, verdict);
    out.say(Tone::Bold, "Why");
    if verdict.reasons.is_empty() {
        out.line("  no rule was met: no difference that counts");
    }
    for reason in &verdict.reasons {
        out.line(format!("  {} ({})", capital(&plain(&reason.says)), plain(&reason.rule)));
    }
    if let Some(opinion) = &verdict.opinion {
        out.say(Tone::Faint, format!("  a model thinks, and that decides nothing: {}", plain(opinion)));
    }
    if !verdict.constitutional.is_empty() {
        out.say(
            Tone::Warn,
            format!("  it touches what checks every change: {}", plain(&verdict.constitutional.join(", "))),
        );
    }
    match verdict.is_signed {
        Some(true) => {
            out.say(Tone::Faint, format!("  signed by this store's log, sha256 {}", verdict.verdict_sha256))
        }
        Some(false) => out.say(Tone::Bad, "  the signature of this verdict does not hold"),
        None => out.say(Tone::Faint, "  the key that signed this verdict is not known here"),
    }
}

fn costs(out: &Output, row: &TrialRow, verdict: &TrialVerdict) {
    out.say(Tone::Bold, "What it cost, without the change : with it");
    for one in &row.measures {
        let own_word = if counts_itself(one) { ", counted by the changed program itself" } else { "" };
        let (name, parent, successor) = measured(one);
        out.line(format!("  {name}: {parent} : {successor}{own_word}"));
    }
    if row.measures.iter().any(counts_itself) {
        out.say(
            Tone::Warn,
            "  what the changed program counts of itself can make this verdict worse, never better",
        );
    }
    if let Some(part) = verdict.ended_for {
        out.say(Tone::Warn, format!("  a clone used up its {}", part.in_words()));
    }
}

/// A measure as a person reads it: its name, and the numbers without the change and with it, with their unit.
fn measured(one: &TrialMeasure) -> (String, String, String) {
    let both = |name: &str, of: fn(u64) -> String| (name.to_owned(), of(one.parent), of(one.successor));
    let seconds = |ms: u64| match ms {
        0..100 => format!("{ms} ms"),
        _ => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
    };
    match one.name.as_str() {
        "questions" => both("questions to you", |many| many.to_string()),
        "wall_ms" => both("time", seconds),
        "cpu_ms" => both("processor time", seconds),
        "memory_bytes" => both("memory", size),
        other => both(&plain(other).replace('_', " "), |many| many.to_string()),
    }
}

/// Tests that the change edits, each with every line of the difference: a person looks at these before it is adopted.
fn edited_tests(out: &Output, shown: &Trial) {
    for TrialEdit { file, sha256, difference } in &shown.edited_tests {
        out.say(
            Tone::Warn,
            format!("  it edits, moves or removes tests in {}, sha256 {sha256}:", plain(file)),
        );
        difference.lines().for_each(|line| out.line(format!("      {}", plain(line))));
    }
    if shown.waits_for_look {
        let looked: Vec<String> =
            shown.edited_tests.iter().map(|one| format!(" --looked {}", one.sha256)).collect();
        out.say(
            Tone::Warn,
            "  nothing else keeps it from being the same. Once you have looked at these, with two reviews:",
        );
        out.line(format!(
            "  hermit successor adopt {} --although-same{} --review FILE --review FILE",
            shown.trial.trial_id,
            looked.concat()
        ));
    }
}

/// Whether a number is the word of a changed program about itself.
fn counts_itself(one: &TrialMeasure) -> bool {
    one.measured_by == Some(MeasuredBy::Successor)
}

/// How the suite ran with the tests as they were before the change.
fn parents_tests(out: &Output, run: &TrialParentTests) {
    let failed = count(run.failed.len(), "test");
    let tone = if run.failed.is_empty() { Tone::Plain } else { Tone::Bad };
    out.say(tone, format!("  with these tests as they were before: {} passed, {failed} failed", run.passed));
    for test in &run.failed {
        out.say(Tone::Bad, format!("    {} fails as it was before", plain(test)));
    }
    for file in &run.not_run {
        out.say(Tone::Warn, format!("    the tests of {} could not be run as they were before", plain(file)));
    }
}

fn difference(out: &Output, one: &TrialDifference) {
    let said = |verdict: &Option<String>| verdict.as_deref().map_or("not done".to_owned(), plain);
    let effect = if one.effect_differs { ", with another effect" } else { "" };
    let (before, after) = (said(&one.before), said(&one.after));
    out.line(format!(
        "  {} ({}): {before}, now {after}{effect}",
        plain(&one.summary),
        plain(&one.class.replace('_', " "))
    ));
}
