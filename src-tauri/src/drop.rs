//! Files and folders that a person lets fall onto the window. Nothing is read here: the page offers what could be
//! done with them, and the person chooses.

use crate::events::{Heard, Listeners};
use std::path::PathBuf;
use tauri::{AppHandle, DragDropEvent, Manager as _};

/// Things in one drop that a page still shows.
const THINGS_MAX: usize = 200;

/// What the page is told.
pub fn happened(app: &AppHandle, event: &DragDropEvent) {
    let heard = match event {
        DragDropEvent::Enter { paths, .. } => Heard::Over { things: paths.len() },
        DragDropEvent::Drop { paths, .. } => sorted(paths),
        DragDropEvent::Leave => Heard::Over { things: 0 },
        _ => return,
    };
    app.state::<Listeners>().tell(&heard);
}

/// Folders and files apart; what is neither, or has a name that is no text, is counted.
fn sorted(paths: &[PathBuf]) -> Heard {
    let (mut folders, mut files, mut left_out) = (Vec::new(), Vec::new(), 0);
    for path in paths {
        let text = path.to_str().filter(|_| path.is_absolute()).map(str::to_owned);
        match text {
            Some(text) if folders.len() + files.len() < THINGS_MAX && path.is_dir() => folders.push(text),
            Some(text) if folders.len() + files.len() < THINGS_MAX && path.is_file() => files.push(text),
            _ => left_out += 1,
        }
    }
    Heard::Dropped { folders, files, left_out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_files_are_told_apart_and_nothing_else_is_taken() {
        let here = std::env::current_dir().unwrap_or_default();
        let file = here.join("Cargo.toml");
        let heard = sorted(&[here.clone(), file.clone(), here.join("not there"), PathBuf::from("relative")]);
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        assert_eq!(
            heard,
            Heard::Dropped { folders: vec![text(&here)], files: vec![text(&file)], left_out: 2 }
        );
    }
}
