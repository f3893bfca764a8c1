//! Verbs about work.

use super::WatchArgs;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `hermit run`.
#[derive(Debug, Args, Default)]
#[command(after_help = "\
Examples:
  hermit run --playbook tidy --workspace ~/Downloads
  hermit run --playbook rename --workspace photos --param pattern='IMG_(.*)' --param replacement='trip-$1'
  hermit run --playbook ./mine.yaml --workspace notes
  hermit run \"summarise these notes into SUMMARY.md\" --workspace notes \\
             --model openai:http://127.0.0.1:8080/v1#qwen --profile local_edit_allowed
  hermit run --agent codex \"add a test for the parser\" --workspace ~/src/mine
  hermit run --agent acp:gemini \"add a test for the parser\" --workspace ~/src/mine

At a terminal it shows what it is doing, asks for your approval, and prints the result; with `--screen` it uses the \
whole terminal for that. Ctrl-C pauses it, and on the screen Esc, too; nothing is lost. Without a terminal it ends with 4 as soon as it waits for you; `hermit approvals approve` continues it. \
`hermit playbooks` shows those that come with Hermit.")]
pub struct RunArgs {
    /// A playbook that comes with Hermit, or the path of one.
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "model")]
    pub playbook: Option<String>,
    /// The agent of another program, which works as a guest on a copy of the folder: one of `hermit agents list`, or its
    /// command line; `{goal}` in it stands for the goal, which else comes last. With `acp:` before it, it is spoken to by the
    /// Agent Client Protocol.
    #[arg(long, value_name = "NAME|COMMAND", conflicts_with_all = ["model", "playbook"])]
    pub agent: Option<String>,
    /// A host that the agent may reach, as `name:port`, instead of those that are known for it; repeat it for several.
    #[arg(long, value_name = "HOST:PORT", requires = "agent")]
    pub agent_host: Vec<String>,
    /// An environment variable of the agent that holds a stand-in for a secret; repeat it for several.
    #[arg(long, value_name = "VARIABLE=SECRET", requires = "agent")]
    pub agent_key: Vec<String>,
    /// Another environment variable of the agent; repeat it for several.
    #[arg(long, value_name = "VARIABLE=VALUE", requires = "agent")]
    pub agent_env: Vec<String>,
    /// A folder outside that the agent may read, such as that of its libraries; repeat it for several.
    #[arg(long, value_name = "DIR", requires = "agent")]
    pub agent_read: Vec<PathBuf>,
    /// What you want to be done.
    #[arg(value_name = "GOAL", conflicts_with_all = ["goal", "goal_file"])]
    pub words: Option<String>,
    /// The same, by name.
    #[arg(long, value_name = "TEXT", conflicts_with = "goal_file")]
    pub goal: Option<String>,
    /// Read the goal from a file; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    pub goal_file: Option<PathBuf>,
    /// The folder to work in; the current folder unless you name one.
    #[arg(long, short, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// The model: `box:NAME`, `openai:URL#NAME`, `playbook:NAME` or `recorded:FILE`.
    #[arg(long, value_name = "ADDRESS")]
    pub model: Option<String>,
    /// A model to ask when the one before does not answer; repeat it for several, in order.
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["playbook", "agent"])]
    pub fallback: Vec<String>,
    /// Let a model on another machine follow one on this machine.
    #[arg(long, requires = "fallback")]
    pub fallback_remote: bool,
    /// Policy profile: readonly_analysis, local_edit_allowed (the default), network_read_allowed, repo_mutation_gated,
    /// external_publish_gated, destructive_denied, service.
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// A parameter of the playbook; repeat it for several.
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// One step of the work; repeat it for several, in order. `playbook:NAME` runs a playbook; `edit: TEXT`, `run tests: TEXT`,
    /// `await approval: TEXT` and other kinds of step say what it is for, and allow it no more than that.
    #[arg(long = "step", value_name = "TEXT")]
    pub steps: Vec<String>,
    /// A file to attach to the goal; repeat it for several.
    #[arg(long, value_name = "FILE")]
    pub attach: Vec<PathBuf>,
    /// Says that the goal was spoken and written down by a program.
    #[arg(long)]
    pub spoken: bool,
    /// A rule that the model must follow; repeat it for several.
    #[arg(long, value_name = "TEXT")]
    pub constraint: Vec<String>,
    /// What must hold at the end: `file: PATH`, `no file: PATH`, `text: PATH: WORDS` and `command: WORDS` are checked,
    /// other words you judge; repeat it for several.
    #[arg(long = "done-when", value_name = "CRITERION")]
    pub done_when: Vec<String>,
    /// The most turns it may use.
    #[arg(long, value_name = "N")]
    pub iterations: Option<u32>,
    /// The most tokens it may use.
    #[arg(long, value_name = "N")]
    pub tokens: Option<u64>,
    /// The most US dollars it may spend on models; 5 unless you say otherwise.
    #[arg(long, value_name = "DOLLARS")]
    pub cost: Option<f64>,
    /// A title for lists.
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Starting twice with the same key makes one task.
    #[arg(long, value_name = "KEY")]
    pub idempotency_key: Option<String>,
    #[command(flatten)]
    pub watch: WatchArgs,
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
    /// Continue a list from here (`next` of the page before).
    #[arg(long, value_name = "CURSOR")]
    pub after: Option<String>,
    /// The most rows to print.
    #[arg(long, value_name = "N")]
    pub limit: Option<u32>,
}

/// `hermit agents`.
#[derive(Debug, Subcommand)]
pub enum AgentsVerb {
    /// Lists the agents that Hermit knows, and which of them are here.
    List,
}

/// `hermit task`.
#[derive(Debug, Subcommand)]
pub enum TaskVerb {
    /// Lists tasks, the newest first.
    List {
        /// Only of these statuses.
        #[arg(long, value_name = "STATUS")]
        status: Vec<String>,
        /// Only tasks that are: waiting (for you), going, done, otherwise (ended badly), ended.
        #[arg(long, value_name = "GROUP")]
        group: Option<String>,
        /// Only tasks that contain these words.
        #[arg(long, value_name = "TEXT")]
        search: Option<String>,
        /// Only tasks in this folder, and in others of the same project.
        #[arg(long, value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
        workspace: Option<PathBuf>,
        /// Continue a list from here.
        #[arg(long, value_name = "CURSOR")]
        after: Option<String>,
        /// The most rows to print.
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
    /// Shows one task: its status, what it did, what it waits for.
    Show {
        /// The task; the short form from a list will do.
        task: String,
    },
    /// Prints the recorded events of a task.
    Events {
        /// The task.
        task: String,
        /// Keep printing until the task has ended.
        #[arg(long, short)]
        follow: bool,
        /// Start after this event number.
        #[arg(long, value_name = "SEQ", default_value_t = 0)]
        after: u64,
    },
    /// Pauses a task.
    Pause {
        /// The task.
        task: String,
    },
    /// Resumes a paused task, and shows its work.
    Resume {
        /// The task.
        task: String,
        #[command(flatten)]
        watch: WatchArgs,
    },
    /// Cancels a task; an action that has begun is finished or checked first.
    Cancel {
        /// The task.
        task: String,
        /// Why.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Tries a task again.
    Retry {
        /// The task.
        task: String,
        #[command(flatten)]
        watch: WatchArgs,
    },
    /// Sends a message to a task.
    Note {
        /// The task.
        task: String,
        /// The message.
        text: String,
        /// When the model reads it: `steer` at its next turn, `queue` when it is done, `stop_and_send` now.
        #[arg(long, value_name = "MODE", default_value = "steer")]
        mode: String,
        #[command(flatten)]
        with: WithWords,
    },
    /// Sums up the oldest turns of a task, so that its model has room for new ones.
    Compact {
        /// The task.
        task: String,
    },
    /// Shows the summary that a task's model reads in the place of the oldest turns.
    Summary {
        /// The task.
        task: String,
        /// An earlier summary, by its artifact.
        #[arg(long, value_name = "ID")]
        artifact: Option<String>,
        /// With the recorded events that each line stands for.
        #[arg(long)]
        unfold: bool,
    },
    /// Says how urgent a task is.
    Priority {
        /// The task.
        task: String,
        /// `low`, `normal` or `high`.
        priority: String,
    },
    /// Lists steps that are ready, running or blocked, over all tasks.
    Steps {
        /// Those of one task.
        #[arg(long)]
        task: Option<String>,
        /// Those that stand so: `ready`, `running`, `blocked`, `succeeded` and others.
        #[arg(long)]
        status: Option<String>,
        /// So many of each at most.
        #[arg(long)]
        limit: Option<u32>,
    },
    /// Changes the goal of a task.
    Goal {
        /// The task.
        task: String,
        /// The new goal.
        goal: String,
        /// Says that the goal was spoken and written down by a program.
        #[arg(long)]
        spoken: bool,
    },
    /// Answers a question of a task, and shows its work.
    Answer {
        /// The task.
        task: String,
        /// The answer.
        text: String,
        /// The question, when several are open.
        #[arg(long)]
        question: Option<String>,
        /// Says that the answer was spoken and written down by a program.
        #[arg(long)]
        spoken: bool,
        #[command(flatten)]
        watch: WatchArgs,
    },
}

/// `hermit workspace`.
#[derive(Debug, Subcommand)]
pub enum WorkspaceVerb {
    /// Lists them, each with the project that it belongs to.
    List,
    /// Says that a folder was moved or renamed: where it is now continues as the project that it was, with what is remembered there.
    Moved {
        /// Where it was, as `hermit workspace list` shows it.
        from: PathBuf,
        /// Where it is.
        to: PathBuf,
    },
}

/// What comes with a message.
#[derive(Debug, Args)]
pub struct WithWords {
    /// A file that comes with the message; repeat it for several.
    #[arg(long, value_name = "FILE")]
    pub attach: Vec<PathBuf>,
    /// The identifier of what the message quotes: a message, question, approval, receipt, or an attempt for its last words.
    #[arg(long, value_name = "ID")]
    pub quote: Option<String>,
    /// The passage of it, word for word; all of it unless given.
    #[arg(long, value_name = "TEXT", requires = "quote")]
    pub passage: Option<String>,
    /// Says that the message was spoken and written down by a program.
    #[arg(long)]
    pub spoken: bool,
}

/// `hermit conversation`.
#[derive(Debug, Subcommand)]
pub enum ConversationVerb {
    /// Lists conversations, each with the task in focus.
    List(ListArgs),
    /// Shows what was said and done in a conversation, across its tasks.
    Show {
        /// The conversation; the first one unless named.
        conversation: Option<String>,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Opens a conversation.
    Open {
        /// Its title.
        title: String,
        /// The folder whose work is talked about: the first words said begin a task there.
        #[arg(long, value_name = "FOLDER")]
        workspace: Option<std::path::PathBuf>,
    },
    /// Sends a message to the task it is about, or asks you which.
    Say {
        /// The message.
        text: String,
        /// The conversation; the first one unless named.
        #[arg(long = "in", value_name = "CONVERSATION")]
        conversation: Option<String>,
        /// The task it is about.
        #[arg(long)]
        task: Option<String>,
        /// The identifier of the message it answers.
        #[arg(long, value_name = "ID")]
        reply_to: Option<String>,
        /// Begins work of its own, whatever else is open.
        #[arg(long, conflicts_with = "reply_to")]
        new: bool,
        /// The folder of such work; the conversation's unless named.
        #[arg(long, value_name = "FOLDER", requires = "new")]
        workspace: Option<std::path::PathBuf>,
        #[command(flatten)]
        with: WithWords,
    },
    /// Lists the files that came with messages of a conversation.
    Files {
        /// The conversation; the first one unless named.
        conversation: Option<String>,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Lists messages that belong to no task yet.
    Undecided(ListArgs),
    /// Says which task a message is about.
    Bind {
        /// The message.
        message: String,
        /// `task`, `child`, `new` or `talk`.
        about: String,
        /// Which task.
        task: Option<String>,
    },
    /// Puts a task in focus; without one, puts none in focus.
    Focus {
        /// The task.
        task: Option<String>,
    },
}

/// `hermit approvals`.
#[derive(Debug, Subcommand)]
pub enum ApprovalsVerb {
    /// Lists what waits for your approval; `--status any` lists all.
    List(ListArgs),
    /// Shows what you would approve.
    Show {
        /// The approval; the short form from a list will do. Without it, the one that waits.
        approval: Option<String>,
        /// Unfolded, with every value that your signature would cover.
        #[arg(long)]
        whole: bool,
    },
    /// Shows what you would approve, and takes your answer; only at a terminal.
    Approve(ApproveArgs),
    /// Denies it.
    Deny {
        /// The approval. Without it, the one that waits.
        approval: Option<String>,
        /// Your reason; the agent that proposed it reads it.
        #[arg(long, value_name = "TEXT")]
        feedback: Option<String>,
    },
}

/// `hermit approvals approve`.
#[derive(Debug, Args)]
#[command(after_help = "\
It shows what would happen, deletions first, and then asks: `y` approves with the approval passphrase, `key` with your security key, `n` denies, \
`stop` denies and ends the task, `part` lets you choose files and hunks of files, denies the rest and asks again about those, `always` approves \
similar actions too, `later` leaves it, `details` shows everything \
(through the pager in PAGER). Enter alone decides nothing, and what you typed before the question is discarded. \
A pipe, a script or a model cannot answer.")]
pub struct ApproveArgs {
    /// The approval; the short form from a list will do. Without it, the one that waits.
    pub approval: Option<String>,
    /// Only these files and folders of it: the rest is denied, and you are asked about these. `notes.txt#1,3` is hunks
    /// 1 and 3 of a file, as the card numbers them.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub only: Vec<String>,
    /// With --only: why not the rest; the agent that proposed it reads it.
    #[arg(long, value_name = "TEXT", requires = "only")]
    pub feedback: Option<String>,
    #[command(flatten)]
    pub watch: WatchArgs,
}

/// `hermit receipts`.
#[derive(Debug, Subcommand)]
pub enum ReceiptsVerb {
    /// Lists receipts, the newest first.
    List(ListArgs),
    /// Shows one receipt and whether its signature holds.
    Show {
        /// The receipt; the short form from a list will do.
        receipt: String,
    },
}

/// `hermit rollback`.
#[derive(Debug, Args)]
#[command(after_help = "\
An undo is a task: it shows its plan, asks you once, has a receipt, and can be undone itself. \
Your later edits are kept: texts are merged around them, and what cannot be undone is left and named. Of a binary \
file that you changed, the earlier version is put beside yours.

Times are in your time zone: `2026-11-22`, `2026-11-22 05:30`, `yesterday`, `tuesday`, or how long ago: `90m`, `3h`, `2d`, `1w`.")]
pub struct RollbackArgs {
    /// The receipt or the task; the short form from a list will do.
    #[arg(required_unless_present = "since", conflicts_with = "since")]
    pub what: Option<String>,
    /// Undo everything that was done since a time.
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only show the plan.
    #[arg(long)]
    pub plan: bool,
    #[command(flatten)]
    pub watch: WatchArgs,
}

/// `hermit resolve`.
#[derive(Debug, Args)]
pub struct ResolveArgs {
    /// The task.
    pub task: String,
    /// What you found: succeeded, failed or partial.
    #[arg(long = "as", value_name = "RESULT", value_parser = ["succeeded", "failed", "partial"])]
    pub result: String,
    /// How you know.
    #[arg(long, value_name = "TEXT")]
    pub note: String,
    #[command(flatten)]
    pub watch: WatchArgs,
}

/// `hermit context`.
#[derive(Debug, Args)]
pub struct ContextArgs {
    /// The task.
    pub task: String,
    /// Attempt, from 1; the latest unless you name one.
    #[arg(long, value_name = "N")]
    pub attempt: Option<u32>,
    /// Turn, from 1; prints the exact bytes of it.
    #[arg(long, value_name = "N")]
    pub iteration: Option<u32>,
}
