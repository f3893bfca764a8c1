//! Passkeys: which may say yes for a person. A person enrols one, on a page; one on a security key at a terminal, as signed there.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};

params! {
    /// All of them.
    List {}
    /// A passkey on a security key, as a person's approval key lets it say yes.
    Enrol {
        /// Base64 of the DSSE envelope, exact bytes.
        envelope: String,
        /// What its owner calls it.
        name: String,
    }
    /// The one that says yes no more.
    Revoke {
        /// Its identifier, the beginning of it, or its name.
        passkey: String,
        reason: Option<String>,
    }
}

answers! {
    /// All of them, the oldest first.
    Passkeys { passkeys: Vec<Passkey> }
    /// One passkey.
    Passkey {
        /// SHA-256 of its public key's SPKI DER.
        passkey_id: String,
        /// What its owner calls it; none when that was erased.
        name: Option<String>,
        /// The host it is for.
        rp_id: String,
        /// The one origin at which it may be used.
        origin: String,
        /// `ES256` or `EdDSA`.
        algorithm: String,
        created_at: i64,
        last_used_at: Option<i64>,
        revoked_at: Option<i64>,
        /// Whether it can say yes: not when it is revoked, nor when the approval key was replaced since.
        in_force: bool,
        /// Whether its authenticator says that it was copied to other devices.
        backed_up: bool,
        /// How it is reached, as the browser told: `internal`, `usb`, ...
        transports: Vec<String>,
    }
}
