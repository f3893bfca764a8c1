//! What an act would change, or has changed, file by file, with the bytes of both sides.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::Text;
use crate::table::{answers, params};
use words::act::{ChangeKind, ItemOutcome, NoText, Tense};

params! {
    /// Of an approval or a receipt, by identifier.
    Show {
        of: String,
        /// From this row on.
        from: Option<u32>,
        /// So many rows at most.
        limit: Option<u32>,
        /// Only rows whose path holds these words, whatever the case.
        find: Option<String>,
        /// Without texts; each is `later`.
        #[serde(default)]
        brief: bool,
    }
    /// The bytes of one side of a file that an approval or a receipt shows.
    Export {
        /// The approval or receipt, by identifier.
        of: String,
        /// Digest of the side.
        sha256: String,
        /// Absolute; nothing may be there yet.
        path: String,
    }
}

answers! {
    /// What is deleted comes first, then what is replaced or moved, then what is new.
    Changes {
        of: String,
        tense: Tense,
        /// The folder, unless it was erased.
        workspace: Option<Text>,
        /// Rows there are; with `find`, that were found.
        total: u32,
        /// What is done to all of them.
        sum: Sum,
        /// Rows that a person reads as one, such as moves into one folder; none with `find`.
        groups: Vec<Group>,
        /// Where the files below stand among the rows.
        from: u32,
        files: Vec<FileChange>,
        /// With the first rows of an approval, where it makes folders on its way. A receipt has a row for each that was made.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        makes: Option<Makes>,
    }

    /// Folders that are made on the way to what the rows bring, each unless it is there by then. They are no rows.
    Makes {
        folders: u32,
        /// The paths of the first of them, outermost first.
        first: Vec<String>,
        /// Whether it may make more than are counted.
        more: bool,
    }

    /// What was written.
    Exported { path: String, sha256: String, byte_size: u64 }

    /// Counts of rows.
    #[derive(Default)]
    Sum {
        /// Files and links; no folder, which goes only if it is empty by then.
        deleted: u32,
        replaced: u32,
        created: u32,
        moved: u32,
        folders: u32,
        /// Folders that go, each if it is empty by then.
        #[serde(default)]
        removed: u32,
    }

    /// Rows that stand together.
    Group {
        /// `move` or `folder`.
        op: ChangeKind,
        /// The folder that moves go to; empty for the workspace itself.
        to: Option<String>,
        /// Its first row.
        from: u32,
        rows: u32,
        /// Rows of it that were done, of a receipt.
        done: u32,
    }

    /// One file.
    FileChange {
        op: ChangeKind,
        /// From the folder, in the written form: percent-encoded where it is no plain text.
        path: String,
        /// Where a move goes to.
        to: Option<String>,
        /// A file with the same bytes that stays where it is.
        same_as: Option<String>,
        /// Absent where there was nothing.
        before: Option<Side>,
        /// Absent where nothing will be.
        after: Option<Side>,
        /// Of a receipt: `done`, `not_done`, `unknown`.
        outcome: Option<ItemOutcome>,
        /// Of a folder that is to go: on what that depends, such as `if it is empty by then`; of a receipt that it went,
        /// `it was empty by then`, or why it is there still, such as `stays: it holds files that came later`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// Of a text that is to replace another, both at hand: what changes, in order. A person can take its hunks
        /// one by one. None where it is too long for that.
        #[serde(default)]
        edits: Vec<Edit>,
    }

    /// Lines from a place on, counted from 0, and the lines that come instead. Lines end with a line feed.
    Edit {
        /// The number of its hunk, from 1.
        hunk: u32,
        before: u32,
        before_lines: u32,
        after: u32,
        after_lines: u32,
    }

    /// A file's bytes.
    Side {
        sha256: String,
        byte_size: Option<u64>,
        /// The text, where it is one and is at hand.
        text: Option<String>,
        /// Why there is no text.
        missing: Option<NoText>,
    }
}
