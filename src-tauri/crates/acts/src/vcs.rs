//! Changing version control.

use crate::{Action, ActionRequest, Counts, Line, Observe, Tool, count, visible, visible_path};
use model::action::{ActionClass, ExpectedEffect, ReadItem, Reversibility};
use model::artifact::TrustTier;
use model::grant::FilesystemScope;
use model::receipt::{ReceiptClass, ResultCode};
use model::vcs::{Tracked, VcsChange};
use model::witness::Fingerprint;
use model::{RelPath, ResourceId, WorkspaceId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A change of version control: a commit, or one branch or tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vcs {
    /// Which change.
    pub change: VcsChange,
}

impl Tool for Vcs {
    fn classes(&self) -> BTreeSet<ActionClass> {
        let loses = self.change.loses().then_some(ActionClass::DeleteLocal);
        [ActionClass::VcsMutation].into_iter().chain(loses).collect()
    }

    fn resources(&self, workspace: WorkspaceId) -> BTreeSet<ResourceId> {
        let files = self.change.files().iter();
        let files = files.map(|tracked| ResourceId::File(workspace, tracked.path.clone()));
        files.chain([ResourceId::Ref(workspace, self.change.moves().to_owned())]).collect()
    }

    fn check(&self) -> Result<(), String> {
        self.change.check()
    }

    /// What is committed is read; a key among it would be in every clone.
    fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.change.files().iter().for_each(|tracked| counts.add_path(&tracked.path));
        counts.deletes += i64::from(self.change.loses());
        counts.lost += i64::from(self.change.loses());
        counts
    }

    fn reversibility(&self) -> Reversibility {
        Reversibility::Reversible
    }

    fn reversibility_without_changes(&self, _: &ActionRequest, _: ResultCode) -> Reversibility {
        Reversibility::NoEffect
    }

    fn receipt_class(&self) -> ReceiptClass {
        ReceiptClass::CommandExecution
    }

    fn filesystem_scope(&self) -> FilesystemScope {
        FilesystemScope::Lease
    }

    fn trust(&self) -> TrustTier {
        TrustTier::Observed
    }

    fn title(&self) -> String {
        match &self.change {
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
        }
    }

    fn one_line(&self) -> String {
        in_words(&self.change)
    }

    fn lines(&self, _: &ActionRequest) -> Vec<Line> {
        lines(&self.change)
    }

    fn details(&self) -> Vec<String> {
        let files = self.change.files().iter().zip(1..);
        let known = |(file, at): (&Tracked, usize)| {
            file.sha256.map(|sha256| format!("file {at}, {}: sha256 {sha256}", visible_path(&file.path)))
        };
        files.filter_map(known).collect()
    }

    fn expected(&self, workspace: WorkspaceId, _: &[Fingerprint]) -> Vec<ExpectedEffect> {
        vec![expected(workspace, &self.change)]
    }

    fn look_instead(&self, _: &dyn Fn(&RelPath) -> bool) -> Option<Action> {
        Some(Action::Observe(Observe { items: committed(&self.change) }))
    }

    fn can_be_draft(&self) -> bool {
        true
    }
}

/// What would be made, and with what.
fn lines(change: &VcsChange) -> Vec<Line> {
    match change {
        VcsChange::Name { name, at } => vec![
            Line::effect(format!("make \"{}\" in version control, at commit {}", visible(name), visible(at))),
            Line::effect("nothing may have that name yet; no file changes".to_owned()),
        ],
        VcsChange::Move { name, from, to, forward } => {
            let (name, from, to) = (visible(name), visible(from), visible(to));
            let text = format!("point \"{name}\" at commit {to}; it must still be at {from}");
            let rest = "no file changes; it is refused while it is checked out anywhere".to_owned();
            if *forward {
                let after = format!("{to} must come after {from}, so that no commit is left behind");
                return vec![Line::effect(text), Line::effect(after), Line::effect(rest)];
            }
            let lost =
                format!("BY FORCE: what only \"{name}\" led to is left to git, which throws it away in time");
            vec![Line::destructive(text), Line::destructive(lost), Line::effect(rest)]
        }
        VcsChange::Delete { name, at } => {
            let (name, at) = (visible(name), visible(at));
            vec![
                Line::destructive(format!(
                    "DELETE \"{name}\" from version control; it must still be at {at}"
                )),
                Line::destructive(
                    "what only it led to is left to git, which throws it away in time".to_owned(),
                ),
                Line::effect("no file changes; it is refused while it is checked out anywhere".to_owned()),
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
                        Some(_) => Line::effect(format!(
                            "file {at}: with {} as it is{run}",
                            visible_path(&file.path)
                        )),
                        None => Line::destructive(format!(
                            "file {at}: WITHOUT {}, which is not there any more{run}",
                            visible_path(&file.path)
                        )),
                    }
                })
                .collect();
            lines.push(Line::effect(format!("commit on \"{}\", {from}", visible(branch))));
            lines.push(Line::effect(
                "every other file stays in it as it is there; no hook, filter or signature is run".to_owned(),
            ));
            lines.push(Line::effect("the message is all of this:".to_owned()));
            lines.extend(message.split('\n').map(|line| Line::effect(format!("    | {}", visible(line)))));
            lines
        }
    }
}

/// What it will do, foreseen.
fn expected(workspace: WorkspaceId, change: &VcsChange) -> ExpectedEffect {
    let effect = match change {
        VcsChange::Commit { .. } => "commit",
        VcsChange::Name { .. } => "create",
        VcsChange::Move { .. } => "replace",
        VcsChange::Delete { .. } => "delete",
    };
    ExpectedEffect {
        resource: ResourceId::Ref(workspace, change.moves().to_owned()),
        effect: effect.to_owned(),
        before_sha256: None,
        after_sha256: None,
        byte_size: None,
    }
}

/// In one line.
fn in_words(change: &VcsChange) -> String {
    match change {
        VcsChange::Commit { branch, files, message, .. } => {
            let first = message.lines().next().unwrap_or_default();
            format!("commit {} files to {branch}: {first}", files.len())
        }
        VcsChange::Name { name, at } => format!("make {name} at {at}"),
        VcsChange::Move { name, from, to, .. } => format!("move {name} from {from} to {to}"),
        VcsChange::Delete { name, at } => format!("delete {name}, which is at {at}"),
    }
}

/// The files that would be committed, as they are.
fn committed(change: &VcsChange) -> Vec<ReadItem> {
    let there = change.files().iter().filter(|file| file.sha256.is_some());
    there.map(|file| ReadItem::Hash { path: file.path.clone() }).collect()
}
