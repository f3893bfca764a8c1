//! The system's own dialogs and file manager, asked from Rust: a page gets a path that a person chose, and no more.

use crate::commands::blocking;
use crate::store::Store;
use std::path::Path;
use std::sync::Arc;
use tauri::{AppHandle, Manager as _, State, WebviewWindow};
use tauri_plugin_dialog::DialogExt as _;
use tauri_plugin_opener::OpenerExt as _;
use wire::{Code, Error};

/// Characters of a name that a page may suggest.
const NAME_CHARS_MAX: usize = 120;
/// Names that are tried before none is proposed.
const NAMES_MAX: u32 = 99;

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

/// Where a file would be saved unless the person says otherwise: its path in their folder of downloads, else in their home,
/// under a name that nothing has there yet. None where there is neither, or where its path is no UTF-8.
#[tauri::command]
pub async fn save_place(app: AppHandle, suggested: String) -> Result<Option<String>, Error> {
    blocking(move || {
        let folders = [app.path().download_dir(), app.path().home_dir()];
        let folder = folders.into_iter().flatten().find(|folder| folder.is_dir());
        Ok(folder.and_then(|folder| free(&folder, &name(Some(&suggested)), Path::exists)))
    })
    .await
}

/// The path of a file that is not there yet: as it is called, or with a number before its ending.
fn free(folder: &Path, name: &str, is_there: impl Fn(&Path) -> bool) -> Option<String> {
    let (stem, ending) =
        name.rsplit_once('.').map_or((name, String::new()), |(stem, e)| (stem, format!(".{e}")));
    let others = (2..=NAMES_MAX).map(|number| format!("{stem}-{number}{ending}"));
    let path = std::iter::once(name.to_owned())
        .chain(others)
        .map(|name| folder.join(name))
        .find(|path| !is_there(path))?;
    path.into_os_string().into_string().ok()
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

    #[test]
    fn what_is_proposed_is_a_new_file() {
        let folder = Path::new("downloads");
        let at = |name: &str| folder.join(name).to_str().map(str::to_owned);
        let beside = |there: &[&str], name: &str| {
            free(folder, name, |path| there.iter().any(|other| path == folder.join(other)))
        };
        assert_eq!(beside(&[], "proof.zip"), at("proof.zip"));
        assert_eq!(beside(&["proof.zip"], "proof.zip"), at("proof-2.zip"));
        assert_eq!(beside(&["proof.zip", "proof-2.zip"], "proof.zip"), at("proof-3.zip"));
        assert_eq!(beside(&["proof"], "proof"), at("proof-2"));
        assert_eq!(free(folder, "proof.zip", |_| true), None, "it ends");
    }
}
