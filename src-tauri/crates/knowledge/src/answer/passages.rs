//! What is on record, as passages that a sentence can be compared with: a line, or a line of a list with what stands above
//! it. A sentence is borne by one passage, never by words that were gathered from several.

use super::asserts::is_past;
use super::carried::is_whole;
use super::cited::is_alike;
use super::meaning::{Manner, Meaning};
use super::sentences::bounds;
use super::tokens::{Kind, Token, dated, tokens};
use super::verbs::{FUNCTION, GENERIC, NEGATIONS, STANDS, holds};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Bytes of a text that are looked at.
pub(super) const TEXT_MAX: usize = 1 << 20;
/// Letters of a passage.
const PASSAGE_MAX: usize = 1_200;
/// Passages in all; what comes after them bears nothing.
const PASSAGES_MAX: usize = 20_000;
/// Passages that one sentence is compared with.
const TRIED_MAX: usize = 3_000;
/// Passages with all words of a sentence that may say another thing by them before it is borne by none.
const UNLIKE_MAX: usize = 100;
/// Passages of one text that a sentence is compared with which cites it.
const NEAR_MAX: usize = 400;

/// A passage of what is on record.
#[derive(Debug)]
pub(super) struct Passage {
    /// Which text it is of.
    pub(super) text: usize,
    /// As it stands, in small letters.
    pub(super) raw: String,
    /// Where each word and number of it stands first.
    pub(super) places: BTreeMap<String, usize>,
    /// Which of them are names.
    pub(super) names: BTreeSet<String>,
    /// Which of them are numbers by themselves, and no part of a name.
    numbers: BTreeSet<String>,
    is_negative: bool,
    pub(super) manner: Manner,
    /// Whether it is a line of several sentences, each of which is a passage as well.
    pub(super) is_joined: bool,
}

/// Texts in passages, found by the words they hold.
#[derive(Debug, Default)]
pub(super) struct Passages {
    passages: Vec<Passage>,
    /// Titles of the texts, in small letters, their words, and words that say nothing of such a text.
    titles: Vec<(String, BTreeSet<String>, BTreeSet<String>)>,
    /// Of each text, the words of its title, and of its heading where it is no output of a program.
    about: Vec<BTreeSet<String>>,
    /// Of each text, where its passages lie.
    of_text: Vec<Range<usize>>,
    holding: BTreeMap<String, Vec<usize>>,
}

impl Passages {
    /// Takes in a text under its title, and gives its number.
    pub(super) fn add(&mut self, title: &str, text: &str) {
        let of = self.titles.len();
        let mut words: BTreeSet<String> =
            tokens(title).into_iter().chain(parts(title)).map(|token| token.key).collect();
        // What a source is called without saying anything of it.
        let called = match title.split([':', ' ', '/']).next().unwrap_or_default() {
            "fetch" => "server response answered answer returned responded page",
            "command" => "output printed returned script program command",
            _ if title.contains('{') || title.contains('/') => "tool answered returned responded",
            _ => "",
        };
        let called = tokens(called).into_iter().map(|token| token.key).collect();
        let text = clip(text, TEXT_MAX);
        // The first line of a table says what its columns are.
        if [".csv", ".tsv"].iter().any(|end| title.trim_end().ends_with(end)) {
            words.extend(
                text.lines().next().map(tokens).unwrap_or_default().into_iter().map(|token| token.key),
            );
        }
        let mut about = words.clone();
        if let Some(heading) = heading(text).filter(|_| !title.is_empty()) {
            let named = tokens(heading).into_iter().filter(|token| token.kind != Kind::Mark);
            words.extend(named.map(|token| token.key));
        }
        if !title.starts_with("command") {
            about.clone_from(&words);
        }
        self.about.push(about);
        let first = self.passages.len();
        self.titles.push((title.to_lowercase(), words, called));
        for block in text.split("\n\n").filter(|block| is_card(block)) {
            self.passage(of, block, false);
        }
        let mut head = "";
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
            let is_listed = line.starts_with(['-', '*', '•', '+', '|'])
                || (number.len() < line.len() && number.starts_with(['.', ')', ',']));
            if is_listed && !head.is_empty() {
                self.passage(of, &format!("{head} {line}"), false);
            }
            // Of a list in JSON each object is by itself, and of a sentence each part that could stand alone.
            let sentences = bounds(line);
            for sentence in
                sentences.iter().flat_map(|part| part.split("},{")).flat_map(|part| part.split("; "))
            {
                self.passage(of, sentence, false);
            }
            let is_one = !line.contains("},{") && !line.contains("; ");
            if line.len() <= 160 && is_one && sentences.len() > 1 {
                self.passage(of, line, true);
            }
            if !is_listed {
                head = clip(line, 200);
            }
        }
        self.of_text.push(first..self.passages.len());
    }

    fn passage(&mut self, text: usize, words: &str, is_joined: bool) {
        if self.passages.len() >= PASSAGES_MAX {
            return;
        }
        let words = clip(words, PASSAGE_MAX);
        let raw = words.to_lowercase();
        let mut places = BTreeMap::new();
        let mut is_negative = false;
        let mut at = 0;
        let tokens = tokens(words);
        let manner = Manner::of(&tokens, &raw);
        for token in tokens.iter().filter(|token| token.kind != Kind::Mark) {
            is_negative |= is_negation(token);
            let place = raw
                .get(at..)
                .and_then(|rest| rest.find(&token.raw.to_lowercase()))
                .map_or(at, |found| at + found);
            at = place;
            if token.kind == Kind::Exact {
                // What a span holds is found by its parts as well.
                for part in parts(&token.key) {
                    places.entry(part.key).or_insert(place);
                }
                for part in dated(&token.key) {
                    places.entry(part).or_insert(place);
                }
            }
            places.entry(token.key.clone()).or_insert(place);
        }
        let names = tokens.iter().filter(|token| token.kind == Kind::Name).map(|token| token.key.clone());
        let names: BTreeSet<String> = names.collect();
        let numbers = tokens.iter().filter(|token| token.kind == Kind::Number).map(|token| token.key.clone());
        let numbers: BTreeSet<String> = numbers.collect();
        let at = self.passages.len();
        for key in places.keys() {
            self.holding.entry(key.clone()).or_default().push(at);
        }
        self.passages.push(Passage { text, raw, places, names, numbers, is_negative, manner, is_joined });
    }

    /// The passage that holds all that a sentence says, of the texts that `may` be used; nothing else where it `is_exact`.
    pub(super) fn bearing(
        &self,
        said: &[&Token],
        may: &dyn Fn(usize) -> bool,
        is_exact: bool,
    ) -> Option<&Passage> {
        let counts = |token: &&Token| {
            is_content(token)
                && (!holds(GENERIC, &token.raw) || token.raw == "new")
                && !holds(STANDS, &token.raw)
                && token.raw != "one"
        };
        let content: Vec<&Token> = said.iter().copied().filter(counts).collect();
        let is_negative = said.iter().any(|token| is_negation(token));
        let meaning = Meaning::of(said);
        let mut keys: Vec<String> = content.iter().map(|token| token.key.clone()).collect();
        let exact = content.iter().filter(|token| token.kind == Kind::Exact);
        keys.extend(exact.flat_map(|token| parts(&token.key)).map(|part| part.key));
        let mut lists: Vec<&Vec<usize>> = keys.iter().filter_map(|key| self.holding.get(key)).collect();
        lists.sort_by_key(|list| list.len());
        let mut tried = BTreeSet::new();
        let mut unlike = 0;
        for at in lists.into_iter().flatten() {
            if !tried.insert(*at) {
                continue;
            }
            if tried.len() > TRIED_MAX {
                return None;
            }
            let Some(passage) = self.passages.get(*at).filter(|passage| may(passage.text)) else { continue };
            if passage.is_negative == is_negative
                && self.is_borne(&content, passage)
                && (!is_exact || is_whole(said, &passage.raw))
                && meaning.fits(&passage.manner, &passage.raw, &passage.places)
            {
                if is_alike(said, &tokens(&passage.raw)) {
                    return Some(passage);
                }
                unlike += 1;
                if unlike > UNLIKE_MAX {
                    return None;
                }
            }
        }
        None
    }

    fn is_borne(&self, content: &[&Token], passage: &Passage) -> bool {
        let Some((title, title_words, called)) = self.titles.get(passage.text) else { return false };
        let (mut own, mut free, mut last) = (0, 0, 0);
        let is_done = |token: &Token| token.kind == Kind::Word && token.raw.ends_with("ed") && is_past(token);
        // Where two are named, who is what is a matter of order.
        let names = content.iter().filter(|token| token.kind == Kind::Name).count();
        for token in content {
            let place = passage.places.get(&token.key).copied().or_else(|| {
                passage.raw.find(&token.key.to_lowercase()).filter(|_| token.kind == Kind::Exact)
            });
            match place {
                Some(place) => {
                    own += 1;
                    // Names and numbers stand in the order of what they are said of.
                    if names > 1 || matches!(token.kind, Kind::Name | Kind::Number) {
                        if place < last {
                            return false;
                        }
                        last = place;
                    }
                }
                None if called.contains(&token.key) => free += 1,
                // What a tool is asked for was not done by that: `create title="Renew it"`.
                None if is_done(token) && asks(title) && !title.contains(&token.raw) => return false,
                None if title_words.contains(&token.key) => {}
                None if token.kind == Kind::Exact && title.contains(&token.key.to_lowercase()) => {}
                None => return false,
            }
        }
        // What a title says is no more than half of it.
        own > 0 && own * 2 >= content.len() - free
    }

    /// The passages of a text that hold one of these words, as far as they are looked at.
    pub(super) fn near(&self, text: usize, keys: &BTreeSet<String>) -> Vec<&Passage> {
        let Some(range) = self.of_text.get(text) else { return Vec::new() };
        let within = |list: &Vec<usize>| -> Vec<usize> {
            let from = list.partition_point(|at| *at < range.start);
            list.iter().skip(from).take_while(|at| **at < range.end).take(NEAR_MAX).copied().collect()
        };
        let found: BTreeSet<usize> =
            keys.iter().filter_map(|key| self.holding.get(key)).flat_map(within).collect();
        found.into_iter().take(NEAR_MAX).filter_map(|at| self.passages.get(at)).collect()
    }

    /// Whether a text holds something as it is written, and not as a part of a longer name.
    pub(super) fn text_holds(&self, text: usize, exact: &str) -> bool {
        let range = self.of_text.get(text).cloned().unwrap_or_default();
        self.passages
            .get(range)
            .is_some_and(|passages| passages.iter().any(|p| bounded(&p.raw, exact).is_some()))
    }

    /// The title of a text in small letters, what it is about, and words that say nothing of it.
    pub(super) fn title(&self, text: usize) -> (&str, Option<&BTreeSet<String>>, Option<&BTreeSet<String>>) {
        let title = self.titles.get(text);
        (
            title.map_or("", |(title, ..)| title.as_str()),
            self.about.get(text),
            title.map(|(.., called)| called),
        )
    }

    /// Whether one passage holds something as it is written, and that many of these words.
    pub(super) fn joins(&self, exact: &str, words: &[String], least: usize) -> bool {
        let exact = exact.to_lowercase();
        self.passages.iter().any(|passage| {
            passage.raw.contains(&exact)
                && words.iter().filter(|word| passage.places.contains_key(*word)).count() >= least
        })
    }

    /// Whether something stands anywhere as it is written.
    pub(super) fn holds(&self, exact: &str) -> bool {
        let exact = exact.to_lowercase();
        self.titles.iter().any(|(title, ..)| title.contains(&exact))
            || self.passages.iter().any(|p| p.raw.contains(&exact))
    }

    /// Whether a word or number stands anywhere.
    pub(super) fn has(&self, key: &str) -> bool {
        self.holding.contains_key(key) || self.titles.iter().any(|(_, words, _)| words.contains(key))
    }

    /// Whether the title of a text names something.
    pub(super) fn is_titled(&self, text: usize, exact: &str) -> bool {
        self.titles.get(text).is_some_and(|(title, ..)| title.contains(&exact.to_lowercase()))
    }

    /// Whether the title of a text holds a word.
    pub(super) fn titles(&self, text: usize, key: &str) -> bool {
        self.titles.get(text).is_some_and(|(_, words, _)| words.contains(key))
    }

    /// Whether a text holds a number that is no part of a name.
    pub(super) fn text_counts(&self, text: usize, key: &str) -> bool {
        let mut held = self.holding.get(key).into_iter().flatten().filter_map(|at| self.passages.get(*at));
        held.any(|passage| passage.text == text && passage.numbers.contains(key))
    }

    /// Whether a text holds a word or number.
    pub(super) fn text_has(&self, text: usize, key: &str) -> bool {
        let held = self.holding.get(key).into_iter().flatten().filter_map(|at| self.passages.get(*at));
        held.into_iter().any(|passage| passage.text == text) || self.titles(text, key)
    }
}

/// The first line of a text, where it says what the others are about.
fn heading(text: &str) -> Option<&str> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next()?;
    let is_short = first.chars().count() <= 60 && !first.contains([':', ';', '=', '{', '}']);
    let is_sentence = first.contains(". ") || first.ends_with('.');
    (is_short && !is_sentence && lines.next().is_some()).then_some(first)
}

/// Whether a title is of a tool that is asked for something by its arguments.
pub(super) fn asks(title: &str) -> bool {
    title.contains(['"', '{', '=']) && !title.starts_with("command: ")
}

/// Whether all lines of a text are about one thing: a title, and short lines with a name and a value.
fn is_card(block: &str) -> bool {
    let mut lines = block.lines().map(str::trim).filter(|line| !line.is_empty());
    let short = |line: &str| line.chars().count() <= 60;
    let is_titled = lines.next().is_some_and(|title| short(title) && !title.contains(": "));
    let mut rest = lines.peekable();
    is_titled
        && rest.peek().is_some()
        && rest.all(|line| {
            short(line) && line.split_once(": ").is_some_and(|(name, _)| name.split(' ').count() <= 3)
        })
}

/// Where a text in small letters holds something as it is written, and not as a part of a longer name.
pub(super) fn bounded(text: &str, exact: &str) -> Option<usize> {
    let exact = exact.to_lowercase();
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let (opens, closes) = (is_letter(exact.chars().next()), is_letter(exact.chars().next_back()));
    let whole = |(at, _): &(usize, &str)| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        let after = text.get(at + exact.len()..).and_then(|after| after.chars().next());
        let goes_on = (is_word(after) && closes) || (after == Some('/') && exact.contains('/'));
        !((is_word(before) && opens) || goes_on)
    };
    if exact.is_empty() { None } else { text.match_indices(exact.as_str()).find(whole).map(|(at, _)| at) }
}

/// The words of a path, an address or a name in code.
pub(super) fn parts(exact: &str) -> Vec<Token> {
    tokens(&exact.replace(['.', '/', '_', '-', ':', '=', '"', '{', '}', '(', ')'], " "))
}

/// Whether a token says something that could be wrong.
pub(super) fn is_content(token: &Token) -> bool {
    match token.kind {
        Kind::Mark => false,
        Kind::Word => {
            !holds(FUNCTION, &token.raw) && !holds(NEGATIONS, &token.raw) && token.raw.chars().count() > 1
        }
        Kind::Number | Kind::Exact | Kind::Name => true,
    }
}

/// Whether a token turns a sentence into its contrary.
pub(super) fn is_negation(token: &Token) -> bool {
    token.kind == Kind::Word && (holds(NEGATIONS, &token.raw.replace('’', "'")) || token.raw.ends_with("n't"))
}

/// The beginning of a text, not cut within a letter.
pub(super) fn clip(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
