//! Playbooks: work without a model. Their language is described in `PLAYBOOKS.md`.

use crate::{Descriptor, Error, Input, Reasoner, Reply};
use model::context::ContextPack;
use model::proposal::ToolSpec;
use std::collections::BTreeMap;

/// A parameter of a playbook.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Its name, as in templates.
    pub name: String,
    /// Its value unless another is given.
    #[serde(default)]
    pub default: String,
    /// One line for the person who fills it in.
    pub help: String,
    /// The only values it may have; empty when any will do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
}

/// A playbook that was read and found sound.
#[derive(Debug, Clone)]
pub struct Playbook {
    text: String,
    name: String,
    title: String,
    description: String,
    parameters: Vec<Parameter>,
}

impl Playbook {
    /// The playbooks that come with Hermit, by name.
    pub fn shipped() -> Vec<Self> {
        Vec::new()
    }

    /// Reads a playbook's text.
    ///
    /// # Errors
    /// [`Error::Playbook`] with the line, the key, and what is allowed there.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Err(Error::Playbook { line: 1, why: format!("{} bytes were not understood", text.len()) })
    }

    /// Its name, as in `playbook:NAME`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One line for a menu.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What it does, for a person about to run it.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// What can be set.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The text it was read from, for the artifact `playbook`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Ready to be asked, with these parameters; those not given have their defaults.
    ///
    /// # Errors
    /// [`Error::Playbook`] with line 0 when a parameter is unknown or its value not allowed.
    pub fn to_reasoner(&self, parameters: &BTreeMap<String, String>) -> Result<PlaybookReasoner, Error> {
        Ok(PlaybookReasoner { playbook: self.clone(), parameters: parameters.clone() })
    }
}

/// A playbook with its parameters. It keeps nothing between calls.
pub struct PlaybookReasoner {
    playbook: Playbook,
    parameters: BTreeMap<String, String>,
}

impl Reasoner for PlaybookReasoner {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            provider: "playbook".to_owned(),
            model: self.playbook.name.clone(),
            remote: false,
            context_tokens: model::limits::CONTEXT_TOKENS_DEFAULT,
            cost_in_micros: 0,
            cost_out_micros: 0,
        }
    }
    fn encode(&self, pack: &ContextPack, _tools: &[ToolSpec]) -> Result<Vec<u8>, Error> {
        crate::recorded::json(&serde_json::json!({
            "playbook": self.playbook.name, "parameters": self.parameters, "iteration": pack.iteration,
        }))
    }
    fn propose(&self, _i: &Input<'_>, _d: &mut dyn FnMut(&str), _c: &dyn Fn() -> bool) -> Result<Reply, Error> {
        Err(Error::Unavailable { why: self.playbook.name.clone(), advice: "this is in the making".to_owned() })
    }
}
