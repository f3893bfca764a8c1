//! From a lease to a request: compile the context, put on record what the model is asked.

use super::Then;
use super::pictures::pictures_in;
use super::pinned::{origin_in_words, profile_in_words};
use crate::Error;
use crate::command::memory::memories_in;
use crate::decide::Spending;
use crate::kernel::{Kernel, lock};
use crate::state::{AttemptState, ObservedRef, TaskState};
use crate::tx::Tx;
use crate::writeup::NewArtifact;
use knowledge::{PackInput, Pinned};
use model::artifact::{ArtifactKind, ArtifactRef};
use model::attempt::AttemptStatus;
use model::body::{
    AttemptCheckpointed, Boundary, BudgetReserved, ContextCompiled, DecisionRecorded, ModelRequested,
    TaskInputAbsorbed,
};
use model::context::ContextPack;
use model::decision::{Decision, DecisionClass};
use model::fault::Point;
use model::limits::PICTURE_TOKENS;
use model::policy::RiskBand;
use model::proposal::ToolSpec;
use model::task::{ModelChoice, Origin, Proposer, StepContract, TaskContract};
use model::{ArtifactId, DecisionId, Sensitive, Slot, WorkspaceId};
use reasoning::{Observed, Pictures, Reasoner};
use std::path::PathBuf;
use std::sync::Arc;

impl Kernel {
    /// The folder the task works in.
    pub(crate) fn workspace_root(&self, state: &TaskState) -> Result<PathBuf, Error> {
        let id =
            state.task.workspace_hint.ok_or_else(|| Error::Input("the task has no workspace".to_owned()))?;
        self.root_of(id)
    }

    /// A folder that is known here.
    pub(crate) fn root_of(&self, id: WorkspaceId) -> Result<PathBuf, Error> {
        let root = lock(&self.store).workspaces.get(&id).cloned().flatten();
        let root = root.ok_or_else(|| Error::NotFound { kind: "workspace", id: id.to_string() })?;
        crate::workspace::decode_root(&root)
    }

    /// The contract, from its artifact.
    pub(crate) fn contract(&self, state: &TaskState) -> Result<TaskContract, Error> {
        self.read_object(state, state.task.task_contract_ref)
    }

    /// A JSON object of this task, typed.
    pub(crate) fn read_object<T: serde::de::DeserializeOwned>(
        &self,
        state: &TaskState,
        id: ArtifactId,
    ) -> Result<T, Error> {
        let digest =
            state.digest_of(id).ok_or_else(|| Error::NotFound { kind: "artifact", id: id.to_string() })?;
        self.object_at(&ArtifactRef { artifact_id: id, sha256: digest })
    }

    /// A JSON object by its artifact's bytes, typed.
    pub(crate) fn object_at<T: serde::de::DeserializeOwned>(&self, at: &ArtifactRef) -> Result<T, Error> {
        let bytes = self.artifacts.read(&at.sha256)?;
        serde_json::from_slice(&bytes)
            .map_err(|e| Error::Broken(format!("artifact `{}` is malformed: {e}", at.artifact_id)))
    }

    /// The reasoner that the step at work names, else the task's.
    pub(crate) fn choice(&self, state: &TaskState, contract: &TaskContract) -> Result<ModelChoice, Error> {
        self.choice_in(state, contract, state.step())
    }

    /// Who proposes in the attempt at work; of an attempt that does not say, its contract does.
    pub(super) fn proposer(&self, state: &TaskState) -> Result<Proposer, Error> {
        match state.attempt().and_then(|attempt| attempt.attempt.proposer) {
            Some(proposer) => Ok(proposer),
            None => Ok(self.choice(state, &self.contract(state)?)?.proposer()),
        }
    }

    /// The reasoner of the step at work; a rollback task has none but the kernel's own plan.
    pub(crate) fn reasoner(
        &self,
        state: &TaskState,
        contract: &TaskContract,
    ) -> Result<Arc<dyn Reasoner>, Error> {
        let choice = self.choice(state, contract)?;
        let text = match &choice {
            ModelChoice::Playbook { artifact_id, .. } | ModelChoice::Recorded { artifact_id } => {
                let digest = state.digest_of(*artifact_id);
                let digest = digest
                    .ok_or_else(|| Error::NotFound { kind: "artifact", id: artifact_id.to_string() })?;
                Some(self.artifacts.read(&digest)?)
            }
            ModelChoice::Session { client, version } => {
                return Ok(Arc::new(reasoning::Session::new(client, version)));
            }
            ModelChoice::Guest { launch, .. } => {
                return Ok(Arc::new(reasoning::Guest::new(&self.read_object(state, *launch)?)));
            }
            ModelChoice::Openai { .. }
            | ModelChoice::Scripted { .. }
            | ModelChoice::Rollback { .. }
            | ModelChoice::Tools { .. } => None,
        };
        self.ports.reasoners.reasoner(&choice, text.as_deref()).map_err(Error::Reasoning)
    }

    /// The context pack, the exact bytes of the request, the reserved budget: one commit before the call.
    pub(super) fn compile(&self, tx: &mut Tx<'_>) -> Result<Then, Error> {
        let contract = self.contract(tx)?;
        if let ModelChoice::Rollback { receipt_id, also } = contract.model {
            let receipts: Vec<_> = std::iter::once(receipt_id).chain(also).collect();
            return self.plan_rollback(tx, &receipts);
        }
        if let ModelChoice::Tools { change } = contract.model {
            return self.plan_tools(tx, change);
        }
        self.expire_beliefs(tx)?;
        let reasoner = self.reasoner(tx, &contract)?;
        let descriptor = reasoner.descriptor();
        let proposer = descriptor.provider;
        let offered = self.offered_tools(tx, &descriptor)?;
        let takes = descriptor.takes().saturating_sub(offered.tokens);
        let mut input = self.pack_input(tx, &contract, takes, proposer.reads_context())?;
        input.artifacts.extend(self.predecessor(tx.cell(), tx)?);
        let at_hand = match proposer.reads_context() {
            true => self.with_pictures(tx, descriptor.sees, &mut input.artifacts)?,
            false => Pictures::new(),
        };
        let has_skills = proposer.reads_context() && self.with_skills(tx, takes, &mut input);
        let skin = if proposer.reads_context() { self.with_skin(tx, &mut input) } else { None };
        let redactor = self.ports.redactor.now();
        let pack =
            knowledge::pack::compile_with(&input, &redactor).map_err(|e| Error::Broken(e.to_string()))?;
        if !knowledge::pack::holds_pinned(&input, &redactor, &pack) {
            return Err(Error::Broken("a context lacks a rule or its contract; it is not sent".to_owned()));
        }
        // A playbook reads no pack, nor does an agent outside.
        if proposer.reads_context() && !knowledge::pack::fits(&pack) {
            return self.too_long(tx, &pack);
        }
        let tools = self.tools_of_turn(tx, offered, has_skills, skin.as_ref())?;
        let (request, read) = encoded(&*reasoner, &pack, &tools, &at_hand)?;
        let reserve = match proposer.spends_tokens() {
            false => 0,
            true => read.saturating_add(u64::from(descriptor.answers())),
        };
        // A call without a price costs nothing: what is left of a budget of money is for the others.
        let cost = match reserve {
            0 => 0,
            _ => descriptor.price(read, u64::from(descriptor.answers())),
        };
        let taken = tx.attempt().map_or(0, |attempt| attempt.loop_state.iteration);
        let spending = Spending {
            tokens: if reserve == 0 { 0 } else { tx.tokens_spent.saturating_add(reserve) },
            cost_micros: if cost == 0 { 0 } else { tx.cost_spent.saturating_add(cost) },
            wall_ms: tx.wall_ms,
            // A playbook takes as many turns as it needs, up to the cap of every run: nobody can know how many those are.
            iterations: proposer.reads_context().then_some(taken),
        };
        match self.ask_at_limit(tx, &contract, spending)? {
            Some(then) => Ok(then),
            None => match self.within_day(tx.task.task_id, cost)? {
                Ok(()) => self.store_request(tx, &pack, &request, &descriptor, (reserve, cost)),
                Err(said) => self.day_is_full(tx, said),
            },
        }
    }

    fn store_request(
        &self,
        tx: &mut Tx<'_>,
        pack: &ContextPack,
        request: &[u8],
        descriptor: &reasoning::Descriptor,
        (reserve, cost_micros): (u64, u64),
    ) -> Result<Then, Error> {
        tx.at(Point::ContextCompile);
        let (about_task_id, attempt_id) = (tx.task.task_id, self.attempt_id(tx)?);
        let heard: Vec<_> = tx.inputs.iter().map(|input| input.ingress_id).collect();
        for ingress_id in heard {
            tx.push(TaskInputAbsorbed { about_task_id, ingress_id, boundary: Boundary::PreCompilation });
        }
        tx.unblock("goes on")?;
        tx.set_attempt(AttemptStatus::CompilingContext, "next turn")?;
        let decided = tx.attempt().and_then(|attempt| attempt.remote_model.as_deref());
        if descriptor.remote && decided != Some(descriptor.model.as_str()) {
            self.decide_remote(tx, descriptor);
        }
        let pack_ref =
            tx.object(pack, NewArtifact::audit(ArtifactKind::ContextPack).from(pack.inputs.iter().copied()))?;
        tx.push(ContextCompiled {
            about_attempt_id: attempt_id,
            iteration: pack.iteration,
            pack: pack_ref.clone(),
            tokens: pack.tokens,
            items: u32::try_from(pack.items.len()).unwrap_or(u32::MAX),
            omissions: u32::try_from(pack.omissions.len()).unwrap_or(u32::MAX),
            memories: Some(memories_in(pack)).filter(|memories| !memories.is_empty()),
            pinned: Some(knowledge::pack::pinned_texts(pack)),
        });
        let new = NewArtifact::audit(ArtifactKind::ModelRequest).from([pack_ref.artifact_id]);
        let request = tx.artifact(request, new)?;
        if reserve > 0 {
            tx.push(BudgetReserved { about_task_id, tokens: reserve, cost_micros });
        }
        tx.push(ModelRequested {
            about_attempt_id: attempt_id,
            iteration: pack.iteration,
            request,
            provider: descriptor.provider.to_string(),
            model: descriptor.model.clone(),
            remote: descriptor.remote,
        });
        let working = tx.working_state.as_ref().map(|(r, _)| r.artifact_id);
        tx.push(AttemptCheckpointed {
            about_attempt_id: attempt_id,
            iteration: pack.iteration,
            context_pack_ref: Slot::Value(pack_ref.artifact_id),
            working_state_ref: Slot::or(working, model::slot::Absence::NotRequired),
        });
        tx.set_attempt(AttemptStatus::Reasoning, "asked")?;
        Ok(Then::Commit)
    }

    /// That context leaves this machine was decided by whoever chose the model; it is on record before the first call.
    fn decide_remote(&self, tx: &mut Tx<'_>, to: &reasoning::Descriptor) {
        let decision = Decision {
            decision_id: DecisionId::fresh(&*self.ports.clock, &*self.ports.entropy),
            task_id: tx.task.task_id,
            step_id: tx.step().map(|s| s.step_id),
            attempt_id: tx.current,
            decision_type: DecisionClass::Execution,
            summary: Sensitive::from(format!("context goes to the model `{}` on another machine", to.model)),
            rationale: Sensitive::from(match tx.task.origin() {
                Origin::Person => "the person who gave the goal chose this model".to_owned(),
                origin => format!("the {origin} that gave the goal chose this model"),
            }),
            evidence_refs: Vec::new(),
            risk_level: RiskBand::High,
            decided_by: tx.task.owner_principal_id,
            reversible: false,
            created_at: tx.now(),
            alternatives_considered: Vec::new(),
            policy_override_ref: None,
            effective_until: None,
            constraints_ref: Some(tx.task.task_contract_ref),
        };
        tx.push(DecisionRecorded { decision });
    }

    /// Everything the pack is compiled from, in this task and in durable memory.
    fn pack_input(
        &self,
        state: &TaskState,
        contract: &TaskContract,
        tokens: u32,
        is_read: bool,
    ) -> Result<PackInput, Error> {
        let attempt = state.attempt().ok_or_else(|| Error::Broken("no attempt".to_owned()))?;
        let mut input = PackInput::new(
            state.task.task_id,
            attempt.attempt.attempt_id,
            state.task.task_contract_ref,
            contract.clone(),
        );
        input.iteration = attempt.iteration.saturating_add(1);
        input.tokens_max = tokens.max(512);
        input.now = self.ports.clock.now();
        input.goal = state.goal_text();
        (input.goal_tier, input.contract_tier) = (state.goal_tier(), state.contract_tier());
        if let Some(step) = state.step() {
            let mut asked: StepContract = self.read_object(state, step.contract_ref)?;
            // The one step of a task has the goal as its objective, and follows it when it is edited.
            if asked.objective == contract.goal {
                asked.objective.clone_from(&input.goal);
            }
            input.step = Some((step.contract_ref, asked));
        }
        input.policy = vec![Pinned {
            source: format!("profile:{}", state.task.policy_profile_ref),
            text: profile_in_words(state.task.policy_profile_ref).to_owned(),
        }];
        input.policy.extend(
            origin_in_words(state.task.origin()).map(|text| Pinned {
                source: format!("origin:{}", state.task.origin()),
                text: text.to_owned(),
            }),
        );
        input.soul = self.pinned_soul();
        input.decisions.clone_from(&state.decisions);
        if let Some((at, _)) = &state.working_state {
            input.working_state = Some((at.artifact_id, self.read_object(state, at.artifact_id)?));
        }
        input.beliefs = state.beliefs.values().cloned().collect();
        // What was said is looked up in memory, too.
        input.ingress = super::seen::deltas(state);
        (input.memories, input.meaning, input.memories_withheld) =
            self.recalled(state, &input, is_read && !attempt.loop_state.is_led)?;
        // Whoever leads it from outside is told what came of each call, and is sent no pack.
        if !attempt.loop_state.is_led {
            input.artifacts = self.materials(state, attempt)?;
            input.summary = self.summary_of(state, attempt)?;
            input.turns = turns(state, attempt);
        }
        Ok(input)
    }

    /// Everything this attempt has seen, whole, for a reasoner that decides from it.
    pub(super) fn observations(&self, seen: &[ObservedRef]) -> Result<Vec<Observed>, Error> {
        let read = |o: &ObservedRef| {
            Ok(Observed {
                artifact_id: o.artifact.artifact_id,
                tool: o.tool.clone(),
                about: o.about.clone(),
                sha256: o.artifact.sha256,
                bytes: self.artifacts.read(&o.artifact.sha256)?,
            })
        };
        seen.iter().map(read).collect()
    }
}

/// The exact bytes of a request, each picture named in the place of its own, and how many tokens are read of it: the context,
/// the rules, the words of every tool, and each picture.
fn encoded(
    reasoner: &dyn Reasoner,
    pack: &ContextPack,
    tools: &[ToolSpec],
    at_hand: &Pictures,
) -> Result<(Vec<u8>, u64), Error> {
    let failed = |e: reasoning::Error| Error::Reasoning(e.to_string());
    let words = reasoner.encode(pack, tools).map_err(failed)?;
    let whole = u64::from(knowledge::tokens::count_tokens(&String::from_utf8_lossy(&words)));
    let pictures = pictures_in(pack, at_hand);
    if pictures.is_empty() {
        return Ok((words, whole.max(u64::from(pack.tokens))));
    }
    let shown = u64::from(PICTURE_TOKENS).saturating_mul(pictures.len() as u64);
    let request = reasoner.encode_with(pack, tools, &pictures).map_err(failed)?;
    let request = reasoning::pictures::without_bytes(request, &pictures);
    Ok((request, whole.saturating_add(shown).max(u64::from(pack.tokens))))
}

/// Earlier turns that stand in no summary, and why the last answer could not be used (RX-9-2).
fn turns(state: &TaskState, attempt: &AttemptState) -> Vec<knowledge::Turn> {
    let trust_tier = super::weakest_seen(state, attempt);
    let summed_up = attempt.compacted.as_ref().map_or(0, |compacted| compacted.through);
    let turn = |(iteration, summary): &(u32, String)| knowledge::Turn {
        iteration: *iteration,
        summary: summary.clone(),
        trust_tier,
    };
    let since = attempt.turns.iter().filter(|(iteration, _)| *iteration > summed_up);
    let mut turns: Vec<knowledge::Turn> = since.map(turn).collect();
    if attempt.loop_state.malformed_in_a_row > 0
        && let Some(error) = &attempt.loop_state.last_error
    {
        let iteration = attempt.iteration.saturating_add(1);
        turns.push(knowledge::Turn {
            iteration,
            summary: format!("your last answer was not usable: {error}"),
            trust_tier,
        });
    }
    turns
}
