//! Whether a message waits for a person is told to the machine that took it in: again where that may have been lost, and heard once.

use crate::nodes::{NOW, One, relay, two};
use mesh::{Answer, Command, Delivered, Happened, NodeId, Step};
use model::UnixMs;
use seal::Digest;

fn message(number: u64) -> Digest {
    Digest::of(&number.to_be_bytes())
}

/// It is said at a machine whether a message of another one waits there.
fn says(by: &mut One, (to, number): (NodeId, u64), waits: bool, at: UnixMs) -> Step {
    let (conversation, message) = ("c".to_owned(), message(number));
    by.at(Happened::Said(Command::Waits { to, conversation, message, waits }), at)
}

/// What a machine hears by a step of another one: of which message, and whether it waits.
fn hears(one: &mut One, step: &Step, at: UnixMs) -> Vec<(Digest, bool)> {
    let mut heard = Vec::new();
    for (_, bytes) in &step.write {
        let came = one.at(Happened::Received { way: relay(), bytes: bytes.clone() }, at);
        heard.extend(came.deliver.into_iter().filter_map(|one| match one {
            Delivered::Waits { waits, .. } => Some((waits.message, waits.waits)),
            _ => None,
        }));
    }
    heard
}

#[test]
fn that_a_message_waits_is_told_until_it_is_heard_and_ends_with_its_answer() {
    let (mut one, mut other) = two();
    let (to, later) = (one.id, |seconds: i64| NOW.plus_ms(seconds * 1_000));
    let step = says(&mut other, (to, 1), true, NOW);
    assert_eq!(hears(&mut one, &step, NOW), [(message(1), true)]);
    let step = says(&mut other, (to, 1), true, later(1));
    assert_eq!(hears(&mut one, &step, later(1)), [], "it is known");

    // What is lost comes again, and what came is heard once.
    says(&mut other, (to, 2), true, later(2));
    let again = other.at(Happened::Tick, later(70));
    assert_eq!(hears(&mut one, &again, later(70)), [(message(2), true)]);
    let step = says(&mut other, (to, 1), false, later(71));
    assert_eq!(hears(&mut one, &step, later(71)), [(message(1), false)]);
    let step = says(&mut other, (to, 1), true, later(72));
    assert_eq!(hears(&mut one, &step, later(72)), [(message(1), true)], "it may wait again");

    // An answer is all there is to say then.
    for number in [1, 2] {
        let body = "done".to_owned();
        let answer = Answer { conversation: "c".to_owned(), answers: message(number), body, refused: false };
        other.at(Happened::Said(Command::Reply { to, answer }), later(73));
    }
    let again = other.at(Happened::Tick, later(10_000));
    let mut fresh = two().0;
    assert_eq!(hears(&mut fresh, &again, later(10_000)), []);
    // Nobody else is told.
    let stranger = NodeId(Digest::of(b"a stranger"));
    let waits =
        Command::Waits { to: stranger, conversation: "c".to_owned(), message: message(3), waits: true };
    assert!(other.node.handle(Happened::Said(waits), later(10_001), &mut other.chance).is_err());
}

/// A node that began anew does not know what it told before: what waited then and waits no more is told a few times.
#[test]
fn what_waits_no_more_is_told_by_a_machine_that_began_anew() {
    let (mut one, mut other) = two();
    let (to, later) = (one.id, |seconds: i64| NOW.plus_ms(seconds * 1_000));
    let step = says(&mut other, (to, 1), true, NOW);
    assert_eq!(hears(&mut one, &step, NOW), [(message(1), true)]);
    let mut anew = two().1;
    let step = says(&mut anew, (to, 1), false, later(5));
    assert_eq!(hears(&mut one, &step, later(5)), [(message(1), false)]);
    let mut again = 0;
    for hour in 1..20 {
        let at = later(hour * 3_600);
        let step = says(&mut anew, (to, 1), false, at);
        again += hears(&mut two().0, &step, at).len();
    }
    assert_eq!(again, 4, "five times in all, and then no more");
}

#[test]
fn of_one_machine_only_so_much_is_taken_in_within_an_hour() {
    let (mut one, mut other) = two();
    let to = one.id;
    let mut taken = 0;
    for number in 0..400 {
        let step = says(&mut other, (to, number), true, NOW);
        taken += hears(&mut one, &step, NOW).len();
    }
    assert_eq!(taken, 240);
    // After an hour it is heard again.
    let later = NOW.plus_ms(61 * 60_000);
    let step = says(&mut other, (to, 1_000), true, later);
    assert!(hears(&mut one, &step, later).contains(&(message(1_000), true)));
}

/// What is told no more, because it waits no more, makes room for a message that waits.
#[test]
fn a_message_that_waits_is_told_where_many_before_it_wait_no_more() {
    let (one, mut other) = two();
    let (to, later) = (one.id, |hours: i64| NOW.plus_ms(hours * 3_600_000));
    for number in 0..1_024 {
        says(&mut other, (to, number), true, NOW);
    }
    let told = |other: &mut One, number, waits, at| {
        let step = says(other, (to, number), waits, at);
        hears(&mut two().0, &step, at).contains(&(message(number), waits))
    };
    assert!(!told(&mut other, 2_000, true, NOW), "all of them wait, and there is room for no more");
    for number in 0..1_024 {
        says(&mut other, (to, number), false, later(1));
    }
    assert!(!told(&mut other, 2_000, true, later(1)), "it is still told that they wait no more");
    for hour in 2..20 {
        other.at(Happened::Tick, later(hour));
    }
    assert!(told(&mut other, 2_000, true, later(20)));
    assert!(!told(&mut other, 3_000, false, later(20)), "what waits no more takes no place");
    assert!(told(&mut other, 2_001, true, later(20)));
}
