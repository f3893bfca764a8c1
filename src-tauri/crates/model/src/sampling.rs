//! Questions of servers of tools to a model (tools.md 2, sampling): off until a person allows them for one server, within
//! bounds of their own.

use crate::limits;
use serde::{Deserialize, Serialize};

/// How much a server may ask of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SamplingTerms {
    /// Questions during one call of one of its tools.
    pub calls: u32,
    /// Tokens of one question and its answer together.
    pub tokens: u64,
    /// Tokens of all of them in one task.
    pub task_tokens: u64,
}

impl SamplingTerms {
    /// Whether they can be meant.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), String> {
        let within = |what: &str, value: u64, most: u64| match value {
            0 => Err(format!("{what} are at least one")),
            _ if value > most => Err(format!("{what} are at most {most}")),
            _ => Ok(()),
        };
        within("questions in one call", u64::from(self.calls), u64::from(limits::SAMPLING_CALLS_MAX))?;
        within("tokens of one question", self.tokens, limits::SAMPLING_TOKENS_MAX)?;
        within("tokens in one task", self.task_tokens, limits::SAMPLING_TASK_TOKENS_MAX)?;
        if self.task_tokens < self.tokens {
            return Err("a task may have fewer tokens than one question".to_owned());
        }
        Ok(())
    }

    /// The same in words.
    pub fn in_words(&self) -> String {
        let Self { calls, tokens, task_tokens } = self;
        format!(
            "at most {calls} times in one call of a tool, {tokens} tokens each, and {task_tokens} tokens in one task"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_bounded_from_both_sides() {
        let terms = SamplingTerms { calls: 4, tokens: 4_000, task_tokens: 20_000 };
        assert_eq!(terms.check(), Ok(()));
        for wrong in [
            SamplingTerms { calls: 0, ..terms },
            SamplingTerms { calls: limits::SAMPLING_CALLS_MAX + 1, ..terms },
            SamplingTerms { tokens: 0, ..terms },
            SamplingTerms { tokens: 20_001, ..terms },
            SamplingTerms { task_tokens: limits::SAMPLING_TASK_TOKENS_MAX + 1, ..terms },
        ] {
            assert!(wrong.check().is_err(), "{wrong:?}");
        }
    }
}
