//! Workspaces: folders that were worked in.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::Text;
use crate::table::{answers, params};
use words::store::ProjectSource;

params! {
    /// Nothing to say.
    List {}
}

answers! {
    /// All of them.
    Workspaces { workspaces: Vec<Workspace> }
    /// One folder.
    Workspace {
        workspace_id: String,
        folder: Text,
        /// The same in every folder of one project; absent until the folder is worked in again, where an older Hermit
        /// knew it.
        project_hash: Option<String>,
        /// What the project is told by.
        project_source: Option<ProjectSource>,
    }
}
