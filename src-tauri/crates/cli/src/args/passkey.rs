//! Verbs about passkeys.

use clap::Subcommand;

/// `hermit passkey`.
#[derive(Debug, Subcommand)]
pub enum PasskeyVerb {
    /// Tells how to add one in a browser; with --security-key adds the security key that is plugged in.
    Add {
        /// Adds a security key under this name: with your approval passphrase, its PIN and a touch. It approves at the
        /// terminal and in the app's window.
        #[arg(long, value_name = "NAME")]
        security_key: Option<String>,
    },
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
