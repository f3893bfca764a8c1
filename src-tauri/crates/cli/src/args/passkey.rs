//! Verbs about passkeys.

use clap::Subcommand;

/// `hermit passkey`.
#[derive(Debug, Subcommand)]
pub enum PasskeyVerb {
    /// Tells how to add one: it is made in a browser.
    Add,
    /// Lists passkeys, where each may be used, and when it was.
    List,
    /// Revokes a passkey: it approves nothing any more.
    Revoke {
        /// Its identifier, the beginning of it, or its name.
        passkey: String,
        /// Why.
        #[arg(long)]
        reason: Option<String>,
    },
}
