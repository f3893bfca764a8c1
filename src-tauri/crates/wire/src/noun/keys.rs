//! Public keys in force. Secret halves never come here.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};

params! {
    /// Nothing to say.
    List {}
    /// Keys made elsewhere.
    Register { keys: Vec<NewKey>, kept_in: String }
    /// A public key.
    NewKey {
        /// `log`, `receipt`, `manifest`, `approval`.
        purpose: String,
        /// A PEM block.
        pem: String,
    }
}

answers! {
    /// All of them.
    Keys { keys: Vec<Key> }
    /// One key in force.
    Key {
        purpose: String,
        /// SHA-256 of its SPKI DER.
        keyid: String,
        pem: String,
        /// As `ssh-keygen -l` shows it.
        ssh_fingerprint: String,
        /// Whether its secret half is open in this process; absent when this process cannot know.
        open: Option<bool>,
    }
}
