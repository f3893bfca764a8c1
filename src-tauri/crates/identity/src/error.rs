//! What can go wrong when something is signed. What is wrong with a chain is a finding, and no error.

/// Every refusal of this room.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The keys at hand are not those that have to sign, or the statement cannot be signed by anybody.
    #[error("this cannot be signed: {0}")]
    Signers(String),
    /// What the room below says.
    #[error(transparent)]
    Seal(#[from] seal::Error),
}
