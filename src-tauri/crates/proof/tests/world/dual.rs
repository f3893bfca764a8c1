//! Acts that two different keys had to allow: a passkey said yes first, and then the approval key.

use super::World;
use super::act::Trail;
use super::standing::Case;
use crate::authenticator::Authenticator;
use acts::ApprovalPacket;
use model::ApprovalId;
use model::approval::{ApprovalDecision, ApprovalScope, Choice, DECISION_PAYLOAD_TYPE, Shape, Surface};
use model::artifact::{ArtifactKind, ArtifactRef};
use model::body::{ApprovalGranted, ApprovalSigned, WitnessValidated};
use model::chance::Clock;
use model::passkey::PASSKEY_PAYLOAD_TYPE;
use model::receipt::Receipt;
use seal::{Digest, Signer, dsse};

const HERE: &str = "http://localhost:7717";

/// The two yeses, each side of them changed before.
struct Pair<'a> {
    /// What the packet says, and what the event of the question does.
    need: (Option<u32>, Option<u32>),
    /// Whether the packet does not say what policy did.
    hides: bool,
    first: &'a dyn Fn(&mut ApprovalDecision),
    signed: &'a dyn Fn(&mut ApprovalSigned),
    granted: &'a dyn Fn(&mut ApprovalGranted),
    receipt: &'a dyn Fn(&mut Receipt),
    /// Whether the approval key says the first yes, too.
    same_key: bool,
    /// Whether the first yes is on record before the second, behind it, or not at all.
    told: Told,
    /// Whether the act follows, and its receipt.
    acts: bool,
}

#[derive(PartialEq, Eq)]
enum Told {
    Before,
    After,
    Never,
}

impl Default for Pair<'_> {
    fn default() -> Self {
        Self {
            need: (Some(2), Some(2)),
            hides: false,
            first: &|_| (),
            signed: &|_| (),
            granted: &|_| (),
            receipt: &|_| (),
            same_key: false,
            told: Told::Before,
            acts: true,
        }
    }
}

impl World {
    /// A store in which two different keys allowed an act.
    pub fn allowed_by_two() -> Self {
        Self::paired(&Pair::default())
    }

    fn paired(pair: &Pair<'_>) -> Self {
        let mut world = World::new(0, 0);
        let (request, request_ref) = world.propose(0);
        world.need = pair.need.0;
        let (mut policy, policy_ref) = world.judge(&request, &request_ref, None);
        world.need = pair.need.1;
        policy.need = policy.need.filter(|_| !pair.hides);
        let witness = world.witness(&request);
        let (packet, packet_sha256) = world.question(&request, &request_ref, &policy, &policy_ref, &witness);
        let (first, second) = world.yeses(&packet, packet_sha256, pair);
        if !pair.acts {
            return world;
        }
        let approval_id = packet.approval_id;
        let environment = world.artifact(ArtifactKind::EnvironmentSnapshot, br#"{"os":"linux"}"#.to_vec());
        let observed = world.object(ArtifactKind::StateWitness, &witness);
        let action_request_id = request.action_request_id;
        let witness_id = witness.witness_id;
        world.push(WitnessValidated { witness_id, action_request_id, observed: observed.clone() });
        let grant =
            world.grant(&request, &request_ref, &policy_ref, packet_sha256, observed.sha256, approval_id);
        let grant_ref = world.object(ArtifactKind::CapabilityGrant, &grant);
        let entry =
            world.begin((&request, &request_ref), &grant, &grant_ref, model::Slot::Value(approval_id));
        let trail = Trail {
            request,
            request_ref,
            policy_ref,
            packet_sha256,
            envelope: second,
            approval_id,
            grant_id: grant.grant_id,
            grant: grant_ref.sha256,
            witness: observed.sha256,
            environment,
            entry,
        };
        let mut receipt = world.blank_receipt(&trail);
        receipt.authorized.first_decision_sha256 = Some(first);
        (pair.receipt)(&mut receipt);
        world.issue(receipt, action_request_id);
        world
    }

    /// Both yeses, as the log is to tell them; the digests of what was signed.
    fn yeses(&mut self, packet: &ApprovalPacket, sha256: Digest, pair: &Pair<'_>) -> (Digest, Digest) {
        let mut decision = self.yes_to(packet, sha256);
        (pair.first)(&mut decision);
        let (envelope, keyid, passkey) = match pair.same_key {
            true => (self.by_key(&decision), self.keys.approval.public().keyid(), None),
            false => self.by_passkey(&decision),
        };
        let ApprovalDecision { approval_id, decided_by, surface, scope, .. } = decision;
        let first = envelope.clone();
        let mut signed = ApprovalSigned { approval_id, decided_by, surface, scope, envelope, keyid, passkey };
        (pair.signed)(&mut signed);
        let decision = self.yes_to(packet, sha256);
        let second = self.by_key(&decision);
        let ApprovalDecision { approval_id, decided_by, surface, scope, .. } = decision;
        let mut granted = ApprovalGranted {
            approval_id,
            decided_by,
            surface,
            scope,
            envelope: second.clone(),
            keyid: self.keys.approval.public().keyid(),
            receipt_id: None,
            passkey: None,
            first: Some(first.clone()),
        };
        (pair.granted)(&mut granted);
        match pair.told {
            Told::Before => {
                self.push(signed);
                self.push(granted);
            }
            Told::After => {
                self.push(granted);
                self.push(signed);
            }
            Told::Never => {
                self.push(granted);
            }
        }
        (first.sha256, second.sha256)
    }

    fn yes_to(&self, packet: &ApprovalPacket, packet_sha256: Digest) -> ApprovalDecision {
        let expires_at = packet.expires_at;
        ApprovalDecision {
            approval_id: packet.approval_id,
            packet_sha256,
            choice: Choice::Once,
            scope: ApprovalScope { shape: Shape::Exact, pattern: Vec::new(), expires_at, max_uses: 1 },
            nonce: packet.nonce.clone(),
            surface: Surface::Browser,
            decided_by: self.person,
            decided_at: self.clock.now(),
            feedback: None,
        }
    }

    fn by_key(&mut self, decision: &ApprovalDecision) -> ArtifactRef {
        let payload = seal::canon::to_canonical(decision).unwrap();
        let envelope =
            dsse::sign(DECISION_PAYLOAD_TYPE, &payload, &self.keys.approval).unwrap().to_bytes().unwrap();
        self.artifact(ArtifactKind::ApprovalDecision, envelope)
    }

    fn by_passkey(&mut self, decision: &ApprovalDecision) -> (ArtifactRef, Digest, Option<ArtifactRef>) {
        let mut one = Authenticator::es256(7, HERE);
        let mut enrolment = self.enrolment(&one);
        enrolment.enrolled_at = decision.decided_at;
        let payload = seal::canon::to_canonical(&enrolment).unwrap();
        let enrolled =
            dsse::sign(PASSKEY_PAYLOAD_TYPE, &payload, &self.keys.approval).unwrap().to_bytes().unwrap();
        let enrolled = self.artifact(ArtifactKind::ApprovalDecision, enrolled);
        let payload = seal::canon::to_canonical(decision).unwrap();
        let signed = one.sign(DECISION_PAYLOAD_TYPE, &payload).to_bytes().unwrap();
        let signed = self.artifact(ArtifactKind::ApprovalDecision, signed);
        (signed, one.key().keyid(), Some(enrolled))
    }
}

/// What two keys said in every state that a check must tell apart.
pub fn cases() -> Vec<Case> {
    let case = |what, code, word, pair: Pair<'_>| Case { what, code, word, world: World::paired(&pair) };
    let alone = |granted: &mut ApprovalGranted| granted.first = None;
    let mut cases = vec![
        case("two different keys", 0, "", Pair::default()),
        case("two different keys, and nothing done yet", 0, "", Pair { acts: false, ..Pair::default() }),
        case(
            "one yes",
            5,
            "names one yes where two",
            Pair {
                told: Told::Never,
                granted: &alone,
                receipt: &|receipt| receipt.authorized.first_decision_sha256 = None,
                ..Pair::default()
            },
        ),
        case(
            "one yes, and a receipt of two",
            5,
            "another first yes than the log",
            Pair { granted: &alone, ..Pair::default() },
        ),
        case(
            "one yes, and nothing done yet",
            5,
            "one key says yes where two",
            Pair { told: Told::Never, granted: &alone, acts: false, ..Pair::default() },
        ),
        case(
            "two yeses of one key",
            5,
            "same key says yes twice",
            Pair { same_key: true, ..Pair::default() },
        ),
        case(
            "two yeses of one key under two names",
            5,
            "approval key says yes twice",
            Pair { same_key: true, signed: &|signed| signed.keyid = Digest::ZERO, ..Pair::default() },
        ),
        case(
            "one yes, and a question and a packet that do not say what policy did",
            5,
            "names one yes where two",
            Pair {
                need: (Some(2), None),
                hides: true,
                told: Told::Never,
                granted: &alone,
                receipt: &|receipt| receipt.authorized.first_decision_sha256 = None,
                ..Pair::default()
            },
        ),
    ];
    cases.extend(told_otherwise());
    cases
}

/// What the first yes, the log or the packet says otherwise.
fn told_otherwise() -> Vec<Case> {
    let case = |what, word, pair: Pair<'_>| Case { what, code: 5, word, world: World::paired(&pair) };
    let elsewhere = |decision: &mut ApprovalDecision| decision.packet_sha256 = Digest::of(b"another packet");
    let other: ApprovalId = "apr_0190a1b2c3d47e8f9a0b1c2d00000009".parse().unwrap();
    vec![
        case(
            "a second yes that names itself",
            "another first yes than the log",
            Pair { granted: &|granted| granted.first = Some(granted.envelope.clone()), ..Pair::default() },
        ),
        case(
            "a first yes to another packet",
            "answers another packet",
            Pair { first: &elsewhere, ..Pair::default() },
        ),
        case(
            "a first yes to another question",
            "does not answer the packet",
            Pair { first: &|decision| decision.approval_id = other, acts: false, ..Pair::default() },
        ),
        case(
            "a first yes that the log does not tell",
            "is not in the log",
            Pair { told: Told::Never, ..Pair::default() },
        ),
        case(
            "a first yes behind the second",
            "not the first of the two yeses",
            Pair { told: Told::After, ..Pair::default() },
        ),
        case(
            "two yeses where one is enough",
            "two yeses where one key",
            Pair { need: (None, None), ..Pair::default() },
        ),
        case(
            "a question that says otherwise than its packet",
            "says otherwise than the log",
            Pair { need: (Some(2), None), ..Pair::default() },
        ),
    ]
}
