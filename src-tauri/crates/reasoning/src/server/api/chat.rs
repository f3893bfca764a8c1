//! OpenAI-compatible chat completions, streamed: llama.cpp, vLLM, LM Studio, OpenRouter, OpenAI.

use super::{Asking, Protocol};
use crate::Error;
use crate::server::conversation::Turn;
use crate::server::draft::{Draft, Heard, garbage, said, shorten, unreadable};
use crate::server::ordered::Ordered;
use model::proposal::{Stop, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The protocol.
pub struct Chat;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Message>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<Tool<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Format<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Message {
    role: &'static str,
    #[serde(skip_serializing_if = "Content::is_empty")]
    content: Content,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Called>,
    #[serde(skip_serializing_if = "String::is_empty")]
    tool_call_id: String,
}

/// Words, or words and pictures: servers that know no pictures know no parts.
#[derive(Serialize)]
#[serde(untagged)]
enum Content {
    Words(String),
    Parts(Vec<Value>),
}

impl Content {
    const fn is_empty(&self) -> bool {
        match self {
            Self::Words(words) => words.is_empty(),
            Self::Parts(parts) => parts.is_empty(),
        }
    }

    fn add(&mut self, more: &str) {
        match self {
            Self::Words(words) => {
                words.push('\n');
                words.push_str(more);
            }
            Self::Parts(parts) => parts.push(words_of(more)),
        }
    }

    fn show(&mut self, label: &str, media_type: &str, data: &str) {
        let mut parts = match std::mem::replace(self, Self::Parts(Vec::new())) {
            Self::Words(words) if words.is_empty() => Vec::new(),
            Self::Words(words) => vec![words_of(&words)],
            Self::Parts(parts) => parts,
        };
        let url = format!("data:{media_type};base64,{data}");
        parts.extend([words_of(label), json!({ "type": "image_url", "image_url": { "url": url } })]);
        *self = Self::Parts(parts);
    }
}

fn words_of(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

impl Message {
    fn of(role: &'static str, content: &str) -> Self {
        let content = Content::Words(content.to_owned());
        Self { role, content, tool_calls: Vec::new(), tool_call_id: String::new() }
    }

    /// Whether a person's words that follow are joined to it: templates of many models refuse them behind a tool's, and two
    /// messages of one role.
    fn takes_words(&self) -> bool {
        self.role == "tool" || matches!((self.role, &self.content), ("user", Content::Parts(_)))
    }
}

#[derive(Serialize)]
struct Called {
    id: String,
    r#type: &'static str,
    function: CalledFunction,
}

#[derive(Serialize)]
struct CalledFunction {
    name: String,
    arguments: String,
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

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    json_schema: Schema<'a>,
}

#[derive(Serialize)]
struct Schema<'a> {
    name: &'static str,
    strict: bool,
    schema: Ordered<'a>,
}

fn native(tool: &ToolSpec) -> Tool<'_> {
    let function =
        Function { name: &tool.name, description: &tool.description, parameters: Ordered(&tool.parameters) };
    Tool { r#type: "function", function }
}

fn messages(asking: &Asking<'_>) -> Vec<Message> {
    let mut messages = vec![Message::of("system", &asking.conversation.system)];
    for turn in &asking.conversation.turns {
        match turn {
            Turn::User(text) => match messages.last_mut() {
                Some(last) if last.takes_words() => last.content.add(text),
                _ => messages.push(Message::of("user", text)),
            },
            Turn::Picture { label, media_type, data } => {
                // A tool's message holds none.
                if messages.last().is_none_or(|last| last.role != "user") {
                    messages.push(Message::of("user", ""));
                }
                if let Some(last) = messages.last_mut() {
                    last.content.show(label, media_type, data);
                }
            }
            Turn::Model(text) => messages.push(Message::of("assistant", text)),
            Turn::Call { id, tool, arguments } => {
                let function = CalledFunction { name: tool.clone(), arguments: arguments.to_string() };
                let called = Called { id: id.clone(), r#type: "function", function };
                messages.push(Message { tool_calls: vec![called], ..Message::of("assistant", "") });
            }
            Turn::Result { id, content, .. } => {
                messages.push(Message { tool_call_id: id.clone(), ..Message::of("tool", content) });
            }
        }
    }
    messages
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Tokens>,
    #[serde(default)]
    error: Option<Value>,
    /// As llama.cpp tells it.
    #[serde(default)]
    prompt_progress: Option<Read>,
}

#[derive(Deserialize)]
struct Read {
    #[serde(default)]
    processed: u64,
    #[serde(default)]
    total: u64,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Option<Delta>,
    #[serde(default)]
    message: Option<Delta>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    content: Option<String>,
    /// As llama.cpp, DeepSeek and vLLM name it.
    #[serde(default)]
    reasoning_content: Option<String>,
    /// As OpenRouter and newer vLLM name it; others may put something else there.
    #[serde(default)]
    reasoning: Option<Value>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    #[serde(default)]
    index: Option<usize>,
    #[serde(default)]
    function: Option<FunctionDelta>,
}

#[derive(Deserialize)]
struct FunctionDelta {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
    #[serde(default)]
    prompt_tokens_details: Option<PromptTokens>,
    /// As DeepSeek names what it had in its cache.
    #[serde(default)]
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct PromptTokens {
    #[serde(default)]
    cached_tokens: Option<u64>,
}

fn merge(delta: Delta, draft: &mut Draft, heard: Heard<'_>) -> Result<(), Error> {
    let reasoning = delta.reasoning.as_ref().and_then(Value::as_str);
    if let Some(thought) = delta.reasoning_content.as_deref().or(reasoning) {
        draft.think(thought, heard);
    }
    if let Some(text) = &delta.content {
        draft.say(text, heard)?;
    }
    if let Some(refusal) = delta.refusal.filter(|words| !words.is_empty()) {
        draft.say(&refusal, heard)?;
        draft.stop(Stop::Refused);
    }
    for (position, call) in delta.tool_calls.into_iter().flatten().enumerate() {
        let Some(function) = call.function else { continue };
        let slot = draft.call(call.index.unwrap_or(position))?;
        slot.name.push_str(&function.name.unwrap_or_default());
        match function.arguments {
            // Some servers send the object itself instead of its text.
            Some(Value::String(text)) => slot.arguments.push_str(&text),
            Some(Value::Null) | None => {}
            Some(object) => slot.arguments = object.to_string(),
        }
        draft.measure()?;
    }
    Ok(())
}

impl Protocol for Chat {
    fn endpoint(&self, url: &str, _: &str) -> String {
        format!("{url}/chat/completions")
    }

    fn encode(&self, asking: &Asking<'_>) -> Result<Vec<u8>, Error> {
        // OpenAI's own models know the newer name of the limit only, everybody else's the older one.
        let newer = asking.url.starts_with("https://api.openai.com/") || !asking.takes("max_tokens");
        let limit = asking.settings.answer_tokens;
        let body = Body {
            model: asking.model,
            messages: messages(asking),
            stream: true,
            stream_options: asking.takes("stream_options").then_some(StreamOptions { include_usage: true }),
            temperature: asking.temperature(),
            max_tokens: (!newer).then_some(limit),
            max_completion_tokens: newer.then_some(limit),
            seed: asking.seed(),
            tools: asking.native().map(|tools| tools.iter().map(native).collect()),
            response_format: asking.grammar().map(|schema| Format {
                r#type: "json_schema",
                json_schema: Schema { name: "action", strict: true, schema: Ordered(schema) },
            }),
        };
        crate::recorded::json(&body)
    }

    fn take(&self, data: &str, draft: &mut Draft, heard: Heard<'_>) -> Result<(), Error> {
        if data.trim() == "[DONE]" {
            draft.end();
            return Ok(());
        }
        let chunk: Chunk = serde_json::from_str(data).map_err(|e| unreadable(&e, data))?;
        if let Some(error) = chunk.error {
            return Err(garbage(format!("it reports `{}`", shorten(&said(&error)))));
        }
        if let Some(read) = chunk.prompt_progress {
            heard(crate::Delta::Reading { done: read.processed, of: read.total });
        }
        if let Some(tokens) = chunk.usage {
            let details = tokens.prompt_tokens_details.and_then(|details| details.cached_tokens);
            draft.usage.tokens_in = tokens.prompt_tokens;
            draft.usage.tokens_out = tokens.completion_tokens;
            draft.usage.tokens_cached = details.or(tokens.prompt_cache_hit_tokens).unwrap_or_default();
        }
        // Only one choice is ever asked for.
        let Some(choice) = chunk.choices.into_iter().next() else { return Ok(()) };
        if let Some(delta) = choice.delta.or(choice.message) {
            merge(delta, draft, heard)?;
        }
        if let Some(reason) = choice.finish_reason {
            draft.finished(
                &reason,
                match reason.as_str() {
                    "length" | "max_tokens" => Stop::Cut,
                    "content_filter" => Stop::Filtered,
                    _ => Stop::Ended,
                },
            );
        }
        Ok(())
    }

    fn pointer(&self, parameter: &str) -> Option<&'static str> {
        Some(match parameter {
            "max_tokens" => "/max_tokens",
            "temperature" => "/temperature",
            "seed" => "/seed",
            "stream_options" => "/stream_options",
            "response_format" => "/response_format",
            "tools" => "/tools",
            _ => return None,
        })
    }
}
