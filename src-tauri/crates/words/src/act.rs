//! Words for acts: what kind each is, where it stands, how it came out and what can be done about it.

crate::names! {
    /// Action classes: the union of HK-7 and HK-16.4 (reconciliation C36).
    pub enum ActionClass ("action class") {
        /// Look at local files.
        ReadLocal = "read_local",
        /// Create or change local files.
        WriteLocal = "write_local",
        /// Delete local files.
        DeleteLocal = "delete_local",
        /// Run a program.
        ExecuteCommand = "execute_command",
        /// Read from the network.
        NetworkRead = "network_read",
        /// Write to the network.
        NetworkWrite = "network_write",
        /// Call an interface that needs a credential.
        CredentialedApiCall = "credentialed_api_call",
        /// Change version control.
        VcsMutation = "vcs_mutation",
        /// Publish.
        Publication = "publication",
        /// Pay or spend.
        Payment = "payment",
        /// Promote to durable memory.
        DurableMemoryWrite = "durable_memory_write",
        /// Have done by somebody else's tool what nobody has classified.
        ExternalEffect = "external_effect",
        /// Change what Hermit itself may do: its rules, tools, schedules and peers.
        CapabilityChange = "capability_change",
        /// Override policy.
        PolicyOverride = "policy_override",
        /// Undo an earlier act.
        Rollback = "rollback",
        /// Resolve an approval.
        ApprovalResolution = "approval_resolution",
    }
}

impl ActionClass {
    /// What an act of it is to do, as a person reads it in a sentence. Commands and rules name it by its spelling.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::ReadLocal => "read files",
            Self::WriteLocal => "write files",
            Self::DeleteLocal => "move or delete files",
            Self::ExecuteCommand => "run a command",
            Self::NetworkRead => "read from the network",
            Self::NetworkWrite => "send to the network",
            Self::CredentialedApiCall => "use a secret",
            Self::VcsMutation => "change Git",
            Self::Publication => "publish",
            Self::Payment => "spend money",
            Self::DurableMemoryWrite => "remember",
            Self::ExternalEffect => "use a tool that nobody has classified",
            Self::CapabilityChange => "change what Hermit may do",
            Self::PolicyOverride => "override policy",
            Self::Rollback => "undo",
            Self::ApprovalResolution => "answer an approval",
        }
    }

    /// How grave a class is; a larger number is graver. No two classes are equal, so an order is always the same.
    pub const fn gravity(self) -> u8 {
        match self {
            Self::ReadLocal => 0,
            Self::NetworkRead => 1,
            Self::DurableMemoryWrite => 2,
            Self::WriteLocal => 3,
            Self::ExecuteCommand => 4,
            Self::DeleteLocal => 5,
            Self::ApprovalResolution => 6,
            Self::VcsMutation => 7,
            Self::Rollback => 8,
            Self::NetworkWrite => 9,
            Self::CredentialedApiCall => 10,
            Self::Publication => 11,
            Self::Payment => 12,
            Self::ExternalEffect => 13,
            Self::CapabilityChange => 14,
            Self::PolicyOverride => 15,
        }
    }

    /// Whether HK-7 demands a receipt.
    pub const fn is_important(self) -> bool {
        match self {
            Self::ReadLocal | Self::NetworkRead => false,
            Self::WriteLocal
            | Self::DeleteLocal
            | Self::ExecuteCommand
            | Self::NetworkWrite
            | Self::CredentialedApiCall
            | Self::VcsMutation
            | Self::Publication
            | Self::Payment
            | Self::DurableMemoryWrite
            | Self::ExternalEffect
            | Self::CapabilityChange
            | Self::PolicyOverride
            | Self::Rollback
            | Self::ApprovalResolution => true,
        }
    }

    /// Whether it leaves a receipt: what HK-7 demands, and every look that leaves this machine (HK-7-2).
    pub const fn leaves_receipt(self) -> bool {
        self.is_important() || matches!(self, Self::NetworkRead)
    }

    /// Whether HK-16.8 demands that its witness be observed again on delayed execution.
    pub const fn needs_witness(self) -> bool {
        match self {
            Self::WriteLocal
            | Self::DeleteLocal
            | Self::VcsMutation
            | Self::NetworkWrite
            | Self::CredentialedApiCall
            | Self::Publication
            | Self::ExternalEffect
            | Self::CapabilityChange
            | Self::Rollback => true,
            Self::ReadLocal
            | Self::ExecuteCommand
            | Self::NetworkRead
            | Self::Payment
            | Self::DurableMemoryWrite
            | Self::PolicyOverride
            | Self::ApprovalResolution => false,
        }
    }

    /// Whether HK-6.2-3 demands a decision record before execution: destructive, external, credentialed,
    /// publish, payment, push-like, override; and what changes Hermit itself.
    pub const fn needs_decision(self) -> bool {
        match self {
            Self::DeleteLocal
            | Self::NetworkWrite
            | Self::CredentialedApiCall
            | Self::VcsMutation
            | Self::Publication
            | Self::Payment
            | Self::ExternalEffect
            | Self::CapabilityChange
            | Self::PolicyOverride
            | Self::Rollback => true,
            Self::ReadLocal
            | Self::WriteLocal
            | Self::ExecuteCommand
            | Self::NetworkRead
            | Self::DurableMemoryWrite
            | Self::ApprovalResolution => false,
        }
    }
}

crate::names! {
    /// Where a proposed action stands.
    pub enum ActionState ("action state") {
        /// Normalised, not judged.
        Requested = "requested",
        /// Policy allows it.
        Allowed = "allowed",
        /// A person is asked.
        AwaitingApproval = "awaiting_approval",
        /// A person said yes.
        Approved = "approved",
        /// Policy or a person said no, or nobody answered.
        Refused = "refused",
        /// Policy allows a lesser form only.
        Downgraded = "downgraded",
        /// Authority exists.
        Granted = "granted",
        /// Under way.
        Dispatched = "dispatched",
        /// Its outcome is known.
        Observed = "observed",
        /// Its outcome is not known.
        Uncertain = "uncertain",
    }
}

crate::names! {
    /// How far an effect can be taken back.
    pub enum Reversibility ("reversibility") {
        /// Nothing to take back.
        NoEffect = "no_effect",
        /// Fully, from what Hermit keeps.
        Reversible = "reversible",
        /// In part.
        Partial = "partial",
        /// Not at all.
        Irreversible = "irreversible",
    }
}

crate::names! {
    /// Receipt classes (HK-18.1).
    pub enum ReceiptClass ("receipt class") {
        /// A tool ran.
        ToolExecution = "tool_execution",
        /// A command ran.
        CommandExecution = "command_execution",
        /// Something was published.
        Publish = "publish",
        /// Knowledge was promoted.
        MemoryPromotion = "memory_promotion",
        /// A person answered.
        ApprovalResolution = "approval_resolution",
        /// An act was undone.
        Rollback = "rollback",
        /// An unknown outcome was settled.
        ObservationResolution = "observation_resolution",
    }
}

crate::names! {
    /// How a trial in a staged view came out (governance.md 5).
    pub enum TrialOutcome ("trial outcome") {
        /// It ran, and what it did is what a person is shown.
        Staged = "staged",
        /// It cannot run in a view here; it would run in the folder itself, after a yes.
        NotStaged = "not_staged",
        /// It came to nothing that could be approved.
        Failed = "failed",
    }
}

crate::names! {
    /// How it went.
    pub enum ResultCode ("result code") {
        /// All of it happened.
        Succeeded = "succeeded",
        /// None of it happened.
        Failed = "failed",
        /// Some of it happened; items say which.
        Partial = "partial",
        /// It is not known whether it happened (HK-19.4).
        UnknownOutcome = "unknown_outcome",
        /// A person allowed it.
        Granted = "granted",
        /// A person refused it.
        Denied = "denied",
    }
}

crate::names! {
    /// How one item of an act went.
    pub enum ItemOutcome ("item outcome") {
        /// It happened.
        Done = "done",
        /// It did not.
        NotDone = "not_done",
        /// Not known.
        Unknown = "unknown",
    }
}

crate::names! {
    /// Which walls stood around an act.
    pub enum SandboxLevel ("sandbox level") {
        /// The kernel's own file executor, beneath the lease root.
        Beneath = "beneath",
        /// Namespaces, Landlock and seccomp.
        NamespacesLandlock = "namespaces_landlock",
        /// Namespaces without Landlock.
        Namespaces = "namespaces",
        /// Landlock and seccomp without namespaces.
        Landlock = "landlock",
        /// A Seatbelt profile; whatever was tried against it was refused.
        Seatbelt = "seatbelt",
        /// A Seatbelt profile that let something through when it was tried, or of which something could not be tried.
        SeatbeltOpen = "seatbelt_open",
        /// An AppContainer and a job object.
        AppContainer = "app_container",
        /// A restricted token and a job object, without a hold on the network.
        RestrictedToken = "restricted_token",
        /// No walls; only where the profile says so.
        Unconfined = "unconfined",
        /// Nothing ran.
        NotApplicable = "not_applicable",
    }
}

impl SandboxLevel {
    /// The level as a person reads it: the same words on the card, in the receipt and in the doctor, on every system.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Beneath => "Hermit's own access to files, beneath the folder",
            Self::NamespacesLandlock => "namespaces, Landlock and seccomp",
            Self::Namespaces => "namespaces, without Landlock",
            Self::Landlock => "in part, without namespaces: Landlock and seccomp",
            Self::Seatbelt => "Seatbelt",
            Self::SeatbeltOpen => "not confined: Seatbelt did not refuse everything that was tried",
            Self::AppContainer => "an AppContainer and a job object",
            Self::RestrictedToken => "in part, with an open network: a restricted token and a job object",
            Self::Unconfined => "none",
            Self::NotApplicable => "nothing ran",
        }
    }

    /// Whether a command reaches nothing but what it is shown. Landlock alone does not govern permissions, owners and times of
    /// files: what ran behind it may have changed them anywhere.
    pub const fn isolates(self) -> bool {
        match self {
            Self::NamespacesLandlock | Self::Namespaces | Self::Seatbelt | Self::AppContainer => true,
            Self::Landlock
            | Self::SeatbeltOpen
            | Self::RestrictedToken
            | Self::Beneath
            | Self::Unconfined
            | Self::NotApplicable => false,
        }
    }

    /// Whether a command is kept from most of what it is not shown. A level that let something through when it was tried is
    /// none of these.
    pub const fn confines(self) -> bool {
        match self {
            Self::NamespacesLandlock
            | Self::Namespaces
            | Self::Landlock
            | Self::Seatbelt
            | Self::AppContainer
            | Self::RestrictedToken => true,
            Self::SeatbeltOpen | Self::Beneath | Self::Unconfined | Self::NotApplicable => false,
        }
    }
}

crate::names! {
    /// Whether the changes that are listed are still to come.
    pub enum Tense ("tense") {
        /// Of an approval: they would be made.
        Ahead = "ahead",
        /// Of a receipt: they were made.
        Done = "done",
    }
}

crate::names! {
    /// Changes to one place of a folder.
    pub enum ChangeKind ("kind of change") {
        /// A file is deleted.
        Delete = "delete",
        /// A file is created or replaced.
        Write = "write",
        /// A file or folder is moved.
        Move = "move",
        /// A folder is made.
        Folder = "folder",
        /// A symbolic link is made.
        Link = "link",
    }
}

crate::names! {
    /// Changes to one place by which an act is undone.
    pub enum UndoKind ("kind of undo") {
        /// A file that was deleted comes back.
        Restore = "restore",
        /// A file gets its earlier bytes.
        Replace = "replace",
        /// A file that was made goes.
        Delete = "delete",
        /// An empty folder that was made goes.
        DeleteFolder = "delete_folder",
        /// A file or folder goes back to where it was.
        Move = "move",
        /// A folder that was deleted comes back.
        MakeFolder = "make_folder",
        /// A folder gets its earlier permissions.
        Mode = "mode",
        /// A symbolic link comes back.
        Link = "link",
    }
}

crate::names! {
    /// Reasons why the text of a file is not shown.
    pub enum NoText ("reason for no text") {
        /// Its bytes are no text.
        Binary = "binary",
        /// It is too long to be shown.
        Large = "large",
        /// Its bytes are no longer kept.
        Gone = "gone",
        /// The folder holds other bytes now.
        Drifted = "drifted",
        /// The answer was full: the row is asked for by itself.
        Later = "later",
    }
}

#[cfg(test)]
mod tests {
    use super::SandboxLevel;
    use std::collections::BTreeSet;

    #[test]
    fn every_level_of_the_sandbox_has_words_of_its_own_and_what_lets_through_is_said_first() {
        let words: BTreeSet<&str> = SandboxLevel::ALL.iter().map(|level| level.in_words()).collect();
        assert_eq!(words.len(), SandboxLevel::ALL.len(), "two levels are called the same: {words:?}");
        for level in SandboxLevel::ALL.iter().filter(|level| !level.isolates()) {
            let told = match level {
                SandboxLevel::Landlock | SandboxLevel::RestrictedToken => {
                    level.in_words().starts_with("in part, ")
                }
                SandboxLevel::SeatbeltOpen => level.in_words().starts_with("not confined: "),
                _ => true,
            };
            assert!(told, "{level}: {}", level.in_words());
        }
        assert_eq!(SandboxLevel::NamespacesLandlock.in_words(), "namespaces, Landlock and seccomp");
        assert_eq!(SandboxLevel::Seatbelt.in_words(), "Seatbelt");
        assert_eq!(SandboxLevel::AppContainer.in_words(), "an AppContainer and a job object");
    }

    #[test]
    fn what_isolates_confines_and_a_level_that_let_something_through_does_neither() {
        assert!(SandboxLevel::ALL.iter().all(|level| level.confines() || !level.isolates()));
        for open in [SandboxLevel::SeatbeltOpen, SandboxLevel::Unconfined, SandboxLevel::Beneath] {
            assert!(!open.isolates() && !open.confines(), "{open}");
        }
        assert!(!SandboxLevel::Landlock.isolates() && SandboxLevel::Landlock.confines());
        assert!(!SandboxLevel::RestrictedToken.isolates() && SandboxLevel::RestrictedToken.confines());
    }
}
