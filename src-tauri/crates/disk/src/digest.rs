//! The digest of what is read to its end, in pieces, so that a file of any size has one.

use seal::{Digest, Hasher};
use std::io::{self, ErrorKind, Read};

/// Bytes of the first piece: most files are short, and there may be many.
const FIRST_PIECE: usize = 4 * 1024;
/// Bytes of each piece behind it.
const PIECE: usize = 128 * 1024;

/// SHA-256 and number of the bytes of what is read to its end. Where more than `most` bytes are none that count, hand in
/// `from.take(most + 1)`: the number says then that there were more.
///
/// # Errors
/// What the reader says.
pub fn digest(from: impl Read) -> io::Result<(Digest, u64)> {
    hashed(from).map(|(hasher, bytes)| (hasher.finish(), bytes))
}

/// The same where more bytes may follow: the hasher that has seen these.
///
/// # Errors
/// What the reader says.
pub fn hashed(mut from: impl Read) -> io::Result<(Hasher, u64)> {
    let (mut hasher, mut bytes, mut piece) = (Hasher::new(), 0_u64, vec![0_u8; FIRST_PIECE]);
    loop {
        let read = match from.read(&mut piece) {
            Ok(0) => return Ok((hasher, bytes)),
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(piece.get(..read).unwrap_or_default());
        bytes = bytes.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        if read == piece.len() {
            piece.resize(PIECE, 0);
        }
    }
}
