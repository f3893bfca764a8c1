//! Conversations: what is said, what it was bound to, and the task in focus (HK-8.1.2, HK-8.1.3).
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::table::{answers, params};
use crate::{Page, Text};
use words::knowledge::TrustTier;
use words::store::Channel;
use words::task::{IngressResolution, RunStatus};

params! {
    /// All of them, the newest first.
    List { after: Option<String>, limit: Option<u32> }
    /// A new one.
    Open { title: String }
    /// Free words.
    Say {
        /// The first one when absent.
        conversation: Option<String>,
        text: String,
        /// The task it names outright, by identifier, beginning or end.
        task: Option<String>,
        /// The identifier of what it answers: a task, approval, question, receipt or message.
        reply_to: Option<String>,
        channel: Option<String>,
        idempotency_key: Option<String>,
    }
    /// What waits for a person to say what it is about, the newest first.
    Undecided { after: Option<String>, limit: Option<u32> }
    /// One open message by its identifier.
    Bind {
        message: String,
        /// `task`: input for it, or a task that follows it when it has ended. `child`: work of its own under it.
        /// `new`: work of its own, in its folder and by its reasoner. `talk`: no work.
        about: String,
        /// Which task; needed unless it is `talk`.
        task: Option<String>,
    }
    /// The task a person turns to; none turns away.
    Focus { conversation: Option<String>, task: Option<String> }
}

answers! {
    /// One conversation.
    Conversation {
        conversation_id: String,
        title: Text,
        opened_at: i64,
        updated_at: i64,
        focus_task_id: Option<String>,
        focus_reason: String,
        last_focus: Option<String>,
        open_tasks: u32,
    }
    /// It is open.
    Opened { conversation_id: String }
    /// What became of words.
    Said {
        message_id: String,
        resolution: IngressResolution,
        task_id: Option<String>,
        candidates: Vec<Candidate>,
        /// Why, in words.
        rationale: String,
    }
    /// A task that words might be about.
    Candidate { task_id: String, title: Text, status: RunStatus, updated_at: i64 }
    /// An open message.
    Message {
        message_id: String,
        conversation_id: String,
        channel: Channel,
        /// How far its sender's words may be relied on; absent in what older versions took in.
        trust: Option<TrustTier>,
        text: Text,
        said_at: i64,
        candidates: Vec<Candidate>,
        rationale: Option<Text>,
    }
    /// Where the focus is now.
    Focused { conversation_id: String, focus_task_id: Option<String> }
}

/// A part of the list.
pub type Conversations = Page<Conversation>;
/// A part of the list.
pub type Messages = Page<Message>;
