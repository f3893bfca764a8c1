//! `hermit workspace`.

use super::Came;
use crate::args::WorkspaceVerb;
use crate::context::Context;
use crate::output::{Tone, table};
use crate::text::{plain, short};
use wire::exit;
use wire::workspaces::{List, Workspace};

/// Lists the folders that were worked in.
pub fn workspace(context: &Context, verb: &WorkspaceVerb) -> Came {
    let WorkspaceVerb::List = verb;
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
                project.to_owned(),
                source.to_owned(),
            ]
        };
        let rows: Vec<_> = found.workspaces.iter().map(row).collect();
        table(out, &["workspace", "folder", "project", "told by"], &rows);
    })?;
    Ok(exit::DONE)
}
