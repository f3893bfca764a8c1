//! Workspaces: folders that were worked in.
#![allow(missing_docs, reason = "fields that say themselves; the others carry a line")]

use crate::Text;
use crate::table::{answers, params};
use words::store::ProjectSource;

params! {
    /// Nothing to say.
    List {}

    /// Names in a folder, for somebody who is naming one.
    Files {
        /// The folder, absolute; `~` is the home of whoever runs the host. With `folders`, its last part may be unfinished.
        folder: String,
        /// What stands somewhere in the path; empty is any.
        #[serde(default)]
        find: String,
        /// Folders that lie in it and begin like its unfinished last part, and nothing deeper.
        #[serde(default)]
        folders: bool,
    }

    /// A folder that was moved or renamed.
    Moved {
        /// Where it was, absolute.
        from: String,
        /// Where it is.
        to: String,
    }
}

answers! {
    /// All of them.
    Workspaces { workspaces: Vec<Workspace> }
    /// The first names that fit, those that lie higher first.
    FolderFiles {
        /// Paths, relative to the folder; absolute ones where folders were asked for.
        paths: Vec<String>,
        /// Whether there may be more.
        more: bool,
    }
    /// Where a folder is now, as the project that it was.
    MovedTo { workspace_id: String, project_hash: String }
    /// One folder.
    Workspace {
        workspace_id: String,
        folder: Text,
        /// The same in every folder of one project; absent until the folder is worked in again, where an older Hermit
        /// knew it.
        project_hash: Option<String>,
        /// What the project is told by.
        project_source: Option<ProjectSource>,
        /// Tasks in it, and of these those that wait for a person.
        tasks: u64,
        waiting: u64,
        /// The task that was begun last: its policy, model and rules are proposed for the next one.
        last_task_id: Option<String>,
        last_at: Option<i64>,
    }
}
