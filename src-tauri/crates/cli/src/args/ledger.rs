//! The log itself, and what of it no longer fits.

use clap::{Args, Subcommand};

/// `hermit ledger`.
#[derive(Debug, Subcommand)]
pub enum LedgerVerb {
    /// Checks the whole ledger.
    Verify {
        /// A key trusted beside the store's own: PEM block, verifier key, or a file that holds one.
        #[arg(long, value_name = "KEY|FILE")]
        trust: Vec<String>,
        /// Read all content, too, and compare it with its digests; Ctrl-C ends it.
        #[arg(long)]
        content: bool,
    },
    /// Folds every list anew from the log.
    Rebuild,
    /// Signs the trees of tasks, gate and log.
    Checkpoint {
        /// Only of these tasks.
        tasks: Vec<String>,
    },
    /// Counts what is there.
    Stats,
    /// Continues a log whose chain is broken; only a person can say so. Nothing is repaired or reset.
    #[command(after_help = "\
From the first event that does not fit, the chain of its task is severed: the rows stay where they are, to be read \
with `hermit ledger severed`, and nothing confirms them any more. The log names them for ever, by a digest.")]
    Reanchor(Reanchor),
    /// Shows what was severed, and of a task the rows themselves.
    Severed {
        /// The task whose rows are to be shown.
        task: Option<String>,
    },
}

/// `hermit ledger reanchor`.
#[derive(Debug, Args)]
pub struct Reanchor {
    /// What you know about it; it stands in the log.
    #[arg(long, value_name = "TEXT", default_value = "no reason given")]
    pub reason: String,
    /// Only look: what is broken, and what would be severed.
    #[arg(long)]
    pub preview: bool,
    /// Do not ask for the word; the passphrase is still needed.
    #[arg(long)]
    pub yes: bool,
    /// File descriptor with the approval passphrase in its first line.
    #[arg(long, value_name = "N")]
    pub approval_passphrase_fd: Option<i32>,
}
