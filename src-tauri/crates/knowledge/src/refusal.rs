//! Why knowledge does not change.

/// A rule of HK-15 said no. `code` is stable, `reason` is for a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refusal {
    /// A stable word that callers branch on, such as `evidence_missing`.
    pub code: &'static str,
    /// What to do about it, in words.
    pub reason: String,
}

impl Refusal {
    pub(crate) fn new(code: &'static str, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into() }
    }
}

/// What can go wrong that is no refusal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A value has no canonical form, so that nothing could be hashed or explained later.
    #[error("{what} has no canonical form: {why}")]
    Unsealable {
        /// Which value.
        what: &'static str,
        /// Why.
        why: String,
    },
    /// A working state breaks its schema or its bounds (HK-15.2).
    #[error("the working state {why}")]
    WorkingState {
        /// What is wrong and what to do.
        why: String,
    },
}
