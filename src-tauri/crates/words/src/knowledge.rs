//! Words for what is known, and how far it can be trusted.

crate::names! {
    /// How far content may be relied on (HK-15.4).
    pub enum TrustTier ("trust tier") {
        /// From outside, unchecked.
        Untrusted = "untrusted",
        /// Seen by an executor of this machine.
        Observed = "observed",
        /// Checked against something independent.
        Verified = "verified",
        /// A person says so.
        UserAsserted = "user_asserted",
        /// Policy says so.
        PolicyAsserted = "policy_asserted",
    }
}

crate::names! {
    /// Belief states (HK-8.6-4).
    pub enum BeliefStatus ("belief status") {
        /// Held.
        Active = "active",
        /// A newer one took its place.
        Superseded = "superseded",
        /// Another says otherwise.
        Contradicted = "contradicted",
        /// Taken back.
        Revoked = "revoked",
        /// Too old.
        Expired = "expired",
    }
}

crate::names! {
    /// Memory states (HK-8.7-4).
    pub enum MemoryStatus ("memory status") {
        /// Held.
        Active = "active",
        /// Found wrong, or superseded.
        Invalidated = "invalidated",
        /// Taken back.
        Revoked = "revoked",
        /// Too old.
        Expired = "expired",
    }
}
