//! What was observed, cut into stretches between changes: what was seen before a change is stale after it.

use super::entry::Entry;
use super::schema::Kind;
use crate::Observed;
use base64::Engine;
use model::RelPath;
use model::proposal::ToolCall;
use serde_json::{Value, json};

/// One look at the workspace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Look {
    /// Entries of a folder.
    List(RelPath, bool),
    /// A file.
    Read(RelPath),
    /// Digests below a path.
    Hash(RelPath),
    /// Digests of a folder's own files.
    HashFolder(RelPath),
    /// Lines that match: path, pattern, glob.
    Search(RelPath, String, Option<String>),
}

impl Look {
    /// The tool.
    pub const fn op(&self) -> &'static str {
        match self {
            Self::List(..) => "list",
            Self::Read(_) => "read",
            Self::Hash(_) | Self::HashFolder(_) => "hash",
            Self::Search(..) => "search",
        }
    }

    /// Where.
    pub const fn path(&self) -> &RelPath {
        match self {
            Self::List(path, _)
            | Self::Read(path)
            | Self::Hash(path)
            | Self::HashFolder(path)
            | Self::Search(path, ..) => path,
        }
    }

    /// As a call of the loop's tools.
    pub fn call(&self) -> ToolCall {
        let path = self.path().to_string();
        let arguments = match self {
            Self::List(_, recursive) => json!({ "path": path, "recursive": recursive }),
            Self::Read(_) | Self::Hash(_) => json!({ "path": path }),
            Self::HashFolder(_) => json!({ "path": path, "own_files": true }),
            Self::Search(_, pattern, None) => json!({ "path": path, "pattern": pattern }),
            Self::Search(_, pattern, Some(glob)) => json!({ "path": path, "pattern": pattern, "glob": glob }),
        };
        ToolCall { name: self.op().to_owned(), arguments }
    }
}

/// One result of a look.
#[derive(Debug, Clone)]
pub struct Fact {
    op: String,
    path: RelPath,
    value: Value,
}

impl Fact {
    /// Which tool it came from.
    pub fn op(&self) -> &str {
        &self.op
    }

    /// Where.
    pub const fn path(&self) -> &RelPath {
        &self.path
    }

    /// Whether it answers this look.
    pub fn answers(&self, look: &Look) -> bool {
        self.op == look.op()
            && self.path == *look.path()
            && self.is_of_own_files() == matches!(look, Look::HashFolder(_))
    }

    /// Whether it holds digests of a folder's own files, and not of those in folders inside it.
    pub fn is_of_own_files(&self) -> bool {
        self.value.get("own_files").and_then(Value::as_bool).unwrap_or(false)
    }

    /// Why there is nothing, when there is nothing.
    pub fn error(&self) -> Option<&str> {
        self.value.get("error").and_then(Value::as_str)
    }

    /// Whether it holds less than there is.
    pub fn is_cut(&self) -> bool {
        self.value.get("cut").and_then(Value::as_bool).unwrap_or(false)
    }

    /// Its entries, or its matching lines.
    pub fn entries(&self) -> Vec<Entry> {
        let base = if self.path.is_root() { 0 } else { self.path.as_bytes().len() + 1 };
        let rows = self.value.get("entries").or_else(|| self.value.get("matches")).and_then(Value::as_array);
        rows.into_iter().flatten().filter_map(|row| entry(row, base)).collect()
    }

    /// Paths that could not be looked at, with the reason.
    pub fn unreadable(&self) -> Vec<(RelPath, String)> {
        let rows = self.value.get("unreadable").and_then(Value::as_array).into_iter().flatten();
        rows.filter_map(|row| {
            let reason = row.get("reason").and_then(Value::as_str).unwrap_or("it cannot be read");
            Some((path_of(row)?, reason.to_owned()))
        })
        .collect()
    }

    /// The bytes of a `read`.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        if let Some(text) = self.value.get("text").and_then(Value::as_str) {
            return Some(text.as_bytes().to_vec());
        }
        let coded = self.value.get("base64").and_then(Value::as_str)?;
        base64::engine::general_purpose::STANDARD.decode(coded).ok()
    }

    /// The digest of a `read`.
    pub fn sha256(&self) -> Option<&str> {
        self.value.get("sha256").and_then(Value::as_str)
    }
}

fn path_of(row: &Value) -> Option<RelPath> {
    row.get("path").and_then(Value::as_str)?.parse().ok()
}

fn entry(row: &Value, base: usize) -> Option<Entry> {
    let words = |key: &str| row.get(key).and_then(Value::as_str);
    let mut entry = Entry {
        path: path_of(row)?.as_bytes().to_vec(),
        base,
        kind: words("kind").map(Kind::from_word),
        size: row.get("byte_size").and_then(Value::as_u64),
        modified_ms: row.get("modified_ms").and_then(Value::as_i64),
        sha256: words("sha256").map(str::to_owned),
        ..Entry::default()
    };
    // A path that is itself what was looked at has nothing above it to be measured from.
    entry.base = if entry.path.len() < base { entry.path.len() - entry.name().len() } else { base };
    if let Some(line) = row.get("line").and_then(Value::as_u64) {
        entry.extra.insert("line".to_owned(), super::value::Value::Text(line.to_string()));
    }
    if let Some(text) = words("text") {
        entry.extra.insert("text".to_owned(), super::value::Value::Text(text.to_owned()));
    }
    Some(entry)
}

/// What came of a change.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Its result code.
    pub code: String,
    /// One line about it.
    pub summary: String,
    /// What the person said.
    pub feedback: Option<String>,
    /// How many items happened; nothing when the items are not listed.
    pub done: Option<usize>,
    /// Items that did not happen, readable.
    pub not_done: Vec<String>,
}

fn outcome(bytes: &[u8]) -> Outcome {
    let value: Value = serde_json::from_slice(bytes).unwrap_or(Value::Null);
    let words = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let items = value.get("items").and_then(Value::as_array).filter(|items| !items.is_empty());
    let happened = |item: &&Value| item.get("outcome").and_then(Value::as_str) == Some("done");
    let path = |item: &Value| {
        let text = ["path", "from"].into_iter().find_map(|key| item.get(key).and_then(Value::as_str));
        let path: Option<RelPath> = text.and_then(|text| text.parse().ok());
        path.map_or_else(|| text.unwrap_or("?").to_owned(), |p| super::value::readable(p.as_bytes()))
    };
    Outcome {
        code: words("result_code").unwrap_or_else(|| "unknown_outcome".to_owned()),
        summary: words("summary").unwrap_or_default(),
        feedback: words("feedback").filter(|text| !text.trim().is_empty()),
        done: items.map(|items| items.iter().filter(happened).count()),
        not_done: items.into_iter().flatten().filter(|item| !happened(item)).map(path).collect(),
    }
}

/// The looks between two changes, and the change that ended them.
#[derive(Debug, Default)]
pub struct Stretch {
    /// Results, oldest first.
    pub facts: Vec<Fact>,
    /// The change that made them stale; the last stretch has none.
    pub ended_by: Option<Outcome>,
}

/// Everything observed in an attempt.
#[derive(Debug)]
pub struct History {
    /// At least one; the last is open.
    pub stretches: Vec<Stretch>,
    /// A person's answers, in order.
    pub answers: Vec<String>,
    /// A look that failed as a whole in the open stretch.
    pub failed: Option<String>,
}

impl History {
    /// Sorts observations into stretches.
    pub fn of(observed: &[Observed]) -> Self {
        let mut history = Self { stretches: Vec::new(), answers: Vec::new(), failed: None };
        let mut open = Stretch::default();
        for item in observed {
            match item.tool.as_str() {
                "change" => {
                    open.ended_by = Some(outcome(&item.bytes));
                    history.stretches.push(std::mem::take(&mut open));
                    history.failed = None;
                }
                "ask" => history.answers.push(answer(&item.bytes)),
                _ => match facts(&item.bytes) {
                    Ok(facts) => open.facts.extend(facts),
                    Err(why) => history.failed = Some(why),
                },
            }
        }
        history.stretches.push(open);
        history
    }
}

fn facts(bytes: &[u8]) -> Result<Vec<Fact>, String> {
    let value: Value = serde_json::from_slice(bytes).map_err(|e| format!("a result is not JSON: {e}"))?;
    let Some(results) = value.get("results").and_then(Value::as_array) else {
        let said = ["error", "summary", "feedback"].into_iter().find_map(|key| value.get(key)?.as_str());
        return Err(said.unwrap_or("a result holds no `results`").to_owned());
    };
    let fact = |value: &Value| {
        let op = value.get("op").and_then(Value::as_str)?.to_owned();
        Some(Fact { op, path: path_of(value)?, value: value.clone() })
    };
    Ok(results.iter().filter_map(fact).collect())
}

fn answer(bytes: &[u8]) -> String {
    let value: Option<Value> = serde_json::from_slice(bytes).ok();
    let said = value.as_ref().and_then(|v| v.get("answer")).and_then(Value::as_str);
    said.map_or_else(|| String::from_utf8_lossy(bytes).trim().to_owned(), str::to_owned)
}
