//! Programs beside Hermit on this system: where they keep what they know, and which one opens an address.

use std::process::Command;

pub(crate) use system::{SYSTEM, has_display};

/// What opens an address in the person's browser.
pub(crate) fn browser(address: &str) -> Command {
    let (program, words) = system::BROWSER;
    let mut command = Command::new(program);
    command.args(words).arg(address);
    command
}

#[cfg(windows)]
mod system {
    use mcp::clients::System;

    /// The system, as lists of programs have it.
    pub(crate) const SYSTEM: System = System::Windows;
    /// It hands the address on as it is; `start` of a shell would read signs in it.
    pub(super) const BROWSER: (&str, &[&str]) = ("rundll32", &["url.dll,FileProtocolHandler"]);

    /// Whether windows are shown here.
    pub(crate) const fn has_display() -> bool {
        true
    }
}

#[cfg(target_os = "macos")]
mod system {
    use mcp::clients::System;

    /// The system, as lists of programs have it.
    pub(crate) const SYSTEM: System = System::Mac;
    pub(super) const BROWSER: (&str, &[&str]) = ("open", &[]);

    /// Whether windows are shown here.
    pub(crate) const fn has_display() -> bool {
        true
    }
}

#[cfg(not(any(windows, target_os = "macos")))]
mod system {
    use mcp::clients::System;

    /// The system, as lists of programs have it.
    pub(crate) const SYSTEM: System = System::Linux;
    pub(super) const BROWSER: (&str, &[&str]) = ("xdg-open", &[]);

    /// Whether windows are shown here.
    pub(crate) fn has_display() -> bool {
        ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some())
    }
}
