//! Policy, state or witness said no, in words for a person.

use std::fmt;

/// A refusal. Nothing was done; `code` is stable for programs, `reason` is for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// A stable name such as `grant_expired`.
    pub code: &'static str,
    /// One sentence, lower case, with what to do where something can be done.
    pub reason: String,
}

impl Refusal {
    /// A refusal with its code and its sentence.
    pub fn new(code: &'static str, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Refusal {}

impl From<seal::Error> for Refusal {
    fn from(error: seal::Error) -> Self {
        Self::new("not_sealable", error.to_string())
    }
}

/// `Ok` when the condition holds, else the refusal.
pub(crate) fn demand(
    holds: bool,
    code: &'static str,
    reason: impl FnOnce() -> String,
) -> Result<(), Refusal> {
    if holds { Ok(()) } else { Err(Refusal::new(code, reason())) }
}
