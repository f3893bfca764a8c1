//! A connection that is dead, however it pretends to live.

use super::*;
use crate::address::Whom;
use crate::{Came, Proves};
use std::io::Write as _;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

struct Nobody;

impl Proves for Nobody {
    fn challenge(&self) -> String {
        String::new()
    }

    fn answer(&self, _: &str, _: &str) -> Option<Vec<u8>> {
        None
    }

    fn check(&self, _: &str, _: &str, _: &[u8]) -> Option<String> {
        None
    }
}

fn alone() -> (Shared, Receiver<Came>) {
    let (came, taken) = sync_channel(4);
    (Shared::new(came, Arc::new(Nobody), Vec::new()), taken)
}

/// A connection to a server that does this with its end, of which life is wanted every so many milliseconds.
fn with(server: impl FnOnce(WebSocket<TcpStream>) + Send + 'static, beat: u64) -> (Talk, Handle) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = Url::parse(&format!("ws://{}/", listener.local_addr().unwrap())).unwrap();
    thread::spawn(move || {
        let (tcp, _) = listener.accept().unwrap();
        server(tungstenite::accept(tcp).unwrap());
    });
    let handle = Handle::new().unwrap();
    let reached = |tcp: &TcpStream| handle.reached(tcp);
    let terms = Terms { whom: Whom::Anybody, by_proxy: false, reached: &reached };
    let mut talk = Talk::dial(&url, &[], &terms, FRAME_BYTES_MAX).unwrap();
    (talk.beat, talk.answer) = (Duration::from_millis(beat), Duration::from_millis(beat));
    (talk, handle)
}

/// Why a connection ends within ten seconds, and after how many milliseconds.
fn ends(talk: &mut Talk, handle: &Handle, within: Duration) -> (&'static str, u128) {
    let (shared, _taken) = alone();
    let began = Instant::now();
    let why = talk.speak(&shared, handle, Some(began + within), |_| true);
    (why, began.elapsed().as_millis())
}

const LONG: Duration = Duration::from_secs(10);

#[test]
fn the_two_times_together_are_within_the_promise() {
    assert!(BEAT + ANSWER <= Duration::from_secs(90));
}

#[test]
fn who_answers_nothing_is_gone() {
    let hold = |socket: WebSocket<TcpStream>| {
        thread::sleep(LONG);
        drop(socket);
    };
    let (mut talk, handle) = with(hold, 60);
    let (why, took) = ends(&mut talk, &handle, LONG);
    assert_eq!(why, "it does not answer");
    assert!((120..8_000).contains(&took), "{took}");
}

#[test]
fn who_answers_is_kept() {
    let (mut talk, handle) = with(|mut socket| while socket.read().is_ok() {}, 300);
    let (why, took) = ends(&mut talk, &handle, Duration::from_millis(1_300));
    assert_eq!(why, ENDED);
    assert!(took >= 1_300, "{took}");
}

#[test]
fn a_frame_that_never_ends_is_no_sign_of_life() {
    let drip = |mut socket: WebSocket<TcpStream>| {
        let tcp = socket.get_mut();
        let mut said = tcp.write_all(&[0x81, 126, 0x40, 0x00]);
        while said.is_ok() {
            thread::sleep(Duration::from_millis(10));
            said = tcp.write_all(b"x");
        }
    };
    let (mut talk, handle) = with(drip, 100);
    let (why, took) = ends(&mut talk, &handle, LONG);
    assert_eq!(why, "it does not answer");
    assert!((200..8_000).contains(&took), "{took}");
}
