//! Words of what is known.

use clap::{Args, Subcommand};
use std::path::PathBuf;
use words::knowledge::MemoryType;

/// `hermit memory`.
#[derive(Debug, Subcommand)]
pub enum MemoryVerb {
    /// Lists what is remembered; `--status any` lists what ended, too, and `--as-of` what was remembered then.
    List(MemoryList),
    /// Lists the points of the past whose memory can be listed with `--as-of`, and which checkpoint proves each.
    #[command(after_help = "\
Hermit states a root of the memory of each project, and of each conversation, when it changed: within five minutes, when \
the store is closed, with every proof and with `hermit ledger checkpoint`; the signed checkpoint of the log covers it.")]
    Points {
        /// Continue a list from here (`next` of the page before).
        #[arg(long, value_name = "CURSOR")]
        after: Option<String>,
        /// The most rows to print.
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
    },
    /// Shows one record: on what it rests, what it replaced, and when tasks were told of it.
    Show {
        /// The record.
        memory: String,
    },
    /// Remembers something that you say: later tasks of this project are told of it. You are asked, as for every act.
    #[command(after_help = "\
Examples:
  hermit memory add \"invoices are numbered by year, then by client\" --type decision
  hermit memory add \"always answer in German\" --type preference --everywhere
  hermit memory add \"the staging server is down\" --days 2")]
    Add(MemoryAdd),
    /// Puts something else in the place of a record; the old one stays readable.
    Replace {
        /// The record.
        memory: String,
        #[command(flatten)]
        by: MemoryAdd,
    },
    /// Takes a record back, as one that should never have been kept: it stays readable, and no model is told of it any more.
    Forget {
        /// The record.
        memory: String,
        /// Why.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Lists what Hermit proposes to remember of tasks that ended, each line with what shows it.
    #[command(after_help = "\
Nothing of it is remembered before you say yes. `hermit approvals approve` remembers every line of a card, of one \
with several lines with `--only 1 --only 3` those, and `hermit approvals deny` none; what you leave out is proposed again only \
when it comes about once more. Hermit looks by itself when nothing was written in the store for two minutes, unless \
`config.json` in the store's folder says `\"historian\": false`; `hermit memory review` looks now.")]
    Suggestions,
    /// Looks now at tasks that ended for what to remember; you are asked before anything is.
    Review,
    /// Lists beliefs.
    Beliefs(super::ListArgs),
    /// Lists what a belief was from revision to revision.
    History {
        /// The belief.
        belief: String,
    },
    /// Takes a belief back: it stays readable, and no model is told of it any more.
    Revoke {
        /// The belief.
        belief: String,
        /// Why.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Says otherwise of a belief; what it was stays readable. Your words are the evidence of what you hold instead or against it.
    Correct(BeliefCorrect),
    /// Lists decisions.
    Decisions(super::ListArgs),
    /// Marks a record as wrong.
    Invalidate {
        /// The record.
        memory: String,
        /// Why.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
}

/// `hermit memory list`.
#[derive(Debug, Args)]
pub struct MemoryList {
    /// Only of this status: `active`, `invalidated`, `revoked`, `expired`, or `any`.
    #[arg(long, value_name = "STATUS")]
    pub status: Option<String>,
    /// Only of this kind: `decision`, `pattern`, `correction`, `architecture`, `preference`.
    #[arg(long = "type", value_name = "KIND")]
    pub memory_type: Option<String>,
    /// Only what holds in the project of this folder, or everywhere.
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
    /// Only what is held there and says something of this, the most relevant first, as a task with this goal is told of it.
    #[arg(long, value_name = "TEXT", requires = "folder", conflicts_with_all = ["status", "as_of", "after"])]
    pub about: Option<String>,
    /// As it was then: at a checkpoint (the number of its notes, or a file with the signed note), or at a time of yours
    /// (`yesterday`, `tuesday`, `2026-11-20`, which is its beginning, `2026-11-20 18:00`).
    #[arg(long, value_name = "CHECKPOINT|TIME", conflicts_with = "status")]
    pub as_of: Option<String>,
    /// Continue a list from here (`next` of the page before).
    #[arg(long, value_name = "CURSOR")]
    pub after: Option<String>,
    /// The most rows to print.
    #[arg(long, value_name = "N")]
    pub limit: Option<u32>,
}

/// What you say of a belief.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("said").required(true).args(["confidence", "instead", "against", "over"]))]
pub struct BeliefCorrect {
    /// The belief.
    pub belief: String,
    /// How sure one may be of it, from 0 to 1000; never more than its evidence carries.
    #[arg(long, value_name = "N")]
    pub confidence: Option<u16>,
    /// What holds in its place.
    #[arg(long, value_name = "CLAIM")]
    pub instead: Option<String>,
    /// What holds against it; neither is dropped.
    #[arg(long, value_name = "CLAIM")]
    pub against: Option<String>,
    /// Its time is over.
    #[arg(long)]
    pub over: bool,
    /// Why.
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

/// What is to be remembered.
#[derive(Debug, Args)]
pub struct MemoryAdd {
    /// What is to be remembered, in a sentence.
    pub claim: String,
    /// What kind it is: `decision`, `pattern`, `correction`, `architecture`, `preference`. Tasks are always told of
    /// corrections and preferences; of the others when their words fit the task.
    #[arg(long = "type", value_name = "KIND")]
    pub memory_type: Option<MemoryType>,
    /// Why it deserves to last.
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// The part of the project it is about, such as `src/api`.
    #[arg(long, value_name = "PART", conflicts_with = "everywhere")]
    pub scope: Option<String>,
    /// It holds in every project.
    #[arg(long)]
    pub everywhere: bool,
    /// Every task of the project is told of it.
    #[arg(long, conflicts_with = "days")]
    pub pin: bool,
    /// It holds for so many days.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=36_500))]
    pub days: Option<u32>,
    /// A folder of the project.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub workspace: PathBuf,
}
