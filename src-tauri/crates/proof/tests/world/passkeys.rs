//! Questions that a person answered with a passkey: what the approval key signed of it, what it signed, and what the log says.

use super::World;
use super::standing::{Case, other};
use crate::authenticator::Authenticator;
use model::approval::{ApprovalDecision, ApprovalScope, Choice, DECISION_PAYLOAD_TYPE, Shape, Surface};
use model::artifact::ArtifactKind;
use model::body::ApprovalGranted;
use model::chance::Clock;
use model::passkey::{
    MESH_ORIGIN, PASSKEY_FORMAT, PASSKEY_PAYLOAD_TYPE, PasskeyEnrolment, SECURITY_KEY_ORIGIN, SIGN_IN_FORMAT,
    SIGN_IN_PAYLOAD_TYPE,
};
use seal::webauthn::{Signed, base64url};
use seal::{Digest, SeedSigner, Signer, dsse};

const HERE: &str = "http://localhost:7717";

/// One yes, each side of it changed before.
struct Bend<'a> {
    authenticator: &'a dyn Fn(&mut Authenticator),
    enrolment: &'a dyn Fn(&mut PasskeyEnrolment),
    decision: &'a dyn Fn(&mut ApprovalDecision),
    /// What is signed in place of the decision.
    payload: &'a dyn Fn(Vec<u8>) -> Vec<u8>,
    signed: &'a dyn Fn(&mut Signed),
    granted: &'a dyn Fn(&mut ApprovalGranted),
    /// Who lets the passkey say yes, where not the person's approval key.
    key: Option<SeedSigner>,
}

impl Default for Bend<'_> {
    fn default() -> Self {
        Self {
            authenticator: &|_| (),
            enrolment: &|_| (),
            decision: &|_| (),
            payload: &|decision| decision,
            signed: &|_| (),
            granted: &|_| (),
            key: None,
        }
    }
}

impl World {
    /// A store in which a person was asked so often, and said yes with this passkey.
    pub fn answered_by_passkey(one: &mut Authenticator, times: usize) -> Self {
        let mut world = World::new(0, 0);
        for n in 0..times {
            world.yes_by_passkey(n, one, &Bend::default());
        }
        world
    }

    /// What lets a passkey say yes here.
    pub(super) fn enrolment(&self, one: &Authenticator) -> PasskeyEnrolment {
        PasskeyEnrolment {
            format: PASSKEY_FORMAT.to_owned(),
            log_id: self.log_id.clone(),
            credential_id: base64url(&one.credential_id),
            public_key: one.key().to_base64(),
            rp_id: one.rp_id.clone(),
            origin: one.origin.clone(),
            authenticator_data: base64url(&Authenticator::eddsa(1, &one.origin).made()),
            surface: Surface::Browser,
            enrolled_by: self.person,
            enrolled_at: self.clock.now(),
        }
    }

    fn yes_by_passkey(&mut self, n: usize, one: &mut Authenticator, bend: &Bend<'_>) {
        let mut enrolment = self.enrolment(one);
        (bend.enrolment)(&mut enrolment);
        (bend.authenticator)(one);
        let (request, request_ref) = self.propose(n);
        let (policy, policy_ref) = self.judge(&request, &request_ref, None);
        let witness = self.witness(&request);
        let (packet, packet_sha256) = self.question(&request, &request_ref, &policy, &policy_ref, &witness);
        let expires_at = packet.expires_at;
        let surface = if one.origin == MESH_ORIGIN { Surface::Mesh } else { Surface::Browser };
        let scope = ApprovalScope { shape: Shape::Exact, pattern: Vec::new(), expires_at, max_uses: 1 };
        let mut decision = ApprovalDecision {
            approval_id: packet.approval_id,
            packet_sha256,
            choice: Choice::Once,
            scope: scope.clone(),
            nonce: packet.nonce,
            surface,
            decided_by: self.person,
            decided_at: self.clock.now(),
            feedback: None,
        };
        (bend.decision)(&mut decision);
        let payload = (bend.payload)(seal::canon::to_canonical(&decision).unwrap());
        let mut signed = one.sign(DECISION_PAYLOAD_TYPE, &payload);
        (bend.signed)(&mut signed);
        let key: &dyn Signer = bend.key.as_ref().map_or(&self.keys.approval, |key| key);
        let payload = seal::canon::to_canonical(&enrolment).unwrap();
        let envelope = dsse::sign(PASSKEY_PAYLOAD_TYPE, &payload, key).unwrap().to_bytes().unwrap();
        let envelope = self.artifact(ArtifactKind::ApprovalDecision, envelope);
        let at = self.artifact(ArtifactKind::ApprovalDecision, signed.to_bytes().unwrap());
        let mut granted = ApprovalGranted {
            approval_id: packet.approval_id,
            decided_by: self.person,
            surface,
            scope,
            envelope: at,
            keyid: one.key().keyid(),
            receipt_id: None,
            passkey: Some(envelope),
            first: None,
        };
        (bend.granted)(&mut granted);
        self.push(granted);
    }

    fn bent(mut one: Authenticator, bend: &Bend<'_>) -> Self {
        let mut world = World::new(0, 0);
        world.yes_by_passkey(0, &mut one, bend);
        world
    }
}

fn es256() -> Authenticator {
    Authenticator::es256(7, HERE)
}

/// Answers by a passkey in every state that a check must tell apart.
pub fn cases() -> Vec<Case> {
    let case =
        |what, code, word, bend: Bend<'_>| Case { what, code, word, world: World::bent(es256(), &bend) };
    let mut cases = vec![
        Case { what: "ES256", code: 0, word: "", world: World::bent(es256(), &Bend::default()) },
        Case {
            what: "EdDSA",
            code: 0,
            word: "",
            world: World::bent(Authenticator::eddsa(8, HERE), &Bend::default()),
        },
        case(
            "by a stranger's approval key",
            7,
            "let the passkey decide",
            Bend { key: Some(SeedSigner::from_seed([77; 32])), ..Bend::default() },
        ),
        case(
            "under a name that it has not",
            5,
            "is not the passkey",
            Bend { granted: &|g| g.keyid = Digest::ZERO, ..Bend::default() },
        ),
        case(
            "as if the approval key had signed",
            7,
            "key that signed the decision",
            Bend { granted: &|g| g.passkey = None, ..Bend::default() },
        ),
    ];
    cases.extend(by_security_key());
    cases.extend(at_another_machine());
    cases.extend(signed_in());
    cases.extend(changed_after());
    cases.extend(said_otherwise());
    cases.extend(enrolled_otherwise());
    cases.push(copied());
    cases
}

/// What a security key signed that Hermit itself asked, and what stands in its place.
fn by_security_key() -> Vec<Case> {
    let case = |what, code, word, origin: &str, authenticator: &dyn Fn(&mut Authenticator)| {
        let bend = Bend { authenticator, ..Bend::default() };
        Case { what, code, word, world: World::bent(Authenticator::es256(7, origin), &bend) }
    };
    let key = SECURITY_KEY_ORIGIN;
    vec![
        case("a security key", 0, "", key, &|_| ()),
        case("a security key on a page", 5, "another origin", key, &|a| a.origin = HERE.to_owned()),
        case("a security key for a page", 5, "another host", key, &|a| a.rp_id = "localhost".to_owned()),
        case("a security key without its PIN", 5, "did not verify", key, &|a| a.flags = 0x01),
        case("a page's passkey as a security key", 5, "another origin", HERE, &|a| {
            a.origin = SECURITY_KEY_ORIGIN.to_owned();
        }),
    ]
}

/// What the approval key of another machine signed, and what stands in its place.
fn at_another_machine() -> Vec<Case> {
    let case = |what, code, word, origin: &str, authenticator: &dyn Fn(&mut Authenticator)| {
        let bend = Bend { authenticator, ..Bend::default() };
        Case { what, code, word, world: World::bent(Authenticator::eddsa(8, origin), &bend) }
    };
    let machine = MESH_ORIGIN;
    let elsewhere = |what, origin: &str, surface: Surface| {
        let (decision, granted) =
            (|d: &mut ApprovalDecision| d.surface = surface, |g: &mut ApprovalGranted| g.surface = surface);
        let bend = Bend { decision: &decision, granted: &granted, ..Bend::default() };
        let world = World::bent(Authenticator::eddsa(8, origin), &bend);
        Case { what, code: 5, word: "says no yes from", world }
    };
    vec![
        elsewhere("another machine's key from this one", machine, Surface::Terminal),
        elsewhere("a page's passkey from another machine", HERE, Surface::Mesh),
        case("at another machine", 0, "", machine, &|_| ()),
        case("another machine's key on a page", 5, "another origin", machine, &|a| {
            a.origin = HERE.to_owned()
        }),
        case("another machine's key for a page", 5, "another host", machine, &|a| {
            a.rp_id = "localhost".to_owned()
        }),
        case("at another machine, without a passphrase", 5, "did not verify", machine, &|a| a.flags = 0x01),
        case("another machine under the name of a third", 5, "another passkey", machine, &|a| {
            a.credential_id = vec![9; 64];
        }),
        case("a page's passkey as another machine", 5, "another origin", HERE, &|a| {
            a.origin = MESH_ORIGIN.to_owned();
        }),
    ]
}

/// What signs a page in is no yes, whatever it is called and whatever stands in it.
fn signed_in() -> Vec<Case> {
    let payload = |decision: Vec<u8>| {
        [format!("{SIGN_IN_FORMAT}\nhermit/store\n{HERE}\n").into_bytes(), decision].concat()
    };
    let as_yes = Bend { payload: &payload, ..Bend::default() };
    let as_it_is = Bend {
        payload: &payload,
        signed: &|s| s.payload_type = SIGN_IN_PAYLOAD_TYPE.to_owned(),
        ..Bend::default()
    };
    vec![
        Case { what: "what signs in, as a yes", code: 5, word: "", world: World::bent(es256(), &as_yes) },
        Case {
            what: "what signs in",
            code: 5,
            word: "its payload is",
            world: World::bent(es256(), &as_it_is),
        },
    ]
}

/// What was changed once it was signed.
fn changed_after() -> Vec<Case> {
    let case = |what, word, signed: &dyn Fn(&mut Signed)| {
        let bend = Bend { signed, ..Bend::default() };
        Case { what, code: 5, word, world: World::bent(es256(), &bend) }
    };
    vec![
        case("another payload than was signed", "something else than this decision", &|s| {
            s.payload.push(b' ');
        }),
        case("as if it were a grant", "its payload is", &|s| {
            s.payload_type = "application/vnd.hermit.standing-grant+json".to_owned();
        }),
        case("something behind the signature", "does not hold", &|s| s.webauthn.signature.push(0)),
        case("a counter changed after signing", "does not hold", &|s| {
            s.webauthn.authenticator_data[36] ^= 0x10;
        }),
        case("a name twice", "json", &|s| {
            let said = String::from_utf8(s.webauthn.client_data_json.clone()).unwrap();
            s.webauthn.client_data_json = said.replacen('{', "{\"type\":\"webauthn.get\",", 1).into_bytes();
        }),
    ]
}

/// What authenticator and browser say that is no yes, with a signature that holds.
fn said_otherwise() -> Vec<Case> {
    let case = |what, code, word, authenticator: &dyn Fn(&mut Authenticator)| {
        let bend = Bend { authenticator, ..Bend::default() };
        Case { what, code, word, world: World::bent(es256(), &bend) }
    };
    vec![
        case("kept on one device", 0, "", &|a| a.flags = 0x05),
        case("may be copied", 0, "", &|a| a.flags = 0x0d),
        case("was copied", 0, "", &|a| a.flags = 0x1d),
        case("copied what cannot be", 5, "backed up", &|a| a.flags = 0x15),
        case("nobody there", 5, "somebody was there", &|a| a.flags = 0x04),
        case("nobody verified", 5, "did not verify", &|a| a.flags = 0x01),
        case("a passkey told of", 5, "enrols no passkey", &|a| a.flags = 0x45),
        case("extensions that are not there", 5, "extensions", &|a| a.flags = 0x85),
        case("for another host", 5, "another host", &|a| a.rp_id = "example.org".to_owned()),
        case("at another origin", 5, "another origin", &|a| a.origin = "http://localhost:1".to_owned()),
        case("in a frame", 5, "frame", &|a| drop(a.says.insert("crossOrigin".to_owned(), true.into()))),
        case("below another page", 5, "frame", &|a| drop(a.says.insert("topOrigin".to_owned(), HERE.into()))),
        case("with more in it", 0, "", &|a| {
            drop(a.says.insert("other".to_owned(), serde_json::json!([1, {}])))
        }),
        case("with a half in it", 5, "json", &|a| {
            drop(a.says.insert("other".to_owned(), serde_json::json!(0.5)))
        }),
        case("another ceremony", 5, "something else", &|a| {
            drop(a.says.insert("type".to_owned(), "webauthn.create".into()));
        }),
        case("another passkey's name", 5, "another passkey", &|a| a.credential_id = vec![9; 16]),
        case("without a count", 0, "", &|a| a.step = 0),
    ]
}

/// What the approval key signed of the passkey, and what was decided.
fn enrolled_otherwise() -> Vec<Case> {
    let enrolled = |what, code, word, enrolment: &dyn Fn(&mut PasskeyEnrolment)| {
        let bend = Bend { enrolment, ..Bend::default() };
        Case { what, code, word, world: World::bent(es256(), &bend) }
    };
    let decided = |what, word, decision: &dyn Fn(&mut ApprovalDecision)| {
        let bend = Bend { decision, ..Bend::default() };
        Case { what, code: 5, word, world: World::bent(es256(), &bend) }
    };
    let counted = |a: &mut Authenticator| a.counter = 5;
    let until_nine = |e: &mut PasskeyEnrolment| {
        let mut maker = Authenticator::eddsa(1, HERE);
        maker.counter = 9;
        e.authenticator_data = base64url(&maker.made());
    };
    let behind = Bend { authenticator: &counted, enrolment: &until_nine, ..Bend::default() };
    vec![
        enrolled("of another version", 5, "another version", &|e| e.format = "hermit-passkey/2".to_owned()),
        enrolled("in another store", 5, "another store", &|e| e.log_id = "another".to_owned()),
        enrolled("from a machine", 5, "cannot come from", &|e| e.surface = Surface::RunApi),
        enrolled("with another key", 5, "is not the passkey", &|e| {
            e.public_key = Authenticator::es256(9, HERE).key().to_base64();
        }),
        enrolled("with no key", 5, "", &|e| e.public_key = "AAAA".to_owned()),
        enrolled("with a name in another spelling", 5, "base64url", &|e| e.credential_id.push('=')),
        enrolled("later", 5, "not before", &|e| e.enrolled_at = e.enrolled_at.plus_ms(60_000)),
        enrolled("for another person", 5, "for whom", &|e| e.enrolled_by = other()),
        Case { what: "counted back", code: 5, word: "counted on", world: World::bent(es256(), &behind) },
        decided("a lasting yes", "says yes once", &|d| d.choice = Choice::Standing),
        decided("another packet", "another packet", &|d| d.packet_sha256 = Digest::ZERO),
        decided("another nonce", "does not answer the packet", &|d| d.nonce = "00".to_owned()),
        decided("another scope", "it answers otherwise", &|d| d.scope.max_uses = 2),
        decided("another person", "says otherwise than event", &|d| d.decided_by = other()),
    ]
}

/// Two yeses, the second by a copy that has counted no further.
fn copied() -> Case {
    let mut one = es256();
    let mut world = World::answered_by_passkey(&mut one, 1);
    let mut copy = es256();
    world.yes_by_passkey(1, &mut copy, &Bend::default());
    Case { what: "a copy", code: 5, word: "counted on", world }
}
