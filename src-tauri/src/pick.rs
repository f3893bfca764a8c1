//! The system's own dialogs and file manager, asked from Rust: a page gets a path that a person chose, and no more.

use crate::commands::blocking;
use crate::store::Store;
use std::path::Path;
use std::sync::Arc;
use tauri::{AppHandle, State, WebviewWindow};
use tauri_plugin_dialog::DialogExt as _;
use tauri_plugin_opener::OpenerExt as _;
use wire::{Code, Error};

/// Characters of a name that a page may suggest.
const NAME_CHARS_MAX: usize = 120;

/// A folder, a file, or a place to save to, as the person chooses; none when they choose none.
#[tauri::command]
pub async fn pick(
    window: WebviewWindow,
    kind: String,
    suggested: Option<String>,
) -> Result<Option<String>, Error> {
    blocking(move || {
        let dialog = window.app_handle_dialog();
        let chosen = match kind.as_str() {
            "folder" => dialog.blocking_pick_folder(),
            "file" => dialog.blocking_pick_file(),
            "save" => dialog.set_file_name(name(suggested.as_deref())).blocking_save_file(),
            other => return Err(Error::new(Code::Usage, format!("there is no dialog for a `{other}`"))),
        };
        let Some(chosen) = chosen else { return Ok(None) };
        let path = chosen.into_path().map_err(api::failed)?;
        path.into_os_string().into_string().map(Some).map_err(|path| {
            Error::new(Code::Usage, format!("the path `{}` is not UTF-8", path.to_string_lossy()))
                .hint("choose the folder above it")
        })
    })
    .await
}

trait Dialogs {
    fn app_handle_dialog(&self) -> tauri_plugin_dialog::FileDialogBuilder<tauri::Wry>;
}

impl Dialogs for WebviewWindow {
    fn app_handle_dialog(&self) -> tauri_plugin_dialog::FileDialogBuilder<tauri::Wry> {
        self.dialog().file().set_parent(self)
    }
}

/// The last part of what was suggested: a page names a file, and never a folder.
fn name(suggested: Option<&str>) -> String {
    let last = suggested.unwrap_or_default().rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = last.chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect();
    if name.is_empty() { "proof.zip".to_owned() } else { name }
}

/// Shows the folder of a task in the system's file manager. Only a task is named: no page opens a path of its own.
#[tauri::command]
pub async fn reveal(app: AppHandle, store: State<'_, Arc<Store>>, task: String) -> Result<(), Error> {
    let store = Arc::clone(&store);
    blocking(move || {
        let shown = store.session()?.call(&wire::task::Show { task })?;
        let folder = shown.workspace.as_ref().and_then(|text| text.shown().map(str::to_owned));
        let folder = folder.filter(|folder| Path::new(folder).is_dir());
        let folder = folder.ok_or_else(|| Error::new(Code::NotFound, "the folder of this task is gone"))?;
        app.opener()
            .reveal_item_in_dir(folder)
            .map_err(|e| Error::new(Code::Unavailable, format!("no file manager answers here: {e}")))
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_suggests_a_name_and_no_folder() {
        assert_eq!(name(Some("../../etc/passwd")), "passwd");
        assert_eq!(name(Some("C:\\x\\task-1.zip")), "task-1.zip");
        assert_eq!(name(Some("a/")), "proof.zip");
        assert_eq!(name(None), "proof.zip");
    }
}
