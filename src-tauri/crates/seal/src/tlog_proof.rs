//! C2SP tlog-proof: an inclusion proof and the checkpoint it leads to, in one text (c2sp.org/tlog-proof@v1).

use crate::{
    Digest, Error, encoding, merkle,
    note::{Checkpoint, Note, VerifierKey},
};

/// First line of every proof.
pub const HEADER: &str = "c2sp.org/tlog-proof@v1";

const WHAT: &str = "tlog-proof";

/// That a leaf stands in a log, checkable without the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlogProof {
    /// Opaque and not authenticated. We write none.
    pub extra: Option<Vec<u8>>,
    /// Index of the leaf, from 0.
    pub index: u64,
    /// Path from the leaf's sibling to the child of the root.
    pub hashes: Vec<Digest>,
    /// The signed checkpoint, as the log issued it.
    pub checkpoint: Note,
}

impl TlogProof {
    /// A proof without extra data.
    #[must_use]
    pub const fn new(index: u64, hashes: Vec<Digest>, checkpoint: Note) -> Self {
        Self { extra: None, index, hashes, checkpoint }
    }

    /// The proof as it is stored, file extension `.tlog-proof`.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEADER}\n");
        if let Some(extra) = &self.extra {
            text.push_str(&format!("extra {}\n", encoding::b64(extra)));
        }
        text.push_str(&format!("index {}\n", self.index));
        for hash in &self.hashes {
            text.push_str(&encoding::b64(&hash.0));
            text.push('\n');
        }
        text.push('\n');
        text.push_str(&self.checkpoint.to_string());
        text
    }

    /// Reads a proof without verifying anything.
    ///
    /// # Errors
    /// [`Error::Malformed`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let bad = |reason: &str| Error::malformed(WHAT, reason);
        let text = std::str::from_utf8(bytes).map_err(|_| bad("it is not UTF-8"))?;
        let (head, checkpoint) = text.split_once("\n\n").ok_or_else(|| bad("it has no checkpoint"))?;
        let mut lines = head.split('\n').peekable();
        if lines.next() != Some(HEADER) {
            return Err(bad("its first line is not `c2sp.org/tlog-proof@v1`"));
        }
        let extra = match lines.peek().and_then(|line| line.strip_prefix("extra ")) {
            None => None,
            Some(extra) => {
                let extra = encoding::b64_decode(WHAT, extra)?;
                lines.next();
                Some(extra)
            }
        };
        let index = lines.next().and_then(|line| line.strip_prefix("index "));
        let index = encoding::decimal(WHAT, index.ok_or_else(|| bad("its line `index` is missing"))?)?;
        let mut hashes = Vec::new();
        for line in lines {
            if hashes.len() == merkle::PROOF_LEN_MAX {
                return Err(bad("it is longer than any tree is deep"));
            }
            hashes.push(Digest(encoding::b64_exact(WHAT, line)?));
        }
        Ok(Self { extra, index, hashes, checkpoint: Note::parse(checkpoint.as_bytes())? })
    }

    /// Checks that `leaf_hash` stands in the log `origin`, whose checkpoint one of `keys` signed, and returns that
    /// checkpoint.
    ///
    /// # Errors
    /// [`Error::Untrusted`], [`Error::Signature`], [`Error::Malformed`] for another log, [`Error::Proof`].
    pub fn verify(
        &self,
        leaf_hash: &Digest,
        origin: &str,
        keys: &[VerifierKey],
    ) -> Result<Checkpoint, Error> {
        let checkpoint = Checkpoint::open(&self.checkpoint.to_bytes(), origin, keys)?;
        merkle::verify_inclusion(leaf_hash, self.index, checkpoint.size, &self.hashes, &checkpoint.root)?;
        Ok(checkpoint)
    }
}
