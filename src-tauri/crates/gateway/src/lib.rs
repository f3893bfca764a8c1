//! The same api over loopback HTTP, for whoever attaches to the process that holds the store.
//!
//! **What this room is for.** One way in for programs of the same user: `POST /v1/command/{name}` with a JSON object,
//! `GET /v1/commands`, and `GET /v1/events` as a stream of notices; and [`Client`], the other end of it. The run API
//! (`/v1/runs`, run-api.md) and the UI's files will join here with the desktop issue.
//!
//! **What it must never do.** Listen anywhere but on loopback; answer without the token; answer a page of another
//! origin, whatever name it gave this machine; redirect; run a command of class `owner`; grant.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. A request without the exact token is answered 401, one of a foreign host or origin 403, and nothing else happens.
//! 2. A body over [`BODY_BYTES_MAX`] is answered 413 and not kept in memory.
//! 3. Every answer that is no success is the wire's error shape, with the status its code says.
//! 4. The token is compared in constant time, is readable for its owner only, and is in no message and no log.
//! 5. The client sends the token to loopback addresses only and follows no redirect.
//!
//! **Where to start reading.** [`serve`], then `guard`, then [`Client`].

mod client;
mod guard;
mod server;
mod stream;
mod token;

pub use client::Client;
pub use server::{BODY_BYTES_MAX, Server, serve};
pub use token::{TOKEN_FILE, Token};

/// Why a gateway cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The listener is reachable from elsewhere.
    #[error("`{0}` is no loopback address; the gateway listens on this machine only")]
    NotLoopback(String),
    /// The token's file says no.
    #[error("the token file `{path}` cannot be {act}: {why}")]
    Token {
        /// `read` or `written`.
        act: &'static str,
        /// Where.
        path: String,
        /// What was said.
        why: String,
    },
    /// The system says no.
    #[error("the gateway cannot {act}: {why}")]
    Io {
        /// What was being done.
        act: &'static str,
        /// What was said.
        why: String,
    },
    /// Whoever is attached to does not answer as a host should.
    #[error("{}", .0.message)]
    Answer(wire::Error),
}
