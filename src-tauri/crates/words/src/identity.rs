//! Words for who an instance is, and for the clocks that its log is anchored at.

crate::names! {
    /// Why one key of an instance hands over to another.
    pub enum HandoverReason ("reason of a hand-over") {
        /// Its keys were rotated.
        Rotation = "rotation",
        /// A successor was adopted.
        Successor = "successor",
    }
}

crate::names! {
    /// What follows attestations and hand-overs back to genesis found.
    pub enum TrustFinding ("finding of a trust graph") {
        /// A signature does not hold.
        BadSignature = "bad_signature",
        /// A link names a link before it that is not here.
        Gap = "gap",
        /// Two links name the same one before them.
        Fork = "fork",
        /// More than one link has nothing before it.
        SecondGenesis = "second_genesis",
        /// A link is signed by a key that had handed over or was revoked before.
        RevokedKey = "revoked_key",
        /// A link is signed by a key to which nobody handed over.
        UnknownKey = "unknown_key",
        /// A link belongs to another instance.
        OtherInstance = "other_instance",
        /// The version or time of a link does not follow that of the one before it.
        OutOfOrder = "out_of_order",
        /// Two keys of the instance and its log do not vouch for each other.
        NoLogKey = "no_log_key",
        /// A link is not in its canonical form, or too large.
        Malformed = "malformed",
    }
}

crate::names! {
    /// A clock that stamps a head of the log.
    pub enum AnchorClock ("clock of an anchor") {
        /// A time-stamp authority (RFC 3161).
        Rfc3161 = "rfc3161",
        /// Calendars of OpenTimestamps, and through them Bitcoin.
        OpenTimestamps = "opentimestamps",
        /// A transaction of one's own with an OP_RETURN output.
        OpReturn = "op_return",
    }
}

crate::names! {
    /// How an anchor stands at one clock.
    pub enum AnchorState ("state of an anchor") {
        /// The clock has it, and nothing is proven yet.
        Pending = "pending",
        /// Its time is proven as far as was asked for.
        Anchored = "anchored",
        /// It was proven, and the chain went another way since.
        Withdrawn = "withdrawn",
        /// The clock refused it, or gave an answer that proves nothing.
        Failed = "failed",
    }
}
