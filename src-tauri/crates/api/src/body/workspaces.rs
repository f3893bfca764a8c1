//! Folders that were worked in, and the project of each.

use crate::body::task_show::folder;
use crate::convert::every;
use crate::{Host, fold};
use wire::Error;
use wire::workspaces::{List, Workspace, Workspaces};

pub(crate) fn list(host: &dyn Host, _: List) -> Result<Workspaces, Error> {
    let query = host.query()?;
    let projects = fold::store_state(&host.reader()?)?.projects;
    let workspaces = every(|ask| query.workspaces(ask))?.into_iter().map(|row| {
        let project = projects.get(&row.workspace_id);
        Workspace {
            workspace_id: row.workspace_id.to_string(),
            folder: folder(&row),
            project_hash: project.map(|(hash, _)| hash.to_string()),
            project_source: project.map(|(_, source)| *source),
        }
    });
    Ok(Workspaces { workspaces: workspaces.collect() })
}
