//! A run begins.

use super::{body, controls, seconds};
use crate::{Host, Wire as _, usage};
use model::ConversationId;
use model::ingress::Channel;
use model::policy::Profile;
use model::task::ModelApi;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use wire::runs::{Attached, RunStarted, StartRun};
use wire::task::{Reasoner, Submit};
use wire::{Caller, Code, Error};

/// The one set of tools there is.
pub(super) const TOOLSET: &str = "standard";
/// Bytes of a name or label of a client's own.
const LABEL_BYTES_MAX: usize = 128;
/// Labels in a list.
const LABELS_MAX: usize = 64;

/// `POST /v1/runs`. The same `metadata.idempotency_key`, or `key` from the header `Idempotency-Key`, is the same run.
///
/// # Errors
/// [`Code::Usage`], [`Code::UnknownField`], [`Code::NotFound`] for a session, folder or playbook that is not there.
pub fn start(host: &dyn Host, given: Value, key: Option<String>) -> Result<RunStarted, Error> {
    let mut asked: StartRun = body("POST /v1/runs", given)?;
    let channel = labels(&asked)?;
    let fence = fenced(&mut asked)?;
    let workspace = asked.workspace.take().filter(|folder| !folder.trim().is_empty());
    let workspace = workspace.ok_or_else(|| {
        usage("a run needs the `workspace` it works in: there is no standard one")
            .hint("name a folder, absolute")
    })?;
    let attachments = paths_of(host, &mut asked.attachments)?;
    let reasoner = reasoner(host, &mut asked)?;
    let metadata = asked.metadata.take().unwrap_or_default();
    let (title, own_key) = (word(&metadata, "title")?, word(&metadata, "idempotency_key")?);
    // What would be refused is refused before a session is opened for it.
    host.reasoning(&reasoner)?;
    host.workspace(&crate::files::absolute("workspace", &workspace)?)?;
    let session = asked.session_id.take().filter(|name| !name.trim().is_empty());
    let conversation = session.map(|name| session_for(host, &name)).transpose()?;
    let submit = Submit {
        reasoner,
        goal: asked.message,
        workspace,
        // A name of the client's own stands for no profile of ours, and the standard asks about everything.
        profile: asked.profile.filter(|name| name.parse::<Profile>().is_ok()),
        attachments,
        spoken: asked.spoken,
        title,
        idempotency_key: own_key.or(key),
        channel: Some(channel.to_string()),
        ..Submit::default()
    };
    let submitted = crate::body::task::submit_in(host, submit, conversation)?;
    begun(host, &submitted.task_id, fence)
}

fn begun(host: &dyn Host, task: &str, owner_fence: Option<Map<String, Value>>) -> Result<RunStarted, Error> {
    let row = super::known(host, task)?;
    let journal = host.journal(Some(row.task_id))?;
    let run = journal.reader.run(row.task_id).map_err(super::stream::of_journal)?;
    let shown = crate::body::task::show(host, wire::task::Show { task: task.to_owned() })?;
    Ok(RunStarted {
        run_id: row.task_id.to_string(),
        session_id: super::session_name(host, row.conversation_id)?,
        stream_id: row.task_id.to_string(),
        status: row.run_status.to_string(),
        started_at: seconds(row.created_at.0),
        cursor: run.map(|run| run.cursor).unwrap_or_default(),
        active_controls: controls(row.run_status, row.hears_words()),
        profile: row.profile.to_string(),
        model: shown.reasoner,
        toolsets: vec![TOOLSET.to_owned()],
        owner_fence,
    })
}

/// Files that a client hands over, by their paths: a page names none.
pub(super) fn paths_of(host: &dyn Host, attached: &mut Vec<Attached>) -> Result<Vec<String>, Error> {
    let paths: Vec<String> = attached.drain(..).map(path_of).collect();
    if host.caller() == Caller::Page && !paths.is_empty() {
        return Err(Error::new(Code::Forbidden, "a page names no file of this machine"));
    }
    Ok(paths)
}

fn path_of(attached: Attached) -> String {
    match attached {
        Attached::Path(path) | Attached::Told { path, .. } => path,
    }
}

/// Labels are the client's own, within bounds; the surface is this one. Nobody says to be Hermit itself.
fn labels(asked: &StartRun) -> Result<Channel, Error> {
    let source = asked.source.as_deref().unwrap_or_default();
    let all = [Some(source), asked.profile.as_deref(), asked.provider.as_deref()];
    let all = all.into_iter().flatten().chain(asked.toolsets.iter().map(String::as_str));
    if asked.toolsets.len() > LABELS_MAX || all.into_iter().any(|label| !is_label(label)) {
        return Err(usage(format!(
            "`source`, `profile`, `provider` and each of {LABELS_MAX} `toolsets` at most are a line of {LABEL_BYTES_MAX} bytes"
        )));
    }
    match source.trim().to_ascii_lowercase().as_str() {
        "system" | "scheduler" => Err(usage(format!("`source` cannot be `{source}`: that is Hermit itself"))),
        "mcp" => Ok(Channel::Mcp),
        "webhook" => Ok(Channel::Webhook),
        _ => Ok(Channel::RunApi),
    }
}

fn is_label(text: &str) -> bool {
    text.len() <= LABEL_BYTES_MAX && !text.chars().any(char::is_control)
}

/// A claim of ownership agrees with the request that it came with, or nothing is started.
fn fenced(asked: &mut StartRun) -> Result<Option<Map<String, Value>>, Error> {
    let Some(mut fence) = asked.owner_fence.take() else { return Ok(None) };
    let said = |map: &Map<String, Value>, name: &str| {
        map.get(name).and_then(Value::as_str).map(str::to_owned).filter(|text| !text.is_empty())
    };
    let route = fence.get("route").and_then(Value::as_object).cloned().unwrap_or_default();
    let pairs = [
        ("session_id", said(&fence, "session_id"), asked.session_id.as_ref()),
        ("profile", said(&fence, "profile"), asked.profile.as_ref()),
        ("route.workspace", said(&route, "workspace"), asked.workspace.as_ref()),
        ("route.provider", said(&route, "provider"), asked.provider.as_ref()),
        ("route.model", said(&route, "model"), asked.model.as_ref()),
    ];
    for (name, claimed, given) in pairs {
        if claimed.is_some() && claimed.as_ref() != given {
            return Err(Error::new(
                Code::Conflict,
                format!("`owner_fence.{name}` is not what the request says"),
            ));
        }
    }
    fence.insert("accepted".to_owned(), Value::Bool(true));
    Ok(Some(fence))
}

/// A session of this store, or one that a client named; a name that is new opens one.
fn session_for(host: &dyn Host, name: &str) -> Result<ConversationId, Error> {
    if let Ok(id) = name.parse::<ConversationId>() {
        return known_session(host, id, name);
    }
    if !is_label(name) {
        return Err(usage(format!("`session_id` is a line of {LABEL_BYTES_MAX} bytes at most")));
    }
    host.kernel()?.open_named_conversation(name).wire()
}

/// A session that is there, by our name or the client's.
pub(super) fn session(host: &dyn Host, name: &str) -> Result<ConversationId, Error> {
    match name.parse::<ConversationId>() {
        Ok(id) => known_session(host, id, name),
        Err(_) => host.kernel()?.named_conversation(name).wire()?.ok_or_else(|| no_session(name)),
    }
}

fn known_session(host: &dyn Host, id: ConversationId, name: &str) -> Result<ConversationId, Error> {
    host.query()?.conversation(id).wire()?.map(|_| id).ok_or_else(|| no_session(name))
}

fn no_session(name: &str) -> Error {
    Error::new(Code::NotFound, format!("there is no session `{name}` in this store"))
        .hint("leave `session_id` out for the standing one; a start answers with its name")
}

fn word(metadata: &serde_json::Map<String, Value>, name: &str) -> Result<Option<String>, Error> {
    match metadata.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(word)) => Ok(Some(word.clone())),
        Some(_) => Err(usage(format!("`metadata.{name}` is a text"))),
    }
}

/// Provider and model of the contract as our one address. A provider that is none of ours stands for whoever the person
/// set up here, and the answer says who that is: a run is never sent where nobody allowed it.
fn reasoner(host: &dyn Host, asked: &mut StartRun) -> Result<Reasoner, Error> {
    let full = |text: &String| !text.trim().is_empty();
    let (model, provider) = (asked.model.take().filter(full), asked.provider.take().filter(full));
    match (provider.as_deref(), model) {
        (Some("playbook"), Some(name)) => {
            Ok(Reasoner::Playbook { name, text: None, parameters: parameters(asked)? })
        }
        (Some(provider), Some(model))
            if matches!(provider, "recorded" | "box")
                || provider.parse::<ModelApi>().is_ok() && is_address(&model) =>
        {
            let begun = format!("{provider}:");
            let address = if model.starts_with(&begun) { model } else { format!("{begun}{model}") };
            Ok(Reasoner::Address { address })
        }
        (Some(provider @ ("playbook" | "recorded")), None) => {
            Err(usage(format!("the provider `{provider}` needs a `model`"))
                .hint("name a playbook, or a file"))
        }
        (None, Some(address)) if address.starts_with("playbook:") => {
            let name = address.trim_start_matches("playbook:").to_owned();
            Ok(Reasoner::Playbook { name, text: None, parameters: parameters(asked)? })
        }
        (None, Some(address))
            if is_address(&address)
                || ["recorded:", super::IN_BOX].iter().any(|begun| address.starts_with(begun)) =>
        {
            Ok(Reasoner::Address { address })
        }
        (_, model) => Ok(model.and_then(|name| at_hand(host, &name)).unwrap_or_default()),
    }
}

fn is_address(model: &str) -> bool {
    model.contains("://")
}

/// The model of that name, where one runs on this machine.
fn at_hand(host: &dyn Host, name: &str) -> Option<Reasoner> {
    let found = host.models(&[]).ok()?;
    let address = found.servers.iter().flat_map(|server| &server.models).find(|model| model.id == name)?;
    Some(Reasoner::Address { address: address.address.clone() })
}

fn parameters(asked: &StartRun) -> Result<BTreeMap<String, String>, Error> {
    let wrong = || usage("`metadata.parameters` is an object of texts");
    let given = asked.metadata.as_ref().and_then(|metadata| metadata.get("parameters"));
    let Some(given) = given else { return Ok(BTreeMap::new()) };
    let given = given.as_object().ok_or_else(wrong)?;
    let pair = |(name, value): (&String, &Value)| {
        value.as_str().map(|value| (name.clone(), value.to_owned())).ok_or_else(wrong)
    };
    given.iter().map(pair).collect()
}
