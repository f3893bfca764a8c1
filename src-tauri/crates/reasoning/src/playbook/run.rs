//! What to do next: the steps are replayed over everything observed so far, until one needs something new.

use super::facts::{Fact, History, Look, Outcome};
use super::plan::Plan;
use super::schema::{Document, Part, Step};
use super::scope::{Bound, Scope};
use super::select::select;
use super::value::{csv_rows, from_readable};
use super::world::World;
use super::{entry::Entry, pattern, value};
use crate::Observed;
use model::RelPath;
use model::proposal::ToolCall;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Calls of one answer: the loop takes [`model::limits::CALLS_MAX`], notes ride along with looks.
const LOOKS_MAX: usize = 48;
/// Things left alone that a summary names one by one.
const NAMED_MAX: usize = 10;

/// The next answer, as calls.
pub fn next(
    document: &Document,
    parameters: &BTreeMap<String, String>,
    categories: &BTreeMap<String, Vec<String>>,
    observed: &[Observed],
) -> Vec<ToolCall> {
    let mut run = Run {
        document,
        parameters,
        categories,
        history: History::of(observed),
        at: 0,
        bound: BTreeMap::new(),
        pending: Vec::new(),
        deep: BTreeMap::new(),
        counts: BTreeMap::new(),
        left_alone: BTreeMap::new(),
        answers: 0,
        searched: BTreeSet::new(),
        fruitless: false,
    };
    let calls = run.through().unwrap_or_else(|why| vec![run.stopped(&why)]);
    run.pending.into_iter().chain(calls).collect()
}

struct Run<'a> {
    document: &'a Document,
    parameters: &'a BTreeMap<String, String>,
    categories: &'a BTreeMap<String, Vec<String>>,
    history: History,
    /// The stretch that steps are looking at.
    at: usize,
    bound: BTreeMap<String, Bound>,
    /// Notes and beliefs that go out with the next proposal.
    pending: Vec<ToolCall>,
    /// Paths listed with all below them, by stretch.
    deep: BTreeMap<usize, Vec<RelPath>>,
    /// Items of each change step that happened; restarts do not forget them.
    counts: BTreeMap<usize, usize>,
    left_alone: BTreeMap<String, String>,
    answers: usize,
    /// Results of searches that a step has taken, by stretch: a result does not tell its pattern.
    searched: BTreeSet<(usize, usize)>,
    /// Whether the last change came to nothing: one more is tried, not two.
    fruitless: bool,
}

enum Flow {
    /// To the next step.
    Next,
    /// From the first step again, with a fresh look at everything.
    Again,
    /// This is the answer.
    Say(Vec<ToolCall>),
}

type Step2<T> = Result<Result<T, Flow>, String>;

impl Run<'_> {
    fn through(&mut self) -> Result<Vec<ToolCall>, String> {
        let mut index = 0;
        while let Some(step) = self.document.steps.get(index) {
            if !self.scope().holds(step.when.as_ref())? {
                index += 1;
                continue;
            }
            match self.step(index, step)? {
                Flow::Next => index += 1,
                Flow::Again => {
                    index = 0;
                    self.bound.clear();
                    self.pending.clear();
                    self.left_alone.clear();
                    self.answers = 0;
                }
                Flow::Say(calls) => return Ok(calls),
            }
        }
        let (done, title) = (self.changed(), &self.document.title);
        Ok(vec![self.ending(format!("{title}: {}.", happened(done)))])
    }

    fn scope(&self) -> Scope<'_> {
        Scope { parameters: self.parameters, bound: &self.bound, categories: self.categories, entry: None }
    }

    fn step(&mut self, index: usize, step: &Step) -> Result<Flow, String> {
        if step.list.is_some() || step.read.is_some() || step.hash.is_some() || step.search.is_some() {
            return self.look(step);
        }
        if let Some(selection) = &step.select {
            let chosen = select(selection, &self.scope())?;
            self.bind(step, Bound::Set(chosen, Vec::new()));
        } else if let Some(table) = &step.table {
            let rows = self.table(&table.from, &table.columns);
            self.bind(step, Bound::Set(rows, Vec::new()));
        } else if let Some(parts) = &step.change {
            return self.change(index, step, parts);
        } else if step.write.is_some() || step.moves.is_some() || step.delete.is_some() {
            let part = Part {
                when: None,
                for_each: step.for_each.clone(),
                write: step.write.clone(),
                delete: step.delete.clone(),
                moves: step.moves.clone(),
            };
            return self.change(index, step, &[part]);
        } else if let Some(done) = &step.done {
            let lines = self.scope().lines(&done.summary)?;
            return Ok(Flow::Say(vec![self.ending(lines.join("\n"))]));
        } else if step.ask.is_some() {
            return Ok(self.ask(step));
        } else {
            self.remark(step);
        }
        Ok(Flow::Next)
    }

    fn bind(&mut self, step: &Step, bound: Bound) {
        if let Some(id) = &step.id {
            self.bound.insert(id.clone(), bound);
        }
    }

    /// Notes and beliefs change no world and give nothing back: they go out with what comes next.
    fn remark(&mut self, step: &Step) {
        let scope = self.scope();
        let texts = |list: &[super::template::Template]| -> Vec<String> {
            list.iter().map(|t| t.text(&scope)).collect()
        };
        let call = if let Some(note) = &step.note {
            let arguments = json!({
                "plan": note.plan.as_ref().map(|t| t.text(&scope)),
                "objectives": texts(&note.objectives),
                "expected_outputs": texts(&note.expected_outputs),
                "uncertainties": texts(&note.uncertainties),
            });
            ToolCall { name: "note".to_owned(), arguments }
        } else if let Some(believe) = &step.believe {
            let arguments = json!({
                "claim": believe.claim.text(&scope),
                "scope": believe.scope.as_ref().map(|t| t.text(&scope)).unwrap_or_default(),
                "confidence": believe.confidence,
                "evidence": texts(&believe.evidence),
            });
            ToolCall { name: "believe".to_owned(), arguments }
        } else {
            return;
        };
        self.pending.push(call);
    }

    fn ask(&mut self, step: &Step) -> Flow {
        if let Some(answer) = self.history.answers.get(self.answers).cloned() {
            self.answers += 1;
            self.pending.clear();
            self.bind(step, Bound::Text(answer, RelPath::ROOT));
            return Flow::Next;
        }
        let Some(ask) = &step.ask else { return Flow::Next };
        let scope = self.scope();
        let choices: Vec<String> = ask.choices.iter().map(|t| t.text(&scope)).collect();
        let arguments = json!({ "question": ask.question.text(&scope), "choices": choices });
        Flow::Say(vec![ToolCall { name: "ask".to_owned(), arguments }])
    }

    fn looks_of(&self, step: &Step) -> Result<Vec<Look>, String> {
        let one = |scope: &Scope<'_>| -> Result<Look, String> {
            let path = |t: &super::template::Template| pattern::path(t.value(scope).bytes());
            if let Some(list) = &step.list {
                return Ok(Look::List(path(&list.path)?, list.recursive));
            }
            if let Some(search) = &step.search {
                let glob = search.glob.as_ref().map(|t| t.text(scope)).filter(|text| !text.is_empty());
                return Ok(Look::Search(path(&search.path)?, search.pattern.text(scope), glob));
            }
            match (&step.read, &step.hash) {
                (Some(read), _) => Ok(Look::Read(path(&read.path)?)),
                (_, Some(hash)) => Ok(Look::Hash(path(&hash.path)?)),
                (None, None) => Err("this step looks at nothing".to_owned()),
            }
        };
        let scope = self.scope();
        match &step.for_each {
            None => Ok(vec![one(&scope)?]),
            Some(selection) => select(selection, &scope)?.iter().map(|entry| one(&scope.at(entry))).collect(),
        }
    }

    fn look(&mut self, step: &Step) -> Result<Flow, String> {
        let looks = self.looks_of(step)?;
        let found = match self.found(&looks)? {
            Ok(found) => found,
            Err(flow) => return Ok(flow),
        };
        for look in &looks {
            if let Look::List(path, true) = look {
                self.deep.entry(self.at).or_default().push(path.clone());
            }
        }
        let many = step.for_each.is_some();
        let (mut entries, mut unreadable, mut text) = (Vec::new(), Vec::new(), None);
        for (look, fact) in looks.iter().zip(found) {
            if let Some(why) = fact.error() {
                if !many {
                    return Err(format!("cannot {} `{}`: {why}", verb(look), shown(look.path())));
                }
                unreadable.push((look.path().clone(), why.to_owned()));
                continue;
            }
            if fact.is_cut() {
                return Err(format!(
                    "`{}` holds more than one look shows; choose a smaller folder inside it",
                    shown(look.path())
                ));
            }
            unreadable.extend(fact.unreadable());
            match look {
                Look::Read(path) => {
                    let bytes = fact.bytes().unwrap_or_default();
                    let words = String::from_utf8_lossy(&bytes).into_owned();
                    let mut entry = Entry { path: path.as_bytes().to_vec(), ..Entry::default() };
                    entry.sha256 = fact.sha256().map(str::to_owned);
                    entry.extra.insert("text".to_owned(), value::Value::Text(words.clone()));
                    entries.push(entry);
                    text = Some((words, path.clone()));
                }
                Look::List(..) | Look::Hash(_) | Look::HashFolder(_) | Look::Search(..) => {
                    entries.extend(fact.entries());
                }
            }
        }
        let bound = match text {
            Some((text, path)) if !many => Bound::Text(text, path),
            _ => Bound::Set(entries, unreadable),
        };
        self.bind(step, bound);
        self.pending.clear();
        Ok(Flow::Next)
    }

    /// The results of looks in the stretch at hand; when some are missing, what to do about it.
    fn found(&mut self, looks: &[Look]) -> Step2<Vec<Fact>> {
        let facts =
            self.history.stretches.get(self.at).map(|stretch| stretch.facts.as_slice()).unwrap_or_default();
        let mut found = Vec::with_capacity(looks.len());
        let mut missing = Vec::new();
        let mut taken = self.searched.clone();
        for look in looks {
            let free = |place: usize| !matches!(look, Look::Search(..)) || !taken.contains(&(self.at, place));
            match facts.iter().enumerate().find(|(place, fact)| fact.answers(look) && free(*place)) {
                Some((place, fact)) => {
                    taken.insert((self.at, place));
                    found.push(fact.clone());
                }
                None => missing.push(look.clone()),
            }
        }
        if missing.is_empty() {
            self.searched = taken;
            return Ok(Ok(found));
        }
        self.wanting(missing).map(Err)
    }

    fn wanting(&mut self, missing: Vec<Look>) -> Result<Flow, String> {
        let last = self.history.stretches.len().saturating_sub(1);
        if self.at < last {
            // The world was changed by something this replay did not foresee: what is true now is in the last stretch.
            for stretch in self.history.stretches.iter().skip(self.at).take(last - self.at) {
                let done = stretch.ended_by.as_ref().and_then(|o| o.done).unwrap_or(0);
                *self.counts.entry(usize::MAX).or_default() += done;
            }
            self.at = last;
            return Ok(Flow::Again);
        }
        if let Some(why) = &self.history.failed {
            return Err(format!("a look was not possible: {why}"));
        }
        let mut seen = BTreeSet::new();
        let unique: Vec<Look> = missing.into_iter().filter(|look| seen.insert(look.clone())).collect();
        Ok(Flow::Say(unique.iter().take(LOOKS_MAX).map(Look::call).collect()))
    }

    fn table(&self, from: &str, columns: &[String]) -> Vec<Entry> {
        let Some(Bound::Text(text, path)) = self.bound.get(from) else { return Vec::new() };
        // The table is about the folder it lies in.
        let base = path.as_bytes().len() - path.file_name().len();
        let row = |cells: Vec<String>| {
            let mut entry = Entry { base, ..Entry::default() };
            for (column, cell) in columns.iter().zip(cells) {
                match column.as_str() {
                    "path" => entry.path = from_readable(&cell),
                    "size" => entry.size = cell.parse().ok(),
                    "sha256" => entry.sha256 = Some(cell).filter(|text| !text.is_empty()),
                    _ => {
                        entry.extra.insert(column.clone(), value::Value::Text(cell));
                    }
                }
            }
            entry
        };
        // The first row is the head.
        let rows = csv_rows(text).into_iter().skip(1).filter(|cells| cells.len() == columns.len());
        rows.map(row).filter(|entry| !entry.path.is_empty()).collect()
    }

    fn change(&mut self, index: usize, step: &Step, parts: &[Part]) -> Result<Flow, String> {
        let plan = {
            let stretch = self.history.stretches.get(self.at);
            let facts = stretch.map(|s| s.facts.as_slice()).unwrap_or_default();
            let deep = self.deep.get(&self.at).map(Vec::as_slice).unwrap_or_default();
            Plan::of(parts, &self.scope(), &World::of(facts, deep))?
        };
        if !plan.needs.is_empty() {
            return self.wanting(by_folder(plan.needs));
        }
        self.left_alone.extend(plan.left_alone);
        if plan.items.is_empty() {
            let count = self.counts.get(&index).copied().unwrap_or(0);
            self.bind(step, Bound::Changed(count));
            return Ok(Flow::Next);
        }
        let ended = self.history.stretches.get(self.at).and_then(|stretch| stretch.ended_by.clone());
        match ended {
            None => Ok(Flow::Say(vec![change_call(plan.items)])),
            Some(outcome) => self.after(index, step, plan.items.len(), plan.more, &outcome),
        }
    }

    /// A change came back.
    fn after(
        &mut self,
        index: usize,
        step: &Step,
        planned: usize,
        more: bool,
        outcome: &Outcome,
    ) -> Result<Flow, String> {
        self.at += 1;
        self.pending.clear();
        let whole = outcome.code == "succeeded";
        let done = outcome.done.unwrap_or(if whole { planned } else { 0 });
        let count = {
            let count = self.counts.entry(index).or_default();
            *count += done;
            *count
        };
        if whole && !more {
            self.fruitless = false;
            self.bind(step, Bound::Changed(count));
            return Ok(Flow::Next);
        }
        if outcome.code == "denied" {
            let said =
                outcome.feedback.as_ref().map(|words| format!(" You said: {words}")).unwrap_or_default();
            return Err(format!("the change of {} was not allowed.{said}", items(planned)));
        }
        if done == 0 && std::mem::replace(&mut self.fruitless, true) {
            let why = if outcome.summary.is_empty() { outcome.code.clone() } else { outcome.summary.clone() };
            let which: Vec<&str> = outcome.not_done.iter().take(NAMED_MAX).map(String::as_str).collect();
            let which = if which.is_empty() { String::new() } else { format!(" (`{}`)", which.join("`, `")) };
            return Err(format!(
                "the change of {} did not happen, tried twice: {why}{which}",
                items(planned)
            ));
        }
        if done > 0 {
            self.fruitless = false;
        }
        Ok(Flow::Again)
    }

    fn changed(&self) -> usize {
        self.counts.values().sum()
    }

    /// The end, with what was left alone.
    fn ending(&self, mut summary: String) -> ToolCall {
        for (path, why) in self.left_alone.iter().take(NAMED_MAX) {
            summary.push_str(&format!("\nLeft alone: `{path}`: {why}."));
        }
        let more = self.left_alone.len().saturating_sub(NAMED_MAX);
        if more > 0 {
            summary.push_str(&format!("\nLeft alone: {more} more, for reasons like these."));
        }
        ToolCall { name: "done".to_owned(), arguments: json!({ "summary": summary }) }
    }

    /// The end of a playbook that could not do its work.
    fn stopped(&self, why: &str) -> ToolCall {
        let (title, done) = (&self.document.title, self.changed());
        self.ending(format!("{title}: not done. {}\n{}.", sentence(why), capital(&happened(done))))
    }
}

/// Files that are to be hashed in one folder before the folder is hashed at once.
const HASHES_MIN: usize = LOOKS_MAX + 1;

/// The same looks, with one for all files of a folder in place of one for each: a folder may hold more files than a run
/// has turns for.
fn by_folder(looks: Vec<Look>) -> Vec<Look> {
    let mut count: BTreeMap<RelPath, usize> = BTreeMap::new();
    for look in &looks {
        if let Look::Hash(path) = look {
            *count.entry(path.parent()).or_default() += 1;
        }
    }
    let one = |look: Look| match &look {
        Look::Hash(path) if count.get(&path.parent()).is_some_and(|many| *many >= HASHES_MIN) => {
            Look::HashFolder(path.parent())
        }
        _ => look,
    };
    looks.into_iter().map(one).collect()
}

fn change_call(items: Vec<Value>) -> ToolCall {
    ToolCall { name: "change".to_owned(), arguments: json!({ "items": items }) }
}

fn happened(done: usize) -> String {
    if done == 0 { "nothing was changed".to_owned() } else { format!("{} changed", items_were(done)) }
}

fn items(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{} files", grouped(count)) }
}

fn items_were(count: usize) -> String {
    if count == 1 { "1 file was".to_owned() } else { format!("{} files were", grouped(count)) }
}

fn grouped(count: usize) -> String {
    model::grouped(u64::try_from(count).unwrap_or(u64::MAX))
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn sentence(text: &str) -> String {
    let text = capital(text.trim());
    if text.ends_with(['.', '!', '?']) { text } else { text + "." }
}

const fn verb(look: &Look) -> &'static str {
    match look {
        Look::List(..) => "list",
        Look::Read(_) => "read",
        Look::Hash(_) | Look::HashFolder(_) => "hash",
        Look::Search(..) => "search",
    }
}

fn shown(path: &RelPath) -> String {
    if path.is_root() { "the folder".to_owned() } else { value::readable(path.as_bytes()) }
}
