//! `hermit artifacts size`, `gc` and `keep`: how much room there is, making more, and what must not go.

use super::keyring::owner;
use crate::args::GcArgs;
use crate::context::{Context, Signs};
use crate::local_time;
use crate::output::{Output, Tone};
use crate::text::size;
use host::{Local, Session};
use indicatif::ProgressBar;
use wire::artifacts::{Collect, Collected, Garbage, Keep, Show, Weigh};
use wire::host::Status;
use wire::{Code, Error};
use words::number::grouped;

/// `hermit artifacts gc`. Where another process holds the store, it is asked, and gives what it may give while it works.
pub fn gc(context: &Context, args: &GcArgs) -> Result<(), Error> {
    let keep_ms = how_long(&args.older_than)?;
    if args.dry_run {
        // A look takes no store and needs no room; where a host is at work, it is asked within its bounds.
        let session = context.reading()?;
        let held = session.call(&Status {})?.held_by.is_some();
        let told = match session.local().filter(|_| !held) {
            Some(local) => local.garbage(keep_ms),
            None => beside(&context.writing(Signs::Yes)?, keep_ms, true),
        };
        return context.out.answer(&told?, show);
    }
    let session = context.writing_on_a_full_disk(Signs::Yes)?;
    let done = match session.local() {
        Some(local) => alone(context, &local, keep_ms),
        None => beside(&session, keep_ms, false),
    };
    session.close();
    context.out.answer(&done?, show)
}

fn alone(context: &Context, local: &Local, keep_ms: i64) -> Result<Collected, Error> {
    let planned = local.garbage(keep_ms)?;
    let shown = planned.plan.parse();
    let shown = shown.map_err(|_| Error::new(Code::Failed, "a plan has no name"))?;
    let bar = context.terminal.is_some().then(|| ProgressBar::new(planned.artifacts));
    let mut progress = |done: u64, _: u64| bar.iter().for_each(|bar| bar.set_position(done));
    let collected = local.collect(keep_ms, shown, &mut progress);
    bar.iter().for_each(ProgressBar::finish_and_clear);
    collected
}

fn beside(session: &Session, keep_ms: i64, dry_run: bool) -> Result<Collected, Error> {
    let planned = session.call(&Garbage { older_than_ms: Some(keep_ms) })?;
    if dry_run {
        return Ok(planned);
    }
    session.call(&Collect { plan: planned.plan, older_than_ms: Some(keep_ms) })
}

/// `hermit artifacts size`.
pub fn weigh(context: &Context) -> Result<(), Error> {
    let found = context.reading()?.call(&Weigh {})?;
    context.out.answer(&found, |out, found| {
        out.line(format!("{} contents in files, {}", found.contents, size(found.content_bytes)));
        let tone = if found.disk_bytes > found.quota_bytes { Tone::Bad } else { Tone::Plain };
        let text = format!(
            "{} files, {} on disk of {} before Hermit asks for room",
            grouped(found.files),
            size(found.disk_bytes),
            size(found.quota_bytes)
        );
        out.say(tone, text);
        if found.saved_bytes > 0 {
            out.line(format!("{} saved: the same parts are kept once", size(found.saved_bytes)));
        }
        out.line(format!("{} contents of up to 64 KiB are in the ledger itself", found.in_ledger));
    })
}

fn how_long(text: &str) -> Result<i64, Error> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_millis());
    let now = i64::try_from(now).unwrap_or(i64::MAX);
    let then = local_time::parse(text, now).filter(|then| *then <= now);
    then.map(|then| now.saturating_sub(then)).ok_or_else(|| {
        Error::new(Code::Usage, format!("`{text}` is no time back from now")).hint("write `30d`, `12h`, `0s`")
    })
}

fn show(out: &Output, told: &Collected) {
    let verb = if told.dry_run { "would go" } else { "went" };
    if told.artifacts == 0 && told.orphans == 0 {
        out.line("nothing may go: a receipt leads to everything, or its time has not come");
    }
    for kind in &told.by_kind {
        out.line(format!("  {:<22} {:>7}  {}", kind.kind, kind.artifacts, size(kind.bytes)));
    }
    if told.artifacts > 0 {
        let tone = if told.dry_run { Tone::Bold } else { Tone::Good };
        out.say(tone, format!("{verb}: the content of {} artifacts, {}", told.artifacts, size(told.bytes)));
    }
    if told.orphans > 0 {
        out.line(format!("{verb}: {} contents that nothing names", told.orphans));
    }
    if told.disk_bytes > 0 {
        let gives = if told.dry_run { "would give" } else { "gave" };
        out.line(format!("{gives} back to the disk: {}", size(told.disk_bytes)));
    }
    if told.spared > 0 {
        out.line(format!(
            "stays for a day: {} files that work under way may be about to name",
            grouped(told.spared)
        ));
    }
    if told.unreadable > 0 {
        let many = told.unreadable;
        out.say(Tone::Bad, format!("the lists of {many} contents are damaged, so no part of any content goes; restore them from a backup"));
    }
    out.line(format!("stays: {} contents, {} of artifacts whose time has not come", told.kept, told.young));
    for list in &told.lists {
        out.line(format!("what went is listed and signed: hermit artifacts show {list}"));
    }
}

/// `hermit artifacts keep`.
pub fn keep(context: &Context, artifact: String, keep: bool) -> Result<(), Error> {
    let session = context.writing(Signs::No)?;
    let done = match keep {
        true => session.call(&Keep { artifact }),
        // What a person keeps, no program lets go: that is done by who holds the store.
        false => session.call(&Show { artifact }).and_then(|found| {
            let id = found.artifact_id.parse();
            let id = id.map_err(|e: model::Error| Error::new(Code::Failed, e.to_string()))?;
            owner(&session)?.let_go(id).map_err(host::Error::to_wire)?;
            Ok(found)
        }),
    };
    session.close();
    context.out.answer(&done?, |out, found| {
        let word = if keep { "is kept, whatever a collection would say" } else { "may be collected again" };
        out.line(format!("{} {word}", found.artifact_id));
    })
}
