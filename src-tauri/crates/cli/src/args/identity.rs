//! Verbs about who this instance is.

use clap::Subcommand;
use std::path::PathBuf;

/// `hermit identity`.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
SOUL.md says who this instance is, in your words: its name, its purpose, its values, its limits. It stands in the context of \
every task, below your rules of policy, of which it lifts none. Only you write it: `edit` puts the difference to you on a card.

The key of the instance derives from its first SOUL.md and the keys of this store, and signs each version. What it signed is a \
chain back to the first; `verify` follows one, also without a network and without a store.

`publish` puts the chain at relays of Nostr, where anybody reads it: never a word of SOUL.md, only digests, keys and times. It is \
asked about each time. `fetch` reads what somebody else published, and follows it:
  hermit identity publish --relay wss://relay.example.org
  hermit identity fetch npub1… their-chain.jsonl --relay wss://relay.example.org")]
pub enum IdentityVerb {
    /// Shows SOUL.md, the key of this instance, and the chain of what it said of itself.
    Show {
        /// An older version of SOUL.md.
        #[arg(id = "soul_version", value_name = "N")]
        version: Option<u32>,
    },
    /// Puts to you whether SOUL.md is this text from now on.
    Edit {
        /// The file with the text; `-` reads it from standard input.
        file: PathBuf,
        /// The version that it takes the place of; the newest unless you say so.
        #[arg(long, value_name = "N")]
        replaces: Option<u32>,
    },
    /// Signs SOUL.md as it is with the key of this instance, where that was not done by itself.
    Attest,
    /// Puts to you whether the chain of this instance is published at relays.
    Publish {
        /// The address of a relay. Repeat it for several; those of `hermit mesh` unless you name one.
        #[arg(long, value_name = "URL")]
        relay: Vec<String>,
    },
    /// Reads the chain that an instance published, keeps it in a new file and follows it. It needs no store.
    Fetch {
        /// The key of the instance: `npub1…`, or 64 hexadecimal digits.
        key: String,
        /// The file.
        file: PathBuf,
        /// The address of a relay. Repeat it for several.
        #[arg(long, value_name = "URL", required = true)]
        relay: Vec<String>,
    },
    /// Follows a chain back to genesis, and names whatever is wrong with it.
    Verify {
        /// An exported chain, or a proof; the chain of this store unless you name one.
        file: Option<PathBuf>,
    },
    /// Writes the chain of this instance to a new file.
    Export {
        /// The file.
        file: PathBuf,
    },
}
