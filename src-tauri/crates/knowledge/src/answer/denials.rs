//! Acts that a sentence says were not done, were done in vain, or ended well.

use super::passages::{is_content, is_negation};
use super::sentence::{Claim, Sentence};
use super::tokens::{Kind, Token, tokens};
use super::verbs::{FAILED, Family, GENERIC, WELL, holds, is_test, program_words};
use super::{Bound, Checker, Deed, Shown, ended_well, is_at, nowhere, targets, words_have};
use model::answer::AnswerSupport as Support;
use std::collections::BTreeSet;

impl Checker<'_> {
    /// That something was not done: no receipt says that it was.
    pub(super) fn left_undone(&self, sentence: &Sentence, claim: &Claim<'_>) -> Shown {
        let any_change = holds(
            "changed modified touched altered edited made change modify touch alter edit make unchanged untouched unmodified intact left",
            &claim.verb.raw,
        );
        let families: &[Family] = match claim.family {
            Family::Write if any_change => &[Family::Write, Family::Remove, Family::Move],
            Family::Remove if claim.verb.raw == "kept" => &[Family::Remove, Family::Move],
            Family::Look | Family::Verify => return Err("what was not looked at is not on record".to_owned()),
            _ => std::slice::from_ref(&claim.family),
        };
        let as_family = |family: Family| Claim::of(family, claim.verb);
        let found: BTreeSet<usize> =
            families.iter().flat_map(|family| self.candidates(&as_family(*family))).collect();
        let is_exact = |token: &&Token| token.kind == Kind::Exact;
        if found.is_empty() && !claim.about.iter().any(is_exact) {
            return Ok(Bound::of(Support::Absence));
        }
        let named: Vec<&&Token> = claim
            .about
            .iter()
            .filter(|token| {
                token.kind == Kind::Exact || !(holds(GENERIC, &token.raw) || token.kind == Kind::Number)
            })
            .collect();
        for token in &named {
            if !self.stands_anywhere(token) && !self.has_word(&token.key) {
                return Err(nowhere(token));
            }
            let hit = found.iter().filter_map(|at| self.record.deeds.get(*at)).any(|deed| match token.kind {
                Kind::Exact => {
                    targets(deed).any(|path| is_at(path, &token.key)) || words_have(deed, &token.key)
                }
                _ => deed
                    .changed
                    .iter()
                    .map(|left| left.path.as_str())
                    .chain(deed.removed.iter().map(String::as_str))
                    .any(|path| {
                        tokens(&path.replace(['/', '_', '-', '.'], " "))
                            .iter()
                            .any(|part| part.key == token.key)
                    }),
            });
            if hit {
                return Err(format!("a receipt says that {} was", token.raw));
            }
        }
        let is_named = |path: &str| self.answer.contains(&path.to_lowercase());
        let others = sentence.has("other others else only");
        let all_named =
            || found.iter().filter_map(|at| self.record.deeds.get(*at)).flat_map(targets).all(is_named);
        if named.is_empty() && !found.is_empty() && !(others && all_named()) {
            return Err(format!("a receipt says that something was {}", claim.verb.raw));
        }
        Ok(Bound::of(Support::Absence))
    }

    /// That something was tried in vain: a receipt says that it failed, and none that it was done.
    pub(super) fn in_vain(&self, sentence: &Sentence, claim: &Claim<'_>, content: &[&Token]) -> Shown {
        let named: Vec<&&Token> = claim.about.iter().filter(|token| token.kind == Kind::Exact).collect();
        let done = self
            .candidates(claim)
            .into_iter()
            .filter_map(|at| self.record.deeds.get(at))
            .filter(|deed| deed.succeeded);
        let hit = |deed: &Deed| named.iter().any(|token| targets(deed).any(|path| is_at(path, &token.key)));
        if done.into_iter().any(hit) {
            return Err("a receipt says that it was done".to_owned());
        }
        self.failed(sentence, content)
    }

    /// How a sentence says that what was done ended.
    pub(super) fn ended(
        &self,
        sentence: &Sentence,
        claims: &[Claim<'_>],
        content: &[&Token],
        mut bound: Bound,
    ) -> Shown {
        let is_vain = claims.iter().any(|claim| claim.is_vain);
        let done = |family: Family| claims.iter().any(|claim| claim.family == family && !claim.is_negated);
        if sentence.denies_failure() {
            bound = bound.with(self.went_well(sentence, content, false)?);
        } else if (sentence.fails() || sentence.denies_well()) && !is_vain {
            bound = bound.with(self.failed(sentence, content)?);
        } else if sentence.has(WELL)
            || sentence.ends_without_error()
            || sentence.ran_well()
            || (sentence.has("successfully successful success cleanly fine") && done(Family::Run))
        {
            bound = bound.with(self.went_well(sentence, content, false)?);
        }
        let mends = |claim: &Claim<'_>| {
            !claim.is_negated && holds("fixed resolved repaired mended solved", &claim.verb.raw)
        };
        if claims.iter().any(mends) && sentence.has("test tests suite failure failures failing") {
            bound = bound.with(self.went_well(sentence, content, true)?);
        }
        Ok(bound)
    }

    /// That something failed: a receipt says so, of what is named.
    pub(super) fn failed(&self, sentence: &Sentence, content: &[&Token]) -> Shown {
        let at = sentence.tokens.iter().position(|token| holds(FAILED, &token.raw) || is_negation(token));
        let before = sentence.tokens.iter().take(at.unwrap_or_default());
        let named =
            |token: &&Token| is_content(token) && !holds(GENERIC, &token.raw) && !holds(FAILED, &token.raw);
        let mut subject: Vec<&Token> = before.filter(named).collect();
        if !subject.iter().any(|token| self.is_told_by_any(token)) {
            subject = content.iter().copied().filter(named).collect();
        }
        let of_subject = subject.clone();
        let is_telling = |token: &Token| of_subject.iter().any(|other| std::ptr::eq(*other, token));
        // What tells one act from another has to tell one that failed.
        let telling: Vec<&Token> = subject.into_iter().filter(|token| self.is_told_by_any(token)).collect();
        let is_now =
            sentence.has("still now fails fail failing remains remain after") && !sentence.has("before");
        let is_meant = |deed: &Deed| !ended_well(deed) && (!is_now || !self.is_mended(deed));
        let mut bound = Bound::of(Support::Receipt);
        for (at, deed) in self.record.deeds.iter().enumerate().filter(|(_, deed)| is_meant(deed)) {
            let tells = |token: &&&Token| self.is_told_by(at, deed, token);
            let all_commands = telling
                .iter()
                .filter(|token| token.kind == Kind::Exact && token.key.contains(' '))
                .all(|token| tells(&token));
            if all_commands && (telling.is_empty() || telling.iter().any(|token| tells(&token))) {
                bound.receipts.insert(deed.receipt_id);
            }
        }
        let mut part = sentence.tokens.iter().take(at.unwrap_or_default()).rev();
        let ends =
            |token: &Token| token.kind == Kind::Mark || holds("and but while because since so", &token.raw);
        let foreign = |token: &&Token| {
            token.kind == Kind::Exact
                && is_telling(token)
                && !self.record.deeds.iter().enumerate().any(|(at, deed)| {
                    bound.receipts.contains(&deed.receipt_id)
                        && (self.is_told_by(at, deed, token) || self.prints(deed, &token.key))
                })
        };
        if let Some(token) = part.by_ref().take_while(|token| !ends(token)).find(foreign) {
            return Err(format!("no receipt says that {} failed", token.raw));
        }
        if bound.receipts.is_empty() {
            return Err("no receipt says that this failed".to_owned());
        }
        let cause: Vec<&Token> = sentence
            .tokens
            .iter()
            .skip(at.unwrap_or_default())
            .skip_while(|token| !holds("because since due", &token.raw))
            .take_while(|token| token.kind != Kind::Mark)
            .filter(|token| named(token) && !holds("because since due", &token.raw))
            .collect();
        let printed = |token: &&&Token| {
            let deeds = self.record.deeds.iter().filter(|deed| bound.receipts.contains(&deed.receipt_id));
            let orders: Vec<u32> = deeds.map(|deed| deed.order).collect();
            let mut sources = self.record.sources.iter().enumerate();
            sources.any(|(at, source)| orders.contains(&source.order) && self.seen.text_has(at, &token.key))
        };
        if cause.iter().filter(printed).count() * 2 < cause.len() {
            return Err("what failed printed no such cause".to_owned());
        }
        Ok(bound)
    }

    /// Whether the same command ended well since.
    fn is_mended(&self, deed: &Deed) -> bool {
        let again = |later: &Deed| later.order > deed.order && later.argv == deed.argv && ended_well(later);
        !deed.argv.is_empty() && self.record.deeds.iter().any(again)
    }

    /// Whether a run was of a part of what failed before, which did not end well since: `pytest one.py` of `pytest`.
    fn is_part_of_failed(&self, well: &Deed) -> bool {
        let is_whole = |deed: &Deed| {
            let rest = well.argv.strip_prefix(deed.argv.as_slice()).filter(|_| !deed.argv.is_empty());
            rest.is_some_and(|rest| rest.iter().any(|word| !word.starts_with('-')))
        };
        let mut failed = self.record.deeds.iter().filter(|deed| !ended_well(deed));
        failed.any(|deed| is_whole(deed) && !self.is_mended(deed))
    }

    fn is_told_by(&self, at: usize, deed: &Deed, token: &Token) -> bool {
        match token.kind {
            Kind::Exact => targets(deed).any(|path| is_at(path, &token.key)) || words_have(deed, &token.key),
            Kind::Number => false,
            _ => self.deeds.text_has(at, &token.key),
        }
    }

    /// Whether an act printed something as it is written.
    fn prints(&self, deed: &Deed, exact: &str) -> bool {
        self.record.sources.iter().any(|source| source.order == deed.order && source.text.contains(exact))
    }

    fn is_told_by_any(&self, token: &Token) -> bool {
        self.record.deeds.iter().enumerate().any(|(at, deed)| self.is_told_by(at, deed, token))
    }

    /// That what ran ended well: the last of its kind did, after the last change.
    pub(super) fn went_well(&self, sentence: &Sentence, content: &[&Token], mends: bool) -> Shown {
        let of_tests = mends || sentence.has("test tests suite failures passed pass passes passing green");
        let builds = sentence.has("build builds project compiles compiled compile");
        let ran = |deed: &&Deed| !deed.argv.is_empty();
        let kind = |deed: &&Deed| {
            if of_tests {
                is_test(&deed.argv)
            } else if builds {
                program_words("built")
                    .iter()
                    .any(|word| deed.argv.iter().any(|arg| arg.contains(word.as_str())))
            } else {
                true
            }
        };
        let named = |deed: &&Deed| {
            content.iter().any(|token| token.kind == Kind::Exact && deed.argv.join(" ").contains(&token.key))
        };
        let is_named = self.record.deeds.iter().filter(ran).any(|deed| named(&deed));
        let mut runs = self
            .record
            .deeds
            .iter()
            .filter(ran)
            .filter(|deed| if is_named { named(deed) } else { kind(deed) });
        let well = if of_tests && sentence.has("before") {
            runs.find(|deed| ended_well(deed))
        } else {
            runs.next_back()
        };
        let what = if of_tests {
            "tests"
        } else if builds {
            "a build"
        } else {
            "a command"
        };
        let Some(well) = well.filter(|deed| ended_well(deed)) else {
            return Err(format!("no receipt shows {what} that ended well"));
        };
        if well.order < self.last_change && (of_tests || builds) && !sentence.has("before") {
            return Err(format!("{what} ran before the last change, and not after it"));
        }
        if of_tests && !is_named && self.is_part_of_failed(well) {
            return Err("only a part of the tests ended well".to_owned());
        }
        let printed = self.record.sources.iter().filter(|source| source.order == well.order);
        let printed: Vec<&str> = printed.map(|source| source.text.as_str()).collect();
        let numbers = content.iter().filter(|token| token.kind == Kind::Number);
        for token in numbers {
            let held = printed.iter().any(|text| tokens(text).iter().any(|found| found.key == token.key));
            if !held && !self.stands_anywhere(token) {
                return Err(nowhere(token));
            }
            if !held && of_tests {
                return Err(format!("{what} did not print {}", token.raw));
            }
        }
        let mut bound = Bound::of(Support::Receipt);
        bound.receipts.insert(well.receipt_id);
        Ok(bound)
    }
}
