//! What a model was shown and what it answered, as turns of text, whichever protocol they were sent in.

use model::proposal::Answer;
use serde_json::{Value, json};
use training::{Role, Turn};

/// The turns of a request; none where it is in no form that is known, or shows more than text.
pub(super) fn prompt_of(request: &[u8]) -> Option<Vec<Turn>> {
    let body: Value = serde_json::from_slice(request).ok()?;
    let mut turns = Vec::new();
    let system = ["instructions", "system", "system_instruction", "systemInstruction"];
    for rules in system.iter().filter_map(|field| body.get(*field)) {
        let rules = rules.get("parts").unwrap_or(rules);
        push(&mut turns, Role::System, text_of(rules)?);
    }
    let said = ["messages", "input", "contents"].iter().find_map(|field| body.get(*field)?.as_array())?;
    for message in said {
        take(&mut turns, message)?;
    }
    turns.iter().any(|turn| turn.role != Role::System).then_some(turns)
}

/// The answer as it is learned: its words, or the acts that it asks for.
pub(super) fn answer_of(answer: &Answer) -> String {
    if answer.calls.is_empty() {
        return answer.text.trim().to_owned();
    }
    let calls: Vec<String> = answer.calls.iter().map(|call| call_text(&call.name, &call.arguments)).collect();
    calls.join("\n")
}

fn call_text(tool: &str, arguments: &Value) -> String {
    json!({ "tool": tool, "arguments": arguments }).to_string()
}

fn push(turns: &mut Vec<Turn>, role: Role, content: String) {
    if !content.is_empty() {
        turns.push(Turn { role, content });
    }
}

fn take(turns: &mut Vec<Turn>, message: &Value) -> Option<()> {
    let word = |field: &str| message.get(field).and_then(Value::as_str);
    match word("type") {
        Some("function_call") => {
            push(turns, Role::Assistant, call_text(word("name")?, &arguments(message.get("arguments"))));
            return Some(());
        }
        Some("function_call_output") => {
            push(turns, Role::Tool, text_of(message.get("output")?)?);
            return Some(());
        }
        _ => {}
    }
    let has_pictures = message.get("images").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
    if has_pictures {
        return None;
    }
    let role = match word("role")? {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" | "model" => Role::Assistant,
        "tool" => Role::Tool,
        _ => return None,
    };
    match message.get("content").or_else(|| message.get("parts")) {
        Some(Value::Array(parts)) => parts.iter().try_for_each(|part| take_part(turns, role, part))?,
        Some(Value::Null) | None => {}
        Some(content) => push(turns, role, text_of(content)?),
    }
    for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
        let function = call.get("function")?;
        let name = function.get("name").and_then(Value::as_str)?;
        push(turns, Role::Assistant, call_text(name, &arguments(function.get("arguments"))));
    }
    Some(())
}

/// One part of a message: words, a call, or what came of one.
fn take_part(turns: &mut Vec<Turn>, role: Role, part: &Value) -> Option<()> {
    let call = part.get("functionCall").or_else(|| part.get("function_call"));
    let came = part.get("functionResponse").or_else(|| part.get("function_response"));
    match (part.get("type").and_then(Value::as_str), call, came) {
        (_, Some(call), _) => {
            let name = call.get("name").and_then(Value::as_str)?;
            push(turns, Role::Assistant, call_text(name, &arguments(call.get("args"))));
        }
        (_, _, Some(came)) => {
            let output = came.pointer("/response/output").or_else(|| came.get("response"))?;
            push(turns, Role::Tool, output.as_str().map_or_else(|| output.to_string(), str::to_owned));
        }
        (Some("tool_use"), ..) => {
            let name = part.get("name").and_then(Value::as_str)?;
            push(turns, Role::Assistant, call_text(name, &arguments(part.get("input"))));
        }
        (Some("tool_result"), ..) => push(turns, Role::Tool, text_of(part.get("content")?)?),
        _ => push(turns, role, text_of(part)?),
    }
    Some(())
}

/// Arguments of a call: some protocols send them as a text.
fn arguments(given: Option<&Value>) -> Value {
    match given {
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        Some(object) => object.clone(),
        None => json!({}),
    }
}

/// Words alone: a text, a part with one, or several of them, a line apart.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts: Vec<String> = parts.iter().map(text_of).collect::<Option<_>>()?;
            Some(texts.join("\n"))
        }
        Value::Object(part) => {
            let is_text = part.get("type").and_then(Value::as_str).is_none_or(|kind| kind.ends_with("text"));
            part.get("text").filter(|_| is_text).and_then(Value::as_str).map(str::to_owned)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::proposal::ToolCall;

    fn told(request: &Value) -> Option<Vec<(Role, String)>> {
        let turns = prompt_of(request.to_string().as_bytes())?;
        Some(turns.into_iter().map(|turn| (turn.role, turn.content)).collect())
    }

    #[test]
    fn one_conversation_is_the_same_turns_in_every_protocol() {
        let call = json!({ "path": "a" });
        let as_text = call.to_string();
        let chat = json!({ "messages": [
            { "role": "system", "content": "Be brief." }, { "role": "user", "content": "Look." },
            { "role": "assistant", "tool_calls": [{ "id": "1", "type": "function", "function": { "name": "read", "arguments": as_text } }] },
            { "role": "tool", "content": "It says a.", "tool_call_id": "1" },
        ] });
        let anthropic = json!({ "system": [{ "type": "text", "text": "Be brief." }], "messages": [
            { "role": "user", "content": [{ "type": "text", "text": "Look." }] },
            { "role": "assistant", "content": [{ "type": "tool_use", "id": "1", "name": "read", "input": call }] },
            { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "1", "content": "It says a." }] },
        ] });
        let responses = json!({ "instructions": "Be brief.", "input": [
            { "role": "user", "content": "Look." },
            { "type": "function_call", "call_id": "1", "name": "read", "arguments": as_text },
            { "type": "function_call_output", "call_id": "1", "output": "It says a." },
        ] });
        let gemini = json!({ "systemInstruction": { "parts": [{ "text": "Be brief." }] }, "contents": [
            { "role": "user", "parts": [{ "text": "Look." }] },
            { "role": "model", "parts": [{ "functionCall": { "name": "read", "args": call } }] },
            { "role": "user", "parts": [{ "functionResponse": { "name": "read", "response": { "output": "It says a." } } }] },
        ] });
        let ollama = json!({ "messages": [
            { "role": "system", "content": "Be brief." }, { "role": "user", "content": "Look." },
            { "role": "assistant", "content": "", "tool_calls": [{ "function": { "name": "read", "arguments": call } }] },
            { "role": "tool", "tool_name": "read", "content": "It says a." },
        ] });
        let wanted = told(&chat).expect("turns");
        assert_eq!(wanted.len(), 4, "{wanted:?}");
        assert_eq!(wanted.get(2).map(|turn| turn.0), Some(Role::Assistant));
        for other in [anthropic, responses, gemini, ollama] {
            assert_eq!(told(&other).as_ref(), Some(&wanted), "{other}");
        }
    }

    #[test]
    fn what_shows_a_picture_or_is_of_no_known_form_has_no_turns() {
        let picture = json!({ "type": "image_url", "image_url": { "url": "data:" } });
        for request in [
            json!({ "messages": [{ "role": "user", "content": [picture] }] }),
            json!({ "messages": [{ "role": "user", "content": "Look.", "images": ["aa"] }] }),
            json!({ "messages": [{ "role": "system", "content": "Be brief." }] }),
            json!({ "messages": [{ "role": "stranger", "content": "Look." }] }),
            json!({ "pack": {} }),
        ] {
            assert_eq!(told(&request), None, "{request}");
        }
        assert_eq!(prompt_of(b"no JSON"), None);
    }

    #[test]
    fn an_answer_is_its_acts_or_its_words() {
        let words = Answer { text: " Done. \n".to_owned(), ..Answer::default() };
        assert_eq!(answer_of(&words), "Done.");
        let call = ToolCall { name: "read".to_owned(), arguments: json!({ "path": "a" }) };
        let acts = Answer { calls: vec![call.clone()], ..words.clone() };
        let read: Value = serde_json::from_str(&answer_of(&acts)).expect("JSON");
        assert_eq!(read, json!({ "tool": "read", "arguments": { "path": "a" } }));
        let several = Answer { calls: vec![call.clone(), call], ..words };
        assert_eq!(answer_of(&several).lines().count(), 2);
    }
}
