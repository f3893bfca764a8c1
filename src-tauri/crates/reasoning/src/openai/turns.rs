//! What was done and seen, as turns of a conversation: a small model that reads its own actions as its own goes on,
//! one that reads them as a report begins again.

use model::context::ContextItem;
use serde_json::{Value, json};

/// One thing done, with its result.
pub struct Turn {
    /// What the model had asked for, as it writes it; none when that is not known.
    pub asked: Option<String>,
    /// In a few words, for the reminder behind the last turn.
    pub did: Option<String>,
    /// Whether it was a change that happened.
    pub changed: bool,
    /// Title of the content.
    pub title: String,
    /// The content, not fenced yet.
    pub text: String,
}

/// The turns of one item. Results of looks and changes are read from their JSON; anything else, and what was cut to
/// fit, is shown as it is.
pub fn turns(item: &ContextItem, content: &str) -> Vec<Turn> {
    let parsed: Option<Value> = if item.cut { None } else { serde_json::from_str(content).ok() };
    if let Some(results) = parsed.as_ref().and_then(|value| value.get("results")).and_then(Value::as_array) {
        return results.iter().map(look).collect();
    }
    if let Some(value) = parsed.as_ref().filter(|value| value.get("result_code").is_some()) {
        return vec![change(value)];
    }
    let (asked, did) = match told(&item.title) {
        Some((tool, path)) => (Some(call(&tool, &path)), Some(format!("{tool} {path}"))),
        None => (None, None),
    };
    vec![Turn { asked, did, changed: false, title: item.title.clone(), text: content.to_owned() }]
}

fn call(tool: &str, path: &str) -> String {
    // Written by hand for the order of its members: the tool comes first, as the grammar has it.
    format!("{{\"tool\": {}, \"arguments\": {}}}", json!(tool), json!({ "path": path }))
}

fn look(result: &Value) -> Turn {
    let word = |key: &str| result.get(key).and_then(Value::as_str).unwrap_or_default();
    let (op, path) = (word("op"), word("path"));
    let path = if path.is_empty() { "." } else { path };
    let text = match (result.get("error").and_then(Value::as_str), op) {
        (Some(error), _) => format!("failed: {error}"),
        (None, "list") => entries(result),
        (None, "read") if result.get("text").is_some() => word("text").to_owned(),
        (None, _) => result.to_string(),
    };
    let did = format!("{op} {path}");
    let asked = Some(call(op, path)).filter(|_| op != "search");
    Turn { asked, title: did.clone(), did: Some(did), changed: false, text }
}

/// One line for each entry: its path as it can be given back, and its size.
fn entries(result: &Value) -> String {
    let line = |entry: &Value| {
        let word = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        match (word("kind").as_str(), entry.get("byte_size").and_then(Value::as_u64)) {
            ("folder", _) => format!("{}/", word("path")),
            ("file", Some(size)) => format!("{} ({size} bytes)", word("path")),
            (kind, _) => format!("{} ({kind})", word("path")),
        }
    };
    let list: Vec<String> =
        result.get("entries").and_then(Value::as_array).into_iter().flatten().map(line).collect();
    if list.is_empty() { "it is empty".to_owned() } else { list.join("\n") }
}

fn change(value: &Value) -> Turn {
    let word =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let items: Vec<String> = value
        .get("items")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|item| {
            format!(
                "{} {}: {}",
                word(item, "op"),
                word(item, "path"),
                word(item, "outcome").replace('_', " ")
            )
        })
        .collect();
    let (code, summary, feedback) =
        (word(value, "result_code"), word(value, "summary"), word(value, "feedback"));
    let changed = code == "succeeded";
    let feedback = if feedback.is_empty() { feedback } else { format!("\nthe person says: {feedback}") };
    let text = format!("{code}: {summary}\n{}{feedback}", items.join("\n"));
    let title = "change".to_owned();
    let first = value.get("items").and_then(|items| items.get(0));
    let did = first.map(|item| format!("{} {}", word(item, "op"), word(item, "path")));
    Turn { asked: None, did: did.filter(|_| changed), changed, title, text }
}

/// Tool and path out of a title such as ``list of `notes` ``.
fn told(title: &str) -> Option<(String, String)> {
    let tool = title.split_whitespace().next().filter(|word| matches!(*word, "list" | "read" | "hash"))?;
    let path = title.split('`').nth(1)?;
    Some((tool.to_owned(), if path.is_empty() { ".".to_owned() } else { path.to_owned() }))
}
