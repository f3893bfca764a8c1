//! The model port and its providers: context in, proposals out; has no door to effects.
//!
//! **What this room is for.** Everything that can answer "what next?": a playbook (typed proposals, no model at
//! all), any server that speaks one of five protocols, a recorded transcript, and a script for tests. All of them are one [`Reasoner`]; the kernel stores the exact bytes of what it asks and of what comes back.
//!
//! **What it must never do.** Execute anything, read or write the workspace, open a socket (the network is the
//! [`ModelHttp`] the host hands in), hold a secret value (only its handle), or believe an answer: what comes back
//! is an [`model::proposal::Answer`], data that the loop core parses and policy judges.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. [`Reasoner::encode`] is a function of its arguments: the same pack and tools give the same bytes, and
//!    [`Reasoner::propose`] sends exactly those.
//! 2. Content that is not the person's or policy's word reaches a model fenced, under a fence that the content
//!    itself cannot close.
//! 3. However a stream of bytes is cut into chunks, the answer read from it is the same.
//! 4. Down, slow, refused, garbled, cut, too long, cancelled: each is its own [`Error`], none is an answer.
//! 5. A playbook decides from what was observed and nothing else: the same observations give the same answer.
//! 6. A playbook never proposes a change onto a path that exists, unless it is its own earlier result; run
//!    again on the world it made, it proposes nothing and says so.
//! 7. A playbook that could not do its work says what was not done; it never reports success instead.
//!
//! 8. What a model reasons is told apart from what it answers, is no part of any request, and proposes nothing.
//!
//! **Where to start reading.** [`port`], then [`playbook`] (its language is in `PLAYBOOKS.md`), then [`server`], with
//! one file for each protocol in `server/api`.

pub mod address;
pub mod answer_text;
pub mod embedding;
mod error;
pub mod guest;
pub mod model_box;
pub mod pictures;
pub mod playbook;
pub mod port;
pub mod recorded;
pub mod result_text;
pub mod scripted;
pub mod server;
pub mod session;

pub use address::Address;
pub use error::Error;
pub use guest::Guest;
pub use playbook::{Playbook, PlaybookReasoner};
pub use port::{
    Delta, Descriptor, Head, HttpReply, Input, ModelHttp, ModelHttpError, Observed, Pictures, Question,
    Reasoner, Reply, Scheme,
};
pub use recorded::{Matching, Recorded, Recorder, Transcript};
pub use scripted::Scripted;
pub use server::{ModelServer, Prices, Settings, ToolMode};
pub use session::Session;
