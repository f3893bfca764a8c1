//! Gemini `generateContent`, streamed.
//!
//! Thoughts are not asked for. From the third generation on the server wants the signature of its thought back with each
//! call that is told again; every request here is made anew, so the word stands there by which its maker lets a history
//! in that has none.

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
pub struct Gemini;

/// In the place of a signature, as the maker's documentation has it.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    system_instruction: Value,
    contents: Vec<Content>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Tools<'a>; 1]>,
    generation_config: Generation<'a>,
}

#[derive(Serialize)]
struct Content {
    role: &'static str,
    parts: Vec<Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    description: &'a str,
    parameters_json_schema: Ordered<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Generation<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<Ordered<'a>>,
}

/// Whether a model wants signatures: all but those of the generations before.
fn is_signed(model: &str) -> bool {
    !["gemini-1", "gemini-2", "gemma"].iter().any(|older| model.starts_with(older))
}

fn contents(asking: &Asking<'_>) -> Vec<Content> {
    let mut contents: Vec<Content> = Vec::new();
    for turn in &asking.conversation.turns {
        let (role, part) = match turn {
            Turn::User(text) => ("user", json!({ "text": text })),
            Turn::Model(text) => ("model", json!({ "text": text })),
            Turn::Picture { label, media_type, data } => {
                push(&mut contents, "user", json!({ "text": label }));
                ("user", json!({ "inlineData": { "mimeType": media_type, "data": data } }))
            }
            Turn::Call { tool, arguments, .. } => {
                let mut part = json!({ "functionCall": { "name": tool, "args": arguments } });
                if is_signed(asking.model)
                    && let Some(part) = part.as_object_mut()
                {
                    part.insert("thoughtSignature".to_owned(), json!(NO_SIGNATURE));
                }
                ("model", part)
            }
            Turn::Result { tool, content, .. } => {
                ("user", json!({ "functionResponse": { "name": tool, "response": { "output": content } } }))
            }
        };
        push(&mut contents, role, part);
    }
    contents
}

/// Roles take turns: what follows in the same role is another part of the same content.
fn push(contents: &mut Vec<Content>, role: &'static str, part: Value) {
    match contents.last_mut() {
        Some(last) if last.role == role => last.parts.push(part),
        _ => contents.push(Content { role, parts: vec![part] }),
    }
}

fn native(tool: &ToolSpec) -> Declaration<'_> {
    Declaration {
        name: &tool.name,
        description: &tool.description,
        parameters_json_schema: Ordered(&tool.parameters),
    }
}

fn part(part: &Value, draft: &mut Draft, heard: Heard<'_>) -> Result<(), Error> {
    if let Some(call) = part.get("functionCall") {
        let slot = draft.next_call()?;
        text(call, "/name").clone_into(&mut slot.name);
        slot.arguments = call.get("args").map(Value::to_string).unwrap_or_default();
        return draft.measure();
    }
    match part.get("thought").and_then(Value::as_bool) {
        Some(true) => {
            draft.think(text(part, "/text"), heard);
            Ok(())
        }
        _ => draft.say(text(part, "/text"), heard),
    }
}

fn stop_of(reason: &str) -> Stop {
    match reason {
        "MAX_TOKENS" => Stop::Cut,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE" => Stop::Filtered,
        _ => Stop::Ended,
    }
}

impl Protocol for Gemini {
    fn endpoint(&self, url: &str, model: &str) -> String {
        format!("{url}/models/{model}:streamGenerateContent?alt=sse")
    }

    fn head<'a>(&self, secret: Option<&'a str>) -> Head<'a> {
        Head { secret, scheme: Scheme::Header("x-goog-api-key"), also: &[] }
    }

    fn encode(&self, asking: &Asking<'_>) -> Result<Vec<u8>, Error> {
        let grammar = asking.grammar();
        crate::recorded::json(&Body {
            system_instruction: json!({ "parts": [{ "text": asking.conversation.system }] }),
            contents: contents(asking),
            tools: asking
                .native()
                .map(|tools| [Tools { function_declarations: tools.iter().map(native).collect() }]),
            generation_config: Generation {
                temperature: asking.temperature(),
                seed: asking.seed(),
                max_output_tokens: asking.limit(),
                response_mime_type: grammar.map(|_| "application/json"),
                response_json_schema: grammar.map(Ordered),
            },
        })
    }

    fn take(&self, data: &str, draft: &mut Draft, heard: Heard<'_>) -> Result<(), Error> {
        let event = Value::Object(event(data)?);
        if event.get("error").is_some_and(|error| !error.is_null()) {
            return Err(garbage(format!("it reports `{}`", shorten(&said(&event)))));
        }
        let known = ["candidates", "promptFeedback", "usageMetadata"];
        if !known.iter().any(|name| event.get(name).is_some()) {
            return Err(garbage(quoted(data)));
        }
        if event.get("usageMetadata").is_some() {
            let told = |name: &str| number(&event, &format!("/usageMetadata/{name}")).unwrap_or_default();
            draft.usage.tokens_in = told("promptTokenCount").saturating_add(told("toolUsePromptTokenCount"));
            draft.usage.tokens_out = told("candidatesTokenCount").saturating_add(told("thoughtsTokenCount"));
            draft.usage.tokens_cached = told("cachedContentTokenCount");
        }
        let blocked = text(&event, "/promptFeedback/blockReason");
        if !blocked.is_empty() {
            draft.finished(blocked, Stop::Filtered);
        }
        let parts = event.pointer("/candidates/0/content/parts").and_then(Value::as_array);
        for one in parts.into_iter().flatten() {
            part(one, draft, heard)?;
        }
        let reason = text(&event, "/candidates/0/finishReason");
        if !reason.is_empty() {
            draft.finished(reason, stop_of(reason));
        }
        Ok(())
    }

    fn pointer(&self, parameter: &str) -> Option<&'static str> {
        Some(match parameter {
            "max_tokens" => "/generationConfig/maxOutputTokens",
            "temperature" => "/generationConfig/temperature",
            "seed" => "/generationConfig/seed",
            "response_format" => "/generationConfig/responseJsonSchema",
            "tools" => "/tools",
            _ => return None,
        })
    }
}
