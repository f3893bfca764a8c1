//! A graph that is told of events, and one governed act told from beginning to end.

use lineage::Graph;
use model::action::{ActionClass, Reversibility};
use model::artifact::*;
use model::body::*;
use model::event::{Actor, Draft};
use model::policy::{RiskBand, Verdict};
use model::principal::PrincipalType;
use model::receipt::{ReceiptClass, ResultCode, SandboxLevel, Verifiability};
use model::*;
use std::str::FromStr;

pub fn id<T: FromStr>(prefix: &str, n: u64) -> T {
    format!("{prefix}_{n:032x}").parse().unwrap_or_else(|_| panic!("{prefix} {n}"))
}

pub fn art(n: u64) -> ArtifactId {
    id("art", n)
}

pub fn at(n: u64) -> ArtifactRef {
    ArtifactRef { artifact_id: art(n), sha256: Digest::of(b"bytes") }
}

/// A graph that is told of events.
pub struct Tale {
    pub graph: Graph,
    /// The task that events are of.
    pub task: u64,
    seq: u64,
}

impl Tale {
    pub fn new() -> Self {
        Self { graph: Graph::new(), task: 1, seq: 0 }
    }

    pub fn tell(&mut self, body: impl Into<Body>) -> &mut Self {
        self.seq += 1;
        let body = body.into();
        let draft = Draft {
            event_id: id("evt", self.seq),
            task_id: id("task", self.task),
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

    pub fn artifact(&mut self, n: u64, kind: ArtifactKind, tier: TrustTier, inputs: &[u64]) -> &mut Self {
        self.artifact_at(n, kind, tier, inputs, &format!("sha256:{n}"), &n.to_be_bytes())
    }

    pub fn artifact_at(
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
pub fn governed() -> Tale {
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
        proposer: None,
        resume_from_ref: None,
        executor_mode: None,
        policy_version: None,
        state_witness_ref: None,
        environment_ref: None,
    };
    tale.tell(AttemptCreated { attempt: attempt_made });
    tale.artifact(10, ContextPack, Observed, &[1, 2]);
    tale.tell(ContextCompiled {
        about_attempt_id: attempt,
        iteration: 1,
        pack: at(10),
        tokens: 1,
        items: 2,
        omissions: 0,
        memories: None,
        pinned: None,
    });
    tale.artifact(11, ModelRequest, Observed, &[]);
    let (provider, model) = ("local".to_owned(), "small".to_owned());
    tale.tell(ModelRequested {
        about_attempt_id: attempt,
        iteration: 1,
        request: at(11),
        provider,
        model,
        remote: false,
    });
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
    judged(&mut tale, action);
    allowed(&mut tale, action);
    done(&mut tale, action);
    tale
}

fn judged(tale: &mut Tale, action: ActionRequestId) {
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
        constraints_ref: None,
    };
    tale.tell(DecisionRecorded { decision });
    tale.tell(WitnessCaptured {
        witness_id: id("wit", 1),
        action_request_id: action,
        witness: at(22),
        expires_at: UnixMs(9),
    });
}

fn allowed(tale: &mut Tale, action: ActionRequestId) {
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
    tale.tell(ApprovalRequested {
        approval,
        action_request_id: action,
        risk_band: RiskBand::High,
        nonce,
        summary,
        need: None,
    });
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
}

fn done(tale: &mut Tale, action: ActionRequestId) {
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
        project_hash: None,
        structured_assertion: None,
        retention_class: None,
        invalidation_policy: None,
        expires_at: None,
    };
    tale.tell(MemoryPromoted { record });
}
