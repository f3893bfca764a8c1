//! That something was looked at: it is among what was seen. That it was verified: after the last change.

use super::passages::is_negation;
use super::sentence::{Claim, Sentence};
use super::tokens::{Kind, Token, is_path};
use super::verbs::{Family, GENERIC, UNIVERSAL, family, holds};
use super::{Bound, Checker, Shown, Source, nowhere};
use model::answer::AnswerSupport as Support;

/// Words that say that nothing was left out.
const WHOLE: &str = "all every each everything entire entirely completely fully";
/// Verbs by which something was found within what was looked at.
const FINDING: &str = "found saw noticed identified counted";
/// Verbs of looking at one thing: it was opened, and not found within another.
const OPENING: &str = "read reviewed inspected opened examined studied looked checked analyzed analysed";

impl Checker<'_> {
    /// What was seen of all that a sentence says was looked at.
    pub(super) fn looked(&self, sentence: &Sentence, claim: &Claim<'_>) -> Shown {
        let is_check = claim.family == Family::Verify;
        if is_check && sentence.has(UNIVERSAL) {
            return Err("one look does not show all of it".to_owned());
        }
        let tells = |token: &&Token| matches!(token.kind, Kind::Exact | Kind::Number);
        if sentence.has(WHOLE) && !claim.about.iter().any(tells) {
            return Err("what was seen does not show that it was all".to_owned());
        }
        if !is_check && denies_after(sentence, claim) {
            return Err("what is not there was not seen".to_owned());
        }
        let is_late = is_check || sentence.has("after");
        let in_time = |source: &Source| !is_late || source.order > self.last_change;
        let sources = self.record.sources.iter().enumerate();
        let seen: Vec<(usize, &Source)> = sources.filter(|(_, source)| in_time(source)).collect();
        if seen.is_empty() {
            let when = if is_late { "after the last change" } else { "in this task" };
            return Err(format!("nothing was {} {when}", claim.verb.raw));
        }
        let exacts = claim.about.iter().filter(|token| token.kind == Kind::Exact).count();
        let is_pair = |token: &&Token| self.titled(&seen, token).len() == 2;
        if claim.is_both && exacts < 2 && seen.len() != 2 && !claim.about.iter().any(is_pair) {
            return Err("what was looked at is not two".to_owned());
        }
        self.found_within(sentence, claim, &seen)?;
        self.named_looks(claim, &seen)
    }

    /// `found Bob's leave in leave.csv`: of the texts that are so called, one has who is named.
    fn found_within(
        &self,
        sentence: &Sentence,
        claim: &Claim<'_>,
        seen: &[(usize, &Source)],
    ) -> Result<(), String> {
        let names: Vec<&&Token> = claim.about.iter().filter(|token| token.kind == Kind::Name).collect();
        let mut paths =
            sentence.tokens.iter().filter(|token| token.kind == Kind::Exact && is_path(&token.key));
        if !holds(FINDING, &claim.verb.raw) || names.is_empty() {
            return Ok(());
        }
        let has_all = |path: &Token| {
            let mut texts = seen.iter().filter(|(text, _)| self.seen.is_titled(*text, &path.key)).peekable();
            texts.peek().is_none()
                || texts.any(|(text, _)| names.iter().all(|name| self.seen.text_has(*text, &name.key)))
        };
        match paths.find(|path| !has_all(path)) {
            Some(path) => Err(format!("{} does not have what was {}", path.raw, claim.verb.raw)),
            None => Ok(()),
        }
    }

    /// Each thing that is named was seen.
    fn named_looks(&self, claim: &Claim<'_>, seen: &[(usize, &Source)]) -> Shown {
        let mut bound = Bound::of(Support::Evidence);
        let (mut words, mut known) = (0, 0);
        for token in &claim.about {
            let titled = self.titled(seen, token);
            let is_named = !titled.is_empty();
            match token.kind {
                Kind::Exact if !is_named && holds(OPENING, &claim.verb.raw) && is_path(&token.key) => {
                    return Err(format!("{} was not looked at", token.raw));
                }
                Kind::Number if token.key == seen.len().to_string() => {}
                Kind::Exact | Kind::Number if !is_named && !self.stands_anywhere(token) => {
                    return Err(nowhere(token));
                }
                Kind::Word | Kind::Name if !holds(GENERIC, &token.raw) && family(&token.raw).is_none() => {
                    words += 1;
                    known += usize::from(is_named || self.has_word(&token.key));
                }
                _ => {}
            }
            if token.kind != Kind::Number {
                bound.sources.extend(titled.into_iter().map(Source::named));
            }
        }
        if words > 0 && known == 0 {
            return Err(format!("nothing shows that this was {}", claim.verb.raw));
        }
        if bound.sources.is_empty() {
            bound.sources = seen.iter().map(|(_, source)| source.named()).collect();
        }
        Ok(bound)
    }

    /// What was seen under a title that names something.
    fn titled<'s>(&self, seen: &[(usize, &'s Source)], token: &Token) -> Vec<&'s Source> {
        let names = |text: usize| match token.kind {
            Kind::Exact => self.seen.is_titled(text, &token.key),
            _ => self.seen.titles(text, &token.key),
        };
        seen.iter().filter(|(text, _)| names(*text)).map(|(_, source)| *source).collect()
    }
}

/// Whether something is denied behind a verb: `found no errors`.
fn denies_after(sentence: &Sentence, claim: &Claim<'_>) -> bool {
    let after = sentence.tokens.iter().skip_while(|token| !std::ptr::eq(*token, claim.verb)).skip(1);
    after.into_iter().any(is_negation)
}
