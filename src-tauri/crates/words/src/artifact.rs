//! Content that is kept: what it is, how private, how long.

crate::names! {
    /// Artifact classes (HK-14.1).
    pub enum ArtifactClass ("artifact class") {
        /// Came from outside.
        Source = "source",
        /// In the making.
        Working = "working",
        /// Computed from others.
        Derived = "derived",
        /// Supports a claim or a decision.
        Evidence = "evidence",
        /// What was asked for.
        Deliverable = "deliverable",
        /// Shows what the kernel did.
        Audit = "audit",
    }
}

crate::names! {
    /// Artifact kinds (HK-14.1, and those the kernel itself needs).
    pub enum ArtifactKind ("artifact kind") {
        /// What an attempt was given to think with.
        ContextPack = "context.pack",
        /// What stands in a context in the place of the oldest turns.
        ContextSummary = "context.summary",
        /// What bears the sentences of a closing answer.
        AnswerCheck = "answer.check",
        /// A typed proposal.
        ActionRequest = "action.request",
        /// What policy said.
        PolicyResult = "policy.result",
        /// What a person is shown.
        ApprovalPacket = "approval.packet",
        /// What a person signed.
        ApprovalDecision = "approval.decision",
        /// Observed preconditions.
        StateWitness = "state.witness",
        /// Facts about machine and process.
        EnvironmentSnapshot = "environment.snapshot",
        /// A folder's manifest.
        WorkspaceSnapshot = "workspace.snapshot",
        /// What a search found.
        SearchBundle = "search.bundle",
        /// A page as fetched.
        WebSnapshot = "web.snapshot",
        /// A file as it was.
        FileSnapshot = "file.snapshot",
        /// A change to apply.
        Patch = "patch",
        /// A change as found.
        Diff = "diff",
        /// What a command printed.
        CommandTranscript = "command.transcript",
        /// What tests said.
        TestReport = "test.report",
        /// A picture.
        Image = "image",
        /// Any other file taken in.
        BinaryAttachment = "binary.attachment",
        /// A claim taken from a source.
        BeliefExtract = "belief.extract",
        /// A promotion to durable memory.
        MemoryPromotion = "memory.promotion",
        /// A sealed proof.
        ReceiptBundle = "receipt.bundle",
        /// What a task promises.
        TaskContract = "task.contract",
        /// What a step promises.
        StepContract = "step.contract",
        /// A scoped authority record.
        CapabilityGrant = "capability.grant",
        /// Bounded execution state.
        WorkingState = "working.state",
        /// The exact bytes sent to a model.
        ModelRequest = "model.request",
        /// The exact bytes a model answered.
        ModelResponse = "model.response",
        /// A model's answer, as read from its bytes.
        ModelAnswer = "model.answer",
        /// A playbook's text.
        Playbook = "playbook",
        /// A server of tools: how it is started, and what it says it offers.
        ToolManifest = "tool.manifest",
        /// A guest: which agent of another program, how it is started, and what it may reach.
        GuestLaunch = "guest.launch",
        /// What a turn of a guest came to: what it changed in its view, and what it told of itself.
        GuestReport = "guest.report",
        /// What a guest sent to the hosts of its secrets, stand-ins in the place of values.
        GuestSent = "guest.sent",
        /// A person's own rules of policy, all of them.
        PolicyRules = "policy.rules",
        /// A skill that a person trusted: what it says of itself, and its files by their digests.
        Skill = "skill",
        /// One file of a skill, or what a model read of it.
        SkillText = "skill.text",
        /// A transcript of model answers.
        Transcript = "transcript",
        /// What an action gave back.
        ActionResult = "action.result",
        /// A final answer.
        Answer = "answer",
        /// Text a person gave.
        Message = "message",
        /// A passage that words quote.
        Quote = "quote",
        /// A playbook that was drafted from what recurs, and what came of trying it.
        PlaybookDraft = "playbook.draft",
        /// A schedule: when a task is begun by itself, and what it does.
        Schedule = "schedule",
        /// The file of a skin that a person trusted.
        Skin = "skin",
        /// A gateway: a chat service, and what tasks of its senders are.
        Gateway = "gateway",
        /// What came in or goes out over a gateway.
        ChatMessage = "chat.message",
        /// SOUL.md in one version, as a person approved it.
        Soul = "soul",
        /// A signed link of an instance's chain.
        IdentityLink = "identity.link",
        /// A change of Hermit itself that is tried.
        SuccessorPatch = "successor.patch",
        /// What a clone with a change, or without one, left of a trial.
        SuccessorEvidence = "successor.evidence",
        /// The verdict on a change of Hermit itself.
        SuccessorVerdict = "successor.verdict",
        /// Examples of finished work, one a line.
        TrainingDataset = "training.dataset",
        /// Where each example of a dataset came from.
        TrainingSources = "training.sources",
        /// What a model learned, apart from its weights.
        TrainingAdapter = "training.adapter",
        /// What a model could before it learned, and after.
        TrainingMeasures = "training.measures",
        /// What a model is, what it was made of, how it was measured, and what it is not for.
        ModelCard = "model.card",
    }
}

crate::names! {
    /// How private content is.
    pub enum Sensitivity ("sensitivity class") {
        /// May be shown to anyone.
        Public = "public",
        /// Of this machine's owner.
        Private = "private",
        /// Holds what must not leave.
        Secret = "secret",
    }
}

crate::names! {
    /// How long content is kept.
    pub enum RetentionClass ("retention class") {
        /// As long as the ledger.
        Permanent = "permanent",
        /// While its task can be undone or explained.
        Task = "task",
        /// May be compacted when its task has ended.
        Ephemeral = "ephemeral",
    }
}

crate::names! {
    /// Whether an artifact's content is kept.
    pub enum ArtifactState ("artifact state") {
        /// Kept.
        Live = "live",
        /// Folded into another.
        Compacted = "compacted",
        /// No longer kept; its digest is.
        Expired = "expired",
    }
}

crate::names! {
    /// How far was looked for what came of something.
    pub enum TraceScope ("trace scope") {
        /// Through the whole store.
        Store = "store",
        /// Through the task, those it derives from and those derived from it: the log is too long to fold whole.
        Family = "family",
    }
}
