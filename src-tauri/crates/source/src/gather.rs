//! The files of a source tree as they lie on the disk. The standard library alone: build script and chores compile it too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

/// What `.gitignore` in the root of a tree leaves out: names, endings (`*.x`), and paths.
struct Ignored(Vec<(String, bool)>);

impl Ignored {
    fn of(text: &str) -> io::Result<Self> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let patterns = lines.map(|line| {
            let pattern = line.trim_end_matches('/');
            let rest = pattern.strip_prefix('*').unwrap_or(pattern);
            if rest.contains(['*', '?', '[', '!', '\\']) || rest.starts_with('/') {
                return Err(io::Error::other(format!(
                    "`{line}` of .gitignore is more than is understood here"
                )));
            }
            Ok((pattern.to_owned(), line.ends_with('/')))
        });
        patterns.collect::<io::Result<_>>().map(Self)
    }

    fn has(&self, path: &str, name: &str, is_folder: bool) -> bool {
        self.0.iter().any(|(pattern, folders)| {
            let fits = match pattern.strip_prefix('*') {
                Some(ending) => name.ends_with(ending),
                None if pattern.contains('/') => path == pattern,
                None => name == pattern,
            };
            fits && (is_folder || !folders)
        })
    }
}

/// What lies in a folder that a program may fill anew at any time, such as what cargo builds into.
const CACHE: &str = "CACHEDIR.TAG";

/// The path of every file below a folder that is part of its source: all but what its `.gitignore` leaves out, and folders
/// that say that they are a cache.
///
/// # Errors
/// When a folder cannot be listed, or a name is not UTF-8.
pub fn listed(root: &Path) -> io::Result<BTreeSet<String>> {
    let ignored = Ignored::of(&fs::read_to_string(root.join(".gitignore")).unwrap_or_default())?;
    let mut found = BTreeSet::new();
    let mut open = vec![String::new()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let odd = |name: std::ffi::OsString| io::Error::other(format!("{} is not UTF-8", name.display()));
            let name = entry.file_name().into_string().map_err(odd)?;
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            let kind = entry.file_type()?;
            if name == ".git" || ignored.has(&path, &name, kind.is_dir()) {
                continue;
            }
            if kind.is_dir() {
                if !entry.path().join(CACHE).is_file() {
                    open.push(path);
                }
            } else if kind.is_file() {
                found.insert(path);
            }
        }
    }
    Ok(found)
}

/// These files, each with whether it may be executed. What is no file, or none any more, is left out.
///
/// # Errors
/// When one cannot be read.
pub fn read(root: &Path, paths: &BTreeSet<String>) -> io::Result<BTreeMap<String, (bool, Vec<u8>)>> {
    let mut files = BTreeMap::new();
    for path in paths {
        let place = root.join(path);
        match fs::symlink_metadata(&place) {
            Ok(found) if found.is_file() => {
                let bytes = fs::read(&place)?;
                files.insert(path.clone(), (is_executable(&found, &bytes), bytes));
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(files)
}

#[cfg(unix)]
fn is_executable(found: &fs::Metadata, _: &[u8]) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    found.permissions().mode() & 0o100 != 0
}

/// Where a file has no such bit, a program is what names its interpreter.
#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata, bytes: &[u8]) -> bool {
    bytes.starts_with(b"#!/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_left_out_at_its_place_and_nothing_else_is() {
        let ignored =
            Ignored::of("# why\ntarget/\nnode_modules\n*.log\nui/made/\n").expect("it is understood");
        let out =
            |path: &str, is_folder| ignored.has(path, path.rsplit('/').next().unwrap_or_default(), is_folder);
        for (path, is_folder, wanted) in [
            ("target", true, true),
            ("a/target", true, true),
            ("a/target", false, false),
            ("node_modules", false, true),
            ("b/x.log", false, true),
            ("ui/made", true, true),
            ("a/ui/made", true, false),
            ("targets", true, false),
        ] {
            assert_eq!(out(path, is_folder), wanted, "{path}");
        }
        assert!(Ignored::of("!keep\n").is_err() && Ignored::of("a*b\n").is_err());
    }
}
