//! The dreamer: of tasks that the historian reads, what recurs is drafted as a playbook, tried on the record, and put to a
//! person (memory.md 5).
//!
//! It has no reading of its own: the look that reads an ended task for claims reads its acts, too, and the one event of that
//! look says which shape they had and which playbooks were drafted. A draft is an artifact without effect, whose trust is the
//! lowest of all that it was made of, and nobody is asked about it until a person wants to adopt it: then it is a card as every
//! change of what Hermit may do. What a person adopts is exactly the text of the card.

mod know_how;
mod standing;
mod traced;

use super::historian::History;
use super::skills::TRUSTED;
use super::submit::Submitted;
use crate::kernel::{Kernel, lock};
use crate::playbook_registry::PlaybookRegistry;
use crate::query::view;
use crate::sender::Sender;
use crate::writeup::{NewArtifact, Writeup};
use crate::{Error, redaction};
use acts::Register;
use knowledge::dreamer::{Recorded, TASKS_MIN, draft, fresh, shape, speaks_for};
use knowledge::trust::weaker;
use model::artifact::{ArtifactClass, ArtifactKind, ArtifactRef, TrustTier};
use model::body::{PlaybookAdopted, PlaybookTurnedOff};
use model::fault::Point;
use model::ingress::Channel;
use model::knowledge::Project;
use model::playbook::{
    AdoptPlaybook, DraftMark, PlaybookDraft, PlaybookState, PlaybookTrial, PlaybookTrialOutcome, ShapeMark,
};
use model::{ActionRequestId, ArtifactId, Digest, Sensitive, TaskId, UnixMs, WorkspaceId};
use reasoning::Playbook;
use serde::{Deserialize, Serialize};
use standing::{last_card, state_of, withdrawn};
use traced::{Traced, tried};

pub use know_how::{SkillDraft, skill_drafts};
pub use standing::{DraftStanding, DraftedFrom, drafted_from, meant, standings};

/// Tasks that one draft rests on, the newest.
const TASKS_MAX: usize = 8;

/// A draft, and what it was made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewDraft {
    pub(super) draft: PlaybookDraft,
    pub(super) sources: Vec<ArtifactId>,
}

impl Kernel {
    /// Of tasks that are read now: which shape each has, and the drafts that this makes.
    pub(super) fn dreamt(
        &self,
        before: &History,
        project: Option<Project>,
        read: &[TaskId],
    ) -> Result<(Vec<ShapeMark>, Vec<NewDraft>), Error> {
        let Some(project) = project else { return Ok((Vec::new(), Vec::new())) };
        let mut marks: Vec<ShapeMark> = Vec::new();
        for task_id in read {
            let known = before.shapes.iter().any(|mark| mark.task_id == *task_id);
            if let Some(traced) = self.trace(*task_id).filter(|_| !known)
                && let Some(shape_sha256) = shape(&traced.recorded.acts)
            {
                marks.push(ShapeMark { project_hash: project.hash, shape_sha256, task_id: *task_id });
            }
        }
        let mut shapes: Vec<Digest> = marks.iter().map(|mark| mark.shape_sha256).collect();
        shapes.sort_unstable();
        shapes.dedup();
        let mut drafts = Vec::new();
        for shape_sha256 in shapes {
            let all = before.shapes.iter().chain(&marks);
            let alike = all.filter(|m| m.shape_sha256 == shape_sha256 && m.project_hash == project.hash);
            let tasks: Vec<TaskId> = alike.map(|mark| mark.task_id).collect();
            drafts.extend(self.drafted(before, &project, shape_sha256, &tasks)?);
        }
        Ok((marks, drafts))
    }

    /// The draft for tasks of one shape; none where they are too few, it stands already, or it does not do what they did.
    fn drafted(
        &self,
        before: &History,
        project: &Project,
        shape_sha256: Digest,
        tasks: &[TaskId],
    ) -> Result<Option<NewDraft>, Error> {
        let earlier: Vec<&DraftMark> = before
            .drafts
            .iter()
            .filter(|mark| mark.shape_sha256 == shape_sha256 && mark.project_hash == project.hash)
            .collect();
        let (registry, query) = (self.playbook_registry(), self.query()?);
        for mark in &earlier {
            let is_kept = self.artifacts.contains(&mark.draft.sha256)?;
            if is_kept
                && matches!(
                    state_of(&registry, &self.reader, &query, mark)?.0,
                    PlaybookState::Draft | PlaybookState::Adopted
                )
            {
                return Ok(None);
            }
        }
        let rested: Vec<&[TaskId]> = earlier.iter().map(|mark| mark.tasks.as_slice()).collect();
        let mut traced: Vec<Traced> = Vec::new();
        for task in fresh(tasks, &rested).into_iter().rev() {
            let one = self.trace(task).filter(|one| shape(&one.recorded.acts) == Some(shape_sha256));
            traced.extend(one);
            if traced.len() == TASKS_MAX {
                break;
            }
        }
        if traced.len() < TASKS_MIN {
            return Ok(None);
        }
        traced.reverse();
        let recorded: Vec<Recorded> = traced.iter().map(|one| one.recorded.clone()).collect();
        let Some(made) = draft(project.hash, shape_sha256, &recorded) else { return Ok(None) };
        let playbook = match Playbook::parse(&made.text) {
            Ok(playbook) => playbook,
            Err(error) => {
                tracing::warn!(%error, name = made.name, "what was drafted is no playbook, and is left");
                return Ok(None);
            }
        };
        if redaction::exact(&self.ports.redactor.now(), made.text.as_bytes()).is_err() {
            return Ok(None);
        }
        let trials = traced.iter().zip(made.parameters);
        let trials = trials.map(|(one, parameters)| tried(&playbook, one, parameters)).collect();
        let draft = PlaybookDraft {
            sha256: Digest::of(made.text.as_bytes()),
            name: made.name,
            text: made.text,
            shape_sha256,
            project: project.clone(),
            trust_tier: traced.iter().map(|one| one.tier).fold(TrustTier::Observed, weaker),
            trials,
            narrowest: made.narrowest,
        };
        let sources = traced.into_iter().flat_map(|one| one.sources).collect();
        Ok(Some(NewDraft { draft, sources }).filter(|new| speaks_for(&new.draft)))
    }

    /// Puts a draft to a person, or a playbook that was turned off; the card that waits already, where one does. Nothing is adopted
    /// by this. `name`: its name, or the SHA-256 of its text, as for every other command about it ([`meant`]).
    ///
    /// # Errors
    /// [`Error::NotFound`] without the draft; [`Error::Conflict`] when it is adopted or was withdrawn.
    pub fn propose_playbook(&self, name: &str, channel: Channel) -> Result<Submitted, Error> {
        let all = self.drafts()?;
        let one = meant(&all, name);
        let one = one.ok_or_else(|| Error::NotFound { kind: "draft", id: name.to_owned() })?;
        match one.state {
            PlaybookState::Adopted => {
                return Err(Error::Conflict(format!("the playbook `{name}` is adopted already")));
            }
            PlaybookState::Withdrawn => {
                let why = one.why.clone().unwrap_or_default();
                return Err(Error::Conflict(format!("the draft `{name}` was withdrawn: {why}")));
            }
            PlaybookState::Draft | PlaybookState::Off | PlaybookState::Rejected => {}
        }
        let (last, number) = last_card(&self.reader, &self.query()?, &one.mark)?;
        // Who asks twice is led to the card that waits.
        if last.is_some_and(|row| !row.status.is_terminal()) {
            return self.asked_again(&key(&one.mark, number.saturating_sub(1)));
        }
        let adopt = self.adoption(&one.mark, &self.playbook_registry())?;
        let gone = || Error::NotFound { kind: "project of the draft", id: name.to_owned() };
        let workspace_id = self.workspace_of(&one.mark)?.ok_or_else(gone)?;
        self.propose_change(&Register::Playbook { adopt }, workspace_id, channel, key(&one.mark, number))
    }

    /// The card that waits, as it was asked for: what it shows may be another by now, and then the yes to it adopts nothing.
    fn asked_again(&self, key: &str) -> Result<Submitted, Error> {
        let gone = || Error::Conflict("the card of this draft was erased; deny it and ask again".to_owned());
        let stored = self.reader.by_idempotency_key(&format!("ingress:{key}"))?.ok_or_else(gone)?;
        let record = self.received(&stored, key)?;
        self.submit(&self.stored_submission(&record)?.ok_or_else(gone)?)
    }

    /// A playbook that was adopted is not used any more. Any surface may: it only narrows.
    ///
    /// # Errors
    /// [`Error::NotFound`] when no such playbook is in use.
    pub fn turn_off_playbook(
        &self,
        name: &str,
        reason: &str,
        by: impl Into<Sender>,
    ) -> Result<Digest, Error> {
        let registry = self.playbook_registry();
        let used = registry
            .all_in_use()
            .find(|one| one.name == name || one.sha256.to_string() == name)
            .ok_or_else(|| Error::NotFound { kind: "adopted playbook", id: name.to_owned() })?;
        let actor = self.principal_of(by.into())?;
        let mut w = self.store_writeup(Point::DecisionRecord, actor, format!("playbooks:{name}"), None)?;
        let (playbook_sha256, reason) = (used.sha256, Sensitive::from(reason.to_owned()));
        w.push(PlaybookTurnedOff { name: used.name.clone(), playbook_sha256, reason });
        self.commit(w)?;
        Ok(playbook_sha256)
    }

    /// Playbooks as they were adopted.
    pub fn playbook_registry(&self) -> PlaybookRegistry {
        lock(&self.store).playbooks.clone()
    }

    /// Every draft and how it stands, the oldest first.
    ///
    /// # Errors
    /// When the log or the views cannot be read.
    pub fn drafts(&self) -> Result<Vec<DraftStanding>, Error> {
        let store = lock(&self.store).clone();
        standings(&store, &self.reader, &self.query()?, &self.artifacts)
    }

    /// The draft tried anew, on the tasks as they are recorded now.
    ///
    /// # Errors
    /// [`Error::NotFound`] without it, and when its words were erased.
    pub fn try_draft(&self, name: &str) -> Result<PlaybookDraft, Error> {
        let gone = || Error::NotFound { kind: "draft", id: name.to_owned() };
        let all = self.drafts()?;
        let draft = meant(&all, name).and_then(|one| one.draft.clone()).ok_or_else(gone)?;
        self.tried_again(draft)
    }

    /// A draft with what comes of trying it now.
    fn tried_again(&self, mut draft: PlaybookDraft) -> Result<PlaybookDraft, Error> {
        let playbook = Playbook::parse(&draft.text).map_err(|e| Error::Broken(e.to_string()))?;
        for trial in &mut draft.trials {
            *trial = match self.trace(trial.task_id) {
                Some(traced) => tried(&playbook, &traced, std::mem::take(&mut trial.parameters)),
                None => PlaybookTrial {
                    outcome: PlaybookTrialOutcome::NotTried,
                    why: Some("what it did was undone or is not kept any more".to_owned()),
                    ..trial.clone()
                },
            };
        }
        Ok(draft)
    }

    /// What a person would adopt, with what comes of trying it now: what was undone since is no evidence.
    fn adoption(&self, mark: &DraftMark, registry: &PlaybookRegistry) -> Result<AdoptPlaybook, Error> {
        let draft = self.tried_again(self.object_at(&mark.draft)?)?;
        let was = registry.latest(&draft.name);
        let text = |at: &ArtifactRef| {
            self.artifacts.read(&at.sha256).ok().and_then(|bytes| String::from_utf8(bytes).ok())
        };
        Ok(AdoptPlaybook {
            version: was.map_or(1, |was| was.version.saturating_add(1)),
            was: was.filter(|was| was.sha256 != draft.sha256).and_then(|was| text(&was.text)),
            at: mark.draft.clone(),
            draft,
        })
    }

    /// Why what a person would adopt is not what was drafted, if it is not.
    pub(super) fn adoption_outdated(&self, adopt: &AdoptPlaybook) -> Result<Option<String>, Error> {
        let (marks, registry) = {
            let store = lock(&self.store);
            (store.history.drafts.clone(), store.playbooks.clone())
        };
        let Some(mark) = marks.iter().find(|mark| mark.draft == adopt.at) else {
            return Ok(Some("no such playbook was drafted".to_owned()));
        };
        if registry.all_in_use().any(|used| used.sha256 == mark.playbook_sha256) {
            return Ok(Some("it is adopted already".to_owned()));
        }
        if let Some(why) = withdrawn(&self.query()?, mark)? {
            return Ok(Some(format!("the draft was withdrawn: {why}")));
        }
        let same = self.adoption(mark, &registry).is_ok_and(|now| now == *adopt);
        Ok((!same).then(|| {
            "what the tasks show, or the version before it, is another by now; ask again".to_owned()
        }))
    }

    /// A folder of the project that a draft is of.
    fn workspace_of(&self, mark: &DraftMark) -> Result<Option<WorkspaceId>, Error> {
        let query = self.query()?;
        for task in mark.tasks.iter().rev() {
            if let Some(folder) = query.task(*task).map_err(view)?.and_then(|row| row.workspace_id) {
                return Ok(Some(folder));
            }
        }
        Ok(None)
    }
}

/// Keeps a draft, with the lowest trust of all that it was made of.
pub(super) fn keep_draft(w: &mut Writeup<'_>, new: NewDraft) -> Result<DraftMark, Error> {
    let NewDraft { draft, sources } = new;
    let kind = NewArtifact::audit(ArtifactKind::PlaybookDraft).class(ArtifactClass::Derived);
    let at = w.object(&draft, kind.trust(draft.trust_tier).from(sources))?;
    Ok(DraftMark {
        tasks: draft.trials.iter().map(|trial| trial.task_id).collect(),
        name: draft.name,
        playbook_sha256: draft.sha256,
        shape_sha256: draft.shape_sha256,
        project_hash: draft.project.hash,
        draft: at,
    })
}

/// Keeps the text that a person adopted, and records that it is.
pub(super) fn push_adopted(
    w: &mut Writeup<'_>,
    adopt: &AdoptPlaybook,
    action_request_id: ActionRequestId,
    adopted_at: UnixMs,
) -> Result<(), Error> {
    let text = adopt.draft.text.as_bytes();
    let sha256 = w.keep(text)?;
    // A person has checked it, and it is not their own word.
    let new = NewArtifact::audit(ArtifactKind::Playbook).media("application/yaml").trust(TRUSTED);
    let playbook = w.artifact_of(sha256, text.len() as u64, new.from([adopt.at.artifact_id]));
    let (name, version) = (adopt.draft.name.clone(), adopt.version);
    let playbook_sha256 = adopt.draft.sha256;
    w.push(PlaybookAdopted { name, version, playbook_sha256, playbook, action_request_id, adopted_at });
    Ok(())
}

/// The key of a task that asks about a draft: each card of it has a number.
fn key(mark: &DraftMark, number: u64) -> String {
    format!("draft:{}:{number}", mark.draft.artifact_id)
}
