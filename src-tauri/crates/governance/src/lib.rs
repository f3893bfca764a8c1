//! May it? What an action is, what policy says to it, what a person said, whether the world is still as it was
//! then, and the one door to an executor.
//!
//! # What this room is for
//!
//! A request whose facts are known ([`acts::Tool`]) is judged here by Cedar under one of six profiles
//! ([`PolicyEngine`]), shown to a person ([`approval::card`]), compared with the world again
//! ([`witness::compare`]), turned into a record of narrow authority ([`grant::mint`]), and, once, into an
//! [`Authorization`], which is what an executor takes (HK-10.4-1, governance.md 1 to 4).
//!
//! # What it must never do
//!
//! Read a clock, a disk or the network; perform anything; believe what a proposer says about its own class,
//! targets or risk; answer "yes" because something failed.
//!
//! # Invariants
//!
//! 1. Any error while judging is a deny, and so is the silence of every rule.
//! 2. Classes and resources are computed from the typed action; a request that says otherwise is denied.
//! 3. What policy answers is a function of its question: same question, same bytes.
//! 4. A proposer can raise the risk of its request and never lower it.
//! 5. A yes holds for the packet that was shown, byte for byte, from a surface where a person is, by their key.
//! 6. A grant is minted only after a direct allow, or after a yes and, where demanded, an unchanged witness; and
//!    for the classes of HK-6.2-3 only with a decision record.
//! 7. A grant covers exactly the request's resources; a child grant covers no more than its parent.
//! 8. A standing grant answers only a question that a person would have been asked: it is a person's, signed, in
//!    force and not used up, it covers every simple command, path and host of the request, and no critical risk.
//! 9. An [`Authorization`] comes from [`authorize`] and from nowhere else, and is used up by being used.
//! 10. A passkey says yes for a person only where their approval key signed that it may; its yes is held to the same checks,
//!     and to those of its authenticator, its origin and its counter. It approves once, never the like from now on.
//! 11. Where a rule wants two keys (`@keys("2")`), a grant is minted from the yeses of two different ones to the same packet; nothing
//!     that lasts stands for either.
//!
//! # Where to start reading
//!
//! [`PolicyEngine::evaluate`] beside `policies/base.cedar` and its siblings, then [`approval`], [`grant`].

pub mod approval;
mod authorization;
pub mod grant;
mod policy;
mod refusal;
pub mod risk;
pub mod standing;
pub mod witness;

pub use authorization::{Authorization, authorize};
pub use policy::{
    CedarAsk, DRAFT, PART, Permissions, PolicyEngine, Question, READONLY, RuleEffect, RuleScope, RuleText,
    Trial, asked_each_time, hypothetical,
};
pub use refusal::Refusal;

#[cfg(test)]
mod tests;

/// What can be wrong with the rules themselves, or with an object that has no canonical form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The schema is no schema.
    #[error("the policy schema cannot be read: {why}")]
    Schema {
        /// What Cedar said.
        why: String,
    },
    /// A layer of rules is not accepted.
    #[error("the policy layer `{layer}` is refused: {why}")]
    Layer {
        /// The layer's name.
        layer: String,
        /// What is wrong, and where.
        why: String,
    },
    /// An object cannot be sealed or opened.
    #[error(transparent)]
    Seal(#[from] seal::Error),
}
