//! Room in the WAL before it is needed.
//!
//! A commit that makes the file longer has the file system write down the new length as well, which takes several times
//! as long as the sync itself. So zeros stand behind the last frame: SQLite reads them as no frame and writes over
//! them. Only who holds the connection that writes may make the file longer.

use crate::schema::PAGE_BYTES;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;

/// Bytes behind the last frame below which more are made.
const ROOM_MIN: u64 = 2 << 20;

/// Bytes behind the last frame once more were made.
const ROOM: u64 = 4 << 20;

/// Bytes that the disk must have left; a disk that is nearly full keeps them for what is written.
const DISK_MIN: u64 = 256 << 20;

/// Bytes before the first frame, and before the page of each.
const HEAD: u64 = 32;
const FRAME_HEAD: u64 = 24;

/// Sees to it that the WAL has room behind its first `frames` frames. A disk that is nearly full, or a file that
/// cannot be made longer, leaves it as it was: then SQLite does that commit by commit.
pub(crate) fn make_room(wal: &Path, frames: u64) {
    // What is missing is only speed.
    let _ = lengthen(wal, HEAD + frames * (FRAME_HEAD + u64::from(PAGE_BYTES)));
}

fn lengthen(wal: &Path, used: u64) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(wal)?;
    let length = file.metadata()?.len();
    if length >= used + ROOM_MIN || !has_room(wal) {
        return Ok(());
    }
    file.seek(SeekFrom::Start(length))?;
    let written = zeros(&mut file, (used + ROOM).saturating_sub(length)).and_then(|()| file.sync_data());
    if written.is_err() {
        file.set_len(length)?;
    }
    written
}

fn zeros(file: &mut File, mut count: u64) -> io::Result<()> {
    static BLOCK: [u8; 64 << 10] = [0; 64 << 10];
    while count > 0 {
        let next = count.min(BLOCK.len() as u64);
        file.write_all(BLOCK.get(..usize::try_from(next).unwrap_or_default()).unwrap_or_default())?;
        count -= next;
    }
    Ok(())
}

/// Whether the disk has more left than it may soon need. One that does not say has not.
fn has_room(path: &Path) -> bool {
    disk::space(path).is_ok_and(|space| space.available >= DISK_MIN)
}
