//! Passkeys as the store's own stream tells them: which may say yes for a person, and how far each has counted.

use model::artifact::ArtifactRef;
use model::body::Body;
use model::passkey::MESH_ORIGIN;
use model::{Digest, PrincipalId, UnixMs};
use std::collections::BTreeMap;

/// What is known of a passkey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasskeyRecord {
    /// SHA-256 of its SPKI DER, which is its name.
    pub passkey: Digest,
    /// What the approval key signed of it.
    pub enrolment: ArtifactRef,
    /// The approval key that did. Under another one the passkey says yes no more.
    pub keyid: Digest,
    /// Its identifier at the authenticator, base64url.
    pub credential_id: String,
    /// Its key, base64 of the SPKI DER.
    pub public_key: String,
    /// The host it is for.
    pub rp_id: String,
    /// The one origin at which it may sign.
    pub origin: String,
    /// How it is reached, as the browser told.
    pub transports: Vec<String>,
    /// What its owner calls it; `None` when that was erased.
    pub name: Option<String>,
    /// Whose it is.
    pub enrolled_by: PrincipalId,
    /// Since when.
    pub enrolled_at: UnixMs,
    /// How far it had counted when it was last used.
    pub counter: u32,
    /// Whether it had been copied to other devices then.
    pub is_backed_up: bool,
    /// When it said yes or signed a page in last.
    pub last_used_at: Option<UnixMs>,
    /// When it was revoked.
    pub revoked_at: Option<UnixMs>,
}

/// Every passkey that was ever enrolled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PasskeyRegistry {
    records: BTreeMap<Digest, PasskeyRecord>,
}

impl PasskeyRegistry {
    /// All of them, the oldest first.
    pub fn all(&self) -> Vec<&PasskeyRecord> {
        let mut all: Vec<&PasskeyRecord> = self.records.values().collect();
        all.sort_by_key(|one| (one.enrolled_at, one.passkey));
        all
    }

    /// The passkey of this name.
    pub fn get(&self, passkey: Digest) -> Option<&PasskeyRecord> {
        self.records.get(&passkey)
    }

    /// Those that may say yes while this approval key is in force.
    pub fn in_force(&self, approval_key: Digest) -> impl Iterator<Item = &PasskeyRecord> {
        let holds = move |one: &&PasskeyRecord| one.keyid == approval_key && one.revoked_at.is_none();
        self.records.values().filter(holds)
    }

    /// The passkey that an authenticator calls so: one that may say yes before one that may not.
    pub(crate) fn called(&self, credential_id: &str, approval_key: Digest) -> Option<&PasskeyRecord> {
        let in_force = self.in_force(approval_key).find(|one| one.credential_id == credential_id);
        in_force.or_else(|| self.records.values().find(|one| one.credential_id == credential_id))
    }

    /// Folds one event of the store's stream.
    pub(crate) fn apply(&mut self, body: &Body) {
        match body {
            Body::PasskeyEnrolled(b) => {
                // A machine's key that was taken away and is given again has counted all the time.
                let before = self.records.get(&b.passkey).filter(|_| b.origin == MESH_ORIGIN);
                let counter = before.map_or(b.counter, |one| one.counter.max(b.counter));
                let record = PasskeyRecord {
                    passkey: b.passkey,
                    enrolment: b.enrolment.clone(),
                    keyid: b.keyid,
                    credential_id: b.credential_id.clone(),
                    public_key: b.public_key.clone(),
                    rp_id: b.rp_id.clone(),
                    origin: b.origin.clone(),
                    transports: b.transports.clone(),
                    name: b.name.shown().cloned(),
                    enrolled_by: b.enrolled_by,
                    enrolled_at: b.enrolled_at,
                    counter,
                    is_backed_up: b.backed_up,
                    last_used_at: None,
                    revoked_at: None,
                };
                self.records.insert(b.passkey, record);
            }
            Body::PasskeyUsed(b) => {
                if let Some(record) = self.records.get_mut(&b.passkey) {
                    (record.counter, record.is_backed_up) = (b.counter, b.backed_up);
                    record.last_used_at = Some(b.used_at);
                }
            }
            Body::PasskeySignedIn(b) => {
                if let Some(record) = self.records.get_mut(&b.passkey) {
                    (record.counter, record.is_backed_up) = (b.counter, b.backed_up);
                    record.last_used_at = Some(b.signed_in_at);
                }
            }
            Body::PasskeyRevoked(b) => {
                if let Some(record) = self.records.get_mut(&b.passkey) {
                    record.revoked_at.get_or_insert(b.revoked_at);
                }
            }
            _ => {}
        }
    }
}
