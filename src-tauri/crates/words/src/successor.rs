//! Words for changes of Hermit itself, and for what came of trying one.

crate::names! {
    /// What a change of Hermit changes (successor.md 2).
    pub enum PatchKind ("kind of change") {
        /// Rules of policy, permissions, the profile.
        Policy = "policy",
        /// Prompts, skins, skills, playbooks, limits within bounds.
        Words = "words",
        /// Another model, or an adapter.
        Model = "model",
        /// The source of Hermit.
        Code = "code",
    }
}

crate::names! {
    /// What a trial of a change came to (successor.md 4).
    pub enum VerdictOutcome ("verdict on a change") {
        /// It does what it is for, and nothing is worse.
        Better = "better",
        /// No difference that counts.
        Same = "same",
        /// Something that worked works no more, or costs more.
        Worse = "worse",
        /// It would allow what was denied, weakens a check, or reached for what it may not have.
        Unsafe = "unsafe",
        /// What was seen says neither.
        Inconclusive = "inconclusive",
    }
}

crate::names! {
    /// How a trial of a change stands.
    pub enum TrialState ("state of a trial") {
        /// It runs.
        Running = "running",
        /// There is a verdict.
        Judged = "judged",
        /// A person stopped it, or its host ended.
        Stopped = "stopped",
        /// It could not be made.
        Failed = "failed",
        /// A person adopted the change.
        Adopted = "adopted",
        /// It was adopted, and a person or a failed start went back.
        Returned = "returned",
    }
}

crate::names! {
    /// What a trial that runs is at.
    pub enum TrialStage ("stage of a trial") {
        /// It waits until another change of the source is built and tested.
        Waiting = "waiting",
        /// The source as it is is built, once for each version.
        BuildingBase = "building_base",
        /// The changed source is built.
        Building = "building",
        /// Its tests run.
        Testing = "testing",
        /// Clones do past work again.
        Playing = "playing",
    }
}

crate::names! {
    /// Which side of a trial a clone is (successor.md 4).
    pub enum Arm ("side of a trial") {
        /// As Hermit is.
        Parent = "parent",
        /// With the change.
        Successor = "successor",
    }
}

crate::names! {
    /// What of a budget a clone used up (successor.md 3).
    pub enum BudgetPart ("part of a budget") {
        /// Time by the clock.
        WallTime = "wall_time",
        /// Time of processors.
        CpuTime = "cpu_time",
        /// Memory.
        Memory = "memory",
        /// Room on the disk.
        Disk = "disk",
        /// Processes.
        Processes = "processes",
        /// Tokens of models.
        Tokens = "tokens",
    }
}

impl BudgetPart {
    /// The part as a person reads it in a sentence.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::WallTime => "time",
            Self::CpuTime => "processor time",
            Self::Memory => "memory",
            Self::Disk => "disk space",
            Self::Processes => "processes",
            Self::Tokens => "tokens",
        }
    }
}

crate::names! {
    /// Who counted what a trial compares (successor.md 4).
    pub enum MeasuredBy ("who measured") {
        /// The process that runs the trial, from outside.
        Host = "host",
        /// Hermit as it is, which no change can write.
        Parent = "parent",
        /// A program that was built with the change: its word about itself.
        Successor = "successor",
    }
}
