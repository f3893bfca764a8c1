//! A Bitcoin node of the person's own, which is lent, and what an act of anchoring tells. Time-stamp authorities and calendars are
//! reached as every server is; this room knows no protocol of a node.

use crate::Undelivered;
use model::anchor::BlockTime;
use model::{ActionRequestId, Digest, UnixMs};
use serde::{Deserialize, Serialize};

/// A transaction of the person's wallet that carries a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// Its identifier, as Bitcoin spells it.
    pub txid: String,
    /// What it cost, in satoshi.
    pub fee: u64,
}

/// How a transaction with a digest stands at the node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpReturnSeen {
    /// The block that holds it, and the proof of that, as `anchor::op_return` writes it; none while no block does.
    pub proven: Option<(BlockTime, Vec<u8>)>,
}

/// A block of the chain that a person's own node, or file of headers, holds to be the best.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenBlock {
    /// Which one, and how many stand on it.
    pub block: BlockTime,
    /// Its header: 80 bytes.
    pub header: Vec<u8>,
}

/// What a person has of Bitcoin.
pub trait Clocks: Send + Sync {
    /// The transaction of the wallet that carries this digest, if it has made one: it is looked for before another is made.
    ///
    /// # Errors
    /// [`Undelivered`].
    fn op_return_of(&self, digest: &Digest) -> Result<Option<Sent>, Undelivered>;

    /// Makes and sends a transaction that carries a digest, where it costs no more than `fee_max` satoshi.
    ///
    /// # Errors
    /// [`Undelivered`].
    fn op_return(&self, digest: &Digest, fee_max: u64) -> Result<Sent, Undelivered>;

    /// How a transaction stands.
    ///
    /// # Errors
    /// [`Undelivered`].
    fn op_return_state(&self, txid: &str) -> Result<OpReturnSeen, Undelivered>;

    /// The block of this height on the best chain that is known here; none where there is neither node nor file, or the chain is
    /// shorter.
    ///
    /// # Errors
    /// [`Undelivered`].
    fn block(&self, height: u64) -> Result<Option<SeenBlock>, Undelivered>;
}

/// Neither node nor headers.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoClocks;

/// What is said where there is no node.
const NO_NODE: &str = "no Bitcoin node is set";

impl Clocks for NoClocks {
    fn op_return_of(&self, _: &Digest) -> Result<Option<Sent>, Undelivered> {
        Err(Undelivered::NotSent(NO_NODE.to_owned()))
    }

    fn op_return(&self, _: &Digest, _: u64) -> Result<Sent, Undelivered> {
        Err(Undelivered::NotSent(NO_NODE.to_owned()))
    }

    fn op_return_state(&self, _: &str) -> Result<OpReturnSeen, Undelivered> {
        Err(Undelivered::NotSent(NO_NODE.to_owned()))
    }

    fn block(&self, _: u64) -> Result<Option<SeenBlock>, Undelivered> {
        Ok(None)
    }
}

/// What an act of anchoring came to, kept beside its proof as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnchorCame {
    /// The act.
    pub action_request_id: ActionRequestId,
    /// Who answered, as `name:port`.
    pub at: Vec<String>,
    /// The proof as far as there is one by now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof_sha256: Option<Digest>,
    /// Until when it is proven that the digest was there, at the depth that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_after: Option<UnixMs>,
    /// The block that proves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<BlockTime>,
    /// Whether a block that held it does not stand on the best chain any more, as far as that was looked at.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_gone: bool,
    /// The transaction that carries it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub txid: Option<String>,
    /// What it waits for, and what has to be taken on trust, in words.
    pub says: Vec<String>,
}
