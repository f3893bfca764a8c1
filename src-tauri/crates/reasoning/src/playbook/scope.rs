//! What templates and conditions can see.

use super::entry::Entry;
use super::schema::{Condition, Content, Line};
use super::template::{Names, Template};
use super::value::Value;
use super::{pattern, select};
use model::RelPath;
use std::collections::BTreeMap;

/// What an earlier step gave.
#[derive(Debug, Clone)]
pub enum Bound {
    /// Entries, and what could not be looked at.
    Set(Vec<Entry>, Vec<(RelPath, String)>),
    /// A file's text with its path, or a person's answer.
    Text(String, RelPath),
    /// How many items of a change happened.
    Changed(usize),
}

/// Parameters, earlier steps, and the entry at hand.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// Parameters with their values.
    pub parameters: &'a BTreeMap<String, String>,
    /// Earlier steps by id.
    pub bound: &'a BTreeMap<String, Bound>,
    /// Categories of extensions.
    pub categories: &'a BTreeMap<String, Vec<String>>,
    /// The entry at hand.
    pub entry: Option<&'a Entry>,
}

impl Names for Scope<'_> {
    fn value(&self, name: &str) -> Option<Value> {
        if let Some(value) = self.entry.and_then(|entry| entry.field(name, self.categories)) {
            return Some(value);
        }
        if let Some(value) = self.parameters.get(name) {
            return Some(Value::Text(value.clone()));
        }
        if let Some((id, what)) = name.split_once('.') {
            return self.bound.get(id).and_then(|bound| bound.about(what));
        }
        match self.bound.get(name)? {
            Bound::Text(text, _) => Some(Value::Text(text.clone())),
            Bound::Set(..) | Bound::Changed(_) => None,
        }
    }
}

/// What can be said about a step as a whole.
pub const TOTALS: [&str; 4] = ["count", "size", "unreadable", "newest"];

impl Bound {
    fn about(&self, what: &str) -> Option<Value> {
        let text = match (self, what) {
            (Self::Set(entries, _), "count") => entries.len().to_string(),
            (Self::Set(entries, _), "size") => {
                entries.iter().filter_map(|e| e.size).fold(0u64, u64::saturating_add).to_string()
            }
            (Self::Set(_, unreadable), "unreadable") => unreadable.len().to_string(),
            (Self::Set(entries, _), "newest") => {
                let newest = entries.iter().filter_map(|e| e.modified_ms).max()?;
                super::value::Moment::of(newest).full()
            }
            (Self::Changed(count), "count") => count.to_string(),
            _ => return None,
        };
        Some(Value::Text(text))
    }

    fn is_some(&self) -> bool {
        match self {
            Self::Set(entries, _) => !entries.is_empty(),
            Self::Text(text, _) => !text.is_empty(),
            Self::Changed(count) => *count > 0,
        }
    }
}

impl<'a> Scope<'a> {
    /// The same with another entry at hand.
    pub const fn at(self, entry: &'a Entry) -> Self {
        Self { entry: Some(entry), ..self }
    }

    /// Whether all of a condition holds; none always does.
    ///
    /// # Errors
    /// A pattern that is no regular expression.
    pub fn holds(&self, condition: Option<&Condition>) -> Result<bool, String> {
        let Some(c) = condition else { return Ok(true) };
        let some = |id: &String| self.bound.get(id).is_some_and(Bound::is_some);
        let same = |[a, b]: &[Template; 2]| a.value(self).bytes() == b.value(self).bytes();
        let plain = c.some.as_ref().is_none_or(some)
            && !c.none.as_ref().is_some_and(some)
            && c.given.as_ref().is_none_or(|t| !t.value(self).bytes().is_empty())
            && c.equals.as_ref().is_none_or(same)
            && !c.differs.as_ref().is_some_and(same);
        if !plain {
            return Ok(false);
        }
        if let Some([text, regex]) = &c.matches
            && !pattern::regex(&regex.text(self))?.is_match(text.value(self).bytes())
        {
            return Ok(false);
        }
        if let Some(seen) = &c.seen {
            let path = pattern::path(seen.path.value(self).bytes())?;
            let there = self.set(&seen.set).iter().any(|entry| entry.path == path.as_bytes());
            if !there {
                return Ok(false);
            }
        }
        if let Some(inner) = &c.not
            && self.holds(Some(inner))?
        {
            return Ok(false);
        }
        match &c.any {
            None => Ok(true),
            Some(list) => {
                let results: Result<Vec<bool>, String> =
                    list.iter().map(|one| self.holds(Some(one))).collect();
                Ok(results?.contains(&true))
            }
        }
    }

    /// The entries of a step; none when it did not run or has none.
    pub fn set(&self, id: &str) -> &'a [Entry] {
        match self.bound.get(id) {
            Some(Bound::Set(entries, _)) => entries,
            Some(Bound::Text(..) | Bound::Changed(_)) | None => &[],
        }
    }

    /// The lines of a content, filled in.
    ///
    /// # Errors
    /// As [`Scope::holds`].
    pub fn lines(&self, content: &Content) -> Result<Vec<String>, String> {
        let mut lines = Vec::new();
        for Line { when, for_each, line } in &content.0 {
            match for_each {
                None if self.holds(when.as_ref())? => lines.push(line.text(self)),
                None => {}
                Some(selection) => {
                    for entry in &select::select(selection, self)? {
                        let here = self.at(entry);
                        if here.holds(when.as_ref())? {
                            lines.push(line.text(&here));
                        }
                    }
                }
            }
        }
        Ok(lines)
    }
}
