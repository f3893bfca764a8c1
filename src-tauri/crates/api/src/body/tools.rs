//! Servers of tools: proposals to a person, and what the log knows of those that are registered.

pub(crate) use super::logins::{
    begin as login_begin, cancel as login_cancel, list as logins, login, logout, stands as login_stands,
};
use super::task::{channel, of_submitted};
use super::task_show::folder as shown_folder;
use crate::caller::sender;
use crate::convert::{every, opt, text, word};
use crate::files::absolute;
use crate::{Host, Wire as _, fold, not_found};
use kernel::tool_registry::{ServerRecord, ToolRegistry};
use model::WorkspaceId;
use model::ingress::Channel;
use model::launch::LaunchPackage;
use model::sampling::SamplingTerms;
use model::server_part::{ServerPrompt, ServerResource};
use model::tool_server::{
    ServerLaunch, ServerRegistration, ServerTool, TermsExample, ToolManifest, ToolTerms, offered_name,
};
use model::web::WebUrl;
use projections::rows::ActionRow;
use projections::{Ask, Query};
use wire::task::Submitted;
use wire::tools::{
    Add, Call, Classify, Disable, LastCall, List, PassOff, PassOn, Pin, Prompt, PromptArgumentWords,
    PromptWords, Remove, ResourceWords, Sampling, Server, Servers, Show, Shown, Tool, Words,
};
use wire::{Caller, Code, Error};
use words::act::ResultCode;
use words::store::ToolServerState;

pub(crate) fn add(host: &dyn Host, p: Add) -> Result<Submitted, Error> {
    may_add(host.caller(), &p)?;
    let root = host.workspace(&absolute("workspace", &p.workspace)?)?;
    let key = p.idempotency_key.unwrap_or_else(|| host.fresh_key());
    let hosts = match &p.url {
        None => p.hosts,
        // What else is named is refused with words.
        Some(url) => p.hosts.into_iter().chain([url.parse::<WebUrl>().wire()?.server()]).collect(),
    };
    let (argv, url, secrets, variables, reads) = (p.argv, p.url, p.secrets, p.variables, p.reads);
    let launch =
        ServerLaunch { argv, url, secrets, variables, hosts, reads, pins: Vec::new(), package: None };
    let by = (channel(p.channel.as_deref())?, key);
    let terms = p.classes.into_iter().map(|(tool, class)| Ok((tool, ToolTerms::of(word(&class)?))));
    let terms = terms.collect::<Result<_, Error>>()?;
    let submitted = host.kernel()?.propose_server(&p.server, &launch, terms, p.again, &root, by).wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

/// A server is started before its card is seen. What starts for a program of this person could do nothing that the program
/// could not, unless a secret goes along; a page starts nothing.
fn may_add(caller: Caller, p: &Add) -> Result<(), Error> {
    let forbidden = |message: &str, hint: &str| Err(Error::new(Code::Forbidden, message).hint(hint));
    match caller {
        Caller::Page => forbidden(
            "a page adds no server of tools",
            "run `hermit tools add NAME -- PROGRAM ARGUMENTS` at a terminal",
        ),
        Caller::Program if !p.secrets.is_empty() => forbidden(
            "a server that signs in with a secret is added by the process that holds the store",
            "end `hermit serve` or close the window, then add the server at a terminal",
        ),
        Caller::Program | Caller::Owner => Ok(()),
    }
}

pub(crate) fn classify(host: &dyn Host, p: Classify) -> Result<Submitted, Error> {
    let root = host.workspace(&absolute("workspace", &p.workspace)?)?;
    let key = p.idempotency_key.unwrap_or_else(|| host.fresh_key());
    let example = |matches| move |arguments| TermsExample { arguments, matches };
    let matches = p.matches.into_iter().map(example(true));
    let terms = ToolTerms {
        class: word(&p.class)?,
        paths: p.paths,
        hosts: p.hosts,
        amounts: p.amounts,
        only_in: None,
        examples: matches.chain(p.no_matches.into_iter().map(example(false))).collect(),
        repeatable: p.repeatable,
        trusted: p.trusted,
        time_limit_ms: p.time_limit_s.map(|s| s.saturating_mul(1_000)),
    };
    let by = (channel(p.channel.as_deref())?, key);
    let submitted = host.kernel()?.propose_terms((&p.server, &p.tool), terms, p.here, &root, by).wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

pub(crate) fn sampling(host: &dyn Host, p: Sampling) -> Result<Submitted, Error> {
    let root = host.workspace(&absolute("workspace", &p.workspace)?)?;
    let key = p.idempotency_key.unwrap_or_else(|| host.fresh_key());
    let terms = SamplingTerms {
        calls: p.calls.unwrap_or(4),
        tokens: p.tokens.unwrap_or(4_000),
        task_tokens: p.task_tokens.unwrap_or(20_000),
    };
    let by = (channel(p.channel.as_deref())?, key);
    let submitted =
        host.kernel()?.propose_sampling(&p.server, (!p.off).then_some(terms), &root, by).wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

pub(crate) fn pass_on(host: &dyn Host, p: PassOn) -> Result<Submitted, Error> {
    let root = host.workspace(&absolute("workspace", &p.workspace)?)?;
    let key = p.idempotency_key.unwrap_or_else(|| host.fresh_key());
    let by = (channel(p.channel.as_deref())?, key);
    let submitted = host.kernel()?.propose_pass_on(&p.server, &root, by).wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

pub(crate) fn pass_off(host: &dyn Host, p: PassOff) -> Result<Servers, Error> {
    host.kernel()?.end_pass_on(&p.server, sender(host, Channel::Cli)).wire()?;
    list(host, List {})
}

pub(crate) fn call(host: &dyn Host, p: Call) -> Result<Submitted, Error> {
    let root = host.workspace(&absolute("workspace", &p.workspace)?)?;
    let key = p.idempotency_key.unwrap_or_else(|| host.fresh_key());
    let by = (channel(p.channel.as_deref())?, key);
    let submitted = host.kernel()?.propose_call((&p.server, &p.tool), &p.arguments, &root, by).wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

pub(crate) fn prompt(host: &dyn Host, p: Prompt) -> Result<Submitted, Error> {
    let root = host.workspace(&absolute("workspace", &p.workspace)?)?;
    let key = p.idempotency_key.unwrap_or_else(|| host.fresh_key());
    let by = (channel(p.channel.as_deref())?, key);
    let submitted = host.kernel()?.propose_prompt((&p.server, &p.prompt), &p.arguments, &root, by).wire()?;
    host.drive(submitted.task_id)?;
    Ok(of_submitted(&submitted))
}

pub(crate) fn list(host: &dyn Host, _: List) -> Result<Servers, Error> {
    let registry = registry(host)?;
    let servers = registry.0.iter().map(|(name, record)| server(host, name, record));
    Ok(Servers { servers: servers.collect::<Result<_, _>>()? })
}

pub(crate) fn show(host: &dyn Host, p: Show) -> Result<Shown, Error> {
    let registry = registry(host)?;
    let record = registry.0.get(&p.server).ok_or_else(|| not_found("server of tools", &p.server))?;
    let known = registration(host, record)?;
    let words = known.manifest.tools.iter().map(words_of).collect::<Result<_, _>>()?;
    let pins = known.launch.pins.iter().map(|pin| Pin {
        name: pin.name.clone(),
        path: pin.path.clone(),
        sha256: pin.sha256.to_string(),
    });
    Ok(Shown {
        server: server(host, &p.server, record)?,
        pins: pins.collect(),
        package: known.launch.package.as_ref().map(LaunchPackage::in_words),
        secrets: known.launch.secrets,
        variables: known.launch.variables,
        reads: known.launch.reads,
        words,
        resources: resources_of(&known.manifest, record),
        prompts: prompts_of(&known.manifest, record),
        left_out: known.manifest.left_out,
        sampling: record.sampling.map(|terms| terms.in_words()),
        passed_on: record.passed_on,
        calls: last_calls(host, &p.server)?,
    })
}

pub(crate) fn disable(host: &dyn Host, p: Disable) -> Result<Servers, Error> {
    let by = sender(host, Channel::Cli);
    let reason = p.reason.unwrap_or_else(|| format!("disabled by a {}", by.by));
    match &p.tool {
        Some(tool) => host.kernel()?.switch_off_terms((&p.server, tool), &reason, by).wire()?,
        None => host.kernel()?.disable_server(&p.server, &reason, by).wire()?,
    }
    list(host, List {})
}

pub(crate) fn remove(host: &dyn Host, p: Remove) -> Result<Servers, Error> {
    let kernel = host.kernel()?;
    kernel.remove_server(&p.server, sender(host, Channel::Cli)).wire()?;
    // Nobody else is called with its token.
    let is_in = kernel.logins().0.get(&p.server).is_some_and(|record| record.logged_in.is_some());
    if let Some(logins) = host.logins().filter(|_| is_in) {
        logins.forget(&p.server, sender(host, Channel::Cli)).map_err(|error| {
            let hint =
                format!("open the keys with `hermit unlock`, then type `hermit tools logout {}`", p.server);
            Error::new(
                error.code,
                format!("the server is forgotten; its token is still kept: {}", error.message),
            )
            .hint(hint)
        })?;
    }
    list(host, List {})
}

pub(crate) fn registry(host: &dyn Host) -> Result<ToolRegistry, Error> {
    Ok(fold::store_state(&host.reader()?)?.tools)
}

pub(crate) fn registration(host: &dyn Host, record: &ServerRecord) -> Result<ServerRegistration, Error> {
    let version = record.latest().ok_or_else(|| not_found("server of tools", "without a registration"))?;
    let bytes = host.artifacts()?.read(&version.registration.sha256).wire()?;
    seal::canon::from_canonical(&bytes).wire()
}

/// A server as it is registered. One whose registration cannot be read is told of as such, so that it can be forgotten.
fn server(host: &dyn Host, name: &str, record: &ServerRecord) -> Result<Server, Error> {
    let known = match registration(host, record) {
        Ok(known) => known,
        Err(error) => return Ok(unreadable(name, record, &error)),
    };
    let (state, why) = match (&record.disabled, record.changed.is_empty()) {
        (Some(why), _) => (ToolServerState::Disabled, Some(why.clone())),
        (None, false) => {
            let changed: Vec<&str> = record.changed.iter().map(String::as_str).collect();
            (ToolServerState::Changed, Some(format!("it says something else now of: {}", changed.join(", "))))
        }
        (None, true) => (ToolServerState::Ready, None),
    };
    let tools = known.manifest.tools.iter().map(|words| tool(host, name, words, record));
    Ok(Server {
        server: name.to_owned(),
        state,
        why,
        argv: known.launch.argv.clone(),
        url: known.launch.url.clone(),
        hosts: known.launch.hosts.clone(),
        since: record.latest().map_or(0, |version| version.since.0),
        manifest_sha256: known.manifest.pin().wire()?.to_string(),
        tools: tools.collect::<Result<_, _>>()?,
    })
}

fn unreadable(name: &str, record: &ServerRecord, error: &Error) -> Server {
    let latest = record.latest();
    Server {
        server: name.to_owned(),
        state: ToolServerState::Unreadable,
        why: Some(format!("its registration cannot be read: {}", error.message)),
        argv: Vec::new(),
        url: None,
        hosts: Vec::new(),
        since: latest.map_or(0, |version| version.since.0),
        manifest_sha256: latest.map_or_else(String::new, |version| version.registration.sha256.to_string()),
        tools: Vec::new(),
    }
}

fn tool(host: &dyn Host, server: &str, words: &ServerTool, record: &ServerRecord) -> Result<Tool, Error> {
    let said = record.terms(&words.name, words.pin().wire()?, host.now());
    let off = said.is_some() && record.is_off(&words.name);
    let terms = said.filter(|_| !off);
    let only_in = terms.and_then(|terms| terms.only_in);
    let all = |of: fn(&ToolTerms) -> &Vec<String>| terms.map(of).cloned().unwrap_or_default();
    let examples = terms.map(|terms| terms.examples.clone()).unwrap_or_default();
    let example =
        |one: TermsExample| wire::tools::TermsExample { arguments: one.arguments, matches: one.matches };
    Ok(Tool {
        name: words.name.clone(),
        offered_as: offered_name(server, &words.name),
        class: terms.map(|terms| terms.class),
        off,
        only_in: only_in.map(|id| place(host, id)).transpose()?,
        paths: all(|terms| &terms.paths),
        hosts: all(|terms| &terms.hosts),
        amounts: all(|terms| &terms.amounts),
        examples: examples.into_iter().map(example).collect(),
        repeatable: terms.is_some_and(|terms| terms.repeatable),
        trusted: terms.is_some_and(|terms| terms.trusted),
        time_limit_s: terms.and_then(|terms| terms.time_limit_ms).map(|ms| ms / 1_000),
        changed: record.changed.contains(&words.name),
    })
}

/// The path of a folder that was worked in.
fn place(host: &dyn Host, id: WorkspaceId) -> Result<String, Error> {
    let query = host.query()?;
    let all = every(|ask| query.workspaces(ask))?;
    let found = all.iter().find(|row| row.workspace_id == id);
    Ok(found.map_or_else(|| id.to_string(), |row| shown_folder(row).to_string()))
}

/// Calls that are told of one server.
const CALLS_MAX: usize = 10;
/// Pages of acts that are looked through for them.
const PAGES_MAX: usize = 10;

/// The latest calls of a server.
fn last_calls(host: &dyn Host, server: &str) -> Result<Vec<LastCall>, Error> {
    let query = host.query()?;
    // No name of a server holds a point.
    let begins = format!("call {server}.");
    let (mut found, mut ask) = (Vec::new(), Ask::ALL);
    for _ in 0..PAGES_MAX {
        let page = query.actions(None, None, ask).wire()?;
        let is_ours = |row: &&ActionRow| {
            row.tool == "call" && row.summary.shown().is_some_and(|said| said.starts_with(&begins))
        };
        found.extend(page.rows.iter().filter(is_ours).cloned());
        if found.len() >= CALLS_MAX || page.next.is_none() {
            break;
        }
        ask = ask.after(page.next);
    }
    found.truncate(CALLS_MAX);
    let told = |row: ActionRow| {
        Ok(LastCall {
            summary: text(&row.summary),
            at: row.requested_at.0,
            task_id: row.task_id.to_string(),
            state: row.state,
            result: row.result_code,
            why: why_not(&query, &row)?,
            receipt_id: opt(row.receipt_id),
        })
    };
    found.into_iter().map(told).collect()
}

/// Why a call came to nothing, as its receipt says.
fn why_not(query: &Query, row: &ActionRow) -> Result<Option<String>, Error> {
    let is_failed = matches!(row.result_code, Some(ResultCode::Failed | ResultCode::UnknownOutcome));
    let Some(receipt_id) = row.receipt_id.filter(|_| is_failed) else { return Ok(None) };
    let receipt = query.receipt(receipt_id).wire()?;
    Ok(receipt.and_then(|receipt| receipt.summary.shown().cloned()))
}

fn resources_of(of: &ToolManifest, record: &ServerRecord) -> Vec<ResourceWords> {
    let said = |one: &ServerResource, is_template: bool| {
        let kind = if is_template { "template" } else { "resource" };
        ResourceWords {
            uri: one.uri.clone(),
            is_template,
            name: one.name.clone(),
            title: one.title.clone(),
            description: one.description.clone(),
            media_type: one.media_type.clone(),
            changed: record.changed.contains(&format!("{kind}:{}", one.uri)),
        }
    };
    let resources = of.resources.iter().map(|one| said(one, false));
    resources.chain(of.templates.iter().map(|one| said(one, true))).collect()
}

fn prompts_of(of: &ToolManifest, record: &ServerRecord) -> Vec<PromptWords> {
    let said = |one: &ServerPrompt| PromptWords {
        name: one.name.clone(),
        title: one.title.clone(),
        description: one.description.clone(),
        arguments: one
            .arguments
            .iter()
            .map(|argument| PromptArgumentWords {
                name: argument.name.clone(),
                description: argument.description.clone(),
                required: argument.required,
            })
            .collect(),
        changed: record.changed.contains(&format!("prompt:{}", one.name)),
    };
    of.prompts.iter().map(said).collect()
}

fn words_of(tool: &ServerTool) -> Result<Words, Error> {
    Ok(Words {
        name: tool.name.clone(),
        title: tool.title.clone(),
        description: tool.description.clone(),
        input_schema: tool.input_schema.clone(),
        output_schema: tool.output_schema.clone(),
        says_of_itself: tool.hints.said(),
        proposes: tool.hints.proposes(),
        sha256: tool.pin().wire()?.to_string(),
    })
}
