//! Servers of tools: how one is started, what it says it offers, and what a person says its tools may do (tools.md 2).

use crate::action::ActionClass;
use crate::launch::LaunchPackage;
use crate::reach::Program;
use crate::server_part::{ServerPart, ServerPrompt, ServerResource, check_uri};
pub use crate::terms::{TOOL_CLASSES, TermsExample, ToolTerms};
use crate::visible::is_hidden;
use crate::{Error, limits};
use seal::Digest;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What the digest of a manifest begins with, so that no other bytes have it.
const MANIFEST_DOMAIN: &[u8] = b"hermit-tool-manifest/1\n";
/// What the digest of one tool begins with.
const TOOL_DOMAIN: &[u8] = b"hermit-tool/1\n";
/// What the digest of one resource, template or prompt begins with.
const PART_DOMAIN: &[u8] = b"hermit-server-part/1\n";
/// Letters of a name as providers of models take it.
const OFFERED_NAME_MAX: usize = 64;
/// What stands between the names of server and tool.
const BETWEEN: &str = "__";
/// What the names begin with under which a resource, a template or a prompt is compared; no tool has such a name.
const KEPT_FOR_OTHERS: [&str; 3] = ["resource:", "template:", "prompt:"];

/// How a server is started or reached, as a person registered it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerLaunch {
    /// Program and arguments; none where it is reached by an address.
    pub argv: Vec<String>,
    /// Where it is reached (Streamable HTTP); none where it is started. Its host is then the one that is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Environment variables that hold a secret, by its handle; of one that is reached, headers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<String, String>,
    /// Environment variables that hold no secret.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    /// Hosts it may reach, as `name:port`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Folders beside the system's that it may read: where its program and its libraries are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
    /// Every file that its words name, with the digest it had.
    pub pins: Vec<Program>,
    /// The package that is started, where it is of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<LaunchPackage>,
}

/// What a server says of a tool itself: hints, which propose and decide nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolHints {
    /// It changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// What it changes may be lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// Twice is as once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// It reaches others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

impl ToolHints {
    /// What it says, in words: such as `read-only`, or `not destructive`.
    pub fn said(self) -> Vec<String> {
        let all = [
            ("read-only", self.read_only),
            ("destructive", self.destructive),
            ("idempotent", self.idempotent),
            ("open-world", self.open_world),
        ];
        let one = |(name, hint): (&str, Option<bool>)| {
            hint.map(|holds| if holds { name.to_owned() } else { format!("not {name}") })
        };
        all.into_iter().filter_map(one).collect()
    }

    /// The class that they propose to a person, who decides; none where they propose no other than there is without them.
    pub const fn proposes(self) -> Option<ActionClass> {
        match (self.read_only, self.open_world) {
            (Some(true), Some(true)) => Some(ActionClass::NetworkRead),
            (Some(true), _) => Some(ActionClass::ReadLocal),
            _ => None,
        }
    }
}

/// A tool as its server tells it. Schemas are kept as JSON text, because a schema may hold numbers that have no canonical
/// form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerTool {
    /// Its name there.
    pub name: String,
    /// What it is called for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// JSON Schema of its arguments.
    pub input_schema: String,
    /// JSON Schema of its structured result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<String>,
    /// What the server says of it.
    #[serde(default)]
    pub hints: ToolHints,
}

impl ServerTool {
    /// The digest by which a person's word about it holds: of its name, words, schemas and hints.
    ///
    /// # Errors
    /// [`Error::Malformed`] when it has no canonical form.
    pub fn pin(&self) -> Result<Digest, Error> {
        digest_of(TOOL_DOMAIN, self, "a tool of a server")
    }
}

/// Everything that a server says it offers, sorted by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolManifest {
    /// Its tools.
    pub tools: Vec<ServerTool>,
    /// Its resources, by their addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ServerResource>,
    /// Templates of addresses of further resources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub templates: Vec<ServerResource>,
    /// Its prompts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<ServerPrompt>,
    /// What it offers beside these and why that is left out, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

impl ToolManifest {
    /// A manifest of these tools.
    ///
    /// # Errors
    /// What is wrong with them, in words: too many, too large, a name that cannot be kept or that comes twice.
    pub fn of(tools: Vec<ServerTool>) -> Result<Self, String> {
        Self { tools, ..Self::default() }.checked()
    }

    /// The same in order, where its tools can be kept. Of resources, templates and prompts, what cannot be kept is left out;
    /// where all of it is too long for one card, its resources or its prompts are, whatever is enough.
    ///
    /// # Errors
    /// As [`ToolManifest::of`].
    pub fn checked(self) -> Result<Self, String> {
        let Self { mut tools, resources, templates, prompts, left_out } = self;
        let (resources, templates, prompts) = (addressed(resources), addressed(templates), named(prompts));
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        if tools.len() > limits::SERVER_TOOLS_MAX {
            return Err(format!(
                "it offers {} tools, more than the {} of one server",
                tools.len(),
                limits::SERVER_TOOLS_MAX
            ));
        }
        let mut seen = BTreeSet::new();
        for tool in &tools {
            check_tool_name(&tool.name)?;
            if KEPT_FOR_OTHERS.iter().any(|kind| tool.name.starts_with(kind)) {
                return Err(format!("it offers a tool named `{}`, as something else is named", tool.name));
            }
            if !seen.insert(tool.name.as_str()) {
                return Err(format!(
                    "it offers two tools named `{}`; ask whoever makes it to name them apart",
                    tool.name
                ));
            }
        }
        Self { tools, resources, templates, prompts, left_out }.fitted()
    }

    /// The same, as much of it as is short enough to be shown on one card.
    fn fitted(self) -> Result<Self, String> {
        let most = limits::MANIFEST_BYTES_MAX;
        let bytes =
            |it: &Self| seal::canon::to_canonical(it).map(|bytes| bytes.len()).map_err(|e| e.to_string());
        if bytes(&self)? <= most {
            return Ok(self);
        }
        let left_out = |what: &str| format!("its {what}: all that it says is more than {most} bytes");
        let mut fewer = Self::default();
        for (resources, prompts) in [(false, true), (true, false), (false, false)] {
            fewer = self.clone();
            if !resources {
                (fewer.resources, fewer.templates) = (Vec::new(), Vec::new());
                fewer.left_out.push(left_out("resources"));
            }
            if !prompts {
                fewer.prompts.clear();
                fewer.left_out.push(left_out("prompts"));
            }
            if bytes(&fewer)? <= most {
                return Ok(fewer);
            }
        }
        Err(format!("what it says of its tools is {} bytes, more than {most}", bytes(&fewer)?))
    }

    /// The digest that pins it.
    ///
    /// # Errors
    /// [`Error::Malformed`] when it has no canonical form.
    pub fn pin(&self) -> Result<Digest, Error> {
        digest_of(MANIFEST_DOMAIN, self, "the manifest of a server")
    }

    /// One of its tools.
    pub fn tool(&self, name: &str) -> Option<&ServerTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// What it says of one thing that a call asks for: the name under which that is compared, and its pin. An address is
    /// that of a resource, else one of a template.
    pub fn part(&self, part: Option<ServerPart>, name: &str) -> Option<(String, Digest)> {
        let pin = |value: &ServerResource| digest_of(PART_DOMAIN, value, "a resource of a server").ok();
        match part {
            None => self.tool(name).and_then(|tool| Some((name.to_owned(), tool.pin().ok()?))),
            Some(resource @ ServerPart::Resource) => {
                let template = || {
                    let found = self.templates.iter().find(|one| one.covers(name))?;
                    Some((format!("template:{}", found.uri), pin(found)?))
                };
                let own = self.resources.iter().find(|one| one.uri == name);
                own.and_then(|one| Some((resource.key(name), pin(one)?))).or_else(template)
            }
            Some(kind @ ServerPart::Prompt) => {
                let prompt = self.prompts.iter().find(|prompt| prompt.name == name)?;
                Some((kind.key(name), digest_of(PART_DOMAIN, prompt, "a prompt of a server").ok()?))
            }
        }
    }

    /// Names of what is not in both, or not the same in both, in order; what is no tool is named as in
    /// [`ToolManifest::part`].
    pub fn differs_from(&self, other: &Self) -> Vec<String> {
        let (own, others) = (self.entries(), other.entries());
        let names: BTreeSet<&String> = own.keys().chain(others.keys()).collect();
        names.into_iter().filter(|name| own.get(*name) != others.get(*name)).cloned().collect()
    }

    fn entries(&self) -> BTreeMap<String, Entry<'_>> {
        let tools = self.tools.iter().map(|one| (one.name.clone(), Entry::Tool(one)));
        let resource = |one| Entry::Resource(one);
        let resources = self.resources.iter().map(|one| (ServerPart::Resource.key(&one.uri), resource(one)));
        let templates = self.templates.iter().map(|one| (format!("template:{}", one.uri), resource(one)));
        let prompts = self.prompts.iter().map(|one| (ServerPart::Prompt.key(&one.name), Entry::Prompt(one)));
        tools.chain(resources).chain(templates).chain(prompts).collect()
    }
}

#[derive(PartialEq)]
enum Entry<'a> {
    Tool(&'a ServerTool),
    Resource(&'a ServerResource),
    Prompt(&'a ServerPrompt),
}

/// Resources in the order of their addresses, each once; those that cannot be kept, or are too many, are left out.
fn addressed(mut all: Vec<ServerResource>) -> Vec<ServerResource> {
    all.retain(|one| check_uri(&one.uri).is_ok());
    all.sort_by(|a, b| a.uri.cmp(&b.uri));
    all.dedup_by(|a, b| a.uri == b.uri);
    all.truncate(limits::SERVER_RESOURCES_MAX);
    all
}

/// Prompts in the order of their names, each once; those that cannot be kept or typed, or are too many, are left out.
fn named(mut all: Vec<ServerPrompt>) -> Vec<ServerPrompt> {
    let fits = |name: &str| check_tool_name(name).is_ok();
    // A person types `name=value`.
    all.retain(|one| {
        fits(&one.name) && one.arguments.iter().all(|it| fits(&it.name) && !it.name.contains('='))
    });
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all.dedup_by(|a, b| a.name == b.name);
    all.truncate(limits::SERVER_PROMPTS_MAX);
    all
}

fn digest_of<T: Serialize>(domain: &[u8], value: &T, what: &'static str) -> Result<Digest, Error> {
    let bytes =
        seal::canon::to_canonical(value).map_err(|e| Error::Malformed { what, why: e.to_string() })?;
    Ok(Digest::of(&[domain, &bytes].concat()))
}

/// A server as it was registered, kept as an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerRegistration {
    /// Its name here.
    pub server: String,
    /// How it is started or reached.
    pub launch: ServerLaunch,
    /// What it said it offers.
    pub manifest: ToolManifest,
}

/// Whether a server can have this name.
///
/// # Errors
/// What it may be, in words.
pub fn check_server_name(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    match (1..=limits::SERVER_NAME_MAX).contains(&name.len())
        && name.chars().all(fits)
        && !name.starts_with('-')
    {
        true => Ok(()),
        false => Err(format!(
            "`{}` cannot be the name of a server: 1 to {} of a-z, 0-9 and -",
            name.escape_default(),
            limits::SERVER_NAME_MAX
        )),
    }
}

fn check_tool_name(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_graphic() && c != '`';
    match (1..=limits::TOOL_NAME_MAX).contains(&name.len()) && name.chars().all(fits) {
        true => Ok(()),
        false => {
            let begins: String = name.chars().take(40).collect();
            Err(format!("it offers a tool whose name cannot be kept: \"{}\"", begins.escape_default()))
        }
    }
}

/// The name by which a model calls a tool: letters, digits, `_` and `-`, at most 64, and of no other tool.
pub fn offered_name(server: &str, tool: &str) -> String {
    let plain = format!("{server}{BETWEEN}{tool}");
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if plain.len() <= OFFERED_NAME_MAX && plain.chars().all(fits) {
        return plain;
    }
    let mark = Digest::of(plain.as_bytes()).to_string();
    let mark = mark.get(..8).unwrap_or_default();
    let kept: String =
        plain.chars().map(|c| if fits(c) { c } else { '_' }).take(OFFERED_NAME_MAX - 9).collect();
    format!("{kept}-{mark}")
}

/// Whether a name is one by which a model could mean a tool of a server.
pub fn is_offered_name(name: &str) -> bool {
    name.contains(BETWEEN)
}

/// Words of a server as a model is given them: at most so many letters, and what would not be seen is shown.
pub fn words_for_model(words: &str, letters: usize) -> String {
    let mut out = String::new();
    for c in words.chars().take(letters) {
        if is_hidden(c) && c != '\n' && c != '\t' {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    if words.chars().nth(letters).is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests;
