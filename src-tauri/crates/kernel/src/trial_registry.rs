//! Trials of changes of Hermit, as the store's own events say (successor.md).

use model::artifact::ArtifactRef;
use model::body::{Body, SuccessorBegan};
use model::{ActionRequestId, Digest, TaskId, UnixMs};
use std::collections::VecDeque;
use successor::{Budget, PatchKind, TrialState, VerdictOutcome};

/// Trials that are kept to be shown, the newest. One that runs or whose change is adopted stays beyond it.
const TRIALS_MAX: usize = 1_000;

/// A trial of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// Its place in the list, from 1; the later one is newer.
    pub place: u64,
    /// Its identifier.
    pub trial_id: String,
    /// The first trial of the tournament that it is part of.
    pub group: Option<String>,
    /// The act of a task by which it was proposed; none where a person began it.
    pub proposed_by: Option<ActionRequestId>,
    /// What kind of change.
    pub kind: PatchKind,
    /// The change.
    pub patch: ArtifactRef,
    /// What the change is to do, in words, unless they were erased.
    pub about: Option<String>,
    /// The person's past work that is played.
    pub tasks: Vec<TaskId>,
    /// Tasks that were drawn and are not played, as they are too large.
    pub left_out: Vec<TaskId>,
    /// What the draw of them began with.
    pub seed: u64,
    /// What clones may use up.
    pub budget: Budget,
    /// How it stands.
    pub state: TrialState,
    /// What it came to.
    pub outcome: Option<VerdictOutcome>,
    /// The verdict.
    pub verdict: Option<ArtifactRef>,
    /// The signature over the verdict, and the key of the log that made it.
    pub signature: Option<(String, Digest)>,
    /// The evidence that was compared: of the parent's arm, then of the successor's, then of the arm that a model was asked in once more.
    pub evidence: Vec<ArtifactRef>,
    /// Why it ended without a verdict, or its change went again, unless that was erased.
    pub why: Option<String>,
    /// When it began.
    pub began_at: UnixMs,
    /// When there was a verdict, or none would come.
    pub ended_at: Option<UnixMs>,
    /// The act by which a person adopted its change, and when.
    pub adopted: Option<(ActionRequestId, UnixMs)>,
    /// What the change took the place of.
    pub previous: Option<ArtifactRef>,
}

impl Trial {
    fn of(b: &SuccessorBegan, place: u64) -> Self {
        Self {
            place,
            trial_id: b.trial_id.clone(),
            group: b.group.clone(),
            proposed_by: b.proposed_by,
            kind: b.kind,
            patch: b.patch.clone(),
            about: b.about.shown().cloned(),
            tasks: b.tasks.clone(),
            left_out: b.left_out.clone().unwrap_or_default(),
            seed: b.seed,
            budget: Budget {
                wall_ms: b.wall_ms,
                cpu_ms: b.cpu_ms,
                memory_bytes: b.memory_bytes,
                disk_bytes: b.disk_bytes,
                processes: b.processes,
                tokens: b.tokens,
            },
            state: TrialState::Running,
            outcome: None,
            verdict: None,
            signature: None,
            evidence: Vec::new(),
            why: None,
            began_at: b.began_at,
            ended_at: None,
            adopted: None,
            previous: None,
        }
    }

    /// Whether it runs.
    pub fn is_running(&self) -> bool {
        self.state == TrialState::Running
    }
}

/// The newest trials.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrialRegistry {
    trials: VecDeque<Trial>,
    begun: u64,
}

impl TrialRegistry {
    /// All of them, the oldest first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &Trial> {
        self.trials.iter()
    }

    /// One of them.
    pub fn get(&self, trial_id: &str) -> Option<&Trial> {
        self.trials.iter().rfind(|one| one.trial_id == trial_id)
    }

    /// The one that an act of a task proposed.
    pub fn of_act(&self, act: ActionRequestId) -> Option<&Trial> {
        self.trials.iter().rfind(|one| one.proposed_by == Some(act))
    }

    /// Whether an event is folded here.
    pub(crate) const fn is_of_trials(body: &Body) -> bool {
        matches!(
            body,
            Body::SuccessorBegan(_)
                | Body::SuccessorJudged(_)
                | Body::SuccessorStopped(_)
                | Body::SuccessorAdopted(_)
                | Body::SuccessorReturned(_)
        )
    }

    fn with(&mut self, trial_id: &str, change: impl FnOnce(&mut Trial)) {
        if let Some(trial) = self.trials.iter_mut().rfind(|one| one.trial_id == trial_id) {
            change(trial);
        }
    }

    /// Folds one event of the store's stream.
    pub(crate) fn apply(&mut self, body: &Body) {
        match body {
            Body::SuccessorBegan(b) => {
                self.begun = self.begun.saturating_add(1);
                self.trials.push_back(Trial::of(b, self.begun));
                self.forget_the_oldest();
            }
            Body::SuccessorJudged(b) => self.with(&b.trial_id, |trial| {
                trial.state = TrialState::Judged;
                trial.outcome = Some(b.outcome);
                trial.verdict = Some(b.verdict.clone());
                trial.signature = Some((b.signature.clone(), b.keyid));
                trial.evidence.clone_from(&b.evidence);
                trial.ended_at = Some(b.judged_at);
            }),
            Body::SuccessorStopped(b) => self.with(&b.trial_id, |trial| {
                trial.state = if b.failed { TrialState::Failed } else { TrialState::Stopped };
                trial.why = b.why.shown().cloned();
                trial.ended_at = Some(b.stopped_at);
            }),
            Body::SuccessorAdopted(b) => self.with(&b.trial_id, |trial| {
                trial.state = TrialState::Adopted;
                trial.adopted = Some((b.action_request_id, b.adopted_at));
                trial.previous.clone_from(&b.previous);
            }),
            Body::SuccessorReturned(b) => self.with(&b.trial_id, |trial| {
                trial.state = TrialState::Returned;
                trial.why = b.why.shown().cloned();
            }),
            _ => {}
        }
    }

    fn forget_the_oldest(&mut self) {
        if self.trials.len() <= TRIALS_MAX {
            return;
        }
        let is_needed = |one: &Trial| matches!(one.state, TrialState::Running | TrialState::Adopted);
        if let Some(at) = self.trials.iter().position(|one| !is_needed(one)) {
            self.trials.remove(at);
        }
    }
}
