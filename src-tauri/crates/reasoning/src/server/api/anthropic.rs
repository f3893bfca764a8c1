//! Anthropic Messages, streamed.
//!
//! Extended thinking is not asked for: its signed blocks would have to go back within one loop of tools, and every request
//! here is made anew from what was done and seen. Thoughts that a server sends all the same are kept apart.

use super::{Asking, Protocol, event, number, text};
use crate::Error;
use crate::port::{Head, Scheme};
use crate::server::conversation::Turn;
use crate::server::draft::{Draft, Heard, garbage, quoted, said, shorten};
use crate::server::ordered::Ordered;
use model::proposal::{Stop, ToolSpec};
use serde::Serialize;
use serde_json::{Value, json};

/// The protocol.
pub struct Anthropic;

/// The version of the protocol, as its header names it.
const VERSION: &[(&str, &str)] = &[("anthropic-version", "2023-06-01")];

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<Tool<'a>>>,
    system: Vec<Value>,
    messages: Vec<Message>,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: Ordered<'a>,
}

#[derive(Serialize)]
struct Message {
    role: &'static str,
    content: Vec<Value>,
}

fn native(tool: &ToolSpec) -> Tool<'_> {
    Tool { name: &tool.name, description: &tool.description, input_schema: Ordered(&tool.parameters) }
}

/// Roles take turns: what follows in the same role is another block of the same message.
fn push(messages: &mut Vec<Message>, role: &'static str, block: Value) {
    match messages.last_mut() {
        Some(last) if last.role == role => last.content.push(block),
        _ => messages.push(Message { role, content: vec![block] }),
    }
}

fn words(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn messages(asking: &Asking<'_>) -> Vec<Message> {
    let mut messages = Vec::new();
    for turn in &asking.conversation.turns {
        match turn {
            Turn::User(text) => push(&mut messages, "user", words(text)),
            Turn::Model(text) => push(&mut messages, "assistant", words(text)),
            Turn::Picture { label, media_type, data } => {
                push(&mut messages, "user", words(label));
                let source = json!({ "type": "base64", "media_type": media_type, "data": data });
                push(&mut messages, "user", json!({ "type": "image", "source": source }));
            }
            Turn::Call { id, tool, arguments } => {
                let call = json!({ "type": "tool_use", "id": id, "name": tool, "input": arguments });
                push(&mut messages, "assistant", call);
            }
            Turn::Result { id, content, .. } => {
                let result = json!({ "type": "tool_result", "tool_use_id": id, "content": content });
                push(&mut messages, "user", result);
            }
        }
    }
    messages
}

/// Marks where what stays the same from turn to turn ends, so that the server keeps it: behind the rules, and behind the
/// newest result, where the next request goes on.
fn keep(system: &mut [Value], messages: &mut [Message]) {
    let newest = messages.iter_mut().rev().flat_map(|message| message.content.iter_mut().rev());
    let mut newest = newest.filter(|block| block.get("type").is_some_and(|kind| kind == "tool_result"));
    for block in [system.last_mut(), newest.next()].into_iter().flatten() {
        if let Some(object) = block.as_object_mut() {
            object.insert("cache_control".to_owned(), json!({ "type": "ephemeral" }));
        }
    }
}

fn stop_of(reason: &str) -> Stop {
    match reason {
        "max_tokens" | "model_context_window_exceeded" => Stop::Cut,
        "refusal" => Stop::Refused,
        _ => Stop::Ended,
    }
}

/// Tokens as the protocol counts them: what the cache took part in is not in `input_tokens`. A later count is of the
/// whole, and may leave out what it repeats.
fn count(usage: &Value, draft: &mut Draft) {
    let told = |name: &str| number(usage, &format!("/{name}"));
    if let Some(fresh) = told("input_tokens") {
        let cached = told("cache_read_input_tokens").unwrap_or(draft.usage.tokens_cached);
        let written = told("cache_creation_input_tokens").unwrap_or(draft.usage.tokens_cache_written);
        draft.usage.tokens_in = fresh.saturating_add(cached).saturating_add(written);
        (draft.usage.tokens_cached, draft.usage.tokens_cache_written) = (cached, written);
    }
    draft.usage.tokens_out = told("output_tokens").unwrap_or(draft.usage.tokens_out);
}

/// A block, whole or as it begins.
fn block(at: usize, block: &Value, draft: &mut Draft, heard: Heard<'_>) -> Result<(), Error> {
    match text(block, "/type") {
        "text" => draft.say(text(block, "/text"), heard),
        "thinking" => {
            draft.think(text(block, "/thinking"), heard);
            Ok(())
        }
        "tool_use" => {
            let slot = draft.call(at)?;
            text(block, "/name").clone_into(&mut slot.name);
            // A stream begins with an empty object and sends the arguments as text.
            if let Some(input) = block.get("input").filter(|input| **input != json!({})) {
                slot.arguments = input.to_string();
            }
            draft.measure()
        }
        _ => Ok(()),
    }
}

fn delta(at: usize, delta: &Value, draft: &mut Draft, heard: Heard<'_>) -> Result<(), Error> {
    match text(delta, "/type") {
        "text_delta" => draft.say(text(delta, "/text"), heard),
        "thinking_delta" => {
            draft.think(text(delta, "/thinking"), heard);
            Ok(())
        }
        "input_json_delta" => {
            draft.call(at)?.arguments.push_str(text(delta, "/partial_json"));
            draft.measure()
        }
        _ => Ok(()),
    }
}

impl Protocol for Anthropic {
    fn endpoint(&self, url: &str, _: &str) -> String {
        format!("{url}/messages")
    }

    fn head<'a>(&self, secret: Option<&'a str>) -> Head<'a> {
        Head { secret, scheme: Scheme::Header("x-api-key"), also: VERSION }
    }

    fn encode(&self, asking: &Asking<'_>) -> Result<Vec<u8>, Error> {
        let mut system = vec![words(&asking.conversation.system)];
        let mut messages = messages(asking);
        if asking.takes("cache_control") {
            keep(&mut system, &mut messages);
        }
        crate::recorded::json(&Body {
            model: asking.model,
            max_tokens: asking.settings.answer_tokens,
            temperature: asking.temperature(),
            stream: true,
            tools: asking.native().map(|tools| tools.iter().map(native).collect()),
            system,
            messages,
        })
    }

    fn take(&self, data: &str, draft: &mut Draft, heard: Heard<'_>) -> Result<(), Error> {
        let event = Value::Object(event(data)?);
        let at = || usize::try_from(number(&event, "/index").unwrap_or_default()).unwrap_or(usize::MAX);
        let part = |name: &str| event.get(name).unwrap_or(&Value::Null);
        match text(&event, "/type") {
            "message_start" => count(part("message").get("usage").unwrap_or(&Value::Null), draft),
            "content_block_start" => block(at(), part("content_block"), draft, heard)?,
            "content_block_delta" => delta(at(), part("delta"), draft, heard)?,
            "message_delta" => {
                count(part("usage"), draft);
                let reason = text(&event, "/delta/stop_reason");
                if !reason.is_empty() {
                    draft.reason(reason, stop_of(reason));
                }
            }
            "message_stop" => draft.end(),
            // A server that does not stream sends the message as one object.
            "message" => {
                count(part("usage"), draft);
                for (at, one) in part("content").as_array().into_iter().flatten().enumerate() {
                    block(at, one, draft, heard)?;
                }
                let reason = text(&event, "/stop_reason");
                draft.finished(reason, stop_of(reason));
            }
            "error" => return Err(garbage(format!("it reports `{}`", shorten(&said(&event))))),
            "ping" | "content_block_stop" => {}
            // The protocol may bring new events, which are passed over; what has no type is no event of it.
            "" => return Err(garbage(quoted(data))),
            _ => {}
        }
        Ok(())
    }

    fn pointer(&self, parameter: &str) -> Option<&'static str> {
        Some(match parameter {
            "temperature" => "/temperature",
            "tools" => "/tools",
            "cache_control" => "/system/0/cache_control",
            _ => return None,
        })
    }
}
