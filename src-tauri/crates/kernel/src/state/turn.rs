//! The turn in hand: one variant for each stage of it, with what is known at that stage and nothing else.

use super::EventAt;
use model::action::ActionClass;
use model::artifact::ArtifactRef;
use model::attempt::TerminationReason;
use model::body::{ActionRequested, Body};
use model::policy::{RiskBand, Verdict};
use model::receipt::{ResultCode, SandboxLevel};
use model::standing::StandingRef;
use model::task::ChildTask;
use model::{
    ActionRequestId, ApprovalId, ClarificationId, DecisionId, GrantId, PolicyResultId, ReceiptId, TaskId,
    UnixMs, WitnessId,
};
use seal::Digest;

/// What policy said of the act in hand.
#[derive(Debug, Clone)]
pub struct PolicyAt {
    /// Its identifier.
    pub policy_result_id: PolicyResultId,
    /// Its artifact.
    pub artifact: ArtifactRef,
    /// The one result.
    pub verdict: Verdict,
    /// What is at stake.
    pub risk_band: RiskBand,
    /// The policy set it was judged by.
    pub policy_set_sha256: Digest,
}

/// The witness of the act in hand.
#[derive(Debug, Clone)]
pub struct WitnessAt {
    /// Its identifier.
    pub witness_id: WitnessId,
    /// Its artifact.
    pub artifact: ArtifactRef,
    /// Until when it may be compared.
    pub expires_at: UnixMs,
}

/// The turn in hand.
#[derive(Debug, Clone)]
pub enum Turn {
    /// Nothing is in hand, and a context is compiled next.
    Thinking {
        /// The act that the turn before ended with.
        last: Option<Box<Act>>,
    },
    /// The request to the model is stored, and not answered.
    Asking {
        /// Its exact bytes.
        request: ArtifactRef,
    },
    /// The answer is stored, and not read.
    Answered {
        /// The answer.
        answer: ArtifactRef,
    },
    /// A command, or the call of a tool, is tried in a staged view.
    Trying {
        /// The answer that it is from; none for a plan of the kernel's own.
        answer: Option<ArtifactRef>,
        /// The trial.
        trial: Trial,
    },
    /// A request is on record.
    Acting {
        /// The answer that it is from; none for a plan of the kernel's own.
        answer: Option<ArtifactRef>,
        /// The act.
        act: Box<Act>,
    },
    /// A question to a person waits.
    Questioned(ClarificationId),
    /// Parts of the task were given away, and what they come to is waited for.
    Delegated(Delegated),
    /// The loop has ended.
    Ended {
        /// Why.
        reason: TerminationReason,
        /// What it answered.
        answer: Option<ArtifactRef>,
        /// The act that it ended with.
        last: Option<Box<Act>>,
    },
}

/// A command that is tried in a staged view, because policy does not deny its words.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The request in its words alone.
    pub action_request_id: ActionRequestId,
    /// The artifact of that request.
    pub request: ArtifactRef,
}

/// Parts of a task that were given away.
#[derive(Debug, Clone)]
pub struct Delegated {
    /// The parts.
    pub parts: Vec<ChildTask>,
    /// Their tasks, in the same order; none before they are made.
    pub children: Vec<TaskId>,
    /// Those of them that have ended.
    pub ended: Vec<TaskId>,
}

impl Delegated {
    /// The tasks that have not ended.
    pub fn open(&self) -> impl Iterator<Item = TaskId> {
        self.children.iter().copied().filter(|child| !self.ended.contains(child))
    }
}

/// The act in hand, from request to receipt.
#[derive(Debug, Clone)]
pub struct Act {
    /// Its identifier.
    pub action_request_id: ActionRequestId,
    /// The request's artifact.
    pub request: ArtifactRef,
    /// The gravest class.
    pub action_class: ActionClass,
    /// The tool.
    pub tool: String,
    /// One line.
    pub summary: String,
    /// What was asked, when this is done instead.
    pub instead_of: Option<ActionRequestId>,
    /// What policy said last.
    pub policy: Option<PolicyAt>,
    /// What was observed when it was judged.
    pub witness: Option<WitnessAt>,
    /// By what it may be done.
    pub authority: Authority,
    /// How far it is.
    pub stage: Stage,
    /// From where a new act could go on, if this one does not come to its end.
    pub checkpoint: Option<CheckpointAt>,
    /// Its receipt.
    pub receipt: Option<ReceiptId>,
}

/// A checkpoint of an act that lasts.
#[derive(Debug, Clone)]
pub struct CheckpointAt {
    /// What a new act would need.
    pub artifact: ArtifactRef,
    /// What was done up to there.
    pub note: String,
}

/// By what an act may be done; which of these there are depends on what policy demands.
#[derive(Debug, Clone, Default)]
pub struct Authority {
    /// The approval asked for.
    pub approval: Option<ApprovalId>,
    /// What was observed again before execution.
    pub validated: Option<ArtifactRef>,
    /// The decision recorded for it.
    pub decision: Option<DecisionId>,
    /// The grant minted for it.
    pub grant: Option<GrantId>,
    /// The standing grant that answered for a person.
    pub standing: Option<StandingRef>,
    /// The gate entry that let it pass.
    pub audit_entry: Option<Digest>,
}

/// How far an act is.
#[derive(Debug, Clone)]
pub enum Stage {
    /// On record, and to be judged, for the first time or anew.
    Requested,
    /// Policy has answered.
    Judged(Verdict),
    /// A person is asked, or has answered.
    Asked,
    /// It may have begun.
    Dispatched {
        /// When it was.
        at: UnixMs,
    },
    /// It may have happened, and nobody can tell.
    Uncertain,
    /// Its outcome is on record; of an act that was refused that too.
    Observed {
        /// The result's artifact.
        result: ArtifactRef,
        /// How it went.
        result_code: ResultCode,
        /// The confinement it ran in.
        sandbox_level: SandboxLevel,
    },
    /// A person settled what nobody could tell.
    Resolved(ResultCode),
}

impl Turn {
    /// The act in hand.
    pub fn act(&self) -> Option<&Act> {
        match self {
            Self::Acting { act, .. } => Some(act),
            _ => None,
        }
    }

    /// The act in hand, else the one that the turn before ended with.
    pub fn latest_act(&self) -> Option<&Act> {
        match self {
            Self::Acting { act, .. } => Some(act),
            Self::Thinking { last } | Self::Ended { last, .. } => last.as_deref(),
            _ => None,
        }
    }

    /// The answer in hand.
    pub const fn answer(&self) -> Option<&ArtifactRef> {
        match self {
            Self::Answered { answer } => Some(answer),
            Self::Trying { answer, .. } | Self::Acting { answer, .. } => answer.as_ref(),
            _ => None,
        }
    }

    /// The same with its act behind it.
    pub(super) fn over(self) -> Option<Box<Act>> {
        match self {
            Self::Acting { act, .. } => Some(act),
            Self::Thinking { last } | Self::Ended { last, .. } => last,
            _ => None,
        }
    }
}

impl Act {
    /// An act of which nothing is known but its request.
    pub(super) fn of(b: &ActionRequested) -> Self {
        Self {
            action_request_id: b.action_request_id,
            request: b.request.clone(),
            action_class: b.action_class,
            tool: b.tool.clone(),
            summary: b.summary.shown().cloned().unwrap_or_default(),
            instead_of: None,
            policy: None,
            witness: None,
            authority: Authority::default(),
            stage: Stage::Requested,
            checkpoint: None,
            receipt: None,
        }
    }

    /// Whether what becomes of it is told by a receipt, as [`acts::ActionRequest::leaves_receipt`] says.
    pub fn leaves_receipt(&self) -> bool {
        self.action_class.leaves_receipt() || self.instead_of.is_some() || self.tool == "call"
    }

    /// Whether it was dispatched, and nothing is known of how it went.
    pub const fn is_dispatched(&self) -> bool {
        matches!(self.stage, Stage::Dispatched { .. })
    }

    /// Whether it was done, wholly.
    pub const fn has_succeeded(&self) -> bool {
        matches!(self.stage, Stage::Observed { result_code: ResultCode::Succeeded, .. })
    }

    /// Whether it may have begun and its outcome is not established.
    pub const fn is_unsettled(&self) -> bool {
        matches!(self.stage, Stage::Dispatched { .. } | Stage::Uncertain)
    }

    /// Folds one at.
    pub(super) fn apply(&mut self, at: &EventAt, body: &Body) {
        match body {
            Body::ActionDowngraded(b) if b.instead == self.action_request_id => {
                self.instead_of = Some(b.action_request_id);
            }
            Body::PolicyEvaluated(b) => {
                self.policy = Some(PolicyAt {
                    policy_result_id: b.policy_result_id,
                    artifact: b.result.clone(),
                    verdict: b.verdict,
                    risk_band: b.risk_band,
                    policy_set_sha256: b.policy_set_sha256,
                });
                self.stage = Stage::Judged(b.verdict);
            }
            Body::WitnessCaptured(b) => {
                self.witness = Some(WitnessAt {
                    witness_id: b.witness_id,
                    artifact: b.witness.clone(),
                    expires_at: b.expires_at,
                });
                self.authority.validated = None;
            }
            Body::WitnessValidated(b) => self.authority.validated = Some(b.observed.clone()),
            Body::DecisionRecorded(b) => self.authority.decision = Some(b.decision.decision_id),
            Body::ApprovalRequested(b) => {
                self.authority.approval = Some(b.approval.approval_id);
                self.stage = Stage::Asked;
            }
            Body::ApprovalInvalidated(_) => {
                self.authority.approval = None;
                self.stage = Stage::Requested;
            }
            Body::GrantIssued(b) => self.authority.grant = Some(b.grant_id),
            Body::StandingUsed(b) => {
                let used = StandingRef { grant_id: b.grant_id, envelope_sha256: b.envelope.sha256 };
                self.authority.standing = Some(used);
            }
            Body::EffectDispatched(b) => {
                self.authority.audit_entry = Some(b.audit_entry_sha256);
                self.stage = Stage::Dispatched { at: at.occurred_at };
            }
            Body::EffectObserved(b) => {
                self.stage = Stage::Observed {
                    result: b.result.clone(),
                    result_code: b.result_code,
                    sandbox_level: b.sandbox_level,
                };
            }
            Body::EffectProgressed(b) if b.action_request_id == self.action_request_id => {
                if let Some(artifact) = b.checkpoint.clone() {
                    let note = b.note.shown().cloned().unwrap_or_else(|| "(erased)".to_owned());
                    self.checkpoint = Some(CheckpointAt { artifact, note });
                }
            }
            Body::EffectUncertain(_) => self.stage = Stage::Uncertain,
            Body::OutcomeResolved(b) => {
                self.stage = Stage::Resolved(b.result_code);
                self.receipt = Some(b.receipt_id);
            }
            // The receipt of an answer names no request, so this is the act's own.
            Body::ReceiptIssued(b) if b.action_request_id == Some(self.action_request_id) => {
                self.receipt = Some(b.receipt_id);
            }
            _ => {}
        }
    }
}
