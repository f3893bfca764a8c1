//! What the system asks of an app that it shows as one among its own: a click on the icon in the dock of macOS. Others ask nothing.

pub use system::asked;

#[cfg(target_os = "macos")]
mod system {
    use crate::window;
    use tauri::{AppHandle, RunEvent};

    /// Shows the app's own window when its icon was clicked.
    pub fn asked(app: &AppHandle, event: &RunEvent) {
        if matches!(event, RunEvent::Reopen { .. }) {
            window::main(app, None);
        }
    }
}

#[cfg(not(target_os = "macos"))]
mod system {
    use tauri::{AppHandle, RunEvent};

    /// Nothing is asked here.
    pub fn asked(_: &AppHandle, _: &RunEvent) {}
}
