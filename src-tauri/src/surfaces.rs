//! What this desktop has: a place for the tray, a server for notifications. What is missing is told in words, looked
//! for again now and then, and stood in for.

use crate::waiting::Known;
use crate::{notify, tray};
use serde::Serialize;
use std::sync::{Mutex, PoisonError};
use tauri::{AppHandle, Manager as _};

/// Why a surface is not there; none when it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Lacks {
    /// The tray.
    pub tray: Option<String>,
    /// Notifications.
    pub notifications: Option<String>,
    /// Buttons on notifications.
    pub actions: Option<String>,
}

/// What was found.
#[derive(Default)]
pub struct Surfaces(Mutex<Lacks>);

impl Surfaces {
    /// What is missing.
    pub fn lacks(&self) -> Lacks {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether something is missing.
    pub fn lacks_any(&self) -> bool {
        self.lacks() != Lacks::default()
    }

    /// Whether the tray is there, so that the app can be had back when its windows are closed.
    pub fn has_tray(&self) -> bool {
        self.lacks().tray.is_none()
    }

    /// Looks again for what was missing: a panel may have come up after the app.
    pub fn again(&self, app: &AppHandle) {
        let before = self.lacks();
        if before != Lacks::default() {
            look(app, &before);
        }
    }
}

/// Looks what there is, away from the windows' thread: a desktop may take its time to answer.
pub fn begin(app: &AppHandle) {
    // Until it was looked, nothing is there.
    let unknown = || Some("it was not looked for yet".to_owned());
    let before = Lacks { tray: unknown(), notifications: unknown(), actions: unknown() };
    *app.state::<Surfaces>().0.lock().unwrap_or_else(PoisonError::into_inner) = before.clone();
    let app = app.clone();
    let _ = std::thread::Builder::new().name("surfaces".to_owned()).spawn(move || look(&app, &before));
}

fn look(app: &AppHandle, before: &Lacks) {
    let mut now = before.clone();
    if before.notifications.is_some() || before.actions.is_some() {
        (now.notifications, now.actions) = notify::lacks();
    }
    if before.tray.is_some() {
        now.tray = tray::make(app, &app.state::<Known>().now()).err();
    }
    for (what, why) in [("tray", &now.tray), ("notifications", &now.notifications), ("actions", &now.actions)]
    {
        if let Some(why) = why {
            tracing::info!(what, why, "this desktop lacks a surface; another one takes its place");
        }
    }
    *app.state::<Surfaces>().0.lock().unwrap_or_else(PoisonError::into_inner) = now;
}
