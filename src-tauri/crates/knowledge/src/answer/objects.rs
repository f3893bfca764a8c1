//! What an act is said to have been done to, where a word that stands somewhere in its record is not enough.

use super::acts::COVERED;
use super::passages::{bounded, is_content};
use super::sentence::{Claim, Sentence};
use super::tokens::{Kind, Token};
use super::verbs::{Family, GENERIC, holds};
use super::{Checker, targets};

impl Checker<'_> {
    /// `deleted the customers and their orders`: what stands behind `and` is what a command names, and no part of a longer name.
    pub(super) fn removed_too(
        &self,
        sentence: &Sentence,
        claim: &Claim<'_>,
        found: &[usize],
    ) -> Result<(), String> {
        let said: Vec<&Token> = sentence.tokens.iter().collect();
        let is_about = |token: &&Token| claim.about.iter().any(|other| std::ptr::eq(*other, *token));
        match self.second_of(&said, found).filter(is_about).filter(|_| claim.family == Family::Remove) {
            Some(token) => Err(format!("no receipt shows that {} was {}", token.raw, claim.verb.raw)),
            None => Ok(()),
        }
    }

    /// The word behind an `and` that no command of these acts names by itself.
    pub(super) fn second_of<'s>(&self, said: &[&'s Token], found: &[usize]) -> Option<&'s Token> {
        let is_second = |at: usize| {
            let before = said.iter().take(at).rev();
            let mut little = before.skip_while(|token| !is_content(token) && !holds("and plus", &token.raw));
            little.next().is_some_and(|token| holds("and plus", &token.raw))
        };
        let named = |token: &Token| {
            found.iter().filter_map(|at| self.record.deeds.get(*at)).any(|deed| {
                let words = format!("{} {}", deed.argv.join(" "), deed.words).to_lowercase();
                let forms = [token.raw.as_str(), token.raw.trim_end_matches('s')];
                targets(deed).next().is_some() || forms.iter().any(|form| bounded(&words, form).is_some())
            })
        };
        let is_named = |token: &Token| token.kind != Kind::Word || !is_content(token) || named(token);
        let mut all = said.iter().enumerate();
        all.find(|(at, token)| is_second(*at) && !is_named(token)).map(|(_, token)| *token)
    }

    /// `replaced the header`: what was replaced stood in a file that was changed, or is what the act itself speaks of. What a new
    /// file tells of was not done here.
    pub(super) fn exchanged(&self, claim: &Claim<'_>, found: &[usize]) -> Result<(), String> {
        if !holds("replaced repaired exchanged swapped", &claim.verb.raw) {
            return Ok(());
        }
        let words: Vec<&&Token> = claim
            .about
            .iter()
            .filter(|token| matches!(token.kind, Kind::Word | Kind::Name) && !holds(GENERIC, &token.raw))
            .collect();
        let was_there = |at: &usize| {
            let Some(deed) = self.record.deeds.get(*at) else { return false };
            let is_of = |text: usize| {
                deed.changed.iter().any(|left| self.seen.is_titled(text, &left.path))
                    && self.record.sources.get(text).is_some_and(|source| source.order < deed.order)
            };
            let known = |token: &&&&Token| {
                self.deeds.text_has(*at, &token.key)
                    || (0..self.record.sources.len())
                        .any(|text| is_of(text) && self.seen.text_has(text, &token.key))
            };
            words.iter().filter(known).count() * 100 >= words.len() * COVERED
        };
        if found.iter().any(was_there) {
            return Ok(());
        }
        Err(format!("nothing that was changed had what was {}", claim.verb.raw))
    }
}
