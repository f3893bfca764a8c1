//! The parts of a transaction, and signatures of its inputs by key path (BIP-341).

use crate::place::script_of;
use crate::{Coin, DATA_BYTES_MAX, Error};
use bitcoin::absolute::LockTime;
use bitcoin::hashes::Hash as _;
use bitcoin::script::PushBytesBuf;
use bitcoin::sighash::{Prevouts, SighashCache};
use bitcoin::transaction::Version;
use bitcoin::{
    Amount, OutPoint, ScriptBuf, Sequence, TapSighashType, Transaction, TxIn, TxOut, Txid, Witness,
};
use seal::schnorr::SchnorrKey;

/// Bytes of a signature by key path with the default type.
const SIGNATURE_BYTES: usize = 64;

/// A coin and the public key it is of.
pub(crate) type Spent<'a> = (&'a Coin, &'a str);

/// An input of a coin, with room where the signature goes, so that the size is the final one.
fn input(coin: &Coin) -> Result<TxIn, Error> {
    let txid = coin.txid.parse::<Txid>().map_err(|e| Error::malformed("the coin", e))?;
    let mut witness = Witness::new();
    witness.push([0_u8; SIGNATURE_BYTES]);
    Ok(TxIn {
        previous_output: OutPoint { txid, vout: coin.vout },
        script_sig: ScriptBuf::new(),
        sequence: Sequence::ENABLE_RBF_NO_LOCKTIME,
        witness,
    })
}

/// A transaction without signatures: the words first, then what is paid to a script, if anything is.
pub(crate) fn unsigned(
    spent: &[Spent<'_>],
    data: &[u8],
    paid: Option<(&ScriptBuf, u64)>,
) -> Result<Transaction, Error> {
    if data.is_empty() || data.len() > DATA_BYTES_MAX {
        let why = format!("{} bytes, and 1 to {DATA_BYTES_MAX} go into an output", data.len());
        return Err(Error::malformed("the words of the output", why));
    }
    let words = PushBytesBuf::try_from(data.to_vec())
        .map_err(|_| Error::malformed("the words of the output", "they are too long"))?;
    let mut output = vec![TxOut { value: Amount::ZERO, script_pubkey: ScriptBuf::new_op_return(words) }];
    output.extend(
        paid.map(|(script, satoshi)| TxOut {
            value: Amount::from_sat(satoshi),
            script_pubkey: script.clone(),
        }),
    );
    let input = spent.iter().map(|(coin, _)| input(coin)).collect::<Result<_, _>>()?;
    Ok(Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input, output })
}

/// What each input signs when all of them sign everything.
pub(crate) fn sighash(transaction: &Transaction, spent: &[TxOut], at: usize) -> Result<[u8; 32], Error> {
    let mut cache = SighashCache::new(transaction);
    let hash = cache.taproot_key_spend_signature_hash(at, &Prevouts::All(spent), TapSighashType::Default);
    Ok(hash.map_err(|e| Error::malformed("the transaction", e))?.to_byte_array())
}

/// Puts a signature into each input, by the key of its coin.
pub(crate) fn sign(
    transaction: &mut Transaction,
    spent: &[Spent<'_>],
    keys: &[&SchnorrKey],
) -> Result<(), Error> {
    let outputs = spent.iter().map(|(coin, pubkey)| {
        Ok(TxOut { value: Amount::from_sat(coin.satoshi), script_pubkey: script_of(pubkey)? })
    });
    let outputs = outputs.collect::<Result<Vec<_>, Error>>()?;
    let mut witnesses = Vec::new();
    for (at, (_, pubkey)) in spent.iter().enumerate() {
        let key = keys.iter().find(|key| key.public() == **pubkey);
        let key = key.ok_or_else(|| Error::malformed("the coin", "it is of another key"))?;
        let signature = key.sign_digest(&sighash(transaction, &outputs, at)?)?;
        let signature = hex::decode(signature).map_err(|e| Error::malformed("the signature", e))?;
        let mut witness = Witness::new();
        witness.push(signature);
        witnesses.push(witness);
    }
    for (input, witness) in transaction.input.iter_mut().zip(witnesses) {
        input.witness = witness;
    }
    Ok(())
}
