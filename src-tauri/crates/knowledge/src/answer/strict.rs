//! What else has to be on record before a sentence with an act in it is borne: each part that says something by itself, where it
//! was done, to whom it went, and the numbers beside each other.

use super::asserts::{edges, gerund, is_good, is_link, is_past};
use super::passages::{is_content, is_negation};
use super::sentence::{Claim, Sentence, TRIED, state_of};
use super::tokens::{Kind, Token, is_path, tokens};
use super::verbs::{FAILED, Family, GENERIC, MAKES, WELL, family, holds};
use super::{Checker, nowhere, targets};
use model::answer::AnswerSupport as Support;
use std::collections::BTreeSet;

/// Parts of a sentence that are looked at.
const PARTS_MAX: usize = 24;
/// What goes to somebody, and is no file.
pub(super) const MESSAGES: &str =
    "mail mails email e-mail emails message messages sms reply notification invitation announcement";
/// Words of place within a file.
const WITHIN: &str = "order place addition total detail short time end beginning top bottom row first last";
/// What is counted of a run.
const COUNTED: &str = "passed failed ignored skipped errors error warnings warning";
/// Verbs by which a value becomes another.
const SETS: &str = "changed set raised lowered increased decreased reduced bumped corrected updated adjusted turned edited modified";

impl Checker<'_> {
    /// Each part of a sentence without an act of its own says nothing, or something that is on record.
    pub(super) fn parts(&self, sentence: &Sentence, claims: &[Claim<'_>]) -> Result<(), String> {
        let clauses = sentence.clauses();
        if clauses.len() > PARTS_MAX {
            return Err("it says too much at once".to_owned());
        }
        let is_verb = |token: &Token| claims.iter().any(|claim| std::ptr::eq(claim.verb, token));
        let mut subject: Vec<&Token> = Vec::new();
        let mut undone = false;
        for (at, clause) in clauses.iter().enumerate() {
            let part: Vec<&Token> = sentence.tokens.get(clause.clone()).unwrap_or_default().iter().collect();
            let leads = part.first().is_some_and(|first| is_link(first));
            let whole: Vec<&Token> =
                if leads { subject.iter().chain(&part).copied().collect() } else { part.clone() };
            let ends = part
                .iter()
                .position(|token| is_link(token))
                .or_else(|| part.iter().position(|token| is_verb(token)))
                .filter(|end| *end > 0);
            if let Some(end) = ends {
                subject = part.iter().take(end).copied().collect();
            }
            undone |= part.iter().any(|token| holds(FAILED, &token.raw));
            undone |= claims.iter().any(|claim| {
                (claim.is_negated || claim.is_vain)
                    && part.iter().any(|token| std::ptr::eq(*token, claim.verb))
            });
            let asserted = clause.clone().any(|at| sentence.asserts(at));
            if part.iter().any(|token| is_verb(token)) || !asserted || says_no_more(sentence, claims, &part) {
                continue;
            }
            let is_last = at + 1 == clauses.len();
            if self.is_so(&part, undone, is_last) || self.borne(&whole).is_some() {
                continue;
            }
            let rest = clauses.iter().skip(at).flat_map(Clone::clone);
            let rest: Vec<&Token> = rest.filter_map(|at| sentence.tokens.get(at)).collect();
            if leads || self.borne(&rest).is_none() {
                let words: Vec<&str> = part.iter().map(|token| token.raw.as_str()).collect();
                return Err(format!("nothing shows that {}", words.join(" ")));
            }
        }
        Ok(())
    }

    /// A part that follows from the others, or that files show.
    fn is_so(&self, part: &[&Token], undone: bool, is_last: bool) -> bool {
        let has_edges = !edges(part).is_empty();
        let links =
            has_edges || part.iter().any(|token| is_link(token) || (is_good(token) && token.raw != "well"));
        let participle = match part {
            [not, done, ..] if is_negation(not) => is_past(done),
            [done, ..] => is_past(done),
            [] => true,
        };
        let exacts: Vec<&Token> = part.iter().copied().filter(|token| token.kind == Kind::Exact).collect();
        let became = || match exacts.as_slice() {
            [old, new] if part.iter().filter(|token| is_content(token)).count() == 2 => {
                self.changed_from(&Claim::of(Family::Write, old), old, new).is_ok()
            }
            _ => false,
        };
        let stands = || match part {
            [before @ .., is, within, file] if within.raw == "in" && is_link(is) => {
                file.kind == Kind::Exact
                    && self.is_folder(&file.key)
                    && before.iter().all(|token| !is_content(token) || self.has_word(&token.key))
            }
            _ => false,
        };
        (!links && participle)
            || (undone && part.iter().any(|token| token.raw == "still"))
            || (!is_last && !has_edges && part.last().is_some_and(|last| is_link(last)))
            || became()
            || stands()
    }

    /// Numbers of one run: `12 passed, 1 failed` is printed in one line.
    pub(super) fn counted(&self, sentence: &Sentence) -> Result<(), String> {
        if sentence.has("before after again then first second earlier now still") {
            return Ok(());
        }
        let label =
            |at: usize| sentence.tokens.iter().skip(at + 1).take(2).find(|next| holds(COUNTED, &next.raw));
        let numbers = sentence.tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Number);
        let pairs: Vec<(&str, &str)> =
            numbers.filter_map(|(at, number)| Some((number.key.as_str(), label(at)?.key.as_str()))).collect();
        let of_line = |line: &[(String, String)], number: &str, label: &str| {
            let mut told = line.iter().filter(|(_, named)| named == label).map(|(count, _)| count.as_str());
            if number == "0" { told.all(|count| count == "0") } else { told.any(|count| count == number) }
        };
        let holds_all =
            |line: &Vec<(String, String)>| pairs.iter().all(|(number, label)| of_line(line, number, label));
        if pairs.len() < 2 || self.count_lines().iter().any(holds_all) {
            return Ok(());
        }
        Err("nothing that was printed says these numbers beside each other".to_owned())
    }

    /// Of each line with a number, the numbers that stand before words that are counted, and these.
    fn count_lines(&self) -> &[Vec<(String, String)>] {
        self.count_lines.get_or_init(|| {
            let labels: BTreeSet<String> = tokens(COUNTED).into_iter().map(|label| label.key).collect();
            let pair = |two: &[Token]| match two {
                [count, named] if count.kind == Kind::Number && labels.contains(&named.key) => {
                    Some((count.key.clone(), named.key.clone()))
                }
                _ => None,
            };
            let pairs = |line: &str| -> Vec<(String, String)> {
                tokens(super::clip(line, super::SENTENCE_MAX)).windows(2).filter_map(pair).collect()
            };
            let lines = self.record.sources.iter().flat_map(|source| source.text.lines());
            let lines = lines.filter(|line| line.contains(|c: char| c.is_ascii_digit()));
            lines.take(super::LINES_MAX).map(pairs).collect()
        })
    }

    /// Whether a line that an act left fresh in a file has a word.
    pub(super) fn leaves(&self, at: usize, token: &Token) -> bool {
        let words = |text: &String| -> BTreeSet<String> {
            let apart =
                |line: &str| line.replace(['=', ':', ',', '"', '@', '(', ')', ';', '_', '.', '/', '|'], " ");
            text.lines().flat_map(|line| tokens(&apart(line))).map(|word| word.key).collect()
        };
        let all = self.fresh_words.get_or_init(|| self.fresh.iter().map(words).collect());
        all.get(at).is_some_and(|words| words.contains(&token.key))
    }

    /// What stands behind an arrow is where an act left something.
    pub(super) fn leads_to(&self, sentence: &Sentence) -> Result<(), String> {
        let told = |token: &&Token| match token.kind {
            Kind::Exact => self.deeds.holds(&token.key) || self.is_folder(&token.key),
            _ => self.deeds.has(&token.key) || self.written.has(&token.key),
        };
        let content = |token: &&Token| is_content(token) && !holds(GENERIC, &token.raw);
        match sentence.arrow.iter().filter(content).find(|token| !told(token)) {
            Some(token) => Err(nowhere(token)),
            None => Ok(()),
        }
    }

    /// What is said to have been done before or after something else was: that was done as well.
    pub(super) fn gone_on(&self, sentence: &Sentence) -> Result<(), String> {
        let before = |at: usize, back: usize| at.checked_sub(back).and_then(|at| sentence.tokens.get(at));
        for (at, token) in sentence.tokens.iter().enumerate() {
            let Some(prior) = before(at, 1) else { continue };
            let is_act = token.kind == Kind::Word && token.raw.len() > 5 && token.raw.ends_with("ing");
            let leads = holds("after before besides having once", &prior.raw)
                || (prior.raw == "to" && before(at, 2).is_some_and(|word| word.raw == "addition"));
            if !is_act || !leads {
                continue;
            }
            let is_shown = match gerund(&token.raw).unwrap_or(Family::Other) {
                Family::Look | Family::Verify => !self.record.sources.is_empty(),
                family => !self.candidates(&Claim::of(family, token)).is_empty(),
            };
            if !is_shown {
                return Err(format!("no receipt shows {}", token.raw));
            }
        }
        Ok(())
    }

    /// `verified that …`: what was verified is on record itself.
    pub(super) fn verified(&self, sentence: &Sentence, claims: &[Claim<'_>]) -> Result<(), String> {
        let place =
            |claim: &Claim<'_>| sentence.tokens.iter().position(|token| std::ptr::eq(token, claim.verb));
        let Some(claim) = claims.iter().find(|claim| claim.family == Family::Verify && !claim.is_negated)
        else {
            return Ok(());
        };
        let Some(verb) = place(claim) else { return Ok(()) };
        let that = sentence.tokens.iter().skip(verb + 1).position(|token| token.raw == "that");
        let Some(that) = that.map(|that| that + verb + 1).filter(|_| !claim.is_vain) else { return Ok(()) };
        let said = Sentence::of(sentence.tokens.iter().skip(that + 1).cloned().collect());
        match self.shown(&said)?.support {
            Support::Claimless => Err("nothing shows what was verified".to_owned()),
            _ => Ok(()),
        }
    }

    /// Whether an act is said to have gone to somebody, and not into a file.
    pub(super) fn is_addressed(&self, sentence: &Sentence, claim: &Claim<'_>) -> bool {
        let names_file = |token: &&Token| token.kind == Kind::Exact && is_path(&token.key);
        let is_sent = holds("left replied said drafted", &claim.verb.raw);
        if claim.about.iter().any(names_file) || !(claim.family == Family::Write || is_sent) {
            return false;
        }
        let mut after =
            sentence.tokens.iter().skip_while(|token| !std::ptr::eq(*token, claim.verb)).skip(1).peekable();
        let next = after.peek().copied();
        if holds("wrote written", &claim.verb.raw)
            && next.is_some_and(|next| next.raw == "to" || next.kind == Kind::Name)
        {
            return true;
        }
        let object: Vec<&Token> =
            after.take_while(|token| !holds("to in on at into from", &token.raw)).collect();
        let is_object =
            |token: &&Token| claim.is_passive || object.iter().any(|other| std::ptr::eq(*other, *token));
        let found = self.candidates(claim);
        let is_file = |token: &Token| found.iter().any(|at| self.deeds.text_has(*at, &token.key));
        claim.about.iter().any(|token| holds(MESSAGES, &token.raw) && is_object(token) && !is_file(token))
    }

    /// Where it was done, what it became and of how much it was: as receipts say.
    pub(super) fn placed(
        &self,
        sentence: &Sentence,
        claim: &Claim<'_>,
        found: &[usize],
        is_named: bool,
    ) -> Result<(), String> {
        let own = |token: &Token| {
            found.iter().any(|at| self.text_of_deed(*at, &token.key) || self.printed(*at, &token.key))
        };
        let moves = matches!(claim.family, Family::Remove | Family::Move);
        let origin = |token: &Token| !moves && claim.origins.iter().any(|other| std::ptr::eq(*other, token));
        let is_place = |token: &&&Token| {
            matches!(token.kind, Kind::Word | Kind::Name)
                && is_content(token)
                && !holds(GENERIC, &token.raw)
                && !holds(WITHIN, &token.raw)
                && !origin(token)
        };
        if let Some(place) = claim.places.iter().filter(is_place).find(|place| !own(place))
            && claim.family != Family::Fetch
        {
            return Err(format!("no receipt shows that this was {} there: {}", claim.verb.raw, place.raw));
        }
        let after = || sentence.tokens.iter().skip_while(|token| !std::ptr::eq(*token, claim.verb)).skip(1);
        let fresh = |at: &usize| self.fresh.get(*at).map(String::as_str).unwrap_or_default();
        let value = after().skip_while(|token| token.raw != "to").nth(1);
        if let Some(value) = value.filter(|value| value.kind == Kind::Number)
            && claim.family == Family::Write
            && holds(SETS, &claim.verb.raw)
            && !found.iter().any(|at| {
                fresh(at).lines().any(|line| super::acts::has_value(line, value))
                    || self.deeds.text_has(*at, &value.key)
            })
        {
            return Err(format!("no receipt shows that it became {}", value.raw));
        }
        let made = with(&after().collect::<Vec<_>>());
        let left = |token: &&Token| {
            found.iter().any(|at| self.leaves(*at, token) || self.deeds.text_has(*at, &token.key))
        };
        if holds(MAKES, &claim.verb.raw) && !is_named && !made.is_empty() && !made.iter().any(left) {
            return Err("no receipt shows that this was made".to_owned());
        }
        let every = |token: &Token| holds("all every everything each", &token.raw);
        let before = || sentence.tokens.iter().take_while(|token| !std::ptr::eq(*token, claim.verb));
        let of_all = after().take(2).any(every) || (claim.is_passive && before().any(every));
        // A folder does not say how much of it.
        let tells = claim.about.iter().any(|token| match token.kind {
            Kind::Number => true,
            Kind::Exact => !claim.is_passive || !self.is_above(&token.key),
            _ => false,
        });
        let on_files =
            matches!(claim.family, Family::Write | Family::Remove | Family::Move | Family::Transform);
        if of_all && !tells && on_files {
            return Err("receipts do not show that it was all".to_owned());
        }
        let given = after().skip_while(|token| token.raw != "to").nth(1);
        match given.filter(|who| who.kind == Kind::Name && claim.is_passive && !own(who)) {
            Some(who) => Err(format!("no receipt shows that this was {} to {}", claim.verb.raw, who.raw)),
            None => Ok(()),
        }
    }

    /// Whether what is named is a folder of what acts were done to, and none of these files.
    fn is_above(&self, name: &str) -> bool {
        let is_file =
            |path: &str| path == name || path.strip_suffix(name).is_some_and(|at| at.ends_with('/'));
        self.is_folder(name) && !self.record.deeds.iter().any(|deed| targets(deed).any(is_file))
    }
}

/// Whether what a part says is judged with the acts, or it says nothing.
fn says_no_more(sentence: &Sentence, claims: &[Claim<'_>], part: &[&Token]) -> bool {
    let any = |words: &'static str| part.iter().any(|token| holds(words, &token.raw));
    part.iter().any(|token| state_of(&token.raw).is_some())
        || any(TRIED)
        || any(WELL)
        || any(FAILED)
        || (sentence.ends_without_error() && any("error errors problem problems"))
        || (sentence.ran_well() && any("successfully successful cleanly"))
        || matches!(part, [only] if only.raw == "well")
        || (claims.iter().any(|claim| claim.verb.raw == "left")
            && !part.iter().any(|token| is_content(token)))
}

/// What something is said to have been made with.
fn with<'s>(after: &[&'s Token]) -> Vec<&'s Token> {
    let behind = after.iter().skip_while(|token| !holds("with for", &token.raw)).skip(1);
    let behind =
        behind.take_while(|token| token.kind != Kind::Mark && !holds("and but to in on at", &token.raw));
    behind
        .copied()
        .filter(|token| is_content(token) && !holds(GENERIC, &token.raw) && family(&token.raw).is_none())
        .collect()
}
