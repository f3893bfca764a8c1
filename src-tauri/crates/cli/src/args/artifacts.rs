//! `hermit artifacts`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `hermit artifacts`.
#[derive(Debug, Subcommand)]
pub enum ArtifactsVerb {
    /// Takes a file in.
    Ingest {
        /// The file.
        file: PathBuf,
        /// How far it may be relied on: untrusted (the standard), user_asserted.
        #[arg(long, value_name = "TIER")]
        trust: Option<String>,
    },
    /// Shows one artifact; with `-o` writes its bytes.
    Show {
        /// The artifact, or the beginning or end of its identifier.
        artifact: String,
        /// Where its bytes go; `-` is standard output.
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Tells where it came from and what came of it.
    Lineage {
        /// The artifact; or a file that was taken in, read or kept.
        artifact: String,
    },
    /// Keeps an artifact, whatever `gc` would say.
    Keep {
        /// The artifact.
        artifact: String,
        /// Let it go again.
        #[arg(long)]
        undo: bool,
    },
    /// Tells how much room content takes, and how much is saved by keeping the same parts once.
    Size,
    /// Makes room: lets content go to which no receipt leads.
    Gc(GcArgs),
}

/// `hermit artifacts gc`.
#[derive(Debug, Args)]
#[command(after_help = "\
What stays: everything that a receipt leads to, so that each can still be undone, explained and proven; what a task at \
work needs; what you gave, were answered, remembered or chose to keep; and what belongs to a task that ended a short \
time ago. What goes is mostly what was sent to models and what was tried and refused. Every digest stays in the log, \
which names what went.

While `hermit serve` or the app holds the store, it is done there, beside the tasks at work, for content of tasks that \
ended a day ago or earlier. With nobody there, any time may be asked for, and the ledger's file shrinks too.")]
pub struct GcArgs {
    /// Only tell what would go.
    #[arg(long)]
    pub dry_run: bool,
    /// Of tasks that ended at least so long ago: `30d` (the standard), `12h`, `0s`.
    #[arg(long, value_name = "TIME", default_value = "30d")]
    pub older_than: String,
}
