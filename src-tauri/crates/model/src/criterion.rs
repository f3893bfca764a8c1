//! What a person says must hold when a task ends (HK-8.2-5), and how Hermit can tell.

use crate::RelPath;
use crate::limits::{CRITERIA_MAX, CRITERION_BYTES_MAX};

/// How a criterion is checked, without asking a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Criterion {
    /// `file: PATH`: a file or folder is there.
    There(RelPath),
    /// `no file: PATH`: nothing is there.
    Gone(RelPath),
    /// `text: PATH: WORDS`: a file holds these words.
    Holds {
        /// The file.
        path: RelPath,
        /// The words, as they stand in it.
        words: String,
    },
    /// `command: WORDS`: a command ended with status 0 after the last change of the task.
    Ran(String),
    /// Anything else: a person judges it.
    Words,
}

impl Criterion {
    /// Reads a criterion.
    ///
    /// # Errors
    /// In words for the person, when it begins like one that is checked and names nothing that can be.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("a criterion is empty".to_owned());
        }
        if text.len() > CRITERION_BYTES_MAX {
            return Err(format!(
                "a criterion has {} bytes, {CRITERION_BYTES_MAX} are allowed; shorten it",
                text.len()
            ));
        }
        let path = |named: &str| {
            let named = named.trim();
            let path = RelPath::from_bytes(named.trim_end_matches('/').as_bytes())
                .map_err(|e| format!("`{named}` is no path in the folder: {e}"))?;
            if path.is_root() { Err("a criterion names no file".to_owned()) } else { Ok(path) }
        };
        if let Some(named) = text.strip_prefix("no file:") {
            return path(named).map(Self::Gone);
        }
        if let Some(named) = text.strip_prefix("file:") {
            return path(named).map(Self::There);
        }
        if let Some(rest) = text.strip_prefix("text:") {
            let Some((named, words)) = rest.split_once(": ").filter(|(_, words)| !words.trim().is_empty())
            else {
                return Err(format!("`{text}` is written `text: PATH: WORDS`"));
            };
            return Ok(Self::Holds { path: path(named)?, words: words.trim().to_owned() });
        }
        if let Some(command) = text.strip_prefix("command:") {
            return match command.trim() {
                "" => Err("`command:` names no command".to_owned()),
                command => Ok(Self::Ran(command.to_owned())),
            };
        }
        Ok(Self::Words)
    }

    /// Whether a person may set all of these.
    ///
    /// # Errors
    /// In words for the person: the first that cannot be read, or that there are too many.
    pub fn check_all(criteria: &[String]) -> Result<(), String> {
        if criteria.len() > CRITERIA_MAX {
            return Err(format!("{} criteria are given, {CRITERIA_MAX} are allowed", criteria.len()));
        }
        criteria.iter().try_for_each(|text| Self::parse(text).map(drop))
    }
}
