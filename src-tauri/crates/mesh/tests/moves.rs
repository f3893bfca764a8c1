//! A machine that says in each presence that it reads elsewhere: it is believed, and recorded now and then.

use crate::nodes::{NOW, One, relay, two};
use mesh::{Capabilities, Command, Fact, Happened, MOVES_MAX, MOVES_MS, RELAY_BYTES_MAX, State, Step};

const MINUTE: i64 = 60_000;

fn elsewhere(at: usize) -> Vec<String> {
    vec!["wss://relay.example".to_owned(), format!("wss://relay-{at}.example")]
}

fn tells(one: &mut One, relays: Vec<String>, minute: i64) -> Step {
    let tell = Command::Tell { can: Capabilities::default(), load: 0, relays };
    one.at(Happened::Said(tell), NOW.plus_ms(minute * MINUTE))
}

fn moves(one: &mut One, heard: Step, minute: i64) -> Vec<Vec<String>> {
    let frames = heard.write.into_iter().map(|(_, bytes)| Happened::Received { way: relay(), bytes });
    let mut facts = Vec::new();
    for input in frames.chain([Happened::Tick]).collect::<Vec<_>>() {
        facts.extend(one.at(input, NOW.plus_ms(minute * MINUTE)).facts);
    }
    let moved = facts.into_iter().filter_map(|fact| match fact {
        Fact::Moved { relays, .. } => Some(relays),
        _ => None,
    });
    moved.collect()
}

#[test]
fn a_machine_that_moves_all_the_time_is_recorded_a_few_times_an_hour_and_believed_at_once() {
    let (mut one, mut other) = two();
    let mut recorded = Vec::new();
    for minute in 1..=20 {
        let told = tells(&mut other, elsewhere(usize::try_from(minute).unwrap()), minute);
        recorded.extend(moves(&mut one, told, minute));
        let newest = format!("wss://relay-{minute}.example");
        assert!(one.node.relays().contains(&newest), "{minute}");
    }
    assert_eq!(recorded, (1..=MOVES_MAX).map(elsewhere).collect::<Vec<_>>());
    let of = |one: &One| one.node.state().peer(other.id).unwrap().relays.clone();
    assert_eq!(of(&one), elsewhere(MOVES_MAX));
    // The hour is over: the newest of them is recorded.
    let hour = MOVES_MS / MINUTE + 1;
    assert_eq!(moves(&mut one, Step::default(), hour), [elsewhere(20)]);
    assert_eq!(of(&one), elsewhere(20));
    assert_eq!(moves(&mut one, Step::default(), hour), Vec::<Vec<String>>::new());
    assert_eq!(&State::fold(one.id, &one.facts), one.node.state(), "invariant 1");
}

#[test]
fn one_that_comes_back_to_where_it_was_recorded_moved_nowhere() {
    let (mut one, mut other) = two();
    for minute in 1..=6 {
        let told = tells(&mut other, elsewhere(usize::try_from(minute).unwrap()), minute);
        moves(&mut one, told, minute);
    }
    let told = tells(&mut other, elsewhere(MOVES_MAX), 7);
    assert_eq!(moves(&mut one, told, 7), Vec::<Vec<String>>::new());
    assert!(!one.node.relays().contains("wss://relay-6.example"));
    assert_eq!(moves(&mut one, Step::default(), 90), Vec::<Vec<String>>::new());
}

#[test]
fn a_name_of_a_relay_is_short() {
    let (_, mut other) = two();
    let relays = vec!["r".repeat(RELAY_BYTES_MAX + 1)];
    let tell = Happened::Said(Command::Tell { can: Capabilities::default(), load: 0, relays });
    assert!(other.node.handle(tell, NOW, &mut other.chance).is_err());
}
