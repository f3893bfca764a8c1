//! An act in a few words of its own, as it is shown beside a sentence that cites it.

use super::super::Deed;

/// What was done, from the record alone.
pub fn told_of(deed: &Deed) -> String {
    if !deed.argv.is_empty() {
        let ended = deed.exit_code.map(|code| format!(", exit code {code}")).unwrap_or_default();
        return format!("ran {}{ended}", deed.argv.join(" "));
    }
    let mut parts = Vec::new();
    let moved_to = |path: &str| deed.moved.iter().any(|(_, to)| to == path);
    let moved_from = |path: &str| deed.moved.iter().any(|(from, _)| from == path);
    let made = deed.made.iter().map(|left| left.path.as_str()).filter(|path| !moved_to(path));
    parts.extend(made.map(|path| format!("made {path}")));
    parts.extend(deed.changed.iter().map(|left| format!("changed {}", left.path)));
    parts.extend(deed.moved.iter().map(|(from, to)| format!("moved {from} to {to}")));
    let removed = deed.removed.iter().map(String::as_str).filter(|path| !moved_from(path));
    parts.extend(removed.map(|path| format!("removed {path}")));
    let words = if parts.is_empty() { deed.words.clone() } else { parts.join(", ") };
    if deed.succeeded { words } else { format!("not done: {words}") }
}
