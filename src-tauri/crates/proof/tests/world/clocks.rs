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

/// The height of the block that commits to what was stamped.
pub const HEIGHT: u64 = 840_000;
/// The time in its header.
pub const BLOCK_TIME: u32 = 1_760_100_000;

const OTS_BEGIN: &[u8] = b"\x00OpenTimestamps\x00\x00Proof\x00\xbf\x89\xe2\xe8\x84\xe8\x92\x94\x01\x08";
const IN_BITCOIN: &[u8] = b"\x05\x88\x96\x0d\x73\xd7\x19\x01";
const PENDING: &[u8] = b"\x83\xdf\xe3\x0d\x2e\xf9\x0c\x8e";

/// A file as the client of OpenTimestamps writes it: the digest, `x` behind it, hashed, is the Merkle root of a block.
pub fn in_a_block(digest: &Digest) -> Vec<u8> {
    let mut height = Vec::new();
    let mut rest = HEIGHT;
    while rest > 0x7f {
        height.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    height.push(rest as u8);
    let length = [height.len() as u8];
    [OTS_BEGIN, &digest.0, b"\xf0\x01x\x08\x00", IN_BITCOIN, &length, &height].concat()
}

/// A file that a calendar has not completed yet.
pub fn pending(digest: &Digest) -> Vec<u8> {
    let uri = b"https://calendar.example";
    let lengths = [uri.len() as u8 + 1, uri.len() as u8];
    [OTS_BEGIN, &digest.0, b"\xf0\x01x\x08\x00", PENDING, &lengths, uri].concat()
}

/// Headers that begin with the block that commits to this digest, each with the work that it names: next to none, as on a chain
/// for tests.
pub fn headers(digest: &Digest) -> Vec<u8> {
    let root = Digest::of(&[&digest.0[..], b"x"].concat()).0;
    let first = mined([1; 32], root, BLOCK_TIME);
    let second = mined(hash(&first), [2; 32], BLOCK_TIME + 600);
    format!("height {HEIGHT}\n{}\n{}\n", hex(&first), hex(&second)).into_bytes()
}

fn hash(header: &[u8]) -> [u8; 32] {
    Digest::of(&Digest::of(header).0).0
}

fn mined(previous: [u8; 32], root: [u8; 32], time: u32) -> Vec<u8> {
    let easy: u32 = 0x207f_ffff;
    let begin =
        [&1_u32.to_le_bytes()[..], &previous, &root, &time.to_le_bytes(), &easy.to_le_bytes()].concat();
    let header = |nonce: u32| [&begin[..], &nonce.to_le_bytes()].concat();
    // The greatest target of all has the highest bit free.
    (0..).map(header).find(|header| hash(header)[31] < 0x7f).unwrap()
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
