//! Looking: lists, reads, searches, digests. Nothing here can change anything.

mod hash;
mod lines;
mod list;
pub(crate) mod read;
mod search;
pub(crate) mod walk;

use crate::change::scope::Scope;
use crate::{Error, Workspace};
use model::ResourceId;
use model::action::ReadItem;
use serde_json::{Value, json};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Canonical `{"results":[...]}` in the order of `items`, and why items failed.
pub(crate) fn observe(
    (workspace, redactor): (&Workspace, &redact::Shared),
    scope: &Scope<'_>,
    items: &[ReadItem],
    at_once: usize,
) -> (Vec<u8>, Vec<String>) {
    // One look may look at many files at once; several share what may be looked at.
    let each = if items.len() > 1 { 1 } else { at_once };
    let results = fan_out(items, at_once, |item| one((workspace, redactor), scope, item, each));
    let mut errors = Vec::new();
    let mut values = Vec::new();
    for (item, result) in items.iter().zip(results) {
        values.push(result.unwrap_or_else(|error| {
            errors.push(error.to_string());
            json!({"op": op(item), "path": acts::read_path(item).to_string(), "error": error.to_string()})
        }));
    }
    match seal::canon::canonical_value(&json!({ "results": values })) {
        Ok(bytes) => (bytes, errors),
        Err(error) => {
            errors.push(format!("what was seen has no canonical form: {error}"));
            (br#"{"results":[]}"#.to_vec(), errors)
        }
    }
}

fn one(
    (workspace, redactor): (&Workspace, &redact::Shared),
    scope: &Scope<'_>,
    item: &ReadItem,
    at_once: usize,
) -> Result<Value, Error> {
    scope.covers(&ResourceId::File(workspace.id(), acts::read_path(item).clone()))?;
    // Policy has asked about what is named; what is only met below a folder is left out.
    let names_secret = acts::sensitive_paths::names_secret(item);
    match item {
        ReadItem::List { path, recursive } => list::list(workspace, path, *recursive, names_secret),
        ReadItem::Read { path } => read::read(workspace, path),
        ReadItem::Search { path, pattern, glob } => {
            search::search((workspace, redactor.now()), path, pattern, glob.as_deref(), names_secret)
        }
        ReadItem::Lines { path, from, to } => lines::lines(workspace, path, *from, *to, &redactor.now()),
        ReadItem::Hash { path } => hash::hash(workspace, path, true, names_secret, at_once),
        ReadItem::HashFolder { path } => hash::hash(workspace, path, false, names_secret, at_once),
    }
}

const fn op(item: &ReadItem) -> &'static str {
    match item {
        ReadItem::List { .. } => "list",
        ReadItem::Read { .. } | ReadItem::Lines { .. } => "read",
        ReadItem::Search { .. } => "search",
        ReadItem::Hash { .. } | ReadItem::HashFolder { .. } => "hash",
    }
}

/// Applies `work` to every item, at most so many at once; answers in the order of the items.
pub(crate) fn fan_out<T: Sync, U: Send>(
    items: &[T],
    at_once: usize,
    work: impl Fn(&T) -> U + Sync,
) -> Vec<U> {
    if items.len() < 2 || at_once < 2 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let answers: Mutex<Vec<(usize, U)>> = Mutex::new(Vec::with_capacity(items.len()));
    std::thread::scope(|threads| {
        for _ in 0..items.len().min(at_once) {
            threads.spawn(|| {
                while let Some((at, item)) = take(items, &next) {
                    let answer = work(item);
                    answers.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((at, answer));
                }
            });
        }
    });
    let mut answers = answers.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    answers.sort_by_key(|(at, _)| *at);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

fn take<'a, T>(items: &'a [T], next: &AtomicUsize) -> Option<(usize, &'a T)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    items.get(at).map(|item| (at, item))
}
