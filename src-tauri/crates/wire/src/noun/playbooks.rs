//! Playbooks: typed lists of proposals, no model needed.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};
pub use crate::task::Submitted;
use std::collections::BTreeMap;
use words::knowledge::TrustTier;
use words::store::{PlaybookState, PlaybookTrialOutcome};

params! {
    /// Nothing to say.
    List {}
    /// A playbook of one's own.
    Read {
        /// The text of its file.
        text: String,
    }
    /// Playbooks that were drafted from what recurs.
    Drafts {
        /// One of them.
        name: Option<String>,
    }
    /// A draft that is tried anew.
    Try { name: String }
    /// A draft, or a playbook that was turned off, which a person is asked to adopt.
    Adopt {
        name: String,
        channel: Option<String>,
    }
    /// A playbook that is not used any more.
    TurnOff {
        name: String,
        reason: Option<String>,
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
        /// The version that a person adopted; none of one that comes with Hermit.
        version: Option<u32>,
    }
    /// One of its parameters.
    Parameter {
        name: String,
        about: String,
        /// Used when none is given; absent when one must be.
        standard: Option<String>,
    }
    /// Every draft, the newest first.
    DraftList { rows: Vec<Draft> }
    /// A playbook that was drafted from what recurs, and what came of it.
    Draft {
        name: String,
        playbook_sha256: String,
        state: PlaybookState,
        /// Why, in words.
        why: Option<String>,
        /// The task that asks a person, where one waits.
        task_id: Option<String>,
        /// Its text; none where it was erased.
        text: Option<String>,
        /// The project whose tasks it was drafted from.
        project: Option<String>,
        /// The lowest trust of all that it was made of.
        trust: Option<TrustTier>,
        /// On how many of the recorded tasks it gives the same result, and of how many.
        same: u32,
        of: u32,
        trials: Vec<Trial>,
        /// The narrowest standing grant under which it would run unasked, in words.
        narrowest: Option<String>,
        /// What was adopted under its name, in order.
        versions: Vec<Version>,
        /// What it is kept as: `hermit recall` takes it.
        artifact_id: String,
    }
    /// A recorded task on which a draft was tried.
    Trial {
        task_id: String,
        receipts: Vec<String>,
        parameters: BTreeMap<String, String>,
        outcome: PlaybookTrialOutcome,
        /// What differs, or why it cannot be tried.
        why: Option<String>,
    }
    /// A text that a person adopted.
    Version {
        version: u32,
        sha256: String,
        since: i64,
        /// Why it is not used any more.
        off: Option<String>,
        artifact_id: String,
    }
    /// What is not used any more.
    TurnedOff { name: String, sha256: String }
}
