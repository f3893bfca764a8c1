//! Whether the records that a sentence cites show the acts that it claims.

use super::super::asserts::{PARTS, edges, is_good, is_link, straight};
use super::super::carried::THEN;
use super::super::passages::{bounded, clip, is_content, is_negation};
use super::super::sentence::Claim;
use super::super::strict::MESSAGES;
use super::super::tokens::{Kind, Token};
use super::super::verbs::{FAILED, Family, GENERIC, LABELS, OTHER, UNIVERSAL, WELL, family, holds, is_test};
use super::super::{Deed, ended_well, is_at, targets, was_moved, words_have};
use super::lists::{ADVERBS, BE, FIRST_PERSON, LEADS, LITTLE, MODALS};
use super::said::counts;
use super::{Held, Judge, Proof, any, has};
use model::action::ActionClass;

/// Bytes of a file in which a name is looked up that stood there before.
const FILE_MAX: usize = 1 << 16;
/// Passages that looking through such a file counts as.
const FILE_COST: usize = 12;
/// The share of the words of what was done that the record has, in percent; and of what failed or ended well. All of them, where
/// each is to be carried.
const COVERED: usize = 50;
const COVERED_END: usize = 60;

/// A verb by which a part of a sentence claims an act.
#[derive(Clone, Copy)]
pub(super) struct Act<'s> {
    pub(super) verb: &'s Token,
    pub(super) family: Family,
}

impl Judge<'_, '_> {
    /// What shows the acts of a sentence: each part of it is borne by itself.
    pub(super) fn acts(&self, said: &[&Token], is_high: bool, is_first_person: bool) -> Option<Vec<Proof>> {
        let first = said.first()?;
        let is_more = has(said, UNIVERSAL)
            || has(said, "both only after before twice again instead either myself personally manually");
        // A run that failed shows that it did then.
        let is_of_now = any(said, FAILED) && any(said, THEN);
        if is_more || is_of_now || holds("if please let would", &first.raw) {
            return None;
        }
        let mut proofs = Vec::new();
        for (at, part) in groups(said, is_first_person).iter().enumerate() {
            let head = part.first().copied().filter(|_| is_high && at == 0);
            let found = self.part(part, head, is_first_person)?;
            // Why it failed is what the same record says.
            let is_cause = part.first().is_some_and(|first| holds("because since as", &first.raw));
            let is_same = |proof: &Proof| proofs.iter().any(|other: &Proof| other.record == proof.record);
            if is_cause && !proofs.is_empty() && !found.iter().all(is_same) {
                return None;
            }
            proofs.extend(found);
        }
        Some(proofs)
    }

    fn part(&self, part: &[&Token], head: Option<&Token>, is_first_person: bool) -> Option<Vec<Proof>> {
        let Some(acts) = acts_of(part, is_first_person) else { return self.fact(part, head) };
        if has(part, "sure let lets know") || acts.iter().any(|act| is_letter(part, act)) {
            return None;
        }
        let could_not = has(part, "could couldn't") && part.iter().any(|token| is_negation(token));
        if has(part, FAILED) || could_not {
            return self.failed(part, &acts);
        }
        if part.iter().any(|token| is_negation(token)) {
            return None;
        }
        if has(part, WELL) {
            let of_tests = has(part, "test tests suite");
            let is_it = |deed: &Deed| {
                !deed.argv.is_empty() && self.is_still_well(deed) && (!of_tests || is_test(&deed.argv))
            };
            return self.shown(part, &[], &self.records_with(is_it), COVERED_END);
        }
        if acts.is_empty() {
            return if any(part, FIRST_PERSON) { None } else { self.fact(part, head) };
        }
        // By whom it was done: somebody else.
        let is_by =
            |pair: &[&Token]| matches!(pair, [by, who] if by.raw == "by" && !who.raw.ends_with("ing"));
        if !is_first_person && part.windows(2).any(is_by) {
            return None;
        }
        let commands: Vec<&str> = part
            .iter()
            .filter(|token| token.kind == Kind::Exact && token.key.contains(' '))
            .map(|token| token.key.as_str())
            .collect();
        let says_well = part.iter().any(|token| {
            is_good(token) && !holds("correct right done finished complete completed", &token.raw)
        });
        let shows = |held: &Held| acts.iter().all(|act| self.does(held, act, &commands));
        let is_well = |held: &Held| {
            let mut deeds = held.deeds.iter().filter_map(|at| self.checker.record.deeds.get(*at));
            !says_well || deeds.all(|deed| self.is_still_well(deed))
        };
        let removes = acts.iter().any(|act| act.family == Family::Remove);
        let moves = acts.iter().any(|act| act.family == Family::Move);
        let is_all = |held: &Held| {
            (!removes || self.checker.second_of(part, &held.deeds).is_none())
                && (!moves || self.checker.went_elsewhere(part, &held.deeds).is_none())
        };
        let fits = |held: &Held| shows(held) && is_well(held) && is_all(held);
        let records = self.records.iter().enumerate().filter(|(_, held)| fits(held));
        self.shown(part, &acts, &records.map(|(at, _)| at).collect::<Vec<_>>(), COVERED)
    }

    /// That something failed: a record of an act that did, which names what it was.
    fn failed(&self, part: &[&Token], acts: &[Act<'_>]) -> Option<Vec<Proof>> {
        let could_not = has(part, "could couldn't");
        let denies = part.iter().any(|token| is_negation(token) || token.key == "0");
        if !could_not && (denies || acts.iter().any(|act| act.family != Family::Other)) {
            return None;
        }
        let found = self.records_with(|deed| !ended_well(deed));
        let ends = |token: &&&Token| holds(FAILED, &token.raw) || is_negation(token);
        let subject = part.iter().take_while(|token| !ends(token));
        let subject: Vec<&&Token> = subject
            .filter(|token| matches!(token.kind, Kind::Word | Kind::Name) && counts(token))
            .filter(|token| family(&token.raw).is_none())
            .collect();
        let asked = |token: &Token| {
            let mut deeds = found.iter().filter_map(|at| self.records.get(*at)).flat_map(|held| &held.deeds);
            deeds.any(|deed| self.checker.deeds.text_has(*deed, &token.key))
        };
        let known = subject.iter().filter(|token| asked(token)).count();
        if known * 2 < subject.len() { None } else { self.shown(part, &[], &found, COVERED_END) }
    }

    /// The records with such an act.
    fn records_with(&self, is_it: impl Fn(&Deed) -> bool) -> Vec<usize> {
        let has = |held: &Held| {
            let mut deeds = held.deeds.iter().filter_map(|at| self.checker.record.deeds.get(*at));
            deeds.any(&is_it)
        };
        self.records.iter().enumerate().filter(|(_, held)| has(held)).map(|(at, _)| at).collect()
    }

    /// Whether an act ended well, and nothing was changed since, where it is a program.
    fn is_still_well(&self, deed: &Deed) -> bool {
        ended_well(deed) && (deed.argv.is_empty() || deed.order >= self.checker.last_change)
    }

    /// Whether a record is of an act of that kind.
    fn does(&self, held: &Held, act: &Act<'_>, commands: &[&str]) -> bool {
        match act.family {
            Family::Verify => false,
            Family::Look => !held.texts.is_empty(),
            family => {
                let claim = Claim { commands: commands.to_vec(), ..Claim::of(family, act.verb) };
                let able = self.checker.candidates(&claim);
                held.deeds.iter().any(|deed| able.contains(deed))
            }
        }
    }

    /// The proof by the first of these records, where they have what a part of a sentence says beside its verbs.
    fn shown(
        &self,
        part: &[&Token],
        acts: &[Act<'_>],
        found: &[usize],
        covered: usize,
    ) -> Option<Vec<Proof>> {
        let first = *found.first()?;
        let records: Vec<&Held> = found.iter().filter_map(|at| self.records.get(*at)).collect();
        let object = Object { judge: self, part, acts, records: &records };
        let (mut words, mut known, mut anchors) = (0, 0, 0);
        for (at, token) in part.iter().enumerate().filter(|(_, token)| is_content(token)) {
            if acts.iter().any(|act| std::ptr::eq(act.verb, *token)) {
                continue;
            }
            match object.weigh(at, token)? {
                Weight::Anchor => anchors += 1,
                Weight::Nothing => {}
                Weight::Known => {
                    (words, known, anchors) = (words + 1, known + 1, anchors + 1);
                }
                Weight::Unknown => words += 1,
            }
        }
        let quote = self.checker.words_of(records.first()?);
        // What a file holds does not tell by itself what was done to it.
        let beside =
            |token: &&&Token| is_content(token) && !acts.iter().any(|act| std::ptr::eq(act.verb, **token));
        let is_own = acts.is_empty()
            || records.iter().any(|held| !held.texts.is_empty())
            || part.iter().filter(beside).any(|token| object.is_own(token));
        let is_shown = is_own && anchors > 0 && known * 100 >= words * covered;
        let is_carried =
            !self.checker.is_exact.get() || (known == words && self.carries(&records, part, acts));
        (is_shown && is_carried).then(|| vec![Proof { record: first, text: None, quote }])
    }

    /// Whether a record has something as it is written, a number, or a word.
    fn knows(&self, held: &Held, token: &Token) -> bool {
        let all = self.checker;
        if token.kind == Kind::Number {
            // `13 files` is not told by `2024-09-13.md`.
            return held
                .deeds
                .iter()
                .any(|deed| all.deeds.text_counts(*deed, &token.key) || all.leaves(*deed, token))
                || held.texts.iter().any(|text| all.seen.text_counts(*text, &token.key));
        }
        if token.kind != Kind::Exact {
            return held
                .deeds
                .iter()
                .any(|deed| all.deeds.text_has(*deed, &token.key) || all.leaves(*deed, token))
                || held.texts.iter().any(|text| all.seen.text_has(*text, &token.key));
        }
        let in_deed = |at: &usize| {
            let Some(deed) = all.record.deeds.get(*at) else { return false };
            if !all.spends(FILE_COST * (1 + deed.changed.len())) {
                return false;
            }
            let was_there = || {
                let mut texts = deed.changed.iter().map(|left| clip(&left.text, FILE_MAX).to_lowercase());
                texts.any(|text| bounded(&text, &token.key).is_some())
            };
            let fresh = || all.fresh.get(*at).map(|fresh| clip(fresh, FILE_MAX).to_lowercase());
            targets(deed).any(|path| is_at(path, &token.key))
                || all.deeds.text_holds(*at, &token.key)
                || fresh().is_some_and(|fresh| bounded(&fresh, &token.key).is_some())
                || was_there()
        };
        let in_text = |text: &usize| {
            all.seen.text_holds(*text, &token.key) || bounded(all.seen.title(*text).0, &token.key).is_some()
        };
        held.deeds.iter().any(in_deed) || held.texts.iter().any(in_text)
    }
}

/// What a word of a part adds to it.
enum Weight {
    /// It stands in the record as it is written.
    Anchor,
    /// It says nothing by itself.
    Nothing,
    Known,
    Unknown,
}

/// What a part of a sentence says beside its verbs.
struct Object<'o, 'c, 'r> {
    judge: &'o Judge<'c, 'r>,
    part: &'o [&'o Token],
    acts: &'o [Act<'o>],
    records: &'o [&'o Held],
}

impl Object<'_, '_, '_> {
    /// What a word adds; nothing where it may not be missing and is.
    fn weigh(&self, at: usize, token: &Token) -> Option<Weight> {
        let before = at.checked_sub(1).and_then(|at| self.part.get(at));
        let is_known = self.is_known(token);
        match token.kind {
            Kind::Number => {
                // What it became or stands at is no count.
                let is_count =
                    before.is_none_or(|before| !holds(LEADS, &before.raw)) && self.is_count(&token.key);
                return (is_known || is_count).then_some(Weight::Anchor);
            }
            Kind::Exact | Kind::Name => {
                return (is_known && self.is_done_to(before.copied(), token)).then_some(Weight::Anchor);
            }
            Kind::Word | Kind::Mark => {}
        }
        let runs_tests = !self.acts.is_empty() && self.acts.iter().all(|act| act.family == Family::Run);
        if runs_tests && holds("test tests", &token.raw) && self.deeds().any(|deed| is_test(&deed.argv)) {
            return Some(Weight::Anchor);
        }
        // `issues` are as little as an `issue`.
        let one = token.raw.strip_suffix('s').unwrap_or(&token.raw);
        let is_little = [LITTLE, GENERIC, FAILED, WELL, LABELS].iter().any(|list| holds(list, &token.raw))
            || holds(GENERIC, one);
        if is_little || family(&token.raw).is_some() {
            return Some(Weight::Nothing);
        }
        let is_message = holds(MESSAGES, &token.raw);
        if is_message && !is_known && !self.is_mail() {
            return None;
        }
        let lead = self.lead(at);
        if let Some(lead) = lead.filter(|lead| self.part.get(*lead).is_some_and(|word| word.raw != "of"))
            && !is_known
        {
            // What the record has as it is written tells the rest of its phrase.
            return self.is_named(lead, at).then_some(Weight::Nothing);
        }
        let is_made_of = !self.acts.is_empty() && self.acts.iter().all(|act| act.family == Family::Transform);
        let is_known = if is_made_of { self.is_asked(token) } else { is_known };
        // What it is about is said last: `the old server` is a server.
        let ends = self.part.get(at + 1).is_none_or(|next| !is_content(next));
        let follows = before.is_some_and(|before| !matches!(before.kind, Kind::Word | Kind::Mark));
        if !is_known && !is_message && lead.is_none() && ends && !follows {
            return None;
        }
        Some(if is_known { Weight::Known } else { Weight::Unknown })
    }

    fn deeds(&self) -> impl Iterator<Item = &Deed> {
        let at = self.records.iter().flat_map(|held| &held.deeds);
        at.filter_map(|at| self.judge.checker.record.deeds.get(*at))
    }

    /// Whether each act did to a file what it is said to have done, where it is one that acts were done to: what was moved
    /// from here to there was neither removed nor moved back.
    fn is_done_to(&self, before: Option<&Token>, token: &Token) -> bool {
        let name = token.key.as_str();
        let goes_to = before.is_some_and(|before| holds("to into as under in", &before.raw));
        let does = |family: Family, deed: &Deed| {
            let mut left = deed.made.iter().chain(&deed.changed);
            let names = !deed.argv.is_empty() || deed.class == ActionClass::ExternalEffect;
            let is_it = match family {
                Family::Remove => deed.removed.iter().any(|path| is_at(path, name) && !was_moved(deed, path)),
                Family::Move => {
                    deed.moved.iter().any(|(from, to)| is_at(if goes_to { to } else { from }, name))
                }
                Family::Write | Family::Transform => left.any(|left| is_at(&left.path, name)),
                _ => true,
            };
            is_it || (names && words_have(deed, name))
        };
        let is_target = |deed: &Deed| targets(deed).any(|path| is_at(path, name));
        !self.deeds().any(is_target)
            || self.acts.iter().all(|act| self.deeds().any(|deed| does(act.family, deed)))
    }

    /// Whether something stands in what was asked for, or is written as it is in what came of it.
    fn is_own(&self, token: &Token) -> bool {
        self.is_asked(token) || (token.kind == Kind::Exact && self.is_known(token))
    }

    fn is_known(&self, token: &Token) -> bool {
        self.records.iter().any(|held| self.judge.knows(held, token))
    }

    /// Whether a word stands in what was asked for, and not only in what came of it.
    fn is_asked(&self, token: &Token) -> bool {
        let mut deeds = self.records.iter().flat_map(|held| &held.deeds);
        deeds.any(|deed| self.judge.checker.deeds.text_has(*deed, &token.key))
    }

    /// Whether the acts went to a server of mail or messages.
    fn is_mail(&self) -> bool {
        let all = self.judge.checker;
        let mut deeds = self.records.iter().flat_map(|held| &held.deeds);
        deeds.any(|at| {
            all.record.deeds.get(*at).is_some_and(|deed| deed.class == ActionClass::ExternalEffect)
                && ["mail", "messag", "email"].iter().any(|key| all.deeds.text_has(*at, key))
        })
    }

    /// Whether a number is how many things the records are about.
    fn is_count(&self, key: &str) -> bool {
        let sum = |of: &dyn Fn(&Deed) -> usize| self.deeds().map(of).sum::<usize>();
        let made = sum(&|deed: &Deed| deed.made.len());
        let changed = sum(&|deed: &Deed| deed.changed.len());
        let removed = sum(&|deed: &Deed| deed.removed.len());
        let acts =
            if self.deeds().any(|deed| targets(deed).next().is_some()) { 0 } else { self.records.len() };
        let counts = [made, changed, made + changed, removed, acts];
        counts.iter().any(|count| *count > 0 && count.to_string() == key)
    }

    /// The word that leads to a recipient, a place or a purpose which a word is a part of.
    fn lead(&self, at: usize) -> Option<usize> {
        let before = (0..at).rev().filter_map(|at| self.part.get(at).map(|token| (at, *token)));
        for (at, token) in before {
            if token.kind == Kind::Word && holds(LEADS, &token.raw) {
                return Some(at);
            }
            let ends = token.kind == Kind::Mark || holds("and or", &token.raw);
            if ends || is_link(token) || family(&token.raw).is_some() {
                return None;
            }
        }
        None
    }

    /// Whether the phrase behind such a word has a name that the records have.
    fn is_named(&self, lead: usize, at: usize) -> bool {
        let ends = |token: &Token| {
            token.kind == Kind::Mark || holds(LEADS, &token.raw) || holds("and or", &token.raw)
        };
        let before = self.part.iter().take(at).skip(lead + 1);
        let behind = self.part.iter().skip(at).take_while(|token| !ends(token));
        before.chain(behind).any(|token| token.kind == Kind::Exact && self.is_known(token))
    }
}

/// `I wrote to Bob`, `I wrote Bob`: something went to somebody, and no file was written.
fn is_letter(part: &[&Token], act: &Act<'_>) -> bool {
    let at = part.iter().position(|token| std::ptr::eq(*token, act.verb));
    let next = at.and_then(|at| part.get(at + 1));
    holds("wrote written", &act.verb.raw)
        && next.is_some_and(|next| next.raw == "to" || next.kind == Kind::Name)
}

/// The verbs by which a part claims acts; none at all where somebody else did them.
fn acts_of<'s>(part: &[&'s Token], is_first_person: bool) -> Option<Vec<Act<'s>>> {
    let mut acts: Vec<Act<'s>> = Vec::new();
    for (at, token) in part.iter().copied().enumerate() {
        let mut near = part.iter().take(at).skip(at.saturating_sub(2));
        let may = !is_first_person && near.any(|token| holds(MODALS, &token.raw));
        if may || !matches!(token.kind, Kind::Word | Kind::Name) {
            continue;
        }
        let other = || is_other(part, at, is_first_person).then_some(Family::Other);
        let Some(family) = family(&token.raw).or_else(other) else { continue };
        let adverb = |token: &&&Token| token.raw.ends_with("ly") || holds(ADVERBS, &token.raw);
        let before = part.iter().take(at).rev().find(|token| !adverb(token));
        let is_passive = before.is_some_and(|before| holds(BE, &straight(&before.raw)));
        let is_joined = !acts.is_empty()
            && before.is_some_and(|before| before.kind == Kind::Mark || holds("and or but", &before.raw));
        let leads = part.iter().take(at).all(|before| {
            before.kind == Kind::Mark
                || holds("successfully also then finally and next first i we", &before.raw)
        });
        if !(is_first_person || is_passive || leads || is_joined) {
            return None;
        }
        acts.push(Act { verb: token, family });
    }
    Some(acts)
}

/// Whether a verb of no list claims an act: `I closed it`, `Closed the ticket`, `it was closed`.
fn is_other(part: &[&Token], at: usize, is_first_person: bool) -> bool {
    let Some(token) = part.get(at).filter(|token| token.kind == Kind::Word) else { return false };
    let before = at.checked_sub(1).and_then(|at| part.get(at));
    let is_said = before.is_none_or(|before| {
        before.kind == Kind::Mark
            || holds("i we and also then have i've we've hermit", &straight(&before.raw))
    });
    let is_regular = token.raw.len() > 4 && token.raw.ends_with("ed");
    let is_past = (is_regular && !holds("need indeed based related tried attempted failed", &token.raw))
        || holds(OTHER, &token.raw);
    let leads = is_regular
        && part.iter().take(at).all(|before| before.kind == Kind::Mark)
        && !part.iter().skip(at + 1).any(|token| is_link(token));
    let is_passive = is_regular && before.is_some_and(|before| is_link(before));
    is_past && ((is_first_person && is_said) || leads || is_passive)
}

/// A sentence in parts with an act or a statement each; what has none belongs to the part before it.
fn groups<'s>(said: &[&'s Token], is_first_person: bool) -> Vec<Vec<&'s Token>> {
    let mut parts: Vec<(Vec<&'s Token>, Option<&'s Token>)> = vec![(Vec::new(), None)];
    for (at, token) in said.iter().copied().enumerate() {
        let next = said.get(at + 1);
        let is_time = holds("since before after when", &token.raw)
            && next.is_some_and(|next| matches!(next.kind, Kind::Number | Kind::Exact));
        let parts_here =
            token.kind == Kind::Mark || (token.kind == Kind::Word && holds(PARTS, &token.raw) && !is_time);
        if parts_here {
            parts.push((Vec::new(), Some(token).filter(|token| token.kind == Kind::Mark)));
        }
        if token.kind != Kind::Mark
            && let Some((part, _)) = parts.last_mut()
        {
            part.push(token);
        }
    }
    parts.retain(|(part, _)| !part.is_empty());
    let mut groups: Vec<Vec<&'s Token>> = Vec::new();
    for (part, behind) in parts {
        let claims = acts_of(&part, is_first_person).is_none_or(|acts| !acts.is_empty());
        let states = claims
            || part.iter().any(|token| is_link(token))
            || !edges(&part).is_empty()
            || has(&part, FAILED)
            || has(&part, WELL);
        let first = part.first().filter(|token| token.kind == Kind::Word);
        let is_clause = first.is_some_and(|first| holds(PARTS, &first.raw) && !holds("and or", &first.raw));
        match groups.last_mut().filter(|_| !states && !is_clause) {
            Some(last) => {
                last.extend(behind);
                last.extend(part);
            }
            None => groups.push(part),
        }
    }
    groups
}
