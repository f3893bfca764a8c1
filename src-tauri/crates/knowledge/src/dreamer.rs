//! What recurs in what was done, and the playbook that would do it (memory.md 5).
//!
//! Tasks are of one shape when their acts are of the same kinds, in the same order, on as many places, with as many lines. Where
//! texts of such tasks differ, word by word, the words become parameters; what is the same in all of them stays as it is. A
//! shape of which hardly anything stays the same says nothing, and gives no draft. Nothing here reads, changes or allows
//! anything: whoever calls it has the acts from receipts, and puts the draft to a person.

pub mod know_how;

use model::playbook::PlaybookDraft;
use model::{Digest, TaskId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Tasks of one shape that make a draft, at least.
pub const TASKS_MIN: usize = 3;
/// Items of all acts of one task.
const ITEMS_MAX: usize = 64;
/// Bytes of all that a task wrote.
const BYTES_MAX: usize = 64 * 1024;
/// Parameters of a draft.
const PARAMETERS_MAX: usize = 8;
/// Digits of a name that tell shapes and projects apart.
const DIGITS: usize = 8;

/// One thing that an act did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Did {
    /// Made a file where none was.
    Write {
        /// Where.
        path: String,
        /// All of its text.
        content: String,
    },
    /// Renamed a file.
    Move {
        /// From where.
        from: String,
        /// To where.
        to: String,
    },
    /// Removed a file.
    Delete {
        /// Where.
        path: String,
    },
}

/// What a task did: its acts in order, each with its items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The task.
    pub task_id: TaskId,
    /// Its acts.
    pub acts: Vec<Vec<Did>>,
}

/// A playbook for what several tasks did, and the parameters under which it stands for each of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drafted {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Parameters by task, in the order of the tasks.
    pub parameters: Vec<BTreeMap<String, String>>,
    /// The narrowest standing grant, in words.
    pub narrowest: String,
}

/// The shape of what a task did; none where its acts are not typed enough for a playbook.
pub fn shape(acts: &[Vec<Did>]) -> Option<Digest> {
    let items = || acts.iter().flatten();
    let bytes: usize =
        items().map(|did| if let Did::Write { content, .. } = did { content.len() } else { 0 }).sum();
    if items().next().is_none() || items().count() > ITEMS_MAX || bytes > BYTES_MAX {
        return None;
    }
    let mut shape = String::from("hermit shape\n");
    for act in acts {
        shape.push_str("act\n");
        for did in act {
            let line = match did {
                Did::Write { path, content } => {
                    format!("write {} {} {}", place(path), content.lines().count(), content.ends_with('\n'))
                }
                Did::Move { from, to } => format!("move {} {}", place(from), place(to)),
                Did::Delete { path } => format!("delete {}", place(path)),
            };
            writeln!(shape, "{line}").ok()?;
        }
    }
    Some(Digest::of(shape.as_bytes()))
}

/// How deep a path is, and what kind of file it names.
fn place(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    format!("{}.{}", path.split('/').count(), extension.to_lowercase())
}

/// The playbook for tasks of one project and one shape; none where hardly anything is the same in them.
pub fn draft(project: Digest, shape: Digest, recorded: &[Recorded]) -> Option<Drafted> {
    let first = recorded.first()?;
    let mut all = Unified { of: recorded.len(), ..Unified::default() };
    let mut acts = Vec::new();
    for (at, act) in first.acts.iter().enumerate() {
        let mut parts = Vec::new();
        for item in 0..act.len() {
            let same: Option<Vec<&Did>> =
                recorded.iter().map(|one| one.acts.get(at).and_then(|act| act.get(item))).collect();
            parts.push(all.part(&same?)?);
        }
        acts.push(parts);
    }
    if all.parameters.len() > PARAMETERS_MAX || all.constant < all.variable.max(1) {
        return None;
    }
    let name = name(project, shape, &acts);
    let text = text(&name, recorded, &acts, &all.parameters);
    let parameters = (0..recorded.len()).map(|task| {
        let value = |one: &Parameter| Some((one.name.clone(), one.values.get(task)?.clone()));
        all.parameters.iter().filter_map(value).collect()
    });
    let parameters = parameters.collect();
    Some(Drafted { narrowest: narrowest(&acts), name, text, parameters })
}

/// A part of a change as the playbook has it: templates in the place of texts.
enum Part {
    /// Where, its lines, and whether the last has no end.
    Write(String, Vec<String>, bool),
    Move(String, String),
    Delete(String),
}

struct Parameter {
    name: String,
    /// What it was in each task.
    values: Vec<String>,
}

/// Where a text stands, which names its parameters.
#[derive(Clone, Copy)]
enum Spot {
    Folder,
    File,
    Line,
}

#[derive(Default)]
struct Unified {
    of: usize,
    parameters: Vec<Parameter>,
    /// Words that are the same in all tasks, and places where a parameter stands.
    constant: usize,
    variable: usize,
}

impl Unified {
    fn part(&mut self, same: &[&Did]) -> Option<Part> {
        match same.first()? {
            Did::Write { .. } => {
                let both: Vec<(&str, &str)> = same
                    .iter()
                    .filter_map(|did| match did {
                        Did::Write { path, content } => Some((path.as_str(), content.as_str())),
                        _ => None,
                    })
                    .collect();
                let path = self.path(&both.iter().map(|one| one.0).collect::<Vec<_>>())?;
                let lines = self.lines(&both.iter().map(|one| one.1).collect::<Vec<_>>())?;
                let unended = both.iter().all(|one| !one.1.ends_with('\n'));
                Some(Part::Write(path, lines, unended))
            }
            Did::Move { .. } => {
                let both: Vec<(&str, &str)> = same
                    .iter()
                    .filter_map(|did| match did {
                        Did::Move { from, to } => Some((from.as_str(), to.as_str())),
                        _ => None,
                    })
                    .collect();
                let from = self.path(&both.iter().map(|one| one.0).collect::<Vec<_>>())?;
                Some(Part::Move(from, self.path(&both.iter().map(|one| one.1).collect::<Vec<_>>())?))
            }
            Did::Delete { .. } => {
                let paths: Vec<&str> = same
                    .iter()
                    .filter_map(|did| match did {
                        Did::Delete { path } => Some(path.as_str()),
                        _ => None,
                    })
                    .collect();
                self.path(&paths).map(Part::Delete)
            }
        }
    }

    /// A path, part by part.
    fn path(&mut self, paths: &[&str]) -> Option<String> {
        let parts: Vec<Vec<&str>> = paths.iter().map(|path| path.split('/').collect()).collect();
        let many = parts.first()?.len();
        let mut template = Vec::new();
        for at in 0..many {
            let spot = if at + 1 == many { Spot::File } else { Spot::Folder };
            let same: Option<Vec<&str>> = parts.iter().map(|parts| parts.get(at).copied()).collect();
            template.push(self.text(&same?, spot)?);
        }
        Some(template.join("/"))
    }

    fn lines(&mut self, contents: &[&str]) -> Option<Vec<String>> {
        let all: Vec<Vec<&str>> =
            contents.iter().map(|text| text.trim_end_matches('\n').split('\n').collect()).collect();
        // Empty lines at an end are no words: they are the same in all, or it is another text.
        let ends: BTreeSet<usize> =
            contents.iter().map(|text| text.len() - text.trim_end_matches('\n').len()).collect();
        let many = all.first()?.len();
        if ends.len() != 1 || all.iter().any(|lines| lines.len() != many) {
            return None;
        }
        let mut lines = Vec::new();
        for at in 0..many {
            let same: Option<Vec<&str>> = all.iter().map(|lines| lines.get(at).copied()).collect();
            lines.push(self.text(&same?, Spot::Line)?);
        }
        lines.extend((1..ends.first().copied().unwrap_or(1)).map(|_| String::new()));
        Some(lines)
    }

    /// One text of each task as one template.
    fn text(&mut self, texts: &[&str], spot: Spot) -> Option<String> {
        let all: Vec<Vec<&str>> = texts.iter().map(|text| words(text)).collect();
        let first = all.first()?;
        if all.iter().all(|words| words == first) {
            self.constant += first.iter().filter(|word| is_word(word)).count();
            return Some(first.iter().map(|word| escaped(word)).collect());
        }
        if all.iter().all(|words| words.len() == first.len()) {
            let columns =
                (0..first.len()).map(|at| all.iter().filter_map(|words| words.get(at).copied()).collect());
            return columns
                .collect::<Vec<Vec<&str>>>()
                .iter()
                .map(|column| self.word(column, spot))
                .collect();
        }
        // As many as are the same at the beginning, and at the end of what is left; between them a parameter stands.
        let shortest = all.iter().map(Vec::len).min()?;
        let same = |at: &dyn Fn(&Vec<&str>) -> Option<String>| {
            let wanted = at(first);
            wanted.is_some() && all.iter().all(|words| at(words) == wanted)
        };
        let head =
            (0..shortest).take_while(|n| same(&|words| words.get(*n).map(|w| (*w).to_owned()))).count();
        let tail = (1..=shortest - head)
            .take_while(|n| {
                same(&|words| {
                    words.len().checked_sub(*n).and_then(|at| words.get(at)).map(|w| (*w).to_owned())
                })
            })
            .count();
        let middle = |words: &Vec<&str>| Some(words.get(head..words.len().checked_sub(tail)?)?.concat());
        let middles: Vec<String> = all.iter().map(middle).collect::<Option<_>>()?;
        let (front, back) = (first.get(..head)?, first.get(first.len().checked_sub(tail)?..)?);
        let mut template: String = front.iter().map(|word| escaped(word)).collect();
        template.push_str(&self.parameter(middles, spot)?);
        template.extend(back.iter().map(|word| escaped(word)));
        self.constant += front.iter().chain(back).filter(|word| is_word(word)).count();
        Some(template)
    }

    fn word(&mut self, column: &[&str], spot: Spot) -> Option<String> {
        let first = column.first()?;
        if column.iter().all(|word| word == first) {
            self.constant += usize::from(is_word(first));
            return Some(escaped(first));
        }
        self.parameter(column.iter().map(|word| (*word).to_owned()).collect(), spot)
    }

    /// The parameter that is this in each task: one that is so already, else a new one.
    fn parameter(&mut self, values: Vec<String>, spot: Spot) -> Option<String> {
        if values.len() != self.of || values.iter().any(|value| value.trim().is_empty()) {
            return None;
        }
        self.variable += 1;
        if let Some(known) = self.parameters.iter().find(|one| one.values == values) {
            return Some(format!("{{{}}}", known.name));
        }
        let base = match spot {
            Spot::Folder => "folder",
            Spot::File => "file",
            Spot::Line => "value",
        };
        let taken = self.parameters.iter().filter(|one| one.name.starts_with(base)).count();
        let name = if taken == 0 { base.to_owned() } else { format!("{base}{}", taken + 1) };
        let template = format!("{{{name}}}");
        self.parameters.push(Parameter { name, values });
        Some(template)
    }
}

/// Letters and digits that stand together, and each other character alone.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut from = 0;
    for (at, c) in text.char_indices().filter(|(_, c)| !c.is_alphanumeric()) {
        if from < at {
            words.extend(text.get(from..at));
        }
        let end = at + c.len_utf8();
        words.extend(text.get(at..end));
        from = end;
    }
    words.extend(text.get(from..).filter(|rest| !rest.is_empty()));
    words
}

fn is_word(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// Text as a template has it.
fn escaped(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

const fn verb(part: &Part) -> &'static str {
    match part {
        Part::Write(..) => "write",
        Part::Move(..) => "move",
        Part::Delete(_) => "delete",
    }
}

fn path_of(part: &Part) -> &str {
    match part {
        Part::Write(path, ..) | Part::Delete(path) | Part::Move(_, path) => path,
    }
}

/// A name of small letters: what is done first, on how many files in all, and digits of project and shape. It holds no word of
/// any file: it stands openly in events, which nobody erases.
fn name(project: Digest, shape: Digest, acts: &[Vec<Part>]) -> String {
    let both = Digest::of(format!("hermit draft\n{project}\n{shape}\n").as_bytes());
    let digits: String = both.to_string().chars().take(DIGITS).collect();
    let verb = acts.iter().flatten().next().map_or("do", verb);
    format!("{verb}-{}-files-{digits}", acts.iter().map(Vec::len).sum::<usize>())
}

/// The text of the playbook. Every text in it is quoted as JSON is, which YAML reads.
fn text(name: &str, recorded: &[Recorded], acts: &[Vec<Part>], parameters: &[Parameter]) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let first = acts.iter().flatten().next();
    let shown = first.map_or(String::new(), |part| path_of(part).replace('{', "<").replace('}', ">"));
    let more = acts.iter().map(Vec::len).sum::<usize>().saturating_sub(1);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    let title = format!("{} {shown}{rest}", capital(first.map_or("do", verb)));
    let tasks: Vec<String> = recorded.iter().map(|one| one.task_id.to_string()).collect();
    let about = format!("Drafted from {} tasks that did the same: {}.", tasks.len(), tasks.join(", "));
    let mut out =
        format!("playbook: 1\nname: {name}\ntitle: {}\ndescription: {}\n", quoted(&title), quoted(&about));
    if !parameters.is_empty() {
        out.push_str("parameters:\n");
    }
    for one in parameters {
        let seen: BTreeSet<&str> = one.values.iter().map(String::as_str).collect();
        let help = format!("It was {}", seen.into_iter().collect::<Vec<_>>().join(", "));
        out.push_str(&format!("  - name: {}\n    help: {}\n", one.name, quoted(&help)));
    }
    out.push_str("steps:\n");
    for one in parameters {
        let asked = format!("Nothing was done: say `{}` with --param {}=VALUE.", one.name, one.name);
        let given = quoted(&format!("{{{}}}", one.name));
        out.push_str(&format!(
            "  - when: {{ not: {{ given: {given} }} }}\n    done: {{ summary: {} }}\n",
            quoted(&asked)
        ));
    }
    for act in acts {
        out.push_str("  - change:\n");
        for part in act {
            match part {
                Part::Write(path, lines, unended) => {
                    let end = if *unended { "          unended: true\n" } else { "" };
                    out.push_str(&format!(
                        "      - write:\n          path: {}\n{end}          content:\n",
                        quoted(path)
                    ));
                    lines.iter().for_each(|line| out.push_str(&format!("            - {}\n", quoted(line))));
                }
                Part::Move(from, to) => {
                    out.push_str(&format!(
                        "      - move: {{ from: {}, to: {} }}\n",
                        quoted(from),
                        quoted(to)
                    ));
                }
                Part::Delete(path) => {
                    out.push_str(&format!("      - delete: {{ path: {} }}\n", quoted(path)))
                }
            }
        }
    }
    out.push_str(&format!("  - done: {{ summary: {} }}\n", quoted(&format!("{}: done.", escaped(&title)))));
    out
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// What a standing grant has to cover at least: kinds of changes, below the folder that all places have in common.
fn narrowest(acts: &[Vec<Part>]) -> String {
    let verbs: BTreeSet<&str> = acts.iter().flatten().map(verb).collect();
    let paths = acts.iter().flatten().flat_map(|part| match part {
        Part::Write(path, ..) | Part::Delete(path) => vec![path.as_str()],
        Part::Move(from, to) => vec![from.as_str(), to.as_str()],
    });
    let folders = |path: &str| -> Vec<String> {
        let mut parts: Vec<String> = path.split('/').map(str::to_owned).collect();
        parts.pop();
        parts.into_iter().take_while(|part| !part.contains('{')).collect()
    };
    let common = paths.map(folders).reduce(|one, other| {
        one.into_iter().zip(other).take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
    });
    let verbs = verbs.into_iter().collect::<Vec<_>>().join(", ");
    match common.filter(|folder| !folder.is_empty()) {
        Some(folder) => format!("{verbs} files below `{}`, in one project", folder.join("/")),
        None => format!("{verbs} files anywhere in one project, as no folder is the same in all"),
    }
}

/// Whether evidence of a shape is new: enough tasks on which no draft of it rested before.
pub fn fresh(tasks: &[TaskId], before: &[&[TaskId]]) -> Vec<TaskId> {
    let known: BTreeSet<TaskId> = before.iter().flat_map(|tasks| tasks.iter().copied()).collect();
    tasks.iter().copied().filter(|task| !known.contains(task)).collect()
}

/// Whether what was tried speaks for a draft: it gives the same on more than half of what it could be tried on.
pub fn speaks_for(draft: &PlaybookDraft) -> bool {
    use model::playbook::PlaybookTrialOutcome as Outcome;
    let tried = draft.trials.iter().filter(|trial| trial.outcome != Outcome::NotTried).count();
    tried > 0 && draft.same().0.saturating_mul(2) > tried
}

#[cfg(test)]
mod tests;
