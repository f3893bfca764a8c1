//! What can be done: one file for each tool with all that is known of it, and the typed request around it.
//!
//! # What this room is for
//!
//! A tool is one file here: its arguments, and as [`Tool`] everything that policy, card, receipt, standing grants and
//! lists say of an act of it. The list in [`tools`] names each tool once; from it come the [`Action`] that requests
//! hold, and wherever else every tool must be met.
//!
//! # What it must never do
//!
//! Read a clock, a disk or the network; decide; believe what a proposer says about its own act.
//!
//! # Invariants
//!
//! 1. A tool is told apart by its tag alone; the bytes of a request of every version that landed keep their meaning.
//! 2. What is said of an act follows from its typed arguments, and of a staged command from what its run came to.
//! 3. Whatever a tool does not say of itself is the gravest answer, never the mildest.
//!
//! # Where to start reading
//!
//! [`Tool`], then one tool: [`Remember`] is the shortest.

mod change;
mod command;
mod fetch;
mod observe;
mod packet;
mod remember;
mod request;
mod rollback;
mod tools;
mod vcs;

pub use change::Change;
pub use command::Command;
pub use fetch::Fetch;
pub use observe::Observe;
pub use packet::ApprovalPacket;
pub use remember::Remember;
pub use request::ActionRequest;
pub use rollback::Rollback;
pub use tools::Action;
pub use vcs::Vcs;
