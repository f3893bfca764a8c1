//! Words for what a step is for, and what each may request.

use crate::act::ActionClass;

crate::names! {
    /// What a step is for (examples of HK-8.2).
    pub enum StepKind ("step kind") {
        /// Pursue the goal: the loop of reasoning and action.
        Pursue = "pursue",
        /// Undo a receipt.
        Rollback = "rollback",
        /// Settle an unknown outcome.
        Observe = "observe",
        /// Take content in.
        Ingest = "ingest",
        /// Promote knowledge.
        Promote = "promote",
        /// Plan what is to be done.
        Plan = "plan",
        /// Find what it is about.
        Search = "search",
        /// Look closely at what is there.
        Inspect = "inspect",
        /// Change files.
        Edit = "edit",
        /// Run tests, or another command that tells how it stands.
        RunTests = "run_tests",
        /// Put a change together for others to look at.
        PreparePatch = "prepare_patch",
        /// Wait until a person says that what comes after it may begin.
        AwaitApproval = "await_approval",
        /// Hand a result to others.
        PublishResult = "publish_result",
        /// Look at how something elsewhere stands.
        ObserveRemote = "observe_remote",
    }
}

impl StepKind {
    /// Classes of action that a step of this kind may request; none is all that the profile allows.
    pub const fn may(self) -> &'static [ActionClass] {
        use ActionClass::{
            CredentialedApiCall, DeleteLocal, ExecuteCommand, NetworkRead, NetworkWrite, Publication,
            ReadLocal, VcsMutation, WriteLocal,
        };
        match self {
            Self::Pursue | Self::Rollback | Self::Observe | Self::Ingest | Self::Promote => &[],
            Self::Plan | Self::Search | Self::Inspect | Self::AwaitApproval => &[ReadLocal],
            Self::ObserveRemote => &[ReadLocal, NetworkRead],
            Self::Edit | Self::PreparePatch => &[ReadLocal, WriteLocal, DeleteLocal],
            Self::RunTests => &[ReadLocal, ExecuteCommand],
            Self::PublishResult => {
                &[ReadLocal, NetworkRead, NetworkWrite, CredentialedApiCall, Publication, VcsMutation]
            }
        }
    }

    /// Kinds that a person gives to a step of a plan.
    pub const PLANNED: [Self; 10] = [
        Self::Plan,
        Self::Search,
        Self::Inspect,
        Self::Edit,
        Self::RunTests,
        Self::PreparePatch,
        Self::AwaitApproval,
        Self::PublishResult,
        Self::ObserveRemote,
        Self::Pursue,
    ];
}
