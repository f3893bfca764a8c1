//! Verbs about work.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `hermit run`.
#[derive(Debug, Args, Default)]
#[command(after_help = "\
Examples:
  hermit run --playbook tidy --workspace ~/Downloads
  hermit run --playbook rename --workspace photos --param pattern='IMG_(.*)' --param to='trip-$1'
  hermit run --playbook ./mine.yaml --workspace notes
  hermit run --goal \"summarise these notes into SUMMARY.md\" --workspace notes \\
             --model openai:http://127.0.0.1:8080/v1#qwen --profile local_edit_allowed

At a terminal it stays: it shows the card, takes your answer, and prints the receipts. Without one it ends with 4 \
as soon as a person is waited for; the task is kept, and `hermit approvals approve` at a terminal lets it go on. \
`hermit start` shows the playbooks that come with Hermit.")]
pub struct RunArgs {
    /// A playbook that comes with Hermit, or the path of one.
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "model")]
    pub playbook: Option<String>,
    /// What is to be done.
    #[arg(long, value_name = "TEXT", conflicts_with = "goal_file")]
    pub goal: Option<String>,
    /// A file that says what is to be done; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    pub goal_file: Option<PathBuf>,
    /// The folder to work in; the present one when absent.
    #[arg(long, short, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Who proposes: `openai:URL#NAME`, `playbook:NAME`, `recorded:FILE`.
    #[arg(long, value_name = "ADDRESS")]
    pub model: Option<String>,
    /// Policy profile: readonly_analysis, local_edit_allowed (the standard), network_read_allowed, repo_mutation_gated,
    /// external_publish_gated, destructive_denied.
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// A playbook's parameter; may be given several times.
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// One step of the work, after the one before it; may be given several times. `playbook:NAME` runs a playbook.
    #[arg(long = "step", value_name = "TEXT")]
    pub steps: Vec<String>,
    /// A file handed over with the goal; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub attach: Vec<PathBuf>,
    /// What must not happen; may be given several times.
    #[arg(long, value_name = "TEXT")]
    pub constraint: Vec<String>,
    /// Turns of the loop at most.
    #[arg(long, value_name = "N")]
    pub iterations: Option<u32>,
    /// Tokens at most.
    #[arg(long, value_name = "N")]
    pub tokens: Option<u64>,
    /// One line for lists.
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// The same key twice is the same task.
    #[arg(long, value_name = "KEY")]
    pub idempotency_key: Option<String>,
}

/// Which part of a list.
#[derive(Debug, Args, Default)]
pub struct ListArgs {
    /// Only of this task.
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,
    /// Only of this status, or `any`.
    #[arg(long, value_name = "STATUS")]
    pub status: Option<String>,
    /// Go on behind this place (`next` of the part before).
    #[arg(long, value_name = "CURSOR")]
    pub after: Option<String>,
    /// Rows at most.
    #[arg(long, value_name = "N")]
    pub limit: Option<u32>,
}

/// `hermit task`.
#[derive(Debug, Subcommand)]
pub enum TaskVerb {
    /// Lists tasks, the newest first.
    List {
        /// Only of these statuses.
        #[arg(long, value_name = "STATUS")]
        status: Vec<String>,
        /// Only those that stand so: waiting, going, done, otherwise, ended.
        #[arg(long, value_name = "GROUP")]
        group: Option<String>,
        /// Only those in which these words stand.
        #[arg(long, value_name = "TEXT")]
        search: Option<String>,
        /// Go on behind this place.
        #[arg(long, value_name = "CURSOR")]
        after: Option<String>,
        /// Rows at most.
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
    /// Shows one task: where it stands, what it did, what it waits for.
    Show {
        /// The task, or the beginning or end of its identifier.
        task: String,
    },
    /// Reads the events of a task, as they stand in the ledger.
    Events {
        /// The task.
        task: String,
        /// Stay, and print what comes, until the task has ended.
        #[arg(long, short)]
        follow: bool,
        /// Begin behind this place.
        #[arg(long, value_name = "SEQ", default_value_t = 0)]
        after: u64,
    },
    /// Asks a task to pause.
    Pause {
        /// The task.
        task: String,
    },
    /// Lets a paused task go on, and stays with it.
    Resume {
        /// The task.
        task: String,
    },
    /// Asks a task to end; an effect under way is established first.
    Cancel {
        /// The task.
        task: String,
        /// Why.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Tries again: a new attempt, or a follow-up of an ended task.
    Retry {
        /// The task.
        task: String,
    },
    /// Adds words to a task.
    Note {
        /// The task.
        task: String,
        /// The words.
        text: String,
        /// When they are heard: `steer` at the next turn, `queue` when it would else be done, `stop_and_send` now.
        #[arg(long, value_name = "MODE", default_value = "steer")]
        mode: String,
    },
    /// Edits the goal of a task at work.
    Goal {
        /// The task.
        task: String,
        /// The goal from now on.
        goal: String,
    },
    /// Answers a question of a task.
    Answer {
        /// The task.
        task: String,
        /// The answer.
        text: String,
        /// The question, when several are open.
        #[arg(long)]
        question: Option<String>,
    },
}

/// `hermit conversation`.
#[derive(Debug, Subcommand)]
pub enum ConversationVerb {
    /// Lists conversations and the task in focus of each.
    List(ListArgs),
    /// Opens a conversation.
    Open {
        /// Its title.
        title: String,
    },
    /// Says something: it is bound to the task it is about, or waits until you say which.
    Say {
        /// The words.
        text: String,
        /// The conversation; the first one unless named.
        #[arg(long = "in", value_name = "CONVERSATION")]
        conversation: Option<String>,
        /// The task it is about.
        #[arg(long)]
        task: Option<String>,
        /// The identifier of what it answers.
        #[arg(long, value_name = "ID")]
        reply_to: Option<String>,
    },
    /// Lists what was said and nobody can tell yet what it is about.
    Undecided(ListArgs),
    /// Says what an open message is about.
    Bind {
        /// The message.
        message: String,
        /// `task`, `child`, `new` or `talk`.
        about: String,
        /// Which task.
        task: Option<String>,
    },
    /// Turns to a task; without one, away from the one in focus.
    Focus {
        /// The task.
        task: Option<String>,
    },
}

/// `hermit approvals`.
#[derive(Debug, Subcommand)]
pub enum ApprovalsVerb {
    /// Lists what waits; `--status any` lists all.
    List(ListArgs),
    /// Shows the whole card.
    Show {
        /// The approval, or the beginning or end of its identifier.
        approval: String,
        /// Every value of what would be signed, too.
        #[arg(long)]
        whole: bool,
    },
    /// Shows the card and takes your answer; only at a terminal, with the approval passphrase.
    Approve(ApproveArgs),
    /// Refuses.
    Deny {
        /// The approval.
        approval: String,
        /// Words for the model: what to do instead.
        #[arg(long, value_name = "TEXT")]
        feedback: Option<String>,
    },
}

/// `hermit approvals approve`.
#[derive(Debug, Args)]
#[command(after_help = "\
It shows what would happen, the destructive first, and waits half a second; what was typed before is thrown away. \
Then it takes a typed `allow`, `deny` or `later`, and for `allow` the approval passphrase. Enter alone decides nothing. \
A pipe, a script or a model cannot answer: that is the point.")]
pub struct ApproveArgs {
    /// The approval, or the beginning or end of its identifier.
    pub approval: String,
}

/// `hermit receipts`.
#[derive(Debug, Subcommand)]
pub enum ReceiptsVerb {
    /// Lists receipts, the newest first.
    List(ListArgs),
    /// Shows one receipt and whether its signature holds.
    Show {
        /// The receipt, or the beginning or end of its identifier.
        receipt: String,
    },
}

/// `hermit rollback`.
#[derive(Debug, Args)]
#[command(after_help = "\
An undo is a task like any other: it shows its plan, asks you once, has a receipt, and can itself be undone. \
Work of yours that came later is not overwritten: a text is merged where the edits do not touch, and what cannot be \
taken back is left and named; of a file that is no text, the earlier version comes beside yours.

Times are UTC: `2026-11-22`, `2026-11-22 05:30`, `yesterday`, `tuesday`, or back from now: `90m`, `3h`, `2d`, `1w`.")]
pub struct RollbackArgs {
    /// The receipt or the task, or the beginning or end of the identifier.
    #[arg(required_unless_present = "since", conflicts_with = "since")]
    pub what: Option<String>,
    /// Undo everything that was done since a time.
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only show what it would do.
    #[arg(long)]
    pub plan: bool,
}

/// `hermit resolve`.
#[derive(Debug, Args)]
pub struct ResolveArgs {
    /// The task.
    pub task: String,
    /// What you found: succeeded, failed, partial.
    #[arg(long = "as", value_name = "RESULT", value_parser = ["succeeded", "failed", "partial"])]
    pub result: String,
    /// How you know.
    #[arg(long, value_name = "TEXT")]
    pub note: String,
}

/// `hermit context`.
#[derive(Debug, Args)]
pub struct ContextArgs {
    /// The task.
    pub task: String,
    /// Attempt, from 1; the latest when absent.
    #[arg(long, value_name = "N")]
    pub attempt: Option<u32>,
    /// Turn of the loop, from 1; with it the exact bytes are shown.
    #[arg(long, value_name = "N")]
    pub iteration: Option<u32>,
}
