//! OpenTimestamps: a tree of operations that leads from a digest to what clocks attest.

mod op;
mod read;
mod tree;
mod write;

pub use op::Op;
pub use tree::{Attestation, Node};

use crate::{Error, reader::Reader};
use seal::Digest;

const FILE: &str = "OpenTimestamps file";
const MAGIC: &[u8] = b"\x00OpenTimestamps\x00\x00Proof\x00\xbf\x89\xe2\xe8\x84\xe8\x92\x94";
const VERSION: u8 = 1;
/// The longest file, in bytes.
pub const FILE_BYTES_MAX: usize = 256 * 1024;
/// The longest answer of a calendar, in bytes, as the reference reads it.
pub const ANSWER_BYTES_MAX: usize = 10_000;

/// A timestamp of a SHA-256 digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timestamp {
    /// What was stamped.
    pub digest: Digest,
    root: Node,
}

/// What a block of Bitcoin attests: that its Merkle root is what the operations lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InBlock {
    /// The height of the block.
    pub height: u64,
    /// What its Merkle root has to be, in the order of bytes that the header has; none when what they lead to is not 32 bytes.
    pub merkle_root: Option<[u8; 32]>,
}

impl Timestamp {
    /// What calendars are asked to stamp, and a timestamp that leads there: the digest with a nonce behind it, hashed. So a
    /// calendar does not learn what was stamped. The commitment is the body of `POST /digest`.
    #[must_use]
    pub fn stamp_request(digest: &Digest, nonce: [u8; 16]) -> ([u8; 32], Self) {
        let mut with_nonce = digest.as_bytes().to_vec();
        with_nonce.extend(nonce);
        let commitment = Digest::of(&with_nonce);
        let hashed = Node { message: commitment.as_bytes().to_vec(), ..Node::default() };
        let nonced = Node { message: with_nonce, ops: vec![(Op::Sha256, hashed)], ..Node::default() };
        let root = Node {
            message: digest.as_bytes().to_vec(),
            ops: vec![(Op::Append(nonce.to_vec()), nonced)],
            ..Node::default()
        };
        (*commitment.as_bytes(), Self { digest: *digest, root })
    }

    /// Reads a detached `.ots` file.
    ///
    /// # Errors
    /// It is malformed, of another kind of digest, or beyond the bounds of size, depth and number.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() > FILE_BYTES_MAX {
            return Err(Error::malformed(FILE, "it is too long"));
        }
        let mut reader = Reader::new(FILE, bytes);
        if reader.take(MAGIC.len())? != MAGIC || reader.byte()? != VERSION {
            return Err(reader.bad("it does not begin as one of version 1 does"));
        }
        if reader.byte()? != Op::Sha256.tag() {
            return Err(Error::unsupported("a timestamp of another digest than SHA-256"));
        }
        let digest = Digest(reader.array()?);
        let root = read::tree(&mut reader, digest.as_bytes().to_vec())?;
        Ok(Self { digest, root })
    }

    /// The bytes of the `.ots` file, as the reference writes them.
    ///
    /// # Errors
    /// Nothing is attested yet on some path: the format has no words for that.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([VERSION, Op::Sha256.tag()]);
        bytes.extend(self.digest.as_bytes());
        write::tree(&self.root, &mut bytes)?;
        if bytes.len() > FILE_BYTES_MAX {
            return Err(Error::malformed(FILE, "it is too long"));
        }
        Ok(bytes)
    }

    /// Takes in what a calendar answered about a commitment: the body of its answer to `POST /digest` or to
    /// `GET /timestamp/<commitment in hex>`. What is there already stays, also that it was pending.
    ///
    /// # Errors
    /// The answer is malformed, or this timestamp does not lead to the commitment.
    pub fn merge(&mut self, commitment: &[u8], answer: &[u8]) -> Result<(), Error> {
        const ANSWER: &str = "answer of a calendar";
        if answer.len() > ANSWER_BYTES_MAX {
            return Err(Error::malformed(ANSWER, "it is too long"));
        }
        let added = read::tree(&mut Reader::new(ANSWER, answer), commitment.to_vec())?;
        let mut merged = self.clone();
        if !merged.root.take_in(commitment, &added) {
            return Err(Error::wrong(ANSWER, "the timestamp does not lead to what it is about"));
        }
        // What was merged has to be within the bounds, too.
        *self = Self::read(&merged.to_bytes()?)?;
        Ok(())
    }

    /// The calendars that are to be asked, and about which commitment: `GET <uri>/timestamp/<commitment in hex>`. Those that a
    /// block attests already are left out.
    #[must_use]
    pub fn commitments_pending(&self) -> Vec<(String, Vec<u8>)> {
        let mut pending = Vec::new();
        self.root.each(&mut |node| {
            let uris = node.attestations.iter().filter_map(|one| match one {
                Attestation::Pending(uri) if !node.is_in_a_block() => Some(uri),
                _ => None,
            });
            pending.extend(uris.map(|uri| (uri.clone(), node.message.clone())));
        });
        pending
    }

    /// What blocks of Bitcoin attest, the lowest first.
    #[must_use]
    pub fn in_blocks(&self) -> Vec<InBlock> {
        let mut blocks = Vec::new();
        self.root.each(&mut |node| {
            for one in &node.attestations {
                if let Attestation::Bitcoin(height) = one {
                    blocks.push(InBlock {
                        height: *height,
                        merkle_root: node.message.as_slice().try_into().ok(),
                    });
                }
            }
        });
        blocks.sort_by_key(|block| block.height);
        blocks
    }

    /// How many attestations there are of a kind that is not known here. They are kept as they are.
    #[must_use]
    pub fn unknown(&self) -> usize {
        let mut unknown = 0;
        self.root.each(&mut |node| {
            unknown +=
                node.attestations.iter().filter(|one| matches!(one, Attestation::Unknown { .. })).count();
        });
        unknown
    }

    /// The tree, from the digest on.
    #[must_use]
    pub const fn root(&self) -> &Node {
        &self.root
    }
}
