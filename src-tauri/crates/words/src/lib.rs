//! Closed lists that the ledger, the wire and the pages spell alike, and the one way to declare such a list: [`names!`].
//! Beside them, how a person reads their values, a number and a time, in a sentence.
//!
//! What this room must never do: know a shape or a room, or what time it is.
//!
//! Invariants
//! 1. A value has one spelling: it is stored, sent and shown under it, and nothing else is read as that value.
//! 2. A spelling never changes and is never used for something else: stored events and signed receipts hold it.
//! 3. Lists are closed: what is none of its names is refused with the names there are.
//!
//! Start reading at [`task`], then [`act`].

mod names;

pub mod act;
pub mod artifact;
pub mod chat;
pub mod identity;
pub mod knowledge;
pub mod mesh;
pub mod number;
pub mod policy;
pub mod schedule;
pub mod services;
pub mod slash;
pub mod step;
pub mod store;
pub mod successor;
pub mod task;
pub mod time;
pub mod training;

pub use names::UnknownName;

#[cfg(test)]
mod tests {
    use super::{
        act, artifact, chat, identity, knowledge, mesh, policy, schedule, slash, step, store, successor,
        task, training,
    };

    /// JSON of every value is its name in quotes, and nothing else is read.
    macro_rules! spelled {
        ($($list:ty),+ $(,)?) => { $(
            for value in <$list>::ALL {
                let json = serde_json::to_string(value).unwrap();
                assert_eq!(json, format!("\"{}\"", value.as_str()));
                assert_eq!(serde_json::from_str::<$list>(&json).unwrap(), *value);
                assert_eq!(value.as_str().parse::<$list>().unwrap(), *value);
                assert_eq!(value.to_string(), value.as_str());
            }
            for other in ["", "Succeeded", "succeeded ", "no_such_word"] {
                assert!(other.parse::<$list>().is_err() && serde_json::from_value::<$list>(other.into()).is_err());
            }
        )+ };
    }

    #[test]
    fn every_value_of_schedules_too() {
        spelled!(
            identity::AnchorClock,
            identity::AnchorState,
            identity::HandoverReason,
            identity::TrustFinding,
            mesh::DeliveryState,
            mesh::MeshAlert,
            mesh::MeshPairingState,
            mesh::NeverReason,
            schedule::CallRefused,
            schedule::CatchUpKind,
            schedule::Condition,
            schedule::FileChange,
            schedule::FileChanges,
            schedule::MachineEvent,
            schedule::Overlap,
            schedule::PassedOver,
            schedule::RunEnd,
            schedule::ScheduleState,
            schedule::Shift,
            schedule::SlotState,
            schedule::TriggerKind,
            schedule::Unseen,
            successor::Arm,
            successor::BudgetPart,
            successor::MeasuredBy,
            successor::PatchKind,
            successor::TrialStage,
            successor::TrialState,
            successor::VerdictOutcome,
            training::LeftOutReason,
            training::TrainingState,
        );
    }

    #[test]
    fn every_value_of_gateways_too() {
        spelled!(
            chat::GatewayState,
            chat::MessageAbout,
            chat::MessageRefusal,
            chat::MessageState,
            chat::MessageUse,
            chat::SenderProfile,
            chat::Service,
        );
    }

    #[test]
    fn every_value_is_read_and_written_as_its_one_name() {
        spelled!(
            act::ActionClass,
            act::ActionState,
            act::ChangeKind,
            act::ItemOutcome,
            act::NoText,
            act::ReceiptClass,
            act::ResultCode,
            act::Reversibility,
            act::SandboxLevel,
            act::Tense,
            act::TrialOutcome,
            act::UndoKind,
            artifact::ArtifactClass,
            artifact::ArtifactKind,
            artifact::ArtifactState,
            artifact::TraceScope,
            artifact::RetentionClass,
            artifact::Sensitivity,
            chat::Service,
            policy::ApprovalStatus,
            policy::CardLine,
            policy::GrantState,
            policy::GrantStatus,
            policy::PolicyVerdict,
            policy::Profile,
            policy::RiskBand,
            policy::RuleEffect,
            policy::RuleScope,
            policy::StandingState,
            policy::Surface,
            slash::SlashCommand,
            store::Channel,
            store::CheckpointKind,
            store::EntityType,
            store::HeadStanding,
            store::HostRole,
            store::KeyPurpose,
            store::KeyStatus,
            store::PrincipalType,
            store::ProjectSource,
            store::ToolServerState,
            store::VaultKind,
            task::MessageKind,
            step::StepKind,
            task::Role,
            task::AttemptStatus,
            task::CallStatus,
            task::ClarificationStatus,
            task::DriveState,
            task::CriterionOutcome,
            task::IngressResolution,
            task::Origin,
            task::Priority,
            task::Proposer,
            task::RefusedBy,
            task::RunStatus,
            task::StepStatus,
            task::TaskGroup,
            task::TaskStatus,
            task::TerminationReason,
            task::ToolMode,
            task::ToolOffer,
            task::UndoneExtent,
            task::WaitsFor,
            task::WordsBy,
        );
    }

    #[test]
    fn every_value_of_what_is_known_is_read_and_written_as_its_one_name() {
        spelled!(
            knowledge::AnswerSupport,
            knowledge::BeliefStatus,
            knowledge::DecisionClass,
            knowledge::EdgeKind,
            knowledge::ExplainedKind,
            knowledge::InvalidationPolicy,
            knowledge::MemoryRetention,
            knowledge::MemoryStatus,
            knowledge::MemoryType,
            knowledge::NodeKind,
            knowledge::TrustTier,
        );
    }

    #[test]
    fn a_word_of_no_list_is_refused_with_the_words_there_are() {
        let refused = "undone".parse::<task::Priority>().unwrap_err();
        assert_eq!(refused.to_string(), "`undone` is not a priority; it is one of low, normal, high");
    }
}
