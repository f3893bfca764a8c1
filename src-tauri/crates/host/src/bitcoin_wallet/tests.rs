//! A node that is told what to say: answers that are lost, transactions that are forgotten, refused or in a block. Whatever happens,
//! one transaction of a digest can count.

use super::*;
use crate::Config;
use crate::bitcoin_node::Login;
use effects::Clocks as _;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

/// The rate at first, in bitcoins for 1,000 virtual bytes.
const RATE: f64 = 0.000_01;
const FEE_MAX: u64 = 5_000;

struct Says {
    coins: Vec<Coin>,
    height: u64,
    /// By height, the transactions of blocks that have any.
    blocks: BTreeMap<u64, Vec<String>>,
    waiting: BTreeMap<String, String>,
    rate: f64,
    is_catching_up: bool,
    /// Whether the answer to a transaction that was sent is lost.
    loses: bool,
    /// What it does not take any more.
    refused: Vec<String>,
    refuses_all: bool,
    /// What it was sent.
    sent: Vec<String>,
}

impl Says {
    fn new() -> Self {
        let coin = |n: u8, satoshi| Coin {
            txid: format!("{n:02x}").repeat(32),
            vout: 0,
            satoshi,
            is_confirmed: true,
        };
        Self {
            coins: vec![coin(1, 2_000), coin(2, 100_000)],
            height: 500,
            blocks: BTreeMap::new(),
            waiting: BTreeMap::new(),
            rate: RATE,
            is_catching_up: false,
            loses: false,
            refused: Vec::new(),
            refuses_all: false,
            sent: Vec::new(),
        }
    }

    fn spender(&self, of: &Value) -> Option<String> {
        let spends = |raw: &str| {
            let read = wallet::read(raw).unwrap();
            read.spends.iter().any(|(txid, vout)| of["txid"] == txid.as_str() && of["vout"] == *vout)
        };
        self.waiting.iter().find(|(_, raw)| spends(raw)).map(|(txid, _)| txid.clone())
    }

    fn coins(&self) -> Vec<Value> {
        let one = |coin: &Coin| {
            let bitcoins = coin.satoshi as f64 / 100_000_000.0;
            json!({ "txid": coin.txid, "vout": coin.vout, "amount": bitcoins, "height": 1, "coinbase": false })
        };
        self.coins.iter().map(one).collect()
    }

    fn answer(&mut self, method: &str, params: &Value) -> Result<Value, i64> {
        let text = |n: usize| params[n].as_str().unwrap_or_default().to_owned();
        Ok(match method {
            "getblockchaininfo" => json!({
                "chain": "regtest", "blocks": self.height, "initialblockdownload": self.is_catching_up
            }),
            "scantxoutset" => json!({ "success": true, "height": self.height, "unspents": self.coins() }),
            "gettxspendingprevout" => {
                let of = params[0].as_array().unwrap().iter().map(|of| match self.spender(of) {
                    Some(txid) => json!({ "spendingtxid": txid }),
                    None => json!({}),
                });
                Value::Array(of.collect())
            }
            "getrawtransaction" => json!({ "hex": self.waiting.get(&text(0)).ok_or(-5_i64)? }),
            "getmempoolentry" => json!({ "fees": { "base": 0.000_001_61 } }),
            "gettxoutproof" => return Err(-5),
            "getblockhash" => {
                let height = params[0].as_u64().unwrap();
                if height > self.height {
                    return Err(-8);
                }
                json!(format!("{height:064x}"))
            }
            "getblock" => {
                let height = u64::from_str_radix(&text(0), 16).unwrap();
                json!({ "tx": self.blocks.get(&height).cloned().unwrap_or_default() })
            }
            "testmempoolaccept" => json!([{ "allowed": true }]),
            "sendrawtransaction" => {
                let raw = text(0);
                self.sent.push(raw.clone());
                if self.refuses_all || self.refused.contains(&raw) {
                    return Err(-26);
                }
                let txid = wallet::read(&raw).unwrap().txid;
                self.waiting.insert(txid.clone(), raw);
                json!(txid)
            }
            "estimatesmartfee" => json!({ "errors": ["Insufficient data or no feerate found"], "blocks": 0 }),
            "getmempoolinfo" => json!({ "mempoolminfee": self.rate }),
            other => panic!("nobody asks for {other}"),
        })
    }

    /// Answers one question; an answer that is lost is an end without a word.
    fn heard(&mut self, stream: &mut TcpStream) {
        let (mut heard, mut bytes) = (String::new(), vec![0; 64 * 1024]);
        let asked: Value = loop {
            let Ok(n) = stream.read(&mut bytes) else { return };
            heard.push_str(&String::from_utf8_lossy(&bytes[..n]));
            let body = heard.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
            match serde_json::from_str(body) {
                Ok(asked) => break asked,
                Err(_) if n == 0 => return,
                Err(_) => {}
            }
        };
        let method = asked["method"].as_str().unwrap().to_owned();
        let answer = self.answer(&method, &asked["params"]);
        if self.loses && method == "sendrawtransaction" {
            return;
        }
        let body = match answer {
            Ok(result) => json!({ "jsonrpc": "2.0", "result": result }),
            Err(code) => json!({ "jsonrpc": "2.0", "error": { "code": code, "message": "no" } }),
        }
        .to_string();
        let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
    }
}

/// A wallet at such a node.
struct Room {
    folder: tempfile::TempDir,
    url: String,
    says: Arc<Mutex<Says>>,
}

impl Room {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".cookie"), "a:b").unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let says = Arc::new(Mutex::new(Says::new()));
        let by = Arc::clone(&says);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                by.lock().unwrap().heard(&mut stream);
            }
        });
        Self { folder, url, says }
    }

    fn says(&self) -> MutexGuard<'_, Says> {
        self.says.lock().unwrap()
    }

    /// The wallet as it is after a start of the program: it knows only what the store's folder holds.
    fn wallet(&self) -> BitcoinWallet {
        let login = Login::Cookie(self.folder.path().join(".cookie"));
        let node = BitcoinNode::new(&self.url, login, &Config::default()).unwrap();
        let key = SchnorrKey::from_secret([7; 32]).unwrap();
        BitcoinWallet::new(node, key, &Home::find(Some(self.folder.path())).unwrap())
    }

    fn anchors(&self, digest: &Digest) -> Result<Sent, Undelivered> {
        self.wallet().op_return(digest, FEE_MAX)
    }
}

#[test]
fn a_transaction_whose_answer_was_lost_is_found_or_sent_again_as_it_was() {
    let (room, digest) = (Room::new(), Digest::of(b"a head"));
    assert_eq!(room.wallet().op_return_of(&digest), Ok(None));
    room.says().loses = true;
    let lost = room.anchors(&digest);
    assert!(matches!(lost, Err(Undelivered::Unknown(_))), "{lost:?}");
    room.says().loses = false;
    let sent = room.anchors(&digest).unwrap();
    assert_eq!((sent.fee, room.says().sent.len()), (161, 1), "it waits there already");
    assert_eq!(room.wallet().op_return_of(&digest), Ok(Some(sent.clone())));
    room.says().waiting.clear();
    assert_eq!(room.wallet().op_return_of(&digest), Ok(None));
    assert_eq!(room.anchors(&digest), Ok(sent));
    let says = room.says();
    assert!(says.sent.len() == 2 && says.sent[0] == says.sent[1]);
    let carried = wallet::read(&says.sent[0]).unwrap();
    assert!(carried.says(&words(&digest)) && carried.spends.len() == 1);
}

#[test]
fn one_that_a_block_holds_is_found_there_when_nothing_of_it_is_unspent() {
    let (room, digest) = (Room::new(), Digest::of(b"a head"));
    let sent = room.anchors(&digest).unwrap();
    let mut says = room.says();
    says.waiting.clear();
    says.height = 510;
    says.blocks.insert(503, vec!["00".repeat(32), sent.txid.clone()]);
    says.coins.remove(0);
    drop(says);
    assert_eq!(room.wallet().op_return_of(&digest), Ok(Some(sent.clone())));
    assert_eq!(room.anchors(&digest), Ok(sent));
    assert_eq!(room.says().sent.len(), 1);
}

#[test]
fn one_that_the_node_takes_no_more_is_made_again_of_the_same_coin() {
    let (room, digest) = (Room::new(), Digest::of(b"a head"));
    let sent = room.anchors(&digest).unwrap();
    let mut says = room.says();
    let before = says.sent[0].clone();
    says.waiting.clear();
    says.refused.push(before.clone());
    // At this rate the other coin would be chosen.
    says.rate = 0.000_11;
    drop(says);
    let again = room.anchors(&digest).unwrap();
    assert!(again.txid != sent.txid && again.fee == 2_000, "{again:?}");
    let spends = |raw: &str| wallet::read(raw).unwrap().spends;
    let last = room.says().sent.last().cloned().unwrap();
    assert_eq!(spends(&last), spends(&before));
    assert_eq!(room.wallet().op_return_of(&digest), Ok(Some(again)));
}

#[test]
fn where_nobody_can_tell_whether_it_counts_nothing_is_sent() {
    let (room, digest) = (Room::new(), Digest::of(b"a head"));
    room.anchors(&digest).unwrap();
    let mut says = room.says();
    says.waiting.clear();
    // A block that holds it may be below those that are looked at.
    says.height += BLOCKS_SEARCHED_MAX;
    drop(says);
    let unsure = room.anchors(&digest);
    assert!(matches!(&unsure, Err(Undelivered::Unknown(why)) if why.contains("cannot tell")), "{unsure:?}");
    assert!(matches!(room.wallet().op_return_of(&digest), Err(Undelivered::Unknown(_))));
    assert_eq!(room.says().sent.len(), 1);
}

#[test]
fn what_was_refused_at_once_is_forgotten_and_a_node_that_catches_up_is_sent_nothing() {
    let (room, digest) = (Room::new(), Digest::of(b"a head"));
    room.says().is_catching_up = true;
    let early = room.anchors(&digest);
    assert!(matches!(&early, Err(Undelivered::NotSent(why)) if why.contains("still reading")), "{early:?}");
    room.says().is_catching_up = false;
    room.says().refuses_all = true;
    let refused = room.anchors(&digest);
    assert!(matches!(refused, Err(Undelivered::NotSent(_))), "{refused:?}");
    assert!(room.wallet().journal.read().unwrap().is_empty());
    room.says().refuses_all = false;
    assert!(room.anchors(&digest).is_ok());
}

#[test]
fn what_was_sent_is_written_down_once_for_each_digest_and_the_oldest_goes_first() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::of(folder.path());
    let entry = |n: u64, txid: &str| Entry {
        digest: Digest::of(&n.to_le_bytes()),
        txid: txid.to_owned(),
        raw: String::new(),
        fee: 1,
        from_height: n,
        block: None,
    };
    assert!(journal.read().unwrap().is_empty());
    journal.keep(&entry(1, "one")).unwrap();
    journal.keep(&entry(2, "two")).unwrap();
    journal.keep(&entry(1, "another")).unwrap();
    journal.seen("another", "a block").unwrap();
    journal.seen("nobody's", "a block").unwrap();
    let seen = Entry { block: Some("a block".to_owned()), ..entry(1, "another") };
    assert_eq!(journal.read().unwrap(), [entry(2, "two"), seen.clone()]);
    journal.forget("two").unwrap();
    assert_eq!(journal.read().unwrap(), [seen]);
    let claimed = journal.claim().unwrap();
    let other = std::fs::File::options().write(true).open(folder.path().join("bitcoin-sent.lock")).unwrap();
    assert!(other.try_lock().is_err(), "nobody else sends meanwhile");
    drop(claimed);
    assert!(other.try_lock().is_ok());
}
