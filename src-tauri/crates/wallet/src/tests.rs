//! Vectors of BIP-341, and what transactions of this room pay and say.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

use super::*;
use crate::sign::sighash;
use bitcoin::consensus::encode::deserialize_hex;
use bitcoin::{Amount, ScriptBuf, Sequence, Transaction, TxOut};
use seal::schnorr::{SchnorrKey, verify_digest};
use serde_json::Value;

const RATE: u64 = 2_000;
const WORDS: &[u8] = b"HERMIT1 and thirty-two bytes more of it";

fn key(n: u8) -> SchnorrKey {
    SchnorrKey::from_secret([n; 32]).unwrap()
}

fn coin(n: u8, satoshi: u64) -> Coin {
    Coin { txid: format!("{n:02x}").repeat(32), vout: u32::from(n), satoshi, is_confirmed: true }
}

fn fee(max: u64) -> Fee {
    Fee { rate: RATE, max }
}

fn parsed(made: &Made) -> Transaction {
    deserialize_hex(&made.raw).unwrap()
}

/// Every input is signed by the key of its coin, over all that is spent.
fn signed(made: &Made, spent: &[(&Coin, &SchnorrKey)]) {
    let transaction = parsed(made);
    assert_eq!(transaction.input.len(), spent.len());
    let output = |(coin, key): &(&Coin, &SchnorrKey)| TxOut {
        value: Amount::from_sat(coin.satoshi),
        script_pubkey: ScriptBuf::from_hex(&script(&key.public()).unwrap()).unwrap(),
    };
    let outputs: Vec<TxOut> = spent.iter().map(output).collect();
    for (at, (coin, key)) in spent.iter().enumerate() {
        let input = &transaction.input[at];
        assert_eq!(input.previous_output.to_string(), format!("{}:{}", coin.txid, coin.vout));
        assert_eq!(input.sequence, Sequence::ENABLE_RBF_NO_LOCKTIME);
        let witness: Vec<&[u8]> = input.witness.iter().collect();
        assert_eq!((witness.len(), witness[0].len()), (1, 64));
        let hash = sighash(&transaction, &outputs, at).unwrap();
        verify_digest(&key.public(), &hash, &hex::encode(witness[0])).unwrap();
    }
    let paid: u64 = transaction.output.iter().map(|out| out.value.to_sat()).sum();
    let had: u64 = spent.iter().map(|(coin, _)| coin.satoshi).sum();
    assert_eq!(had - paid, made.fee);
    assert_eq!(made.txid, transaction.compute_txid().to_string());
    assert_eq!((transaction.version.0, transaction.lock_time.to_consensus_u32()), (2, 0));
    assert!(
        transaction.output[0].script_pubkey.is_op_return() && transaction.output[0].value == Amount::ZERO
    );
    assert_eq!(transaction.output.iter().filter(|out| out.script_pubkey.is_op_return()).count(), 1);
}

#[test]
fn the_default_input_of_bip_341_hashes_and_signs_as_its_vector_says() {
    let vector: Value = serde_json::from_str(include_str!("../tests/data/bip341.json")).unwrap();
    let text = |name: &str| vector[name].as_str().unwrap();
    let transaction: Transaction = deserialize_hex(text("rawUnsignedTx")).unwrap();
    let spent: Vec<TxOut> = vector["utxosSpent"]
        .as_array()
        .unwrap()
        .iter()
        .map(|out| TxOut {
            value: Amount::from_sat(out["amountSats"].as_u64().unwrap()),
            script_pubkey: ScriptBuf::from_hex(out["scriptPubKey"].as_str().unwrap()).unwrap(),
        })
        .collect();
    let at = usize::try_from(vector["txinIndex"].as_u64().unwrap()).unwrap();
    let hash = sighash(&transaction, &spent, at).unwrap();
    assert_eq!(hex::encode(hash), text("sigHash"));
    let secret: [u8; 32] = hex::decode(text("outputPrivkey")).unwrap().try_into().unwrap();
    let key = SchnorrKey::from_secret(secret).unwrap();
    assert_eq!(key.sign_digest(&hash).unwrap(), text("witness"));
    // The key whose signature spends it is the output key itself: invariant 1.
    assert_eq!(script(&key.public()).unwrap(), hex::encode(spent[at].script_pubkey.as_bytes()));
}

#[test]
fn a_key_has_one_script_and_an_address_for_each_chain() {
    // The output key and its address are the first of BIP-341's vectors of scripts.
    let pubkey = "53a1f6e454df1aa2776a2814a721372d6258050de330b3c6d10ee8f4e0dda343";
    assert_eq!(script(pubkey).unwrap(), format!("5120{pubkey}"));
    let main = "bc1p2wsldez5mud2yam29q22wgfh9439spgduvct83k3pm50fcxa5dps59h4z5";
    assert_eq!(address(pubkey, "main").unwrap(), main);
    assert!(address(pubkey, "regtest").unwrap().starts_with("bcrt1p"));
    assert!(address(pubkey, "signet").unwrap().starts_with("tb1p"));
    assert!(address(pubkey, "elsewhere").is_err() && !chain_known("elsewhere") && chain_known("main"));
    assert!(script("00").is_err() && script(&"f".repeat(64)).is_err());
    assert_eq!(descriptor(pubkey), format!("rawtr({pubkey})"));
}

#[test]
fn the_smallest_coin_that_leaves_change_is_spent_and_the_rest_comes_back() {
    let (key, coins) = (key(7), [coin(1, 50_000), coin(2, 9_000), coin(3, 400), coin(4, 700_000)]);
    let made = anchor_transaction(&key, &coins, WORDS, fee(1_000)).unwrap();
    signed(&made, &[(&coins[1], &key)]);
    assert_eq!(made.fee, (made.vsize * RATE).div_ceil(1_000));
    assert_eq!(made.change, 9_000 - made.fee);
    let read = read(&made.raw).unwrap();
    assert!(read.says(WORDS) && !read.says(b"other words"));
    let back = Coin { txid: made.txid.clone(), vout: 1, satoshi: made.change, is_confirmed: false };
    assert_eq!(read.coins_of(&key.public(), false).unwrap(), [back]);
    assert_eq!(anchor_fee(&key.public(), &coins, WORDS, RATE).unwrap(), made.fee);
    // Invariant 2, in whatever order the coins come, and however often one of them.
    let again = [coins[3].clone(), coins[1].clone(), coins[1].clone(), coins[0].clone(), coins[2].clone()];
    assert_eq!(anchor_transaction(&key, &again, WORDS, fee(1_000)).unwrap(), made);
}

#[test]
fn several_coins_are_put_together_and_dust_goes_to_the_fee() {
    let key = key(7);
    let small = [coin(1, 250), coin(2, 250), coin(3, 240)];
    let made = anchor_transaction(&key, &small, WORDS, Fee { rate: 1_000, max: 2_000 }).unwrap();
    signed(&made, &[(&small[0], &key), (&small[1], &key), (&small[2], &key)]);
    assert!(made.change >= 330, "{made:?}");
    let one = [coin(1, 400)];
    let made = anchor_transaction(&key, &one, WORDS, Fee { rate: 1_000, max: 400 }).unwrap();
    signed(&made, &[(&one[0], &key)]);
    assert_eq!((made.change, made.fee, parsed(&made).output.len()), (0, 400, 1));
    let refused = anchor_transaction(&key, &one, WORDS, Fee { rate: 1_000, max: 399 });
    assert_eq!(refused, Err(Error::AboveCap { fee: 400, max: 399 }));
}

#[test]
fn what_is_not_covered_and_what_costs_too_much_makes_no_transaction() {
    let key = key(7);
    let none = anchor_transaction(&key, &[], WORDS, fee(1_000));
    assert!(matches!(none, Err(Error::Insufficient { has: 0, needs: 200.. })), "{none:?}");
    let few = anchor_transaction(&key, &[coin(1, 150)], WORDS, fee(1_000));
    assert!(matches!(few, Err(Error::Insufficient { .. })), "{few:?}");
    let dear = anchor_transaction(&key, &[coin(1, 50_000)], WORDS, fee(100));
    assert!(matches!(dear, Err(Error::AboveCap { max: 100, .. })), "{dear:?}");
    for words in [&[][..], &[7; DATA_BYTES_MAX + 1][..]] {
        let refused = anchor_transaction(&key, &[coin(1, 50_000)], words, fee(1_000));
        assert!(matches!(refused, Err(Error::Malformed { .. })), "{refused:?}");
    }
    let odd = Coin { txid: "no id".to_owned(), ..coin(1, 50_000) };
    assert!(matches!(anchor_transaction(&key, &[odd], WORDS, fee(1_000)), Err(Error::Malformed { .. })));
}

#[test]
fn a_coin_in_a_block_goes_before_one_that_waits() {
    let key = key(7);
    let waits = Coin { is_confirmed: false, ..coin(1, 8_000) };
    let coins = [waits.clone(), coin(2, 90_000)];
    signed(&anchor_transaction(&key, &coins, WORDS, fee(1_000)).unwrap(), &[(&coins[1], &key)]);
    signed(&anchor_transaction(&key, &coins[..1], WORDS, fee(1_000)).unwrap(), &[(&waits, &key)]);
}

#[test]
fn a_hand_over_has_an_input_of_each_key_and_leaves_everything_to_the_new_one() {
    let (old, new) = (key(7), key(8));
    let (olds, news) = ([coin(1, 50_000), coin(2, 9_000), coin(5, 20)], [coin(3, 3_000), coin(4, 2_000)]);
    let made = handover_transaction((&old, &olds), (&new, &news), WORDS, fee(2_000)).unwrap();
    signed(&made, &[(&olds[0], &old), (&olds[1], &old), (&news[1], &new)]);
    let read = read(&made.raw).unwrap();
    assert!(read.says(WORDS) && read.coins_of(&old.public(), false).unwrap().is_empty());
    let left: u64 = read.coins_of(&new.public(), false).unwrap().iter().map(|coin| coin.satoshi).sum();
    assert_eq!((left, made.change), (61_000 - made.fee, 61_000 - made.fee));
    let refused = handover_transaction((&old, &olds), (&new, &[]), WORDS, fee(2_000));
    assert_eq!(refused, Err(Error::NoCoin { pubkey: new.public() }));
    let refused = handover_transaction((&old, &[]), (&new, &news), WORDS, fee(2_000));
    assert_eq!(refused, Err(Error::NoCoin { pubkey: old.public() }));
    let itself = handover_transaction((&old, &olds), (&old, &olds), WORDS, fee(2_000));
    assert!(matches!(itself, Err(Error::Malformed { .. })));
    let dear = handover_transaction((&old, &olds), (&new, &news), WORDS, fee(10));
    assert!(matches!(dear, Err(Error::AboveCap { max: 10, .. })));
}

#[test]
fn a_block_is_read_from_the_proof_of_its_one_transaction() {
    // The block of genesis, whose only transaction is its root; the tree of one leaf is that leaf.
    let header = "0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e\
                  67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c";
    let root = "3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a";
    let txid = "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b";
    let proof = format!("{header}0100000001{root}0101");
    let block = block_of(&proof, txid).unwrap();
    assert_eq!(block.hash, "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f");
    assert_eq!((block.header.as_str(), block.time), (header, 1_231_006_505));
    let other = "00".repeat(32);
    assert!(matches!(block_of(&proof, &other), Err(Error::Malformed { .. })));
    assert!(matches!(block_of("00", txid), Err(Error::Malformed { .. })));
    let wrong = format!("{header}0100000001{other}0101");
    assert!(matches!(block_of(&wrong, &other), Err(Error::Malformed { .. })));
}

#[test]
fn amounts_of_nodes_are_whole_satoshi() {
    assert_eq!(satoshi(0.1), Some(10_000_000));
    assert_eq!(satoshi(0.000_000_01), Some(1));
    assert_eq!(satoshi(20_999_999.976_9), Some(2_099_999_997_690_000));
    assert_eq!((satoshi(-1.0), satoshi(f64::NAN), satoshi(0.000_000_001)), (None, None, None));
}
