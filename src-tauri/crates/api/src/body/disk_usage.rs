//! How much room content takes, and making more: only what no receipt leads to goes, and only what was shown before.

use super::artifacts::{found, show};
use crate::{Host, Wire as _, usage};
use kernel::command::collect::{self, Collection};
use model::{Digest, limits};
use std::collections::BTreeMap;
use wire::Error;
use wire::artifacts::{Artifact, Collect, Collected, Collectible, Garbage, Keep, Show, Weigh, Weighed};

pub(crate) fn weigh(host: &dyn Host, _: Weigh) -> Result<Weighed, Error> {
    let weight = host.artifacts()?.weigh().wire()?;
    Ok(Weighed {
        contents: weight.contents,
        content_bytes: weight.content_bytes,
        files: weight.files,
        disk_bytes: weight.bytes,
        saved_bytes: weight.content_bytes.saturating_sub(weight.bytes),
        quota_bytes: host.content_quota_bytes(),
        in_ledger: host.reader()?.stats().wire()?.blobs,
    })
}

/// How long content stays, as it may be asked for while the store is in use.
fn keep_ms(asked: Option<i64>) -> Result<i64, Error> {
    let keep_ms = asked.unwrap_or(limits::COLLECT_AFTER_MS);
    if keep_ms < limits::COLLECT_AFTER_MS_MIN {
        return Err(usage("content of tasks that ended less than a day ago stays while the store is in use")
            .hint("ask for a day or more; who holds the store alone may take less: end Hermit, then `hermit artifacts gc --older-than 0s`"));
    }
    Ok(keep_ms)
}

pub(crate) fn garbage(host: &dyn Host, p: Garbage) -> Result<Collected, Error> {
    would_go(host, keep_ms(p.older_than_ms)?)
}

pub(crate) fn collect(host: &dyn Host, p: Collect) -> Result<Collected, Error> {
    let shown = p.plan.parse().map_err(|_| usage("`plan` is what `artifacts.garbage` said"))?;
    go(host, keep_ms(p.older_than_ms)?, shown, &mut |_, _| {})
}

pub(crate) fn keep(host: &dyn Host, p: Keep) -> Result<Artifact, Error> {
    let kernel = host.kernel()?;
    let at = found(host, &p.artifact)?;
    kernel.keep_artifact(at.artifact_id, true).wire()?;
    show(host, Show { artifact: p.artifact })
}

/// What a collection would take now, however short the time.
///
/// # Errors
/// What the kernel says.
pub fn would_go(host: &dyn Host, keep_ms: i64) -> Result<Collected, Error> {
    let (reader, store, now) = (host.reader()?, host.artifacts()?, host.now());
    let (planned, files) = collect::garbage(&reader, store, now, keep_ms).wire()?;
    let mut told = told(&planned)?;
    told.orphans = planned.orphans(&files);
    told.disk_bytes = files.bytes;
    told.spared = files.spared;
    told.unreadable = files.unreadable.len() as u64;
    Ok(told)
}

/// Collects what was shown.
///
/// # Errors
/// [`wire::Code::Conflict`] when something else would go by now; what the kernel says.
pub fn go(
    host: &dyn Host,
    keep_ms: i64,
    shown: Digest,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Collected, Error> {
    let kernel = host.kernel()?;
    let full = |error: &kernel::Error| {
        matches!(
            error,
            kernel::Error::Ledger(ledger::Error::Full) | kernel::Error::Artifacts(artifacts::Error::Full)
        )
    };
    let collected = match kernel.collect(keep_ms, Some(shown), progress) {
        Err(error) if full(&error) && host.make_room() => kernel.collect(keep_ms, Some(shown), progress),
        collected => collected,
    };
    let collected = collected.wire()?;
    Ok(Collected {
        dry_run: false,
        disk_bytes: collected.disk_bytes,
        orphans: collected.orphans,
        unreadable: collected.unreadable,
        lists: collected.lists.iter().map(|list| list.artifact_id.to_string()).collect(),
        ..told(&collected.planned)?
    })
}

fn told(planned: &Collection) -> Result<Collected, Error> {
    let mut by_kind: BTreeMap<&str, Collectible> = BTreeMap::new();
    for one in &planned.garbage {
        let kind = one.kind;
        let sum = by_kind.entry(kind.as_str()).or_insert(Collectible { kind, artifacts: 0, bytes: 0 });
        sum.artifacts = sum.artifacts.saturating_add(1);
        sum.bytes = sum.bytes.saturating_add(one.byte_size);
    }
    Ok(Collected {
        dry_run: true,
        plan: planned.sha256().wire()?.to_string(),
        disk_bytes: 0,
        spared: 0,
        unreadable: 0,
        artifacts: planned.garbage.len() as u64,
        bytes: planned.bytes,
        by_kind: by_kind.into_values().collect(),
        orphans: 0,
        young: planned.young,
        kept: planned.live.len() as u64,
        lists: Vec::new(),
    })
}
