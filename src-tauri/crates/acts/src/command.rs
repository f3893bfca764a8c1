//! Running a program.

use model::RelPath;
use serde::{Deserialize, Serialize};

/// A program with its arguments, run under the sandbox; no shell unless the program is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Where, below the lease root.
    pub cwd: RelPath,
    /// Whether it asks for the network.
    pub network: bool,
    /// How long it may run, in milliseconds.
    pub timeout_ms: u64,
    /// Hosts it may reach, as `name:port`, through Hermit's proxy; with none, any public host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Handles of secrets it may use; what it sees of them are sentinels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
}
