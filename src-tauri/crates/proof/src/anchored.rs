//! What an anchor of a bundle is of (mesh.md 3, HV-3.6-3).

use model::UnixMs;
use model::anchor::AnchorSubject;
use seal::Digest;
use serde::{Deserialize, Serialize};

/// `anchors/<n>.json`: what was to be stamped. The clocks vouch for the digest, and nobody for the time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requested {
    /// What the clocks were given.
    pub digest: Digest,
    /// The anchor's number.
    pub number: u64,
    /// When it was asked for, by the store's own clock.
    pub requested_at: UnixMs,
    /// What the digest is of.
    pub subject: AnchorSubject,
}
