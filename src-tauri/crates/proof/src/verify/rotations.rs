//! Keys that followed others: each step is signed by both, and the chain of them ends in a key of this bundle.

use super::Check;
use crate::Trust;
use crate::container::Stop;
use crate::layout::{self as l, Named};
use crate::statement::Predicate;
use seal::PublicKey;
use seal::succession::{Revocation, Succession, before};
use std::collections::BTreeSet;

/// What keys are for.
const PURPOSES: [&str; 4] = ["log", "receipt", "manifest", "approval"];
/// Once a week for half a lifetime; a hostile bundle has more.
const ROTATIONS_MAX: usize = 2_000;

/// How the receiver's keys lead to one of the bundle's.
pub(super) enum Leads {
    /// The key itself is trusted.
    Itself,
    /// A key that it followed is trusted, so many steps ago.
    Through(PublicKey, usize),
    /// A trusted key leads to it only through one that its owner revoked.
    Revoked(PublicKey),
    /// None does.
    Nowhere,
}

impl Check<'_> {
    /// Reads the notes about keys. Without keys there are none.
    pub(super) fn rotations(&mut self, predicate: &Predicate) -> Result<(), Stop> {
        let names = |folder: &str| -> Vec<String> { self.sums.below(folder).map(str::to_owned).collect() };
        let (rotations, revocations) = (names("keys/rotations/"), names("keys/revocations/"));
        if !self.signed {
            return match rotations.iter().chain(&revocations).next() {
                Some(name) => Err(Stop::at(name, "the bundle of a store without keys has no such file")),
                None => Ok(()),
            };
        }
        if rotations.len().max(revocations.len()) > ROTATIONS_MAX {
            return Err(Stop::at(
                "keys/rotations",
                format!("no store rotates its keys more than {ROTATIONS_MAX} times"),
            ));
        }
        for n in 1..=rotations.len() as u64 {
            let name = Named::Rotation(n).path();
            let bytes = self.whole(&name, l::SMALL_BYTES_MAX)?;
            let step = Succession::open(&bytes).map_err(|e| Stop::at(&name, e))?;
            if step.log_id != predicate.log_id {
                return Err(Stop::at(name, "it is about the keys of another log"));
            }
            self.successions.push(step);
        }
        let known: Vec<(&str, BTreeSet<PublicKey>)> =
            PURPOSES.iter().map(|purpose| (*purpose, self.ever(purpose).into_iter().collect())).collect();
        for (at, step) in self.successions.iter().enumerate() {
            let leads =
                known.iter().any(|(purpose, ever)| *purpose == step.purpose && ever.contains(&step.old));
            if !leads {
                return Err(Stop::at(
                    Named::Rotation(at as u64 + 1).path(),
                    "it does not lead to the key in force",
                ));
            }
        }
        for n in 1..=revocations.len() as u64 {
            let name = Named::Revocation(n).path();
            let bytes = self.whole(&name, l::SMALL_BYTES_MAX)?;
            let said = Revocation::open(&bytes).map_err(|e| Stop::at(&name, e))?;
            let ours = known.iter().any(|(purpose, ever)| {
                *purpose == said.purpose && ever.contains(&said.key) && ever.contains(&said.by)
            });
            if said.log_id != predicate.log_id || !ours {
                return Err(Stop::at(name, "it is about keys that are none of this bundle's"));
            }
            self.revocations.push(said);
        }
        Ok(())
    }

    fn in_force(&self, purpose: &str) -> Option<PublicKey> {
        match purpose {
            "log" => self.keys.log,
            "receipt" => self.keys.receipt,
            "manifest" => self.keys.manifest,
            "approval" => self.keys.approval,
            _ => None,
        }
    }

    /// The key in force for a purpose, and all that came before it, the nearest first.
    pub(super) fn ever(&self, purpose: &str) -> Vec<PublicKey> {
        let Some(key) = self.in_force(purpose) else { return Vec::new() };
        std::iter::once(key).chain(before(&key, purpose, &self.successions)).collect()
    }

    /// How the keys that the receiver trusts lead to the one in force. A key that its owner revoked leads nowhere:
    /// whoever took it could have signed the step that follows.
    pub(super) fn leads(&self, purpose: &str, trust: &[Trust]) -> Leads {
        let is_revoked = |key: &PublicKey| self.revocations.iter().any(|r| r.key == *key);
        let mut broken = None;
        for (steps, key) in self.ever(purpose).into_iter().enumerate() {
            if is_revoked(&key) {
                broken = broken.or(Some(key));
            }
            if trust.iter().any(|t| t.names(&key)) {
                return match (broken, steps) {
                    (Some(revoked), _) => Leads::Revoked(revoked),
                    (None, 0) => Leads::Itself,
                    (None, steps) => Leads::Through(key, steps),
                };
            }
        }
        Leads::Nowhere
    }
}
