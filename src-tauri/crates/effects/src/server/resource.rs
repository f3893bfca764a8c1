//! A look at a resource of a server, for whoever waits until it reads otherwise: the server is started as it was registered,
//! behind the walls that it has for tasks, is asked once, and ended.
//!
//! It is no act of a task and has no grant, so it reaches nothing outside this machine: a server that names a host, or that is
//! reached by an address, is not asked.

use super::alive::{Alive, hidden};
use super::{Offers, ToolCall, Unspoken};
use crate::Executors;
use model::server_part::ServerPart;
use model::tool_server::ServerRegistration;
use std::time::Duration;

/// How long a server may take to answer.
const WITHIN: Duration = Duration::from_secs(20);

impl Executors {
    /// What a resource of a server reads now, as the protocol has it. `is_over`: nobody waits for it any more.
    ///
    /// # Errors
    /// In words, when the server reaches out of this machine, is another than was registered, cannot be started, or does not
    /// answer.
    pub fn resource_seen(
        &self,
        of: &ServerRegistration,
        uri: &str,
        is_over: &dyn Fn() -> bool,
    ) -> Result<serde_json::Value, String> {
        let (server, launch) = (of.server.as_str(), &of.launch);
        if launch.url.is_some() || !launch.hosts.is_empty() {
            return Err(format!("the server `{server}` reaches out of this machine, which only a task may"));
        }
        let pins = self.pins(launch);
        let of_another = launch.package.is_some() && self.package(launch, &pins) != launch.package;
        if pins != launch.pins || of_another {
            return Err(format!("the program of the server `{server}` is not the one that was registered"));
        }
        let hidden = hidden(self, launch)?;
        let mut alive =
            Alive::begin(self, (server, launch), hidden, Offers::default()).map_err(|e| e.to_string())?;
        let part = Some(ServerPart::Resource);
        let offers = alive.manifest(self, is_over)?;
        if of.manifest.part(part, uri).is_none() || offers.part(part, uri) != of.manifest.part(part, uri) {
            return Err(format!("the server `{server}` says something else of that resource by now"));
        }
        let call = ToolCall { part, name: uri.to_owned(), arguments: "{}".to_owned(), within: WITHIN };
        match alive.call(call, &mut |_| {}, is_over) {
            Ok(Ok(reply)) if !reply.is_error => Ok(reply.result),
            Ok(Ok(_)) => Err(format!("the server `{server}` answers with an error")),
            Ok(Err(why)) | Err(Unspoken::NotCalled(why) | Unspoken::Lost(why)) => Err(why),
        }
    }
}
