//! Verbs about training.

use super::mesh::PersonArgs;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `hermit train`.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
A small model learns from your finished work, on this machine: what a model was sent and what it answered, of tasks that \
completed, where a receipt says what came of it. What you undid or denied is left out, and so is what is tainted, shows a \
secret, or is of a folder that you marked private.

  hermit train curate                      see what a dataset would hold, and keep it
  hermit models get smollm2-135m           a small model to begin with
  hermit train run --base smollm2-135m     learn, and be measured before and after
  hermit train export RUN                  a model for `hermit models use`

The program that trains is built with `cargo xtask trainer`.")]
pub enum TrainVerb {
    /// Shows what a dataset of your finished work would hold and what is left out and why, and keeps it when you say so.
    Curate {
        /// Divide by time alone: for work that is all in one project.
        #[arg(long)]
        by_time: bool,
        /// Keep it without asking: this digest, as it was shown.
        #[arg(long, value_name = "SHA256")]
        keep: Option<String>,
    },
    /// Trains an adapter with a dataset, measures it, and shows how far it is.
    Run(Box<TrainRun>),
    /// Trains an adapter together with other machines of yours: each learns from its own work, and sends how far it came.
    #[command(after_help = "\
Machines that are paired (`hermit mesh pair`) learn in rounds. In each, every machine learns alone for some steps, from a dataset \
that never leaves it, and sends the largest places of how far it came, signed and sealed. What is counted is a mean that leaves \
out both ends, so that one machine that is compromised does not change the result; so three machines at least take part. A \
machine may stop and come back at any round. On each of the others a person says yes: `hermit train join NAME`.

Examples:
  hermit train together notes --with desk --with server --base smollm2-135m
  hermit train together notes --with desk --with server --base smollm2-135m --rounds 20 --steps 30 --percent 2")]
    Together(Box<TrainTogether>),
    /// Takes up the invitation of another machine to learn together; `hermit train show` lists invitations.
    Join(Box<TrainJoin>),
    /// Shows how the run in hand stands, and which machines ask to learn together with this one.
    Show,
    /// Pauses the run in hand; `hermit train run --resume RUN` continues it.
    Pause,
    /// Stops the run in hand, behind a checkpoint.
    Stop,
    /// Measures what a stopped run has learned: before and after, on what was held out.
    Prove {
        /// The run.
        run: String,
    },
    /// Makes a model with the adapter of a run, one of the models in the box.
    Export {
        /// The run.
        run: String,
        /// Its name.
        #[arg(long)]
        name: Option<String>,
    },
    /// Lists datasets, runs and recalls.
    List,
    /// Takes a source out of datasets, marks the adapters that saw it, and never learns from it again.
    Recall {
        /// A task, a receipt, an artifact, or a folder.
        source: String,
    },
    /// Leaves work in a folder, below it, and in folders above it, which may have read it, out of new datasets; `recall` takes it
    /// out of those that are kept.
    Private {
        /// The folder; those that are marked are listed when absent.
        folder: Option<PathBuf>,
        /// Take the mark off.
        #[arg(long, requires = "folder")]
        off: bool,
    },
}

/// `hermit train run`.
#[derive(Debug, Args)]
pub struct TrainRun {
    /// Model in the box to begin with.
    #[arg(long, value_name = "MODEL", required_unless_present = "resume")]
    pub base: Option<String>,
    /// Dataset; the newest unless you name one.
    #[arg(long)]
    pub dataset: Option<String>,
    /// Its licence by its SPDX identifier, where the box does not know it.
    #[arg(long, value_name = "SPDX")]
    pub licence: Option<String>,
    /// Steps (200).
    #[arg(long)]
    pub steps: Option<u32>,
    /// Rank of the adapter (8).
    #[arg(long)]
    pub rank: Option<u32>,
    /// Examples of a step (4).
    #[arg(long)]
    pub batch: Option<u32>,
    /// Tokens of an example (512); a longer prompt loses its beginning.
    #[arg(long)]
    pub tokens: Option<u32>,
    /// How far a step goes (0.0005).
    #[arg(long)]
    pub rate: Option<String>,
    /// Seconds that it may take, pauses left out (3600).
    #[arg(long)]
    pub seconds: Option<u64>,
    /// Millions of bytes of memory that it may use (4295).
    #[arg(long, value_name = "MB")]
    pub memory_mb: Option<u64>,
    /// Threads; half of those of the machine unless you say.
    #[arg(long)]
    pub threads: Option<u32>,
    /// What chance is made from (1).
    #[arg(long)]
    pub seed: Option<u64>,
    /// How its model is stored: F32, F16, Q8_0 or Q4_1.
    #[arg(long)]
    pub quant: Option<String>,
    /// Also work on battery, and while somebody is at this machine.
    #[arg(long)]
    pub always: bool,
    /// Go on with this run, from its newest checkpoint.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["base", "dataset"])]
    pub resume: Option<String>,
    /// Do not stay until it ends: for a host that runs on, such as the app or `hermit serve`.
    #[arg(long)]
    pub detach: bool,
}

/// `hermit train together`.
#[derive(Debug, Args)]
pub struct TrainTogether {
    /// Name of the run, as the other machines see it.
    pub name: String,
    /// Another machine, by its name or key. Repeat it for several.
    #[arg(long, value_name = "MACHINE", required = true)]
    pub with: Vec<String>,
    /// Rounds (10); the steps are those of a round (20).
    #[arg(long)]
    pub rounds: Option<u32>,
    /// Places of a hundred that each machine sends in a round (5).
    #[arg(long, value_name = "N")]
    pub percent: Option<u32>,
    /// Seconds that a round waits for machines that sent nothing, once three did (600).
    #[arg(long, value_name = "SECONDS")]
    pub patience: Option<u32>,
    /// As for a run of this machine alone.
    #[command(flatten)]
    pub run: TrainRun,
    /// Who says it.
    #[command(flatten)]
    pub person: PersonArgs,
}

/// `hermit train join`.
#[derive(Debug, Args)]
pub struct TrainJoin {
    /// Name of the run.
    pub name: String,
    /// Machine that leads it, by its name or key, where several ask for a run of that name.
    #[arg(long, value_name = "MACHINE")]
    pub from: Option<String>,
    /// Dataset; the newest unless you name one.
    #[arg(long)]
    pub dataset: Option<String>,
    /// Licence of the model by its SPDX identifier, where the box does not know it.
    #[arg(long, value_name = "SPDX")]
    pub licence: Option<String>,
    /// Threads; half of those of the machine unless you say.
    #[arg(long)]
    pub threads: Option<u32>,
    /// Also work on battery, and while somebody is at this machine.
    #[arg(long)]
    pub always: bool,
    /// Do not stay until it ends: for a host that runs on, such as the app or `hermit serve`.
    #[arg(long)]
    pub detach: bool,
    /// Who says it.
    #[command(flatten)]
    pub person: PersonArgs,
}
