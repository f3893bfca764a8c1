//! `prov.json`: the task's lineage as W3C PROV-JSON, derived from its events, for tools that draw it.
//!
//! It is written relation by relation, each in a pass of its own over the events, so that the lineage of a long task
//! need not be held. Not authoritative: nothing is ever read back from it.

use crate::{Error, layout};
use model::artifact::Artifact;
use model::principal::PrincipalType;
use model::{AttemptId, Body, Event, PrincipalId};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;

/// Who acted, and in which attempts; everything about artifacts is asked for when it is written.
#[derive(Debug, Default)]
pub(super) struct Prov {
    agents: BTreeMap<PrincipalId, PrincipalType>,
    attempts: BTreeSet<AttemptId>,
    associated: BTreeSet<(AttemptId, PrincipalId)>,
}

/// Calls its argument with every event's bytes, in order.
type Events<'a> = dyn FnMut(&mut dyn FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> + 'a;

/// A member of a section: its name and its value.
type Members<'a> =
    dyn FnMut(&Made, &mut dyn FnMut(String, Value) -> Result<(), Error>) -> Result<(), Error> + 'a;

/// An artifact, and the attempt that made it.
struct Made {
    artifact: Artifact,
    attempt: Option<AttemptId>,
}

impl Prov {
    /// Takes in one event.
    pub(super) fn take(&mut self, event: &Event) {
        self.agents.insert(event.actor_id, event.actor_type);
        if let Some(attempt) = event.attempt_id {
            self.attempts.insert(attempt);
            self.associated.insert((attempt, event.actor_id));
        }
    }

    /// Writes the document.
    pub(super) fn write(&self, out: &mut dyn Write, events: &mut Events<'_>) -> Result<(), Error> {
        let head = json!({
            "prefix": { "hermit": "https://hermit.local/ns#", "prov": "http://www.w3.org/ns/prov#" },
            "agent": named(self.agents.iter().map(|(id, kind)| (hermit(id), json!({ "prov:type": kind })))),
            "activity": named(self.attempts.iter().map(|id| (hermit(id), json!({ "prov:type": "hermit:attempt" })))),
            "wasAssociatedWith": named(self.associated.iter().map(|(attempt, actor)| {
                let relation = json!({ "prov:activity": hermit(attempt), "prov:agent": hermit(actor) });
                (format!("_:{attempt}-{actor}"), relation)
            })),
        });
        let head = seal::canon::canonical_value(&head).map_err(Error::inconsistent)?;
        // Without its closing brace: what follows are further members.
        put(out, head.strip_suffix(b"}").unwrap_or(&head))?;
        // The document itself is an entity: PROV-JSON has no other place for what is said of it.
        let itself = json!({
            "prov:type": { "$": "prov:Bundle", "type": "prov:QUALIFIED_NAME" },
            "hermit:authoritative": false,
            "hermit:derived_from": layout::TASK_EVENTS,
        });
        section(out, "entity", Some((hermit(&"lineage"), itself)), events, &mut |made, member| {
            let artifact = &made.artifact;
            let value = json!({
                "prov:type": artifact.kind,
                "hermit:sha256": artifact.content_hash,
                "hermit:trust_tier": artifact.trust_tier,
            });
            member(hermit(&artifact.artifact_id), value)
        })?;
        section(out, "used", None, events, &mut |made, member| {
            let Some(attempt) = made.attempt else { return Ok(()) };
            made.inputs().try_for_each(|(at, input)| {
                let relation = json!({ "prov:activity": hermit(&attempt), "prov:entity": input });
                member(format!("_:{}-used-{at}", made.artifact.artifact_id), relation)
            })
        })?;
        section(out, "wasDerivedFrom", None, events, &mut |made, member| {
            let name = hermit(&made.artifact.artifact_id);
            made.inputs().try_for_each(|(at, input)| {
                let relation = json!({ "prov:generatedEntity": name, "prov:usedEntity": input });
                member(format!("_:{}-from-{at}", made.artifact.artifact_id), relation)
            })
        })?;
        section(out, "wasGeneratedBy", None, events, &mut |made, member| {
            let Some(attempt) = made.attempt else { return Ok(()) };
            let entity = hermit(&made.artifact.artifact_id);
            let relation = json!({ "prov:entity": entity, "prov:activity": hermit(&attempt) });
            member(format!("_:{}-made", made.artifact.artifact_id), relation)
        })?;
        put(out, b"}\n")
    }
}

impl Made {
    /// The artifact that an event made, if it made one.
    fn of(bytes: &[u8]) -> Option<Self> {
        const MARK: &[u8] = b"\"event_type\":\"artifact.created\"";
        // Most events make none, and looking is cheaper than reading.
        if !bytes.windows(MARK.len()).any(|window| window == MARK) {
            return None;
        }
        let event = Event::from_bytes(bytes).ok()?;
        match event.body(&|_| None) {
            Ok(Body::ArtifactCreated(created)) => {
                Some(Self { artifact: created.artifact, attempt: event.attempt_id })
            }
            _ => None,
        }
    }

    fn inputs(&self) -> impl Iterator<Item = (usize, String)> {
        let unique: BTreeSet<_> = self.artifact.inputs.iter().collect();
        unique.into_iter().map(hermit).enumerate()
    }
}

/// One section of the document: the member given first, and those that the events come to.
fn section(
    out: &mut dyn Write,
    name: &str,
    first: Option<(String, Value)>,
    events: &mut Events<'_>,
    members: &mut Members<'_>,
) -> Result<(), Error> {
    put(out, format!(",\"{name}\":{{").as_bytes())?;
    let mut is_first = true;
    let mut member = |name: String, value: Value| {
        let comma = if std::mem::take(&mut is_first) { "" } else { "," };
        let value = seal::canon::canonical_value(&value).map_err(Error::inconsistent)?;
        put(out, format!("{comma}\"{name}\":").as_bytes())?;
        put(out, &value)
    };
    if let Some((name, value)) = first {
        member(name, value)?;
    }
    events(&mut |bytes| match Made::of(bytes) {
        Some(made) => members(&made, &mut member),
        None => Ok(()),
    })?;
    put(out, b"}")
}

fn put(out: &mut dyn Write, bytes: &[u8]) -> Result<(), Error> {
    out.write_all(bytes).map_err(|e| Error::io("write", Path::new(layout::PROV), &e))
}

fn named(members: impl Iterator<Item = (String, Value)>) -> Value {
    Value::Object(members.collect())
}

fn hermit(id: &impl std::fmt::Display) -> String {
    format!("hermit:{id}")
}
