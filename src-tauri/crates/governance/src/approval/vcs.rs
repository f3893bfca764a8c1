//! The part of a card that shows a change of version control: which ref moves from where, every file, the whole message.

use super::card::{Line, LineKind, effect};
use super::visible::{visible, visible_path};
use model::vcs::VcsChange;

fn destructive(text: String) -> Line {
    Line { kind: LineKind::Destructive, text }
}

/// What would be made, and with what.
pub(super) fn lines(change: &VcsChange) -> Vec<Line> {
    match change {
        VcsChange::Name { name, at } => vec![
            effect(format!("make \"{}\" in version control, at commit {}", visible(name), visible(at))),
            effect("nothing may have that name yet; no file changes".to_owned()),
        ],
        VcsChange::Move { name, from, to, forward } => {
            let (name, from, to) = (visible(name), visible(from), visible(to));
            let text = format!("point \"{name}\" at commit {to}; it must still be at {from}");
            let rest = "no file changes; it is refused while it is checked out anywhere".to_owned();
            if *forward {
                let after = format!("{to} must come after {from}, so that no commit is left behind");
                return vec![effect(text), effect(after), effect(rest)];
            }
            let lost =
                format!("BY FORCE: what only \"{name}\" led to is left to git, which throws it away in time");
            vec![destructive(text), destructive(lost), effect(rest)]
        }
        VcsChange::Delete { name, at } => {
            let (name, at) = (visible(name), visible(at));
            vec![
                destructive(format!("DELETE \"{name}\" from version control; it must still be at {at}")),
                destructive("what only it led to is left to git, which throws it away in time".to_owned()),
                effect("no file changes; it is refused while it is checked out anywhere".to_owned()),
            ]
        }
        VcsChange::Commit { branch, prior, files, message } => {
            let from = match prior {
                Some(at) => format!("which must still be at {}", visible(at)),
                None => "which has no commit yet".to_owned(),
            };
            let mut lines: Vec<Line> = files
                .iter()
                .enumerate()
                .map(|(at, file)| {
                    let at = at.saturating_add(1);
                    let run = if file.executable { ", which may be run" } else { "" };
                    match file.sha256 {
                        Some(sha256) => effect(format!(
                            "file {at}: with {} as it is: sha256 {sha256}{run}",
                            visible_path(&file.path)
                        )),
                        None => destructive(format!(
                            "file {at}: WITHOUT {}, which is not there any more{run}",
                            visible_path(&file.path)
                        )),
                    }
                })
                .collect();
            lines.push(effect(format!("commit on \"{}\", {from}", visible(branch))));
            lines.push(effect(
                "every other file stays in it as it is there; no hook, filter or signature is run".to_owned(),
            ));
            lines.push(effect("the message is all of this:".to_owned()));
            lines.extend(message.split('\n').map(|line| effect(format!("    | {}", visible(line)))));
            lines
        }
    }
}
