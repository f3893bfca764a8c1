//! What a task's state keeps of approvals, grants and receipts.

use crate::Error;
use model::action::{ActionClass, Reversibility};
use model::approval::{Approval, ApprovalScope, ApprovalStatus, Choice, Surface};
use model::artifact::{ArtifactRef, TrustTier};
use model::body::{ApprovalGranted, ApprovalRequested, ApprovalSigned, TaskInputAdded, TaskInputQueued};
use model::policy::RiskBand;
use model::receipt::{ReceiptClass, ResultCode};
use model::{
    ActionRequestId, ArtifactId, AttemptId, Digest, Event, EventId, IngressId, ReceiptId, Sensitive, TaskId,
    UnixMs,
};

/// Where an event stands: what a fold needs of it beside its body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventAt {
    pub(crate) task_id: TaskId,
    pub(crate) task_seq: u64,
    pub(crate) event_id: EventId,
    pub(crate) attempt_id: Option<AttemptId>,
    pub(crate) occurred_at: UnixMs,
}

impl From<&Event> for EventAt {
    fn from(event: &Event) -> Self {
        let Event { task_id, task_seq, event_id, attempt_id, occurred_at, .. } = event;
        Self {
            task_id: *task_id,
            task_seq: *task_seq,
            event_id: *event_id,
            attempt_id: *attempt_id,
            occurred_at: *occurred_at,
        }
    }
}

/// An approval and what became of it.
#[derive(Debug, Clone)]
pub struct ApprovalRecord {
    /// The approval.
    pub approval: Approval,
    /// The request it is about.
    pub action_request_id: ActionRequestId,
    /// What is at stake.
    pub risk_band: RiskBand,
    /// The packet's nonce.
    pub nonce: String,
    /// The signed envelope of a yes, or what a passkey signed.
    pub envelope: Option<ArtifactRef>,
    /// What lets the passkey say yes that did.
    pub passkey: Option<ArtifactRef>,
    /// How far the yes reaches.
    pub scope: Option<ApprovalScope>,
    /// Words that came with a no.
    pub feedback: Option<String>,
    /// Whether two different keys have to say yes.
    pub needs_two: bool,
    /// The first of the two yeses, where it was given.
    pub first: Option<FirstYes>,
}

/// The first of two yeses, as it is on record. It allows nothing by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstYes {
    /// What was signed.
    pub envelope: ArtifactRef,
    /// The key that signed: the approval key, or a passkey.
    pub keyid: Digest,
    /// What lets the passkey say yes, where one did.
    pub passkey: Option<ArtifactRef>,
    /// Where it was given.
    pub surface: Surface,
    /// When it came in.
    pub at: UnixMs,
    /// Until when it counts, as it was signed.
    pub ends: UnixMs,
}

impl ApprovalRecord {
    /// An approval that was asked for just now.
    pub(crate) fn asked(b: &ApprovalRequested) -> Self {
        Self {
            approval: b.approval.clone(),
            action_request_id: b.action_request_id,
            risk_band: b.risk_band,
            nonce: b.nonce.clone(),
            envelope: None,
            passkey: None,
            scope: None,
            feedback: None,
            needs_two: b.need.is_some(),
            first: None,
        }
    }

    /// Takes the first of two yeses in; one that does not count any more gives way to it.
    ///
    /// # Errors
    /// [`Error::Broken`] where one yes is enough, or nobody is asked any more.
    pub(crate) fn sign(&mut self, b: &ApprovalSigned, at: UnixMs) -> Result<(), Error> {
        if !self.needs_two || self.approval.status != ApprovalStatus::Pending {
            return Err(Error::Broken(format!("approval `{}` waits for no first yes", b.approval_id)));
        }
        let (envelope, passkey) = (b.envelope.clone(), b.passkey.clone());
        let (keyid, surface, ends) = (b.keyid, b.surface, b.scope.expires_at);
        self.first = Some(FirstYes { envelope, keyid, passkey, surface, at, ends });
        Ok(())
    }

    /// Takes in the yes by which the act is allowed.
    ///
    /// # Errors
    /// [`Error::Broken`] when two different keys had to say so and have not.
    pub(crate) fn grant(&mut self, b: &ApprovalGranted) -> Result<(), Error> {
        let first = self.first.as_ref();
        let is_second = first.is_some_and(|first| {
            // Of the approval key there is one at a time.
            let by_other = first.keyid != b.keyid && (first.passkey.is_some() || b.passkey.is_some());
            by_other && Some(&first.envelope) == b.first.as_ref()
        });
        if self.needs_two != b.first.is_some() || (self.needs_two && !is_second) {
            return Err(Error::Broken(format!(
                "approval `{}` is not allowed by those who have to",
                b.approval_id
            )));
        }
        self.approval.resolved_by = Some(b.decided_by);
        self.envelope = Some(b.envelope.clone());
        self.passkey.clone_from(&b.passkey);
        self.scope = Some(b.scope.clone());
        Ok(())
    }

    /// Until when a yes may be used, as the question and whoever signed say.
    pub(crate) fn ends(&self) -> UnixMs {
        let signed = self.scope.as_ref().map(|scope| scope.expires_at);
        let first = self.first_of_two().map(|first| first.ends);
        signed.into_iter().chain(first).fold(self.approval.expires_at, UnixMs::min)
    }

    /// The first of two yeses, once the second has followed.
    pub(crate) fn first_of_two(&self) -> Option<&FirstYes> {
        self.first.as_ref().filter(|_| self.scope.is_some())
    }

    /// The choice made, if one was made.
    pub fn choice(&self) -> Option<Choice> {
        match self.approval.status {
            ApprovalStatus::Granted => Some(Choice::Once),
            ApprovalStatus::Denied => Some(Choice::Deny),
            ApprovalStatus::Pending
            | ApprovalStatus::Expired
            | ApprovalStatus::Cancelled
            | ApprovalStatus::Invalidated => None,
        }
    }
}

/// A grant and whether it still counts.
#[derive(Debug, Clone)]
pub struct GrantRecord {
    /// The record's artifact.
    pub artifact: ArtifactRef,
    /// The request it serves.
    pub action_request_id: ActionRequestId,
    /// When it ends.
    pub expires_at: UnixMs,
    /// Taken back while unused.
    pub revoked: bool,
    /// Consumed by a dispatch.
    pub consumed: bool,
}

/// A receipt's short form.
#[derive(Debug, Clone)]
pub struct ReceiptRecord {
    /// Its identifier.
    pub receipt_id: ReceiptId,
    /// Its class.
    pub receipt_class: ReceiptClass,
    /// The class of the act.
    pub action_class: ActionClass,
    /// How it went.
    pub result_code: ResultCode,
    /// The signed envelope.
    pub envelope: ArtifactRef,
    /// How far it can be taken back.
    pub reversibility: Reversibility,
    /// The receipt it undoes, or the newest of them.
    pub rolls_back: Option<ReceiptId>,
    /// Every receipt of which it has left nothing.
    pub undoes: Vec<ReceiptId>,
}

/// Words that came in for a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Their record.
    pub ingress_id: IngressId,
    /// The words, or nothing when they were erased.
    pub text: String,
    /// How far they may be relied on: as far as their sender.
    pub trust_tier: TrustTier,
    /// What the task was given with them.
    pub encloses: Vec<ArtifactId>,
}

impl From<&TaskInputAdded> for Input {
    fn from(b: &TaskInputAdded) -> Self {
        Self::of(b.ingress_id, &b.text, b.trust_tier, b.encloses.as_ref())
    }
}

impl From<&TaskInputQueued> for Input {
    fn from(b: &TaskInputQueued) -> Self {
        Self::of(b.ingress_id, &b.text, b.trust_tier, b.encloses.as_ref())
    }
}

impl Input {
    /// What an event says; one of an older store took every sender for the person.
    fn of(
        ingress_id: IngressId,
        text: &Sensitive<String>,
        tier: Option<TrustTier>,
        encloses: Option<&Vec<ArtifactId>>,
    ) -> Self {
        let text = text.shown().cloned().unwrap_or_default();
        let encloses = encloses.cloned().unwrap_or_default();
        Self { ingress_id, text, trust_tier: tier.unwrap_or(TrustTier::UserAsserted), encloses }
    }

    /// Whether a person of this machine said so.
    pub(crate) fn is_the_persons(&self) -> bool {
        self.trust_tier == TrustTier::UserAsserted
    }
}
