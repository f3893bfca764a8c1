//! Authority: what a receipt says was asked, judged, shown, decided and granted must be one story.

use super::Check;
use super::manifest::envelope_of;
use crate::container::Stop;
use crate::facts::{DecisionFact, StandingFact};
use crate::layout::Named;
use acts::ApprovalPacket;
use model::approval::{ApprovalDecision, Choice, DECISION_PAYLOAD_TYPE};
use model::grant::CapabilityGrant;
use model::policy::PolicyResult;
use model::receipt::Receipt;
use model::standing::{STANDING_FORMAT, STANDING_PAYLOAD_TYPE, StandingGrant, StandingRef, StandingScope};
use model::{ApprovalId, AttemptId, GrantId, TaskId, UnixMs};
use seal::{Digest, PublicKey};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

impl Check<'_> {
    /// Holds a receipt's digests against the log and against the content that goes along.
    pub(super) fn authority(&mut self, place: &str, receipt: &Receipt) -> Result<(), Stop> {
        self.recorded(receipt);
        self.named_entries(receipt)?;
        let authorized = &receipt.authorized;
        let request = receipt.action_request_ref.value().map(|artifact| artifact.sha256);
        let differs =
            |what: &str| Err(Stop::at(place, format!("{what} is about another request or authority")));
        if let (Some(named), Some(digest)) =
            (receipt.policy_result_ref.value(), authorized.policy_result_sha256.value())
            && named.sha256 != *digest
        {
            return differs("its policy result");
        }
        if let Some(judged) = self.policy(authorized.policy_result_sha256.value())?
            && request.is_some_and(|request| request != judged.request)
        {
            return differs("its policy result");
        }
        if let Some(packet) = self.packet(authorized.approval_packet_sha256.value())? {
            let same = receipt.approval_ref.value().is_none_or(|id| *id == packet.approval_id);
            // The approval's own receipt may name no request: there the packet alone speaks.
            if !same || request.is_some_and(|request| request != packet.request) {
                return differs("the packet that was shown");
            }
        }
        if let Some(grant) = self.grant(authorized.capability_grant_sha256.value())? {
            let same = request.is_none_or(|request| request == grant.request)
                && receipt.capability_grant_ref.value().is_none_or(|id| *id == grant.grant_id)
                && (grant.task_id, grant.attempt_id) == (receipt.task_id, receipt.attempt_id)
                && authorized.policy_result_sha256.value() == Some(&grant.policy)
                && authorized.approval_packet_sha256.value() == grant.packet.as_ref()
                && authorized.standing == grant.standing;
            if !same {
                return differs("its grant");
            }
        }
        self.receipt_of_two(place, receipt)?;
        self.ran(place, receipt, request)
    }

    fn ran(&mut self, place: &str, receipt: &Receipt, request: Option<Digest>) -> Result<(), Stop> {
        match (receipt.ran.value(), request) {
            (Some(ran), Some(request)) if ran.request_sha256 != request => {
                Err(Stop::at(place, "what ran is not the request that it names"))
            }
            _ => Ok(()),
        }
    }

    /// One receipt alone has no other entries of the gate than the one it names: nothing else would bind them.
    fn named_entries(&mut self, receipt: &Receipt) -> Result<(), Stop> {
        if !self.single {
            return Ok(());
        }
        let named = receipt.authorized.audit_entry_sha256.value();
        if named.is_some_and(|hash| !self.entries.contains_key(hash)) {
            self.lacks(format!("the gate entry of receipt {}", receipt.receipt_id));
        }
        match self.entries.keys().find(|hash| Some(*hash) != named) {
            Some(hash) => {
                let why = format!("the receipt does not name the entry `{hash}`");
                Err(Stop::at(crate::layout::GATE_ENTRIES, why))
            }
            None => Ok(()),
        }
    }

    /// Digests of authority that the log itself must have recorded; an older program may have recorded fewer.
    fn recorded(&mut self, receipt: &Receipt) {
        let authorized = &receipt.authorized;
        let digests = [
            &authorized.policy_result_sha256,
            &authorized.approval_packet_sha256,
            &authorized.approval_decision_sha256,
            &authorized.capability_grant_sha256,
            &authorized.witness_sha256,
        ];
        self.named.extend(digests.iter().filter_map(|slot| slot.value().copied()));
        self.named.extend(authorized.standing.map(|standing| standing.envelope_sha256));
        self.named.extend(authorized.first_decision_sha256);
        if self.predicate.as_ref().is_some_and(|p| !p.is_whole()) {
            return;
        }
        let facts = &self.facts;
        let known = |digest: &Digest| {
            [
                ("the policy result", facts.policies.contains(digest)),
                ("the packet", facts.packets.values().any(|d| d == digest)),
                ("the decision", facts.decisions.contains_key(digest)),
                ("the grant", facts.grants.values().any(|d| d == digest)),
                ("the witness", facts.witnesses.contains(digest)),
            ]
        };
        let mut missing = Vec::new();
        for (at, slot) in digests.iter().enumerate() {
            let Some(digest) = slot.value() else { continue };
            if let Some((what, false)) = known(digest).get(at) {
                missing.push(format!("the event that records {what} of receipt {}", receipt.receipt_id));
            }
        }
        if let Some(standing) = &authorized.standing {
            let uses = facts.standing.get(&standing.envelope_sha256);
            if uses.is_none_or(|uses| uses.iter().all(|fact| fact.grant_id != standing.grant_id)) {
                missing.push(format!(
                    "the event that records the standing grant of receipt {}",
                    receipt.receipt_id
                ));
            }
        }
        if authorized.first_decision_sha256.is_some_and(|first| !facts.decisions.contains_key(&first)) {
            missing
                .push(format!("the event that records the first decision of receipt {}", receipt.receipt_id));
        }
        if let Some(entry) = authorized.audit_entry_sha256.value()
            && !self.entries.contains_key(entry)
        {
            missing.push(format!("the gate entry of receipt {}", receipt.receipt_id));
        }
        missing.into_iter().for_each(|what| self.lacks(what));
    }

    /// The decisions of a person: signed by the approval key, for exactly the packet that was asked.
    pub(super) fn decisions(&mut self) -> Result<(), Stop> {
        let mut facts: Vec<(Digest, DecisionFact)> =
            self.facts.decisions.iter().map(|(digest, fact)| (*digest, fact.clone())).collect();
        // In their order: a passkey counts.
        facts.sort_by_key(|(_, fact)| fact.seq);
        for (digest, fact) in facts {
            let Some(bytes) = self.artifact(&digest)? else {
                self.not_shown(format!("the signed decision on {}, only its digest", fact.approval_id));
                continue;
            };
            self.named.insert(digest);
            self.decision(&digest, &fact, &bytes)?;
        }
        self.standing()
    }

    fn decision(&mut self, digest: &Digest, fact: &DecisionFact, bytes: &[u8]) -> Result<(), Stop> {
        let place = Named::Artifact(*digest).path();
        let by_passkey = fact.granted.as_ref().and_then(|granted| granted.enrolment);
        if let Some(enrolment) = by_passkey {
            return self.decision_by_passkey(&place, fact, enrolment, bytes);
        }
        let event_key = fact.granted.as_ref().map(|granted| granted.keyid);
        let signers = seal::dsse::Envelope::parse(bytes).map(|e| e.signatures).unwrap_or_default();
        let fits = |key: &PublicKey| match event_key {
            Some(keyid) => keyid == key.keyid(),
            None => signers.iter().any(|s| s.keyid == key.keyid()),
        };
        let in_force = self.keys.approval.filter(|_| event_key.is_none());
        let Some(key) = self.ever("approval").into_iter().find(fits).or(in_force) else {
            let what =
                format!("the key that signed the decision on {} is not in this bundle", fact.approval_id);
            self.lacks(what);
            return Ok(());
        };
        let payload = envelope_of(&place, bytes, DECISION_PAYLOAD_TYPE, &key)?;
        self.decided(&place, fact, &payload).map(drop)
    }

    /// The decision in these bytes, which a person signed in one way or another: it is the one that the log tells of.
    pub(super) fn decided(
        &mut self,
        place: &str,
        fact: &DecisionFact,
        payload: &[u8],
    ) -> Result<ApprovalDecision, Stop> {
        let decision: ApprovalDecision =
            seal::canon::from_canonical(payload).map_err(|e| Stop::at(place, e))?;
        let said = (decision.approval_id, decision.decided_by, decision.surface);
        if said != (fact.approval_id, fact.decided_by, fact.surface) {
            return Err(Stop::at(
                place,
                format!("it says otherwise than event {}, which records it", fact.seq),
            ));
        }
        match (&fact.granted, decision.choice) {
            (Some(granted), Choice::Once | Choice::Standing) if granted.scope == decision.scope => {
                if !decision.surface.may_grant() {
                    return Err(Stop::at(place, format!("a yes cannot come from `{}`", decision.surface)));
                }
            }
            (None, Choice::Deny) => {}
            _ => return Err(Stop::at(place, format!("it answers otherwise than event {} says", fact.seq))),
        }
        self.answers_the_packet(place, &decision)?;
        self.objects.answered.insert(fact.seq, decision.packet_sha256);
        self.counts.decisions += 1;
        Ok(decision)
    }

    /// What an approval key of this bundle signed, and its place. None where it is not here, or its key is not, which is said in these
    /// words.
    pub(super) fn by_approval_key<T: DeserializeOwned>(
        &mut self,
        digest: Digest,
        payload_type: &str,
        (only_digest, no_key): (String, String),
    ) -> Result<Option<(String, T)>, Stop> {
        let Some(bytes) = self.artifact(&digest)? else {
            self.not_shown(only_digest);
            return Ok(None);
        };
        self.named.insert(digest);
        let place = Named::Artifact(digest).path();
        let signers = seal::dsse::Envelope::parse(&bytes).map(|e| e.signatures).unwrap_or_default();
        let signed = |key: &PublicKey| signers.iter().any(|s| s.keyid == key.keyid());
        let Some(key) = self.ever("approval").into_iter().find(signed) else {
            self.lacks(no_key);
            return Ok(None);
        };
        let payload = envelope_of(&place, &bytes, payload_type, &key)?;
        let said = seal::canon::from_canonical(&payload).map_err(|e| Stop::at(&place, e))?;
        Ok(Some((place, said)))
    }

    /// Standing grants that answered for a person: signed by the approval key, in force when they were used.
    fn standing(&mut self) -> Result<(), Stop> {
        for (digest, uses) in self.facts.standing.clone() {
            let words = (
                "a standing grant, only its digest".to_owned(),
                "the key that signed a standing grant is not in this bundle".to_owned(),
            );
            let found = self.by_approval_key::<StandingGrant>(digest, STANDING_PAYLOAD_TYPE, words)?;
            let Some((place, grant)) = found else { continue };
            self.lasts(&place, &grant)?;
            if let Some(fact) = uses.iter().find(|fact| !is_in_force(&grant, fact)) {
                let why = format!("event {} used it beyond what it says", fact.seq);
                return Err(Stop::at(place, why));
            }
            self.counts.standing += 1;
        }
        Ok(())
    }

    /// Whether a person could give this, in this store and for this task.
    fn lasts(&self, place: &str, grant: &StandingGrant) -> Result<(), Stop> {
        if grant.format != STANDING_FORMAT {
            return Err(Stop::at(place, format!("it is of another version: `{}`", grant.format)));
        }
        if !grant.surface.may_grant() {
            return Err(Stop::at(place, format!("a yes cannot come from `{}`", grant.surface)));
        }
        let here = self.predicate.as_ref().is_some_and(|predicate| {
            let elsewhere =
                matches!(grant.scope, StandingScope::Task { task_id } if task_id != predicate.task_id);
            grant.log_id == predicate.log_id && !elsewhere
        });
        if here { Ok(()) } else { Err(Stop::at(place, "it was given for another store or another task")) }
    }

    fn answers_the_packet(&mut self, place: &str, decision: &ApprovalDecision) -> Result<(), Stop> {
        let asked = self.facts.packets.get(&decision.approval_id).copied();
        if asked.is_some_and(|asked| asked != decision.packet_sha256) {
            return Err(Stop::at(place, "it answers another packet than the one that was asked"));
        }
        let Some(packet) = self.packet(Some(&decision.packet_sha256))? else { return Ok(()) };
        let answers = packet.approval_id == decision.approval_id && packet.nonce == decision.nonce;
        if !answers || decision.decided_at > packet.expires_at {
            return Err(Stop::at(place, "its nonce, approval or time does not answer the packet it names"));
        }
        Ok(())
    }

    pub(super) fn policy(&mut self, digest: Option<&Digest>) -> Result<Option<Judged>, Stop> {
        let Some(digest) = digest else { return Ok(None) };
        if !self.objects.policies.contains_key(digest) {
            let Some(policy) = self.content::<PolicyResult>(digest)? else { return Ok(None) };
            let judged = Judged { request: policy.action_request_sha256, needs_two: policy.needs_two() };
            self.objects.policies.insert(*digest, judged);
        }
        Ok(self.objects.policies.get(digest).copied())
    }

    pub(super) fn packet(&mut self, digest: Option<&Digest>) -> Result<Option<Packet>, Stop> {
        let Some(digest) = digest else { return Ok(None) };
        if !self.objects.packets.contains_key(digest) {
            let Some(value) = self.content::<serde_json::Value>(digest)? else { return Ok(None) };
            let malformed = |e: &dyn std::fmt::Display| Stop::at(Named::Artifact(*digest).path(), e);
            // Its own bytes and not what is read of them: a later program may say more in a request.
            let shown = value.get("action_request").map(seal::canon::canonical_value).transpose();
            let shown = shown.map_err(|e| malformed(&e))?.unwrap_or_default();
            let packet: ApprovalPacket = serde_json::from_value(value).map_err(|e| malformed(&e))?;
            let (approval_id, nonce, expires_at) = (packet.approval_id, packet.nonce, packet.expires_at);
            let (request, needs_two) = (Digest::of(&shown), packet.policy_result.needs_two());
            let packet = Packet { approval_id, nonce, expires_at, request, needs_two };
            self.objects.packets.insert(*digest, packet);
        }
        Ok(self.objects.packets.get(digest).cloned())
    }

    fn grant(&mut self, digest: Option<&Digest>) -> Result<Option<Grant>, Stop> {
        let Some(digest) = digest else { return Ok(None) };
        if !self.objects.grants.contains_key(digest) {
            let Some(grant) = self.content::<CapabilityGrant>(digest)? else { return Ok(None) };
            let grant = Grant {
                grant_id: grant.grant_id,
                task_id: grant.task_id,
                attempt_id: grant.attempt_id,
                request: grant.action_request_sha256,
                policy: grant.policy_result_sha256,
                packet: grant.approval_packet_sha256.value().copied(),
                standing: grant.standing,
            };
            self.objects.grants.insert(*digest, grant);
        }
        Ok(self.objects.grants.get(digest).copied())
    }

    /// A canonical object of an artifact that goes along.
    fn content<T: DeserializeOwned>(&mut self, digest: &Digest) -> Result<Option<T>, Stop> {
        let Some(bytes) = self.artifact(digest)? else { return Ok(None) };
        let read = seal::canon::from_canonical(&bytes);
        read.map(Some).map_err(|e| Stop::at(Named::Artifact(*digest).path(), e))
    }
}

/// Whether a standing grant was good for this use of it.
fn is_in_force(grant: &StandingGrant, used: &StandingFact) -> bool {
    (used.grant_id, used.max_uses) == (grant.grant_id, grant.max_uses)
        && (1..=grant.max_uses).contains(&used.use_no)
        && grant.issued_at <= used.at
        && used.at < grant.expires_at
}

/// What matters of objects that many receipts may name: each is read once, so that a bundle in which everything
/// names one large object costs no more time than its size.
#[derive(Debug, Default)]
pub(super) struct Objects {
    policies: BTreeMap<Digest, Judged>,
    packets: BTreeMap<Digest, Packet>,
    /// Which packet each decision answers that was checked, by its event's number.
    pub(super) answered: BTreeMap<u64, Digest>,
    grants: BTreeMap<Digest, Grant>,
}

/// What policy judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judged {
    /// Digest of the request.
    request: Digest,
    /// Whether two different keys have to say yes.
    pub(super) needs_two: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Packet {
    approval_id: ApprovalId,
    nonce: String,
    expires_at: UnixMs,
    /// Digest of the request that was shown.
    request: Digest,
    /// Whether two different keys have to say yes.
    pub(super) needs_two: bool,
}

#[derive(Debug, Clone, Copy)]
struct Grant {
    grant_id: GrantId,
    task_id: TaskId,
    attempt_id: AttemptId,
    request: Digest,
    policy: Digest,
    packet: Option<Digest>,
    standing: Option<StandingRef>,
}
