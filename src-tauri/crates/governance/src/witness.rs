//! Whether the world is still as it was when a person was asked (HK-16.8).

use acts::ActionRequest;
use model::ResourceId;
use model::witness::{Found, StateWitness};
use std::collections::BTreeMap;
use std::fmt;

/// One way in which the world is no longer as approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drift {
    /// Where.
    pub resource: ResourceId,
    /// What was found when the packet was made; none when it was not looked at.
    pub approved: Option<Found>,
    /// What is found now; none when it was not looked at again.
    pub observed: Option<Found>,
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let say = |found: &Option<Found>| found.as_ref().map_or("not looked at".to_owned(), in_words);
        write!(f, "`{}` was {} and is {}", self.resource, say(&self.approved), say(&self.observed))
    }
}

/// What was found, in a few words.
pub fn in_words(found: &Found) -> String {
    match found {
        Found::Absent => "absent".to_owned(),
        Found::File { sha256, byte_size, mode } => {
            let mode = mode.map(|mode| format!(", mode {mode:o}")).unwrap_or_default();
            format!("a file of {byte_size} bytes{mode}, sha256 {sha256}")
        }
        Found::Folder { .. } => "a folder".to_owned(),
        Found::Symlink { target_sha256 } => format!("a symbolic link, sha256 of its target {target_sha256}"),
        Found::Special => "neither file nor folder".to_owned(),
        Found::Version { value } => format!("at version `{value}`"),
        Found::Unreadable { reason } => format!("unreadable ({reason})"),
    }
}

/// Those of a request's resources whose state can be looked at: files and refs. A witness has exactly one
/// fingerprint for each. A host, a secret, a receipt or a memory has no state that a disk or a repository shows.
pub fn observable(resources: &[ResourceId]) -> Vec<ResourceId> {
    let seen = |resource: &&ResourceId| matches!(resource, ResourceId::File(..) | ResourceId::Ref(..));
    resources.iter().filter(seen).cloned().collect()
}

/// Whether a witness has exactly one fingerprint for each resource of the request that can be looked at.
pub fn covers(witness: &StateWitness, request: &ActionRequest) -> bool {
    let mut looked: Vec<&ResourceId> = witness.fingerprints.iter().map(|print| &print.resource).collect();
    looked.sort();
    let mut wanted = observable(&request.target_resources);
    wanted.sort();
    looked.len() == wanted.len() && looked.into_iter().eq(wanted.iter())
}

/// Every difference between what was approved and what is observed now, sorted by resource; empty means that the
/// yes still fits the world.
///
/// Only the touched resources are in a witness, so unrelated changes never appear. What cannot be read now, or
/// could not be read then, counts as drift: nobody can say that it is unchanged.
pub fn compare(approved: &StateWitness, observed: &StateWitness) -> Vec<Drift> {
    let mut pairs: BTreeMap<&ResourceId, (Vec<&Found>, Vec<&Found>)> = BTreeMap::new();
    for print in &approved.fingerprints {
        pairs.entry(&print.resource).or_default().0.push(&print.state);
    }
    for print in &observed.fingerprints {
        pairs.entry(&print.resource).or_default().1.push(&print.state);
    }
    let drifted = pairs.into_iter().filter(|(_, (then, now))| !same(then, now));
    let drift = |(resource, (then, now)): (&ResourceId, (Vec<&Found>, Vec<&Found>))| Drift {
        resource: resource.clone(),
        approved: then.first().map(|found| (*found).clone()),
        observed: now.first().map(|found| (*found).clone()),
    };
    drifted.map(drift).collect()
}

/// One fingerprint each, readable, and equal; two for one resource say nothing certain.
fn same(then: &[&Found], now: &[&Found]) -> bool {
    match (then, now) {
        ([Found::Unreadable { .. }], _) | (_, [Found::Unreadable { .. }]) => false,
        // Witnesses of before did not look at the permission bits of folders.
        ([Found::Folder { mode: None }], [Found::Folder { .. }]) => true,
        ([then], [now]) => then == now,
        _ => false,
    }
}
