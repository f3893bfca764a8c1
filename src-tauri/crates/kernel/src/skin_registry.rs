//! Skins as the store's own stream tells them: which bytes a person trusts, and which skin each conversation has.

use model::artifact::ArtifactRef;
use model::body::Body;
use model::skin::{SkinState, built_in};
use model::{ConversationId, Digest, UnixMs};
use std::collections::BTreeMap;

/// A skin that a person trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkinVersion {
    /// Its name.
    pub name: String,
    /// Which version, as its author counts.
    pub version: u32,
    /// The bytes of its file.
    pub sha256: Digest,
    /// The key that signed it.
    pub keyid: Digest,
    /// Its file.
    pub file: ArtifactRef,
    /// Since when.
    pub since: UnixMs,
    /// Why it is not trusted any more.
    pub untrusted: Option<String>,
}

/// The skin of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenSkin {
    /// Its name.
    pub name: String,
    /// The bytes of its file.
    pub sha256: Digest,
    /// Since when.
    pub since: UnixMs,
}

/// Every skin that was ever trusted, in order, and the conversations that have one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkinRegistry {
    /// Every skin that was ever trusted.
    pub versions: Vec<SkinVersion>,
    /// The skin of each conversation that has one.
    pub chosen: BTreeMap<ConversationId, ChosenSkin>,
}

impl SkinRegistry {
    /// The skin with these bytes, if a person trusts it now.
    pub fn trusted(&self, sha256: Digest) -> Option<&SkinVersion> {
        let known = self.versions.iter().rfind(|one| one.sha256 == sha256);
        known.filter(|one| one.untrusted.is_none())
    }

    /// The skin of a name that was trusted last and still is.
    pub fn latest(&self, name: &str) -> Option<&SkinVersion> {
        self.versions.iter().rfind(|one| one.name == name && one.untrusted.is_none())
    }

    /// How the skin with these bytes stands, and why.
    pub fn standing(&self, sha256: Digest) -> (SkinState, Option<String>) {
        if built_in().iter().any(|(_, known)| *known == sha256) {
            return (SkinState::BuiltIn, None);
        }
        if self.trusted(sha256).is_some() {
            return (SkinState::Trusted, None);
        }
        let before = self.versions.iter().rfind(|one| one.sha256 == sha256);
        let why = before.and_then(|one| one.untrusted.as_ref());
        (SkinState::Untrusted, why.map(|why| format!("its trust was taken back: {why}")))
    }

    /// Folds one event of the store's stream.
    pub(crate) fn apply(&mut self, body: &Body) {
        match body {
            Body::SkinTrusted(b) => self.versions.push(SkinVersion {
                name: b.name.clone(),
                version: b.version,
                sha256: b.skin_sha256,
                keyid: b.keyid,
                file: b.skin.clone(),
                since: b.trusted_at,
                untrusted: None,
            }),
            Body::SkinUntrusted(b) => {
                let why = b.reason.shown().cloned().unwrap_or_else(|| "(erased)".to_owned());
                for one in self.versions.iter_mut().filter(|one| one.sha256 == b.skin_sha256) {
                    one.untrusted.get_or_insert_with(|| why.clone());
                }
            }
            Body::SkinChosen(b) => match (&b.name, b.skin_sha256) {
                (Some(name), Some(sha256)) => {
                    let chosen = ChosenSkin { name: name.clone(), sha256, since: b.chosen_at };
                    self.chosen.insert(b.conversation_id, chosen);
                }
                _ => drop(self.chosen.remove(&b.conversation_id)),
            },
            _ => {}
        }
    }
}
