//! What can go wrong in this room.

use model::RelPath;
use model::limits::ARTIFACT_BYTES_MAX;
use std::io;

/// Every way these executors can fail. Displayed paths are percent-encoded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The root cannot be opened as a folder.
    #[error("the workspace folder `{path}` cannot be opened: {source}")]
    Root {
        /// As given.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// Nothing is at the path.
    #[error("nothing is at `{0}`")]
    Absent(RelPath),
    /// A symbolic link stands in the way.
    #[error("`{at}` is a symbolic link to `{target}`; links are not followed, name the file itself")]
    Symlink {
        /// Where the link is.
        at: RelPath,
        /// What it points to, as it says.
        target: String,
    },
    /// Something that is not a folder stands where one is needed.
    #[error("`{0}` is not a folder")]
    NotAFolder(RelPath),
    /// A folder, device, socket or pipe stands where a file is needed.
    #[error("`{path}` is {kind}, not a regular file")]
    NotAFile {
        /// Where.
        path: RelPath,
        /// What is there.
        kind: &'static str,
    },
    /// The path lies in a folder that is kept from these executors, such as Hermit's own store.
    #[error("`{0}` belongs to Hermit itself and is out of reach")]
    Hidden(RelPath),
    /// The system refused.
    #[error("{doing} `{path}` failed: {source}")]
    Io {
        /// A verb.
        doing: &'static str,
        /// Where.
        path: RelPath,
        /// What it said.
        source: io::Error,
    },
    /// What must be there before is not what is there.
    #[error("`{path}` is not as it was: expected {expected}, found {found}; look again before changing it")]
    Prior {
        /// Where.
        path: RelPath,
        /// What the request expects.
        expected: String,
        /// What is there.
        found: String,
    },
    /// Content that should be written is missing or is not what its digest says.
    #[error("the content for `{path}` cannot be used: {why}")]
    Content {
        /// For which path.
        path: RelPath,
        /// Why.
        why: String,
    },
    /// A file is too large to be kept, and so it cannot be lost.
    #[error(
        "`{path}` has {byte_size} bytes, and Hermit keeps at most {ARTIFACT_BYTES_MAX} bytes of a file for an undo; so it \
         is not deleted or replaced, leave it to the person"
    )]
    TooLarge {
        /// Where.
        path: RelPath,
        /// How many.
        byte_size: u64,
    },
    /// The authorization does not cover this.
    #[error("{0}; ask for an authorization of exactly this act")]
    OutOfScope(String),
    /// The request makes no sense to these executors.
    #[error("{0}")]
    Request(String),
    /// A file of the command's transcript could not be written or read.
    #[error("the transcript folder cannot be used while {doing}: {source}")]
    Spool {
        /// A verb.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The command could not be started.
    #[error("`{program}` could not be started: {why}")]
    Spawn {
        /// The program.
        program: String,
        /// Why.
        why: String,
    },
}

impl Error {
    /// An [`Error::Io`].
    pub(crate) fn io(doing: &'static str, path: &RelPath, source: impl Into<io::Error>) -> Self {
        let source = crate::system::held_files::explained(source.into());
        Self::Io { doing, path: path.clone(), source }
    }

    /// Whether nothing being there is the whole trouble.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent(_))
    }
}

impl From<Error> for String {
    fn from(error: Error) -> Self {
        error.to_string()
    }
}
