//! What a yes comes to: it allows the act, or it is the first of two different keys' (mesh.md 4).
//!
//! A first yes is on record and allows nothing. It counts for the second for as long as it was signed, while its key may still say
//! yes: one that was revoked or replaced in between leaves the question as if it had not been answered.

use super::approve::Answered;
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::state::{FirstYes, TaskState};
use crate::store::StoreState;
use crate::tx::Tx;
use governance::Refusal;
use model::approval::{ApprovalDecision, ApprovalStatus};
use model::artifact::ArtifactRef;
use model::body::{ApprovalGranted, ApprovalSigned, KeyPurpose};
use model::{ApprovalId, Digest, TaskId};

/// A yes that was verified, on its way into the log.
pub(super) struct SignedYes<'a> {
    pub(super) decision: &'a ApprovalDecision,
    pub(super) envelope: ArtifactRef,
    /// The key that signed: the approval key, or a passkey.
    pub(super) keyid: Digest,
    /// What lets the passkey say yes, where one did.
    pub(super) passkey: Option<ArtifactRef>,
}

/// What a yes comes to.
pub(super) enum Counts {
    /// It allows the act: one is enough.
    Alone,
    /// Another key has to say yes, too.
    First,
    /// Another key has said yes before, and may still as of that event of the store's own stream.
    Second(Box<FirstYes>, (TaskId, u64)),
}

impl Kernel {
    /// What a yes of this key comes to now.
    ///
    /// # Errors
    /// [`Error::Refused`] when this key is the one that has said yes already.
    pub(super) fn counts(&self, state: &TaskState, id: ApprovalId, keyid: Digest) -> Result<Counts, Error> {
        let Some(record) = state.approvals.get(&id).filter(|record| record.needs_two) else {
            return Ok(Counts::Alone);
        };
        let Some(first) = record.first.clone() else { return Ok(Counts::First) };
        let counts = self.now_of(state) < first.ends;
        match self.may_still(&first)?.filter(|_| counts) {
            None => Ok(Counts::First),
            Some(_) if first.keyid == keyid => {
                let why =
                    "this key has said yes already; another one that may answer here has to say yes as well";
                Err(Error::Refused(Refusal::new("approval_same_key", why)))
            }
            Some(seen) => Ok(Counts::Second(Box::new(first), seen)),
        }
    }

    /// Where the store's own stream stands, while the key of a first yes may say yes.
    fn may_still(&self, first: &FirstYes) -> Result<Option<(TaskId, u64)>, Error> {
        let store = lock(&self.store);
        let seen = (store.system_task()?, store.seq);
        Ok(store.may_still(first).then_some(seen))
    }
}

impl StoreState {
    /// Whether the key of a first yes may say yes still, so that the yes counts for a second.
    pub fn may_still(&self, first: &FirstYes) -> bool {
        let Some((in_force, _)) = self.keys.get(&KeyPurpose::Approval) else { return false };
        match &first.passkey {
            None => first.keyid == *in_force,
            Some(enrolment) => self.passkeys.get(first.keyid).is_some_and(|one| {
                one.revoked_at.is_none() && one.keyid == *in_force && one.enrolment.sha256 == enrolment.sha256
            }),
        }
    }
}

/// What is to be said to bytes that are on record already as the first of two yeses: they count, and once.
pub(super) fn again(
    state: &TaskState,
    (task_id, id): (TaskId, ApprovalId),
    signed: &[u8],
) -> Option<Answered> {
    let first = state.approvals.get(&id)?.first.as_ref()?;
    let status = ApprovalStatus::Pending;
    (first.envelope.sha256 == Digest::of(signed)).then_some(Answered::Accepted { status, task_id })
}

impl Counts {
    /// Adds the event that says so; what the approval is then.
    pub(super) fn push(&self, tx: &mut Tx<'_>, yes: SignedYes<'_>) -> ApprovalStatus {
        let SignedYes { decision, envelope, keyid, passkey } = yes;
        let (approval_id, decided_by, surface) =
            (decision.approval_id, decision.decided_by, decision.surface);
        let scope = decision.scope.clone();
        let first = match self {
            Self::First => {
                let key = format!("approval.sign:{approval_id}:{}", envelope.sha256);
                let body =
                    ApprovalSigned { approval_id, decided_by, surface, scope, envelope, keyid, passkey };
                tx.push_keyed(Some(key), body);
                return ApprovalStatus::Pending;
            }
            Self::Alone => None,
            Self::Second(first, seen) => {
                // Neither a revocation nor another key overtakes it.
                tx.writeup().batch.expect.push(*seen);
                Some(first.envelope.clone())
            }
        };
        let key = format!("approval.resolve:{approval_id}");
        let receipt_id = None;
        tx.push_keyed(
            Some(key),
            ApprovalGranted {
                approval_id,
                decided_by,
                surface,
                scope,
                envelope,
                keyid,
                receipt_id,
                passkey,
                first,
            },
        );
        ApprovalStatus::Granted
    }
}
