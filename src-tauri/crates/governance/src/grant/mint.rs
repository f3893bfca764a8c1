//! From a yes to a record of authority; the only maker of grants (HK-16.6-1, HK-6.2-3, C20).

use crate::approval::packet_bytes;
use crate::policy::{may_lead_to_a_grant, targets_are_its_own};
use crate::refusal::demand;
use crate::standing::{self, InForce};
use crate::{Refusal, witness};
use acts::ActionRequest;
use acts::ApprovalPacket;
use model::approval::{Approval, ApprovalDecision, ApprovalStatus, Choice};
use model::grant::CapabilityGrant;
use model::limits::GRANT_MS_MAX;
use model::policy::{PolicyResult, Verdict};
use model::slot::Absence;
use model::witness::StateWitness;
use model::{DecisionId, GrantId, PrincipalId, ResourceId, Slot, UnixMs};
use seal::{Digest, canon};

/// A person's yes with all that it was about.
#[derive(Debug, Clone, Copy)]
pub struct Approved<'a> {
    /// The approval, granted.
    pub approval: &'a Approval,
    /// The decision, as [`crate::approval::verify`] gave it.
    pub decision: &'a ApprovalDecision,
    /// The packet that was shown.
    pub packet: &'a ApprovalPacket,
    /// The yes of another key before it, where two have to say yes.
    pub first: Option<First<'a>>,
}

/// The first of two yeses.
#[derive(Debug, Clone, Copy)]
pub struct First<'a> {
    /// The decision, as [`crate::approval::verify`] gave it.
    pub decision: &'a ApprovalDecision,
    /// The key that signed it, and the one that signed the yes after it.
    pub keys: [Digest; 2],
}

impl Approved<'_> {
    /// Until when all that was said counts.
    fn until(&self) -> UnixMs {
        let said = self.approval.expires_at.min(self.packet.expires_at).min(self.decision.scope.expires_at);
        self.first.map_or(said, |first| said.min(first.decision.scope.expires_at))
    }
}

/// What a grant is minted from.
#[derive(Debug, Clone, Copy)]
pub struct MintInput<'a> {
    /// The grant's identifier.
    pub grant_id: GrantId,
    /// The request, as it is about to be performed.
    pub request: &'a ActionRequest,
    /// Digest of its canonical bytes, as stored.
    pub request_sha256: Digest,
    /// What policy said last: `allow`, or the `require_approval` of the packet.
    pub policy: &'a PolicyResult,
    /// The yes, when a person was asked.
    pub approved: Option<Approved<'a>>,
    /// The standing grant that policy says answers for a person, with its uses so far.
    pub standing: Option<InForce<'a>>,
    /// What was observed just now, when a class of the request demands a witness.
    pub observed: Option<&'a StateWitness>,
    /// The decision record, when HK-6.2-3 demands one.
    pub decision_ref: Option<DecisionId>,
    /// The executor that may use it.
    pub issued_to: PrincipalId,
    /// Who issues it.
    pub issued_by: PrincipalId,
    /// Now.
    pub now: UnixMs,
}

/// The grant: exactly the request's resources, one use, at most [`GRANT_MS_MAX`], bound to the digests of request,
/// policy, packet and witness.
///
/// # Errors
/// A [`Refusal`]: `request_changed`, `policy_*`, `approval_*`, `packet_changed`, `standing_*`, `witness_*`, `decision_missing`.
/// After `witness_drift`, `packet_changed` and `policy_drift` the request goes before policy again (HK-16.8-4).
pub fn mint(input: &MintInput<'_>) -> Result<CapabilityGrant, Refusal> {
    check_request(input)?;
    demand(may_lead_to_a_grant(input.policy.verdict), "policy_denied", || {
        format!("policy said {}, so there is nothing to grant", input.policy.verdict)
    })?;
    let mut expires_at = input.now.plus_ms(GRANT_MS_MAX);
    match &input.approved {
        Some(approved) => {
            check_approved(input, approved)?;
            expires_at = expires_at.min(approved.until());
        }
        None => demand(input.policy.verdict == Verdict::Allow, "approval_missing", || {
            "a person must agree first".to_owned()
        })?,
    }
    if let Some(until) = check_standing(input)? {
        expires_at = expires_at.min(until);
    }
    let classes = &input.policy.action_classes;
    if classes.iter().any(|class| class.needs_witness()) {
        expires_at = expires_at.min(check_witness(input)?);
    }
    demand(input.decision_ref.is_some() || !input.policy.decision_required, "decision_missing", || {
        format!("`{}` needs a decision record before it can be granted", input.request.action_class)
    })?;
    build(input, expires_at)
}

fn build(input: &MintInput<'_>, expires_at: UnixMs) -> Result<CapabilityGrant, Refusal> {
    let request = input.request;
    let digest = |bytes: Vec<u8>| Digest::of(&bytes);
    // One that no class demands was not compared with anything, so the grant does not name it.
    let demanded = input.observed.filter(|_| input.policy.witness_required);
    let observed = demanded.map(canon::to_canonical).transpose()?.map(digest);
    let mut resource_scope: Vec<String> = request.target_resources.iter().map(ToString::to_string).collect();
    resource_scope.sort();
    Ok(CapabilityGrant {
        grant_id: input.grant_id,
        task_id: request.task_id,
        step_id: request.step_id,
        attempt_id: request.attempt_id,
        issued_to_principal_id: input.issued_to,
        issued_by_principal_id: input.issued_by,
        action_class: request.action_class,
        resource_scope,
        issued_at: input.now,
        not_before: input.now,
        expires_at,
        max_uses: 1,
        action_request_sha256: input.request_sha256,
        policy_result_sha256: Digest::of(&canon::to_canonical(input.policy)?),
        approval_packet_sha256: Slot::or(
            input.approved.map(|approved| approved.decision.packet_sha256),
            Absence::NotRequired,
        ),
        witness_sha256: Slot::or(observed, Absence::NotRequired),
        approval_ref: Slot::or(
            input.approved.map(|approved| approved.approval.approval_id),
            Absence::NotRequired,
        ),
        decision_ref: Slot::or(input.decision_ref, Absence::NotRequired),
        filesystem_scope: request.action.as_tool().filesystem_scope(),
        network_scope: scope_of(request, |resource| match resource {
            ResourceId::Host(name, port) => Some(format!("{name}:{port}")),
            _ => None,
        }),
        secret_scope: scope_of(request, |resource| match resource {
            ResourceId::Secret(handle) => Some(handle.clone()),
            _ => None,
        }),
        standing: input.policy.standing,
    })
}

fn scope_of(request: &ActionRequest, part: fn(&ResourceId) -> Option<String>) -> Vec<String> {
    request.target_resources.iter().filter_map(part).collect()
}

/// The request is the one that policy judged, and says of itself what its action says.
fn check_request(input: &MintInput<'_>) -> Result<(), Refusal> {
    let MintInput { request, policy, .. } = input;
    let digest = Digest::of(&canon::to_canonical(request)?);
    let same = digest == input.request_sha256
        && digest == policy.action_request_sha256
        && request.action_request_id == policy.action_request_id;
    demand(same, "request_changed", || {
        format!("request `{}` is not the one that policy judged", request.action_request_id)
    })?;
    let classes = request.classes();
    let mut targets: Vec<String> = request.target_resources.iter().map(ToString::to_string).collect();
    targets.sort();
    let honest = classes.first() == Some(&request.action_class)
        && classes == policy.action_classes
        && targets_are_its_own(request)
        && targets == policy.affected_resources
        && policy.witness_required == classes.iter().any(|class| class.needs_witness())
        && policy.decision_required
            == (input.standing.is_some_and(|s| s.grant.override_reason.is_some())
                || classes.iter().any(|class| class.needs_decision()));
    demand(honest, "policy_mismatch", || {
        "what policy judged is not what the request does; policy is asked again".to_owned()
    })
}

/// The standing grant is the one that policy named, covers the request and is in force; answers until when.
fn check_standing(input: &MintInput<'_>) -> Result<Option<UnixMs>, Refusal> {
    let MintInput { standing, policy, request, now, approved, .. } = input;
    demand(standing.as_ref().map(InForce::named) == policy.standing, "standing_other", || {
        "the standing grant is not the one that policy named; policy is asked again".to_owned()
    })?;
    let Some(standing) = standing else { return Ok(None) };
    let overrides = standing.grant.override_reason.is_some();
    let answers = if overrides {
        policy.verdict == Verdict::RequireApproval && approved.is_some()
    } else {
        policy.verdict == Verdict::Allow && approved.is_none()
    };
    demand(answers, "standing_other", || {
        "a standing grant answers only where nobody was asked, and an override only where somebody was"
            .to_owned()
    })?;
    standing::holds(standing, policy.risk_band, false, *now)?;
    standing::covers(standing.grant, request).map_err(|why| {
        Refusal::new("standing_outside", format!("the standing grant does not cover this: {why}"))
    })?;
    Ok(Some(standing.grant.expires_at))
}

/// The yes is about this request, this judgement, this packet, and still holds.
fn check_approved(input: &MintInput<'_>, approved: &Approved<'_>) -> Result<(), Refusal> {
    let Approved { approval, decision, packet, .. } = approved;
    check_two(approved)?;
    demand(approval.status == ApprovalStatus::Granted, "approval_not_granted", || {
        format!("approval `{}` is {}", approval.approval_id, approval.status)
    })?;
    demand(decision.choice == Choice::Once && decision.surface.may_grant(), "approval_not_granted", || {
        "the decision does not allow this".to_owned()
    })?;
    let resolved = approval.resolved_by == Some(decision.decided_by)
        && decision.approval_id == approval.approval_id
        && decision.nonce == packet.nonce;
    demand(resolved, "approval_other", || "the decision answers another approval".to_owned())?;
    let shown = Digest::of(&packet_bytes(packet).map_err(|e| Refusal::new("not_sealable", e.to_string()))?);
    let same = shown == decision.packet_sha256 && shown == approval.approval_packet_sha256;
    demand(same && crate::approval::belongs(packet, approval), "packet_changed", || {
        "the packet is not the one a person agreed to; policy is asked again".to_owned()
    })?;
    demand(packet.action_request == *input.request, "request_changed", || {
        "the request is not the one a person agreed to; policy is asked again".to_owned()
    })?;
    demand(same_judgement(input.policy, &packet.policy_result), "policy_drift", || {
        "policy is no longer what it was when a person agreed; policy is asked again".to_owned()
    })?;
    demand(input.now < approved.until(), "approval_expired", || {
        "the approval has expired; policy is asked again".to_owned()
    })?;
    demand(decision.decided_at <= input.now, "decision_time", || {
        "the yes was given in the future; check the clock".to_owned()
    })
}

/// Two different keys have said yes to this packet where two have to, and one where one has to.
fn check_two(approved: &Approved<'_>) -> Result<(), Refusal> {
    let Approved { approval, decision, packet, first } = approved;
    match (packet.policy_result.needs_two(), first) {
        (false, None) => Ok(()),
        (true, Some(First { decision: first, keys: [one, other] })) => {
            demand(one != other, "approval_same_key", || {
                "the same key has said yes twice; another one has to".to_owned()
            })?;
            let about = (first.approval_id, first.packet_sha256, first.nonce.as_str())
                == (approval.approval_id, decision.packet_sha256, packet.nonce.as_str());
            let is_yes = first.choice == Choice::Once
                && first.surface.may_grant()
                && first.decided_at < first.scope.expires_at;
            demand(about && is_yes, "approval_other", || {
                "the first of the two yeses is none to this".to_owned()
            })
        }
        (true, None) => Err(Refusal::new(
            "approval_one_of_two",
            "two different keys have to allow this, and one has so far",
        )),
        (false, Some(_)) => Err(Refusal::new("approval_other", "one key has to allow this, and two have")),
    }
}

/// The judgement is the packet's own, or one made afterwards that differs in nothing but that it now allows.
fn same_judgement(now: &PolicyResult, then: &PolicyResult) -> bool {
    let again = PolicyResult {
        policy_result_id: then.policy_result_id,
        verdict: then.verdict,
        determining_rules: then.determining_rules.clone(),
        reasoning_summary: then.reasoning_summary.clone(),
        evaluated_at: then.evaluated_at,
        // What two have to allow is said of the question; the packet tells it.
        need: then.need,
        ..now.clone()
    };
    let later = now.verdict == Verdict::Allow && now.evaluated_at >= then.evaluated_at;
    then.verdict == Verdict::RequireApproval && (now == then || (later && again == *then))
}

/// The world is as it was; answers until when that may be relied on.
fn check_witness(input: &MintInput<'_>) -> Result<UnixMs, Refusal> {
    let Some(observed) = input.observed else {
        return Err(Refusal::new(
            "witness_missing",
            "what is touched must be looked at again before it is changed",
        ));
    };
    let request = input.request;
    let ours =
        (observed.action_request_id, observed.attempt_id) == (request.action_request_id, request.attempt_id);
    demand(ours && witness::covers(observed, request), "witness_other", || {
        "the witness does not look at exactly what the request touches".to_owned()
    })?;
    demand(observed.observed_at <= input.now && input.now < observed.expires_at, "witness_expired", || {
        "the witness is not of now; observe again".to_owned()
    })?;
    let Some(approved) = &input.approved else {
        return Ok(observed.expires_at);
    };
    let Some(then) = &approved.packet.state_witness else {
        return Err(Refusal::new("witness_missing", "the packet shows no witness; policy is asked again"));
    };
    let sound = (then.action_request_id, then.attempt_id) == (request.action_request_id, request.attempt_id);
    demand(sound && input.now < then.expires_at, "witness_expired", || {
        "the witness of the packet has expired; policy is asked again".to_owned()
    })?;
    demand(observed.observed_at >= approved.decision.decided_at, "witness_expired", || {
        "the witness is older than the yes; observe again".to_owned()
    })?;
    let drift = witness::compare(then, observed);
    demand(drift.is_empty(), "witness_drift", || {
        let said: Vec<String> = drift.iter().map(ToString::to_string).collect();
        format!("what a person agreed to has changed: {}", said.join("; "))
    })?;
    demand(then.preconditions == observed.preconditions, "witness_drift", || {
        "the preconditions are no longer those a person agreed to".to_owned()
    })?;
    Ok(observed.expires_at.min(then.expires_at))
}
