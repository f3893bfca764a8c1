//! Numbers of a sentence that cites: each is said of what the passage says it of.

use super::super::passages::{Passage, is_content};
use super::super::tokens::{Kind, Token};
use super::super::verbs::holds;
use super::lists::NUMBERED;

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
    !numbers.any(|(at, number)| mislabels(at, number) || !counts_it(said, at, number, own, passage))
        && !leaps(said, own, passage)
}

/// Whether what stands behind a number in the sentence is not counted by another one in the passage.
fn counts_it(said: &[&Token], at: usize, number: &Token, own: &[Token], passage: &Passage) -> bool {
    let next = said.get(at + 1).filter(|next| next.kind == Kind::Word && is_content(next));
    let Some(next) = next.filter(|next| passage.places.contains_key(&next.key)) else { return true };
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
