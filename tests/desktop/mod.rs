//! The app in its real windows: under a display of its own, with a real keychain, a real notification server, a panel
//! that takes a tray in, and WebKit's own driver. What a person sees is kept as pictures in the target folder.
//!
//! Where a machine lacks one of these, the tests say which and check nothing.

mod bus;
mod drag;
mod driver;
mod dropped;
mod first;
mod killed;
mod lasting;
mod locked;
mod room;
mod security_key;
mod small;
mod story;
mod story_again;
mod updated;
mod waiting;
