//! A server that can be called: one that was started behind walls, or one that is reached by an address.

use super::process::{self, Process};
use super::reached::Reached;
use super::{Heard, Offers, ToolCall, ToolReply, Unspoken};
use crate::{Error, Executors};
use model::RelPath;
use model::tool_server::{ServerLaunch, ToolManifest};

/// A server at hand. Dropped, it is ended, or left.
#[allow(clippy::large_enum_variant, reason = "at most as many as there are conversations at once")]
pub(super) enum Alive {
    Started(Process),
    Reached(Reached),
}

impl Alive {
    /// Starts or reaches a server, as it is registered. One that is started sees nothing of `hidden`.
    pub(super) fn begin(
        executors: &Executors,
        (server, launch): (&str, &ServerLaunch),
        hidden: Vec<RelPath>,
        offers: Offers,
    ) -> Result<Self, Error> {
        super::check_launch(launch)?;
        match launch.url {
            Some(_) => Reached::begin(executors, (server, launch), offers).map(Self::Reached),
            None => Process::start(executors, launch, hidden, offers).map(Self::Started),
        }
    }

    /// What it says it offers now.
    pub(super) fn manifest(
        &mut self,
        executors: &Executors,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<ToolManifest, String> {
        match self {
            Self::Started(process) => process.manifest(executors, cancelled),
            Self::Reached(reached) => reached.manifest(executors, cancelled),
        }
    }

    /// Calls a tool once: its answer, or its refusal in its own words.
    pub(super) fn call(
        &mut self,
        call: ToolCall,
        heard: Heard<'_>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Result<ToolReply, String>, Unspoken> {
        match self {
            Self::Started(process) => process.call(call, heard, cancelled),
            Self::Reached(reached) => reached.call(call, heard, cancelled),
        }
    }

    /// Whether it told, since it was last asked what it offers, that this is something else now.
    pub(super) fn has_changed(&self) -> bool {
        match self {
            Self::Started(process) => process.has_changed(),
            Self::Reached(reached) => reached.has_changed(),
        }
    }

    /// Whether all of this is hidden from it. One that is reached sees no folder.
    pub(super) fn hides(&self, all: &[RelPath]) -> bool {
        match self {
            Self::Started(process) => process.hides(all),
            Self::Reached(_) => true,
        }
    }

    /// What it was told that it may ask for.
    pub(super) const fn offers(&self) -> Offers {
        match self {
            Self::Started(process) => process.offers(),
            Self::Reached(reached) => reached.offers(),
        }
    }

    /// Which connections were made since this was last asked, in words.
    pub(super) fn connections(&self) -> Vec<String> {
        match self {
            Self::Started(process) => process.connections(),
            Self::Reached(reached) => reached.connections(),
        }
    }

    /// Whether it has ended, or grown too large to be kept.
    pub(super) fn is_over(&mut self) -> bool {
        match self {
            Self::Started(process) => process.is_over(),
            Self::Reached(_) => false,
        }
    }
}

/// What looks like a key in the folder, which a server that is started does not see.
pub(crate) fn hidden(executors: &Executors, launch: &ServerLaunch) -> Result<Vec<RelPath>, String> {
    if launch.url.is_some() { Ok(Vec::new()) } else { process::hidden(executors, launch) }
}
