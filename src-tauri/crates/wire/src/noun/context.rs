//! Exactly what was sent to a model, and what came back.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::Text;
use crate::table::{answers, params};

params! {
    /// Of a task; of one attempt and turn when they are named, else the list of all turns.
    Show {
        task: String,
        /// Attempt number, from 1; the latest when absent.
        attempt: Option<u32>,
        /// Turn of the loop, from 1; without it no bytes are given.
        iteration: Option<u32>,
    }
}

answers! {
    /// The turns, and the bytes of one when it was named.
    Context { task_id: String, turns: Vec<Turn>, shown: Option<Shown> }

    /// One turn of the loop.
    Turn {
        attempt_id: String,
        attempt: u32,
        iteration: u32,
        provider: Option<String>,
        model: Option<String>,
        remote: Option<bool>,
        pack_tokens: Option<u32>,
        pack_items: Option<u32>,
        pack_omissions: Option<u32>,
        tokens_in: Option<u64>,
        tokens_out: Option<u64>,
        cost_micros: Option<u64>,
        finish_reason: Option<String>,
        /// Answers that were asked for again.
        rejections: u32,
        tool: Option<String>,
        summary: Option<Text>,
        error: Option<Text>,
        completed_at: Option<i64>,
    }

    /// The bytes of one turn.
    Shown { attempt: u32, iteration: u32, pack: Option<Sent>, request: Option<Sent>, response: Option<Sent> }

    /// Bytes as stored.
    Sent {
        artifact_id: String,
        sha256: String,
        byte_size: u64,
        /// Base64; absent when they are no longer kept.
        bytes: Option<String>,
    }
}
