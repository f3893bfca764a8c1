//! The wallet of an instance at a node of the person's own (mesh.md 3, HV-3.6-3, HV-3.9-3): what it holds, what an anchor costs, and
//! how one is sent so that nobody pays twice.
//!
//! The coins are those of the instance's key and no others. What goes out is written down first, is sent again as it was, and is made
//! anew only where it can be seen that the one before is not, and cannot come, into the chain beside it.

mod clock;
mod former;
mod journal;

use crate::Home;
use crate::bitcoin_node::{BitcoinNode, NodeError, Shown};
use anchor::op_return;
pub(crate) use clock::block_at;
use effects::{Sent, Undelivered};
pub use former::{Former, Handed};
use journal::{Entry, Journal};
use model::Digest;
use seal::schnorr::SchnorrKey;
use std::io;
use wallet::{Coin, Fee, Made};

/// Transactions in a row that wait for a block and that are followed: nodes pass on no more.
const WAITING_MAX: usize = 25;
/// Coins that are looked at: the largest, since strangers may send any number of small ones.
const COINS_LOOKED_AT_MAX: usize = 500;
/// Transactions of those coins that are read: each takes the node a look into a block.
const MADE_LOOKED_AT_MAX: usize = 50;
/// Blocks in which a transaction is looked for at once: a week. In tests of this room fewer, which goes as fast as they should.
const BLOCKS_SEARCHED_MAX: u64 = if cfg!(test) { 60 } else { 1_008 };
/// Blocks that a chain may lose while a transaction waits, and that are looked at for it besides.
const BLOCKS_LOST_MAX: u64 = 24;

/// What a wallet holds, and what the next anchor would cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalletSeen {
    /// The chain of the node, such as `main` or `regtest`.
    pub chain: String,
    /// Where it is paid to.
    pub address: String,
    /// What can be spent, in satoshi.
    pub balance: u64,
    /// What the next anchor would cost at most, in satoshi; why it cannot be told.
    pub fee: Result<u64, String>,
}

/// Where a transaction is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// In a block of the best chain.
    Block(String),
    /// Among those that wait for one.
    Waits,
    /// Neither, as far as every block was looked at in which it could be.
    Nowhere,
    /// Not among those that wait, and not every block was looked at.
    Unsure,
}

/// The coins of a key as a node knows them, and its own transactions among which they were found.
struct Held {
    coins: Vec<Coin>,
    /// Those that wait for a block and spend coins of the key.
    waiting: Vec<Shown>,
    /// Those that made coins of the key: transaction and block.
    made_in: Vec<(String, String)>,
}

/// A wallet of one key at one node, and of those before it.
pub struct BitcoinWallet {
    node: BitcoinNode,
    key: SchnorrKey,
    former: Former,
    journal: Journal,
}

fn not_kept(error: io::Error) -> Undelivered {
    Undelivered::NotSent(format!("what is sent cannot be written down: {error}"))
}

fn not_made(error: wallet::Error) -> Undelivered {
    Undelivered::NotSent(error.to_string())
}

/// The words of the output that carries a digest.
fn words(digest: &Digest) -> Vec<u8> {
    [op_return::PREFIX, digest.as_bytes()].concat()
}

impl BitcoinWallet {
    /// The wallet of this key. What it sends is written down in the store's folder.
    pub fn new(node: BitcoinNode, key: SchnorrKey, home: &Home) -> Self {
        Self { node, key, former: Former::default(), journal: Journal::of(home.dir()) }
    }

    /// The same, which hands over where a digest is that of a link in which a key of these went.
    #[must_use]
    pub fn with_former(self, former: Former) -> Self {
        Self { former, ..self }
    }

    /// What it holds, and what the next anchor would cost.
    ///
    /// # Errors
    /// [`NodeError`].
    pub fn seen(&self) -> Result<WalletSeen, NodeError> {
        let chain = self.node.chain()?.name;
        let pubkey = self.key.public();
        let odd = |error: wallet::Error| NodeError::Answer(error.to_string());
        let address = wallet::address(&pubkey, &chain).map_err(odd)?;
        let coins = self.held(&pubkey)?.coins;
        let balance = coins.iter().fold(0_u64, |sum, coin| sum.saturating_add(coin.satoshi));
        let rate = self.node.rate()?;
        // Every digest is as long as another, so this one costs what the next does.
        let anchor = wallet::anchor_fee(&pubkey, &coins, &words(&Digest::of(b"")), rate);
        let fee = match (anchor, self.handover_fee(rate)?) {
            (Ok(anchor), handover) => Ok(handover.map_or(anchor, |handover| handover.max(anchor))),
            (Err(_), Some(handover)) => Ok(handover),
            (Err(error), None) => Err(error.to_string()),
        };
        Ok(WalletSeen { chain, address, balance, fee })
    }

    /// Hands over on the chain: one transaction with an input of each key that carries the digest of the link. What the key that goes
    /// had is the other one's then.
    fn hand_over(
        &self,
        (from, to): (&SchnorrKey, &SchnorrKey),
        link: &Digest,
        fee_max: u64,
    ) -> Result<Sent, Undelivered> {
        self.send_once(from, link, fee_max, &|of_from, fee| {
            let of_to = self.held(&to.public()).map_err(NodeError::unanswered)?.coins;
            wallet::handover_transaction((from, of_from), (to, &of_to), &words(link), fee).map_err(not_made)
        })
    }

    /// What the dearest of the hand-overs would cost that are not on the chain yet, in satoshi; none where there is none, or the key
    /// that comes has no coin.
    fn handover_fee(&self, rate: u64) -> Result<Option<u64>, NodeError> {
        let mut dearest: Option<u64> = None;
        for handed in &self.former.handed {
            let Some((from, to)) = self.former.keys_of(&handed.link, &self.key) else { continue };
            let of_from = self.held(&from.public())?.coins;
            if of_from.is_empty() {
                continue;
            }
            let of_to = self.held(&to.public())?.coins;
            // It is made, and goes nowhere.
            let fee = Fee { rate, max: u64::MAX };
            let made =
                wallet::handover_transaction((from, &of_from), (to, &of_to), &words(&handed.link), fee);
            dearest = dearest.max(made.ok().map(|made| made.fee));
        }
        Ok(dearest)
    }

    /// The coins of a key: those in blocks that nothing waiting spends, and what its own waiting transactions give back.
    fn held(&self, pubkey: &str) -> Result<Held, NodeError> {
        let mut in_blocks = self.node.unspent(pubkey)?.coins;
        in_blocks.sort_by_key(|(coin, _)| std::cmp::Reverse(coin.satoshi));
        in_blocks.truncate(COINS_LOOKED_AT_MAX);
        let made_in = in_blocks.iter().filter_map(|(coin, block)| Some((coin.txid.clone(), block.clone()?)));
        let made_in = made_in.take(MADE_LOOKED_AT_MAX).collect();
        let mut look: Vec<Coin> = in_blocks.into_iter().map(|(coin, _)| coin).collect();
        let (mut coins, mut waiting, mut known) = (Vec::new(), Vec::new(), Vec::new());
        while !look.is_empty() && waiting.len() < WAITING_MAX {
            let by = self.node.spending(&look)?;
            let mut next = Vec::new();
            for (coin, by) in look.into_iter().zip(by) {
                let Some(txid) = by else {
                    coins.push(coin);
                    continue;
                };
                if known.contains(&txid) {
                    continue;
                }
                let Some(shown) = self.node.transaction(&txid, None)? else { continue };
                let of_it = wallet::read(&shown.raw).and_then(|read| read.coins_of(pubkey, false));
                next.extend(of_it.map_err(|e| NodeError::Answer(e.to_string()))?);
                waiting.push(shown);
                known.push(txid);
            }
            look = next;
        }
        Ok(Held { coins, waiting, made_in })
    }

    /// Where a transaction is. What is known of it from the time it was sent tells where to look.
    fn place(&self, txid: &str, entry: Option<&Entry>) -> Result<Place, NodeError> {
        if let Some(shown) = self.node.transaction(txid, None)? {
            match shown.block {
                None => return Ok(Place::Waits),
                Some(block) if self.is_on_chain(&block)? => return Ok(Place::Block(block)),
                Some(_) => {}
            }
        }
        if let Some(block) = entry.and_then(|entry| entry.block.as_deref())
            && self.is_on_chain(block)?
            && self.node.tx_out_proof(txid, Some(block))?.is_some()
        {
            return Ok(Place::Block(block.to_owned()));
        }
        if let Some(proof) = self.node.tx_out_proof(txid, None)? {
            let block = wallet::block_of(&proof, txid).map_err(|e| NodeError::Answer(e.to_string()))?;
            if self.is_on_chain(&block.hash)? {
                return Ok(Place::Block(block.hash));
            }
        }
        let Some(entry) = entry else { return Ok(Place::Unsure) };
        let newest = self.node.chain()?.height;
        // That is another chain, or the beginning of this one.
        if newest < entry.from_height {
            return Ok(Place::Unsure);
        }
        let from = entry.from_height.max((newest + 1).saturating_sub(BLOCKS_SEARCHED_MAX));
        for height in (from..=newest).rev() {
            let Some(hash) = self.node.block_hash(height)? else { continue };
            if self.node.transactions(&hash)?.iter().any(|one| one == txid) {
                return Ok(Place::Block(hash));
            }
        }
        Ok(if from == entry.from_height { Place::Nowhere } else { Place::Unsure })
    }

    fn is_on_chain(&self, block: &str) -> Result<bool, NodeError> {
        Ok(self.node.header(block)?.is_some_and(|header| header.depth.is_some()))
    }

    /// A transaction that carries this digest and is in the chain or waits to be: of those written down, else of those among which the
    /// key's coins were found, for a store that was restored.
    fn already(&self, digest: &Digest, held: Option<&Held>) -> Result<Option<Sent>, Undelivered> {
        let entry = self.journal.read().map_err(not_kept)?.into_iter().find(|one| one.digest == *digest);
        if let Some(entry) = entry {
            match self.place(&entry.txid, Some(&entry)).map_err(NodeError::undelivered)? {
                Place::Block(_) | Place::Waits => {
                    return Ok(Some(Sent { txid: entry.txid, fee: entry.fee }));
                }
                // It may be one whose place this was made to take.
                Place::Nowhere => {}
                Place::Unsure => {
                    return Err(Undelivered::Unknown(format!(
                        "the transaction {} was made, and the node cannot tell whether the chain holds it",
                        entry.txid
                    )));
                }
            }
        }
        let looked = match held {
            Some(_) => None,
            None => Some(self.held(&self.key.public()).map_err(NodeError::unanswered)?),
        };
        let Some(held) = held.or(looked.as_ref()) else { return Ok(None) };
        self.among(&words(digest), held).map_err(NodeError::unanswered)
    }

    /// The one of the key's own transactions that says these words.
    fn among(&self, words: &[u8], held: &Held) -> Result<Option<Sent>, NodeError> {
        let says = |shown: &Shown| wallet::read(&shown.raw).ok().filter(|read| read.says(words));
        for shown in &held.waiting {
            if let Some(read) = says(shown) {
                let fee = self.node.fee_of_waiting(&read.txid)?;
                return Ok(Some(Sent { txid: read.txid, fee: fee.unwrap_or_default() }));
            }
        }
        for (txid, block) in &held.made_in {
            let Some(shown) = self.node.transaction(txid, Some(block))? else { continue };
            if let Some(read) = says(&shown) {
                return Ok(Some(Sent { txid: read.txid, fee: shown.fee.unwrap_or_default() }));
            }
        }
        Ok(None)
    }

    /// Sends one transaction of a key's coins for a digest, however often it is asked to.
    fn send_once(
        &self,
        key: &SchnorrKey,
        digest: &Digest,
        fee_max: u64,
        make: &dyn Fn(&[Coin], Fee) -> Result<Made, Undelivered>,
    ) -> Result<Sent, Undelivered> {
        let _one = self.journal.claim().map_err(not_kept)?;
        let held = self.held(&key.public()).map_err(NodeError::unanswered)?;
        if let Some(sent) = self.already(digest, Some(&held))? {
            return Ok(sent);
        }
        let before = self.journal.read().map_err(not_kept)?.into_iter().find(|one| one.digest == *digest);
        let mut coins = held.coins;
        if let Some(before) = &before {
            // What a person allows now may be less than what they allowed then.
            let again = (before.fee <= fee_max).then(|| self.node.send(&before.raw));
            match again {
                Some(Ok(())) => return Ok(Sent { txid: before.txid.clone(), fee: before.fee }),
                Some(Err(NodeError::Refused { .. })) | None => {}
                Some(Err(error)) => return Err(error.undelivered()),
            }
            // The node takes it no more, or it is too dear. Another must spend a coin of it, where there is one still, so that only one of both can
            // come into the chain; where there is none, something else has spent them.
            let spends = wallet::read(&before.raw).map_err(not_made)?.spends;
            let shared =
                |coin: &Coin| spends.iter().any(|(txid, vout)| (txid, *vout) == (&coin.txid, coin.vout));
            if coins.iter().any(shared) {
                coins.retain(shared);
            }
        }
        let chain = self.node.chain().map_err(NodeError::unanswered)?;
        if chain.is_catching_up {
            return Err(Undelivered::NotSent("the node is still reading the chain".to_owned()));
        }
        let rate = self.node.rate().map_err(NodeError::unanswered)?;
        let made = make(&coins, Fee { rate, max: fee_max })?;
        self.send_new(digest, made, before.as_ref(), chain.height.saturating_sub(BLOCKS_LOST_MAX))
    }

    /// Writes a transaction down, in place of the one before of that digest, and sends it.
    fn send_new(
        &self,
        digest: &Digest,
        made: Made,
        before: Option<&Entry>,
        from_height: u64,
    ) -> Result<Sent, Undelivered> {
        if let Some(why) = self.node.would_refuse(&made.raw).map_err(NodeError::unanswered)? {
            return Err(Undelivered::NotSent(format!("the node would not take the transaction: {why}")));
        }
        let entry = Entry {
            digest: *digest,
            txid: made.txid,
            raw: made.raw,
            fee: made.fee,
            from_height,
            block: None,
        };
        self.journal.keep(&entry).map_err(not_kept)?;
        match self.node.send(&entry.raw) {
            Ok(()) => Ok(Sent { txid: entry.txid, fee: entry.fee }),
            Err(error @ NodeError::Refused { .. }) => {
                let kept = match before {
                    // It went out once, and may be under way elsewhere.
                    Some(before) => self.journal.keep(before),
                    None => self.journal.forget(&entry.txid),
                };
                kept.map_err(not_kept)?;
                Err(error.undelivered())
            }
            Err(error) => Err(error.undelivered()),
        }
    }
}

#[cfg(test)]
mod tests;
