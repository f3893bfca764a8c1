//! The store: its log, its copies, its halt, its health.

use super::Came;
use super::keyring::approval_passphrase;
use super::proof::{show_state, trusted};
use crate::args::{BackupArgs, HaltArgs, LedgerVerb, RestoreArgs};
use crate::context::{Context, Signs, absolute, why_not_by_owner};
use crate::output::{Output, Tone};
use crate::text::{plain, size};
use host::{Local, Session, ToldBy, Unlock};
use indicatif::{ProgressBar, ProgressStyle};
use wire::gate::{Boot, Halt};
use wire::host::{Doctor, Fact, Level};
use wire::ledger::{Checkpoint, Rebuild, Stats, Verify};
use wire::store::{Backup, Restore};
use wire::{Error, exit};
use words::number::grouped;

/// `hermit ledger`.
pub fn ledger(context: &Context, verb: LedgerVerb) -> Came {
    match verb {
        LedgerVerb::Verify { trust, content } => verify(context, &trust, content),
        LedgerVerb::Rebuild => rebuild(context),
        LedgerVerb::Reanchor(args) => super::severed::reanchor(context, &args),
        LedgerVerb::Severed { task } => super::severed::severed(context, task),
        LedgerVerb::Checkpoint { tasks } => {
            let session = context.writing(Signs::Yes)?;
            let made = session.call(&Checkpoint { tasks });
            session.close();
            context.out.answer(&made?, |out, made| {
                for c in &made.checkpoints {
                    out.line(format!(
                        "{:<7} {} {} {}",
                        c.kind,
                        c.size,
                        c.root,
                        c.task_id.as_deref().unwrap_or_default()
                    ));
                }
                for trouble in &made.troubles {
                    out.line(trouble);
                }
            })?;
            Ok(exit::DONE)
        }
        LedgerVerb::Stats => {
            let counts = context.reading()?.call(&Stats {})?;
            context.out.answer(&counts, |out, c| {
                out.line(format!("log       {}", c.log_id));
                out.line(format!("events    {} of {} tasks", c.events, c.tasks));
                out.line(format!("gate      {} entries", c.entries));
                out.line(format!("signed    {} checkpoints", c.checkpoints));
                out.line(format!("content   {} small artifacts, {} disclosures", c.blobs, c.disclosures));
                out.line(format!(
                    "file      {}, and {} not yet folded in",
                    size(c.file_bytes),
                    size(c.wal_bytes)
                ));
                out.line(format!("hosts     {} so far; schema {}", c.epoch, c.schema));
            })?;
            Ok(exit::DONE)
        }
    }
}

fn verify(context: &Context, trust: &[String], content: bool) -> Came {
    let session = context.reading()?;
    watch(context, &session);
    let report = session.call(&Verify { keys: trusted(trust)?, content })?;
    context.out.answer(&report, |out, r| {
        let tone = if r.verdict == wire::Verdict::Valid { Tone::Good } else { Tone::Bad };
        out.say(tone, format!("{}: {}", r.verdict, plain(&r.reason)));
        if let Some(place) = &r.place {
            out.line(format!("  first at {}", plain(place)));
        }
        out.line(format!(
            "  {} events of {} tasks, {} gate entries, {} disclosures, {} artifacts",
            r.events, r.tasks, r.entries, r.disclosures, r.artifacts
        ));
        out.line(format!(
            "  {} checkpoints, {} of them by a trusted key; {} events under none yet",
            r.checkpoints, r.trusted_checkpoints, r.unsigned_events
        ));
        if let Some(content) = &r.content {
            out.line(format!("  {} pieces of content read, {}", content.checked, size(content.byte_size)));
            listed(out, "missing", content.missing.iter().map(String::as_str));
            listed(out, "damaged", content.damaged.iter().map(|one| one.why.as_str()));
        }
        super::severed::show(out, &r.severed);
        if !r.pinned {
            out.line("  no head was kept outside the store to compare with");
        }
    })?;
    Ok(report.verdict.exit_code())
}

/// Rows of a list that are shown before the rest is counted.
const LISTED_MAX: usize = 20;

fn listed<'a>(out: &Output, what: &str, rows: impl Iterator<Item = &'a str>) {
    let rows: Vec<&str> = rows.collect();
    rows.iter().take(LISTED_MAX).for_each(|row| out.say(Tone::Bad, format!("  {what}: {}", plain(row))));
    if rows.len() > LISTED_MAX {
        out.line(format!("  and {} more; `--json` lists them all", rows.len() - LISTED_MAX));
    }
}

fn rebuild(context: &Context) -> Came {
    context.reading()?;
    let opened =
        Local::rebuilding(context.home.clone(), &Unlock::Environment).map_err(host::Error::to_wire)?;
    let session = Session::of(opened);
    let rebuilt = session.call(&Rebuild {});
    session.close();
    context
        .out
        .answer(&rebuilt?, |out, rebuilt| out.line(format!("{} events folded anew", rebuilt.events)))?;
    Ok(exit::DONE)
}

/// A bar for long work, on a terminal only.
fn watch(context: &Context, session: &Session) {
    if context.terminal.is_none() {
        return;
    }
    let bar = ProgressBar::no_length();
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}") {
        bar.set_style(style);
    }
    session.watch(Box::new(move |what, done, total| {
        bar.set_message(what.to_owned());
        bar.set_length(total);
        bar.set_position(done);
        if total > 0 && done >= total {
            bar.finish_and_clear();
        }
        true
    }));
}

/// `hermit backup`.
pub fn backup(context: &Context, args: &BackupArgs) -> Came {
    // A store that cannot be written is copied all the same, and the copy then says that the log does not tell of it.
    let session = context.writing(Signs::No).or_else(|_| context.reading())?;
    watch(context, &session);
    let made = session.call(&Backup { to: absolute(&args.to)? })?;
    context.out.answer(&made, |out, made| {
        out.line(format!("{}  {} files, {}", plain(&made.to), grouped(made.files), size(made.byte_size)));
        out.line(format!("names its content: sha256 {}", made.manifest_sha256));
        listed(out, "missing, so not in the backup", made.missing.iter().map(String::as_str));
        listed(out, "damaged, so not in the backup", made.damaged.iter().map(String::as_str));
        if !made.keys_left_out.is_empty() {
            let files = made.keys_left_out.join(", ");
            out.line(format!("It holds no keys. Keep {files} somewhere else: a restored store needs them."));
        }
        if let Some(why) = &made.not_recorded {
            out.say(Tone::Warn, format!("The store's log does not tell of this backup: {}", plain(why)));
        }
    })?;
    // A copy that lacks something is made, and says so.
    Ok(match (made.damaged.is_empty(), made.missing.is_empty()) {
        (true, true) => exit::DONE,
        (true, false) => exit::INCOMPLETE,
        (false, _) => exit::INVALID,
    })
}

/// `hermit restore`.
pub fn restore(context: &Context, args: &RestoreArgs) -> Came {
    let to = absolute(context.home.dir())?;
    let done = context.free()?.call(&Restore { from: absolute(&args.from)?, to })?;
    context.out.answer(&done, |out, done| {
        out.line(format!("{}  {} files, {}", plain(&done.to), grouped(done.files), size(done.byte_size)));
        out.line(format!("{}: {}", done.verdict, plain(&done.reason)));
        if let Some(behind) = &done.behind_pin {
            out.say(Tone::Warn, plain(behind));
        }
        if !done.keys_to_put_back.is_empty() {
            let files = done.keys_to_put_back.join(", ");
            out.line(format!("Put {files} back into this folder now: the copy holds no keys."));
            out.line("Do not run `hermit keys init`: new keys do not fit this store.");
        }
    })?;
    if done.behind_pin.is_some() {
        return Ok(exit::INCOMPLETE);
    }
    Ok(done.verdict.exit_code())
}

/// `hermit halt`.
pub fn halt(context: &Context, args: HaltArgs) -> Came {
    change_gate(context, |session| session.call(&Halt { reason: args.reason.clone() }))
}

/// `hermit boot`.
pub fn boot(context: &Context) -> Came {
    change_gate(context, |session| {
        if session.is_attached() {
            return session.boot_by(&approval_passphrase(context, None)?);
        }
        session.call(&Boot { signed: None })
    })
}

/// Whose walls, keys and settings the facts are.
fn told_by(by: ToldBy) -> Fact {
    let (level, value, advice) = match why_not_by_owner(by) {
        None => (Level::Fine, "the process that has Hermit open, of itself".to_owned(), ""),
        Some(why) if by == ToldBy::Store => (Level::Fine, format!("this command: {why}"), ""),
        Some(why) => {
            let value = format!("this command: {why}, so whether its keys are open is not known");
            (Level::Note, value, "run `hermit doctor` again in a moment")
        }
    };
    Fact { name: "told by".to_owned(), level, value, advice: advice.to_owned() }
}

fn change_gate(context: &Context, ask: impl Fn(&Session) -> Result<wire::gate::GateState, Error>) -> Came {
    let session = context.writing_on_a_full_disk(Signs::No)?;
    let state = ask(&session);
    session.close();
    context.out.answer(&state?, show_state)?;
    Ok(exit::DONE)
}

/// `hermit doctor`: ends with 0 when nothing is in the way, with 1 when something is. The process that has the store open tells how it
/// stands itself, such as whether its keys are open.
pub fn doctor(context: &Context) -> Came {
    let session = context.free()?;
    let (mut facts, by) = match session.told(&Doctor {}) {
        Ok(told) => told,
        // A machine without a store has a health, too.
        Err(error) if error.code == wire::Code::NoStore => match session.local() {
            Some(local) => (local.facts(), ToldBy::Store),
            None => return Err(error),
        },
        Err(error) => return Err(error),
    };
    facts.facts.insert(0, told_by(by));
    context.out.answer(&facts, |out, facts| {
        for fact in &facts.facts {
            let (tone, mark) = match fact.level {
                Level::Fine => (Tone::Good, "ok  "),
                Level::Note => (Tone::Warn, "note"),
                Level::Trouble => (Tone::Bad, "FAIL"),
            };
            out.line(format!("{} {}: {}", out.paint(tone, mark), fact.name, plain(&fact.value)));
            if !fact.advice.is_empty() {
                out.line(format!("     {}", plain(&fact.advice)));
            }
        }
    })?;
    let trouble = facts.facts.iter().any(|fact| fact.level == Level::Trouble);
    Ok(if trouble { exit::OTHER } else { exit::DONE })
}
