//! Which coins are spent, what it costs, and what goes back.

use crate::place::script_of;
use crate::sign::{Spent, sign, unsigned};
use crate::{COINS_MAX, Coin, Error, Fee, Made};
use bitcoin::{ScriptBuf, Transaction};
use seal::schnorr::SchnorrKey;
use std::cmp::Reverse;

/// Virtual bytes of an input by key path, rounded up: what a coin costs to spend.
const INPUT_VBYTES: u64 = 58;

/// A transaction before its signatures.
struct Draft<'a> {
    spent: Vec<Spent<'a>>,
    transaction: Transaction,
    fee: u64,
    change: u64,
}

/// What so many virtual bytes cost at a rate, rounded up.
fn cost(rate: u64, vsize: u64) -> u64 {
    rate.saturating_mul(vsize).div_ceil(1_000)
}

fn vsize(transaction: &Transaction) -> u64 {
    transaction.weight().to_vbytes_ceil()
}

fn worth(spent: &[Spent<'_>]) -> u64 {
    spent.iter().fold(0, |sum, (coin, _)| sum.saturating_add(coin.satoshi))
}

/// The coins that are worth what their input costs, those in blocks first, the largest first, each once.
fn worthwhile<'a>(coins: &'a [Coin], pubkey: &'a str, rate: u64) -> Vec<Spent<'a>> {
    let mut found: Vec<&Coin> = coins.iter().filter(|coin| coin.satoshi > cost(rate, INPUT_VBYTES)).collect();
    found.sort_by_key(|coin| (!coin.is_confirmed, Reverse(coin.satoshi), coin.txid.clone(), coin.vout));
    found.dedup_by_key(|coin| (coin.txid.clone(), coin.vout));
    found.truncate(COINS_MAX);
    found.into_iter().map(|coin| (coin, pubkey)).collect()
}

/// The transaction of exactly these coins, with what is left to `rest` where it is no dust; [`Error::Insufficient`] when they do not
/// cover it.
fn of_coins<'a>(spent: Vec<Spent<'a>>, data: &[u8], rest: &ScriptBuf, rate: u64) -> Result<Draft<'a>, Error> {
    let has = worth(&spent);
    let with = unsigned(&spent, data, Some((rest, 0)))?;
    let fee = cost(rate, vsize(&with));
    if let Some(change) = has.checked_sub(fee)
        && change >= rest.minimal_non_dust().to_sat()
    {
        let transaction = unsigned(&spent, data, Some((rest, change)))?;
        return Ok(Draft { spent, transaction, fee, change });
    }
    let transaction = unsigned(&spent, data, None)?;
    let needs = cost(rate, vsize(&transaction) + if spent.is_empty() { INPUT_VBYTES } else { 0 });
    match has < needs {
        true => Err(Error::Insufficient { has, needs }),
        // What would be dust goes to the fee.
        false => Ok(Draft { spent, transaction, fee: has, change: 0 }),
    }
}

/// The transaction with the words whose coins are fewest: the smallest one that leaves change, else the largest until it is covered.
fn drafted<'a>(coins: &'a [Coin], pubkey: &'a str, data: &[u8], rate: u64) -> Result<Draft<'a>, Error> {
    let rest = script_of(pubkey)?;
    let order = worthwhile(coins, pubkey, rate);
    for is_confirmed in [true, false] {
        // They stand from the largest to the smallest, and the smallest that does is wanted.
        for one in order.iter().rev().filter(|(coin, _)| coin.is_confirmed == is_confirmed) {
            match of_coins(vec![*one], data, &rest, rate) {
                Ok(draft) if draft.change > 0 => return Ok(draft),
                Ok(_) | Err(Error::Insufficient { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
    let mut last = of_coins(order.clone(), data, &rest, rate)?;
    for count in 2..order.len() {
        let some = order.iter().take(count).copied().collect();
        match of_coins(some, data, &rest, rate) {
            Ok(draft) if draft.change > 0 => {
                last = draft;
                break;
            }
            Ok(_) | Err(Error::Insufficient { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(last)
}

fn made(draft: Draft<'_>, keys: &[&SchnorrKey], max: u64) -> Result<Made, Error> {
    let Draft { spent, mut transaction, fee, change } = draft;
    if fee > max {
        return Err(Error::AboveCap { fee, max });
    }
    sign(&mut transaction, &spent, keys)?;
    Ok(Made {
        txid: transaction.compute_txid().to_string(),
        raw: bitcoin::consensus::encode::serialize_hex(&transaction),
        fee,
        vsize: vsize(&transaction),
        change,
    })
}

/// The transaction that anchors `data`: an OP_RETURN output, and what is left back to the key.
///
/// # Errors
/// [`Error::Insufficient`], [`Error::AboveCap`]; [`Error::Malformed`] for coins of another form or words too long.
pub fn anchor_transaction(key: &SchnorrKey, coins: &[Coin], data: &[u8], fee: Fee) -> Result<Made, Error> {
    let pubkey = key.public();
    made(drafted(coins, &pubkey, data, fee.rate)?, &[key], fee.max)
}

/// What [`anchor_transaction`] would pay at a rate, in satoshi.
///
/// # Errors
/// As [`anchor_transaction`], without the cap.
pub fn anchor_fee(pubkey: &str, coins: &[Coin], data: &[u8], rate: u64) -> Result<u64, Error> {
    drafted(coins, pubkey, data, rate).map(|draft| draft.fee)
}

/// The transaction in which one key hands over to another: all coins of the old one that are worth it and the smallest of the new
/// one that will do, `data` as OP_RETURN, and all that is left to the new key. Both sign the whole of it.
///
/// # Errors
/// [`Error::NoCoin`] when one of them has none; else as [`anchor_transaction`].
pub fn handover_transaction(
    from: (&SchnorrKey, &[Coin]),
    to: (&SchnorrKey, &[Coin]),
    data: &[u8],
    fee: Fee,
) -> Result<Made, Error> {
    let (from_pubkey, to_pubkey) = (from.0.public(), to.0.public());
    if from_pubkey == to_pubkey {
        return Err(Error::malformed("the hand-over", "a key does not hand over to itself"));
    }
    let mut spent = worthwhile(from.1, &from_pubkey, fee.rate);
    // One place is the new key's.
    spent.truncate(COINS_MAX - 1);
    if spent.is_empty() {
        return Err(Error::NoCoin { pubkey: from_pubkey });
    }
    let of_new = worthwhile(to.1, &to_pubkey, fee.rate);
    let smallest = of_new.iter().min_by_key(|(coin, _)| (!coin.is_confirmed, coin.satoshi)).copied();
    let Some(smallest) = smallest else { return Err(Error::NoCoin { pubkey: to_pubkey }) };
    spent.push(smallest);
    let draft = of_coins(spent, data, &script_of(&to_pubkey)?, fee.rate)?;
    made(draft, &[from.0, to.0], fee.max)
}
