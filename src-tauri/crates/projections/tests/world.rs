//! Events of every kind, ready to be committed, with identifiers from a counter and times from a clock of its own.

use model::action::{ActionClass, Reversibility};
use model::approval::{Approval, ApprovalScope, ApprovalStatus, Shape, Surface};
use model::artifact::*;
use model::attempt::*;
use model::body::*;
use model::decision::{Decision, DecisionClass};
use model::event::{Actor, Draft};
use model::ingress::*;
use model::policy::{Profile, RiskBand, Verdict};
use model::principal::PrincipalType;
use model::receipt::{ReceiptClass, ResultCode, SandboxLevel, Verifiability};
use model::task::*;
use model::*;
use std::str::FromStr;

pub fn id<T: FromStr>(prefix: &str, n: u64) -> T {
    format!("{prefix}_{n:032x}").parse().unwrap_or_else(|_| panic!("{prefix} {n}"))
}

/// The person of these histories.
pub fn person() -> PrincipalId {
    id("prn", 1)
}

/// Makes events; every one is a millisecond later than the one before.
pub struct World {
    pub n: u64,
    pub now: i64,
    /// Whose attempts the next ones are.
    pub proposer: Option<Proposer>,
}

/// Where an event belongs.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    pub task: TaskId,
    pub step: Option<StepId>,
    pub attempt: Option<AttemptId>,
}

impl Place {
    pub fn task(task: TaskId) -> Self {
        Self { task, step: None, attempt: None }
    }
}

impl World {
    /// Roots of state: what they are over is nothing to the fold.
    pub fn rooted(&self, conversation: ConversationId) -> Body {
        let subject = model::state_root::StateSubject::Conversation(conversation);
        let (number, root) = (self.n, Digest::of(&self.n.to_be_bytes()));
        let roots = Sensitive::Shown(vec![model::state_root::StateRoot { subject, size: number, root }]);
        StateRooted { store_id: "s".into(), number, through: number, state_root: root, subjects: 1, roots }
            .into()
    }

    pub fn new() -> Self {
        Self { n: 100, now: 1_000_000, proposer: None }
    }

    pub fn fresh<T: FromStr>(&mut self, prefix: &str) -> T {
        self.n += 1;
        id(prefix, self.n)
    }

    pub fn draft(&mut self, place: Place, body: impl Into<Body>) -> Draft {
        self.now += 1;
        Draft {
            event_id: self.fresh("evt"),
            task_id: place.task,
            step_id: place.step,
            attempt_id: place.attempt,
            occurred_at: UnixMs(self.now),
            actor: Actor { actor_type: PrincipalType::System, actor_id: person() },
            body: body.into(),
            causation_id: None,
            correlation_id: "test".into(),
            idempotency_key: None,
            workspace_id: None,
        }
    }

    pub fn conversation(&mut self) -> (ConversationId, TaskId, Draft) {
        let (conversation_id, inbox_task_id): (ConversationId, TaskId) =
            (self.fresh("cnv"), self.fresh("task"));
        let body = ConversationOpened {
            conversation_id,
            inbox_task_id,
            title: words("talk", self.n),
            workspace_id: None,
        };
        (conversation_id, inbox_task_id, self.draft(Place::task(inbox_task_id), body))
    }

    pub fn ingress(
        &mut self,
        conversation_id: ConversationId,
        inbox: TaskId,
        channel: Channel,
    ) -> (IngressId, Draft) {
        let ingress_id = self.fresh("ing");
        let record = IngressRecord {
            ingress_id,
            conversation_id,
            source_channel: channel,
            raw_text: words("please do thing", self.n),
            normalized_text: words("please do thing", self.n),
            status: IngressStatus::Received,
            resolution: IngressResolution::PendingDisambiguation,
            created_at: UnixMs(self.now),
            updated_at: UnixMs(self.now),
            actor: Some(person()),
            explicit_task_ref: None,
            referenced_artifact_refs: vec![],
            chosen_task_id: None,
            prompt_ref: None,
            reply_to_ref: None,
            quoted_message_ref: None,
            parent_task_id: None,
            rationale: None,
            spoken: false,
            idempotency_key: format!("in-{}", self.n),
        };
        (ingress_id, self.draft(Place::task(inbox), IngressReceived { record }))
    }

    pub fn attributed(&mut self, ingress_id: IngressId, inbox: TaskId) -> Draft {
        let trust_tier = TrustTier::ALL[usize::try_from(self.n).expect("a number") % TrustTier::ALL.len()];
        self.draft(Place::task(inbox), IngressAttributed { ingress_id, principal_id: person(), trust_tier })
    }

    pub fn bound(
        &mut self,
        ingress: IngressId,
        place: TaskId,
        how: IngressResolution,
        to: Option<TaskId>,
    ) -> Draft {
        let body = IngressBound {
            ingress_id: ingress,
            resolution: how,
            chosen_task_id: to,
            candidates: to.into_iter().collect(),
            rationale: words("because", self.n),
            confidence: None,
            margin: None,
            anchor: None,
        };
        self.draft(Place::task(place), body)
    }

    pub fn task(
        &mut self,
        task_id: TaskId,
        part_of: Option<TaskId>,
        conversation_id: ConversationId,
        ingress_id: IngressId,
    ) -> Draft {
        let task = Task {
            task_id,
            title: words("title", self.n),
            goal: words("goal", self.n),
            status: TaskStatus::Created,
            priority: Priority::Normal,
            owner_principal_id: person(),
            policy_profile_ref: Profile::LocalEditAllowed,
            task_contract_ref: self.fresh("art"),
            created_at: UnixMs(self.now),
            updated_at: UnixMs(self.now),
            parent_task_id: part_of,
            depends_on: vec![],
            labels: vec!["l".into()],
            deadline_at: None,
            workspace_hint: None,
            requested_by: None,
            source_channel: Channel::App,
            parallelism_mode: ParallelismMode::Serial,
            conversation_id,
            continuation_anchor: None,
            origin: None,
            scheduled_by: None,
        };
        self.draft(Place::task(task_id), TaskCreated { task, ingress_id })
    }

    pub fn status(&mut self, task: TaskId, from: TaskStatus, to: TaskStatus) -> Draft {
        let body = TaskStatusChanged { about_task_id: task, from, to, reason: "test".into(), note: None };
        self.draft(Place::task(task), body)
    }

    pub fn step(&mut self, task: TaskId) -> (StepId, Draft) {
        let step_id = self.fresh("step");
        let step = Step {
            step_id,
            task_id: task,
            kind: StepKind::Pursue,
            title: words("step", self.n),
            contract_ref: self.fresh("art"),
            status: StepStatus::Planned,
            depends_on: vec![],
            max_attempts: 3,
            created_at: UnixMs(self.now),
            updated_at: UnixMs(self.now),
        };
        (step_id, self.draft(Place { task, step: Some(step_id), attempt: None }, StepCreated { step }))
    }

    pub fn attempt(&mut self, task: TaskId, step: StepId, attempt_no: u32) -> (Place, Draft) {
        let attempt_id = self.fresh("att");
        let attempt = StepAttempt {
            attempt_id,
            task_id: task,
            step_id: step,
            attempt_no,
            status: AttemptStatus::Created,
            context_pack_ref: Slot::NOT_REQUIRED,
            working_state_ref: Slot::NOT_REQUIRED,
            workspace_lease_ref: Slot::NOT_REQUIRED,
            idempotency_key: format!("a-{}", self.n),
            started_at: UnixMs(self.now),
            finished_at: None,
            proposer: self.proposer,
            resume_from_ref: None,
            executor_mode: None,
            policy_version: Some(Digest::of(b"policy")),
            state_witness_ref: None,
            environment_ref: None,
        };
        let place = Place { task, step: Some(step), attempt: Some(attempt_id) };
        (place, self.draft(place, AttemptCreated { attempt }))
    }

    pub fn moved(&mut self, place: Place, from: AttemptStatus, to: AttemptStatus) -> Draft {
        let about = place.attempt.expect("an attempt");
        let phase = AttemptPhase::Planning;
        self.draft(
            place,
            AttemptStatusChanged { about_attempt_id: about, from, to, phase, reason: "test".into() },
        )
    }

    pub fn artifact(
        &mut self,
        place: Place,
        kind: ArtifactKind,
        bytes: &[u8],
        inputs: Vec<ArtifactId>,
    ) -> (ArtifactRef, Draft) {
        let artifact_id = self.fresh("art");
        let artifact = Artifact {
            artifact_id,
            class: ArtifactClass::Derived,
            kind,
            uri: format!("file:wsp_{:032x}/notes-{}.txt", 1, self.n).into(),
            content_hash: Digest::of(bytes),
            media_type: "text/plain".into(),
            byte_size: bytes.len() as u64,
            created_at: UnixMs(self.now),
            producer: person(),
            retention_class: RetentionClass::Task,
            trust_tier: TrustTier::Observed,
            sensitivity_class: Sensitivity::Private,
            produced_by: place.attempt,
            inputs,
            task_local_alias: None,
        };
        let reference = ArtifactRef { artifact_id, sha256: artifact.content_hash };
        (reference, self.draft(place, ArtifactCreated { artifact }))
    }

    pub fn some_ref(&mut self) -> ArtifactRef {
        ArtifactRef { artifact_id: self.fresh("art"), sha256: Digest::of(b"bytes") }
    }

    pub fn action(&mut self, place: Place, verdict: Verdict) -> (ActionRequestId, Vec<Draft>) {
        let action_request_id = self.fresh("act");
        let requested = ActionRequested {
            action_request_id,
            request: self.some_ref(),
            action_class: ActionClass::WriteLocal,
            tool: "change".into(),
            summary: words("write file", self.n),
        };
        let judged = PolicyEvaluated {
            policy_result_id: self.fresh("pol"),
            action_request_id,
            result: self.some_ref(),
            verdict,
            risk_band: RiskBand::Moderate,
            policy_set_sha256: Digest::of(b"policy"),
        };
        (action_request_id, vec![self.draft(place, requested), self.draft(place, judged)])
    }

    pub fn approval(&mut self, place: Place, action: ActionRequestId) -> (ApprovalId, Draft) {
        let approval_id = self.fresh("apr");
        let approval = Approval {
            approval_id,
            task_id: place.task,
            step_id: place.step.expect("a step"),
            attempt_id: place.attempt.expect("an attempt"),
            status: ApprovalStatus::Pending,
            approval_type: ActionClass::WriteLocal,
            requested_action_ref: self.fresh("art"),
            approval_packet_ref: self.fresh("art"),
            approval_packet_sha256: Digest::of(b"packet"),
            requested_at: UnixMs(self.now),
            resolved_at: None,
            resolved_by: None,
            expires_at: UnixMs(self.now + 10_000),
            state_witness_ref: None,
            policy_result_ref: self.fresh("art"),
        };
        let body = ApprovalRequested {
            approval,
            action_request_id: action,
            risk_band: RiskBand::Moderate,
            nonce: "00".repeat(16),
            summary: words("may it write", self.n),
            need: None,
        };
        (approval_id, self.draft(place, body))
    }

    pub fn yes(&mut self, place: Place, approval_id: ApprovalId) -> Draft {
        let scope = ApprovalScope {
            shape: Shape::Exact,
            pattern: vec![],
            expires_at: UnixMs(self.now + 100),
            max_uses: 1,
        };
        let body = ApprovalGranted {
            approval_id,
            decided_by: person(),
            surface: Surface::Test,
            scope,
            envelope: self.some_ref(),
            keyid: Digest::of(b"key"),
            receipt_id: None,
            passkey: None,
            first: None,
        };
        self.draft(place, body)
    }

    pub fn no(&mut self, place: Place, approval_id: ApprovalId) -> Draft {
        let feedback = Some(words("not this way", self.n));
        let (decided_by, surface) = (person(), Surface::Test);
        self.draft(place, ApprovalDenied { approval_id, decided_by, surface, envelope: None, feedback })
    }

    pub fn grant(
        &mut self,
        place: Place,
        action: ActionRequestId,
        approval: Option<ApprovalId>,
    ) -> (GrantId, Draft) {
        let grant_id = self.fresh("grt");
        let body = GrantIssued {
            grant_id,
            action_request_id: action,
            grant: self.some_ref(),
            action_class: ActionClass::WriteLocal,
            issued_to: person(),
            expires_at: UnixMs(self.now + 300_000),
            max_uses: 1,
            approval_ref: Slot::or(approval, slot::Absence::NotRequired),
            decision_ref: Slot::NOT_REQUIRED,
        };
        (grant_id, self.draft(place, body))
    }

    pub fn effect(
        &mut self,
        place: Place,
        action: ActionRequestId,
        grant_id: GrantId,
        code: ResultCode,
    ) -> Vec<Draft> {
        let dispatched = EffectDispatched {
            action_request_id: action,
            grant_id,
            executor: "files".into(),
            audit_entry_sha256: Digest::of(b"entry"),
        };
        let observed = EffectObserved {
            action_request_id: action,
            result: self.some_ref(),
            result_code: code,
            sandbox_level: SandboxLevel::Beneath,
            recovered: false,
        };
        vec![self.draft(place, dispatched), self.draft(place, observed)]
    }

    pub fn receipt(
        &mut self,
        place: Place,
        action: ActionRequestId,
        code: ResultCode,
        undoes: Option<ReceiptId>,
    ) -> (ReceiptId, Draft) {
        let receipt_id = self.fresh("rcp");
        let body = ReceiptIssued {
            receipt_id,
            receipt_class: match (undoes, code) {
                (Some(_), _) => ReceiptClass::Rollback,
                (None, ResultCode::Granted) => ReceiptClass::ApprovalResolution,
                (None, _) => ReceiptClass::ToolExecution,
            },
            action_class: ActionClass::WriteLocal,
            result_code: code,
            action_request_id: Some(action),
            envelope: self.some_ref(),
            statement_sha256: Digest::of(b"statement"),
            reversibility: Reversibility::Reversible,
            rolls_back: undoes,
            verifiability: Verifiability::Signed,
            summary: words("wrote file", self.n),
        };
        (receipt_id, self.draft(place, body))
    }

    pub fn evidence(&mut self) -> EvidenceRef {
        EvidenceRef {
            artifact_id: self.fresh("art"),
            selector: Selector::Whole,
            excerpt_hash: Digest::of(b"excerpt"),
            capture_method: "observe".into(),
            confidence: 1000,
            trust_tier: TrustTier::Observed,
        }
    }

    pub fn decision(&mut self, place: Place) -> Draft {
        let decision = Decision {
            decision_id: self.fresh("dec"),
            task_id: place.task,
            step_id: place.step,
            attempt_id: place.attempt,
            decision_type: DecisionClass::Execution,
            summary: words("decided", self.n),
            rationale: words("since", self.n),
            evidence_refs: vec![self.evidence()],
            risk_level: RiskBand::Moderate,
            decided_by: person(),
            reversible: true,
            created_at: UnixMs(self.now),
            alternatives_considered: vec![words("wait", self.n)],
            policy_override_ref: None,
            effective_until: None,
            constraints_ref: None,
        };
        self.draft(place, DecisionRecorded { decision })
    }

    pub fn question(&mut self, place: Place) -> (ClarificationId, Draft) {
        let clarification_id = self.fresh("clr");
        let clarification = Clarification {
            clarification_id,
            task_id: place.task,
            attempt_id: place.attempt.expect("an attempt"),
            question: words("which one", self.n),
            choices: vec![words("left", self.n), words("right", self.n)],
            status: ClarificationStatus::Pending,
            requested_at: UnixMs(self.now),
            expires_at: UnixMs(self.now + 10_000),
            answered_by: None,
        };
        (clarification_id, self.draft(place, ClarificationRequested { clarification }))
    }

    pub fn iteration(&mut self, place: Place, step_number: u32) -> Draft {
        let record = IterationRecord {
            step_number,
            model_decision: words("will read", self.n),
            tool_invocation: Some("read".into()),
            tool_input: Some(self.fresh("art")),
            tool_output: None,
            error: None,
            state_summary: words("has read", self.n),
            progress_mark: Digest::of(&self.n.to_be_bytes()),
        };
        self.draft(place, IterationCompleted { about_attempt_id: place.attempt.expect("an attempt"), record })
    }
}

/// Free text that differs each time.
pub fn words(text: &str, n: u64) -> Sensitive<String> {
    format!("{text} {n}").into()
}

/// Makes of an artifact what a look into a secret brought.
pub fn looked_into_a_secret(draft: &mut Draft) {
    if let Body::ArtifactCreated(b) = &mut draft.body {
        (b.artifact.kind, b.artifact.sensitivity_class) = (ArtifactKind::ActionResult, Sensitivity::Secret);
    }
}
