//! A copy of the sources with something in it that is never committed, and its own target folder.

use crate::Problem;
use crate::place::Place;
use crate::shell::say;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What becomes of a text, by its name: none where it stays as it is.
pub type Change<'a> = &'a dyn Fn(&str, &str) -> Result<Option<String>, Problem>;

/// The checkout as git sees it, with `change` made to its texts; what stays as it is keeps its time.
pub fn copy(root: &Path, tree: &Path, change: Change<'_>) -> Result<(), Problem> {
    let mut git = Command::new("git");
    git.current_dir(root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let listed = git.output().map_err(|e| format!("git could not be started: {e}"))?;
    let listed = String::from_utf8(listed.stdout).map_err(|e| e.to_string())?;
    for name in listed.split('\0').filter(|name| !name.is_empty()) {
        let (from, to) = (root.join(name), tree.join(name));
        let broken = |e: std::io::Error| format!("cannot copy `{name}`: {e}");
        let Ok(mut bytes) = fs::read(&from) else { continue };
        let changed = std::str::from_utf8(&bytes).map_or(Ok(None), |text| change(name, text))?;
        let is_changed = changed.is_some();
        bytes = changed.map_or(bytes, String::into_bytes);
        if fs::read(&to).is_ok_and(|before| before == bytes) {
            continue;
        }
        fs::create_dir_all(to.parent().unwrap_or(tree)).map_err(broken)?;
        fs::write(&to, bytes).map_err(broken)?;
        if !is_changed {
            let time = fs::metadata(&from).and_then(|found| found.modified()).map_err(broken)?;
            fs::File::options()
                .append(true)
                .open(&to)
                .and_then(|file| file.set_modified(time))
                .map_err(broken)?;
        }
    }
    Ok(())
}

/// Lends the target folder of a copy what is built already, so that nothing of others is built anew.
pub fn lend(place: &Place, target: &Path) -> Result<(), Problem> {
    if target.exists() {
        return Ok(());
    }
    say("lending it what is built already ...");
    ["deps", "build", ".fingerprint"].iter().try_for_each(|folder| {
        link(&place.target.join("debug").join(folder), &target.join("debug").join(folder))
    })
}

/// What is larger than cargo's own notes, which it writes over in place.
const SMALL: u64 = 256 * 1024;

/// The files below, at another place too: notes as copies, what is built as the same file by another name.
fn link(from: &Path, to: &Path) -> Result<(), Problem> {
    let broken = |e: std::io::Error| format!("cannot lend `{}`: {e}", from.display());
    fs::create_dir_all(to).map_err(broken)?;
    let Ok(entries) = fs::read_dir(from) else { return Ok(()) };
    for entry in entries {
        let path = entry.map_err(broken)?.path();
        let other = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            link(&path, &other)?;
            continue;
        }
        let found = fs::metadata(&path).map_err(broken)?;
        if found.len() > SMALL && fs::hard_link(&path, &other).is_ok() {
            continue;
        }
        fs::copy(&path, &other).map_err(broken)?;
        let time = found.modified().map_err(broken)?;
        fs::File::options()
            .append(true)
            .open(&other)
            .and_then(|file| file.set_modified(time))
            .map_err(broken)?;
    }
    Ok(())
}
