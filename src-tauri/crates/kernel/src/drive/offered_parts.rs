//! What servers of tools offer beside tools, as a model may read it: resources as observations, and prompts for a person.

use super::call::Usable;
use super::normalise::Unfit;
use crate::Error;
use crate::kernel::Kernel;
use crate::ports::Executors;
use crate::state::TaskState;
use acts::{Action, Call};
use iteration::Proposal;
use model::action::ActionClass;
use model::proposal::ToolSpec;
use model::server_part::ServerPart;
use model::tool_server::{ServerLaunch, ToolTerms, words_for_model};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The tool by which a model reads a resource.
pub(super) const READ_RESOURCE: &str = "read_resource";
/// The name by which a person's own task asks for a prompt; no model is offered it.
pub(crate) const GET_PROMPT: &str = "get_prompt";
/// Resources that a model is told of, and letters of what is said of each.
const TOLD_MAX: usize = 32;
const TOLD_WORDS: usize = 120;
/// Bytes of all that a model is told of them in one request: one of the longest fits.
const TOLD_BYTES_MAX: usize = 4_096;
/// What stands between two of them.
const BETWEEN: &str = "; ";

/// What is asked of a server.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    pub(super) server: String,
    /// The name of a prompt, or the address of a resource.
    pub(super) name: String,
    #[serde(default)]
    pub(super) arguments: Map<String, Value>,
}

impl Kernel {
    /// What a model asks of a server: a call of a tool, or reading a resource.
    pub(super) fn of_server(
        &self,
        state: &TaskState,
        executors: &dyn Executors,
        asked: &Proposal,
    ) -> Result<Result<Action, Unfit>, Error> {
        match asked {
            Proposal::Call { name, arguments } => self.call_of(state, executors, name, arguments),
            Proposal::ReadResource { server, uri } => {
                let asked = Asked { server: server.clone(), name: uri.clone(), arguments: Map::new() };
                self.resource_or_prompt(state, ServerPart::Resource, asked)
            }
            _ => Err(Error::Broken("a proposal that asks nothing of a server".to_owned())),
        }
    }

    /// Reading a resource, or getting a prompt, as it is judged: of a registered server, and of nothing that it says
    /// something else of by now.
    pub(super) fn resource_or_prompt(
        &self,
        state: &TaskState,
        part: ServerPart,
        asked: Asked,
    ) -> Result<Result<Action, Unfit>, Error> {
        let servers = self.usable_servers(state);
        let Some(server) = servers.iter().find(|one| one.registration.server == asked.server) else {
            let known: Vec<&str> = servers.iter().map(|one| one.registration.server.as_str()).collect();
            return Ok(Err(Unfit(format!(
                "there is no server `{}` that can be used; there are: {}",
                acts::visible(&asked.server),
                if known.is_empty() { "none".to_owned() } else { known.join(", ") }
            ))));
        };
        let manifest = &server.registration.manifest;
        let Some((key, pin)) = manifest.part(Some(part), &asked.name) else {
            return Ok(Err(Unfit(unknown(server, part, &asked.name))));
        };
        if !server.is_unchanged(&key) {
            return Ok(Err(Unfit(format!(
                "the server `{0}` says something else of `{key}` than when it was registered; a person looks at the \
                 difference with `hermit tools add {0} --again`",
                asked.server
            ))));
        }
        let call = Call {
            sampling: server.sampling(),
            part: Some(part),
            server: asked.server,
            name: asked.name,
            arguments: Value::Object(asked.arguments).to_string(),
            launch: server.registration.launch.clone(),
            registration_sha256: server.registration_sha256,
            manifest_sha256: manifest.pin()?,
            tool_sha256: pin,
            terms: Some(by_nature(&server.registration.launch)),
            paths: Vec::new(),
            hosts: Vec::new(),
            amounts: Vec::new(),
        };
        let action = Action::Call(call);
        Ok(action.as_tool().check().map(|()| action).map_err(Unfit))
    }

    /// The tool that reads resources, with those that there are; none where no server has any.
    pub(super) fn resources_offered(&self, state: &TaskState, mut tool: ToolSpec) -> Option<ToolSpec> {
        let told = self.resources_told(state)?;
        tool.description = format!("{} There are, in the words of the servers: {told}", tool.description);
        Some(tool)
    }

    /// What a model is told of the resources that there are.
    pub(super) fn resources_told(&self, state: &TaskState) -> Option<String> {
        let mut lines = Vec::new();
        for server in &self.usable_servers(state) {
            let (name, manifest) = (&server.registration.server, &server.registration.manifest);
            for one in manifest.resources.iter().chain(&manifest.templates) {
                let words = one.description.as_deref().or(one.title.as_deref()).unwrap_or(&one.name);
                lines.push(format!("{name}: {} ({})", one.uri, words_for_model(words, TOLD_WORDS)));
            }
        }
        (!lines.is_empty()).then(|| within_bounds(&lines))
    }
}

/// Lines as a model is given them, as many as it is told, and how many more there are.
fn within_bounds(lines: &[String]) -> String {
    let mut bytes = 0_usize;
    let mut shown = Vec::new();
    for line in lines.iter().take(TOLD_MAX) {
        bytes = bytes.saturating_add(line.len()).saturating_add(BETWEEN.len());
        if bytes > TOLD_BYTES_MAX {
            break;
        }
        shown.push(line.as_str());
    }
    let more = match lines.len().saturating_sub(shown.len()) {
        0 => String::new(),
        more => format!("{BETWEEN}and {more} more"),
    };
    format!("{}{more}", shown.join(BETWEEN))
}

/// What reading is, whatever a server says of it: a look at this machine, or over the network where it has one.
fn by_nature(launch: &ServerLaunch) -> ToolTerms {
    let class = if launch.hosts.is_empty() { ActionClass::ReadLocal } else { ActionClass::NetworkRead };
    ToolTerms { repeatable: true, ..ToolTerms::of(class) }
}

fn unknown(server: &Usable, part: ServerPart, name: &str) -> String {
    let manifest = &server.registration.manifest;
    let (what, known): (_, Vec<&str>) = match part {
        ServerPart::Prompt => ("prompt", manifest.prompts.iter().map(|one| one.name.as_str()).collect()),
        ServerPart::Resource => (
            "resource",
            manifest.resources.iter().chain(&manifest.templates).map(|one| one.uri.as_str()).collect(),
        ),
    };
    let shown: Vec<&str> = known.iter().take(TOLD_MAX).copied().collect();
    format!(
        "the server `{}` offers no {what} `{}`; it offers: {}",
        server.registration.server,
        acts::visible(name),
        if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_of_resources_is_bounded_in_number_and_bytes_and_the_rest_is_counted() {
        let lines = |number: usize, bytes: usize| vec!["x".repeat(bytes); number];
        assert_eq!(within_bounds(&lines(2, 3)), "xxx; xxx");
        let many = within_bounds(&lines(TOLD_MAX + 2, 3));
        assert!(many.ends_with("xxx; and 2 more") && many.matches("xxx").count() == TOLD_MAX, "{many}");
        let long = within_bounds(&lines(TOLD_MAX, 1_000));
        assert!(long.ends_with(&format!("; and {} more", TOLD_MAX - 4)), "{long}");
        assert!(long.len() <= TOLD_BYTES_MAX + 20, "{}", long.len());
    }
}
