//! The historian's rules: what of an ended task is worth remembering, found without a model (memory.md 4); what they leave is put
//! to one ([`second`]).
//!
//! A claim is a person's own words, or says in so many words who said what to whom. Words of models, files, pages, tools and
//! programs are never a person's: where a claim cannot do without them, as with the question that a person answered, they
//! stand in it as what they are, and it has the lowest trust of all that the task had seen by then. Nothing is remembered
//! by this: what is found is proposed, and a person says yes or no to each line.

mod moments;
mod saying;
pub mod second;

pub use moments::Reading;

use crate::relevance;
use model::artifact::TrustTier;
use model::knowledge::{Ground, HistoryMark, MemoryType, Suggestion};
use model::{ArtifactId, Digest, EventId};
use std::collections::BTreeSet;

/// How something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// A person said something to a task at work that says how things are to be done.
    Correction,
    /// A person refused an act, with words.
    Refusal,
    /// A person answered a question.
    Answer,
    /// A command failed, and passed after something was changed.
    Mended,
    /// A person said something that a model took for what holds later, too.
    Chosen,
}

impl Rule {
    /// The name that proposals carry.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Correction => "correction",
            Self::Refusal => "refusal",
            Self::Answer => "answer",
            Self::Mended => "mended",
            Self::Chosen => "chosen by a model",
        }
    }

    const fn memory_type(self) -> MemoryType {
        match self {
            Self::Correction | Self::Refusal | Self::Chosen => MemoryType::Correction,
            Self::Answer => MemoryType::Decision,
            Self::Mended => MemoryType::Pattern,
        }
    }
}

/// Something that was found in one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// How.
    pub rule: Rule,
    /// The claim.
    pub claim: String,
    /// Why it is proposed, in words.
    pub reason: String,
    /// The lowest trust of all that it rests on.
    pub tier: TrustTier,
    /// What shows it, in order.
    pub grounds: Vec<Ground>,
    /// What it was made of, beside a person's own words.
    pub sources: Vec<ArtifactId>,
    /// Whether it is proposed though it came about once; else only when it comes about again.
    pub suffices: bool,
}

/// What becomes of all that was found: what is proposed, and what is marked, so that it is not proposed again on the same
/// evidence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Weighed {
    /// What is proposed: the most trusted first, else in the order in which it was found.
    pub lines: Vec<Suggestion>,
    /// What was looked at.
    pub marks: Vec<HistoryMark>,
}

/// What is proposed of what was found, given what was marked before and the claims that are remembered already.
///
/// A claim that was marked is proposed again only on an event that it did not rest on before: one that a person struck stays
/// struck, until it comes about once more. One that is too little alone is proposed the second time.
pub fn weigh(
    found: Vec<Found>,
    known: &[HistoryMark],
    remembered: &[String],
    (store, project): (&str, Option<Digest>),
) -> Weighed {
    let held: BTreeSet<String> = remembered.iter().map(|claim| bare(claim)).collect();
    let mut groups: Vec<(Digest, Vec<Found>)> = Vec::new();
    for one in found {
        let key = key_of(&one.claim, store, project);
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, all)) => all.push(one),
            None => groups.push((key, vec![one])),
        }
    }
    let mut weighed = Weighed::default();
    for (claim_sha256, group) in groups {
        let marks: Vec<&HistoryMark> =
            known.iter().filter(|m| m.claim_sha256 == claim_sha256 && m.project_hash == project).collect();
        let before: BTreeSet<EventId> = marks.iter().flat_map(|mark| mark.evidence.iter().copied()).collect();
        let is_new = |one: &Found| one.grounds.iter().any(|ground| !before.contains(&ground.event_id));
        let fresh: Vec<Found> = group.into_iter().filter(is_new).collect();
        let Some(first) = fresh.first() else { continue };
        let times = fresh.len().saturating_add(marks.len());
        let is_held = held.contains(&bare(&first.claim));
        let proposed = !is_held && (first.suffices || times > 1);
        let evidence =
            fresh.iter().flat_map(|one| one.grounds.iter().map(|ground| ground.event_id)).collect();
        weighed.marks.push(HistoryMark { project_hash: project, claim_sha256, evidence, proposed });
        if proposed {
            weighed.lines.push(line(fresh, times));
        }
    }
    // What can be relied on most is read first.
    weighed.lines.sort_by_key(|line| std::cmp::Reverse(crate::trust::rank(line.trust_tier)));
    weighed
}

/// What was found once or several times, as one proposal.
fn line(mut all: Vec<Found>, times: usize) -> Suggestion {
    let rest = all.split_off(1);
    let first = all.remove(0);
    let tier = rest.iter().map(|one| one.tier).fold(first.tier, crate::trust::weaker);
    let again = if times > 1 { format!(", {times} times the same") } else { String::new() };
    let mut grounds = first.grounds;
    let mut sources: BTreeSet<ArtifactId> = first.sources.into_iter().collect();
    for one in rest {
        grounds.extend(one.grounds);
        sources.extend(one.sources);
    }
    grounds.truncate(GROUNDS_MAX);
    Suggestion {
        claim: first.claim,
        memory_type: first.rule.memory_type(),
        rule: first.rule.name().to_owned(),
        reason: format!("{}{again}", first.reason),
        trust_tier: tier,
        grounds,
        sources: sources.into_iter().take(SOURCES_MAX).collect(),
    }
}

/// Pieces of evidence of one line.
const GROUNDS_MAX: usize = 8;
/// Sources of one line.
const SOURCES_MAX: usize = 32;

/// A claim as it is compared: its words in lower case.
fn bare(claim: &str) -> String {
    let words = claim.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// The digest of a claim in a project of a store: whoever has it alone cannot tell the words from it.
pub fn key_of(claim: &str, store: &str, project: Option<Digest>) -> Digest {
    let project = project.map(|project| project.to_string()).unwrap_or_default();
    Digest::of(format!("hermit history\n{store}\n{project}\n{}", bare(claim)).as_bytes())
}

/// Whether what a person said to a task at work sets something right.
pub fn corrects(words: &str) -> bool {
    saying::correction(words).is_some()
}

/// Whether words say something that holds beyond the moment: more than a yes, a no, a thank-you.
fn says_something(words: &str) -> bool {
    relevance::words(&[words]).len() >= 2
}
