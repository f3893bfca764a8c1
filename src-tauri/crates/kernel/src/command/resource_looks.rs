//! A look at a resource of a server of tools, for a schedule that waits until it reads otherwise (schedule.md 1).
//!
//! It is a look as that at files is, and no act: the server is started as a person registered it, behind the walls that it has
//! for tasks, without a network, and ended again. What it says is data of a stranger.

use super::seeing::Now;
use crate::Error;
use crate::kernel::Kernel;
use crate::ports::Executors;
use effects::words_of;
use model::Digest;
use model::schedule::{RESOURCE_TOLD_BYTES_MAX, SeenChange, SeenState, Unseen};
use model::server_part::ServerPart;
use model::tool_server::ServerRegistration;
use std::sync::Arc;

/// The beginning of what a resource reads, and how many bytes there are beyond it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Told {
    text: String,
    more: u64,
}

impl Told {
    /// A text, cut where it is longer than a task is told.
    fn of(mut text: String) -> Self {
        let whole = text.len();
        text.truncate(text.floor_char_boundary(RESOURCE_TOLD_BYTES_MAX));
        let more = whole.saturating_sub(text.len()) as u64;
        Self { text, more }
    }

    /// As what changed.
    pub(super) fn change(self, server: &str, uri: &str, sha256: Digest) -> SeenChange {
        let Self { text, more } = self;
        SeenChange::Resource { server: server.to_owned(), uri: uri.to_owned(), sha256, text, more }
    }
}

impl Kernel {
    /// A schedule may wait for this resource: its server is registered, tells of it, and is started on this machine.
    ///
    /// # Errors
    /// [`Error::Input`], which says what can be said.
    pub(super) fn check_resource(&self, server: &str, uri: &str) -> Result<(), Error> {
        let input = |why: String| Err(Error::Input(why));
        let Some(registered) = self.server_to_look_at(server)? else {
            return input(format!(
                "no server of tools is registered as `{server}`, or it is switched off: `hermit tools list` names them"
            ));
        };
        if registered.manifest.part(Some(ServerPart::Resource), uri).is_none() {
            return input(format!("the server `{server}` had no resource `{uri}` when it was registered"));
        }
        if reaches_out(&registered) {
            return input(format!(
                "the server `{server}` reaches out of this machine, and a look of a schedule does not: let a task look at a time"
            ));
        }
        Ok(())
    }

    /// What a resource reads now.
    pub(super) fn resource_seen(
        &self,
        executors: &dyn Executors,
        (server, uri): (&str, &str),
    ) -> Result<Result<Now, Unseen>, Error> {
        let Some(registered) = self.server_to_look_at(server)? else {
            return Ok(Err(Unseen::ServerMissing));
        };
        let read = match executors.resource_seen(&registered, uri, &|| self.is_ending_looks()) {
            Ok(read) => read,
            // Of a server that was not let answer nothing is known.
            Err(_) if self.is_ending_looks() => return Err(Error::Halted),
            Err(error) => {
                let error = self.ports.redactor.now().text(&error).rest.into_owned();
                tracing::warn!(server, error, "a resource that a schedule waits for cannot be read");
                return Ok(Err(Unseen::ServerMissing));
            }
        };
        // A server may say of each answer when it was made: what the resource reads is its content alone.
        let content = read.get("content").unwrap_or(&read).to_string();
        let redactor = self.ports.redactor.now();
        let sha256 = Digest::of(&redactor.bytes(content.as_bytes()).rest);
        let told = Told::of(redactor.text(&words_of(&read)).rest.into_owned());
        let state = SeenState::Resource { sha256 };
        Ok(Ok(Now { told: Some(told), ..Now::whole(state) }))
    }

    /// A server as it was registered last, where it is not switched off.
    fn server_to_look_at(&self, server: &str) -> Result<Option<Arc<ServerRegistration>>, Error> {
        let mut registry = self.tool_registry();
        match registry.0.remove(server).filter(|record| record.disabled.is_none()) {
            Some(record) => self.registered(&record).map(Some),
            None => Ok(None),
        }
    }
}

fn reaches_out(of: &ServerRegistration) -> bool {
    of.launch.url.is_some() || !of.launch.hosts.is_empty()
}
