//! Public keys in force. Secret halves never come here.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::Text;
use crate::table::{answers, params};
use words::store::{KeyPurpose, KeyStatus};

params! {
    /// Those in force; with `all` those that were in force before, too.
    List {
        #[serde(default)]
        all: bool,
    }
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
        purpose: KeyPurpose,
        /// SHA-256 of its SPKI DER.
        keyid: String,
        pem: String,
        /// As `ssh-keygen -l` shows it.
        ssh_fingerprint: String,
        /// Whether its secret half is open in this process; absent when this process cannot know.
        open: Option<bool>,
        status: KeyStatus,
        /// When it came into force.
        since: i64,
        /// When another followed it.
        until: Option<i64>,
        /// When it was revoked.
        revoked_at: Option<i64>,
        /// Why it was revoked.
        revoked_because: Option<Text>,
        /// The key as C2SP notes name it, for the log key.
        vkey: Option<String>,
    }
}
