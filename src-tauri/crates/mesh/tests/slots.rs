//! Who holds a schedule and can run it, whose start of a slot counts, and what of it is let go of.

use crate::nodes::{NOW, One, relay, two};
use crate::put_back::{after, talk};
use mesh::{CLAIMS_KEPT, Command, Delivered, Happened, NodeId, STARTS_KEPT, Schedule, State, Step};
use model::UnixMs;
use seal::Digest;
use std::collections::BTreeMap;

const MINUTE: i64 = 60_000;

fn schedule(version: u64, ranks: &[NodeId]) -> Command {
    Command::Schedule(Schedule {
        schedule: "s".to_owned(),
        version,
        sha256: Digest::ZERO,
        ranks: ranks.to_vec(),
        term_ms: 2 * MINUTE,
    })
}

fn ready(is_ready: bool) -> Command {
    Command::Ready { schedule: "s".to_owned(), sha256: Digest::ZERO, is_ready }
}

fn due(slot: u64) -> Command {
    Command::Due { schedule: "s".to_owned(), slot: slot.to_string() }
}

fn says(one: &mut One, command: Command, now: UnixMs) -> Step {
    one.at(Happened::Said(command), now)
}

fn starts(step: &Step) -> Vec<&str> {
    let started = step.deliver.iter().filter_map(|delivered| match delivered {
        Delivered::Start { slot, .. } => Some(slot.as_str()),
        _ => None,
    });
    started.collect()
}

/// Two machines that can both run the schedule; the first one goes first, and holds it.
fn held() -> (One, One) {
    let (mut one, mut other) = two();
    let ranks = [one.id, other.id];
    says(&mut one, schedule(1, &ranks), NOW);
    says(&mut one, ready(true), NOW);
    talk(&mut one, &mut other, after(1));
    says(&mut other, ready(true), after(1));
    talk(&mut one, &mut other, after(2));
    for node in [&one, &other] {
        assert_eq!(node.node.state().lease("s").unwrap().holder, one.id);
    }
    (one, other)
}

#[test]
fn a_slot_begins_at_its_holder_alone_and_both_know_it() {
    let (mut one, mut other) = held();
    assert_eq!(says(&mut other, due(7), after(3)).facts, [], "it is another's to begin");
    assert_eq!(starts(&says(&mut one, due(7), after(3))), ["7"]);
    assert_eq!(starts(&says(&mut one, due(7), after(3))), Vec::<&str>::new(), "once");
    talk(&mut one, &mut other, after(4));
    for node in [&one, &other] {
        let began = node.node.state().began("s", "7").unwrap();
        assert_eq!((began.by, began.epoch), (one.id, 1));
        assert_eq!(node.node.state().begun("s"), BTreeMap::from([("7", began)]));
    }
}

#[test]
fn a_holder_that_cannot_run_it_any_more_gives_it_to_the_next_and_takes_it_back() {
    let (mut one, mut other) = held();
    says(&mut one, ready(false), after(3));
    talk(&mut one, &mut other, after(4));
    assert_eq!(other.node.state().lease("s").unwrap().holder, other.id);
    // It begins once it hears that nobody knows more than it does.
    talk(&mut one, &mut other, after(5));
    assert_eq!(starts(&says(&mut other, due(8), after(5))), ["8"]);
    talk(&mut one, &mut other, after(6));
    assert_eq!(starts(&says(&mut one, due(8), after(6))), Vec::<&str>::new());
    says(&mut one, ready(true), after(7));
    for minute in 8..11 {
        talk(&mut one, &mut other, after(minute));
    }
    assert_eq!(other.node.state().lease("s").unwrap().holder, one.id, "the first of all goes first again");
}

#[test]
fn a_holder_that_was_off_listens_before_it_begins_what_another_may_have_begun() {
    let (mut one, mut other) = held();
    // It is off; the other takes over, and begins what came due.
    let mut took = None;
    for minute in 3..20 {
        let step = other.at(Happened::Tick, after(minute));
        if step.deliver.iter().any(|one| matches!(one, Delivered::Holds { .. })) {
            took = Some(minute);
            break;
        }
    }
    let took = took.unwrap();
    assert!(took > 2 + 2 + 5, "after its term and the largest difference of clocks: {took}");
    assert_eq!(starts(&says(&mut other, due(9), after(took))), ["9"]);
    // Back, it says at once that the slot is due. It believes that it holds the schedule, and hears otherwise.
    let now = after(took + 1);
    assert_eq!(starts(&says(&mut one, due(9), now)), Vec::<&str>::new());
    talk(&mut one, &mut other, now);
    talk(&mut one, &mut other, after(took + 2));
    assert_eq!(one.node.state().began("s", "9").unwrap().by, other.id);
    assert_eq!(starts(&says(&mut one, due(9), after(took + 3))), Vec::<&str>::new());
}

#[test]
fn a_holder_that_is_cut_off_begins_nothing_and_listens_when_it_is_back() {
    let half = |minutes: i64| NOW.plus_ms(minutes * MINUTE / 2);
    let (mut one, mut other) = held();
    one.at(Happened::Down(relay()), half(6));
    let mut took = None;
    for at in 7..40 {
        one.at(Happened::Tick, half(at));
        assert_eq!(starts(&says(&mut one, due(9), half(at))), Vec::<&str>::new(), "nobody could hear of it");
        let step = other.at(Happened::Tick, half(at));
        if step.deliver.iter().any(|one| matches!(one, Delivered::Holds { .. })) {
            took = Some(at);
            break;
        }
    }
    let took = took.unwrap();
    assert_eq!(starts(&says(&mut other, due(9), half(took))), ["9"]);
    // Back, it believes that it holds the schedule, and knows of no start yet.
    one.at(Happened::Tick, half(took + 1));
    one.at(Happened::Up(relay()), half(took + 2));
    assert_eq!(starts(&says(&mut one, due(9), half(took + 2))), Vec::<&str>::new());
    talk(&mut one, &mut other, half(took + 2));
    talk(&mut one, &mut other, half(took + 4));
    assert_eq!(one.node.state().began("s", "9").unwrap().by, other.id);
    assert_eq!(starts(&says(&mut one, due(9), half(took + 6))), Vec::<&str>::new());

    // Where nobody else is there either, it is late, and not lost.
    let (mut one, _) = held();
    one.at(Happened::Down(relay()), half(6));
    assert_eq!(starts(&says(&mut one, due(8), half(6))), Vec::<&str>::new());
    one.at(Happened::Up(relay()), half(7));
    for at in 8..12 {
        one.at(Happened::Tick, half(at));
    }
    assert_eq!(starts(&says(&mut one, due(8), half(11))), ["8"]);

    // A relay that hangs up again and again keeps nothing from beginning.
    let (mut one, _) = held();
    for at in 5..12 {
        one.at(Happened::Tick, half(at));
        one.at(Happened::Down(relay()), half(at));
        one.at(Happened::Up(relay()), half(at));
    }
    assert_eq!(starts(&says(&mut one, due(8), half(11))), ["8"]);
}

#[test]
fn of_two_statements_of_one_version_all_find_the_same_and_a_withdrawn_machine_states_nothing() {
    let (mut one, mut other) = two();
    let (first, second) = (one.id, other.id);
    says(&mut one, schedule(1, &[first]), NOW);
    says(&mut other, schedule(1, &[second, first]), NOW);
    talk(&mut one, &mut other, after(1));
    assert_eq!(one.node.state().schedule("s"), other.node.state().schedule("s"));
    says(&mut other, schedule(9, &[second]), after(2));
    talk(&mut one, &mut other, after(3));
    assert_eq!(one.node.state().schedule("s").unwrap().version, 9);
    says(&mut one, Command::Withdraw(second), after(4));
    let known = one.node.state().schedule("s").unwrap();
    assert_eq!((known.version, known.ranks.as_slice()), (1, [first].as_slice()));
}

/// Starts and claims of three makers reach two nodes in two orders; both let go of the oldest, at different times.
#[test]
fn what_is_let_go_of_is_the_same_whatever_came_first() {
    let (mut reader, mut second) = (One::new(1, &[2, 3]), One::new(4, &[2, 3]));
    let (mut maker, mut later) = (One::new(2, &[1, 3]), One::new(3, &[1, 2]));
    for node in [&mut reader, &mut second, &mut maker, &mut later] {
        node.does(Happened::Up(relay()));
    }
    let (by_maker, by_later) = (maker.id, later.id);
    let mut told = [Vec::new(), Vec::new()];
    let slots = u64::try_from(STARTS_KEPT).unwrap() + 40;
    for (at, node) in [(0, &mut maker), (1, &mut later)] {
        let first = if at == 0 { by_maker } else { by_later };
        // Each knows of itself alone, and holds what it began.
        told[at].push(says(node, schedule(1, &[by_maker, by_later]), NOW));
        told[at].push(says(node, schedule(2 + at as u64, &[first]), NOW));
        told[at].push(says(node, ready(true), NOW));
        for slot in 95..95 + slots {
            told[at].push(says(node, due(slot), after(3)));
        }
        told[at].push(says(node, schedule(4, &[by_maker, by_later]), after(3)));
    }
    for step in told.iter().flatten() {
        reader.hears(step);
    }
    for at in 0..told[0].len().max(told[1].len()) {
        for of in told.iter().rev() {
            if let Some(step) = of.get(at) {
                second.hears(step);
            }
        }
    }
    let (reader, second) = (reader.node.state(), second.node.state());
    let begun = reader.begun("s");
    assert_eq!(begun, second.begun("s"));
    assert_eq!(begun.len(), STARTS_KEPT);
    assert!(!begun.contains_key("95") && begun.contains_key(&*(94 + slots).to_string()), "the newest stay");
    assert_eq!(reader.began("s", "1000"), second.began("s", "1000"));
}

#[test]
fn claims_of_one_machine_push_out_its_own_oldest_and_nobody_elses() {
    let (mut one, mut other) = two();
    let take = || Command::Take { conversation: "t".to_owned() };
    let owner = |node: &One| node.node.state().owner("t").unwrap();
    let told = says(&mut one, take(), NOW);
    other.hears(&told);
    let rounds = u64::try_from(CLAIMS_KEPT).unwrap() + 10;
    for _ in 0..rounds {
        let told = says(&mut other, take(), NOW);
        one.hears(&told);
        let told = says(&mut one, take(), NOW);
        other.hears(&told);
    }
    assert_eq!(owner(&one), owner(&other));
    let (last, by) = owner(&one);
    assert_eq!((last, by), (2 * rounds + 1, one.id));
    for node in [&one, &other] {
        let state = node.node.state();
        assert!(state.counts("t", last - 1, other.id) && state.counts("t", last, one.id));
        assert!(!state.counts("t", 2, other.id), "it is not known any more");
        assert_eq!(&State::fold(node.id, &node.facts), state, "invariant 1");
    }
}
