//! The tray: the state at a glance, the count, and a menu of what waits.

use crate::store::Store;
use crate::waiting::{Asked, Glyph, Waiting, plain};
use crate::window;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;
use tauri::image::Image;
use tauri::menu::{Menu, MenuBuilder, MenuEvent, MenuItemBuilder};
use tauri::tray::{TrayIconBuilder, TrayIconEvent};
use tauri::{AppHandle, Manager as _, Wry};
use wire::gate::{Boot, Halt};

/// The tray's own name.
const ID: &str = "hermit";
/// Making it takes one answer of the desktop.
const PATIENCE: Duration = Duration::from_secs(10);
/// Characters of a line in the menu.
const CHARS_MAX: usize = 64;

fn image(glyph: Glyph) -> Image<'static> {
    match glyph {
        Glyph::Idle => tauri::include_image!("../icons/tray/idle.png"),
        Glyph::Working => tauri::include_image!("../icons/tray/working.png"),
        Glyph::Waiting => tauri::include_image!("../icons/tray/waiting.png"),
        Glyph::Halted => tauri::include_image!("../icons/tray/halted.png"),
    }
}

/// Makes the tray; why there is none, where the desktop has no place for it.
pub fn make(app: &AppHandle, waiting: &Waiting) -> Result<(), String> {
    let (send, receive) = channel();
    let (handle, waiting) = (app.clone(), waiting.clone());
    let built = move || {
        let built = build(&handle, &waiting).map_err(|e| e.to_string());
        let _ = send.send(built);
    };
    app.run_on_main_thread(built).map_err(|e| e.to_string())?;
    let built =
        receive.recv_timeout(PATIENCE).unwrap_or_else(|_| Err("the desktop does not answer".to_owned()));
    built.map_err(|why| {
        tracing::debug!(why, "there is no tray");
        if why.contains("StatusNotifierWatcher") {
            "this desktop has no place for a tray".to_owned()
        } else {
            why
        }
    })
}

fn build(app: &AppHandle, waiting: &Waiting) -> tauri::Result<()> {
    TrayIconBuilder::with_id(ID)
        .icon(image(waiting.glyph()))
        // On macOS its shape alone, in the colour of the bar.
        .icon_as_template(true)
        .title(title(waiting))
        .tooltip(waiting.words())
        .menu(&menu(app, waiting)?)
        .on_menu_event(chosen)
        .on_tray_icon_event(|tray, event| {
            if matches!(event, TrayIconEvent::DoubleClick { .. }) {
                window::main(tray.app_handle(), None);
            }
        })
        .build(app)?;
    Ok(())
}

/// Shows what waits now.
pub fn show(app: &AppHandle, waiting: &Waiting) {
    let (handle, waiting) = (app.clone(), waiting.clone());
    let shown = app.run_on_main_thread(move || {
        let Some(tray) = handle.tray_by_id(ID) else { return };
        let shown = tray
            .set_icon_with_as_template(Some(image(waiting.glyph())), true)
            .and_then(|()| tray.set_title(Some(title(&waiting))))
            .and_then(|()| tray.set_tooltip(Some(waiting.words())))
            .and_then(|()| tray.set_menu(Some(menu(&handle, &waiting)?)));
        if let Err(error) = shown {
            tracing::warn!(%error, "the tray does not show what waits");
        }
    });
    if let Err(error) = shown {
        tracing::warn!(%error, "the tray does not show what waits");
    }
}

/// Takes the tray away; the app ends.
pub fn remove(app: &AppHandle) {
    drop(app.remove_tray_by_id(ID));
}

/// What a panel says beside the glyph.
fn title(waiting: &Waiting) -> String {
    match waiting.glyph() {
        Glyph::Halted => "Hermit, halted".to_owned(),
        Glyph::Waiting => format!("Hermit, {} waiting", waiting.count),
        Glyph::Working => "Hermit, working".to_owned(),
        Glyph::Idle => "Hermit".to_owned(),
    }
}

fn menu(app: &AppHandle, waiting: &Waiting) -> tauri::Result<Menu<Wry>> {
    let head = MenuItemBuilder::with_id("head", waiting.words()).enabled(false).build(app)?;
    let mut menu = MenuBuilder::new(app).item(&head);
    for asked in &waiting.approvals {
        menu = menu.text(format!("card:{}", asked.id), line(asked));
    }
    for asked in &waiting.questions {
        menu = menu.text(format!("task:{}", asked.id), format!("Question: {}", line(asked)));
    }
    for asked in &waiting.schedules {
        menu = menu.text(format!("schedule:{}", asked.id), line(asked));
    }
    for asked in &waiting.gateways {
        menu = menu.text(format!("gateway:{}", asked.id), line(asked));
    }
    menu = menu.separator().text("open", "Open Hermit").text("new", "New task").separator();
    menu = if waiting.halted {
        menu.text("boot", "Let Hermit work again")
    } else {
        menu.text("halt", "Halt everything")
    };
    menu.text("quit", "Quit").build()
}

/// A menu reads `&` as the mark of a key, and shows it when it is said twice.
fn line(asked: &Asked) -> String {
    let words = plain(&asked.words, CHARS_MAX).replace('&', "&&");
    if asked.risk.is_empty() { words } else { format!("{words} ({} risk)", asked.risk) }
}

fn chosen(app: &AppHandle, event: MenuEvent) {
    let id = event.id().as_ref();
    match (id, id.split_once(':')) {
        (_, Some(("card", approval))) => window::card(app, approval),
        (_, Some(("task", task))) => window::main(app, Some(&format!("/task/{task}"))),
        (_, Some(("schedule", name))) => window::main(app, Some(&format!("/schedules?of={name}"))),
        (_, Some(("gateway", name))) => window::main(app, Some(&format!("/gateways?of={name}"))),
        ("open", _) => window::main(app, None),
        ("new", _) => window::main(app, Some("/tasks/new")),
        ("halt", _) => gate(app, true),
        ("boot", _) => gate(app, false),
        ("quit", _) => app.exit(0),
        _ => {}
    }
}

fn gate(app: &AppHandle, halt: bool) {
    let store = Arc::clone(&app.state::<Arc<Store>>());
    let done = move || {
        let session = store.session()?;
        if halt {
            session.call(&Halt { reason: Some("halted from the tray".to_owned()) }).map(drop)
        } else {
            session.call(&Boot::default()).map(drop)
        }
    };
    let _ = std::thread::Builder::new().name("gate".to_owned()).spawn(move || {
        if let Err(error) = done() {
            tracing::warn!(%error, "what the tray was asked was not done");
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_menu_marks_no_key_and_names_the_risk() {
        let asked = Asked {
            id: "apr_1".to_owned(),
            words: "mv a&b c".to_owned(),
            risk: "high".to_owned(),
            is_quiet: false,
            who: Vec::new(),
        };
        assert_eq!(line(&asked), "mv a&&b c (high risk)");
    }
}
