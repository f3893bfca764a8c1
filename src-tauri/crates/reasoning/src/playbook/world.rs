//! What is known to be where, out of the looks of one stretch; and what has to be looked at to know more.

use super::facts::{Fact, Look};
use super::schema::Kind;
use super::value::readable;
use model::RelPath;
use std::collections::{BTreeMap, BTreeSet};

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Nothing: its folder was listed and does not hold it, or there is no such folder.
    Absent,
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symlink or something stranger.
    Other,
    /// It cannot be known, or nothing can be put there.
    Blocked(String),
    /// Look first.
    Need(Look),
}

/// The workspace as far as it was seen since the last change.
pub struct World<'a> {
    facts: &'a [Fact],
    kinds: BTreeMap<Vec<u8>, Kind>,
    digests: BTreeMap<Vec<u8>, String>,
    /// Lower-case forms of what is there: two names that differ in case alone are one on many disks.
    lower: BTreeSet<String>,
    listed: BTreeSet<RelPath>,
    deep: Vec<RelPath>,
    unreadable: Vec<RelPath>,
    /// Folders whose own files were hashed at once, and what could not be read of them.
    hashed: BTreeMap<RelPath, BTreeMap<RelPath, String>>,
    /// Places of facts, by tool and path: a folder of many files gives many looks.
    at: BTreeMap<(&'a str, &'a RelPath), Vec<usize>>,
}

impl<'a> World<'a> {
    /// From the results of a stretch; `deep` are the paths that were listed with all below them.
    pub fn of(facts: &'a [Fact], deep: &[RelPath]) -> Self {
        let mut world = Self {
            facts,
            kinds: BTreeMap::new(),
            digests: BTreeMap::new(),
            lower: BTreeSet::new(),
            listed: BTreeSet::new(),
            deep: Vec::new(),
            unreadable: Vec::new(),
            hashed: BTreeMap::new(),
            at: BTreeMap::new(),
        };
        for (place, fact) in facts.iter().enumerate() {
            world.at.entry((fact.op(), fact.path())).or_default().push(place);
        }
        for fact in facts.iter().filter(|fact| fact.error().is_none()) {
            world.learn(fact, deep);
        }
        world
    }

    fn learn(&mut self, fact: &Fact, deep: &[RelPath]) {
        match fact.op() {
            "list" if !fact.is_cut() => {
                self.listed.insert(fact.path().clone());
                if deep.contains(fact.path()) {
                    self.deep.push(fact.path().clone());
                }
            }
            "read" => {
                if let Some(digest) = fact.sha256() {
                    self.digests.insert(fact.path().as_bytes().to_vec(), digest.to_owned());
                }
            }
            _ => {}
        }
        if fact.is_of_own_files() {
            self.hashed.insert(fact.path().clone(), fact.unreadable().into_iter().collect());
        } else if fact.op() == "list" || fact.op() == "hash" {
            self.unreadable.extend(fact.unreadable().into_iter().map(|(path, _)| path));
        }
        if fact.op() == "list" || fact.op() == "hash" {
            for entry in fact.entries() {
                self.lower.insert(lower(&entry.path));
                if let Some(digest) = entry.sha256 {
                    self.digests.insert(entry.path.clone(), digest);
                }
                if let Some(kind) = entry.kind {
                    self.kinds.insert(entry.path, kind);
                }
            }
        }
    }

    /// The digest of a file, where it was observed.
    pub fn digest(&self, path: &RelPath) -> Option<&str> {
        self.digests.get(path.as_bytes()).map(String::as_str)
    }

    /// Why a look gave nothing, when it was tried and gave nothing.
    pub fn failure(&self, look: &Look) -> Option<String> {
        if let Some(why) = self.answering(look).find_map(Fact::error) {
            return Some(why.to_owned());
        }
        let Look::Hash(path) = look else { return None };
        let unread = self.hashed.get(&path.parent())?;
        Some(
            unread.get(path).cloned().unwrap_or_else(|| "it was gone when it was looked at again".to_owned()),
        )
    }

    /// What answers a look.
    fn answering(&self, look: &Look) -> impl Iterator<Item = &'a Fact> {
        let facts = self.facts;
        let places = self.at.get(&(look.op(), look.path())).cloned().unwrap_or_default();
        places.into_iter().filter_map(|place| facts.get(place)).filter(|fact| fact.answers(look))
    }

    /// The text of a file that was read whole.
    pub fn text(&self, path: &RelPath) -> Option<Vec<u8>> {
        let read = Look::Read(path.clone());
        self.answering(&read).find(|fact| fact.error().is_none()).and_then(Fact::bytes)
    }

    /// Whether something there has this name in another case.
    pub fn has_like(&self, path: &RelPath) -> bool {
        self.lower.contains(&lower(path.as_bytes()))
    }

    /// What is at a path, or what to look at to know.
    pub fn state(&self, path: &RelPath) -> State {
        if path.is_root() {
            return State::Folder;
        }
        if self.unreadable.iter().any(|closed| path != closed && path.is_within(closed)) {
            return State::Blocked("its folder cannot be read".to_owned());
        }
        match self.kinds.get(path.as_bytes()) {
            Some(Kind::File) => return State::File,
            Some(Kind::Folder) => return State::Folder,
            Some(Kind::Symlink | Kind::Special) => return State::Other,
            None => {}
        }
        let parent = path.parent();
        if self.covers(&parent) {
            return State::Absent;
        }
        match self.state(&parent) {
            State::Absent => State::Absent,
            State::Folder => {
                let list = Look::List(parent, false);
                match self.failure(&list) {
                    Some(why) => State::Blocked(why),
                    None if self.answering(&list).next().is_some() => {
                        State::Blocked("its folder holds too much to be seen whole".to_owned())
                    }
                    None => State::Need(list),
                }
            }
            State::File | State::Other => {
                State::Blocked(format!("`{}` is not a folder", readable(parent.as_bytes())))
            }
            blocked_or_need => blocked_or_need,
        }
    }

    fn covers(&self, folder: &RelPath) -> bool {
        self.listed.contains(folder) || self.deep.iter().any(|above| folder.is_within(above))
    }
}

/// The form in which names are compared.
pub fn lower(path: &[u8]) -> String {
    match std::str::from_utf8(path) {
        Ok(text) => text.to_lowercase(),
        // Not letters: its own bytes are its form.
        Err(_) => readable(path),
    }
}
