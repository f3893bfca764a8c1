//! Playbooks: work without a model. Their language is described in `PLAYBOOKS.md`.
//!
//! A playbook is a list of steps. What to do next is found by replaying the steps over everything that was observed
//! until one of them needs something that was not (`run`). Nothing is kept between calls: the observations are the
//! state, so that an attempt resumes after a crash, and a partial change is met with a fresh look.

mod categories;
mod check;
mod entry;
mod facts;
mod pattern;
mod plan;
mod run;
mod schema;
mod scope;
mod select;
mod template;
mod trial;
mod value;
mod world;

use crate::{Descriptor, Error, Input, Reasoner, Reply};
use model::context::ContextPack;
use model::limits::CHANGE_ITEMS_MAX;
use model::proposal::{Answer, ToolCall, ToolSpec};
use model::task::Proposer;
use model::{Digest, RelPath};
use schema::Document;
use std::collections::BTreeMap;
use std::sync::Arc;

pub use trial::TrialWorld;

/// The texts that come with Hermit.
const SHIPPED: [&str; 5] = [
    include_str!("../../playbooks/inventory.yaml"),
    include_str!("../../playbooks/tidy.yaml"),
    include_str!("../../playbooks/duplicates.yaml"),
    include_str!("../../playbooks/rename.yaml"),
    include_str!("../../playbooks/changes.yaml"),
];

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
    /// What its values are.
    #[serde(default)]
    pub kind: ParameterKind,
    /// The only values it may have; empty when any will do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
}

/// What a parameter's values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterKind {
    /// Any words.
    #[default]
    Text,
    /// A path inside the workspace; empty is the workspace.
    Path,
}

/// A playbook that was read and found sound.
#[derive(Debug, Clone)]
pub struct Playbook {
    text: Arc<str>,
    document: Arc<Document>,
    categories: Arc<BTreeMap<String, Vec<String>>>,
}

impl Playbook {
    /// The playbooks that come with Hermit, in the order of a menu. A test reads each of them.
    pub fn shipped() -> Vec<Self> {
        SHIPPED.iter().filter_map(|text| Self::parse(text).ok()).collect()
    }

    /// Reads a playbook's text.
    ///
    /// # Errors
    /// [`Error::Playbook`] with the line, the key, and what is allowed there.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let document = check::read(text)?;
        let categories = document.categories.clone().unwrap_or_else(categories::usual);
        Ok(Self { text: text.into(), document: Arc::new(document), categories: Arc::new(categories) })
    }

    /// Its name, as in `playbook:NAME`.
    pub fn name(&self) -> &str {
        &self.document.name
    }

    /// What its messages begin with.
    pub fn title(&self) -> &str {
        &self.document.title
    }

    /// One line for a menu: what it does.
    pub fn about(&self) -> &str {
        self.document.about.as_deref().unwrap_or(&self.document.title)
    }

    /// What it does, for a person about to run it.
    pub fn description(&self) -> &str {
        &self.document.description
    }

    /// What can be set.
    pub fn parameters(&self) -> &[Parameter] {
        &self.document.parameters
    }

    /// The text it was read from, for the artifact `playbook`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Ready to be asked, with these parameters; those not given have their defaults.
    ///
    /// # Errors
    /// [`Error::Playbook`] with line 0 when a parameter is unknown, its value not allowed, or an expression in it
    /// is none.
    pub fn to_reasoner(&self, parameters: &BTreeMap<String, String>) -> Result<PlaybookReasoner, Error> {
        let wrong = |why: String| Error::Playbook { line: 0, why };
        let declared = self.parameters();
        if let Some(name) = parameters.keys().find(|name| !declared.iter().any(|p| p.name == **name)) {
            let names: Vec<&str> = declared.iter().map(|p| p.name.as_str()).collect();
            return Err(wrong(format!(
                "`{}` has no parameter `{name}`; it has {}",
                self.name(),
                names.join(", ")
            )));
        }
        let mut values = BTreeMap::new();
        for Parameter { name, default, choices, kind, .. } in declared {
            let value = parameters.get(name).unwrap_or(default);
            if !choices.is_empty() && !choices.contains(value) {
                return Err(wrong(format!(
                    "`{value}` is not a value of `{name}`; it is one of {}",
                    choices.join(", ")
                )));
            }
            let value = match kind {
                ParameterKind::Text => value.clone(),
                ParameterKind::Path => {
                    let path = pattern::path(value.trim().as_bytes())
                        .map_err(|why| wrong(format!("`{name}`: {why}")))?;
                    String::from_utf8_lossy(path.as_bytes()).into_owned()
                }
            };
            values.insert(name.clone(), value);
        }
        self.check_patterns(&values).map_err(wrong)?;
        Ok(PlaybookReasoner { playbook: self.clone(), parameters: values })
    }

    /// Expressions that consist of parameters are checked before anything is looked at.
    fn check_patterns(&self, values: &BTreeMap<String, String>) -> Result<(), String> {
        let bound = BTreeMap::new();
        let scope =
            scope::Scope { parameters: values, bound: &bound, categories: &self.categories, entry: None };
        for step in &self.document.steps {
            for template in check::Uses::of(step).regexes {
                if template.names().all(|name| values.contains_key(name)) {
                    pattern::regex(&template.text(&scope))?;
                }
            }
        }
        Ok(())
    }
}

/// A playbook with its parameters. It keeps nothing between calls.
#[derive(Debug, Clone)]
pub struct PlaybookReasoner {
    playbook: Playbook,
    parameters: BTreeMap<String, String>,
}

impl PlaybookReasoner {
    /// The playbook.
    pub const fn playbook(&self) -> &Playbook {
        &self.playbook
    }

    /// All parameters with their values.
    pub const fn parameters(&self) -> &BTreeMap<String, String> {
        &self.parameters
    }

    fn line(&self, calls: &[ToolCall]) -> String {
        let what: Vec<String> = calls.iter().map(described).collect();
        let shown: Vec<&str> = what.iter().take(3).map(String::as_str).collect();
        let more = what.len().saturating_sub(3);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        format!("{}: {}{more}", self.playbook.title(), shown.join(", "))
    }
}

/// What a person reads where the work is more than one approval holds.
const MORE_FOLLOW: &str = ", the most that one approval holds. You are asked about the rest when these are done; to be asked about less, choose a \
     folder inside this one";

fn described(call: &ToolCall) -> String {
    let argument =
        |key: &str| call.arguments.get(key).and_then(serde_json::Value::as_str).unwrap_or_default();
    match call.name.as_str() {
        "change" => {
            let count = call.arguments.get("items").and_then(serde_json::Value::as_array).map_or(0, Vec::len);
            let rest = if count < CHANGE_ITEMS_MAX { "" } else { MORE_FOLLOW };
            let many = model::grouped(u64::try_from(count).unwrap_or(u64::MAX));
            format!("propose {many} change{}{rest}", if count == 1 { "" } else { "s" })
        }
        "done" => argument("summary").to_owned(),
        "ask" => argument("question").to_owned(),
        "note" | "believe" => call.name.clone(),
        look => {
            let path = argument("path");
            let shown = path
                .parse::<RelPath>()
                .map_or_else(|_| path.to_owned(), |path| value::readable(path.as_bytes()));
            format!("{look} {}", if path.is_empty() { "the folder".to_owned() } else { format!("`{shown}`") })
        }
    }
}

impl Reasoner for PlaybookReasoner {
    fn descriptor(&self) -> Descriptor {
        Descriptor::without_model(
            Proposer::Playbook,
            self.playbook.name().to_owned(),
            model::limits::CONTEXT_TOKENS_DEFAULT,
        )
    }

    fn encode(&self, pack: &ContextPack, _tools: &[ToolSpec]) -> Result<Vec<u8>, Error> {
        crate::recorded::json(&serde_json::json!({
            "playbook": self.playbook.name(),
            "playbook_sha256": Digest::of(self.playbook.text.as_bytes()),
            "parameters": self.parameters,
            "iteration": pack.iteration,
        }))
    }

    fn propose(
        &self,
        input: &Input<'_>,
        on_delta: &mut dyn FnMut(crate::Delta<'_>),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Reply, Error> {
        if cancelled() {
            return Err(Error::Cancelled);
        }
        let Playbook { document, categories, .. } = &self.playbook;
        let calls = run::next(document, &self.parameters, categories, input.observed);
        let text = self.line(&calls);
        on_delta(crate::Delta::Text(&text));
        let answer = Answer { text, calls, finish_reason: "tool_calls".to_owned(), ..Answer::default() };
        Ok(Reply { raw: crate::recorded::json(&answer)?, answer })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_more_than_one_approval_holds_is_said_with_what_to_do() {
        let call = |count: usize| ToolCall {
            name: "change".to_owned(),
            arguments: serde_json::json!({ "items": vec![serde_json::json!({ "op": "delete", "path": "a" }); count] }),
        };
        assert_eq!(described(&call(2)), "propose 2 changes");
        let all = described(&call(CHANGE_ITEMS_MAX));
        assert!(
            all.starts_with("propose 100,000 changes, the most") && all.contains("asked about the rest"),
            "{all}"
        );
    }

    #[test]
    fn the_shipped_texts_are_of_the_language() {
        for text in SHIPPED {
            if let Err(error) = Playbook::parse(text) {
                panic!("{error} in {}", text.lines().nth(1).unwrap_or_default());
            }
        }
    }
}
