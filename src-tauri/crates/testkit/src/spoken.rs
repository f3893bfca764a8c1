//! What a server of models streams, in every protocol.

use model::task::ModelApi;
use serde_json::{Value, json};

/// An answer that a test has a model give.
#[derive(Debug, Clone, Default)]
pub struct Spoken {
    /// What it reasons before.
    pub thought: String,
    /// What it says.
    pub text: String,
    /// What it asks for: a tool and its arguments.
    pub call: Option<(String, Value)>,
    /// Tokens read, and written.
    pub tokens: (u64, u64),
}

impl Spoken {
    /// A call, by the protocol's own means where `native`, else written into the text.
    pub fn call(tool: &str, arguments: &Value, native: bool) -> Self {
        let call = native.then(|| (tool.to_owned(), arguments.clone()));
        let text =
            if native { String::new() } else { json!({ "tool": tool, "arguments": arguments }).to_string() };
        Self { text, call, tokens: (10, 77), ..Self::default() }
    }

    /// The body of a streamed response.
    pub fn stream(&self, api: ModelApi) -> String {
        let events = match api {
            ModelApi::Openai => self.chat(),
            ModelApi::Responses => self.responses(),
            ModelApi::Anthropic => self.anthropic(),
            ModelApi::Gemini => self.gemini(),
            ModelApi::Ollama => self.ollama(),
        };
        let line = |event: &Value| match api {
            ModelApi::Ollama => format!("{event}\n"),
            _ => format!("data: {event}\n\n"),
        };
        events.iter().map(line).collect()
    }

    fn chat(&self) -> Vec<Value> {
        let delta = |delta: Value| json!({ "choices": [{ "index": 0, "delta": delta }] });
        let mut events =
            vec![delta(json!({ "reasoning_content": self.thought })), delta(json!({ "content": self.text }))];
        if let Some((tool, arguments)) = &self.call {
            let function = json!({ "name": tool, "arguments": arguments.to_string() });
            let call = json!({ "index": 0, "id": "call_1", "type": "function", "function": function });
            events.push(delta(json!({ "tool_calls": [call] })));
        }
        let usage = json!({ "prompt_tokens": self.tokens.0, "completion_tokens": self.tokens.1 });
        events.push(
            json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }], "usage": usage }),
        );
        events
    }

    fn responses(&self) -> Vec<Value> {
        let mut events = vec![
            json!({ "type": "response.created", "response": { "object": "response", "status": "in_progress" } }),
            json!({ "type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": self.thought }),
            json!({ "type": "response.output_text.delta", "output_index": 1, "delta": self.text }),
        ];
        if let Some((tool, arguments)) = &self.call {
            let item = json!({
                "id": "fc_1", "type": "function_call", "call_id": "call_1", "name": tool, "arguments": arguments.to_string(),
            });
            events.push(json!({ "type": "response.output_item.done", "output_index": 2, "item": item }));
        }
        let usage = json!({ "input_tokens": self.tokens.0, "output_tokens": self.tokens.1 });
        let whole = json!({ "object": "response", "status": "completed", "output": [], "usage": usage });
        events.push(json!({ "type": "response.completed", "response": whole }));
        events
    }

    fn anthropic(&self) -> Vec<Value> {
        let usage = json!({ "input_tokens": self.tokens.0, "output_tokens": 1 });
        let delta =
            |at: u32, delta: Value| json!({ "type": "content_block_delta", "index": at, "delta": delta });
        let mut events = vec![
            json!({ "type": "message_start", "message": { "type": "message", "role": "assistant", "usage": usage } }),
            delta(0, json!({ "type": "thinking_delta", "thinking": self.thought })),
            delta(1, json!({ "type": "text_delta", "text": self.text })),
        ];
        if let Some((tool, arguments)) = &self.call {
            let block = json!({ "type": "tool_use", "id": "toolu_1", "name": tool, "input": {} });
            events.push(json!({ "type": "content_block_start", "index": 2, "content_block": block }));
            events
                .push(delta(2, json!({ "type": "input_json_delta", "partial_json": arguments.to_string() })));
        }
        let end = json!({ "stop_reason": if self.call.is_some() { "tool_use" } else { "end_turn" } });
        events.push(
            json!({ "type": "message_delta", "delta": end, "usage": { "output_tokens": self.tokens.1 } }),
        );
        events.push(json!({ "type": "message_stop" }));
        events
    }

    fn gemini(&self) -> Vec<Value> {
        let mut parts = vec![json!({ "text": self.thought, "thought": true }), json!({ "text": self.text })];
        if let Some((tool, arguments)) = &self.call {
            parts.push(json!({ "functionCall": { "name": tool, "args": arguments }, "thoughtSignature": "c2lnbmVk" }));
        }
        let usage = json!({ "promptTokenCount": self.tokens.0, "candidatesTokenCount": self.tokens.1 });
        let content = json!({ "role": "model", "parts": parts });
        vec![
            json!({ "candidates": [{ "content": content, "finishReason": "STOP" }], "usageMetadata": usage }),
        ]
    }

    fn ollama(&self) -> Vec<Value> {
        let message = |message: Value| json!({ "model": "m", "message": message, "done": false });
        let mut events = vec![
            message(json!({ "role": "assistant", "content": "", "thinking": self.thought })),
            message(json!({ "role": "assistant", "content": self.text })),
        ];
        if let Some((tool, arguments)) = &self.call {
            let call = json!({ "function": { "name": tool, "arguments": arguments } });
            events.push(message(json!({ "role": "assistant", "content": "", "tool_calls": [call] })));
        }
        events.push(json!({
            "model": "m", "message": { "role": "assistant", "content": "" }, "done": true, "done_reason": "stop",
            "prompt_eval_count": self.tokens.0, "eval_count": self.tokens.1,
        }));
        events
    }
}
