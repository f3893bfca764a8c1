//! One task told from beginning to end, and journals to tell it to.

use model::action::{ActionClass, Reversibility};
use model::approval::{Approval, ApprovalScope, ApprovalStatus, Shape, Surface};
use model::artifact::ArtifactRef;
use model::attempt::{IterationRecord, TerminationReason};
use model::body::*;
use model::chance::Entropy;
use model::event::{Actor, Event};
use model::ingress::{Channel, Clarification, ClarificationStatus};
use model::policy::{Profile, RiskBand, Verdict};
use model::principal::PrincipalType;
use model::receipt::{ReceiptClass, ResultCode, SandboxLevel, Verifiability};
use model::task::{ParallelismMode, Priority, Task, TaskStatus};
use model::*;
use runstream::{Draft, Envelope, Family, Lifecycle, Mirrored, Position, Reader, Resumed, RunFold, Writer};
use serde_json::json;
use std::path::Path;
use std::str::FromStr;

pub struct Seeded(pub u8);

impl Entropy for Seeded {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill(self.0);
    }
}

pub fn id<T: FromStr>(prefix: &str, n: u64) -> T {
    format!("{prefix}_{n:032x}").parse().unwrap_or_else(|_| panic!("{prefix} {n}"))
}

pub fn run_id() -> TaskId {
    id("task", 1)
}

pub fn session() -> ConversationId {
    id("cnv", 1)
}

pub fn open(dir: &Path) -> Writer {
    Writer::open(dir, &Seeded(3)).unwrap()
}

/// A delta with these words.
pub fn delta(words: &str) -> Draft {
    Draft::new(
        Family::TokenDelta,
        UnixMs(1_778_750_000_250),
        json!({ "segment_id": "s", "delta": words, "content_type": "text/plain" }),
    )
}

pub fn done() -> Draft {
    let payload = json!({ "status": "completed", "usage": {}, "result": {} });
    Draft::new(Family::Done, UnixMs(1_778_750_001_000), payload).ending()
}

/// A run with nothing mirrored but one event that says nothing.
pub fn begin(writer: &Writer, run: TaskId) {
    writer.mirror(run, session(), &[Mirrored { task_seq: 1, drafts: vec![] }]).unwrap();
}

/// The whole stream, a page at a time.
pub fn replay(reader: &Reader, run: TaskId, from: Position, rows: u32) -> Vec<Envelope> {
    let mut all = Vec::new();
    let mut position = from;
    loop {
        let page = reader.page(run, &position, rows).unwrap();
        all.extend(page.events);
        position = Position::Cursor(page.cursor);
        if !page.more {
            let again = reader.page(run, &position, rows).unwrap();
            assert_eq!((again.events.len(), again.resumed.starts_over()), (0, false));
            assert!(all.is_empty() || again.resumed == Resumed::Continued);
            return all;
        }
    }
}

/// Tells events of one task to a mirror.
pub struct Tale {
    pub mirror: RunFold,
    pub seq: u64,
    pub status: &'static str,
    pub told: Vec<Mirrored>,
}

fn words(text: &str) -> Sensitive<String> {
    text.to_owned().into()
}

pub fn at(n: u64) -> ArtifactRef {
    ArtifactRef { artifact_id: id("art", n), sha256: Digest::of(b"bytes") }
}

impl Tale {
    pub fn new() -> Self {
        Self { mirror: RunFold::new(run_id()), seq: 0, status: "queued", told: vec![] }
    }

    pub fn event(&self, body: &Body) -> Event {
        let draft = model::event::Draft {
            event_id: id("evt", self.seq),
            task_id: run_id(),
            step_id: None,
            attempt_id: None,
            occurred_at: UnixMs(1_778_750_000_000 + i64::try_from(self.seq).unwrap() * 10),
            actor: Actor { actor_type: PrincipalType::System, actor_id: id("prn", 1) },
            body: body.clone(),
            causation_id: None,
            correlation_id: "test".into(),
            idempotency_key: None,
            workspace_id: None,
        };
        draft.place(self.seq, Digest::ZERO, &mut || [7; 16]).unwrap().0
    }

    pub fn lifecycle(&self) -> Lifecycle {
        Lifecycle {
            status: self.status.to_owned(),
            controls: vec!["observe".into(), "cancel".into()],
            workspace: Some("notes".into()),
            profile: "local_edit_allowed".into(),
            model: None,
            toolset: vec!["read".into(), "write".into()],
        }
    }

    pub fn tell(&mut self, body: impl Into<Body>) -> Vec<Draft> {
        let body = body.into();
        self.seq += 1;
        let (event, now) = (self.event(&body), self.lifecycle());
        let drafts = self.mirror.event(&event, &body, &now);
        self.told.push(Mirrored { task_seq: self.seq, drafts: drafts.clone() });
        drafts
    }

    pub fn created(&mut self) -> Vec<Draft> {
        let task = Task {
            task_id: run_id(),
            title: words("sort notes"),
            goal: words("sort the notes by date"),
            status: TaskStatus::Created,
            priority: Priority::Normal,
            owner_principal_id: id("prn", 1),
            policy_profile_ref: Profile::LocalEditAllowed,
            task_contract_ref: id("art", 1),
            created_at: UnixMs(0),
            updated_at: UnixMs(0),
            parent_task_id: None,
            depends_on: vec![],
            labels: vec![],
            deadline_at: None,
            workspace_hint: None,
            requested_by: None,
            source_channel: Channel::App,
            parallelism_mode: ParallelismMode::Serial,
            conversation_id: session(),
            continuation_anchor: None,
            origin: None,
            scheduled_by: None,
        };
        self.tell(TaskCreated { task, ingress_id: id("ing", 1) })
    }

    pub fn moved(&mut self, from: TaskStatus, to: TaskStatus, run: &'static str) -> Vec<Draft> {
        self.status = run;
        let reason = "test".to_owned();
        self.tell(TaskStatusChanged { about_task_id: run_id(), from, to, reason, note: None })
    }

    pub fn asked(&mut self, iteration: u32) -> Vec<Draft> {
        self.tell(ModelRequested {
            about_attempt_id: id("att", 1),
            iteration,
            request: at(2),
            provider: "openai".into(),
            model: "qwen".into(),
            remote: false,
        })
    }

    pub fn answered(&mut self, iteration: u32) -> Vec<Draft> {
        self.tell(ModelResponded {
            about_attempt_id: id("att", 1),
            iteration,
            response: at(3),
            answer: at(4),
            tokens_in: 10,
            tokens_out: 5,
            cost_micros: 7,
            finish_reason: "stop".into(),
        })
    }

    pub fn settled(&mut self) -> Vec<Draft> {
        self.tell(BudgetSettled { about_task_id: run_id(), tokens: 15, cost_micros: 7, wall_ms: 40 })
    }

    pub fn proposed(&mut self, n: u64) -> Vec<Draft> {
        self.tell(ActionRequested {
            action_request_id: id("act", n),
            request: at(5),
            action_class: ActionClass::WriteLocal,
            tool: "write".into(),
            summary: words("write `a.txt`"),
        })
    }

    pub fn judged(&mut self, n: u64) -> Vec<Draft> {
        self.tell(PolicyEvaluated {
            policy_result_id: id("pol", n),
            action_request_id: id("act", n),
            result: at(6),
            verdict: Verdict::RequireApproval,
            risk_band: RiskBand::Moderate,
            policy_set_sha256: Digest::ZERO,
        })
    }

    pub fn may_it(&mut self, n: u64) -> Vec<Draft> {
        let approval = Approval {
            approval_id: id("apr", n),
            task_id: run_id(),
            step_id: id("step", 1),
            attempt_id: id("att", 1),
            status: ApprovalStatus::Pending,
            approval_type: ActionClass::WriteLocal,
            requested_action_ref: id("art", 5),
            approval_packet_ref: id("art", 7),
            approval_packet_sha256: Digest::ZERO,
            requested_at: UnixMs(1),
            resolved_at: None,
            resolved_by: None,
            expires_at: UnixMs(9),
            state_witness_ref: None,
            policy_result_ref: id("art", 6),
        };
        self.tell(ApprovalRequested {
            approval,
            action_request_id: id("act", n),
            risk_band: RiskBand::Moderate,
            nonce: "00".repeat(16),
            summary: words("write `a.txt`"),
            need: None,
        })
    }

    pub fn yes(&mut self, n: u64, shape: Shape) -> Vec<Draft> {
        self.tell(ApprovalGranted {
            approval_id: id("apr", n),
            decided_by: id("prn", 1),
            surface: Surface::Terminal,
            scope: ApprovalScope { shape, pattern: vec![], expires_at: UnixMs(9), max_uses: 1 },
            envelope: at(8),
            keyid: Digest::ZERO,
            receipt_id: None,
            passkey: None,
            first: None,
        })
    }

    pub fn no(&mut self, n: u64) -> Vec<Draft> {
        self.tell(ApprovalDenied {
            approval_id: id("apr", n),
            decided_by: id("prn", 1),
            surface: Surface::RunApi,
            envelope: None,
            feedback: Some(words("not that file")),
        })
    }

    pub fn dispatched(&mut self, n: u64) -> Vec<Draft> {
        self.tell(EffectDispatched {
            action_request_id: id("act", n),
            grant_id: id("grt", n),
            executor: "files".into(),
            audit_entry_sha256: Digest::ZERO,
        })
    }

    pub fn observed(&mut self, n: u64, result_code: ResultCode) -> Vec<Draft> {
        self.tell(EffectObserved {
            action_request_id: id("act", n),
            result: at(9),
            result_code,
            sandbox_level: SandboxLevel::Beneath,
            recovered: false,
        })
    }

    pub fn receipted(&mut self, n: u64) -> Vec<Draft> {
        self.tell(ReceiptIssued {
            receipt_id: id("rcp", n),
            receipt_class: ReceiptClass::ToolExecution,
            action_class: ActionClass::WriteLocal,
            result_code: ResultCode::Succeeded,
            action_request_id: Some(id("act", n)),
            envelope: at(10),
            statement_sha256: Digest::ZERO,
            reversibility: Reversibility::Reversible,
            rolls_back: None,
            verifiability: Verifiability::Signed,
            summary: words("wrote `a.txt`"),
        })
    }

    pub fn question(&mut self, choices: &[&str]) -> Vec<Draft> {
        let clarification = Clarification {
            clarification_id: id("clr", 1),
            task_id: run_id(),
            attempt_id: id("att", 1),
            question: words("which folder?"),
            choices: choices.iter().map(|c| words(c)).collect(),
            status: ClarificationStatus::Pending,
            requested_at: UnixMs(1),
            expires_at: UnixMs(9),
            answered_by: None,
        };
        self.tell(ClarificationRequested { clarification })
    }

    pub fn turned(&mut self) -> Vec<Draft> {
        let record = IterationRecord {
            step_number: 1,
            model_decision: words("write"),
            tool_invocation: Some("write".into()),
            tool_input: None,
            tool_output: None,
            error: None,
            state_summary: words("one file written"),
            progress_mark: Digest::ZERO,
        };
        self.tell(IterationCompleted { about_attempt_id: id("att", 1), record })
    }

    pub fn terminated(&mut self, reason: TerminationReason) -> Vec<Draft> {
        self.tell(RunTerminated {
            about_attempt_id: id("att", 1),
            reason,
            iterations: 1,
            summary: words("all sorted"),
            answer: Some(at(11)),
            helped: None,
            contradicted: None,
        })
    }

    /// One governed act with a yes, to a good end.
    pub fn whole() -> Self {
        let mut tale = Self::new();
        tale.created();
        tale.moved(TaskStatus::Created, TaskStatus::Ready, "queued");
        tale.moved(TaskStatus::Ready, TaskStatus::Running, "running");
        tale.asked(1);
        tale.answered(1);
        tale.settled();
        tale.proposed(1);
        tale.judged(1);
        tale.may_it(1);
        tale.moved(TaskStatus::Running, TaskStatus::Blocked, "awaiting_approval");
        tale.yes(1, Shape::Exact);
        tale.moved(TaskStatus::Blocked, TaskStatus::Running, "running");
        tale.dispatched(1);
        tale.observed(1, ResultCode::Succeeded);
        tale.receipted(1);
        tale.turned();
        tale.terminated(TerminationReason::Done);
        tale.moved(TaskStatus::Running, TaskStatus::Completed, "completed");
        tale
    }

    pub fn families(&self) -> Vec<Family> {
        self.told.iter().flat_map(|m| &m.drafts).map(|d| d.family).collect()
    }
}
