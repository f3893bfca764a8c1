//! Both sides of a connection: one that the room holds, and one by hand that says what a test wants.

use mesh::sealed::{NostrSealing, Sealing as _};
use mesh::{Chance, direct};
use model::UnixMs;
use serde_json::{Value, json};
use socket::{At, Came, Proves, Sockets};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tungstenite::{Message, WebSocket};

/// Enough on a busy machine, and over as soon as something came.
pub const LONG: Duration = Duration::from_secs(15);

/// Chance that nobody has to see again.
pub struct Drawn;

impl Chance for Drawn {
    fn fill(&mut self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            let bytes = RandomState::new().build_hasher().finish().to_le_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
    }
}

pub fn now() -> UnixMs {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    UnixMs(i64::try_from(since.as_millis()).unwrap())
}

pub fn sealing(secret: u8) -> NostrSealing {
    NostrSealing::new(&[secret; 32]).unwrap()
}

/// The key of a node, as it is written.
pub fn key(secret: u8) -> String {
    sealing(secret).node().to_string()
}

struct Own(NostrSealing);

impl Proves for Own {
    fn challenge(&self) -> String {
        direct::challenge(&mut Drawn)
    }

    fn answer(&self, challenge: &str, place: &str) -> Option<Vec<u8>> {
        direct::answer(&self.0, challenge, place, now())
    }

    fn check(&self, challenge: &str, place: &str, frame: &[u8]) -> Option<String> {
        direct::check(challenge, place, frame, now()).map(|node| node.to_string())
    }
}

/// A node whose connections the room holds.
pub struct Side {
    pub sockets: Sockets,
    pub came: Receiver<Came>,
}

pub fn side(secret: u8) -> Side {
    let (came, taken) = sync_channel(16);
    Side { sockets: Sockets::begin(came, Arc::new(Own(sealing(secret))), Vec::new()), came: taken }
}

pub fn relays(urls: &[&str]) -> BTreeSet<String> {
    urls.iter().map(|url| (*url).to_owned()).collect()
}

pub fn nodes(named: &[(u8, SocketAddr)]) -> BTreeMap<String, String> {
    named.iter().map(|(secret, at)| (key(*secret), at.to_string())).collect()
}

pub fn of(secret: u8) -> At {
    At::Direct(key(secret))
}

impl Side {
    /// What comes next.
    pub fn next(&self) -> Came {
        self.came.recv_timeout(LONG).unwrap()
    }

    /// The next that is like this; what comes before is passed over.
    pub fn until(&self, is_it: impl Fn(&Came) -> bool) -> Came {
        let end = Instant::now() + LONG;
        while Instant::now() < end {
            let came = self.next();
            if is_it(&came) {
                return came;
            }
        }
        panic!("it did not come")
    }

    /// Whether nothing comes for a while.
    pub fn is_quiet(&self, ms: u64) -> bool {
        matches!(self.came.recv_timeout(Duration::from_millis(ms)), Err(RecvTimeoutError::Timeout))
    }

    pub fn say(&self, at: &At, words: &str) -> bool {
        self.sockets.write(at, words.as_bytes().to_vec())
    }

    pub fn listen(&self) -> SocketAddr {
        self.sockets.listen(Some("127.0.0.1:0".parse().unwrap())).unwrap().unwrap()
    }

    pub fn admit(&self, secrets: &[u8]) {
        self.sockets.admit(&secrets.iter().map(|secret| key(*secret)).collect());
    }

    /// What is told of a connection, as soon as it is this.
    pub fn why(&self, at: &At, is_it: impl Fn(bool, &str) -> bool) -> String {
        let end = Instant::now() + LONG;
        loop {
            let stands = self.sockets.stands();
            let (_, stands, why) = stands.into_iter().find(|(named, ..)| named == at).unwrap();
            let why = why.unwrap_or_default();
            if is_it(stands, &why) {
                return why;
            }
            assert!(Instant::now() < end, "{stands} {why}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

pub fn bytes(at: &At, words: &str) -> Came {
    Came::Bytes(at.clone(), words.as_bytes().to_vec())
}

/// Somebody who connects by hand.
pub struct ByHand(pub WebSocket<TcpStream>);

/// Connects; none where that is refused.
pub fn by_hand(at: SocketAddr) -> Option<ByHand> {
    let tcp = TcpStream::connect(at).unwrap();
    tcp.set_read_timeout(Some(LONG)).unwrap();
    tungstenite::client(format!("ws://{at}/"), tcp).ok().map(|(socket, _)| ByHand(socket))
}

impl ByHand {
    /// The place that was dialled.
    pub fn place(&self) -> String {
        self.0.get_ref().peer_addr().unwrap().to_string()
    }

    pub fn say(&mut self, words: &str) -> bool {
        self.0.send(Message::text(words)).is_ok()
    }

    pub fn say_bytes(&mut self, bytes: Vec<u8>) -> bool {
        self.say(&String::from_utf8(bytes).unwrap())
    }

    /// The next frame; none where the other side ended.
    pub fn hear(&mut self) -> Option<String> {
        loop {
            match self.0.read() {
                Ok(Message::Text(text)) => return Some(text.as_str().to_owned()),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// What the other side gives to be signed.
    pub fn challenge(&mut self) -> String {
        let said: Value = serde_json::from_str(&self.hear().unwrap()).unwrap();
        assert_eq!(said[0], json!("AUTH"));
        said[1].as_str().unwrap().to_owned()
    }

    /// Proves this key to the other side, and has it prove its own; whether it did.
    pub fn prove(&mut self, secret: u8, other: u8) -> bool {
        let theirs = self.challenge();
        let own = direct::challenge(&mut Drawn);
        self.say(&json!(["AUTH", own]).to_string());
        self.say_bytes(direct::answer(&sealing(secret), &theirs, &self.place(), now()).unwrap());
        let proof = self.hear();
        proof.is_some_and(|proof| {
            direct::check(&own, &self.place(), proof.as_bytes(), now())
                .is_some_and(|node| node.to_string() == key(other))
        })
    }
}
