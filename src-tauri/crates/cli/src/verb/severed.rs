//! `hermit ledger reanchor` and `severed`: a broken chain, gone on with by a person, and what was left behind.

use super::Came;
use super::keyring::approval_passphrase;
use crate::args::Reanchor;
use crate::context::{Context, Signs};
use crate::output::{Output, Tone};
use crate::terminal::{Echo, Typed};
use crate::text::plain;
use host::{Break, Local, broken};
use serde_json::json;
use wire::ledger::{Checkpoint, Cut, Severed, Verify};
use wire::{Code, Error, exit};

/// Rows whose text is printed in full.
const TEXT_MAX: usize = 160;

/// `hermit ledger reanchor`.
pub fn reanchor(context: &Context, args: &Reanchor) -> Came {
    context.reading()?;
    let found = broken(&context.home)?;
    if found.is_empty() {
        return Err(Error::new(
            Code::Conflict,
            "no chain of a task is broken in this store, so there is nothing to sever",
        )
        .hint("`hermit ledger verify` says what else may be wrong; for that, restore a backup"));
    }
    if args.preview {
        context.out.answer(&previewed(&found), |out, _| listed(out, &found))?;
        return Ok(exit::DONE);
    }
    if !context.out.is_json() {
        listed(&context.out, &found);
    }
    agreed(context, args)?;
    let words = approval_passphrase(context, args.approval_passphrase_fd)?;
    let unlock = context.unlock(Signs::Yes)?;
    Local::reanchor(context.home.clone(), &unlock, &found, &args.reason, &words)
        .map_err(host::Error::to_wire)?;
    // What was done is signed for at once, where the keys are open.
    let session = context.writing(Signs::Yes)?;
    let signed = session.call(&Checkpoint { tasks: Vec::new() });
    let report = session.call(&Verify { keys: Vec::new(), content: false });
    session.close();
    let locked = |e: &Error| e.code == Code::KeyLocked;
    if let Err(error) = signed
        && !locked(&error)
    {
        return Err(error);
    }
    context.out.answer(&report?, |out, report| {
        out.say(Tone::Good, "anchored anew: the log goes on from here");
        show(out, &report.severed);
        out.line(format!("{}: {}", report.verdict, plain(&report.reason)));
    })?;
    Ok(exit::DONE)
}

fn previewed(found: &[Break]) -> serde_json::Value {
    let one = |b: &Break| json!({ "task_id": b.task.to_string(), "from_seq": b.from_seq, "why": b.why });
    json!({ "broken": found.iter().map(one).collect::<Vec<_>>() })
}

fn listed(out: &Output, found: &[Break]) {
    for Break { task, from_seq, why } in found {
        out.say(Tone::Bad, format!("task {task} is broken at event {from_seq}: {}", plain(why)));
    }
    out.line(
        "everything of these tasks from there on is severed: kept for reading only, confirmed by nobody",
    );
}

/// Asks for the word, where somebody is there to ask.
fn agreed(context: &Context, args: &Reanchor) -> Result<(), Error> {
    if args.yes {
        return Ok(());
    }
    let Some(terminal) = &context.terminal else {
        return Err(Error::new(
            Code::Usage,
            "only a person anchors a broken chain anew, and nobody is here to ask",
        )
        .hint("look with `--preview`; say it with `--yes` and `--approval-passphrase-fd N`"));
    };
    terminal.arm();
    terminal.print("This stays visible for ever. A backup from before may be the better way.\r\n");
    match terminal.ask("Type `reanchor` to go on: ", Echo::Shown)? {
        Typed::Line(line) if line.trim() == "reanchor" => Ok(()),
        _ => Err(Error::new(Code::Cancelled, "nothing was changed")),
    }
}

/// `hermit ledger severed`.
pub fn severed(context: &Context, task: Option<String>) -> Came {
    let all = context.reading()?.call(&Severed { task, after_seq: 0 })?;
    context.out.answer(&all, |out, all| {
        if all.severed.is_empty() {
            out.line("nothing was ever severed");
        }
        show(out, &all.severed);
        for row in &all.rows {
            let tone = if row.hash == row.sha256 { Tone::Faint } else { Tone::Bad };
            out.say(
                tone,
                format!("event {} (number {} of the log)  sha256 {}", row.task_seq, row.log_seq, row.sha256),
            );
            if row.hash != row.sha256 {
                out.line(format!("  the log says                       {}", row.hash));
            }
            let text: String = plain(&row.text).chars().take(TEXT_MAX).collect();
            out.line(format!("  {text}"));
        }
    })?;
    Ok(exit::DONE)
}

/// What was severed, a few lines each.
pub fn show(out: &Output, severed: &[Cut]) {
    for cut in severed {
        let lost = if cut.lost == 0 { String::new() } else { format!(", {} are lost", cut.lost) };
        out.say(
            Tone::Warn,
            format!(
                "  severed: task {} from event {} on, {} rows kept{lost}",
                cut.task_id, cut.from_seq, cut.rows
            ),
        );
        let reason = cut.reason.as_deref().unwrap_or("the reason was erased");
        out.line(format!("    by a person, as event {} of the log says: {}", cut.log_seq, plain(reason)));
    }
}
