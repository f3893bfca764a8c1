//! Choosing among entries. The filters apply in the order of their description in `PLAYBOOKS.md`.

use super::entry::Entry;
use super::pattern::{glob, path, regex};
use super::schema::{Join, Selection, Set, Sort};
use super::scope::Scope;
use super::template::Template;
use super::value::Value;
use std::collections::BTreeMap;

const DAY_MS: i64 = 86_400_000;

/// The chosen entries, in their order.
///
/// # Errors
/// A glob, expression, path or number that is none.
pub fn select(by: &Selection, scope: &Scope<'_>) -> Result<Vec<Entry>, String> {
    let mut entries = observed(by, scope)?;
    entries = by_age(entries, by, scope)?;
    if let Some(capture) = &by.capture {
        entries = captured(entries, &capture.text, &regex(&capture.pattern.text(scope))?, scope);
    }
    for join in &by.join.0 {
        entries = joined(entries, join, scope, None);
    }
    for join in &by.with.0 {
        entries = joined(entries, join, scope, Some(true));
    }
    for join in &by.without.0 {
        entries = joined(entries, join, scope, Some(false));
    }
    let mut chosen = Vec::with_capacity(entries.len());
    for mut entry in entries {
        apply_sets(&by.set, &mut entry, scope)?;
        if scope.at(&entry).holds(by.condition.as_ref())? {
            chosen.push(entry);
        }
    }
    if let Some(field) = &by.later_duplicates {
        chosen = later_duplicates(chosen, field, scope);
    }
    sort(&mut chosen, by.sort);
    chosen.truncate(by.limit.unwrap_or(usize::MAX));
    Ok(chosen)
}

/// Filters over what was observed of one entry alone.
fn observed(by: &Selection, scope: &Scope<'_>) -> Result<Vec<Entry>, String> {
    let paths = |list: &[Template]| -> Result<Vec<model::RelPath>, String> {
        list.iter().map(|t| path(t.value(scope).bytes())).collect()
    };
    let globs =
        |list: &[Template]| -> Result<Vec<_>, String> { list.iter().map(|t| glob(&t.text(scope))).collect() };
    let (inside, outside) = (paths(&by.inside.0)?, paths(&by.outside.0)?);
    let (wanted, unwanted) = (globs(&by.glob.0)?, globs(&by.not_glob.0)?);
    let within = |entry: &Entry, list: &[model::RelPath]| {
        model::RelPath::from_bytes(&entry.path).is_ok_and(|p| list.iter().any(|folder| p.is_within(folder)))
    };
    let keep = |entry: &&Entry| {
        let size = entry.size.unwrap_or(0);
        (by.kind.0.is_empty() || entry.kind.is_none_or(|kind| by.kind.0.contains(&kind)))
            && by.hidden.is_none_or(|hidden| entry.is_hidden() == hidden)
            && (inside.is_empty() || within(entry, &inside))
            && !within(entry, &outside)
            && (wanted.is_empty() || wanted.iter().any(|g| g.matches(&entry.path, entry.name())))
            && !unwanted.iter().any(|g| g.matches(&entry.path, entry.name()))
            && (by.extension.0.is_empty() || by.extension.0.contains(&entry.extension()))
            && (by.category.0.is_empty() || by.category.0.contains(&entry.category(scope.categories)))
            && by.size_at_least.is_none_or(|least| size >= least)
            && by.size_at_most.is_none_or(|most| size <= most)
    };
    Ok(scope.set(&by.from).iter().filter(keep).cloned().collect())
}

/// Age is counted back from the newest entry at hand: a playbook has no clock.
fn by_age(entries: Vec<Entry>, by: &Selection, scope: &Scope<'_>) -> Result<Vec<Entry>, String> {
    let days = |template: &Option<Template>| -> Result<Option<i64>, String> {
        let Some(template) = template else { return Ok(None) };
        let text = template.text(scope);
        let days: u32 = text.trim().parse().map_err(|_| format!("`{text}` is not a number of days"))?;
        Ok(Some(i64::from(days).saturating_mul(DAY_MS)))
    };
    let (newer, older) = (days(&by.newer_than_days)?, days(&by.older_than_days)?);
    let newest = entries.iter().filter_map(|e| e.modified_ms).max().unwrap_or(0);
    let age = |entry: &Entry| entry.modified_ms.map_or(i64::MAX, |ms| newest.saturating_sub(ms));
    let keep =
        |entry: &Entry| newer.is_none_or(|ms| age(entry) <= ms) && older.is_none_or(|ms| age(entry) > ms);
    Ok(entries.into_iter().filter(keep).collect())
}

fn captured(entries: Vec<Entry>, text: &Template, by: &regex::bytes::Regex, scope: &Scope<'_>) -> Vec<Entry> {
    let one = |mut entry: Entry| {
        let value = text.value(&scope.at(&entry));
        let found = by.captures(value.bytes())?;
        for name in by.capture_names().flatten() {
            let bytes = found.name(name).map_or(&[][..], |m| m.as_bytes());
            entry.extra.insert(name.to_owned(), like(&value, bytes.to_vec()));
        }
        Some(entry)
    };
    entries.into_iter().filter_map(one).collect()
}

/// Bytes taken out of a value are of its kind.
fn like(value: &Value, bytes: Vec<u8>) -> Value {
    match (value, String::from_utf8(bytes)) {
        (Value::Text(_), Ok(text)) => Value::Text(text),
        (_, Ok(text)) => Value::Raw(text.into_bytes()),
        (_, Err(error)) => Value::Raw(error.into_bytes()),
    }
}

fn joined(entries: Vec<Entry>, join: &Join, scope: &Scope<'_>, wanted: Option<bool>) -> Vec<Entry> {
    let key = |entry: &Entry| entry.field(&join.by, scope.categories).map(|v| v.bytes().to_vec());
    let mut partners: BTreeMap<Vec<u8>, &Entry> = BTreeMap::new();
    for entry in scope.set(&join.set) {
        if let Some(key) = key(entry) {
            partners.entry(key).or_insert(entry);
        }
    }
    let one = |mut entry: Entry| {
        let partner = key(&entry).and_then(|key| partners.get(&key).copied());
        if wanted.is_some_and(|wanted| wanted != partner.is_some()) {
            return None;
        }
        if let Some(partner) = partner {
            entry.joined.push((join.prefix.clone().unwrap_or_default(), partner.clone()));
        }
        Some(entry)
    };
    entries.into_iter().filter_map(one).collect()
}

/// Gives an entry its own names, one after another; a later rule sees what an earlier one set.
///
/// # Errors
/// A pattern that is no regular expression.
pub fn apply_sets(sets: &[Set], entry: &mut Entry, scope: &Scope<'_>) -> Result<(), String> {
    for set in sets {
        let here = scope.at(entry);
        if !here.holds(set.when.as_ref())? {
            continue;
        }
        let value = match (&set.value, &set.replace) {
            (Some(value), _) => value.value(&here),
            (None, Some(replace)) => {
                let text = replace.text.value(&here);
                let with = replace.with.value(&here);
                let out =
                    regex(&replace.pattern.text(&here))?.replace_all(text.bytes(), with.bytes()).into_owned();
                like(&text, out)
            }
            (None, None) => continue,
        };
        entry.extra.insert(set.name.clone(), value);
    }
    Ok(())
}

/// Of each group with the same value, all but the oldest, which they name as `kept`.
fn later_duplicates(mut entries: Vec<Entry>, field: &str, scope: &Scope<'_>) -> Vec<Entry> {
    entries.sort_by(|a, b| {
        (a.modified_ms.unwrap_or(i64::MAX), &a.path).cmp(&(b.modified_ms.unwrap_or(i64::MAX), &b.path))
    });
    let mut oldest: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    let mut later = Vec::new();
    for mut entry in entries {
        let Some(key) = entry.field(field, scope.categories).map(|v| v.bytes().to_vec()) else { continue };
        match oldest.get(&key) {
            None => {
                oldest.insert(key, entry.path);
            }
            Some(kept) => {
                entry.extra.insert("kept".to_owned(), Value::Raw(kept.clone()));
                later.push(entry);
            }
        }
    }
    later.sort_by(|a, b| a.path.cmp(&b.path));
    later
}

fn sort(entries: &mut [Entry], by: Option<Sort>) {
    match by {
        None => {}
        Some(Sort::Path) => entries.sort_by(|a, b| a.path.cmp(&b.path)),
        Some(Sort::Size) => entries.sort_by(|a, b| (a.size, &a.path).cmp(&(b.size, &b.path))),
        Some(Sort::Largest) => entries.sort_by(|a, b| b.size.cmp(&a.size).then_with(|| a.path.cmp(&b.path))),
        Some(Sort::Modified) => {
            entries.sort_by(|a, b| (a.modified_ms, &a.path).cmp(&(b.modified_ms, &b.path)))
        }
        Some(Sort::Newest) => {
            entries.sort_by(|a, b| b.modified_ms.cmp(&a.modified_ms).then_with(|| a.path.cmp(&b.path)));
        }
    }
}
