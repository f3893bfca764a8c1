//! What a task's events tell of each turn of its model: what was sent and answered, and what came of it.

use crate::fold::walk;
use ledger::Reader;
use model::action::ActionClass;
use model::artifact::{ArtifactRef, TrustTier};
use model::context::ContextPack;
use model::policy::Verdict;
use model::receipt::ResultCode;
use model::{ActionRequestId, ApprovalId, ArtifactId, AttemptId, Body, Event, ReceiptId, TaskId, UnixMs};
use std::collections::{BTreeMap, BTreeSet};
use wire::Error;

/// A turn.
pub(super) struct Turn {
    attempt: AttemptId,
    /// When it was asked.
    pub at: UnixMs,
    /// The context that the request was made from.
    pub pack: Option<ArtifactRef>,
    /// What was sent.
    pub request: ArtifactRef,
    response: Option<ArtifactId>,
    /// What was answered.
    pub answer: Option<ArtifactRef>,
    /// Whether the answer was none that could be used.
    pub is_rejected: bool,
    acts: BTreeSet<ActionRequestId>,
}

/// A task.
#[derive(Default)]
pub(super) struct Story {
    pub turns: Vec<Turn>,
    packs: BTreeMap<AttemptId, ArtifactRef>,
    approvals: BTreeMap<ApprovalId, ActionRequestId>,
    receipts: BTreeMap<ActionRequestId, Vec<ReceiptId>>,
    all: Vec<ReceiptId>,
    denied: BTreeSet<ActionRequestId>,
    failed: BTreeSet<ActionRequestId>,
    redacted: BTreeSet<ArtifactId>,
    /// Acts on the person's own folder, and what they showed.
    own: BTreeSet<ActionRequestId>,
    seen_of_own: BTreeSet<String>,
    /// Receipts of which a part was undone.
    pub partly_undone: Vec<ReceiptId>,
}

impl Story {
    /// Reads a task.
    pub fn read(reader: &Reader, task: TaskId) -> Result<Self, Error> {
        let mut story = Self::default();
        walk(reader, task, &mut |_, event, body| {
            story.take(event, body);
            Ok(())
        })?;
        Ok(story)
    }

    fn take(&mut self, event: &Event, body: &Body) {
        match body {
            Body::ContextCompiled(b) => drop(self.packs.insert(b.about_attempt_id, b.pack.clone())),
            Body::ModelRequested(b) => self.turns.push(Turn {
                attempt: b.about_attempt_id,
                at: event.occurred_at,
                pack: self.packs.get(&b.about_attempt_id).cloned(),
                request: b.request.clone(),
                response: None,
                answer: None,
                is_rejected: false,
                acts: BTreeSet::new(),
            }),
            Body::ModelResponded(b) => {
                if let Some(turn) = self.turn(b.about_attempt_id) {
                    turn.response = Some(b.response.artifact_id);
                    turn.answer = Some(b.answer.clone());
                }
            }
            Body::ModelOutputRejected(b) => {
                if let Some(turn) = self.turn(b.about_attempt_id) {
                    turn.is_rejected = true;
                }
            }
            Body::ContentRedacted(b) => drop(self.redacted.insert(b.artifact_id)),
            Body::ReceiptsUndone(b) => self.partly_undone.extend(&b.partly),
            _ => self.take_act(event, body),
        }
    }

    fn take_act(&mut self, event: &Event, body: &Body) {
        match body {
            Body::ActionRequested(b) => {
                if is_of_own(b.action_class, &b.tool) {
                    self.own.insert(b.action_request_id);
                }
                let of = event.attempt_id.and_then(|attempt| self.turn(attempt));
                if let Some(turn) = of.filter(|turn| turn.answer.is_some()) {
                    turn.acts.insert(b.action_request_id);
                }
            }
            // What was done instead is not what was answered.
            Body::ActionDowngraded(b) => drop(self.denied.insert(b.action_request_id)),
            Body::PolicyEvaluated(b) if b.verdict == Verdict::Deny => {
                self.denied.insert(b.action_request_id);
            }
            Body::ApprovalRequested(b) => {
                self.approvals.insert(b.approval.approval_id, b.action_request_id);
            }
            Body::ApprovalDenied(b) => self.denied.extend(self.approvals.get(&b.approval_id)),
            Body::EffectUncertain(b) => drop(self.failed.insert(b.action_request_id)),
            Body::EffectObserved(b) => {
                if b.result_code != ResultCode::Succeeded {
                    self.failed.insert(b.action_request_id);
                }
                if self.own.contains(&b.action_request_id) {
                    self.seen_of_own.insert(b.result.artifact_id.to_string());
                }
            }
            Body::ReceiptIssued(b) => {
                self.all.push(b.receipt_id);
                let Some(act) = b.action_request_id else { return };
                self.receipts.entry(act).or_default().push(b.receipt_id);
                match b.result_code {
                    ResultCode::Succeeded | ResultCode::Granted => {}
                    ResultCode::Denied => drop(self.denied.insert(act)),
                    ResultCode::Failed | ResultCode::Partial | ResultCode::UnknownOutcome => {
                        self.failed.insert(act);
                    }
                }
            }
            _ => {}
        }
    }

    /// The last turn of an attempt.
    fn turn(&mut self, attempt: AttemptId) -> Option<&mut Turn> {
        self.turns.iter_mut().rfind(|turn| turn.attempt == attempt)
    }

    /// Whether a context holds anything untrusted but what stands in the person's own folder: that is theirs, and they may
    /// mark it private.
    pub fn shows_untrusted(&self, pack: &ContextPack) -> bool {
        let mut untrusted = pack.items.iter().filter(|item| item.trust_tier == TrustTier::Untrusted);
        untrusted.any(|item| !self.seen_of_own.contains(&item.source))
    }

    /// Whether anything that a turn asked for was denied.
    pub fn is_denied(&self, turn: &Turn) -> bool {
        !self.denied.is_disjoint(&turn.acts)
    }

    /// Whether anything that a turn asked for did not come about.
    pub fn has_failed(&self, turn: &Turn) -> bool {
        !self.failed.is_disjoint(&turn.acts)
    }

    /// Whether a secret was taken out of what a turn showed, or out of what it answered.
    pub fn is_redacted(&self, turn: &Turn, inputs: &[ArtifactId]) -> bool {
        let own = turn.pack.iter().chain([&turn.request]).chain(&turn.answer).map(|one| one.artifact_id);
        own.chain(turn.response).chain(inputs.iter().copied()).any(|id| self.redacted.contains(&id))
    }

    /// The receipts of what a turn did; of one that only looked, or closed its task, all receipts of the task.
    pub fn receipts_of(&self, turn: &Turn) -> Vec<ReceiptId> {
        let own = turn.acts.iter().filter_map(|act| self.receipts.get(act)).flatten();
        let mut own: Vec<ReceiptId> = own.copied().collect();
        if own.is_empty() {
            own.clone_from(&self.all);
        }
        own.sort_unstable();
        own.dedup();
        own
    }
}

/// Whether an act looks at, changes or runs something in the folder alone: no page, no server of tools and no other agent.
fn is_of_own(class: ActionClass, tool: &str) -> bool {
    let is_local = matches!(
        class,
        ActionClass::ReadLocal
            | ActionClass::WriteLocal
            | ActionClass::DeleteLocal
            | ActionClass::ExecuteCommand
    );
    is_local && matches!(tool, "observe" | "change" | "command" | "vcs")
}
