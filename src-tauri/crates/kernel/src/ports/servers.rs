//! What the kernel asks of servers of tools.

use model::AttemptId;
use model::tool_server::{ServerLaunch, ServerRegistration, ToolManifest};

/// Servers of tools, which are started behind walls and ended again.
pub trait Servers: Send + Sync {
    /// Starts a server and asks what it offers: its launch with every file of its words pinned, and its manifest.
    ///
    /// # Errors
    /// In words, when it cannot be started, or does not say what it offers.
    fn look_at_server(
        &self,
        server: &str,
        launch: &ServerLaunch,
    ) -> Result<(ServerLaunch, ToolManifest), String>;

    /// What a resource of a server reads now, as the protocol has it. The server is started as it was registered, behind the
    /// walls that it has for tasks, and ended again; one that reaches out of this machine is not asked. `is_over`: nobody waits for
    /// it any more.
    ///
    /// # Errors
    /// In words, when it cannot be started, is another than was registered, or does not answer.
    fn resource_seen(
        &self,
        of: &ServerRegistration,
        uri: &str,
        is_over: &dyn Fn() -> bool,
    ) -> Result<serde_json::Value, String>;

    /// Ends every server that an attempt has called.
    fn end_servers(&self, attempt: AttemptId);

    /// Whether a JSON value fits a JSON Schema.
    ///
    /// # Errors
    /// Where it does not, in words.
    fn fits(&self, schema: &str, value: &str) -> Result<(), String>;
}

impl Servers for effects::Executors {
    fn look_at_server(
        &self,
        server: &str,
        launch: &ServerLaunch,
    ) -> Result<(ServerLaunch, ToolManifest), String> {
        self.look_at_server(server, launch)
    }

    fn resource_seen(
        &self,
        of: &ServerRegistration,
        uri: &str,
        is_over: &dyn Fn() -> bool,
    ) -> Result<serde_json::Value, String> {
        self.resource_seen(of, uri, is_over)
    }

    fn end_servers(&self, attempt: AttemptId) {
        self.end_servers(attempt);
    }

    fn fits(&self, schema: &str, value: &str) -> Result<(), String> {
        self.fits(schema, value)
    }
}
