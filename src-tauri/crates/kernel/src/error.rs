//! What can go wrong here, by what the caller can do about it.

use governance::Refusal;

/// An error of the kernel.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Policy, a person, the state of things or a witness said no.
    #[error("{}", .0.reason)]
    Refused(Refusal),
    /// Nothing of that name is in this store.
    #[error("there is no {kind} `{id}` in this store; list them to see what there is")]
    NotFound {
        /// The noun.
        kind: &'static str,
        /// What was asked for.
        id: String,
    },
    /// What was given cannot be used.
    #[error("{0}")]
    Input(String),
    /// The request does not fit the state of what it is about.
    #[error("{0}")]
    Conflict(String),
    /// The gate is halted; only a person boots it.
    #[error("Hermit is halted and executes nothing; run `hermit boot` to let it work again")]
    Halted,
    /// A key is needed and not open.
    #[error("the {0} key is locked or missing; open it, or run `hermit keys init`")]
    KeyLocked(&'static str),
    /// Bytes that must stay as they are hold the value of a secret.
    #[error(
        "what would be kept holds the value of {0}; Hermit keeps no secret, so nothing was done: name it by its handle"
    )]
    Secret(String),
    /// The ledger refused or failed.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    /// The artifact store failed.
    #[error(transparent)]
    Artifacts(#[from] artifacts::Error),
    /// A stored or given value is malformed.
    #[error(transparent)]
    Model(#[from] model::Error),
    /// Bytes, keys or signatures are wrong.
    #[error(transparent)]
    Seal(#[from] seal::Error),
    /// The executor cannot be had.
    #[error("{0}")]
    Effects(String),
    /// The reasoner cannot be had.
    #[error("{0}")]
    Reasoning(String),
    /// A halt that the log did not take: it holds in this process and ends with it.
    #[error("halted in this process, and the halt could not be recorded: {0}")]
    HaltUnrecorded(Box<Error>),
    /// The gate did not let it pass, with its code, or is not booted.
    #[error("the gate refused this: {0}")]
    Gate(String),
    /// An invariant of the kernel does not hold; nothing further is written for this task.
    #[error(
        "a broken invariant stopped this task: {0}; run `hermit ledger verify` and keep the store as it is"
    )]
    Broken(String),

    /// The task's chain was broken and severed; nothing is done with it any more.
    #[error(
        "task `{task}` was severed at event {from_seq}: it is kept to be read, and nothing is done with it any more"
    )]
    Severed {
        /// Which.
        task: model::TaskId,
        /// The first event that did not fit.
        from_seq: u64,
    },
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}
