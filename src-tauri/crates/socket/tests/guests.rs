//! Those who prove nothing: heard only while they are welcome, few, and in small frames.

use crate::sides::{LONG, by_hand, of, side};
use socket::Came;
use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

#[test]
fn a_guest_is_heard_only_while_guests_are_welcome() {
    let one = side(1);
    let at = one.listen();
    let mut early = by_hand(at).unwrap();
    early.challenge();
    early.say("[\"hello\"]");
    assert_eq!(early.hear(), None);
    one.sockets.accept_guests(true);
    let mut guest = by_hand(at).unwrap();
    guest.challenge();
    guest.say("[\"hello\"]");
    let Came::Guest(number, words) = one.next() else { panic!("no guest") };
    assert_eq!(words, b"[\"hello\"]");
    guest.say("[\"more\"]");
    assert_eq!(one.next(), Came::Guest(number, b"[\"more\"]".to_vec()));
    assert!(one.sockets.write_guest(number, b"[\"well\"]".to_vec()));
    assert_eq!(guest.hear().as_deref(), Some("[\"well\"]"));
    assert!(!one.sockets.write_guest(number + 1, b"[]".to_vec()));
    one.sockets.accept_guests(false);
    assert_eq!(guest.hear(), None);
    guest.say("[\"late\"]");
    assert!(one.is_quiet(100) && !one.sockets.write_guest(number, b"[]".to_vec()));
}

#[test]
fn a_guest_speaks_in_small_frames_and_is_ended_by_whoever_hears_it() {
    let one = side(1);
    one.sockets.accept_guests(true);
    let at = one.listen();
    let mut guest = by_hand(at).unwrap();
    guest.challenge();
    guest.say(&"x".repeat(16 * 1024));
    assert!(matches!(one.next(), Came::Guest(_, words) if words.len() == 16 * 1024));
    guest.say(&"x".repeat(16 * 1024 + 1));
    assert_eq!(guest.hear(), None);
    let mut other = by_hand(at).unwrap();
    other.challenge();
    other.say("[]");
    let Came::Guest(number, _) = one.next() else { panic!("no guest") };
    one.sockets.hang_up_guest(number);
    assert_eq!(other.hear(), None);
    assert!(one.is_quiet(50));
}

#[test]
fn one_address_has_few_sockets_and_silence_holds_none_for_long() {
    let one = side(1);
    one.sockets.accept_guests(true);
    let at = one.listen();
    // They say nothing, so that the place of each is given away after ten seconds.
    let mut silent: Vec<TcpStream> = (0..4).map(|_| TcpStream::connect(at).unwrap()).collect();
    let began = Instant::now();
    let is_refused = || {
        let mut fifth = TcpStream::connect(at).unwrap();
        fifth.set_read_timeout(Some(LONG)).unwrap();
        fifth.read(&mut [0; 16]).is_ok_and(|read| read == 0)
    };
    assert!(is_refused() && began.elapsed() < Duration::from_secs(5));
    silent.iter_mut().for_each(|tcp| {
        tcp.set_read_timeout(Some(LONG)).unwrap();
        assert!(tcp.read(&mut [0; 16]).is_ok_and(|read| read == 0));
    });
    assert!((Duration::from_secs(9)..Duration::from_secs(14)).contains(&began.elapsed()));
    let mut guest = by_hand(at).unwrap();
    guest.challenge();
    assert!(guest.say("[]") && matches!(one.next(), Came::Guest(..)));
}

#[test]
fn a_machine_is_the_guest_of_another_that_shows_a_code() {
    let (shows, types) = (side(1), side(2));
    shows.sockets.accept_guests(true);
    let at = shows.listen();
    let guest = types.sockets.dial_guest(&at.to_string()).unwrap();
    assert!(types.sockets.write_guest(guest, b"[\"hello\"]".to_vec()));
    let Came::Guest(number, words) = shows.next() else { panic!("no guest") };
    assert_eq!(words, b"[\"hello\"]");
    assert!(shows.sockets.write_guest(number, b"[\"well\"]".to_vec()));
    // What asks for a proof is not given on.
    assert_eq!(types.next(), Came::Guest(guest, b"[\"well\"]".to_vec()));
    // It ends its own words alone.
    types.sockets.accept_guests(false);
    assert!(types.sockets.write_guest(guest, b"[\"more\"]".to_vec()));
    assert_eq!(shows.next(), Came::Guest(number, b"[\"more\"]".to_vec()));
    types.sockets.hang_up_guest(guest);
    let end = Instant::now() + LONG;
    while types.sockets.write_guest(guest, b"[]".to_vec())
        || shows.sockets.write_guest(number, b"[]".to_vec())
    {
        assert!(Instant::now() < end);
        std::thread::sleep(Duration::from_millis(5));
    }
    // A guest is no node: it has no socket of its own, and proves its key like everybody.
    assert!(!shows.say(&of(2), "[]") && shows.sockets.stands().is_empty());
    assert!(types.sockets.dial_guest("nowhere").is_err());
    // Where nobody listens the guest is gone as soon as that is known, and nobody waits for it.
    let none = types.sockets.dial_guest("127.0.0.1:1").unwrap();
    let end = Instant::now() + LONG;
    while types.sockets.write_guest(none, b"[]".to_vec()) {
        assert!(Instant::now() < end);
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_machine_that_never_answers_its_guest_is_not_waited_for() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let (types, began) = (side(1), Instant::now());
    let guest = types.sockets.dial_guest(&silent.local_addr().unwrap().to_string()).unwrap();
    assert!(began.elapsed() < Duration::from_millis(900), "nor for a moment");
    assert!(types.sockets.write_guest(guest, b"[]".to_vec()), "it is kept until somebody answers");
    types.sockets.hang_up_guest(guest);
    assert!(!types.sockets.write_guest(guest, b"[]".to_vec()));
    let began = Instant::now();
    drop(types.sockets);
    assert!(began.elapsed() < Duration::from_secs(2));
}
