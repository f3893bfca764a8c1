//! Steps from what was asked: one, or several that wait for each other (HK-9-1, HK-10.2).

use super::submit::{Reasoning, Submission, title};
use crate::Error;
use crate::decide::cited;
use crate::kernel::Kernel;
use crate::state::TaskState;
use crate::tx::Tx;
use crate::writeup::{NewArtifact, Writeup};
use model::action::ActionClass;
use model::artifact::{ArtifactClass, ArtifactKind, ArtifactRef, TrustTier};
use model::body::{DecisionRecorded, StepCreated};
use model::criterion::Criterion;
use model::decision::{Decision, DecisionClass};
use model::policy::RiskBand;
use model::task::{BuildsOn, ModelChoice, Step, StepContract, StepKind, StepStatus};
use model::{ArtifactId, DecisionId, Sensitive, StepId, TaskId, UnixMs, limits};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Characters of the title of a step that is planned anew.
const TITLE_CHARS_MAX: usize = 80;

/// What every step promises.
const RECEIPTS: &str = "every important act has a receipt";
/// How every step is undone, unless it says otherwise.
const UNDO: &str = "undo each receipt, last first";

/// What proposes in a step that awaits an approval, where nobody is named: it is done when a person has said so.
const AWAIT: &str = r#"playbook: 1
name: await-approval
title: Await approval
description: Waits until a person says that what comes after this step may begin.
steps:
  - done: { summary: "A person said that what comes next may begin." }
"#;

/// One part of a goal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its name, by which later parts name it.
    pub name: String,
    /// What it is to reach.
    pub objective: String,
    /// Earlier parts that must have succeeded first.
    pub after: Vec<String>,
    /// Who proposes, when not the task's own reasoner.
    pub reasoning: Option<Reasoning>,
    /// Classes of action it may request; empty allows those of its kind that the profile allows.
    pub may: Vec<ActionClass>,
    /// What it is for; to pursue its objective when absent (HK-8.2-2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<StepKind>,
    /// What it is to leave, in words (HK-8.2-5).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaves: Vec<String>,
    /// What must hold at its end, as [`Criterion`] reads it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub done_when: Vec<String>,
    /// How to undo it, where that is not to undo each receipt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
}

impl Part {
    /// What its contract says beside its objective.
    fn check(&self) -> Result<(), Error> {
        let (name, kind) = (&self.name, self.kind.unwrap_or(StepKind::Pursue));
        if !StepKind::PLANNED.contains(&kind) {
            let kinds: Vec<&str> = StepKind::PLANNED.iter().map(|kind| kind.as_str()).collect();
            return Err(Error::Input(format!(
                "step `{name}` cannot be planned as `{kind}`; there are: {}",
                kinds.join(", ")
            )));
        }
        let beyond = self.may.iter().find(|class| !kind.may().is_empty() && !kind.may().contains(class));
        if let Some(class) = beyond {
            return Err(Error::Input(format!(
                "step `{name}` is to `{kind}`, and no such step may `{class}`; give that to another step"
            )));
        }
        let words = self.leaves.iter().chain(&self.undo);
        if words.clone().any(|text| text.trim().is_empty() || text.len() > limits::NOTE_BYTES_MAX)
            || self.leaves.len() > limits::STEPS_MAX
        {
            return Err(Error::Input(format!(
                "what step `{name}` leaves and how it is undone are up to {} texts that say something",
                limits::STEPS_MAX
            )));
        }
        Criterion::check_all(&self.done_when).map_err(|why| Error::Input(format!("step `{name}`: {why}")))
    }

    /// Its contract, but for who proposes in it.
    fn contract(&self) -> StepContract {
        let kind = self.kind.unwrap_or(StepKind::Pursue);
        let mut new = contract(self.objective.clone());
        new.allowed_action_classes = if self.may.is_empty() { kind.may().to_vec() } else { self.may.clone() };
        new.expected_outputs.clone_from(&self.leaves);
        new.success_criteria.extend(self.done_when.iter().cloned());
        new.rollback_hint = self.undo.clone().or(new.rollback_hint);
        new
    }
}

/// What a person said must hold at the end of a step.
pub(crate) fn own_criteria(contract: StepContract) -> Vec<String> {
    contract.success_criteria.into_iter().filter(|text| text != RECEIPTS).collect()
}

/// Names are given once, and each part waits only for earlier ones: so there is no ring.
pub(super) fn check(parts: &[Part]) -> Result<(), Error> {
    if parts.len() > limits::STEPS_MAX {
        return Err(Error::Input(format!(
            "{} steps were given and a task has at most {}; make several tasks of it",
            parts.len(),
            limits::STEPS_MAX
        )));
    }
    for (at, part) in parts.iter().enumerate() {
        let earlier: Vec<&str> = parts.iter().take(at).map(|p| p.name.as_str()).collect();
        if part.objective.trim().is_empty() || part.name.trim().is_empty() {
            return Err(Error::Input(format!("step {} needs a name and an objective", at + 1)));
        }
        if earlier.contains(&part.name.as_str()) {
            return Err(Error::Input(format!(
                "two steps are called `{}`; give each its own name",
                part.name
            )));
        }
        if let Some(unknown) = part.after.iter().find(|name| !earlier.contains(&name.as_str())) {
            return Err(Error::Input(format!(
                "step `{}` waits for `{unknown}`, which is no earlier step; earlier ones are: {}",
                part.name,
                if earlier.is_empty() { "none".to_owned() } else { earlier.join(", ") }
            )));
        }
        part.check()?;
    }
    Ok(())
}

impl Kernel {
    /// Records the steps of a new task, each of which counts on what the task was given and on what the steps before it end
    /// with; returns those that wait for nothing.
    pub(super) fn create_steps(
        &self,
        w: &mut Writeup<'_>,
        submission: &Submission,
        given: &[ArtifactId],
    ) -> Result<Vec<StepId>, Error> {
        if submission.steps.is_empty() {
            let mut contract = contract(submission.goal.clone());
            contract.expected_inputs = given.to_vec();
            let kind = match submission.reasoning {
                Reasoning::Rollback { .. } => StepKind::Rollback,
                _ => StepKind::Pursue,
            };
            return Ok(vec![self.create_step(w, kind, title(submission), &contract, Vec::new())?]);
        }
        let (mut ids, tier): (BTreeMap<&str, StepId>, _) = (BTreeMap::new(), submission.sender().tier());
        let mut ready = Vec::new();
        for part in &submission.steps {
            let (mut contract, kind) = (part.contract(), part.kind.unwrap_or(StepKind::Pursue));
            contract.expected_inputs = given.to_vec();
            contract.builds_on = builds_on(part, &submission.steps, &ids);
            let awaits = (kind == StepKind::AwaitApproval).then(await_approval);
            let proposes = part.reasoning.as_ref().or(awaits.as_ref());
            contract.model = proposes.map(|r| self.model_choice(w, r, tier)).transpose()?;
            let depends_on: Vec<StepId> =
                part.after.iter().filter_map(|name| ids.get(name.as_str()).copied()).collect();
            let free = depends_on.is_empty();
            let step_id = self.create_step(w, kind, part.name.clone(), &contract, depends_on)?;
            ids.insert(&part.name, step_id);
            if free {
                ready.push(step_id);
            }
        }
        Ok(ready)
    }

    fn create_step(
        &self,
        w: &mut Writeup<'_>,
        kind: StepKind,
        title: String,
        contract: &StepContract,
        depends_on: Vec<StepId>,
    ) -> Result<StepId, Error> {
        let step_id = self.fresh_step();
        let contract_ref = w.object(contract, NewArtifact::audit(ArtifactKind::StepContract))?;
        let id = contract_ref.artifact_id;
        let step = planned((step_id, w.scope.task_id), kind, title, id, depends_on, w.now);
        w.push(StepCreated { step });
        Ok(step_id)
    }

    /// The goal of a task of several steps was edited: those that nobody has begun were for the goal of before. One step for
    /// what is asked now takes their place, and may no more than they.
    pub(super) fn plan_anew(&self, tx: &mut Tx<'_>, goal: &str) -> Result<(), Error> {
        let begun: BTreeSet<StepId> = tx.attempts.values().map(|one| one.attempt.step_id).collect();
        let is_open = |step: &&Step| matches!(step.status, StepStatus::Planned | StepStatus::Ready);
        let open: Vec<Step> =
            tx.in_order().filter(is_open).filter(|step| !begun.contains(&step.step_id)).cloned().collect();
        if tx.steps.len() < 2 || open.is_empty() {
            return Ok(());
        }
        let mut new = contract(goal.to_owned());
        for (at, step) in open.iter().enumerate() {
            let StepContract { allowed_action_classes: may, expected_inputs, .. } =
                self.read_object(tx, step.contract_ref)?;
            for id in expected_inputs {
                if !new.expected_inputs.contains(&id) {
                    new.expected_inputs.push(id);
                }
            }
            new.allowed_action_classes = match (at, new.allowed_action_classes) {
                (0, _) => may,
                (_, all) if all.is_empty() || may.is_empty() => Vec::new(),
                (_, mut all) => {
                    all.extend(may.into_iter().filter(|class| !all.contains(class)).collect::<Vec<_>>());
                    all
                }
            };
            tx.set_step_of(step.step_id, StepStatus::Superseded, "the goal was edited")?;
        }
        let before: Vec<Step> = tx.open_steps(None).cloned().collect();
        for step in &before {
            let outputs = self.read_object::<StepContract>(tx, step.contract_ref)?.expected_outputs;
            let title = step.title.shown().cloned().unwrap_or_default();
            new.builds_on.push(BuildsOn { step_id: step.step_id, title, outputs });
        }
        let mut depends_on: Vec<StepId> = before.iter().map(|step| step.step_id).collect();
        // What was to wait for a person waits for them still.
        let gate = open.iter().find(|step| step.kind == StepKind::AwaitApproval);
        if let Some(gate) = gate {
            let title = gate.title.shown().cloned().unwrap_or_default();
            depends_on = vec![self.plan_behind(tx, (gate.kind, title), gate.contract_ref, depends_on)?];
        }
        let promised = tx.object(&new, NewArtifact::audit(ArtifactKind::StepContract))?;
        let title: String = goal.lines().next().unwrap_or_default().chars().take(TITLE_CHARS_MAX).collect();
        // That step goes on, so it is none of those that are given up.
        let is_kept = |step: &Step| gate.is_some_and(|gate| gate.step_id == step.step_id);
        let given_up: Vec<&Step> = open.iter().filter(|step| !is_kept(step)).collect();
        let decision = self.planned_anew(tx, &given_up, &title, &promised);
        tx.push(DecisionRecorded { decision });
        self.plan_behind(tx, (StepKind::Pursue, title), promised.artifact_id, depends_on)?;
        Ok(())
    }

    /// That another plan is followed is a decision of whoever edited the goal; the steps of before are what else there was.
    fn planned_anew(&self, tx: &Tx<'_>, given_up: &[&Step], title: &str, promised: &ArtifactRef) -> Decision {
        let kept = |step: &&Step| {
            let name = step.title.shown().map_or("a step whose title was erased", String::as_str);
            Sensitive::from(format!("go on with the step `{name}`"))
        };
        let summary = match given_up.len() {
            0 => format!("`{title}` comes behind the step that waits for a person"),
            many => {
                let steps = acts::count(many, "step");
                format!("`{title}` takes the place of {steps} that nobody had begun")
            }
        };
        Decision {
            decision_id: DecisionId::fresh(&*self.ports.clock, &*self.ports.entropy),
            task_id: tx.task.task_id,
            step_id: tx.step().map(|step| step.step_id),
            attempt_id: tx.current,
            decision_type: DecisionClass::Planning,
            summary: Sensitive::from(summary),
            rationale: Sensitive::from(
                "the goal was edited, and they were for the goal of before".to_owned(),
            ),
            evidence_refs: vec![cited(promised)],
            risk_level: RiskBand::Low,
            decided_by: tx.actor().actor_id,
            reversible: true,
            created_at: tx.now(),
            alternatives_considered: given_up.iter().map(kept).collect(),
            policy_override_ref: None,
            effective_until: None,
            constraints_ref: Some(tx.task.task_contract_ref),
        }
    }

    /// Plans a step behind others; one behind none is ready.
    fn plan_behind(
        &self,
        tx: &mut Tx<'_>,
        (kind, title): (StepKind, String),
        contract_ref: ArtifactId,
        depends_on: Vec<StepId>,
    ) -> Result<StepId, Error> {
        let (step_id, is_free, at) = (self.fresh_step(), depends_on.is_empty(), tx.now());
        let step = planned((step_id, tx.task.task_id), kind, title, contract_ref, depends_on, at);
        tx.push(StepCreated { step });
        if is_free {
            tx.set_step_of(step_id, StepStatus::Ready, "waits for nothing")?;
        }
        Ok(step_id)
    }

    pub(super) fn model_choice(
        &self,
        w: &mut Writeup<'_>,
        reasoning: &Reasoning,
        tier: TrustTier,
    ) -> Result<ModelChoice, Error> {
        let text = |kind| NewArtifact::audit(kind).class(ArtifactClass::Working).trust(tier);
        Ok(match reasoning {
            Reasoning::Playbook { name, text: playbook, parameters } => {
                let new = text(ArtifactKind::Playbook).media("text/plain; charset=utf-8");
                let at = w.artifact(playbook.as_bytes(), new)?;
                ModelChoice::Playbook {
                    name: name.clone(),
                    artifact_id: at.artifact_id,
                    parameters: parameters.clone(),
                }
            }
            Reasoning::Openai { api, base_url, model, secret } => ModelChoice::Openai {
                api: *api,
                base_url: base_url.clone(),
                model: model.clone(),
                secret: secret.clone(),
            },
            Reasoning::Recorded { text: transcript } => {
                let new = text(ArtifactKind::Transcript).media("text/plain; charset=utf-8");
                let at = w.artifact(transcript.as_bytes(), new)?;
                ModelChoice::Recorded { artifact_id: at.artifact_id }
            }
            Reasoning::Scripted { name } => ModelChoice::Scripted { name: name.clone() },
            Reasoning::Session { client, version } => {
                ModelChoice::Session { client: client.clone(), version: version.clone() }
            }
            Reasoning::Guest { launch } => {
                let new = text(ArtifactKind::GuestLaunch).media("application/json");
                let at = w.object(&**launch, new)?;
                ModelChoice::Guest { guest: launch.guest.clone(), launch: at.artifact_id }
            }
            Reasoning::Tools { change } => {
                let new = text(ArtifactKind::ToolManifest).media("application/json");
                ModelChoice::Tools { change: w.artifact(change.as_bytes(), new)?.artifact_id }
            }
            Reasoning::Rollback { receipt_id, also } => {
                ModelChoice::Rollback { receipt_id: *receipt_id, also: also.clone() }
            }
        })
    }

    /// The parts of a task, as they would have to be given to make it again.
    pub(super) fn parts_of(&self, state: &TaskState) -> Result<Vec<Part>, Error> {
        if state.steps.len() < 2 && !self.is_narrowed(state)? {
            return Ok(Vec::new());
        }
        let steps: Vec<&Step> =
            state.in_order().filter(|step| step.status != StepStatus::Superseded).collect();
        let name = |step: &Step| step.title.shown().cloned().unwrap_or_else(|| step.step_id.to_string());
        let mut parts = Vec::new();
        for step in &steps {
            let contract: StepContract = self.read_object(state, step.contract_ref)?;
            let after = steps.iter().filter(|s| step.depends_on.contains(&s.step_id)).map(|s| name(s));
            let model = contract.model.clone();
            let reasoning = model.map(|choice| self.reasoning_of(state, choice)).transpose()?;
            parts.push(Part {
                name: name(step),
                objective: contract.objective.clone(),
                after: after.collect(),
                reasoning,
                may: contract.allowed_action_classes.clone(),
                kind: Some(step.kind).filter(|kind| *kind != StepKind::Pursue),
                leaves: contract.expected_outputs.clone(),
                undo: contract.rollback_hint.clone().filter(|hint| hint != UNDO),
                done_when: own_criteria(contract),
            });
        }
        Ok(parts)
    }

    /// Whether the only step of a task was planned as a part: it may less than the task, or more must hold at its end.
    fn is_narrowed(&self, state: &TaskState) -> Result<bool, Error> {
        let Some(step) = state.in_order().next() else { return Ok(false) };
        let contract: StepContract = self.read_object(state, step.contract_ref)?;
        let is_planned = StepKind::PLANNED.contains(&step.kind);
        let is_of_kind = is_planned && step.kind != StepKind::Pursue;
        let is_less = !contract.allowed_action_classes.is_empty() || !contract.expected_outputs.is_empty();
        Ok(is_of_kind || is_planned && (is_less || !own_criteria(contract).is_empty()))
    }

    /// A reasoner as it would have to be named to be chosen again.
    pub(crate) fn reasoning_of(&self, state: &TaskState, choice: ModelChoice) -> Result<Reasoning, Error> {
        let text = |id: ArtifactId| -> Result<String, Error> {
            let digest = state
                .digest_of(id)
                .ok_or_else(|| Error::NotFound { kind: "artifact", id: id.to_string() })?;
            String::from_utf8(self.artifacts.read(&digest)?).map_err(|e| Error::Broken(e.to_string()))
        };
        Ok(match choice {
            ModelChoice::Playbook { name, artifact_id, parameters } => {
                Reasoning::Playbook { name, text: text(artifact_id)?, parameters }
            }
            ModelChoice::Openai { api, base_url, model, secret } => {
                Reasoning::Openai { api, base_url, model, secret }
            }
            ModelChoice::Recorded { artifact_id } => Reasoning::Recorded { text: text(artifact_id)? },
            ModelChoice::Scripted { name } => Reasoning::Scripted { name },
            ModelChoice::Session { client, version } => Reasoning::Session { client, version },
            ModelChoice::Rollback { receipt_id, also } => Reasoning::Rollback { receipt_id, also },
            ModelChoice::Guest { launch, .. } => {
                Reasoning::Guest { launch: self.read_object(state, launch)? }
            }
            ModelChoice::Tools { change } => Reasoning::Tools { change: text(change)? },
        })
    }
}

/// A step that nobody has begun.
fn planned(
    (step_id, task_id): (StepId, TaskId),
    kind: StepKind,
    title: String,
    contract_ref: ArtifactId,
    depends_on: Vec<StepId>,
    at: UnixMs,
) -> Step {
    Step {
        step_id,
        task_id,
        kind,
        title: Sensitive::from(title),
        contract_ref,
        status: StepStatus::Planned,
        depends_on,
        max_attempts: limits::ATTEMPTS_MAX,
        created_at: at,
        updated_at: at,
    }
}

/// The earlier parts that one waits for, with what each is to leave.
fn builds_on(part: &Part, all: &[Part], ids: &BTreeMap<&str, StepId>) -> Vec<BuildsOn> {
    let before = part.after.iter().filter_map(|name| {
        let step_id = *ids.get(name.as_str())?;
        let outputs = all.iter().find(|one| one.name == *name)?.leaves.clone();
        Some(BuildsOn { step_id, title: name.clone(), outputs })
    });
    before.collect()
}

fn await_approval() -> Reasoning {
    let (name, text, parameters) = ("await-approval".to_owned(), AWAIT.to_owned(), BTreeMap::new());
    Reasoning::Playbook { name, text, parameters }
}

fn contract(objective: String) -> StepContract {
    StepContract {
        objective,
        expected_inputs: Vec::new(),
        builds_on: Vec::new(),
        expected_outputs: Vec::new(),
        success_criteria: vec![RECEIPTS.to_owned()],
        allowed_action_classes: Vec::new(),
        rollback_hint: Some(UNDO.to_owned()),
        model: None,
    }
}
