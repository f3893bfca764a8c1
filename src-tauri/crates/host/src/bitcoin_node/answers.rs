//! What a node answers to each question, in types.

use super::{BitcoinNode, NodeError, SCAN};
use serde_json::{Value, json};
use wallet::Coin;

/// Its number for something that is not there.
const NOT_THERE: i64 = -5;
/// Its number for a height beyond the end of the chain.
const BEYOND: i64 = -8;
/// Its number for a transaction whose outputs are unspent in the chain.
const IN_CHAIN: i64 = -27;
/// Blocks that must stand on a coinbase before its coins can be spent.
const COINBASE_DEPTH: u64 = 100;
/// Blocks within which a transaction should be in one.
const BLOCKS_WANTED: u32 = 6;
/// The rate where a node has seen too little to say one: satoshi for 1,000 virtual bytes.
const RATE_UNKNOWN: u64 = 1_000;

/// The chain of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// Its name, such as `main` or `regtest`.
    pub name: String,
    /// The height of its newest block.
    pub height: u64,
    /// Whether the node is still reading what came before.
    pub is_catching_up: bool,
}

/// A block's header, and how it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Its hash.
    pub hash: String,
    /// Its 80 bytes in hex.
    pub hex: String,
    /// Its height.
    pub height: u64,
    /// The time it states, in seconds since 1970.
    pub time: u64,
    /// Blocks on it, itself among them; none when it is on no chain that counts.
    pub depth: Option<u64>,
}

/// A transaction that a node shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The whole of it in hex.
    pub raw: String,
    /// The block that holds it.
    pub block: Option<String>,
    /// What it pays, in satoshi, where the node tells.
    pub fee: Option<u64>,
}

/// What a key has unspent in blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unspent {
    /// The height at which was looked.
    pub height: u64,
    /// The coins that may be spent, and the block of each.
    pub coins: Vec<(Coin, Option<String>)>,
}

fn odd(what: &str) -> NodeError {
    NodeError::Answer(format!("it has no `{what}`"))
}

fn text(answer: &Value, name: &str) -> Result<String, NodeError> {
    answer.get(name).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| odd(name))
}

fn number(answer: &Value, name: &str) -> Result<u64, NodeError> {
    answer.get(name).and_then(Value::as_u64).ok_or_else(|| odd(name))
}

fn amount(answer: &Value, name: &str) -> Result<u64, NodeError> {
    answer.get(name).and_then(Value::as_f64).and_then(wallet::satoshi).ok_or_else(|| odd(name))
}

/// None where the node says by one of these numbers that there is none.
fn unless(codes: &[i64], asked: Result<Value, NodeError>) -> Result<Option<Value>, NodeError> {
    match asked {
        Ok(answer) => Ok(Some(answer)),
        Err(NodeError::Refused { code, .. }) if codes.contains(&code) => Ok(None),
        Err(error) => Err(error),
    }
}

impl BitcoinNode {
    /// Its chain.
    ///
    /// # Errors
    /// [`NodeError`].
    pub fn chain(&self) -> Result<Chain, NodeError> {
        let answer = self.ask("getblockchaininfo", json!([]))?;
        let name = text(&answer, "chain")?;
        if !wallet::chain_known(&name) {
            return Err(NodeError::Answer("it is on a chain that is not known here".to_owned()));
        }
        Ok(Chain {
            name,
            height: number(&answer, "blocks")?,
            is_catching_up: answer.get("initialblockdownload").and_then(Value::as_bool).unwrap_or(false),
        })
    }

    /// The hash of the block of a height on the best chain; none beyond its end.
    ///
    /// # Errors
    /// [`NodeError`].
    pub fn block_hash(&self, height: u64) -> Result<Option<String>, NodeError> {
        let answer = unless(&[BEYOND], self.ask("getblockhash", json!([height])))?;
        answer.map(|hash| hash.as_str().map(str::to_owned).ok_or_else(|| odd("hash"))).transpose()
    }

    /// A block's header; none when the node has no such block.
    ///
    /// # Errors
    /// [`NodeError`].
    pub fn header(&self, hash: &str) -> Result<Option<Header>, NodeError> {
        let Some(told) = unless(&[NOT_THERE], self.ask("getblockheader", json!([hash, true])))? else {
            return Ok(None);
        };
        let hex = self.ask("getblockheader", json!([hash, false]))?;
        let depth = told.get("confirmations").and_then(Value::as_i64).ok_or_else(|| odd("confirmations"))?;
        Ok(Some(Header {
            hash: text(&told, "hash")?,
            hex: hex.as_str().map(str::to_owned).ok_or_else(|| odd("header"))?,
            height: number(&told, "height")?,
            time: number(&told, "time")?,
            depth: u64::try_from(depth).ok().filter(|depth| *depth > 0),
        }))
    }

    /// The identifiers of the transactions of a block.
    ///
    /// # Errors
    /// [`NodeError`].
    pub fn transactions(&self, hash: &str) -> Result<Vec<String>, NodeError> {
        let answer = self.ask("getblock", json!([hash, 1]))?;
        let all = answer.get("tx").and_then(Value::as_array).ok_or_else(|| odd("tx"))?;
        Ok(all.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    /// The proof that a block holds a transaction: this block, or, while one of its outputs is unspent, whichever does.
    ///
    /// # Errors
    /// [`NodeError`].
    pub fn tx_out_proof(&self, txid: &str, block: Option<&str>) -> Result<Option<String>, NodeError> {
        let params = block.map_or_else(|| json!([[txid]]), |block| json!([[txid], block]));
        let answer = unless(&[NOT_THERE], self.ask("gettxoutproof", params))?;
        answer.map(|proof| proof.as_str().map(str::to_owned).ok_or_else(|| odd("proof"))).transpose()
    }

    /// A transaction that waits for a block, is in this one, or, where the node keeps an index of all, in any.
    ///
    /// # Errors
    /// [`NodeError`].
    pub fn transaction(&self, txid: &str, block: Option<&str>) -> Result<Option<Shown>, NodeError> {
        let params = block.map_or_else(|| json!([txid, 2]), |block| json!([txid, 2, block]));
        let Some(answer) = unless(&[NOT_THERE], self.ask("getrawtransaction", params))? else {
            return Ok(None);
        };
        Ok(Some(Shown {
            raw: text(&answer, "hex")?,
            block: answer.get("blockhash").and_then(Value::as_str).map(str::to_owned),
            fee: amount(&answer, "fee").ok(),
        }))
    }

    /// What a transaction that waits for a block pays, in satoshi.
    ///
    /// # Errors
    /// [`NodeError`].
    pub fn fee_of_waiting(&self, txid: &str) -> Result<Option<u64>, NodeError> {
        let answer = unless(&[NOT_THERE], self.ask("getmempoolentry", json!([txid])))?;
        Ok(answer.and_then(|answer| amount(answer.get("fees")?, "base").ok()))
    }

    /// Why the node would not take a transaction; none when it would.
    ///
    /// # Errors
    /// [`NodeError`].
    pub fn would_refuse(&self, raw: &str) -> Result<Option<String>, NodeError> {
        let answer = self.ask("testmempoolaccept", json!([[raw]]))?;
        let first = answer.get(0).ok_or_else(|| odd("result"))?;
        if first.get("allowed").and_then(Value::as_bool) == Some(true) {
            return Ok(None);
        }
        let why = first.get("reject-reason").and_then(Value::as_str).unwrap_or("it gives no reason");
        Ok(Some(super::said(why)))
    }

    /// Sends a transaction on its way. One that waits or is in the chain already counts as sent.
    ///
    /// # Errors
    /// [`NodeError`].
    pub fn send(&self, raw: &str) -> Result<(), NodeError> {
        unless(&[IN_CHAIN], self.ask("sendrawtransaction", json!([raw]))).map(|_| ())
    }

    /// What a key has unspent in blocks, by a look through all that anybody has.
    ///
    /// # Errors
    /// [`NodeError`].
    pub fn unspent(&self, pubkey: &str) -> Result<Unspent, NodeError> {
        let params = json!(["start", [wallet::descriptor(pubkey)]]);
        let answer = self.ask_within("scantxoutset", params, SCAN)?;
        if answer.get("success").and_then(Value::as_bool) != Some(true) {
            return Err(NodeError::Answer("the look through the unspent outputs was broken off".to_owned()));
        }
        let height = number(&answer, "height")?;
        let all = answer.get("unspents").and_then(Value::as_array).ok_or_else(|| odd("unspents"))?;
        let mut coins = Vec::new();
        for one in all {
            let is_coinbase = one.get("coinbase").and_then(Value::as_bool).unwrap_or(false);
            let depth = (height + 1).saturating_sub(number(one, "height")?);
            if is_coinbase && depth < COINBASE_DEPTH {
                continue;
            }
            let vout = u32::try_from(number(one, "vout")?).map_err(|_| odd("vout"))?;
            let satoshi = amount(one, "amount")?;
            let coin = Coin { txid: text(one, "txid")?, vout, satoshi, is_confirmed: true };
            coins.push((coin, one.get("blockhash").and_then(Value::as_str).map(str::to_owned)));
        }
        Ok(Unspent { height, coins })
    }

    /// For each coin the transaction that waits for a block and spends it.
    ///
    /// # Errors
    /// [`NodeError`].
    pub fn spending(&self, coins: &[Coin]) -> Result<Vec<Option<String>>, NodeError> {
        if coins.is_empty() {
            return Ok(Vec::new());
        }
        let asked: Vec<Value> =
            coins.iter().map(|coin| json!({ "txid": coin.txid, "vout": coin.vout })).collect();
        let answer = self.ask("gettxspendingprevout", json!([asked]))?;
        let all = answer.as_array().filter(|all| all.len() == coins.len()).ok_or_else(|| odd("result"))?;
        let by = |one: &Value| one.get("spendingtxid").and_then(Value::as_str).map(str::to_owned);
        Ok(all.iter().map(by).collect())
    }

    /// The rate at which a transaction should soon be in a block: satoshi for 1,000 virtual bytes, and never less than the node takes.
    ///
    /// # Errors
    /// [`NodeError`].
    pub fn rate(&self) -> Result<u64, NodeError> {
        let estimated = self.ask("estimatesmartfee", json!([BLOCKS_WANTED]))?;
        let least = amount(&self.ask("getmempoolinfo", json!([]))?, "mempoolminfee")?;
        Ok(amount(&estimated, "feerate").unwrap_or(RATE_UNKNOWN).max(least))
    }
}
