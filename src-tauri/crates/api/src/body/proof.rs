//! Proofs that a stranger can check.

use super::receipts;
use crate::convert::word;
use crate::files::absolute;
use crate::ids::find;
use crate::source::StoreSource;
use crate::{BundleSigners, Host, Wire as _, fold, usage};
use model::TaskId;
use model::artifact::ArtifactKind;
use model::body::KeyPurpose;
use proof::{
    AUTHORITY_BYTES_MAX, AnchorFound, Given, HEADERS_BYTES_MAX, IdentityFound, Include, Options, Redact,
    Scope, Signers, Stands, Trust,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use wire::proof::{AnchorSaid, Export, Exported, Followed, FoundInChain, Preview, Previewed, Report, Verify};
use wire::{Code, Error, Verdict};

pub(crate) fn export(host: &dyn Host, p: Export) -> Result<Exported, Error> {
    let path = absolute("path", &p.path)?;
    let about = About { task: &p.task, receipt: &p.receipt, first: p.first, last: p.last };
    let (task, options) = about.options(host, &p.artifacts, &p.redact)?;
    let options = Options { since: p.since.map(String::into_bytes), ..options };
    let reader = host.reader()?;
    let history = fold::key_history(&reader)?;
    // The heads of task, gate and log are made in one commit, and everything is then as of that commit.
    let mut troubles = Vec::new();
    let (made, signers) = if history.in_force(KeyPurpose::Log).is_some() {
        let signers = host.signers().ok_or_else(|| {
            Error::new(Code::KeyLocked, "the keys that sign a proof are locked")
                .hint("open them and try again")
        })?;
        // So that the proof shows the conversation and the memory as they are now; it does not rest on them.
        troubles.extend(roots_stated(host.kernel()?));
        let made = match before_the_cut(&reader, task, &options)? {
            // What was severed is vouched for by nobody, so the proof is as of the head before it.
            Some((head, told)) => {
                let mut made = host.kernel()?.checkpoint(&[]).wire()?;
                made.push(head);
                troubles.push(told);
                made
            }
            None => host.kernel()?.checkpoint(&[task]).wire()?,
        };
        troubles.extend(host.cosign());
        (made, Some(signers))
    } else {
        (Vec::new(), None)
    };
    let source = StoreSource::of(reader, host.artifacts()?, history, made)
        .with_roots(host.query()?)
        .witnessed(host.witness_policy())?;
    let made = proof::export_to(&source, signers.as_ref().map(lent), task, &options, &path).wire()?;
    Ok(Exported {
        path: p.path,
        files: made.files,
        byte_size: made.bytes,
        sums_sha256: made.sums_sha256.to_string(),
        exported_at: made.exported_at.0,
        left_out: made.left_out.into_iter().chain(troubles).collect(),
    })
}

/// States the roots of conversations and memory; why it could not, in words.
pub(super) fn roots_stated(kernel: &kernel::Kernel) -> Option<String> {
    match kernel.state_roots() {
        Ok(stated) => stated.more.then(|| {
            "more conversations changed than are stated at once; do this again to state the rest".to_owned()
        }),
        Err(error) => {
            let hint = "try again; `hermit ledger rebuild` makes what they are read from anew";
            Some(format!("no new roots of conversations and memory were stated: {error}; {hint}"))
        }
    }
}

/// Of a task whose end was severed: the last signed head before that, and what to tell of it.
fn before_the_cut(
    reader: &ledger::Reader,
    task: TaskId,
    options: &Options,
) -> Result<Option<(ledger::Checkpoint, String)>, Error> {
    let severed = reader.severed().wire()?;
    let Some(one) = severed.iter().filter(|one| one.task == task).min_by_key(|one| one.from_seq) else {
        return Ok(None);
    };
    let told = format!(
        "the task was severed at event {}: {} events from there on did not fit, and nobody confirms them",
        one.from_seq, one.rows
    );
    let Some(head) = reader.checkpoint_before(task, one.from_seq).wire()? else {
        return Err(Error::new(
            Code::Damaged,
            format!("{told}; no head was signed before that, so nothing of it can be proven"),
        )
        .hint("`hermit ledger severed` shows what is left of it"));
    };
    if matches!(options.scope, Scope::Span { last, .. } if last > head.size) {
        let why = format!("{told}; what can be proven ends with event {}", head.size);
        return Err(Error::new(Code::Usage, why).hint("ask for less, or for the whole task"));
    }
    let told = format!("{told}; this proof is of its first {} events, as they were signed for", head.size);
    Ok(Some((head, told)))
}

pub(crate) fn preview(host: &dyn Host, p: Preview) -> Result<Previewed, Error> {
    let about = About { task: &p.task, receipt: &p.receipt, first: p.first, last: p.last };
    let (task, options) = about.options(host, &p.artifacts, &p.redact)?;
    let reader = host.reader()?;
    let history = fold::key_history(&reader)?;
    let source = StoreSource::of(reader, host.artifacts()?, history, Vec::new());
    let found = proof::preview(&source, task, &options).wire()?;
    let values = found.leaves.into_iter();
    let kinds = found.artifacts.into_iter();
    Ok(Previewed {
        events: found.events,
        receipts: found.receipts,
        values: values
            .map(|leaf| wire::proof::Value {
                pointer: leaf.pointer,
                count: leaf.count,
                example: leaf.example.to_string(),
            })
            .collect(),
        withheld: found.withheld,
        artifacts: kinds
            .map(|kind| wire::proof::Kind { kind: kind.kind, count: kind.count, byte_size: kind.bytes })
            .collect(),
        artifacts_withheld: found.artifacts_withheld,
        left_out: found.left_out,
        links: found.links,
        anchors: found.anchors,
    })
}

/// What a proof is to be about, as it was asked for.
struct About<'a> {
    task: &'a Option<String>,
    receipt: &'a Option<String>,
    first: Option<u64>,
    last: Option<u64>,
}

impl About<'_> {
    fn options(
        &self,
        host: &dyn Host,
        artifacts: &[String],
        redact: &[String],
    ) -> Result<(TaskId, Options), Error> {
        let redact = Redact::parse(redact).wire()?;
        let artifacts = include(artifacts, &redact)?;
        let part = self.first.is_some() || self.last.is_some();
        let (task, scope) = match (self.task, self.receipt) {
            (Some(task), None) if part => {
                let task = find::<TaskId>(host, task)?;
                let head = host.reader()?.task_head(task).wire()?.map_or(0, |(seq, _)| seq);
                (task, Scope::Span { first: self.first.unwrap_or(1), last: self.last.unwrap_or(head) })
            }
            (Some(task), None) => (find::<TaskId>(host, task)?, Scope::Task),
            (None, Some(receipt)) if !part => {
                let found = receipts::found(host, receipt)?;
                (found.task_id, Scope::Receipt(found.receipt_id))
            }
            _ => return Err(usage("give either `task`, whole or from `first` to `last`, or `receipt`")),
        };
        Ok((task, Options { scope, artifacts, redact, since: None }))
    }
}

fn lent(signers: &BundleSigners) -> Signers<'_> {
    Signers { receipt: &*signers.receipt, manifest: &*signers.manifest }
}

fn include(named: &[String], redact: &Redact) -> Result<Include, Error> {
    match named {
        [] => Ok(redact.standard_artifacts()),
        [one] if one == "records" => Ok(Include::records()),
        [one] if one == "all" => Ok(Include::All),
        [one] if one == "none" => Ok(Include::None),
        kinds => Ok(Include::Kinds(
            kinds.iter().map(|kind| word(kind)).collect::<Result<BTreeSet<ArtifactKind>, _>>()?,
        )),
    }
}

pub(crate) fn verify(host: &dyn Host, p: Verify) -> Result<Report, Error> {
    let mut trust = p.trust.iter().map(|key| Trust::parse(key)).collect::<Result<Vec<_>, _>>().wire()?;
    let mut people = Vec::new();
    let mut known = host.trusted_people()?;
    // Who names a key asks about that one; else a store knows its own proofs.
    if p.trust.is_empty() {
        known.extend(own_keys(host));
    }
    for (name, key) in known {
        let key = Trust::parse(&key).wire()?;
        trust.push(key.clone());
        people.push((name, key));
    }
    let of = |file: &String| read("authorities", file, AUTHORITY_BYTES_MAX);
    let authorities = p.authorities.iter().map(of).collect::<Result<Vec<_>, _>>()?;
    let of = |file: &String| read("bitcoin_headers", file, HEADERS_BYTES_MAX);
    let headers = p.bitcoin_headers.as_ref().map(of).transpose()?;
    let given = Given {
        held: p.since.as_deref().map(str::as_bytes),
        authorities: &authorities,
        bitcoin_headers: headers.as_deref(),
    };
    let found = proof::verify_given(&absolute("path", &p.path)?, &trust, &given).wire()?;
    let (verdict, _) = said(&found.verdict);
    let reason = found.headline();
    let counts = match serde_json::to_value(found.counts) {
        Ok(Value::Object(counts)) => {
            counts.into_iter().filter_map(|(name, n)| Some((name, n.as_u64()?))).collect()
        }
        _ => BTreeMap::new(),
    };
    Ok(Report {
        verdict,
        reason,
        task_id: found.task_id.map(|id| id.to_string()),
        log_id: found.log_id,
        task_size: found.task_size,
        task_root: found.task_root.map(|root| root.to_string()),
        exported_at: found.exported_at_ms,
        keys: found.keys.into_iter().map(|(purpose, keyid)| (purpose, keyid.to_string())).collect(),
        trusted_as: names(&people, &found.vouching),
        trusted: found.trusted,
        counts,
        proven: found.proven,
        asserted: found.asserted,
        not_shown: found.not_shown,
        unvouched: found.unvouched,
        identity: found.identity.map(followed),
        anchors: found.anchors.into_iter().map(said_by_clock).collect(),
        proven_not_after: found.proven_not_after,
    })
}

/// A file that the caller names, of at most so many bytes.
fn read(what: &str, file: &str, max: u64) -> Result<Vec<u8>, Error> {
    let path = absolute(what, file)?;
    let cannot = |why: &dyn std::fmt::Display| usage(format!("cannot read `{}`: {why}", path.display()));
    let mut bytes = Vec::new();
    let file = crate::files::open(&path)?;
    file.take(max + 1).read_to_end(&mut bytes).map_err(|e| cannot(&e))?;
    if bytes.len() as u64 > max {
        return Err(cannot(&format!("it has more than {max} bytes")));
    }
    Ok(bytes)
}

fn followed(found: IdentityFound) -> Followed {
    let findings = found.findings.into_iter();
    Followed {
        instance_id: found.instance_id,
        unbroken: found.unbroken,
        key_in_force: found.key_in_force,
        links: found.links,
        findings: findings
            .map(|one| FoundInChain { what: one.what, number: one.number, says: one.says })
            .collect(),
    }
}

fn said_by_clock(found: AnchorFound) -> AnchorSaid {
    let state = match found.state {
        Stands::Anchored => "anchored",
        Stands::Pending => "pending",
        Stands::Unproven => "unproven",
    };
    AnchorSaid {
        number: found.number,
        of: found.of,
        link: found.link,
        clock: found.clock,
        state: state.to_owned(),
        not_after: found.not_after,
        block_height: found.block_height,
        covers_task: found.covers_task,
        says: found.says,
        on_trust: found.on_trust,
    }
}

/// The keys in force that sign what this store hands out, under the name of this store. Where there is no store, or none
/// that can be read, there are none.
fn own_keys(host: &dyn Host) -> Vec<(String, String)> {
    let Ok(state) = host.reader().and_then(|reader| fold::store_state(&reader)) else { return Vec::new() };
    let keys = [KeyPurpose::Log, KeyPurpose::Manifest].into_iter().filter_map(|of| state.keys.get(&of));
    keys.map(|(_, key)| (wire::proof::THIS_STORE.to_owned(), key.keyid().to_string())).collect()
}

/// Whose of the trusted keys vouch for what was checked.
fn names(people: &[(String, Trust)], vouching: &[seal::PublicKey]) -> Vec<String> {
    let vouches = |trust: &Trust| vouching.iter().any(|key| trust.names(key));
    let names: BTreeSet<&String> =
        people.iter().filter(|(_, trust)| vouches(trust)).map(|(name, _)| name).collect();
    names.into_iter().cloned().collect()
}

/// A verdict and its sentence.
pub(crate) fn said(verdict: &proof::Verdict) -> (Verdict, String) {
    let word = match verdict {
        proof::Verdict::Valid => Verdict::Valid,
        proof::Verdict::Invalid { .. } => Verdict::Invalid,
        proof::Verdict::Incomplete { .. } => Verdict::Incomplete,
        proof::Verdict::Unverifiable { .. } => Verdict::Unverifiable,
    };
    (word, verdict.to_string())
}
