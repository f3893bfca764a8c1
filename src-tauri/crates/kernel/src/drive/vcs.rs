//! Changes of version control: from a proposal to exactly the refs and files that a person is shown.

use super::normalise::Unfit;
use crate::ports::Executors;
use acts::Action;
use iteration::Proposal;
use model::vcs::{Tracked, VcsChange, is_object, is_ref};
use model::witness::Found;
use model::{RelPath, ResourceId, WorkspaceId};

/// The change as things are now: the branch that is checked out, the commit it is at, every file by its digest.
pub(super) fn change_of(
    executors: &dyn Executors,
    workspace: WorkspaceId,
    proposed: &Proposal,
) -> Result<Action, Unfit> {
    let head = executors.head().map_err(Unfit)?;
    let change = match proposed {
        Proposal::Commit { paths, message } => {
            let say = "no branch is checked out, so there is none to commit on; ask the person";
            let branch = head.branch.ok_or_else(|| Unfit(say.to_owned()))?;
            let files = tracked(executors, workspace, paths)?;
            VcsChange::Commit { branch, prior: head.commit, files, message: message.clone() }
        }
        Proposal::Branch { name } | Proposal::Tag { name } => {
            let kind = if matches!(proposed, Proposal::Branch { .. }) { "heads" } else { "tags" };
            let say = "there is no commit yet, so there is nothing to name";
            let at = head.commit.ok_or_else(|| Unfit(say.to_owned()))?;
            let name = format!("refs/{kind}/{name}");
            let there = executors.observe(&[ResourceId::Ref(workspace, name.clone())]);
            if there.iter().any(|print| print.state != Found::Absent) {
                return Err(Unfit(format!("`{name}` is there already, and nothing is moved by force")));
            }
            VcsChange::Name { name, at }
        }
        Proposal::MoveRef { name, to, force } => {
            let (name, from) = named(executors, workspace, name)?;
            let to = if is_object(to) { to.clone() } else { named(executors, workspace, to)?.1 };
            not_checked_out(head.branch.as_ref(), &name)?;
            VcsChange::Move { name, from, to, forward: !force }
        }
        Proposal::DeleteRef { name } => {
            let (name, at) = named(executors, workspace, name)?;
            not_checked_out(head.branch.as_ref(), &name)?;
            VcsChange::Delete { name, at }
        }
        _ => return Err(Unfit("it is no change of version control".to_owned())),
    };
    change.check().map_err(Unfit)?;
    Ok(Action::Vcs(acts::Vcs { change }))
}

/// A ref by its whole name, and the object it is at.
fn named(executors: &dyn Executors, workspace: WorkspaceId, name: &str) -> Result<(String, String), Unfit> {
    if !is_ref(name) {
        let say = format!("`{name}` is no whole name of a ref, as `refs/heads/topic` or `refs/tags/v1`");
        return Err(Unfit(say));
    }
    let found = executors.observe(&[ResourceId::Ref(workspace, name.to_owned())]);
    match found.into_iter().next().map(|print| print.state) {
        Some(Found::Version { value }) => Ok((name.to_owned(), value)),
        Some(Found::Unreadable { reason }) => Err(Unfit(reason)),
        _ => Err(Unfit(format!("there is no `{name}`"))),
    }
}

/// The branch that is checked out is changed by committing on it.
fn not_checked_out(head: Option<&String>, name: &str) -> Result<(), Unfit> {
    match head {
        Some(branch) if branch == name => {
            Err(Unfit(format!("`{name}` is checked out; the person switches to another branch first")))
        }
        _ => Ok(()),
    }
}

fn tracked(
    executors: &dyn Executors,
    workspace: WorkspaceId,
    paths: &[RelPath],
) -> Result<Vec<Tracked>, Unfit> {
    let resources: Vec<ResourceId> =
        paths.iter().map(|path| ResourceId::File(workspace, path.clone())).collect();
    let found = executors.observe(&resources);
    let one = |(path, state): (&RelPath, &Found)| match state {
        Found::File { sha256, mode, .. } => Ok(Tracked {
            path: path.clone(),
            sha256: Some(*sha256),
            executable: mode.is_some_and(|mode| mode & 0o100 != 0),
        }),
        Found::Absent => Ok(Tracked { path: path.clone(), sha256: None, executable: false }),
        other => {
            let is = governance::witness::in_words(other);
            Err(Unfit(format!("`{path}` is {is}; name the files to commit one by one")))
        }
    };
    paths.iter().zip(found.iter().map(|print| &print.state)).map(one).collect()
}
