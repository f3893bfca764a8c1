//! A model behind a server that speaks chat completions, as llama.cpp serves one: it says what a test has it say, holds
//! it to the grammar of each request, and tells how large it is.

use crate::server::{Answers, Heard, Server};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A model.
#[derive(Debug, Clone)]
pub struct Chat {
    server: Server,
}

/// How large a model says it is.
#[derive(Debug, Clone, Copy)]
pub struct Large {
    /// Tokens that prompt and answer together may have.
    pub context: u32,
    /// Weights.
    pub weights: u64,
}

impl Large {
    /// As Qwen2.5-Coder-1.5B is, with all the context it knows.
    pub const SMALL: Self = Self { context: 32_768, weights: 1_543_714_304 };
    /// A model that is offered all tools.
    pub const STRONG: Self = Self { context: 131_072, weights: 72_706_203_648 };
}

impl Chat {
    /// A model that gives these answers in turn, and the last of them from then on: an object is a call, a list is
    /// several at once, a text is said as it is. Calls are made by the protocol's own means where a request offers tools.
    pub fn saying(large: Large, answers: Vec<Value>) -> Self {
        let turn = AtomicUsize::new(0);
        Self::begin(large, move |_| {
            let at = turn.fetch_add(1, Ordering::SeqCst).min(answers.len().saturating_sub(1));
            answers.get(at).cloned().unwrap_or_default()
        })
    }

    /// A model that would rather do the first of these than the next: each turn it does the first that the grammar lets
    /// it do, and each but the last only once.
    pub fn wishing(large: Large, wishes: Vec<Value>) -> Self {
        let left = std::sync::Mutex::new(wishes);
        Self::begin(large, move |request| {
            let mut left = left.lock().expect("no poison");
            let schema = request.pointer("/response_format/json_schema/schema");
            let lets = |wish: &Value| schema.is_none_or(|schema| permits(schema, wish));
            let at = left.iter().position(lets).expect("a wish that the grammar lets it have");
            if left.len() > 1 { left.remove(at) } else { left.last().cloned().unwrap_or_default() }
        })
    }

    /// A model that answers a request as it is told.
    pub fn begin(large: Large, says: impl Fn(&Value) -> Value + Send + 'static) -> Self {
        Self { server: Server::begin(move |heard| answer(heard, large, &says)) }
    }

    /// Its address, as `--model` takes it.
    pub fn address(&self) -> String {
        format!("openai:{}#words", self.server.url("/v1"))
    }

    /// The requests for an answer, in order.
    pub fn requests(&self) -> Vec<Value> {
        let heard = self.server.heard();
        let bodies = heard.iter().filter(|heard| heard.line.starts_with("POST /v1/chat/completions"));
        bodies.map(|heard| serde_json::from_str(&heard.body).unwrap_or_default()).collect()
    }
}

fn answer(heard: &Heard, large: Large, says: &impl Fn(&Value) -> Value) -> Answers {
    let json = |value: Value| {
        Answers::With(200, vec![("Content-Type", "application/json".to_owned())], value.to_string())
    };
    match heard.line.as_str() {
        "GET /v1/models" => json(json!({ "object": "list", "data": [{
            "id": "words", "object": "model", "owned_by": "llamacpp",
            "meta": { "n_ctx": large.context, "n_params": large.weights },
        }] })),
        "GET /props" => json(json!({ "default_generation_settings": { "n_ctx": large.context } })),
        "POST /v1/chat/completions" => {
            let request: Value = serde_json::from_str(&heard.body).unwrap_or_default();
            let said = says(&request);
            // Words, roughly, so that what is counted grows with what is sent.
            let (read, written) = (heard.body.len() / 4, said.to_string().len() / 4 + 1);
            let delta = if request.get("tools").is_some() && !said.is_string() {
                json!({ "tool_calls": calls(&said) })
            } else {
                json!({ "content": said.as_str().map_or_else(|| said.to_string(), str::to_owned) })
            };
            let words = json!({ "choices": [{ "index": 0, "delta": delta }] });
            let end = json!({
                "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }],
                "usage": { "prompt_tokens": read, "completion_tokens": written },
            });
            let body = format!("data: {words}\n\ndata: {end}\n\ndata: [DONE]\n\n");
            Answers::With(200, vec![("Content-Type", "text/event-stream".to_owned())], body)
        }
        _ => Answers::With(404, Vec::new(), String::new()),
    }
}

/// Calls as the protocol writes them.
fn calls(said: &Value) -> Vec<Value> {
    let all = said.as_array().map_or_else(|| std::slice::from_ref(said), Vec::as_slice);
    let calls = all.iter().enumerate().map(|(index, call)| {
        let arguments = call.get("arguments").map(Value::to_string).unwrap_or_default();
        let function = json!({ "name": call.get("tool"), "arguments": arguments });
        json!({ "index": index, "id": format!("call_{index}"), "type": "function", "function": function })
    });
    calls.collect()
}

/// Whether a grammar made of this schema lets a model write this value; as much of JSON Schema as requests use.
fn permits(schema: &Value, value: &Value) -> bool {
    let any = |key: &str| schema.get(key).and_then(Value::as_array);
    if let Some(any) = any("anyOf").or_else(|| any("oneOf")) {
        return any.iter().any(|one| permits(one, value));
    }
    if let Some(only) = schema.get("const") {
        return only == value;
    }
    if let Some(among) = any("enum") {
        return among.contains(value);
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => {
            let Some(object) = value.as_object() else { return false };
            let known = schema.get("properties").and_then(Value::as_object);
            let required = any("required").map(Vec::as_slice).unwrap_or_default();
            required.iter().filter_map(Value::as_str).all(|name| object.contains_key(name))
                && object.iter().all(|(name, value)| {
                    known.and_then(|known| known.get(name)).is_some_and(|schema| permits(schema, value))
                })
        }
        Some("array") => {
            let items = schema.get("items").unwrap_or(&Value::Bool(true));
            value.as_array().is_some_and(|all| all.iter().all(|one| permits(items, one)))
        }
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("boolean") => value.is_boolean(),
        _ => true,
    }
}
