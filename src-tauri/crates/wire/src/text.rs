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

/// What a person signed with the approval key, for a command that only a person gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PersonSigned {
    /// The decision, as canonical JSON.
    pub text: String,
    /// The signature over exactly that text, hexadecimal.
    pub signature: String,
}

/// A time, milliseconds since 1970, as a person reads it: UTC, to the second.
pub fn utc(ms: i64) -> String {
    let seconds = ms.div_euclid(1000);
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Civil date from days since 1970, after Howard Hinnant's public-domain algorithm.
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
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
    fn times_are_civil_dates() {
        assert_eq!(utc(0), "1970-01-01 00:00:00Z");
        assert_eq!(utc(951_782_400_000), "2000-02-29 00:00:00Z");
        assert_eq!(utc(1_790_000_000_000), "2026-09-21 14:13:20Z");
        assert_eq!(utc(-1_000), "1969-12-31 23:59:59Z");
    }
}
