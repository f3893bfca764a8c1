//! Skills as the store's own stream tells them: which bytes a person trusts, and which no more.

use model::artifact::ArtifactRef;
use model::body::Body;
use model::{Digest, UnixMs};
use std::collections::BTreeSet;

/// A skill that a person trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillVersion {
    /// Its name.
    pub name: String,
    /// All of its bytes.
    pub sha256: Digest,
    /// What it says of itself, and its files.
    pub record: ArtifactRef,
    /// Since when.
    pub since: UnixMs,
    /// Why it is not trusted any more.
    pub untrusted: Option<String>,
}

/// Every skill that was ever trusted, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillRegistry(pub Vec<SkillVersion>);

impl SkillRegistry {
    /// The skill with these bytes, if it is trusted now.
    pub fn trusted(&self, sha256: Digest) -> Option<&SkillVersion> {
        let known = self.0.iter().rfind(|one| one.sha256 == sha256);
        known.filter(|one| one.untrusted.is_none())
    }

    /// The skill of a name that was trusted last, whether it still is or not.
    pub fn latest(&self, name: &str) -> Option<&SkillVersion> {
        self.0.iter().rfind(|one| one.name == name)
    }

    /// Names of those that are trusted.
    pub fn names(&self) -> BTreeSet<String> {
        self.0.iter().filter(|one| self.trusted(one.sha256).is_some()).map(|one| one.name.clone()).collect()
    }

    /// Folds one event of the store's stream.
    pub(crate) fn apply(&mut self, body: &Body) {
        match body {
            Body::SkillTrusted(b) => self.0.push(SkillVersion {
                name: b.name.clone(),
                sha256: b.skill_sha256,
                record: b.skill.clone(),
                since: b.trusted_at,
                untrusted: None,
            }),
            Body::SkillUntrusted(b) => {
                let why = b.reason.shown().cloned().unwrap_or_else(|| "(erased)".to_owned());
                for one in self.0.iter_mut().filter(|one| one.sha256 == b.skill_sha256) {
                    one.untrusted.get_or_insert_with(|| why.clone());
                }
            }
            _ => {}
        }
    }
}
