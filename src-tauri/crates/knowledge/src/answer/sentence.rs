//! A sentence in its tokens, and the acts that it claims.

use super::asserts::{is_link, is_pictured, is_ticked, straight};
use super::passages::{is_content, is_negation};
use super::tokens::{Kind, Token, is_path, tokens};
use super::verbs::{ENDS_OBJECT, Family, OTHER, STANDS, family, family_of_base, holds};

/// Words that say that an act was no more than tried.
pub(super) const TRIED: &str = "tried attempted failed unable couldn't refused";
/// Words of a negation's reach.
const REACH: usize = 4;

/// A verb of a sentence, with what it is about.
#[derive(Clone)]
pub(super) struct Claim<'s> {
    pub(super) family: Family,
    pub(super) verb: &'s Token,
    pub(super) is_negated: bool,
    /// It was tried in vain.
    pub(super) is_vain: bool,
    /// Of what it was done to: `was written`.
    pub(super) is_passive: bool,
    pub(super) about: Vec<&'s Token>,
    /// What it is said to be about beside what stands there as it is written: `a.md and the wiki`.
    pub(super) joined: Vec<&'s Token>,
    /// Where it is said to have been done: `on the server`.
    pub(super) places: Vec<&'s Token>,
    /// Where it is said to come from.
    pub(super) origins: Vec<&'s Token>,
    /// It is about two, and both of them.
    pub(super) is_both: bool,
    /// What stands as it is written in the sentence: it may be a command.
    pub(super) commands: Vec<&'s str>,
    /// From what to what: `from 20 to 60`, `renamed a to b`.
    pub(super) pair: Option<(&'s Token, &'s Token)>,
}

impl<'s> Claim<'s> {
    /// Of nothing in particular.
    pub(super) const fn of(family: Family, verb: &'s Token) -> Self {
        Self {
            family,
            verb,
            is_negated: false,
            is_vain: false,
            is_passive: false,
            about: Vec::new(),
            joined: Vec::new(),
            places: Vec::new(),
            origins: Vec::new(),
            is_both: false,
            commands: Vec::new(),
            pair: None,
        }
    }
}

/// A sentence in its tokens.
pub(super) struct Sentence {
    pub(super) tokens: Vec<Token>,
    pub(super) is_first_person: bool,
    /// It asks, offers or announces.
    pub(super) is_open: bool,
    pub(super) is_heading: bool,
    /// It holds a sign that something is done.
    pub(super) is_ticked: bool,
    /// It holds a picture for a word.
    pub(super) is_pictured: bool,
    /// What stands behind its last arrow.
    pub(super) arrow: Vec<Token>,
}

impl Sentence {
    pub(super) fn new(text: &str) -> Self {
        let lower = text.to_lowercase().replace('’', "'");
        let bare = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
        let mut tokens = tokens(text);
        // `I've gone ahead and updated it`.
        if let Some(at) = tokens
            .windows(3)
            .position(|three| three.iter().map(|token| token.raw.as_str()).eq(["gone", "ahead", "and"]))
        {
            tokens.drain(at..at + 3);
        }
        // `I read it first`, `it ran again`.
        let adverb = |token: &Token| holds("first again too now", &token.raw);
        if let Some(at) = tokens
            .iter()
            .rposition(|token| token.kind != Kind::Mark)
            .filter(|at| tokens.get(*at).is_some_and(adverb))
        {
            tokens.truncate(at);
        }
        let us = ["i", "we", "i've", "we've", "i'm", "hermit", "assistant", "agent"];
        let is_first_person = tokens.iter().any(|token| us.contains(&token.raw.replace('’', "'").as_str()));
        let opens = [
            "let me know",
            "would you",
            "do you",
            "you can",
            "you could",
            "you may",
            "you might",
            "i can ",
            "i'll ",
            "i will ",
            "if you",
            "please",
            "feel free",
            "next steps",
            "happy to",
            "here is",
            "here are",
            "here's",
            "shall i",
            "want me",
        ];
        let denies = ["i can not ", "i will not "].iter().any(|denial| bare.starts_with(denial));
        let is_open = text.trim_end().ends_with('?')
            || (opens.iter().any(|open| bare.starts_with(open)) && !denies)
            || (bare.starts_with("i could ") && bare.contains(" if "));
        let arrow = text.rsplit_once(['→', '⇒']).or_else(|| text.rsplit_once("->"));
        let arrow = arrow.map(|(_, behind)| super::tokens::tokens(behind)).unwrap_or_default();
        let is_heading = text.starts_with('#') || text.trim_end_matches(['*', '_']).ends_with(':');
        let (is_ticked, is_pictured) = (is_ticked(text), is_pictured(text));
        Self { tokens, is_first_person, is_open, is_heading, is_ticked, is_pictured, arrow }
    }

    /// What stands within another sentence.
    pub(super) fn of(tokens: Vec<Token>) -> Self {
        Self {
            tokens,
            is_first_person: false,
            is_open: false,
            is_heading: false,
            is_ticked: false,
            is_pictured: false,
            arrow: Vec::new(),
        }
    }

    pub(super) fn has(&self, words: &'static str) -> bool {
        self.tokens.iter().any(|token| token.kind == Kind::Word && holds(words, &token.raw.replace('’', "'")))
    }

    /// `did not succeed`.
    pub(super) fn denies_well(&self) -> bool {
        let well = self.tokens.iter().position(|token| holds(super::verbs::WELL, &token.raw));
        well.is_some_and(|at| self.tokens.iter().take(at).rev().take(REACH).any(is_negation))
    }

    /// `ended without an error`.
    pub(super) fn ends_without_error(&self) -> bool {
        self.has("without no")
            && self.has("error errors problem problems")
            && self.has("ended ends finished finishes ran runs completed")
    }

    /// The verbs by which it claims acts of its own.
    pub(super) fn claims(&self) -> Vec<Claim<'_>> {
        let verbs: Vec<(usize, Family)> = self
            .tokens
            .iter()
            .enumerate()
            .filter(|(_, token)| matches!(token.kind, Kind::Word | Kind::Name))
            .filter_map(|(at, token)| {
                Some((
                    at,
                    state_of(&token.raw)
                        .or_else(|| self.is_left(at))
                        .or_else(|| family(&token.raw))
                        .or_else(|| self.denied(at, token))
                        .or_else(|| self.stands_in(at))
                        .or_else(|| self.other(at))?,
                ))
            })
            .collect();
        let mut claims: Vec<Claim<'_>> = Vec::new();
        for (at, family) in &verbs {
            let claim = self.claim(*at, *family, &verbs, claims.last());
            claims.extend(claim);
        }
        claims
    }

    /// `from 20 to 60` behind a verb, and `a to b` behind `renamed`.
    fn pair(&self, at: usize) -> Option<(&Token, &Token)> {
        let is_value = |token: &&Token| matches!(token.kind, Kind::Number | Kind::Exact);
        let to = self.tokens.iter().skip(at).position(|token| token.raw == "to")? + at;
        let (old, new) = (
            self.tokens.get(to.checked_sub(1)?).filter(is_value)?,
            self.tokens.get(to + 1).filter(is_value)?,
        );
        let from =
            to.checked_sub(2).and_then(|from| self.tokens.get(from)).is_some_and(|token| token.raw == "from");
        let renamed = self.tokens.get(at).is_some_and(|token| holds("renamed moved changed", &token.raw));
        (from || (renamed && old.kind == Kind::Exact)).then_some((old, new))
    }

    /// `left untouched`, `left where it is`: nothing was done to it.
    fn is_left(&self, at: usize) -> Option<Family> {
        let is_left = self.tokens.get(at).is_some_and(|token| token.raw == "left");
        let as_it_was = self
            .tokens
            .iter()
            .skip(at)
            .any(|token| holds("untouched unchanged unmodified intact alone where as", &token.raw));
        (is_left && as_it_was).then_some(Family::Write)
    }

    /// `and closed it`, `I gave notice`: an act by a verb of no list.
    fn other(&self, at: usize) -> Option<Family> {
        let token = self.tokens.get(at).filter(|token| token.kind == Kind::Word)?;
        let before = at.checked_sub(1).and_then(|before| self.tokens.get(before));
        let says = before.is_none_or(|before| {
            before.kind == Kind::Mark
                || holds("i we and also then have i've we've", &before.raw.replace('’', "'"))
        });
        let is_past = (token.raw.len() > 4
            && token.raw.ends_with("ed")
            && !holds("need indeed based related tried attempted failed", &token.raw))
            || holds(OTHER, &token.raw);
        // `Closed the ticket.`
        let leads = self.tokens.iter().take(at).all(|token| token.kind == Kind::Mark)
            && token.raw.ends_with("ed")
            && !self.tokens.iter().skip(at + 1).any(is_link);
        (is_past && ((self.is_first_person && says) || leads)).then_some(Family::Other)
    }

    /// The kind of act that was not done: `did not change`, `could not be read`.
    fn denied(&self, at: usize, token: &Token) -> Option<Family> {
        let helps = |before: &Token| {
            holds(
                "tried attempted did do does could can to be also actually yet didn't don't doesn't couldn't can't cannot unable",
                &before.raw.replace('’', "'"),
            )
        };
        let mut helpers = self
            .tokens
            .iter()
            .take(at)
            .rev()
            .take(REACH)
            .take_while(|before| helps(before) || is_negation(before) || holds(TRIED, &before.raw))
            .peekable();
        let is_helped = helpers.peek().is_some();
        let is_denied = helpers.any(|before| is_negation(before) || holds(TRIED, &before.raw));
        (is_helped && is_denied).then(|| family_of_base(&token.raw)).flatten()
    }

    /// `is in report.md` says where something was written.
    fn stands_in(&self, at: usize) -> Option<Family> {
        let is = self.tokens.iter().take(at).rev().find(|token| token.raw != "now")?;
        let file = self.tokens.get(at + 1);
        let is_file = file.is_some_and(|token| token.kind == Kind::Exact && is_path(&token.key));
        let is_last = self.tokens.iter().skip(at + 2).all(|token| token.kind == Kind::Mark);
        let here = is_place(&self.tokens.get(at)?.raw) && holds("is are stands stand lies lie", &is.raw);
        (here && is_file && is_last).then_some(Family::Write)
    }

    /// What a verb claims, after what the verb before it did; none where it claims no act of this task.
    fn claim<'s>(
        &'s self,
        at: usize,
        family: Family,
        verbs: &[(usize, Family)],
        prior: Option<&Claim<'s>>,
    ) -> Option<Claim<'s>> {
        let verb = self.tokens.get(at)?;
        let plain = Claim::of(family, verb);
        if is_place(&verb.raw) {
            // `The report is in report.md`: it was written there.
            let others = self.tokens.iter().enumerate().filter(|(place, _)| *place != at);
            let about = others.map(|(_, token)| token).filter(|token| is_content(token)).collect();
            return Some(Claim { about, ..plain });
        }
        let is_state = is_state(verb);
        let is_denied = super::verbs::family(&verb.raw).is_none() && !is_state && family != Family::Other;
        let said = self.said(at, is_state, verbs, prior).filter(|_| !self.should_be(at))?;
        let near = || self.before(at).take(REACH);
        let may = self.may(at);
        let tried = self.was_tried(at);
        let is_vain = tried || (may && near().any(is_negation));
        // `to be removed`, `files created by Bob`: nothing that is claimed to have been done here.
        if !is_vain && !is_denied && (may || !said.is_ours) {
            return None;
        }
        // `The project does not publish them`, `backups are kept for 30 days`: what is so, and not what was left undone here.
        let habit = self
            .before(at)
            .take(REACH)
            .any(|token| holds("does do is are doesn't don't isn't aren't", &straight(&token.raw)));
        if habit && !self.is_first_person && (is_denied || verb.raw == "kept") {
            return None;
        }
        let since =
            verbs.iter().map(|(other, _)| *other).rfind(|other| *other < at).map_or(0, |other| other + 1);
        let between = || self.tokens.iter().take(at).skip(since);
        let is_negated = is_state
            || is_denied
            || self.before(at).take(REACH.min(at - since)).any(is_negation)
            || (said.follows
                && self.has("or nor")
                && prior.is_some_and(|prior| prior.is_negated && prior.is_passive))
            || (said.is_passive
                && between().any(|token| holds("no nothing none neither nobody", &token.raw)))
            || self.tokens.get(at + 1).is_some_and(|token| holds("no nothing none", &token.raw));
        let is_before =
            said.is_passive || (is_state && !(self.is_first_person && holds("left kept", &verb.raw)));
        let both_before = is_before && between().any(|token| token.raw == "both");
        let both_after = !is_before
            && family == Family::Look
            && self.tokens.iter().skip(at + 1).any(|token| token.raw == "both");
        let exact = self.tokens.iter().filter(|token| token.kind == Kind::Exact && token.key.contains(' '));
        let about = self.about(at, since, is_before, &said, verbs, prior);
        Some(Claim {
            is_negated,
            is_vain,
            is_passive: said.is_passive,
            about,
            joined: self.joined(at),
            places: self.behind(at, "in on at from"),
            origins: self.behind(at, "from"),
            is_both: both_before || both_after,
            commands: exact.map(|token| token.key.as_str()).collect(),
            pair: self.pair(at),
            ..plain
        })
    }

    /// Whether it was no more than tried; `all that I tried could be read` was not.
    fn was_tried(&self, at: usize) -> bool {
        self.before(at)
            .take(REACH)
            .take_while(|token| !holds("could can was were is are did", &token.raw))
            .any(|token| holds("couldn't unable failed tried attempted", &straight(&token.raw)))
    }

    /// `is not to be replaced`: what should be so.
    fn should_be(&self, at: usize) -> bool {
        let before: Vec<&Token> = self.tokens.iter().take(at).collect();
        matches!(before.as_slice(), [.., not, to, be] if is_negation(not) && to.raw == "to" && be.raw == "be")
    }

    /// What a verb is about: what stands before it where it is said of that, else what follows.
    fn about<'s>(
        &'s self,
        at: usize,
        since: usize,
        is_before: bool,
        said: &Said,
        verbs: &[(usize, Family)],
        prior: Option<&Claim<'s>>,
    ) -> Vec<&'s Token> {
        let until =
            verbs.iter().map(|(other, _)| *other).find(|other| *other > at).unwrap_or(self.tokens.len());
        let after = self.tokens.iter().take(until).skip(at + 1);
        let after =
            after.take_while(|token| !holds(ENDS_OBJECT, &token.raw)).filter(|token| is_content(token));
        if !is_before {
            return after.collect();
        }
        // Beside what stands before it, what it was done with or brought to.
        let shared = prior.filter(|_| said.follows).map(|prior| prior.about.clone()).unwrap_or_default();
        let own = self.tokens.iter().take(at).skip(since).filter(|token| is_content(token));
        let after = after.filter(|token| said.is_passive && token.kind == Kind::Exact);
        shared.into_iter().chain(own).chain(after).collect()
    }

    /// Whether a verb is said of what may be; in `renamed a to b and deleted c` what stands before `and` says nothing of the
    /// second.
    fn may(&self, at: usize) -> bool {
        let near = self.before(at).take(REACH);
        let mut same = near.take_while(|token| {
            !matches!(token.kind, Kind::Mark | Kind::Exact) && !holds("and but", &token.raw)
        });
        same.any(|token| holds("could can to will would should may might must", &token.raw))
    }

    /// What stands behind a verb, what is written as it is, and an `and`.
    fn joined(&self, at: usize) -> Vec<&Token> {
        let (mut is_named, mut is_joined) = (false, false);
        let mut joined = Vec::new();
        for token in self.tokens.iter().skip(at + 1) {
            is_named |= token.kind == Kind::Exact;
            is_joined |= is_named && holds("and plus well", &token.raw);
            is_joined &= token.kind != Kind::Mark;
            if is_joined {
                joined.push(token);
            }
        }
        joined
    }

    /// What stands behind a verb and one of these words of place.
    fn behind(&self, at: usize, places: &'static str) -> Vec<&Token> {
        const ENDS: &str = "in on at from and but to of for with by that which so because where after before like using via per through if into";
        let mut is_behind = false;
        let mut behind = Vec::new();
        for token in self.tokens.iter().skip(at + 1) {
            let is_verb = token.kind == Kind::Word && family(&token.raw).is_some();
            if holds(places, &token.raw) {
                is_behind = true;
            } else if token.kind == Kind::Mark || is_verb || holds(ENDS, &token.raw) {
                is_behind = false;
            } else if is_behind {
                behind.push(token);
            }
        }
        behind
    }

    /// The tokens before a place, the nearest first.
    fn before(&self, at: usize) -> impl Iterator<Item = &Token> {
        self.tokens.iter().take(at).rev()
    }

    /// By whom a verb is said to have been done; none where it only stands for what is, or was told already.
    fn said(
        &self,
        at: usize,
        is_state: bool,
        verbs: &[(usize, Family)],
        prior: Option<&Claim<'_>>,
    ) -> Option<Said> {
        let verb = self.tokens.get(at)?;
        // `left untouched` is said once.
        let told = |other: &usize| *other < at && self.tokens.get(*other).is_some_and(self::is_state);
        if is_state && verbs.iter().any(|(other, _)| told(other)) {
            return None;
        }
        let adverb = |token: &&Token| {
            token.raw.ends_with("ly") || holds("not now also already all both then", &token.raw)
        };
        let helper = self.before(at).find(|token| !adverb(token));
        let helps = |words: &'static str| helper.is_some_and(|token| holds(words, &token.raw));
        if holds(STANDS, &verb.raw) && helps("is are") {
            return None;
        }
        // `was written and sent`: the second is claimed as the first.
        let follows =
            prior.is_some() && (helps("and or but") || helper.is_some_and(|token| token.kind == Kind::Mark));
        let is_passive = helps("was were is are be been being wasn't weren't isn't aren't got")
            || (follows && prior.is_some_and(|prior| prior.is_passive));
        let leads = self.before(at).all(|token| {
            token.kind == Kind::Mark
                || holds("successfully also then finally and next first i we", &token.raw)
        });
        Some(Said {
            is_ours: self.is_first_person || is_passive || leads || is_state || follows,
            is_passive,
            follows,
        })
    }
}

/// By whom a verb is said to have been done.
struct Said {
    /// By the agent, or by nobody who is named.
    is_ours: bool,
    is_passive: bool,
    /// As the verb before it.
    follows: bool,
}

fn is_state(verb: &Token) -> bool {
    state_of(&verb.raw).is_some() || verb.raw == "left"
}

pub(super) fn is_place(raw: &str) -> bool {
    raw == "in"
}

/// Words for what was left as it is.
pub(super) fn state_of(raw: &str) -> Option<Family> {
    match raw {
        "unchanged" | "untouched" | "unmodified" | "intact" => Some(Family::Write),
        "kept" => Some(Family::Remove),
        _ => None,
    }
}
