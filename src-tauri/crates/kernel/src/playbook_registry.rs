//! Playbooks that a person adopted, as the store's own stream tells them (memory.md 5).

use model::artifact::ArtifactRef;
use model::body::Body;
use model::{Digest, UnixMs};

/// A playbook as it was adopted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaybookVersion {
    /// Its name.
    pub name: String,
    /// From 1.
    pub version: u32,
    /// SHA-256 of its text.
    pub sha256: Digest,
    /// Its text.
    pub text: ArtifactRef,
    /// When it was adopted.
    pub since: UnixMs,
    /// Why it is not used any more.
    pub off: Option<String>,
}

/// Every playbook that was ever adopted, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlaybookRegistry(pub Vec<PlaybookVersion>);

impl PlaybookRegistry {
    /// The playbook with these bytes as it was adopted last.
    pub fn known(&self, sha256: Digest) -> Option<&PlaybookVersion> {
        self.0.iter().rfind(|one| one.sha256 == sha256)
    }

    /// The newest version of a name.
    pub fn latest(&self, name: &str) -> Option<&PlaybookVersion> {
        self.0.iter().rfind(|one| one.name == name)
    }

    /// The version of a name that runs: the newest, unless it was turned off.
    pub fn in_use(&self, name: &str) -> Option<&PlaybookVersion> {
        self.latest(name).filter(|one| one.off.is_none())
    }

    /// The version of each name that runs.
    pub fn all_in_use(&self) -> impl Iterator<Item = &PlaybookVersion> {
        self.0.iter().filter(|one| self.in_use(&one.name) == Some(one))
    }

    /// Folds one event of the store's stream.
    pub(crate) fn apply(&mut self, body: &Body) {
        match body {
            Body::PlaybookAdopted(b) => self.0.push(PlaybookVersion {
                name: b.name.clone(),
                version: b.version,
                sha256: b.playbook_sha256,
                text: b.playbook.clone(),
                since: b.adopted_at,
                off: None,
            }),
            Body::PlaybookTurnedOff(b) => {
                let why = b.reason.shown().cloned().unwrap_or_else(|| "(erased)".to_owned());
                for one in self.0.iter_mut().filter(|one| one.sha256 == b.playbook_sha256) {
                    one.off.get_or_insert_with(|| why.clone());
                }
            }
            _ => {}
        }
    }
}
