//! Entries of a folder.

use super::walk::{Secrets, unread_json, walk};
use crate::{Error, Workspace};
use model::RelPath;
use model::limits::LIST_ENTRIES_MAX;
use serde_json::{Value, json};

pub(crate) fn list(
    workspace: &Workspace,
    path: &RelPath,
    recursive: bool,
    names_secret: bool,
) -> Result<Value, Error> {
    let mut found = walk(workspace, path, recursive, LIST_ENTRIES_MAX)?;
    if !names_secret {
        found.without_secrets(Secrets::Named);
    }
    let entries: Vec<Value> = found
        .entries
        .iter()
        .map(|entry| {
            json!({
                "path": entry.path.to_string(),
                "kind": entry.stat.kind.name(),
                "byte_size": entry.stat.byte_size,
                "modified_ms": entry.stat.modified_ms(),
            })
        })
        .collect();
    let mut value = json!({
        "op": "list",
        "path": path.to_string(),
        "entries": entries,
        "cut": found.cut,
        "unreadable": unread_json(&found.unread),
    });
    if let (true, Some(object)) = (found.cut, value.as_object_mut()) {
        let advice = format!("only {LIST_ENTRIES_MAX} entries are given; list the folders inside one by one");
        object.insert("advice".to_owned(), Value::String(advice));
    }
    Ok(value)
}
