//! What is known: artifacts, what models were sent, and the search through everything.

use super::Came;
use super::task::chain;
use crate::args::{ArtifactsVerb, ContextArgs, SearchArgs};
use crate::context::{Context, Signs, absolute};
use crate::output::{Output, Tone};
use crate::text::{paragraph, place, plain, size, time};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use std::collections::BTreeSet;
use wire::artifacts::{Artifact, Ingest, Lineage, Show};
use wire::exit;
use wire::knowledge::{Hit, Search};

/// `hermit artifacts`.
pub fn artifacts(context: &Context, verb: ArtifactsVerb) -> Came {
    match verb {
        ArtifactsVerb::Ingest { file, trust } => {
            let session = context.writing(Signs::No)?;
            let (path, channel) = (Some(absolute(&file)?), Some("cli".to_owned()));
            let taken = session.call(&Ingest { path, trust, channel, ..Ingest::default() });
            session.close();
            context.out.answer(&taken?, |out, taken| {
                out.line(format!(
                    "{}  {}  sha256 {}",
                    taken.artifact_id,
                    size(taken.byte_size),
                    taken.sha256
                ));
            })?;
        }
        ArtifactsVerb::Show { artifact, output } => {
            let session = context.reading()?;
            let found = session.call(&Show { artifact })?;
            match output {
                Some(path) => super::bytes::write(&session, &found, &path)?,
                None => context.out.answer(&found, show)?,
            }
        }
        ArtifactsVerb::Keep { artifact, undo } => super::collect::keep(context, artifact, !undo)?,
        ArtifactsVerb::Size => super::collect::weigh(context)?,
        ArtifactsVerb::Gc(args) => super::collect::gc(context, &args)?,
        ArtifactsVerb::Lineage { artifact } => {
            let (artifact, _) = super::trace::meant(&artifact)?;
            let found = context.reading()?.call(&Lineage { artifact })?;
            context.out.answer(&found, |out, found| {
                let maker: Vec<_> = found.produced_by.iter().cloned().collect();
                // Six questions, each with its answer, also where that is nothing (HK-14.4).
                let questions = [
                    ("which attempt made it", &maker),
                    ("what went into it", &found.inputs),
                    ("which decisions cite it", &found.cited_by),
                    ("which beliefs refer to it", &found.beliefs),
                    ("which memory came of it", &found.memories),
                    ("which receipts include it", &found.receipts),
                ];
                for (question, links) in questions {
                    out.say(Tone::Bold, question);
                    if links.is_empty() {
                        out.line("  none");
                    }
                    chain(out, "", links);
                }
                out.say(Tone::Bold, "further");
                chain(out, "before", &found.ancestors);
                chain(out, "after", &found.descendants);
                chain(out, "untrusted", &found.untrusted);
                chain(out, "stale", &found.stale);
            })?;
        }
    }
    Ok(exit::DONE)
}

fn show(out: &Output, a: &Artifact) {
    let fact = |name: &str, value: &str| out.line(format!("  {name:<10} {value}"));
    out.say(Tone::Bold, &a.artifact_id);
    fact("kind", &format!("{} ({})", a.kind, a.class));
    if let Some(name) = &a.name {
        fact("name", &plain(&name.to_string()));
    }
    fact("from", &plain(&place(&a.uri.to_string())));
    fact("task", &a.task_id);
    fact("size", &size(a.byte_size));
    fact("type", &plain(&a.media_type));
    fact("sha256", &a.sha256);
    fact("trust", a.trust.as_str());
    fact("made", &time(a.created_at));
    fact(
        "state",
        &format!("{}{}", a.state, if a.present == Some(false) { ", its bytes are gone" } else { "" }),
    );
    out.say(Tone::Faint, "its bytes: add `-o FILE`");
}

/// `hermit context`.
pub fn context(context: &Context, args: ContextArgs) -> Came {
    let show = wire::context::Show { task: args.task, attempt: args.attempt, iteration: args.iteration };
    let found = context.reading()?.call(&show)?;
    context.out.answer(&found, |out, found| {
        for turn in &found.turns {
            let model = turn.model.as_deref().unwrap_or("?");
            let summary = turn.summary.as_ref().map(|s| plain(&s.to_string())).unwrap_or_default();
            let tokens = turn.pack_tokens.map(|t| format!("{t} tokens")).unwrap_or_default();
            out.line(format!(
                "attempt {} turn {:>2}  {}  {tokens}  {summary}",
                turn.attempt,
                turn.iteration,
                plain(model)
            ));
        }
        let Some(shown) = &found.shown else {
            return out.say(Tone::Faint, "exact bytes of one turn: add `--iteration N`");
        };
        for (name, sent) in [("pack", &shown.pack), ("sent", &shown.request), ("came back", &shown.response)]
        {
            let Some(sent) = sent else { continue };
            out.say(Tone::Bold, format!("{name}  {}  sha256 {}", size(sent.byte_size), sent.sha256));
            let bytes = sent.bytes.as_ref().and_then(|b| STANDARD.decode(b).ok());
            out.line(bytes.map_or_else(|| "(gone)".to_owned(), |b| paragraph(&String::from_utf8_lossy(&b))));
        }
    })?;
    Ok(exit::DONE)
}

/// `hermit search`.
pub fn search(context: &Context, args: &SearchArgs) -> Came {
    let session = context.reading()?;
    let text = match args.text.as_slice() {
        // A file is searched for by its name; words are words.
        [one] if super::trace::is_file(one) => super::trace::meant(one)?.0,
        words => words.join(" "),
    };
    let found = session.call(&Search { text, after: None, limit: args.limit })?;
    context.out.answer(&found, |out, found| {
        if found.rows.is_empty() {
            return out.line("nothing found");
        }
        by_task(out, &found.rows);
    })?;
    Ok(exit::DONE)
}

/// Hits under their tasks, the newest first, each thing once.
fn by_task(out: &Output, hits: &[Hit]) {
    let mut tasks: Vec<&str> = Vec::new();
    for hit in hits {
        if !tasks.contains(&hit.task_id.as_str()) {
            tasks.push(&hit.task_id);
        }
    }
    for task in tasks {
        let own: Vec<&Hit> = hits.iter().filter(|hit| hit.task_id == task).collect();
        let title = own.first().and_then(|hit| hit.title.as_ref()).map(ToString::to_string);
        let title = title.unwrap_or_else(|| "messages and the store's own records".to_owned());
        let at = own.first().map(|hit| time(hit.at)).unwrap_or_default();
        out.say(Tone::Bold, format!("{at}  {}  {task}", plain(&title)));
        let mut seen = BTreeSet::new();
        // Each thing once, and of a receipt each file that was meant.
        let key = |hit: &Hit| (hit.id.clone(), (hit.part == "file").then(|| hit.excerpt.to_string()));
        for hit in own.into_iter().filter(|hit| seen.insert(key(hit))) {
            let text = hit.excerpt.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
            out.line(format!("  {:<14} {}", plain(&hit.what), plain(&text)));
            if hit.id != task {
                out.say(Tone::Faint, format!("                 {}", hit.id));
            }
        }
    }
}
