//! Verbs about changes of Hermit itself.

use super::{SuccessorAdopt, SuccessorBack};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `hermit successor`.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
A change of Hermit is tried before you adopt it: one clone without it and one with it play work of yours that was done, in a \
sandbox without the network, on recorded answers and recorded effects, and what they did is compared act by act. Another model \
is asked again by Hermit itself, on this machine alone; what it does that was not done then has no effect. About words that a model \
reads (SOUL.md, a skin, a skill), the model that did the work is asked again in both clones, where it is on this machine, or the one that you \
name with `--ask`; without one they are the same at most. Where the change would be better it is asked once more without it, and another \
model once more by itself: what is saved counts where it does the same again. A changed skin or skill takes the place of the one of its \
name; where you trust none of that name, each is done again with it. Nothing of your store is changed by a trial, and a trial adopts nothing.

The verdict is `better`, `same`, `worse`, `unsafe` or `inconclusive`, with the rules that led to it, and signed. In each run \
changes that are known to be bad are tried as well: where one of them passes, the verdict does not count.

Several changes race over the same tasks:
  hermit successor try --policy one.rules --policy two.rules --source 'my own idea' --task 'it asks less and breaks nothing'")]
pub enum SuccessorVerb {
    /// Tries a change on past work, and stays until there is a verdict.
    Try(Box<SuccessorTry>),
    /// Lists trials, the newest first.
    List {
        /// How many.
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
    /// Shows a trial: what changed, what was run, what differed, what it cost, and the verdict.
    Show {
        /// Its identifier, or the end of it.
        trial: String,
    },
    /// Puts to you whether a change that was tried is adopted.
    Adopt(SuccessorAdopt),
    /// Lists changes that you adopted.
    Adopted,
    /// Puts to you whether what was before the change that you adopted last is at work again.
    Back(SuccessorBack),
    /// Stops a trial that runs.
    Stop {
        /// Its identifier, or the end of it.
        trial: String,
        /// Why.
        #[arg(long)]
        reason: Option<String>,
    },
}

/// `hermit successor try`.
#[derive(Debug, Args)]
pub struct SuccessorTry {
    /// A file with your own rules of policy, whole, as they would be; each file is a change of its own.
    #[arg(long = "policy", value_name = "FILE")]
    pub policies: Vec<PathBuf>,
    /// The standard profile, as it would be, with the rules.
    #[arg(long, requires = "policies")]
    pub profile: Option<String>,
    /// Words: their kind, a name, and a file; all that you name are one change. `soul` (which needs no name: `soul=SOUL.md`), a signed
    /// `skin`, a `skill` (its SKILL.md) and a `playbook` of your own can be tried; a playbook does again what the one of its name did.
    #[arg(long = "words", value_name = "WHAT=NAME=FILE")]
    pub words: Vec<String>,
    /// Another standard model, on this machine; each is a change of its own. It is asked again, within `--tokens` each time, and what it
    /// does is compared with what was done.
    #[arg(long = "model", value_name = "ADDRESS")]
    pub models: Vec<String>,
    /// The model on this machine that is asked again, in both clones, about words that a model reads; the one that did the tasks unless you
    /// name one.
    #[arg(long = "ask", value_name = "ADDRESS")]
    pub ask: Option<String>,
    /// A unified diff against the source of Hermit; each file is a change of its own.
    #[arg(long = "diff", value_name = "FILE", requires = "base")]
    pub diffs: Vec<PathBuf>,
    /// SHA-256 of the source that the diff applies to, as `hermit source` tells it.
    #[arg(long, value_name = "SHA256")]
    pub base: Option<String>,
    /// A change that was written as JSON; each file is a change of its own.
    #[arg(long = "patch", value_name = "FILE")]
    pub patches: Vec<PathBuf>,
    /// What the change is for, in one line; that of `--task` unless you say another.
    #[arg(long, value_name = "TEXT")]
    pub says: Option<String>,
    /// Where what is new in it comes from, such as `my own idea`; one line for each source.
    #[arg(long = "source", value_name = "TEXT")]
    pub sources: Vec<String>,
    /// What the change is to do, such as `it asks less and breaks nothing`.
    #[arg(long, value_name = "TEXT")]
    pub task: String,
    /// A completed task that is played, whatever is drawn beside it.
    #[arg(long = "on", value_name = "TASK")]
    pub on: Vec<String>,
    /// How many tasks are played together; 10 unless you say another number.
    #[arg(long = "tasks", value_name = "N")]
    pub draw: Option<u32>,
    /// What the draw begins with: the same number draws the same tasks.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Seconds that each clone may take.
    #[arg(long, value_name = "SECONDS")]
    pub wall_seconds: Option<u64>,
    /// Seconds of processors that each clone may use.
    #[arg(long, value_name = "SECONDS")]
    pub cpu_seconds: Option<u64>,
    /// Memory that each clone may use.
    #[arg(long, value_name = "MB")]
    pub memory_mb: Option<u64>,
    /// Room on the disk that each clone may use.
    #[arg(long, value_name = "MB")]
    pub disk_mb: Option<u64>,
    /// Processes that each clone may have at once.
    #[arg(long, value_name = "N")]
    pub processes: Option<u32>,
    /// Tokens of models that each clone may use.
    #[arg(long, value_name = "N")]
    pub tokens: Option<u64>,
    /// Begins it and does not stay, where Hermit is open elsewhere.
    #[arg(long)]
    pub detach: bool,
}
