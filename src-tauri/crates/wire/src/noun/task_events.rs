//! The events of a task, as they stand in the ledger.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};
use words::store::{EntityType, PrincipalType};

params! {
    /// Events behind a place; ask again with the last place to follow.
    List {
        task: String,
        /// The place behind which to begin; 0 for the beginning.
        #[serde(default)]
        after_seq: u64,
        limit: Option<u32>,
    }
}

answers! {
    /// Events in order, and whether there are more.
    Events {
        task_id: String,
        events: Vec<Event>,
        /// The last place there is.
        last_seq: u64,
        /// The task has ended: nothing more will come but what undoes or settles it.
        ended: bool,
    }

    /// One event.
    Event {
        event_id: String,
        seq: u64,
        event_type: String,
        entity_type: EntityType,
        entity_id: String,
        step_id: Option<String>,
        attempt_id: Option<String>,
        at: i64,
        actor_type: PrincipalType,
        actor_id: String,
        /// The body; sensitive leaves are plain, or `{"erased": digest}`.
        body: serde_json::Value,
        causation_id: Option<String>,
        /// SHA-256 of the stored bytes.
        hash: String,
        prev_hash: String,
    }
}
