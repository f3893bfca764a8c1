//! `hermit-exec`: the small program inside the sandbox: applies limits, Landlock and the filter of system calls, then becomes the command.
//!
//! # What this room is for
//!
//! Namespaces are made by bubblewrap around this program; what a process can only do to itself is done here:
//! limits, no new privileges, Landlock, seccomp. It is started with the lease's paths as arguments, marks in the
//! instant before the change that it is about to become the command, and is gone. Where it is to tell how a command
//! ended, it stays beside it behind the same walls. Where a command is to work on a staged view, an instance of its own
//! comes before bubblewrap and puts a layer over the folder.
//!
//! # What it must never do
//!
//! Become the command when a wall that was asked for does not stand; give the command any file of its own.
//!
//! # Invariants
//!
//! 1. `--require-landlock` and no Landlock: it ends with [`WALLS_FAILED`], nothing has run.
//! 2. The mark is on disk before the command's first instruction; a command that could not be started is said
//!    behind the mark.
//! 3. Every wall is inherited and none can be taken down again.
//! 4. `--proxy`: the bridge listens before the command begins, is no child of it, and ends with its namespace.
//! 5. `--layer` and no layer: it ends with [`WALLS_FAILED`] and nothing works on the folder itself.
//! 6. On Windows it stays beside the command: what it has started ends with it, and with Hermit. A token or a job that does not
//!    stand ends it with [`WALLS_FAILED`] before the command's first instruction.
//! 7. `--tells`: it stays beside the command behind the same walls, ends as the command did, and says in a last line what it used.
//! 8. `--git` reads no file of the folder: what is committed was laid beside its words, and the ref moves last, from where it was.
//!
//! # Where to start reading
//!
//! [`walls::Walls::parse`], [`walls::Walls::raise`], then `main.rs`; for Windows [`confined::Confined`].
#![allow(clippy::disallowed_methods, reason = "this room becomes the command")]

#[cfg(target_os = "linux")]
pub mod bridge;
pub mod confined;
#[cfg(target_os = "linux")]
pub mod guest;
#[cfg(target_os = "linux")]
mod landlocked;
#[cfg(target_os = "linux")]
mod limits;
pub mod overlay;
#[cfg(target_os = "linux")]
pub mod started_mark;
#[cfg(target_os = "linux")]
mod syscalls;
#[cfg(target_os = "linux")]
pub mod told_end;
pub mod versioned;
pub mod walls;

/// Exit status when the walls could not be put up; the command has not run.
pub const WALLS_FAILED: u8 = 125;
/// Exit status when the program is there and cannot be started.
pub const NOT_STARTED: u8 = 126;
/// Exit status when the program is not there.
pub const NOT_FOUND: u8 = 127;

/// What can go wrong before the command.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An argument makes no sense.
    #[error("`{0}` is not an argument of hermit-exec; it is started by Hermit, not by hand")]
    Argument(String),
    /// A wall does not stand.
    #[error("{wall} cannot be put up here: {why}")]
    Wall {
        /// Which.
        wall: &'static str,
        /// Why.
        why: String,
    },
    /// The mark cannot be written.
    #[error("the start cannot be marked: {0}")]
    Mark(std::io::Error),
}

impl Error {
    /// An [`Error::Wall`].
    #[cfg(target_os = "linux")]
    pub(crate) fn wall(wall: &'static str, why: impl std::fmt::Display) -> Self {
        Self::Wall { wall, why: why.to_string() }
    }
}
