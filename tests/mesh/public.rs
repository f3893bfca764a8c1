//! What strangers see of a machine at a relay: nothing, unless its person said so, and then no name.

use super::machines::{FOLDER, Machine, Relay, pair};
use crate::journeys::stage::until;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// A stranger at a relay, by hand: frames of WebSocket with a mask of zeros.
struct Stranger(TcpStream);

impl Stranger {
    fn at(relay: &Relay) -> Self {
        let mut tcp = TcpStream::connect(relay.address()).expect("the relay is there");
        tcp.set_read_timeout(Some(Duration::from_secs(10))).expect("a time");
        let asks = format!(
            "GET / HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            relay.address()
        );
        tcp.write_all(asks.as_bytes()).expect("it is asked");
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") {
            tcp.read_exact(&mut byte).expect("it answers");
            head.extend(byte);
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        Self(tcp)
    }

    fn says(&mut self, words: &Value) {
        let text = words.to_string();
        let length = u16::try_from(text.len()).expect("a short one").to_be_bytes();
        // Text, masked, with a length in two bytes.
        let frame = [&[0x81, 0xfe][..], &length, &[0; 4], text.as_bytes()].concat();
        self.0.write_all(&frame).expect("it is said");
    }

    fn hears(&mut self) -> Value {
        loop {
            let mut head = [0; 2];
            self.0.read_exact(&mut head).expect("a frame");
            let length = match head[1] {
                126 => {
                    let mut length = [0; 2];
                    self.0.read_exact(&mut length).expect("its length");
                    usize::from(u16::from_be_bytes(length))
                }
                length => usize::from(length),
            };
            let mut bytes = vec![0; length];
            self.0.read_exact(&mut bytes).expect("its bytes");
            if head[0] == 0x81 {
                return serde_json::from_slice(&bytes).expect("JSON");
            }
        }
    }

    /// What everybody may read of the topic.
    fn topic(&mut self) -> Vec<Value> {
        self.says(&json!(["REQ", "topic", { "kinds": [30_078], "#t": ["hermit-presence"] }]));
        let mut found = Vec::new();
        loop {
            let heard = self.hears();
            match heard[0].as_str() {
                Some("EVENT") => found.push(heard[2].clone()),
                Some("EOSE") => return found,
                _ => {}
            }
        }
    }
}

#[conforms::conforms(part = "HV-3.7-1", part = "HV-3.6-1")]
#[test]
fn strangers_see_a_machine_and_its_newest_signed_head_only_where_its_person_said_so() {
    let relay = Relay::new();
    let seen = Machine::new("lighthouse", &[&relay], &["--public", "yes"]);
    let other = Machine::new("cellar", &[&relay], &[]);
    pair(&seen, &other, &[]);
    other.hears(&seen);
    seen.hears(&other);
    until("the other reads that it is public", || other.sees(&seen)["is_public"] == true);
    assert_eq!(seen.sees(&other)["is_public"], false);
    let mut stranger = Stranger::at(&relay);
    let found = stranger.topic();
    let [event] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(event["pubkey"], seen.told(&["show"])["node"]);
    let whole = event.to_string();
    for secret in ["lighthouse", "cellar", FOLDER, relay.address()] {
        assert!(!whole.contains(secret), "{secret}: {whole}");
    }
    let said: Value = serde_json::from_str(event["content"].as_str().expect("words")).expect("JSON");
    let expires: i64 =
        event["tags"][2][1].as_str().and_then(|text| text.parse().ok()).expect("when it expires");
    assert_eq!(expires, said["until"].as_i64().expect("a time") / 1000);
    // A signed note of the log: its name, its size, its root, and the signature below.
    let note = said["head"].as_str().expect("a head");
    let size: u64 = note.lines().nth(1).and_then(|line| line.parse().ok()).expect("a size");
    assert!(size > 0 && note.contains("\n\n\u{2014} "), "{note}");
}
