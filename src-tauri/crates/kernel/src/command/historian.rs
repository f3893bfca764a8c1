//! The historian: it reads what ended since it last looked, and proposes what is worth remembering (memory.md 4).
//!
//! One look is: the log is read from where the last look stopped, for tasks that ended; of those whose project is at rest the
//! events are read, once; what the rules find is one task of a service, whose one act waits for a person as a card; and then
//! one event in the store's stream says how far it was read and what was marked. The task is keyed by the number of the look
//! and carries all that the event will say. So a host that dies between the two has proposed it once: the next look finds
//! the task and writes the event that is missing.

mod card;
mod lapsed;
mod second;
mod typed;

use super::background::{BackgroundWork, Initiator};
use super::capability::Planned;
use super::dreamer::NewDraft;
use super::enclose::Encloses;
use super::submit::Reasoning;
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::query::view;
use crate::sender::Sender;
use knowledge::historian::{Found, weigh};
use ledger::Stored;
use model::body::HistoryRead;
use model::fault::Point;
use model::ingress::{Channel, IngressRecord};
use model::knowledge::{HistoryMark, Suggestion};
use model::playbook::{DraftMark, ShapeMark};
use model::policy::Profile;
use model::task::{Origin, TaskStatus};
use model::{Body, Digest, TaskId, UnixMs, WorkspaceId};
use projections::Query;
use projections::query::TaskFilter;
use projections::rows::TaskRow;
use second::Asks;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Events of the log that one look goes over.
const EVENTS_MAX: u64 = 20_000;
/// Events read at once.
const STRIDE: usize = 500;
/// Ended tasks that wait for their project to come to rest; while there are so many, the log is not read on.
const WAITING_MAX: usize = 256;
/// Ended tasks that one look reads.
const TASKS_MAX: usize = 20;
/// Lines of one card, from which on no further task is read into it.
const LINES_MAX: usize = 12;
/// Records that may say the same as a claim.
const ALIKE_MAX: u32 = 50;

/// How far the historian has read, and what it marked, as the store's own stream tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// Looks that are on record.
    pub looks: u64,
    /// The place in the log up to which ended tasks were looked for.
    pub through: u64,
    /// Ended tasks that nobody has read yet.
    pub waiting: Vec<TaskId>,
    /// What was marked.
    pub marks: Vec<HistoryMark>,
    /// The task in which each mark was proposed, where it was.
    pub(crate) marked_in: Vec<Option<TaskId>>,
    /// Of which shape the acts of tasks were.
    pub shapes: Vec<ShapeMark>,
    /// What was drafted of them.
    pub drafts: Vec<DraftMark>,
    /// The task of the look that drafted each, where it asks a person about something.
    pub(crate) drafted_in: Vec<Option<TaskId>>,
}

impl History {
    pub(crate) fn apply(&mut self, read: &HistoryRead) {
        self.looks = read.look.saturating_add(1);
        self.through = read.through;
        self.waiting.clone_from(&read.waiting);
        self.marks.extend(read.marks.iter().cloned());
        self.marked_in.resize(self.marks.len(), read.proposed_in);
        self.shapes.extend(read.shapes.iter().flatten().cloned());
        self.drafts.extend(read.drafts.iter().flatten().cloned());
        self.drafted_in.resize(self.drafts.len(), read.proposed_in);
    }
}

/// What one look came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Looked {
    /// The task that asks a person, where something is proposed.
    pub task_id: Option<TaskId>,
    /// Claims that are proposed.
    pub lines: usize,
    /// Ended tasks that were read.
    pub tasks: usize,
    /// Ended tasks that wait, for their project to come to rest or for the answer to what is proposed there.
    pub waiting: usize,
    /// Whether another look would go on now: the log was not read to its end, or tasks are left that can be read.
    pub more: bool,
    /// Playbooks that were drafted.
    pub drafts: usize,
    /// Events that it read for this: of the log, and of the tasks that ended.
    pub events: u64,
}

/// How far the log was read by looks of this process that came to nothing, behind what is on record: it is not read again.
#[derive(Debug, Default)]
pub(crate) struct Glanced {
    /// Looks that are on record.
    looks: u64,
    through: u64,
}

/// What a task of the historian is made of: its lines, and what the event says that comes behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Suggested {
    through: u64,
    waiting: Vec<TaskId>,
    marks: Vec<HistoryMark>,
    lines: Vec<Suggestion>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    shapes: Vec<ShapeMark>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    drafts: Vec<NewDraft>,
}

impl Suggested {
    /// A look that found nothing: how far it read.
    const fn nothing(through: u64, waiting: Vec<TaskId>) -> Self {
        Self { through, waiting, marks: vec![], lines: vec![], shapes: vec![], drafts: vec![] }
    }
}

/// Ended tasks of one project that is at rest.
struct Group {
    workspace: WorkspaceId,
    project: Digest,
    tasks: Vec<TaskId>,
}

/// What the log says since the last look.
struct Since {
    through: u64,
    waiting: Vec<TaskId>,
    /// Whether the log was read to its end.
    is_end: bool,
    /// Events that were read.
    events: u64,
}

impl Kernel {
    /// Reads what ended since the last look, of a project that has been at rest for so long, and proposes what is worth
    /// remembering. Nothing is remembered by this, and nothing is read twice.
    ///
    /// # Errors
    /// [`Error::Halted`] while nothing executes; when the log cannot be read or written.
    pub fn read_history(&self, quiet_ms: i64) -> Result<Looked, Error> {
        self.read_history_while(quiet_ms, &|| true)
    }

    /// The same, as long as it `goes_on`: then no model is asked any more, and what was not read waits for the next look.
    ///
    /// # Errors
    /// As [`Kernel::read_history`].
    pub fn read_history_while(&self, quiet_ms: i64, goes_on: &dyn Fn() -> bool) -> Result<Looked, Error> {
        // Two looks at once would each say how far they read, and the marks of one would be lost.
        let mut glanced = lock(&self.looking);
        if self.halted().is_some() {
            return Err(Error::Halted);
        }
        let before = lock(&self.store).history.clone();
        let (key, record) = self.key_of_look(before.looks)?;
        if let Some((stored, record)) = record {
            return self.finish_look(&before, &stored, &record);
        }
        let from = if glanced.looks == before.looks { glanced.through } else { 0 };
        let Since { through, waiting, is_end, events } = self.ended_since(&before, (from, u64::MAX))?;
        // What is told is read again by the next process; this one knows by now.
        if waiting == before.waiting {
            *glanced = Glanced { looks: before.looks, through };
        }
        let Some(group) = self.at_rest(&waiting, quiet_ms)? else {
            let (count, goes_on) = (waiting.len(), !is_end && waiting.len() < WAITING_MAX);
            // A long way without an end is not gone again.
            let is_told = waiting != before.waiting || through.saturating_sub(before.through) >= EVENTS_MAX;
            let is_ours = is_told && self.push_look(&before, Suggested::nothing(through, waiting), None)?;
            return Ok(Looked { waiting: count, more: goes_on && is_ours, events, ..Looked::default() });
        };
        let (batch, tasks, of_tasks) = self.batch(&before, &group, (through, waiting), goes_on)?;
        let (lines, left, drafts) = (batch.lines.len(), batch.waiting.clone(), batch.drafts.len());
        let task_id = match lines {
            0 => None,
            _ => Some(self.submit_background(Initiator::Service, work(key, &group, &batch)?)?.task_id),
        };
        if !self.push_look(&before, batch, task_id)? {
            return Ok(Looked::default());
        }
        let more = !is_end || self.at_rest(&left, quiet_ms)?.is_some();
        let events = events.saturating_add(of_tasks);
        Ok(Looked { task_id, lines, tasks, waiting: left.len(), more, drafts, events })
    }

    /// The key of a look's task, and what came in under it, if it did. What came from anywhere else under such a key is no
    /// look, and the next key is tried.
    fn key_of_look(&self, look: u64) -> Result<(String, Option<(Stored, IngressRecord)>), Error> {
        let mut key = key(look);
        for again in 1_u64.. {
            let Some(stored) = self.reader.by_idempotency_key(&format!("ingress:{key}"))? else { break };
            let record = self.received(&stored, &key)?;
            if record.source_channel == Channel::System {
                return Ok((key, Some((stored, record))));
            }
            key = format!("history:{look}:{again}");
        }
        Ok((key, None))
    }

    /// A look whose task is there, and whose event may not be.
    fn finish_look(
        &self,
        before: &History,
        stored: &Stored,
        record: &IngressRecord,
    ) -> Result<Looked, Error> {
        let submission = self.stored_submission(record)?;
        let planned = submission.as_ref().and_then(|submission| match &submission.reasoning {
            Reasoning::Tools { change } => serde_json::from_str(change).ok(),
            _ => None,
        });
        let (Some(submission), Some(Planned::Suggested(batch))) = (submission, planned) else {
            let (through, waiting) = self.without_erased(before, stored, record)?;
            let is_ours = self.push_look(before, Suggested::nothing(through, waiting), None)?;
            return Ok(Looked { more: is_ours, ..Looked::default() });
        };
        let task_id = self.submit(&submission)?.task_id;
        let (lines, waiting) = (batch.lines.len(), batch.waiting.len());
        let more = self.push_look(before, batch, Some(task_id))?;
        Ok(Looked { task_id: Some(task_id), lines, waiting, more, ..Looked::default() })
    }

    /// How far a look had read whose content was erased since. What had ended by then in its project is not read again; where
    /// nobody can tell any more which project it was, nothing that had ended by then is.
    fn without_erased(
        &self,
        before: &History,
        stored: &Stored,
        record: &IngressRecord,
    ) -> Result<(u64, Vec<TaskId>), Error> {
        let Since { through, mut waiting, .. } = self.ended_since(before, (0, stored.log_seq))?;
        let query = self.query()?;
        let folder = match self.bound_task(record.ingress_id)? {
            Some(task) => query.task(task).map_err(view)?.and_then(|row| row.workspace_id),
            None => None,
        };
        let Some(project) = folder.and_then(|folder| self.project_hash(folder)) else {
            return Ok((through, Vec::new()));
        };
        let mut left = Vec::new();
        for task in waiting.drain(..) {
            let row = query.task(task).map_err(view)?;
            if row.and_then(|row| self.place_of(&row)).is_some_and(|(_, of)| of != project) {
                left.push(task);
            }
        }
        Ok((through, left))
    }

    /// How far the log is read now, up to a place in it, and the ended tasks that wait to be read. One that has no row or no
    /// place any more waits no longer.
    fn ended_since(&self, before: &History, (from, until): (u64, u64)) -> Result<Since, Error> {
        let has_place = |query: &Query, task: TaskId| -> Result<bool, Error> {
            let row = query.task(task).map_err(view)?;
            Ok(row.and_then(|row| self.place_of(&row)).is_some())
        };
        let (query, mut waiting) = (self.query()?, Vec::new());
        for task in &before.waiting {
            if has_place(&query, *task)? {
                waiting.push(*task);
            }
        }
        let from = before.through.max(from);
        let (mut through, mut events) = (from, 0_u64);
        while through.saturating_sub(from) < EVENTS_MAX && waiting.len() < WAITING_MAX {
            let page = self.reader.log(through, STRIDE)?;
            if page.first().is_none_or(|first| first.log_seq > until) {
                return Ok(Since { through, waiting, is_end: true, events });
            }
            // The views behind the page, not before it.
            let query = self.query()?;
            for stored in page.iter().take_while(|stored| stored.log_seq <= until) {
                (through, events) = (stored.log_seq, events.saturating_add(1));
                let Some(ended) = self.end_told(stored) else { continue };
                let again = self.behind_lapsed(&query, ended);
                for task in std::iter::once(ended).chain(again) {
                    if !waiting.contains(&task) && has_place(&query, task)? {
                        waiting.push(task);
                    }
                }
                if waiting.len() >= WAITING_MAX {
                    break;
                }
            }
        }
        Ok(Since { through, waiting, is_end: false, events })
    }

    /// The task whose end an event tells; an event that cannot be read tells none.
    fn end_told(&self, stored: &Stored) -> Option<TaskId> {
        let read = || -> Result<Option<TaskId>, Error> {
            let event = stored.event()?;
            if event.event_type != "task.status_changed" {
                return Ok(None);
            }
            let Body::TaskStatusChanged(b) = self.body_of(&event)? else { return Ok(None) };
            let ended = matches!(b.to, TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled);
            Ok(ended.then_some(b.about_task_id))
        };
        read().unwrap_or_else(|error| {
            tracing::warn!(event = %stored.event_id, %error, "the historian goes on without an event that it cannot read");
            None
        })
    }

    /// The first of the waiting tasks whose project is at rest, and those of the same project.
    fn at_rest(&self, waiting: &[TaskId], quiet_ms: i64) -> Result<Option<Group>, Error> {
        let query = self.query()?;
        let now = self.ports.clock.now();
        let mut refused: BTreeSet<Digest> = BTreeSet::new();
        for task_id in waiting {
            let Some(row) = query.task(*task_id).map_err(view)? else { continue };
            let Some((workspace, project)) = self.place_of(&row).filter(|(_, of)| !refused.contains(of))
            else {
                continue;
            };
            let (mut tasks, mut last) = (Vec::new(), row.ended_at);
            for other in waiting {
                let Some(row) = query.task(*other).map_err(view)? else { continue };
                if self.place_of(&row).is_some_and(|(_, of)| of == project) {
                    last = last.max(row.ended_at);
                    tasks.push(*other);
                }
            }
            if !self.rests(project, last.map(|at| at.plus_ms(quiet_ms)), now)? {
                refused.insert(project);
                continue;
            }
            tasks.truncate(TASKS_MAX);
            return Ok(Some(Group { workspace, project, tasks }));
        }
        Ok(None)
    }

    /// Folder and project of a task; none of one that Hermit itself began, in which nobody says anything new.
    fn place_of(&self, row: &TaskRow) -> Option<(WorkspaceId, Digest)> {
        let workspace = row.workspace_id.filter(|_| row.origin != Origin::Service)?;
        Some((workspace, self.project_hash(workspace)?))
    }

    /// Whether nothing is at work in a project, nothing of the historian waits there, and its quiet time is over.
    fn rests(&self, project: Digest, quiet: Option<UnixMs>, now: UnixMs) -> Result<bool, Error> {
        if quiet.is_some_and(|until| until > now) {
            return Ok(false);
        }
        let folders = lock(&self.store)
            .projects
            .iter()
            .filter(|(_, (of, _))| *of == project)
            .map(|(id, _)| *id)
            .collect();
        let open = TaskStatus::ALL.iter().copied().filter(|status| !status.is_terminal()).collect();
        let filter = TaskFilter { statuses: open, workspaces: folders, ..TaskFilter::default() };
        let query = self.query()?;
        let rows: Vec<TaskRow> = crate::query::all(|ask| query.tasks(&filter, ask))?;
        let is_busy = |row: &TaskRow| match row.origin {
            Origin::Service => true,
            _ => matches!(row.status, TaskStatus::Created | TaskStatus::Ready | TaskStatus::Running),
        };
        Ok(!rows.iter().any(is_busy))
    }

    /// What is proposed of a group, how many of its tasks were read for it, and how many events.
    fn batch(
        &self,
        before: &History,
        group: &Group,
        (through, waiting): (u64, Vec<TaskId>),
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(Suggested, usize, u64), Error> {
        let (mut found, mut events): (Vec<Found>, u64) = (Vec::new(), 0);
        let mut asks = Asks { goes_on, is_over: false };
        let mut read: BTreeSet<TaskId> = BTreeSet::new();
        for task_id in &group.tasks {
            if found.len() >= LINES_MAX || !(read.is_empty() || goes_on()) {
                break;
            }
            read.insert(*task_id);
            match self.found_in(*task_id, &mut asks) {
                Ok((more, count)) => {
                    found.extend(more);
                    events = events.saturating_add(count);
                }
                // One task that cannot be read is none for all later ones to wait for.
                Err(error) => {
                    tracing::warn!(task = %task_id, %error, "the historian goes on without a task that it cannot read");
                }
            }
        }
        let mut remembered = Vec::new();
        for one in &found {
            let alike = self.saying(&[&one.claim], Some(group.project), ALIKE_MAX)?;
            remembered.extend(alike.iter().filter_map(|record| record.claim.shown().cloned()));
        }
        let store_id = lock(&self.store).store_id.clone();
        let weighed =
            weigh(found, &self.marks_in_force(before)?, &remembered, (&store_id, Some(group.project)));
        let waiting = waiting.into_iter().filter(|task| !read.contains(task)).collect();
        let read_now: Vec<TaskId> = group.tasks.iter().filter(|task| read.contains(task)).copied().collect();
        let (shapes, drafts) = self.dreamt(before, self.project_of(group.workspace, "project"), &read_now)?;
        let batch =
            Suggested { through, waiting, marks: weighed.marks, lines: weighed.lines, shapes, drafts };
        Ok((batch, read.len(), events))
    }

    /// The look is on record; whether it is this one.
    fn push_look(
        &self,
        before: &History,
        batch: Suggested,
        proposed_in: Option<TaskId>,
    ) -> Result<bool, Error> {
        let actor = self.principal_of(Sender::from(Channel::System))?;
        let key = key(before.looks);
        let mut w = self.store_writeup(Point::KnowledgeChange, actor, key.clone(), None)?;
        let Suggested { through, waiting, marks, shapes, drafts, .. } = batch;
        let store_id = lock(&self.store).store_id.clone();
        let mut kept = Vec::new();
        for new in drafts {
            kept.push(super::dreamer::keep_draft(&mut w, new)?);
        }
        let (look, drafts) = (before.looks, Some(kept).filter(|kept| !kept.is_empty()));
        let shapes = Some(shapes).filter(|shapes| !shapes.is_empty());
        let ours = HistoryRead { store_id, look, through, waiting, marks, proposed_in, shapes, drafts };
        w.push_keyed(Some(format!("read:{key}")), ours.clone());
        match self.commit(w) {
            Ok(_) => Ok(true),
            // Where what is on record is another look, the next one goes on behind it.
            Err(Error::Ledger(ledger::Error::Duplicate { event_id })) => {
                let Some(stored) = self.reader.event(event_id)? else { return Ok(false) };
                Ok(
                    matches!(self.body_of(&stored.event()?)?, Body::HistoryRead(first) if HistoryRead { drafts: ours.drafts.clone(), ..first.clone() } == ours),
                )
            }
            Err(error) => Err(error),
        }
    }
}

/// The key of a look.
fn key(look: u64) -> String {
    format!("history:{look}")
}

fn work(idempotency_key: String, group: &Group, batch: &Suggested) -> Result<BackgroundWork, Error> {
    let planned = Planned::Suggested(batch.clone());
    let change =
        String::from_utf8(seal::canon::to_canonical(&planned)?).map_err(|e| Error::Broken(e.to_string()))?;
    let goal = match batch.lines.len() {
        1 => "Ask whether to remember what was said in a task that ended".to_owned(),
        many => format!("Ask whether to remember {many} things of tasks that ended"),
    };
    Ok(BackgroundWork {
        title: goal.clone(),
        goal,
        workspace_id: group.workspace,
        reasoning: Reasoning::Tools { change },
        profile: Profile::Service,
        conversation_id: None,
        budget: None,
        deadline_at: None,
        encloses: Encloses::default(),
        scheduled_by: None,
        depends_on: Vec::new(),
        idempotency_key,
    })
}
