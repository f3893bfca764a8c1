//! What a task's events say that other files of the bundle must agree with.

use model::action::ActionClass;
use model::approval::{ApprovalScope, Surface};
use model::artifact::ArtifactKind;
use model::body::Body;
use model::receipt::{ReceiptClass, ResultCode, Verifiability};
use model::{ActionRequestId, ApprovalId, ArtifactId, Event, GrantId, PrincipalId, ReceiptId, UnixMs};
use seal::Digest;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Folded from events; bounded by their number.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Kind by digest of content.
    pub artifacts: BTreeMap<Digest, ArtifactKind>,
    /// Digest by artifact.
    pub artifact_ids: BTreeMap<ArtifactId, Digest>,
    /// Receipts that were issued.
    pub receipts: BTreeMap<ReceiptId, ReceiptFact>,
    /// Answers of a person that carry a signed envelope.
    pub decisions: BTreeMap<Digest, DecisionFact>,
    /// Standing grants that answered for a person, by the digest of the signed envelope.
    pub standing: BTreeMap<Digest, Vec<StandingFact>>,
    /// Digest of the packet by approval.
    pub packets: BTreeMap<ApprovalId, Digest>,
    /// Approvals for which two different keys have to say yes.
    pub for_two: BTreeSet<ApprovalId>,
    /// Digests of policy results.
    pub policies: BTreeSet<Digest>,
    /// Digest of the record by grant.
    pub grants: BTreeMap<GrantId, Digest>,
    /// Digests of witnesses, captured and observed.
    pub witnesses: BTreeSet<Digest>,
    /// Gate entries under which something was dispatched, with the event's number.
    pub dispatched: BTreeMap<Digest, u64>,
    /// Ends of runs: what was said then are the words of a model, or of a playbook.
    pub claims: u64,
    /// Sentences of closing answers that were compared with the record: bound to receipts, to what was seen, to the absence
    /// of a receipt, and to nothing.
    pub answers: [u64; 4],
    /// Those of them that are bound to what the model cited alone.
    pub cited: u64,
    /// Those that nothing bears and that are told like the record.
    pub near: u64,
    /// Events of types that this program does not know.
    pub unknown: u64,
    /// The newest time that an event states, by the machine's own clock.
    pub newest: Option<UnixMs>,
}

/// What `receipt.issued` says.
#[derive(Debug, Clone)]
pub(crate) struct ReceiptFact {
    pub seq: u64,
    pub envelope: Digest,
    pub statement: Digest,
    pub receipt_class: ReceiptClass,
    pub action_class: ActionClass,
    pub result_code: ResultCode,
    pub verifiability: Verifiability,
    pub action_request_id: Option<ActionRequestId>,
}

/// What `approval.granted`, `approval.signed` or `approval.denied` says.
#[derive(Debug, Clone)]
pub(crate) struct DecisionFact {
    pub seq: u64,
    pub approval_id: ApprovalId,
    pub decided_by: PrincipalId,
    pub surface: Surface,
    /// For a yes.
    pub granted: Option<Granted>,
}

/// What `approval.granted` and `approval.signed` say beside.
#[derive(Debug, Clone)]
pub(crate) struct Granted {
    pub scope: ApprovalScope,
    /// The key that signed: the approval key, or a passkey.
    pub keyid: Digest,
    /// What lets the passkey say yes, where one did.
    pub enrolment: Option<Digest>,
    /// Where two have to say yes, which of the two it is.
    pub of_two: Option<OfTwo>,
}

/// Which of two yeses one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OfTwo {
    /// The first, which allows nothing.
    First,
    /// The second, after this one.
    After(Digest),
}

/// What `grant.standing_used` says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StandingFact {
    pub seq: u64,
    pub grant_id: GrantId,
    pub action_request_id: ActionRequestId,
    pub at: UnixMs,
    pub use_no: u32,
    pub max_uses: u32,
}

/// Types whose bodies matter here; the others are only chained and counted.
const TYPES: [&str; 15] = [
    "attempt.answer_checked",
    "artifact.created",
    "receipt.issued",
    "approval.requested",
    "approval.signed",
    "approval.granted",
    "approval.denied",
    "policy.evaluated",
    "action.requested",
    "grant.issued",
    "grant.standing_used",
    "witness.captured",
    "witness.validated",
    "effect.dispatched",
    "effect.resolved",
];

impl Facts {
    /// Takes in one event.
    ///
    /// # Errors
    /// In words, when a body of a known type does not have its shape.
    pub(crate) fn take(&mut self, event: &Event) -> Result<(), String> {
        self.newest = self.newest.max(Some(event.occurred_at));
        self.claims += u64::from(event.event_type == "attempt.terminated");
        if !TYPES.contains(&event.event_type.as_str()) {
            let known = model::body::REGISTRY.iter().any(|(name, _)| *name == event.event_type);
            self.unknown += u64::from(!known);
            return Ok(());
        }
        let body = match event.body(&|_| None) {
            Err(model::Error::UnknownEvent { .. }) => {
                self.unknown += 1;
                return Ok(());
            }
            other => other.map_err(|e| e.to_string())?,
        };
        self.fold(event.task_seq, event.occurred_at, body);
        Ok(())
    }

    fn fold(&mut self, seq: u64, at: UnixMs, body: Body) {
        match body {
            Body::AnswerChecked(b) => {
                let counts = [b.by_receipt, b.by_evidence, b.by_absence, b.unverified];
                for (all, count) in self.answers.iter_mut().zip(counts) {
                    *all = all.saturating_add(u64::from(count));
                }
                self.cited = self.cited.saturating_add(u64::from(b.by_citation.unwrap_or_default()));
                self.near = self.near.saturating_add(u64::from(b.near.unwrap_or_default()));
            }
            Body::ArtifactCreated(b) => {
                self.artifacts.insert(b.artifact.content_hash, b.artifact.kind);
                self.artifact_ids.insert(b.artifact.artifact_id, b.artifact.content_hash);
            }
            Body::ReceiptIssued(b) => {
                let fact = ReceiptFact {
                    seq,
                    envelope: b.envelope.sha256,
                    statement: b.statement_sha256,
                    receipt_class: b.receipt_class,
                    action_class: b.action_class,
                    result_code: b.result_code,
                    verifiability: b.verifiability,
                    action_request_id: b.action_request_id,
                };
                self.receipts.insert(b.receipt_id, fact);
            }
            Body::PolicyEvaluated(b) => {
                self.policies.insert(b.result.sha256);
            }
            Body::GrantIssued(b) => {
                self.grants.insert(b.grant_id, b.grant.sha256);
            }
            Body::StandingUsed(b) => {
                let (grant_id, action_request_id) = (b.grant_id, b.action_request_id);
                let (use_no, max_uses) = (b.use_no, b.max_uses);
                let fact = StandingFact { seq, grant_id, action_request_id, at, use_no, max_uses };
                self.standing.entry(b.envelope.sha256).or_default().push(fact);
            }
            Body::WitnessCaptured(b) => {
                self.witnesses.insert(b.witness.sha256);
            }
            Body::WitnessValidated(b) => {
                self.witnesses.insert(b.observed.sha256);
            }
            Body::EffectDispatched(b) => {
                self.dispatched.insert(b.audit_entry_sha256, seq);
            }
            answer => self.fold_answer(seq, answer),
        }
    }

    /// What a person is asked, and what they say.
    fn fold_answer(&mut self, seq: u64, body: Body) {
        match body {
            Body::ApprovalRequested(b) => {
                self.packets.insert(b.approval.approval_id, b.approval.approval_packet_sha256);
                self.for_two.extend(b.need.map(|_| b.approval.approval_id));
            }
            Body::ApprovalSigned(b) => {
                let (approval_id, decided_by, surface) = (b.approval_id, b.decided_by, b.surface);
                let (enrolment, of_two) = (b.passkey.map(|at| at.sha256), Some(OfTwo::First));
                let granted = Some(Granted { scope: b.scope, keyid: b.keyid, enrolment, of_two });
                let fact = DecisionFact { seq, approval_id, decided_by, surface, granted };
                // A yes that allowed an act is no first one afterwards.
                self.decisions.entry(b.envelope.sha256).or_insert(fact);
            }
            Body::ApprovalGranted(b) => {
                let (approval_id, decided_by, surface) = (b.approval_id, b.decided_by, b.surface);
                let enrolment = b.passkey.map(|at| at.sha256);
                let of_two = b.first.map(|first| OfTwo::After(first.sha256));
                let granted = Some(Granted { scope: b.scope, keyid: b.keyid, enrolment, of_two });
                let fact = DecisionFact { seq, approval_id, decided_by, surface, granted };
                self.decisions.insert(b.envelope.sha256, fact);
            }
            Body::ApprovalDenied(b) => {
                let (approval_id, decided_by, surface) = (b.approval_id, b.decided_by, b.surface);
                if let Some(envelope) = b.envelope {
                    let fact = DecisionFact { seq, approval_id, decided_by, surface, granted: None };
                    self.decisions.insert(envelope.sha256, fact);
                }
            }
            _ => {}
        }
    }
}

/// Calls `found` with the digest and the pointer of every concealed leaf below `value`.
///
/// # Errors
/// Whatever `found` says.
pub(crate) fn concealed<E>(
    value: &Value,
    pointer: &mut String,
    found: &mut dyn FnMut(Digest, &str) -> Result<(), E>,
) -> Result<(), E> {
    match value {
        Value::Object(members) => {
            let single = if members.len() == 1 { members.get(seal::disclose::CONCEALED) } else { None };
            if let Some(digest) = single.and_then(Value::as_str).and_then(|hex| hex.parse().ok()) {
                return found(digest, pointer);
            }
            members.iter().try_for_each(|(name, member)| {
                let name = name.replace('~', "~0").replace('/', "~1");
                step(pointer, &name, |pointer| concealed(member, pointer, found))
            })
        }
        Value::Array(items) => items.iter().enumerate().try_for_each(|(index, item)| {
            step(pointer, &index.to_string(), |pointer| concealed(item, pointer, found))
        }),
        _ => Ok(()),
    }
}

fn step<T>(pointer: &mut String, token: &str, inner: impl FnOnce(&mut String) -> T) -> T {
    let length = pointer.len();
    pointer.push('/');
    pointer.push_str(token);
    let result = inner(pointer);
    pointer.truncate(length);
    result
}
