//! A relay that floods, sends what is too large or nothing at all, breaks off, or never answers: it costs nothing but time.

use crate::sides::{LONG, Side, relays, side};
use socket::relay::OwnRelay;
use socket::{At, Came};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

/// A relay that does this with every connection, and how often it was connected to.
struct Relay {
    url: String,
    connections: Arc<AtomicU64>,
}

fn relay(with: impl Fn(TcpStream) + Send + Sync + 'static) -> Relay {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://{}/", listener.local_addr().unwrap());
    let (connections, with) = (Arc::new(AtomicU64::new(0)), Arc::new(with));
    let counted = Arc::clone(&connections);
    thread::spawn(move || {
        for tcp in listener.incoming().flatten() {
            counted.fetch_add(1, Ordering::SeqCst);
            let with = Arc::clone(&with);
            thread::spawn(move || with(tcp));
        }
    });
    Relay { url, connections }
}

/// The same, with a WebSocket that was agreed on.
fn speaking(with: impl Fn(WebSocket<TcpStream>) + Send + Sync + 'static) -> Relay {
    relay(move |tcp| {
        if let Ok(socket) = tungstenite::accept(tcp) {
            with(socket);
        }
    })
}

impl Relay {
    fn at(&self) -> At {
        At::Relay(self.url.clone())
    }

    fn keep(&self, secret: u8) -> Side {
        let side = side(secret);
        side.sockets.keep(&relays(&[&self.url]), &Default::default());
        side
    }

    /// Whether it is dialled again.
    fn is_dialled(&self, times: u64) -> bool {
        let end = Instant::now() + LONG;
        while self.connections.load(Ordering::SeqCst) < times && Instant::now() < end {
            thread::sleep(Duration::from_millis(10));
        }
        self.connections.load(Ordering::SeqCst) >= times
    }
}

/// Waits for the other side to end.
fn hold(mut tcp: &TcpStream) {
    let mut buffer = [0; 1024];
    while tcp.read(&mut buffer).is_ok_and(|read| read > 0) {}
}

#[test]
fn a_flood_stops_where_nobody_takes_it_and_goes_on_where_somebody_does() {
    let sent = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&sent);
    let relay = speaking(move |mut socket| {
        let words = "x".repeat(32 * 1024);
        while socket.send(Message::text(words.as_str())).is_ok() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    let one = relay.keep(1);
    // Nothing is taken: what is sent fills what lies between, and no more.
    let (mut last, mut same, end) = (0, 0, Instant::now() + LONG);
    while same < 20 && Instant::now() < end {
        thread::sleep(Duration::from_millis(25));
        let now = sent.load(Ordering::SeqCst);
        same = if now == last && now > 0 { same + 1 } else { 0 };
        last = now;
    }
    assert!(same >= 20 && last < 2_000, "{last}");
    // Other relays are heard meanwhile, and writing waits for nobody.
    let began = Instant::now();
    assert!((0..2_000).any(|_| !one.say(&relay.at(), "[]")));
    assert!(began.elapsed() < Duration::from_secs(2));
    assert_eq!(one.next(), Came::Open(relay.at()));
    for _ in 0..last + 50 {
        assert!(matches!(one.next(), Came::Bytes(..)));
    }
    assert!(sent.load(Ordering::SeqCst) > last);
    let began = Instant::now();
    drop(one.sockets);
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_frame_that_is_too_large_ends_the_connection_and_is_not_given_on() {
    for parts in [1_usize, 4] {
        let relay = speaking(move |mut socket| {
            let _ = socket.send(Message::text("x".repeat(160 * 1024)));
            // In parts, or in one.
            let mut head = vec![if parts == 1 { 0x81 } else { 0x01 }, 127];
            head.extend((64 * 1024_u64 * 4 / parts as u64).to_be_bytes());
            let tcp = socket.get_mut();
            for part in 0..parts {
                head[0] = if part == 0 { head[0] } else { 0x00 };
                let _ = tcp.write_all(&head).and_then(|()| tcp.write_all(&vec![b'y'; 256 * 1024 / parts]));
            }
            hold(tcp);
        });
        let one = relay.keep(1);
        assert_eq!(one.next(), Came::Open(relay.at()));
        assert!(matches!(one.next(), Came::Bytes(_, bytes) if bytes.len() == 160 * 1024));
        assert!(matches!(one.next(), Came::Shut(_, why) if why.contains("larger frame")));
        assert!(relay.is_dialled(2));
    }
}

#[test]
fn garbage_ends_the_connection_and_what_is_no_frame_of_text_is_passed_over() {
    let relay = speaking(|mut socket| {
        let _ = socket.send(Message::binary(vec![0xff_u8; 100]));
        let _ = socket.send(Message::text("no JSON"));
        let _ = socket.get_mut().write_all(&[0xff; 64]);
        hold(socket.get_ref());
    });
    let one = relay.keep(1);
    assert_eq!(one.next(), Came::Open(relay.at()));
    // What it means is for whoever reads it.
    assert!(matches!(one.next(), Came::Bytes(_, bytes) if bytes == b"no JSON"));
    assert!(matches!(one.next(), Came::Shut(..)));
    assert!(relay.is_dialled(2));
}

#[test]
fn who_closes_in_the_middle_of_a_frame_said_nothing() {
    let relay = speaking(|mut socket| {
        let _ = socket.send(Message::text("[1]"));
        let _ = socket.get_mut().write_all(&[0x81, 100, b'[', b'2', b']']);
    });
    let one = relay.keep(1);
    assert_eq!(one.next(), Came::Open(relay.at()));
    assert!(matches!(one.next(), Came::Bytes(_, bytes) if bytes == b"[1]"));
    assert!(matches!(one.next(), Came::Shut(..)));
    assert!(relay.is_dialled(2));
    assert!(matches!(one.next(), Came::Open(..)));
}

#[test]
fn who_never_answers_or_answers_otherwise_holds_up_nobody() {
    let silent = relay(|tcp| hold(&tcp));
    let page = relay(|mut tcp| {
        let _ = tcp.read(&mut [0; 4096]);
        let _ = tcp.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    });
    let elsewhere = relay(|mut tcp| {
        let _ = tcp.read(&mut [0; 4096]);
        let _ =
            tcp.write_all(b"HTTP/1.1 302 Found\r\nLocation: ws://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
    });
    let sound = OwnRelay::begin("127.0.0.1:0".parse().unwrap()).unwrap();
    let at = format!("ws://{}", sound.address());
    let one = side(1);
    let all = [silent.url.as_str(), &page.url, &elsewhere.url, &at, "ws://127.0.0.1:1/"];
    one.sockets.keep(&relays(&all), &Default::default());
    assert_eq!(one.next(), Came::Open(At::Relay(at)));
    for other in [&page, &elsewhere] {
        let why = one.why(&other.at(), |_, why| !why.is_empty());
        assert!(why.contains("does not open a WebSocket"), "{why}");
    }
    assert!(silent.is_dialled(1) && one.is_quiet(50));
    assert_eq!(one.sockets.stands().iter().filter(|(_, stands, _)| *stands).count(), 1);
    // One that never answers is let go at once when it is not wanted.
    let began = Instant::now();
    drop(one.sockets);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

#[test]
fn who_takes_nothing_of_what_is_written_is_left() {
    let relay = speaking(|socket| {
        thread::sleep(LONG * 2);
        drop(socket);
    });
    let one = relay.keep(1);
    assert_eq!(one.next(), Came::Open(relay.at()));
    let large = "x".repeat(100 * 1024);
    let end = Instant::now() + LONG;
    while one.say(&relay.at(), &large) || one.sockets.stands().iter().all(|(_, stands, _)| !*stands) {
        assert!(Instant::now() < end);
    }
    // It is full: what waits is bounded, and the end comes at once for whoever wants it.
    let began = Instant::now();
    one.sockets.keep(&relays(&[]), &Default::default());
    assert!(matches!(one.next(), Came::Shut(..)));
    assert!(began.elapsed() < Duration::from_secs(2));
}
