//! Durable memory: promoted through the governed path, found again, corrected without deletion (HK-15.5, memory.md 2).

mod withheld;

use super::capability::Planned;
use super::submit::Submitted;
use crate::Error;
use crate::drive::{Judged, Then, Unfit, Yes, evidence_refs, sources_of};
use crate::kernel::{Kernel, lock};
use crate::query::{record, view};
use crate::state::TaskState;
use crate::tx::Tx;
use crate::workspace::decode_root;
use crate::writeup::NewArtifact;
use acts::{Action, Remember};
use knowledge::memory::{Backing, Degraded, Promotion, promote, promoted};
use knowledge::{Layer, Looked, PackInput, Recalled, Refusal, relevance};
use model::artifact::{ArtifactKind, EvidenceRef, Selector};
use model::attempt::AttemptStatus;
use model::body::ArtifactPromoted;
use model::context::{ContextPack, MeaningUsed, Section};
use model::fault::Point;
use model::ingress::Channel;
use model::knowledge::{
    InvalidationPolicy, MemoryRecord, MemoryRetention, MemoryStatus, MemoryType, Project, Replaced,
};
use model::principal::PrincipalType;
use model::proposal::ProposedMemory;
use model::{ArtifactId, BeliefId, Body, Digest, MemoryId, PrincipalId, TaskId, WorkspaceId};
use projections::rows::MemoryRow;
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;

/// Milliseconds of a day.
pub(crate) const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// For how many days a record may be said to hold.
const DAYS: RangeInclusive<u32> = 1..=36_500;

/// Records that one context pack may choose from, of each of the two ways to be chosen.
const CANDIDATES_MAX: u32 = 64;

/// Records that may say the same as a new one.
const ALIKE_MAX: u32 = 50;

/// Records whose end is recorded at once.
const ENDS_MAX: u32 = 200;

/// What a person wants remembered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memorandum {
    /// The claim.
    pub claim: String,
    /// The part of the project it is about; all of it when empty.
    pub scope: String,
    /// Whether it holds in every project.
    pub everywhere: bool,
    /// Why it deserves to last.
    pub reason: String,
    /// What kind of knowledge it is.
    pub memory_type: Option<MemoryType>,
    /// Whether every task of the project is told of it.
    pub pinned: bool,
    /// For how many days it holds; for good when absent.
    pub days: Option<u32>,
    /// The record whose place it takes.
    pub replaces: Option<MemoryId>,
}

impl Kernel {
    /// Makes the task that asks a person whether to remember what they said. Nothing is remembered by this.
    ///
    /// # Errors
    /// [`Error::Input`] when nothing is said or the days are out of bounds, [`Error::NotFound`] and [`Error::Conflict`] of
    /// the record that it would replace.
    pub fn propose_memory(
        &self,
        said: Memorandum,
        root: &Path,
        (channel, idempotency_key): (Channel, String),
    ) -> Result<Submitted, Error> {
        if said.claim.trim().is_empty() {
            return Err(Error::Input("there is nothing to remember: say it in words".to_owned()));
        }
        if said.claim.len() > model::limits::CLAIM_BYTES_MAX {
            return Err(Error::Input(format!(
                "it is {} bytes long, more than {}; keep a long text as a file, and remember where it is",
                said.claim.len(),
                model::limits::CLAIM_BYTES_MAX
            )));
        }
        if said.days.is_some_and(|days| !DAYS.contains(&days)) {
            return Err(Error::Input(format!("days go from {} to {}", DAYS.start(), DAYS.end())));
        }
        if said.days.is_some() && said.pinned {
            return Err(Error::Input("what is pinned has no date: leave one of the two out".to_owned()));
        }
        if let Some(why) = self.why_withheld(&[], &[], &[&said.claim, &said.scope, &said.reason])? {
            return Err(Error::Input(why.to_owned()));
        }
        let workspace_id = self.workspace(root)?;
        if let Some(old) = said.replaces {
            let scope = if said.everywhere { "*" } else { "project" };
            let project = self.project_of(workspace_id, scope);
            same_place(&self.active_memory(old)?, project.as_ref()).map_err(Error::Conflict)?;
        }
        let goal = format!("remember \"{}\"", acts::visible(said.claim.trim()));
        self.submit_planned(&Planned::Remember(said), goal, workspace_id, channel, idempotency_key)
    }

    /// What a person wants remembered, as an act: their own words are its evidence.
    pub(super) fn memory_of(
        &self,
        state: &TaskState,
        said: &Memorandum,
        words: ArtifactId,
    ) -> Result<Result<Action, String>, Error> {
        let artifact = state
            .artifacts
            .get(&words)
            .ok_or_else(|| Error::NotFound { kind: "artifact", id: words.to_string() })?;
        let workspace =
            state.task.workspace_hint.ok_or_else(|| Error::Input("the task has no workspace".to_owned()))?;
        let old = match said.replaces {
            None => None,
            Some(old) => match self.active_memory(old) {
                Ok(old) => Some(old),
                Err(error @ (Error::NotFound { .. } | Error::Conflict(_))) => {
                    return Ok(Err(error.to_string()));
                }
                Err(error) => return Err(error),
            },
        };
        let scope = match said.scope.trim() {
            _ if said.everywhere => "*",
            "" => "project",
            part => part,
        };
        let project = self.project_of(workspace, scope);
        if let Some(Err(why)) = old.as_ref().map(|old| same_place(old, project.as_ref())) {
            return Ok(Err(why));
        }
        let replaces = old.as_ref().map(of_replaced);
        Ok(Ok(Action::Remember(Remember {
            claim: said.claim.trim().to_owned(),
            scope: scope.to_owned(),
            promotion_reason: said.reason.clone(),
            evidence_refs: vec![EvidenceRef {
                artifact_id: words,
                selector: Selector::JsonPath { pointer: "/claim".to_owned() },
                excerpt_hash: artifact.content_hash,
                capture_method: "said by a person".to_owned(),
                confidence: 1000,
                trust_tier: artifact.trust_tier,
            }],
            sources: Vec::new(),
            belief_id: None,
            project,
            memory_type: said.memory_type,
            retention: said.pinned.then_some(MemoryRetention::Pinned),
            days: said.days,
            replaces,
            also: Vec::new(),
        })))
    }

    /// What a model wants remembered, as an act; else why not, in words for it.
    pub(crate) fn memory_act(
        &self,
        state: &TaskState,
        workspace: WorkspaceId,
        proposed: &ProposedMemory,
    ) -> Result<Result<Action, Unfit>, Error> {
        let ProposedMemory { claim, scope, reason, evidence, belief_id, kind, replaces, days } = proposed;
        let sizes = [claim.len() + scope.len(), reason.len(), replaces.as_ref().map_or(0, String::len)];
        if sizes.iter().any(|bytes| *bytes > model::limits::CLAIM_BYTES_MAX) {
            let most = model::limits::CLAIM_BYTES_MAX;
            return Ok(Err(Unfit(format!(
                "`claim` with `scope`, `reason` and `replaces` have at most {most} bytes each; keep a long text as a file, and \
                 remember where it is"
            ))));
        }
        let evidence_refs = match evidence_refs(self, state, evidence)? {
            Ok(refs) if refs.is_empty() => {
                return Ok(Err(Unfit("`evidence` names nothing; name a path you have read".to_owned())));
            }
            Ok(refs) => refs,
            Err(unfit) => return Ok(Err(unfit)),
        };
        if days.is_some_and(|days| !DAYS.contains(&days)) {
            return Ok(Err(Unfit(format!("`days` goes from {} to {}", DAYS.start(), DAYS.end()))));
        }
        if let Some(belief) = belief_id.filter(|id| !state.beliefs.contains_key(id)) {
            return Ok(Err(Unfit(format!("`{belief}` is no belief of this task"))));
        }
        let project = self.project_of(workspace, scope);
        let old = match replaces {
            Some(named) => self.replaced(named, project.as_ref())?,
            None => None,
        };
        match (replaces, &old) {
            (Some(named), None) => {
                return Ok(Err(Unfit(format!("no memory that holds for this says `{named}`"))));
            }
            (_, Some(old)) => {
                if let Err(why) = same_place(old, project.as_ref()) {
                    return Ok(Err(Unfit(why)));
                }
            }
            (None, None) => {}
        }
        let old = old.as_ref().map(of_replaced);
        let act = Remember {
            claim: claim.clone(),
            scope: scope.clone(),
            promotion_reason: reason.clone(),
            sources: sources_of(state, evidence, &evidence_refs),
            evidence_refs,
            belief_id: *belief_id,
            project,
            memory_type: *kind,
            retention: None,
            days: *days,
            replaces: old,
            also: Vec::new(),
        };
        let why = self.why_not_kept(state.task.task_id, &act)?;
        Ok(why.map_or(Ok(Action::Remember(act)), |why| Err(Unfit(why.to_owned()))))
    }

    /// Whether nothing that this task has seen supports what a model wants remembered (HK-6.3-1).
    pub(crate) fn is_unsupported(&self, state: &TaskState, proposed: &ProposedMemory) -> Result<bool, Error> {
        Ok(evidence_refs(self, state, &proposed.evidence)?.map_or(true, |refs| refs.is_empty()))
    }

    /// The executor of memory is the kernel itself: effect, observation and receipt are one commit with the dispatch.
    pub(crate) fn remember(&self, tx: &mut Tx<'_>, judged: Judged, yes: Option<&Yes>) -> Result<Then, Error> {
        let Action::Remember(act) = &judged.request.action else {
            return Err(Error::Broken("not a promotion".to_owned()));
        };
        let person: Option<PrincipalId> = yes.map(|y| y.decision.decided_by);
        tx.set_attempt(AttemptStatus::Observing, "observed")?;
        let mut refused = Vec::new();
        let mut kept = 0;
        for claim in act.claims() {
            match self.remember_one(tx, &claim, person)? {
                Ok(()) => kept += 1,
                Err(degraded) => refused.push(degraded.to_string()),
            }
        }
        let new = NewArtifact::audit(ArtifactKind::MemoryPromotion)
            .from(act.claims().flat_map(|claim| claim.evidence_refs).map(|e| e.artifact_id));
        let mut more = Map::from_iter([("claim".to_owned(), json!(act.claim))]);
        if !act.also.is_empty() {
            let claims: Vec<String> = act.claims().map(|claim| claim.claim).collect();
            more.insert("claims".to_owned(), json!(claims));
            more.insert("not_remembered".to_owned(), json!(refused));
        }
        // Not lost: it may stay a belief, and the model is told why (HK-6.3-1).
        let error = (kept == 0).then(|| refused.join("; "));
        self.performed_here(tx, judged, error, new, more)
    }

    /// One claim becomes a record, or stays what it was.
    fn remember_one(
        &self,
        tx: &mut Tx<'_>,
        act: &Remember,
        person: Option<PrincipalId>,
    ) -> Result<Result<(), Degraded>, Error> {
        let project_hash = act.project.as_ref().map(|project| project.hash);
        let promotion = Promotion {
            memory_id: MemoryId::fresh(&*self.ports.clock, &*self.ports.entropy),
            task_id: tx.task.task_id,
            promoted_by: person.unwrap_or(tx.actor().actor_id),
            claim: act.claim.clone(),
            scope: act.scope.clone(),
            evidence: act.evidence_refs.clone(),
            reason: act.promotion_reason.clone(),
            from_belief: act.belief_id,
            replaces: act.replaces.as_ref().map(|old| self.memory(old.memory_id)).transpose()?,
            project_hash,
            memory_type: act.memory_type,
            retention: act.retention.unwrap_or(MemoryRetention::Kept),
            expires_at: act.days.map(|days| tx.now().plus_ms(i64::from(days).saturating_mul(DAY_MS))),
            backing: if person.is_some() { Backing::Person } else { Backing::Evidence },
            now: tx.now(),
        };
        // Whatever it was when it was asked about: a look may have come since.
        if let Some(why) = self.why_not_kept(tx.task.task_id, act)? {
            let refusal = Refusal { code: "holds_secret", reason: why.to_owned() };
            return Ok(Err(Degraded { refusal, keep_as: Layer::Scratchpad }));
        }
        let source = act.belief_id.and_then(|id| tx.beliefs.get(&id));
        let alike = self.saying(&[&act.claim], project_hash, ALIKE_MAX)?;
        let record = match promote(&promotion, source, &alike) {
            Ok(record) => record,
            Err(degraded) => return Ok(Err(degraded)),
        };
        for body in promoted(record) {
            tx.push(body);
        }
        let sources: BTreeSet<_> = act.evidence_refs.iter().map(|one| one.artifact_id).collect();
        for artifact_id in sources {
            tx.push(ArtifactPromoted { artifact_id, memory_id: promotion.memory_id });
        }
        Ok(Ok(()))
    }

    /// Marks a memory record as wrong; it stays readable (HK-8.7-5).
    ///
    /// # Errors
    /// [`Error::NotFound`] for an unknown record, [`Error::Conflict`] for one that is not held.
    pub fn invalidate_memory(&self, memory_id: MemoryId, reason: &str) -> Result<TaskId, Error> {
        let record = self.memory(memory_id)?;
        let body = knowledge::memory::invalidate(&record, reason).map_err(|r| Error::Conflict(r.reason))?;
        self.end_memory(&record, body)
    }

    /// Takes a memory record back, as one that should never have been kept; it stays readable (HK-8.7-4).
    ///
    /// # Errors
    /// As [`Kernel::invalidate_memory`].
    pub fn revoke_memory(&self, memory_id: MemoryId, reason: &str) -> Result<TaskId, Error> {
        let record = self.memory(memory_id)?;
        let body = knowledge::memory::revoke(&record, reason).map_err(|r| Error::Conflict(r.reason))?;
        self.end_memory(&record, body)
    }

    fn end_memory(&self, record: &MemoryRecord, body: Body) -> Result<TaskId, Error> {
        let task_id = record.promoted_by_task_id;
        let cell = self.cell(task_id)?;
        let mut tx = self.begin_tx(&cell, Point::KnowledgeChange, PrincipalType::User)?;
        tx.push(body);
        tx.commit()?;
        Ok(task_id)
    }

    /// Ends the memory records whose date is over. A clock that is set back later brings none of them back.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn expire_memories(&self) -> Result<(), Error> {
        let due = self.query()?.memories_run_out(self.ports.clock.now(), ENDS_MAX).map_err(view)?;
        for row in due {
            // No pack holds it either way; what became of its task is told where that is asked for.
            let Ok(cell) = self.cell(row.task_id) else { continue };
            let mut tx = self.begin_tx(&cell, Point::KnowledgeChange, PrincipalType::System)?;
            // Whoever came first has ended it.
            let Ok(body) = knowledge::memory::expire(&self.memory(row.memory_id)?) else { continue };
            tx.push(body);
            tx.commit()?;
        }
        Ok(())
    }

    /// Ends the memory records that came from a belief which is not held any more (HK-15.5-2).
    pub(crate) fn end_memories_of(&self, tx: &mut Tx<'_>, belief: BeliefId, why: &str) -> Result<(), Error> {
        for row in self.query()?.memories_from(belief).map_err(view)? {
            if row.invalidation != Some(InvalidationPolicy::Source) {
                continue;
            }
            if let Ok(body) = knowledge::memory::invalidate(&record(row), why) {
                tx.push(body);
            }
        }
        Ok(())
    }

    /// What a pack may hold of memory: what is in force in the task's project, and what says words of its goal and of what was
    /// said since, or means the same where a person named a model for it (HK-15.6-1, memory.md 2). Meaning is looked for
    /// where somebody reads the pack. Last those that no task is told of.
    pub(crate) fn recalled(
        &self,
        state: &TaskState,
        input: &PackInput,
        is_read: bool,
    ) -> Result<(Vec<Recalled>, Option<MeaningUsed>, BTreeSet<MemoryId>), Error> {
        let project = state.task.workspace_hint.and_then(|workspace| self.project_hash(workspace));
        // The last that was said counts most; neither takes all the room of the other.
        let said: Vec<&str> = input.ingress.iter().rev().map(|delta| delta.text.as_str()).collect();
        let wanted = relevance::words_of_both(&[&input.goal], &said);
        let mut in_force =
            self.query()?.memories_in_force(project, self.ports.clock.now(), CANDIDATES_MAX).map_err(view)?;
        let now = self.ports.clock.now();
        let mut by_words =
            self.query()?.memories_saying(&wanted, project, now, CANDIDATES_MAX).map_err(view)?;
        let about: Vec<&str> = std::iter::once(input.goal.as_str()).chain(said.first().copied()).collect();
        let (mut near, used) = if is_read { self.memories_near(&about, project) } else { (Vec::new(), None) };
        let withheld = self.without_withheld(&mut in_force, &mut by_words, &mut near)?;
        let net = |row: &MemoryRow| (row.memory_id, i64::from(row.helped) - i64::from(row.contradicted));
        let found = by_words.iter().map(|(row, _)| row);
        let use_of = in_force.iter().chain(found).chain(&near).map(net).collect();
        let looked = Looked {
            by_words: by_words.into_iter().map(|(row, share)| (record(row), share)).collect(),
            by_meaning: near.into_iter().map(record).collect(),
        };
        let mut recalled = relevance::ranked(in_force.into_iter().map(record).collect(), looked, &use_of);
        // Where no embedding model is named there is one way alone, and nothing to say of it.
        if used.is_none() {
            recalled.iter_mut().for_each(|one| one.found_by = None);
        }
        Ok((recalled, used, withheld))
    }

    pub(super) fn saying(
        &self,
        texts: &[&str],
        project: Option<Digest>,
        most: u32,
    ) -> Result<Vec<MemoryRecord>, Error> {
        let now = self.ports.clock.now();
        let rows =
            self.query()?.memories_saying(&relevance::words(texts), project, now, most).map_err(view)?;
        Ok(rows.into_iter().map(|(row, _)| record(row)).collect())
    }

    /// The record that a model means, among those of its project: by identifier, else by its claim.
    pub(crate) fn replaced(
        &self,
        named: &str,
        project: Option<&Project>,
    ) -> Result<Option<MemoryRecord>, Error> {
        let id: Option<MemoryId> = named.trim().parse().ok();
        let alike = self.saying(&[named], project.map(|project| project.hash), ALIKE_MAX)?;
        let says = |old: &&MemoryRecord| old.claim.shown().is_some_and(|claim| claim == named.trim());
        let found = match id {
            Some(id) => self.memory(id).ok().filter(|old| {
                old.status == MemoryStatus::Active
                    && (old.project_hash.is_none() || old.project_hash == project.map(|p| p.hash))
            }),
            None => alike.iter().find(says).cloned(),
        };
        Ok(found)
    }

    /// The project of a folder, unless the scope is everywhere.
    pub(crate) fn project_of(&self, workspace: WorkspaceId, scope: &str) -> Option<Project> {
        if scope.trim() == "*" {
            return None;
        }
        let hash = self.project_hash(workspace)?;
        let root = lock(&self.store).workspaces.get(&workspace).cloned().flatten();
        let name = root
            .and_then(|root| decode_root(&root).ok())
            .and_then(|root| root.file_name().map(|name| name.to_string_lossy().into_owned()));
        Some(Project { hash, name: name.unwrap_or_else(|| "this folder".to_owned()) })
    }

    pub(super) fn project_hash(&self, workspace: WorkspaceId) -> Option<Digest> {
        lock(&self.store).projects.get(&workspace).map(|(hash, _)| *hash)
    }

    /// A memory record that is held.
    fn active_memory(&self, memory_id: MemoryId) -> Result<MemoryRecord, Error> {
        let record = self.memory(memory_id)?;
        if record.status == MemoryStatus::Active {
            return Ok(record);
        }
        Err(Error::Conflict(format!("memory `{memory_id}` is {} already", record.status)))
    }
}

/// A record is replaced where it holds: elsewhere, whoever is told of the old one would be told of nothing.
fn same_place(old: &MemoryRecord, project: Option<&Project>) -> Result<(), String> {
    if old.project_hash == project.map(|project| project.hash) {
        return Ok(());
    }
    let (id, place) = match old.project_hash {
        None => (old.memory_id, "in every project; say that the new one does, too, with the scope `*`"),
        Some(_) => (old.memory_id, "in one project; replace it from a folder of that project, for it alone"),
    };
    Err(format!("memory `{id}` holds {place}"))
}

fn of_replaced(old: &MemoryRecord) -> Replaced {
    let claim = old.claim.shown().cloned().unwrap_or_else(|| "(erased)".to_owned());
    Replaced { memory_id: old.memory_id, claim }
}

/// The memory records that a pack holds.
pub(crate) fn memories_in(pack: &ContextPack) -> Vec<MemoryId> {
    let of_memory = pack.items.iter().filter(|item| item.section == Section::Memory);
    of_memory.filter_map(|item| item.source.parse().ok()).collect()
}
