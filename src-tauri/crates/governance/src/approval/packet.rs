//! What is put before a person.

use acts::{ActionRequest, ApprovalPacket};
use model::action::Reversibility;
use model::approval::StagedView;
use model::limits::APPROVAL_MS_MAX;
use model::policy::PolicyResult;
use model::witness::StateWitness;
use model::{ApprovalId, UnixMs};
use seal::canon;
use std::fmt::Write as _;

/// What a packet is made of.
#[derive(Debug, Clone)]
pub struct PacketInput {
    /// The approval it belongs to.
    pub approval_id: ApprovalId,
    /// The goal the act serves, word for word.
    pub goal: String,
    /// The whole request.
    pub request: ActionRequest,
    /// What policy said: `require_approval`.
    pub policy: PolicyResult,
    /// What was observed at the touched resources, when a class demands it.
    pub witness: Option<StateWitness>,
    /// When the question is put.
    pub requested_at: UnixMs,
    /// When it lapses; cut to [`APPROVAL_MS_MAX`] after `requested_at`, and to the witness's end.
    pub expires_at: UnixMs,
    /// 128 random bits.
    pub nonce: [u8; 16],
    /// What a staged command did, as a person reads it.
    pub staged: Option<StagedView>,
}

/// The packet. Its digest is what is approved, so the same input gives the same bytes (HK-16.7-1).
pub fn build_packet(input: PacketInput) -> ApprovalPacket {
    let PacketInput { approval_id, goal, request, policy, witness, requested_at, expires_at, nonce, staged } =
        input;
    let mut expires_at = expires_at.min(requested_at.plus_ms(APPROVAL_MS_MAX));
    if let Some(witness) = &witness {
        expires_at = expires_at.min(witness.expires_at);
    }
    let mut hex = String::with_capacity(32);
    for byte in nonce {
        // Writing into a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    ApprovalPacket {
        approval_id,
        task_id: request.task_id,
        step_id: request.step_id,
        attempt_id: request.attempt_id,
        goal,
        action_summary: policy.action_summary.clone(),
        risk_summary: policy.risk_summary.clone(),
        risk_band: policy.risk_band,
        rationale: request.reason.clone(),
        evidence_refs: request.evidence_refs.clone(),
        impacted_resources: policy.affected_resources.clone(),
        rollback_availability: in_words(&request).to_owned(),
        state_witness: witness,
        requested_at,
        expires_at,
        nonce: hex,
        action_request: request,
        policy_result: policy,
        staged,
    }
}

/// The canonical bytes, to be stored as artifact `approval.packet`; their SHA-256 is what is approved.
///
/// # Errors
/// [`crate::Error::Seal`] when a text in it has no canonical form.
pub fn packet_bytes(packet: &ApprovalPacket) -> Result<Vec<u8>, crate::Error> {
    Ok(canon::to_canonical(packet)?)
}

fn in_words(request: &ActionRequest) -> &'static str {
    let tool = request.action.as_tool();
    match request.way_back() {
        Reversibility::NoEffect => "nothing to undo",
        Reversibility::Reversible => "can be undone: what was there before is kept",
        Reversibility::Partial if tool.sends() => {
            "can be undone only in part: what it sends cannot be taken back, and what a program changes is not all kept"
        }
        Reversibility::Partial => tool
            .way_back_in_words()
            .unwrap_or("can be undone only in part: what a program changes is not all kept"),
        Reversibility::Irreversible => "cannot be undone",
    }
}
