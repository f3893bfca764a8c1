//! What a passage has to say beside the words of a sentence, so that it says the same: nothing that is only planned is told as
//! done, nothing that holds for some as for all, nothing with an `if` without it.

use super::asserts::{EDGES, edges, is_link, is_past, straight};
use super::passages::is_content;
use super::tokens::{Kind, Token, stem};
use super::verbs::holds;
use std::collections::{BTreeMap, BTreeSet};

/// Words of what is still to come.
const MODALS: &str = "will shall should must would to todo";
/// Words under which something holds, or may hold: who leaves one out says more than was seen.
const HEDGES: &str = "only if unless would should could might must overdue pending planned todo proposed maybe perhaps almost \
    nearly unable until expected tried attempted";
/// Words that say that it holds for all of them.
const ALL: &str = "all every each everything everyone everybody entire always";
/// What in a passage says so, or of how many.
const COUNTS: &str = "all every each everything everyone everybody entire always both any only no none";
/// Words by which something has something.
const HAVE: &str = "has have had hasn't haven't hadn't";
/// Other words by which it does.
const HOLDS: &str = "with contains includes holds owns of";
/// Words of prose: a line without one is a name and a value, and says `is` by its form.
const PROSE: &str = "the a an of to by for we i it will";
/// All that is kept of a passage's words as they stand.
const KEPT: [&str; 9] = [
    MODALS,
    HEDGES,
    COUNTS,
    HAVE,
    HOLDS,
    PROSE,
    EDGES,
    "just be it's that's there's isn't aren't wasn't weren't",
    "is are was were",
];

/// What a passage says by its little words.
#[derive(Debug, Default)]
pub(super) struct Manner {
    words: BTreeSet<String>,
    /// What it says of something by `is` and a verb in the past.
    done: Option<String>,
    /// A name and its value, a row, a line of a list.
    is_structured: bool,
}

impl Manner {
    pub(super) fn of(tokens: &[Token], raw: &str) -> Self {
        let mut words = BTreeSet::new();
        for token in tokens.iter().filter(|token| token.raw.len() <= 12) {
            let word = straight(&token.raw);
            if KEPT.iter().any(|list| holds(list, &word)) {
                words.insert(word);
            }
        }
        let done = tokens
            .windows(2)
            .find(|pair| matches!(pair, [link, done] if is_link(link) && is_past(done) && is_content(done)));
        Self {
            words,
            done: done.and_then(|pair| pair.last()).map(|done| done.key.clone()),
            is_structured: raw.contains(": ")
                || raw.ends_with(':')
                || raw.contains(['=', '|', '–', '—'])
                || raw.starts_with("- ")
                || raw.contains(" - "),
        }
    }

    /// Whether it is said in a sentence.
    pub(super) fn is_prose(&self) -> bool {
        self.any(PROSE) && !self.is_structured
    }

    fn any(&self, list: &str) -> bool {
        list.split_whitespace().any(|word| self.words.contains(word))
    }
}

/// What a sentence says by its little words.
pub(super) struct Meaning<'s> {
    raws: BTreeSet<&'s str>,
    keys: BTreeSet<&'s str>,
    edges: Vec<&'s Token>,
    pasts: Vec<&'s Token>,
    /// Verbs of what has yet to be done: `should be replaced`.
    to_come: Vec<&'s Token>,
    is_of_all: bool,
    is_linked: bool,
    /// A verb in the past, or of what goes on.
    is_act: bool,
    /// `has`, and nothing that was done.
    owns: bool,
    /// `there is`, `is to`.
    is_open: bool,
}

impl<'s> Meaning<'s> {
    pub(super) fn of(said: &[&'s Token]) -> Self {
        let next = |at: usize| said.get(at + 1).copied();
        let owns = |(at, token): (usize, &&'s Token)| {
            token.kind != Kind::Exact
                && holds(HAVE, &straight(&token.raw))
                && !next(at).is_some_and(|next| is_past(next) || holds("been not to no", &next.raw))
        };
        let opens = |(at, token): (usize, &&'s Token)| {
            token.raw == "there" || (is_link(token) && next(at).is_some_and(|next| next.raw == "to"))
        };
        Self {
            raws: said.iter().map(|token| token.raw.as_str()).collect(),
            keys: said.iter().map(|token| token.key.as_str()).collect(),
            edges: edges(said),
            pasts: said
                .iter()
                .enumerate()
                .filter(|(at, token)| is_past(token) && is_content(token) && !is_to_come(said, *at))
                .map(|(_, token)| *token)
                .filter(|token| !holds("planned scheduled expected proposed", &token.raw))
                .collect(),
            to_come: (0..said.len())
                .filter(|at| is_to_come(said, *at))
                .filter_map(|at| said.get(at))
                .copied()
                .collect(),
            is_of_all: said.iter().any(|token| token.kind == Kind::Word && holds(ALL, &token.raw)),
            is_linked: said.iter().any(|token| is_link(token)),
            is_act: said.iter().any(|token| is_past(token) || token.raw.ends_with("ing")),
            owns: said.iter().enumerate().any(owns),
            is_open: said.iter().enumerate().any(opens),
        }
    }

    /// Whether a passage with these words, as they stand and by their places, says so.
    pub(super) fn fits(&self, manner: &Manner, raw: &str, places: &BTreeMap<String, usize>) -> bool {
        let links =
            "is are was were has have had it's that's there's isn't aren't wasn't weren't hasn't haven't";
        let is_planned = manner.any(MODALS);
        // `orders` and `order the` are no `ordered`, and `approving` is no `approved`.
        let goes_on = |token: &Token| {
            let words: Vec<&str> =
                raw.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
            let Some(base) = token.raw.strip_suffix("ed").filter(|base| !holds("warn exit", base)) else {
                return false;
            };
            let is_it = |word: &str| stem(word) == token.key;
            let to_come = |at: usize, word: &str| {
                let next = words.get(at + 1).copied().unwrap_or_default();
                word == format!("{base}s")
                    || word == format!("{base}es")
                    || word.ends_with("ing")
                    || (!word.ends_with("ed") && holds("the a an your our this these all", next))
            };
            words.iter().enumerate().any(|(at, word)| is_it(word) && to_come(at, word))
        };
        let told_as_done = |token: &&Token| {
            !raw.contains(&token.raw) && places.contains_key(&token.key) && (is_planned || goes_on(token))
        };
        let left_out = || HEDGES.split_whitespace().filter(|word| manner.words.contains(*word));
        if self.edges.iter().any(|edge| !manner.words.contains(&edge.raw))
            || self.pasts.iter().any(told_as_done)
            || self.to_come.iter().any(|token| raw.contains(&token.raw) && !is_planned)
            || (self.is_of_all && !manner.any(COUNTS))
            || (self.raws.contains("only") && !manner.any("only just no none"))
            || (left_out().next().is_some() && !left_out().any(|word| self.raws.contains(word)))
        {
            return false;
        }
        let is_prose = manner.is_prose();
        let is_said = self.is_linked && !self.is_act;
        !((is_prose && self.owns && !manner.any(HAVE) && !manner.any(HOLDS))
            || (is_said && manner.done.as_ref().is_some_and(|done| !self.keys.contains(done.as_str())))
            || (is_prose
                && is_said
                && !self.is_open
                && !manner.any(links)
                && !manner.any("with has contains includes be")))
    }
}

/// Whether a verb in the past says what has yet to be done, or may be: `should be replaced`, `has to be renewed`.
pub(super) fn is_to_come(said: &[&Token], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|at| said.get(at));
    said.get(at).is_some_and(|token| is_past(token))
        && before(1).is_some_and(|be| be.raw == "be")
        && before(2).is_some_and(|modal| holds("to should must shall will would", &modal.raw))
}
