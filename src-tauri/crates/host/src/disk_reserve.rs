//! Room that is held for the day the disk is full: what stops work, and what makes room, need a little themselves.

use crate::Home;
use std::fs::File;

const FILE: &str = "reserve";
const BYTES: u64 = 1024 * 1024;

/// On a disk with less room than this nothing is taken from it.
const ROOM_MIN: u64 = 16 * BYTES;

/// Holds it from now on, where there is room for it. What cannot be held is only missed on that day.
pub fn hold(home: &Home) {
    let path = home.path(FILE);
    if std::fs::metadata(&path).is_ok_and(|found| found.len() >= BYTES) {
        return;
    }
    let free = disk::space(home.dir()).map_or(0, |space| space.available);
    if free < ROOM_MIN {
        return;
    }
    let made = ledger::owner_only::open(File::options().write(true).create(true).truncate(true), &path)
        .and_then(|file| disk::reserve(&file, BYTES));
    if let Err(error) = made {
        tracing::warn!(%error, "no room is held for a full disk");
        let _ = std::fs::remove_file(&path);
    }
}

/// Lets it go, for something that stops work or makes room; whether there was any.
pub fn make_room(home: &Home) -> bool {
    let held = std::fs::remove_file(home.path(FILE)).is_ok();
    if held {
        tracing::info!("the disk is full: the room that was held for it is given up");
    }
    held
}
