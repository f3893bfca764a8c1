//! What a person signs, and everything that is checked before it counts (governance.md 2, proof.md 3).

use crate::Refusal;
use crate::refusal::demand;
use acts::ApprovalPacket;
use model::approval::{
    Approval, ApprovalDecision, ApprovalScope, ApprovalStatus, Choice, DECISION_PAYLOAD_TYPE, Shape, Surface,
};
use model::{PrincipalId, UnixMs};
use seal::dsse::{self, Envelope};
use seal::{Digest, PublicKey, Signer, canon};

/// A person's answer to a packet, ready to be signed: yes once, or no. The packet's bytes are those that were
/// shown and stored.
///
/// # Errors
/// `packet_unreadable` when the bytes are no packet.
pub fn answer(
    packet_bytes: &[u8],
    choice: Choice,
    surface: Surface,
    decided_by: PrincipalId,
    decided_at: UnixMs,
    feedback: Option<String>,
) -> Result<ApprovalDecision, Refusal> {
    let packet = read_packet(packet_bytes)?;
    Ok(ApprovalDecision {
        approval_id: packet.approval_id,
        packet_sha256: Digest::of(packet_bytes),
        choice,
        scope: ApprovalScope {
            shape: Shape::Exact,
            pattern: Vec::new(),
            expires_at: packet.expires_at,
            max_uses: 1,
        },
        nonce: packet.nonce,
        surface,
        decided_by,
        // The question was put before it was answered, also where the clock was set back in between.
        decided_at: decided_at.max(packet.requested_at),
        feedback,
    })
}

/// The decision in a DSSE envelope, as its canonical bytes. The signer is K_approval, held by a native surface.
///
/// # Errors
/// Whatever the signer says, such as that the key is locked.
pub fn sign(decision: &ApprovalDecision, signer: &dyn Signer) -> Result<Vec<u8>, crate::Error> {
    let payload = canon::to_canonical(decision)?;
    Ok(dsse::sign(DECISION_PAYLOAD_TYPE, &payload, signer)?.to_bytes()?)
}

/// The decision inside an envelope, once everything about it holds: the key, the payload's type, the packet, the
/// nonce, the approval (pending, of the same attempt), the surface, the times, the scope.
///
/// # Errors
/// A [`Refusal`] whose code names the first check that failed; nothing is decided then.
pub fn verify(
    envelope: &[u8],
    approval: &Approval,
    packet_bytes: &[u8],
    key: &PublicKey,
    now: UnixMs,
) -> Result<ApprovalDecision, Refusal> {
    let envelope =
        Envelope::parse(envelope).map_err(|e| Refusal::new("decision_unreadable", e.to_string()))?;
    demand(envelope.payload_type == DECISION_PAYLOAD_TYPE, "decision_type", || {
        "this envelope does not hold an approval decision".to_owned()
    })?;
    let payload =
        dsse::verify(&envelope, key).map_err(|e| Refusal::new("decision_signature", e.to_string()))?;
    checked(&payload, approval, packet_bytes, now)
}

/// The decision in these bytes, which a person signed in one way or another, once all but the signature holds.
pub(super) fn checked(
    payload: &[u8],
    approval: &Approval,
    packet_bytes: &[u8],
    now: UnixMs,
) -> Result<ApprovalDecision, Refusal> {
    let value =
        canon::parse_canonical(payload).map_err(|e| Refusal::new("decision_unreadable", e.to_string()))?;
    let decision: ApprovalDecision =
        serde_json::from_value(value).map_err(|e| Refusal::new("decision_unreadable", e.to_string()))?;
    // What serde would drop silently was signed too, so it must be nothing.
    demand(canon::to_canonical(&decision)? == payload, "decision_unreadable", || {
        "this decision holds more than a decision has".to_owned()
    })?;
    check(&decision, approval, packet_bytes, now)?;
    if decision.choice != Choice::Deny {
        check_grant(&decision)?;
    }
    Ok(decision)
}

/// Checks a no that nobody signed: machine surfaces may refuse, and only that.
///
/// # Errors
/// `signature_needed` for anything but a no, and whatever [`verify`] checks beside the signature.
pub fn verify_denial(
    decision: &ApprovalDecision,
    approval: &Approval,
    packet_bytes: &[u8],
    now: UnixMs,
) -> Result<(), Refusal> {
    demand(decision.choice == Choice::Deny, "signature_needed", || {
        "only a no goes without a person's signature".to_owned()
    })?;
    check(decision, approval, packet_bytes, now)
}

fn check(
    decision: &ApprovalDecision,
    approval: &Approval,
    packet_bytes: &[u8],
    now: UnixMs,
) -> Result<(), Refusal> {
    demand(approval.status == ApprovalStatus::Pending, "approval_not_pending", || {
        format!("approval `{}` is {} already", approval.approval_id, approval.status)
    })?;
    demand(decision.approval_id == approval.approval_id, "approval_other", || {
        format!("this decision is about `{}`, not about `{}`", decision.approval_id, approval.approval_id)
    })?;
    let shown = Digest::of(packet_bytes);
    demand(shown == approval.approval_packet_sha256, "packet_changed", || {
        "the packet is not the one the approval was opened with".to_owned()
    })?;
    demand(shown == decision.packet_sha256, "packet_other", || {
        "this decision is about another packet; look at the present one and answer again".to_owned()
    })?;
    let packet = read_packet(packet_bytes)?;
    demand(belongs(&packet, approval), "packet_elsewhere", || {
        "the packet belongs to another approval or attempt".to_owned()
    })?;
    demand(!packet.nonce.is_empty() && packet.nonce == decision.nonce, "nonce", || {
        "this decision answers an earlier question; look at the present one and answer again".to_owned()
    })?;
    let until = approval.expires_at.min(packet.expires_at);
    demand(now < until, "approval_expired", || {
        "this approval has expired; nothing was decided, and policy is asked again".to_owned()
    })?;
    let asked = approval.requested_at.max(packet.requested_at);
    demand(asked <= decision.decided_at && decision.decided_at <= now, "decision_time", || {
        "this decision was taken before the question was put, or in the future; check the clock".to_owned()
    })
}

/// What a yes must be, beyond what a no must be.
fn check_grant(decision: &ApprovalDecision) -> Result<(), Refusal> {
    demand(decision.surface.may_grant(), "surface", || {
        format!("`{}` may deny but not approve; answer in the app or on a terminal", decision.surface)
    })?;
    // Standing answers join here, once rules exist that they compile to.
    demand(decision.choice == Choice::Once, "choice", || {
        "only a yes for this once can be given so far".to_owned()
    })?;
    let scope = &decision.scope;
    let once = scope.shape == Shape::Exact && scope.pattern.is_empty() && scope.max_uses == 1;
    demand(once, "scope", || "a yes for this once covers exactly this packet, one time".to_owned())?;
    demand(decision.decided_at < scope.expires_at, "scope", || {
        "this approval had expired when it was given".to_owned()
    })
}

pub(crate) fn belongs(packet: &ApprovalPacket, approval: &Approval) -> bool {
    packet.approval_id == approval.approval_id
        && (packet.task_id, packet.step_id, packet.attempt_id)
            == (approval.task_id, approval.step_id, approval.attempt_id)
        && packet.action_request.action_class == approval.approval_type
}

fn read_packet(bytes: &[u8]) -> Result<ApprovalPacket, Refusal> {
    let unreadable = |why: String| Refusal::new("packet_unreadable", why);
    canon::from_canonical(bytes).map_err(|e| unreadable(e.to_string()))
}
