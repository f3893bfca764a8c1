//! What `hermit source` and `hermit introspect` take.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `hermit source`.
#[derive(Debug, Args)]
#[command(after_help = "\
Every program of Hermit carries the source that it was made of. It needs no network and no store. The digest is the same for the \
same files, wherever they were built.")]
pub struct SourceArgs {
    /// The folder to unpack it into, which is made or empty; without one, what is carried is told.
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

/// `hermit licences`.
#[derive(Debug, Args)]
#[command(after_help = "\
A package of Hermit has the texts beside its programs, each once, below the names of all who bring it. What brings no text along is \
named at the beginning.")]
pub struct LicencesArgs {
    /// Only list each package with the licence that it says of itself.
    #[arg(long)]
    pub list: bool,
}

/// `hermit introspect`.
#[derive(Debug, Args)]
#[command(after_help = "\
All of it is read from the source that this program carries, and its commands from the table that they are made from.")]
pub struct IntrospectArgs {
    /// What to tell.
    #[arg(value_enum, default_value_t = IntrospectTopic::Rooms)]
    pub topic: IntrospectTopic,
    /// Only what has these words in its name, its place or what it is for.
    #[arg(long, value_name = "WORDS")]
    pub words: Option<String>,
}

/// What a version tells of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IntrospectTopic {
    /// Crates, with their purpose and the rooms each needs.
    Rooms,
    /// Which room may import which.
    Doors,
    /// Commands of every surface, with what each needs.
    Commands,
    /// Constants that bound something.
    Limits,
    /// Requirements, how each stands, and the tests that show it.
    Requirements,
    /// Tests that show a requirement.
    Tests,
}
