//! What the bodies of events are made of.

pub(super) use crate::action::{ActionClass, Reversibility};
pub(super) use crate::anchor::{AnchorClock, AnchorSubject, BlockTime};
pub(super) use crate::approval::{Approval, ApprovalScope, Surface};
pub(super) use crate::artifact::{Artifact, ArtifactRef, TrustTier};
pub(super) use crate::attempt::{
    AttemptPhase, AttemptStatus, IterationRecord, StepAttempt, TerminationReason, WorkspaceLease,
};
pub(super) use crate::decision::Decision;
pub(super) use crate::gateway::{
    MessageAbout, MessageRefusal, MessageState, MessageUse, SenderProfile, Service,
};
pub(super) use crate::identity::InstanceKey;
pub(super) use crate::ingress::{Clarification, ContinuationAnchor, IngressRecord, IngressResolution};
pub(super) use crate::knowledge::{Belief, HistoryMark, MemoryRecord};
pub(super) use crate::login::LoginTerms;
pub(super) use crate::playbook::{DraftMark, ShapeMark};
pub(super) use crate::policy::{RiskBand, Verdict};
pub(super) use crate::principal::Principal;
pub(super) use crate::receipt::{ReceiptClass, ResultCode, SandboxLevel, Verifiability};
pub(super) use crate::sampling::SamplingTerms;
pub(super) use crate::schedule::{CallRefused, PassedOver, Seen, Settled, When};
pub(super) use crate::secret::SecretPlace;
pub(super) use crate::standing::StandingScope;
pub(super) use crate::state_root::StateRoot;
pub(super) use crate::task::{
    CheckedCriterion, ChildTask, Limit, Priority, Step, StepStatus, Task, TaskStatus,
};
pub(super) use crate::tool_server::ToolTerms;
pub(super) use crate::{
    ActionRequestId, ApprovalId, ArtifactId, AttemptId, BeliefId, ClarificationId, ConversationId,
    DecisionId, EventId, GrantId, IngressId, LeaseId, MemoryId, PolicyResultId, PrincipalId, ReceiptId, Slot,
    StepId, TaskId, UnixMs, WitnessId, WorkspaceId,
};
pub(super) use words::successor::{PatchKind, VerdictOutcome};
