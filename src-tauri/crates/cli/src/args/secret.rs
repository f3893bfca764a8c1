//! Verbs about secrets.

use clap::{Args, Subcommand};

/// `hermit secret`.
#[derive(Debug, Subcommand)]
pub enum SecretVerb {
    /// Keeps a value under a name, in the vault where the keys sleep.
    Set(SecretSet),
    /// Lists names and the hosts each may go to; values are never shown.
    List,
    /// Forgets a secret.
    Rm {
        /// Its name.
        name: String,
    },
}

/// `hermit secret set`.
#[derive(Debug, Args)]
#[command(after_help = "\
The value is typed without being shown, or read from standard input; it is never an argument, because arguments are seen \
by every program. It sleeps in the system's keychain or in the vault's file, whichever holds your keys. From then on it \
is taken out of everything Hermit keeps, logs, or sends to a model, in every encoding, and `[secret:NAME]` stands there.

A command that may use it finds a stand-in in HERMIT_SECRET_NAME. On its way to the hosts named here, and nowhere else, the \
value takes the stand-in's place, in HTTPS too: `git push https://me:$HERMIT_SECRET_GITHUB@github.com/me/notes main`.

Examples:
  hermit secret set github --host api.github.com
  hermit secret set openai --host api.openai.com < key.txt
  pass show db | hermit secret set db")]
pub struct SecretSet {
    /// Its name: a-z, 0-9, `_`, `-`, `.`.
    pub name: String,
    /// A host it may be sent to, as `name` (port 443) or `name:port`; may be given more than once.
    #[arg(long, value_name = "HOST")]
    pub host: Vec<String>,
}
