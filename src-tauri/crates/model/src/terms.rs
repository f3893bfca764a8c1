//! What a person says that a tool of a server may do (tools.md 2).

use crate::action::ActionClass;
use crate::tool_server::ServerLaunch;
use crate::{WorkspaceId, limits};
use serde::{Deserialize, Serialize};

/// What a person says of one tool: what it may do, and what follows from its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolTerms {
    /// The class of a call of it.
    pub class: ActionClass,
    /// Which of its arguments are places in the folder, as JSON pointers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Which of its arguments are hosts or addresses, as JSON pointers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Which of its arguments are amounts, as JSON pointers: a card shows them apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub amounts: Vec<String>,
    /// The only folder in which it holds; everywhere where none is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_in: Option<WorkspaceId>,
    /// Arguments that were tried when it was said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<TermsExample>,
    /// Whether it may be called again when nobody saw how a call ended.
    #[serde(default)]
    pub repeatable: bool,
    /// Whether its answers are trusted as what Hermit itself observes.
    #[serde(default)]
    pub trusted: bool,
    /// How long a call of it may take, in milliseconds; [`limits::TOOL_CALL_MS`] where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit_ms: Option<u64>,
}

/// Arguments of a call, and whether they are meant by what was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TermsExample {
    /// One JSON object, as text.
    pub arguments: String,
    /// Whether such a call is judged so; else it is refused.
    pub matches: bool,
}

impl ToolTerms {
    /// A class, and nothing else said of a tool.
    pub const fn of(class: ActionClass) -> Self {
        Self {
            class,
            paths: Vec::new(),
            hosts: Vec::new(),
            amounts: Vec::new(),
            only_in: None,
            examples: Vec::new(),
            repeatable: false,
            trusted: false,
            time_limit_ms: None,
        }
    }

    /// Whether they hold in a folder.
    pub fn holds_in(&self, workspace: Option<WorkspaceId>) -> bool {
        self.only_in.is_none() || self.only_in == workspace
    }

    /// Whether they were said of one folder.
    pub const fn is_of_a_folder(&self) -> bool {
        self.only_in.is_some()
    }

    /// The stricter of two, point by point: the graver class, all places and hosts, and only what both allow.
    #[must_use]
    pub fn within(&self, other: &Self) -> Self {
        let both = |mine: &[String], theirs: &[String]| {
            let mut all = mine.to_vec();
            all.extend(theirs.iter().filter(|one| !mine.contains(one)).cloned());
            all
        };
        let ms = |terms: &Self| terms.time_limit_ms.unwrap_or(limits::TOOL_CALL_MS);
        let is_said = self.time_limit_ms.is_some() || other.time_limit_ms.is_some();
        let class = if other.class.gravity() > self.class.gravity() { other.class } else { self.class };
        Self {
            class,
            paths: both(&self.paths, &other.paths),
            hosts: both(&self.hosts, &other.hosts),
            amounts: both(&self.amounts, &other.amounts),
            only_in: other.only_in.or(self.only_in),
            examples: other.examples.clone(),
            repeatable: self.repeatable && other.repeatable,
            trusted: self.trusted && other.trusted,
            time_limit_ms: is_said.then(|| ms(self).min(ms(other))),
        }
    }
}

/// Classes that a person can say a tool has.
pub const TOOL_CLASSES: [ActionClass; 8] = [
    ActionClass::ReadLocal,
    ActionClass::WriteLocal,
    ActionClass::NetworkRead,
    ActionClass::NetworkWrite,
    ActionClass::CredentialedApiCall,
    ActionClass::Publication,
    ActionClass::Payment,
    ActionClass::ExternalEffect,
];

impl ToolTerms {
    /// Whether they can be meant of a tool of a server that is started or reached so.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check_with(&self, launch: &ServerLaunch) -> Result<(), String> {
        if self.class == ActionClass::WriteLocal && launch.url.is_some() {
            return Err(format!(
                "a server that is reached by an address sees no folder, so none of its tools is `{}`; say `{}` of one that \
                 changes something there",
                self.class,
                ActionClass::NetworkWrite
            ));
        }
        self.check()
    }

    /// Whether they can be meant.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), String> {
        if !TOOL_CLASSES.contains(&self.class) {
            let all: Vec<&str> = TOOL_CLASSES.iter().map(|class| class.as_str()).collect();
            return Err(format!(
                "a tool of a server cannot be `{}`; it is one of {}",
                self.class,
                all.join(", ")
            ));
        }
        if self.class == ActionClass::WriteLocal && !self.hosts.is_empty() {
            return Err(
                "a tool that changes files is called without the network, so none of its arguments is a host"
                    .to_owned(),
            );
        }
        let shortest = 1_000;
        if self.time_limit_ms.is_some_and(|ms| !(shortest..=limits::TOOL_CALL_MS_MAX).contains(&ms)) {
            return Err(format!(
                "a call may take 1 to {} seconds; ask for a time between them",
                limits::TOOL_CALL_MS_MAX / 1_000
            ));
        }
        if self.examples.len() > limits::TERMS_EXAMPLES_MAX
            || self.examples.iter().any(|one| one.arguments.len() > limits::TERMS_EXAMPLE_BYTES_MAX)
        {
            return Err(format!(
                "at most {} examples are given, each of at most {} bytes",
                limits::TERMS_EXAMPLES_MAX,
                limits::TERMS_EXAMPLE_BYTES_MAX
            ));
        }
        let pointers = self.paths.iter().chain(&self.hosts).chain(&self.amounts);
        if pointers.clone().count() > limits::TOOL_POINTERS_MAX {
            return Err(format!("more than {} arguments are named", limits::TOOL_POINTERS_MAX));
        }
        match pointers.into_iter().find(|pointer| !pointer.starts_with('/')) {
            Some(wrong) => Err(format!("`{wrong}` is no JSON pointer; it begins with `/`, as in `/path`")),
            None => Ok(()),
        }
    }
}
