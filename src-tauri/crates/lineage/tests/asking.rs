//! One governed act from message to undo, and what the graph says of it.

use lineage::{EdgeKind, Graph, NodeId};
use model::action::{ActionClass, Reversibility};
use model::artifact::*;
use model::body::*;
use model::event::{Actor, Draft};
use model::policy::{RiskBand, Verdict};
use model::principal::PrincipalType;
use model::receipt::{ReceiptClass, ResultCode, SandboxLevel, Verifiability};
use model::*;
use std::str::FromStr;

fn id<T: FromStr>(prefix: &str, n: u64) -> T {
    format!("{prefix}_{n:032x}").parse().unwrap_or_else(|_| panic!("{prefix} {n}"))
}

fn art(n: u64) -> ArtifactId {
    id("art", n)
}

fn at(n: u64) -> ArtifactRef {
    ArtifactRef { artifact_id: art(n), sha256: Digest::of(b"bytes") }
}

/// A graph that is told of events.
struct Tale {
    graph: Graph,
    seq: u64,
}

impl Tale {
    fn new() -> Self {
        Self { graph: Graph::new(), seq: 0 }
    }

    fn tell(&mut self, body: impl Into<Body>) -> &mut Self {
        self.seq += 1;
        let body = body.into();
        let draft = Draft {
            event_id: id("evt", self.seq),
            task_id: id("task", 1),
            step_id: Some(id("step", 1)),
            attempt_id: Some(id("att", 1)),
            occurred_at: UnixMs(self.seq as i64),
            actor: Actor { actor_type: PrincipalType::System, actor_id: id("prn", 1) },
            body: body.clone(),
            causation_id: None,
            correlation_id: "test".into(),
            idempotency_key: None,
            workspace_id: None,
        };
        let (event, _) = draft.place(self.seq, Digest::ZERO, &mut || [7; 16]).expect("it canonicalises");
        self.graph.apply(&event, &body);
        self
    }

    fn artifact(&mut self, n: u64, kind: ArtifactKind, tier: TrustTier, inputs: &[u64]) -> &mut Self {
        self.artifact_at(n, kind, tier, inputs, &format!("sha256:{n}"), &n.to_be_bytes())
    }

    fn artifact_at(
        &mut self,
        n: u64,
        kind: ArtifactKind,
        trust_tier: TrustTier,
        inputs: &[u64],
        uri: &str,
        bytes: &[u8],
    ) -> &mut Self {
        let artifact = Artifact {
            artifact_id: art(n),
            class: ArtifactClass::Derived,
            kind,
            uri: uri.to_owned().into(),
            content_hash: Digest::of(bytes),
            media_type: "text/plain".into(),
            byte_size: 1,
            created_at: UnixMs(0),
            producer: id("prn", 1),
            retention_class: RetentionClass::Task,
            trust_tier,
            sensitivity_class: Sensitivity::Private,
            produced_by: Some(id("att", 1)),
            inputs: inputs.iter().map(|n| art(*n)).collect(),
            task_local_alias: None,
        };
        self.tell(ArtifactCreated { artifact })
    }

    fn belief(&mut self, n: u64, evidence: u64, tier: TrustTier) -> &mut Self {
        let belief = model::knowledge::Belief {
            belief_id: id("blf", n),
            task_id: id("task", 1),
            claim: "c".to_owned().into(),
            scope: "s".to_owned().into(),
            evidence_refs: vec![proof(evidence, tier)],
            confidence: 500,
            trust_tier: tier,
            status: model::knowledge::BeliefStatus::Active,
            created_at: UnixMs(0),
            asserted_by: id("prn", 1),
            revision: 1,
            step_id: None,
            attempt_id: None,
            supersedes: None,
            contradicts: vec![],
            expires_at: None,
        };
        self.tell(BeliefAsserted { belief })
    }
}

fn proof(n: u64, trust_tier: TrustTier) -> EvidenceRef {
    EvidenceRef {
        artifact_id: art(n),
        selector: Selector::Whole,
        excerpt_hash: Digest::of(b"x"),
        capture_method: "observe".into(),
        confidence: 1000,
        trust_tier,
    }
}

use ArtifactKind::*;
use TrustTier::{Observed, Untrusted, UserAsserted};

/// page 1 (untrusted) and file 2 go into pack 10; request 11, response 12, answer 13; action 1 with its records
/// 20..; effect leaves 30; belief 1 and memory 1 rest on the page; receipt 1, undone by receipt 2.
fn governed() -> Tale {
    let mut tale = Tale::new();
    tale.artifact(1, WebSnapshot, Untrusted, &[]).artifact(2, FileSnapshot, Observed, &[]);
    tale.artifact(3, FileSnapshot, Observed, &[]);
    let (attempt, action) = (id("att", 1), id("act", 1));
    let attempt_made = model::attempt::StepAttempt {
        attempt_id: attempt,
        task_id: id("task", 1),
        step_id: id("step", 1),
        attempt_no: 1,
        status: model::attempt::AttemptStatus::Created,
        context_pack_ref: Slot::NOT_REQUIRED,
        working_state_ref: Slot::NOT_REQUIRED,
        workspace_lease_ref: Slot::NOT_REQUIRED,
        idempotency_key: "a".into(),
        started_at: UnixMs(0),
        finished_at: None,
        resume_from_ref: None,
        executor_mode: None,
        policy_version: None,
        state_witness_ref: None,
        environment_ref: None,
    };
    tale.tell(AttemptCreated { attempt: attempt_made });
    tale.artifact(10, ContextPack, Observed, &[1, 2]);
    tale.tell(ContextCompiled { about_attempt_id: attempt, iteration: 1, pack: at(10), tokens: 1, items: 2, omissions: 0 });
    tale.artifact(11, ModelRequest, Observed, &[]);
    let (provider, model) = ("local".to_owned(), "small".to_owned());
    tale.tell(ModelRequested { about_attempt_id: attempt, iteration: 1, request: at(11), provider, model, remote: false });
    tale.artifact(12, ModelResponse, Observed, &[]).artifact(13, ModelAnswer, Observed, &[]);
    tale.tell(ModelResponded {
        about_attempt_id: attempt,
        iteration: 1,
        response: at(12),
        answer: at(13),
        tokens_in: 1,
        tokens_out: 1,
        cost_micros: 0,
        finish_reason: "stop".into(),
    });
    tale.belief(1, 1, Untrusted);
    tale.tell(ActionRequested {
        action_request_id: action,
        request: at(20),
        action_class: ActionClass::WriteLocal,
        tool: "change".into(),
        summary: "write".to_owned().into(),
    });
    act(&mut tale, action);
    tale
}

fn act(tale: &mut Tale, action: ActionRequestId) {
    tale.tell(PolicyEvaluated {
        policy_result_id: id("pol", 1),
        action_request_id: action,
        result: at(21),
        verdict: Verdict::RequireApproval,
        risk_band: RiskBand::High,
        policy_set_sha256: Digest::ZERO,
    });
    let decision = model::decision::Decision {
        decision_id: id("dec", 1),
        task_id: id("task", 1),
        step_id: None,
        attempt_id: Some(id("att", 1)),
        decision_type: model::decision::DecisionClass::Execution,
        summary: "go".to_owned().into(),
        rationale: "asked".to_owned().into(),
        evidence_refs: vec![proof(2, Observed)],
        risk_level: RiskBand::High,
        decided_by: id("prn", 1),
        reversible: true,
        created_at: UnixMs(0),
        alternatives_considered: vec![],
        policy_override_ref: None,
        effective_until: None,
    };
    tale.tell(DecisionRecorded { decision });
    tale.tell(WitnessCaptured { witness_id: id("wit", 1), action_request_id: action, witness: at(22), expires_at: UnixMs(9) });
    let approval = model::approval::Approval {
        approval_id: id("apr", 1),
        task_id: id("task", 1),
        step_id: id("step", 1),
        attempt_id: id("att", 1),
        status: model::approval::ApprovalStatus::Pending,
        approval_type: ActionClass::WriteLocal,
        requested_action_ref: art(20),
        approval_packet_ref: art(23),
        approval_packet_sha256: Digest::ZERO,
        requested_at: UnixMs(0),
        resolved_at: None,
        resolved_by: None,
        expires_at: UnixMs(9),
        state_witness_ref: None,
        policy_result_ref: art(21),
    };
    let (nonce, summary) = (String::new(), "may it".to_owned().into());
    tale.tell(ApprovalRequested { approval, action_request_id: action, risk_band: RiskBand::High, nonce, summary });
    tale.tell(GrantIssued {
        grant_id: id("grt", 1),
        action_request_id: action,
        grant: at(24),
        action_class: ActionClass::WriteLocal,
        issued_to: id("prn", 1),
        expires_at: UnixMs(9),
        max_uses: 1,
        approval_ref: Slot::Value(id("apr", 1)),
        decision_ref: Slot::Value(id("dec", 1)),
    });
    tale.tell(EffectDispatched {
        action_request_id: action,
        grant_id: id("grt", 1),
        executor: "files".into(),
        audit_entry_sha256: Digest::ZERO,
    });
    tale.artifact(30, ActionResult, Observed, &[]);
    tale.tell(EffectObserved {
        action_request_id: action,
        result: at(30),
        result_code: ResultCode::Succeeded,
        sandbox_level: SandboxLevel::Beneath,
        recovered: false,
    });
    for (n, rolls_back) in [(1, None), (2, Some(id("rcp", 1)))] {
        tale.tell(ReceiptIssued {
            receipt_id: id("rcp", n),
            receipt_class: ReceiptClass::ToolExecution,
            action_class: ActionClass::WriteLocal,
            result_code: ResultCode::Succeeded,
            action_request_id: (n == 1).then_some(action),
            envelope: at(39 + n),
            statement_sha256: Digest::ZERO,
            reversibility: Reversibility::Reversible,
            rolls_back,
            verifiability: Verifiability::Signed,
            summary: "wrote".to_owned().into(),
        });
    }
    let record = model::knowledge::MemoryRecord {
        memory_id: id("mem", 1),
        promoted_by_task_id: id("task", 1),
        promoted_by: id("prn", 1),
        claim: "c".to_owned().into(),
        scope: "s".to_owned().into(),
        evidence_refs: vec![proof(1, Untrusted)],
        trust_tier: UserAsserted,
        promotion_reason: "r".to_owned().into(),
        status: model::knowledge::MemoryStatus::Active,
        created_at: UnixMs(0),
        promoted_from_belief_id: Some(id("blf", 1)),
        invalidated_at: None,
        supersedes: None,
    };
    tale.tell(MemoryPromoted { record });
}

#[conforms::conforms("HK-14.4-1", "HK-14.4-2")]
#[test]
fn an_artifact_knows_who_made_it_and_of_what() {
    let graph = governed().graph;
    assert_eq!(graph.producer(art(10)), Some(id("att", 1)));
    assert_eq!(graph.producer(art(23)), None, "named by an event, made by none that was seen");
    assert_eq!(graph.inputs(art(10)), [art(1), art(2)]);
    assert_eq!(graph.inputs(art(11)), [art(10)], "the request was made of the pack");
    assert_eq!(graph.inputs(art(13)), [art(12)]);
    assert_eq!(graph.inputs(art(1)), []);
}

#[conforms::conforms("HK-14.4-3", "HK-14.4-4", "HK-14.4-5")]
#[test]
fn an_artifact_knows_the_decisions_beliefs_and_memories_that_rest_on_it() {
    let graph = governed().graph;
    assert_eq!(graph.decisions_citing(art(2)), [id("dec", 1)]);
    assert_eq!(graph.decisions_citing(art(3)), []);
    assert_eq!(graph.beliefs_referencing(art(1)), [id("blf", 1)]);
    assert_eq!(graph.beliefs_referencing(art(2)), []);
    assert_eq!(graph.memories_from(art(1)), [id("mem", 1)]);
    assert_eq!(graph.memories_from(art(2)), []);
}

#[conforms::conforms("HK-14.4-6")]
#[test]
fn an_artifact_knows_the_receipts_that_include_it() {
    let mut tale = governed();
    for n in [20, 21, 22, 23, 24, 30, 40] {
        assert_eq!(tale.graph.receipts_including(art(n)), [id("rcp", 1)], "artifact {n}");
    }
    assert_eq!(tale.graph.receipts_including(art(41)), [id("rcp", 2)]);
    assert_eq!(tale.graph.receipts_including(art(3)), []);
    tale.tell(ArtifactSealed { artifact_id: art(3), by: id::<ReceiptId>("rcp", 2).to_string() });
    assert_eq!(tale.graph.receipts_including(art(3)), [id("rcp", 2)]);
}

#[test]
fn what_came_of_a_bad_source_is_named_and_nothing_else() {
    let graph = governed().graph;
    let tainted = graph.tainted_by(art(1));
    for node in [
        NodeId::Artifact(art(10)),
        NodeId::Artifact(art(13)),
        NodeId::Belief(id("blf", 1)),
        NodeId::Memory(id("mem", 1)),
        NodeId::Action(id("act", 1)),
        NodeId::Effect(id("act", 1)),
        NodeId::Artifact(art(30)),
        NodeId::Receipt(id("rcp", 1)),
    ] {
        assert!(tainted.contains(&node), "{node} came of the page");
        assert!(graph.taint(node).is_tainted(), "{node}");
        assert_eq!(graph.taint(node).untrusted, [art(1)], "{node}");
    }
    for node in [
        NodeId::Artifact(art(2)),
        NodeId::Artifact(art(3)),
        NodeId::Attempt(id("att", 1)),
        NodeId::Grant(id("grt", 1)),
        NodeId::Decision(id("dec", 1)),
        NodeId::Approval(id("apr", 1)),
    ] {
        assert!(!tainted.contains(&node) && !graph.taint(node).is_tainted(), "{node} carries none of it");
    }
    // A person'"'"'s word does not wash the source clean.
    assert_eq!(graph.taint(NodeId::Memory(id("mem", 1))).tier, Some(Untrusted));
}

#[test]
fn what_rests_on_a_replaced_source_is_stale() {
    let mut tale = Tale::new();
    tale.artifact_at(1, FileSnapshot, Observed, &[], "file:wsp/a", b"one");
    tale.artifact(2, Answer, Observed, &[1]).artifact(9, Answer, Observed, &[]);
    assert_eq!(tale.graph.stale(art(2)), []);
    tale.artifact_at(3, FileSnapshot, Observed, &[], "file:wsp/a", b"one");
    assert_eq!(tale.graph.stale(art(2)), [], "seen again, and the same");
    tale.artifact_at(4, FileSnapshot, Observed, &[], "file:wsp/a", b"two");
    for n in [1, 2] {
        let stale = tale.graph.stale(art(n));
        assert_eq!((stale[0].source, stale[0].newer, stale.len()), (art(1), art(4), 1));
    }
    assert_eq!(tale.graph.stale(art(4)), []);
    assert_eq!(tale.graph.stale(art(9)), []);
}

#[test]
fn a_receipt_is_explained_link_by_link() {
    let graph = governed().graph;
    let chain = graph.explain(id("rcp", 1)).expect("it is there");
    assert_eq!(chain.goal, [NodeId::Step(id("step", 1)), NodeId::Attempt(id("att", 1))]);
    assert_eq!(chain.context, [art(10)]);
    assert_eq!(chain.evidence, [art(1), art(2)]);
    assert_eq!(chain.action, Some(NodeId::Action(id("act", 1))));
    assert_eq!(chain.policy, [NodeId::Policy(id("pol", 1))]);
    assert_eq!(chain.decisions, [NodeId::Decision(id("dec", 1))]);
    assert_eq!(chain.approvals, [NodeId::Approval(id("apr", 1))]);
    assert_eq!(chain.witnesses, [NodeId::Witness(id("wit", 1))]);
    assert_eq!(chain.grants, [NodeId::Grant(id("grt", 1))]);
    assert_eq!(chain.effect, Some(NodeId::Effect(id("act", 1))));
    assert_eq!(chain.changes, [art(30)]);
    assert_eq!(chain.undone_by, [id("rcp", 2)]);
    assert_eq!(chain.taint.untrusted, [art(1)]);
    assert_eq!(graph.explain(id("rcp", 9)), None);
    let bare = graph.explain(id("rcp", 2)).expect("it is there");
    assert_eq!((bare.action, bare.grants.len()), (None, 0));
}

#[test]
fn every_node_id_reads_itself_and_nothing_else() {
    let graph = governed().graph;
    for node in graph.nodes() {
        assert_eq!(node.id.to_string().parse::<NodeId>(), Ok(node.id));
    }
    for wrong in ["", "effect:", "art_1", "effect:art_00000000000000000000000000000001", "receipt"] {
        assert!(wrong.parse::<NodeId>().is_err(), "`{wrong}`");
    }
}

#[test]
fn erased_words_leave_nodes_and_edges_in_place() {
    let shown = governed().graph;
    let mut tale = Tale::new();
    tale.artifact(1, WebSnapshot, Untrusted, &[]);
    let artifact = Artifact { uri: Sensitive::Erased(Digest::ZERO), ..made(&shown) };
    tale.tell(ArtifactCreated { artifact });
    assert_eq!(tale.graph.inputs(art(10)), [art(1), art(2)]);
    assert_eq!(tale.graph.stale(art(10)), []);
}

fn made(graph: &Graph) -> Artifact {
    Artifact {
        artifact_id: art(10),
        class: ArtifactClass::Derived,
        kind: ContextPack,
        uri: String::new().into(),
        content_hash: graph.node(art(10)).and_then(|n| n.content_hash).expect("made"),
        media_type: String::new(),
        byte_size: 0,
        created_at: UnixMs(0),
        producer: id("prn", 1),
        retention_class: RetentionClass::Task,
        trust_tier: Observed,
        sensitivity_class: Sensitivity::Private,
        produced_by: None,
        inputs: vec![art(1), art(2)],
        task_local_alias: None,
    }
}

#[test]
fn a_drawing_goes_from_cause_to_effect_and_is_the_same_each_time() {
    let graph = governed().graph;
    let layout = graph.layout();
    assert_eq!(layout.nodes.len(), graph.nodes().count());
    let layer = |id: NodeId| layout.nodes.iter().find(|d| d.id == id).map(|d| d.layer).expect("drawn");
    // A pack that an attempt made informs the same attempt: the one edge here that leads back.
    for edge in graph.edges().filter(|e| e.kind != EdgeKind::Informed) {
        assert!(layer(edge.from) < layer(edge.to), "{} to {}", edge.from, edge.to);
    }
    let places: std::collections::BTreeSet<_> = layout.nodes.iter().map(|d| (d.layer, d.row)).collect();
    assert_eq!(places.len(), layout.nodes.len(), "no two in one place");
    assert_eq!(governed().graph.layout(), layout);
    let part = graph.around(&[NodeId::Artifact(art(3))]);
    assert!(part.nodes().count() < graph.nodes().count());
    assert!(part.node(art(3)).is_some() && part.node(art(1)).is_none());
}

#[test]
fn a_thousand_nodes_are_drawn_within_the_rows_they_need() {
    let mut tale = Tale::new();
    for n in 0..1_000 {
        let inputs: Vec<u64> = if n < 20 { vec![] } else { vec![n - 20, n - 1 - (n * 7) % 19] };
        tale.artifact(n, Answer, Observed, &inputs);
    }
    let layout = tale.graph.layout();
    // The attempt and step that own them are drawn too.
    assert!(layout.nodes.len() >= 1_000 && layout.layers > 10 && layout.rows < 200, "{layout:?}");
}

proptest::proptest! {
    /// Invariants 2 and 3, on any graph of artifacts.
    #[test]
    fn taint_is_exactly_reachability_and_never_gains_trust(
        tiers in proptest::collection::vec(0..5_usize, 2..25),
        joins in proptest::collection::vec((0..25_u64, 0..25_u64), 0..60),
    ) {
        let mut tale = Tale::new();
        let count = tiers.len() as u64;
        for (n, tier) in (0..count).zip(&tiers) {
            let inputs: Vec<u64> = joins.iter().filter(|(from, to)| *to == n && *from < n).map(|(f, _)| *f).collect();
            tale.artifact(n, Answer, TrustTier::ALL[*tier], &inputs);
        }
        let graph = tale.graph;
        for n in 0..count {
            let taint = graph.taint(art(n));
            for from in graph.inputs(art(n)) {
                proptest::prop_assert!(taint.tier <= graph.taint(from).tier);
            }
            for m in 0..count {
                let down = graph.tainted_by(art(n)).contains(&NodeId::Artifact(art(m)));
                let up = graph.sources(art(m)).contains(&NodeId::Artifact(art(n)));
                proptest::prop_assert_eq!(down, up);
                let bad = graph.node(art(n)).and_then(|x| x.trust_tier) == Some(Untrusted);
                if bad && (up || n == m) {
                    proptest::prop_assert!(graph.taint(art(m)).untrusted.contains(&art(n)));
                }
            }
        }
        proptest::prop_assert!(graph.edges().all(|e| e.kind != EdgeKind::Cited));
    }
}
