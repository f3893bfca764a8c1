//! Acts that a sentence claims: receipts show them, of what it names.

use super::asserts::gerund;
use super::passages::{is_content, parts};
use super::sentence::{Claim, Sentence, TRIED, state_of};
use super::tokens::{Kind, Token, is_path, tokens};
use super::verbs::{
    FAILED, Family, GENERIC, INPUTS, LABELS, MAKES, WELL, family, family_of_base, holds, is_test,
    program_words,
};
use super::{Bound, Checker, Deed, Shown, ended_well, is_at, nowhere, targets, was_moved, words_have};
use model::action::ActionClass;
use model::answer::AnswerSupport as Support;
use std::collections::BTreeSet;

/// The share of the words around an act that must stand on record, in percent.
pub(super) const COVERED: usize = 70;
/// Words of an end without an error.
const ENDED: &str = "ended ends finished finishes ran runs completed error errors problem problems";

impl Checker<'_> {
    /// Acts that a sentence claims: each is on record, and so is what else it says.
    pub(super) fn done(&self, sentence: &Sentence, claims: &[Claim<'_>], content: &[&Token]) -> Shown {
        let mut bound = Bound::of(Support::Claimless);
        for claim in claims {
            let shown = if claim.is_vain {
                self.in_vain(sentence, claim, content)?
            } else if claim.is_negated {
                self.left_undone(sentence, claim)?
            } else {
                self.act(sentence, claim)?
            };
            bound = bound.with(shown);
        }
        bound = self.ended(sentence, claims, content, bound)?;
        self.verified(sentence, claims)?;
        self.parts(sentence, claims)?;
        self.gone_on(sentence)?;
        self.counted(sentence)?;
        if !claims.is_empty() {
            self.leads_to(sentence)?;
        }
        self.beside(sentence, claims, content)?;
        Ok(bound)
    }

    /// What a sentence says beside its acts stands on record, for the most part.
    fn beside(&self, sentence: &Sentence, claims: &[Claim<'_>], content: &[&Token]) -> Result<(), String> {
        if let Some(token) =
            sentence.tokens.iter().enumerate().find_map(|(at, token)| self.misplaced(sentence, at, token))
        {
            return Err(format!("what was printed says another number of {token}"));
        }
        let is_vain = claims.iter().any(|claim| claim.is_vain);
        let looks = claims
            .iter()
            .any(|claim| !claim.is_negated && matches!(claim.family, Family::Look | Family::Verify));
        let is_about = |token: &Token| {
            claims.iter().any(|claim| claim.about.iter().any(|about| std::ptr::eq(*about, token)))
        };
        // How many texts were seen is said of looking alone.
        let stands = |token: &Token| match token.kind {
            Kind::Number if !looks && !is_about(token) => {
                self.has_word(&token.key)
                    || self.is_count(token, &self.record.deeds.iter().collect::<Vec<_>>())
            }
            _ => self.stands_anywhere(token),
        };
        if let Some(token) = content.iter().find(|token| token.kind != Kind::Word && !stands(token)) {
            return Err(nowhere(token));
        }
        let fails = sentence.fails();
        let told = |token: &&Token| {
            let is_tried = (is_vain && (family_of_base(&token.raw).is_some() || holds(TRIED, &token.raw)))
                || (fails
                    && (gerund(&token.raw).is_some() || token.raw == "that" || holds(TRIED, &token.raw)));
            let is_said_elsewhere = token.kind == Kind::Number
                || [GENERIC, LABELS, WELL, FAILED].iter().any(|list| holds(list, &token.raw))
                || (sentence.ends_without_error() && holds(ENDED, &token.raw))
                || family(&token.raw).is_some()
                || state_of(&token.raw).is_some()
                || is_tried;
            let is_claimed = |claim: &Claim<'_>| {
                let denied = claim.is_negated && claim.about.iter().any(|about| std::ptr::eq(*about, *token));
                denied || std::ptr::eq(claim.verb, *token)
            };
            !is_said_elsewhere && !claims.iter().any(is_claimed)
        };
        let around: Vec<&Token> = content.iter().copied().filter(told).collect();
        let held =
            around.iter().filter(|token| token.kind == Kind::Exact || self.has_word(&token.key)).count();
        if held * 100 < around.len() * COVERED {
            return Err("what it says beside the act stands in nothing that was seen".to_owned());
        }
        Ok(())
    }

    /// The word behind a number which what was printed says of other numbers alone: `5 failed` where one did.
    fn misplaced<'s>(&self, sentence: &'s Sentence, at: usize, token: &Token) -> Option<&'s str> {
        const COUNTED: &str = "passed failed ignored skipped errors error warnings warning problems packages package vulnerabilities rows files matches";
        let number = (token.kind == Kind::Number).then_some(&token.key)?;
        let label = sentence.tokens.iter().skip(at + 1).take(2).find(|next| holds(COUNTED, &next.raw))?;
        let counts = self.counts.get(&label.key)?;
        (!counts.contains(number)).then_some(label.raw.as_str())
    }

    /// Whether a name, number or quotation stands somewhere on record.
    pub(super) fn stands_anywhere(&self, token: &Token) -> bool {
        let all = [&self.seen, &self.deeds, &self.written, &self.said];
        match token.kind {
            Kind::Exact => all.iter().any(|texts| texts.holds(&token.key)) || self.is_folder(&token.key),
            Kind::Number => {
                token.key == self.record.sources.len().to_string()
                    || self.is_count(token, &self.record.deeds.iter().collect::<Vec<_>>())
                    || all.iter().any(|texts| texts.has(&token.key))
            }
            _ => all.iter().any(|texts| texts.has(&token.key)),
        }
    }

    pub(super) fn has_word(&self, key: &str) -> bool {
        [&self.seen, &self.deeds, &self.written, &self.said].iter().any(|texts| texts.has(key))
    }

    /// Whether something stands above a file that was made, changed or removed.
    pub(super) fn is_folder(&self, name: &str) -> bool {
        self.record.deeds.iter().any(|deed| targets(deed).any(|path| is_at(path, name)))
    }

    /// Acts of a kind that went well, by their places.
    pub(super) fn candidates(&self, claim: &Claim<'_>) -> Vec<usize> {
        let words = program_words(&claim.verb.raw);
        let is_kind = |(at, deed): &(usize, &Deed)| {
            // What a message quotes is not what a tool does.
            let named = words.iter().any(|word| match deed.class {
                ActionClass::ExternalEffect => {
                    self.called.get(*at).is_some_and(|called| called.contains(word))
                }
                _ => self.deeds.text_has(*at, word),
            });
            let speaks = matches!(deed.class, ActionClass::ExternalEffect | ActionClass::VcsMutation)
                || !deed.argv.is_empty();
            let sends = matches!(
                deed.class,
                ActionClass::NetworkWrite
                    | ActionClass::CredentialedApiCall
                    | ActionClass::ExternalEffect
                    | ActionClass::Publication
                    | ActionClass::Payment
            );
            let by_words = named && speaks;
            let writes = !(deed.made.is_empty() && deed.changed.is_empty());
            match claim.family {
                Family::Write => by_words || writes,
                Family::Transform if holds("copied duplicated", &claim.verb.raw) => {
                    by_words
                        || deed.made.iter().any(|left| !deed.moved.iter().any(|(_, to)| *to == left.path))
                }
                Family::Transform => writes,
                Family::Remove => by_words || deed.removed.iter().any(|path| !was_moved(deed, path)),
                Family::Move => by_words || !deed.moved.is_empty(),
                Family::Run => !deed.argv.is_empty(),
                Family::Make => {
                    !deed.argv.is_empty()
                        && (named || claim.commands.iter().any(|command| words_have(deed, command)))
                }
                Family::Fetch => deed.class == ActionClass::NetworkRead,
                Family::Send => sends && self.called.get(*at).is_some_and(|called| sends_by(called, &words)),
                Family::Commit => {
                    let is_git = deed.argv.first().is_some_and(|program| program.ends_with("git"));
                    (deed.class == ActionClass::VcsMutation || is_git) && named
                }
                Family::Other => by_words,
                Family::Look | Family::Verify => false,
            }
        };
        let is_done = |deed: &Deed| ended_well(deed) || claim.family == Family::Run;
        let all = self.record.deeds.iter().enumerate().filter(|(_, deed)| is_done(deed));
        all.filter(is_kind).map(|(at, _)| at).collect()
    }

    /// An act that is claimed: receipts show it, of what it names.
    pub(super) fn act(&self, sentence: &Sentence, claim: &Claim<'_>) -> Shown {
        if matches!(claim.family, Family::Look | Family::Verify) {
            return self.looked(sentence, claim);
        }
        if let Some((old, new)) = claim.pair {
            return self.changed_from(claim, old, new);
        }
        let addressed = Claim { family: Family::Send, ..claim.clone() };
        let claim = if self.is_addressed(sentence, claim) { &addressed } else { claim };
        let mut found = self.candidates(claim);
        let deed = |at: &usize| self.record.deeds.get(*at);
        if claim.family == Family::Run
            && sentence.has("after")
            && !found.iter().filter_map(deed).any(|deed| deed.order > self.last_change)
        {
            return Err(format!("nothing was {} after the last change", claim.verb.raw));
        }
        if found.is_empty() {
            return Err(format!("no receipt shows that anything was {}", claim.verb.raw));
        }
        let deeds: Vec<&Deed> = found.iter().filter_map(deed).collect();
        self.both(claim, &deeds)?;
        let mut about: BTreeSet<usize> = BTreeSet::new();
        let (mut words, mut known) = (0, 0);
        for token in &claim.about {
            let by: Vec<usize> =
                found.iter().copied().filter(|at| self.is_named_by(*at, claim, token)).collect();
            match token.kind {
                Kind::Number if by.is_empty() && !self.is_count(token, &deeds) => {
                    return Err(format!("receipts show another number than {}", token.raw));
                }
                Kind::Number => continue,
                Kind::Exact if by.is_empty() && !self.is_beside(claim, token) => {
                    return Err(format!("no receipt shows that {} was {}", token.raw, claim.verb.raw));
                }
                Kind::Exact => known += 1,
                // What went to somebody is named by the act itself.
                _ if (claim.family != Family::Send && holds(GENERIC, &token.raw))
                    || family(&token.raw).is_some()
                    || holds(WELL, &token.raw)
                    || holds(FAILED, &token.raw) =>
                {
                    continue;
                }
                _ if !by.is_empty() || self.is_asked(claim, &found, token) => known += 1,
                Kind::Name => return Err(nowhere(token)),
                _ => {}
            }
            words += 1;
            about.extend(by);
        }
        let is_only_asked = words > 0 && about.is_empty() && self.on_files(&found);
        if is_only_asked && claim.family == Family::Write && claim.is_passive {
            return Err(format!("no receipt shows that this was {}", claim.verb.raw));
        }
        if known * 100 < words * COVERED {
            return Err(format!("no receipt shows that this was {}", claim.verb.raw));
        }
        if !about.is_empty() {
            found.retain(|at| about.contains(at));
        }
        self.done_to(sentence, claim, &found)?;
        self.placed(sentence, claim, &found, words > 0)?;
        Ok(self.by_deeds(&found))
    }

    fn by_deeds(&self, found: &[usize]) -> Bound {
        let mut bound = Bound::of(Support::Receipt);
        bound.receipts =
            found.iter().filter_map(|at| self.record.deeds.get(*at)).map(|deed| deed.receipt_id).collect();
        bound
    }

    /// Whether an act is told by what stands beside its verb.
    fn is_named_by(&self, at: usize, claim: &Claim<'_>, token: &Token) -> bool {
        match (token.kind, claim.family) {
            (Kind::Exact, _) => self.is_about(at, claim, token),
            // What a text was made of says nothing of what the text holds.
            (Kind::Word | Kind::Name, Family::Transform) => self.deeds.text_has(at, &token.key),
            (Kind::Word, Family::Run) if holds("test tests suite", &token.raw) => {
                self.record.deeds.get(at).is_some_and(|deed| is_test(&deed.argv))
                    || self.deeds.text_has(at, &token.key)
            }
            // `13 files` is not told by `2024-09-13.md`.
            (Kind::Number, Family::Move | Family::Remove) => {
                self.deeds.text_counts(at, &token.key) || self.prints_number(at, &token.key)
            }
            (Kind::Number, Family::Write) => {
                self.deeds.text_counts(at, &token.key)
                    || self.prints_number(at, &token.key)
                    || self
                        .fresh
                        .get(at)
                        .is_some_and(|fresh| fresh.lines().any(|line| has_value(line, token)))
            }
            (Kind::Number, _) => self.text_of_deed(at, &token.key) || self.printed(at, &token.key),
            _ => self.text_of_deed(at, &token.key),
        }
    }

    /// Whether a person asked for what a word names, and an act on files is told by it: not one that is another act's.
    fn is_asked(&self, claim: &Claim<'_>, found: &[usize], token: &Token) -> bool {
        let is_among = |tokens: &[&Token]| tokens.iter().any(|other| std::ptr::eq(*other, token));
        let by_place = !matches!(claim.family, Family::Commit | Family::Fetch | Family::Send | Family::Other);
        if is_among(&claim.joined) || (by_place && is_among(&claim.places)) {
            return false;
        }
        let on_files = found
            .iter()
            .filter_map(|at| self.record.deeds.get(*at))
            .any(|deed| targets(deed).next().is_some());
        let others = (0..self.record.deeds.len()).filter(|at| !found.contains(at));
        let is_others = others.into_iter().any(|at| self.deeds.text_has(at, &token.key));
        let by_command = matches!(claim.family, Family::Make | Family::Run | Family::Commit | Family::Fetch);
        claim.family != Family::Send && (on_files || by_command) && !is_others && self.said.has(&token.key)
    }

    /// `from 20 to 60`, `renamed a to b`: the old was there before, and the new is there by the act, where it says.
    pub(super) fn changed_from(&self, claim: &Claim<'_>, old: &Token, new: &Token) -> Shown {
        let found: Vec<usize> = (0..self.record.deeds.len())
            .filter(|at| {
                let Some(deed) = self.record.deeds.get(*at).filter(|deed| ended_well(deed)) else {
                    return false;
                };
                if deed.moved.iter().any(|(from, to)| is_at(from, &old.key) && is_at(to, &new.key)) {
                    return true;
                }
                let fresh = self.fresh.get(*at).map(String::as_str).unwrap_or_default();
                let said = format!("{}\n{}", deed.argv.join(" "), deed.words);
                let places = claim.about.iter().filter(|token| {
                    token.kind == Kind::Exact
                        && !is_path(&token.key)
                        && token.key != old.key
                        && token.key != new.key
                });
                let places: Vec<&str> = places.map(|token| token.key.as_str()).collect();
                let mut lines = fresh.lines().chain(said.lines());
                let is_new =
                    lines.any(|line| has_value(line, new) && places.iter().all(|place| line.contains(place)));
                let was_old = self.record.sources.iter().any(|source| {
                    source.order < deed.order && source.text.lines().any(|line| has_value(line, old))
                });
                is_new
                    && was_old
                    && !fresh
                        .lines()
                        .any(|line| has_value(line, old) && places.iter().any(|place| line.contains(place)))
            })
            .collect();
        if found.is_empty() {
            return Err(format!("no receipt shows that {} became {}", old.raw, new.raw));
        }
        Ok(self.by_deeds(&found))
    }

    /// Whether an act says a word or number of itself, or left it in a file.
    pub(super) fn text_of_deed(&self, at: usize, key: &str) -> bool {
        let left = self.written_by.iter().enumerate().filter(|(_, by)| **by == at);
        self.deeds.text_has(at, key) || left.into_iter().any(|(text, _)| self.written.text_has(text, key))
    }

    /// Whether an act printed a number that is no part of a name.
    fn prints_number(&self, at: usize, key: &str) -> bool {
        let order = self.record.deeds.get(at).map(|deed| deed.order);
        let mut sources = self.record.sources.iter().enumerate();
        sources.any(|(text, source)| Some(source.order) == order && self.seen.text_counts(text, key))
    }

    /// Whether an act printed a word or number.
    pub(super) fn printed(&self, at: usize, key: &str) -> bool {
        let order = self.record.deeds.get(at).map(|deed| deed.order);
        let by_it =
            |text: &usize| self.record.sources.get(*text).is_some_and(|source| Some(source.order) == order);
        (0..self.record.sources.len()).filter(by_it).any(|text| self.seen.text_has(text, key))
    }

    /// Whether an act was done to what is named.
    fn is_about(&self, at: usize, claim: &Claim<'_>, token: &Token) -> bool {
        let Some(deed) = self.record.deeds.get(at) else { return false };
        let name = token.key.as_str();
        let is_named = |path: &str| is_at(path, name);
        let left = || deed.made.iter().chain(&deed.changed);
        let said = |source: &&super::Source| source.order == deed.order && source.text.contains(name);
        let says = words_have(deed, name)
            || (deed.class == ActionClass::ExternalEffect
                && self.record.sources.iter().any(|source| said(&source)));
        let is_file = is_path(name) || self.is_folder(name);
        match claim.family {
            Family::Write if is_file && holds(MAKES, &claim.verb.raw) => {
                deed.made.iter().any(|one| is_named(&one.path))
                    || says
                    || deed.changed.iter().any(|one| is_named(&one.path))
            }
            Family::Write if is_file => left().any(|one| is_named(&one.path)) || says,
            Family::Write if holds(MAKES, &claim.verb.raw) => {
                says || self.fresh.get(at).is_some_and(|fresh| fresh.contains(name))
                    || targets(deed).any(is_named)
            }
            Family::Remove if is_file => {
                says || deed.removed.iter().any(|path| is_named(path) && !was_moved(deed, path))
            }
            Family::Write => says || targets(deed).any(is_named) || left().any(|one| one.text.contains(name)),
            _ => says || targets(deed).any(is_named),
        }
    }

    /// Whether what is named beside an act may be so without being what it was done to.
    fn is_beside(&self, claim: &Claim<'_>, token: &Token) -> bool {
        let name = token.key.as_str();
        match claim.family {
            // What was there and is otherwise now.
            Family::Write if !holds(MAKES, &claim.verb.raw) && !is_path(name) => self.seen.holds(name),
            Family::Transform => {
                holds(INPUTS, &claim.verb.raw) && is_path(name) && self.stands_anywhere(token)
            }
            // What goes somewhere is a file that is known; where it goes to is the act's own word.
            Family::Send => is_path(name) && !name.contains("://") && self.stands_anywhere(token),
            // A branch, or the name that the commit has by what was printed.
            Family::Commit => {
                let vcs = self
                    .record
                    .deeds
                    .iter()
                    .filter(|deed| deed.class == ActionClass::VcsMutation && ended_well(deed));
                let words: Vec<String> = vcs
                    .clone()
                    .flat_map(|deed| tokens(&deed.words))
                    .filter(is_content)
                    .map(|token| token.key)
                    .collect();
                vcs.into_iter().any(|deed| words_have(deed, name)) || self.seen.joins(name, &words, 3)
            }
            _ => false,
        }
    }

    /// Whether a number is how many things acts were about.
    pub(super) fn is_count(&self, token: &Token, deeds: &[&Deed]) -> bool {
        let told = |count: usize| count.to_string() == token.key;
        let folders: BTreeSet<&str> = deeds
            .iter()
            .flat_map(|deed| deed.made.iter().filter_map(|left| Some(left.path.rsplit_once('/')?.0)))
            .collect();
        let made: usize = deeds.iter().map(|deed| deed.made.len()).sum();
        let changed: usize = deeds.iter().map(|deed| deed.changed.len()).sum();
        let removed: usize = deeds.iter().map(|deed| deed.removed.len()).sum();
        told(made)
            || told(changed)
            || told(made + changed)
            || told(removed)
            || (deeds.iter().all(|deed| targets(deed).next().is_some()) && told(deeds.len()))
            || (told(folders.len()) && !folders.is_empty())
    }
}

/// Whether what an act is called by says that it sent something: a tool that only lists mail does not.
fn sends_by(called: &BTreeSet<String>, words: &[String]) -> bool {
    const NOUNS: [&str; 3] = ["mail", "email", "messag"];
    const READS: [&str; 8] = ["list", "get", "read", "search", "find", "query", "show", "look"];
    let mut named = words.iter().filter(|word| called.contains(*word)).peekable();
    named.peek().is_some()
        && (!READS.iter().any(|read| called.contains(*read))
            || named.any(|word| !NOUNS.contains(&word.as_str())))
}

/// What an act is called by: its words without what it quotes, in which a message may tell of anything.
pub(super) fn called(deed: &Deed) -> BTreeSet<String> {
    let mut bare = String::new();
    let mut rest = deed.words.as_str();
    while let Some((before, behind)) = rest.split_once('"') {
        let mut is_escaped = false;
        let end = behind.find(|c: char| {
            let ends = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        });
        let (inside, after) = behind.split_at(end.unwrap_or(behind.len()));
        bare.push_str(before);
        if !inside.contains(char::is_whitespace) {
            bare.push_str(inside);
        }
        bare.push(' ');
        rest = after.strip_prefix('"').unwrap_or(after);
    }
    bare.push_str(rest);
    tokens(&bare).into_iter().chain(parts(&bare)).map(|token| token.key).collect()
}

/// Whether a line holds a number or a name as a whole.
pub(super) fn has_value(line: &str, token: &Token) -> bool {
    match token.kind {
        Kind::Number => tokens(&line.replace(['=', ':', ',', '"', '@', '(', ')', ';'], " "))
            .iter()
            .any(|found| found.key == token.key),
        _ => line.contains(&token.key),
    }
}

pub(super) fn two() -> Token {
    Token { kind: Kind::Number, raw: "both".to_owned(), key: "2".to_owned() }
}
