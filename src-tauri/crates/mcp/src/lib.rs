//! Hermit as a tool server: agents of other programs act through it over the Model Context Protocol.
//!
//! **What this room is for.** A person names `hermit mcp` in the configuration of their agent program. What that agent
//! does then is a call of this server, and each call is a turn of one task in Hermit: a typed request that is judged,
//! asked, granted, done once and receipted like any other.
//!
//! **What it must never do.** Approve, grant, classify, register, configure, erase or read keys: there is no such tool,
//! and whoever asks for one is told which command a person has for it. Write anything but the protocol to standard
//! output. Keep what the store does not hold: what a call came to is read from there.
//!
//! **Invariants** (tests cite them by number):
//!
//! 1. A call answers within seconds, however slow a person is; the same call again goes on with it and doubles nothing.
//! 2. Names, descriptions and schemas of what acts are those of the one registry that models are told of.
//! 3. Refused, denied, waiting and ended are different answers.
//! 4. An agent looks at its own task and those it began, and at no others.
//!
//! **Where to start reading.** [`serve`] and [`Conversation`], then `server`, then `reading`.

mod aside;
pub mod clients;
pub mod edit;
mod http;
mod known;
mod line;
mod listed;
mod person;
mod reading;
mod resources;
mod rounds;
mod server;
mod told;
mod work_seats;

pub use http::Conversation;
pub use work_seats::at_a_seat;

use rmcp::ServiceExt as _;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

/// Hermit as this room has it: the commands of the wire, whoever holds the store.
pub trait Hermit: Send + Sync + 'static {
    /// Runs one command.
    ///
    /// # Errors
    /// What the command says.
    fn ask(&self, name: &str, params: Value) -> Result<Value, Box<wire::Error>>;
}

/// What the person said who put the server into a configuration.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder to work in, absolute.
    pub workspace: String,
    /// Whether the person named the folder; else it is where the program was started.
    pub is_named: bool,
    /// The policy profile; the careful standard when absent.
    pub profile: Option<String>,
    /// The version of Hermit.
    pub version: String,
    /// Where proofs are written.
    pub proofs: PathBuf,
}

#[cfg(test)]
impl Options {
    /// What a test says that is about something else.
    fn of_a_test() -> Self {
        Self {
            workspace: "/w".to_owned(),
            is_named: true,
            profile: None,
            version: "1".to_owned(),
            proofs: "/p".into(),
        }
    }
}

/// Serves standard input and output until the client closes them.
///
/// # Errors
/// In words, when there is no client that speaks the protocol.
pub fn serve(hermit: Arc<dyn Hermit>, options: Options) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| format!("no threads to work with: {e}"))?;
    let served = runtime.block_on(async {
        let server = server::Server::new(hermit, options);
        let running = server.serve(rmcp::transport::stdio()).await;
        let running = running.map_err(|e| format!("no client speaks the protocol here: {e}"))?;
        running.waiting().await.map(drop).map_err(|e| e.to_string())
    });
    // A read of standard input cannot be called off, and nothing else is at work.
    runtime.shutdown_background();
    served
}

/// Serves one connection of an agent inside the walls of Hermit until either side closes it.
///
/// # Errors
/// In words, when it is no client that speaks the protocol.
#[cfg(unix)]
pub fn serve_connection(
    hermit: Arc<dyn Hermit>,
    options: Options,
    stream: std::os::unix::net::UnixStream,
) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| format!("no threads to work with: {e}"))?;
    stream.set_nonblocking(true).map_err(|e| e.to_string())?;
    let served = runtime.block_on(async {
        let stream = tokio::net::UnixStream::from_std(stream).map_err(|e| e.to_string())?;
        let running = server::Server::new(hermit, options).serve(stream.into_split()).await;
        let running = running.map_err(|e| format!("no client speaks the protocol here: {e}"))?;
        running.waiting().await.map(drop).map_err(|e| e.to_string())
    });
    runtime.shutdown_background();
    served
}
