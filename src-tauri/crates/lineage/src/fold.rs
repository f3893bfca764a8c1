//! Events into nodes and edges, one at a time.

use crate::graph::Graph;
use crate::node::{EdgeKind, Node, NodeId};
use model::artifact::{Artifact, ArtifactRef, EvidenceRef, Selector, TrustTier};
use model::body::{
    ActionRequested, ApprovalRequested, Body, EffectProgressed, GrantIssued, ReceiptIssued, ReceiptsUndone,
    TrialStarted,
};
use model::knowledge::{Belief, MemoryRecord};
use model::task::{Step, Task};
use model::{ArtifactId, AttemptId, Event, Sensitive, TaskId, UnixMs};

/// The tool of a look at files, as in the log.
const LOOK: &str = "observe";

/// The place of one event while it is folded.
struct At<'a> {
    graph: &'a mut Graph,
    task_id: TaskId,
    attempt_id: Option<AttemptId>,
    at: UnixMs,
}

impl Graph {
    /// Folds one event with its body; `event` need not disclose anything, `body` shows what is still disclosed.
    pub fn apply(&mut self, event: &Event, body: &Body) {
        self.events += 1;
        let (task_id, attempt_id, at) = (event.task_id, event.attempt_id, event.occurred_at);
        At { graph: self, task_id, attempt_id, at }.take(body);
    }
}

impl At<'_> {
    fn take(&mut self, body: &Body) {
        self.take_work(body);
        self.take_act(body);
        self.take_knowledge(body);
    }

    /// Names a node and what is known of it; a later event may tell more.
    fn node(&mut self, id: impl Into<NodeId>, label: Option<&Sensitive<String>>, detail: &str) -> &mut Node {
        let id = id.into();
        let (task_id, at, order) = (self.task_id, self.at, self.graph.events);
        let node = self.graph.nodes.entry(id).or_insert_with(|| Node {
            id,
            task_id,
            at,
            order,
            label: None,
            detail: String::new(),
            trust_tier: None,
            artifact_kind: None,
            content_hash: None,
            known: false,
        });
        if !node.known {
            (node.task_id, node.at, node.order, node.known) = (task_id, at, order, true);
        }
        if let Some(label) = label {
            node.label = Some(label.clone());
        }
        if !detail.is_empty() {
            node.detail = detail.to_owned();
        }
        node
    }

    /// Joins two nodes; one that no event has made yet stands as named only.
    fn join(&mut self, from: impl Into<NodeId>, kind: EdgeKind, to: impl Into<NodeId>) {
        let (from, to) = (from.into(), to.into());
        for id in [from, to] {
            if !self.graph.nodes.contains_key(&id) {
                self.node(id, None, "").known = false;
            }
        }
        self.graph.join(from, kind, to);
    }

    fn record(&mut self, of: impl Into<NodeId>, artifact: &ArtifactRef) {
        self.join(of, EdgeKind::Recorded, artifact.artifact_id);
    }

    fn evidence(&mut self, refs: &[EvidenceRef], of: impl Into<NodeId>) {
        let of = of.into();
        for one in refs {
            self.join(one.artifact_id, EdgeKind::Supports, of);
            let pointer = match &one.selector {
                Selector::JsonPath { pointer } | Selector::Lines { of: Some(pointer), .. } => Some(pointer),
                _ => None,
            };
            self.graph.rests_on_part(one.artifact_id, of, pointer);
        }
    }

    fn take_work(&mut self, body: &Body) {
        match body {
            Body::IngressReceived(b) => {
                self.node(b.record.ingress_id, Some(&b.record.raw_text), b.record.source_channel.as_str());
            }
            Body::IngressAttributed(b) => {
                let node = self.node(b.ingress_id, None, "");
                node.trust_tier = Some(b.trust_tier);
                if b.trust_tier != TrustTier::UserAsserted {
                    node.detail = format!("{}, {}", node.detail, b.trust_tier);
                }
            }
            Body::TaskCreated(b) => {
                self.task(&b.task);
                self.join(b.ingress_id, EdgeKind::Started, b.task.task_id);
            }
            Body::TaskGoalChanged(b) => {
                self.node(b.about_task_id, Some(&b.goal), "");
            }
            Body::ChildrenStarted(b) => {
                b.children.iter().for_each(|child| self.join(b.about_task_id, EdgeKind::Started, *child));
            }
            Body::ChildEnded(b) => self.join(b.child_task_id, EdgeKind::Informed, b.result.artifact_id),
            Body::TaskInputAbsorbed(b) => self.join(b.ingress_id, EdgeKind::Started, b.about_task_id),
            Body::StepCreated(b) => self.step(&b.step),
            Body::AttemptCreated(b) => {
                let a = &b.attempt;
                self.node(a.attempt_id, None, &format!("attempt {}", a.attempt_no));
                self.join(a.step_id, EdgeKind::Owns, a.attempt_id);
                if let Some(earlier) = a.resume_from_ref {
                    self.join(earlier, EdgeKind::Continued, a.attempt_id);
                }
            }
            Body::EnvironmentCaptured(b) => {
                self.join(b.environment.artifact_id, EdgeKind::Binds, b.about_attempt_id);
            }
            Body::ContextCompiled(b) => {
                self.turn(b.about_attempt_id).pack = Some(b.pack.artifact_id);
                self.join(b.pack.artifact_id, EdgeKind::Informed, b.about_attempt_id);
                for memory in b.memories.iter().flatten() {
                    self.join(*memory, EdgeKind::Contributed, b.pack.artifact_id);
                }
            }
            Body::ModelRequested(b) => {
                let turn = self.turn(b.about_attempt_id);
                turn.request = Some(b.request.artifact_id);
                let pack = turn.pack;
                self.join_some(pack, EdgeKind::Asked, b.request.artifact_id);
            }
            Body::ModelResponded(b) => {
                let turn = self.turn(b.about_attempt_id);
                turn.answer = Some(b.answer.artifact_id);
                let request = turn.request;
                self.join_some(request, EdgeKind::Answered, b.response.artifact_id);
                self.join(b.response.artifact_id, EdgeKind::Contributed, b.answer.artifact_id);
            }
            Body::RunTerminated(b) => {
                if let Some(answer) = &b.answer {
                    let said = self.turn(b.about_attempt_id).answer;
                    self.join_some(said, EdgeKind::Contributed, answer.artifact_id);
                    self.join(b.about_attempt_id, EdgeKind::Produced, answer.artifact_id);
                }
            }
            _ => {}
        }
    }

    fn turn(&mut self, attempt: AttemptId) -> &mut crate::graph::Turn {
        self.graph.turns.entry(attempt).or_default()
    }

    fn join_some(&mut self, from: Option<ArtifactId>, kind: EdgeKind, to: impl Into<NodeId>) {
        if let Some(from) = from {
            self.join(from, kind, to);
        }
    }

    fn task(&mut self, task: &Task) {
        self.node(task.task_id, Some(&task.title), "");
        self.join(task.task_contract_ref, EdgeKind::Binds, task.task_id);
        if let Some(parent) = task.parent_task_id {
            self.join(parent, EdgeKind::Owns, task.task_id);
        }
        if let Some(anchor) = &task.continuation_anchor {
            self.join(anchor.anchor_task_id, EdgeKind::Continued, task.task_id);
        }
    }

    fn step(&mut self, step: &Step) {
        self.node(step.step_id, Some(&step.title), step.kind.as_str());
        self.join(step.task_id, EdgeKind::Owns, step.step_id);
        self.join(step.contract_ref, EdgeKind::Binds, step.step_id);
    }

    fn trial(&mut self, b: &TrialStarted) {
        self.node(b.action_request_id, Some(&b.summary), "trial");
        self.join(b.about_attempt_id, EdgeKind::Owns, b.action_request_id);
        let answer = self.turn(b.about_attempt_id).answer;
        self.join_some(answer, EdgeKind::Proposed, b.action_request_id);
        self.record(b.action_request_id, &b.request);
    }

    fn take_act(&mut self, body: &Body) {
        match body {
            Body::TrialStarted(b) => self.trial(b),
            Body::ActionRequested(b) => self.requested(b),
            Body::PolicyEvaluated(b) => {
                self.node(b.policy_result_id, None, b.verdict.as_str());
                self.join(b.action_request_id, EdgeKind::Judged, b.policy_result_id);
                self.record(b.policy_result_id, &b.result);
            }
            // What came instead was neither proposed nor asked for by itself: it comes from what was judged.
            Body::ActionDowngraded(b) => self.join(b.policy_result_id, EdgeKind::Judged, b.instead),
            Body::DecisionRecorded(b) => {
                let d = &b.decision;
                self.node(d.decision_id, Some(&d.summary), d.decision_type.as_str());
                self.evidence(&d.evidence_refs, d.decision_id);
                if let Some(attempt) = d.attempt_id {
                    self.join(attempt, EdgeKind::Owns, d.decision_id);
                }
            }
            Body::WitnessCaptured(b) => {
                self.node(b.witness_id, None, "captured");
                self.join(b.action_request_id, EdgeKind::Guarded, b.witness_id);
                self.record(b.witness_id, &b.witness);
            }
            Body::WitnessValidated(b) => {
                self.node(b.witness_id, None, "validated");
                self.join(b.action_request_id, EdgeKind::Guarded, b.witness_id);
                self.record(b.witness_id, &b.observed);
            }
            Body::WitnessDrifted(b) => {
                self.node(b.witness_id, None, "drifted");
                self.join(b.action_request_id, EdgeKind::Guarded, b.witness_id);
            }
            Body::ApprovalRequested(b) => self.asked(b),
            Body::ApprovalGranted(b) => {
                self.node(b.approval_id, None, "granted");
                self.record(b.approval_id, &b.envelope);
            }
            Body::ApprovalSigned(b) => self.record(b.approval_id, &b.envelope),
            Body::ApprovalDenied(b) => {
                self.node(b.approval_id, None, "denied");
                if let Some(envelope) = &b.envelope {
                    self.record(b.approval_id, envelope);
                }
            }
            Body::GrantIssued(b) => self.granted(b),
            Body::EffectDispatched(b) => {
                let effect = NodeId::Effect(b.action_request_id);
                self.node(effect, None, &b.executor);
                self.join(b.action_request_id, EdgeKind::Executed, effect);
                self.join(b.grant_id, EdgeKind::Permitted, effect);
            }
            Body::EffectProgressed(b) => self.progressed(b),
            Body::EffectObserved(b) => {
                self.join(NodeId::Effect(b.action_request_id), EdgeKind::Left, b.result.artifact_id);
            }
            Body::ReceiptIssued(b) => self.proved(b),
            Body::ReceiptsUndone(b) => self.undone(b),
            _ => {}
        }
    }

    fn requested(&mut self, b: &ActionRequested) {
        self.node(b.action_request_id, Some(&b.summary), b.action_class.as_str());
        if b.tool == LOOK {
            self.graph.looks.insert(b.action_request_id);
        }
        if let Some(attempt) = self.attempt_id {
            self.join(attempt, EdgeKind::Owns, b.action_request_id);
            let turn = self.turn(attempt);
            turn.act = Some(b.action_request_id);
            let answer = turn.answer;
            self.join_some(answer, EdgeKind::Proposed, b.action_request_id);
        }
        self.record(b.action_request_id, &b.request);
    }

    fn progressed(&mut self, b: &EffectProgressed) {
        if let Some(checkpoint) = &b.checkpoint {
            self.join(NodeId::Effect(b.action_request_id), EdgeKind::Left, checkpoint.artifact_id);
        }
    }

    fn asked(&mut self, b: &ApprovalRequested) {
        let a = &b.approval;
        self.node(a.approval_id, Some(&b.summary), a.status.as_str());
        self.join(b.action_request_id, EdgeKind::Shown, a.approval_id);
        self.join(a.approval_packet_ref, EdgeKind::Shown, a.approval_id);
    }

    fn granted(&mut self, b: &GrantIssued) {
        self.node(b.grant_id, None, b.action_class.as_str());
        self.join(b.action_request_id, EdgeKind::Allowed, b.grant_id);
        if let Some(approval) = b.approval_ref.value() {
            self.join(*approval, EdgeKind::Allowed, b.grant_id);
        }
        if let Some(decision) = b.decision_ref.value() {
            self.join(*decision, EdgeKind::Allowed, b.grant_id);
        }
        self.record(b.grant_id, &b.grant);
    }

    fn undone(&mut self, b: &ReceiptsUndone) {
        for undone in b.undone.iter().chain(&b.partly) {
            self.join(*undone, EdgeKind::Undone, b.by);
        }
    }

    fn proved(&mut self, b: &ReceiptIssued) {
        self.node(b.receipt_id, Some(&b.summary), b.receipt_class.as_str());
        if let Some(action) = b.action_request_id {
            let effect = NodeId::Effect(action);
            let act = if self.graph.nodes.contains_key(&effect) { effect } else { NodeId::Action(action) };
            self.join(act, EdgeKind::Proved, b.receipt_id);
        }
        if let Some(undone) = b.rolls_back {
            self.join(undone, EdgeKind::Undone, b.receipt_id);
        }
        self.record(b.receipt_id, &b.envelope);
    }

    fn take_knowledge(&mut self, body: &Body) {
        match body {
            Body::ArtifactCreated(b) => self.artifact(&b.artifact),
            Body::ArtifactReferenced(b) => self.cited(b.artifact_id, &b.by),
            Body::ArtifactSealed(b) => self.cited(b.artifact_id, &b.by),
            Body::ArtifactPromoted(b) => self.join(b.artifact_id, EdgeKind::Promoted, b.memory_id),
            Body::ArtifactCompacted(b) => self.join(b.artifact_id, EdgeKind::Compacted, b.into),
            Body::BeliefAsserted(b) => self.belief(&b.belief),
            Body::BeliefRevised(b) => self.belief(&b.belief),
            Body::BeliefSuperseded(b) => self.join(b.belief_id, EdgeKind::Superseded, b.by),
            Body::BeliefContradicted(b) => self.join(b.by, EdgeKind::Contradicts, b.belief_id),
            Body::MemoryPromoted(b) => self.memory(&b.record),
            Body::MemoryInvalidated(b) => {
                if let Some(newer) = b.superseded_by {
                    self.join(b.memory_id, EdgeKind::Superseded, newer);
                }
            }
            _ => {}
        }
    }

    fn artifact(&mut self, artifact: &Artifact) {
        let id = artifact.artifact_id;
        let label = artifact.task_local_alias.as_ref().unwrap_or(&artifact.uri);
        let node = self.node(id, Some(label), artifact.kind.as_str());
        node.trust_tier = Some(artifact.trust_tier);
        node.artifact_kind = Some(artifact.kind);
        node.content_hash = Some(artifact.content_hash);
        if let Some(attempt) = artifact.produced_by {
            self.join(attempt, EdgeKind::Produced, id);
        }
        artifact.inputs.iter().for_each(|input| self.join(*input, EdgeKind::Contributed, id));
        // A digest names content, not a place: nothing newer can take its place.
        if let Some(uri) = artifact.uri.shown().filter(|uri| !uri.starts_with("sha256:")) {
            self.graph.by_uri.entry(uri.clone()).or_default().push(id);
            self.graph.place_of.insert(id, uri.clone());
        }
    }

    fn cited(&mut self, artifact: ArtifactId, by: &str) {
        if let Ok(by) = by.parse::<NodeId>() {
            self.join(artifact, EdgeKind::Cited, by);
        }
    }

    fn belief(&mut self, belief: &Belief) {
        let node = self.node(belief.belief_id, Some(&belief.claim), belief.status.as_str());
        node.trust_tier = Some(belief.trust_tier);
        self.evidence(&belief.evidence_refs, belief.belief_id);
        if let Some(old) = belief.supersedes {
            self.join(old, EdgeKind::Superseded, belief.belief_id);
        }
    }

    fn memory(&mut self, record: &MemoryRecord) {
        let node = self.node(record.memory_id, Some(&record.claim), record.status.as_str());
        node.trust_tier = Some(record.trust_tier);
        self.evidence(&record.evidence_refs, record.memory_id);
        if let Some(belief) = record.promoted_from_belief_id {
            self.join(belief, EdgeKind::Promoted, record.memory_id);
        }
        if let Some(old) = record.supersedes {
            self.join(old, EdgeKind::Superseded, record.memory_id);
        }
        let act = self.attempt_id.and_then(|attempt| self.graph.turns.get(&attempt)?.act);
        if let Some(act) = act {
            self.graph.promoted_by.insert(record.memory_id, act);
        }
    }
}
