//! The protocol between machines of one person: pairing, sealed letters, signed notices, ownership, leases and remote approval.
//!
//! **What this room is for.** What one node of the mesh says to another and what it may believe (mesh.md 4, 5). [`Node`] takes what
//! happened and gives back what is to be recorded, delivered and written, in this order.
//!
//! **What it must never do.** Open a connection, read a clock, draw chance, touch a disk, or judge an act. A card is answered by a
//! key that a person registered; whether the answer is enough for the act is for `governance`.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. What a node believes follows from its recorded facts alone: [`State`] folded from them is the state it had.
//! 2. A numbered letter is delivered once and in order, however often and by whichever way it comes.
//! 3. Nothing of a node that is not paired, or that was withdrawn, is read further than its seal.
//! 4. A letter is called opened when the receiver said so in a letter of its own, and accepted when a relay said so; never more.
//! 5. A conversation has one owner in each epoch, and an owner that handed over writes nothing more.
//! 6. A slot counts once: of two that began it, the one under the lower epoch, then with the lower key.
//! 7. No decision counts that a key made which is not registered, or was withdrawn before the decision came in.
//! 8. Secrets stand in no fact.
//! 9. A cosignature is asked for only where a log is shown to have grown from the head that was seen of it before.
//! 10. What a node has to tell anew is bounded, however many conversations it had; and one that fell silent keeps its owner.
//! 11. A relay that asks is told who this node is only where the node reads, once for each challenge and a few times in all.
//! 12. Of what machines say who learn together, a bounded part is taken of each within an hour.
//! 13. No letter of training goes to a machine that does not say that it understands one.
//!
//! Start reading at [`port`], then [`state`], then [`Node`].

#![allow(clippy::large_enum_variant, reason = "what is said is made once, moved on and gone")]

mod approvals;
mod asked;
mod auth;
pub mod carry;
mod chain;
mod code;
mod decision;
pub mod direct;
mod fact;
pub mod frame;
mod heads;
mod ids;
mod lane;
mod letters;
mod log_keys;
mod moves;
mod node;
mod notices;
mod owned;
mod owners;
pub mod pairing;
mod parcels;
mod peers;
pub mod port;
pub mod public;
pub mod published;
mod schedules;
pub mod sealed;
mod shown;
mod slots;
pub mod state;
mod sums;
mod waits;
mod words;

pub use chain::{Known, NOTICES_KEPT, NOTICES_MAX};
pub use decision::*;
pub use heads::{COSIGNERS_MAX, SeenHead};
pub use letters::NEVER_AFTER_MS;
pub use moves::{MOVES_MAX, MOVES_MS, RELAY_BYTES_MAX};
pub use node::Node;
pub use notices::RECEIPTS_MAX;
pub use owned::{OWNED_FOR_MS, OWNED_MAX, SILENT_MAX};
pub use parcels::{PARCEL_BYTES_AN_HOUR, PARCEL_BYTES_MAX};
pub use peers::{PRESENCE_COUNTS, PRESENCE_EVERY_MS, PRESENCE_MACHINES};
pub use port::{Chance, Command, Delivered, Fact, Input as Happened, Step, Telling, Way};
pub use slots::{CLAIMS_KEPT, STARTS_KEPT};
pub use state::{GIVEN_MAX, State};
pub use waits::Waits;
pub use words::*;

/// Groups whose wraps a node still opens.
pub const GROUPS_KEPT: usize = 4;
/// The largest difference between the clocks of two nodes that a lease reckons with, in milliseconds.
pub const CLOCK_DIFFERENCE_MS: i64 = 5 * 60_000;

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A seal could not be made.
    #[error("the message cannot be sealed: {0}")]
    Sealing(&'static str),
    /// It does not fit.
    #[error("the message is too large")]
    TooLarge,
    /// The node is not paired, or was withdrawn.
    #[error("the machine {0} is not paired")]
    NotPaired(NodeId),
    /// The node was not heard since this one began, so that nobody knows what it understands.
    #[error("the machine {0} was not heard yet")]
    NotHeard(NodeId),
    /// What was asked for may not be done now.
    #[error("{0}")]
    Refused(&'static str),
    /// It has no canonical form.
    #[error(transparent)]
    Form(#[from] seal::Error),
}
