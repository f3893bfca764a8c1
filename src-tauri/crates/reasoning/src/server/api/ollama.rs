//! Ollama's own chat, streamed as lines of JSON.

use super::{Asking, Protocol, event, number, text};
use crate::Error;
use crate::server::conversation::Turn;
use crate::server::draft::{Draft, Heard, garbage, quoted, said, shorten};
use crate::server::ordered::Ordered;
use model::proposal::{Stop, ToolSpec};
use serde::Serialize;
use serde_json::{Value, json};

/// The protocol.
pub struct Ollama;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Value>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<Tool<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Ordered<'a>>,
    options: Options,
}

#[derive(Serialize)]
struct Options {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_predict: Option<u32>,
    /// Otherwise the server takes its own standard and cuts the beginning of what it is told, without a word.
    num_ctx: u32,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: Ordered<'a>,
}

fn messages(asking: &Asking<'_>) -> Vec<Value> {
    let message = |turn: &Turn| match turn {
        Turn::User(text) => json!({ "role": "user", "content": text }),
        Turn::Model(text) => json!({ "role": "assistant", "content": text }),
        Turn::Picture { label, data, .. } => json!({ "role": "user", "content": label, "images": [data] }),
        Turn::Call { tool, arguments, .. } => json!({
            "role": "assistant", "content": "",
            "tool_calls": [{ "function": { "name": tool, "arguments": arguments } }],
        }),
        Turn::Result { tool, content, .. } => {
            json!({ "role": "tool", "tool_name": tool, "content": content })
        }
    };
    let system = json!({ "role": "system", "content": asking.conversation.system });
    std::iter::once(system).chain(asking.conversation.turns.iter().map(message)).collect()
}

fn native(tool: &ToolSpec) -> Tool<'_> {
    let function =
        Function { name: &tool.name, description: &tool.description, parameters: Ordered(&tool.parameters) };
    Tool { r#type: "function", function }
}

impl Protocol for Ollama {
    fn endpoint(&self, url: &str, _: &str) -> String {
        format!("{url}/api/chat")
    }

    fn sends_lines(&self) -> bool {
        true
    }

    fn encode(&self, asking: &Asking<'_>) -> Result<Vec<u8>, Error> {
        crate::recorded::json(&Body {
            model: asking.model,
            messages: messages(asking),
            stream: true,
            tools: asking.native().map(|tools| tools.iter().map(native).collect()),
            format: asking.grammar().map(Ordered),
            options: Options {
                temperature: asking.temperature(),
                seed: asking.seed(),
                num_predict: asking.limit(),
                num_ctx: asking.settings.context_tokens,
            },
        })
    }

    fn take(&self, data: &str, draft: &mut Draft, heard: Heard<'_>) -> Result<(), Error> {
        let event = Value::Object(event(data)?);
        if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
            return Err(garbage(format!("it reports `{}`", shorten(&said(error)))));
        }
        if event.get("message").is_none() && event.get("done").is_none() {
            return Err(garbage(quoted(data)));
        }
        draft.think(text(&event, "/message/thinking"), heard);
        draft.say(text(&event, "/message/content"), heard)?;
        let calls = event.pointer("/message/tool_calls").and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            let slot = draft.next_call()?;
            text(call, "/function/name").clone_into(&mut slot.name);
            slot.arguments = call.pointer("/function/arguments").map(Value::to_string).unwrap_or_default();
            draft.measure()?;
        }
        if event.get("done").and_then(Value::as_bool) == Some(true) {
            draft.usage.tokens_in = number(&event, "/prompt_eval_count").unwrap_or_default();
            draft.usage.tokens_out = number(&event, "/eval_count").unwrap_or_default();
            let reason = text(&event, "/done_reason");
            draft.finished(reason, if reason == "length" { Stop::Cut } else { Stop::Ended });
        }
        Ok(())
    }

    fn pointer(&self, parameter: &str) -> Option<&'static str> {
        Some(match parameter {
            "max_tokens" => "/options/num_predict",
            "temperature" => "/options/temperature",
            "seed" => "/options/seed",
            "response_format" => "/format",
            "tools" => "/tools",
            _ => return None,
        })
    }
}
