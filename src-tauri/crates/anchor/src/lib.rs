//! Clocks elsewhere: RFC 3161 time stamps, OpenTimestamps, and Bitcoin's headers and branches (mesh.md 3).
//!
//! **What this room is for.** A head of the log is stamped by clocks that nobody here sets. Their requests, answers and proofs are
//! written, read and checked here, in the formats that `openssl ts`, the client of OpenTimestamps and a node of Bitcoin have.
//!
//! **What it must never do.** Read a clock, draw randomness, touch a disk or a network: nonces, answers and headers are passed in.
//! Call anything proven by an authority that the caller did not name, or by headers that only the proof brings along.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. A proof of another digest is an error, whatever else it holds.
//! 2. What a stranger wrote is bounded in bytes, depth and number before it is worked on, and never ends the program.
//! 3. Changed or cut short, a proof never proves another time than it did.
//! 4. What is proven says what has to be taken on trust for it.
//! 5. What is signed or hashed is the bytes as they came; nothing is written anew to check it.
//!
//! **Where to start reading.** [`check`], then [`rfc3161`], [`ots`], [`op_return`], and [`bitcoin`] below the last two.

pub mod bitcoin;
mod check;
mod error;
pub mod op_return;
pub mod ots;
mod reader;
pub mod rfc3161;

pub use check::{Checked, Proven, Trust, check};
pub use error::Error;
