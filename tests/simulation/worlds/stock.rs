//! The material of small worlds: packets, letters and grants that the kernel's own pure functions made or believed.

use super::facts::{Asked, Facts, Letter};
use acts::ApprovalPacket;
use governance::approval::{answer, packet_bytes, sign, verify};
use governance::grant::{Approved, MintInput, mint};
use kernel::Next;
use kernel::state::TaskState;
use model::approval::{Approval, ApprovalDecision, ApprovalStatus, Choice, Surface};
use model::witness::{Found, StateWitness};
use model::{ApprovalId, GrantId, UnixMs};
use seal::{Digest, PublicKey};
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};
use testkit::{Person, World, done, write};

/// What a real kernel made of a real proposal: the material of every world.
pub struct Stock {
    pub waiting: TaskState,
    pub packet: ApprovalPacket,
    pub approval: Approval,
    pub person: Person,
    pub forger: Person,
    /// Answers of pure functions, by what they were asked.
    pub known: Mutex<HashMap<(Letter, Asked, u8), bool>>,
    pub minted: Mutex<HashMap<(Letter, Asked, u8, bool), bool>>,
    pub nexts: Mutex<HashMap<(Facts, u8), Next>>,
}

pub fn stock() -> &'static Stock {
    static STOCK: OnceLock<Stock> = OnceLock::new();
    STOCK.get_or_init(|| {
        let world = World::new(0xA11);
        let task = world.script("write", vec![write("a.txt", "agent"), done("written")]);
        let id = world.drive_to_approval(task);
        let waiting = world.kernel().task(task).expect("a task");
        let approval = waiting.approvals[&id].approval.clone();
        let packet = world.kernel().artifacts().read(&approval.approval_packet_sha256).expect("a packet");
        let packet = serde_json::from_slice(&packet).expect("a packet");
        let (person, forger) = (Person::new(0x77), Person::new(0x78));
        Stock {
            waiting,
            packet,
            approval,
            person,
            forger,
            known: Mutex::default(),
            minted: Mutex::default(),
            nexts: Mutex::default(),
        }
    })
}

impl Stock {
    /// A moment of the small world's time: each is later than every question of the one before.
    pub fn at(&self, tick: u8) -> UnixMs {
        let lasts = self.packet.expires_at.0 - self.packet.requested_at.0;
        self.packet.requested_at.plus_ms(i64::from(tick) * (lasts + 60_000) + 1_000)
    }

    pub fn packet(&self, (number, tick): Asked) -> ApprovalPacket {
        let by = self.at(tick).0 - self.at(0).0;
        let id = ApprovalId::fresh(&Still(self.at(tick)), &Numbered(number, tick));
        let mut packet = ApprovalPacket {
            approval_id: id,
            nonce: format!("{number:016x}{tick:016x}"),
            requested_at: self.packet.requested_at.plus_ms(by),
            expires_at: self.packet.expires_at.plus_ms(by),
            ..self.packet.clone()
        };
        if let Some(witness) = &mut packet.state_witness {
            witness.observed_at = witness.observed_at.plus_ms(by);
            witness.expires_at = witness.expires_at.plus_ms(by);
        }
        packet
    }

    pub fn approval(&self, asked: Asked, status: ApprovalStatus) -> Approval {
        let packet = self.packet(asked);
        Approval {
            approval_id: packet.approval_id,
            status,
            approval_packet_sha256: Digest::of(&packet_bytes(&packet).expect("sealable")),
            requested_at: packet.requested_at,
            expires_at: packet.expires_at,
            ..self.approval.clone()
        }
    }

    pub fn key(&self) -> PublicKey {
        self.person.public()
    }

    pub fn believed(&self, letter: Letter, asked: Asked, tick: u8) -> Option<ApprovalDecision> {
        let shown = packet_bytes(&self.packet(letter.asked)).expect("sealable");
        let choice = if letter.yes { Choice::Once } else { Choice::Deny };
        let who = model::PrincipalId::fresh(&Still(self.at(0)), &Numbered(9, 9));
        let decision =
            answer(&shown, choice, Surface::Test, who, self.at(letter.signed), None).expect("a packet");
        let signer = if letter.forged { &self.forger } else { &self.person };
        let envelope = sign(&decision, signer.signer()).expect("signed");
        let packet = packet_bytes(&self.packet(asked)).expect("sealable");
        let pending = self.approval(asked, ApprovalStatus::Pending);
        verify(&envelope, &pending, &packet, &self.key(), self.at(tick)).ok()
    }

    /// Whether a letter answers this question now.
    pub fn answers(&self, letter: Letter, asked: Asked, tick: u8) -> bool {
        let ask = || self.believed(letter, asked, tick).is_some();
        *self.known.lock().expect("no poison").entry((letter, asked, tick)).or_insert_with(ask)
    }

    /// Whether a grant comes of this yes, and an executor takes it.
    pub fn grants(&self, letter: Letter, asked: Asked, tick: u8, witnessed: bool) -> bool {
        let ask = || {
            let Some(decision) = self.believed(letter, asked, letter.signed) else { return false };
            let packet = self.packet(asked);
            let mut approval = self.approval(asked, ApprovalStatus::Granted);
            approval.resolved_by = Some(decision.decided_by);
            let observed = self.observed(&packet, tick, witnessed);
            let request = &packet.action_request;
            let sha256 = Digest::of(&seal::canon::to_canonical(request).expect("sealable"));
            let grant = mint(&MintInput {
                grant_id: GrantId::fresh(&Still(self.at(tick)), &Numbered(asked.0, tick)),
                request,
                request_sha256: sha256,
                policy: &packet.policy_result,
                approved: Some(Approved {
                    approval: &approval,
                    decision: &decision,
                    packet: &packet,
                    first: None,
                }),
                standing: None,
                observed: Some(&observed),
                decision_ref: None,
                issued_to: decision.decided_by,
                issued_by: decision.decided_by,
                now: self.at(tick),
            });
            grant.is_ok_and(|grant| {
                let spent = governance::authorize(&grant, request, grant.max_uses, self.at(tick));
                assert!(spent.is_err(), "a grant is good for one use");
                governance::authorize(&grant, request, 0, self.at(tick)).is_ok()
            })
        };
        *self.minted.lock().expect("no poison").entry((letter, asked, tick, witnessed)).or_insert_with(ask)
    }

    pub fn observed(&self, packet: &ApprovalPacket, tick: u8, witnessed: bool) -> StateWitness {
        let then = packet.state_witness.clone().expect("a write has its witness");
        let (by, mut fingerprints) = (self.at(tick), then.fingerprints.clone());
        if !witnessed {
            let changed = Found::Unreadable { reason: "changed".to_owned() };
            fingerprints.iter_mut().for_each(|print| print.state = changed.clone());
        }
        let lasts = then.expires_at.0 - then.observed_at.0;
        StateWitness { observed_at: by, expires_at: by.plus_ms(lasts), fingerprints, ..then }
    }
}

/// A clock that stands.
pub struct Still(pub UnixMs);

impl model::Clock for Still {
    fn now(&self) -> UnixMs {
        self.0
    }

    fn monotonic_ms(&self) -> u64 {
        0
    }
}

/// Chance that is a number.
pub struct Numbered(pub u8, pub u8);

impl model::Entropy for Numbered {
    fn fill(&self, buffer: &mut [u8]) {
        for (at, byte) in buffer.iter_mut().enumerate() {
            *byte = if at % 2 == 0 { self.0 } else { self.1 };
        }
    }
}
