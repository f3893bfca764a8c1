//! The wallet as the clock of an anchor.

use super::{BitcoinWallet, Place, not_made, words};
use crate::bitcoin_node::{BitcoinNode, Header, NodeError};
use anchor::op_return::OpReturnProof;
use effects::{Clocks, OpReturnSeen, SeenBlock, Sent, Undelivered};
use model::Digest;
use model::anchor::BlockTime;

/// The block of a header on the best chain.
fn block_time(header: &Header, depth: u64) -> BlockTime {
    BlockTime { height: header.height, hash: header.hash.clone(), time: header.time, depth }
}

/// The block of a height on the node's best chain.
pub(crate) fn block_at(node: &BitcoinNode, height: u64) -> Result<Option<SeenBlock>, NodeError> {
    let Some(hash) = node.block_hash(height)? else { return Ok(None) };
    let Some(header) = node.header(&hash)? else { return Ok(None) };
    let Some(depth) = header.depth else { return Ok(None) };
    let bytes = wallet::header_bytes(&header.hex).map_err(|e| NodeError::Answer(e.to_string()))?;
    Ok(Some(SeenBlock { block: block_time(&header, depth), header: bytes }))
}

impl Clocks for BitcoinWallet {
    fn op_return_of(&self, digest: &Digest) -> Result<Option<Sent>, Undelivered> {
        self.already(digest, None)
    }

    fn op_return(&self, digest: &Digest, fee_max: u64) -> Result<Sent, Undelivered> {
        if let Some((from, to)) = self.former.keys_of(digest, &self.key) {
            // A key that has nothing, or no more than the dust that anybody may leave there, is no input; the link is anchored like
            // everything else then.
            let held = self.held(&from.public()).map_err(NodeError::unanswered)?;
            let rate = self.node.rate().map_err(NodeError::unanswered)?;
            if held.coins.iter().any(|coin| wallet::is_worth_spending(coin, rate)) {
                return self.hand_over((from, to), digest, fee_max);
            }
        }
        self.send_once(&self.key, digest, fee_max, &|coins, fee| {
            wallet::anchor_transaction(&self.key, coins, &words(digest), fee).map_err(not_made)
        })
    }

    fn op_return_state(&self, txid: &str) -> Result<OpReturnSeen, Undelivered> {
        let proven = self.proven(txid).map_err(NodeError::unanswered)?;
        Ok(OpReturnSeen { proven })
    }

    fn block(&self, height: u64) -> Result<Option<SeenBlock>, Undelivered> {
        block_at(&self.node, height).map_err(NodeError::unanswered)
    }
}

impl BitcoinWallet {
    /// The block that holds a transaction, and the proof of it; none while no block of the best chain does.
    fn proven(&self, txid: &str) -> Result<Option<(BlockTime, Vec<u8>)>, NodeError> {
        let kept =
            |error: std::io::Error| NodeError::Answer(format!("what was sent cannot be read: {error}"));
        let sent = self.journal.read().map_err(kept)?;
        let entry = sent.iter().find(|one| one.txid == txid);
        let Place::Block(hash) = self.place(txid, entry)? else { return Ok(None) };
        let (header, proof) = (self.node.header(&hash)?, self.node.tx_out_proof(txid, Some(&hash))?);
        let shown = || self.node.transaction(txid, Some(&hash)).map(|shown| shown.map(|shown| shown.raw));
        let raw = entry.map_or_else(shown, |entry| Ok(Some(entry.raw.clone())))?;
        // The chain may have gone another way meanwhile.
        let (Some(header), Some(proof), Some(raw)) = (header, proof, raw) else { return Ok(None) };
        let Some(depth) = header.depth else { return Ok(None) };
        let odd = |error: &dyn std::fmt::Display| NodeError::Answer(error.to_string());
        let (read, holds) =
            (wallet::read(&raw).map_err(|e| odd(&e))?, wallet::block_of(&proof, txid).map_err(|e| odd(&e))?);
        if read.txid != txid
            || (holds.hash.as_str(), holds.header.as_str()) != (hash.as_str(), header.hex.as_str())
        {
            return Err(NodeError::Answer(
                "the transaction, its proof and the block are not of each other".to_owned(),
            ));
        }
        // So that it is found by its block when its outputs are spent.
        if entry.is_some() {
            let _one = self.journal.claim().map_err(kept)?;
            self.journal.seen(txid, &hash).map_err(kept)?;
        }
        let block = block_time(&header, depth);
        let proof =
            OpReturnProof { raw_tx: raw, tx_out_proof: proof, header: header.hex, height: block.height };
        let bytes = seal::canon::to_canonical(&proof).map_err(|e| odd(&e))?;
        Ok(Some((block, bytes)))
    }
}
