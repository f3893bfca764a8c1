//! Which memory records helped in a task, and which were contradicted there: told at its end, from what is on record
//! (memory.md 2). The rules are those of [`knowledge::followed`].

use super::came::words;
use crate::Error;
use crate::kernel::Kernel;
use crate::state::TaskState;
use governance::PART;
use knowledge::followed::{Came, Followed, Story, Told, judge};
use model::approval::Surface;
use model::artifact::TrustTier;
use model::receipt::{ReceiptClass, ResultCode};
use model::{ActionRequestId, ApprovalId, Body, MemoryId};
use std::collections::{BTreeMap, BTreeSet};

/// Events read at once.
const STRIDE: usize = 500;
/// Events of one task that are read; what lies behind them tells nothing of its memory.
const EVENTS_MAX: usize = 20_000;
/// Records of one task that are judged.
const RECORDS_MAX: usize = 64;

/// Records, by what became of them; nothing where there is none.
type Judged = (Option<Vec<MemoryId>>, Option<Vec<MemoryId>>);

/// What is read of a task so far.
#[derive(Default)]
struct Reading {
    told: BTreeSet<MemoryId>,
    acts: BTreeMap<ActionRequestId, (BTreeSet<MemoryId>, String)>,
    asks: BTreeMap<ApprovalId, ActionRequestId>,
    in_hand: Option<ActionRequestId>,
    /// What a person said no to, while nothing says that it was a yes to a part.
    refused: BTreeMap<ActionRequestId, Followed>,
    story: Story,
}

impl Kernel {
    /// Which of the records that the task's contexts held helped in it, and which were contradicted. It is asked once, when the
    /// last step ends.
    pub(super) fn memories_judged(&self, state: &TaskState, answer: Option<&str>) -> Result<Judged, Error> {
        if state.attempts.values().all(|attempt| attempt.pack.is_none()) {
            return Ok((None, None));
        }
        let mut reading = Reading::default();
        reading.story.goal = state.goal_text();
        reading.story.answer = answer.map(str::to_owned);
        let (mut after, mut count) = (0, 0);
        loop {
            let page = self.reader.events(state.task.task_id, after, STRIDE)?;
            let Some(last) = page.last().filter(|_| count < EVENTS_MAX) else { break };
            (after, count) = (last.task_seq, count.saturating_add(page.len()));
            for stored in page {
                reading.take(&self.body_of(&stored.event()?)?);
            }
        }
        reading.story.acts.extend(std::mem::take(&mut reading.refused).into_values());
        let mut told = Vec::new();
        for memory_id in reading.told.iter().take(RECORDS_MAX) {
            // What was erased says nothing any more.
            if let Some(claim) = self.memory(*memory_id)?.claim.shown() {
                told.push(Told { memory_id: *memory_id, claim: claim.clone() });
            }
        }
        let (helped, contradicted) = judge(&told, &reading.story);
        let some = |records: Vec<MemoryId>| Some(records).filter(|records| !records.is_empty());
        Ok((some(helped), some(contradicted)))
    }
}

impl Reading {
    fn take(&mut self, body: &Body) {
        match body {
            Body::ContextCompiled(b) => self.told.extend(b.memories.iter().flatten()),
            Body::TaskInputAdded(b) if b.trust_tier.is_none_or(|tier| tier == TrustTier::UserAsserted) => {
                self.story.said.push(words(&b.text));
            }
            Body::ActionRequested(b) => {
                self.in_hand = Some(b.action_request_id);
                self.acts.insert(b.action_request_id, (self.told.clone(), words(&b.summary)));
            }
            Body::ApprovalRequested(b) => {
                self.asks.extend(self.in_hand.map(|act| (b.approval.approval_id, act)));
            }
            Body::ApprovalDenied(b)
                if !matches!(b.surface, Surface::RunApi | Surface::Mcp | Surface::Script | Surface::Chat) =>
            {
                if let Some(act) = self.asks.remove(&b.approval_id)
                    && let Some((told, words)) = self.acts.remove(&act)
                {
                    self.refused.insert(act, Followed { told, words, came: Came::Refused });
                }
            }
            // Who chooses a part says no to the rest of it, and what stands in the line of the whole is no word of that.
            Body::ActionDowngraded(b) if b.mode == PART => drop(self.refused.remove(&b.action_request_id)),
            // The answer of an earlier step.
            Body::RunTerminated(b) if b.answer.is_some() => {
                let (told, words) = (self.told.clone(), words(&b.summary));
                self.story.acts.push(Followed { told, words, came: Came::Done });
            }
            Body::ReceiptIssued(b)
                if b.receipt_class != ReceiptClass::ApprovalResolution
                    && b.result_code == ResultCode::Succeeded =>
            {
                let act = b.action_request_id.and_then(|act| self.acts.remove(&act));
                self.story.acts.extend(act.map(|(told, words)| Followed { told, words, came: Came::Done }));
            }
            _ => {}
        }
    }
}
