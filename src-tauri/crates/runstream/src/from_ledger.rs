//! From committed events of the ledger to events of the run stream. Pure: no storage, no clock, no chance.
//!
//! A [`RunFold`] folds the whole history of one task, oldest event first, and answers for each event what the stream
//! says of it. After a restart it is folded again from the ledger; [`crate::Writer::mirror`] leaves out what was
//! written before. Texts that were erased from the ledger are null here.

mod act;
mod ask;
mod run;

use crate::{Draft, Family};
use model::artifact::ArtifactRef;
use model::attempt::TerminationReason;
use model::body::Body;
use model::event::Event;
use model::{ActionRequestId, ConversationId, Sensitive, TaskId, UnixMs};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Bytes kept of one block of reasoning for its `reasoning.done`.
const REASONING_BYTES_MAX: usize = 64 * 1024;

/// How the run stands after an event was committed. The kernel says it, from its folded state and table T1
/// (`projections::run_status`); the journal only passes it on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lifecycle {
    /// Run status, one of RA 1.3.
    pub status: String,
    /// Controls that would be accepted now.
    pub controls: Vec<String>,
    /// The workspace, if any.
    pub workspace: Option<String>,
    /// The policy profile.
    pub profile: String,
    /// Who proposes, as far as it is known.
    pub model: Option<String>,
    /// Tools on offer.
    pub toolset: Vec<String>,
}

/// What a run has used so far: the kernel's own accounts, no second count (RA-2-13).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Tokens in and out.
    pub tokens: u64,
    /// Cost in micro-units of the provider's currency.
    pub cost_micros: u64,
    /// Work in milliseconds, waiting for people not counted.
    pub duration_ms: i64,
    /// The provider asked last.
    pub provider: Option<String>,
    /// The model asked last.
    pub model: Option<String>,
}

#[derive(Debug, Clone)]
struct Tool {
    name: String,
    summary: Value,
    started_at: Option<UnixMs>,
}

#[derive(Debug, Clone)]
struct Outcome {
    reason: TerminationReason,
    summary: Value,
    answer: Option<ArtifactRef>,
    /// How many sentences of the answer are borne by what, and which artifact tells each.
    check: Option<Value>,
}

/// Folds one task's events and says what its run stream tells of each.
#[derive(Debug, Clone)]
pub struct RunFold {
    run_id: TaskId,
    session_id: Option<ConversationId>,
    said: Option<Lifecycle>,
    segment: String,
    /// The asking whose pieces came last; 0 where none came of this segment.
    asking: u64,
    reasoning: String,
    tools: BTreeMap<ActionRequestId, Tool>,
    busy: Option<ActionRequestId>,
    usage: Usage,
    outcome: Option<Outcome>,
    ended: bool,
}

/// Which part of the mapping an event belongs to. Without a wildcard: a new event asks for a decision here.
enum Part {
    Run,
    Act,
    Ask,
    Silent,
}

impl RunFold {
    /// The mirror of a task nothing of which was seen yet.
    pub fn new(run_id: TaskId) -> Self {
        Self {
            run_id,
            session_id: None,
            said: None,
            segment: format!("{run_id}/0"),
            asking: 0,
            reasoning: String::new(),
            tools: BTreeMap::new(),
            busy: None,
            usage: Usage::default(),
            outcome: None,
            ended: false,
        }
    }

    /// The session, known from the first event of the task on.
    pub const fn session_id(&self) -> Option<ConversationId> {
        self.session_id
    }

    /// Whether the terminal event was told.
    pub const fn has_ended(&self) -> bool {
        self.ended
    }

    /// What the stream says of one committed event. Events of other tasks, and those behind the end, say nothing.
    pub fn event(&mut self, event: &Event, body: &Body, now: &Lifecycle) -> Vec<Draft> {
        if event.task_id != self.run_id || self.ended {
            return Vec::new();
        }
        let said = match part(body) {
            Part::Run => run::drafts(self, event, body, now),
            Part::Act => act::drafts(self, event, body),
            Part::Ask => ask::drafts(event, body),
            Part::Silent => Vec::new(),
        };
        let mut drafts: Vec<Draft> = said.into_iter().map(|draft| named(draft, event)).collect();
        self.ended = drafts.iter().any(|draft| draft.terminal);
        if self.said.as_ref() != Some(now) && self.session_id.is_some() {
            let first = self.said.is_none();
            self.said = Some(now.clone());
            // `run.started` and the terminal event carry it themselves.
            if !first && !self.ended {
                let payload = self.lifecycle(now);
                drafts.push(named(Draft::new(Family::Status, event.occurred_at, payload), event));
            }
        }
        drafts
    }

    /// A piece of the text a reasoner writes (the kernel's `Notice::Delta`). `asking` and `from` are the notice's: what is
    /// asked again, as after a crash, is answered in a segment of its own.
    pub fn delta(&mut self, text: &str, asking: u64, from: u64, at: UnixMs) -> Draft {
        self.turn_to(asking);
        let payload = json!({
            "segment_id": self.segment_id(), "delta": text, "content_type": "text/plain", "asking": asking, "from": from,
        });
        Draft::new(Family::TokenDelta, at, payload)
    }

    /// A piece of a reasoner's reasoning, where a provider tells it apart from its text.
    pub fn thought(&mut self, text: &str, asking: u64, from: u64, at: UnixMs) -> Draft {
        self.turn_to(asking);
        if self.reasoning.len().saturating_add(text.len()) <= REASONING_BYTES_MAX {
            self.reasoning.push_str(text);
        }
        let payload = json!({
            "block_id": self.segment_id(), "delta": text, "visibility": "shown", "asking": asking, "from": from,
        });
        Draft::new(Family::ReasoningDelta, at, payload)
    }

    /// What an earlier asking reasoned is no part of what this one does.
    fn turn_to(&mut self, asking: u64) {
        if self.asking != asking {
            self.asking = asking;
            self.reasoning.clear();
        }
    }

    /// The turn, and which asking of it.
    fn segment_id(&self) -> String {
        match self.asking {
            0 => self.segment.clone(),
            asking => format!("{}/{asking}", self.segment),
        }
    }

    /// Long work goes on (the kernel's `Notice::Progress`): told of the tool at work, else of the run.
    pub fn progress(&self, what: &str, done: u64, total: u64, at: UnixMs) -> Draft {
        let progress = json!({ "what": what, "done": done, "total": total });
        match self.busy {
            Some(id) => {
                let payload = json!({ "tool_call_id": id, "data": null, "progress": progress });
                Draft::new(Family::ToolUpdated, at, payload)
            }
            None => {
                let text = if total == 0 { what.to_owned() } else { format!("{what}: {done} of {total}") };
                Draft::new(
                    Family::Progress,
                    at,
                    json!({ "phase": "work", "text": text, "progress": progress }),
                )
            }
        }
    }

    /// A piece of what a tool prints or says while it is at work (the kernel's `Notice::Output`).
    pub fn output(&self, act: ActionRequestId, stream: &str, text: &str, at: UnixMs) -> Draft {
        let data = json!({ "stream": stream, "text": text });
        Draft::new(Family::ToolUpdated, at, json!({ "tool_call_id": act, "data": data, "progress": null }))
    }

    /// The payload of `run.started` and `status`.
    fn lifecycle(&self, now: &Lifecycle) -> Value {
        json!({
            "status": now.status, "controls": now.controls, "session_id": self.session_id,
            "workspace": now.workspace, "profile": now.profile, "model": now.model, "toolset": now.toolset,
        })
    }
}

fn named(mut draft: Draft, event: &Event) -> Draft {
    draft.payload.insert("ledger_event_id".to_owned(), json!(event.event_id));
    draft
}

/// A sensitive text, or null once it was erased.
fn shown(text: &Sensitive<String>) -> Value {
    text.shown().map_or(Value::Null, |text| json!(text))
}

fn step(event: &Event, phase: &str, text: Value) -> Draft {
    Draft::new(Family::Progress, event.occurred_at, json!({ "phase": phase, "text": text }))
}

#[rustfmt::skip] // One line for each variant would be two screens of the same word.
const fn part(body: &Body) -> Part {
    use Body::*;
    match body {
        TaskCreated(_) | TaskStatusChanged(_) | TaskInputAdded(_) | TaskInputAbsorbed(_) | TaskGoalChanged(_)
        | TaskDelegated(_) | ChildEnded(_) | ToolsFound(_) | SamplingRequested(_) | SamplingEnded(_)
        | ContextCompacted(_) | AnswerChecked(_) | SkillLoaded(_) | AnswerContinued(_) | CriteriaChecked(_)
        | LimitRaised(_) | ModelFellBack(_)
        | TaskInputQueued(_) | BudgetSettled(_) | ContextCompiled(_) | ModelRequested(_) | ModelResponded(_)
        | ModelFailed(_) | ModelOutputRejected(_) | IterationCompleted(_) | RunTerminated(_) => Part::Run,
        TrialStarted(_) | TrialEnded(_) | ActionRequested(_) | ActionDowngraded(_) | PolicyEvaluated(_)
        | WitnessDrifted(_) | EffectDispatched(_) | EffectProgressed(_) | EffectObserved(_) | EffectUncertain(_) | OutcomeResolved(_) | ReceiptIssued(_) => Part::Act,
        ApprovalRequested(_) | ApprovalGranted(_) | ApprovalDenied(_) | ApprovalExpired(_) | ApprovalCancelled(_)
        | ApprovalInvalidated(_) | ClarificationRequested(_) | ClarificationAnswered(_) | ClarificationExpired(_)
        | ClarificationCancelled(_) => Part::Ask,
        // Of the store, or told well enough by the lifecycle and by what follows.
        StoreInitialised(_) | KeyRegistered(_) | KeyRotated(_) | HostStarted(_) | HostStopped(_) | GateHalted(_)
        | GateBooted(_) | CheckpointSigned(_) | BackupMade(_) | StoreRestored(_) | ChainReanchored(_)
        | KeyRevoked(_) | CheckpointCosigned(_) | PersonDecided(_) | PinAccepted(_)
        | StandingAllowed(_) | StandingRevoked(_) | StandingUsed(_)
        | ToolServerRegistered(_) | ToolClassified(_) | ToolServerChanged(_) | ToolServerDisabled(_) | ToolServerRemoved(_)
        | ToolSamplingSet(_) | ToolServerPassedOn(_) | ToolLoginAllowed(_) | ToolLoggedIn(_) | ToolLoggedOut(_) | PolicyRulesChanged(_)
        | SkillTrusted(_) | SkillUntrusted(_) | PlaybookAdopted(_) | PlaybookTurnedOff(_) | HistoryRead(_) | StateRooted(_)
        | LimitReached(_) | ScheduleKept(_) | SchedulePaused(_) | ScheduleResumed(_) | ScheduleRemoved(_) | ScheduleSettled(_) | ScheduleFired(_) | ScheduleNotBegun(_)
        | SkinTrusted(_) | SkinUntrusted(_) | SkinChosen(_)
        | PasskeyEnrolled(_) | PasskeyUsed(_) | PasskeyRefused(_) | PasskeyRevoked(_)
        | PasskeySignedIn(_) | PasskeySignInRefused(_) | PushSubscribed(_) | PushEnded(_)
        | ScheduleCalled(_) | ScheduleCallsRefused(_)
        | GatewayKept(_) | GatewayPaused(_) | GatewayResumed(_) | GatewayRemoved(_) | PairingAllowed(_)
        | SenderPaired(_) | SenderUnpaired(_) | SenderSilenced(_) | MessageReceived(_) | MessageRefused(_)
        | GatewayRead(_) | MessageQueued(_) | MessageSending(_) | MessageSettled(_)
        | AnchorRequested(_) | AnchorAsked(_) | AnchorStamped(_) | AnchorCompleted(_) | AnchorWithdrawn(_) | AnchorFailed(_)
        | MeshJoined(_) | MeshLeft(_) | MeshStepped(_) | MeshSettled(_) | MeshTaken(_)
        // Of a question that waits for another key still.
        | ApprovalSigned(_)
        | SuccessorBegan(_) | SuccessorJudged(_) | SuccessorStopped(_) | SuccessorAdopted(_) | SuccessorReturned(_)
        | TrainingCurated(_) | TrainingFinished(_) | TrainingExported(_) | TrainingRecalled(_)
        | SoulWritten(_) | InstanceKeyRegistered(_) | IdentityLinked(_) | IdentityPublished(_)
        | SecretRegistered(_) | SecretPlaced(_) | SecretRemoved(_) | ContentRedacted(_)
        | DisclosuresErased(_) | DuplicateRefused(_) | PrincipalRegistered(_) | WorkspaceRegistered(_)
        | ProjectKnown(_) | IngressAttributed(_)
        | ConversationOpened(_) | FocusChanged(_) | IngressReceived(_) | IngressBound(_) | TaskPauseRequested(_)
        | TaskCancelRequested(_) | ChildrenStarted(_) | TaskPriorityChanged(_) | BudgetReserved(_) | StepCreated(_)
        | StepStatusChanged(_) | AttemptCreated(_) | AttemptStatusChanged(_) | AttemptCheckpointed(_)
        | EnvironmentCaptured(_) | LeaseAcquired(_) | LeaseRenewed(_) | LeaseReleased(_) | LeaseLost(_)
        | DecisionRecorded(_) | WitnessCaptured(_) | WitnessValidated(_) | GrantIssued(_) | GrantRevoked(_)
        | ArtifactCreated(_) | ArtifactReferenced(_) | ArtifactSealed(_) | ArtifactPromoted(_)
        | ArtifactCompacted(_) | ArtifactExpired(_) | WorkingStateUpdated(_) | BeliefAsserted(_)
        | BeliefRevised(_) | BeliefSuperseded(_) | BeliefContradicted(_) | BeliefRevoked(_) | BeliefExpired(_)
        | ReceiptsUndone(_) | MemoryPromoted(_) | MemoryInvalidated(_) | MemoryRevoked(_) | MemoryExpired(_) => Part::Silent,
    }
}
