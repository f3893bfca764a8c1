//! Tasks by how they stand for a person who looks at many: what waits, what goes on, what is done, what ended otherwise.
//! Each task is in exactly one of these, and a group is found by its index, however many tasks there are.

use super::search::words;
use super::{Is, Query};
use crate::Error;
use model::ingress::Channel;
use model::task::TaskStatus;
use model::{ConversationId, TaskId, UnixMs, WorkspaceId};
use rusqlite::params_from_iter;
use rusqlite::types::Value;
pub use words::task::TaskGroup;

/// Which tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFilter {
    /// Of any of these statuses; empty is any.
    pub statuses: Vec<TaskStatus>,
    /// Of this conversation.
    pub conversation: Option<ConversationId>,
    /// Begun through this channel.
    pub channel: Option<Channel>,
    /// Derived from this task.
    pub parent: Option<TaskId>,
    /// Standing so.
    pub group: Option<TaskGroup>,
    /// In any of these folders; empty is any, and none at all.
    pub workspaces: Vec<WorkspaceId>,
}

impl TaskFilter {
    pub(crate) fn conditions(&self) -> [Option<Is>; 6] {
        let names: Vec<String> = self.statuses.iter().map(ToString::to_string).collect();
        let folders: Vec<String> = self.workspaces.iter().map(ToString::to_string).collect();
        [
            (!names.is_empty()).then_some(Is::OneOf("status", names)),
            Is::some("conversation_id", self.conversation),
            Is::some("channel", self.channel),
            Is::some("parent_task_id", self.parent),
            self.group.map(|group| Is::Holds(condition(group))),
            (!folders.is_empty()).then_some(Is::OneOf("workspace_id", folders)),
        ]
    }
}

/// How many tasks stand how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct TaskCounts {
    /// All of them.
    pub all: u64,
    /// See [`TaskGroup::Waiting`].
    pub waiting: u64,
    /// See [`TaskGroup::Going`].
    pub going: u64,
    /// See [`TaskGroup::Ended`].
    pub ended: u64,
}

/// Hits that a search for tasks looks at: these name tasks enough.
const HITS_MAX: usize = 10_000;

/// What asks for a person, by the indexes of what waits; the sum behind it leaves out what is settled since.
const WAITING: &str = "task_id IN (SELECT task_id FROM view_approvals WHERE status = 'pending' \
     UNION SELECT task_id FROM view_questions WHERE status = 'pending' \
     UNION SELECT task_id FROM view_actions WHERE state = 'uncertain') \
     AND open_approvals + open_questions + unknown_effects > 0";

/// The statuses in which a task has not ended, by their index.
macro_rules! open {
    () => {
        "status IN ('created', 'ready', 'running', 'blocked', 'paused')"
    };
}

/// Nobody is waited for.
macro_rules! quiet {
    () => {
        "open_approvals + open_questions + unknown_effects = 0"
    };
}

/// Ended as it was meant to, and not by a no, as [`Query::refused_by`] tells it: nothing but reading was begun, and policy
/// or a person said no.
macro_rules! meant {
    () => {
        "run_status = 'completed' AND (EXISTS (SELECT 1 FROM view_actions a WHERE a.task_id = view_tasks.task_id \
             AND a.action_class <> 'read_local' AND a.dispatched_at IS NOT NULL) \
           OR NOT EXISTS (SELECT 1 FROM view_actions a WHERE a.task_id = view_tasks.task_id AND a.verdict = 'deny') \
           AND NOT EXISTS (SELECT 1 FROM view_approvals p WHERE p.task_id = view_tasks.task_id AND p.status = 'denied'))"
    };
}

const OPEN: &str = open!();

const GOING: &str = concat!(open!(), " AND ", quiet!());

/// Most tasks have ended: the newest of these are found by walking the list, not by gathering all of them.
const ENDED: &str = "ended_at IS NOT NULL";

const DONE: &str = concat!("ended_at IS NOT NULL AND ", quiet!(), " AND ", meant!());

/// All that have ended and are not done: no task is in both, and none in neither.
const OTHERWISE: &str = concat!("ended_at IS NOT NULL AND ", quiet!(), " AND NOT (", meant!(), ")");

const fn condition(group: TaskGroup) -> &'static str {
    match group {
        TaskGroup::Waiting => WAITING,
        TaskGroup::Going => GOING,
        TaskGroup::Done => DONE,
        TaskGroup::Otherwise => OTHERWISE,
        TaskGroup::Ended => ENDED,
    }
}

/// What was done in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderUse {
    /// The folder.
    pub workspace_id: WorkspaceId,
    /// Tasks in it.
    pub tasks: u64,
    /// Of these, those that wait for a person.
    pub waiting: u64,
    /// The one that was begun last.
    pub last_task_id: TaskId,
    /// When.
    pub last_at: UnixMs,
}

impl Query {
    /// What was done in each folder, the one that was worked in last first.
    ///
    /// # Errors
    /// As every list.
    pub fn folder_uses(&self) -> Result<Vec<FolderUse>, Error> {
        let wrong = |why: String| Error::Row { table: "view_tasks", why };
        let many = |count: i64| count.unsigned_abs();
        self.read(|conn| {
            // SQLite takes the other columns of a group with one `max` from the row that has it.
            let mut found = conn.prepare_cached(
                "SELECT workspace_id, count(*), \
                   sum(open_approvals + open_questions + unknown_effects > 0), task_id, created_at, max(seq) AS last \
                 FROM view_tasks WHERE workspace_id IS NOT NULL GROUP BY workspace_id ORDER BY last DESC",
            )?;
            let mut rows = found.query([])?;
            let mut uses = Vec::new();
            while let Some(row) = rows.next()? {
                let (folder, task): (String, String) = (row.get(0)?, row.get(3)?);
                uses.push(FolderUse {
                    workspace_id: folder.parse().map_err(|e| wrong(format!("{e}")))?,
                    tasks: many(row.get(1)?),
                    waiting: many(row.get(2)?),
                    last_task_id: task.parse().map_err(|e| wrong(format!("{e}")))?,
                    last_at: UnixMs(row.get(4)?),
                });
            }
            Ok(uses)
        })
    }

    /// How many tasks stand how.
    ///
    /// # Errors
    /// As every list.
    pub fn task_counts(&self) -> Result<TaskCounts, Error> {
        let those = |which: &str| self.number(&format!("SELECT count(*) FROM view_tasks WHERE {which}"), &[]);
        let all = self.number("SELECT count(*) FROM view_tasks", &[])?;
        let open = those(OPEN)?;
        Ok(TaskCounts {
            all,
            waiting: those(WAITING)?,
            going: those(GOING)?,
            ended: all.saturating_sub(open),
        })
    }

    /// Tasks of `filter` in which all words of `text` stand, the one with the newest hit first; at most `most` of them.
    ///
    /// # Errors
    /// [`Error::Asked`] when the text holds no word, and as every list.
    pub fn tasks_saying(&self, text: &str, filter: &TaskFilter, most: usize) -> Result<Vec<TaskId>, Error> {
        let mut statement = "SELECT d.task_id FROM view_search s JOIN view_search_docs d ON d.doc = s.rowid \
                             WHERE s.text MATCH ?"
            .to_owned();
        let mut values = vec![Value::Text(words(text)?)];
        let conditions = filter.conditions();
        let is_narrowed = conditions.iter().any(Option::is_some);
        if is_narrowed {
            statement.push_str(" AND EXISTS (SELECT 1 FROM view_tasks WHERE view_tasks.task_id = d.task_id");
        }
        conditions.into_iter().flatten().for_each(|is: Is| is.write(&mut statement, &mut values));
        statement.push_str(if is_narrowed { ")" } else { "" });
        statement.push_str(" ORDER BY s.rowid DESC");
        self.read(|conn| {
            let mut found = conn.prepare_cached(&statement)?;
            let mut rows = found.query(params_from_iter(values))?;
            let (mut seen, mut tasks) = (std::collections::HashSet::new(), Vec::new());
            for _ in 0..HITS_MAX {
                let Some(row) = rows.next()? else { break };
                let text: String = row.get(0)?;
                let task: TaskId = text
                    .parse()
                    .map_err(|e| Error::Row { table: "view_search_docs", why: format!("{e}") })?;
                if seen.insert(task) {
                    tasks.push(task);
                }
                if tasks.len() >= most {
                    break;
                }
            }
            Ok(tasks)
        })
    }
}
