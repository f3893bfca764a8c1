//! Whether one passage of a record bears a fact that a sentence states of it.

use super::super::asserts::{is_good, is_link, is_past};
use super::super::carried::is_run;
use super::super::meaning::Meaning;
use super::super::passages::{Passage, Passages, asks, bounded, clip, is_content, is_negation, parts};
use super::super::tokens::{Kind, Token, tokens};
use super::super::verbs::{FAILED, Family, UNIVERSAL, WELL, family, holds};
use super::super::{Left, Source};
use super::lists::{BE, SAYS, SOFT, TELLS, TEXTS, THEN, TROUBLE, WEIGHTY, WORDS};
use super::numbers::{counts_other, is_called_otherwise, numbered};
use super::said::{counts, denies, is_dated, is_of, is_verb, keys, parts_of, phrases, risky};
use super::sides::is_alike;
use super::{Held, Judge, Proof, any, shortened};
use std::collections::BTreeSet;

/// Bytes of a written file in which names that a sentence has of it are looked up.
const FILE_MAX: usize = 1 << 16;
/// Passages that looking through files counts as.
const FILE_COST: usize = 400;
/// Letters from which two words are one where the one begins with the other: `encrypt`, `encryption`.
const PREFIX_MIN: usize = 5;
/// Letters by which they may differ.
const PREFIX_REST: usize = 4;

/// A passage with what is known of the text that it is of.
struct Place<'p> {
    passage: &'p Passage,
    title: &'p str,
    /// Words of the title, and of what stands above all of it.
    about: Option<&'p BTreeSet<String>>,
    called: Option<&'p BTreeSet<String>>,
    /// The whole file in small letters, where it was written here.
    file: Option<&'p str>,
    /// Whether the file was not there before.
    is_new: bool,
    /// Whether it came of an act.
    of_act: bool,
    /// Whether it came of a program.
    of_program: bool,
    /// Whether it has to have each word of a sentence, in one run.
    is_exact: bool,
}

impl Judge<'_, '_> {
    /// What bears a fact: one passage, or one for each part of it that says something by itself. `head` is its first word, where
    /// that has a capital letter.
    pub(super) fn fact(&self, said: &[&Token], head: Option<&Token>) -> Option<Vec<Proof>> {
        let named: Vec<&Token> = said.iter().copied().filter(|token| token.kind == Kind::Exact).collect();
        if let Some(proof) = self.by_passage(said, head, &named) {
            return Some(vec![proof]);
        }
        let parts = parts_of(said);
        let first = parts.first().filter(|_| parts.len() > 1)?;
        // `It has a faster start and removed the option`: what it did is said of it, and of nobody here.
        let subject = first.first().copied().filter(|token| holds("it they he she", &token.raw));
        let subject = subject.filter(|_| !any(said, BE) && risky(first).is_empty());
        let one = |(at, part): (usize, &Vec<&Token>)| {
            let leads = at > 0 && part.first().is_some_and(|token| family(&token.raw).is_some());
            let whole: Vec<&Token> =
                subject.filter(|_| leads).into_iter().chain(part.iter().copied()).collect();
            self.by_passage(&whole, head.filter(|_| at == 0), &named)
        };
        parts.iter().enumerate().map(one).collect()
    }

    fn by_passage(&self, said: &[&Token], head: Option<&Token>, named: &[&Token]) -> Option<Proof> {
        let of_end = any(said, "exit") && any(said, "code");
        if !of_end && (any(said, WELL) || any(said, FAILED) || any(said, "0 zero")) {
            return None;
        }
        let says = any(said, SAYS);
        let is_plain = says || risky(said).is_empty();
        let keys: BTreeSet<String> =
            said.iter().filter(|token| is_content(token)).flat_map(|token| keys(token)).collect();
        let records = || self.records.iter().enumerate();
        if is_plain || is_dated(said) {
            let seen = |(record, held): (usize, &Held)| self.in_seen(record, held, said, head, &keys);
            if let Some(proof) = records().find_map(seen) {
                return Some(proof);
            }
        }
        if of_end || (says && is_of(said, WORDS)) {
            let done = |(record, held): (usize, &Held)| self.in_deed(record, held, said, of_end, head, &keys);
            if let Some(proof) = records().find_map(done) {
                return Some(proof);
            }
        }
        let of_file = (says || any(said, "has have had")) && is_of(said, TEXTS);
        let written = |(record, held): (usize, &Held)| {
            self.in_written(record, held, said, head, &keys, &|path: &str| {
                of_file || named.iter().any(|token| bounded(path, &token.key).is_some())
            })
        };
        records().find_map(written).filter(|_| is_plain)
    }

    fn in_seen(
        &self,
        record: usize,
        held: &Held,
        said: &[&Token],
        head: Option<&Token>,
        keys: &BTreeSet<String>,
    ) -> Option<Proof> {
        let (of_act, of_program, is_exact) = self.kind(held);
        held.texts.iter().find_map(|text| {
            let (title, about, called) = self.checker.seen.title(*text);
            let bears = |passage: &&Passage| {
                let passage = *passage;
                let place = Place {
                    passage,
                    title,
                    about,
                    called,
                    file: None,
                    is_new: false,
                    of_act,
                    of_program,
                    is_exact,
                };
                place.bears(said, head)
            };
            let found = self.near(&self.checker.seen, *text, keys).into_iter().find(bears)?;
            let source = self.checker.record.sources.get(*text)?;
            if self.is_stale(source, found, said) {
                return None;
            }
            Some(Proof { record, text: Some(*text), quote: quoted(&source.text, &found.raw) })
        })
    }

    /// The passages of a text that are compared, while there is room for them.
    fn near<'p>(&self, all: &'p Passages, text: usize, keys: &BTreeSet<String>) -> Vec<&'p Passage> {
        let found = all.near(text, keys);
        if self.checker.spends(found.len()) { found } else { Vec::new() }
    }

    /// Whether a line of a file was looked at before it was changed here, and the sentence is not of that time.
    fn is_stale(&self, source: &Source, passage: &Passage, said: &[&Token]) -> bool {
        if any(said, THEN) {
            return false;
        }
        if !self.checker.spends(FILE_COST) {
            return true;
        }
        let Some(line) = line_of(&source.text, &passage.raw) else { return false };
        let changes = |left: &Left| {
            let is_it = |word: &str| word.trim_matches(['`', '"', ':', ',']) == left.path;
            let is_meant = source.title.split_whitespace().any(is_it);
            is_meant && !left.text.is_empty() && !left.text.contains(line.trim())
        };
        let mut later = self.checker.record.deeds.iter().filter(|deed| deed.order > source.order);
        later.any(|deed| deed.succeeded && deed.changed.iter().any(changes))
    }

    /// What an act was asked for, or how a program ended.
    fn in_deed(
        &self,
        record: usize,
        held: &Held,
        said: &[&Token],
        of_end: bool,
        head: Option<&Token>,
        keys: &BTreeSet<String>,
    ) -> Option<Proof> {
        let said: Vec<&Token> = said
            .iter()
            .copied()
            .filter(|token| !(of_end && holds("finished ended exited returned", &token.raw)))
            .collect();
        let (of_act, of_program, is_exact) = self.kind(held);
        let about = held.texts.first().and_then(|text| self.checker.seen.title(*text).1);
        held.deeds.iter().find_map(|deed| {
            let bears = |passage: &&Passage| {
                let passage = *passage;
                let place = Place {
                    passage,
                    title: "",
                    about,
                    called: None,
                    file: None,
                    is_new: false,
                    of_act,
                    of_program,
                    is_exact,
                };
                place.bears(&said, head)
            };
            let found = self.near(&self.checker.deeds, *deed, keys).into_iter().find(bears)?;
            let words = self.checker.record.deeds.get(*deed).map(super::super::words_of)?;
            Some(Proof { record, text: None, quote: quoted(&words, &found.raw) })
        })
    }

    /// What a file holds that the record wrote: its own words, and so no more than what is said of that file.
    fn in_written(
        &self,
        record: usize,
        held: &Held,
        said: &[&Token],
        head: Option<&Token>,
        keys: &BTreeSet<String>,
        is_meant: &dyn Fn(&str) -> bool,
    ) -> Option<Proof> {
        let (of_act, of_program, is_exact) = self.kind(held);
        let files = self.checker.written_by.iter().enumerate();
        files.filter(|(_, deed)| held.deeds.contains(deed)).find_map(|(file, deed)| {
            let title = self.checker.written.title(file).0;
            if !is_meant(title) {
                return None;
            }
            let deed = self.checker.record.deeds.get(*deed)?;
            let left =
                deed.made.iter().chain(&deed.changed).find(|left| left.path.to_lowercase() == title)?;
            let whole = clip(&left.text, FILE_MAX).to_lowercase();
            let about: BTreeSet<String> = parts(title).into_iter().map(|token| token.key).collect();
            let bears = |passage: &&Passage| {
                let passage = *passage;
                let place = Place {
                    passage,
                    title,
                    about: Some(&about),
                    called: None,
                    file: Some(&whole),
                    is_new: !deed.made.is_empty(),
                    of_act,
                    of_program,
                    is_exact,
                };
                place.bears(said, head)
            };
            let found = self.near(&self.checker.written, file, keys).into_iter().find(bears)?;
            Some(Proof { record, text: None, quote: quoted(&left.text, &found.raw) })
        })
    }

    /// Whether a record is of an act, and of a program; and whether it has to have each word.
    fn kind(&self, held: &Held) -> (bool, bool, bool) {
        let mut deeds = held.deeds.iter().filter_map(|at| self.checker.record.deeds.get(*at));
        (!held.deeds.is_empty(), deeds.any(|deed| !deed.argv.is_empty()), self.checker.is_exact.get())
    }
}

impl Place<'_> {
    /// Whether the passage says what a sentence says, in its own words or in others.
    fn bears(&self, said: &[&Token], head: Option<&Token>) -> bool {
        let passage = self.passage;
        if passage.is_joined
            || passage.raw.trim_end().ends_with('?')
            || !Meaning::of(said).fits(&passage.manner, &passage.raw, &passage.places)
        {
            return false;
        }
        let content: Vec<&Token> = said.iter().copied().filter(|token| self.counts(token)).collect();
        let Some(present) = self.present(&content, head) else { return false };
        let own = tokens(&passage.raw);
        let is_present = |token: &Token| present.iter().any(|other| std::ptr::eq(*other, token));
        let weighty = |token: &&Token| {
            token.kind == Kind::Word
                && (holds(UNIVERSAL, &token.raw) || holds(WEIGHTY, &token.raw))
                && !own.iter().any(|other| other.raw == token.raw)
        };
        let is_told = |token: &Token| {
            (token.raw == "new" && self.is_new && self.file.is_some())
                || (holds("new old", &token.raw)
                    && parts(self.title).iter().any(|part| part.key == token.key))
        };
        let unsaid = |pair: &[&Token]| match pair {
            [link, next] => {
                is_link(link)
                    && next.kind == Kind::Word
                    && counts(next)
                    && !is_present(next)
                    && !holds(TELLS, &next.raw)
                    && !holds(SOFT, &next.raw)
            }
            _ => false,
        };
        !said.iter().filter(|token| weighty(token)).any(|token| !is_told(token))
            && !said.windows(2).any(unsaid)
            && phrases(said).iter().all(|phrase| holds_phrase(said, phrase, &content, &is_present))
            && numbered(said, &own, passage)
            && !said.iter().enumerate().any(|(at, token)| self.miscounts(said, at, token, &own))
            && !troubled(said, &own)
            && !goes_on(said, &own, &passage.raw)
            && denies(said) == denied(&content, &own)
            && is_alike(said, &own)
    }

    /// The words of a sentence that stand here or in the title; nothing where one is missing that may not be, or too many are.
    fn present<'s>(&self, content: &[&'s Token], head: Option<&Token>) -> Option<Vec<&'s Token>> {
        // A name may begin a sentence.
        let leads = |token: &Token| {
            head.is_some_and(|head| std::ptr::eq(head, token)) && self.passage.names.contains(&token.key)
        };
        let names = content.iter().filter(|token| token.kind == Kind::Name || leads(token)).count();
        let (mut own, mut beside, mut anchors, mut missing, mut last) = (0, 0, 0, 0, 0);
        let (mut has_name, mut lacks_number) = (false, false);
        let mut present = Vec::new();
        for token in content.iter().copied() {
            let place = self.find(token);
            lacks_number |= place.is_none() && token.kind == Kind::Number;
            if let Some(place) = place {
                // Where two are named, who is what is a matter of order.
                if names > 1 || matches!(token.kind, Kind::Name | Kind::Number) {
                    if place < last {
                        return None;
                    }
                    last = place;
                }
                own += 1;
                has_name |= token.kind != Kind::Word;
                anchors += if token.kind == Kind::Word { 1 } else { 2 };
            } else if self.called.is_some_and(|called| called.contains(&token.key)) {
                beside += 1;
            } else if self.is_titled(token) {
                beside += usize::from(token.kind == Kind::Exact);
            } else if token.kind == Kind::Exact
                && self.file.is_some_and(|file| bounded(file, &token.key).is_some())
            {
                own += 1;
                anchors += 2;
            } else if !(token.raw == "new" && self.is_new) {
                if self.is_exact || !may_differ(token, head) {
                    return None;
                }
                missing += 1;
                continue;
            }
            present.push(token);
        }
        if self.is_exact && !is_run(content, &self.passage.raw) {
            return None;
        }
        let all = content.len();
        // Of what an act printed, the words that asked for it say what it is of.
        let is_thin = own * 2 < all.saturating_sub(beside) && !(self.of_act && has_name);
        let is_bare = own == 0 || anchors < 2 || (all - missing) * 2 < all;
        (!is_thin && !is_bare && (!self.of_program || !lacks_number)).then_some(present)
    }

    /// Whether a number is said of something that is not there, or of what was only read or written.
    fn miscounts(&self, said: &[&Token], at: usize, number: &Token, own: &[Token]) -> bool {
        if number.kind != Kind::Number {
            return false;
        }
        let next = said.get(at + 1).filter(|next| next.kind == Kind::Word && is_content(next));
        let is_about = |next: &&&Token| self.about.is_some_and(|about| about.contains(&next.key));
        let lacks = next.filter(|next| self.find(next).is_none()).filter(|next| !is_about(next));
        let place = own.iter().position(|token| token.kind == Kind::Number && token.key == number.key);
        let verb = place.and_then(|place| own.get(place.checked_sub(1)?));
        let verb = verb.filter(|verb| family(&verb.raw).is_some());
        let before = at.checked_sub(1).and_then(|at| said.get(at)).copied();
        let label = before.filter(|label| {
            label.kind == Kind::Word
                && is_content(label)
                && !is_past(label)
                && !is_verb(said, label)
                && self.find(label).is_none()
                && !self.about.is_some_and(|about| about.contains(&label.key))
        });
        lacks.is_some_and(|next| !self.of_program || counts_other(number, next, own))
            || (label.is_some() && is_called_otherwise(said, number, own))
            || verb.is_some_and(|verb| !said.iter().any(|token| token.key == verb.key))
    }

    /// Whether a word is looked up: not one that only says that a text says so.
    fn counts(&self, token: &Token) -> bool {
        let leads = token.kind == Kind::Word
            && (holds(TELLS, &token.raw) || (self.file.is_some() && holds(TEXTS, &token.raw)));
        counts(token) && !(leads && self.find(token).is_none())
    }

    fn is_titled(&self, token: &Token) -> bool {
        // What a tool is asked for was not done by that: `create title="Renew it"`.
        let is_done = token.kind == Kind::Word && token.raw.ends_with("ed") && is_past(token);
        if is_done && asks(self.title) && !self.title.contains(&token.raw) {
            return false;
        }
        self.about.is_some_and(|about| about.contains(&token.key))
            || (token.kind == Kind::Exact && bounded(self.title, &token.key).is_some())
    }

    /// Where something stands in the passage.
    fn find(&self, token: &Token) -> Option<usize> {
        let places = &self.passage.places;
        if token.kind == Kind::Exact {
            return bounded(&self.passage.raw, &token.key);
        }
        let known = places.get(&token.key).copied();
        if token.kind != Kind::Word || token.key.len() < PREFIX_MIN || known.is_some() {
            return known;
        }
        let is_one = |key: &&String| {
            key.len() >= PREFIX_MIN
                && key.len().abs_diff(token.key.len()) <= PREFIX_REST
                && (key.starts_with(&token.key) || token.key.starts_with(key.as_str()))
        };
        places.keys().find(is_one).and_then(|key| places.get(key)).copied()
    }
}

/// Whether a word may be missing: an ordinary one that claims no act and no good end, and is no name that begins the sentence.
fn may_differ(token: &Token, head: Option<&Token>) -> bool {
    let is_head = head.is_some_and(|head| std::ptr::eq(head, token));
    let is_done = is_past(token)
        && !holds(TELLS, &token.raw)
        && !holds(SOFT, &token.raw)
        && family(&token.raw) != Some(Family::Look);
    token.kind == Kind::Word && !is_head && !is_done && !is_good(token)
}

/// Whether at least half of a phrase is there; a verb by itself may be another one.
fn holds_phrase(
    said: &[&Token],
    phrase: &[&Token],
    content: &[&Token],
    is_present: &dyn Fn(&Token) -> bool,
) -> bool {
    let is_counted = |token: &&&Token| content.iter().any(|other| std::ptr::eq(*other, **token));
    let told: Vec<&&Token> = phrase.iter().filter(is_counted).collect();
    if let ([only], [_]) = (told.as_slice(), phrase)
        && is_verb(said, only)
    {
        return true;
    }
    told.iter().filter(|token| is_present(token)).count() * 2 >= told.len()
}

/// Whether a passage tells of trouble, and the sentence of none.
fn troubled(said: &[&Token], own: &[Token]) -> bool {
    let is_told = |token: &&Token| token.raw.to_lowercase().contains("error") || holds(TROUBLE, &token.raw);
    own.iter().any(|token| holds(TROUBLE, &token.raw)) && !said.iter().any(is_told)
}

/// Whether a sentence tells of something as done that goes on there: `approved`, of what waits for an approving review.
fn goes_on(said: &[&Token], own: &[Token], raw: &str) -> bool {
    said.iter().any(|token| {
        let is_it = |other: &Token| other.key == token.key && other.raw.ends_with("ing");
        is_past(token) && token.raw.ends_with("ed") && !raw.contains(&token.raw) && own.iter().any(is_it)
    })
}

/// Whether a passage denies something in a part that holds words of the sentence.
fn denied(content: &[&Token], own: &[Token]) -> bool {
    let is_meant = |token: &Token| {
        let is_key = |key: &str| content.iter().any(|other| other.key == key);
        is_key(&token.key)
            || (token.kind == Kind::Exact && parts(&token.key).iter().any(|part| is_key(&part.key)))
    };
    own.split(|token| token.kind == Kind::Mark)
        .any(|part| part.iter().any(is_negation) && part.iter().any(is_meant))
}

/// The line of a text that a passage is of, as it is written.
pub(super) fn quoted(text: &str, raw: &str) -> String {
    shortened(line_of(text, raw).unwrap_or(raw))
}

fn line_of<'t>(text: &'t str, raw: &str) -> Option<&'t str> {
    let holds_it = |line: &&str| {
        let line = line.to_lowercase();
        line.contains(raw) || (!line.trim().is_empty() && raw.ends_with(line.trim()))
    };
    text.lines().find(holds_it)
}
