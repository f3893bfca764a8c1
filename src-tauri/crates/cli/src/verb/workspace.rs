//! `hermit workspace`.

use super::Came;
use crate::args::WorkspaceVerb;
use crate::context::{Context, Signs, absolute};
use crate::output::{Tone, table};
use crate::text::{plain, short, time};
use std::path::Path;
use wire::workspaces::{List, Moved, Workspace};
use wire::{Code, Error, exit};

/// `hermit workspace`.
pub fn workspace(context: &Context, verb: &WorkspaceVerb) -> Came {
    match verb {
        WorkspaceVerb::List => list(context),
        WorkspaceVerb::Moved { from, to } => moved(context, from, to),
    }
}

fn moved(context: &Context, from: &Path, to: &Path) -> Came {
    let moved = Moved { from: absolute(from)?, to: absolute(to)? };
    let session = context.writing(Signs::Yes)?;
    let done = session.call(&moved);
    session.close();
    context.out.answer(&done?, |out, done| {
        let project = done.project_hash.get(..12).unwrap_or(&done.project_hash);
        out.line(format!("the folder continues as project {project}"));
    })?;
    Ok(exit::DONE)
}

/// Lists the folders that were worked in.
fn list(context: &Context) -> Came {
    let found = context.reading()?.call(&List {})?;
    context.out.answer(&found, |out, found| {
        if found.workspaces.is_empty() {
            return out.say(Tone::Faint, "no folder was worked in yet");
        }
        let row = |one: &Workspace| {
            let source = one.project_source.map_or("", |source| source.as_str());
            let project = one.project_hash.as_deref().map_or("", |hash| hash.get(..12).unwrap_or(hash));
            vec![
                short(&one.workspace_id).to_owned(),
                plain(&one.folder.to_string()),
                one.tasks.to_string(),
                one.waiting.to_string(),
                one.last_at.map(time).unwrap_or_default(),
                project.to_owned(),
                source.to_owned(),
            ]
        };
        let rows: Vec<_> = found.workspaces.iter().map(row).collect();
        table(out, &["workspace", "folder", "tasks", "waiting", "last task", "project", "told by"], &rows);
    })?;
    Ok(exit::DONE)
}

/// The folders of the project that a folder belongs to, by their identifiers.
///
/// # Errors
/// When nothing was done in it yet.
pub fn project(context: &Context, folder: &Path) -> Result<Vec<String>, Error> {
    let path = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    let path = absolute(&path)?;
    let all = context.reading()?.call(&List {})?.workspaces;
    let named = all.iter().find(|one| one.folder.to_string() == path).ok_or_else(|| {
        Error::new(Code::NotFound, format!("no task worked in `{}`", plain(&path)))
            .hint("`hermit workspace list` shows the folders of tasks")
    })?;
    let same = |one: &&Workspace| {
        one.workspace_id == named.workspace_id
            || one.project_hash.is_some() && one.project_hash == named.project_hash
    };
    Ok(all.iter().filter(same).map(|one| one.workspace_id.clone()).collect())
}
