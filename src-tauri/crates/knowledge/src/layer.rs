//! The four layers of HK-15.1 and what distinguishes them.

model::names! {
    /// Where a piece of knowledge lives.
    pub enum Layer ("knowledge layer") {
        /// Ephemeral, easy to discard: no file holds it. The run stream tells it to whoever listens while the process lives that
        /// heard it; no knowledge is taken from it.
        Scratchpad = "scratchpad",
        /// Durable but local to its task: bounded, schema-governed, cheap to revise.
        WorkingState = "working_state",
        /// Working truth that evidence backs: revisable and versioned.
        Belief = "belief",
        /// Durable across tasks, promoted with evidence and trust.
        Memory = "memory",
    }
}

impl Layer {
    /// Whether it survives the process.
    pub const fn is_durable(self) -> bool {
        match self {
            Self::Scratchpad => false,
            Self::WorkingState | Self::Belief | Self::Memory => true,
        }
    }

    /// Whether it survives its task.
    pub const fn crosses_tasks(self) -> bool {
        match self {
            Self::Scratchpad | Self::WorkingState | Self::Belief => false,
            Self::Memory => true,
        }
    }

    /// Whether it may exist only with evidence.
    pub const fn needs_evidence(self) -> bool {
        match self {
            Self::Scratchpad | Self::WorkingState => false,
            Self::Belief | Self::Memory => true,
        }
    }
}
