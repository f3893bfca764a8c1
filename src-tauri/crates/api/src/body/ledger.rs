//! The log itself.

use crate::convert::all as all_of;
use crate::ids::find;
use crate::stands::Flow;
use crate::{Host, Wire as _, usage};
use ledger::{Checkpoint as Made, CheckpointKind, PinState};
use model::TaskId;
use seal::PublicKey;
use seal::note::{Checkpoint as SignedHead, Note, VerifierKey};
use std::collections::BTreeSet;
use wire::ledger::{
    Checkpoint, Checkpoints, Compare, Compared, Contents, Counts, Cut, CutRow, Cuts, Damaged, Head, Rebuild,
    Rebuilt, Report, Severed, Signed, Stats, Verify,
};
use wire::{Error, Verdict};
use words::store::HeadStanding;

pub(crate) fn verify(host: &dyn Host, p: Verify) -> Result<Report, Error> {
    let reader = host.reader()?;
    let mut keys = host.trusted_log_keys();
    for text in &p.keys {
        keys.push(key(text)?);
    }
    let pin = host.pin()?;
    let mut progress = |p: ledger::verify::Progress| host.progress(p.stage, p.done, p.of) == Flow::Continue;
    let found = ledger::verify(&reader, &keys, pin.as_deref(), &mut progress).wire()?;
    let mut told = report(found);
    if p.content {
        let contents = contents(host)?;
        judge(&mut told, &contents);
        told.content = Some(contents);
    }
    Ok(told)
}

/// Reads everything that is alive.
fn contents(host: &dyn Host) -> Result<Contents, Error> {
    let (reader, artifacts) = (host.reader()?, host.artifacts()?);
    let live = kernel::command::collect::live(&reader, artifacts).wire()?;
    let mut all: BTreeSet<seal::Digest> = live.kept.into_keys().collect();
    for digest in live.named {
        // What is only named may be the state of a file that nobody kept.
        if artifacts.contains(&digest).wire()? {
            all.insert(digest);
        }
    }
    let total = all.len() as u64;
    let mut go_on =
        |so_far: &artifacts::Verified| host.progress("content", so_far.checked, total) == Flow::Continue;
    let found = artifacts.verify(&all, &mut go_on).wire()?;
    if found.broken_off {
        return Err(Error::new(wire::Code::Cancelled, "stopped, as asked; not all content was read"));
    }
    let damaged = |(sha256, why): (seal::Digest, String)| Damaged { sha256: sha256.to_string(), why };
    Ok(Contents {
        checked: found.checked,
        byte_size: found.bytes,
        missing: all_of(&found.missing),
        damaged: found.damaged.into_iter().map(damaged).collect(),
    })
}

/// Damaged content is not valid, missing content makes a store incomplete; what the log itself says comes first.
fn judge(told: &mut Report, contents: &Contents) {
    let (damaged, missing) = (contents.damaged.len(), contents.missing.len());
    if matches!(told.verdict, Verdict::Invalid) || damaged + missing == 0 {
        return;
    }
    let log = std::mem::take(&mut told.reason);
    if damaged > 0 {
        told.verdict = Verdict::Invalid;
        told.place = contents.damaged.first().map(|one| format!("content {}", one.sha256));
    } else {
        told.verdict = Verdict::Incomplete;
    }
    told.reason = format!(
        "{damaged} pieces of content are damaged and {missing} are missing; restore them from a backup. The log itself: {log}"
    );
}

pub(crate) fn report(found: ledger::Report) -> Report {
    let (verdict, place) = match found.verdict {
        ledger::Verdict::Valid => (Verdict::Valid, None),
        ledger::Verdict::Invalid { place, .. } => (Verdict::Invalid, Some(place.to_string())),
        ledger::Verdict::Incomplete => (Verdict::Incomplete, None),
        ledger::Verdict::Unverifiable => (Verdict::Unverifiable, None),
    };
    Report {
        verdict,
        reason: found.reason,
        place,
        events: found.events,
        tasks: found.tasks,
        entries: found.entries,
        checkpoints: found.checkpoints,
        trusted_checkpoints: found.trusted_checkpoints,
        disclosures: found.disclosures,
        artifacts: found.blobs,
        unsigned_events: found.unsigned_events,
        pinned: found.pinned,
        severed: found.severed.iter().map(cut).collect(),
        content: None,
    }
}

/// Rows of something severed that are shown at once.
const ROWS_MAX: usize = 200;

pub(crate) fn severed(host: &dyn Host, p: Severed) -> Result<Cuts, Error> {
    let reader = host.reader()?;
    let all = reader.severed().wire()?;
    let mut rows = Vec::new();
    if let Some(asked) = &p.task {
        let task: TaskId = find(host, asked)?;
        for one in all.iter().filter(|one| one.task == task) {
            for row in reader.severed_rows(one, p.after_seq, ROWS_MAX).wire()? {
                rows.push(CutRow {
                    task_seq: row.task_seq,
                    log_seq: row.log_seq,
                    hash: row.hash.to_string(),
                    sha256: model::Digest::of(&row.bytes).to_string(),
                    text: String::from_utf8_lossy(&row.bytes).into_owned(),
                });
            }
        }
        rows.sort_by_key(|row| row.task_seq);
        rows.dedup_by_key(|row| row.task_seq);
        rows.truncate(ROWS_MAX);
    }
    Ok(Cuts { severed: all.iter().map(cut).collect(), rows })
}

fn cut(one: &ledger::Severed) -> Cut {
    Cut {
        task_id: one.task.to_string(),
        from_seq: one.from_seq,
        to_seq: one.to_seq,
        rows: one.rows,
        lost: one.lost(),
        checkpoints: one.checkpoints,
        severed_sha256: one.digest.to_string(),
        reason: one.reason.clone(),
        at: one.at.0,
        log_seq: one.log_seq,
    }
}

/// A key as a PEM block or a verifier key.
fn key(text: &str) -> Result<PublicKey, Error> {
    let text = text.trim();
    let wrong = |e: seal::Error| usage(format!("`{text}` is no public key: {e}"));
    if text.starts_with("-----BEGIN") {
        return PublicKey::from_pem(&format!("{text}\n")).map_err(wrong);
    }
    text.parse::<VerifierKey>().map(|key| *key.key()).map_err(wrong)
}

pub(crate) fn rebuild(host: &dyn Host, _: Rebuild) -> Result<Rebuilt, Error> {
    Ok(Rebuilt { events: host.rebuild()? })
}

pub(crate) fn checkpoint(host: &dyn Host, p: Checkpoint) -> Result<Checkpoints, Error> {
    let kernel = host.kernel()?;
    let troubles = super::proof::roots_stated(kernel).into_iter().collect();
    let tasks = match p.tasks.as_slice() {
        [] => moved(host)?,
        named => named.iter().map(|task| find(host, task)).collect::<Result<Vec<TaskId>, Error>>()?,
    };
    let made = kernel.checkpoint(&tasks).wire()?;
    Ok(Checkpoints { checkpoints: made.iter().map(signed).collect(), troubles })
}

/// Tasks that have events behind their last checkpoint.
fn moved(host: &dyn Host) -> Result<Vec<TaskId>, Error> {
    let reader = host.reader()?;
    let mut moved = Vec::new();
    for task in reader.task_ids().wire()? {
        let size = reader.task_head(task).wire()?.map_or(0, |(seq, _)| seq);
        let signed = reader.last_checkpoint(CheckpointKind::Task, Some(task)).wire()?.map_or(0, |c| c.size);
        if signed < size {
            moved.push(task);
        }
    }
    Ok(moved)
}

fn signed(made: &Made) -> Signed {
    Signed {
        kind: made.kind,
        task_id: made.task_id.map(|id| id.to_string()),
        origin: made.origin.clone(),
        size: made.size,
        root: made.root.to_string(),
        made_at: made.made_at.0,
        note: String::from_utf8_lossy(&made.note).into_owned(),
    }
}

pub(crate) fn head(host: &dyn Host, _: Head) -> Result<Signed, Error> {
    let newest = host.reader()?.last_checkpoint(CheckpointKind::Global, None).wire()?;
    newest.as_ref().map(signed).ok_or_else(|| {
        Error::new(wire::Code::NotFound, "no head of this log was ever signed")
            .hint("sign one with `hermit ledger checkpoint`")
    })
}

pub(crate) fn compare(host: &dyn Host, p: Compare) -> Result<Compared, Error> {
    let reader = host.reader()?;
    let mut keys = host.trusted_log_keys();
    for text in &p.keys {
        keys.push(key(text)?);
    }
    let newest = reader.last_checkpoint(CheckpointKind::Global, None).wire()?;
    let (ours, head) = match &newest {
        Some(made) => (made.size, Some(String::from_utf8_lossy(&made.note).into_owned())),
        None => (0, None),
    };
    let parsed = Note::parse(p.note.as_bytes()).and_then(|note| SignedHead::from_text(&note.text)).ok();
    let theirs = parsed.as_ref().map(|head| head.size);
    let state = ledger::check_pin(&reader, p.note.as_bytes(), &keys).wire()?;
    let (standing, reason, proof) = match state {
        PinState::Consistent => {
            let size = theirs.unwrap_or(0);
            let path = reader.global_consistency(size, ours.max(size)).wire()?;
            let proof = path.iter().map(|hash| crate::convert::to_base64(&hash.0)).collect();
            (
                HeadStanding::Consistent,
                format!("the {size} notes of that head are the beginning of the {ours} that are signed here"),
                proof,
            )
        }
        PinState::Behind { pinned, found } => (
            HeadStanding::Older,
            format!(
                "that head signs for {pinned} notes, and {found} are here: this store is older, set back, or a copy"
            ),
            Vec::new(),
        ),
        PinState::Forked { pinned } => (
            HeadStanding::Forked,
            format!(
                "the first {pinned} notes here are not those of that head, which a key of this log has signed: one of the two histories was made up; keep both heads"
            ),
            Vec::new(),
        ),
        PinState::Unusable { why } => {
            (HeadStanding::Unusable, format!("that is no head of this log: {why}"), Vec::new())
        }
    };
    Ok(Compared { standing, reason, origin: parsed.map(|head| head.origin), theirs, ours, proof, head })
}

pub(crate) fn stats(host: &dyn Host, _: Stats) -> Result<Counts, Error> {
    let reader = host.reader()?;
    let stats = reader.stats().wire()?;
    Ok(Counts {
        log_id: reader.log_id().to_owned(),
        events: stats.events,
        tasks: stats.tasks,
        entries: stats.entries,
        blobs: stats.blobs,
        disclosures: stats.disclosures,
        checkpoints: stats.checkpoints,
        epoch: stats.epoch,
        file_bytes: stats.file_bytes,
        wal_bytes: stats.wal_bytes,
        schema: stats.schema,
    })
}
