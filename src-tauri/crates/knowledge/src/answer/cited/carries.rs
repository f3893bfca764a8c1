//! Whether records that a sentence cites carry each word of its acts, their verbs and numbers among them (decision 304).

use super::super::carried::runs;
use super::super::passages::is_content;
use super::super::tokens::{Kind, Token};
use super::super::verbs::Family;
use super::acts::Act;
use super::{Held, Judge};

impl Judge<'_, '_> {
    /// Whether the verbs of a part say no more than these records, and each of its numbers is theirs.
    pub(super) fn carries(&self, records: &[&Held], part: &[&Token], acts: &[Act<'_>]) -> bool {
        let deeds: Vec<usize> = records.iter().flat_map(|held| held.deeds.iter().copied()).collect();
        acts.iter()
            .all(|act| matches!(act.family, Family::Look) || self.checker.is_verb_of(&act.verb.raw, &deeds))
            && (0..part.len()).all(|at| self.is_counted(records, &deeds, part, at))
    }

    /// Whether a number is the act's own, or stands in a line that it printed before what it counts in the sentence.
    fn is_counted(&self, records: &[&Held], deeds: &[usize], part: &[&Token], at: usize) -> bool {
        let Some(number) = part.get(at).copied().filter(|token| token.kind == Kind::Number) else {
            return true;
        };
        let next = part.get(at + 1).copied().filter(|next| is_content(next));
        let counted: Vec<&Token> = [number].into_iter().chain(next).collect();
        let texts = records.iter().flat_map(|held| &held.texts);
        let sources = texts.filter_map(|text| self.checker.record.sources.get(*text));
        let mut lines = sources.flat_map(|source| source.text.lines());
        self.checker.says_number(deeds, part, number) || lines.any(|line| runs(&counted, line))
    }
}
