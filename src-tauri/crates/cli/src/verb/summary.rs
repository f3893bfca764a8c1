//! `hermit task summary` and `hermit task compact`: what stands in a context in the place of its oldest turns.

use super::Came;
use crate::context::{Context, Signs};
use crate::output::{Output, Tone};
use crate::text::{count, plain, short, time};
use wire::context::{Compact, ContextSummary, Summary, SummaryLine};
use wire::exit;
use words::knowledge::SummaryLineKind;

/// `hermit task compact`.
pub(super) fn compact(context: &Context, task: String) -> Came {
    let session = context.writing(Signs::No)?;
    let made = session.call(&Compact { task });
    session.close();
    context.out.answer(&made?, |out, made| {
        if made.artifact_id.is_none() {
            return out.line(
                "There is nothing to sum up: the task has ended, or its model has seen too little since.",
            );
        }
        let lines = count(made.lines as usize, "line");
        out.line(format!("Turns 1 to {} are summed up in {lines}.", made.through));
        out.line(format!("See them: hermit task summary {} --unfold", short(&made.task_id)))
    })?;
    Ok(exit::DONE)
}

/// `hermit task summary`.
pub(super) fn show(context: &Context, task: String, artifact: Option<String>, unfold: bool) -> Came {
    let found = context.reading()?.call(&Summary { task, artifact })?;
    context.out.answer(&found, |out, found| tell(out, found, unfold))?;
    Ok(exit::DONE)
}

fn tell(out: &Output, found: &ContextSummary, unfold: bool) {
    out.line(format!(
        "Summary of turns 1 to {}, in the place of {}, made {}; trust: {}",
        found.through,
        count(found.results as usize, "result"),
        time(found.made_at),
        found.trust.as_str().replace('_', " ")
    ));
    if let Some(model) = &found.retold_by {
        let said =
            "left words out of lines that say `in short`; each of their words stands in the summary before";
        out.line(format!("The model {} {said}.", plain(model)));
    }
    for line in &found.lines {
        out.line(format!("  turn {:>3}  {:<8}  {}", line.iteration, kind(line.kind), plain(&line.text)));
        if unfold {
            unfolded(out, line);
        }
    }
    if found.left_out > 0 {
        let left_out = count(found.left_out as usize, "older line");
        let before = found.before.as_deref().unwrap_or_default();
        out.say(
            Tone::Faint,
            format!("{left_out} found no room; the summary before has them: --artifact {before}"),
        );
    }
}

fn unfolded(out: &Output, line: &SummaryLine) {
    let events = line.events.iter().map(|event| format!("{} {}", event.seq, event.event_type));
    out.line(format!("            stands for: {}", events.collect::<Vec<_>>().join(", ")));
    if let Some(artifact) = &line.artifact_id {
        out.line(format!("            quoted from: {artifact}"));
    }
}

const fn kind(kind: SummaryLineKind) -> &'static str {
    match kind {
        SummaryLineKind::Correction => "refused",
        SummaryLineKind::Answer => "asked",
        SummaryLineKind::Done => "done",
        SummaryLineKind::Error => "failed",
        SummaryLineKind::Said => "said",
        SummaryLineKind::Retold => "in short",
        SummaryLineKind::Seen => "looked",
        SummaryLineKind::Quote => "quoted",
    }
}
