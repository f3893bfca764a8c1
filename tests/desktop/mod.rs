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
mod small;
mod waiting;

use std::io::Write as _;
use std::path::Path;

/// Says, as the last thing a test does, which requirements it has shown. `#[conforms]` would say it of a test, too, that
/// found no display and checked nothing.
pub fn shown(test: &str, ids: &[&str]) {
    let Some(folder) = std::env::var_os("HERMIT_CONFORMANCE_DIR").filter(|folder| !folder.is_empty()) else {
        return;
    };
    let path = Path::new(&folder).join(format!("desktop-{}.tsv", std::process::id()));
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).expect("a file");
    for id in ids {
        writeln!(file, "{id}\tdesktop::{test}").expect("it is written");
    }
}
