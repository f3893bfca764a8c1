//! Files by name: which artifacts tell what stood in a file, found by the words of its name in the full-text index.

use crate::error::if_kept;
use crate::{Host, Wire as _, fold};
use acts::{Action, ActionRequest};
use model::action::{ChangeItem, Prior, ReadItem};
use model::event::EntityType;
use model::receipt::ResultCode;
use model::{
    ActionRequestId, ArtifactId, ReceiptId, RelPath, ResourceId, Sensitive, TaskId, UnixMs, WorkspaceId,
};
use projections::{Ask, Query};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use wire::{Error, Text};

/// Hits of one question that are looked at; a file that was read more often is recalled by what is newest.
const HITS_MAX: usize = 5_000;
/// A longer request is not read for a search.
const REQUEST_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Files of one task that a search tells by their names.
const NAMED_MAX: usize = 5;

/// Every workspace that a file may be in, and its name there.
pub(crate) fn within(host: &dyn Host, path: &Path) -> Result<Vec<(WorkspaceId, RelPath)>, Error> {
    let store = fold::store_state(&host.reader()?)?;
    let mut found = Vec::new();
    for (workspace, root) in &store.workspaces {
        let Some(root) = root.as_deref().and_then(|root| kernel::workspace::decode_root(root).ok()) else {
            continue;
        };
        let Ok(below) = path.strip_prefix(&root) else { continue };
        if let Ok(below) = RelPath::from_bytes(below.as_os_str().as_encoded_bytes()) {
            found.push((*workspace, below));
        }
    }
    Ok(found)
}

/// What tells what stood in a file.
pub(crate) struct OfFile {
    pub(crate) artifact_id: ArtifactId,
    pub(crate) task_id: TaskId,
    /// Where it stands there, as JSON pointers, when other files were looked at with it.
    pub(crate) at: BTreeSet<String>,
}

/// What was taken in, read, or kept of a file, the newest first.
pub(crate) fn of_file(host: &dyn Host, path: &Path) -> Result<Vec<OfFile>, Error> {
    let query = host.query()?;
    let taken_in = kernel::workspace::encode_root(path);
    let places = within(host, path)?;
    let mut names: BTreeSet<String> = places.iter().map(|(_, path)| path.to_string()).collect();
    names.extend(places.iter().map(|(_, path)| path.display_lossy()));
    names.insert(path.to_string_lossy().into_owned());
    names.insert(taken_in.clone());
    let resources: BTreeMap<String, &RelPath> =
        places.iter().map(|(id, path)| (ResourceId::File(*id, path.clone()).to_string(), path)).collect();
    let mut found = BTreeMap::new();
    for name in names {
        for (kind, id) in hits(&query, &name)? {
            match kind {
                EntityType::Artifact => {
                    let Ok(id) = id.parse::<ArtifactId>() else { continue };
                    let Some(row) = query.artifact(id).wire()? else { continue };
                    let says = |leaf: &Sensitive<String>| {
                        leaf.shown().is_some_and(|text| {
                            *text == taken_in
                                || resources.contains_key(text)
                                || text.strip_prefix("before ").is_some_and(|of| resources.contains_key(of))
                        })
                    };
                    if says(&row.uri) || row.alias.as_ref().is_some_and(says) {
                        found.insert(id, (row.task_id, BTreeSet::new()));
                    }
                }
                EntityType::ActionRequest => {
                    let Ok(id) = id.parse::<ActionRequestId>() else { continue };
                    let Some(row) = query.action(id).wire()? else { continue };
                    let Some(result) = row.result_ref else { continue };
                    if let Some(at) = looked_at(host, row.request_ref, &places)? {
                        found.insert(result, (row.task_id, at));
                    }
                }
                _ => {}
            }
        }
    }
    let of = |(artifact_id, (task_id, at))| OfFile { artifact_id, task_id, at };
    Ok(found.into_iter().rev().map(of).collect())
}

/// What to search for: a full path is searched for by its name in the folder that a task worked in.
pub(crate) fn words_of(host: &dyn Host, text: &str) -> Result<String, Error> {
    let path = Path::new(text.trim());
    if !path.is_absolute() {
        return Ok(text.to_owned());
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let below = within(host, path)?.first().map(|(_, below)| below.display_lossy());
    Ok(below.or(name).unwrap_or_else(|| text.to_owned()))
}

/// What was hit by the words of a name, each thing once.
fn hits(query: &Query, name: &str) -> Result<Vec<(EntityType, String)>, Error> {
    let (mut found, mut ask) = (Vec::new(), Ask::ALL);
    let mut seen = BTreeSet::new();
    // A name without a word in it is nowhere in the index.
    if !name.chars().any(char::is_alphanumeric) {
        return Ok(found);
    }
    loop {
        let page = query.search(name, ask).wire()?;
        for hit in page.rows {
            if seen.insert(hit.id.clone()) {
                found.push((hit.kind, hit.id));
            }
        }
        match page.next {
            Some(next) if found.len() < HITS_MAX => ask = Ask::ALL.after(Some(next)),
            _ => return Ok(found),
        }
    }
}

/// Where among its results a request that looked into the file tells of it; nowhere in particular where it looked at nothing else,
/// and none for one that did not look there.
fn looked_at(
    host: &dyn Host,
    request: ArtifactId,
    places: &[(WorkspaceId, RelPath)],
) -> Result<Option<BTreeSet<String>>, Error> {
    let Some(row) = host.query()?.artifact(request).wire()? else { return Ok(None) };
    let Some(bytes) = if_kept(host.artifacts()?.read(&row.content_hash))? else { return Ok(None) };
    let Ok(request) = serde_json::from_slice::<ActionRequest>(&bytes) else { return Ok(None) };
    let Action::Observe(acts::Observe { items }) = &request.action else { return Ok(None) };
    let within = |resource: &ResourceId| match resource {
        ResourceId::File(workspace, _) => places.iter().any(|(id, _)| id == workspace),
        _ => false,
    };
    let is_it = |item: &ReadItem| match item {
        ReadItem::Read { path } | ReadItem::Lines { path, .. } | ReadItem::Hash { path } => {
            places.iter().any(|(_, file)| file == path)
        }
        ReadItem::List { .. } | ReadItem::Search { .. } | ReadItem::HashFolder { .. } => false,
    };
    if !request.target_resources.iter().any(within) || !items.iter().any(is_it) {
        return Ok(None);
    }
    if items.len() == 1 {
        return Ok(Some(BTreeSet::new()));
    }
    // Results stand in the order of what was asked for.
    let at = items.iter().zip(0_u32..).filter(|(item, _)| is_it(item)).map(|(_, n)| format!("/results/{n}"));
    Ok(Some(at.collect()))
}

/// A file that a receipt tells of, by its name.
pub(crate) struct ChangedFile {
    pub(crate) receipt_id: ReceiptId,
    pub(crate) at: UnixMs,
    /// What became of it, in words.
    pub(crate) told: String,
}

/// Files in whose name all words stand, and that acts of a task changed; the newest act first.
pub(crate) fn changed(host: &dyn Host, task: TaskId, words: &str) -> Result<Vec<ChangedFile>, Error> {
    let words: Vec<String> = words
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
        .map(str::to_lowercase)
        .collect();
    let (query, mut found) = (host.query()?, Vec::new());
    for act in query.actions(Some(task), None, Ask::ALL).wire()?.rows {
        // What failed, or was done in part, is told by its receipt alone: nothing here may say more than was done.
        let (Some(receipt_id), Some(ResultCode::Succeeded)) = (act.receipt_id, act.result_code) else {
            continue;
        };
        let Some(request) = query.artifact(act.request_ref).wire()? else { continue };
        // The change of a hundred thousand files is looked up by its receipt, and not read for every search.
        if request.byte_size > REQUEST_BYTES_MAX {
            continue;
        }
        let Some(bytes) = if_kept(host.artifacts()?.read(&request.content_hash))? else { continue };
        let Ok(request) = serde_json::from_slice::<ActionRequest>(&bytes) else { continue };
        let named = |item: &&ChangeItem| {
            acts::changed_paths(item).any(|path| {
                let name = path.display_lossy().to_lowercase();
                words.iter().all(|word| name.contains(word.as_str()))
            })
        };
        let told = |item: &ChangeItem| ChangedFile { receipt_id, at: act.requested_at, told: in_words(item) };
        found.extend(request.items().iter().filter(named).take(NAMED_MAX).map(told));
        if found.len() >= NAMED_MAX {
            break;
        }
    }
    found.truncate(NAMED_MAX);
    Ok(found)
}

fn in_words(item: &ChangeItem) -> String {
    let name = acts::place;
    match item {
        ChangeItem::Move { from, to, .. } => format!("{}, moved to {}", name(from), name(to)),
        ChangeItem::Delete { path, .. } => format!("{}, deleted", name(path)),
        ChangeItem::Write { path, prior: Prior::Absent, .. } => format!("{}, created", name(path)),
        ChangeItem::Write { path, .. } => format!("{}, changed", name(path)),
        ChangeItem::Folder { path, .. } | ChangeItem::Link { path, .. } => name(path),
    }
}

/// A name of a place as a person reads it: without percent signs, and what would not be seen is shown.
pub(crate) fn visible(text: &str) -> String {
    let (before, name) = text.strip_prefix("before ").map_or(("", text), |name| ("before ", name));
    if let Ok(ResourceId::File(_, path)) = name.parse::<ResourceId>() {
        return format!("{before}{}", acts::visible_path(&path));
    }
    match kernel::workspace::decode_root(name) {
        Ok(path) if name.starts_with('/') => format!("{before}{}", path.display()),
        _ => text.to_owned(),
    }
}

/// The same for a leaf.
pub(crate) fn visible_text(leaf: &Sensitive<String>) -> Text {
    match leaf {
        Sensitive::Shown(text) => Text::Shown(visible(text)),
        Sensitive::Erased(digest) => Text::Erased { erased: digest.to_string() },
    }
}
