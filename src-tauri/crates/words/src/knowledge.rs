//! Words for what is known, and how far it can be trusted.

crate::names! {
    /// How far content may be relied on (HK-15.4).
    pub enum TrustTier ("trust tier") {
        /// From outside, unchecked.
        Untrusted = "untrusted",
        /// Seen by an executor of this machine.
        Observed = "observed",
        /// Checked against something independent.
        Verified = "verified",
        /// A person says so.
        UserAsserted = "user_asserted",
        /// Policy says so.
        PolicyAsserted = "policy_asserted",
    }
}

crate::names! {
    /// What an explanation is of.
    pub enum ExplainedKind ("subject of an explanation") {
        /// A receipt.
        Receipt = "receipt",
        /// An artifact.
        Artifact = "artifact",
        /// A file on disk, or a line of it.
        Path = "path",
    }
}

crate::names! {
    /// Belief states (HK-8.6-4).
    pub enum BeliefStatus ("belief status") {
        /// Held.
        Active = "active",
        /// A newer one took its place.
        Superseded = "superseded",
        /// Another says otherwise.
        Contradicted = "contradicted",
        /// Taken back.
        Revoked = "revoked",
        /// Too old.
        Expired = "expired",
    }
}

crate::names! {
    /// Memory states (HK-8.7-4).
    pub enum MemoryStatus ("memory status") {
        /// Held.
        Active = "active",
        /// Found wrong, or superseded.
        Invalidated = "invalidated",
        /// Taken back.
        Revoked = "revoked",
        /// Too old.
        Expired = "expired",
    }
}

crate::names! {
    /// What kind of knowledge a memory record is (HV-3.4-3).
    pub enum MemoryType ("memory type") {
        /// What was decided.
        Decision = "decision",
        /// How things are done here.
        Pattern = "pattern",
        /// What a person set right.
        Correction = "correction",
        /// How things are built.
        Architecture = "architecture",
        /// What a person likes better.
        Preference = "preference",
    }
}

crate::names! {
    /// For how long a memory record is kept, and whether every context holds it (HK-8.7-3).
    pub enum MemoryRetention ("memory retention class") {
        /// Until somebody says otherwise, and in every context of its project.
        Pinned = "pinned",
        /// Until somebody says otherwise.
        Kept = "kept",
        /// Until its date.
        Dated = "dated",
    }
}

crate::names! {
    /// By what a memory record was found for a context (memory.md 2).
    pub enum FoundBy ("way to find memory") {
        /// Words that it shares with what the task is about.
        Words = "words",
        /// Its meaning, as an embedding model of this machine takes it.
        Meaning = "meaning",
        /// Both.
        Both = "both",
    }
}

crate::names! {
    /// What ends a memory record (HK-15.5-2).
    pub enum InvalidationPolicy ("invalidation policy") {
        /// A person who takes it back or finds it wrong, or a newer record in its place.
        Correction = "correction",
        /// These, and the end of the belief that it comes from.
        Source = "source",
        /// These, and its date.
        Expiry = "expiry",
    }
}

crate::names! {
    /// Decision classes (HK-16.1).
    pub enum DecisionClass ("decision class") {
        /// Choose a plan.
        Planning = "planning",
        /// Go on with an act.
        Execution = "execution",
        /// Stop or lessen an act.
        Safety = "safety",
        /// Promote or invalidate knowledge.
        Memory = "memory",
        /// Publish.
        Publishing = "publishing",
        /// Undo.
        Rollback = "rollback",
        /// Settle what is not known.
        UncertaintyResolution = "uncertainty_resolution",
    }
}

crate::names! {
    /// How one thing came of another.
    pub enum EdgeKind ("lineage edge") {
        /// A message started a task.
        Started = "started",
        /// A task, step or attempt has a part of its own.
        Owns = "owns",
        /// A later task or attempt goes on where an earlier one stopped.
        Continued = "continued",
        /// A contract binds a task or step.
        Binds = "binds",
        /// An attempt made an artifact.
        Produced = "produced",
        /// An artifact went into another.
        Contributed = "contributed",
        /// An artifact was folded into another.
        Compacted = "compacted",
        /// Evidence stands behind a claim or judgment.
        Supports = "supports",
        /// A belief or artifact became memory.
        Promoted = "promoted",
        /// A belief or memory gave way to a newer one.
        Superseded = "superseded",
        /// Two beliefs say otherwise.
        Contradicts = "contradicts",
        /// A pack was given to an attempt.
        Informed = "informed",
        /// A pack was made into the bytes sent to a model.
        Asked = "asked",
        /// A model answered.
        Answered = "answered",
        /// An answer proposed an action.
        Proposed = "proposed",
        /// The artifact that records a thing.
        Recorded = "recorded",
        /// Policy judged an action.
        Judged = "judged",
        /// Preconditions of an action were observed.
        Guarded = "guarded",
        /// A person was asked about an action.
        Shown = "shown",
        /// A judgment, approval or policy result led to a grant.
        Allowed = "allowed",
        /// A grant permitted an effect.
        Permitted = "permitted",
        /// An action was carried out.
        Executed = "executed",
        /// An effect left something behind.
        Left = "left",
        /// A receipt proves an act.
        Proved = "proved",
        /// A receipt's act was undone by another's.
        Undone = "undone",
        /// A decision, approval or receipt cites an artifact.
        Cited = "cited",
    }
}

impl EdgeKind {
    /// Whether content flows along it, so that taint does.
    pub const fn carries(self) -> bool {
        match self {
            Self::Contributed
            | Self::Compacted
            | Self::Supports
            | Self::Promoted
            | Self::Asked
            | Self::Answered
            | Self::Proposed
            | Self::Recorded
            | Self::Executed
            | Self::Left
            | Self::Proved
            | Self::Undone => true,
            Self::Started
            | Self::Owns
            | Self::Continued
            | Self::Binds
            | Self::Produced
            | Self::Superseded
            | Self::Contradicts
            | Self::Informed
            | Self::Judged
            | Self::Guarded
            | Self::Shown
            | Self::Allowed
            | Self::Permitted
            | Self::Cited => false,
        }
    }
}

crate::names! {
    /// Kinds of what can come from something.
    pub enum NodeKind ("lineage node") {
        /// A message that came in.
        Ingress = "ingress",
        /// A task.
        Task = "task",
        /// A step.
        Step = "step",
        /// An attempt.
        Attempt = "attempt",
        /// An artifact.
        Artifact = "artifact",
        /// A belief.
        Belief = "belief",
        /// A memory record.
        Memory = "memory",
        /// A decision.
        Decision = "decision",
        /// A proposed action.
        Action = "action",
        /// What policy said of it.
        Policy = "policy_result",
        /// Preconditions observed for it.
        Witness = "witness",
        /// An approval asked for it.
        Approval = "approval",
        /// Authority minted for it.
        Grant = "grant",
        /// What was done: an action that was dispatched.
        Effect = "effect",
        /// The proof of it.
        Receipt = "receipt",
    }
}

crate::names! {
    /// What a line of a summary tells, the weightiest first: where not all lines fit, the last go.
    pub enum SummaryLineKind ("summary line kind") {
        /// A person said no, and what they said with it.
        Correction = "correction",
        /// A question to a person, and the answer.
        Answer = "answer",
        /// An act that has a receipt.
        Done = "done",
        /// What failed, and what mended it.
        Error = "error",
        /// What the model said it wanted or had done, which nobody has verified.
        Said = "said",
        /// Words that a model left of lines that were said, looked at or quoted; each was checked against them.
        Retold = "retold",
        /// What was looked at.
        Seen = "seen",
        /// A line of what was looked at, word for word.
        Quote = "quote",
    }
}

crate::names! {
    /// What bears a sentence of a closing answer (product.md, moonshot 9).
    pub enum AnswerSupport ("answer support") {
        /// Receipts show the act that it claims.
        Receipt = "receipt",
        /// Its words stand in one passage of what was seen.
        Evidence = "evidence",
        /// It says that something was not done, and no receipt says that it was.
        Absence = "absence",
        /// It claims nothing.
        Claimless = "claimless",
        /// Nothing on record bears it.
        Unverified = "unverified",
    }
}

crate::names! {
    /// How far memory of a point of the past is proven.
    pub enum RootStanding ("standing of a root") {
        /// Its root follows from its records, and a signed checkpoint of the log covers it.
        Proven = "proven",
        /// Its root follows from its records, and nothing that covers it is signed yet.
        Unsigned = "unsigned",
        /// What is shown does not give the root that was stated, or its checkpoint is not signed by this store.
        Differs = "differs",
    }
}
