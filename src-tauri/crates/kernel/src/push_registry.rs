//! Browsers that a person lets be told by a push service, as the store's own stream says it. Where each is reached stands in the vault.

use model::body::Body;
use model::{Digest, PrincipalId, UnixMs};
use std::collections::BTreeMap;

/// What is known of a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushRecord {
    /// SHA-256 of its address at the service, which is its name.
    pub subscription: Digest,
    /// The service, by the name of its host.
    pub service: String,
    /// The origin of the page that was told to ask.
    pub origin: String,
    /// What its owner calls the device; `None` when that was erased.
    pub name: Option<String>,
    /// SHA-256 of the session that asked.
    pub page: Digest,
    /// What had signed that page in, where a passkey had.
    pub passkey: Option<Digest>,
    /// Whether it is told as well that a task is done or has failed.
    pub outcomes: bool,
    /// Whose it is.
    pub subscribed_by: PrincipalId,
    /// Since when.
    pub subscribed_at: UnixMs,
}

/// Every subscription that stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PushRegistry {
    records: BTreeMap<Digest, PushRecord>,
}

impl PushRegistry {
    /// All of them, the oldest first.
    pub fn all(&self) -> Vec<&PushRecord> {
        let mut all: Vec<&PushRecord> = self.records.values().collect();
        all.sort_by_key(|one| (one.subscribed_at, one.subscription));
        all
    }

    /// The subscription of this name.
    pub fn get(&self, subscription: Digest) -> Option<&PushRecord> {
        self.records.get(&subscription)
    }

    /// Folds one event of the store's stream.
    pub(crate) fn apply(&mut self, body: &Body) {
        match body {
            Body::PushSubscribed(b) => {
                let record = PushRecord {
                    subscription: b.subscription,
                    service: b.service.clone(),
                    origin: b.origin.clone(),
                    name: b.name.shown().cloned(),
                    page: b.page,
                    passkey: b.passkey,
                    outcomes: b.outcomes,
                    subscribed_by: b.subscribed_by,
                    subscribed_at: b.subscribed_at,
                };
                self.records.insert(b.subscription, record);
            }
            Body::PushEnded(b) => {
                self.records.remove(&b.subscription);
            }
            _ => {}
        }
    }
}
