//! Servers of tools as the store's own stream tells them: what is registered, what a person said, what was taken back.

use model::artifact::ArtifactRef;
use model::body::{Body, ToolClassified, ToolServerRegistered};
use model::sampling::SamplingTerms;
use model::tool_server::ToolTerms;
use model::{Digest, UnixMs, WorkspaceId};
use std::collections::{BTreeMap, BTreeSet};

/// One registration of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerVersion {
    /// Launch and manifest.
    pub registration: ArtifactRef,
    /// Since when.
    pub since: UnixMs,
}

/// What a person said of one tool, and since when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classified {
    /// The tool with exactly these words and schemas.
    pub tool_sha256: Digest,
    /// What it may do.
    pub terms: ToolTerms,
    /// Since when.
    pub since: UnixMs,
}

/// A server by its name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerRecord {
    /// Every registration, in order.
    pub versions: Vec<ServerVersion>,
    /// What was said of each of its tools, in order.
    pub classified: BTreeMap<String, Vec<Classified>>,
    /// Tools of which what was said does not hold, until it is said again.
    pub off: BTreeSet<String>,
    /// Tools that the server says something else of by now, since the latest registration.
    pub changed: BTreeSet<String>,
    /// What it says it offers now, where that differs.
    pub offers_now: Option<ArtifactRef>,
    /// How much it may ask of a model, as a person said since the latest registration.
    pub sampling: Option<SamplingTerms>,
    /// Why it is not used, since the latest registration.
    pub disabled: Option<String>,
}

impl ServerRecord {
    /// The latest registration.
    pub fn latest(&self) -> Option<&ServerVersion> {
        self.versions.last()
    }

    /// The registration that was in force at a time: what began then keeps it.
    pub fn at(&self, time: UnixMs) -> Option<&ServerVersion> {
        self.versions.iter().rfind(|version| version.since <= time)
    }

    /// What a person had said last of a tool with this pin by then, wherever it holds and whether it does.
    pub fn terms(&self, tool: &str, pin: Digest, time: UnixMs) -> Option<&ToolTerms> {
        let said = self.classified.get(tool)?.iter().rfind(|one| one.since <= time && one.tool_sha256 == pin);
        said.map(|one| &one.terms)
    }

    /// What a person says of a tool with this pin to whoever began at a time in a folder: what they had said of it there by then,
    /// and as much stricter as they have said since. What is looser counts from the next attempt on; what is switched off holds
    /// for nobody.
    pub fn terms_for(
        &self,
        tool: &str,
        pin: Digest,
        began: UnixMs,
        workspace: Option<WorkspaceId>,
    ) -> Option<ToolTerms> {
        let holds = |one: &&Classified| one.tool_sha256 == pin && one.terms.holds_in(workspace);
        let said = self.classified.get(tool).filter(|_| !self.off.contains(tool))?;
        let then = &said.iter().filter(holds).rfind(|one| one.since <= began)?.terms;
        let since = said.iter().filter(holds).filter(|one| one.since > began);
        Some(since.fold(then.clone(), |terms, one| terms.within(&one.terms)))
    }
}

/// Servers by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolRegistry(pub BTreeMap<String, ServerRecord>);

impl ToolRegistry {
    /// Folds one event of the store's stream.
    pub(crate) fn apply(&mut self, body: &Body) {
        match body {
            Body::ToolServerRegistered(ToolServerRegistered {
                server, registration, registered_at, ..
            }) => {
                let record = self.0.entry(server.clone()).or_default();
                let version = ServerVersion { registration: registration.clone(), since: *registered_at };
                record.versions.push(version);
                record.changed.clear();
                (record.offers_now, record.disabled, record.sampling) = (None, None, None);
            }
            Body::ToolClassified(ToolClassified {
                server, tool, tool_sha256, terms, classified_at, ..
            }) => {
                let record = self.0.entry(server.clone()).or_default();
                record.off.remove(tool);
                record.classified.entry(tool.clone()).or_default().push(Classified {
                    tool_sha256: *tool_sha256,
                    terms: terms.clone(),
                    since: *classified_at,
                });
            }
            Body::ToolSamplingSet(b) => {
                if let Some(record) = self.0.get_mut(&b.server) {
                    record.sampling = b.terms;
                }
            }
            Body::ToolServerChanged(b) => {
                if let Some(record) = self.0.get_mut(&b.server) {
                    record.changed = b.tools.iter().cloned().collect();
                    record.offers_now = Some(b.manifest.clone());
                }
            }
            Body::ToolServerDisabled(b) => {
                if let Some(record) = self.0.get_mut(&b.server) {
                    let why = || b.reason.shown().cloned().unwrap_or_else(|| "(erased)".to_owned());
                    match &b.tool {
                        Some(tool) => drop(record.off.insert(tool.clone())),
                        None => record.disabled = Some(why()),
                    }
                }
            }
            Body::ToolServerRemoved(b) => {
                self.0.remove(&b.server);
            }
            _ => {}
        }
    }
}
