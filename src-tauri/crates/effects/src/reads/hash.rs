//! SHA-256 of files below a path.

use super::fan_out;
use super::walk::{Secrets, Unread, unread_json, walk};
use crate::workspace::entry::Kind;
use crate::{Error, HASH_ENTRIES_MAX, Workspace};
use model::RelPath;
use serde_json::{Value, json};

/// Of a folder with all folders inside it when it is `deep`, else of its own files alone.
pub(crate) fn hash(
    workspace: &Workspace,
    path: &RelPath,
    deep: bool,
    names_secret: bool,
    at_once: usize,
) -> Result<Value, Error> {
    let mut files = vec![path.clone()];
    let mut unread = Vec::new();
    let mut cut = false;
    let mut links = Vec::new();
    if workspace.stat(path)?.kind == Kind::Folder {
        let mut found = walk(workspace, path, deep, HASH_ENTRIES_MAX)?;
        if !names_secret {
            found.without_secrets(Secrets::Unread);
        }
        unread = found.unread;
        cut = found.cut;
        files.clear();
        for entry in found.entries {
            match entry.stat.kind {
                Kind::File => files.push(entry.path),
                Kind::Folder => {}
                kind => links.push(json!({"path": entry.path.to_string(), "kind": kind.name()})),
            }
        }
    }
    let mut entries = Vec::new();
    for (file, result) in files.iter().zip(fan_out(&files, at_once, |file| one(workspace, file))) {
        match result {
            Ok(value) => entries.push(value),
            Err(error) if file == path => return Err(error),
            Err(error) => unread.push(Unread { path: file.clone(), reason: error.to_string() }),
        }
    }
    let mut value = json!({
        "op": "hash",
        "path": path.to_string(),
        "entries": entries,
        "cut": cut,
        "not_files": links,
        "unreadable": unread_json(&unread),
    });
    if let (false, Some(object)) = (deep, value.as_object_mut()) {
        object.insert("own_files".to_owned(), Value::Bool(true));
    }
    Ok(value)
}

fn one(workspace: &Workspace, path: &RelPath) -> Result<Value, Error> {
    let (mut file, _) = workspace.parent(path)?.open_file(path.file_name(), path)?;
    let (sha256, byte_size) = disk::digest(&mut file).map_err(|e| Error::io("reading", path, e))?;
    Ok(json!({"path": path.to_string(), "sha256": sha256.to_string(), "byte_size": byte_size}))
}
