//! Sockets between two machines: nothing is heard before a proof, and one stands for each.

use crate::sides::{ByHand, Drawn, by_hand, bytes, key, nodes, now, of, relays, sealing, side};
use mesh::direct;
use serde_json::json;
use socket::Came;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn two_that_know_each_other_speak_in_frames_of_full_size_until_one_ends() {
    let (one, two) = (side(1), side(2));
    one.admit(&[2]);
    let at = one.listen();
    two.listen();
    two.sockets.keep(&relays(&[]), &nodes(&[(1, at)]));
    assert_eq!((one.next(), two.next()), (Came::Open(of(2)), Came::Open(of(1))));
    assert_eq!(one.sockets.stands(), [(of(2), true, None::<String>)]);
    let large = format!("[\"{}\"]", "x".repeat(150 * 1024));
    assert!(one.say(&of(2), "[1]") && one.say(&of(2), &large) && two.say(&of(1), &large));
    assert_eq!((two.next(), two.next()), (bytes(&of(1), "[1]"), bytes(&of(1), &large)));
    assert_eq!(one.next(), bytes(&of(2), &large));
    assert!(!one.say(&of(3), "[1]") && !one.say(&of(2), &"x".repeat(160 * 1024 + 1)));
    assert!(!one.sockets.write(&of(2), vec![0xff]) && one.is_quiet(50));
    drop(two.sockets);
    assert!(matches!(one.next(), Came::Shut(at, _) if at == of(2)));
    assert!(!one.say(&of(2), "[1]") && one.sockets.stands().is_empty());
}

#[test]
fn who_is_kept_no_more_is_ended_and_not_let_in_again() {
    let (one, two) = (side(1), side(2));
    one.admit(&[2]);
    let at = one.listen();
    two.listen();
    two.sockets.keep(&relays(&[]), &nodes(&[(1, at)]));
    assert_eq!((one.next(), two.next()), (Came::Open(of(2)), Came::Open(of(1))));
    one.admit(&[]);
    assert!(matches!((one.next(), two.next()), (Came::Shut(..), Came::Shut(..))));
    two.why(&of(1), |stands, _| !stands);
    assert!(one.is_quiet(1_600) && two.is_quiet(50));
    // Nor does anybody dial whom nobody names.
    two.sockets.keep(&relays(&[]), &nodes(&[]));
    one.admit(&[2]);
    assert!(one.is_quiet(1_600));
}

/// Proves a key that it has, and does not see whether it is answered.
fn begin(hand: &mut ByHand, secret: u8) -> (String, Vec<u8>) {
    let theirs = hand.challenge();
    let own = direct::challenge(&mut Drawn);
    let proof = direct::answer(&sealing(secret), &theirs, &hand.place(), now()).unwrap();
    hand.say(&json!(["AUTH", own]).to_string());
    (own, proof)
}

#[test]
fn a_stranger_is_refused_and_learns_neither_key_nor_signature() {
    let one = side(1);
    one.admit(&[2]);
    let at = one.listen();
    // Who proves another key than one that is kept, and who proves this machine's own by its own words.
    let mut stranger = by_hand(at).unwrap();
    let (_, proof) = begin(&mut stranger, 3);
    stranger.say_bytes(proof);
    assert_eq!(stranger.hear(), None);
    // Who says something else, in the form of a proof or before one.
    for words in ["[\"AUTH\",{}]", "[\"EVENT\",{}]", "[]", "no JSON", "[\"AUTH\",\"a\"]"] {
        let mut stranger = by_hand(at).unwrap();
        begin(&mut stranger, 2);
        stranger.say(words);
        assert_eq!(stranger.hear(), None, "{words}");
    }
    // Who proves a key before giving anything to be signed.
    let mut stranger = by_hand(at).unwrap();
    let theirs = stranger.challenge();
    stranger.say_bytes(direct::answer(&sealing(2), &theirs, &stranger.place(), now()).unwrap());
    assert_eq!(stranger.hear(), None);
    assert!(one.is_quiet(50));
}

/// Hands on every byte between whoever connects here and a machine that listens elsewhere.
fn relaying(to: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = listener.local_addr().unwrap();
    let hand_on = |mut from: TcpStream, mut into: TcpStream| {
        let _ = std::io::copy(&mut from, &mut into);
        let _ = into.shutdown(Shutdown::Both);
    };
    thread::spawn(move || {
        for from in listener.incoming().map_while(Result::ok) {
            let Ok(into) = TcpStream::connect(to) else { return };
            let (back_from, back_into) = (into.try_clone().unwrap(), from.try_clone().unwrap());
            thread::spawn(move || hand_on(from, into));
            thread::spawn(move || hand_on(back_from, back_into));
        }
    });
    here
}

#[test]
fn whoever_stands_between_two_machines_at_another_place_and_hands_on_what_both_say_is_none_of_them() {
    let (one, two) = (side(1), side(2));
    one.admit(&[2]);
    let at = one.listen();
    two.listen();
    two.sockets.keep(&relays(&[]), &nodes(&[(1, relaying(at))]));
    let why = two.why(&of(1), |_, why| !why.is_empty());
    assert!(one.is_quiet(50) && two.is_quiet(50), "neither takes the other's proof: {why}");
    // The very same words at the place of the machine itself open a socket.
    two.sockets.keep(&relays(&[]), &nodes(&[(1, at)]));
    assert_eq!((one.next(), two.next()), (Came::Open(of(2)), Came::Open(of(1))));
}

#[test]
fn a_proof_that_somebody_kept_opens_nothing() {
    let one = side(1);
    one.admit(&[2]);
    let at = one.listen();
    let mut first = by_hand(at).unwrap();
    let (own, proof) = begin(&mut first, 2);
    first.say_bytes(proof.clone());
    let answered = first.hear().unwrap();
    assert_eq!(direct::check(&own, &first.place(), answered.as_bytes(), now()).unwrap().to_string(), key(1));
    assert_eq!(one.next(), Came::Open(of(2)));
    let mut second = by_hand(at).unwrap();
    begin(&mut second, 2);
    second.say_bytes(proof);
    assert_eq!(second.hear(), None);
    // The one that stands goes on.
    assert!(first.say("[1]") && one.next() == bytes(&of(2), "[1]"));
}

#[test]
fn a_newer_socket_takes_the_place_of_the_older_one_when_it_proved_its_key_and_not_before() {
    let one = side(1);
    one.admit(&[2]);
    let at = one.listen();
    let mut first = by_hand(at).unwrap();
    assert!(first.prove(2, 1));
    assert_eq!(one.next(), Came::Open(of(2)));
    let mut second = by_hand(at).unwrap();
    let (_, proof) = begin(&mut second, 2);
    assert!(one.is_quiet(100) && first.say("[1]") && one.next() == bytes(&of(2), "[1]"));
    second.say_bytes(proof);
    assert!(matches!(one.next(), Came::Shut(at, why) if at == of(2) && why.contains("took its place")));
    assert_eq!(one.next(), Came::Open(of(2)));
    assert!(second.hear().is_some());
    assert_eq!(first.hear(), None);
    // What the former one still tells of itself is not taken for the end of the newer one.
    assert!(one.is_quiet(100) && one.say(&of(2), "[2]"));
    assert_eq!(second.hear().as_deref(), Some("[2]"));
    assert!(second.say("[3]") && one.next() == bytes(&of(2), "[3]"));
}

#[test]
fn who_answers_at_an_address_has_to_be_the_machine_that_was_named() {
    let (one, two) = (side(1), side(2));
    one.admit(&[2]);
    let at = one.listen();
    two.listen();
    // The address of node 3, somebody says, is this.
    two.sockets.keep(&relays(&[]), &nodes(&[(3, at)]));
    let why = two.why(&of(3), |_, why| !why.is_empty());
    assert!(why.contains("another machine answers there"), "{why}");
    assert!(two.is_quiet(50));
}

#[test]
fn an_address_of_this_machine_is_dialled_only_where_this_machine_has_one() {
    let (one, two) = (side(1), side(2));
    one.admit(&[2]);
    let at = one.listen();
    two.sockets.keep(&relays(&[]), &nodes(&[(1, at)]));
    let why = two.why(&of(1), |_, why| !why.is_empty());
    assert!(why.contains("nobody here set it"), "{why}");
    two.listen();
    assert_eq!((two.next(), one.next()), (Came::Open(of(1)), Came::Open(of(2))));
}

#[test]
fn two_that_dial_each_other_keep_one_socket() {
    let (one, two) = (side(1), side(2));
    let (at_one, at_two) = (one.listen(), two.listen());
    one.sockets.keep(&relays(&[]), &nodes(&[(2, at_two)]));
    two.sockets.keep(&relays(&[]), &nodes(&[(1, at_one)]));
    // Whichever came first, in the end both have the same one.
    let end = Instant::now() + Duration::from_secs(12);
    let mut is_there = false;
    while !is_there && Instant::now() < end {
        while one.came.recv_timeout(Duration::from_millis(700)).is_ok() {}
        while two.came.try_recv().is_ok() {}
        is_there = one.say(&of(2), "[\"one\"]")
            && two.say(&of(1), "[\"two\"]")
            && two.came.recv_timeout(Duration::from_secs(1)) == Ok(bytes(&of(1), "[\"one\"]"))
            && one.came.recv_timeout(Duration::from_secs(1)) == Ok(bytes(&of(2), "[\"two\"]"));
    }
    assert!(is_there && one.is_quiet(500) && two.is_quiet(50));
    let stands =
        |side: &crate::sides::Side| side.sockets.stands().iter().filter(|(_, stands, _)| *stands).count();
    assert_eq!((stands(&one), stands(&two)), (1, 1));
}

#[test]
fn a_listener_moves_and_ends_and_what_came_by_it_goes_on() {
    let one = side(1);
    one.admit(&[2]);
    let at = one.listen();
    let anywhere = "127.0.0.1:0".parse().unwrap();
    assert_eq!(one.sockets.listen(Some(anywhere)).unwrap(), Some(at));
    let mut first = by_hand(at).unwrap();
    assert!(first.prove(2, 1));
    assert_eq!(one.next(), Came::Open(of(2)));
    assert_eq!(one.sockets.listen(None).unwrap(), None);
    assert!(TcpStream::connect(at).is_err());
    assert!(first.say("[1]") && one.next() == bytes(&of(2), "[1]"));
    // The place is free, and one that is taken is told.
    assert_eq!(one.sockets.listen(Some(at)).unwrap(), Some(at));
    assert!(side(3).sockets.listen(Some(at)).unwrap_err().why().contains("in use"));
}
