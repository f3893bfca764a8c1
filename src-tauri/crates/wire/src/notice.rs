//! What a host tells whoever listens. Never truth: it says where to look again.

use serde::{Deserialize, Serialize};

/// Something happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Notice {
    /// An event was committed.
    Event {
        /// Its task.
        task_id: String,
        /// Its place there.
        task_seq: u64,
        /// Its type.
        event_type: String,
        /// Lists that may show something else now.
        topics: Vec<Topic>,
    },
    /// A reasoner wrote a piece of text.
    Delta {
        /// The task it thinks for.
        task_id: String,
        /// The asking that it answers: a number that grows with each, also from one host to the next.
        asking: u64,
        /// How much of its text came before, in UTF-16 code units.
        from: u64,
        /// The piece.
        text: String,
    },
    /// A reasoner wrote a piece of its reasoning, which is no part of its answer.
    Reasoning {
        /// The task it thinks for.
        task_id: String,
        /// The asking that it answers.
        asking: u64,
        /// How much of its reasoning came before, in UTF-16 code units.
        from: u64,
        /// The piece.
        text: String,
    },
    /// Long work went on.
    Progress {
        /// The task it is for, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_id: Option<String>,
        /// What is being done.
        what: String,
        /// How much is done.
        done: u64,
        /// Of how much; 0 when not known.
        total: u64,
    },
    /// An act printed something, or the tool of a server said how far it is.
    Output {
        /// Its task.
        task_id: String,
        /// The act.
        act: String,
        /// `stdout`, `stderr` or `tool`.
        stream: String,
        /// The piece.
        text: String,
    },
    /// The keys of the host were opened or locked.
    Keys {
        /// Whether they are open now.
        open: bool,
    },
}

macro_rules! topics {
    ($($(#[$meta:meta])* $name:ident = $text:literal,)+) => {
        /// What a read command shows; a notice names the topics that changed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[allow(non_camel_case_types, reason = "the table spells topics as the wire does")]
        pub enum Topic { $($(#[$meta])* #[serde(rename = $text)] $name,)+ }

        impl Topic {
            /// Every topic.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The word on the wire.
            pub const fn as_str(self) -> &'static str { match self { $(Self::$name => $text,)+ } }
        }
    };
}

topics! {
    /// Tasks, steps, attempts, questions.
    tasks = "tasks",
    /// What waits for a yes or no.
    approvals = "approvals",
    /// Grants.
    grants = "grants",
    /// Receipts.
    receipts = "receipts",
    /// Artifacts.
    artifacts = "artifacts",
    /// Beliefs, memory, decisions, working state.
    knowledge = "knowledge",
    /// The gate, its halt.
    gate = "gate",
    /// Keys.
    keys = "keys",
    /// The log itself, its checkpoints, the host.
    store = "store",
}

/// The topics that an event of this type changes.
pub fn topics_of(event_type: &str) -> Vec<Topic> {
    // A context says which memory it holds, and the end of an attempt which of it helped.
    if matches!(event_type, "attempt.context_compiled" | "attempt.terminated") {
        return vec![Topic::tasks, Topic::knowledge];
    }
    let noun = event_type.split('.').next().unwrap_or_default();
    match noun {
        "task" | "step" | "attempt" | "clarification" | "budget" | "ingress" | "conversation" => {
            vec![Topic::tasks]
        }
        "approval" => vec![Topic::approvals, Topic::tasks],
        "grant" => vec![Topic::grants],
        "receipt" => vec![Topic::receipts, Topic::tasks],
        "artifact" => vec![Topic::artifacts],
        "belief" | "memory" | "decision" | "working_state" => vec![Topic::knowledge],
        "action" | "policy" | "witness" | "effect" => vec![Topic::tasks, Topic::gate],
        // Nobody works on a task that should be at work while a halt is in force.
        "gate" => vec![Topic::gate, Topic::store, Topic::tasks],
        "key" => vec![Topic::keys],
        _ => vec![Topic::store],
    }
}
