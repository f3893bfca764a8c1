//! What a stranger hands in becomes a change, a case, evidence or a verdict, or is refused by name and size.

use crate::diff;
use crate::limits::{
    ACTS_MAX, ANSWERS_MAX, CASE_BYTES_MAX, EVIDENCE_BYTES_MAX, LINE_CHARS_MAX, NAME_CHARS_MAX,
    PATCH_BYTES_MAX, PROBES_MAX, RULES_MAX, SOURCES_MAX, TASKS_MAX, VERDICT_BYTES_MAX, WORDS_MAX,
};
use crate::{Case, Change, Error, Evidence, Patch, Verdict};
use seal::canon;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;
use words::policy::Profile;

const PATCH: &str = "change";
const CASE: &str = "case";
const EVIDENCE: &str = "evidence";
const VERDICT: &str = "verdict";

impl Patch {
    /// Reads a change and checks its bounds.
    ///
    /// # Errors
    /// [`Error::TooLarge`] by what there is too much of, before anything is read; [`Error::Misfit`] for what is no change.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let patch: Self = read(PATCH, bytes, PATCH_BYTES_MAX)?;
        patch.check()?;
        Ok(patch)
    }

    /// Its canonical bytes, which its digest is of.
    ///
    /// # Errors
    /// As [`Patch::read`].
    pub fn bytes(&self) -> Result<Vec<u8>, Error> {
        self.check()?;
        written(PATCH, self, PATCH_BYTES_MAX)
    }

    fn check(&self) -> Result<(), Error> {
        line(PATCH, "what it is for", &self.says)?;
        at_most(PATCH, self.sources.len(), SOURCES_MAX, "sources")?;
        if self.sources.iter().all(|source| source.trim().is_empty()) {
            return Err(misfit(PATCH, "it names no source: say where what is new in it comes from"));
        }
        self.sources.iter().try_for_each(|source| text(PATCH, source))?;
        match &self.change {
            Change::Policy { profile, .. } => profile.iter().try_for_each(|name| is_profile(name)),
            Change::Words { items } => {
                at_most(PATCH, items.len(), WORDS_MAX, "pieces of words")?;
                if items.is_empty() {
                    return Err(misfit(PATCH, "it changes nothing"));
                }
                let mut seen = BTreeSet::new();
                for item in items {
                    name(PATCH, &item.what)?;
                    name(PATCH, &item.name)?;
                    // There is one SOUL.md, whatever it is called here.
                    let called = if item.what == "soul" { "" } else { item.name.as_str() };
                    if !seen.insert((item.what.as_str(), called)) {
                        return Err(misfit(PATCH, &format!("it names `{}` twice", item.name)));
                    }
                }
                Ok(())
            }
            Change::Model { address, .. } => line(PATCH, "the address of its model", address),
            Change::Code { diff, .. } => {
                let files = diff::files(diff).map_err(|why| misfit(PATCH, &why))?;
                if files.is_empty() { Err(misfit(PATCH, "its diff touches no file")) } else { Ok(()) }
            }
        }
    }
}

fn is_profile(name: &str) -> Result<(), Error> {
    self::name(PATCH, name)?;
    let all: Vec<&str> = Profile::ALL.iter().map(|profile| profile.as_str()).collect();
    if all.contains(&name) {
        return Ok(());
    }
    Err(misfit(PATCH, &format!("`{name}` is no profile; there are {}", all.join(", "))))
}

impl Case {
    /// Reads a case and checks its bounds.
    ///
    /// # Errors
    /// As [`Patch::read`].
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let case: Self = read(CASE, bytes, CASE_BYTES_MAX)?;
        case.check()?;
        Ok(case)
    }

    /// Its canonical bytes, which its digest is of.
    ///
    /// # Errors
    /// As [`Patch::read`].
    pub fn bytes(&self) -> Result<Vec<u8>, Error> {
        self.check()?;
        written(CASE, self, CASE_BYTES_MAX)
    }

    fn check(&self) -> Result<(), Error> {
        name(CASE, &self.trial_id)?;
        at_most(CASE, self.tasks.len(), TASKS_MAX, "tasks")?;
        at_most(CASE, self.tasks.iter().map(|task| task.acts.len()).sum(), ACTS_MAX, "acts")?;
        at_most(CASE, self.tasks.iter().map(|task| task.answers.len()).sum(), ANSWERS_MAX, "answers")?;
        let mut seen = BTreeSet::new();
        for task in &self.tasks {
            if !seen.insert(task.task_id) {
                return Err(misfit(CASE, &format!("the task `{}` is in it twice", task.task_id)));
            }
        }
        self.patch.iter().try_for_each(Patch::check)
    }
}

impl Evidence {
    /// Reads what a clone left, and checks all of its bounds.
    ///
    /// # Errors
    /// As [`Patch::read`].
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let evidence: Self = read(EVIDENCE, bytes, EVIDENCE_BYTES_MAX)?;
        evidence.check()?;
        Ok(evidence)
    }

    /// Its canonical bytes, which its digest is of.
    ///
    /// # Errors
    /// As [`Patch::read`].
    pub fn bytes(&self) -> Result<Vec<u8>, Error> {
        self.check()?;
        written(EVIDENCE, self, EVIDENCE_BYTES_MAX)
    }

    fn check(&self) -> Result<(), Error> {
        at_most(EVIDENCE, self.tasks.len(), TASKS_MAX, "tasks")?;
        at_most(EVIDENCE, self.tasks.iter().map(|task| task.acts.len()).sum(), ACTS_MAX, "acts")?;
        at_most(EVIDENCE, self.probes.len(), PROBES_MAX, "attempts")?;
        let mut seen = BTreeSet::new();
        for task in &self.tasks {
            name(EVIDENCE, &task.ended)?;
            if !seen.insert(task.task_id) {
                return Err(misfit(EVIDENCE, &format!("the task `{}` is in it twice", task.task_id)));
            }
            for act in &task.acts {
                text(EVIDENCE, &act.summary)?;
                name(EVIDENCE, &act.class)?;
                name(EVIDENCE, &act.verdict)?;
                at_most(EVIDENCE, act.rules.len(), RULES_MAX, "rules of one act")?;
                act.rules.iter().try_for_each(|rule| name(EVIDENCE, rule))?;
            }
        }
        for probe in &self.probes {
            name(EVIDENCE, &probe.what)?;
            text(EVIDENCE, &probe.says)?;
        }
        Ok(())
    }
}

impl Verdict {
    /// Reads a verdict.
    ///
    /// # Errors
    /// As [`Patch::read`].
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        read(VERDICT, bytes, VERDICT_BYTES_MAX)
    }

    /// Its canonical bytes, which are signed.
    ///
    /// # Errors
    /// As [`Patch::read`].
    pub fn bytes(&self) -> Result<Vec<u8>, Error> {
        written(VERDICT, self, VERDICT_BYTES_MAX)
    }
}

fn read<T: DeserializeOwned>(what: &'static str, bytes: &[u8], most: usize) -> Result<T, Error> {
    at_most(what, bytes.len(), most, "bytes")?;
    let value = canon::parse_strict(bytes).map_err(|e| misfit(what, &e.to_string()))?;
    serde_json::from_value(value).map_err(|e| misfit(what, &e.to_string()))
}

fn written<T: Serialize>(what: &'static str, value: &T, most: usize) -> Result<Vec<u8>, Error> {
    let bytes = canon::to_canonical(value).map_err(|e| misfit(what, &e.to_string()))?;
    at_most(what, bytes.len(), most, "bytes")?;
    Ok(bytes)
}

fn misfit(what: &'static str, why: &str) -> Error {
    Error::Misfit { what, why: why.to_owned() }
}

fn at_most(what: &'static str, is: usize, most: usize, unit: &'static str) -> Result<(), Error> {
    if is > most {
        let wide = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        return Err(Error::TooLarge { what, is: wide(is), most: wide(most), unit });
    }
    Ok(())
}

/// A name: not empty, one line, short.
fn name(what: &'static str, text: &str) -> Result<(), Error> {
    if text.is_empty() || text.chars().any(char::is_control) {
        return Err(misfit(what, "a name in it is empty, or has characters that no name has"));
    }
    at_most(what, text.chars().count(), NAME_CHARS_MAX, "characters in a name")
}

/// A line that a person reads: not empty, and one line.
fn line(what: &'static str, of: &str, said: &str) -> Result<(), Error> {
    if said.trim().is_empty() || said.chars().any(char::is_control) {
        return Err(misfit(what, &format!("{of} is empty, or is not one line")));
    }
    text(what, said)
}

/// Words of any shape.
fn text(what: &'static str, said: &str) -> Result<(), Error> {
    at_most(what, said.chars().count(), LINE_CHARS_MAX, "characters in a line")
}
