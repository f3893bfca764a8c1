//! Changes of Hermit itself that a person adopts, and goes back from (successor.md 5).
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::PersonSigned;
use crate::table::{answers, params};
pub use crate::task::Submitted;
use words::successor::PatchKind;

params! {
    /// A change that was tried, which a person is asked to adopt.
    Propose {
        /// The trial that it was judged in.
        trial: String,
        /// Reviews of a change of the source, each by one: JSON lines of `{file, line, says, by}`.
        #[serde(default)]
        reviews: Vec<String>,
        /// It is wanted although nothing was found to be better.
        #[serde(default)]
        although_same: bool,
        /// What a person signed for each part that keeps Hermit in check and that it changes.
        #[serde(default)]
        signed: Vec<PersonSigned>,
        /// Edits of tests at which the person has looked: the `sha256` of each, as `successor.show` tells them.
        #[serde(default)]
        looked: Vec<String>,
        channel: Option<String>,
    }
    /// What was before the change that was adopted last is to be at work again.
    Back {
        /// Of this kind: `policy`, `words`, `model` or `code`; of any when absent.
        kind: Option<String>,
        reason: Option<String>,
        channel: Option<String>,
    }
    /// Nothing to say.
    List {}
}

answers! {
    /// Changes that were adopted, the newest first.
    AdoptionList { adoptions: Vec<Adoption> }
    /// One of them.
    Adoption {
        trial_id: String,
        kind: PatchKind,
        /// What it is for; none where its record is gone.
        says: Option<String>,
        patch_sha256: String,
        /// The task in which a person said yes.
        task_id: Option<String>,
        adopted_at: i64,
        /// Whether going back returns from this one.
        at_work: bool,
        returned_at: Option<i64>,
        /// Why it was returned from.
        why: Option<String>,
        /// Who reviewed it.
        reviewers: Vec<String>,
        /// Parts that keep Hermit in check and that it changes.
        constitutional: Vec<String>,
    }
}
