//! Files that a guest asks for: those of its folder, whatever links lead elsewhere.

use serde_json::Value;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Bytes of a file that is read for it.
const READ_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Where a path of the guest's leads, when that is in its folder.
///
/// # Errors
/// In words, when it is elsewhere.
pub fn inside(root: &Path, path: &str) -> Result<PathBuf, String> {
    let asked = Path::new(path);
    let outside =
        || format!("`{path}` is outside of the folder that this task is about, `{}`", root.display());
    if !asked.is_absolute() {
        return Err(format!("`{path}` is no absolute path"));
    }
    if asked.components().any(|part| part == Component::ParentDir) {
        return Err(format!("`{path}` goes up by `..`; name it directly"));
    }
    // Links are followed as far as there is anything.
    let (mut there, mut rest) = (asked, Vec::new());
    let real = loop {
        match there.canonicalize() {
            Ok(real) => break real,
            Err(_) if fs::symlink_metadata(there).is_ok() => return Err(format!("`{path}` leads nowhere")),
            Err(_) => match (there.parent(), there.file_name()) {
                (Some(parent), Some(name)) => {
                    rest.push(name);
                    there = parent;
                }
                _ => return Err(outside()),
            },
        }
    };
    let root = root.canonicalize().map_err(|e| e.to_string())?;
    let real = rest.iter().rev().fold(real, |at, name| at.join(name));
    if real == root || !real.starts_with(&root) { Err(outside()) } else { Ok(real) }
}

/// The text of a file, from a line on and so many of them.
///
/// # Errors
/// In words.
pub fn read(root: &Path, params: &Value) -> Result<String, String> {
    let path = path_of(params)?;
    let at = inside(root, path)?;
    let found = fs::metadata(&at).map_err(|e| format!("`{path}` cannot be read: {e}"))?;
    if !found.is_file() {
        return Err(format!("`{path}` is no file"));
    }
    if found.len() > READ_BYTES_MAX {
        return Err(format!("`{path}` is {} bytes, more than {READ_BYTES_MAX}", found.len()));
    }
    let bytes = fs::read(&at).map_err(|e| format!("`{path}` cannot be read: {e}"))?;
    let text = String::from_utf8(bytes).map_err(|_| format!("`{path}` is no text"))?;
    let number = |name: &str| {
        params.get(name).and_then(Value::as_u64).map(|n| usize::try_from(n).unwrap_or(usize::MAX))
    };
    Ok(match (number("line"), number("limit")) {
        (None, None) => text,
        (line, limit) => {
            let lines = text.split_inclusive('\n').skip(line.unwrap_or(1).saturating_sub(1));
            lines.take(limit.unwrap_or(usize::MAX)).collect()
        }
    })
}

/// Writes a file, and the folders above it; the path as it was asked for, and its bytes.
///
/// # Errors
/// In words.
pub fn write(root: &Path, params: &Value) -> Result<(String, usize), String> {
    let path = path_of(params)?;
    let content = params.get("content").and_then(Value::as_str).ok_or("there is no `content` to write")?;
    let at = inside(root, path)?;
    let failed = |e: std::io::Error| format!("`{path}` cannot be written: {e}");
    if let Some(folder) = at.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(&at, content).map_err(failed)?;
    Ok((path.to_owned(), content.len()))
}

fn path_of(params: &Value) -> Result<&str, String> {
    params.get("path").and_then(Value::as_str).ok_or_else(|| "there is no `path`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn files_of_the_folder_are_read_and_written_and_no_others_whatever_leads_there() {
        let (folder, beside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (root, secret) = (folder.path(), beside.path().join("secret"));
        fs::write(&secret, "no").unwrap();
        std::os::unix::fs::symlink(beside.path(), root.join("way")).unwrap();
        std::os::unix::fs::symlink(root.join("gone"), root.join("nowhere")).unwrap();
        let at = |name: &str| root.join(name).display().to_string();
        let (path, bytes) = write(root, &json!({ "path": at("new/a.txt"), "content": "1\n2\n3\n" })).unwrap();
        assert_eq!((path, bytes), (at("new/a.txt"), 6));
        assert_eq!(read(root, &json!({ "path": at("new/a.txt") })).unwrap(), "1\n2\n3\n");
        assert_eq!(read(root, &json!({ "path": at("new/a.txt"), "line": 2, "limit": 1 })).unwrap(), "2\n");
        for path in [
            secret.display().to_string(),
            at("way/secret"),
            at("way/new"),
            at("nowhere"),
            at("new/../../x"),
            root.display().to_string(),
            "a.txt".to_owned(),
        ] {
            let why = write(root, &json!({ "path": path, "content": "x" })).unwrap_err();
            assert!(read(root, &json!({ "path": path })).is_err(), "{path}");
            assert!(
                why.contains("outside")
                    || why.contains("absolute")
                    || why.contains("nowhere")
                    || why.contains(".."),
                "{why}"
            );
        }
        assert_eq!(fs::read_to_string(&secret).unwrap(), "no");
        fs::write(root.join("bytes"), [0xff]).unwrap();
        assert!(read(root, &json!({ "path": at("bytes") })).unwrap_err().contains("no text"));
        assert!(read(root, &json!({ "path": at("new") })).unwrap_err().contains("no file"));
        assert!(read(root, &json!({})).is_err());
    }
}
