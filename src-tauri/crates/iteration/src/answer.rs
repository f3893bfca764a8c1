//! From a model's answer to typed proposals, strictly (RX-8).

use crate::tools::{Proposal, typed, usage};
use model::limits;
use model::proposal::{Answer, ToolCall};
use serde_json::{Map, Value};

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
    if answer.finish_reason == "length" {
        return malformed("the answer was cut off by its length limit; do less in one answer");
    }
    if answer.text.len() > limits::MODEL_ANSWER_BYTES_MAX {
        return malformed("the answer is too long; do less in one answer");
    }
    let calls = if answer.calls.is_empty() { calls_in(&answer.text)? } else { answer.calls.clone() };
    if calls.len() > limits::CALLS_MAX {
        return malformed(format!(
            "{} calls in one answer; at most {} are taken",
            calls.len(),
            limits::CALLS_MAX
        ));
    }
    if calls.is_empty() {
        let summary = without_thoughts(&answer.text).trim().to_owned();
        if summary.is_empty() {
            return malformed("the answer is empty; call a tool, or `done` with a summary");
        }
        return Ok(vec![Proposal::Done { summary }]);
    }
    let mut proposals: Vec<Proposal> = Vec::new();
    for (at, call) in calls.into_iter().enumerate() {
        if let Some(Proposal::Done { .. } | Proposal::Ask { .. }) = proposals.last() {
            return malformed("nothing may follow `done` or `ask`; call it last");
        }
        let proposal = typed(&call.name, call.arguments).map_err(|why| {
            let takes =
                usage(&call.name).map_or_else(String::new, |u| format!("; `{}` takes {u}", call.name));
            Malformed { reason: format!("call {} (`{}`): {why}{takes}", at + 1, call.name) }
        })?;
        join(&mut proposals, proposal)?;
    }
    Ok(proposals)
}

/// Neighbouring reads become one request, neighbouring changes one change set.
fn join(proposals: &mut Vec<Proposal>, next: Proposal) -> Result<(), Malformed> {
    match (proposals.last_mut(), next) {
        (Some(Proposal::Observe(items)), Proposal::Observe(more))
            if items.len() + more.len() <= limits::PARALLEL_READS_MAX =>
        {
            items.extend(more)
        }
        (Some(Proposal::Change(items)), Proposal::Change(more)) => {
            if items.len() + more.len() > limits::CHANGE_ITEMS_MAX {
                return malformed(format!("more than {} changes in one answer", limits::CHANGE_ITEMS_MAX));
            }
            items.extend(more);
        }
        (_, next) => proposals.push(next),
    }
    Ok(())
}

/// The calls written into a text: alone, in one fenced block, or in `<tool_call>` tags. None is a final answer.
fn calls_in(text: &str) -> Result<Vec<ToolCall>, Malformed> {
    let text = without_thoughts(text).trim();
    let tagged = between(text, "<tool_call>", "</tool_call>")?;
    let fenced: Vec<&str> = fences(text).into_iter().filter(|block| looks_like_call(block)).collect();
    let blocks = if !tagged.is_empty() {
        tagged
    } else if !fenced.is_empty() {
        fenced
    } else if text.starts_with(['{', '[']) && looks_like_call(text) {
        vec![text]
    } else if looks_like_call(text) {
        return malformed(
            "a call stands alone, or in one ```json block; write {\"tool\": …, \"arguments\": {…}}",
        );
    } else {
        return Ok(Vec::new());
    };
    if blocks.len() > 1 && !text.contains("<tool_call>") {
        return malformed("more than one block with a call; put several calls into one JSON array");
    }
    let mut calls = Vec::new();
    for block in blocks {
        let value: Value = serde_json::from_str(block.trim())
            .map_err(|e| Malformed { reason: format!("the call is no valid JSON: {e}") })?;
        match value {
            Value::Array(items) => {
                for item in items {
                    calls.push(call(item)?);
                }
            }
            one => calls.push(call(one)?),
        }
    }
    if calls.is_empty() { malformed("the list of calls is empty; call a tool, or `done`") } else { Ok(calls) }
}

/// `{"tool": name, "arguments": {…}}`, or `{"action": name, …}` with the arguments beside the name.
fn call(value: Value) -> Result<ToolCall, Malformed> {
    let form = "write {\"tool\": \"<name>\", \"arguments\": {…}}";
    let Value::Object(mut members) = value else {
        return malformed(format!("a call is a JSON object; {form}"));
    };
    let mut names = ["tool", "action", "name"].into_iter().filter_map(|key| members.remove(key));
    let (name, other) = (names.next(), names.next());
    drop(names);
    match (name, other) {
        (Some(Value::Object(inner)), None) if members.is_empty() => call(Value::Object(inner)),
        (Some(Value::String(name)), None) => {
            let mut given =
                ["arguments", "args", "parameters"].into_iter().filter_map(|key| members.remove(key));
            let (arguments, more) = (given.next(), given.next());
            drop(given);
            match (arguments, more, members.is_empty()) {
                (Some(arguments), None, true) => Ok(ToolCall { name, arguments }),
                (None, None, _) => Ok(ToolCall { name, arguments: flat(members) }),
                _ => malformed(format!("the call of `{name}` has members beside its arguments; {form}")),
            }
        }
        _ => malformed(format!("a call names one tool; {form}")),
    }
}

fn flat(members: Map<String, Value>) -> Value {
    Value::Object(members)
}

/// Whether a text names a tool the way a call does: treating it as a final answer would hide a mistake.
fn looks_like_call(text: &str) -> bool {
    let dense: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let opens = |key: &str| dense.contains(&format!("{{\"{key}\":"));
    opens("tool") || opens("action") || (opens("name") && dense.contains("\"arguments\":"))
}

/// The text behind the last `</think>`: small models think aloud, and thoughts are no answer.
fn without_thoughts(text: &str) -> &str {
    text.rsplit_once("</think>").map_or(text, |(_, answer)| answer)
}

/// The contents of fenced blocks without a language or with `json`.
fn fences(text: &str) -> Vec<&str> {
    let parts = text.split("```").enumerate().filter(|(at, _)| at % 2 == 1).map(|(_, part)| part);
    parts
        .filter_map(|part| match part.split_once('\n') {
            Some((language, body)) if matches!(language.trim(), "" | "json" | "tool_call") => {
                Some(body.trim())
            }
            Some(_) => None,
            None => Some(part.trim_start_matches("json").trim()),
        })
        .collect()
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Result<Vec<&'a str>, Malformed> {
    text.split(open)
        .skip(1)
        .map(|part| match part.split_once(close) {
            Some((inner, _)) => Ok(inner),
            None => malformed(format!("`{open}` has no `{close}`")),
        })
        .collect()
}
