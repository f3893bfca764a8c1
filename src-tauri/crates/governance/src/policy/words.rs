//! What policy says, in words for a person.

use crate::approval::{visible, visible_path};
use acts::Action;
use model::action::{ChangeItem, Prior, ReadItem};
use model::policy::Verdict;
use model::vcs::VcsChange;
use std::collections::BTreeSet;

/// `1 file`, `2 files`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// The action in one line, what destroys first. Nothing in it can hide: see [`visible`].
pub fn summary(action: &Action) -> String {
    match action {
        Action::Observe(acts::Observe { items }) => match items.as_slice() {
            [ReadItem::Read { path }] => format!("read {}", visible_path(path)),
            [ReadItem::List { path, .. }] => format!("list {}", visible_path(path)),
            items => format!("look at {}", count(items.len(), "place")),
        },
        Action::Change(acts::Change { items }) => changes(items),
        Action::Command(acts::Command { argv, network, hosts, .. }) => {
            let words: Vec<String> = argv.iter().map(|word| format!("\"{}\"", visible(word))).collect();
            let network = match (network, hosts.as_slice()) {
                (false, _) => String::new(),
                (true, []) => " with the network".to_owned(),
                (true, hosts) => format!(" with the network: {}", visible(&hosts.join(", "))),
            };
            format!("run {}{network}", words.join(" "))
        }
        Action::Fetch(fetch) => {
            let send = if fetch.method.changes() { "send" } else { "fetch" };
            let with = match fetch.secrets().as_slice() {
                [] => String::new(),
                some => format!(" with `secret:{}`", visible(&some.join("`, `secret:"))),
            };
            format!("{send} {} {}{with}", fetch.method, visible(&fetch.url.to_string()))
        }
        Action::Vcs(acts::Vcs { change }) => match change {
            VcsChange::Name { name, .. } => format!("make \"{}\" in version control", visible(name)),
            VcsChange::Move { name, to, forward, .. } => {
                let how = if *forward { "move" } else { "move by force" };
                format!("{how} \"{}\" in version control to {}", visible(name), visible(to))
            }
            VcsChange::Delete { name, .. } => format!("delete \"{}\" in version control", visible(name)),
            VcsChange::Commit { branch, files, message, .. } => {
                let first = visible(message.lines().next().unwrap_or_default());
                format!("commit {} on \"{}\": \"{first}\"", count(files.len(), "file"), visible(branch))
            }
        },
        Action::Remember(acts::Remember { claim, .. }) => format!("remember \"{}\"", visible(claim)),
        Action::Rollback(acts::Rollback { items, left, .. }) => {
            let (many, stays) = (action.undoes().len(), left.len());
            let what = format!("undo {}", count(many.max(1), "receipt"));
            let rest = if stays > 0 { format!(", leave {}", count(stays, "place")) } else { String::new() };
            format!("{what}: {}{rest}", changes(items))
        }
    }
}

fn changes(items: &[ChangeItem]) -> String {
    const VERBS: [&str; 5] = ["delete", "overwrite", "move", "change the mode of", "create"];
    const NOUNS: [&str; 3] = ["file", "folder", "link"];
    let told: Vec<_> = items.iter().map(told).collect();
    let number = |verb: &str, noun: &str| told.iter().filter(|one| **one == (verb, noun)).count();
    let parts: Vec<String> = VERBS
        .iter()
        .flat_map(|verb| NOUNS.iter().map(move |noun| (*verb, *noun)))
        .map(|(verb, noun)| (verb, noun, number(verb, noun)))
        .filter(|(.., number)| *number > 0)
        .map(|(verb, noun, number)| format!("{verb} {}", count(number, noun)))
        .collect();
    if parts.is_empty() { "change nothing".to_owned() } else { parts.join(", ") }
}

/// What an item does, and to what.
const fn told(item: &ChangeItem) -> (&'static str, &'static str) {
    match item {
        ChangeItem::Delete { prior, .. } => ("delete", thing(prior)),
        ChangeItem::Move { prior, .. } => ("move", thing(prior)),
        ChangeItem::Write { prior: Prior::Absent, .. } => ("create", "file"),
        ChangeItem::Link { prior: Prior::Absent, .. } => ("create", "link"),
        ChangeItem::Folder { was: None, .. } => ("create", "folder"),
        ChangeItem::Folder { was: Some(_), .. } => ("change the mode of", "folder"),
        ChangeItem::Write { prior, .. } | ChangeItem::Link { prior, .. } => ("overwrite", thing(prior)),
    }
}

const fn thing(prior: &Prior) -> &'static str {
    match prior {
        Prior::Absent | Prior::Sha256(_) => "file",
        Prior::EmptyFolder => "folder",
        Prior::Link(_) => "link",
    }
}

/// Why, in one line.
pub(crate) fn reasoning(verdict: Verdict, reasons: &BTreeSet<String>) -> String {
    let lead = match verdict {
        Verdict::Allow => "allowed",
        Verdict::RequireApproval => "a person must agree",
        Verdict::Deny => "denied",
        Verdict::Downgrade => "allowed only in a lesser form",
    };
    let why: Vec<&str> = reasons.iter().map(String::as_str).collect();
    format!("{lead}: {}", why.join("; "))
}
