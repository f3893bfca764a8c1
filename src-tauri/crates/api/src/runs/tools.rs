//! The registry of tools as a service: every tool there is, a server that is put to a person, one that is taken away.

use super::{body, known, look};
use crate::body::tools as servers;
use crate::{Host, Wire as _, fold};
use kernel::skill_registry::{SkillRegistry, SkillVersion};
use kernel::tool_registry::ToolRegistry;
use model::skill::Skill;
use model::tool_server::{ServerTool, is_offered_name, offered_name};
use model::{Digest, UnixMs};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use wire::runs::{RegisterTools, RegisteredTool, RegisteredTools, ToolsProposed, ToolsRemoved};
use wire::{Code, Error};
use words::store::ToolKind;

/// `GET /v1/tools`: what Hermit does itself, playbooks, tools of servers, and skills, in one list.
///
/// # Errors
/// When the store cannot be read.
pub fn registered(host: &dyn Host) -> Result<RegisteredTools, Error> {
    let store = fold::store_state(&host.reader()?)?;
    let halted = store.halted.as_ref().map(|_| "Hermit is halted; a person boots it".to_owned());
    let mut tools = Vec::new();
    for spec in host.kernel()?.tools() {
        tools.push(own(ToolKind::BuiltIn, spec.name, spec.description, spec.parameters)?);
    }
    for playbook in host.playbooks() {
        let parameters = playbook.parameters.iter().map(|parameter| {
            let schema =
                json!({ "type": "string", "description": parameter.about, "default": parameter.standard });
            (parameter.name.clone(), schema)
        });
        let schema = json!({ "type": "object", "properties": parameters.collect::<Map<_, _>>() });
        let name = format!("playbook:{}", playbook.name);
        tools.push(own(ToolKind::Playbook, name, playbook.description, schema)?);
    }
    for (name, record) in &store.tools.0 {
        // One whose registration cannot be read offers nothing; `tools.list` says so.
        let Ok(registration) = servers::registration(host, record) else { continue };
        let version = registration.manifest.pin().wire()?.to_string();
        for tool in &registration.manifest.tools {
            tools.push(of_server((name, record), &version, tool, host.now())?);
        }
    }
    tools.extend(skills(host, &store.skills)?);
    if let Some(why) = halted {
        for tool in &mut tools {
            (tool.callable, tool.why_not) = (false, Some(why.clone()));
        }
    }
    Ok(RegisteredTools { tools })
}

/// `GET /v1/tools/{server}`: one server with every word that it says, its resources and its prompts.
///
/// # Errors
/// [`Code::NotFound`] without the server.
pub fn shown(host: &dyn Host, server: &str) -> Result<wire::tools::Shown, Error> {
    servers::show(host, wire::tools::Show { server: server.to_owned() })
}

fn own(
    kind: ToolKind,
    name: String,
    description: String,
    input_schema: Value,
) -> Result<RegisteredTool, Error> {
    let said = json!({ "name": name, "description": description, "input_schema": input_schema });
    Ok(RegisteredTool {
        kind,
        server: None,
        version: kernel::VERSION.to_owned(),
        sha256: Digest::of(&seal::canon::canonical_value(&said).wire()?).to_string(),
        class: None,
        callable: true,
        why_not: None,
        name,
        description,
        input_schema,
        output_schema: None,
    })
}

/// Skills that were ever trusted, each once, with how it stands: a model is told of those that lie in its folder, too.
fn skills(host: &dyn Host, registry: &SkillRegistry) -> Result<Vec<RegisteredTool>, Error> {
    let mut told = BTreeMap::new();
    for version in &registry.0 {
        let trusted = registry.trusted(version.sha256).is_some();
        // Words that a person does not stand behind any more are told to nobody.
        let description = match trusted {
            true => words_of(host, version)?,
            false => String::new(),
        };
        let said = version.untrusted.as_deref().unwrap_or_default();
        let why_not = (!trusted).then(|| format!("it is trusted no more: {said}; a person trusts it again"));
        told.insert(
            version.sha256,
            RegisteredTool {
                kind: ToolKind::Skill,
                server: None,
                version: version.sha256.to_string(),
                sha256: version.sha256.to_string(),
                class: None,
                callable: trusted,
                why_not,
                name: format!("skill:{}", version.name),
                description,
                input_schema: json!({ "type": "object", "properties": {} }),
                output_schema: None,
            },
        );
    }
    Ok(told.into_values().collect())
}

/// What a trusted skill says of itself, in a line in which nothing hides; or that it cannot be read.
fn words_of(host: &dyn Host, version: &SkillVersion) -> Result<String, Error> {
    let bytes = host.artifacts()?.read(&version.record.sha256).ok();
    let skill = bytes.and_then(|bytes| seal::canon::from_canonical::<Skill>(&bytes).ok());
    Ok(match skill {
        Some(skill) => acts::visible(&skill.one_line()),
        None => "(what it says of itself cannot be read)".to_owned(),
    })
}

fn of_server(
    (server, record): (&str, &kernel::tool_registry::ServerRecord),
    version: &str,
    tool: &ServerTool,
    now: UnixMs,
) -> Result<RegisteredTool, Error> {
    let pin = tool.pin().wire()?;
    let why_not = match &record.disabled {
        Some(why) => Some(format!("its server is disabled: {why}; a person registers it again")),
        None if record.changed.contains(&tool.name) => Some(format!(
            "its server says something else of it than when it was registered; ask a person with `POST /v1/tools` and \
             `{{ \"server\": \"{server}\", \"again\": true }}`"
        )),
        None => None,
    };
    let schema = |text: &str| serde_json::from_str::<Value>(text).map_err(crate::failed);
    Ok(RegisteredTool {
        name: offered_name(server, &tool.name),
        kind: ToolKind::Server,
        server: Some(server.to_owned()),
        version: version.to_owned(),
        sha256: pin.to_string(),
        class: record
            .terms(&tool.name, pin, now)
            .filter(|_| !record.is_off(&tool.name))
            .map(|terms| terms.class),
        callable: why_not.is_none(),
        why_not,
        description: tool.description.clone().or_else(|| tool.title.clone()).unwrap_or_default(),
        input_schema: schema(&tool.input_schema)?,
        output_schema: tool.output_schema.as_deref().map(schema).transpose()?,
    })
}

/// `POST /v1/tools`: starts the server in a sandbox to hear what it offers, and begins the run that asks a person. Nothing
/// is registered by this. It is `hermit tools add` by another way: what is asked, judged and recorded is the same.
///
/// # Errors
/// [`Code::Usage`] with what is wrong with it or with the server, [`Code::UnknownField`], [`Code::Conflict`] for a name that
/// is taken, [`Code::Forbidden`] for a page.
pub fn propose(host: &dyn Host, given: Value, key: Option<String>) -> Result<ToolsProposed, Error> {
    let asked: RegisterTools = body("POST /v1/tools", given)?;
    let (server, again) = (asked.server.clone(), asked.again);
    let add = wire::tools::Add {
        server: asked.server,
        argv: asked.command,
        url: asked.url,
        hosts: asked.hosts,
        reads: asked.reads,
        classes: asked.classes,
        again,
        workspace: asked.workspace,
        channel: Some("run_api".to_owned()),
        idempotency_key: key,
        ..wire::tools::Add::default()
    };
    let submitted = servers::add(host, add).map_err(|error| match error.code {
        Code::Conflict if !again => error
            .hint("send `\"again\": true` to have a person look at the difference, or take it away first"),
        _ => error,
    })?;
    let row = known(host, &submitted.task_id)?;
    Ok(ToolsProposed {
        safe_message: format!(
            "a person is asked about the server {server}; its tools can be called when the person has approved"
        ),
        server,
        run_id: submitted.task_id,
        status: row.run_status.to_string(),
        pending_approval_id: look::pending_approval(&host.query()?, &row)?,
    })
}

/// `DELETE /v1/tools/{name}`: a server is forgotten with all that was said of its tools. It needs no person: whoever asks
/// can only lessen what Hermit may do, and the server comes back by a person's yes alone.
///
/// # Errors
/// [`Code::NotFound`], [`Code::Usage`] for a tool that cannot be taken away by itself.
pub fn remove(host: &dyn Host, name: &str) -> Result<ToolsRemoved, Error> {
    let registry = servers::registry(host)?;
    let Some(record) = registry.0.get(name) else { return Err(no_server(host, &registry, name)?) };
    // One whose registration cannot be read offers nothing, and can be forgotten all the same.
    let tools = servers::registration(host, record).map(|known| known.manifest.tools).unwrap_or_default();
    let names: Vec<String> = tools.iter().map(|tool| offered_name(name, &tool.name)).collect();
    servers::remove(host, wire::tools::Remove { server: name.to_owned() })?;
    Ok(ToolsRemoved {
        server: name.to_owned(),
        tools: names,
        safe_message: format!(
            "the server {name} is forgotten; a person registers it again before it is used"
        ),
    })
}

/// Why nothing of this name can be taken away.
fn no_server(host: &dyn Host, registry: &ToolRegistry, name: &str) -> Result<Error, Error> {
    // Only a name of this form is read for.
    let of = registry
        .0
        .iter()
        .filter(|(server, _)| name.starts_with(server.as_str()) && is_offered_name(name))
        .find(|(server, record)| {
            let tools =
                servers::registration(host, record).map(|known| known.manifest.tools).unwrap_or_default();
            tools.iter().any(|tool| offered_name(server, &tool.name) == name)
        });
    if let Some((server, _)) = of {
        return Ok(crate::usage(format!("`{name}` is a tool of the server `{server}`"))
            .hint(format!("a server is taken away whole: `DELETE /v1/tools/{server}`")));
    }
    let is_own = host.kernel()?.tools().iter().any(|spec| spec.name == name)
        || name
            .strip_prefix("playbook:")
            .is_some_and(|own| host.playbooks().iter().any(|one| one.name == own));
    Ok(match is_own {
        true => crate::usage(format!("`{name}` is part of Hermit and cannot be taken away")),
        false => crate::not_found("server of tools", name),
    })
}
