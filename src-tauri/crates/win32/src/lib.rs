//! What Rust's library lacks of Windows.
//!
//! **What this room is for.** Files and folders that are made with an access list, access lists that are read and replaced,
//! and the few other questions that only a call of the system answers. What an access list means is decided by [`access`],
//! over bytes, on every system, and so is how the words of a command become a line and what a confined command runs as; what asks
//! Windows is in five files and is compiled there alone.
//!
//! **What it must never do.** Decide in an unsafe block. Give out a pointer, or a handle that nothing closes.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. A list that this room makes gives its file to one user and the system, and takes nothing from the folder above.
//! 2. What is not understood in a list counts as access for somebody else.
//! 3. Bytes of a list that say more than they hold are refused, never read past their end.
//! 4. A line for a command is taken apart into the words that it was made of; what no line can say is refused.
//! 5. What was given to somebody in a list for a while is taken back, and the list is as it was.
//! 6. A pipe that hears orders is opened by this user and the system alone, and whoever comes to one sees whose it is first.
//!
//! **Where to start reading.** [`access::owner_only`] and [`access::AccessList`]; for commands [`tokens`].

pub mod access;
pub mod arguments;
#[cfg(windows)]
mod calls;
#[cfg(windows)]
mod confining;
pub mod grants;
#[cfg(windows)]
mod lending;
pub mod own_process;
pub mod path;
#[cfg(windows)]
mod pipes;
#[cfg(windows)]
mod standing;
pub mod tokens;

#[cfg(windows)]
pub use calls::{
    Running, close_to_others, console_mode, create_folder, create_new, descriptor, forget_keys, has_key,
    machine, read_key, reopen_folder, room, running, screen_size, set_console_mode, show, since_start_ms,
    try_lock, user,
};
#[cfg(windows)]
pub use confining::{Failed, run};
#[cfg(windows)]
pub use lending::{clear_label, forget_container, give, make_container, set_low, take_back};
#[cfg(windows)]
pub use pipes::{OrderPipe, WatchedPipe, is_at_console, open_order_pipe, waiting};
#[cfg(windows)]
pub use standing::{Power, close_memory, has_route, idle_ms, network_cost, power, refuse_foreign_code};
