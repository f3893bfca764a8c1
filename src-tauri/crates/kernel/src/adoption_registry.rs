//! Changes of Hermit that a person adopted, as the store's own events say, and what a person signed for them (successor.md 5).

use crate::command::person::{Decision, Matter};
use model::adoption::PatchKind;
use model::artifact::ArtifactRef;
use model::body::Body;
use model::{ActionRequestId, Digest, UnixMs};
use std::collections::BTreeMap;

/// Adoptions that are known, and words of a person: the newest.
const KNOWN_MAX: usize = 1_000;

/// A change that was adopted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdoptedRecord {
    /// The trial that it was judged in.
    pub trial_id: String,
    /// What it changes.
    pub kind: PatchKind,
    /// Digest of the change.
    pub patch_sha256: Digest,
    /// The change as it was put to a person, each piece with what was there before.
    pub change: Option<ArtifactRef>,
    /// The act by which it was adopted.
    pub action_request_id: ActionRequestId,
    /// When.
    pub adopted_at: UnixMs,
    /// Why and when what was before it came back.
    pub returned: Option<(String, UnixMs)>,
}

/// Every change that was adopted, in order, and what a person signed for some.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AdoptionRegistry {
    /// The newest of them.
    pub adopted: Vec<AdoptedRecord>,
    /// Subjects of decisions about constitutional changes, with the time of each and the key that signed it last.
    signed: BTreeMap<Digest, (UnixMs, Digest)>,
}

impl AdoptionRegistry {
    /// The change that was adopted last and is at work: of one kind, or of any.
    pub fn in_force(&self, kind: Option<PatchKind>) -> Option<&AdoptedRecord> {
        let at_work =
            |one: &&AdoptedRecord| one.returned.is_none() && kind.is_none_or(|kind| one.kind == kind);
        self.adopted.iter().rfind(at_work)
    }

    /// How the change of a trial was adopted last.
    pub fn of_trial(&self, trial_id: &str) -> Option<&AdoptedRecord> {
        self.adopted.iter().rfind(|one| one.trial_id == trial_id)
    }

    /// Whether a person signed for exactly this, by this key.
    pub(crate) fn is_signed_for(&self, subject: Digest, keyid: Digest) -> bool {
        self.signed.get(&subject).is_some_and(|(_, by)| *by == keyid)
    }

    /// Folds one event of the store's stream.
    pub(crate) fn apply(&mut self, body: &Body) {
        match body {
            Body::SuccessorAdopted(b) => {
                if self.adopted.len() >= KNOWN_MAX {
                    self.adopted.remove(0);
                }
                self.adopted.push(AdoptedRecord {
                    trial_id: b.trial_id.clone(),
                    kind: b.kind,
                    patch_sha256: b.patch_sha256,
                    change: b.previous.clone(),
                    action_request_id: b.action_request_id,
                    adopted_at: b.adopted_at,
                    returned: None,
                });
            }
            Body::SuccessorReturned(b) => {
                let of_it = |one: &&mut AdoptedRecord| one.trial_id == b.trial_id && one.returned.is_none();
                if let Some(one) = self.adopted.iter_mut().rfind(of_it) {
                    let why = b.why.shown().cloned().unwrap_or_else(|| "(erased)".to_owned());
                    one.returned = Some((why, b.returned_at));
                }
            }
            Body::PersonDecided(b) => {
                let said: Option<Decision> = seal::canon::from_canonical(b.decision.as_bytes()).ok();
                if let Some(said) = said.filter(|said| said.matter == Matter::Successor.as_str()) {
                    self.signed.insert(said.subject_sha256, (said.decided_at, b.keyid));
                    if self.signed.len() > KNOWN_MAX
                        && let Some(oldest) =
                            self.signed.iter().min_by_key(|(_, (at, _))| *at).map(|(of, _)| *of)
                    {
                        self.signed.remove(&oldest);
                    }
                }
            }
            _ => {}
        }
    }
}
