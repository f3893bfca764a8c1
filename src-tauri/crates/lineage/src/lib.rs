//! What came from what? Ancestry, taint, staleness, and the drawing's layout.
//!
//! **What this room is for.** One graph, folded from events one at a time, that answers the six questions of
//! HK-14.4 about any artifact, names everything that came from a bad source, and tells the whole chain behind a
//! receipt, from goal to change.
//!
//! **What it must never do.** Read bytes of artifacts, ask a store, or guess: an edge exists because an event says
//! so. It is an explanation, never an authority.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. Every edge points from what was there to what came of it, so that ancestors are causes.
//! 2. Taint passes along what carries content, and along nothing else: permission, ownership and contradiction
//!    carry none.
//! 3. What is derived is never more trusted than the least trusted thing it came from.
//! 4. The same events in the same order give the same graph; a value that was erased leaves its node and edges.
//! 5. An answer is in a defined order.
//!
//! **Where to start reading.** [`node`], then [`Graph::apply`], then [`Graph::explain`].

mod explain;
mod fold;
mod graph;
mod layout;
pub mod node;
mod queries;
mod recall;
mod taint;

pub use explain::Explanation;
pub use graph::Graph;
pub use layout::{Drawn, Layout};
pub use node::{Edge, EdgeKind, Node, NodeId, NodeKind};
pub use recall::{Places, Recall};
pub use taint::{Stale, Taint};
