//! Verbs about skins.

use clap::Subcommand;
use std::path::PathBuf;

/// `hermit skin`.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
A skin is how Hermit speaks and looks in a conversation: its voice, the form of its answers, a mark and a colour, and which \
tools a model is offered, of those that the task has anyway. It gives no authority and changes no rule or card. Three come \
with Hermit: plain, terse and teaching.

A skin of your own is one file: `hermit skin new NAME`, edit it, `check` it, `sign` it with your approval key, and `use` it. \
The first `use` of a file shows every word of it on a card; your yes is for exactly these bytes.")]
pub enum SkinVerb {
    /// Writes a skin to begin with into the file NAME.skin.json.
    New {
        /// Its name: a-z, 0-9 and single `-` between them.
        name: String,
    },
    /// Tells whether a file can be a skin, and what to know of it.
    Check {
        /// The file.
        file: PathBuf,
    },
    /// Signs a file with your approval key.
    Sign {
        /// The file.
        file: PathBuf,
        /// File descriptor with the approval passphrase in its first line.
        #[arg(long, value_name = "N")]
        approval_passphrase_fd: Option<i32>,
    },
    /// Gives a conversation a skin from its next turn on; `none` takes it off.
    Use {
        /// Its name, or a signed file.
        skin: String,
        /// The conversation; the first one unless you name one.
        #[arg(long)]
        conversation: Option<String>,
    },
    /// Lists skins, and how each stands.
    List,
    /// Shows a skin with every word of it.
    Show {
        /// Its name, or the sha256 of its file.
        skin: String,
    },
    /// Takes the trust back: conversations that have it go on without it.
    Untrust {
        /// Its name, or the sha256 of its file.
        skin: String,
        /// Why.
        #[arg(long)]
        reason: Option<String>,
    },
}
