//! What can be proposed (HK-11.3, HK-16.4).

pub use crate::look::ReadItem;
pub use crate::reach::{LeftOut, Program, Reach};
pub use words::act::{ActionClass, Reversibility};

use crate::receipt::SandboxLevel;
use crate::{ActionRequestId, ReceiptId, RelPath, ResourceId, UnixMs};
use seal::Digest;
use serde::{Deserialize, Serialize};

/// What must be there before an item of a change set may touch it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Prior {
    /// Nothing may be there.
    Absent,
    /// Exactly these bytes, as the attempt has observed them.
    Sha256(Digest),
    /// A folder with nothing in it: an undo takes away the folders an act has made.
    EmptyFolder,
    /// A symbolic link whose target has this digest.
    Link(Digest),
}

/// One item of a change set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum ChangeItem {
    /// Create or replace a file with the bytes of an artifact.
    Write {
        /// Where.
        path: RelPath,
        /// Digest of the new content; the bytes are in the artifact store.
        content_sha256: Digest,
        /// Its length.
        byte_size: u64,
        /// What must be there before.
        prior: Prior,
        /// Permission bits to give; none keeps those of the file that is replaced. An undo names them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<u32>,
    },
    /// Remove a file, or with [`Prior::EmptyFolder`] a folder.
    Delete {
        /// Where.
        path: RelPath,
        /// What must be there before.
        prior: Prior,
    },
    /// Rename a file: a write at one place and a delete at another, nothing overwritten.
    Move {
        /// From where.
        from: RelPath,
        /// To where; must be absent.
        to: RelPath,
        /// What must be at `from`.
        prior: Prior,
    },
    /// Make a folder where nothing is, or give other permission bits to one that is there. What a staged command or an
    /// undo comes to; no proposer names it.
    Folder {
        /// Where.
        path: RelPath,
        /// Permission bits to give; none leaves what making a folder gives.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<u32>,
        /// Permission bits that a folder that is there must have before; none when nothing may be there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was: Option<u32>,
    },
    /// Put a symbolic link, as a name with a target and never through it. What a staged command or an undo comes to.
    Link {
        /// Where.
        path: RelPath,
        /// What it says, word for word.
        target: String,
        /// What must be there before.
        prior: Prior,
    },
}

/// A place that an undo leaves as it is, and says so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftAsIs {
    /// The receipt whose act is not taken back here.
    pub receipt_id: ReceiptId,
    /// The place; the receipt itself when none of it can be taken back.
    pub resource: ResourceId,
    /// Why, in words.
    pub why: String,
    /// Where the earlier version comes instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<RelPath>,
}

/// One foreseen effect, for the card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedEffect {
    /// What is touched.
    pub resource: ResourceId,
    /// `create`, `replace`, `delete`, `move_from`, `move_to`, `make_folder`, `make_more_folders`, `run`, `read`,
    /// `remember`, `fetch`, `send`, `commit`.
    pub effect: String,
    /// Digest before, if something is there.
    pub before_sha256: Option<Digest>,
    /// Digest after, if something will be there.
    pub after_sha256: Option<Digest>,
    /// Bytes after.
    pub byte_size: Option<u64>,
}

crate::names! {
    /// How the copy-on-write view of a staged command was made.
    pub enum StageMethod ("stage method") {
        /// A layer over the folder: nothing is copied but what the command changes.
        Overlay = "overlay",
        /// A copy that shares its bytes with the folder until one of the two changes.
        Reflink = "reflink",
        /// A whole copy.
        Copy = "copy",
    }
}

/// What a command did in a staged view of the folder, with the network held (governance.md 5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Staged {
    /// How the view was made.
    pub method: StageMethod,
    /// The walls around the command while it ran.
    pub sandbox_level: SandboxLevel,
    /// What it changed, in the order in which it is committed; digests of the very bytes.
    pub items: Vec<ChangeItem>,
    /// Digest of what it printed, artifact `command.transcript`.
    pub transcript_sha256: Digest,
    /// Digest of its changes as a person reads them, artifact `diff`.
    pub diff_sha256: Digest,
    /// Exit status; none when it was ended.
    pub exit_code: Option<i32>,
    /// Why it did not succeed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Digest of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executable_sha256: Option<Digest>,
    /// When it began.
    pub started_at: UnixMs,
    /// When it had ended.
    pub finished_at: UnixMs,
    /// What else was seen, in words: walls, what was left out.
    pub notes: Vec<String>,
    /// Of a run that changed nothing: why a person sees first what it printed, because of what it could have read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look_first: Option<String>,
    /// What it changed in places that the folder's own ignore rules name: thrown away, the most first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

/// What a request stands in for: policy allows what was asked only in this lesser form (HK-11.4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InsteadOf {
    /// What was asked.
    pub action_request_id: ActionRequestId,
    /// Digest of its canonical bytes.
    pub request_sha256: Digest,
    /// What it would have done, in one line.
    pub asked: String,
    /// The lesser form, as the rules name it: `readonly`, `draft`.
    pub mode: String,
    /// Names of the rules that allow no more, sorted.
    pub rules: Vec<String>,
    /// Digest of what policy answered.
    pub policy_result_sha256: Digest,
    /// Digest of what was asked as a draft, artifact `diff`.
    pub draft_sha256: Digest,
}

impl ChangeItem {
    /// The path whose content is changed; of a move, the one it is moved from.
    pub const fn path(&self) -> &RelPath {
        match self {
            Self::Write { path, .. }
            | Self::Delete { path, .. }
            | Self::Folder { path, .. }
            | Self::Link { path, .. }
            | Self::Move { from: path, .. } => path,
        }
    }
}
