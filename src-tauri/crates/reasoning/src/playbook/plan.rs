//! The items of a change, worked out against what is there: nothing is proposed onto a path that exists.

use super::entry::{Entry, numbered};
use super::facts::Look;
use super::pattern;
use super::schema::{Condition, Content, Move, OnePath, Part, Selection, Set, Write};
use super::scope::Scope;
use super::select::{apply_sets, select};
use super::value::readable;
use super::world::{State, World, lower};
use model::limits::CHANGE_ITEMS_MAX;
use model::{Digest, RelPath};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Numbers tried behind a name before it is left alone.
const NUMBERS_MAX: u32 = 1_000;

/// What a change comes to.
#[derive(Debug, Default)]
pub struct Plan {
    /// Items of the `change` tool.
    pub items: Vec<Value>,
    /// Looks that are needed before the rest can be worked out.
    pub needs: Vec<Look>,
    /// What is left alone, readable, with the reason.
    pub left_alone: Vec<(String, String)>,
    /// Whether there is more than one change may hold.
    pub more: bool,
    taken: BTreeSet<String>,
}

/// One place found for one item.
enum Place {
    At(RelPath),
    Already,
    Nowhere(String),
    Need(Look),
}

impl Plan {
    /// Works the parts of a change out.
    ///
    /// # Errors
    /// A template that gives no path, glob, expression or number where one is due.
    pub fn of(parts: &[Part], scope: &Scope<'_>, world: &World<'_>) -> Result<Self, String> {
        let mut plan = Self::default();
        for part in parts {
            match &part.for_each {
                None => plan.part(part, scope, world, None)?,
                Some(selection) => {
                    for entry in &select(selection, scope)? {
                        plan.part(part, &scope.at(entry), world, Some((selection, entry)))?;
                    }
                }
            }
        }
        Ok(plan)
    }

    fn part(
        &mut self,
        part: &Part,
        scope: &Scope<'_>,
        world: &World<'_>,
        each: Option<(&Selection, &Entry)>,
    ) -> Result<(), String> {
        let condition: Option<&Condition> = part.when.as_ref();
        if !scope.holds(condition)? {
            return Ok(());
        }
        if self.items.len() >= CHANGE_ITEMS_MAX {
            self.more = true;
            return Ok(());
        }
        if let Some(write) = &part.write {
            self.write(write, scope, world)?;
        }
        if let Some(moves) = &part.moves {
            self.moves(moves, scope, world, each)?;
        }
        if let Some(delete) = &part.delete {
            self.delete(delete, scope, world)?;
        }
        Ok(())
    }

    fn moves(
        &mut self,
        by: &Move,
        scope: &Scope<'_>,
        world: &World<'_>,
        each: Option<(&Selection, &Entry)>,
    ) -> Result<(), String> {
        let from = pattern::path(by.from.value(scope).bytes())?;
        let wanted = match pattern::path(by.to.value(scope).bytes()) {
            Ok(path) => path,
            Err(why) => {
                self.leave(&from, why);
                return Ok(());
            }
        };
        if wanted == from || !self.is_there(&from, world) {
            return Ok(());
        }
        if wanted.is_root() || wanted.file_name().is_empty() {
            self.leave(&from, "its new name would be empty".to_owned());
            return Ok(());
        }
        let rule =
            each.filter(|_| by.settled).map(|(selection, entry)| Rule { by, sets: &selection.set, entry });
        let fits = |path: &RelPath| rule.as_ref().is_none_or(|rule| rule.is_settled(path, scope));
        if !fits(&wanted) {
            self.leave(&from, "the rule would change its own result again".to_owned());
            return Ok(());
        }
        match self.place(&wanted, Some(&from), world) {
            Place::Already => {}
            Place::Nowhere(why) => self.leave(&from, why),
            Place::Need(look) => self.needs.push(look),
            Place::At(to) if !fits(&to) => {
                self.leave(&from, format!("its new name `{}` is taken", readable(wanted.as_bytes())));
            }
            Place::At(to) => {
                if self.is_known(&from, world) {
                    self.taken.insert(lower(to.as_bytes()));
                    self.items.push(json!({ "op": "move", "from": from.to_string(), "to": to.to_string() }));
                }
            }
        }
        Ok(())
    }

    fn delete(&mut self, by: &OnePath, scope: &Scope<'_>, world: &World<'_>) -> Result<(), String> {
        let path = pattern::path(by.path.value(scope).bytes())?;
        if self.is_there(&path, world) && self.is_known(&path, world) {
            self.items.push(json!({ "op": "delete", "path": path.to_string() }));
        }
        Ok(())
    }

    fn write(&mut self, by: &Write, scope: &Scope<'_>, world: &World<'_>) -> Result<(), String> {
        let wanted = pattern::path(by.path.value(scope).bytes())?;
        if wanted.is_root() {
            return Err("`path` of a write is empty; name a file".to_owned());
        }
        let mut content = text_of(&by.content, scope)?;
        if by.unended {
            content.pop();
        }
        let digest = Digest::of(content.as_bytes()).to_string();
        let prefix = by.replaces.as_ref().map(|t| t.text(scope));
        for number in 1..=NUMBERS_MAX {
            let path =
                RelPath::from_bytes(&numbered(wanted.as_bytes(), number)).map_err(|e| e.to_string())?;
            if self.taken.contains(&lower(path.as_bytes())) {
                continue;
            }
            match world.state(&path) {
                State::Absent if number == 1 && world.has_like(&path) => continue,
                State::Absent => {
                    self.write_item(&path, &content);
                    return Ok(());
                }
                State::Need(look) => {
                    self.needs.push(look);
                    return Ok(());
                }
                State::Blocked(why) => {
                    self.leave(&path, why);
                    return Ok(());
                }
                State::Folder | State::Other => continue,
                State::File => {}
            }
            let look = if prefix.is_some() { Look::Read(path.clone()) } else { Look::Hash(path.clone()) };
            let unseen =
                if prefix.is_some() { world.text(&path).is_none() } else { world.digest(&path).is_none() };
            if unseen && world.failure(&look).is_none() {
                self.needs.push(look);
                return Ok(());
            }
            if world.digest(&path) == Some(digest.as_str()) {
                return Ok(());
            }
            let own =
                |prefix: &String| world.text(&path).is_some_and(|text| text.starts_with(prefix.as_bytes()));
            if prefix.as_ref().is_some_and(own) {
                self.write_item(&path, &content);
                return Ok(());
            }
        }
        self.leave(&wanted, format!("{NUMBERS_MAX} names like it are taken"));
        Ok(())
    }

    fn write_item(&mut self, path: &RelPath, content: &str) {
        self.taken.insert(lower(path.as_bytes()));
        self.items.push(json!({ "op": "write", "path": path.to_string(), "content": content }));
    }

    /// A free place: the wanted one, or the first numbered one. `Already` when that is where the file is.
    fn place(&self, wanted: &RelPath, from: Option<&RelPath>, world: &World<'_>) -> Place {
        for number in 1..=NUMBERS_MAX {
            let Ok(path) = RelPath::from_bytes(&numbered(wanted.as_bytes(), number)) else {
                return Place::Nowhere("its new path would be too long".to_owned());
            };
            if from == Some(&path) {
                return Place::Already;
            }
            if self.taken.contains(&lower(path.as_bytes())) {
                continue;
            }
            // A name that differs from the file's own in case alone is free: it is the file itself.
            let only_case = from.is_some_and(|from| lower(from.as_bytes()) == lower(path.as_bytes()));
            match world.state(&path) {
                State::Absent if only_case || !world.has_like(&path) => return Place::At(path),
                State::Absent | State::File | State::Folder | State::Other => {}
                State::Blocked(why) => return Place::Nowhere(why),
                State::Need(look) => return Place::Need(look),
            }
        }
        Place::Nowhere(format!("{NUMBERS_MAX} names like `{}` are taken", readable(wanted.as_bytes())))
    }

    /// Whether a file is there to be moved or deleted; what is not one is left alone.
    fn is_there(&mut self, path: &RelPath, world: &World<'_>) -> bool {
        match world.state(path) {
            State::File => return true,
            State::Need(look) => self.needs.push(look),
            State::Absent => {}
            State::Folder => self.leave(path, "it is a folder".to_owned()),
            State::Other => self.leave(path, "it is not an ordinary file".to_owned()),
            State::Blocked(why) => self.leave(path, why),
        }
        false
    }

    /// Whether a file's digest was observed: a change is bound to what it finds (HK-16.8).
    fn is_known(&mut self, path: &RelPath, world: &World<'_>) -> bool {
        if world.digest(path).is_some() {
            return true;
        }
        let look = Look::Hash(path.clone());
        match world.failure(&look) {
            Some(why) => self.leave(path, why),
            None => self.needs.push(look),
        }
        false
    }

    fn leave(&mut self, path: &RelPath, why: String) {
        self.left_alone.push((readable(path.as_bytes()), why));
    }
}

/// A renaming rule, to be tried on its own result.
struct Rule<'a> {
    by: &'a Move,
    sets: &'a [Set],
    entry: &'a Entry,
}

impl Rule<'_> {
    fn is_settled(&self, path: &RelPath, scope: &Scope<'_>) -> bool {
        let mut again =
            Entry { path: path.as_bytes().to_vec(), extra: Default::default(), ..self.entry.clone() };
        if apply_sets(self.sets, &mut again, scope).is_err() {
            return false;
        }
        pattern::path(self.by.to.value(&scope.at(&again)).bytes()).is_ok_and(|to| to == *path)
    }
}

/// The text of a file: its lines, each with its end.
fn text_of(content: &Content, scope: &Scope<'_>) -> Result<String, String> {
    Ok(scope.lines(content)?.into_iter().map(|line| line + "\n").collect())
}
