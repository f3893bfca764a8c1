//! Verbs about models.

use clap::{Args, Subcommand};

/// `hermit models`.
#[derive(Debug, Subcommand)]
pub enum ModelsVerb {
    /// Looks for models that run on this machine, and lists the servers elsewhere that have a key.
    List {
        /// A further port of this machine to look at; may be given more than once.
        #[arg(long, value_name = "N")]
        port: Vec<u16>,
    },
    /// Says who proposes when a task names nobody.
    Use {
        /// The model's address, as `hermit models list` shows it; `none` for nobody.
        address: String,
    },
    /// Keeps a key for a server of models: every call to a model there takes it.
    Add(ModelsAdd),
    /// Takes a server off the list. Its key stays a secret: `hermit secret rm` forgets it.
    Rm {
        /// Its base URL.
        url: String,
    },
}

/// `hermit models add`.
#[derive(Debug, Args)]
#[command(after_help = "\
The key is typed without being shown, or read from standard input. It sleeps where your keys do, may go to this server \
alone, and is taken out of everything Hermit keeps or sends.

Examples:
  hermit models add https://api.openai.com/v1 --secret openai
  hermit models use openai:https://api.openai.com/v1#gpt-5")]
pub struct ModelsAdd {
    /// Its base URL, which often ends in `/v1`.
    pub url: String,
    /// The name to keep the key under: a-z, 0-9, `_`, `-`, `.`.
    #[arg(long, value_name = "NAME")]
    pub secret: String,
}
