//! Playbooks: typed lists of proposals, no model needed.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};

params! {
    /// Nothing to say.
    List {}
    /// A playbook of one's own.
    Read {
        /// The text of its file.
        text: String,
    }
}

answers! {
    /// All at hand.
    Playbooks { playbooks: Vec<Playbook> }
    /// One playbook.
    Playbook {
        name: String,
        about: String,
        /// What it does, for somebody about to run it.
        description: String,
        parameters: Vec<Parameter>,
    }
    /// One of its parameters.
    Parameter {
        name: String,
        about: String,
        /// Used when none is given; absent when one must be.
        standard: Option<String>,
    }
}
