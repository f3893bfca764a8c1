//! Questions that a person answered, and what the log and the signed envelope then say of it.

use super::World;
use super::standing::{Case, other};
use model::approval::{ApprovalDecision, ApprovalScope, Choice, DECISION_PAYLOAD_TYPE, Shape, Surface};
use model::artifact::ArtifactKind;
use model::body::{ApprovalDenied, ApprovalGranted};
use model::chance::Clock;
use model::standing::STANDING_PAYLOAD_TYPE;
use model::{ApprovalId, PrincipalId};
use seal::{Digest, SeedSigner, Signer, dsse};

/// What the log says of an answer, and who signed it as what.
pub struct Told {
    approval_id: ApprovalId,
    decided_by: PrincipalId,
    surface: Surface,
    scope: ApprovalScope,
    keyid: Digest,
    payload_type: &'static str,
    /// Another key than the person's.
    key: Option<SeedSigner>,
    has_envelope: bool,
}

type Signed<'a> = &'a dyn Fn(&mut ApprovalDecision);
type Says<'a> = &'a dyn Fn(&mut Told);

impl World {
    /// A store in which a person was asked once and answered as they should.
    pub fn plainly_answered(yes: bool) -> Self {
        Self::answered(yes, &|_| (), &|_| ())
    }

    /// A store in which a person was asked once and said yes or no; each side of it changed before.
    fn answered(yes: bool, signed: Signed<'_>, says: Says<'_>) -> Self {
        let mut world = World::new(0, 0);
        let (request, request_ref) = world.propose(0);
        let (policy, policy_ref) = world.judge(&request, &request_ref, None);
        let witness = world.witness(&request);
        let (packet, packet_sha256) = world.question(&request, &request_ref, &policy, &policy_ref, &witness);
        let scope = ApprovalScope {
            shape: Shape::Exact,
            pattern: Vec::new(),
            expires_at: packet.expires_at,
            max_uses: 1,
        };
        let mut decision = ApprovalDecision {
            approval_id: packet.approval_id,
            packet_sha256,
            choice: if yes { Choice::Once } else { Choice::Deny },
            scope: scope.clone(),
            nonce: packet.nonce,
            surface: Surface::Test,
            decided_by: world.person,
            decided_at: world.clock.now(),
            feedback: None,
        };
        let mut told = Told {
            approval_id: decision.approval_id,
            decided_by: decision.decided_by,
            surface: decision.surface,
            scope,
            keyid: world.keys.approval.public().keyid(),
            payload_type: DECISION_PAYLOAD_TYPE,
            key: None,
            has_envelope: true,
        };
        signed(&mut decision);
        says(&mut told);
        world.record(yes, &decision, told);
        world
    }

    fn record(&mut self, yes: bool, decision: &ApprovalDecision, told: Told) {
        let payload = seal::canon::to_canonical(decision).unwrap();
        let key: &dyn Signer = told.key.as_ref().map_or(&self.keys.approval, |key| key);
        let envelope = dsse::sign(told.payload_type, &payload, key).unwrap().to_bytes().unwrap();
        let envelope = told.has_envelope.then(|| self.artifact(ArtifactKind::ApprovalDecision, envelope));
        let Told { approval_id, decided_by, surface, scope, keyid, .. } = told;
        if !yes {
            self.push(ApprovalDenied { approval_id, decided_by, surface, envelope, feedback: None });
        } else if let Some(envelope) = envelope {
            let receipt_id = None;
            self.push(ApprovalGranted {
                approval_id,
                decided_by,
                surface,
                scope,
                envelope,
                keyid,
                receipt_id,
                passkey: None,
                first: None,
            });
        }
    }
}

/// Answers in every state that a check must tell apart.
pub fn cases() -> Vec<Case> {
    let mut cases = yes();
    cases.extend(no());
    cases
}

fn yes() -> Vec<Case> {
    let case = |what, code, word, signed: Signed<'_>, says: Says<'_>| Case {
        what,
        code,
        word,
        world: World::answered(true, signed, says),
    };
    let (same, as_is) = (|_: &mut ApprovalDecision| (), |_: &mut Told| ());
    let event = "it says otherwise than event";
    vec![
        case("a yes", 0, "", &same, &as_is),
        case("a lasting yes", 0, "", &|d| d.choice = Choice::Standing, &as_is),
        case("a no told as a yes", 5, "it answers otherwise", &|d| d.choice = Choice::Deny, &as_is),
        case("of another scope", 5, "it answers otherwise", &|d| d.scope.max_uses = 2, &as_is),
        case("told with another scope", 5, "it answers otherwise", &same, &|t| t.scope.max_uses = 2),
        case("told of another person", 5, event, &same, &|t| t.decided_by = other()),
        case("from another place than told", 5, event, &|d| d.surface = Surface::Terminal, &as_is),
        case("to another question than told", 5, event, &|d| d.approval_id = other(), &as_is),
        case("from a machine", 5, "a yes cannot come from", &|d| d.surface = Surface::RunApi, &|t| {
            t.surface = Surface::RunApi;
        }),
        case("to another question", 5, "does not answer the packet", &|d| d.approval_id = other(), &|t| {
            t.approval_id = other();
        }),
        case("with another nonce", 5, "does not answer the packet", &|d| d.nonce = "00".to_owned(), &as_is),
        case("to another packet", 5, "another packet", &|d| d.packet_sha256 = Digest::ZERO, &as_is),
        case("at the last moment", 0, "", &|d| d.decided_at = d.scope.expires_at, &as_is),
        case("too late", 5, "does not answer", &|d| d.decided_at = d.scope.expires_at.plus_ms(1), &as_is),
        case("under a key that is not here", 7, "key that signed the decision", &same, &|t| {
            t.keyid = Digest::ZERO;
        }),
        case("by a stranger", 5, "", &same, &|t| t.key = Some(SeedSigner::from_seed([77; 32]))),
        case("as if it were a grant", 5, "its payload is", &same, &|t| {
            t.payload_type = STANDING_PAYLOAD_TYPE
        }),
    ]
}

fn no() -> Vec<Case> {
    let case = |what, code, word, signed: Signed<'_>, says: Says<'_>| Case {
        what,
        code,
        word,
        world: World::answered(false, signed, says),
    };
    let (same, as_is) = (|_: &mut ApprovalDecision| (), |_: &mut Told| ());
    vec![
        case("a no", 0, "", &same, &as_is),
        case("a yes told as a no", 5, "it answers otherwise", &|d| d.choice = Choice::Once, &as_is),
        case(
            "a lasting yes told as a no",
            5,
            "it answers otherwise",
            &|d| d.choice = Choice::Standing,
            &as_is,
        ),
        case("a no from a machine", 0, "", &|d| d.surface = Surface::RunApi, &|t| {
            t.surface = Surface::RunApi
        }),
        case("a no by a stranger", 5, "", &same, &|t| t.key = Some(SeedSigner::from_seed([77; 32]))),
        case("a no told of another person", 5, "says otherwise", &same, &|t| t.decided_by = other()),
        case("a no that nobody signed", 0, "", &same, &|t| t.has_envelope = false),
    ]
}
