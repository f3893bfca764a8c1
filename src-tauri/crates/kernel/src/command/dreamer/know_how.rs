//! Skills that what recurs would make: found in what a project remembers and in the tasks that showed it, kept nowhere, and written
//! into the folder as every file is when a person wants one (memory.md 5).

use super::standing::still_stands;
use crate::command::submit::{Reasoning, Submission, Submitted};
use crate::kernel::{Kernel, lock};
use crate::query::view;
use crate::store::StoreState;
use crate::{Error, redaction};
use knowledge::dreamer::know_how::{self, DraftedSkill, KnowHow, playbook, skill};
use knowledge::historian::key_of;
use knowledge::trust::weaker;
use ledger::Reader;
use model::artifact::TrustTier;
use model::ingress::Channel;
use model::knowledge::{MemoryStatus, MemoryType, Project};
use model::{Digest, EventId, MemoryId, TaskId};
use projections::Query;
use projections::query::{Ask, MemoryFilter};
use projections::rows::MemoryRow;
use reasoning::Playbook;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Pages of what a project remembers that are gone through, of each kind, the newest first.
const PAGES_MAX: usize = 5;

/// A skill that would be made of what recurs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillDraft {
    /// Its name and text.
    pub skill: DraftedSkill,
    /// The record that it rests on; of several that say the same, the oldest.
    pub memory_id: MemoryId,
    /// How far that may be relied on: it is the lowest of all that it was made of.
    pub trust_tier: TrustTier,
    /// The tasks that showed it and still stand.
    pub tasks: Vec<TaskId>,
}

/// Every skill that a project's memory would make, each once.
///
/// # Errors
/// When the log or the views cannot be read.
pub fn skill_drafts(
    store: &StoreState,
    reader: &Reader,
    query: &Query,
    project: &Project,
) -> Result<Vec<SkillDraft>, Error> {
    let mut shown: BTreeMap<Digest, BTreeSet<EventId>> = BTreeMap::new();
    for mark in store.history.marks.iter().filter(|mark| mark.project_hash == Some(project.hash)) {
        shown.entry(mark.claim_sha256).or_default().extend(mark.evidence.iter().copied());
    }
    let mut drafts: Vec<SkillDraft> = Vec::new();
    for memory_type in [MemoryType::Pattern, MemoryType::Decision] {
        let held = held(query, project, memory_type)?;
        let claims: Vec<&str> = held.iter().map(|one| one.claim.as_str()).collect();
        // The same question in nearly the same words may have had another answer: a decision is like none but itself.
        let groups: Vec<Vec<usize>> = if memory_type == MemoryType::Pattern {
            know_how::groups(&claims)
        } else {
            (0..claims.len()).map(|at| vec![at]).collect()
        };
        for group in groups {
            let all: Vec<&Held> = group.iter().filter_map(|at| held.get(*at)).collect();
            let Some((first, others)) = all.split_first() else { continue };
            let mut tasks = BTreeSet::new();
            for one in &all {
                let key = key_of(&one.claim, &store.store_id, Some(project.hash));
                match shown.get(&key) {
                    Some(events) => tasks.extend(tasks_of(reader, query, events)?),
                    // Nobody proposed it: the task that remembered it showed it.
                    None if !others.is_empty() && still_stands(query, one.task_id)? => {
                        tasks.insert(one.task_id);
                    }
                    None => {}
                }
            }
            let alike: Vec<(MemoryId, &str)> =
                others.iter().map(|one| (one.memory_id, one.claim.as_str())).collect();
            let (memory_id, claim) = (first.memory_id, first.claim.as_str());
            let one = KnowHow { memory_id, memory_type, claim, alike: &alike, tasks: &tasks };
            drafts.extend(skill(project, &one).map(|skill| SkillDraft {
                skill,
                memory_id,
                trust_tier: all.iter().fold(first.trust_tier, |tier, one| weaker(tier, one.trust_tier)),
                tasks: tasks.iter().copied().collect(),
            }));
        }
    }
    let mut names = BTreeSet::new();
    drafts.retain(|one| names.insert(one.skill.name.clone()));
    Ok(drafts)
}

/// A record that is in force.
struct Held {
    memory_id: MemoryId,
    claim: String,
    trust_tier: TrustTier,
    task_id: TaskId,
}

/// What a project remembers of one kind, as far as it is gone through; the oldest first, which later ones are held against.
fn held(query: &Query, project: &Project, memory_type: MemoryType) -> Result<Vec<Held>, Error> {
    let filter = MemoryFilter {
        status: Some(MemoryStatus::Active),
        memory_type: Some(memory_type),
        project: Some(project.hash),
    };
    let (mut all, mut ask) = (Vec::new(), Ask::ALL);
    for _ in 0..PAGES_MAX {
        let page = query.memories(filter, ask).map_err(view)?;
        // A skill would tell what a claim repeats of a secret.
        let withheld = query.memories_repeating(&page.rows.iter().collect::<Vec<_>>()).map_err(view)?;
        let is_told =
            |row: &&MemoryRow| row.project_hash == Some(project.hash) && !withheld.contains(&row.memory_id);
        for row in page.rows.iter().filter(is_told) {
            let Some(claim) = row.claim.shown().cloned() else { continue };
            let (memory_id, trust_tier, task_id) = (row.memory_id, row.trust_tier, row.task_id);
            all.push(Held { memory_id, claim, trust_tier, task_id });
        }
        match page.next {
            Some(next) => ask = Ask::ALL.after(Some(next)),
            None => break,
        }
    }
    all.sort_by_key(|one| one.memory_id);
    Ok(all)
}

/// The tasks of events, without those that were undone or erased.
fn tasks_of(reader: &Reader, query: &Query, events: &BTreeSet<EventId>) -> Result<BTreeSet<TaskId>, Error> {
    let mut all = BTreeSet::new();
    for event in events {
        all.extend(reader.event(*event)?.map(|stored| stored.task_id));
    }
    let mut tasks = BTreeSet::new();
    for task in all {
        if still_stands(query, task)? {
            tasks.insert(task);
        }
    }
    Ok(tasks)
}

impl Kernel {
    /// Makes the task that writes a drafted skill into the folder of its project, on a card as every change. Nothing is trusted by
    /// this: a person is asked about its bytes as of every skill that lies in a project.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the draft, [`Error::Secret`] when its text holds the value of a secret.
    pub fn propose_skill_draft(
        &self,
        name: &str,
        folder: &Path,
        (channel, idempotency_key): (Channel, String),
    ) -> Result<Submitted, Error> {
        let gone = || Error::NotFound { kind: "draft of a skill", id: name.to_owned() };
        let workspace_id = self.workspace(folder)?;
        let project = self.project_of(workspace_id, "project").ok_or_else(gone)?;
        let store = lock(&self.store).clone();
        let all = skill_drafts(&store, &self.reader, &self.query()?, &project)?;
        let one = all.into_iter().find(|one| one.skill.name == name).ok_or_else(gone)?;
        redaction::exact(&self.ports.redactor.now(), one.skill.text.as_bytes())?;
        let text = playbook(&one.skill);
        let written = Playbook::parse(&text).map_err(|e| Error::Broken(e.to_string()))?;
        let reasoning = Reasoning::Playbook {
            name: written.name().to_owned(),
            text: text.clone(),
            parameters: BTreeMap::new(),
        };
        let goal = written.title().to_owned();
        self.submit(&Submission::of(goal, workspace_id, reasoning, channel, idempotency_key))
    }
}
