//! Trials of changes of Hermit (successor.md): begun, judged, stopped. A trial changes nothing: what it came to is a verdict that the
//! key of the log signs, and applying a change is a person's act of its own.

use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::trial_registry::{Trial, TrialRegistry};
use crate::writeup::{NewArtifact, Writeup};
use ::successor::limits::{LEFT_OUT_MAX, LINE_CHARS_MAX, TASKS_MAX};
use ::successor::{Budget, Evidence, Patch, PatchKind, VERDICT_PAYLOAD_TYPE, Verdict, constitutional};
use model::artifact::{ArtifactKind, ArtifactRef, TrustTier};
use model::body::{SuccessorBegan, SuccessorJudged, SuccessorStopped};
use model::fault::Point;
use model::principal::PrincipalType;
use model::task::TaskStatus;
use model::{ActionRequestId, Digest, EventId, Sensitive, TaskId};
use seal::canon::INTEGER_MAX;
use seal::dsse;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Trials that run at the same time.
const RUNNING_MAX: usize = 8;
/// How often the end of a trial is recorded anew where somebody else was faster.
const TRIES: usize = 64;
/// How long between: what is on record already may be known here a moment later.
const BETWEEN_TRIES: Duration = Duration::from_millis(20);
/// Why a trial that ran when its host ended has no verdict.
const HOST_ENDED: &str = "the program that ran it ended before there was a verdict; begin it again";

/// A trial that is to begin.
#[derive(Debug, Clone, PartialEq)]
pub struct BegunTrial {
    /// The change.
    pub patch: Patch,
    /// What it is to do, in one line.
    pub about: String,
    /// The person's past work that both arms play.
    pub tasks: Vec<TaskId>,
    /// Tasks that were drawn and are not played, as they are too large.
    pub left_out: Vec<TaskId>,
    /// What the draw of them began with.
    pub seed: u64,
    /// What each clone may use up.
    pub budget: Budget,
}

impl Kernel {
    /// Trials of changes, the newest.
    pub fn trial_registry(&self) -> Arc<TrialRegistry> {
        Arc::clone(&lock(&self.store).trials)
    }

    /// Records that a change is tried, and keeps the change. Nothing runs by it.
    ///
    /// # Errors
    /// [`Error::Input`] for what is no change, no line, no budget or no task that is complete; [`Error::Conflict`] while too many
    /// trials run; [`Error::Secret`] when the change holds the value of one.
    pub fn begin_trial(&self, begun: &BegunTrial) -> Result<String, Error> {
        self.begin_one(begun, None, None)
    }

    /// As [`Kernel::begin_trial`], proposed by an act of a task that is under way. That task may be among those that are played: it is
    /// played as far as it came.
    ///
    /// # Errors
    /// As [`Kernel::begin_trial`]; [`Error::Conflict`] where the act has had its trial.
    pub fn begin_trial_of(
        &self,
        (task, act): (TaskId, ActionRequestId),
        begun: &BegunTrial,
    ) -> Result<String, Error> {
        if let Some(one) = self.trial_registry().of_act(act) {
            return Err(Error::Conflict(format!("it was tried before, as `{}`", one.trial_id)));
        }
        self.begin_one(begun, None, Some((task, act)))
    }

    /// As [`Kernel::begin_trial`], in a tournament: beside a trial over the same tasks, which the same seed drew.
    ///
    /// # Errors
    /// As [`Kernel::begin_trial`]; [`Error::Conflict`] where the other trial is over other tasks.
    pub fn begin_trial_beside(&self, first: &str, begun: &BegunTrial) -> Result<String, Error> {
        let registry = self.trial_registry();
        let other = registry.get(first).ok_or_else(|| missing(first))?;
        if (&other.tasks, other.seed, other.budget) != (&begun.tasks, begun.seed, begun.budget) {
            return Err(Error::Conflict(
                "changes that race are tried over the same tasks, seed and budget".to_owned(),
            ));
        }
        self.begin_one(begun, Some(other.group.clone().unwrap_or_else(|| first.to_owned())), None)
    }

    fn begin_one(
        &self,
        begun: &BegunTrial,
        group: Option<String>,
        proposed: Option<(TaskId, ActionRequestId)>,
    ) -> Result<String, Error> {
        let patch = begun.patch.bytes().map_err(input)?;
        check(begun)?;
        let is_under_way = |task: &TaskId| proposed.is_some_and(|(own, _)| own == *task);
        for task in begun.tasks.iter().filter(|task| !is_under_way(*task)) {
            let status = self.task(*task)?.task.status;
            if status != TaskStatus::Completed {
                return Err(Error::Input(format!(
                    "the task `{task}` is {status}: only what is complete is played again"
                )));
            }
        }
        let id = EventId::fresh(&*self.ports.clock, &*self.ports.entropy).to_string();
        let trial_id = format!("trial_{}", id.trim_start_matches("evt_"));
        let by = if proposed.is_some() { PrincipalType::Executor } else { PrincipalType::User };
        let mut w = self.trial_writeup(by, &trial_id)?;
        {
            let store = lock(&self.store);
            if store.trials.all().filter(|one| one.is_running()).count() >= RUNNING_MAX {
                return Err(Error::Conflict(format!("{RUNNING_MAX} trials run; wait for one, or stop one")));
            }
            w.batch.expect.push((store.system_task()?, store.seq));
        }
        let new = NewArtifact::audit(ArtifactKind::SuccessorPatch).trust(TrustTier::Untrusted);
        let patch = w.artifact(&patch, new)?;
        let (began_at, budget) = (w.now, begun.budget);
        w.push(SuccessorBegan {
            trial_id: trial_id.clone(),
            kind: begun.patch.kind(),
            patch,
            about: Sensitive::from(begun.about.trim().to_owned()),
            tasks: begun.tasks.clone(),
            seed: begun.seed,
            wall_ms: budget.wall_ms,
            cpu_ms: budget.cpu_ms,
            memory_bytes: budget.memory_bytes,
            disk_bytes: budget.disk_bytes,
            processes: budget.processes,
            tokens: budget.tokens,
            began_at,
            group,
            proposed_by: proposed.map(|(_, act)| act),
            left_out: Some(begun.left_out.clone()).filter(|tasks| !tasks.is_empty()),
        });
        self.commit(w)?;
        Ok(trial_id)
    }

    /// Records the verdict of a trial that runs, with the evidence that it was made of, and signs it with the key of the log.
    ///
    /// # Errors
    /// [`Error::Conflict`] where the trial does not run, or the verdict is on another change, over another seed or of other evidence;
    /// [`Error::KeyLocked`]; [`Error::Secret`] when evidence holds the value of one.
    pub fn end_trial(&self, verdict: &Verdict, evidence: &[Vec<u8>]) -> Result<(), Error> {
        self.anew_where_overtaken(|| self.end_judged(verdict, evidence))
    }

    /// Those that race end at about the same time. Where somebody else was faster in the store's own stream nothing was written, and what
    /// holds is looked at again.
    fn anew_where_overtaken(&self, record: impl Fn() -> Result<(), Error>) -> Result<(), Error> {
        for _ in 1..TRIES {
            match record() {
                Err(error) if self.store_moved(&error) => std::thread::sleep(BETWEEN_TRIES),
                came => return came,
            }
        }
        record()
    }

    fn end_judged(&self, verdict: &Verdict, evidence: &[Vec<u8>]) -> Result<(), Error> {
        let registry = self.trial_registry();
        let trial = running(&registry, &verdict.trial_id)?;
        self.check_verdict(trial, verdict, evidence)?;
        let bytes = verdict.bytes().map_err(input)?;
        let log = self.ports.keys.log().ok_or(Error::KeyLocked("log"))?;
        let signature = log.sign(&dsse::pae(VERDICT_PAYLOAD_TYPE, &bytes))?.to_string();
        let mut w = self.trial_writeup(PrincipalType::System, &verdict.trial_id)?;
        {
            // Nobody stopped it, and no other verdict came, since it was looked at.
            let store = lock(&self.store);
            running(&store.trials, &verdict.trial_id)?;
            w.batch.expect.push((store.system_task()?, store.seq));
        }
        let mut kept: Vec<ArtifactRef> = Vec::with_capacity(evidence.len());
        for one in evidence {
            let new = NewArtifact::audit(ArtifactKind::SuccessorEvidence).trust(TrustTier::Untrusted);
            kept.push(w.artifact(one, new)?);
        }
        let from = kept.iter().map(|one| one.artifact_id);
        let new = NewArtifact::audit(ArtifactKind::SuccessorVerdict).from(from);
        let at = w.artifact(&bytes, new)?;
        let judged_at = w.now;
        w.push(SuccessorJudged {
            trial_id: verdict.trial_id.clone(),
            outcome: verdict.outcome,
            verdict: at,
            evidence: kept,
            signature,
            keyid: log.public().keyid(),
            judged_at,
        });
        self.commit(w)?;
        Ok(())
    }

    /// Whether a verdict is one on this trial: of its change, its seed, and exactly this evidence.
    fn check_verdict(&self, trial: &Trial, verdict: &Verdict, evidence: &[Vec<u8>]) -> Result<(), Error> {
        let differs = |what: &str| Err(Error::Conflict(format!("the verdict is not of this trial: {what}")));
        if verdict.patch_sha256 != trial.patch.sha256 || verdict.kind != trial.kind {
            return differs("it is on another change");
        }
        if verdict.seed != trial.seed {
            return differs("it is over tasks that another seed drew");
        }
        let patch = Patch::read(&self.artifacts.read(&trial.patch.sha256)?).map_err(input)?;
        if verdict.constitutional != constitutional(&patch) {
            return differs("it names other rooms than the change touches");
        }
        let digests: Vec<Digest> = evidence.iter().map(|bytes| Digest::of(bytes)).collect();
        // A third is of the arm that a model was asked in once more.
        let is_answered = verdict.asked.is_some() || verdict.kind == PatchKind::Model;
        let most = if is_answered { 3 } else { 2 };
        if verdict.evidence_sha256 != digests || !(2..=most).contains(&digests.len()) {
            return differs("it was made of other evidence");
        }
        for bytes in evidence {
            Evidence::read(bytes).map_err(input)?;
        }
        Ok(())
    }

    /// Ends a trial that runs without a verdict: a person stopped it.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] where it does not run.
    pub fn stop_trial(&self, trial_id: &str, why: &str) -> Result<(), Error> {
        self.end_unjudged(trial_id, (false, why), PrincipalType::User)
    }

    /// Ends a trial that runs without a verdict, which no person said: the task that proposed it has ended, or the program ends.
    ///
    /// # Errors
    /// As [`Kernel::stop_trial`].
    pub fn stop_trial_unasked(&self, trial_id: &str, why: &str) -> Result<(), Error> {
        self.end_unjudged(trial_id, (false, why), PrincipalType::System)
    }

    /// Ends a trial that could not be made.
    ///
    /// # Errors
    /// As [`Kernel::stop_trial`].
    pub fn fail_trial(&self, trial_id: &str, why: &str) -> Result<(), Error> {
        self.end_unjudged(trial_id, (true, why), PrincipalType::System)
    }

    /// Trials that ran when the host before this one ended run no more.
    pub(crate) fn stop_left_trials(&self) -> Result<(), Error> {
        let left: Vec<String> = {
            let store = lock(&self.store);
            store.trials.all().filter(|one| one.is_running()).map(|one| one.trial_id.clone()).collect()
        };
        left.iter().try_for_each(|id| self.end_unjudged(id, (false, HOST_ENDED), PrincipalType::System))
    }

    fn end_unjudged(&self, trial_id: &str, how: (bool, &str), by: PrincipalType) -> Result<(), Error> {
        self.anew_where_overtaken(|| self.end_without(trial_id, how, by))
    }

    fn end_without(
        &self,
        trial_id: &str,
        (failed, why): (bool, &str),
        by: PrincipalType,
    ) -> Result<(), Error> {
        let mut w = self.trial_writeup(by, trial_id)?;
        {
            let store = lock(&self.store);
            running(&store.trials, trial_id)?;
            w.batch.expect.push((store.system_task()?, store.seq));
        }
        let why: String = why.chars().take(LINE_CHARS_MAX).collect();
        let stopped_at = w.now;
        w.push(SuccessorStopped {
            trial_id: trial_id.to_owned(),
            failed,
            why: Sensitive::from(why),
            stopped_at,
        });
        self.commit(w)?;
        Ok(())
    }

    fn trial_writeup(&self, by: PrincipalType, trial_id: &str) -> Result<Writeup<'_>, Error> {
        let actor = self.actor(by)?;
        self.store_writeup(Point::TrialRecord, actor, trial_id.to_owned(), None)
    }
}

/// Whether a trial can be as it is asked for, beside its change.
fn check(begun: &BegunTrial) -> Result<(), Error> {
    let about = begun.about.trim();
    if about.is_empty() || about.chars().any(char::is_control) || about.chars().count() > LINE_CHARS_MAX {
        return Err(Error::Input(format!(
            "say in one line of {LINE_CHARS_MAX} characters at most what the change is to do"
        )));
    }
    let seen: BTreeSet<&TaskId> = begun.tasks.iter().collect();
    if begun.tasks.is_empty() || begun.tasks.len() > TASKS_MAX || seen.len() != begun.tasks.len() {
        return Err(Error::Input(format!("a change is tried on 1 to {TASKS_MAX} tasks, each of them once")));
    }
    if begun.left_out.len() > LEFT_OUT_MAX {
        return Err(Error::Input(format!("{LEFT_OUT_MAX} tasks are told at most to have been left out")));
    }
    let most = u64::try_from(INTEGER_MAX).unwrap_or(u64::MAX);
    let Budget { wall_ms, cpu_ms, memory_bytes, disk_bytes, processes, tokens } = begun.budget;
    let parts = [wall_ms, cpu_ms, memory_bytes, disk_bytes, u64::from(processes)];
    if parts.contains(&0) || parts.iter().chain([&tokens, &begun.seed]).any(|part| *part > most) {
        return Err(Error::Input("a part of the budget is 0, or a number is too large".to_owned()));
    }
    Ok(())
}

fn running<'t>(registry: &'t TrialRegistry, trial_id: &str) -> Result<&'t Trial, Error> {
    let trial = registry.get(trial_id).ok_or_else(|| missing(trial_id))?;
    if !trial.is_running() {
        return Err(Error::Conflict(format!("the trial `{trial_id}` does not run: it is {}", trial.state)));
    }
    Ok(trial)
}

fn missing(trial_id: &str) -> Error {
    Error::NotFound { kind: "trial", id: trial_id.to_owned() }
}

fn input(error: ::successor::Error) -> Error {
    Error::Input(error.to_string())
}
