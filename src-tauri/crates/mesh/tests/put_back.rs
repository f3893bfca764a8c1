//! Machines that were put back to an earlier state, were away for longer than notices are kept, slept, or missed a withdrawal.

use crate::fake::{Fake, Make as _};
use crate::nodes::{NOW, One, event_of, log_key, relay, two};
use mesh::sealed::Sealing as _;
use mesh::{
    Capabilities, Command, Delivered, FORMAT, GROUPS_KEPT, GroupSecret, Happened, Letter, NOTICES_KEPT, Node,
    Says, Schedule, State, Step, Way,
};
use model::UnixMs;
use seal::Digest;
use std::collections::BTreeSet;

const MINUTE: i64 = 60_000;

pub fn after(minutes: i64) -> UnixMs {
    NOW.plus_ms(minutes * MINUTE)
}

fn tell() -> Happened {
    let Way::Relay(url) = relay() else { panic!("a relay") };
    Happened::Said(Command::Tell { can: Capabilities::default(), load: 0, relays: vec![url] })
}

fn own(conversation: &str) -> Happened {
    Happened::Said(Command::Own { conversation: conversation.to_owned() })
}

fn route(envelope: &str) -> Happened {
    Happened::Said(Command::Route { conversation: "c".to_owned(), envelope: envelope.to_owned() })
}

/// The machine again, with the facts that it had at a time: its disk was put back.
pub fn put_back(one: &mut One, secret: u8, facts: usize, now: UnixMs) {
    one.facts.truncate(facts);
    let mut sealing = Fake::make([secret; 32]);
    sealing.add_group(Digest::of(b"group").as_bytes()).unwrap();
    one.node = Node::new(sealing, State::fold(one.id, &one.facts), now);
    one.at(Happened::Up(relay()), now);
}

/// Both say that they are here, and what follows from it until both are silent.
pub fn talk(one: &mut One, other: &mut One, now: UnixMs) -> [Vec<Delivered>; 2] {
    let mut delivered = [Vec::new(), Vec::new()];
    let mut steps = [one.at(tell(), now), other.at(tell(), now)];
    for _ in 0..40 {
        let [said, answered] = std::mem::take(&mut steps);
        if said.write.is_empty() && answered.write.is_empty() {
            break;
        }
        for (at, node, heard) in [(0, &mut *one, answered), (1, &mut *other, said)] {
            let inputs = heard.write.into_iter().map(|(way, bytes)| Happened::Received { way, bytes });
            for input in inputs.chain([Happened::Tick]) {
                let Step { write, deliver, .. } = node.at(input, now);
                delivered[at].extend(deliver);
                steps[at].write.extend(write);
            }
        }
    }
    delivered
}

#[test]
fn a_notice_of_a_machine_that_was_put_back_takes_the_place_of_none_and_is_told_anew() {
    let (mut one, mut other) = two();
    let before = other.facts.len();
    let told = other.does(own("d"));
    one.hears(&told);
    put_back(&mut other, 2, before, after(1));
    // It knows nothing of its second notice, and makes another second one.
    other.at(own("e"), after(1));
    let [at_one, at_other] = talk(&mut one, &mut other, after(2));
    let forked = Delivered::Forked { from: other.id, number: 2 };
    assert!(at_other.contains(&forked), "{at_other:?}");
    assert!(!at_one.contains(&Delivered::NoticesMissed { from: other.id, first: 1, last: 1 }));
    assert_eq!(other.node.state().owner("d"), Some((1, other.id)), "it has again what it told once");
    assert_eq!(other.node.state().owner("e"), None, "until it is told anew");
    for minute in 3..8 {
        talk(&mut one, &mut other, after(minute));
    }
    for node in [&one, &other] {
        assert_eq!(node.node.state().owner("e"), Some((1, other.id)));
        assert_eq!(node.node.state().owner("d"), Some((1, other.id)));
        assert_eq!(node.node.state().has()[&other.id].upto, 3);
        assert_eq!(&State::fold(node.id, &node.facts), node.node.state(), "invariant 1");
    }
    assert_eq!(one.node.state().has(), other.node.state().has());
}

#[test]
fn whoever_sees_the_collision_says_whose_it_is() {
    let (mut one, mut other) = two();
    let before = other.facts.len();
    let told = other.does(own("d"));
    one.hears(&told);
    put_back(&mut other, 2, before, after(1));
    let again = other.at(own("e"), after(1));
    assert!(one.hears(&again).deliver.contains(&Delivered::Forked { from: other.id, number: 2 }));
    assert_eq!(one.node.state().owner("e"), None, "the first that was told under a number counts");
}

#[test]
fn letters_of_a_machine_that_was_put_back_come_behind_those_it_forgot() {
    let (mut one, mut other) = two();
    let before = one.facts.len();
    let sent = one.does(route("forgotten"));
    assert_eq!(other.hears(&sent).deliver.len(), 1);
    put_back(&mut one, 1, before, after(1));
    one.at(route("new"), after(1));
    one.at(route("newer"), after(1));
    let [at_one, at_other] = talk(&mut one, &mut other, after(2));
    assert!(at_one.contains(&Delivered::PutBack { by: other.id }), "{at_one:?}");
    let given = at_other.iter().filter_map(|delivered| match delivered {
        Delivered::Input { input, .. } => Some(input.envelope.as_str()),
        _ => None,
    });
    assert_eq!(given.collect::<Vec<_>>(), ["new", "newer"]);
    talk(&mut one, &mut other, after(3));
    assert_eq!((one.node.state().waiting(), other.node.state().taken(one.id)), (0, 3));
}

#[test]
fn a_receiver_that_was_put_back_goes_on_and_says_what_it_missed() {
    let (mut one, mut other) = two();
    let before = other.facts.len();
    one.does(route("forgotten"));
    talk(&mut one, &mut other, after(1));
    assert_eq!(one.node.state().waiting(), 0);
    put_back(&mut other, 2, before, after(2));
    one.at(route("new"), after(2));
    let [_, at_other] = talk(&mut one, &mut other, after(3));
    assert!(at_other.contains(&Delivered::LettersMissed { from: one.id, first: 1, last: 1 }), "{at_other:?}");
    assert!(
        at_other.iter().any(|one| matches!(one, Delivered::Input { input, .. } if input.envelope == "new"))
    );
    talk(&mut one, &mut other, after(4));
    assert_eq!((one.node.state().waiting(), other.node.state().taken(one.id)), (0, 2));
}

#[test]
fn notices_are_kept_in_a_window_and_who_was_away_for_longer_has_what_still_counts() {
    let (mut away, mut maker) = (One::new(1, &[2]), One::new(2, &[1, 3]));
    let mut fresh = One::new(3, &[2]);
    for node in [&mut away, &mut maker, &mut fresh] {
        node.does(Happened::Up(relay()));
    }
    maker.does(own("c"));
    talk(&mut away, &mut maker, after(0));
    assert_eq!(away.node.state().has()[&maker.id].upto, 1);
    for _ in 0..3 * NOTICES_KEPT {
        maker.at(Happened::Said(Command::Receipts(Vec::new())), after(1));
    }
    let kept = u64::try_from(maker.node.state().notices(maker.id).len()).unwrap();
    assert!(kept <= NOTICES_KEPT, "{kept} are kept");
    let (last, was_away) = (maker.node.state().has()[&maker.id], away.id);
    for node in [&mut away, &mut fresh] {
        let mut delivered = Vec::new();
        for minute in 2..8 {
            let [more, _] = talk(node, &mut maker, after(minute));
            delivered.extend(more);
        }
        assert_eq!(node.node.state().has()[&maker.id], last);
        assert_eq!(node.node.state().owner("c"), Some((1, maker.id)), "it was told anew");
        let missed = delivered.iter().any(|one| matches!(one, Delivered::NoticesMissed { first: 2, .. }));
        assert_eq!(missed, node.id == was_away, "only who knew some missed some");
        assert_eq!(&State::fold(node.id, &node.facts), node.node.state(), "invariant 1");
    }
}

#[test]
fn who_missed_a_withdrawal_gives_the_new_group_to_nobody_that_it_keeps_out() {
    let (mut one, mut other) = (One::new(1, &[2, 3]), One::new(2, &[1, 3]));
    let mut stolen = One::new(3, &[1, 2]);
    for node in [&mut one, &mut other, &mut stolen] {
        node.does(Happened::Up(relay()));
        node.does(tell());
    }
    let mut withdraws = one.does(Happened::Said(Command::Withdraw(stolen.id)));
    // The relay lets the secret of the new group through, and not why there is one.
    let is_event = |bytes: &[u8]| bytes.starts_with(b"[\"EVENT\"");
    withdraws.write.retain(|(_, bytes)| is_event(bytes) && event_of(bytes).receiver() == Some(other.id));
    assert_eq!(withdraws.write.len(), 1);
    let heard = other.hears(&withdraws);
    assert!(other.node.state().is_peer(stolen.id) && heard.facts.len() == 1, "{heard:?}");
    let told = stolen.at(tell(), after(2));
    let answers = other.hears(&told);
    let to_it =
        |(_, bytes): &(Way, Vec<u8>)| is_event(bytes) && event_of(bytes).receiver() == Some(stolen.id);
    let groups = answers.write.iter().filter(|write| to_it(write));
    let texts: Vec<String> = groups.map(|(_, bytes)| event_of(bytes).content).collect();
    assert!(!texts.iter().any(|text| text.contains("\"kind\":\"group\"")), "{texts:?}");
}

#[test]
fn a_machine_that_slept_takes_nothing_over_when_it_wakes() {
    let (mut one, mut other) = two();
    let schedule = Schedule {
        schedule: "s".to_owned(),
        version: 1,
        sha256: Digest::ZERO,
        ranks: vec![other.id, one.id],
        term_ms: MINUTE,
    };
    let ready = || Command::Ready { schedule: "s".to_owned(), sha256: Digest::ZERO, is_ready: true };
    other.does(Happened::Said(Command::Schedule(schedule)));
    other.does(Happened::Said(ready()));
    talk(&mut one, &mut other, after(1));
    one.at(Happened::Said(ready()), after(1));
    assert_eq!(one.node.state().lease("s").unwrap().holder, other.id);
    let takes = |step: &Step| step.deliver.iter().any(|one| matches!(one, Delivered::Holds { .. }));
    let woke = one.at(Happened::Tick, after(600));
    assert!(!takes(&woke), "it heard nobody because it slept");
    // Where the other stays silent while it is awake, it does.
    assert!((601..615).any(|minute| takes(&one.at(Happened::Tick, after(minute)))));
}

#[test]
fn a_machine_that_gives_one_group_after_the_other_pushes_out_none_that_others_speak_to() {
    let (mut one, _) = two();
    let other = Fake::make([2; 32]);
    let gives = |one: &mut One, epoch: u64, now: UnixMs| {
        let (from, to, zero) = (other.node(), one.id, Digest::ZERO);
        let secret = Digest::of(&epoch.to_be_bytes());
        let (without, through) = (BTreeSet::new(), BTreeSet::new());
        let says = Says::Group(GroupSecret { epoch, secret, without, through });
        let format = FORMAT.to_owned();
        let letter = Letter { format, from, to, number: 0, says, before: zero, chain: zero };
        let text = String::from_utf8(seal::canon::to_canonical(&letter).unwrap()).unwrap();
        let event = other.wrap(to, &text, now, &mut one.chance).unwrap();
        one.at(Happened::Received { way: relay(), bytes: mesh::frame::event(&event) }, now).keep.len()
    };
    let taken: usize = (2..20).map(|epoch| gives(&mut one, epoch, after(20))).sum();
    // One of those that are kept is what this machine spoke to until now.
    assert_eq!(taken, GROUPS_KEPT - 1);
    assert_eq!(gives(&mut one, 20, after(40)), 1, "the others had the time to follow");
    assert_eq!(gives(&mut one, 1 << 39, after(60)), 0, "no epoch is skipped to the last one");
}

#[test]
fn two_of_a_large_group_find_the_one_notice_that_only_one_of_them_has() {
    let makers: Vec<u8> = (3..=200).collect();
    let paired = |own: u8| {
        let all = [1, 2].into_iter().chain(makers.iter().copied());
        let mut node = One::new(own, &all.filter(|one| *one != own).collect::<Vec<_>>());
        node.does(Happened::Up(relay()));
        node
    };
    let (mut one, mut other) = (paired(1), paired(2));
    for maker in &makers {
        let mut node = One::new(*maker, &[1, 2]);
        node.does(Happened::Up(relay()));
        let told = node.does(Happened::Said(Command::LogKey { key: log_key(*maker) }));
        one.hears(&told);
        if *maker != 77 {
            other.hears(&told);
        }
    }
    let has = |node: &One| node.node.state().has_digest();
    assert_ne!(has(&one), has(&other));
    talk(&mut one, &mut other, after(1));
    assert_eq!(has(&one), has(&other));
    assert_eq!(&State::fold(other.id, &other.facts), other.node.state(), "invariant 1");
}
