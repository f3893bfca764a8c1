//! What policy says, in words for a person.

use crate::approval::{visible, visible_path};
use model::action::{Action, ChangeItem, Prior, ReadItem};
use model::policy::Verdict;
use std::collections::BTreeSet;

/// `1 file`, `2 files`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// The action in one line, what destroys first. Nothing in it can hide: see [`visible`].
pub fn summary(action: &Action) -> String {
    match action {
        Action::Observe { items } => match items.as_slice() {
            [ReadItem::Read { path }] => format!("read {}", visible_path(path)),
            [ReadItem::List { path, .. }] => format!("list {}", visible_path(path)),
            items => format!("look at {}", count(items.len(), "place")),
        },
        Action::Change { items } => changes(items),
        Action::Command { argv, network, hosts, .. } => {
            let words: Vec<String> = argv.iter().map(|word| format!("\"{}\"", visible(word))).collect();
            let network = match (network, hosts.as_slice()) {
                (false, _) => String::new(),
                (true, []) => " with the network".to_owned(),
                (true, hosts) => format!(" with the network: {}", visible(&hosts.join(", "))),
            };
            format!("run {}{network}", words.join(" "))
        }
        Action::Remember { claim, .. } => format!("remember \"{}\"", visible(claim)),
        Action::Rollback { receipt_id, items, left, .. } => {
            let (many, stays) = (action.undoes().len(), left.len());
            let what =
                if many > 1 { format!("undo {many} receipts") } else { format!("undo `{receipt_id}`") };
            let rest = if stays > 0 { format!(", leave {}", count(stays, "place")) } else { String::new() };
            format!("{what}: {}{rest}", changes(items))
        }
    }
}

fn changes(items: &[ChangeItem]) -> String {
    let number = |kind: fn(&ChangeItem) -> bool| items.iter().filter(|item| kind(item)).count();
    let deletes = number(|item| matches!(item, ChangeItem::Delete { .. }));
    let overwrites = number(|item| match item {
        ChangeItem::Write { prior, .. } | ChangeItem::Link { prior, .. } => *prior != Prior::Absent,
        ChangeItem::Delete { .. } | ChangeItem::Move { .. } | ChangeItem::Folder { .. } => false,
    });
    let moves = number(|item| matches!(item, ChangeItem::Move { .. }));
    let creates = number(|item| match item {
        ChangeItem::Write { prior, .. } | ChangeItem::Link { prior, .. } => *prior == Prior::Absent,
        ChangeItem::Folder { .. } => true,
        ChangeItem::Delete { .. } | ChangeItem::Move { .. } => false,
    });
    let parts: Vec<String> =
        [("delete", deletes), ("overwrite", overwrites), ("move", moves), ("create", creates)]
            .into_iter()
            .filter(|(_, number)| *number > 0)
            .map(|(verb, number)| format!("{verb} {}", count(number, "file")))
            .collect();
    if parts.is_empty() { "change nothing".to_owned() } else { parts.join(", ") }
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
