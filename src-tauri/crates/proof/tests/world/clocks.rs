//! Who the instance of the store is, and clocks that stamped the head of its log.

use super::World;
use ::identity::{bind, link_sha256, sign};
use model::TaskId;
use model::anchor::{AnchorClock, AnchorSubject};
use model::identity::{
    Attestation, Handover, HandoverReason, INSTANCE_KEY_FORMAT, InstanceKey, LINK_FORMAT, Link, LogHead,
    SignedLink,
};
use proof::{AnchorFiles, IdentityFiles, Requested};
use seal::note::Checkpoint;
use seal::schnorr::SchnorrKey;
use seal::{Digest, Signer as _};

/// What the clocks of a stamp give for a digest.
pub type Given = Vec<(AnchorClock, Vec<u8>)>;

impl World {
    /// The instance says who it is: an attestation, a rotation of its key, and an attestation by the new key.
    pub fn attest(&mut self) {
        let [old, new] = [7, 8].map(|seed| SchnorrKey::from_secret([seed; 32]).unwrap());
        let soul = Digest::of(b"the first SOUL.md");
        let statement = InstanceKey {
            format: INSTANCE_KEY_FORMAT.to_owned(),
            instance_id: self.log_id.clone(),
            instance_pubkey: old.public(),
            soul_sha256: soul,
            log_pubkey: self.keys.log.public().to_string(),
        };
        let bound = bind(statement, &self.keys.log, &old).unwrap();
        let first = self.attestation(1, None, &old);
        let link = Link::Handover(Handover {
            format: LINK_FORMAT.to_owned(),
            instance_id: self.log_id.clone(),
            previous: link_sha256(&first.link).unwrap(),
            from_pubkey: old.public(),
            to_pubkey: new.public(),
            reason: HandoverReason::Rotation,
            successor_sha256: None,
            log_head: self.log_head(2),
            handed_over_at: self.now(),
        });
        let handover = sign(link, &[&old, &new]).unwrap();
        let last = self.attestation(2, Some(link_sha256(&handover.link).unwrap()), &new);
        let canonical = |link: &SignedLink| seal::canon::to_canonical(link).unwrap();
        self.instance = Some(IdentityFiles {
            key: seal::canon::to_canonical(&bound).unwrap(),
            links: [first, handover, last].iter().map(canonical).collect(),
        });
    }

    fn attestation(&self, version: u32, previous: Option<Digest>, key: &SchnorrKey) -> SignedLink {
        let soul: &[u8] = if version == 1 { b"the first SOUL.md" } else { b"the second SOUL.md" };
        let link = Link::Attestation(Attestation {
            format: LINK_FORMAT.to_owned(),
            instance_id: self.log_id.clone(),
            version,
            soul_sha256: Digest::of(soul),
            previous,
            instance_pubkey: key.public(),
            log_head: self.log_head(u64::from(version)),
            attested_at: self.now(),
        });
        sign(link, &[key]).unwrap()
    }

    fn log_head(&self, size: u64) -> LogHead {
        LogHead { origin: format!("hermit.local/{}", self.log_id), size, root: Digest::of(b"a head of then") }
    }

    fn now(&self) -> model::UnixMs {
        model::Clock::now(&self.clock)
    }

    /// Clocks stamp the head of the log as it is now, and the log goes on.
    pub fn stamp(&mut self, number: u64, clocks: impl FnOnce(&Digest) -> Given) {
        let tree = self.global_tree();
        let origin = format!("hermit.local/{}", self.log_id);
        let note = self.sign(&origin, &tree);
        let bytes = note.to_bytes();
        let digest = Digest::of(note.text.as_bytes());
        let (size, root, note_sha256) = (tree.size(), tree.root(), Digest::of(&bytes));
        let subject = AnchorSubject::Head { origin, size, root, note_sha256 };
        let requested = Requested { digest, number, requested_at: self.now(), subject };
        let task_index = Some(self.others.len() as u64);
        self.anchors.push(AnchorFiles { requested, note: Some(bytes), task_index, proofs: clocks(&digest) });
        self.go_on();
    }

    /// Clocks stamp a link of the instance.
    pub fn stamp_link(&mut self, number: u64, link: u64, clocks: impl FnOnce(&Digest) -> Given) {
        let files = self.instance.as_ref().unwrap();
        let line = &files.links[usize::try_from(link).unwrap() - 1];
        let signed: SignedLink = seal::canon::from_canonical(line).unwrap();
        let digest = link_sha256(&signed.link).unwrap();
        let subject = AnchorSubject::Link { number: link };
        let requested = Requested { digest, number, requested_at: self.now(), subject };
        self.anchors.push(AnchorFiles { requested, note: None, task_index: None, proofs: clocks(&digest) });
    }

    /// A note of another task comes into the log.
    pub fn go_on(&mut self) {
        let other = TaskId::fresh(&self.clock, &self.dice);
        let origin = format!("hermit.local/{}/task/{other}", self.log_id);
        let note = Checkpoint::new(&origin, 1, Digest::of(other.to_string().as_bytes()));
        self.later.push(note.sign(&self.keys.log).unwrap().to_bytes());
    }
}
