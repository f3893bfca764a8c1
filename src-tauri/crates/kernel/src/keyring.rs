//! Every key this store ever made known, in order: since when, until when, followed by which, revoked or not.
//!
//! Folded from the store's own stream. Secret halves never come here.

use model::body::{Body, KeyPurpose};
use model::{Sensitive, UnixMs};
use seal::succession::{Revocation, Succession};
use seal::{Digest, PublicKey, Signature};

/// What is known of a key.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyRecord {
    /// What it signs.
    pub purpose: KeyPurpose,
    /// SHA-256 of its SPKI DER.
    pub keyid: Digest,
    /// The key.
    pub public_key: PublicKey,
    /// When it came into force.
    pub since: UnixMs,
    /// When another followed it.
    pub until: Option<UnixMs>,
    /// When it was revoked, and why.
    pub revoked: Option<(UnixMs, Sensitive<String>)>,
}

/// All keys of a store.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KeyHistory {
    /// In the order in which they came into force.
    pub records: Vec<KeyRecord>,
    /// Which followed which, with the signatures of the old and of the new one.
    pub successions: Vec<(Succession, Signature, Signature)>,
    /// Which are not believed any more, with the signature of the one that says so.
    pub revocations: Vec<(Revocation, Signature)>,
    log_id: String,
}

impl KeyHistory {
    /// No keys yet.
    #[must_use]
    pub fn new(log_id: &str) -> Self {
        Self { log_id: log_id.to_owned(), ..Self::default() }
    }

    /// Takes up one event of the store's own stream.
    pub fn take(&mut self, at: UnixMs, body: &Body) {
        match body {
            Body::KeyRegistered(b) => self.comes(b.purpose, b.public_key, at),
            Body::KeyRotated(b) => {
                let old = self.records.iter().find(|r| r.keyid == b.old_keyid).map(|r| r.public_key);
                let signatures = (b.signature_by_old.parse().ok(), b.signature_by_new.parse().ok());
                if let (Some(old), (Some(by_old), Some(by_new))) = (old, signatures) {
                    let step = Succession {
                        log_id: self.log_id.clone(),
                        purpose: b.purpose.to_string(),
                        old,
                        new: b.public_key,
                    };
                    self.successions.push((step, by_old, by_new));
                }
                self.comes(b.purpose, b.public_key, at);
            }
            Body::KeyRevoked(b) => {
                let by = self.records.iter().find(|r| r.keyid == b.revoked_by).map(|r| r.public_key);
                if let Some(record) = self.records.iter_mut().find(|r| r.keyid == b.keyid) {
                    record.revoked = Some((at, b.reason.clone()));
                }
                if let (Some(by), Ok(signature)) = (by, b.signature.parse()) {
                    let said = Revocation {
                        log_id: self.log_id.clone(),
                        purpose: b.purpose.to_string(),
                        key: b.public_key,
                        by,
                    };
                    self.revocations.push((said, signature));
                }
            }
            _ => {}
        }
    }

    /// The key in force for a purpose.
    #[must_use]
    pub fn in_force(&self, purpose: KeyPurpose) -> Option<&KeyRecord> {
        self.records.iter().rfind(|r| r.purpose == purpose && r.until.is_none())
    }

    /// Every key of a purpose, the one in force first.
    #[must_use]
    pub fn of(&self, purpose: KeyPurpose) -> Vec<PublicKey> {
        self.records.iter().rev().filter(|r| r.purpose == purpose).map(|r| r.public_key).collect()
    }

    fn comes(&mut self, purpose: KeyPurpose, public_key: PublicKey, at: UnixMs) {
        for record in self.records.iter_mut().filter(|r| r.purpose == purpose && r.until.is_none()) {
            record.until = Some(at);
        }
        let keyid = public_key.keyid();
        self.records.push(KeyRecord { purpose, keyid, public_key, since: at, until: None, revoked: None });
    }
}
