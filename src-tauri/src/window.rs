//! Windows: the app's own, the one a yes is given in, and the small one that stands in for notifications.

use crate::approval::{ApprovalWindow, Subject};
use crate::events::{Heard, Listeners};
use crate::surfaces::Surfaces;
use crate::waiting::Known;
use crate::{drop, notify};
use tauri::utils::config::Color;
use tauri::webview::NewWindowResponse;
use tauri::{
    AppHandle, LogicalPosition, Manager as _, Theme, Url, WebviewUrl, WebviewWindow, WebviewWindowBuilder,
    Window, WindowEvent, Wry,
};

/// The app's own window. It can grant nothing.
pub const MAIN: &str = "main";
/// The window a yes is given in, and the only one.
pub const APPROVAL: &str = "approval";
/// The small window that stands in for notifications.
pub const NOTICE: &str = "tray";

/// Its width and height, and how far from the corner it stands.
const NOTICE_SIZE: (f64, f64) = (360.0, 148.0);
const NOTICE_GAP: f64 = 16.0;

/// Shows the app's own window, at a place of it when one is named.
pub fn main(app: &AppHandle, to: Option<&str>) {
    if let Some(to) = to {
        app.state::<Listeners>().tell(&Heard::Go { to: to.to_owned() });
    }
    on_main_thread(app, |app| {
        if let Some(window) = app.get_webview_window(MAIN) {
            return forward(&window);
        }
        builder(app, MAIN, "index.html")
            .title("Hermit")
            .inner_size(1280.0, 800.0)
            .min_inner_size(880.0, 560.0)
            .build()
            .map(drop_it)
    });
}

/// Opens the card of an approval where it can be answered. Somebody asked for it: the window comes forward.
pub fn card(app: &AppHandle, approval: &str) {
    notice_away(app);
    open_desk(app, Subject::Approval { id: approval.to_owned() });
}

/// As [`card`], for words from outside the app: a card that is being answered stays where it is.
pub fn card_from_outside(app: &AppHandle, approval: &str) {
    if app.get_webview_window(APPROVAL).is_some() {
        main(app, Some(&format!("/?at={approval}")));
    } else {
        card(app, approval);
    }
}

/// Opens a denial of policy where a person may override it.
pub fn prepare_override(app: &AppHandle, act: &str) {
    open_desk(app, Subject::Override { act: act.to_owned() });
}

/// Opens the window for keys: to make them, or to open those there are.
pub fn keys(app: &AppHandle, subject: Subject) {
    open_desk(app, subject);
}

fn open_desk(app: &AppHandle, subject: Subject) {
    let (title, size) = match &subject {
        Subject::Approval { .. } => ("Hermit waits for your answer", (900.0, 740.0)),
        Subject::Override { .. } => ("Hermit: override a denial", (760.0, 680.0)),
        Subject::Keys => ("Hermit: your keys", (560.0, 500.0)),
        Subject::Provider => ("Hermit: a key for a server of models", (520.0, 420.0)),
        Subject::Unlock => ("Hermit: open the keys", (480.0, 320.0)),
    };
    app.state::<ApprovalWindow>().take(subject);
    on_main_thread(app, move |app| {
        if let Some(window) = app.get_webview_window(APPROVAL) {
            window.set_title(title)?;
            window.set_size(tauri::LogicalSize::new(size.0, size.1))?;
            // A page begins with its subject: nothing typed for another one is left.
            window.reload()?;
            return forward(&window);
        }
        builder(app, APPROVAL, "approval.html")
            .title(title)
            .inner_size(size.0, size.1)
            .min_inner_size(460.0, 300.0)
            .center()
            .build()
            .map(drop_it)
    });
}

/// Shows the small window, in a corner and without taking the focus.
pub fn notice(app: &AppHandle) {
    on_main_thread(app, |app| {
        if app.get_webview_window(NOTICE).is_some() {
            return Ok(());
        }
        let window = builder(app, NOTICE, "tray.html")
            .title("Hermit waits for you")
            .inner_size(NOTICE_SIZE.0, NOTICE_SIZE.1)
            .resizable(false)
            .decorations(false)
            .always_on_top(true)
            .skip_taskbar(true)
            .focused(false)
            .focusable(false)
            .build()?;
        if let Some(monitor) = window.primary_monitor()? {
            let size = monitor.size().to_logical::<f64>(monitor.scale_factor());
            let left = size.width - NOTICE_SIZE.0 - NOTICE_GAP;
            window.set_position(LogicalPosition::new(left, NOTICE_GAP))?;
        }
        Ok(())
    });
}

/// Takes the small window away.
pub fn notice_away(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(NOTICE) {
        let _ = window.close();
    }
}

/// Runs where windows may be made, from wherever it is asked.
fn on_main_thread(app: &AppHandle, done: impl FnOnce(&AppHandle) -> tauri::Result<()> + Send + 'static) {
    let handle = app.clone();
    let asked = app.run_on_main_thread(move || {
        if let Err(error) = done(&handle) {
            tracing::error!(%error, "a window could not be opened");
        }
    });
    if let Err(error) = asked {
        tracing::error!(%error, "a window could not be opened");
    }
}

fn builder<'a>(app: &'a AppHandle, label: &str, page: &str) -> WebviewWindowBuilder<'a, Wry, AppHandle> {
    WebviewWindowBuilder::new(app, label, WebviewUrl::App(page.into()))
        .on_navigation(is_ours)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .devtools(cfg!(debug_assertions))
        .background_color(if is_dark(app) { Color(21, 26, 25, 255) } else { Color(242, 244, 242, 255) })
}

/// As the windows that are there look; the first one is light until its page says otherwise.
fn is_dark(app: &AppHandle) -> bool {
    app.webview_windows().values().any(|window| matches!(window.theme(), Ok(Theme::Dark)))
}

/// Pages of the app itself; nothing leads anywhere else.
fn is_ours(url: &Url) -> bool {
    match url.scheme() {
        "tauri" => url.host_str() == Some("localhost"),
        // The frame between page and host; its scheme is another one at each start.
        scheme if scheme.starts_with("isolation") => url.host_str() == Some("localhost"),
        // Where the system knows no schemes of an app's own.
        "http" | "https" => matches!(url.host_str(), Some("tauri.localhost" | "isolation.localhost")),
        "about" => url.as_str() == "about:blank" || url.as_str() == "about:srcdoc",
        _ => false,
    }
}

fn forward(window: &WebviewWindow) -> tauri::Result<()> {
    window.show()?;
    window.unminimize()?;
    window.set_focus()
}

fn drop_it<T>(_: T) {}

/// What happened to a window.
pub fn happened(window: &Window, event: &WindowEvent) {
    let app = window.app_handle();
    match (window.label(), event) {
        (MAIN, WindowEvent::DragDrop(event)) => drop::happened(app, event),
        (MAIN, WindowEvent::CloseRequested { api, .. }) if !app.state::<Surfaces>().has_tray() => {
            // Without a tray a closed window could not be had back but by starting Hermit again.
            if app.state::<Surfaces>().lacks().actions.is_none() {
                notify::without_window(app, &app.state::<Known>().now());
            } else {
                api.prevent_close();
                let _ = window.minimize();
            }
        }
        (label, WindowEvent::Destroyed) => {
            app.state::<Listeners>().forget(label);
            if label == APPROVAL {
                app.state::<ApprovalWindow>().leave();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_goes_nowhere_but_to_pages_of_the_app() {
        let ours = |text: &str| text.parse().is_ok_and(|url| is_ours(&url));
        assert!(ours("tauri://localhost/index.html") && ours("http://tauri.localhost/approval.html"));
        for text in [
            "https://example.org/",
            "http://localhost/",
            "http://127.0.0.1:8080/",
            "file:///etc/passwd",
            "tauri://example.org/",
            "data:text/html,x",
            "about:config",
            "javascript:1",
        ] {
            assert!(!ours(text), "{text}");
        }
    }
}
