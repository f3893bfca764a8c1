//! Guests: agents of other programs that can work in a staged view of the folder.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};

params! {
    /// Nothing to say.
    List {}
}

answers! {
    /// All that are known.
    Agents { agents: Vec<Agent> }
    /// One agent, and whether it is here.
    Agent {
        /// What `--agent` takes.
        name: String,
        /// What its maker calls it.
        title: String,
        /// Where its program is; absent when it is not here.
        program: Option<String>,
        /// How it is installed, in words.
        install: String,
        /// Hosts of its model, as `name:port`.
        hosts: Vec<String>,
        /// The secret that it signs in with unless another is named.
        secret: String,
        /// Whether there is that secret.
        has_secret: bool,
        /// Whether it can go on with what it did before.
        goes_on: bool,
        /// Whether it tells what it changed.
        tells: bool,
        /// Whether it speaks the Agent Client Protocol, so that `acp:` may stand before its name.
        acp: bool,
    }
}
