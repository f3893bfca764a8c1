//! Verbs about secrets.

use clap::{Args, Subcommand, ValueEnum};
use model::secret::SecretPlace;

/// `hermit secret`.
#[derive(Debug, Subcommand)]
pub enum SecretVerb {
    /// Keeps a value under a name, in the vault that holds your keys.
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
by every program. It is kept in the system's keychain or in the vault's file, whichever holds your keys. From then on it \
is taken out of everything Hermit keeps, logs, or sends to a model, in every encoding, and `[secret:NAME]` stands there.

A command that may use it finds a stand-in in HERMIT_SECRET_NAME. On its way to the hosts named here, and nowhere else, the \
value takes the stand-in's place in request headers, in HTTPS too: \
`git push https://me:$HERMIT_SECRET_GITHUB@github.com/me/notes main`. In the address or the body of a request it does so only \
where `--in` says so: hosts often keep what stands there, in logs and pages, and a command may read it again.

An answer with the value in it is cut off there, in every encoding Hermit knows. A host that changes the value before it \
shows it (reversed, encrypted, letter by letter) can still give it to the command: name only hosts you trust with it.

Examples:
  hermit secret set github --host api.github.com
  hermit secret set openai --host api.openai.com < key.txt
  hermit secret set maps --host maps.example.org --in url
  pass show db | hermit secret set db")]
pub struct SecretSet {
    /// Its name: a-z, 0-9, `_`, `-`, `.`.
    pub name: String,
    /// A host it may be sent to, as `name` (port 443) or `name:port`; may be given more than once.
    #[arg(long, value_name = "HOST")]
    pub host: Vec<String>,
    /// Where in a request to these hosts it may stand beside the headers; may be given more than once.
    #[arg(long = "in", value_name = "PLACE", requires = "host")]
    pub also_in: Vec<Place>,
}

/// A part of a request beside its headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Place {
    /// The path and query of its address.
    Url,
    /// Its body.
    Body,
}

impl From<Place> for SecretPlace {
    fn from(place: Place) -> Self {
        match place {
            Place::Url => Self::Url,
            Place::Body => Self::Body,
        }
    }
}
