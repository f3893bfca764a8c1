//! A chain of as many generations as a test asks for.

use identity::{BoundKey, Graph, bind, follow, link_sha256, sign};
use model::identity::{
    Attestation, Handover, HandoverReason, INSTANCE_KEY_FORMAT, InstanceKey, KeyRevocation, LINK_FORMAT,
    Link, LogHead, SignedLink,
};
use model::{Digest, UnixMs};
use seal::schnorr::SchnorrKey;
use seal::{SeedSigner, Signer as _, canon};

pub const INSTANCE: &str = "0190a1b2c3d47e8f9a0b1c2d00000001";

/// The key of a generation, from 0.
pub fn key(generation: u8) -> SchnorrKey {
    SchnorrKey::from_secret([generation + 1; 32]).expect("it is a key")
}

pub fn soul(version: u32) -> Digest {
    Digest::of(format!("I am version {version}.\n").as_bytes())
}

/// Links in the making.
#[derive(Clone)]
pub struct Chain {
    pub key: BoundKey,
    pub links: Vec<SignedLink>,
}

impl Chain {
    /// Genesis and further generations, each handed over to by the one before it, in turn by rotation and to a successor; each
    /// attests the next version of SOUL.md. The key before the last is revoked at the end.
    pub fn of(generations: u8) -> Self {
        let log = SeedSigner::from_seed([40; 32]);
        let statement = InstanceKey {
            format: INSTANCE_KEY_FORMAT.to_owned(),
            instance_id: INSTANCE.to_owned(),
            instance_pubkey: key(0).public(),
            soul_sha256: soul(1),
            log_pubkey: log.public().to_string(),
        };
        let bound = bind(statement, &log, &key(0)).expect("both keys sign");
        let mut chain = Self { key: bound, links: Vec::new() };
        chain.push(chain.attestation(0, 1), &[0]);
        for next in 1..generations {
            chain.push(chain.handover(next - 1, next), &[next - 1, next]);
            chain.push(chain.attestation(next, u32::from(next) + 1), &[next]);
        }
        if let Some(last) = generations.checked_sub(1).filter(|last| *last > 0) {
            chain.push(chain.revocation(last - 1, last), &[last]);
        }
        chain
    }

    pub fn previous(&self) -> Option<Digest> {
        self.links.last().map(|last| link_sha256(&last.link).expect("it is canonical"))
    }

    fn head(&self) -> LogHead {
        let size = 10 + self.links.len() as u64;
        LogHead { origin: "hermit.local/x".to_owned(), size, root: Digest::of(&size.to_be_bytes()) }
    }

    fn now(&self) -> UnixMs {
        UnixMs(1_000 + self.links.len() as i64)
    }

    pub fn attestation(&self, by: u8, version: u32) -> Link {
        Link::Attestation(Attestation {
            format: LINK_FORMAT.to_owned(),
            instance_id: INSTANCE.to_owned(),
            version,
            soul_sha256: soul(version),
            previous: self.previous(),
            instance_pubkey: key(by).public(),
            log_head: self.head(),
            attested_at: self.now(),
        })
    }

    pub fn handover(&self, from: u8, to: u8) -> Link {
        let is_rotation = to % 2 == 1;
        Link::Handover(Handover {
            format: LINK_FORMAT.to_owned(),
            instance_id: INSTANCE.to_owned(),
            previous: self.previous().expect("genesis stands before it"),
            from_pubkey: key(from).public(),
            to_pubkey: key(to).public(),
            reason: if is_rotation { HandoverReason::Rotation } else { HandoverReason::Successor },
            successor_sha256: (!is_rotation).then(|| Digest::of(b"a successor")),
            log_head: self.head(),
            handed_over_at: self.now(),
        })
    }

    pub fn revocation(&self, revoked: u8, by: u8) -> Link {
        Link::Revocation(KeyRevocation {
            format: LINK_FORMAT.to_owned(),
            instance_id: INSTANCE.to_owned(),
            previous: self.previous().expect("genesis stands before it"),
            revoked_pubkey: key(revoked).public(),
            by_pubkey: key(by).public(),
            revoked_at: self.now(),
        })
    }

    pub fn push(&mut self, link: Link, signers: &[u8]) {
        self.links.push(signed(link, signers));
    }

    pub fn lines(&self) -> Vec<Vec<u8>> {
        self.links.iter().map(|one| canon::to_canonical(one).expect("it is canonical")).collect()
    }

    pub fn follow(&self) -> Graph {
        follow_lines(&self.key, &self.lines())
    }
}

pub fn signed(link: Link, signers: &[u8]) -> SignedLink {
    let keys: Vec<SchnorrKey> = signers.iter().map(|one| key(*one)).collect();
    sign(link, &keys.iter().collect::<Vec<_>>()).expect("its keys sign")
}

pub fn follow_lines(key: &BoundKey, lines: &[Vec<u8>]) -> Graph {
    let key = canon::to_canonical(key).expect("it is canonical");
    follow(Some(&key), &lines.iter().map(Vec::as_slice).collect::<Vec<_>>())
}
