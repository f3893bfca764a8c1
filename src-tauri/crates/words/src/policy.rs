//! Words of policy and of the person who answers for it.

crate::names! {
    /// The six profiles of HK-16.3.
    pub enum Profile ("policy profile") {
        /// Look, never touch.
        ReadonlyAnalysis = "readonly_analysis",
        /// Edits below the workspace, each asked for unless allowed.
        LocalEditAllowed = "local_edit_allowed",
        /// As above, and may read from the network.
        NetworkReadAllowed = "network_read_allowed",
        /// Edits, commands and version control, consequential ones gated.
        RepoMutationGated = "repo_mutation_gated",
        /// Publication possible, each one gated.
        ExternalPublishGated = "external_publish_gated",
        /// Nothing that destroys, whoever asks.
        DestructiveDenied = "destructive_denied",
        /// Background work: reads, and proposes changes that wait for a person.
        Service = "service",
    }
}

impl Profile {
    /// As a person reads it in a sentence. Commands and rules name it by its spelling.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::ReadonlyAnalysis => "read only",
            Self::LocalEditAllowed => "ask before edits",
            Self::NetworkReadAllowed => "may read from the network",
            Self::RepoMutationGated => "ask before Git changes",
            Self::ExternalPublishGated => "ask before publishing",
            Self::DestructiveDenied => "never delete",
            Self::Service => "read and propose, in the background",
        }
    }
}

crate::names! {
    /// Exactly one of these comes back (HK-16.5).
    pub enum PolicyVerdict ("verdict") {
        /// May run.
        Allow = "allow",
        /// A person must allow it first.
        RequireApproval = "require_approval",
        /// May not run.
        Deny = "deny",
        /// May run only in a lesser form.
        Downgrade = "downgrade",
    }
}

crate::names! {
    /// How much is at stake (HK-16.2).
    pub enum RiskBand ("risk band") {
        /// Read, or trivially undone.
        Low = "low",
        /// Undone with what Hermit keeps.
        Moderate = "moderate",
        /// Hard to undo, or wide.
        High = "high",
        /// Cannot be undone, or leaves the machine.
        Critical = "critical",
    }
}

crate::names! {
    /// What a rule does when it is met.
    pub enum RuleEffect ("rule effect") {
        /// Permits.
        Permit = "permit",
        /// Forbids, whatever a person says.
        Forbid = "forbid",
        /// Asks a person.
        Ask = "ask",
        /// Allows a lesser form only.
        Downgrade = "downgrade",
    }
}

crate::names! {
    /// Approval states (HK-8.9).
    pub enum ApprovalStatus ("approval status") {
        /// Waits.
        Pending = "pending",
        /// A person said yes.
        Granted = "granted",
        /// A person said no.
        Denied = "denied",
        /// Its time ran out; that decides nothing in favour.
        Expired = "expired",
        /// Its task was cancelled.
        Cancelled = "cancelled",
        /// What it was about has changed.
        Invalidated = "invalidated",
    }
}

crate::names! {
    /// Where a decision was taken.
    pub enum Surface ("surface") {
        /// A terminal on its controlling TTY.
        Terminal = "terminal",
        /// The app's approval window.
        ApprovalWindow = "approval_window",
        /// A browser with the approval passphrase or a passkey.
        Browser = "browser",
        /// The test kit's own person.
        Test = "test",
        /// The run API: may deny only.
        RunApi = "run_api",
        /// MCP: may deny only.
        Mcp = "mcp",
        /// The command line without a terminal: may deny only.
        Script = "script",
        /// The app's main window: may deny only.
        MainWindow = "main_window",
        /// A native notification: may deny only.
        Notification = "notification",
        /// A chat, through a gateway: may deny only.
        Chat = "chat",
        /// Another machine of the same person, with its approval passphrase.
        Mesh = "mesh",
    }
}

impl Surface {
    /// Where that is, in a sentence.
    pub const fn place(self) -> &'static str {
        match self {
            Self::Terminal => "at the terminal",
            Self::ApprovalWindow => "in the approval window",
            Self::Browser => "in the browser",
            Self::Test => "in a test",
            Self::RunApi => "through the run API",
            Self::Mcp => "through MCP",
            Self::Script => "by a script",
            Self::MainWindow => "in the app",
            Self::Notification => "in a notification",
            Self::Chat => "in a chat",
            Self::Mesh => "at another machine",
        }
    }

    /// Whether a person is provably there, so that a grant may come from it.
    pub const fn may_grant(self) -> bool {
        match self {
            Self::Terminal | Self::ApprovalWindow | Self::Browser | Self::Test | Self::Mesh => true,
            Self::RunApi | Self::Mcp | Self::Script | Self::MainWindow | Self::Notification | Self::Chat => {
                false
            }
        }
    }
}

crate::names! {
    /// Whose rules they are. A project's may only tighten: who can write into it may not loosen anything.
    pub enum RuleScope ("rule scope") {
        /// The person's, in every project.
        User = "user",
        /// The person's, in every project, each change of which they approved on a card.
        Signed = "signed",
        /// The project's own file.
        Project = "project",
        /// One task's.
        Task = "task",
        /// One schedule's.
        Schedule = "schedule",
    }
}

crate::names! {
    /// Where a grant stands; whether it has expired depends on the time of asking.
    pub enum GrantState ("grant state") {
        /// May be used.
        Active = "active",
        /// Used as often as it may be.
        Consumed = "consumed",
        /// Taken back.
        Revoked = "revoked",
    }
}

crate::names! {
    /// Kinds of line on an approval card, the gravest first.
    pub enum CardLine ("kind of line") {
        /// How grave it is, and why.
        Risk = "risk",
        /// Something is deleted or replaced.
        Destructive = "destructive",
        /// Something cannot be taken back.
        Unrecoverable = "unrecoverable",
        /// Something else that happens.
        Effect = "effect",
        /// What is known about it.
        Fact = "fact",
        /// Words of the proposer, which nobody has checked.
        Quoted = "quoted",
    }
}

crate::names! {
    /// States of a grant at the time of asking.
    pub enum GrantStatus ("grant status") {
        /// It may be used.
        Active = "active",
        /// It was used as often as it may be.
        Consumed = "consumed",
        /// It was taken back.
        Revoked = "revoked",
        /// Its time ran out.
        Expired = "expired",
    }
}

crate::names! {
    /// States of a standing grant at the time of asking.
    pub enum StandingState ("state of a standing grant") {
        /// It may be used.
        Active = "active",
        /// It was used as often as it may be.
        UsedUp = "used up",
        /// A person took it back.
        Revoked = "revoked",
        /// Its time ran out.
        Expired = "expired",
        /// It was signed by a key that is not in force any more.
        Void = "void",
    }
}
