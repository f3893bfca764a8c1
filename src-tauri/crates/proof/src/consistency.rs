//! `log/consistency.txt`: that an older checkpoint of the log is the beginning of this one (RFC 6962, 2.1.2).
//!
//! Four kinds of lines: the header, `old SIZE`, `new SIZE`, then the hashes in hexadecimal, one a line. Go's
//! `tlog.CheckTree` takes the same hashes in the same order.

use seal::{Digest, Error, merkle};
use std::fmt::Write as _;

/// First line.
const HEADER: &str = "hermit-consistency/1";

/// The file's text.
pub(crate) fn text(old: u64, new: u64, path: &[Digest]) -> String {
    let mut text = format!("{HEADER}\nold {old}\nnew {new}\n");
    for hash in path {
        // Writing to a text does not fail.
        let _ = writeln!(text, "{hash}");
    }
    text
}

/// Reads the hashes of a file that must be spelled our way and lead from `old` to `new` notes.
pub(crate) fn parse(text: &str, old: u64, new: u64) -> Result<Vec<Digest>, String> {
    let path = text
        .lines()
        .skip(3)
        .map(|line| line.parse().map_err(|e: Error| e.to_string()))
        .take(merkle::PROOF_LEN_MAX + 1)
        .collect::<Result<Vec<_>, _>>()?;
    if self::text(old, new, &path) == text {
        return Ok(path);
    }
    Err(format!("it is not the way from {old} notes to {new}, spelled as it should be"))
}
