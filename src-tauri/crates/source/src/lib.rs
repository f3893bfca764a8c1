//! The source of the running version, gathered at its build and carried inside its programs.
//!
//! **What this room is for.** A change of Hermit needs something to be made to (successor.md 2): every program of a person
//! has in it the files it was made of, byte for byte, without needing the place where they came from.
//!
//! **What it must never do.** Be needed by a room that others lean on: each change of any file makes this one anew, and
//! with it whatever needs it. Carry a file that a build was not made of.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. The stream is what [`provenance::archive`] writes; it is the same whether it is carried deflated or as it is.
//! 2. A tree with a folder of study material in it is not built.
//!
//! **Where to start reading.** `build.rs`, then [`stream`], then [`gather`].

pub mod gather;

use flate2::read::GzDecoder;
use provenance::archive::{ARCHIVE_BYTES_MAX, HEAD};
use std::io::{self, Read as _};
use std::sync::OnceLock;

static CARRIED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/carried"));

/// The archive of the source that this program was made of.
///
/// # Errors
/// When what is carried does not inflate, as in a program that was damaged.
pub fn stream() -> io::Result<&'static [u8]> {
    static INFLATED: OnceLock<Vec<u8>> = OnceLock::new();
    if CARRIED.starts_with(HEAD.as_bytes()) {
        return Ok(CARRIED);
    }
    if let Some(stream) = INFLATED.get() {
        return Ok(stream);
    }
    let stream = inflated(CARRIED)?;
    Ok(INFLATED.get_or_init(|| stream))
}

/// The stream of what a release build carries.
fn inflated(carried: &[u8]) -> io::Result<Vec<u8>> {
    let mut stream = Vec::new();
    GzDecoder::new(carried).take(ARCHIVE_BYTES_MAX as u64 + 1).read_to_end(&mut stream)?;
    if stream.len() > ARCHIVE_BYTES_MAX {
        return Err(io::Error::other("the archive that this program carries is larger than any may be"));
    }
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use provenance::archive::Archive;
    use std::io::Write as _;

    #[test]
    fn what_is_carried_is_an_archive_with_this_very_file_in_it() {
        let archive = Archive::read(stream().expect("it is carried")).expect("an archive");
        assert_eq!(archive.text("src-tauri/crates/source/src/lib.rs"), Some(include_str!("lib.rs")));
    }

    #[test]
    fn a_deflated_stream_comes_back_and_a_damaged_one_is_an_error() {
        let mut deflated = GzEncoder::new(Vec::new(), Compression::best());
        deflated.write_all(HEAD.as_bytes()).expect("memory");
        let mut deflated = deflated.finish().expect("memory");
        assert_eq!(inflated(&deflated).expect("it inflates"), HEAD.as_bytes());
        let last = deflated.len() - 6;
        deflated[last] ^= 1;
        assert!(inflated(&deflated).is_err());
    }
}
