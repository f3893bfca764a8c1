//! The MCP client: what a tool server says it offers, and one call of a tool, within bounds.
//!
//! # What this room is for
//!
//! It speaks the Model Context Protocol to a server that somebody else has started and will end, over its standard streams,
//! in both of its wires: with a session (2025-11-25 and before), and without one (2026-07-28). It holds arguments and
//! results against JSON Schemas.
//!
//! # What it must never do
//!
//! Start a process, open a connection, read a file, decide whether something may be called, or believe what a server says.
//!
//! # Invariants
//!
//! 1. Whatever a server sends is bounded: the bytes of one message and of all, the tools, the pages of their list, the time.
//! 2. A tool is called at most once, and whoever asked learns whether it may have been called.
//! 3. A server that asks for something (a model, a person, a folder) is refused; nothing it asks for is done.
//! 4. A schema reaches nothing outside itself, and a pattern in it costs time that grows with the text alone.
//!
//! # Where to start reading
//!
//! [`McpClient`], then `conversation.rs`.

mod conversation;
mod metered;
mod schema;

use effects::{Pipes, Spoken, ToolCall, ToolServers, Unspoken};
use model::tool_server::ToolManifest;
use std::time::Duration;

/// Speaks the protocol for the executors. It keeps nothing between two servers.
#[derive(Debug, Clone, Copy, Default)]
pub struct McpClient;

impl ToolServers for McpClient {
    fn speak(
        &self,
        pipes: Pipes,
        start: Duration,
        next: &mut dyn FnMut(&ToolManifest) -> Option<ToolCall>,
        ended: &mut dyn FnMut() -> Option<String>,
    ) -> Result<Spoken, Unspoken> {
        let failed = |e: std::io::Error| Unspoken::NotCalled(format!("it cannot be spoken to: {e}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let spoken = runtime.block_on(conversation::speak(pipes, start, next, ended));
        // Whatever still waits for the server waits no longer.
        runtime.shutdown_background();
        spoken
    }

    fn fits(&self, schema: &str, value: &str) -> Result<(), String> {
        schema::fits(schema, value)
    }
}
