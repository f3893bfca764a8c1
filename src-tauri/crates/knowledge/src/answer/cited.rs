//! Whether a record that a sentence cites bears it (decision 259). The model names the record, so that nothing has to be found: the
//! sentence may put it in other words, and never says another thing. It is verified where a fact is a run of the record's words, and
//! each word of an act is in it; else it is near (decision 304). What may not differ:
//!
//! - an act of a known kind is of the record's kind, and was done; what failed bears that it failed and nothing else;
//! - each path, name, command, address, number and quotation stands in the record, numbers beside what they count, and names and
//!   numbers of a fact in one passage, in their order;
//! - no phrase of it is missing altogether, least of all the one it is about, a recipient or a place;
//! - denied is denied, planned is planned, `all`, `only`, `first` and what compares stands there as well; a bound of a number, what
//!   something is `per`, the sides of `than` and who did what to whom are the passage's;
//! - a line of a file that was changed since tells of then.
//!
//! A record bears what is said of it alone: two of them bear a sentence of two parts, each its own.

mod acts;
mod carries;
mod facts;
mod forms;
mod lists;
mod numbers;
mod said;
mod sides;
mod told;

pub(super) use sides::is_alike;
pub(super) use told::told_of;

use super::marks::{MARKS_MAX, Mark};
use super::tokens::{Kind, Token, tokens};
use super::verbs::holds;
use super::{Bound, Checker, Source};
use model::answer::{AnswerCite, AnswerSupport as Support};
use std::collections::BTreeSet;

/// Letters of a record's own words that are shown beside a sentence.
const QUOTE_MAX: usize = 240;
/// Records that one sentence is compared with.
const RECORDS_MAX: usize = 4;

/// Passages that looking for the words to compare with counts as.
const NEAREST_COST: usize = 400;

/// What a number names: acts and texts of one result, by their places in the record.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    pub(super) deeds: Vec<usize>,
    pub(super) texts: Vec<usize>,
}

/// What bears a part of a sentence.
struct Proof {
    /// Which of the records.
    record: usize,
    /// The text that says it; none where an act shows it.
    text: Option<usize>,
    quote: String,
}

/// What bears a sentence: the records that it cites, and what the search found for clauses of it.
struct Borne {
    proofs: Vec<Proof>,
    beside: Bound,
}

/// A sentence and the records that it cites.
struct Judge<'c, 'r> {
    checker: &'c Checker<'r>,
    records: &'c [Held],
}

/// What became of the citations of a sentence.
pub(super) struct Outcome {
    pub(super) bound: Bound,
    /// Whether it is bound to them alone.
    pub(super) cited: bool,
    pub(super) cites: Vec<AnswerCite>,
    /// The record's words, where it says the sentence in others.
    pub(super) near: Option<String>,
}

impl Outcome {
    /// Of a sentence that cites nothing.
    pub(super) const fn of(bound: Bound) -> Self {
        Self { bound, cited: false, cites: Vec::new(), near: None }
    }
}

impl Checker<'_> {
    /// What bears a sentence that cites: what the search for it found, else what it cites. `at` is where it begins.
    pub(super) fn cited(&self, at: usize, words: &str, marks: &[Mark], found: Bound) -> Outcome {
        let marks: Vec<&Mark> = marks.iter().take(MARKS_MAX).collect();
        let mut numbers: Vec<u32> = Vec::new();
        for mark in &marks {
            if !numbers.contains(&mark.number) && numbers.len() < RECORDS_MAX && self.names(mark.number) {
                numbers.push(mark.number);
            }
        }
        let records: Vec<Held> = numbers.iter().filter_map(|number| self.held(*number)).collect();
        let borne = if found.support == Support::Unverified {
            Judge { checker: self, records: &records }.judge(words)
        } else {
            None
        };
        let cited = borne.is_some();
        let (proofs, bound) = match borne {
            Some(Borne { proofs, beside }) => {
                let bound = self.bound_by(&proofs, &records).with(beside);
                (proofs, bound)
            }
            None => (Vec::new(), found.blaming(&marks, |number| numbers.contains(&number))),
        };
        let small = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
        let cite = |mark: &&Mark| {
            let record = numbers.iter().position(|number| *number == mark.number);
            let held = record.and_then(|record| records.get(record));
            let proof = proofs.iter().find(|proof| Some(proof.record) == record);
            let own = held.filter(|held| proof.is_some() || self.is_among(held, &bound));
            AnswerCite {
                start: small(at + mark.start),
                length: small(mark.end - mark.start),
                number: mark.number,
                bears: own.is_some(),
                source: held.and_then(|held| self.source_of(held)),
                receipts: held.map(|held| self.receipts_of(held)).unwrap_or_default(),
                quote: match own {
                    Some(held) => {
                        Some(proof.map_or_else(|| self.words_of(held), |proof| proof.quote.clone()))
                    }
                    None => held
                        .filter(|_| bound.support == Support::Unverified)
                        .map(|held| self.nearest(held, words)),
                },
            }
        };
        let cites = marks.iter().map(cite).collect();
        Outcome { bound, cited, cites, near: None }
    }

    /// Whether the results of these numbers bear a sentence.
    pub(super) fn is_borne_by(&self, words: &str, numbers: &[u32]) -> bool {
        let records: Vec<Held> =
            numbers.iter().take(RECORDS_MAX).filter_map(|number| self.held(*number)).collect();
        Judge { checker: self, records: &records }.judge(words).is_some()
    }

    /// Whether that much may still be compared for what sentences cite; it counts from now on.
    fn spends(&self, passages: usize) -> bool {
        let left = self.cited_left.get().checked_sub(passages);
        self.cited_left.set(left.unwrap_or_default());
        left.is_some()
    }

    fn names(&self, number: u32) -> bool {
        self.record.references.iter().any(|reference| reference.number == number)
    }

    /// What a number names.
    fn held(&self, number: u32) -> Option<Held> {
        let reference = self.record.references.iter().find(|reference| reference.number == number)?;
        let deeds = self.record.deeds.iter().enumerate();
        let texts = self.record.sources.iter().enumerate();
        Some(Held {
            deeds: deeds.filter(|(_, deed)| deed.order == reference.order).map(|(at, _)| at).collect(),
            texts: texts
                .filter(|(_, source)| source.artifact_id == reference.artifact_id)
                .map(|(at, _)| at)
                .collect(),
        })
    }

    fn source_of(&self, held: &Held) -> Option<model::answer::AnswerSource> {
        held.texts.first().and_then(|text| self.record.sources.get(*text)).map(Source::named)
    }

    fn receipts_of(&self, held: &Held) -> Vec<model::ReceiptId> {
        let deeds = held.deeds.iter().filter_map(|at| self.record.deeds.get(*at));
        deeds.take(super::NAMED_MAX).map(|deed| deed.receipt_id).collect()
    }

    /// Whether a sentence is bound to what a number names, by the search for it.
    fn is_among(&self, held: &Held, bound: &Bound) -> bool {
        let mut by_text = held.texts.iter().filter_map(|text| self.record.sources.get(*text));
        self.receipts_of(held).iter().any(|receipt| bound.receipts.contains(receipt))
            || by_text.any(|source| bound.sources.iter().any(|one| one.artifact_id == source.artifact_id))
    }

    /// A record in its own words: what was done, or what was looked at.
    fn words_of(&self, held: &Held) -> String {
        let deed = held.deeds.first().and_then(|at| self.record.deeds.get(*at));
        let title = || held.texts.first().and_then(|text| self.record.sources.get(*text));
        let words = deed.map(told_of).or_else(|| title().map(|source| source.title.clone()));
        shortened(&words.unwrap_or_default())
    }

    /// The words of a record that are nearest to a sentence that it does not bear, for a person to compare.
    pub(super) fn nearest(&self, held: &Held, words: &str) -> String {
        let said = tokens(words);
        let keys =
            said.iter().filter(|token| super::passages::is_content(token)).flat_map(said::keys).collect();
        let has = |raw: &str| -> usize {
            let own: BTreeSet<String> = tokens(raw).iter().flat_map(said::keys).collect();
            own.intersection(&keys).count()
        };
        let nearest = held.texts.first().and_then(|text| {
            let near = self.seen.near(*text, &keys);
            let found = near
                .into_iter()
                .filter(|passage| !passage.is_joined)
                .max_by_key(|passage| has(&passage.raw))?;
            let source = self.record.sources.get(*text).filter(|_| self.spends(NEAREST_COST))?;
            Some(facts::quoted(&source.text, &found.raw))
        });
        nearest.unwrap_or_else(|| self.words_of(held))
    }

    fn bound_by(&self, proofs: &[Proof], records: &[Held]) -> Bound {
        let mut bound = Bound::of(Support::Evidence);
        for proof in proofs {
            let Some(held) = records.get(proof.record) else { continue };
            match proof.text.and_then(|text| self.record.sources.get(text)) {
                Some(source) => drop(bound.sources.insert(source.named())),
                None => {
                    let receipts = self.receipts_of(held);
                    if !receipts.is_empty() {
                        bound.support = Support::Receipt;
                    }
                    bound.receipts.extend(receipts);
                    bound.sources.extend(self.source_of(held).filter(|_| held.deeds.is_empty()));
                }
            }
        }
        bound
    }
}

impl Bound {
    /// With what is wrong with the citations, where nothing bears the sentence.
    fn blaming(mut self, marks: &[&Mark], is_known: impl Fn(u32) -> bool) -> Self {
        let Some(because) = self.because.take_if(|_| !marks.is_empty()) else { return self };
        let told = match marks.iter().find(|mark| !is_known(mark.number)) {
            Some(mark) => format!("r{}, which it cites, is nothing that was shown", mark.number),
            None => "what it cites does not show it".to_owned(),
        };
        self.because = Some(format!("{told}, and {because}"));
        self
    }
}

/// A text in one line, no longer than what is shown.
pub(super) fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = line.chars().take(QUOTE_MAX).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}

impl Judge<'_, '_> {
    /// What bears a sentence of the records that it cites, as it stands, in plainer words, or clause by clause; nothing where a part
    /// of it is not borne. A clause may also be borne by what the search for it finds, if one is by what it cites.
    fn judge(&self, words: &str) -> Option<Borne> {
        if self.records.is_empty() {
            return None;
        }
        let words = spoken(words);
        let plain = super::plain::plain(&words);
        let whole = self.clause(&words).or_else(|| self.clause(&plain).filter(|_| plain != words));
        if let Some(proofs) = whole {
            return Some(Borne { proofs, beside: Bound::of(Support::Claimless) });
        }
        let mut borne = Borne { proofs: Vec::new(), beside: Bound::of(Support::Claimless) };
        for clause in super::plain::clauses(&plain)? {
            match self.clause(&clause) {
                Some(proofs) => borne.proofs.extend(proofs),
                None => borne.beside = borne.beside.with(self.checker.says(&clause)?),
            }
        }
        Some(borne).filter(|borne| !borne.proofs.is_empty())
    }

    fn clause(&self, words: &str) -> Option<Vec<Proof>> {
        let all = tokens(words);
        let said: Vec<&Token> = all.iter().collect();
        let is_high = words.chars().find(|c| c.is_alphabetic()).is_some_and(char::is_uppercase);
        let is_first_person = any(&said, lists::FIRST_PERSON);
        let head = said.first().copied().filter(|_| is_high);
        let fact = if is_first_person { None } else { self.fact(&said, head) };
        let found = fact.or_else(|| self.acts(&said, is_high, is_first_person));
        // A form is the record's in other words, each time.
        if self.checker.is_exact.get() {
            found
        } else {
            found.or_else(|| self.formed(&said, is_first_person))
        }
    }
}

/// Without words that only lead to what is said.
fn spoken(words: &str) -> String {
    let led = words.strip_prefix("According to ").and_then(|rest| rest.split_once(','));
    led.map_or(words, |(_, rest)| rest.trim_start()).replace("gone ahead and ", "")
}

/// Whether one of these words stands there.
fn any(said: &[&Token], words: &'static str) -> bool {
    said.iter().any(|token| token.kind != Kind::Mark && holds(words, &super::asserts::straight(&token.raw)))
}

/// Whether one of these words stands there as a word of its language.
fn has(said: &[&Token], words: &'static str) -> bool {
    said.iter().any(|token| token.kind == Kind::Word && holds(words, &super::asserts::straight(&token.raw)))
}
