//! One connection of a guest, served to its end.

use effects::LocalStream;
use std::sync::Arc;

/// Serves Hermit's tools over it.
///
/// # Errors
/// In words, when it is no client that speaks the protocol.
#[cfg(unix)]
pub(crate) fn serve(
    hermit: Arc<dyn mcp::Hermit>,
    options: mcp::Options,
    stream: LocalStream,
) -> Result<(), String> {
    mcp::serve_connection(hermit, options, stream)
}

/// Nobody connects on a system that has no such sockets.
#[cfg(not(unix))]
pub(crate) fn serve(_: Arc<dyn mcp::Hermit>, _: mcp::Options, stream: LocalStream) -> Result<(), String> {
    match stream {}
}
