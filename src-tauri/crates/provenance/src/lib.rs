//! The next version of Hermit: its source as data, what the runtime tells of itself, and the clean room that a change is held to.
//!
//! **What this room is for.** Hermit may propose a version that comes after it (successor.md). What can be told of a version
//! from its bytes alone is told here: the archive of its source, the rooms, doors, limits and requirements that stand in
//! it, and whether a change keeps to the clean room.
//!
//! **What it must never do.** Read a disk, start a program or change the runtime that it speaks of: it is given bytes and
//! answers. Let a list that was copied stand for what the source itself says.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. The same files give the same archive and the same digest, wherever and whenever it is made.
//! 2. An archive that is not exactly as it is written here is refused whole; no path of it leads out of its folder.
//! 3. What is told of a version is read from its source, never from a list beside it.
//! 4. A copy is found whatever its names are, however it is laid out, and whatever its comments say.
//!
//! **Where to start reading.** [`archive`], then [`introspection`], then [`clean_room`].

pub mod archive;
pub mod clean_room;
pub mod introspection;
