//! What an act would change, or has changed, file by file, with the bytes of both sides.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::Text;
use crate::table::{answers, params};

params! {
    /// Of an approval or a receipt, by identifier.
    Show { of: String }
}

answers! {
    /// What is deleted comes first, then what is replaced or moved, then what is new.
    Changes {
        of: String,
        /// `ahead` of an approval, `done` for a receipt.
        tense: String,
        /// The folder, unless it was erased.
        workspace: Option<Text>,
        files: Vec<FileChange>,
    }

    /// One file.
    FileChange {
        /// `delete`, `write`, `move`, `folder`.
        op: String,
        /// From the folder, in the written form: percent-encoded where it is no plain text.
        path: String,
        /// Where a move goes to.
        to: Option<String>,
        /// Absent where there was nothing.
        before: Option<Side>,
        /// Absent where nothing will be.
        after: Option<Side>,
        /// Of a receipt: `done`, `not_done`, `unknown`.
        outcome: Option<String>,
    }

    /// A file's bytes.
    Side {
        sha256: String,
        byte_size: Option<u64>,
        /// The text, where it is one and is at hand.
        text: Option<String>,
        /// Why there is no text: `binary`, `large`, `gone`; or `drifted`, when the folder holds other bytes now.
        missing: Option<String>,
    }
}
