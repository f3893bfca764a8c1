//! Clocks elsewhere, as a test wants them: a calendar and a time-stamp authority on loopback, and a chain of blocks with a wallet,
//! which outlive every kernel of a world.
#![allow(clippy::disallowed_methods, reason = "the authority is the stock tool that a stranger would run")]

use crate::{Answers, Heard, Server};
use anchor::bitcoin::{Header, double_sha256, spelled};
use anchor::op_return::{OpReturnProof, script};
use anchor::rfc3161;
use effects::{Clocks, OpReturnSeen, SeenBlock, Sent, Undelivered};
use model::Digest;
use model::anchor::BlockTime;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// What begins an attestation of a block, and one that is pending.
const BITCOIN: [u8; 8] = [0x05, 0x88, 0x96, 0x0d, 0x73, 0xd7, 0x19, 0x01];
const PENDING: [u8; 8] = [0x83, 0xdf, 0xe3, 0x0d, 0x2e, 0xf9, 0x0c, 0x8e];
/// The easiest target that there is.
const BITS: u32 = 0x207f_ffff;
/// When its blocks say that they were made.
const BLOCK_TIME: u32 = 1_700_000_500;

/// What a wallet does when it is to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalletMood {
    /// Sends.
    Sends,
    /// Its node cannot be reached.
    Away,
    /// Sends, and its answer is lost.
    Silent,
}

/// What a calendar does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalendarMood {
    /// Takes what it is given, and has it in no block.
    Waits,
    /// Has what it was given in a block of the chain.
    Confirms,
    /// Says that a block holds it that does not.
    Lies,
    /// Answers what nobody can read.
    Babbles,
    /// Answers without an end.
    Floods,
    /// Is out of order.
    Away,
}

struct Held {
    raw: Vec<u8>,
    txid: [u8; 32],
    height: Option<u64>,
}

struct State {
    blocks: BTreeMap<u64, Vec<u8>>,
    tip: u64,
    wallet: BTreeMap<Digest, Held>,
    mood: WalletMood,
    sent: u32,
}

/// A chain with a wallet.
pub struct TestChain(Mutex<State>);

impl Default for TestChain {
    fn default() -> Self {
        let (blocks, wallet) = (BTreeMap::new(), BTreeMap::new());
        Self(Mutex::new(State { blocks, tip: 100, wallet, mood: WalletMood::Sends, sent: 0 }))
    }
}

/// A header with this root on top of another that has its work.
fn mined(root: [u8; 32], below: [u8; 32]) -> Vec<u8> {
    for nonce in 0..u32::MAX {
        let mut header = vec![1, 0, 0, 0];
        header.extend(below);
        header.extend(root);
        header.extend(BLOCK_TIME.to_le_bytes());
        header.extend(BITS.to_le_bytes());
        header.extend(nonce.to_le_bytes());
        if Header::read(&header).is_ok() {
            return header;
        }
    }
    // Every second one has it.
    Vec::new()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl TestChain {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the wallet does from now on.
    pub fn becomes(&self, mood: WalletMood) {
        self.state().mood = mood;
    }

    /// Transactions that were sent.
    pub fn sent(&self) -> u32 {
        self.state().sent
    }

    /// So many more blocks stand.
    pub fn grows(&self, blocks: u64) {
        self.state().tip += blocks;
    }

    /// The next block has this root.
    fn holds(&self, root: [u8; 32]) -> u64 {
        let mut state = self.state();
        state.tip += 1;
        let tip = state.tip;
        state.blocks.insert(tip, mined(root, [3; 32]));
        tip
    }

    /// The next block holds everything that the wallet has sent.
    pub fn mines(&self) {
        let waits: Vec<(Digest, [u8; 32])> = {
            let state = self.state();
            state.wallet.iter().filter(|(_, held)| held.height.is_none()).map(|(d, h)| (*d, h.txid)).collect()
        };
        for (digest, txid) in waits {
            let height = self.holds(txid);
            if let Some(held) = self.state().wallet.get_mut(&digest) {
                held.height = Some(height);
            }
        }
    }

    /// The newest block that holds something and so many on top of it, as a file of headers.
    ///
    /// # Panics
    /// When no block holds anything.
    pub fn headers_file(&self, on_top: usize) -> String {
        let state = self.state();
        let (height, first) = state.blocks.last_key_value().expect("a block holds something");
        let (mut text, mut last) = (format!("height {height}\n{}\n", hex(first)), first.clone());
        for _ in 0..on_top {
            last = mined([0xcc; 32], double_sha256(&last));
            text.push_str(&format!("{}\n", hex(&last)));
        }
        text
    }

    /// The chain went another way: every block that held something is another one now.
    pub fn reorganises(&self) {
        let mut state = self.state();
        state.blocks.values_mut().for_each(|header| *header = mined([0xee; 32], [5; 32]));
        state.wallet.values_mut().for_each(|held| held.height = None);
    }
}

impl Clocks for TestChain {
    fn op_return_of(&self, digest: &Digest) -> Result<Option<Sent>, Undelivered> {
        let state = self.state();
        if state.mood == WalletMood::Away {
            return Err(Undelivered::NotSent("the node cannot be reached".to_owned()));
        }
        Ok(state.wallet.get(digest).map(|held| Sent { txid: spelled(&held.txid), fee: 200 }))
    }

    fn op_return(&self, digest: &Digest, fee_max: u64) -> Result<Sent, Undelivered> {
        if fee_max < 200 {
            return Err(Undelivered::NotSent("it costs more than that".to_owned()));
        }
        let mut raw = vec![2, 0, 0, 0, 1];
        raw.extend([9; 36]);
        raw.extend([0, 0xff, 0xff, 0xff, 0xff, 1]);
        raw.extend([0; 8]);
        let script = script(digest);
        raw.push(u8::try_from(script.len()).expect("it is short"));
        raw.extend(script);
        raw.extend([0; 4]);
        let txid = double_sha256(&raw);
        let mut state = self.state();
        state.sent += 1;
        state.wallet.insert(*digest, Held { raw, txid, height: None });
        match state.mood {
            WalletMood::Silent => Err(Undelivered::Unknown("no answer".to_owned())),
            _ => Ok(Sent { txid: spelled(&txid), fee: 200 }),
        }
    }

    fn op_return_state(&self, txid: &str) -> Result<OpReturnSeen, Undelivered> {
        let state = self.state();
        let held = state.wallet.values().find(|held| spelled(&held.txid) == txid);
        let Some((held, height)) = held.and_then(|held| Some((held, held.height?))) else {
            return Ok(OpReturnSeen { proven: None });
        };
        let header = state.blocks.get(&height).cloned().unwrap_or_default();
        // A block of one transaction: its root is that.
        let mut proof = header.clone();
        proof.extend([1, 0, 0, 0, 1]);
        proof.extend(held.txid);
        proof.extend([1, 1]);
        let proof =
            OpReturnProof { raw_tx: hex(&held.raw), tx_out_proof: hex(&proof), header: hex(&header), height };
        let block = block_time(&header, height, state.tip);
        Ok(OpReturnSeen { proven: Some((block, proof.to_bytes().expect("it is canonical"))) })
    }

    fn block(&self, height: u64) -> Result<Option<SeenBlock>, Undelivered> {
        let state = self.state();
        let header = state.blocks.get(&height).cloned();
        Ok(header.map(|header| SeenBlock { block: block_time(&header, height, state.tip), header }))
    }
}

fn block_time(header: &[u8], height: u64, tip: u64) -> BlockTime {
    let hash = spelled(&double_sha256(header));
    BlockTime { height, hash, time: u64::from(BLOCK_TIME), depth: tip - height + 1 }
}

/// A calendar.
#[derive(Clone)]
pub struct TestCalendar {
    /// It at work.
    pub server: Server,
    mood: Arc<Mutex<CalendarMood>>,
}

impl TestCalendar {
    /// One that takes what it is given, and confirms in this chain.
    pub fn begin(chain: &Arc<TestChain>) -> Self {
        let (mood, chain) = (Arc::new(Mutex::new(CalendarMood::Waits)), Arc::clone(chain));
        let asked = Arc::clone(&mood);
        let known: Mutex<BTreeMap<String, u64>> = Mutex::default();
        let server = Server::begin(move |heard| {
            let mood = *asked.lock().unwrap_or_else(PoisonError::into_inner);
            let babble = || Answers::Bytes(200, b"\xffwhat?".to_vec());
            match (mood, heard.line.strip_prefix("GET /timestamp/")) {
                (CalendarMood::Babbles, _) => babble(),
                (CalendarMood::Floods, _) => Answers::Bytes(200, vec![0; 400 * 1024]),
                (CalendarMood::Away, _) => Answers::Bytes(503, Vec::new()),
                (_, None) => Answers::Bytes(200, taken(heard)),
                (CalendarMood::Waits, Some(_)) => Answers::Bytes(404, b"Pending".to_vec()),
                (mood, Some(commitment)) => {
                    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                    let height = *known.entry(commitment.to_owned()).or_insert_with(|| {
                        let root = root_of(commitment);
                        chain.holds(if mood == CalendarMood::Lies { [0xaa; 32] } else { root })
                    });
                    Answers::Bytes(200, led(&[7; 8], BITCOIN, &number(height)))
                }
            }
        });
        Self { server, mood }
    }

    /// What it does from now on.
    pub fn becomes(&self, mood: CalendarMood) {
        *self.mood.lock().unwrap_or_else(PoisonError::into_inner) = mood;
    }
}

/// The answer to a digest: it is pending here.
fn taken(heard: &Heard) -> Vec<u8> {
    let uri = format!("http://{}", heard.header("host").unwrap_or_default());
    let mut payload = number(uri.len() as u64);
    payload.extend(uri.as_bytes());
    led(&[5; 8], PENDING, &payload)
}

/// Appends, hashes, and says what attests that.
fn led(appended: &[u8; 8], tag: [u8; 8], payload: &[u8]) -> Vec<u8> {
    let mut answer = vec![0xf0, 8];
    answer.extend(appended);
    answer.extend([0x08, 0x00]);
    answer.extend(tag);
    answer.extend(number(payload.len() as u64));
    answer.extend(payload);
    answer
}

/// The root to which such an answer leads.
fn root_of(commitment: &str) -> [u8; 32] {
    let byte = |at: usize| commitment.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let mut message: Vec<u8> = (0..commitment.len()).step_by(2).filter_map(byte).collect();
    message.extend([7; 8]);
    Digest::of(&message).0
}

fn number(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] & 0x7f | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
    bytes
}

/// What a time-stamp authority signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthorityMood {
    /// What it is asked to.
    Signs,
    /// Another digest.
    OtherDigest,
    /// The digest, of another request.
    OtherNonce,
}

/// What an authority of `openssl` works by.
const AUTHORITY: &str = "[tsa]\ndefault_tsa = t\n[t]\nserial = ./serial\nsigner_digest = sha256\n\
    default_policy = 1.2.3.4\ndigests = sha256\ness_cert_id_alg = sha256\n[req]\ndistinguished_name = d\n[d]\n\
    [leaf]\nkeyUsage = critical,digitalSignature\nextendedKeyUsage = critical,timeStamping\n";

/// A time-stamp authority that `openssl` is, with a key of this moment; none where there is no `openssl`.
pub fn time_authority(mood: AuthorityMood) -> Option<Server> {
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("c.cnf"), AUTHORITY).expect("written");
    std::fs::write(folder.path().join("serial"), "01").expect("written");
    openssl(folder.path(), "ecparam -name prime256v1 -genkey -noout -out key.pem")?;
    openssl(
        folder.path(),
        "req -x509 -new -key key.pem -out tsa.pem -days 30 -subj /CN=Fresh -config c.cnf -extensions leaf",
    )?;
    Some(Server::begin(move |heard| {
        let at = heard.bytes.windows(2).position(|two| two == [4, 32]).map_or(0, |at| at + 2);
        let asked = heard.bytes.get(at..at + 32).and_then(|bytes| bytes.try_into().ok()).map(Digest);
        let query = match (mood, asked) {
            (AuthorityMood::Signs, _) | (_, None) => heard.bytes.clone(),
            (AuthorityMood::OtherDigest, Some(_)) => rfc3161::request(&Digest::of(b"another"), 1),
            (AuthorityMood::OtherNonce, Some(digest)) => rfc3161::request(&digest, 1),
        };
        std::fs::write(folder.path().join("q.tsq"), query).expect("written");
        let line = "ts -reply -config c.cnf -queryfile q.tsq -inkey key.pem -signer tsa.pem -out made.tsr";
        match openssl(folder.path(), line) {
            Some(()) => Answers::Bytes(200, std::fs::read(folder.path().join("made.tsr")).expect("made")),
            None => Answers::Bytes(500, Vec::new()),
        }
    }))
}

fn openssl(folder: &Path, line: &str) -> Option<()> {
    let mut command = Command::new("openssl");
    command.current_dir(folder).args(line.split(' ')).stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::null()).status().ok().filter(|status| status.success()).map(|_| ())
}
