//! A run begins.

use super::{body, controls, seconds};
use crate::{Host, Wire as _, usage};
use model::ConversationId;
use serde_json::Value;
use std::collections::BTreeMap;
use wire::runs::{RunStarted, StartRun};
use wire::task::{Reasoner, Submit};
use wire::{Code, Error};

/// The one set of tools there is.
pub(super) const TOOLSET: &str = "standard";

/// `POST /v1/runs`. The same `metadata.idempotency_key`, or `key` from the header `Idempotency-Key`, is the same run.
///
/// # Errors
/// [`Code::Usage`], [`Code::UnknownField`], [`Code::NotFound`] for a session, folder or playbook that is not there.
pub fn start(host: &dyn Host, given: Value, key: Option<String>) -> Result<RunStarted, Error> {
    let mut asked: StartRun = body("POST /v1/runs", given)?;
    if let Some(other) = asked.toolsets.iter().find(|set| set.as_str() != TOOLSET) {
        return Err(usage(format!("there is no toolset `{other}`")).hint(format!("there is `{TOOLSET}`")));
    }
    if asked.workspace.trim().is_empty() {
        return Err(usage("a run needs the `workspace` it works in").hint("name a folder, absolute"));
    }
    let conversation = asked.session_id.take().map(|id| session(host, &id)).transpose()?;
    let submit = Submit {
        reasoner: reasoner(&mut asked)?,
        goal: asked.message,
        workspace: asked.workspace,
        profile: asked.profile,
        attachments: asked.attachments,
        title: word(&asked.metadata, "title")?,
        idempotency_key: word(&asked.metadata, "idempotency_key")?.or(key),
        channel: Some(asked.source.unwrap_or_else(|| "run_api".to_owned())),
        ..Submit::default()
    };
    let submitted = crate::body::task::submit_in(host, submit, conversation)?;
    let row = super::known(host, &submitted.task_id)?;
    let journal = host.journal(Some(row.task_id))?;
    let run = journal.reader.run(row.task_id).map_err(super::stream::of_journal)?;
    Ok(RunStarted {
        run_id: row.task_id.to_string(),
        session_id: row.conversation_id.to_string(),
        stream_id: row.task_id.to_string(),
        status: row.run_status.to_string(),
        started_at: seconds(row.created_at.0),
        cursor: run.map(|run| run.cursor).unwrap_or_default(),
        active_controls: controls(row.run_status),
    })
}

/// A session that is there.
pub(super) fn session(host: &dyn Host, text: &str) -> Result<ConversationId, Error> {
    let unknown = || {
        Error::new(Code::NotFound, format!("there is no session `{text}` in this store"))
            .hint("leave `session_id` out for the standing one; a start answers with its name")
    };
    let id = text.parse::<ConversationId>().map_err(|_| unknown())?;
    host.query()?.conversation(id).wire()?.map(|_| id).ok_or_else(unknown)
}

fn word(metadata: &serde_json::Map<String, Value>, name: &str) -> Result<Option<String>, Error> {
    match metadata.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(word)) => Ok(Some(word.clone())),
        Some(_) => Err(usage(format!("`metadata.{name}` is a text"))),
    }
}

/// Provider and model of the contract as our one address.
fn reasoner(asked: &mut StartRun) -> Result<Reasoner, Error> {
    let model = asked.model.take().filter(|model| !model.trim().is_empty());
    match (asked.provider.as_deref(), model) {
        (None, None) => Ok(Reasoner::Standard),
        (Some("playbook"), Some(name)) => {
            Ok(Reasoner::Playbook { name, text: None, parameters: parameters(asked)? })
        }
        (None, Some(address)) => match address.strip_prefix("playbook:") {
            Some(name) => {
                let (name, parameters) = (name.to_owned(), parameters(asked)?);
                Ok(Reasoner::Playbook { name, text: None, parameters })
            }
            None => Ok(Reasoner::Address { address }),
        },
        (Some(provider @ ("openai" | "recorded")), Some(model)) => {
            let begun = format!("{provider}:");
            let address = if model.starts_with(&begun) { model } else { format!("{begun}{model}") };
            Ok(Reasoner::Address { address })
        }
        (Some(provider), None) => Err(usage(format!("the provider `{provider}` needs a `model`"))
            .hint("name a playbook, `URL#MODEL`, or a file")),
        (Some(provider), Some(_)) => Err(usage(format!("there is no provider `{provider}`"))
            .hint("there are `playbook`, `openai` and `recorded`")),
    }
}

fn parameters(asked: &StartRun) -> Result<BTreeMap<String, String>, Error> {
    let wrong = || usage("`metadata.parameters` is an object of texts");
    let Some(given) = asked.metadata.get("parameters") else { return Ok(BTreeMap::new()) };
    let given = given.as_object().ok_or_else(wrong)?;
    let pair = |(name, value): (&String, &Value)| {
        value.as_str().map(|value| (name.clone(), value.to_owned())).ok_or_else(wrong)
    };
    given.iter().map(pair).collect()
}
