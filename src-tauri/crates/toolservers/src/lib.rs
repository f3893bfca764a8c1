//! The MCP client: what a tool server says it offers, and calls of its tools, within bounds.
//!
//! # What this room is for
//!
//! It speaks the Model Context Protocol to a server that somebody else has started and will end, over its standard streams,
//! in both of its wires: with a session (2025-11-25 and before), and without one (2026-07-28); and to one that is reached by an
//! address, over a way out that is lent (Streamable HTTP, with a session or without). It holds arguments and
//! results against JSON Schemas. It knows how one logs in at a server that wants it (OAuth 2.1 with PKCE, by the SDK).
//!
//! # What it must never do
//!
//! Start a process, open a connection, read a file, decide whether something may be called, or believe what a server says.
//!
//! # Invariants
//!
//! 1. Whatever a server sends is bounded: the bytes of one message and of one answer, the tools, the pages of their list, the time.
//! 2. A tool is called at most once, and whoever asked learns whether it may have been called.
//! 3. A server may ask the person, and a model where that was offered to it, within bounds and while its tool is at work; one
//!    that was started may ask which folder it sees. What else it asks for is refused, and nothing it asks for is done.
//! 4. A schema reaches nothing outside itself, and a pattern in it costs time that grows with the text alone.
//!
//! # Where to start reading
//!
//! [`McpClient`], then `conversation.rs` and `remote.rs`.

mod asked;
mod conversation;
#[allow(clippy::disallowed_methods, reason = "it limits how long a log-in may take")]
mod courier;
mod form;
pub mod login;
mod metered;
#[allow(clippy::disallowed_methods, reason = "it limits how long a greeting and a list of tools may take")]
mod remote;
#[allow(clippy::disallowed_methods, reason = "it limits how long a greeting and a list of tools may take")]
mod remote_ears;
mod sampled;
mod schema;
mod server_pipes;
mod stateless;

use conversation::Conversation;
pub use courier::{Stopped, Way};
use effects::{Ended, Endpoint, Offers, Pipes, ToolServers, ToolSession};
use remote::Remote;
use std::sync::Arc;
use std::time::Duration;

/// Speaks the protocol for the executors. It keeps nothing between two servers.
#[derive(Debug, Clone, Copy, Default)]
pub struct McpClient;

impl ToolServers for McpClient {
    fn open(
        &self,
        pipes: Pipes,
        offers: Offers,
        within: Duration,
        ended: Ended<'_>,
    ) -> Result<Box<dyn ToolSession>, String> {
        Ok(Box::new(Conversation::open(pipes, offers, within, ended)?))
    }

    fn reach(
        &self,
        endpoint: Arc<Endpoint>,
        offers: Offers,
        within: Duration,
        ended: Ended<'_>,
    ) -> Result<Box<dyn ToolSession>, String> {
        Ok(Box::new(Remote::open(endpoint, offers, within, ended)?))
    }

    fn fits(&self, schema: &str, value: &str) -> Result<(), String> {
        schema::fits(schema, value)
    }
}
