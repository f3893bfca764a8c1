//! Which tools there are for a client: Hermit's own, and those of servers that a person passes on.

use crate::server::Server;
use serde_json::json;
use wire::agent::{ToolList, ToolSpec};

/// Whether a name is one by which tools of servers are offered: the kernel says why one is not to be called.
pub(crate) fn is_of_a_server(name: &str) -> bool {
    name.split_once("__").is_some_and(|(server, tool)| !server.is_empty() && !tool.is_empty())
}

impl Server {
    pub(crate) fn tools(&self) -> Result<Vec<ToolSpec>, String> {
        if let Some(tools) = self.known().tools.clone() {
            return Ok(tools);
        }
        self.tools_now()
    }

    /// The same asked anew: what a person passes on is not the same for ever.
    pub(crate) fn tools_now(&self) -> Result<Vec<ToolSpec>, String> {
        let list: ToolList = self.ask("agent.tools", json!({ "workspace": self.options.workspace }))?;
        self.known().tools = Some(list.tools.clone());
        Ok(list.tools)
    }

    /// The tools, where this one is among them, as they were asked for last or as they are now.
    pub(crate) fn tools_with(&self, name: &str) -> Result<Vec<ToolSpec>, String> {
        let known = self.tools()?;
        if known.iter().any(|spec| spec.name == name) { Ok(known) } else { self.tools_now() }
    }
}
