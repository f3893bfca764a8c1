//! What a sentence states although no verb of it claims an act: `the mail is out`, a ticked box, a heading that tells of an
//! end, a question that takes for granted what it does not ask.

use super::passages::{is_content, is_negation};
use super::sentence::Sentence;
use super::tokens::{Kind, Token};
use super::verbs::{FAILED, Family, GENERIC, OTHER, family, family_of_base, holds};
use std::ops::Range;

/// Words that link what is spoken of with what is said of it.
const LINKS: &str =
    "is are was were has have had it's that's there's isn't aren't wasn't weren't hasn't haven't";
/// Little words that say how something stands where they end what is said: `is out`, `off to Bob`.
pub(super) const EDGES: &str = "out off through away over up live on there here back yes no ok okay";
/// Words for an end that is good.
const STATES: &str = "complete completed ready live green fine ok okay successful successfully success well correct right good \
    perfect working done finished confirmed gone safe yes happy";
/// Names of acts, and of what is given for one.
const ACTS: &str = "link confirmation receipt proof delivery payment sending deployment completion publication transfer purchase \
    shipment booking reservation submission upload release dispatch";
/// Words that begin a question.
const ASKS: &str = "would could should shall can may might will do does did is are was were have has want need anything anyone any \
    what which who how when where why whose whom";
/// Words of questions that name something as well, behind a comma.
const NAMES: &str = "what which who how when where why whose whom";
/// Words of headings that tell of nothing.
const TITLES: &str = "summary result results overview details notes status report answer changes next steps what findings tests";
/// Words by which a part of a sentence begins that says something by itself.
pub(super) const PARTS: &str =
    "and but while because which who since so after before when where as although though whereas or";
/// Signs that say that something is done, or well.
const TICKS: [char; 13] = ['✅', '✔', '✓', '☑', '🗸', '👍', '🟢', '💯', '🎉', '🚀', '🏁', '👌', '🆗'];
/// Words of a reach of a negation before a failure.
const DENIAL: usize = 5;

/// Whether a token links what is spoken of with what is said of it.
pub(super) fn is_link(token: &Token) -> bool {
    token.kind != Kind::Exact && holds(LINKS, &straight(&token.raw))
}

/// Whether a token is a verb in the past.
pub(super) fn is_past(token: &Token) -> bool {
    let raw = token.raw.as_str();
    matches!(token.kind, Kind::Word | Kind::Name)
        && ((raw.len() > 4 && raw.ends_with("ed") && !holds("need indeed based related", raw))
            || family(raw).is_some()
            || holds(OTHER, raw))
}

/// Little words that say how something stands.
pub(super) fn edges<'s>(said: &[&'s Token]) -> Vec<&'s Token> {
    let near = |at: usize| said.get(at).copied();
    (0..said.len()).filter(|at| is_edge(*at, &near)).filter_map(near).collect()
}

/// Whether a little word says how something stands.
fn is_edge<'s>(at: usize, near: &dyn Fn(usize) -> Option<&'s Token>) -> bool {
    const VERBS: &str = "carry point figure find work log sign turn set sort check run back clean fill speed switch shut start \
        give bring take send hand go move put";
    let little = |token: &Token| !matches!(token.kind, Kind::Mark | Kind::Exact) && holds(EDGES, &token.raw);
    if !near(at).is_some_and(little) {
        return false;
    }
    let ends =
        near(at + 1).is_none_or(|next| next.kind == Kind::Mark || holds("to with by now already", &next.raw));
    let verbal = |token: &Token| {
        token.kind == Kind::Word && (is_past(token) || token.raw.ends_with("ing") || holds(VERBS, &token.raw))
    };
    ends && !at.checked_sub(1).and_then(near).is_some_and(verbal)
}

/// The kind of act that a word names as something that went on: `closing`, `writing`.
pub(super) fn gerund(raw: &str) -> Option<Family> {
    let base = raw.strip_suffix("ing").filter(|_| raw.len() > 5)?;
    let mut last = base.chars().rev();
    let twice = last.next().is_some_and(|end| last.next() == Some(end));
    family_of_base(raw)
        .or_else(|| family_of_base(base))
        .or_else(|| family_of_base(&format!("{base}e")))
        .or_else(|| {
            let end = base.char_indices().next_back().filter(|_| twice)?.0;
            family_of_base(base.get(..end)?)
        })
}

/// Whether a text holds a sign that something is done.
pub(super) fn is_ticked(text: &str) -> bool {
    text.contains(TICKS) || text.contains("[x]") || text.contains("[X]")
}

/// Whether a text holds a picture for a word.
pub(super) fn is_pictured(text: &str) -> bool {
    text.chars().any(|c| {
        matches!(c, '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}' | '\u{221a}')
    })
}

/// With straight apostrophes.
pub(super) fn straight(raw: &str) -> String {
    raw.replace('\u{2019}', "'")
}

impl Sentence {
    /// Whether a token states something.
    pub(super) fn asserts(&self, at: usize) -> bool {
        let Some(token) = self.tokens.get(at) else { return false };
        if matches!(token.kind, Kind::Mark | Kind::Exact | Kind::Number) {
            return false;
        }
        let yours =
            at.checked_sub(1).and_then(|at| self.tokens.get(at)).is_some_and(|token| token.raw == "you");
        is_link(token)
            || holds("went got did", &token.raw)
            || is_good(token)
            || (is_past(token) && !yours)
            || is_edge(at, &|at| self.tokens.get(at))
    }

    /// Whether it states something, although it asks, offers or announces.
    pub(super) fn states(&self) -> bool {
        let leads = ["can", "may", "could", "should", "will", "might"];
        let words = self.tokens.iter().filter(|token| token.kind != Kind::Mark);
        let mut first = words.map(|token| token.raw.as_str());
        let to_you = first.next() == Some("you") && first.next().is_some_and(|word| leads.contains(&word));
        if to_you && self.has("find see view open download access read visit") {
            return true;
        }
        let beside =
            |at: usize| at > 0 && self.tokens.get(at - 1).is_some_and(|token| token.kind == Kind::Mark);
        let told = |(at, token): (usize, &Token)| {
            holds("who which where", &token.raw) && beside(at) && at + 1 < self.tokens.len()
        };
        if self.tokens.iter().enumerate().any(told) {
            return true;
        }
        let skipped = match (self.tokens.first(), self.tokens.get(1)) {
            (Some(here), Some(is)) if here.raw == "here" && is_link(is) => 2,
            (Some(here), _) if straight(&here.raw) == "here's" => 1,
            _ => 0,
        };
        self.states_from(skipped)
    }

    /// The words behind what presents something, or from the first: what is asked or supposed states nothing.
    fn states_from(&self, skipped: usize) -> bool {
        let mut free = false;
        for (at, token) in self.tokens.iter().enumerate().skip(skipped) {
            let before = at.checked_sub(1).and_then(|before| self.tokens.get(before));
            let is_before = |words: &'static str| before.is_some_and(|before| holds(words, &before.raw));
            let is_cut = before.is_some_and(|before| before.kind == Kind::Mark);
            let raw = straight(&token.raw);
            let begins = before.is_none() || is_cut || is_before("and or but then so");
            if token.kind == Kind::Exact {
                continue;
            }
            if token.kind == Kind::Mark {
                free = false;
            } else if holds("if whether unless how what why", &raw)
                || (holds("when where", &raw) && !is_cut)
                || (begins && skipped == 0 && holds(ASKS, &raw) && !(is_cut && holds(NAMES, &raw)))
                || (holds("which who", &raw) && is_before("know tell say see ask decide choose check"))
            {
                free = true;
            } else if at > 0
                && holds("that which who as since because while so now but and", &raw)
                && !(raw == "that" && is_before("if whether when what"))
            {
                free &= raw == "and";
            } else if !free && (self.asserts(at) || (skipped > 0 && holds(ACTS, &raw))) {
                return true;
            }
        }
        false
    }

    /// Whether a heading tells how something ended.
    pub(super) fn titles(&self) -> bool {
        let all: Vec<&Token> = self.tokens.iter().collect();
        let asserted = (0..all.len()).any(|at| self.asserts(at));
        let names = |(at, token): (usize, &Token)| {
            is_content(token)
                && !self.asserts(at)
                && !holds(GENERIC, &token.raw)
                && !holds(TITLES, &token.raw)
        };
        (asserted && self.tokens.iter().enumerate().any(names))
            || !edges(&all).is_empty()
            || all.iter().any(|token| token.kind != Kind::Exact && is_good(token) && !is_past(token))
    }

    /// Its parts that say something each, by their places.
    pub(super) fn clauses(&self) -> Vec<Range<usize>> {
        let mut clauses = Vec::new();
        let mut from = 0;
        for (at, token) in self.tokens.iter().enumerate() {
            if token.kind == Kind::Mark || (token.kind == Kind::Word && holds(PARTS, &token.raw)) {
                clauses.push(from..at);
                from = at + 1;
            }
        }
        clauses.push(from..self.tokens.len());
        clauses.retain(|clause| !clause.is_empty());
        clauses
    }

    /// `ran successfully`.
    pub(super) fn ran_well(&self) -> bool {
        self.has("successfully successful cleanly")
            && self.tokens.iter().any(|token| holds("ran runs run completed finished ended", &token.raw))
    }

    /// `no test fails`, `0 failures`.
    pub(super) fn denies_failure(&self) -> bool {
        let denied = |at: usize| {
            let near = self.tokens.iter().take(at).rev().take(DENIAL);
            let mut near = near.take_while(|token| token.kind != Kind::Mark);
            near.any(|token| is_negation(token) || (token.kind == Kind::Number && token.key == "0"))
        };
        let fails = |token: &Token| holds("failed fails fail failing failure failures", &token.raw);
        self.tokens.iter().enumerate().any(|(at, token)| fails(token) && denied(at))
    }

    /// Whether it says that something failed.
    pub(super) fn fails(&self) -> bool {
        let could_not =
            |pair: &[Token]| matches!(pair, [could, not] if could.raw == "could" && not.raw == "not");
        self.has(FAILED) || self.tokens.windows(2).any(could_not)
    }
}

/// Whether a word says that an end is good.
pub(super) fn is_good(token: &Token) -> bool {
    holds(STATES, &token.raw)
}
