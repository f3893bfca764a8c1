//! OpenAI Responses, streamed.
//!
//! Nothing is stored there, and no item of reasoning goes back: the calls that are told again carry no identifier of the
//! server's own, so that it asks for none.

use super::{Asking, Protocol, event, number, text};
use crate::Error;
use crate::server::conversation::Turn;
use crate::server::draft::{Draft, Heard, garbage, quoted, said, shorten};
use crate::server::ordered::Ordered;
use model::proposal::{Stop, ToolSpec};
use serde::Serialize;
use serde_json::{Value, json};

/// The protocol.
pub struct Responses;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    instructions: &'a str,
    input: Vec<Value>,
    stream: bool,
    store: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<Tool<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Text<'a>>,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: Ordered<'a>,
    strict: bool,
}

#[derive(Serialize)]
struct Text<'a> {
    format: Format<'a>,
}

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    name: &'static str,
    strict: bool,
    schema: Ordered<'a>,
}

fn input(asking: &Asking<'_>) -> Vec<Value> {
    let item = |turn: &Turn| match turn {
        Turn::User(text) => json!({ "role": "user", "content": text }),
        Turn::Model(text) => json!({ "role": "assistant", "content": text }),
        Turn::Picture { label, media_type, data } => json!({ "role": "user", "content": [
            { "type": "input_text", "text": label },
            { "type": "input_image", "image_url": format!("data:{media_type};base64,{data}") },
        ] }),
        Turn::Call { id, tool, arguments } => json!({
            "type": "function_call", "call_id": id, "name": tool, "arguments": arguments.to_string(),
        }),
        Turn::Result { id, content, .. } => {
            json!({ "type": "function_call_output", "call_id": id, "output": content })
        }
    };
    asking.conversation.turns.iter().map(item).collect()
}

fn native(tool: &ToolSpec) -> Tool<'_> {
    Tool {
        r#type: "function",
        name: &tool.name,
        description: &tool.description,
        parameters: Ordered(&tool.parameters),
        strict: false,
    }
}

/// What stands in a finished response, for all that no event of the stream has told.
fn whole(response: &Value, draft: &mut Draft, heard: Heard<'_>) -> Result<(), Error> {
    let streamed = draft.has_begun();
    let output = response.get("output").and_then(Value::as_array);
    for (at, item) in output.into_iter().flatten().enumerate().filter(|_| !streamed) {
        for part in item.get("content").and_then(Value::as_array).into_iter().flatten() {
            if text(part, "/type") == "reasoning_text" {
                draft.think(text(part, "/text"), heard);
            }
            if text(part, "/type") == "output_text" {
                draft.say(text(part, "/text"), heard)?;
            }
            if text(part, "/type") == "refusal" {
                draft.say(text(part, "/refusal"), heard)?;
                draft.stop(Stop::Refused);
            }
        }
        for part in item.get("summary").and_then(Value::as_array).into_iter().flatten() {
            draft.think(text(part, "/text"), heard);
        }
        if text(item, "/type") == "function_call" {
            let slot = draft.call(at)?;
            text(item, "/name").clone_into(&mut slot.name);
            text(item, "/arguments").clone_into(&mut slot.arguments);
            draft.measure()?;
        }
    }
    let told = |pointer: &str| number(response, pointer).unwrap_or_default();
    draft.usage.tokens_in = told("/usage/input_tokens");
    draft.usage.tokens_out = told("/usage/output_tokens");
    draft.usage.tokens_cached = told("/usage/input_tokens_details/cached_tokens");
    let (status, why) = (text(response, "/status"), text(response, "/incomplete_details/reason"));
    match (status, why) {
        ("incomplete", "content_filter") => draft.finished(why, Stop::Filtered),
        ("incomplete", why) => draft.finished(if why.is_empty() { status } else { why }, Stop::Cut),
        ("completed", _) => draft.finished(status, Stop::Ended),
        _ => return Err(failed(response)),
    }
    Ok(())
}

fn failed(event: &Value) -> Error {
    let error = event.pointer("/response/error").or_else(|| event.get("error"));
    garbage(format!("it reports `{}`", shorten(&said(error.filter(|e| !e.is_null()).unwrap_or(event)))))
}

impl Protocol for Responses {
    fn endpoint(&self, url: &str, _: &str) -> String {
        format!("{url}/responses")
    }

    fn encode(&self, asking: &Asking<'_>) -> Result<Vec<u8>, Error> {
        crate::recorded::json(&Body {
            model: asking.model,
            instructions: &asking.conversation.system,
            input: input(asking),
            stream: true,
            store: false,
            temperature: asking.temperature(),
            max_output_tokens: asking.limit(),
            tools: asking.native().map(|tools| tools.iter().map(native).collect()),
            text: asking.grammar().map(|schema| Text {
                format: Format {
                    r#type: "json_schema",
                    name: "action",
                    strict: true,
                    schema: Ordered(schema),
                },
            }),
        })
    }

    fn take(&self, data: &str, draft: &mut Draft, heard: Heard<'_>) -> Result<(), Error> {
        if data.trim() == "[DONE]" {
            return Ok(());
        }
        let event = Value::Object(event(data)?);
        let at =
            || usize::try_from(number(&event, "/output_index").unwrap_or_default()).unwrap_or(usize::MAX);
        match text(&event, "/type") {
            "response.output_text.delta" => draft.say(text(&event, "/delta"), heard)?,
            "response.refusal.delta" => {
                draft.say(text(&event, "/delta"), heard)?;
                draft.stop(Stop::Refused);
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                draft.think(text(&event, "/delta"), heard);
            }
            "response.reasoning_summary_part.added" if draft.has_thought() => draft.think("\n\n", heard),
            "response.output_item.added" if text(&event, "/item/type") == "function_call" => {
                let slot = draft.call(at())?;
                text(&event, "/item/name").clone_into(&mut slot.name);
                text(&event, "/item/arguments").clone_into(&mut slot.arguments);
                draft.measure()?;
            }
            "response.function_call_arguments.delta" => {
                draft.call(at())?.arguments.push_str(text(&event, "/delta"));
                draft.measure()?;
            }
            // What is done is told whole, whatever was told of it before.
            "response.output_item.done" if text(&event, "/item/type") == "function_call" => {
                let slot = draft.call(at())?;
                text(&event, "/item/name").clone_into(&mut slot.name);
                text(&event, "/item/arguments").clone_into(&mut slot.arguments);
                draft.measure()?;
            }
            "response.completed" | "response.incomplete" => {
                whole(event.get("response").unwrap_or(&Value::Null), draft, heard)?;
            }
            "response.failed" | "error" => return Err(failed(&event)),
            "" if text(&event, "/object") == "response" => whole(&event, draft, heard)?,
            "" => return Err(garbage(quoted(data))),
            _ => {}
        }
        Ok(())
    }

    fn pointer(&self, parameter: &str) -> Option<&'static str> {
        Some(match parameter {
            "max_tokens" => "/max_output_tokens",
            "temperature" => "/temperature",
            "response_format" => "/text/format",
            "tools" => "/tools",
            _ => return None,
        })
    }
}
