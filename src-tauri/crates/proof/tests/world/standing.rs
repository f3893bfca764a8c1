//! Acts that a person's lasting yes allowed: nobody was asked, and the signed yes goes along.

use super::World;
use super::act::Trail;
use model::approval::{DECISION_PAYLOAD_TYPE, Surface};
use model::artifact::ArtifactKind;
use model::body::{StandingUsed, WitnessCaptured};
use model::chance::Clock;
use model::grant::CapabilityGrant;
use model::receipt::Receipt;
use model::standing::{
    Cover, PathAct, STANDING_FORMAT, STANDING_PAYLOAD_TYPE, StandingGrant, StandingRef, StandingScope,
};
use model::*;
use seal::{Digest, SeedSigner, dsse};

/// One way to get a standing grant wrong, or right.
pub struct Case {
    pub what: &'static str,
    /// The exit code of a check, and a word of the verdict.
    pub code: u8,
    pub word: &'static str,
    pub world: World,
}

/// How an act uses a standing grant.
pub struct Use {
    pub grant_id: GrantId,
    pub envelope: Vec<u8>,
    pub use_no: u32,
    pub max_uses: u32,
    /// Whether the log says so.
    pub told: bool,
    /// What the grant and the receipt say otherwise.
    pub grant: fn(&mut CapabilityGrant),
    pub receipt: fn(&mut Receipt),
}

impl World {
    /// A lasting yes for new files below `notes/`, in this task, twice.
    pub fn lasting(&self) -> StandingGrant {
        let now = self.clock.now();
        StandingGrant {
            format: STANDING_FORMAT.to_owned(),
            log_id: self.log_id.clone(),
            grant_id: GrantId::fresh(&self.clock, &self.dice),
            cover: Cover::Paths { glob: "notes/*".to_owned(), acts: vec![PathAct::Create] },
            scope: StandingScope::Task { task_id: self.task },
            after_untrusted: false,
            issued_at: now,
            expires_at: now.plus_ms(60_000),
            max_uses: 2,
            given_at: None,
            override_reason: None,
            surface: Surface::Test,
            decided_by: self.person,
        }
    }

    /// Its envelope by the approval key, and the first use of it.
    pub fn first_use(&self, grant: &StandingGrant) -> Use {
        let envelope = enveloped(grant, STANDING_PAYLOAD_TYPE, &self.keys.approval);
        Use {
            grant_id: grant.grant_id,
            envelope,
            use_no: 1,
            max_uses: grant.max_uses,
            told: true,
            grant: |_| (),
            receipt: |_| (),
        }
    }

    /// One act from proposal to receipt, for which the standing grant answered.
    pub fn act_under(&mut self, n: usize, used: &Use) {
        let (request, request_ref) = self.propose(n);
        let action_request_id = request.action_request_id;
        let named = StandingRef { grant_id: used.grant_id, envelope_sha256: Digest::of(&used.envelope) };
        let (_, policy_ref) = self.judge(&request, &request_ref, Some(named));
        let witness = self.witness(&request);
        let witness_ref = self.object(ArtifactKind::StateWitness, &witness);
        self.push(WitnessCaptured {
            witness_id: witness.witness_id,
            action_request_id,
            witness: witness_ref.clone(),
            expires_at: witness.expires_at,
        });
        let nobody = ApprovalId::fresh(&self.clock, &self.dice);
        let mut grant =
            self.grant(&request, &request_ref, &policy_ref, Digest::ZERO, witness_ref.sha256, nobody);
        (grant.approval_packet_sha256, grant.approval_ref) = (Slot::NOT_REQUIRED, Slot::NOT_REQUIRED);
        grant.standing = Some(named);
        (used.grant)(&mut grant);
        let grant_ref = self.object(ArtifactKind::CapabilityGrant, &grant);
        let envelope = self.artifact(ArtifactKind::ApprovalDecision, used.envelope.clone());
        if used.told {
            let (use_no, max_uses) = (used.use_no, used.max_uses);
            self.push(StandingUsed {
                grant_id: used.grant_id,
                action_request_id,
                envelope,
                use_no,
                max_uses,
            });
        }
        let entry = self.begin((&request, &request_ref), &grant, &grant_ref, Slot::NOT_REQUIRED);
        let trail = Trail {
            request,
            request_ref,
            policy_ref,
            packet_sha256: Digest::ZERO,
            envelope: Digest::ZERO,
            approval_id: nobody,
            grant_id: grant.grant_id,
            grant: grant_ref.sha256,
            witness: witness_ref.sha256,
            environment: self.artifact(ArtifactKind::EnvironmentSnapshot, br#"{"os":"linux"}"#.to_vec()),
            entry,
        };
        let mut receipt = self.blank_receipt(&trail);
        receipt.approval_ref = Slot::NOT_REQUIRED;
        receipt.authorized.approval_packet_sha256 = Slot::NOT_REQUIRED;
        receipt.authorized.approval_decision_sha256 = Slot::NOT_REQUIRED;
        receipt.authorized.standing = Some(named);
        (used.receipt)(&mut receipt);
        self.issue(receipt, action_request_id);
    }

    /// A store in which one act was done under a standing grant, each of the two changed before.
    pub(super) fn once(change: impl Fn(&mut StandingGrant), used: impl Fn(&World, &mut Use)) -> Self {
        let mut world = World::new(0, 1);
        let mut grant = world.lasting();
        change(&mut grant);
        let mut first = world.first_use(&grant);
        used(&world, &mut first);
        world.act_under(0, &first);
        world
    }

    /// Two uses of one standing grant.
    pub fn under_a_standing_grant() -> Self {
        let mut world = World::new(0, 1);
        let grant = world.lasting();
        let mut used = world.first_use(&grant);
        world.act_under(0, &used);
        used.use_no = 2;
        world.act_under(1, &used);
        world
    }
}

fn enveloped(grant: &StandingGrant, payload_type: &str, key: &SeedSigner) -> Vec<u8> {
    let payload = seal::canon::to_canonical(grant).unwrap();
    dsse::sign(payload_type, &payload, key).unwrap().to_bytes().unwrap()
}

/// When the one act was allowed. The same calls give the same times.
fn used_at() -> UnixMs {
    let world = World::once(|_| (), |_, _| ());
    let events = world.events.iter().map(|bytes| Event::from_bytes(bytes).unwrap());
    events.into_iter().find(|e| e.event_type == "grant.standing_used").unwrap().occurred_at
}

/// Standing grants in every state that a check must tell apart.
pub fn cases() -> Vec<Case> {
    let mut cases = grants();
    cases.extend(uses());
    cases.extend(stories());
    cases
}

/// A grant and a receipt that do not tell one story, each by one word.
fn stories() -> Vec<Case> {
    let case = |what, word, grant: fn(&mut CapabilityGrant), receipt: fn(&mut Receipt)| {
        let used = |_: &World, used: &mut Use| (used.grant, used.receipt) = (grant, receipt);
        Case { what, code: 5, word, world: World::once(|_| (), used) }
    };
    let (same, own) = (|_: &mut CapabilityGrant| (), |_: &mut Receipt| ());
    let grant = "its grant";
    vec![
        case("a grant for another request", grant, |g| g.action_request_sha256 = Digest::ZERO, own),
        case("a grant under another result", grant, |g| g.policy_result_sha256 = Digest::ZERO, own),
        case("a grant of a packet", grant, |g| g.approval_packet_sha256 = Slot::Value(Digest::ZERO), own),
        case("a grant of nobody", grant, |g| g.standing = None, own),
        case("a grant for another task", grant, |g| g.task_id = other(), own),
        case("a grant for another attempt", grant, |g| g.attempt_id = other(), own),
        case("another grant's name", grant, same, |r| r.capability_grant_ref = Slot::Value(other())),
        case("another attempt's receipt", grant, same, |r| r.attempt_id = other()),
        case("another result", "its policy result", same, |r| {
            r.authorized.policy_result_sha256 = Slot::Value(Digest::ZERO);
        }),
        case("another request", "with another digest", same, |r| {
            let Slot::Value(request) = &mut r.action_request_ref else { return };
            request.sha256 = Digest::ZERO;
        }),
        case("another run", "what ran", same, |r| {
            let Slot::Value(ran) = &mut r.ran else { return };
            ran.request_sha256 = Digest::ZERO;
        }),
    ]
}

/// An identifier that nothing here has.
pub fn other<Id: std::str::FromStr>() -> Id {
    let digits = "0190a1b2c3d47e8f9a0b1c2d3e4f5a6b";
    let known = ["grt", "task", "att", "apr", "prn"].map(|prefix| format!("{prefix}_{digits}"));
    known.iter().find_map(|text| text.parse().ok()).unwrap()
}

/// What the signed text may say.
fn grants() -> Vec<Case> {
    let at = used_at();
    let case = |what, code, word, change: &dyn Fn(&mut StandingGrant)| Case {
        what,
        code,
        word,
        world: World::once(change, |_, _| ()),
    };
    let workspace = World::new(0, 0).workspace;
    let other_task = TaskId::fresh(&World::new(0, 0).clock, &super::Dice(7_000.into()));
    vec![
        case("as it should be", 0, "", &|_| ()),
        case("in every project", 0, "", &|g| g.scope = StandingScope::User),
        case("in one project", 0, "", &|g| g.scope = StandingScope::Project { workspace_id: workspace }),
        case("in another task", 5, "another task", &|g| {
            g.scope = StandingScope::Task { task_id: other_task }
        }),
        case("in another store", 5, "another store", &|g| g.log_id = "another".to_owned()),
        case("of another version", 5, "another version", &|g| g.format = "hermit-standing/2".to_owned()),
        case("from a machine", 5, "cannot come from", &|g| g.surface = Surface::RunApi),
        case("from the moment of its use", 0, "", &|g| g.issued_at = at),
        case("from a moment after", 5, "beyond what it says", &|g| g.issued_at = at.plus_ms(1)),
        case("until a moment after", 0, "", &|g| g.expires_at = at.plus_ms(1)),
        case("until the moment of its use", 5, "beyond what it says", &|g| g.expires_at = at),
    ]
}

/// What an act may do with it.
fn uses() -> Vec<Case> {
    let case = |what, code, word, used: &dyn Fn(&World, &mut Use)| Case {
        what,
        code,
        word,
        world: World::once(|_| (), used),
    };
    let other = GrantId::fresh(&World::new(0, 0).clock, &super::Dice(8_000.into()));
    let again = |used: &Use| -> StandingGrant {
        let envelope = dsse::Envelope::parse(&used.envelope).unwrap();
        seal::canon::from_canonical(&envelope.payload).unwrap()
    };
    vec![
        case("the last time", 0, "", &|_, u| u.use_no = 2),
        case("once too often", 5, "beyond what it says", &|_, u| u.use_no = 3),
        case("no time", 5, "beyond what it says", &|_, u| u.use_no = 0),
        case("as if more often", 5, "beyond what it says", &|_, u| u.max_uses = 3),
        case("under another name", 5, "beyond what it says", &|_, u| u.grant_id = other),
        case("without a word in the log", 7, "records the standing grant", &|_, u| u.told = false),
        case("by a stranger's key", 7, "signed a standing grant", &|_, u| {
            u.envelope = enveloped(&again(u), STANDING_PAYLOAD_TYPE, &SeedSigner::from_seed([77; 32]));
        }),
        case("as if it were a decision", 5, "its payload is", &|world, u| {
            u.envelope = enveloped(&again(u), DECISION_PAYLOAD_TYPE, &world.keys.approval);
        }),
        case("with a signature of something else", 5, "", &|_, u| {
            let mut grant = again(u);
            grant.max_uses = 1;
            let mut envelope = dsse::Envelope::parse(&u.envelope).unwrap();
            envelope.payload = seal::canon::to_canonical(&grant).unwrap();
            u.envelope = envelope.to_bytes().unwrap();
        }),
        case("with more in it than one has", 5, "", &|world, u| {
            let mut value = serde_json::to_value(again(u)).unwrap();
            value["more"] = 1.into();
            let payload = seal::canon::canonical_value(&value).unwrap();
            let signed = dsse::sign(STANDING_PAYLOAD_TYPE, &payload, &world.keys.approval).unwrap();
            u.envelope = signed.to_bytes().unwrap();
        }),
        case("which the receipt does not name", 5, "its grant", &|_, u| {
            u.receipt = |receipt| receipt.authorized.standing = None;
        }),
    ]
}
