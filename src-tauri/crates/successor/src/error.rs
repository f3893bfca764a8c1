//! What can be wrong with a change, a case or evidence, in words for whoever handed it in.

/// Every refusal of this room.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It cannot be read.
    #[error("this is no {what}: {why}")]
    Misfit {
        /// What it was read as.
        what: &'static str,
        /// Why it is none.
        why: String,
    },
    /// It is larger than what is read.
    #[error("this {what} has {is} {unit}; {most} are read at most")]
    TooLarge {
        /// What it was read as.
        what: &'static str,
        /// How much it has.
        is: u64,
        /// How much is read.
        most: u64,
        /// Of what.
        unit: &'static str,
    },
}
