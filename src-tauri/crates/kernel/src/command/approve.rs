//! A person answers. The kernel believes a signature, never a surface (governance.md 2).

use super::dual::{self, SignedYes};
use crate::Error;
use crate::kernel::{Kernel, lock};
use crate::state::{ApprovalRecord, TaskState};
use crate::tx::Tx;
use crate::writeup::NewArtifact;
use governance::approval::{verify, verify_denial};
use model::action::ActionClass;
use model::approval::{Approval, ApprovalDecision, ApprovalStatus, Choice, Surface};
use model::artifact::{ArtifactKind, ArtifactRef};
use model::body::{ApprovalDenied, DuplicateRefused};
use model::event::Actor;
use model::fault::Point;
use model::principal::PrincipalType;
use model::receipt::{ReceiptClass, ResultCode};
use model::{ApprovalId, PrincipalId, Sensitive, TaskId};

/// How often an answer is tried when something else was recorded in the store's own stream at the same moment.
pub(super) const TRIES: usize = 8;

/// What became of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answered {
    /// It counts.
    Accepted {
        /// The approval's status now; it waits still when another key has to say yes, too.
        status: ApprovalStatus,
        /// The task that may go on.
        task_id: TaskId,
    },
    /// It was answered before, expired, or withdrawn; nothing changed (reconciliation C24).
    NotActive {
        /// The status it has.
        status: ApprovalStatus,
        /// The task.
        task_id: TaskId,
    },
}

/// How a person answered.
#[derive(Debug, Clone, Copy)]
pub(super) enum By<'a> {
    /// With the approval key, or without any.
    Key,
    /// With this, in its place.
    With(&'a str),
    /// At this place, which is not on this machine.
    Elsewhere(&'a str),
    /// By the word of a program or a page that the host let in: nobody knows that a person was there.
    Word,
}

impl Kernel {
    /// A signed answer: yes or no.
    ///
    /// # Errors
    /// [`Error::Refused`] when anything about the envelope does not hold; the approval stays as it is.
    pub fn decide_approval(
        &self,
        task_id: TaskId,
        approval_id: ApprovalId,
        envelope: &[u8],
    ) -> Result<Answered, Error> {
        self.decide_approval_for_good(task_id, approval_id, envelope, None)
    }

    /// A signed answer, and with a yes perhaps a signed standing grant for the like of it: both or neither.
    ///
    /// # Errors
    /// As [`Kernel::decide_approval`]; [`Error::Refused`] when the standing grant does not hold, was given at another
    /// question, or does not cover what was asked.
    pub fn decide_approval_for_good(
        &self,
        task_id: TaskId,
        approval_id: ApprovalId,
        envelope: &[u8],
        standing: Option<&[u8]>,
    ) -> Result<Answered, Error> {
        for _ in 1..TRIES {
            match self.decide_once((task_id, approval_id), envelope, standing) {
                Err(Error::Ledger(ledger::Error::Moved { .. })) => {}
                other => return other,
            }
        }
        self.decide_once((task_id, approval_id), envelope, standing)
    }

    fn decide_once(
        &self,
        (task_id, approval_id): (TaskId, ApprovalId),
        envelope: &[u8],
        standing: Option<&[u8]>,
    ) -> Result<Answered, Error> {
        let cell = self.cell(task_id)?;
        let state = self.lock_task(&cell)?;
        let (approval, packet) = match self.asked(&state, approval_id)? {
            Ok(asked) => asked,
            Err(late) => return Ok(late),
        };
        if let Some(again) = dual::again(&state, (task_id, approval_id), envelope) {
            return Ok(again);
        }
        let (keyid, key) = self.approval_key()?;
        let decision = verify(envelope, &approval, &packet, &key, self.now_of(&state))?;
        let actor = self.decider(&decision)?;
        let standing = match standing {
            Some(_) if decision.choice == Choice::Deny => {
                return Err(Error::Input("a no allows nothing from now on either".to_owned()));
            }
            Some(signed) => Some((self.standing_with(signed, &approval, &packet)?, signed)),
            None => None,
        };
        let counts = match decision.choice {
            Choice::Deny => None,
            Choice::Once | Choice::Standing => Some(self.counts(&state, approval_id, keyid)?),
        };
        let point = if counts.is_none() { Point::ApprovalDeny } else { Point::ApprovalGrant };
        let mut tx = self.tx(&cell, state, point, actor);
        let packet_id = approval.approval_packet_ref;
        let at =
            tx.artifact(envelope, NewArtifact::audit(ArtifactKind::ApprovalDecision).from([packet_id]))?;
        let status = match counts {
            None => push_denied(&mut tx, &decision, at.clone()),
            Some(counts) => {
                let yes = SignedYes { decision: &decision, envelope: at.clone(), keyid, passkey: None };
                counts.push(&mut tx, yes)
            }
        };
        if status == ApprovalStatus::Pending {
            tx.commit()?;
            return Ok(Answered::Accepted { status, task_id });
        }
        self.resolution_receipt(&mut tx, &approval, &decision, Some(at), By::Key)?;
        if let Some((grant, signed)) = &standing {
            self.push_standing(tx.writeup(), grant, signed)?;
        }
        tx.commit()?;
        Ok(Answered::Accepted { status, task_id })
    }

    /// A no without a signature: any surface may refuse, none but a person may allow.
    ///
    /// # Errors
    /// When the approval does not exist; [`Error::KeyLocked`] without the receipt key.
    pub fn deny_approval(
        &self,
        task_id: TaskId,
        approval_id: ApprovalId,
        surface: Surface,
        feedback: Option<String>,
    ) -> Result<Answered, Error> {
        // What a program hands in is its word, whoever told it to.
        let by = match surface {
            Surface::Script | Surface::RunApi | Surface::Mcp => By::Word,
            _ => By::Key,
        };
        self.deny((task_id, approval_id), surface, feedback, by)
    }

    /// The same from a program or a page of which nobody knows that a person is there: the surface is what it says.
    ///
    /// # Errors
    /// As [`Self::deny_approval`].
    pub fn deny_by_word(
        &self,
        task_id: TaskId,
        approval_id: ApprovalId,
        surface: Surface,
        feedback: Option<String>,
    ) -> Result<Answered, Error> {
        self.deny((task_id, approval_id), surface, feedback, By::Word)
    }

    /// The same, with where that was, in place of what its surface is called.
    pub(super) fn deny_where(
        &self,
        (task_id, approval_id): (TaskId, ApprovalId),
        surface: Surface,
        feedback: Option<String>,
        place: Option<&str>,
    ) -> Result<Answered, Error> {
        self.deny((task_id, approval_id), surface, feedback, place.map_or(By::Key, By::Elsewhere))
    }

    fn deny(
        &self,
        (task_id, approval_id): (TaskId, ApprovalId),
        surface: Surface,
        feedback: Option<String>,
        by: By<'_>,
    ) -> Result<Answered, Error> {
        let cell = self.cell(task_id)?;
        let state = self.lock_task(&cell)?;
        let (approval, packet) = match self.asked(&state, approval_id)? {
            Ok(asked) => asked,
            Err(late) => return Ok(late),
        };
        let actor = self.actor(PrincipalType::User)?;
        let now = self.now_of(&state);
        let decision = governance::approval::answer(
            &packet,
            Choice::Deny,
            surface,
            actor.actor_id,
            now,
            feedback.clone(),
        )?;
        verify_denial(&decision, &approval, &packet, now)?;
        let mut tx = self.tx(&cell, state, Point::ApprovalDeny, actor);
        tx.push_keyed(
            Some(format!("approval.resolve:{approval_id}")),
            ApprovalDenied {
                approval_id,
                decided_by: actor.actor_id,
                surface,
                envelope: None,
                feedback: feedback.map(Sensitive::from),
            },
        );
        self.resolution_receipt(&mut tx, &approval, &decision, None, by)?;
        tx.commit()?;
        Ok(Answered::Accepted { status: ApprovalStatus::Denied, task_id })
    }

    /// Resolving an approval of a consequential act is itself important and receipted (HK-7-1).
    pub(super) fn resolution_receipt(
        &self,
        tx: &mut Tx<'_>,
        approval: &Approval,
        decision: &ApprovalDecision,
        envelope: Option<ArtifactRef>,
        by: By<'_>,
    ) -> Result<(), Error> {
        let mut receipt = self.blank(tx, ActionClass::ApprovalResolution)?;
        receipt.receipt_class = ReceiptClass::ApprovalResolution;
        receipt.approval_ref = model::Slot::Value(approval.approval_id);
        receipt.authorized.approval_packet_sha256 = model::Slot::Value(approval.approval_packet_sha256);
        let signed = envelope.as_ref().map(|e| e.sha256);
        receipt.authorized.approval_decision_sha256 =
            model::Slot::or(signed, model::slot::Absence::NotRequired);
        receipt.output_refs = envelope.into_iter().collect();
        let first = tx.approvals.get(&approval.approval_id).and_then(ApprovalRecord::first_of_two);
        receipt.output_refs.extend(first.map(|first| first.envelope.clone()));
        receipt.result_code =
            if decision.choice == Choice::Deny { ResultCode::Denied } else { ResultCode::Granted };
        let answered = if decision.choice == Choice::Deny { "Denied" } else { "Approved" };
        let place = decision.surface.place();
        let before = first.map_or_else(String::new, |first| {
            format!("; and before with another key, {}", first.surface.place())
        });
        let how = match by {
            By::Key => format!("by a person, {place}"),
            By::With(with) => format!("by a person, with {with}, {place}"),
            By::Elsewhere(elsewhere) => format!("by a person, {elsewhere}"),
            By::Word => format!("{place}, by the word of a program or page that this host let in"),
        };
        receipt.result_summary = Sensitive::from(format!("{answered} {how}{before}"));
        receipt.idempotency_key = format!("receipt:{}", approval.approval_id);
        if self.issue(tx, receipt, None)? { Ok(()) } else { Err(Error::KeyLocked("receipt")) }
    }

    /// The question, while it waits, and the bytes that it is about; or what becomes of an answer that comes too late.
    pub(super) fn asked(
        &self,
        state: &TaskState,
        id: ApprovalId,
    ) -> Result<Result<(Approval, Vec<u8>), Answered>, Error> {
        let approval = pending(state, id)?.clone();
        if approval.status != ApprovalStatus::Pending {
            return self.late(state, &approval).map(Err);
        }
        let packet = self.artifacts.read(&approval.approval_packet_sha256)?;
        Ok(Ok((approval, packet)))
    }

    /// Whoever decided, when that is a person known here.
    pub(super) fn decider(&self, decision: &ApprovalDecision) -> Result<Actor, Error> {
        self.person(decision.decided_by)?;
        Ok(Actor { actor_type: PrincipalType::User, actor_id: decision.decided_by })
    }

    /// Only a known person decides.
    pub(crate) fn person(&self, id: PrincipalId) -> Result<(), Error> {
        let store = lock(&self.store);
        match store.principals.get(&id) {
            Some(p) if p.principal_type == PrincipalType::User => Ok(()),
            _ => Err(Error::Conflict(format!("`{id}` is no person known to this store"))),
        }
    }

    /// A late or second answer changes nothing and is on record (reconciliation C24).
    pub(super) fn late(&self, state: &TaskState, approval: &Approval) -> Result<Answered, Error> {
        let key = format!("approval.resolve:{}", approval.approval_id);
        if let Some(original) = self.reader.by_idempotency_key(&key)? {
            let actor = self.actor(PrincipalType::System)?;
            let correlation = approval.approval_id.to_string();
            let mut w = self.store_writeup(Point::ApprovalDeny, actor, correlation, None)?;
            w.push(DuplicateRefused {
                idempotency_key: key,
                original_event_id: original.event_id,
                what: "approval".to_owned(),
            });
            self.commit(w)?;
        }
        Ok(Answered::NotActive { status: approval.status, task_id: state.task.task_id })
    }
}

/// Adds the event of a no that was signed; what the approval is then.
fn push_denied(tx: &mut Tx<'_>, decision: &ApprovalDecision, envelope: ArtifactRef) -> ApprovalStatus {
    let (approval_id, decided_by, surface) = (decision.approval_id, decision.decided_by, decision.surface);
    let (envelope, feedback) = (Some(envelope), decision.feedback.clone().map(Sensitive::from));
    let body = ApprovalDenied { approval_id, decided_by, surface, envelope, feedback };
    tx.push_keyed(Some(format!("approval.resolve:{approval_id}")), body);
    ApprovalStatus::Denied
}

pub(super) fn pending(state: &TaskState, id: ApprovalId) -> Result<&Approval, Error> {
    state
        .approvals
        .get(&id)
        .map(|record| &record.approval)
        .ok_or_else(|| Error::NotFound { kind: "approval", id: id.to_string() })
}
