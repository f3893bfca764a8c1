//! What a server of tools offers beside its tools: resources, templates of their addresses, and prompts (tools.md 2).

use crate::limits;
use serde::{Deserialize, Serialize};

/// What of a server is asked for that is no tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerPart {
    /// A resource is read.
    Resource,
    /// The text of a prompt is got.
    Prompt,
}

impl ServerPart {
    /// The name under which it is compared and told, which says what it is.
    pub fn key(self, name: &str) -> String {
        match self {
            Self::Resource => format!("resource:{name}"),
            Self::Prompt => format!("prompt:{name}"),
        }
    }
}

/// The name under which a tool, or what is none, is compared and told.
pub fn key_of(part: Option<ServerPart>, name: &str) -> String {
    part.map_or_else(|| name.to_owned(), |part| part.key(name))
}

/// A resource as its server tells it; of a template, `uri` is the template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerResource {
    /// Its address.
    pub uri: String,
    /// Its name there.
    pub name: String,
    /// What it is called for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Of which media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
}

impl ServerResource {
    /// Whether an address is one of this template: its fixed parts stand in it in order, and something stands for each
    /// of its variables.
    pub fn covers(&self, uri: &str) -> bool {
        let mut fixed = Vec::new();
        let mut rest = self.uri.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let Some((_, after)) = after.split_once('}') else { return false };
            fixed.push(before);
            rest = after;
        }
        let Some((first, more)) = fixed.split_first() else { return false };
        let Some(mut left) = uri.strip_prefix(first).and_then(|left| left.strip_suffix(rest)) else {
            return false;
        };
        for part in more {
            let Some(at) = left.get(1..).and_then(|later| later.find(part)) else { return false };
            left = left.get(at.saturating_add(1).saturating_add(part.len())..).unwrap_or_default();
        }
        !left.is_empty()
    }
}

/// A prompt as its server tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerPrompt {
    /// Its name there.
    pub name: String,
    /// What it is called for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it takes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a prompt, which is a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it has to be given.
    #[serde(default)]
    pub required: bool,
}

/// Whether an address can be kept.
///
/// # Errors
/// What is wrong with it, in words.
pub(crate) fn check_uri(uri: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_graphic() && c != '`';
    match (1..=limits::RESOURCE_URI_MAX).contains(&uri.len()) && uri.chars().all(fits) {
        true => Ok(()),
        false => {
            let begins: String = uri.chars().take(40).collect();
            Err(format!("it offers a resource whose address cannot be kept: \"{}\"", begins.escape_default()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_of_a_template_where_something_stands_for_each_variable() {
        let covers = |template: &str, uri: &str| {
            let (uri_of, name) = (template.to_owned(), "t".to_owned());
            let (title, description, media_type) = (None, None, None);
            ServerResource { uri: uri_of, name, title, description, media_type }.covers(uri)
        };
        assert!(covers("note://{id}", "note://7"));
        assert!(covers("db://{table}/rows/{id}.json", "db://users/rows/7.json"));
        for (template, uri) in [
            ("note://{id}", "note://"),
            ("note://{id}", "file:///etc/passwd"),
            ("db://{table}/rows/{id}", "db://users/rows/"),
            ("db://{table}/rows/{id}", "db:///rows/7"),
            ("db://{table}/x.json", "db://users/y.json"),
            ("note://7", "note://7"),
            ("note://{id", "note://7"),
        ] {
            assert!(!covers(template, uri), "{template} {uri}");
        }
    }
}
