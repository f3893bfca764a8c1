//! A transaction of one's own that carries a digest, and the proof that a block holds it.

use crate::Error;
use crate::bitcoin::{Header, Transaction, TxOutProof};
use seal::Digest;
use serde::{Deserialize, Serialize};

const PROOF: &str = "proof of a transaction";
/// What stands before the digest in the output.
pub const PREFIX: &[u8] = b"HERMIT1";
/// The longest proof, in bytes.
pub const PROOF_BYTES_MAX: usize = 1024 * 1024;
const OP_RETURN: u8 = 0x6a;

/// The proof that a block holds a transaction with the digest, as canonical JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpReturnProof {
    /// The transaction, in hex.
    pub raw_tx: String,
    /// What `gettxoutproof` says of it, in hex.
    pub tx_out_proof: String,
    /// The header of its block, in hex.
    pub header: String,
    /// The height of that block, as the node said.
    pub height: u64,
}

/// What a proof shows by itself: the transaction is under the Merkle root of this header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InBlock {
    /// The id of the transaction, in the order of bytes that hashing gives.
    pub txid: [u8; 32],
    /// The header.
    pub header: Header,
    /// The height, as the proof says.
    pub height: u64,
}

/// The script of an output that carries a digest: it can never be spent, and says `HERMIT1` and the digest.
#[must_use]
pub fn script(digest: &Digest) -> Vec<u8> {
    // A push of up to 75 bytes is its length.
    let mut script = vec![OP_RETURN, 39];
    script.extend(PREFIX);
    script.extend(digest.as_bytes());
    script
}

impl OpReturnProof {
    /// Reads canonical JSON.
    ///
    /// # Errors
    /// It is not canonical, too long, or another object.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() > PROOF_BYTES_MAX {
            return Err(Error::malformed(PROOF, "it is too long"));
        }
        seal::canon::from_canonical(bytes).map_err(|e| Error::malformed(PROOF, e.to_string()))
    }

    /// Its canonical JSON.
    ///
    /// # Errors
    /// Its height is beyond what JSON carries exactly.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        seal::canon::to_canonical(self).map_err(|e| Error::malformed(PROOF, e.to_string()))
    }

    /// Checks that the transaction carries this digest and that the header commits to it.
    ///
    /// # Errors
    /// Something of this is malformed or does not hold.
    pub fn check(&self, digest: &Digest) -> Result<InBlock, Error> {
        let transaction = Transaction::read(&unhex(&self.raw_tx)?)?;
        let wanted = script(digest);
        let carried = transaction.scripts.iter().filter(|script| is_carrier(script)).collect::<Vec<_>>();
        if !carried.contains(&&wanted) {
            return Err(if carried.is_empty() {
                Error::wrong(PROOF, "its transaction carries no digest")
            } else {
                Error::OtherDigest { what: PROOF }
            });
        }
        let shown = TxOutProof::read(&unhex(&self.tx_out_proof)?)?;
        if unhex(&self.header)? != shown.header_bytes {
            return Err(Error::wrong(PROOF, "it names another header than it proves"));
        }
        if !shown.transactions.contains(&transaction.txid) {
            return Err(Error::wrong(PROOF, "it proves another transaction"));
        }
        Ok(InBlock { txid: transaction.txid, header: shown.header, height: self.height })
    }
}

/// Whether a script is one of [`script`], of whatever digest.
fn is_carrier(script: &[u8]) -> bool {
    script.len() == 2 + PREFIX.len() + 32
        && script.starts_with(&[OP_RETURN, 39])
        && script.get(2..9) == Some(PREFIX)
}

/// Lower-case hex.
fn unhex(text: &str) -> Result<Vec<u8>, Error> {
    let is_lower = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    hex::decode(text)
        .ok()
        .filter(|_| is_lower)
        .ok_or_else(|| Error::malformed(PROOF, "it is not lower-case hex"))
}
