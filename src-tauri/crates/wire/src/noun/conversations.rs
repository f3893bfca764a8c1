//! Conversations: what is said, what it was bound to, and the task in focus (HK-8.1.2, HK-8.1.3).
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::answer::AnswerCheck;
use crate::table::{answers, params};
use crate::task::Reasoner;
use crate::{Page, Text};
use words::act::ResultCode;
use words::knowledge::TrustTier;
use words::policy::ApprovalStatus;
use words::store::Channel;
use words::task::{
    ClarificationStatus, IngressResolution, MessageKind, Role, RunStatus, TaskStatus, TerminationReason,
    WordsBy,
};

params! {
    /// All of them, the newest first.
    List { after: Option<String>, limit: Option<u32> }
    /// One of them.
    Show { conversation: String }
    /// What was said and done in one, the newest first; of one of its tasks alone when that is named.
    Lines {
        /// The first one when absent.
        conversation: Option<String>,
        task: Option<String>,
        after: Option<String>,
        limit: Option<u32>,
    }
    /// A new one.
    Open {
        title: String,
        /// The folder whose work is talked about, absolute: the first words said begin a task there.
        folder: Option<String>,
    }
    /// Free words.
    Say {
        /// The first one when absent.
        conversation: Option<String>,
        text: String,
        /// The task it names outright, by identifier, beginning or end.
        task: Option<String>,
        /// The identifier of what it answers: a task, approval, question, receipt or message.
        reply_to: Option<String>,
        /// The identifier of what it quotes: a message, question, approval, receipt, or the attempt whose last words are quoted.
        quotes: Option<String>,
        /// The passage of it, word for word; all of it when absent.
        passage: Option<String>,
        /// Files that come with it, which were taken in before, by their artifacts.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        encloses: Vec<String>,
        /// Whether the words were spoken and written down by a machine.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        spoken: bool,
        /// `new`: it begins work of its own, whatever is open. `child`: it begins a part of `task`. By the order of what it
        /// names when absent.
        about: Option<String>,
        /// The folder of such work, absolute; the conversation's, or that of the task last in focus, when absent.
        workspace: Option<String>,
        /// Who proposes in such work.
        #[serde(default)]
        reasoner: Reasoner,
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
        /// Which task; needed unless it is `talk`, or `new` in a conversation that has a folder.
        task: Option<String>,
    }
    /// See the table.
    Commands {}
    /// Files that came with messages of one, the newest first.
    Files {
        /// The first one when absent.
        conversation: Option<String>,
        after: Option<String>,
        limit: Option<u32>,
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
        /// Of these, those that wait for a person.
        waiting: u32,
        /// Its folder, if it has one.
        workspace_id: Option<String>,
        folder: Option<Text>,
        /// What was said in it last.
        last_said: Option<Text>,
    }
    /// One line of a conversation: what was said, asked, done, or how it ended.
    Line {
        /// Its place in the log, which no other line has.
        seq: u64,
        kind: MessageKind,
        role: Role,
        at: i64,
        text: Option<Text>,
        /// The message, question, approval, receipt, attempt or task that it tells of.
        ref_id: String,
        task: Option<LineTask>,
        /// Of a message.
        heard: Option<Heard>,
        /// Of a question.
        question: Option<ClarificationStatus>,
        choices: Vec<Text>,
        /// Of a request for approval.
        approval: Option<ApprovalStatus>,
        /// Of a receipt.
        result: Option<ResultCode>,
        /// Of a result in part: whether a person chose the part, and all of it was done.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        as_chosen: bool,
        /// Of words at the end of a run: whose they are.
        said_by: Option<WordsBy>,
        /// Of a model's words at the end of a run: what bears each sentence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer_check: Option<AnswerCheck>,
        /// Of the end of a run of the loop.
        termination: Option<TerminationReason>,
        /// Of the end of a task.
        ended: Option<TaskStatus>,
    }
    /// The task of a line.
    LineTask {
        task_id: String,
        title: Text,
        status: RunStatus,
        /// The ended task that it goes on from.
        follows: Option<String>,
        parent_task_id: Option<String>,
    }
    /// What became of a message.
    Heard {
        channel: Channel,
        trust: Option<TrustTier>,
        resolution: IngressResolution,
        /// Nobody can tell yet what it is about.
        is_open: bool,
        /// A task has it as its input, and has not taken it up yet.
        is_waiting: bool,
        candidates: Vec<Candidate>,
        /// How many of a thousand of its words the first candidate's title and goal hold.
        confidence: Option<u16>,
        /// How far the first is ahead of the second, of a thousand.
        margin: Option<u16>,
        rationale: Option<Text>,
        /// The question of a task that it answers.
        answers: Option<String>,
        reply_to: Option<String>,
        quotes: Option<String>,
        /// What it quotes, as it was quoted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quoted: Option<QuotedPassage>,
        /// Files that came with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attached: Vec<AttachedFile>,
        /// Whether the words were spoken and written down by a machine.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        spoken: bool,
    }
    /// A passage that a message quotes. It is content: a model is told it as data, with this trust, and never as the message.
    QuotedPassage {
        artifact_id: String,
        /// What is quoted: a message, question, approval, receipt or attempt.
        of: String,
        /// Absent where it was erased.
        text: Option<Text>,
        trust: TrustTier,
    }
    /// A file that came with a message.
    AttachedFile {
        artifact_id: String,
        name: Option<Text>,
        byte_size: u64,
        media_type: String,
        trust: TrustTier,
        /// Whether its content was erased.
        is_erased: bool,
        message_id: String,
        at: i64,
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
        /// What a command tells whoever gave it.
        told: Vec<String>,
        /// The conversation it stands in, or that a command opened.
        conversation_id: String,
    }
    /// The commands behind a slash.
    CommandList { commands: Vec<SlashRow> }
    /// One of them.
    SlashRow {
        name: String,
        /// What stands behind it; empty where nothing does.
        takes: String,
        about: String,
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
        /// How many of a thousand of its words the first candidate's title and goal hold.
        confidence: Option<u16>,
        /// How far the first is ahead of the second, of a thousand.
        margin: Option<u16>,
        rationale: Option<Text>,
    }
    /// Where the focus is now.
    Focused { conversation_id: String, focus_task_id: Option<String> }
}

/// A part of the list.
pub type Conversations = Page<Conversation>;
/// A part of the list.
pub type LineList = Page<Line>;
/// A part of the list.
pub type FileList = Page<AttachedFile>;
/// A part of the list.
pub type Messages = Page<Message>;
