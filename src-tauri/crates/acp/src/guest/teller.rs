//! What a guest says and does, as lines for the person who follows it and for the record of its turn.

use crate::terms::ToolCall;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;

/// How a line begins that names a place which the guest told it changed.
pub const CHANGED: &str = "told: changed ";
/// How a line begins that says how many bytes it told it left in a place: `told: left 5 bytes in a.txt`.
pub const LEFT: &str = "told: left ";
/// How the line begins that names the guest and its version.
pub const AGENT: &str = "agent: ";

/// Letters of its own words that are passed on in one turn.
const WORDS_MAX: usize = 256 * 1024;
/// Places that are told in one turn.
const PLACES_MAX: usize = 4_096;
/// Tool calls that are known at once.
const CALLS_MAX: usize = 1_024;
/// Steps of a plan that are shown.
const STEPS_MAX: usize = 50;
/// What stands before each line of the guest's own words.
const INDENT: &str = "  ";
/// Letters of a line.
const LINE_CHARS: usize = 2_000;

/// Writes the lines.
pub struct Teller<'a> {
    out: &'a mut dyn Write,
    /// Whether the last line is not ended.
    open: bool,
    words: usize,
    /// Places that it told it changed, with the bytes that it said they hold afterwards, where it said all of them.
    told: BTreeMap<String, Option<usize>>,
    calls: BTreeMap<String, ToolCall>,
}

impl<'a> Teller<'a> {
    /// One that has said nothing.
    pub fn new(out: &'a mut dyn Write) -> Self {
        Self { out, open: false, words: 0, told: BTreeMap::new(), calls: BTreeMap::new() }
    }

    /// A line of its own.
    pub fn line(&mut self, text: &str) {
        let end = if std::mem::take(&mut self.open) { "\n" } else { "" };
        let text: String =
            text.chars().take(LINE_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
        // Whoever reads it may be gone; the turn goes on to its end all the same.
        let _ = writeln!(self.out, "{end}{text}").and_then(|()| self.out.flush());
    }

    /// A piece of what the guest says, indented: no line of it can be taken for one of these.
    pub fn says(&mut self, text: &str) {
        if self.words > WORDS_MAX || text.is_empty() {
            return;
        }
        self.words = self.words.saturating_add(text.len());
        if self.words > WORDS_MAX {
            return self.line("[what it says further is left out]");
        }
        let mut said = String::with_capacity(text.len().saturating_add(INDENT.len()));
        for line in text.split_inclusive(['\n', '\r']) {
            if !self.open {
                said.push_str(INDENT);
            }
            said.push_str(line);
            self.open = !line.ends_with(['\n', '\r']);
        }
        let _ = self.out.write_all(said.as_bytes()).and_then(|()| self.out.flush());
    }

    /// It told that it changed this place, and all of the bytes that it left there, where it did. What it says of a call
    /// that it told of before takes nothing back (`again`).
    pub fn changed(&mut self, path: &str, bytes: Option<usize>, again: bool, root: &Path) {
        let below = short(path, root);
        let is_new = !self.told.contains_key(below);
        if below.is_empty() || (is_new && self.told.len() >= PLACES_MAX) {
            return;
        }
        if is_new || bytes.is_some() || !again {
            self.told.insert(below.to_owned(), bytes);
        }
        if is_new {
            self.line(&format!("{CHANGED}{}", named(below)));
        }
    }

    /// Its turn is over: what it said it left in each place.
    pub fn end(&mut self) {
        for (path, bytes) in std::mem::take(&mut self.told) {
            if let Some(bytes) = bytes {
                self.line(&format!("{LEFT}{bytes} bytes in {}", named(&path)));
            }
        }
    }

    /// What is known of a tool call.
    pub fn call(&self, id: &str) -> Option<&ToolCall> {
        self.calls.get(id)
    }

    /// A tool call, or an update of one.
    pub fn tool(&mut self, update: ToolCall, root: &Path) {
        let before = self.calls.remove(&update.tool_call_id);
        let is_new = before.is_none();
        let was = before.as_ref().and_then(|call| call.status.clone());
        let call = before.unwrap_or_default().with(update);
        let status = call.status.as_deref().unwrap_or("pending");
        if is_new || was.as_deref() != call.status.as_deref() {
            let places: BTreeSet<String> =
                call.places().iter().map(|at| short(at, root).to_owned()).collect();
            let places: Vec<String> = places.into_iter().take(8).collect();
            let places = if places.is_empty() { String::new() } else { format!(": {}", places.join(", ")) };
            let kind = call.kind.as_deref().map(|kind| format!("{kind} ")).unwrap_or_default();
            self.line(&format!("tool: {kind}{} [{status}]{places}", call.name()));
        }
        if status == "completed" {
            for difference in call.differences() {
                let text = |name: &str| difference.get(name).and_then(Value::as_str).unwrap_or_default();
                let (old, new) = (text("oldText").lines().count(), text("newText").lines().count());
                self.line(&format!("    {}: {old} lines become {new}", short(text("path"), root)));
            }
        }
        if status != "failed" {
            call.changed().iter().for_each(|path| self.changed(path, None, !is_new, root));
        }
        if self.calls.len() < CALLS_MAX {
            self.calls.insert(call.tool_call_id.clone(), call);
        }
    }

    /// Its plan, as it is now.
    pub fn plan(&mut self, entries: &[Value]) {
        for entry in entries.iter().take(STEPS_MAX) {
            let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
            let mark = match text("status") {
                "completed" => "done",
                "in_progress" => "now",
                _ => "then",
            };
            self.line(&format!("plan: {mark}: {}", text("content")));
        }
        let more = entries.len().saturating_sub(STEPS_MAX);
        if more > 0 {
            self.line(&format!("plan: {more} further steps"));
        }
    }
}

/// A path as it is named below the folder, where it is there.
pub fn short<'p>(path: &'p str, root: &Path) -> &'p str {
    Path::new(path).strip_prefix(root).ok().and_then(Path::to_str).unwrap_or(path)
}

/// A path on one line: in the form of JSON, where it would need more.
fn named(path: &str) -> String {
    match path.contains(|c: char| c.is_control()) || path.starts_with('"') {
        true => Value::from(path).to_string(),
        false => path.to_owned(),
    }
}
