//! Who is on which side of what a sentence that cites says, and within which limits it holds.

use super::super::asserts::is_past;
use super::super::passages::is_content;
use super::super::tokens::{Kind, Token};
use super::super::verbs::holds;
use super::lists::AILS;
use super::numbers::{bounds_alike, counts_alike, labels_alike, per_alike};
use super::said::denies;
use std::collections::BTreeSet;

/// Words behind which stands what limits a denial.
const LIMITS: &str = "after before until within without except beyond during";
/// Words among which who did something is named behind `by`.
const AGENT: usize = 5;

/// Whether a passage that has the words of a sentence has them on the same sides, and within the same bounds.
pub(in super::super) fn is_alike(said: &[&Token], own: &[Token]) -> bool {
    bounds_alike(said, own)
        && per_alike(said, own)
        && counts_alike(said, own)
        && labels_alike(said, own)
        && !counts_none(said, own)
        && !ails(said, own)
        && compares_alike(said, own)
        && acts_alike(said, own)
        && (!denies(said) || limits_alike(said, own))
}

/// Whether there is none in the passage of what the sentence tells of: `the failures are in a.rs`, of `6 examples, 0 failures`.
fn counts_none(said: &[&Token], own: &[Token]) -> bool {
    let is_none = |pair: &[Token]| match pair {
        [zero, what] => {
            zero.kind == Kind::Number
                && zero.key == "0"
                && what.kind == Kind::Word
                && is_content(what)
                && said.iter().any(|token| token.key == what.key)
        }
        _ => false,
    };
    !denies(said)
        && !said.iter().any(|token| token.kind == Kind::Number && token.key == "0")
        && own.windows(2).any(is_none)
        && !said.iter().any(|token| token.kind == Kind::Number)
}

/// Whether a sentence tells of a fault, and the passage of none: `has a syntax error`, of `syntax is ok`.
fn ails(said: &[&Token], own: &[Token]) -> bool {
    let fault = |token: &Token| {
        let raw = token.raw.to_lowercase();
        AILS.split_whitespace().any(|word| raw.contains(word))
    };
    let told = |token: &&&Token| token.kind == Kind::Word && fault(token);
    said.iter().filter(told).count() > 0 && !denies(said) && !own.iter().any(fault)
}

/// Whether what is compared stands on the side of `than` on which the passage has it.
fn compares_alike(said: &[&Token], own: &[Token]) -> bool {
    let (Some(at), Some(place)) =
        (said.iter().position(|token| token.raw == "than"), own.iter().position(|token| token.raw == "than"))
    else {
        return true;
    };
    let keys =
        |tokens: &[Token]| -> BTreeSet<String> { tokens.iter().map(|token| token.key.clone()).collect() };
    let (before, behind) = own.split_at(place);
    let (before, behind) = (keys(before), keys(behind));
    let crosses = |(index, token): (usize, &&Token)| {
        let (own, other) = if index < at { (&before, &behind) } else { (&behind, &before) };
        is_content(token) && other.contains(&token.key) && !own.contains(&token.key)
    };
    !said.iter().enumerate().any(crosses)
}

/// Whether who is said to have done something is not who had it done to them: `A replaced it`, of `A was replaced by B`.
fn acts_alike(said: &[&Token], own: &[Token]) -> bool {
    let is_done = |verb: &Token| verb.kind == Kind::Word && is_past(verb) && is_content(verb);
    let is_who =
        |who: &Token| matches!(who.kind, Kind::Word | Kind::Name) && is_content(who) && !is_past(who);
    let turns = |pair: &[&Token]| match pair {
        [who, verb] if is_done(verb) && is_who(who) => {
            own.windows(2).enumerate().any(|(at, passive)| match passive {
                [link, done] if holds("is are was were", &link.raw) && done.key == verb.key => {
                    let behind = own.iter().skip(at + 2);
                    let mut agent = behind.skip_while(|token| token.raw != "by").take(AGENT);
                    !agent.any(|token| token.key == who.key)
                }
                _ => false,
            })
        }
        _ => false,
    };
    !said.windows(2).any(turns)
}

/// Whether what is denied within limits is not denied without one: `no refunds`, of `no refunds after 14 days`.
fn limits_alike(said: &[&Token], own: &[Token]) -> bool {
    let limits = own.iter().filter(|token| token.kind == Kind::Word && holds(LIMITS, &token.raw));
    let mut limits = limits.peekable();
    limits.peek().is_none() || limits.any(|limit| said.iter().any(|token| token.raw == limit.raw))
}
