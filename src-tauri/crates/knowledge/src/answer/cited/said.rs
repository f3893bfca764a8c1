//! A sentence that cites, in its parts and phrases, and what of it claims an act of the agent's own.

use super::super::asserts::{is_link, is_past, straight};
use super::super::meaning::is_to_come;
use super::super::passages::{is_content, is_negation, parts};
use super::super::tokens::{Kind, Token, is_path, tokens};
use super::super::verbs::{Family, GENERIC, STANDS, family, holds};
use super::lists::{ADVERBS, BE, LITTLE, SAYS, TELLS};

/// Whether a token says something that a passage could lack.
pub(super) fn counts(token: &Token) -> bool {
    is_content(token)
        && !holds(LITTLE, &token.raw)
        && (!holds(GENERIC, &token.raw) || token.raw == "new")
        && !holds(STANDS, &token.raw)
        && token.raw != "one"
}

/// What a token is looked up by.
pub(super) fn keys(token: &Token) -> Vec<String> {
    let mut keys = vec![token.key.clone()];
    if token.kind == Kind::Exact {
        keys.extend(parts(&token.key).into_iter().map(|part| part.key));
    }
    keys
}

/// The runs of words between little words and marks.
pub(super) fn phrases<'s>(said: &[&'s Token]) -> Vec<Vec<&'s Token>> {
    said.split(|token| !is_content(token)).filter(|run| !run.is_empty()).map(|run| run.to_vec()).collect()
}

/// Whether a word by itself can only be a verb of what is so: `lives in`, `pay the`.
pub(super) fn is_verb(said: &[&Token], token: &Token) -> bool {
    let Some(at) = said.iter().position(|other| std::ptr::eq(*other, token)) else { return false };
    let (Some(before), Some(next)) = (at.checked_sub(1).and_then(|at| said.get(at)), said.get(at + 1)) else {
        return false;
    };
    token.kind == Kind::Word
        && next.kind != Kind::Mark
        && family(&token.raw).is_none()
        && !token.raw.ends_with("ed")
        && !holds("the a an of in on at to for with by from its their your is are was were no", &before.raw)
        && (token.raw.ends_with('s') || holds("the a an", &next.raw))
}

/// Whether a sentence denies something, by what it quotes as well.
pub(super) fn denies(said: &[&Token]) -> bool {
    let quoted = |token: &Token| {
        token.kind == Kind::Exact && token.key.contains(' ') && tokens(&token.key).iter().any(is_negation)
    };
    said.iter().any(|token| is_negation(token) || quoted(token))
}

/// Verbs by which something was done here, if it is nobody else who did: `was sent`, `deleted it`.
pub(super) fn risky<'s>(said: &[&'s Token]) -> Vec<&'s Token> {
    let is_act = |token: &Token| {
        matches!(token.kind, Kind::Word | Kind::Name)
            && family(&token.raw).is_some_and(|family| family != Family::Look)
            && !holds(STANDS, &token.raw)
            && !holds(TELLS, &token.raw)
    };
    let is_ours = |at: usize| {
        let adverb = |token: &&&Token| token.raw.ends_with("ly") || holds(ADVERBS, &token.raw);
        let before = said.iter().take(at).rev().find(|token| !adverb(token));
        before.is_none_or(|before| {
            let raw = straight(&before.raw);
            before.kind == Kind::Mark || holds(BE, &raw) || holds("and or but", &raw)
        })
    };
    let acts =
        said.iter().enumerate().filter(|(at, token)| is_act(token) && is_ours(*at) && !is_to_come(said, *at));
    acts.map(|(_, token)| *token).collect()
}

/// Whether it says when something was done, or by whom: a record of the past may tell of that.
pub(super) fn is_dated(said: &[&Token]) -> bool {
    let told = |pair: &[&Token]| match pair {
        [by, who] if by.raw == "by" => matches!(who.kind, Kind::Name | Kind::Exact),
        [at, when] if holds("on at in since", &at.raw) => {
            when.kind == Kind::Number
                || (when.kind == Kind::Exact
                    && when.raw.contains(|c: char| c.is_ascii_digit())
                    && !is_path(&when.raw))
        }
        _ => false,
    };
    said.windows(2).any(told)
}

/// Whether what a sentence is about is called one of these: `the summary says`.
pub(super) fn is_of(said: &[&Token], called: &'static str) -> bool {
    let verb = |token: &Token| {
        is_link(token) || is_past(token) || holds(SAYS, &token.raw) || holds("has have had", &token.raw)
    };
    let mut subject = said.iter().take_while(|token| !verb(token));
    subject.any(|token| token.kind == Kind::Word && holds(called, &token.raw))
}

/// A sentence in parts that each say something: what is too little to do so belongs to the part before it.
pub(super) fn parts_of<'s>(said: &[&'s Token]) -> Vec<Vec<&'s Token>> {
    let told = |part: &[&Token]| part.iter().filter(|token| counts(token)).count();
    let ends = |token: &&Token| token.kind == Kind::Mark || holds("and but while", &token.raw);
    let all: Vec<&[&'s Token]> = said.split(ends).filter(|part| told(part) > 0).collect();
    let mut parts: Vec<Vec<&'s Token>> = Vec::new();
    for (at, part) in all.iter().enumerate() {
        let is_small = told(part) < 2;
        let next_is = all.get(at + 1).is_some_and(|next| told(next) < 2);
        let last_is = parts.last().is_some_and(|last| told(last) < 2);
        match parts.last_mut().filter(|_| is_small && (!next_is || last_is)) {
            Some(last) => last.extend(part.iter().copied()),
            None => parts.push(part.to_vec()),
        }
    }
    if parts.len() > 1 && parts.first().is_some_and(|first| told(first) < 2) {
        let first = parts.remove(0);
        if let Some(next) = parts.first_mut() {
            let behind = std::mem::replace(next, first);
            next.extend(behind);
        }
    }
    parts
}
