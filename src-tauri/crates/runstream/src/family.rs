//! The event families of the contract (RA 1.2) and what each one promises to carry.

model::names! {
    /// What kind of event it is; the contract's `type`.
    pub enum Family ("event family") {
        /// The run exists.
        RunStarted = "run.started",
        /// Its lifecycle state or its controls changed.
        Status = "status",
        /// A piece of the assistant's text.
        TokenDelta = "token.delta",
        /// A piece of its reasoning.
        ReasoningDelta = "reasoning.delta",
        /// The whole of a block of reasoning.
        ReasoningDone = "reasoning.done",
        /// What it is busy with, in a line.
        Progress = "progress",
        /// A tool is about to act.
        ToolStarted = "tool.started",
        /// A tool has something to tell before it is done.
        ToolUpdated = "tool.updated",
        /// A tool is done.
        ToolDone = "tool.done",
        /// A person is asked to allow.
        ApprovalRequested = "approval.requested",
        /// That question is settled.
        ApprovalResolved = "approval.resolved",
        /// A person is asked a question.
        ClarifyRequested = "clarify.requested",
        /// That question is settled.
        ClarifyResolved = "clarify.resolved",
        /// The run has a title.
        TitleUpdated = "title.updated",
        /// What it has used so far.
        UsageUpdated = "usage.updated",
        /// What it used altogether.
        UsageFinal = "usage.final",
        /// Something failed; when terminal, the run did.
        Error = "error",
        /// A person ended the run.
        Cancelled = "cancelled",
        /// The run ended well.
        Done = "done",
    }
}

impl Family {
    /// Keys that its payload has, be the value null (RA 1.2).
    pub const fn promises(self) -> &'static [&'static str] {
        match self {
            Self::RunStarted | Self::Status => {
                &["status", "controls", "session_id", "workspace", "profile", "model", "toolset"]
            }
            Self::TokenDelta => &["segment_id", "delta", "content_type"],
            Self::ReasoningDelta => &["block_id", "delta", "visibility"],
            Self::ReasoningDone => &["block_id", "text", "visibility"],
            Self::Progress => &["phase", "text"],
            Self::ToolStarted => &["tool_call_id", "name", "arguments", "started_at"],
            Self::ToolUpdated => &["tool_call_id", "data", "progress"],
            Self::ToolDone => &["tool_call_id", "result", "status", "duration_ms", "error"],
            Self::ApprovalRequested => &["approval_id", "summary", "risk", "choices"],
            Self::ApprovalResolved => &["approval_id", "choice", "status"],
            Self::ClarifyRequested => &["clarify_id", "question", "choices", "input_mode"],
            Self::ClarifyResolved => &["clarify_id", "answer", "status"],
            Self::TitleUpdated => &["title", "source", "confidence"],
            Self::UsageUpdated | Self::UsageFinal => {
                &["tokens", "cost_micros", "provider", "model", "duration_ms"]
            }
            Self::Error => &["code", "message", "diagnostics", "terminal"],
            Self::Cancelled | Self::Done => &["status", "usage", "result"],
        }
    }

    /// The key of what was reasoned, which no file holds: [`crate::Thoughts`] does.
    pub(crate) const fn thought(self) -> Option<&'static str> {
        match self {
            Self::ReasoningDelta => Some("delta"),
            Self::ReasoningDone => Some("text"),
            _ => None,
        }
    }

    /// Whether it carries a piece of text whose whole is kept elsewhere once the run has ended.
    pub const fn is_delta(self) -> bool {
        matches!(self, Self::TokenDelta | Self::ReasoningDelta)
    }
}
