//! Decisions, beliefs and memory as candidates: which are active, which may steer, in which order.

use super::gather::{Basket, Candidate};
use super::input::PackInput;
use crate::belief::is_live;
use crate::{Recalled, trust};
use model::Sensitive;
use model::context::Section;
use model::knowledge::{BeliefStatus, MemoryRecord, MemoryStatus, MemoryType};
use std::cmp::Reverse;

fn shown(text: &Sensitive<String>) -> &str {
    text.shown().map_or("[erased]", String::as_str)
}

pub(super) fn decisions(input: &PackInput, basket: &mut Basket<'_>) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for decision in input.decisions.iter().rev() {
        let source = decision.decision_id.to_string();
        if decision.effective_until.is_some_and(|until| until <= input.now) {
            basket.omit(Section::Decisions, &source, "no longer in force");
            continue;
        }
        let text = format!("{}: {}", shown(&decision.summary), shown(&decision.rationale));
        let title = format!("Decided ({})", decision.decision_type);
        let mut candidate = basket.plain(Section::Decisions, &source, &title, &text);
        candidate.inputs = decision.evidence_refs.iter().map(|e| e.artifact_id).collect();
        candidates.push(candidate);
    }
    candidates
}

pub(super) fn beliefs(input: &PackInput, basket: &mut Basket<'_>) -> Vec<Candidate> {
    let mut order: Vec<_> = input.beliefs.iter().collect();
    order.sort_by_key(|b| (Reverse((trust::rank(b.trust_tier), b.confidence, b.created_at)), b.belief_id));
    let mut candidates = Vec::new();
    for belief in order {
        let source = belief.belief_id.to_string();
        let stale = belief.expires_at.is_some_and(|at| at <= input.now);
        // Two stand against each other only while both stand.
        let contested = input.beliefs.iter().any(|other| {
            belief.contradicts.contains(&other.belief_id)
                && is_live(other)
                && other.expires_at.is_none_or(|at| at > input.now)
        });
        let barred = match belief.status {
            BeliefStatus::Superseded | BeliefStatus::Revoked | BeliefStatus::Expired => {
                Some(belief.status.as_str())
            }
            BeliefStatus::Active | BeliefStatus::Contradicted if stale => Some("expired"),
            BeliefStatus::Active | BeliefStatus::Contradicted
                if !trust::may_influence_planning(belief.trust_tier) =>
            {
                Some("untrusted: it may not steer planning")
            }
            BeliefStatus::Active | BeliefStatus::Contradicted => None,
        };
        if let Some(reason) = barred {
            basket.omit(Section::Beliefs, &source, reason);
            continue;
        }
        let mark = if contested { "; contested, the other side stands too" } else { "" };
        let title = format!(
            "Belief ({}, {} of 1000, in {}{mark})",
            belief.trust_tier,
            belief.confidence,
            shown(&belief.scope)
        );
        let mut candidate = basket.plain(Section::Beliefs, &source, &title, shown(&belief.claim));
        candidate.tier = belief.trust_tier;
        candidate.inputs = belief.evidence_refs.iter().map(|e| e.artifact_id).collect();
        candidates.push(candidate);
    }
    candidates
}

/// Why no task is told of a record.
const WITHHELD: &str = "holds, or may hold, a value of a secret that a task looked into";

/// Markers of what earlier tasks found, the most relevant first (HV-3.4-6, reconciliation C30).
pub(super) fn memories(input: &PackInput, basket: &mut Basket<'_>) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for Recalled { record, found_by, .. } in &input.memories {
        let source = record.memory_id.to_string();
        let stale = record.expires_at.is_some_and(|at| at <= input.now);
        let barred = match record.status {
            MemoryStatus::Invalidated | MemoryStatus::Revoked | MemoryStatus::Expired => {
                Some(record.status.as_str())
            }
            MemoryStatus::Active if stale => Some("expired"),
            MemoryStatus::Active if !trust::may_influence_planning(record.trust_tier) => {
                Some("untrusted: it may not steer planning")
            }
            MemoryStatus::Active => None,
        };
        if let Some(reason) = barred {
            basket.omit(Section::Memory, &source, reason);
            continue;
        }
        let mut candidate = basket.plain(Section::Memory, &source, "Memory", &marker(record));
        candidate.tier = record.trust_tier;
        candidate.found_by = *found_by;
        candidate.inputs = record.evidence_refs.iter().map(|e| e.artifact_id).collect();
        candidates.push(candidate);
    }
    for withheld in &input.memories_withheld {
        basket.omit(Section::Memory, &withheld.to_string(), WITHHELD);
    }
    candidates
}

/// One line: what is remembered, where it holds, how far it can be relied on, and the task it comes from.
fn marker(record: &MemoryRecord) -> String {
    let kind = record.structured_assertion.as_ref().map_or("Remembered", |said| match said.memory_type {
        MemoryType::Decision => "Decision",
        MemoryType::Pattern => "Pattern",
        MemoryType::Correction => "Correction",
        MemoryType::Architecture => "Architecture",
        MemoryType::Preference => "Preference",
    });
    let place = match (record.project_hash, shown(&record.scope)) {
        (None, "*" | "") => "everywhere".to_owned(),
        (Some(_), "*" | "" | "project") => "this project".to_owned(),
        (_, scope) => scope.to_owned(),
    };
    let text = format!(
        "[MEMORY MARKER] {kind}: {} Holds for: {place}. Source: {} ({}).",
        shown(&record.claim),
        record.promoted_by_task_id,
        record.trust_tier
    );
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
