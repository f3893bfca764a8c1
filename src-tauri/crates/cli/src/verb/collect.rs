//! `hermit artifacts gc` and `keep`: making room, and what must not go.

use super::keyring::owner;
use crate::args::GcArgs;
use crate::context::{Context, Signs};
use crate::moment;
use crate::output::{Output, Tone};
use crate::text::size;
use indicatif::ProgressBar;
use std::collections::BTreeMap;
use wire::artifacts::{Collected, Collectible, Show};
use wire::{Code, Error};

/// `hermit artifacts gc`.
pub fn gc(context: &Context, args: &GcArgs) -> Result<(), Error> {
    let keep_ms = how_long(&args.older_than)?;
    let session = context.writing(Signs::Yes)?;
    let done = owner(&session).and_then(|local| {
        let (planned, files) = local.garbage(keep_ms).map_err(host::Error::to_wire)?;
        let mut by_kind: BTreeMap<String, Collectible> = BTreeMap::new();
        for one in &planned.garbage {
            let kind = one.kind.to_string();
            let sum = by_kind.entry(kind.clone()).or_insert(Collectible { kind, artifacts: 0, bytes: 0 });
            sum.artifacts = sum.artifacts.saturating_add(1);
            sum.bytes = sum.bytes.saturating_add(one.byte_size);
        }
        // Files of what goes are told with it, not once more as files of nobody.
        let named: std::collections::BTreeSet<_> = planned.garbage.iter().map(|one| one.sha256).collect();
        let orphans = files.digests.iter().filter(|digest| !named.contains(digest)).count() as u64;
        let mut told = Collected {
            dry_run: args.dry_run,
            artifacts: planned.garbage.len() as u64,
            bytes: planned.bytes,
            by_kind: by_kind.into_values().collect(),
            orphans,
            orphan_bytes: if orphans == 0 { 0 } else { files.bytes },
            young: planned.young,
            kept: planned.live.len() as u64,
            lists: Vec::new(),
        };
        if !args.dry_run {
            let bar = context.terminal.is_some().then(|| ProgressBar::new(told.artifacts));
            let mut progress = |done: u64, _: u64| bar.iter().for_each(|bar| bar.set_position(done));
            let collected = local.collect(keep_ms, &mut progress).map_err(host::Error::to_wire)?;
            bar.iter().for_each(ProgressBar::finish_and_clear);
            told.lists = collected.lists.iter().map(|list| list.artifact_id.to_string()).collect();
        }
        Ok(told)
    });
    session.close();
    context.out.answer(&done?, show)
}

fn how_long(text: &str) -> Result<i64, Error> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_millis());
    let now = i64::try_from(now).unwrap_or(i64::MAX);
    let then = moment::parse(text, now).filter(|then| *then <= now);
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
        out.line(format!("{verb}: {} files that nothing names", told.orphans));
    }
    out.line(format!("stays: {} contents, {} of artifacts whose time has not come", told.kept, told.young));
    for list in &told.lists {
        out.line(format!("what went is listed and signed: hermit artifacts show {list}"));
    }
}

/// `hermit artifacts keep`.
pub fn keep(context: &Context, artifact: String, keep: bool) -> Result<(), Error> {
    let session = context.writing(Signs::No)?;
    let done = session.call(&Show { artifact }).and_then(|found| {
        let local = owner(&session)?;
        let id = found.artifact_id.parse();
        let id = id.map_err(|e: model::Error| Error::new(Code::Failed, e.to_string()))?;
        local.keep_artifact(id, keep).map_err(host::Error::to_wire)?;
        Ok(found)
    });
    session.close();
    context.out.answer(&done?, |out, found| {
        let word = if keep { "is kept, whatever a collection would say" } else { "may be collected again" };
        out.line(format!("{} {word}", found.artifact_id));
    })
}
