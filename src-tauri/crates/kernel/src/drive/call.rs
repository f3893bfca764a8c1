//! Calls of tools of servers: from a call of a model to what is judged, shown and done.

use super::normalise::Unfit;
use super::offered_parts::GET_PROMPT;
use super::trial::Trial;
use crate::Error;
use crate::kernel::Kernel;
use crate::ports::Executors;
use crate::state::TaskState;
use crate::tool_registry::ServerRecord;
use crate::tx::Tx;
use acts::{Action, ActionRequest, Call};
use model::limits::OFFERED_WORDS_MAX;
use model::sampling::SamplingTerms;
use model::server_part::{ServerPart, key_of};
use model::task::Proposer;
use model::tool_server::{ServerRegistration, ServerTool, ToolTerms, offered_name, words_for_model};
use model::web::WebUrl;
use model::{AttemptId, Digest, RelPath, UnixMs, WorkspaceId};
use serde_json::Value;
use std::sync::Arc;

/// Letters of an amount that is told as a text.
const AMOUNT_MAX: usize = 64;

/// A server as the attempt at work may use it.
pub(super) struct Usable {
    record: ServerRecord,
    pub(super) registration: Arc<ServerRegistration>,
    pub(super) registration_sha256: Digest,
}

impl Usable {
    /// The name under which what a call asks for is compared.
    fn key_of(&self, call: &Call) -> String {
        let known = self.registration.manifest.part(call.part, &call.name);
        known.map_or_else(|| key_of(call.part, &call.name), |(key, _)| key)
    }

    /// How much it may ask of a model.
    pub(super) const fn sampling(&self) -> Option<SamplingTerms> {
        self.record.sampling
    }

    /// Whether agents of other programs may call its tools.
    pub(super) const fn is_passed_on(&self) -> bool {
        self.record.passed_on
    }

    /// What a person says of a tool by now, in a folder.
    pub(super) fn terms_now(
        &self,
        tool: &ServerTool,
        now: UnixMs,
        workspace: Option<WorkspaceId>,
    ) -> Option<ToolTerms> {
        self.record.terms_for(&tool.name, tool.pin().ok()?, now, workspace)
    }

    /// Whether a tool is what it was when it was registered, as far as anybody has seen.
    pub(super) fn is_unchanged(&self, tool: &str) -> bool {
        !self.record.changed.contains(tool)
    }
}

impl Kernel {
    /// Servers as they were registered when the attempt at work began; what was taken back since is not among them, and
    /// neither is one whose registration cannot be read, which the log tells.
    pub(super) fn usable_servers(&self, state: &TaskState) -> Vec<Usable> {
        if state.attempt().is_none() {
            return Vec::new();
        }
        self.usable_since(began(state))
    }

    /// Servers as they were registered at a time, but for what was taken back since.
    pub(super) fn usable_since(&self, began: UnixMs) -> Vec<Usable> {
        let usable = |(server, record): (String, ServerRecord)| {
            let version = record.at(began).filter(|_| record.disabled.is_none())?;
            let registration = match self.registration_at(&version.registration) {
                Ok(registration) => registration,
                Err(error) => {
                    tracing::warn!(%server, %error, "the registration of a server of tools cannot be read");
                    return None;
                }
            };
            let registration_sha256 = version.registration.sha256;
            Some(Usable { record, registration, registration_sha256 })
        };
        self.tool_registry().0.into_iter().filter_map(usable).collect()
    }

    /// The call as it is judged: the server as it was registered, the arguments held against the tool's schema, the terms
    /// of a person, and the places and hosts that follow from them.
    pub(crate) fn call_of(
        &self,
        state: &TaskState,
        executors: &dyn Executors,
        offered: &str,
        arguments: &str,
    ) -> Result<Result<Action, Unfit>, Error> {
        if offered == GET_PROMPT {
            let asked = serde_json::from_str(arguments)
                .map_err(|e| Error::Broken(format!("what is asked for of a server is malformed: {e}")))?;
            return self.resource_or_prompt(state, ServerPart::Prompt, asked);
        }
        let servers = self.usable_servers(state);
        let named = servers.iter().find_map(|server| {
            let tools = &server.registration.manifest.tools;
            let tool =
                tools.iter().find(|tool| offered_name(&server.registration.server, &tool.name) == offered);
            tool.map(|tool| (server, tool))
        });
        let Some((server, tool)) = named else {
            return Ok(Err(Unfit(format!(
                "there is no tool `{offered}` that can be used; a person registers servers of tools with `hermit tools \
                 add`, and `hermit tools list` says which are registered"
            ))));
        };
        let name = &server.registration.server;
        if let Some(unfit) = self.refuses(state, executors, (server, tool), arguments)? {
            return Ok(Err(unfit));
        }
        let pin = tool.pin()?;
        let terms = server.record.terms_for(&tool.name, pin, began(state), state.task.workspace_hint);
        if terms.is_none() && self.is_of_client(state) {
            return Ok(Err(Unfit(not_classified(offered, name))));
        }
        let Named { paths, hosts, amounts } = match places(terms.as_ref(), arguments) {
            Ok(found) => found,
            Err(why) => return Ok(Err(Unfit(format!("{why}; a person said that it is one")))),
        };
        let call = Call {
            sampling: server.sampling(),
            part: None,
            server: name.clone(),
            name: tool.name.clone(),
            arguments: arguments.to_owned(),
            launch: server.registration.launch.clone(),
            registration_sha256: server.registration_sha256,
            manifest_sha256: server.registration.manifest.pin()?,
            tool_sha256: pin,
            terms,
            paths,
            hosts,
            amounts,
        };
        if let Some(why) = out_of_reach(&call) {
            return Ok(Err(Unfit(why)));
        }
        let action = Action::Call(call);
        Ok(action.as_tool().check().map(|()| action).map_err(Unfit))
    }

    /// Why a tool is not called with these arguments, whatever is said of it.
    fn refuses(
        &self,
        state: &TaskState,
        executors: &dyn Executors,
        (server, tool): (&Usable, &ServerTool),
        arguments: &str,
    ) -> Result<Option<Unfit>, Error> {
        let name = &server.registration.server;
        if self.proposer(state)? == Proposer::Session && !server.is_passed_on() {
            return Ok(Some(Unfit(not_passed_on(name))));
        }
        if !server.is_unchanged(&tool.name) {
            return Ok(Some(Unfit(format!(
                "the server `{name}` says something else of `{}` than when it was registered; a person looks at the \
                 difference with `hermit tools add {name} --again`",
                tool.name
            ))));
        }
        Ok(executors.fits(&tool.input_schema, arguments).err().map(|why| {
            Unfit(format!(
                "the arguments of `{}` do not fit: {why}; it takes {}",
                offered_name(name, &tool.name),
                words_for_model(&tool.input_schema, OFFERED_WORDS_MAX)
            ))
        }))
    }

    /// Tries a call of a tool that changes files, as a command is tried. What cannot be meant is told when it is judged.
    pub(crate) fn trial_of_call(
        &self,
        tx: &mut Tx<'_>,
        offered: &str,
        arguments: &str,
    ) -> Result<Trial, Error> {
        let executors = self.executors(tx)?;
        match self.call_of(tx, &*executors, offered, arguments)? {
            Ok(call) if call.as_tool().may_be_staged() => self.trial_of(tx, &call),
            Ok(_) | Err(_) => Ok(Trial::Not(None)),
        }
    }

    /// Whether an agent of another program leads the task, call by call.
    fn is_of_client(&self, state: &TaskState) -> bool {
        self.proposer(state).is_ok_and(|by| by == Proposer::Session)
    }

    /// Ends the servers that an attempt has called. One that is not ended is ended when nobody has called it for a while.
    pub(crate) fn end_servers(&self, state: &TaskState, attempt: AttemptId) {
        let none =
            self.tool_registry().0.is_empty() && !self.proposer(state).is_ok_and(|by| by == Proposer::Guest);
        if state.task.workspace_hint.is_none() || none {
            return;
        }
        match self.executors(state) {
            Ok(executors) => executors.end_servers(attempt),
            Err(error) => tracing::warn!(%attempt, %error, "servers of tools are still alive"),
        }
    }

    /// Why a call that a person allowed may not be made any more, if it may not: its server was disabled, forgotten or has
    /// changed since, or somebody said something else of the tool.
    pub(super) fn taken_back(&self, state: &TaskState, request: &ActionRequest) -> Vec<String> {
        let Action::Call(call) = &request.action else { return Vec::new() };
        // A looser word since takes nothing back; a stricter one does.
        let since = began(state).min(request.proposed_at);
        let servers = self.usable_servers(state);
        let server = servers.iter().find(|server| server.registration.server == call.server);
        let why = match server {
            None => "is not to be used any more",
            Some(server) if server.registration_sha256 != call.registration_sha256 => {
                "is registered otherwise"
            }
            Some(server) if !server.is_passed_on() && self.is_of_client(state) => "is not passed on any more",
            Some(server) if !server.is_unchanged(&server.key_of(call)) => "says something else of this now",
            Some(server) if call.part.is_none() && terms_of(server, call, state, since) != call.terms => {
                "has other terms for this tool"
            }
            Some(server) if server.sampling() != call.sampling => "may ask something else of a model by now",
            Some(_) => return Vec::new(),
        };
        vec![format!("the server `{}` {why}", call.server)]
    }
}

/// When the attempt at work began. One that an agent outside leads lasts for days, and each of its calls takes what holds then.
fn began(state: &TaskState) -> UnixMs {
    state.attempt().map_or(UnixMs(0), |attempt| match attempt.loop_state.is_led {
        true => state.latest,
        false => attempt.attempt.started_at,
    })
}

/// What an agent of another program is told that calls a tool of which nobody has said anything.
fn not_classified(offered: &str, server: &str) -> String {
    format!(
        "nobody has said what `{offered}` may do, and only tools that a person has classified are passed on; they do that with \
         `hermit tools classify {server}`"
    )
}

/// What an agent of another program is told that calls a tool of a server which is not passed on.
fn not_passed_on(server: &str) -> String {
    format!(
        "the tools of the server `{server}` are not passed on to agents of other programs; a person does that with `hermit \
         tools pass-on {server}`"
    )
}

/// What a person says by now of the tool of a call.
fn terms_of(server: &Usable, call: &Call, state: &TaskState, since: UnixMs) -> Option<ToolTerms> {
    server.record.terms_for(&call.name, call.tool_sha256, since, state.task.workspace_hint)
}

/// Tries the examples of what is said of a tool: against its schema, and against the places that are named in it.
///
/// # Errors
/// In words, which example comes out otherwise.
pub(crate) fn try_examples(
    terms: &ToolTerms,
    fits: impl Fn(&str) -> Result<(), String>,
) -> Result<(), String> {
    for one in &terms.examples {
        let came = fits(&one.arguments).and_then(|()| places(Some(terms), &one.arguments).map(|_| ()));
        match (one.matches, came) {
            (true, Err(why)) => {
                return Err(format!("the example `{}` is to match, and does not: {why}", one.arguments));
            }
            (false, Ok(())) => {
                return Err(format!("the example `{}` is not to match, and does", one.arguments));
            }
            _ => {}
        }
    }
    Ok(())
}

/// What the arguments of a call name.
#[derive(Default)]
struct Named {
    paths: Vec<RelPath>,
    hosts: Vec<String>,
    amounts: Vec<String>,
}

/// Places, hosts and amounts that the arguments name, by what a person said of them.
fn places(terms: Option<&ToolTerms>, arguments: &str) -> Result<Named, String> {
    let Some(terms) = terms else { return Ok(Named::default()) };
    let value: Value = serde_json::from_str(arguments).map_err(|e| e.to_string())?;
    let mut paths = Vec::new();
    for (pointer, text) in named(&value, &terms.paths)? {
        paths.push(path_of(&text).ok_or_else(|| {
            format!("`{pointer}` is `{}`, which is no place in the folder", text.escape_default())
        })?);
    }
    let mut hosts = Vec::new();
    for (pointer, text) in named(&value, &terms.hosts)? {
        hosts.push(host_of(&text).ok_or_else(|| {
            format!("`{pointer}` is `{}`, which is no host and no address of one", text.escape_default())
        })?);
    }
    let mut amounts = Vec::new();
    for pointer in &terms.amounts {
        amounts.extend(amount_at(&value, pointer)?);
    }
    Ok(Named { paths, hosts, amounts })
}

/// An amount with its place: a number, or the text of one.
fn amount_at(value: &Value, pointer: &str) -> Result<Option<String>, String> {
    let is_amount =
        |text: &str| text.chars().any(|c| c.is_ascii_digit()) && text.chars().count() <= AMOUNT_MAX;
    match value.pointer(pointer) {
        None => Ok(None),
        Some(Value::Number(amount)) => Ok(Some(format!("{amount} (`{pointer}`)"))),
        Some(Value::String(amount)) if is_amount(amount) => Ok(Some(format!("{amount} (`{pointer}`)"))),
        Some(_) => Err(format!("`{pointer}` is no amount")),
    }
}

/// Why a call cannot go where its arguments say, if it cannot.
fn out_of_reach(call: &Call) -> Option<String> {
    let host = call.out_of_reach()?;
    let reaches = if call.reaches().is_empty() { "nothing".to_owned() } else { call.reaches().join(", ") };
    Some(format!(
        "`{}` would go to {host}, which its server may not reach; it may reach {reaches}",
        offered_name(&call.server, &call.name)
    ))
}

/// A host as `name:port`, of a name with or without a port, or of an address. Without a port it is the one of HTTPS.
fn host_of(text: &str) -> Option<String> {
    let text = text.trim();
    if text.contains("://") {
        return text.parse::<WebUrl>().ok().map(|url| url.server());
    }
    let (name, port) = text.rsplit_once(':').unwrap_or((text, "443"));
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let fits = !name.is_empty() && name.chars().all(letter) && port.parse::<u16>().is_ok_and(|port| port > 0);
    fits.then(|| format!("{}:{port}", name.to_ascii_lowercase()))
}

/// Texts at these places of the arguments: one text, or a list of texts. What is not there names nothing.
fn named(value: &Value, pointers: &[String]) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    for pointer in pointers {
        match value.pointer(pointer) {
            None => {}
            Some(Value::String(text)) => found.push((pointer.clone(), text.clone())),
            Some(Value::Array(all)) => {
                for one in all {
                    let text =
                        one.as_str().ok_or_else(|| format!("`{pointer}` holds something that is no text"))?;
                    found.push((pointer.clone(), text.to_owned()));
                }
            }
            Some(_) => return Err(format!("`{pointer}` is neither a text nor a list of texts")),
        }
    }
    Ok(found)
}

/// A place in the folder, as a tool takes it: relative, with `./` before it or not.
fn path_of(text: &str) -> Option<RelPath> {
    let mut bare = text.trim_end_matches('/');
    while let Some(rest) = bare.strip_prefix("./") {
        bare = rest;
    }
    let bare = if bare == "." { "" } else { bare };
    if text.starts_with('/') { None } else { RelPath::from_bytes(bare.as_bytes()).ok() }
}
