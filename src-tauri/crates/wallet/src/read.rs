//! What a transaction, and a proof that a block holds it, say.

use crate::place::script_of;
use crate::{Coin, Error};
use bitcoin::block::Header;
use bitcoin::consensus::encode::{deserialize_hex, serialize, serialize_hex};
use bitcoin::script::PushBytesBuf;
use bitcoin::{Amount, MerkleBlock, ScriptBuf, Transaction};

/// The longest transaction that is read, in digits of hex: what nodes pass on is no larger.
const RAW_DIGITS_MAX: usize = 800_000;
/// The longest proof, in digits of hex: a branch in a block of a million transactions is far smaller.
const PROOF_DIGITS_MAX: usize = 200_000;

/// A transaction that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// Its id.
    pub txid: String,
    /// What it spends: transaction and output.
    pub spends: Vec<(String, u32)>,
    outputs: Vec<(ScriptBuf, u64)>,
}

/// The block that holds a transaction, by a proof of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InBlock {
    /// Its hash, as Bitcoin spells it.
    pub hash: String,
    /// Its header in hex, 80 bytes.
    pub header: String,
    /// The time it states, in seconds since 1970.
    pub time: u64,
}

/// Reads a transaction in hex.
///
/// # Errors
/// [`Error::Malformed`].
pub fn read(raw: &str) -> Result<Read, Error> {
    if raw.len() > RAW_DIGITS_MAX {
        return Err(Error::malformed("the transaction", "it is too long"));
    }
    let transaction: Transaction =
        deserialize_hex(raw).map_err(|e| Error::malformed("the transaction", e))?;
    let inputs = transaction.input.iter().map(|input| input.previous_output);
    Ok(Read {
        txid: transaction.compute_txid().to_string(),
        spends: inputs.map(|from| (from.txid.to_string(), from.vout)).collect(),
        outputs: transaction.output.into_iter().map(|out| (out.script_pubkey, out.value.to_sat())).collect(),
    })
}

impl Read {
    /// Whether an OP_RETURN output of it holds exactly these bytes.
    pub fn says(&self, data: &[u8]) -> bool {
        let Ok(words) = PushBytesBuf::try_from(data.to_vec()) else { return false };
        let wanted = ScriptBuf::new_op_return(words);
        self.outputs.iter().any(|(script, _)| *script == wanted)
    }

    /// Its outputs that pay to a key.
    ///
    /// # Errors
    /// [`Error::Malformed`] when it is no key.
    pub fn coins_of(&self, pubkey: &str, is_confirmed: bool) -> Result<Vec<Coin>, Error> {
        let wanted = script_of(pubkey)?;
        let of_key = self.outputs.iter().zip(0_u32..).filter(|((script, _), _)| *script == wanted);
        let coin = |((_, satoshi), vout): (&(ScriptBuf, u64), u32)| Coin {
            txid: self.txid.clone(),
            vout,
            satoshi: *satoshi,
            is_confirmed,
        };
        Ok(of_key.map(coin).collect())
    }
}

/// The block of a proof as `gettxoutproof` gives it, when its branch leads from this transaction to the root in its header.
///
/// # Errors
/// [`Error::Malformed`], also for a proof of another transaction.
pub fn block_of(proof: &str, txid: &str) -> Result<InBlock, Error> {
    let malformed = |why: String| Error::malformed("the proof of the transaction", why);
    if proof.len() > PROOF_DIGITS_MAX {
        return Err(malformed("it is too long".to_owned()));
    }
    let proof: MerkleBlock = deserialize_hex(proof).map_err(|e| malformed(e.to_string()))?;
    let (mut matched, mut places) = (Vec::new(), Vec::new());
    proof.extract_matches(&mut matched, &mut places).map_err(|e| malformed(e.to_string()))?;
    if !matched.iter().any(|one| one.to_string() == txid) {
        return Err(malformed("it is of another transaction".to_owned()));
    }
    Ok(InBlock {
        hash: proof.header.block_hash().to_string(),
        header: serialize_hex(&proof.header),
        time: u64::from(proof.header.time),
    })
}

/// The 80 bytes of a header in hex.
///
/// # Errors
/// [`Error::Malformed`].
pub fn header_bytes(header: &str) -> Result<Vec<u8>, Error> {
    let header: Header = deserialize_hex(header).map_err(|e| Error::malformed("the header", e))?;
    Ok(serialize(&header))
}

/// An amount of bitcoins, as nodes write it, in satoshi; none where it is no amount.
pub fn satoshi(bitcoins: f64) -> Option<u64> {
    Amount::from_btc(bitcoins).ok().map(Amount::to_sat)
}
