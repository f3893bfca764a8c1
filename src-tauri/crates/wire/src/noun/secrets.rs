//! Secrets by handle. Values never come here, in neither direction.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};
use words::store::VaultKind;

params! {
    /// All of them.
    List {}
}

answers! {
    /// All of them.
    Secrets { secrets: Vec<Secret> }
    /// One secret.
    Secret {
        handle: String,
        /// Where it may go, as `name:port`; nowhere when there is none.
        hosts: Vec<String>,
        /// Which vault its value is kept in.
        kept_in: VaultKind,
        /// Where in a request its value may stand beside the headers: `url`, `body`.
        also_in: Vec<String>,
        /// When it was set last.
        since: i64,
    }
}
