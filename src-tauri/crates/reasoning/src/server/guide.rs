//! What a small model is offered in one turn: first to look, then names that are there in place of any text. A model of
//! one or two thousand million weights makes up names it has not seen, and writes before it has read.

use super::conversation::unfenced;
use super::turns::turns;
use crate::result_text::{Listed, changed, listed};
use model::context::{ContextPack, Section};
use model::proposal::ToolSpec;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Names that one argument is a choice of: beyond it any text is taken, and a wrong name is told to the model.
const NAMES_MAX: usize = 200;
/// Files that are read before anything is changed, where that many are there.
const READ_FIRST_MAX: usize = 12;

/// What is known of the folder, out of everything done and seen.
#[derive(Default)]
struct Known {
    /// What is to be reached.
    goal: String,
    /// Files by their size, where it is known.
    files: BTreeMap<String, u64>,
    /// Folders, and whether what is in them is known.
    folders: BTreeMap<String, bool>,
    read: BTreeSet<String>,
    /// Whether there may be more names than are known.
    open: bool,
    has_looked: bool,
    has_changed: bool,
    /// What was written, or has its name, by the model itself: it is neither moved nor deleted again.
    own: BTreeSet<String>,
    /// Whether the last change was of one file as others may need it.
    one_of_many: bool,
    /// The last call, and the tool of it when the one before was the same.
    last: String,
    repeated: Option<String>,
}

impl Known {
    fn of(pack: &ContextPack) -> Self {
        let mut known = Self { goal: goal(pack), ..Self::default() };
        // A pack has the newest first.
        for item in pack.items.iter().rev().filter(|item| item.section == Section::Artifacts) {
            for turn in turns(item, unfenced(&item.text)) {
                known.turn(turn.act.map(|act| act.call).unwrap_or_default(), &turn.text, item.cut);
            }
        }
        known
    }

    fn turn(&mut self, call: String, text: &str, cut: bool) {
        let said: Value = serde_json::from_str(&call).unwrap_or_default();
        let path = said.pointer("/arguments/path").and_then(Value::as_str).unwrap_or_default();
        let tool = said.get("tool").and_then(Value::as_str).unwrap_or_default();
        match tool {
            "list" => self.list(path, text, cut),
            "read" => self.took(path, cut),
            "command" => self.ran(text),
            _ => self.change(text, true),
        }
        self.repeated = Some(tool.to_owned()).filter(|_| call == self.last && !call.is_empty());
        self.last = call;
    }

    fn list(&mut self, path: &str, text: &str, cut: bool) {
        self.has_looked = true;
        self.open |= cut;
        self.folders.insert(path.to_owned(), true);
        for one in listed(text) {
            match one {
                Listed::File(path, size) => drop(self.files.insert(path.to_owned(), size)),
                Listed::Folder(path) => drop(self.folders.entry(path.to_owned()).or_insert(false)),
                Listed::Open => self.open = true,
            }
        }
        // A listing with all below shows folders with what is in them.
        let inner = |folder: &str| {
            self.files.keys().any(|file| file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
        };
        let seen: Vec<String> = self.folders.keys().filter(|folder| inner(folder)).cloned().collect();
        self.folders.extend(seen.into_iter().map(|folder| (folder, true)));
    }

    fn took(&mut self, path: &str, cut: bool) {
        self.has_looked = true;
        if !cut {
            self.read.insert(path.to_owned());
        }
    }

    /// A command tells what it changed where it ran beside the folder; anything may be there where it did not.
    fn ran(&mut self, text: &str) {
        self.has_looked = true;
        self.folders.insert(".".to_owned(), false);
        self.change(text, false);
    }

    /// What is written by the model's own words needs no reading.
    fn change(&mut self, text: &str, own: bool) {
        for (op, path, to) in changed(text) {
            self.has_changed = true;
            self.one_of_many = op != "write";
            let size = if op == "write" { None } else { self.files.remove(path) };
            let was_read = self.read.remove(path);
            let now = match op {
                "delete" => continue,
                "move" => to,
                _ => path,
            };
            self.files.insert(now.to_owned(), size.unwrap_or_default());
            if own {
                self.own.insert(now.to_owned());
            }
            if (was_read && op == "move") || (own && op == "write") {
                self.read.insert(now.to_owned());
            }
        }
    }

    fn unread(&self) -> impl Iterator<Item = (&String, &u64)> {
        self.files.iter().filter(|(path, _)| !self.read.contains(*path))
    }

    /// Whether what is not read yet is little enough to be read before anything is changed. Where the goal is to run
    /// something and names files, those are what it is about.
    fn reads_first(&self, bytes_max: u64) -> bool {
        let is_named = |path: &str| names(&self.goal, path);
        let names_some = asks_for(&self.goal, "command") && self.files.keys().any(|path| is_named(path));
        let due = |path: &str| !is_hidden(path) && (!names_some || is_named(path));
        let (mut count, mut bytes) = (0, 0_u64);
        for (_, size) in self.unread().filter(|(path, _)| due(path)) {
            count += 1;
            bytes = bytes.saturating_add(*size);
        }
        !self.has_changed && !self.open && (1..=READ_FIRST_MAX).contains(&count) && bytes <= bytes_max
    }

    /// The names that an argument of a tool may have; none where it is not a name of something that is there.
    fn names(&self, tool: &str, argument: &str) -> Option<Vec<&String>> {
        match (tool, argument) {
            ("list", "path") => {
                Some(self.folders.iter().filter(|(_, known)| !**known).map(|(path, _)| path).collect())
            }
            // What is hidden is read when nothing else is left.
            ("read", "path") => {
                let shown: Vec<&String> =
                    self.unread().map(|(path, _)| path).filter(|path| !is_hidden(path)).collect();
                Some(if shown.is_empty() { self.unread().map(|(path, _)| path).collect() } else { shown })
            }
            ("edit", "path") => {
                Some(self.read.iter().filter(|path| self.files.contains_key(*path)).collect())
            }
            ("delete", "path") | ("move", "from") => {
                Some(self.files.keys().filter(|path| !self.own.contains(*path)).collect())
            }
            _ => None,
        }
    }
}

/// The goal of a pack, in small letters.
fn goal(pack: &ContextPack) -> String {
    let item = pack.items.iter().find(|item| item.section == Section::TaskContract);
    item.map(|item| item.text.to_lowercase()).unwrap_or_default()
}

/// Whether a goal, in small letters, names a file.
fn names(goal: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let of_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    name.contains('.') && goal.split(|c| !of_name(c)).any(|word| word.trim_end_matches('.') == name)
}

/// Whether a goal, in small letters, asks for a tool.
fn asks_for(goal: &str, tool: &str) -> bool {
    let says = |word: &&str| goal.split(|c: char| !c.is_alphanumeric()).any(|one| one == *word);
    WORDS.iter().any(|(known, words)| *known == tool && words.iter().any(says))
}

/// Whether a file, or a folder that it lies in, begins with a dot.
fn is_hidden(path: &str) -> bool {
    path.split('/').any(|name| name.starts_with('.') && name != ".")
}

/// Which tool a word of a goal asks for: told last, a small model takes that one and not the first that comes to it.
const WORDS: [(&str, &[&str]); 5] = [
    ("move", &["rename", "move", "sort"]),
    ("edit", &["fix", "change", "replace", "update", "correct"]),
    ("write", &["write", "summarise", "summarize", "split", "collect", "create", "list"]),
    ("delete", &["delete", "remove"]),
    ("command", &["run", "test", "git"]),
];

/// A turn of a small model.
pub struct Turn {
    /// The tools that can be used on what is known, with the names that can be given to them.
    pub usable: Vec<ToolSpec>,
    /// The last words before its answer.
    pub words: String,
}

impl Turn {
    /// What comes next towards a goal, after what the pack tells.
    pub fn of(tools: &[ToolSpec], pack: &ContextPack) -> Self {
        let known = Known::of(pack);
        let usable = offered(tools, pack, &known);
        let can = |name: &str| usable.iter().any(|tool| tool.name == name);
        let fit = WORDS.iter().map(|(tool, _)| *tool).filter(|tool| can(tool) && asks_for(&known.goal, tool));
        let fit: Vec<&str> = fit.collect();
        let with = if fit.is_empty() { String::new() } else { format!(", with {}", fit.join(" or ")) };
        // A model that has done one thing of several says that it has done all, unless it is told of the others.
        let words = match known.has_changed {
            false => format!("If you have read all you need, do now what the goal asks for{with}."),
            true if known.one_of_many && can("move") => {
                format!(
                    "Do the same for every other file that the goal is about{with}. Use done when none is left."
                )
            }
            true => "Use done now if that reaches the goal, with a summary of what was done.".to_owned(),
        };
        Self { usable, words }
    }
}

fn offered(tools: &[ToolSpec], pack: &ContextPack, known: &Known) -> Vec<ToolSpec> {
    let only: &[&str] = match known.has_looked {
        false => &["list"],
        // A third of the context, at three bytes a token.
        true if known.reads_first(u64::from(pack.tokens_max)) => &["read"],
        true => &[],
    };
    let is_one = |tool: &ToolSpec| only.contains(&tool.name.as_str());
    // Whoever was not given these tools is not held to them.
    let only_those = tools.iter().any(is_one);
    tools
        .iter()
        .filter(|tool| !only_those || is_one(tool))
        // The same again would give the same again.
        .filter(|tool| known.repeated.as_ref() != Some(&tool.name))
        .filter_map(|tool| narrowed(tool, known))
        .collect()
}

fn narrowed(tool: &ToolSpec, known: &Known) -> Option<ToolSpec> {
    let mut tool = tool.clone();
    if !known.has_looked {
        if tool.name == "list" {
            set(&mut tool, "path", json!({ "const": "." }));
        }
        return Some(tool);
    }
    if known.open {
        return Some(tool);
    }
    for argument in ["path", "from"] {
        let Some(names) = known.names(&tool.name, argument).filter(|names| names.len() <= NAMES_MAX) else {
            continue;
        };
        if names.is_empty() {
            return None;
        }
        let names = json!({ "enum": names });
        set(&mut tool, argument, names);
    }
    Some(tool)
}

/// An argument that must be given, and is one of these.
fn set(tool: &mut ToolSpec, argument: &str, to: Value) {
    if let Some(slot) = tool.parameters.pointer_mut(&format!("/properties/{argument}")) {
        *slot = to;
    }
    if let Some(Value::Array(required)) = tool.parameters.get_mut("required")
        && !required.iter().any(|name| name == argument)
    {
        required.insert(0, json!(argument));
    }
}
