//! The way to relays of Nostr, which is lent, and what an act of publishing tells. This room knows no protocol of theirs.

use crate::Undelivered;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What relays said of what they were given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    /// The relays that took all of it.
    pub took: Vec<String>,
    /// The others, each with its own words or what happened.
    pub refused: BTreeMap<String, String>,
}

/// Speaks with relays of Nostr.
pub trait Relays: Send + Sync {
    /// Has a relay keep events, each an object of JSON.
    ///
    /// # Errors
    /// [`Undelivered`], with the words of the relay where it said any.
    fn publish(&self, relay: &str, events: &[String]) -> Result<(), Undelivered>;
}

/// No way to any relay.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRelays;

impl Relays for NoRelays {
    fn publish(&self, _: &str, _: &[String]) -> Result<(), Undelivered> {
        Err(Undelivered::NotSent("this process speaks with no relay".to_owned()))
    }
}
