//! `prov.json`: the task's lineage as W3C PROV-JSON, derived from its events, for tools that draw it.

use model::{Body, Event};
use serde_json::{Map, Value, json};

/// Collects while events pass. Not authoritative: nothing is ever read back from it.
#[derive(Debug, Default)]
pub(crate) struct Prov {
    entity: Map<String, Value>,
    activity: Map<String, Value>,
    agent: Map<String, Value>,
    generated: Map<String, Value>,
    used: Map<String, Value>,
    associated: Map<String, Value>,
    derived: Map<String, Value>,
}

impl Prov {
    /// Takes in one event.
    pub(crate) fn take(&mut self, event: &Event) {
        let actor = id(&event.actor_id);
        self.agent.insert(actor.clone(), json!({ "prov:type": event.actor_type }));
        let Some(attempt) = event.attempt_id.as_ref().map(id) else {
            return self.artifact(event, None);
        };
        self.activity.entry(attempt.clone()).or_insert_with(|| json!({ "prov:type": "hermit:attempt" }));
        link(&mut self.associated, json!({ "prov:activity": attempt, "prov:agent": actor }));
        self.artifact(event, Some(attempt));
    }

    fn artifact(&mut self, event: &Event, attempt: Option<String>) {
        if event.event_type != "artifact.created" {
            return;
        }
        let Ok(Body::ArtifactCreated(created)) = event.body(&|_| None) else { return };
        let artifact = created.artifact;
        let name = id(&artifact.artifact_id);
        self.entity.insert(
            name.clone(),
            json!({ "prov:type": artifact.kind, "hermit:sha256": artifact.content_hash, "hermit:trust_tier": artifact.trust_tier }),
        );
        for input in &artifact.inputs {
            link(&mut self.derived, json!({ "prov:generatedEntity": name, "prov:usedEntity": id(input) }));
            if let Some(attempt) = &attempt {
                link(&mut self.used, json!({ "prov:activity": attempt, "prov:entity": id(input) }));
            }
        }
        if let Some(attempt) = attempt {
            link(&mut self.generated, json!({ "prov:entity": name, "prov:activity": attempt }));
        }
    }

    /// The document.
    pub(crate) fn into_value(self) -> Value {
        json!({
            "prefix": { "hermit": "https://hermit.local/ns#", "prov": "http://www.w3.org/ns/prov#" },
            "hermit:authoritative": false,
            "hermit:derived_from": crate::layout::TASK_EVENTS,
            "entity": self.entity,
            "activity": self.activity,
            "agent": self.agent,
            "wasGeneratedBy": self.generated,
            "used": self.used,
            "wasAssociatedWith": self.associated,
            "wasDerivedFrom": self.derived,
        })
    }
}

fn id(of: &impl std::fmt::Display) -> String {
    format!("hermit:{of}")
}

/// Adds a relation under a name made of its content, so that the same one is there once.
fn link(relations: &mut Map<String, Value>, relation: Value) {
    let name = format!(
        "_:{}",
        relation
            .as_object()
            .into_iter()
            .flat_map(Map::values)
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join("-")
    );
    relations.insert(name, relation);
}
