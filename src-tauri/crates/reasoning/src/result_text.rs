//! Results as a model reads them: every field of every tool's result, in plain lines instead of the JSON they are kept
//! in. What is cut says so, and how to see the rest; what lies in folders that programs keep is counted.

use model::RelPath;
use model::context::Act;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Characters of a call that is shown as the model's own words; a longer one is told in its title alone.
const CALL_CHARS_MAX: usize = 2_000;
/// Characters of the few words about something done.
const DID_CHARS_MAX: usize = 160;

/// One thing asked for, with its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// One line: what was asked for.
    pub title: String,
    /// Everything that came of it.
    pub text: String,
    /// What a model can do to see what did not fit.
    pub rest: &'static str,
    /// What was asked for, when that is known.
    pub act: Option<Act>,
}

/// The results in one stored observation: `tool` and `about` say what was asked for, `content` is what came of it.
/// What is not of a known form is told as it is.
pub fn told(tool: &str, about: &str, content: &str) -> Vec<Told> {
    let title = match (tool, about) {
        (tool, "") => tool.to_owned(),
        ("", about) => about.to_owned(),
        (tool, about) => format!("{tool}: {about}"),
    };
    let Ok(Value::Object(value)) = serde_json::from_str(content) else {
        return vec![Told { title, text: content.to_owned(), rest: "", act: None }];
    };
    if let Some(Value::Array(results)) = value.get("results") {
        return results.iter().map(look).collect();
    }
    if value.get("op").and_then(Value::as_str) == Some("fetch") {
        return vec![fetched(title, value)];
    }
    if value.contains_key("result_code") {
        return vec![outcome(title, value)];
    }
    vec![Told { title, text: content.to_owned(), rest: "", act: None }]
}

/// A call as a model writes it: the tool comes first, as the grammar has it.
fn call(tool: &str, arguments: &Value) -> String {
    let written = format!("{{\"tool\": {}, \"arguments\": {arguments}}}", json!(tool));
    if written.chars().count() <= CALL_CHARS_MAX { written } else { String::new() }
}

fn act(call: String, did: &str, changed: bool) -> Option<Act> {
    let mut words: String = did.chars().take(DID_CHARS_MAX).collect();
    if words.len() < did.len() {
        words.push('…');
    }
    Some(Act { call, did: words, changed })
}

fn word<'v>(value: &'v Map<String, Value>, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn number(value: &Map<String, Value>, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or_default()
}

fn rows<'v>(value: &'v Map<String, Value>, key: &str) -> impl Iterator<Item = &'v Map<String, Value>> {
    value.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

fn look(result: &Value) -> Told {
    let empty = Map::new();
    let value = result.as_object().unwrap_or(&empty);
    let (op, path) = (word(value, "op"), word(value, "path"));
    let path = if path.is_empty() { "." } else { path };
    let mut arguments = json!({ "path": path });
    let mut title = format!("{op} {path}");
    if let (Some(from), Some(object)) = (value.get("from").and_then(Value::as_u64), arguments.as_object_mut())
    {
        let to = number(value, "to");
        object.insert("from".to_owned(), json!(from));
        object.insert("to".to_owned(), json!(to));
        title = format!("{title}, lines {from} to {to} of {}", number(value, "lines"));
    }
    let (text, rest) = match (value.get("error").and_then(Value::as_str), op) {
        (Some(error), _) => (format!("failed: {error}"), ""),
        (None, "list") => (entries(value), "list one of its folders by itself"),
        (None, "read") => (file(value), "read it again with `from` and `to` for the lines you need"),
        (None, "search") => (matches(value), "search one folder, or with a narrower pattern or `glob`"),
        (None, "hash") => (hashes(value), "hash one of its folders by itself"),
        (None, _) => (result.to_string(), ""),
    };
    // A result of a search does not tell what was searched for.
    let asked = if op == "search" { String::new() } else { call(op, &arguments) };
    Told { act: act(asked, &title, false), title, text, rest }
}

/// One line for each entry: its path as it can be given back, and its size.
fn entries(value: &Map<String, Value>) -> String {
    let line = |entry: &Map<String, Value>| {
        let path = word(entry, "path");
        match (word(entry, "kind"), entry.get("byte_size").and_then(Value::as_u64)) {
            ("folder", _) => format!("{path}/"),
            ("file", Some(size)) => format!("{path} ({size} bytes)"),
            (kind, _) => format!("{path} ({kind})"),
        }
    };
    let asked = word(value, "path");
    let mut kept: BTreeMap<&str, u64> = BTreeMap::new();
    let mut lines: Vec<String> = Vec::new();
    for entry in rows(value, "entries") {
        match kept_by_programs(asked, word(entry, "path")) {
            Some(folder) => *kept.entry(folder).or_default() += 1,
            None => lines.push(line(entry)),
        }
    }
    if lines.is_empty() {
        lines.push("it is empty".to_owned());
    }
    lines.extend(
        kept.iter().map(|(folder, many)| {
            format!("{folder} holds {many} more, kept by a program and not listed here")
        }),
    );
    with_unread(value, lines, "there are more entries than are listed; list a folder inside it")
}

/// Folders that programs keep for themselves: a goal is seldom about what lies in them, and there is much of it.
const KEPT_BY_PROGRAMS: [&str; 7] =
    [".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".pytest_cache"];

/// Such a folder below the one that was asked for, when an entry lies in it.
fn kept_by_programs<'p>(asked: &str, path: &'p str) -> Option<&'p str> {
    let below = path.strip_prefix(asked).map_or(0, |rest| path.len() - rest.trim_start_matches('/').len());
    let mut at = below;
    for part in path.get(below..)?.split('/') {
        let end = at + part.len();
        if KEPT_BY_PROGRAMS.contains(&part) && end < path.len() {
            return path.get(..end);
        }
        at = end + 1;
    }
    None
}

/// The text of a file; with line numbers where only some of its lines were asked for.
fn file(value: &Map<String, Value>) -> String {
    let Some(text) = value.get("text").and_then(Value::as_str) else {
        return format!(
            "{} bytes that are not text, sha256 {}",
            number(value, "byte_size"),
            word(value, "sha256")
        );
    };
    let mut shown = match value.get("from").and_then(Value::as_u64) {
        None => text.to_owned(),
        Some(from) => {
            let lines = (from..).zip(text.lines());
            lines.map(|(number, line)| format!("{number:>6}  {line}\n")).collect()
        }
    };
    if value.get("cut").and_then(Value::as_bool).unwrap_or(false) {
        shown.push_str(&format!(
            "\n[… the file has {} bytes and only the beginning of that is shown; read it with `from` and `to` for other \
             lines …]",
            number(value, "byte_size")
        ));
    }
    shown
}

fn matches(value: &Map<String, Value>) -> String {
    let line = |found: &Map<String, Value>| {
        let more = if found.contains_key("line_cut") { " [… the line goes on …]" } else { "" };
        format!("{}:{}: {}{more}", word(found, "path"), number(found, "line"), word(found, "text"))
    };
    let mut lines: Vec<String> = rows(value, "matches").map(line).collect();
    if lines.is_empty() {
        lines.push("no line matches".to_owned());
    }
    for (key, what) in
        [("binary", "not text, not searched"), ("long_lines", "searched in its beginning only")]
    {
        let names = value.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        lines.extend(names.map(|name| format!("{name}: {what}")));
    }
    with_unread(
        value,
        lines,
        "there are more matches; search one folder, or with a narrower pattern or `glob`",
    )
}

fn hashes(value: &Map<String, Value>) -> String {
    let line = |entry: &Map<String, Value>| format!("{}  {}", word(entry, "sha256"), word(entry, "path"));
    let mut lines: Vec<String> = rows(value, "entries").map(line).collect();
    lines.extend(
        rows(value, "not_files").map(|entry| format!("{} ({})", word(entry, "path"), word(entry, "kind"))),
    );
    with_unread(value, lines, "there are more files than are hashed; hash a folder inside it")
}

fn with_unread(value: &Map<String, Value>, mut lines: Vec<String>, cut: &str) -> String {
    lines.extend(
        rows(value, "unreadable")
            .map(|one| format!("{}: cannot be read: {}", word(one, "path"), word(one, "reason"))),
    );
    if value.get("cut").and_then(Value::as_bool).unwrap_or(false) {
        lines.push(format!("[… {cut} …]"));
    }
    lines.join("\n")
}

/// Status, head and body of what a server answered.
fn fetched(title: String, value: Map<String, Value>) -> Told {
    let mut lines = vec![format!("status {}", number(&value, "status"))];
    let head = value.get("headers").and_then(Value::as_object).into_iter().flatten();
    lines.extend(head.map(|(name, said)| format!("{name}: {}", plain(said))));
    lines.extend(value.get("left_out").and_then(Value::as_str).map(|why| format!("[… {why} …]")));
    lines.push(String::new());
    lines.push(match value.get("text").and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => {
            format!(
                "{} bytes that are not text, sha256 {}",
                number(&value, "byte_size"),
                word(&value, "sha256")
            )
        }
    });
    let asked = call("fetch", &json!({ "method": value.get("method"), "url": value.get("url") }));
    let rest = "ask the server for a smaller part";
    Told { act: act(asked, &title, false), text: lines.join("\n"), title, rest }
}

/// What came of an act: what it is about first, then everything else that its result holds.
fn outcome(title: String, mut value: Map<String, Value>) -> Told {
    let code = take(&mut value, "result_code");
    let summary = take(&mut value, "summary");
    let mut lines = vec![if summary.is_empty() { code.clone() } else { format!("{code}: {summary}") }];
    let error = take(&mut value, "error");
    if !error.is_empty() && !summary.contains(&error) {
        lines.push(format!("error: {error}"));
    }
    let transcript = value.remove("transcript").map(|told| match told {
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        other => other,
    });
    if let Some(code) = value.remove("exit_code").filter(|code| !code.is_null()) {
        lines.push(format!("exit status: {code}"));
    }
    let items = value.remove("items");
    let items: Vec<&Map<String, Value>> =
        items.as_ref().and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object).collect();
    for item in &items {
        lines.push(format!("{}: {}", one_change(item), word(item, "outcome").replace('_', " ")));
    }
    let feedback = take(&mut value, "feedback");
    if !feedback.is_empty() {
        lines.push(format!("the person says: {feedback}"));
    }
    if let Some(Value::Array(observed)) = value.get_mut("observed") {
        observed.retain(|fact| !fact.as_str().is_some_and(is_of_the_machine));
    }
    for (key, said) in &value {
        let said = plain(said);
        if !said.is_empty() && key != "op" {
            lines.push(format!("{}: {said}", key.replace('_', " ")));
        }
    }
    let mut asked = String::new();
    let rest = match transcript.as_ref().is_some_and(|transcript| transcript.get("argv").is_some()) {
        true => "run it again so that it prints only what you need, such as with `tail -n 50` or `grep`",
        false => "ask for less of it at a time",
    };
    if let Some(Value::Object(transcript)) = &transcript {
        asked = call("command", &json!({ "argv": transcript.get("argv") }));
        lines.extend(printed(transcript));
    } else if let Some(said) = transcript.filter(|said| !said.is_null()) {
        lines.push(plain(&said));
    }
    let succeeded = code == "succeeded";
    let did = match items.first() {
        Some(item) if items.len() == 1 => one_change(item),
        _ => title.clone(),
    };
    let act = if succeeded || !asked.is_empty() { act(asked, &did, succeeded) } else { None };
    Told { title, text: lines.join("\n"), rest, act }
}

/// Whether a fact about a command is only about how this machine ran it: a person may look it up, and a model can do
/// nothing with it.
fn is_of_the_machine(fact: &str) -> bool {
    fact.contains(" does not work here: ")
        || ["staged by ", "sandbox: ", "walls: "].iter().any(|head| fact.starts_with(head))
}

/// One item of a change set; where a file went, when it went somewhere.
fn one_change(item: &Map<String, Value>) -> String {
    let (op, path, to) = (word(item, "op"), word(item, "path"), word(item, "to"));
    if to.is_empty() { format!("{op} {path}") } else { format!("{op} {path} to {to}") }
}

/// The changes that were done, out of an outcome as it is told: what was done, with which path, and where it went.
pub(crate) fn changed(text: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    text.lines().filter_map(|line| {
        let mut words = line.strip_suffix(": done")?.split(' ');
        let (op, path) = (words.next()?, words.next()?);
        let to = if words.next() == Some("to") { words.next()? } else { "" };
        matches!(op, "write" | "delete" | "move").then_some((op, path, to))
    })
}

/// One line of a listing as it is told. Paths are percent-encoded: no blank stands in one.
pub(crate) enum Listed<'a> {
    /// A file, with its size in bytes.
    File(&'a str, u64),
    /// A folder.
    Folder(&'a str),
    /// There is more than is listed.
    Open,
}

/// The entries of a listing as it is told.
pub(crate) fn listed(text: &str) -> impl Iterator<Item = Listed<'_>> {
    text.lines().filter_map(|line| {
        if line.starts_with("[…") {
            return Some(Listed::Open);
        }
        if let Some((path, size)) = line.strip_suffix(" bytes)").and_then(|line| line.split_once(" (")) {
            return Some(Listed::File(path, size.parse().ok()?));
        }
        line.strip_suffix('/').map(Listed::Folder)
    })
}

/// What a command printed, each stream whole as far as it was kept.
fn printed(transcript: &Map<String, Value>) -> Vec<String> {
    let mut lines = Vec::new();
    let ended = word(transcript, "ended_by");
    if !ended.is_empty() && ended != "exit" {
        lines.push(format!("ended by: {ended}"));
    }
    for (key, name) in [("stdout", "standard output"), ("stderr", "standard error")] {
        let said = word(transcript, key);
        if said.is_empty() {
            continue;
        }
        if word(transcript, &format!("{key}_encoding")) == "base64" {
            let bytes = number(transcript, &format!("{key}_bytes"));
            lines.push(format!("{name}: {bytes} bytes that are not text"));
            continue;
        }
        lines.push(format!("{name}:\n{}", said.trim_end_matches('\n')));
        let left_out = number(transcript, &format!("{key}_left_out"));
        if left_out > 0 {
            lines.push(format!(
                "[… {left_out} bytes of {name} were not kept; write them to a file and read that …]"
            ));
        }
    }
    if lines.is_empty() {
        lines.push("it printed nothing".to_owned());
    }
    lines
}

fn take(value: &mut Map<String, Value>, key: &str) -> String {
    value.remove(key).map(|said| plain(&said)).unwrap_or_default()
}

/// A value as words: text as it is, lists by lines, nothing for nothing.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    }
}

/// Tool and path out of a title such as ``list of `notes` ``.
pub(crate) fn named(title: &str) -> Option<Act> {
    let tool = title.split_whitespace().next().filter(|word| matches!(*word, "list" | "read" | "hash"))?;
    let path = title.split('`').nth(1)?;
    let path = if path.is_empty() { RelPath::ROOT.to_string() } else { path.to_owned() };
    let path = if path.is_empty() { ".".to_owned() } else { path };
    act(call(tool, &json!({ "path": path })), &format!("{tool} {path}"), false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_keep_in_a_folder_is_counted_and_not_listed_unless_it_is_asked_for() {
        let listed = |asked: &str, paths: &[&str]| {
            let entries: Vec<Value> =
                paths.iter().map(|path| json!({ "path": path, "kind": "file", "byte_size": 3 })).collect();
            let look = json!({ "results": [{ "op": "list", "path": asked, "entries": entries }] });
            told("observe", "", &look.to_string()).remove(0).text
        };
        let text = listed(
            "",
            &["a.md", ".git/config", ".git/hooks/pre-push", "web/node_modules/x/y.js", ".gitignore"],
        );
        for line in [
            "a.md (3 bytes)",
            ".gitignore (3 bytes)",
            ".git holds 2 more, kept by a program and not listed here",
            "web/node_modules holds 1 more, kept by a program and not listed here",
        ] {
            assert!(text.lines().any(|told| told == line), "{text}");
        }
        assert!(!text.contains("hooks"), "{text}");
        assert!(
            listed(".git", &[".git/config", ".git/hooks/pre-push"]).contains(".git/hooks/pre-push (3 bytes)")
        );
    }
}
