//! Words for tasks and what they are made of: where each stands and why it ended.

crate::names! {
    /// Task states (HK-12.1).
    pub enum TaskStatus ("task status") {
        /// Recorded, not yet accepted for work.
        Created = "created",
        /// May be picked up.
        Ready = "ready",
        /// An attempt holds a live lease.
        Running = "running",
        /// Waits for a person or the outside.
        Blocked = "blocked",
        /// A person asked it to wait.
        Paused = "paused",
        /// Its contract is fulfilled.
        Completed = "completed",
        /// It ended without fulfilling its contract.
        Failed = "failed",
        /// A person ended it.
        Cancelled = "cancelled",
        /// Its effects were undone.
        RolledBack = "rolled_back",
    }
}

impl TaskStatus {
    /// Whether no further work follows: completed, failed, cancelled (HK-8.1.1-2), and rolled back (C38).
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Cancelled | Self::RolledBack => true,
            Self::Created | Self::Ready | Self::Running | Self::Blocked | Self::Paused => false,
        }
    }
}

crate::names! {
    /// Run status, table T1 of the reconciliation; a projection of task and attempt.
    pub enum RunStatus ("run status") {
        /// Not picked up yet.
        Queued = "queued",
        /// At work.
        Running = "running",
        /// A person is asked to allow.
        AwaitingApproval = "awaiting_approval",
        /// A person is asked a question.
        AwaitingClarify = "awaiting_clarify",
        /// A person asked it to wait.
        Paused = "paused",
        /// Asked to end, not ended yet.
        Cancelling = "cancelling",
        /// Ended by a person.
        Cancelled = "cancelled",
        /// Ended badly.
        Failed = "failed",
        /// Ended well.
        Completed = "completed",
        /// Ended because an approval, grant or deadline ran out.
        Expired = "expired",
    }
}

crate::names! {
    /// How a model is told of the tools that it may call.
    pub enum ToolMode ("mode") {
        /// `json_schema` on this machine, `tools` elsewhere.
        Auto = "auto",
        /// The protocol's own `tools`; text answers are left to the loop core's parser.
        Tools = "tools",
        /// A schema of the answer with one alternative for each tool: the server enforces the grammar, which small local
        /// models need. Where the protocol has none, the prompt alone says it.
        JsonSchema = "json_schema",
    }
}

crate::names! {
    /// How many tools a model is offered.
    pub enum ToolOffer ("choice of tools") {
        /// All that there are.
        All = "all",
        /// Few, for small models.
        Few = "few",
    }
}

crate::names! {
    /// Whose no it was.
    pub enum RefusedBy ("who refused") {
        /// A rule denied it.
        Policy = "policy",
        /// A person denied it.
        Person = "person",
    }
}

crate::names! {
    /// Who something that came in comes from.
    pub enum Origin ("origin") {
        /// A person of this machine.
        Person = "person",
        /// Another program.
        Program = "program",
        /// A background service of Hermit itself.
        Service = "service",
        /// A job of the scheduler.
        Scheduler = "scheduler",
        /// The agent of another task, which gave this part of it away.
        Agent = "agent",
    }
}

impl Origin {
    /// Whether Hermit began it by itself, and nobody waits for it.
    pub const fn is_background(self) -> bool {
        matches!(self, Self::Service | Self::Scheduler)
    }
}

crate::names! {
    /// How urgent a task is.
    pub enum Priority ("priority") {
        /// Behind everything else.
        Low = "low",
        /// The usual.
        Normal = "normal",
        /// Before everything else.
        High = "high",
    }
}

crate::names! {
    /// Step states (HK-12.2).
    pub enum StepStatus ("step status") {
        /// Known, its dependencies open.
        Planned = "planned",
        /// May be attempted.
        Ready = "ready",
        /// An attempt is at work.
        Running = "running",
        /// Its attempt waits.
        Blocked = "blocked",
        /// Its contract is fulfilled.
        Succeeded = "succeeded",
        /// It ran out of attempts.
        Failed = "failed",
        /// A person ended it.
        Cancelled = "cancelled",
        /// Another step took its place.
        Superseded = "superseded",
    }
}

impl StepStatus {
    /// Whether the step has ended; a failed one may be tried again by a person.
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Succeeded | Self::Failed | Self::Cancelled | Self::Superseded => true,
            Self::Planned | Self::Ready | Self::Running | Self::Blocked => false,
        }
    }
}

crate::names! {
    /// Attempt states (HK-12.3, with `awaiting_input` of C3).
    pub enum AttemptStatus ("attempt status") {
        /// Numbered, nothing held yet.
        Created = "created",
        /// Holds its workspace lease.
        Leased = "leased",
        /// Its context pack is being compiled.
        CompilingContext = "compiling_context",
        /// The model is asked.
        Reasoning = "reasoning",
        /// A request is before policy.
        AwaitingPolicy = "awaiting_policy",
        /// A person is asked to allow.
        AwaitingApproval = "awaiting_approval",
        /// A person is asked a question.
        AwaitingInput = "awaiting_input",
        /// A grant exists, nothing is dispatched.
        Authorized = "authorized",
        /// Dispatched; the effect may have begun.
        Executing = "executing",
        /// The outcome is being established.
        Observing = "observing",
        /// The outcome is known, its receipt is not yet issued.
        ReceiptPending = "receipt_pending",
        /// Ended well.
        Succeeded = "succeeded",
        /// Ended badly.
        Failed = "failed",
        /// Ended by a person.
        Cancelled = "cancelled",
        /// Another attempt took its place.
        Superseded = "superseded",
    }
}

impl AttemptStatus {
    /// Whether it has ended.
    pub const fn is_ended(self) -> bool {
        match self {
            Self::Succeeded | Self::Failed | Self::Cancelled | Self::Superseded => true,
            Self::Created
            | Self::Leased
            | Self::CompilingContext
            | Self::Reasoning
            | Self::AwaitingPolicy
            | Self::AwaitingApproval
            | Self::AwaitingInput
            | Self::Authorized
            | Self::Executing
            | Self::Observing
            | Self::ReceiptPending => false,
        }
    }
}

crate::names! {
    /// Why a run of the loop ended (reconciliation T2).
    pub enum TerminationReason ("termination reason") {
        /// The `done` tool, or a final answer without a tool call.
        Done = "done",
        /// The cap of iterations was reached.
        MaxIterations = "max_iterations",
        /// Nothing new for too long.
        NoProgress = "no_progress",
        /// A tool failed again and again.
        RepeatedToolFailure = "repeated_tool_failure",
        /// A tool failed beyond repair.
        FatalToolError = "fatal_tool_error",
        /// The model's answers stayed malformed.
        MalformedOutput = "malformed_output",
        /// The model could not be reached.
        ModelUnavailable = "model_unavailable",
        /// A budget is spent.
        BudgetSpent = "budget_spent",
        /// A person cancelled.
        Cancelled = "cancelled",
        /// A person said no and there was no other way.
        ApprovalDenied = "approval_denied",
        /// An approval, grant or deadline ran out.
        Expired = "expired",
        /// The outcome of an effect is not known.
        UnknownOutcome = "unknown_outcome",
        /// The gate was halted.
        GateHalted = "gate_halted",
        /// A criterion that a person set for its end is not met (HK-8.2-5).
        CriteriaUnmet = "criteria_unmet",
    }
}

crate::names! {
    /// What became of a criterion when its task ended (HK-8.2-5).
    pub enum CriterionOutcome ("outcome of a criterion") {
        /// It was checked and holds.
        Met = "met",
        /// It was checked and does not hold.
        Unmet = "unmet",
        /// It is in words that only a person can judge.
        Unchecked = "unchecked",
    }
}

crate::names! {
    /// How a call of another program's agent stands.
    pub enum CallStatus ("call status") {
        /// On its way.
        Working = "working",
        /// A person is asked to allow it.
        AwaitingApproval = "awaiting_approval",
        /// A person is asked what the agent asks.
        AwaitingAnswer = "awaiting_answer",
        /// It may have happened, and a person settles whether it did.
        UnknownOutcome = "unknown_outcome",
        /// A person has paused the task.
        Paused = "paused",
        /// Keys are locked, and receipts wait for them.
        KeyLocked = "key_locked",
        /// Hermit is halted.
        Halted = "halted",
        /// It was done, or failed in the doing.
        Done = "done",
        /// A person refused it.
        Refused = "refused",
        /// Policy denies it.
        Denied = "denied",
        /// Another call is at work, and nothing of this one was taken.
        Behind = "behind",
        /// The task has ended, and nothing came of it.
        Ended = "ended",
    }
}

crate::names! {
    /// Who proposes in an attempt.
    pub enum Proposer ("proposer") {
        /// A model that is asked turn by turn.
        Model = "openai",
        /// A typed list of proposals.
        Playbook = "playbook",
        /// A transcript that is replayed.
        Recorded = "recorded",
        /// Proposals that a test hands over.
        Scripted = "scripted",
        /// The kernel, which plans the inverse of receipts.
        Rollback = "rollback",
        /// Another program's agent, call by call.
        Session = "session",
        /// The kernel, which puts to a person what they asked for.
        Tools = "tools",
        /// Another program's agent, which works by itself in a staged view of the folder.
        Guest = "guest",
    }
}

impl Proposer {
    /// Whether it reads a context that has to fit, turn by turn; else it knows what it wants, however many turns it takes.
    pub const fn reads_context(self) -> bool {
        !matches!(self, Self::Playbook | Self::Session | Self::Guest)
    }

    /// Whether its tokens count against the budget.
    pub const fn spends_tokens(self) -> bool {
        !matches!(self, Self::Playbook | Self::Scripted | Self::Session | Self::Guest)
    }

    /// Whether somebody outside leads it call by call: it ends when they or a person say so, and no rule of a loop
    /// judges how it goes.
    pub const fn is_led(self) -> bool {
        matches!(self, Self::Session)
    }

    /// Whether it makes one plan and no loop: there is no answer to go on from.
    pub const fn plans_once(self) -> bool {
        matches!(self, Self::Rollback | Self::Tools)
    }
}

crate::names! {
    /// What a message turned out to be (HK-8.1.3).
    pub enum IngressResolution ("ingress resolution") {
        /// A command to the kernel.
        Control = "control",
        /// An answer to an approval.
        Approval = "approval",
        /// More input for the bound task.
        AppendNote = "append_note",
        /// A child task of the bound one.
        ForkChild = "fork_child",
        /// A task of its own.
        StartNewRoot = "start_new_root",
        /// Talk that starts no work.
        ChatOnly = "chat_only",
        /// Not decided.
        PendingDisambiguation = "pending_disambiguation",
    }
}

crate::names! {
    /// Where a question stands.
    pub enum ClarificationStatus ("clarification status") {
        /// Waits.
        Pending = "pending",
        /// Answered.
        Answered = "answered",
        /// Its time ran out.
        Expired = "expired",
        /// Its task ended.
        Cancelled = "cancelled",
    }
}

crate::names! {
    /// How tasks stand, for lists.
    pub enum TaskGroup ("group of tasks") {
        /// A person is waited for: an approval, a question, an outcome that nobody knows.
        Waiting = "waiting",
        /// Not ended, and nobody is waited for.
        Going = "going",
        /// Ended as it was meant to, and not by a no.
        Done = "done",
        /// Ended otherwise: failed, cancelled, expired, rolled back, or with nothing of it allowed.
        Otherwise = "otherwise",
        /// Ended, one way or the other; what still waits for a person among it.
        Ended = "ended",
    }
}

crate::names! {
    /// What a task waits for.
    pub enum WaitsFor ("reason to wait") {
        /// A person is to allow an act.
        Approval = "approval",
        /// A person is to answer a question.
        Answer = "answer",
        /// A person is to settle an outcome that nobody knows.
        UnknownOutcome = "unknown_outcome",
        /// A person is to let it go on.
        Resume = "resume",
        /// Another task or step is to end first.
        Dependency = "dependency",
        /// Another program's agent is to call.
        Agent = "agent",
    }
}

crate::names! {
    /// How much of what a task did was undone since.
    pub enum UndoneExtent ("extent of an undo") {
        /// All of it.
        All = "all",
        /// A part of it.
        Part = "part",
    }
}

crate::names! {
    /// Authors of a task's last words.
    pub enum WordsBy ("author") {
        /// A model, whose words nobody has verified.
        Model = "model",
        /// Hermit itself.
        Hermit = "hermit",
    }
}

crate::names! {
    /// How a task stands with the process that drives it.
    pub enum DriveState ("drive state") {
        /// It is being driven.
        AtWork = "at_work",
        /// It waits or has ended, which the store tells.
        AtRest = "at_rest",
        /// Its receipts wait for keys.
        KeyLocked = "key_locked",
        /// Hermit is halted.
        Halted = "halted",
        /// Driving it broke off.
        Broke = "broke",
    }
}

crate::names! {
    /// Who speaks in a conversation.
    pub enum Role ("role") {
        /// A person, or what acts for one.
        User = "user",
        /// The agent.
        Agent = "agent",
        /// Hermit itself.
        System = "system",
    }
}

crate::names! {
    /// What a line of a conversation is.
    pub enum MessageKind ("message kind") {
        /// A message that came in.
        Message = "message",
        /// A question put to a person.
        Question = "question",
        /// A request for approval.
        Approval = "approval",
        /// An act, with its receipt.
        Receipt = "receipt",
        /// How a run of the loop ended.
        Answer = "answer",
        /// A task ended.
        Ended = "ended",
    }
}
