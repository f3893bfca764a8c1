//! Numbers of a sentence that cites: each is said of what the passage says it of.

use super::super::asserts::is_past;
use super::super::passages::{Passage, is_content};
use super::super::tokens::{Kind, Token, tokens};
use super::super::verbs::holds;
use super::lists::NUMBERED;
use super::said::is_verb;

/// Whether each number counts in a passage what it counts in the sentence. `own` is the passage in its tokens.
pub(super) fn numbered(said: &[&Token], own: &[Token], passage: &Passage) -> bool {
    let first = first_number(&passage.raw);
    let numbers = said.iter().enumerate().filter(|(_, token)| token.kind == Kind::Number);
    let mislabels = |at: usize, number: &Token| {
        let label = at.checked_sub(1).and_then(|at| said.get(at));
        let is_named =
            |label: &&&Token| holds(NUMBERED, &label.raw) && !passage.places.contains_key(&label.key);
        label.filter(is_named).is_some() && first.as_deref() != Some(number.key.as_str())
    };
    let mut numbers = numbers.map(|(at, number)| (at, *number));
    !numbers.any(|(at, number)| mislabels(at, number) || !counts_it(said, at, number, own))
        && !leaps(said, own, passage)
}

/// Whether nothing that a sentence counts is counted by another number alone in the passage.
pub(super) fn counts_alike(said: &[&Token], own: &[Token]) -> bool {
    let mut numbers = said.iter().enumerate().filter(|(_, token)| token.kind == Kind::Number);
    numbers.all(|(at, number)| counts_it(said, at, number, own))
}

/// Whether what stands behind a number in the sentence is not counted by another one in the passage.
fn counts_it(said: &[&Token], at: usize, number: &Token, own: &[Token]) -> bool {
    let next = said.get(at + 1).filter(|next| next.kind == Kind::Word && is_content(next));
    let Some(next) = next.filter(|next| own.iter().any(|token| token.key == next.key)) else { return true };
    let is_it = |token: &Token| token.kind == Kind::Number && token.key == number.key;
    let counted = |(at, token): (usize, &Token)| {
        is_it(token) && own.iter().skip(at + 1).take(2).any(|behind| behind.key == next.key)
    };
    let mut places = own.iter().enumerate().filter(|(_, token)| token.key == next.key);
    let is_free = places.all(|(at, _)| {
        let mut near = own.iter().take(at).rev().take(2);
        !near.any(|token| token.kind == Kind::Number)
    });
    is_free || !own.iter().any(is_it) || own.iter().enumerate().any(counted)
}

/// The words of a passage with those that it quotes.
fn spelled(own: &[Token]) -> Vec<Token> {
    let one = |token: &Token| match token.kind {
        Kind::Exact if token.key.contains(' ') => tokens(&token.key),
        _ => vec![token.clone()],
    };
    own.iter().flat_map(one).collect()
}

/// Words between what a number is called by and the number.
const LABEL: usize = 3;

/// Whether a number that the sentence calls by a word is called so in the passage, where that calls another one by it: `due on the
/// 27th`, of `on leave on the 27th, due on the 26th`.
pub(super) fn labels_alike(said: &[&Token], own: &[Token]) -> bool {
    let is_number = |token: &Token| {
        token.kind == Kind::Number
            || (token.kind == Kind::Exact && token.key.starts_with(|c: char| c.is_ascii_digit()))
    };
    let own = spelled(own);
    // What stands behind a word and little words, where that is a number.
    let behind = |at: usize| {
        let near = own.iter().skip(at + 1).take(LABEL);
        near.take_while(|token| token.kind != Kind::Mark)
            .find(|token| is_content(token))
            .filter(|it| is_number(it))
    };
    said.iter().enumerate().filter(|(_, token)| is_number(token)).all(|(at, number)| {
        let near = said.iter().take(at).rev().take(LABEL);
        let label = near.take_while(|token| token.kind != Kind::Mark).find(|token| is_content(token));
        let is_name = |label: &&&Token| label.kind == Kind::Word && !is_verb(said, label);
        let Some(label) = label.filter(is_name) else { return true };
        let called = own.iter().enumerate().filter(|(_, token)| token.key == label.key);
        let mut called = called.filter_map(|(at, _)| behind(at)).peekable();
        called.peek().is_none() || called.any(|other| other.key == number.key)
    })
}

/// Whether a sentence puts two numbers beside each other between which a sentence of the passage has a third: `from 21 in 2021 to
/// 17 in 2023`.
fn leaps(said: &[&Token], own: &[Token], passage: &Passage) -> bool {
    if !passage.manner.is_prose() {
        return false;
    }
    let numbers: Vec<&str> =
        own.iter().filter(|token| token.kind == Kind::Number).map(|token| token.key.as_str()).collect();
    let is_there = |token: &&&Token| token.kind == Kind::Number && numbers.contains(&token.key.as_str());
    let told: Vec<&str> = said.iter().filter(is_there).map(|token| token.key.as_str()).collect();
    told.windows(2).any(|pair| match pair {
        [one, other] => {
            let from = numbers.iter().position(|number| number == one).unwrap_or_default();
            numbers.iter().skip(from).position(|number| number == other).is_some_and(|far| far > 1)
        }
        _ => false,
    })
}

/// Letters by which two words begin that may count the same: `2 fail`, of `2 failures`.
const UNIT_MIN: usize = 4;

/// Whether the passage says of a number what it counts wherever it has it, and that is another thing: `48 seconds`.
pub(super) fn counts_other(number: &Token, next: &Token, own: &[Token]) -> bool {
    let is_it = |other: &Token| {
        let same = next.key.bytes().zip(other.key.bytes()).take_while(|(one, two)| one == two).count();
        same >= UNIT_MIN
    };
    let behind = |at: usize| own.get(at + 1).filter(|unit| is_content(unit) && unit.kind == Kind::Word);
    let mut places = places_of(number, own).peekable();
    places.peek().is_some() && places.all(|at| behind(at).is_some_and(|unit| !is_it(unit)))
}

/// Whether the passage calls a number by a word that the sentence lacks: `building 4`, of `room 4`.
pub(super) fn is_called_otherwise(said: &[&Token], number: &Token, own: &[Token]) -> bool {
    let is_other = |label: &Token| {
        label.kind == Kind::Word
            && is_content(label)
            && !is_past(label)
            && !said.iter().any(|token| token.key == label.key)
    };
    let before = |at: usize| at.checked_sub(1).and_then(|at| own.get(at));
    let mut places = places_of(number, own).peekable();
    places.peek().is_some() && places.all(|at| before(at).is_some_and(is_other))
}

/// Whether each number is as much a bound in the sentence as in the passage: `up to 6`, `over 20`.
pub(super) fn bounds_alike(said: &[&Token], own: &[Token]) -> bool {
    let own_words: Vec<&str> = own.iter().map(|token| token.raw.as_str()).collect();
    let words: Vec<&str> = said.iter().map(|token| token.raw.as_str()).collect();
    let numbers = said.iter().enumerate().filter(|(_, token)| token.kind == Kind::Number);
    let mut numbers = numbers.map(|(at, number)| (at, *number));
    numbers.all(|(at, number)| {
        let mut places = places_of(number, own).peekable();
        places.peek().is_none() || places.any(|place| bound(&own_words, place) == bound(&words, at))
    })
}

/// Which bound a number is, by the two words before it.
fn bound(words: &[&str], at: usize) -> Option<bool> {
    let near = words.get(at.saturating_sub(2)..at).unwrap_or_default();
    // `93 over 12 runs` is no bound.
    if near.first().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit())) {
        return None;
    }
    let any = |list: &'static str| near.iter().any(|word| holds(list, word));
    if any("under below") || near == ["up", "to"] || near == ["at", "most"] {
        return Some(true);
    }
    (any("over above beyond exceeding") || near == ["at", "least"]).then_some(false)
}

/// Whether what something is `per` is so in the passage, where that says it of anything.
pub(super) fn per_alike(said: &[&Token], own: &[Token]) -> bool {
    let of: Vec<&str> = own
        .windows(2)
        .filter_map(|pair| match pair {
            [per, what] if per.raw == "per" => Some(what.key.as_str()),
            _ => None,
        })
        .collect();
    let is_other =
        |pair: &[&Token]| matches!(pair, [per, what] if per.raw == "per" && !of.contains(&what.key.as_str()));
    of.is_empty() || !said.windows(2).any(is_other)
}

/// Where a passage has a number.
fn places_of<'t>(number: &'t Token, own: &'t [Token]) -> impl Iterator<Item = usize> + 't {
    let all = own.iter().enumerate();
    all.filter(move |(_, token)| token.kind == Kind::Number && token.key == number.key).map(|(at, _)| at)
}

/// The first number of a passage that is no part of a name.
fn first_number(raw: &str) -> Option<String> {
    let is_name = |word: &&str| {
        let mut pairs = word.as_bytes().windows(2);
        pairs.any(|pair| matches!(pair, [a, b] if a.is_ascii_alphabetic() && b.is_ascii_digit()))
    };
    let digit = |c: char| c.is_ascii_digit();
    let mut words = raw.split_whitespace().filter(|word| !is_name(word));
    let word = words.find(|word| word.contains(digit))?;
    let from = word.get(word.find(digit)?..)?;
    let number: String = from.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    Some(number.trim_end_matches('.').to_owned())
}
