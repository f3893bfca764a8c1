//! The desktop shell: windows, tray, notifications, and the door a person's yes comes through.
//!
//! **What this room is for.** Hermit as an app: it hosts the kernel in its own process, or is attached to the process
//! that does, and shows the pages of `ui` in the system's webview. It is a surface like the command line, over the
//! same wire and api, and adds what only a native program can: a window of its own for a yes, a tray that says what
//! waits, notifications that open the exact card.
//!
//! **What it must never do.** Let the main window, a notification, a link or another program grant; take focus when
//! something waits; let a page reach a shell, the file system, the network or a process; keep a passphrase longer
//! than the one signature it is for; end work because a window was closed.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. What a page may ask stands in the table of `wire` or in the list of `build.rs`, and the window it runs in has
//!    it in `capabilities/`; everything else is refused by name before any code of ours runs.
//! 2. Only the window `approval` may grant. The access list says so, and the code asks for the label again.
//! 3. A yes is for the bytes that were shown: their digest comes back with it and is compared, after an arming delay
//!    and a hold that this side measures.
//! 4. Links, drops and other instances' words only open windows.
//! 5. Where there is no tray or no notification server, that is told in words and something else takes its place.
//! 6. Closing every window leaves the work as it is.
//!
//! **Where to start reading.** [`main`], then `commands` for what pages may ask, then `approval`.
#![allow(
    clippy::result_large_err,
    reason = "the wire's error is what people read; it is made once in a run, never in a loop"
)]
#![allow(clippy::unreachable, reason = "`tauri::command` writes one behind what an async command answers")]
#![allow(clippy::disallowed_methods, reason = "the shell is where windows, time and the environment enter")]

mod approval;
mod commands;
mod deep_link;
mod dock;
mod drop;
mod events;
mod never;
mod notify;
mod pick;
mod security_key;
mod standing_grants;
mod store;
mod surfaces;
mod tray;
mod waiting;
mod window;

use host::{Home, Interrupts};
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use tauri::{AppHandle, Builder, Manager as _, RunEvent, Wry};
use tauri_plugin_autostart::MacosLauncher;
use tauri_plugin_shell::ShellExt as _;
use tauri_plugin_window_state::StateFlags;

/// Begins in the tray: what the system says that starts Hermit when a person logs in.
const HIDDEN: &str = "--hidden";
/// How often it is looked whether this process shall end.
const LOOK: Duration = Duration::from_millis(100);

/// Runs the app this process was started as.
pub fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == host::launch::HEALTH) {
        return answered();
    }
    let home = match Home::find(None) {
        Ok(home) => home,
        Err(error) => return told(&error.to_string()),
    };
    if let Some(code) = host::launch::app_instead(&home, std::env::args_os().skip(1)) {
        return ExitCode::from(code);
    }
    match app(home, &words) {
        Ok(app) => {
            app.run(happened);
            ExitCode::SUCCESS
        }
        Err(error) => told(&format!("Hermit cannot open its window: {error}")),
    }
}

fn told(why: &str) -> ExitCode {
    eprintln!("hermit-desktop: {why}");
    ExitCode::FAILURE
}

/// The answer to the installed app, which asks whether this one is there: a line, and nothing else.
fn answered() -> ExitCode {
    let said = host::launch::app_health()
        .and_then(|health| serde_json::to_string(&health).map_err(|e| e.to_string()));
    let written = said.and_then(|line| writeln!(std::io::stdout(), "{line}").map_err(|e| e.to_string()));
    written.map_or_else(|why| told(&why), |()| ExitCode::SUCCESS)
}

fn app(home: Home, words: &[String]) -> tauri::Result<tauri::App> {
    let window_state = tauri_plugin_window_state::Builder::new()
        .with_state_flags(StateFlags::SIZE | StateFlags::POSITION | StateFlags::MAXIMIZED)
        .with_filter(|label| label == window::MAIN);
    let instance = tauri_plugin_single_instance::Builder::new()
        .callback(|app: &AppHandle, words, _| {
            host::launch::app_was_told(app.state::<Arc<Store>>().home());
            deep_link::open_words(app, words.get(1..).unwrap_or_default());
        })
        .dbus_id(instance(&home));
    let words = words.to_vec();
    Builder::<Wry>::new()
        .plugin(instance.build())
        .plugin(tauri_plugin_deep_link::init())
        .plugin(window_state.build())
        .plugin(tauri_plugin_autostart::init(MacosLauncher::LaunchAgent, Some(vec![HIDDEN])))
        .plugin(tauri_plugin_opener::Builder::new().open_js_links_on_click(false).build())
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_shell::init())
        .manage(Arc::new(Store::new(home)))
        .manage(surfaces::Surfaces::default())
        .manage(events::Listeners::default())
        .manage(waiting::Known::default())
        .manage(approval::ApprovalWindow::default())
        .manage(security_key::AskedKey::default())
        .invoke_handler(commands::handler())
        .on_window_event(window::happened)
        .setup(move |app| {
            begin(app.handle(), &words);
            Ok(())
        })
        .build(tauri::generate_context!())
}

/// One app for each store: another store's app is another instance.
fn instance(home: &Home) -> String {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    home.dir().hash(&mut hasher);
    format!("io.github.hermit.desktop.s{:016x}", hasher.finish())
}

fn begin(app: &AppHandle, words: &[String]) {
    // Where a package of the app has put what stands behind the walls; only asked here, and spawned by `effects`.
    if let Ok(sidecar) = app.shell().sidecar("hermit-exec") {
        let command: std::process::Command = sidecar.into();
        host::executor_is_at(command.get_program().into());
    }
    // A package need not have it: then it is looked for in the user's cache.
    if let Ok(sidecar) = app.shell().sidecar("hermit-model-box") {
        let command: std::process::Command = sidecar.into();
        host::model_box::sidecar_is_at(command.get_program().into());
    }
    surfaces::begin(app);
    events::begin(app);
    end_when_asked(app);
    if !words.iter().any(|word| word == HIDDEN) {
        window::main(app, None);
    }
    deep_link::begin(app, words);
}

/// A request to terminate ends the app at a durable boundary; a second one at once.
fn end_when_asked(app: &AppHandle) {
    let (interrupts, app) = (Interrupts::watch_all(), app.clone());
    let wait = move || {
        while !interrupts.pressed() {
            std::thread::sleep(LOOK);
        }
        app.exit(0);
    };
    let _ = std::thread::Builder::new().name("ending".to_owned()).spawn(wait);
}

fn happened(app: &AppHandle, event: RunEvent) {
    match event {
        // The last window was closed: the work goes on behind the tray. A code means that somebody said to end.
        RunEvent::ExitRequested { code: None, api, .. } => api.prevent_exit(),
        // What begins with the app has begun, its window among it.
        RunEvent::Ready => host::launch::app_came_up(app.state::<Arc<Store>>().home()),
        RunEvent::Exit => {
            tray::remove(app);
            app.state::<Arc<Store>>().close();
        }
        other => dock::asked(app, &other),
    }
}
