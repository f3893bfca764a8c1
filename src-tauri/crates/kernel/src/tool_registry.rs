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
    /// Tools of which what was said until then does not hold any more, wherever it held: how much had been said.
    pub(crate) off: BTreeMap<String, usize>,
    /// Tools that the server says something else of by now, since the latest registration.
    pub changed: BTreeSet<String>,
    /// What it says it offers now, where that differs.
    pub offers_now: Option<ArtifactRef>,
    /// How much it may ask of a model, as a person said since the latest registration.
    pub sampling: Option<SamplingTerms>,
    /// Whether its classified tools are passed on to agents of other programs, since the latest registration.
    pub passed_on: bool,
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
        let said = self.classified.get(tool)?.get(self.off.get(tool).copied().unwrap_or_default()..)?;
        let (then, since): (Vec<_>, Vec<_>) =
            said.iter().filter(|one| one.tool_sha256 == pin).partition(|one| one.since <= began);
        let mut now: Option<ToolTerms> = None;
        for one in then {
            if one.terms.holds_in(workspace) {
                now = Some(one.terms.clone());
            } else {
                now = now.filter(ToolTerms::is_of_a_folder);
            }
        }
        for one in since {
            now = match (now, one.terms.holds_in(workspace)) {
                (Some(terms), true) => Some(terms.within(&one.terms)),
                // Who says where it holds says that it does not elsewhere; what was said of a folder stands there.
                (terms, false) => terms.filter(ToolTerms::is_of_a_folder),
                (None, true) => None,
            };
        }
        now
    }

    /// Whether what was said of a tool is switched off, and nothing was said since.
    pub fn is_off(&self, tool: &str) -> bool {
        let said = self.classified.get(tool).map_or(0, Vec::len);
        self.off.get(tool).is_some_and(|until| said <= *until)
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
                record.passed_on = false;
            }
            Body::ToolClassified(ToolClassified {
                server, tool, tool_sha256, terms, classified_at, ..
            }) => {
                let record = self.0.entry(server.clone()).or_default();
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
            Body::ToolServerPassedOn(b) => {
                if let Some(record) = self.0.get_mut(&b.server) {
                    record.passed_on = b.on;
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
                        Some(tool) => {
                            let said = record.classified.get(tool).map_or(0, Vec::len);
                            record.off.insert(tool.clone(), said);
                        }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

    use super::*;
    use model::action::ActionClass;

    const READS: ActionClass = ActionClass::ReadLocal;
    const WRITES: ActionClass = ActionClass::WriteLocal;

    fn folder(n: u8) -> WorkspaceId {
        format!("wsp_0190a1b2c3d47e8f9a0b1c2d0000000{n}").parse().unwrap()
    }

    fn say(registry: &mut ToolRegistry, at: i64, class: ActionClass, only_in: Option<WorkspaceId>) {
        let terms = ToolTerms { only_in, ..ToolTerms::of(class) };
        registry.apply(&Body::ToolClassified(ToolClassified {
            server: "toy".to_owned(),
            tool: "echo".to_owned(),
            tool_sha256: Digest::of(b"echo"),
            terms,
            action_request_id: "act_0190a1b2c3d47e8f9a0b1c2d00000001".parse().unwrap(),
            classified_at: UnixMs(at),
        }));
    }

    fn switch_off(registry: &mut ToolRegistry) {
        registry.apply(&Body::ToolServerDisabled(model::body::ToolServerDisabled {
            server: "toy".to_owned(),
            reason: "off".to_owned().into(),
            tool: Some("echo".to_owned()),
        }));
    }

    /// The class in a folder for whoever began at a time.
    fn class(registry: &ToolRegistry, began: i64, place: u8) -> Option<ActionClass> {
        let record = registry.0.get("toy")?;
        let terms = record.terms_for("echo", Digest::of(b"echo"), UnixMs(began), Some(folder(place)));
        terms.map(|terms| terms.class)
    }

    #[test]
    fn what_is_said_of_one_folder_holds_there_and_ends_what_held_everywhere() {
        let mut registry = ToolRegistry::default();
        say(&mut registry, 1, READS, None);
        assert_eq!((class(&registry, 5, 1), class(&registry, 5, 2)), (Some(READS), Some(READS)));
        say(&mut registry, 6, READS, Some(folder(1)));
        assert_eq!((class(&registry, 9, 1), class(&registry, 9, 2)), (Some(READS), None));
        assert_eq!(class(&registry, 5, 2), None, "for whoever is at work too");
        say(&mut registry, 10, WRITES, Some(folder(2)));
        assert_eq!((class(&registry, 11, 1), class(&registry, 11, 2)), (Some(READS), Some(WRITES)));
        say(&mut registry, 12, READS, None);
        assert_eq!(class(&registry, 13, 3), Some(READS), "said of every folder again");
    }

    #[test]
    fn what_is_switched_off_stays_so_until_it_is_said_again_there_and_for_whoever_begins_then() {
        let mut registry = ToolRegistry::default();
        say(&mut registry, 1, READS, None);
        switch_off(&mut registry);
        assert_eq!(class(&registry, 5, 1), None);
        assert!(registry.0["toy"].is_off("echo"));
        say(&mut registry, 6, READS, Some(folder(2)));
        assert_eq!((class(&registry, 5, 1), class(&registry, 7, 1)), (None, None), "elsewhere it stays off");
        assert_eq!((class(&registry, 5, 2), class(&registry, 7, 2)), (None, Some(READS)));
        assert!(!registry.0["toy"].is_off("echo"));
    }
}
