//! From a model's answer to typed proposals, strictly (RX-8).

use crate::tools::{Proposal, typed, usage};
use model::limits;
use model::proposal::{Answer, ToolCall};
use serde_json::Value;

/// Why an answer is not used. The words go back to the model with the next prompt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[error("{reason}")]
pub struct Malformed {
    /// What was wrong, and what to do instead.
    pub reason: String,
}

fn malformed<T>(reason: impl Into<String>) -> Result<T, Malformed> {
    Err(Malformed { reason: reason.into() })
}

/// The proposals of an answer, in its order; never empty. A final text without a call is one [`Proposal::Done`].
///
/// # Errors
/// [`Malformed`] when any part of the answer is: then none of it is used.
pub fn parse(answer: &Answer) -> Result<Vec<Proposal>, Malformed> {
    if answer.is_cut() || answer.text.len() > limits::MODEL_ANSWER_BYTES_MAX {
        return malformed("the answer was cut off by its length limit; do less in one answer");
    }
    let calls = if answer.calls.is_empty() { calls_in(&answer.text)? } else { answer.calls.clone() };
    let (count, count_max) = (calls.len(), limits::CALLS_MAX);
    if count > count_max {
        return malformed(format!("{count} calls in one answer; at most {count_max} are taken"));
    }
    let summary = without_thoughts(&answer.text).trim();
    if calls.is_empty() && summary.is_empty() {
        return malformed("the answer is empty; call a tool, or `done` with a summary");
    } else if calls.is_empty() {
        return Ok(vec![Proposal::Done { summary: summary.to_owned() }]);
    }
    let mut proposals: Vec<Proposal> = Vec::new();
    for (at, ToolCall { name, arguments }) in calls.into_iter().enumerate() {
        if let Some(Proposal::Done { .. } | Proposal::Ask { .. } | Proposal::Delegate { .. }) =
            proposals.last()
        {
            return malformed("nothing may follow `done`, `ask` or `delegate`; call it last");
        }
        match (proposals.last_mut(), typed(&name, arguments)) {
            (_, Err(why)) => return malformed(format!("call {} (`{name}`): {why}{}", at + 1, usage(&name))),
            // Neighbouring reads become one request, neighbouring changes one change set.
            (Some(Proposal::Observe(items)), Ok(Proposal::Observe(more)))
                if items.len() + more.len() <= limits::PARALLEL_READS_MAX =>
            {
                items.extend(more)
            }
            (Some(Proposal::Change(items)), Ok(Proposal::Change(more)))
                if items.len() + more.len() <= limits::CHANGE_ITEMS_MAX =>
            {
                items.extend(more);
            }
            (_, Ok(next)) => proposals.push(next),
        }
    }
    Ok(proposals)
}

/// The calls written into a text: alone, in `<tool_call>` tags, or in one fenced block. None is a final answer.
fn calls_in(text: &str) -> Result<Vec<ToolCall>, Malformed> {
    let text = without_thoughts(text).trim();
    let fenced: Vec<String> = fences(text).into_iter().filter(|block| looks_like_call(block)).collect();
    let blocks = if text.starts_with(['{', '[']) && looks_like_call(text) {
        vec![text.to_owned()]
    } else if text.contains("<tool_call>") {
        tagged(text)?
    } else if fenced.len() > 1 {
        return malformed("more than one block with a call; put several calls into one JSON array");
    } else if fenced.is_empty() && opens_a_call(text) {
        return malformed(
            "a call stands alone, or in one ```json block; write {\"tool\": …, \"arguments\": {…}}",
        );
    } else {
        fenced
    };
    let mut calls = Vec::new();
    for block in blocks {
        match serde_json::from_str(block.trim()) {
            Ok(Value::Array(items)) => calls.extend(items),
            Ok(one) => calls.push(one),
            Err(e) => return malformed(format!("the call is no valid JSON: {e}")),
        }
    }
    calls.into_iter().map(call).collect()
}

/// `{"tool": name, "arguments": {…}}`, or `{"action": name, …}` with the arguments beside the name.
fn call(value: Value) -> Result<ToolCall, Malformed> {
    let form = "a call is a JSON object that says each thing once: {\"tool\": name, \"arguments\": {…}}";
    let Value::Object(mut members) = value else { return malformed(form) };
    let mut take = |keys: [&str; 3]| keys.iter().filter_map(|key| members.remove(*key)).collect::<Vec<_>>();
    let (names, given) = (take(["tool", "action", "name"]), take(["arguments", "args", "parameters"]));
    let named = |name: &str, arguments| Ok(ToolCall { name: name.to_owned(), arguments });
    match (names.as_slice(), given.as_slice()) {
        ([inner @ Value::Object(_)], []) if members.is_empty() => call(inner.clone()),
        ([Value::String(name)], []) => named(name, Value::Object(members)),
        ([Value::String(name)], [arguments]) if members.is_empty() => named(name, arguments.clone()),
        _ => malformed(form),
    }
}

/// Whether a block of JSON, or what was meant to be one, names a tool.
fn looks_like_call(block: &str) -> bool {
    let has = |value: &Value, key: &str| value.get(key).is_some();
    let names_tool =
        |v: &Value| has(v, "tool") || has(v, "action") || (has(v, "name") && has(v, "arguments"));
    match serde_json::from_str::<Value>(block.trim()) {
        Ok(Value::Array(items)) => items.iter().any(names_tool),
        Ok(one) => names_tool(&one),
        Err(_) => opens_a_call(block),
    }
}

/// Whether a text holds the beginning of a call: taking it for a final answer would hide a mistake.
fn opens_a_call(text: &str) -> bool {
    let dense: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let opens = |key: &str| dense.contains(&format!("{{\"{key}\":"));
    opens("tool") || opens("action") || (opens("name") && dense.contains("\"arguments\":"))
}

/// The text behind the last `</think>`: small models think aloud, and thoughts are no answer.
fn without_thoughts(text: &str) -> &str {
    text.rsplit_once("</think>").map_or(text, |(_, answer)| answer)
}

/// The contents of fenced blocks without a language or with `json`, also of one that was never closed. Fences begin
/// a line, so that text with fences inside a JSON string, which has no line breaks, stays whole.
fn fences(text: &str) -> Vec<String> {
    let (mut found, mut inside) = (Vec::<String>::new(), None);
    for line in text.lines() {
        match (line.trim_start().strip_prefix("```").map(str::trim), inside) {
            (Some(language), None) => {
                inside = Some(matches!(language, "" | "json" | "tool_call"));
                found.extend(inside.filter(|taken| *taken).map(|_| String::new()));
            }
            (Some(_), Some(_)) => inside = None,
            (None, Some(true)) => found.iter_mut().last().into_iter().for_each(|block| *block += line),
            (None, _) => {}
        }
    }
    found
}

fn tagged(text: &str) -> Result<Vec<String>, Malformed> {
    let closed = |part: &str| part.split_once("</tool_call>").map(|(inner, _)| inner.to_owned());
    let blocks: Option<Vec<String>> = text.split("<tool_call>").skip(1).map(closed).collect();
    blocks.map_or_else(|| malformed("`<tool_call>` has no `</tool_call>`"), Ok)
}
