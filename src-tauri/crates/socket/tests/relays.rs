//! Relays that keep to what is agreed: the own one, read and written by two, and one that goes away and comes back.

use crate::sides::{Drawn, LONG, Side, by_hand, key, now, relays, sealing, side};
use mesh::frame::{self, Frame};
use mesh::sealed::{NostrSealing, Sealing as _, WireEvent};
use mesh::{Happened, Node, NodeId, State, Way};
use serde_json::{Value, json};
use socket::relay::OwnRelay;
use socket::{At, Came};
use std::time::{Duration, Instant};

fn own() -> (OwnRelay, String) {
    let relay = OwnRelay::begin("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("ws://{}", relay.address());
    (relay, url)
}

/// Keeps a relay, and waits until it stands.
fn at(url: &str, secret: u8) -> (Side, At) {
    let (side, at) = (side(secret), At::Relay(url.to_owned()));
    side.sockets.keep(&relays(&[url]), &Default::default());
    assert_eq!(side.next(), Came::Open(at.clone()));
    (side, at)
}

fn node(secret: u8) -> NodeId {
    sealing(secret).node()
}

fn three_days_ago() -> i64 {
    now().0 / 1000 - 3 * 86_400
}

/// The next frame that says something.
fn frame_of(side: &Side) -> Frame {
    loop {
        let Came::Bytes(_, bytes) = side.next() else { panic!("it ended") };
        match frame::read(&bytes).unwrap() {
            Frame::Nothing => {}
            frame => return frame,
        }
    }
}

fn event_of(side: &Side) -> WireEvent {
    match frame_of(side) {
        Frame::Event(event) => *event,
        frame => panic!("{frame:?}"),
    }
}

fn is_taken(side: &Side, at: &At, event: &WireEvent) -> (bool, String) {
    assert!(side.sockets.write(at, frame::event(event)));
    match frame_of(side) {
        Frame::Ok { id, accepted, why } if id == event.id => (accepted, why),
        frame => panic!("{frame:?}"),
    }
}

#[test]
fn what_one_writes_another_reads_at_once_and_a_third_later() {
    let (_relay, url) = own();
    let ((one, at_one), (two, at_two)) = (at(&url, 1), at(&url, 2));
    assert!(two.sockets.write(&at_two, frame::subscribe(&[node(2)], three_days_ago())));
    // The end of what is kept tells that the subscription stands.
    two.until(|came| matches!(came, Came::Bytes(_, bytes) if bytes.starts_with(b"[\"EOSE\"")));
    let long = "words ".repeat(4_000);
    let wrap = sealing(1).wrap(node(2), &long, now(), &mut Drawn).unwrap();
    assert_eq!(is_taken(&one, &at_one, &wrap), (true, String::new()));
    let read = event_of(&two);
    let opened = sealing(2).open(&read).unwrap();
    assert_eq!((opened.from, opened.text), (node(1), long));
    // Whoever comes later gets it from memory, and whoever asks for somebody else's does not.
    let (late, at_late) = at(&url, 2);
    late.sockets.write(&at_late, frame::subscribe(&[node(3)], three_days_ago()));
    late.until(|came| matches!(came, Came::Bytes(_, bytes) if bytes.starts_with(b"[\"EOSE\"")));
    assert!(late.is_quiet(100));
    late.sockets.write(&at_late, frame::subscribe(&[node(2)], three_days_ago()));
    assert_eq!(event_of(&late), wrap);
    // A second time it is known.
    let (accepted, why) = is_taken(&one, &at_one, &wrap);
    assert!(accepted && why.starts_with("duplicate"), "{why}");
}

#[test]
fn the_own_relay_takes_what_machines_say_to_each_other_and_nothing_else() {
    let (_relay, url) = own();
    let (one, at_one) = at(&url, 1);
    let notice = sealing(1).sign("words", now()).unwrap();
    let (accepted, why) = is_taken(&one, &at_one, &notice);
    assert!(!accepted && why.contains("no events of this kind"), "{why}");
    // What nobody signed.
    let mut bent = sealing(1).wrap(node(2), "words", now(), &mut Drawn).unwrap();
    bent.sig = "0".repeat(128);
    let written = one.sockets.write(&at_one, frame::event(&bent));
    let heard = one.next();
    let is_refused = match &heard {
        Came::Bytes(_, bytes) => matches!(frame::read(bytes), Some(Frame::Ok { accepted: false, .. })),
        came => matches!(came, Came::Shut(..)),
    };
    assert!(written && is_refused, "{heard:?}");
}

#[test]
fn the_own_relay_lets_go_who_says_too_much_and_has_room_for_few_of_one_address() {
    let (relay, _) = own();
    let mut client = by_hand(relay.address()).unwrap();
    assert!(client.say(&json!(["REQ", "a", { "kinds": [1_059] }]).to_string()));
    assert!(client.hear().unwrap().starts_with("[\"EOSE\""));
    client.say(&"x".repeat(200 * 1024));
    assert_eq!(client.hear(), None);
    // What the library would keep for each of its questions is not asked.
    let mut client = by_hand(relay.address()).unwrap();
    client.say(&json!(["NEG-OPEN", "a", { "kinds": [1_059] }, "6100"]).to_string());
    assert_eq!(client.hear(), None);
    let end = Instant::now() + LONG;
    let mut clients = Vec::new();
    while clients.len() < 8 && Instant::now() < end {
        clients.extend(by_hand(relay.address()));
    }
    assert_eq!(clients.len(), 8);
    assert!(by_hand(relay.address()).is_none());
    // Those that are in are served.
    let last = clients.last_mut().unwrap();
    assert!(last.say(&json!(["REQ", "a", { "kinds": [1_059] }]).to_string()));
    assert!(last.hear().unwrap().starts_with("[\"EOSE\""));
}

#[test]
fn a_relay_that_died_is_told_once_and_dialled_until_it_is_back() {
    let (relay, url) = own();
    let address = relay.address();
    let (one, at_one) = at(&url, 1);
    drop(relay);
    assert!(matches!(one.next(), Came::Shut(at, _) if at == at_one));
    assert!(!one.say(&at_one, "[]"));
    assert!(!one.why(&at_one, |stands, why| !stands && why.contains("refused")).is_empty());
    assert!(one.is_quiet(50));
    let _relay = OwnRelay::begin(address).unwrap();
    assert_eq!(one.next(), Came::Open(at_one.clone()));
    assert!(one.sockets.write(&at_one, frame::subscribe(&[node(1)], 0)));
    one.until(|came| matches!(came, Came::Bytes(..)));
    // What is not named any more is dropped, and told.
    one.sockets.keep(&relays(&[]), &Default::default());
    assert!(matches!(one.next(), Came::Shut(at, _) if at == at_one));
    assert!(one.sockets.stands().is_empty());
    assert!(one.is_quiet(1_500));
}

#[test]
fn a_relay_that_somebody_else_named_is_not_looked_for_on_this_machine() {
    let (_relay, url) = own();
    let (one, at_one) = (side(1), At::Relay(url.clone()));
    one.sockets.only_public(&relays(&[&url]));
    one.sockets.keep(&relays(&[&url]), &Default::default());
    let why = one.why(&at_one, |_, why| !why.is_empty());
    assert!(why.contains("nobody here set it"), "{why}");
    assert!(one.is_quiet(50));
    // As soon as a person sets it, it is.
    one.sockets.only_public(&relays(&[]));
    assert_eq!(one.next(), Came::Open(at_one));
}

#[test]
fn everything_ends_within_two_seconds_when_it_is_dropped() {
    let (relay, url) = own();
    let (one, _) = at(&url, 1);
    one.listen();
    let mut client = by_hand(relay.address()).unwrap();
    let began = Instant::now();
    drop(one.sockets);
    drop(relay);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!(client.hear(), None);
}

#[test]
fn a_page_in_a_browser_opens_no_socket_here() {
    let (relay, _) = own();
    let one = side(1);
    for at in [relay.address(), one.listen()] {
        let open = |origin: Option<&str>| {
            let mut request =
                tungstenite::client::IntoClientRequest::into_client_request(format!("ws://{at}/")).unwrap();
            if let Some(origin) = origin {
                request.headers_mut().insert("origin", origin.parse().unwrap());
            }
            tungstenite::client(request, std::net::TcpStream::connect(at).unwrap()).is_ok()
        };
        assert!(open(None) && !open(Some("https://page.example")), "{at}");
    }
}

#[test]
fn the_frames_of_the_own_relay_are_those_of_the_protocol() {
    let (relay, _) = own();
    let mut client = by_hand(relay.address()).unwrap();
    client.say(&json!(["REQ", "a", { "kinds": [30_078], "authors": [key(1)] }]).to_string());
    assert_eq!(client.hear().unwrap(), json!(["EOSE", "a"]).to_string());
    let group = node(9);
    let presence = |words: &str, at| sealing(1).announce(group, words, at, &mut Drawn).unwrap();
    let (old, new) = (presence("old", now()), presence("new", model::UnixMs(now().0 + 2_000)));
    for event in [&old, &new] {
        client.say_bytes(frame::event(event));
        let said: Vec<Value> =
            (0..2).map(|_| serde_json::from_str(&client.hear().unwrap()).unwrap()).collect();
        // The event itself comes by the subscription, and what became of it beside it.
        assert!(said.iter().any(|said| said[0] == json!("EVENT") && said[2]["id"] == json!(event.id)));
        assert!(said.iter().any(|said| said[0] == json!("OK") && said[2] == json!(true)));
    }
    // Of a presence the newest stands.
    let mut late = by_hand(relay.address()).unwrap();
    late.say(&json!(["REQ", "b", { "kinds": [30_078] }]).to_string());
    let said: Value = serde_json::from_str(&late.hear().unwrap()).unwrap();
    assert_eq!(said[2]["id"], json!(new.id));
    assert_eq!(late.hear().unwrap(), json!(["EOSE", "b"]).to_string());
}

/// What a node of the mesh does with a relay, until it has nothing more to say.
fn does(node: &mut Node<NostrSealing>, what: Happened, (side, at): (&Side, &At)) {
    let step = node.handle(what, now(), &mut Drawn).unwrap();
    for (way, bytes) in step.write {
        assert_eq!(way, Way::Relay(url_of(at)));
        assert!(side.sockets.write(at, bytes));
    }
}

fn url_of(at: &At) -> String {
    match at {
        At::Relay(url) => url.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_relay_that_asks_who_is_there_gives_a_node_what_it_keeps_once_it_is_told_and_a_stranger_nothing() {
    let relay = OwnRelay::begin_asking("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("ws://{}", relay.address());
    let (stranger, at_stranger) = at(&url, 3);
    let wrap = sealing(3).wrap(node(1), "words", now(), &mut Drawn).unwrap();
    assert!(stranger.sockets.write(&at_stranger, frame::event(&wrap)));
    assert!(matches!(frame_of(&stranger), Frame::Asks(_)));
    assert!(matches!(frame_of(&stranger), Frame::Ok { accepted: false, .. }));
    let (side, at) = at(&url, 1);
    let mut one = Node::new(sealing(1), State::new(node(1)), now());
    let relays = vec![url.clone()];
    let tell = mesh::Command::Tell { can: mesh::Capabilities::default(), load: 0, relays };
    does(&mut one, Happened::Said(tell), (&side, &at));
    does(&mut one, Happened::Up(Way::Relay(url.clone())), (&side, &at));
    let end = Instant::now() + LONG;
    // Refused first, then asked, then told, and then subscribed.
    loop {
        assert!(Instant::now() < end, "it does not come to read");
        let Came::Bytes(_, bytes) = side.next() else { panic!("it ended") };
        if bytes.starts_with(b"[\"EOSE\"") {
            break;
        }
        does(&mut one, Happened::Received { way: Way::Relay(url.clone()), bytes }, (&side, &at));
    }
    // Whoever proved a key may write.
    let challenge = {
        assert!(stranger.sockets.write(&at_stranger, frame::event(&wrap)));
        match frame_of(&stranger) {
            Frame::Asks(challenge) => challenge,
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(frame_of(&stranger), Frame::Ok { accepted: false, .. }));
    let tags = vec![vec!["relay".to_owned(), url.clone()], vec!["challenge".to_owned(), challenge]];
    let proof = sealing(3).sign_open(mesh::direct::PROOF_KIND, tags, "", now()).unwrap();
    assert!(stranger.sockets.write(&at_stranger, frame::proof(&proof)));
    assert!(matches!(frame_of(&stranger), Frame::Ok { accepted: true, .. }));
    assert_eq!(is_taken(&stranger, &at_stranger, &wrap), (true, String::new()));
    assert_eq!(event_of(&side), wrap);
}
