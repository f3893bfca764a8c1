//! What pages may ask: every command of the wire's table by its own name, and the few that only an app has. Whether
//! a window may ask it was decided by the access list before anything here runs.

use crate::approval;
use crate::approval::Subject;
use crate::events::{Heard, Listeners};
use crate::never::NEVER;
use crate::pick;
use crate::security_key;
use crate::standing_grants;
use crate::store::Store;
use crate::surfaces::{Lacks, Surfaces};
use crate::window;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use tauri::ipc::{Channel, Invoke, InvokeBody, InvokeError};
use tauri::{AppHandle, Manager as _, State, Webview, Wry};
use tauri_plugin_autostart::ManagerExt as _;
use wire::{Access, Code, Error};

/// Answers everything that pages ask.
pub fn handler() -> impl Fn(Invoke<Wry>) -> bool + Send + Sync + 'static {
    let own: Box<dyn Fn(Invoke<Wry>) -> bool + Send + Sync> = Box::new(tauri::generate_handler![
        opened,
        listen,
        heed,
        open_card,
        open_keys,
        open_override,
        open_provider,
        surfaces,
        autostart,
        leave,
        pick::pick,
        pick::reveal,
        pick::save_place,
        approval::subject,
        approval::shown,
        approval::press,
        approval::grant,
        standing_grants::offers,
        standing_grants::prepare_override,
        standing_grants::allow_override,
        approval::make_keys,
        approval::unlock,
        approval::keep_key,
        security_key::security_keys,
        security_key::grant_by_key,
        security_key::key_wants_touch,
        security_key::leave_key,
    ]);
    let table: BTreeMap<String, &'static wire::Info> = wire::COMMANDS
        .iter()
        .filter(|info| info.access != Access::owner)
        .map(|info| (info.name.replace('.', "_"), info))
        .collect();
    move |invoke| match table.get(invoke.message.command()) {
        Some(info) => {
            from_table(info, invoke);
            true
        }
        None => own(invoke),
    }
}

fn from_table(info: &'static wire::Info, invoke: Invoke<Wry>) {
    let webview = invoke.message.webview();
    let params = match invoke.message.payload() {
        InvokeBody::Json(payload) => payload.get("params").cloned().unwrap_or(Value::Null),
        InvokeBody::Raw(_) => Value::Null,
    };
    let params = match admitted(info, webview.label(), params) {
        Ok(params) => params,
        Err(error) => return invoke.resolver.reject(error),
    };
    let store = Arc::clone(&webview.state::<Arc<Store>>());
    invoke.resolver.respond_async(async move {
        blocking(move || store.session()?.ask(info.name, params)).await.map_err(InvokeError::from)
    });
}

/// What the access list has said already, said again; and a no carries the window it was given in.
fn admitted(info: &wire::Info, label: &str, mut params: Value) -> Result<Value, Error> {
    if NEVER.contains(&info.name) || (info.changes() && label == window::NOTICE) {
        return Err(Error::new(Code::Forbidden, format!("`{}` is not for this window", info.name))
            .hint("a yes is given in the approval window, by a person"));
    }
    if info.name == "approvals.deny"
        && let Some(params) = params.as_object_mut()
    {
        let surface = if label == window::APPROVAL { "approval_window" } else { "main_window" };
        params.insert("surface".to_owned(), json!(surface));
    }
    Ok(params)
}

/// Runs what waits for disk, keys or other processes, away from the windows' thread.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    tauri::async_runtime::spawn_blocking(work).await.map_err(|e| api::failed(format!("it broke off: {e}")))?
}

/// How the store was opened.
#[derive(Serialize)]
pub struct Opened {
    /// Another process owns it.
    attached: bool,
    /// It has keys.
    has_keys: bool,
    /// They are under a passphrase that this process was not told.
    locked: bool,
}

/// Opens the store, or waits until it is open; tries again what failed.
#[tauri::command]
async fn opened(store: State<'_, Arc<Store>>) -> Result<Opened, Error> {
    let store = Arc::clone(&store);
    blocking(move || {
        let session = store.open()?;
        let home = store.home();
        let open = session.local().is_none_or(|local| local.keys().keys().is_some());
        Ok(Opened {
            attached: session.is_attached(),
            has_keys: home.has_keys(),
            locked: home.has_keys() && !open,
        })
    })
    .await
}

/// Hears notices from now on, until the window is gone.
#[tauri::command]
fn listen(webview: Webview, listeners: State<'_, Listeners>, channel: Channel<Value>) {
    listeners.listen(webview.label(), channel);
}

/// Hears what the app asks of its page: to go somewhere, to take what was dropped.
#[tauri::command]
fn heed(webview: Webview, listeners: State<'_, Listeners>, channel: Channel<Heard>) {
    listeners.heed(webview.label(), channel);
}

/// Opens a card where it can be answered.
#[tauri::command]
fn open_card(app: AppHandle, approval: String) -> Result<(), Error> {
    if !is_id(&approval) {
        return Err(Error::new(Code::Usage, "this is no approval"));
    }
    window::card(&app, &approval);
    Ok(())
}

/// Opens a denial where a person may override it. Nothing is overridden by opening it.
#[tauri::command]
fn open_override(app: AppHandle, act: String) -> Result<(), Error> {
    if !is_id(&act) {
        return Err(Error::new(Code::Usage, "this is no action request"));
    }
    window::prepare_override(&app, &act);
    Ok(())
}

/// Opens the window in which the key for a server of models is typed.
#[tauri::command]
fn open_provider(app: AppHandle) {
    window::keys(&app, Subject::Provider);
}

fn is_id(text: &str) -> bool {
    text.len() <= 64 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// Opens the window in which keys are made, or opened when they are there.
#[tauri::command]
fn open_keys(app: AppHandle, store: State<'_, Arc<Store>>) {
    let made = store.home().has_keys() && host::ApprovalSession::at_window(store.home().clone()).has_key();
    window::keys(&app, if made { Subject::Unlock } else { Subject::Keys });
}

/// What this desktop lacks.
#[tauri::command]
fn surfaces(surfaces: State<'_, Surfaces>) -> Lacks {
    surfaces.lacks()
}

/// Whether Hermit starts when the person logs in; sets it when asked to.
#[tauri::command]
async fn autostart(app: AppHandle, on: Option<bool>) -> Result<bool, Error> {
    blocking(move || {
        let launch = app.autolaunch();
        let done = match on {
            Some(true) => launch.enable(),
            Some(false) => launch.disable(),
            None => Ok(()),
        };
        let failed = |e: tauri_plugin_autostart::Error| {
            Error::new(Code::Unavailable, format!("this desktop does not say what starts with it: {e}"))
        };
        done.map_err(failed)?;
        launch.is_enabled().map_err(failed)
    })
    .await
}

/// Closes the window that asks.
#[tauri::command]
fn leave(webview: Webview) -> Result<(), Error> {
    webview.window().close().map_err(api::failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(name: &str) -> &'static wire::Info {
        wire::find(name).unwrap_or(&wire::COMMANDS[0])
    }

    #[test]
    fn no_window_hands_a_decision_in() {
        for label in [window::MAIN, window::APPROVAL, window::NOTICE, "other"] {
            for name in NEVER {
                let refused = admitted(info(name), label, json!({}));
                assert_eq!(refused.map_err(|e| e.code), Err(Code::Forbidden), "{name} in {label}");
            }
        }
    }

    #[test]
    fn the_small_window_changes_nothing() {
        for row in wire::COMMANDS.iter().filter(|row| row.access == Access::write) {
            assert!(admitted(row, window::NOTICE, json!({})).is_err(), "{}", row.name);
        }
    }

    #[test]
    fn a_no_carries_the_window_it_was_given_in_whatever_the_page_says() {
        let said = json!({ "approval": "apr_1", "surface": "terminal" });
        for (label, surface) in [(window::MAIN, "main_window"), (window::APPROVAL, "approval_window")] {
            let params = admitted(info("approvals.deny"), label, said.clone()).unwrap_or_default();
            assert_eq!(params["surface"], surface);
        }
    }
}
