//! What a person has of Bitcoin: a node of their own with the wallet of this instance, or a file of headers. Nothing is opened and
//! nobody is asked before an act, or a person, asks for it.

use crate::anchor_settings::AnchorSettings;
use crate::bitcoin_node::{BitcoinNode, Login, NodeError};
use crate::bitcoin_wallet::{BitcoinWallet, Former, block_at};
use crate::model_http::SecretSlot;
use crate::secrets::SecretBook;
use crate::{Config, Error, Home};
use anchor::bitcoin::{Headers, spelled};
use effects::{Clocks, OpReturnSeen, SeenBlock, Sent, Undelivered};
use kernel::Kernel;
use kernel::command::anchors::AnchorTerms;
use model::Digest;
use model::anchor::BlockTime;
use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use wire::anchors::{ClockSettings, SetClocks, WalletState};

/// Bytes of a file of headers: twice what Bitcoin had in 2026, as lines of hex.
const HEADERS_BYTES_MAX: u64 = 2_000_000 * 161 + 64;

/// A person's node, wallet and headers, as they are set at this moment.
pub struct OwnClocks {
    home: Home,
    secrets: SecretSlot,
    book: SecretBook,
    kernel: Mutex<Weak<Kernel>>,
}

impl OwnClocks {
    /// Of a process that has no store yet.
    pub(crate) fn new(home: &Home, secrets: SecretSlot, book: SecretBook) -> Self {
        Self { home: home.clone(), secrets, book, kernel: Mutex::new(Weak::new()) }
    }

    /// The wallet is that of this store's instance from now on.
    pub(crate) fn of(&self, kernel: &Arc<Kernel>) {
        *self.kernel.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(kernel);
    }

    fn settings(&self) -> AnchorSettings {
        Config::in_force(&self.home).anchors
    }

    /// The node that is set; none where none is.
    fn node(&self) -> Result<Option<BitcoinNode>, NodeError> {
        let config = Config::in_force(&self.home);
        let AnchorSettings { bitcoin_node, bitcoin_cookie, bitcoin_secret, .. } = &config.anchors;
        let Some(url) = bitcoin_node else { return Ok(None) };
        let login = match (bitcoin_cookie, bitcoin_secret) {
            (Some(path), _) => Login::Cookie(path.clone()),
            (None, Some(handle)) => Login::Secret {
                handle: handle.clone(),
                secrets: Arc::clone(&self.secrets),
                book: self.book.clone(),
            },
            (None, None) => {
                return Err(NodeError::Login("neither its cookie file nor a secret is set".to_owned()));
            }
        };
        BitcoinNode::new(url, login, &config).map(Some)
    }

    /// The wallet of this instance at that node.
    fn wallet(&self) -> Result<BitcoinWallet, Undelivered> {
        let no = |why: &str| Undelivered::NotSent(why.to_owned());
        let node =
            self.node().map_err(NodeError::undelivered)?.ok_or_else(|| no("no Bitcoin node is set"))?;
        let kernel = self.kernel.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        let kernel = kernel.ok_or_else(|| no("this process holds no store"))?;
        let soul = kernel.identity().first_soul();
        let soul = soul.ok_or_else(|| no("this instance has no key yet: write SOUL.md first"))?;
        let key = kernel.ports().keys.instance(&soul);
        let key = key.ok_or_else(|| no("the key of this instance is locked"))?;
        Ok(BitcoinWallet::new(node, key, &self.home).with_former(Former::of(&kernel)))
    }

    fn wallet_seen(&self) -> Result<WalletState, String> {
        let words = |error: Undelivered| match error {
            Undelivered::NotSent(why) | Undelivered::Unknown(why) => why,
        };
        let seen = self.wallet().map_err(words)?.seen().map_err(|e| e.to_string())?;
        let (fee, says) = match seen.fee {
            Ok(fee) => (Some(fee), elsewhere(&seen.chain)),
            Err(why) => (None, Some(why)),
        };
        Ok(WalletState { address: Some(seen.address), balance: Some(seen.balance), fee, says })
    }
}

/// What is to be known of a node that is not on Bitcoin's main chain.
fn elsewhere(chain: &str) -> Option<String> {
    (chain != "main").then(|| {
        format!("the node is on the chain `{chain}`: what is anchored there is not on Bitcoin's main chain")
    })
}

/// The block of a height in a file of headers.
fn block_in(path: &Path, height: u64) -> Result<Option<SeenBlock>, String> {
    let said = |why: String| format!("the file of headers `{}`: {why}", path.display());
    let file = std::fs::File::open(path).map_err(|e| said(e.to_string()))?;
    let mut bytes = Vec::new();
    file.take(HEADERS_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|e| said(e.to_string()))?;
    if bytes.len() as u64 > HEADERS_BYTES_MAX {
        return Err(said("it is too long".to_owned()));
    }
    let headers = Headers::read(&bytes).map_err(|e| said(e.to_string()))?;
    let Some(place) = headers.at(height) else { return Ok(None) };
    let index = usize::try_from(headers.count().saturating_sub(place.depth)).unwrap_or(usize::MAX);
    let header =
        Headers::bytes_of(&bytes, index).ok_or_else(|| said("it cannot be read".to_owned()))?.to_vec();
    let (hash, time) = (spelled(&place.header.hash), u64::from(place.header.time));
    Ok(Some(SeenBlock { block: BlockTime { height, hash, time, depth: place.depth }, header }))
}

impl Clocks for OwnClocks {
    fn node(&self) -> Option<String> {
        self.settings().bitcoin_node
    }

    fn op_return_of(&self, digest: &Digest) -> Result<Option<Sent>, Undelivered> {
        self.wallet()?.op_return_of(digest)
    }

    fn op_return(&self, digest: &Digest, fee_max: u64) -> Result<Sent, Undelivered> {
        self.wallet()?.op_return(digest, fee_max)
    }

    fn op_return_state(&self, txid: &str) -> Result<OpReturnSeen, Undelivered> {
        self.wallet()?.op_return_state(txid)
    }

    fn block(&self, height: u64) -> Result<Option<SeenBlock>, Undelivered> {
        if let Some(node) = self.node().map_err(NodeError::undelivered)? {
            return block_at(&node, height).map_err(NodeError::unanswered);
        }
        match self.settings().headers_file {
            Some(path) => block_in(&path, height).map_err(Undelivered::NotSent),
            None => Ok(None),
        }
    }
}

impl api::AnchorClocks for OwnClocks {
    fn settings(&self) -> Result<ClockSettings, wire::Error> {
        Ok(Config::load(&self.home).map_err(Error::to_wire)?.anchors.shown())
    }

    fn set(&self, wanted: &SetClocks) -> Result<ClockSettings, wire::Error> {
        let kept = Config::change(&self.home, |config| {
            config.anchors.take(wanted);
            config.anchors.check().map_err(|why| Error::Said(api::usage(why)))?;
            if let Some(url) = &config.anchors.bitcoin_node {
                let nothing = Login::Cookie(std::path::PathBuf::new());
                BitcoinNode::new(url, nothing, config)?;
            }
            Ok(config.anchors.shown())
        });
        kept.map_err(Error::to_wire)
    }

    fn terms(&self, is_paid: bool) -> Result<AnchorTerms, wire::Error> {
        let terms = Config::load(&self.home).map_err(Error::to_wire)?.anchors.terms();
        if !is_paid {
            return Ok(terms);
        }
        let seen = self.wallet_seen().map_err(api::failed)?;
        let none =
            || api::failed(seen.says.clone().unwrap_or_else(|| "what it costs is not known".to_owned()));
        Ok(AnchorTerms { fee: Some(seen.fee.ok_or_else(none)?), ..terms })
    }

    fn wallet(&self) -> WalletState {
        let nothing = |why| WalletState { address: None, balance: None, fee: None, says: Some(why) };
        self.wallet_seen().unwrap_or_else(nothing)
    }
}
