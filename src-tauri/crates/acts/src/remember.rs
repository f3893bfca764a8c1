//! Remembering in later tasks.

use crate::{ActionRequest, INVALIDATE_MEMORY, Line, LineKind, Tool, count, visible};
use model::action::{ActionClass, Reversibility};
use model::artifact::{EvidenceRef, Selector, TrustTier};
use model::knowledge::{MemoryRetention, MemoryType, Project, Replaced};
use model::receipt::{ReceiptClass, ReplayClass, ResultCode};
use model::{BeliefId, ResourceId, WorkspaceId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

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
}

impl Remember {
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
        format!("remember \"{}\"", visible(&self.claim))
    }

    fn one_line(&self) -> String {
        format!("remember: {}", self.claim)
    }

    fn lines(&self, _: &ActionRequest) -> Vec<Line> {
        let mut lines = vec![
            Line::effect(format!("remember in later tasks: \"{}\"", visible(&self.claim))),
            Line::effect(format!("it would hold {}", self.place())),
            Line::effect(self.lasts()),
            Line { kind: LineKind::Quoted, text: format!("because: {}", visible(&self.promotion_reason)) },
        ];
        lines.extend(self.memory_type.iter().map(|kind| Line::effect(format!("it is a {kind}"))));
        lines.extend(self.replaces.iter().map(|old| {
            Line::effect(format!("it takes the place of \"{}\" (`{}`)", visible(&old.claim), old.memory_id))
        }));
        lines.extend(self.belief_id.iter().map(|id| Line::effect(format!("it comes from belief `{id}`"))));
        lines.extend(self.evidence_refs.iter().map(|evidence| Line::effect(support(evidence))));
        lines
    }
}

fn support(evidence: &EvidenceRef) -> String {
    let EvidenceRef { artifact_id, selector, excerpt_hash, capture_method, confidence, trust_tier } =
        evidence;
    let part = match selector {
        Selector::Whole => "all of it".to_owned(),
        Selector::Bytes { start, end } => format!("bytes {start} to {end}"),
        Selector::Lines { start, end } => format!("lines {start} to {end}"),
        Selector::JsonPath { pointer } => format!("the value at \"{}\"", visible(pointer)),
        Selector::Dom { selector } => format!("the element \"{}\"", visible(selector)),
        Selector::TimeSpan { start_ms, end_ms } => format!("milliseconds {start_ms} to {end_ms}"),
        Selector::Record { id } => format!("the record \"{}\"", visible(id)),
    };
    let capture = visible(capture_method);
    format!(
        "evidence: {part} of `{artifact_id}`, {trust_tier}, confidence {confidence} of 1000, captured by \
         \"{capture}\", sha256 {excerpt_hash}"
    )
}
