//! What an act is said to have been done to, where a word that stands somewhere in its record is not enough.

use super::acts::{COVERED, two};
use super::passages::{bounded, is_content, parts};
use super::sentence::{Claim, Sentence, is_place};
use super::tokens::{Kind, Token};
use super::verbs::{Family, GENERIC, holds};
use super::{Checker, Deed, is_at, targets};

impl Checker<'_> {
    /// What an act was done to, by the rules for its kind.
    pub(super) fn done_to(
        &self,
        sentence: &Sentence,
        claim: &Claim<'_>,
        found: &[usize],
    ) -> Result<(), String> {
        self.went_there(sentence, claim, found)?;
        self.removed_too(sentence, claim, found)?;
        self.exchanged(claim, found)
    }

    /// Two, where a sentence says both.
    pub(super) fn both(&self, claim: &Claim<'_>, deeds: &[&Deed]) -> Result<(), String> {
        let exact = claim.about.iter().filter(|token| token.kind == Kind::Exact).count();
        if claim.is_both && !self.is_count(&two(), deeds) && exact < 2 {
            return Err("receipts do not show two".to_owned());
        }
        Ok(())
    }

    /// Whether one of these acts was done to files.
    pub(super) fn on_files(&self, found: &[usize]) -> bool {
        found.iter().filter_map(|at| self.record.deeds.get(*at)).any(|deed| targets(deed).next().is_some())
    }

    /// `Bob's letter is in B/`: of files that were moved, the one that is named is the one that went there.
    fn went_there(&self, sentence: &Sentence, claim: &Claim<'_>, found: &[usize]) -> Result<(), String> {
        if claim.family != Family::Move && !is_place(&claim.verb.raw) {
            return Ok(());
        }
        let exact = sentence.tokens.iter().filter(|token| token.kind == Kind::Exact);
        let said: Vec<&Token> = claim.about.iter().copied().chain(exact).collect();
        match self.went_elsewhere(&said, found) {
            Some(token) => Err(format!("no receipt shows that {} went there", token.raw)),
            None => Ok(()),
        }
    }

    /// `a.pdf was moved to B/b.pdf`: what names a file that these acts moved, and none of those that went where the others are said to be.
    pub(super) fn went_elsewhere<'s>(&self, said: &[&'s Token], found: &[usize]) -> Option<&'s Token> {
        let deeds = found.iter().filter_map(|at| self.record.deeds.get(*at));
        let moved: Vec<&(String, String)> = deeds.flat_map(|deed| &deed.moved).collect();
        let is_to =
            |token: &Token| token.kind == Kind::Exact && moved.iter().any(|(_, to)| is_at(to, &token.key));
        let to: Vec<&Token> = said.iter().copied().filter(|token| is_to(token)).collect();
        let is_there = |pair: &(String, String)| to.iter().any(|token| is_at(&pair.1, &token.key));
        let (there, other): (Vec<_>, Vec<_>) = moved.iter().copied().partition(|pair| is_there(pair));
        if there.is_empty() || other.is_empty() {
            return None;
        }
        // What a word names: a part of the path, or of what was seen in the file.
        let names = |pair: &(String, String), token: &Token| {
            is_at(&pair.0, &token.key)
                || parts(&pair.0).iter().chain(&parts(&pair.1)).any(|part| part.key == token.key)
                || (0..self.record.sources.len())
                    .any(|text| self.seen.is_titled(text, &pair.0) && self.seen.text_has(text, &token.key))
        };
        let is_elsewhere = |token: &Token| {
            token.kind != Kind::Number
                && is_content(token)
                && !is_to(token)
                && other.iter().any(|pair| names(pair, token))
                && !there.iter().any(|pair| names(pair, token))
        };
        said.iter().copied().find(|token| is_elsewhere(token))
    }

    /// `deleted the customers and their orders`: what stands behind `and` is what a command names, and no part of a longer name.
    fn removed_too(&self, sentence: &Sentence, claim: &Claim<'_>, found: &[usize]) -> Result<(), String> {
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
    fn exchanged(&self, claim: &Claim<'_>, found: &[usize]) -> Result<(), String> {
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
