//! Verbs about drafted and adopted playbooks.

use clap::Subcommand;

/// `hermit playbooks VERB`.
#[derive(Debug, Subcommand)]
pub enum PlaybooksVerb {
    /// Lists playbooks that were drafted from what recurs in tasks that ended, and how each stands.
    Drafts,
    /// Shows a draft with every word of it, and tries it anew on the recorded tasks; nothing in any folder is touched.
    Try {
        /// Its name, or the SHA-256 of its text.
        playbook: String,
    },
    /// Shows a card with every word of a draft, and adopts it after your yes.
    Adopt {
        /// Its name, or the SHA-256 of its text.
        playbook: String,
    },
    /// Stops the use of an adopted playbook.
    Off {
        /// Its name, or the SHA-256 of its text.
        playbook: String,
        /// Why.
        #[arg(long)]
        reason: Option<String>,
    },
}
