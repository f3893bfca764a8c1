//! Sentences of a form by which one record alone bears them, whatever verb they have: what it has word for word, how much it lists, and
//! a thing with its details.

use super::super::passages::{bounded, is_content, is_negation};
use super::super::tokens::{Kind, Token, tokens};
use super::super::verbs::{UNIVERSAL, family, holds};
use super::super::{Deed, ended_well};
use super::lists::WEIGHTY;
use super::{Held, Judge, Proof, has, shortened};

/// Letters from which a quotation is one that tells a record.
const QUOTED_MIN: usize = 8;
/// Words around what an error says that add nothing to it.
const OF_ERROR: &str = "error errors message reason failing failed assertion stopped aborted ended gave panicked reported says said";
/// Words around a count that add nothing to it.
const OF_LIST: &str = "file files entry entries item items folder directory start beginning list held contained contains lists held total";
/// Lines of a record that is about one thing.
const CARD_MAX: usize = 16;
/// Letters of such a line.
const CARD_LINE: usize = 90;

impl Judge<'_, '_> {
    /// What bears a sentence by its form.
    pub(super) fn formed(&self, said: &[&Token], is_first_person: bool) -> Option<Vec<Proof>> {
        let weighs = |token: &&Token| holds(WEIGHTY, &token.raw) || holds(UNIVERSAL, &token.raw);
        if is_first_person
            || said.iter().any(|token| is_negation(token))
            || said.iter().any(|token| weighs(token))
        {
            return None;
        }
        let mut records = self.records.iter().enumerate();
        records.find_map(|(at, held)| {
            let quote = self
                .quotes(held, said)
                .or_else(|| self.lists(held, said))
                .or_else(|| self.details(held, said))?;
            Some(vec![Proof { record: at, text: held.texts.first().copied(), quote }])
        })
    }

    /// `The error was "no space left"`: what failed printed these words, and what else is said of it stands there as well.
    fn quotes(&self, held: &Held, said: &[&Token]) -> Option<String> {
        let quoted: Vec<&&Token> = said
            .iter()
            .filter(|token| {
                token.kind == Kind::Exact && token.key.contains(' ') && token.key.len() >= QUOTED_MIN
            })
            .collect();
        let source = self.source(held)?;
        let failed = self.deeds(held).any(|deed| !ended_well(deed));
        let text = source.text.to_lowercase();
        let is_there = |token: &&&Token| bounded(&text, &token.key).is_some();
        let rest =
            |token: &&&Token| is_content(token) && !quoted.iter().any(|quote| std::ptr::eq(**quote, **token));
        let is_told = |token: &&Token| {
            (token.kind == Kind::Word && holds(OF_ERROR, &token.raw)) || self.has_in(held, token)
        };
        let is_all = !quoted.is_empty()
            && failed
            && quoted.iter().all(is_there)
            && said.iter().filter(rest).all(is_told);
        let line = source
            .text
            .lines()
            .find(|line| quoted.iter().any(|quote| bounded(&line.to_lowercase(), &quote.key).is_some()));
        line.filter(|_| is_all).map(shortened)
    }

    /// `The folder held five files`: a listing of that many names.
    fn lists(&self, held: &Held, said: &[&Token]) -> Option<String> {
        let deed = self.deeds(held).find(|deed| ended_well(deed))?;
        let [program, arguments @ ..] = deed.argv.as_slice() else { return None };
        let source = self.source(held)?;
        // Of one folder, a name in each line.
        if program != "ls" || arguments.iter().filter(|word| !word.starts_with('-')).count() != 1 {
            return None;
        }
        let is_long = arguments.iter().any(|word| word.starts_with('-'));
        let names: Vec<&str> = source.text.lines().filter(|line| !line.trim().is_empty()).collect();
        let numbers: Vec<&&Token> = said.iter().filter(|token| token.kind == Kind::Number).collect();
        let [number] = numbers.as_slice() else { return None };
        let counted = said.iter().skip_while(|token| !std::ptr::eq(**token, **number)).nth(1)?;
        let ending = names.iter().filter_map(|name| name.rsplit_once('.')).filter(|(_, end)| {
            let end = end.to_lowercase();
            counted.raw.trim_end_matches('s') == end
        });
        let how_many = if holds("files entries items", &counted.raw) { names.len() } else { ending.count() };
        let is_told = |token: &&&Token| {
            token.kind == Kind::Number
                || (token.kind == Kind::Word && holds(OF_LIST, &token.raw))
                || std::ptr::eq(**token, *counted)
                || arguments
                    .iter()
                    .any(|word| bounded(&word.to_lowercase(), &token.key.to_lowercase()).is_some())
        };
        let fits = !is_long && how_many > 0 && number.key == how_many.to_string();
        let mut content = said.iter().filter(|token| is_content(token));
        (fits && content.all(|token| is_told(&token))).then(|| shortened(&names.join(", ")))
    }

    /// `No. 2390 – desk lamp, €75.40, due 8 November`: each piece is all of it in one line of a record that is about one thing.
    fn details(&self, held: &Held, said: &[&Token]) -> Option<String> {
        if !held.deeds.is_empty() {
            return None;
        }
        let source = self.source(held)?;
        let lines: Vec<&str> = source.text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        if !is_card(&lines) || said.iter().any(|token| super::super::asserts::is_link(token)) {
            return None;
        }
        if has(said, "will would should could might may if or not to from") || said.iter().any(|t| acts(t)) {
            return None;
        }
        let titled = tokens(&source.title.replace(['/', '.', '_', '-'], " "));
        let words: Vec<Vec<Token>> = lines.iter().map(|line| tokens(line)).collect();
        let is_in = |line: &[Token], piece: &[&Token]| {
            let mut from = 0;
            piece.iter().filter(|token| is_content(token)).all(|token| {
                let found = line.iter().skip(from).position(|other| other.key == token.key);
                let is_named = token.kind == Kind::Word || token.kind == Kind::Name;
                match found {
                    Some(at) => {
                        from += at;
                        true
                    }
                    None => is_named && titled.iter().any(|other| other.key == token.key),
                }
            })
        };
        let pieces: Vec<&[&Token]> = said
            .split(|token| token.kind == Kind::Mark)
            .filter(|piece| piece.iter().any(|token| is_content(token)))
            .collect();
        let held_by = |piece: &&[&Token]| words.iter().position(|line| is_in(line, piece));
        let found: Option<Vec<usize>> = pieces.iter().map(held_by).collect();
        let found = found.filter(|found| found.len() > 1)?;
        let mut at: Vec<usize> = found;
        at.dedup();
        let told: Vec<&str> = at.iter().filter_map(|at| lines.get(*at).copied()).collect();
        Some(shortened(&told.join("; ")))
    }

    fn source(&self, held: &Held) -> Option<&super::Source> {
        held.texts.first().and_then(|text| self.checker.record.sources.get(*text))
    }

    fn deeds(&self, held: &Held) -> impl Iterator<Item = &Deed> {
        held.deeds.iter().filter_map(|at| self.checker.record.deeds.get(*at))
    }

    /// Whether what was asked for or came of it has a word, number or name.
    fn has_in(&self, held: &Held, token: &Token) -> bool {
        let all = self.checker;
        let texts = |text: &usize| {
            if token.kind == Kind::Exact {
                all.seen.text_holds(*text, &token.key)
            } else {
                all.seen.text_has(*text, &token.key)
            }
        };
        held.deeds.iter().any(|deed| all.deeds.text_has(*deed, &token.key)) || held.texts.iter().any(texts)
    }
}

/// Whether a token claims an act.
fn acts(token: &Token) -> bool {
    token.kind != Kind::Exact && family(&token.raw).is_some()
}

/// Whether the lines of a text are about one thing: a name and its value in most, no name twice, and no list.
fn is_card(lines: &[&str]) -> bool {
    let mut labels: Vec<&str> =
        lines.iter().filter_map(|line| line.split_once(": ")).map(|(label, _)| label).collect();
    let all = labels.len();
    labels.sort_unstable();
    labels.dedup();
    let is_short = |line: &&str| line.chars().count() <= CARD_LINE;
    let is_listed = |line: &&str| {
        line.starts_with(['-', '*', '|', '+', '#', '{', '['])
            || line.split_once(' ').is_some_and(|(first, _)| first.ends_with(['.', ')']) && first.len() < 4)
    };
    lines.len() <= CARD_MAX
        && all >= 2
        && labels.len() == all
        && lines.iter().all(is_short)
        && !lines.iter().any(is_listed)
}
