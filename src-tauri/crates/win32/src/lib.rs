//! What Rust's library lacks of Windows.
//!
//! **What this room is for.** Files and folders that are made with an access list, access lists that are read and replaced,
//! and the few other questions that only a call of the system answers. What an access list means is decided by [`access`],
//! over bytes, on every system; what asks Windows is in one file and is compiled there alone.
//!
//! **What it must never do.** Decide in an unsafe block. Give out a pointer, or a handle that nothing closes.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. A list that this room makes gives its file to one user and the system, and takes nothing from the folder above.
//! 2. What is not understood in a list counts as access for somebody else.
//! 3. Bytes of a list that say more than they hold are refused, never read past their end.
//!
//! **Where to start reading.** [`access::owner_only`] and [`access::AccessList`].

pub mod access;
#[cfg(windows)]
mod calls;
pub mod path;

#[cfg(windows)]
pub use calls::{
    Running, close_to_others, console_mode, create_folder, create_new, descriptor, forget_keys, has_key,
    machine, read_key, reopen_folder, room, running, screen_size, set_console_mode, show, try_lock, user,
};
