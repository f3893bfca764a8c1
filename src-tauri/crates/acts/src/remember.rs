//! Remembering in later tasks.

use crate::{ActionRequest, INVALIDATE_MEMORY, Line, LineKind, Tool, count, short, visible};
use model::action::{ActionClass, Reversibility};
use model::artifact::{EvidenceRef, Selector, TrustTier};
use model::knowledge::{AlsoRemembered, MemoryRetention, MemoryType, Project, Replaced};
use model::receipt::{ReceiptClass, ReplayClass, ResultCode};
use model::{BeliefId, ResourceId, WorkspaceId, lasting};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::time::Duration;

/// A claim that is promoted to durable memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remember {
    /// The claim.
    pub claim: String,
    /// Where it holds.
    pub scope: String,
    /// Why it deserves to last.
    pub promotion_reason: String,
    /// What supports it.
    pub evidence_refs: Vec<EvidenceRef>,
    /// What each piece of it is, in words and in its order; nothing is said of pieces behind the last. Words of a source stand
    /// here, where they can be erased, and in no [`EvidenceRef`], which the log keeps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// The belief it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub belief_id: Option<BeliefId>,
    /// The project it holds in; everywhere when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Project>,
    /// What kind of knowledge it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<MemoryType>,
    /// For how long it is kept; until somebody says otherwise when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<MemoryRetention>,
    /// For how many days it holds; for good when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
    /// The record whose place it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<Replaced>,
    /// Further claims of the same card; a person may leave some out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<AlsoRemembered>,
}

impl Remember {
    /// Claims of one card; none of no claim.
    pub fn together(claims: impl IntoIterator<Item = Remember>) -> Option<Remember> {
        let mut claims = claims.into_iter();
        let first = claims.next()?;
        let also = claims.map(|one| AlsoRemembered {
            claim: one.claim,
            scope: one.scope,
            promotion_reason: one.promotion_reason,
            evidence_refs: one.evidence_refs,
            sources: one.sources,
            project: one.project,
            memory_type: one.memory_type,
        });
        Some(Remember { also: also.collect(), ..first })
    }

    /// Every claim of the card by itself, in its order.
    pub fn claims(&self) -> impl Iterator<Item = Remember> {
        let further = self.also.iter().map(|one| Remember {
            claim: one.claim.clone(),
            scope: one.scope.clone(),
            promotion_reason: one.promotion_reason.clone(),
            evidence_refs: one.evidence_refs.clone(),
            sources: one.sources.clone(),
            belief_id: None,
            project: one.project.clone(),
            memory_type: one.memory_type,
            retention: None,
            days: None,
            replaces: None,
            also: Vec::new(),
        });
        std::iter::once(Remember { also: Vec::new(), ..self.clone() }).chain(further)
    }

    /// The same with the claims at these places alone; none where that is none of them.
    pub fn at(&self, places: &BTreeSet<usize>) -> Option<Remember> {
        Self::together(self.claims().zip(0..).filter(|(_, at)| places.contains(at)).map(|(one, _)| one))
    }

    /// One claim of several, with its number.
    fn numbered(&self, number: usize) -> Vec<Line> {
        let mut lines = vec![
            Line::effect(format!("{number}. remember in later tasks: \"{}\"", visible(&self.claim))),
            Line::effect(format!("{number}. it would hold {}; {}", self.place(), self.lasts())),
            Line {
                kind: LineKind::Quoted,
                text: format!("{number}. because: {}", visible(&self.promotion_reason)),
            },
        ];
        lines.extend(self.memory_type.iter().map(|kind| Line::effect(format!("{number}. it is a {kind}"))));
        lines.extend(self.support().map(|line| Line::effect(format!("{number}. {line}"))));
        lines
    }

    /// A line for each piece of evidence, with the words for what it is.
    fn support(&self) -> impl Iterator<Item = String> {
        let sources = self.sources.iter().map(Some).chain(std::iter::repeat(None));
        self.evidence_refs.iter().zip(sources).map(|(one, source)| support(one, source.map(String::as_str)))
    }

    /// Where it would hold, in words.
    fn place(&self) -> String {
        let part = match self.scope.trim() {
            "" | "*" | "project" => String::new(),
            part => format!(", for \"{}\"", visible(part)),
        };
        match &self.project {
            Some(project) => format!("in the project \"{}\"{part}", visible(&project.name)),
            None => format!("everywhere, in every project{part}"),
        }
    }

    /// For how long it would be kept, in words.
    fn lasts(&self) -> String {
        match (self.days, self.retention) {
            (Some(days), _) => {
                format!("it would be kept for {}", count(usize::try_from(days).unwrap_or(usize::MAX), "day"))
            }
            (None, Some(MemoryRetention::Pinned)) => {
                "it would be pinned: every task there is told of it, until you say otherwise".to_owned()
            }
            _ if self.belief_id.is_some() => {
                "it would be kept until you say otherwise, or the belief that it comes from ends".to_owned()
            }
            _ => "it would be kept until you say otherwise".to_owned(),
        }
    }
}

impl Tool for Remember {
    fn classes(&self) -> BTreeSet<ActionClass> {
        BTreeSet::from([ActionClass::DurableMemoryWrite])
    }

    /// It touches nothing that exists yet; its claim is bound by the digest of the request.
    fn resources(&self, _: WorkspaceId) -> BTreeSet<ResourceId> {
        BTreeSet::new()
    }

    fn reversibility(&self) -> Reversibility {
        Reversibility::Reversible
    }

    fn reversibility_without_changes(&self, _: &ActionRequest, result: ResultCode) -> Reversibility {
        match result {
            ResultCode::Succeeded => Reversibility::Reversible,
            _ => Reversibility::NoEffect,
        }
    }

    fn undo_method(&self) -> &'static str {
        INVALIDATE_MEMORY
    }

    fn receipt_class(&self) -> ReceiptClass {
        ReceiptClass::MemoryPromotion
    }

    fn replay_class(&self) -> ReplayClass {
        ReplayClass::IdempotentReplay
    }

    fn trust(&self) -> TrustTier {
        TrustTier::Observed
    }

    fn title(&self) -> String {
        match self.also.len() {
            0 => format!("remember \"{}\"", visible(&self.claim)),
            more => {
                format!("remember {}: \"{}\" and {more} more", count(more + 1, "claim"), visible(&self.claim))
            }
        }
    }

    fn one_line(&self) -> String {
        match self.also.len() {
            0 => format!("remember: {}", self.claim),
            more => format!("remember {}: {} and {more} more", count(more + 1, "claim"), self.claim),
        }
    }

    fn lines(&self, _: &ActionRequest) -> Vec<Line> {
        if !self.also.is_empty() {
            let mut lines = vec![Line::effect(format!(
                "remember {} in later tasks; you can leave some out, and those are not proposed again on the same evidence",
                count(self.also.len() + 1, "claim")
            ))];
            lines.extend(self.claims().zip(1..).flat_map(|(one, number)| one.numbered(number)));
            return lines;
        }
        let mut lines = vec![
            Line::effect(format!("remember in later tasks: \"{}\"", visible(&self.claim))),
            Line::effect(format!("it would hold {}", self.place())),
            Line::effect(self.lasts()),
            Line { kind: LineKind::Quoted, text: format!("because: {}", visible(&self.promotion_reason)) },
        ];
        lines.extend(self.memory_type.iter().map(|kind| Line::effect(format!("it is a {kind}"))));
        lines.extend(
            self.replaces
                .iter()
                .map(|old| Line::effect(format!("it takes the place of \"{}\"", visible(&old.claim)))),
        );
        lines.extend(
            self.belief_id.iter().map(|_| Line::effect("it comes from a belief of a task".to_owned())),
        );
        lines.extend(self.support().map(Line::effect));
        lines
    }

    fn details(&self) -> Vec<String> {
        let mut details: Vec<String> = Vec::new();
        details.extend(self.replaces.iter().map(|old| format!("it takes the place of `{}`", old.memory_id)));
        details.extend(self.belief_id.iter().map(|id| format!("it comes from belief `{id}`")));
        for (one, number) in self.claims().zip(1..) {
            let of = if self.also.is_empty() { String::new() } else { format!("{number}. ") };
            details.extend(one.evidence_refs.iter().map(|evidence| format!("{of}{}", exactly(evidence))));
        }
        details
    }
}

/// What supports a claim, as a person reads it.
fn support(evidence: &EvidenceRef, source: Option<&str>) -> String {
    let part = part(&evidence.selector);
    let is_named = |source: &str| match &evidence.selector {
        Selector::Lines { start, end, .. } => source.contains(&format!(", {},", lines(*start, *end))),
        _ => false,
    };
    let what = match source.map(visible) {
        // Its source names the lines already, and of which file.
        Some(source) if is_named(&source) => source,
        Some(source) => format!("{part} of {source}"),
        None => format!("{part} of artifact `{}`", short(&evidence.artifact_id)),
    };
    let trust = match evidence.trust_tier {
        TrustTier::UserAsserted => "said by you".to_owned(),
        TrustTier::PolicyAsserted => "set by policy".to_owned(),
        other => other.to_string(),
    };
    format!("evidence: {what}; {trust}, {}", how_sure(evidence.confidence))
}

/// The same with its identifier and its digest.
fn exactly(evidence: &EvidenceRef) -> String {
    let EvidenceRef { artifact_id, selector, excerpt_hash, capture_method, .. } = evidence;
    let (part, capture) = (part(selector), visible(capture_method));
    format!("evidence is {part} of `{artifact_id}`, captured by \"{capture}\", sha256 {excerpt_hash}")
}

/// A confidence, which is of 1000, in words.
fn how_sure(confidence: u16) -> String {
    match (confidence / 10, confidence % 10) {
        (100.., _) => "sure".to_owned(),
        (whole, 0) => format!("{whole} % sure"),
        (whole, rest) => format!("{whole}.{rest} % sure"),
    }
}

/// Which part of an artifact it is, in words.
fn part(selector: &Selector) -> String {
    match selector {
        Selector::Whole => "all".to_owned(),
        Selector::Bytes { start, end } => format!("bytes {start} to {end}"),
        Selector::Lines { start, end, of: None } => lines(*start, *end),
        Selector::Lines { start, end, of: Some(pointer) } => {
            format!("{} of the value at \"{}\"", lines(*start, *end), visible(pointer))
        }
        Selector::JsonPath { pointer } => format!("the value at \"{}\"", visible(pointer)),
        Selector::Dom { selector } => format!("the element \"{}\"", visible(selector)),
        Selector::TimeSpan { start_ms, end_ms } => between(*start_ms, *end_ms),
        Selector::Record { id } => format!("the record \"{}\"", visible(id)),
    }
}

/// From when to when in a recording.
fn between(start_ms: u64, end_ms: u64) -> String {
    let [from, to] = [start_ms, end_ms].map(|ms| lasting(Duration::from_millis(ms)));
    format!("from {from} to {to}")
}

/// Which lines these are, the last one with them.
fn lines(start: u64, end: u64) -> String {
    if start == end { format!("line {start}") } else { format!("lines {start} to {end}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Digest;

    #[test]
    fn evidence_is_told_in_words_and_its_identifier_and_digest_stand_among_the_details() {
        let evidence = EvidenceRef {
            artifact_id: format!("art_{}", "0".repeat(32)).parse().expect("an id"),
            selector: Selector::Whole,
            excerpt_hash: Digest::of(b"words"),
            capture_method: "said".to_owned(),
            confidence: 1000,
            trust_tier: TrustTier::UserAsserted,
        };
        assert_eq!(support(&evidence, None), "evidence: all of artifact `00000000`; said by you, sure");
        let less = EvidenceRef {
            selector: Selector::Lines { start: 2, end: 2, of: None },
            confidence: 875,
            trust_tier: TrustTier::Untrusted,
            ..evidence.clone()
        };
        let told = |source: &str| support(&less, Some(source));
        assert_eq!(
            told("\"a\", line 2, as it was seen"),
            "evidence: \"a\", line 2, as it was seen; untrusted, 87.5 % sure"
        );
        assert_eq!(told("a page"), "evidence: line 2 of a page; untrusted, 87.5 % sure");
        let of = Some("/results/0".to_owned());
        let in_value = EvidenceRef { selector: Selector::Lines { start: 2, end: 2, of }, ..less.clone() };
        assert_eq!(
            support(&in_value, Some("\"a\", line 2, as it was seen")),
            "evidence: \"a\", line 2, as it was seen; untrusted, 87.5 % sure"
        );
        let whole = exactly(&evidence);
        assert!(whole.contains(&evidence.artifact_id.to_string()), "{whole}");
        assert!(whole.contains(&evidence.excerpt_hash.to_string()), "{whole}");
        assert_eq!(how_sure(870), "87 % sure");
    }
}
