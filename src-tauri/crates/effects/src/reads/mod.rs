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

#[cfg(test)]
mod tests {
    use super::*;
    use model::limits::PARALLEL_READS;
    use std::sync::Condvar;
    use std::time::Duration;

    /// How many of so many items were under way together: each waits until that many are, or until more would have come.
    fn most_together(items: usize, at_once: usize, wanted: usize, patience: Duration) -> usize {
        let (under_way, changed) = (Mutex::new((0_usize, 0_usize)), Condvar::new());
        let items: Vec<usize> = (0..items).collect();
        let answers = fan_out(&items, at_once, |item| {
            let mut now = under_way.lock().expect("nobody panics");
            now.0 += 1;
            now.1 = now.1.max(now.0);
            changed.notify_all();
            let (mut now, _) =
                changed.wait_timeout_while(now, patience, |now| now.1 < wanted).expect("nobody panics");
            now.0 -= 1;
            *item
        });
        assert_eq!(answers, items, "they are answered in their order");
        under_way.into_inner().expect("nobody panics").1
    }

    #[conforms::conforms(part = "HV-3.2-2")]
    #[test]
    fn items_of_a_look_are_read_together_up_to_the_limit_and_answered_in_their_order() {
        let (long, short) = (Duration::from_secs(20), Duration::from_millis(300));
        assert_eq!(PARALLEL_READS, 10);
        assert_eq!(most_together(12, PARALLEL_READS, 10, long), 10);
        for at_once in [1, 2, 3] {
            assert!(most_together(4, at_once, at_once, long) >= at_once, "{at_once} come together");
            assert!(most_together(4, at_once, at_once + 1, short) <= at_once, "and no more than {at_once}");
        }
    }
}
