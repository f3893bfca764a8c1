//! What a playbook's text must be beyond its shape: names that exist, one act for each step, sound patterns.

use super::entry::FIELDS;
use super::schema::{Condition, Content, Document, Join, Part, Selection, Set, Step, Write};
use super::scope::TOTALS;
use super::template::Template;
use super::{Parameter, pattern};
use crate::Error;
use model::limits::PLAYBOOK_BYTES_MAX;
use std::collections::BTreeSet;

/// The version of the language.
const VERSION: u32 = 1;
/// The acts of a step, as messages list them.
const ACTS: &str =
    "list, read, search, hash, select, table, write, delete, move, change, note, believe, ask, done";

/// Reads and checks.
///
/// # Errors
/// [`Error::Playbook`] with line, key and what is allowed.
pub fn read(text: &str) -> Result<Document, Error> {
    if text.len() > PLAYBOOK_BYTES_MAX {
        return Err(Error::Playbook {
            line: 1,
            why: format!("it is longer than {PLAYBOOK_BYTES_MAX} bytes"),
        });
    }
    let document: Document = serde_norway::from_str(text).map_err(|e| {
        let line = e.location().map_or(1, |at| u32::try_from(at.line()).unwrap_or(u32::MAX));
        Error::Playbook { line, why: without_place(&e.to_string()) }
    })?;
    let lines = Lines::of(text);
    header(&document, &lines)?;
    let mut known = Known::of(&document);
    for (index, step) in document.steps.iter().enumerate() {
        let uses = Uses::of(step);
        let wrong = |needle: &str, why: String| Error::Playbook { line: lines.within(index, needle), why };
        act(step).map_err(|(needle, why)| wrong(needle, why))?;
        known.check(&uses).map_err(|(needle, why)| wrong(&needle, why))?;
        uses.patterns().map_err(|(needle, why)| wrong(&needle, why))?;
        if let Some(id) = &step.id
            && (!is_name(id) || !known.ids.insert(id.clone()))
        {
            return Err(wrong(id, format!("`id: {id}` is not a new name of small letters, digits and `_`")));
        }
    }
    Ok(document)
}

/// The message without the place that the parser puts behind it: the line is said in front.
fn without_place(message: &str) -> String {
    message.split(" at line ").next().unwrap_or(message).to_owned()
}

fn header(document: &Document, lines: &Lines<'_>) -> Result<(), Error> {
    let wrong = |key: &str, why: String| Error::Playbook { line: lines.head(key), why };
    if document.playbook != VERSION {
        let why = format!(
            "`playbook: {}` is a version this program does not know; it knows {VERSION}",
            document.playbook
        );
        return Err(wrong("playbook:", why));
    }
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if document.name.is_empty() || document.name.len() > 64 || !document.name.chars().all(plain) {
        return Err(wrong(
            "name:",
            format!("`name: {}` is not 1 to 64 small letters, digits and `-`", document.name),
        ));
    }
    if document.steps.is_empty() {
        return Err(wrong("steps:", "`steps` is empty; a playbook has at least one step".to_owned()));
    }
    let mut seen = BTreeSet::new();
    for Parameter { name, default, choices, .. } in &document.parameters {
        if !is_name(name) || FIELDS.contains(&name.as_str()) || !seen.insert(name) {
            let why = format!(
                "`name: {name}` of a parameter is not a new name of small letters, digits and `_`; taken are {}",
                FIELDS.join(", ")
            );
            return Err(wrong(&format!("name: {name}"), why));
        }
        if !choices.is_empty() && !choices.contains(default) {
            return Err(wrong(
                &format!("default: {default}"),
                format!("`default: {default}` of `{name}` is none of its choices: {}", choices.join(", ")),
            ));
        }
    }
    Ok(())
}

fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    !text.is_empty() && text.len() <= 64 && text.chars().all(plain)
}

type Wrong<N> = Result<(), (N, String)>;

/// One act for each step, and `for_each` only where it means something.
fn act(step: &Step) -> Wrong<&'static str> {
    let acts = [
        ("list", step.list.is_some()),
        ("read", step.read.is_some()),
        ("search", step.search.is_some()),
        ("hash", step.hash.is_some()),
        ("write", step.write.is_some()),
        ("delete", step.delete.is_some()),
        ("move", step.moves.is_some()),
        ("select", step.select.is_some()),
        ("table", step.table.is_some()),
        ("change", step.change.is_some()),
        ("note", step.note.is_some()),
        ("believe", step.believe.is_some()),
        ("ask", step.ask.is_some()),
        ("done", step.done.is_some()),
    ];
    let given: Vec<&str> = acts.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
    let [name] = given.as_slice() else {
        let found = if given.is_empty() { "none".to_owned() } else { given.join(" and ") };
        return Err(("", format!("a step has exactly one act and this has {found}; acts are {ACTS}")));
    };
    let each = ["list", "read", "search", "hash", "write", "delete", "move"];
    if step.for_each.is_some() && !each.contains(name) {
        return Err(("for_each:", format!("`for_each` goes with {}, not with `{name}`", each.join(", "))));
    }
    for part in step.change.iter().flatten() {
        let count = [part.write.is_some(), part.delete.is_some(), part.moves.is_some()];
        if count.iter().filter(|given| **given).count() != 1 {
            return Err(("change:", "a part of `change` has exactly one of write, delete, move".to_owned()));
        }
    }
    Ok(())
}

/// Names that templates and references may use.
struct Known {
    ids: BTreeSet<String>,
    names: BTreeSet<String>,
}

impl Known {
    fn of(document: &Document) -> Self {
        let mut names: BTreeSet<String> = document.parameters.iter().map(|p| p.name.clone()).collect();
        names.extend(FIELDS.iter().map(|field| (*field).to_owned()));
        names.extend(["text", "line", "kept"].map(str::to_owned));
        for step in &document.steps {
            let uses = Uses::of(step);
            names.extend(uses.made.iter().cloned());
            for prefix in &uses.prefixes {
                let columns =
                    document.steps.iter().filter_map(|s| s.table.as_ref()).flat_map(|t| t.columns.iter());
                let fields = FIELDS.iter().map(|f| (*f).to_owned()).chain(columns.cloned());
                names.extend(fields.map(|field| format!("{prefix}.{field}")));
            }
        }
        Self { ids: BTreeSet::new(), names }
    }

    fn check(&self, uses: &Uses<'_>) -> Wrong<String> {
        for id in &uses.ids {
            if !self.ids.contains(*id) {
                let there: Vec<&str> = self.ids.iter().map(String::as_str).collect();
                let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
                return Err((
                    (*id).to_owned(),
                    format!("`{id}` is not the id of an earlier step; there are {there}"),
                ));
            }
        }
        for template in &uses.templates {
            if let Some(name) = template.names().find(|name| !self.is_known(name)) {
                let there: Vec<&str> = self.names.iter().chain(&self.ids).map(String::as_str).collect();
                let why = format!(
                    "`{{{name}}}` in `{}` is not known here; there are {}, and with an id: {}",
                    template.source(),
                    there.join(", "),
                    TOTALS.map(|t| format!(".{t}")).join(", ")
                );
                return Err((template.source().to_owned(), why));
            }
        }
        Ok(())
    }

    fn is_known(&self, name: &str) -> bool {
        let total =
            || name.split_once('.').is_some_and(|(id, what)| self.ids.contains(id) && TOTALS.contains(&what));
        self.names.contains(name) || self.ids.contains(name) || total()
    }
}

/// Everything a step refers to.
#[derive(Default)]
pub struct Uses<'a> {
    ids: Vec<&'a str>,
    templates: Vec<&'a Template>,
    /// Templates that give regular expressions.
    pub regexes: Vec<&'a Template>,
    globs: Vec<&'a Template>,
    made: BTreeSet<String>,
    prefixes: BTreeSet<String>,
}

impl<'a> Uses<'a> {
    /// Of one step.
    pub fn of(step: &'a Step) -> Self {
        let mut uses = Self::default();
        uses.condition(step.when.as_ref());
        uses.selection(step.for_each.as_ref());
        uses.selection(step.select.as_ref());
        uses.templates.extend(step.list.iter().map(|l| &l.path));
        uses.templates.extend(step.read.iter().chain(&step.hash).chain(&step.delete).map(|p| &p.path));
        if let Some(search) = &step.search {
            uses.templates.push(&search.path);
            uses.regex(&search.pattern);
            uses.globs.extend(search.glob.as_ref());
            uses.templates.extend(search.glob.as_ref());
        }
        if let Some(table) = &step.table {
            uses.ids.push(&table.from);
            uses.made.extend(table.columns.iter().cloned());
        }
        uses.write(step.write.as_ref());
        uses.templates.extend(step.moves.iter().flat_map(|m| [&m.from, &m.to]));
        for part in step.change.iter().flatten() {
            uses.part(part);
        }
        if let Some(note) = &step.note {
            uses.templates.extend(
                note.plan
                    .iter()
                    .chain(&note.objectives)
                    .chain(&note.expected_outputs)
                    .chain(&note.uncertainties),
            );
        }
        if let Some(believe) = &step.believe {
            uses.templates.push(&believe.claim);
            uses.templates.extend(believe.scope.iter().chain(&believe.evidence));
        }
        if let Some(ask) = &step.ask {
            uses.templates.push(&ask.question);
            uses.templates.extend(&ask.choices);
        }
        uses.content(step.done.as_ref().map(|done| &done.summary));
        uses
    }

    fn part(&mut self, part: &'a Part) {
        self.condition(part.when.as_ref());
        self.selection(part.for_each.as_ref());
        self.write(part.write.as_ref());
        self.templates.extend(part.moves.iter().flat_map(|m| [&m.from, &m.to]));
        self.templates.extend(part.delete.iter().map(|d| &d.path));
    }

    fn write(&mut self, write: Option<&'a Write>) {
        let Some(write) = write else { return };
        self.templates.push(&write.path);
        self.templates.extend(write.replaces.as_ref());
        self.content(Some(&write.content));
    }

    fn content(&mut self, content: Option<&'a Content>) {
        for line in content.iter().flat_map(|content| &content.0) {
            self.condition(line.when.as_ref());
            self.selection(line.for_each.as_ref());
            self.templates.push(&line.line);
        }
    }

    fn condition(&mut self, condition: Option<&'a Condition>) {
        let Some(c) = condition else { return };
        self.ids.extend(c.some.iter().chain(&c.none).map(String::as_str));
        self.templates.extend(c.given.as_ref());
        self.templates.extend(c.equals.iter().chain(&c.differs).flatten());
        if let Some([text, regex]) = &c.matches {
            self.templates.push(text);
            self.regex(regex);
        }
        if let Some(seen) = &c.seen {
            self.ids.push(&seen.set);
            self.templates.push(&seen.path);
        }
        self.condition(c.not.as_deref());
        for one in c.any.iter().flatten() {
            self.condition(Some(one));
        }
    }

    fn selection(&mut self, selection: Option<&'a Selection>) {
        let Some(s) = selection else { return };
        self.ids.push(&s.from);
        let globs = s.glob.0.iter().chain(&s.not_glob.0);
        self.globs.extend(globs.clone());
        self.templates.extend(globs.chain(&s.inside.0).chain(&s.outside.0));
        self.templates.extend(s.newer_than_days.iter().chain(&s.older_than_days));
        if let Some(capture) = &s.capture {
            self.templates.push(&capture.text);
            self.regex(&capture.pattern);
            if let Ok(regex) = pattern::regex(capture.pattern.source()) {
                self.made.extend(regex.capture_names().flatten().map(str::to_owned));
            }
        }
        for Join { set, prefix, .. } in s.join.0.iter().chain(&s.with.0).chain(&s.without.0) {
            self.ids.push(set);
            self.prefixes.extend(prefix.clone());
        }
        for Set { name, when, value, replace } in &s.set {
            self.made.insert(name.clone());
            self.condition(when.as_ref());
            self.templates.extend(value.as_ref());
            if let Some(replace) = replace {
                self.templates.extend([&replace.text, &replace.with]);
                self.regex(&replace.pattern);
            }
        }
        self.condition(s.condition.as_ref());
    }

    fn regex(&mut self, template: &'a Template) {
        self.templates.push(template);
        self.regexes.push(template);
    }

    /// Patterns without places to fill in are checked now, the others once parameters are known.
    fn patterns(&self) -> Wrong<String> {
        let fixed = |list: &[&'a Template]| -> Vec<&'a Template> {
            list.iter().copied().filter(|t| t.names().next().is_none()).collect()
        };
        for template in fixed(&self.regexes) {
            let text = template.text(&Nothing);
            pattern::regex(&text).map_err(|why| (template.source().to_owned(), why))?;
        }
        for template in fixed(&self.globs) {
            let text = template.text(&Nothing);
            pattern::glob(&text).map_err(|why| (template.source().to_owned(), why)).map(|_| ())?;
        }
        Ok(())
    }
}

struct Nothing;

impl super::template::Names for Nothing {
    fn value(&self, _: &str) -> Option<super::value::Value> {
        None
    }
}

/// Where things stand in the text, for messages.
struct Lines<'a> {
    lines: Vec<&'a str>,
    /// The line, from 0, where each step begins.
    steps: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let start = lines.iter().position(|line| line.starts_with("steps:")).unwrap_or(lines.len());
        let indent = |line: &str| line.len() - line.trim_start().len();
        let items = lines.iter().enumerate().skip(start + 1);
        let first =
            items.clone().find(|(_, line)| line.trim_start().starts_with("- ")).map(|(_, line)| indent(line));
        let begins = |line: &str| line.trim_start().starts_with("- ") && Some(indent(line)) == first;
        let steps = items.filter(|(_, line)| begins(line)).map(|(at, _)| at).collect();
        Self { lines, steps }
    }

    /// The first line of the head that holds the words.
    fn head(&self, words: &str) -> u32 {
        let found = self.lines.iter().position(|line| line.contains(words));
        number(found.unwrap_or(0))
    }

    /// The first line of a step that holds the words; its first line when none does.
    fn within(&self, step: usize, words: &str) -> u32 {
        let from = self.steps.get(step).copied().unwrap_or(0);
        let to = self.steps.get(step + 1).copied().unwrap_or(self.lines.len());
        let mut range = self.lines.iter().enumerate().skip(from).take(to.saturating_sub(from));
        let found = range.find(|(_, line)| !words.is_empty() && line.contains(words)).map(|(at, _)| at);
        number(found.unwrap_or(from))
    }
}

fn number(line: usize) -> u32 {
    u32::try_from(line + 1).unwrap_or(u32::MAX)
}
