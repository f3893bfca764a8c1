//! What would leave with a bundle, told before anything is written or signed.

use super::collect::Collected;
use crate::layout::Named;
use crate::{Error, Options, PublicKeys, Source};
use model::TaskId;
use model::artifact::ArtifactKind;
use seal::Digest;
use serde_json::Value;
use std::collections::BTreeMap;

/// A sensitive value that could be read, by the place it stands at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// JSON pointer in its event or receipt, numbers of lists as `*`.
    pub pointer: String,
    /// How many values at such places.
    pub count: u64,
    /// The first of them.
    pub example: Value,
}

/// Content of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// Kind of artifact, where it is known.
    pub kind: Option<ArtifactKind>,
    /// How many.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What a bundle would carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// Events that would be shown, without their sensitive values.
    pub events: u64,
    /// Receipts.
    pub receipts: u64,
    /// Sensitive values that could be read, most places first by name.
    pub leaves: Vec<Leaf>,
    /// Sensitive values of which only the digest would be there: withheld now, or erased before.
    pub withheld: u64,
    /// Content that would go along.
    pub artifacts: Vec<Kind>,
    /// Artifacts of which only the digest would be there.
    pub artifacts_withheld: u64,
    /// Links of the chain that says who the instance is.
    pub links: u64,
    /// Anchors: what clocks outside have stamped.
    pub anchors: u64,
    /// What could not go along, in words.
    pub left_out: Vec<String>,
}

/// Gathers what [`crate::export()`] would, and tells it. Nothing is written, signed or checkpointed.
///
/// # Errors
/// [`Error::Unknown`], [`Error::Source`], [`Error::Inconsistent`].
pub fn preview(source: &dyn Source, task: TaskId, options: &Options) -> Result<Preview, Error> {
    let keyless = Keyless(source);
    // What the receiver already holds changes no value that leaves.
    let options = Options { since: None, ..options.clone() };
    let collected = Collected::of(&keyless, false, task, &options)?;
    let mut leaves: BTreeMap<String, Leaf> = BTreeMap::new();
    let mut artifacts: BTreeMap<Option<ArtifactKind>, Kind> = BTreeMap::new();
    let (mut receipts, mut shown) = (0, 0);
    for (name, planned) in collected.files.iter() {
        match Named::parse(&name) {
            Some(Named::Disclosure(digest)) => {
                shown += 1;
                let bytes = collected.ground.disclosure(&digest)?.unwrap_or_default();
                let (_, pointer, value) =
                    seal::disclose::verify_disclosure(&bytes).map_err(Error::inconsistent)?;
                let pointer = starred(&pointer);
                let leaf = Leaf { pointer: pointer.clone(), count: 0, example: value };
                leaves.entry(pointer).or_insert(leaf).count += 1;
            }
            Some(Named::Artifact(digest)) => {
                let kind = collected.kind_of(&digest);
                let entry = artifacts.entry(kind).or_insert(Kind { kind, count: 0, bytes: 0 });
                entry.count += 1;
                entry.bytes += planned.facts().0;
            }
            Some(Named::Receipt(_) | Named::BareReceipt(_)) => receipts += 1,
            _ => {}
        }
    }
    let (links, anchors) = stamped(source, task);
    let sent = artifacts.values().map(|kind| kind.count).sum();
    Ok(Preview {
        events: collected.shown_events(),
        receipts,
        leaves: leaves.into_values().collect(),
        withheld: collected.concealed_leaves().saturating_sub(shown),
        artifacts: artifacts.into_values().collect(),
        artifacts_withheld: collected.known_artifacts().saturating_sub(sent),
        links,
        anchors,
        left_out: collected.left_out,
    })
}

/// How many links and anchors a store with keys would hand out beside; what cannot be read is told when it is left out.
fn stamped(source: &dyn Source, task: TaskId) -> (u64, u64) {
    if source.public_keys().log.is_none() {
        return (0, 0);
    }
    let links = source.identity().ok().flatten().map_or(0, |files| files.links.len());
    let anchors = source.anchors(task).map_or(0, |anchors| anchors.len().min(crate::layout::ANCHORS_MAX));
    (links as u64, anchors as u64)
}

/// Numbers of lists as `*`, so that all items of one list are one place.
fn starred(pointer: &str) -> String {
    let star = |token: &'_ str| -> String {
        let number = !token.is_empty() && token.bytes().all(|b| b.is_ascii_digit());
        if number { "*".to_owned() } else { token.to_owned() }
    };
    pointer.split('/').map(star).collect::<Vec<_>>().join("/")
}

/// A store as if it had no keys, so that nothing needs to be signed in order to be looked at.
struct Keyless<'a>(&'a dyn Source);

impl Source for Keyless<'_> {
    fn log_id(&self) -> String {
        self.0.log_id()
    }

    fn public_keys(&self) -> PublicKeys {
        PublicKeys { approval: self.0.public_keys().approval, ..PublicKeys::default() }
    }

    fn task_head(&self, _: TaskId) -> Result<Option<crate::Head>, String> {
        Ok(None)
    }

    fn gate_head(&self) -> Result<Option<crate::Head>, String> {
        Ok(None)
    }

    fn global_head(&self) -> Result<Option<crate::Head>, String> {
        Ok(None)
    }

    fn events(&self, task: TaskId, after_seq: u64, max: usize) -> Result<Vec<Vec<u8>>, String> {
        self.0.events(task, after_seq, max)
    }

    fn disclosure(&self, digest: &Digest) -> Result<Option<Vec<u8>>, String> {
        self.0.disclosure(digest)
    }

    fn artifact(&self, digest: &Digest) -> Result<Option<Box<dyn std::io::Read + '_>>, String> {
        self.0.artifact(digest)
    }

    fn gate_entries(&self, task: TaskId) -> Result<Vec<u64>, String> {
        self.0.gate_entries(task)
    }

    fn gate_entry(&self, number: u64) -> Result<Vec<u8>, String> {
        self.0.gate_entry(number)
    }

    fn gate_proof(&self, number: u64, size: u64) -> Result<Vec<Digest>, String> {
        self.0.gate_proof(number, size)
    }

    fn global_proof(&self, leaf_index: u64, size: u64) -> Result<Vec<Digest>, String> {
        self.0.global_proof(leaf_index, size)
    }

    fn global_consistency(&self, old_size: u64, size: u64) -> Result<Vec<Digest>, String> {
        self.0.global_consistency(old_size, size)
    }
}
