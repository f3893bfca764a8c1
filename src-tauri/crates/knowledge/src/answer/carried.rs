//! Whether what bears a sentence carries each word of it, which is what verified means (decision 304). That something on record is of the
//! kind and of the name is not enough: a lie shares these with the truth. So nothing is left over which a record does not have:
//!
//! - a fact that cites nothing is a passage as it stands, from its beginning to its end; one that cites, an unbroken run of it;
//! - an act has a verb that says no more than its receipt, and each other word is one of the act itself: of its paths, its command,
//!   what was asked for. What it wrote or printed says nothing of it;
//! - a look is told by what it was of, and by one line of that;
//! - what was not done is on no record.

use super::passages::{is_content, is_negation};
use super::sentence::{Claim, Sentence, TRIED, is_place, state_of};
use super::tokens::{Kind, Token, tokens};
use super::verbs::{FAILED, Family, GENERIC, UNIVERSAL, WELL, family, holds, is_test, program_words};
use super::{Bound, Checker, Deed, is_at, targets, words_have};
use model::answer::AnswerSupport as Support;

/// Verbs that say no more than a receipt does. `fixed` or `improved` says what became of it.
const PLAIN: &str = "wrote written created added saved updated edited changed modified removed deleted moved renamed ran run \
    executed fetched downloaded sent committed made set replaced left appended inserted tried failed";

/// Words that say of when something is so.
pub(super) const THEN: &str = "now still currently yet again";

/// Whether a passage is what a sentence says, and nothing else.
pub(super) fn is_whole(said: &[&Token], raw: &str) -> bool {
    let (told, own) = (told(said, raw), words(raw));
    told.is_empty() || told == own
}

/// Whether what a sentence says stands in a passage in one run.
pub(super) fn is_run(said: &[&Token], raw: &str) -> bool {
    let (told, own) = (told(said, raw), words(raw));
    told.is_empty() || own.windows(told.len()).any(|window| window == told.as_slice())
}

/// The words of a sentence that say something, without what a text has within something as it is written.
fn told(said: &[&Token], raw: &str) -> Vec<String> {
    let own = words(raw);
    let content = said.iter().filter(|token| is_content(token) && !holds(GENERIC, &token.raw));
    let within =
        |token: &Token, key: &String| token.kind == Kind::Exact && !own.contains(key) && raw.contains(key);
    let keys = content.map(|token| (token, token.key.to_lowercase()));
    keys.filter(|(token, key)| !within(token, key)).map(|(_, key)| key).collect()
}

fn words(raw: &str) -> Vec<String> {
    let all = tokens(raw);
    let content = all.iter().filter(|token| is_content(token) && !holds(GENERIC, &token.raw));
    content.map(|token| token.key.to_lowercase()).collect()
}

/// Whether a line has all of these beside each other.
pub(super) fn runs(said: &[&Token], line: &str) -> bool {
    let own: Vec<String> =
        tokens(line).iter().filter(|token| is_content(token)).map(|token| token.key.to_lowercase()).collect();
    let said: Vec<String> = said.iter().map(|token| token.key.to_lowercase()).collect();
    own.windows(said.len().max(1)).any(|window| window == said.as_slice())
}

impl Checker<'_> {
    /// A sentence that something bears, where that carries all of it.
    pub(super) fn carried(&self, sentence: &Sentence, bound: &Bound) -> Result<(), String> {
        let claims = sentence.claims();
        if bound.support == Support::Claimless {
            return Ok(());
        }
        if bound.support == Support::Absence || claims.iter().any(|claim| claim.is_negated) {
            return Err("what was not done is on no record".to_owned());
        }
        self.turns(sentence, bound, claims.is_empty())?;
        let deeds: Vec<usize> = (0..self.record.deeds.len())
            .filter(|at| {
                self.record.deeds.get(*at).is_some_and(|deed| bound.receipts.contains(&deed.receipt_id))
            })
            .collect();
        let refs: Vec<&Deed> = deeds.iter().filter_map(|at| self.record.deeds.get(*at)).collect();
        let of_tests = refs.iter().any(|deed| is_test(&deed.argv));
        let is_little = |token: &Token| {
            [GENERIC, WELL, FAILED, TRIED].iter().any(|list| holds(list, &token.raw))
                || (token.kind != Kind::Exact && family(&token.raw).is_some())
                || state_of(&token.raw).is_some()
                || claims.iter().any(|claim| std::ptr::eq(claim.verb, token))
                || (of_tests && holds("test tests suite", &token.raw))
        };
        let content: Vec<&Token> =
            sentence.tokens.iter().filter(|token| is_content(token) && !is_little(token)).collect();
        if !deeds.is_empty() {
            return self.carried_by_acts(&claims, &content, &deeds);
        }
        if claims.iter().any(|claim| matches!(claim.family, Family::Look | Family::Verify)) {
            return self.carried_by_looks(&content, bound);
        }
        Ok(())
    }

    /// Little words that turn what is said: of acts none is shown by a receipt but that a run that ended well did so.
    fn turns(&self, sentence: &Sentence, bound: &Bound, is_bare: bool) -> Result<(), String> {
        let is_fact = bound.receipts.is_empty() && is_bare;
        let ran_well = sentence.has(WELL) && !sentence.fails();
        let denies = sentence.tokens.iter().any(is_negation);
        let tells_end = sentence.fails() || sentence.denies_failure() || sentence.ends_without_error();
        if !is_fact && denies && !tells_end {
            return Err("what was not done is on no record".to_owned());
        }
        if !is_fact && sentence.has(UNIVERSAL) && !ran_well {
            return Err("receipts do not show that it was all".to_owned());
        }
        if sentence.fails() && sentence.has(THEN) {
            return Err("a run that failed shows that it did then".to_owned());
        }
        Ok(())
    }

    fn carried_by_acts(
        &self,
        claims: &[Claim<'_>],
        content: &[&Token],
        deeds: &[usize],
    ) -> Result<(), String> {
        let acts = claims.iter().filter(|claim| {
            !matches!(claim.family, Family::Look | Family::Verify)
                && !claim.is_vain
                && !is_place(&claim.verb.raw)
        });
        if let Some(claim) = acts.into_iter().find(|claim| !self.is_verb_of(&claim.verb.raw, deeds)) {
            return Err(format!("a receipt shows what was done, and not that it was {}", claim.verb.raw));
        }
        let refs: Vec<&Deed> = deeds.iter().filter_map(|at| self.record.deeds.get(*at)).collect();
        let is_own = |token: &Token| match token.kind {
            Kind::Number => {
                self.says_number(deeds, content, token) || (token.key != "0" && self.is_count(token, &refs))
            }
            Kind::Exact => refs.iter().any(|deed| {
                targets(deed).any(|path| is_at(path, &token.key)) || words_have(deed, &token.key)
            }),
            _ => deeds.iter().any(|at| self.deeds.text_has(*at, &token.key)),
        };
        match content.iter().find(|token| !is_own(token)) {
            Some(token) => Err(format!("the receipt does not show \u{201c}{}\u{201d}", token.raw)),
            None => Ok(()),
        }
    }

    /// Whether acts were asked for with a number, or ended with it where that is told: an exit code counts nothing else.
    pub(super) fn says_number(&self, deeds: &[usize], said: &[&Token], number: &Token) -> bool {
        let of_end = said.iter().any(|token| holds("exit exited code", &token.raw));
        deeds.iter().filter_map(|at| self.record.deeds.get(*at)).any(|deed| {
            let asked = format!("{} {}", deed.argv.join(" "), deed.words);
            (of_end && deed.exit_code.is_some_and(|code| code.to_string() == number.key))
                || tokens(&asked).iter().any(|token| token.kind == Kind::Number && token.key == number.key)
        })
    }

    /// Whether a verb says no more than the acts do: a plain one, or what their program or tool is called by.
    pub(super) fn is_verb_of(&self, raw: &str, deeds: &[usize]) -> bool {
        let named = || {
            let words = program_words(raw);
            deeds.iter().any(|at| words.iter().any(|word| self.deeds.text_has(*at, word)))
        };
        holds(PLAIN, raw) || named()
    }

    fn carried_by_looks(&self, content: &[&Token], bound: &Bound) -> Result<(), String> {
        let sources = self.record.sources.iter().enumerate();
        let seen: Vec<_> = sources
            .filter(|(_, source)| bound.sources.iter().any(|named| named.artifact_id == source.artifact_id))
            .collect();
        let is_titled = |token: &Token| {
            seen.iter().any(|(text, _)| match token.kind {
                Kind::Exact => self.seen.is_titled(*text, &token.key),
                Kind::Number => false,
                _ => self.seen.titles(*text, &token.key),
            })
        };
        let rest: Vec<&Token> = content.iter().copied().filter(|token| !is_titled(token)).collect();
        let mut lines = seen.iter().flat_map(|(_, source)| source.text.lines());
        if content.is_empty() || (!rest.is_empty() && !lines.any(|line| runs(&rest, line))) {
            return Err("what was looked at does not show it".to_owned());
        }
        Ok(())
    }
}
