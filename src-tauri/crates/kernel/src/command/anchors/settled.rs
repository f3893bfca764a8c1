//! What came of the acts that asked a clock, once their tasks are over.

use crate::Error;
use crate::anchor_registry::{AnchorRecord, ClockRecord};
use crate::kernel::Kernel;
use crate::state::TaskState;
use effects::AnchorCame;
use model::anchor::AnchorClock;
use model::artifact::{ArtifactKind, ArtifactRef};
use model::body::{AnchorCompleted, AnchorFailed, AnchorStamped, AnchorWithdrawn};
use model::receipt::{ReceiptClass, ResultCode};
use model::{Digest, Sensitive, TaskId};

impl Kernel {
    /// Puts on record what came of every act whose task is over.
    ///
    /// # Errors
    /// When the store fails.
    pub fn settle_anchors(&self) -> Result<(), Error> {
        for record in self.anchor_registry().all() {
            for (clock, one) in &record.clocks {
                if let Some(task) = one.asked_by.filter(|_| one.is_asked) {
                    self.settle_anchor(record, (*clock, one), task)?;
                }
            }
        }
        Ok(())
    }

    /// As [`Kernel::settle_anchors`], for the task that has just ended. What fails is done by the clock of the host.
    pub(crate) fn settle_anchor_of(&self, task: TaskId) {
        let registry = self.anchor_registry();
        let asked = |one: &ClockRecord| one.is_asked && one.asked_by == Some(task);
        let Some(record) = registry.all().rev().find(|record| record.clocks.values().any(asked)) else {
            return;
        };
        for (clock, one) in record.clocks.iter().filter(|(_, one)| asked(one)) {
            if let Err(error) = self.settle_anchor(record, (*clock, one), task) {
                tracing::warn!(anchor = record.number, %error, "what a clock answered is put on record later");
            }
        }
    }

    fn settle_anchor(
        &self,
        record: &AnchorRecord,
        (clock, one): (AnchorClock, &ClockRecord),
        task: TaskId,
    ) -> Result<(), Error> {
        let state = match self.load(task) {
            Ok(state) => state,
            // One damaged task keeps no other anchor from going on.
            Err(Error::Severed { .. }) => {
                let why = "the record of the task that asked is damaged";
                return self.fail_anchor((record.number, clock), one.attempts, why);
            }
            Err(error) => return Err(error),
        };
        if !state.task.status.is_terminal() {
            return Ok(());
        }
        let at = (record.number, clock);
        let acted = state.receipts.iter().rfind(|one| one.receipt_class == ReceiptClass::ToolExecution);
        let code = acted.map(|receipt| receipt.result_code);
        let came = match code {
            Some(ResultCode::Succeeded) => self.anchor_came(&state),
            _ => None,
        };
        let why = match code {
            Some(ResultCode::Succeeded) => "what the clock answered is not there any more".to_owned(),
            Some(ResultCode::UnknownOutcome) => {
                "nobody saw whether the transaction was sent; ask how the anchor stands to look for it"
                    .to_owned()
            }
            Some(_) => self.why_not(&state).unwrap_or_else(|| "it did not come about".to_owned()),
            None => "it was not allowed".to_owned(),
        };
        match came {
            Some((came, proof)) => self.record_came(at, one, came, proof),
            None => self.fail_anchor(at, one.attempts, &why),
        }
    }

    fn record_came(
        &self,
        (number, clock): (u64, AnchorClock),
        one: &ClockRecord,
        came: AnchorCame,
        proof: Option<ArtifactRef>,
    ) -> Result<(), Error> {
        let mut w = self.anchor_writeup(number)?;
        let now = w.now;
        let key = |what: &str| Some(format!("anchor.{what}:{number}:{clock}:{}", one.attempts));
        let is_gone = came.is_gone && one.block.is_some();
        if let Some(block) = one.block.clone().filter(|_| came.is_gone) {
            w.push_keyed(key("withdrawn"), AnchorWithdrawn { number, clock, block, withdrawn_at: now });
        }
        match (came.not_after, proof) {
            (Some(not_after), Some(proof)) => {
                let block = came.block;
                let completed = AnchorCompleted { number, clock, proof, not_after, block, completed_at: now };
                w.push_keyed(key("completed"), completed);
            }
            // What is gone is pending again by that alone.
            (_, None) if is_gone => {}
            (_, proof) => {
                let (at, action_request_id) = (came.at, came.action_request_id);
                let stamped = AnchorStamped { number, clock, at, proof, action_request_id, stamped_at: now };
                w.push_keyed(key("stamped"), stamped);
            }
        }
        self.commit_once(w)
    }

    pub(super) fn fail_anchor(
        &self,
        (number, clock): (u64, AnchorClock),
        attempt: u32,
        why: &str,
    ) -> Result<(), Error> {
        let mut w = self.anchor_writeup(number)?;
        let failed_at = w.now;
        // What is given up was asked about as often before.
        let key = format!("anchor.failed:{number}:{clock}:{attempt}:{}", Digest::of(why.as_bytes()));
        let why = Sensitive::from(why.to_owned());
        w.push_keyed(Some(key), AnchorFailed { number, clock, why, failed_at });
        self.commit_once(w)
    }

    /// What an act came to, and the proof that it left; none where either is damaged.
    fn anchor_came(&self, state: &TaskState) -> Option<(AnchorCame, Option<ArtifactRef>)> {
        let results = state.artifacts.values().filter(|one| one.kind == ArtifactKind::ActionResult);
        let read =
            |sha256: &Digest| serde_json::from_slice::<AnchorCame>(&self.artifacts.read(sha256).ok()?).ok();
        let came = results.filter_map(|one| read(&one.content_hash)).next()?;
        let Some(sha256) = came.proof_sha256 else { return Some((came, None)) };
        let kept = state.artifacts.values().find(|one| one.content_hash == sha256)?;
        Some((came, Some(ArtifactRef { artifact_id: kept.artifact_id, sha256 })))
    }

    fn why_not(&self, state: &TaskState) -> Option<String> {
        let results = state.artifacts.values().filter(|one| one.kind == ArtifactKind::ActionResult);
        let read = |sha256: &Digest| {
            let value: serde_json::Value = serde_json::from_slice(&self.artifacts.read(sha256).ok()?).ok()?;
            value.get("error").and_then(|told| told.as_str()).map(str::to_owned)
        };
        results.filter_map(|one| read(&one.content_hash)).next()
    }
}
