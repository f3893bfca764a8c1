//! A real Bitcoin node of this machine in regtest, where `cargo xtask parts bitcoind` has put it: the wallet of an instance anchors a
//! digest, which a block proves, a reorganisation takes back and another block proves again; one key hands over to another in a
//! transaction with an input of each; and nothing is paid twice, over the cap, or to a node that is away.

use super::summary::parts;
use anchor::bitcoin::Headers;
use anchor::{Checked, Trust, check};
use effects::{Clocks as _, Undelivered};
use host::bitcoin_node::{BitcoinNode, Login, NodeError};
use host::bitcoin_wallet::{BitcoinWallet, Former, Handed};
use host::{Config, Home};
use model::Digest;
use model::anchor::AnchorClock;
use seal::schnorr::SchnorrKey;
use serde_json::Value;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long the node may take to begin or to end.
const PATIENCE: Duration = Duration::from_secs(60);
/// More than an anchor costs here, in satoshi.
const FEE_MAX: u64 = 5_000;
/// What a block pays whoever mines it, in satoshi.
const COINBASE: u64 = 5_000_000_000;
/// Blocks on top of one before what it pays can be spent.
const MATURE: u64 = 100;

/// A node in regtest that nobody else speaks to.
struct Regtest {
    programs: PathBuf,
    folder: tempfile::TempDir,
    port: u16,
    running: Option<Child>,
}

impl Regtest {
    /// None where the node was not built.
    fn begins() -> Option<Self> {
        let programs = parts()?.join("bitcoind");
        if !programs.join("source").is_file() {
            return None;
        }
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its number").port();
        drop(listener);
        let folder = tempfile::tempdir().expect("a folder");
        let mut node = Self { programs, folder, port, running: None };
        node.comes_back();
        // What a node of ages ago would still read is not waited for: the first block is of today.
        node.mine(1, &key(200));
        Some(node)
    }

    fn comes_back(&mut self) {
        let mut command = Command::new(self.programs.join("bitcoind"));
        command.arg("-regtest").arg(format!("-datadir={}", self.folder.path().display()));
        command.arg(format!("-rpcport={}", self.port));
        // Nobody else is reached, and what waits is not kept over an end.
        command.args(["-listen=0", "-connect=0", "-persistmempool=0", "-printtoconsole=0", "-dbcache=4"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.running = Some(command.spawn().expect("it starts"));
        let until = Instant::now() + PATIENCE;
        while let Err(error) = self.node().chain() {
            assert!(Instant::now() < until, "it does not begin: {error}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    fn goes_away(&mut self) {
        self.cli(&["stop"]);
        let ended = testkit::finished(self.running.take().expect("it runs"), PATIENCE);
        assert!(ended.status.success());
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn cookie(&self) -> PathBuf {
        self.folder.path().join("regtest/.cookie")
    }

    fn node(&self) -> BitcoinNode {
        BitcoinNode::new(&self.url(), Login::Cookie(self.cookie()), &Config::default()).expect("an address")
    }

    /// The wallet of a key, with what it has sent in this folder.
    fn wallet(&self, n: u8, at: &Path) -> BitcoinWallet {
        BitcoinWallet::new(self.node(), key(n), &Home::find(Some(at)).expect("a folder"))
    }

    /// What the node's own program says.
    fn cli(&self, words: &[&str]) -> String {
        let mut command = Command::new(self.programs.join("bitcoin-cli"));
        command.arg("-regtest").arg(format!("-datadir={}", self.folder.path().display()));
        command.arg(format!("-rpcport={}", self.port)).args(words);
        let ran = command.stdin(Stdio::null()).output().expect("it starts");
        assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).expect("UTF-8").trim().to_owned()
    }

    /// Mines blocks that pay a key.
    fn mine(&self, blocks: u64, to: &SchnorrKey) {
        let descriptor: Value =
            serde_json::from_str(&self.cli(&["getdescriptorinfo", &format!("rawtr({})", to.public())]))
                .expect("JSON");
        let descriptor = descriptor["descriptor"].as_str().expect("with a checksum");
        self.cli(&["generatetodescriptor", &blocks.to_string(), descriptor]);
    }

    /// The headers of the chain from its first block on, a line each.
    fn headers(&self) -> Headers {
        let wallet = self.wallet(199, self.folder.path());
        let mut lines = Vec::new();
        for height in 0.. {
            let Some(seen) = wallet.block(height).expect("it tells") else { break };
            lines.extend(seen.header);
        }
        Headers::read(&lines).expect("they have their work")
    }
}

impl Drop for Regtest {
    fn drop(&mut self) {
        if let Some(mut running) = self.running.take() {
            let _ = running.kill();
            let _ = running.wait();
        }
    }
}

fn key(n: u8) -> SchnorrKey {
    SchnorrKey::from_secret([n; 32]).expect("a key")
}

fn checked(proof: &[u8], digest: &Digest, headers: &Headers) -> Result<Checked, anchor::Error> {
    check(AnchorClock::OpReturn, proof, digest, &Trust { authorities: &[], headers: Some(headers) })
}

fn not_sent<T: std::fmt::Debug>(came: Result<T, Undelivered>, why: &str) {
    assert!(matches!(&came, Err(Undelivered::NotSent(said)) if said.contains(why)), "{why}: {came:?}");
}

fn lacks() {
    conforms::skip("no bitcoind is here; `cargo xtask parts bitcoind` builds it");
}

#[test]
fn own_bitcoin_anchors_a_digest_which_a_reorganisation_takes_back_and_another_block_proves_again() {
    let Some(regtest) = Regtest::begins() else { return lacks() };
    let at = tempfile::tempdir().expect("a folder");
    let wallet = regtest.wallet(7, at.path());
    regtest.mine(1, &key(7));
    regtest.mine(MATURE, &key(200));
    let seen = wallet.seen().expect("it tells");
    assert_eq!((seen.chain.as_str(), seen.balance), ("regtest", COINBASE));
    let (first, second) = (Digest::of(b"a head"), Digest::of(b"another head"));
    assert_eq!(wallet.op_return_of(&first), Ok(None));
    let sent = wallet.op_return(&first, FEE_MAX).expect("it is sent");
    assert_eq!(seen.fee, Ok(sent.fee), "what was shown is what it cost");
    // Asked again, by this wallet or by one that has lost what it wrote down: the same, and paid once.
    assert_eq!(wallet.op_return(&first, FEE_MAX), Ok(sent.clone()));
    let elsewhere = tempfile::tempdir().expect("a folder");
    let restored = regtest.wallet(7, elsewhere.path());
    assert_eq!(restored.op_return(&first, FEE_MAX), Ok(sent.clone()));
    assert_eq!(wallet.op_return_state(&sent.txid).expect("it tells").proven, None);
    // The second spends what the first gives back, so that nothing of the first is left unspent.
    let other = wallet.op_return(&second, FEE_MAX).expect("it is sent");
    assert_eq!(wallet.seen().expect("it tells").balance, COINBASE - sent.fee - other.fee);
    regtest.mine(1, &key(200));
    assert_eq!(wallet.op_return_of(&first), Ok(Some(sent.clone())));
    regtest.mine(5, &key(200));
    for (digest, sent) in [(&first, &sent), (&second, &other)] {
        let (block, proof) = wallet.op_return_state(&sent.txid).expect("it tells").proven.expect("a block");
        assert_eq!(block.depth, 6);
        let proven = checked(&proof, digest, &regtest.headers()).expect("it holds").proven.expect("a time");
        assert_eq!(proven.block.map(|at| (at.height, at.hash)), Some((block.height, block.hash)));
        assert!(checked(&proof, &Digest::of(b"no head"), &regtest.headers()).is_err());
    }
    let (gone, old) = wallet.op_return_state(&sent.txid).expect("it tells").proven.expect("a block");
    regtest.cli(&["invalidateblock", &gone.hash]);
    assert_eq!(wallet.op_return_state(&sent.txid).expect("it tells").proven, None);
    assert_eq!(wallet.op_return(&first, FEE_MAX), Ok(sent.clone()), "it waits again, and is not paid again");
    regtest.mine(2, &key(201));
    let (block, proof) = wallet.op_return_state(&sent.txid).expect("it tells").proven.expect("a block");
    assert!(block.hash != gone.hash && block.height == gone.height && block.depth == 2);
    let headers = regtest.headers();
    assert!(checked(&proof, &first, &headers).expect("it holds").proven.is_some());
    let old = checked(&old, &first, &headers).expect("it holds by itself");
    assert!(old.proven.is_none() && old.contradicted.is_some(), "its block is on no chain any more: {old:?}");
}

#[test]
fn own_bitcoin_hands_over_in_one_transaction_with_an_input_of_each_key() {
    let Some(regtest) = Regtest::begins() else { return lacks() };
    let at = tempfile::tempdir().expect("a folder");
    let (old, new, link) = (key(7), key(8), Digest::of(b"the link of a hand-over"));
    let handed = Handed { link, from: old.public(), to: new.public() };
    let wallet =
        regtest.wallet(8, at.path()).with_former(Former { keys: vec![old.clone()], handed: vec![handed] });
    regtest.mine(2, &old);
    regtest.mine(MATURE, &key(200));
    not_sent(wallet.op_return(&link, FEE_MAX), "has no coin");
    regtest.mine(1, &new);
    regtest.mine(MATURE, &key(200));
    not_sent(wallet.op_return(&link, 10), "at most 10");
    let shown = wallet.seen().expect("it tells").fee;
    let sent = wallet.op_return(&link, FEE_MAX).expect("it is sent");
    assert_eq!(shown, Ok(sent.fee), "what was shown is what it cost");
    assert_eq!(wallet.op_return(&link, FEE_MAX), Ok(sent.clone()));
    regtest.mine(1, &key(200));
    let (block, proof) = wallet.op_return_state(&sent.txid).expect("it tells").proven.expect("a block");
    assert!(checked(&proof, &link, &regtest.headers()).expect("it holds").proven.is_some());
    // The node has checked both signatures; which keys gave the coins is read off what it shows.
    let shown: Value =
        serde_json::from_str(&regtest.cli(&["getrawtransaction", &sent.txid, "2", &block.hash]))
            .expect("JSON");
    let inputs = shown["vin"].as_array().expect("inputs");
    let of = |key: &SchnorrKey| {
        let script = format!("5120{}", key.public());
        inputs.iter().filter(|input| input["prevout"]["scriptPubKey"]["hex"] == script.as_str()).count()
    };
    assert_eq!((inputs.len(), of(&old), of(&new)), (3, 2, 1));
    let balance = |wallet: &BitcoinWallet| wallet.seen().expect("it tells").balance;
    assert_eq!((balance(&regtest.wallet(7, at.path())), balance(&wallet)), (0, 3 * COINBASE - sent.fee));
}

#[test]
fn own_bitcoin_pays_nothing_over_the_cap_without_funds_or_to_a_node_that_is_away() {
    let Some(mut regtest) = Regtest::begins() else { return lacks() };
    let at = tempfile::tempdir().expect("a folder");
    let (wallet, digest) = (regtest.wallet(7, at.path()), Digest::of(b"a head"));
    let poor = wallet.seen().expect("it tells");
    assert!(poor.balance == 0 && poor.fee.is_err_and(|why| why.contains("0 satoshi")));
    not_sent(wallet.op_return(&digest, FEE_MAX), "there are 0 satoshi");
    regtest.mine(1, &key(7));
    regtest.mine(MATURE, &key(200));
    not_sent(wallet.op_return(&digest, 10), "at most 10");
    let stranger = at.path().join("cookie");
    std::fs::write(&stranger, "__cookie__:guessed").expect("it is written");
    let node =
        BitcoinNode::new(&regtest.url(), Login::Cookie(stranger), &Config::default()).expect("an address");
    assert!(matches!(node.chain(), Err(NodeError::Login(_))));
    let unknown = BitcoinWallet::new(node, key(7), &Home::find(Some(at.path())).expect("a folder"));
    not_sent(unknown.op_return(&digest, FEE_MAX), "refuses this name and password");
    let kept = regtest.cookie();
    regtest.goes_away();
    assert!(!kept.exists(), "a node takes its cookie along");
    std::fs::write(&kept, "__cookie__:of before").expect("it is written");
    not_sent(wallet.op_return(&digest, FEE_MAX), "cannot be reached");
    assert!(!at.path().join("bitcoin-sent.json").exists(), "nothing was made so far");
    regtest.comes_back();
    let sent = wallet.op_return(&digest, FEE_MAX).expect("it is sent");
    // The node forgets what waited. Asked again, the very same transaction goes out.
    regtest.goes_away();
    regtest.comes_back();
    assert_eq!(regtest.cli(&["getrawmempool"]), "[\n]");
    assert_eq!(wallet.op_return_of(&digest), Ok(None));
    assert_eq!(wallet.op_return(&digest, FEE_MAX), Ok(sent.clone()));
    assert!(regtest.cli(&["getrawmempool"]).contains(&sent.txid));
}
