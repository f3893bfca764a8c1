//! Small shapes that many answers share.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Words that may have been erased: a plain string, or `{"erased": "<digest>"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// Readable.
    Shown(String),
    /// Gone; the digest of what stood here is left.
    Erased {
        /// SHA-256, hexadecimal.
        erased: String,
    },
}

impl Text {
    /// The words, where they are readable.
    pub const fn shown(&self) -> Option<&str> {
        match self {
            Self::Shown(text) => Some(text.as_str()),
            Self::Erased { .. } => None,
        }
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.shown().unwrap_or("(erased)"))
    }
}

/// The whole that a task is a part of: the task whose agent gave it away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartOf {
    /// That task.
    pub task_id: String,
    /// The first line of its goal, cut where it is long.
    pub goal: Text,
}

/// Who asks, and of which whole, a line each: the words of a card, a receipt and a notification. They hold the words of
/// a person or a model as they are; whoever shows them cleans them as any other.
pub fn who_asks(part_of: Option<&PartOf>, agent: Option<&str>) -> Vec<String> {
    let whole = part_of.map(|part_of| format!("Part of: {}", part_of.goal));
    whole.into_iter().chain(agent.map(|agent| format!("Asked by: {agent}"))).collect()
}

/// In which folder something is asked, in a line that holds the last part of its path: the words of a notification. Nothing
/// where there is no folder or its name was erased. The name is not Hermit's; whoever shows it cleans it as any other.
pub fn in_folder(workspace: Option<&Text>) -> Option<String> {
    let path = workspace?.shown()?;
    let name = path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(path);
    Some(format!("In the folder: {name}"))
}

/// What a person signed with the approval key, for a command that only a person gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PersonSigned {
    /// The decision, as canonical JSON.
    pub text: String,
    /// The signature over exactly that text, hexadecimal.
    pub signature: String,
}

/// What a check came to (proof.md 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Whole, consistent, and signed by a trusted key.
    Valid,
    /// Changed or contradictory.
    Invalid,
    /// It holds together, but nobody trusted vouches for it.
    Unverifiable,
    /// What is there holds, but something is missing.
    Incomplete,
}

impl Verdict {
    /// Exit code of a program that says this: 0, 5, 6, 7.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Valid => crate::exit::DONE,
            Self::Invalid => crate::exit::INVALID,
            Self::Unverifiable => crate::exit::UNVERIFIABLE,
            Self::Incomplete => crate::exit::INCOMPLETE,
        }
    }

    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Invalid => "invalid",
            Self::Unverifiable => "unverifiable",
            Self::Incomplete => "incomplete",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_is_said_in_a_line_each_and_not_at_all_where_it_is_not_known() {
        let goal = Text::Shown("tidy all of it".to_owned());
        let whole = PartOf { task_id: "task_1".to_owned(), goal };
        assert_eq!(who_asks(Some(&whole), Some("gpt-9")), ["Part of: tidy all of it", "Asked by: gpt-9"]);
        assert_eq!(who_asks(None, Some("claude")), ["Asked by: claude"]);
        assert!(who_asks(None, None).is_empty());
        let erased = PartOf { goal: Text::Erased { erased: "00".to_owned() }, ..whole };
        assert_eq!(who_asks(Some(&erased), None), ["Part of: (erased)"]);
    }

    #[test]
    fn a_folder_is_named_by_the_last_part_of_its_path() {
        let told = |path: &str| in_folder(Some(&Text::Shown(path.to_owned()))).unwrap();
        assert_eq!(told("/home/me/Downloads"), "In the folder: Downloads");
        assert_eq!(told("/home/me/Downloads/"), "In the folder: Downloads");
        assert_eq!(told(r"C:\Users\me\Downloads"), "In the folder: Downloads");
        assert_eq!(told("/"), "In the folder: /");
        assert_eq!(in_folder(Some(&Text::Erased { erased: "00".to_owned() })), None);
        assert_eq!(in_folder(None), None);
    }
}
