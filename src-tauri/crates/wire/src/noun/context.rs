//! Exactly what was sent to a model, and what came back.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::Text;
use crate::table::{answers, params};
use words::knowledge::{SummaryLineKind, TrustTier};

params! {
    /// Of a task; of one attempt and turn when they are named, else the list of all turns.
    Show {
        task: String,
        /// Attempt number, from 1; the latest when absent.
        attempt: Option<u32>,
        /// Turn of the loop, from 1; without it no bytes are given.
        iteration: Option<u32>,
    }

    /// The summary that stands in the context of a task; with an artifact, an earlier one.
    Summary { task: String, artifact: Option<String> }

    /// Of which task.
    Compact { task: String }
}

answers! {
    /// What stands in a context in the place of the oldest turns.
    ContextSummary {
        task_id: String,
        artifact_id: String,
        sha256: String,
        made_at: i64,
        /// The last turn that it stands for.
        through: u32,
        /// Results of acts that it stands for.
        results: u32,
        trust: TrustTier,
        lines: Vec<SummaryLine>,
        /// Lines that found no room; they stand in the summaries before.
        left_out: u32,
        /// The summary that it took the place of.
        before: Option<String>,
        /// The model that put lines of it in fewer words, where one did.
        retold_by: Option<String>,
    }

    /// One line, with what it stands for.
    SummaryLine {
        kind: SummaryLineKind,
        iteration: u32,
        text: String,
        events: Vec<StoodFor>,
        artifact_id: Option<String>,
    }

    /// An event that a line stands for.
    StoodFor { event_id: String, seq: u64, event_type: String }

    /// What summing up came to; nothing but the task when there was nothing to sum up.
    Compacted { task_id: String, artifact_id: Option<String>, through: u32, results: u32, lines: u32 }

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
