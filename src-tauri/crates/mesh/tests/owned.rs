//! Conversations, however many there are: what falls silent, whose it stays, and what a machine still has room to tell.

use crate::nodes::{NOW, One, relay, two};
use mesh::{
    Command, Delivered, Fact, Happened, NOTICES_KEPT, NodeId, OWNED_FOR_MS, OWNED_MAX, SILENT_MAX, State,
    Step, Tells,
};
use model::UnixMs;
use seal::Digest;

/// Goals that are walked through: `HERMIT_MESH_GOALS` says how many.
fn goals() -> usize {
    std::env::var("HERMIT_MESH_GOALS").ok().and_then(|goals| goals.parse().ok()).unwrap_or(3_000)
}

fn name(at: usize) -> String {
    format!("conversation-{at}")
}

fn time(at: usize) -> UnixMs {
    NOW.plus_ms(i64::try_from(at).unwrap() * 1_000)
}

fn joined(mut all: Step, step: Step) -> Step {
    all.facts.extend(step.facts);
    all.deliver.extend(step.deliver);
    all.write.extend(step.write);
    all
}

fn says(one: &mut One, commands: impl IntoIterator<Item = Command>, now: UnixMs) -> Step {
    let steps = commands.into_iter().map(|command| one.at(Happened::Said(command), now));
    steps.fold(Step::default(), joined)
}

fn hears(one: &mut One, heard: &Step, now: UnixMs) -> Step {
    let frames = heard.write.iter().map(|(_, bytes)| bytes.clone());
    let inputs = frames.map(|bytes| Happened::Received { way: relay(), bytes });
    let steps: Vec<Happened> = inputs.chain([Happened::Tick]).collect();
    steps.into_iter().map(|input| one.at(input, now)).fold(Step::default(), joined)
}

/// A goal for another machine, as the kernel has it said.
fn goal(conversation: &str, to: NodeId) -> [Command; 3] {
    let conversation = conversation.to_owned();
    [
        Command::Own { conversation: conversation.clone() },
        Command::HandOver { conversation: conversation.clone(), to, head: Digest::ZERO },
        Command::Route { conversation, envelope: "dig".to_owned() },
    ]
}

fn route(conversation: &str, envelope: &str) -> [Command; 1] {
    [Command::Route { conversation: conversation.to_owned(), envelope: envelope.to_owned() }]
}

#[test]
fn a_claim_of_before_such_times_were_told_is_read_and_is_of_a_silent_conversation() {
    let told = r#"{"kind":"owner","conversation":"c","epoch":3}"#;
    let claim = Tells::Owner { conversation: "c".to_owned(), epoch: 3, taken: false, used_at: UnixMs(0) };
    assert_eq!(serde_json::from_str::<Tells>(told).unwrap(), claim);
}

/// Of what a machine did, what was given to its conversations.
fn given(step: &Step) -> usize {
    step.deliver.iter().filter(|one| matches!(one, Delivered::Input { .. })).count()
}

/// A goal, and all that both say of it.
fn walk(one: &mut One, other: &mut One, at: usize) {
    let said = says(one, goal(&name(at), other.id), time(at));
    let heard = hears(other, &said, time(at));
    assert_eq!(given(&heard), 1, "{at}");
    hears(one, &heard, time(at));
}

fn owner(one: &One, at: usize) -> Option<(u64, NodeId)> {
    one.node.state().owner(&name(at))
}

#[test]
fn goals_without_end_leave_room_for_what_is_told_next() {
    let (mut one, mut other) = two();
    let goals = goals();
    for at in 0..goals {
        walk(&mut one, &mut other, at);
    }
    let window = 2 * OWNED_MAX + usize::try_from(NOTICES_KEPT).unwrap();
    for node in [&one, &other] {
        let state = node.node.state();
        assert_eq!(state.waiting(), 0);
        for maker in [one.id, other.id] {
            let kept = state.notices(maker).len();
            assert!(kept <= window, "invariant 10: {kept} notices");
        }
        let (known, own) = state.conversations();
        assert!(known <= 2 * OWNED_MAX + SILENT_MAX + 1 && own <= OWNED_MAX, "{known} {own}");
        assert_eq!(owner(node, goals - 1), Some((2, other.id)));
        assert_eq!(&State::fold(node.id, &node.facts), state, "invariant 1");
    }
    let silent = goals - OWNED_MAX - 100;
    // It is told to nobody anew, and both know whose it is.
    assert_eq!((owner(&one, silent), owner(&other, silent)), (Some((2, other.id)), Some((2, other.id))));
    if goals > SILENT_MAX + 2 * OWNED_MAX + 1 {
        assert_eq!((owner(&one, 0), owner(&other, 0)), (None, None));
    }
    // Spoken in again, it begins again where it was, and all hear of it.
    let said = says(&mut one, route(&name(silent), "dig on"), time(goals));
    let heard = hears(&mut other, &said, time(goals));
    assert_eq!(given(&heard), 1);
    let told = |fact: &Fact| matches!(fact, Fact::Noticed(event) if event.content.contains(&name(silent)));
    assert!(heard.facts.iter().any(told));
    hears(&mut one, &heard, time(goals));
    assert_eq!((owner(&one, silent), owner(&other, silent)), (Some((2, other.id)), Some((2, other.id))));
    assert!(other.node.state().may_write(&name(silent)) && !one.node.state().may_write(&name(silent)));
    for node in [&mut one, &mut other] {
        let conversation = format!("of {}", node.id);
        let told = says(node, [Command::Own { conversation }], time(goals));
        assert!(told.facts.iter().any(|fact| matches!(fact, Fact::Noticed(_))));
    }
}

#[test]
fn what_nobody_spoke_in_for_long_falls_silent_and_what_is_spoken_in_does_not() {
    let (mut one, mut other) = two();
    for at in 0..2 {
        walk(&mut one, &mut other, at);
    }
    let own = |one: &One| one.node.state().conversations().1;
    assert_eq!(own(&other), 3, "with the one that it began with");
    // One of them is spoken in now and then; that is told once a day at most.
    let (day, mut now) = (86_400_000, time(10));
    for _ in 0..=(OWNED_FOR_MS / day) {
        now = now.plus_ms(day + 1);
        for envelope in ["a", "b"] {
            let said = says(&mut one, route(&name(1), &format!("{envelope} {}", now.0)), now);
            let heard = hears(&mut other, &said, now);
            let told = heard.facts.iter().filter(|fact| matches!(fact, Fact::Noticed(_))).count();
            assert_eq!((given(&heard), told), (1, usize::from(envelope == "a")));
            hears(&mut one, &heard, now);
        }
    }
    assert_eq!(own(&other), 1);
    for node in [&one, &other] {
        assert_eq!((owner(node, 0), owner(node, 1)), (Some((2, other.id)), Some((2, other.id))));
        assert_eq!(&State::fold(node.id, &node.facts), node.node.state(), "invariant 1");
    }
}

#[test]
fn a_conversation_that_fell_silent_can_be_handed_over_and_taken_as_any() {
    let (mut one, mut other) = two();
    walk(&mut one, &mut other, 0);
    for at in 1..=OWNED_MAX + 2 {
        let own = [Command::Own { conversation: format!("another-{at}") }];
        let told = says(&mut other, own, time(at));
        hears(&mut one, &told, time(at));
    }
    let later = time(OWNED_MAX + 3);
    let own = Happened::Said(Command::Own { conversation: name(0) });
    assert!(one.node.handle(own, later, &mut one.chance).is_err(), "it has an owner");
    let over = Command::HandOver { conversation: name(0), to: one.id, head: Digest::ZERO };
    let said = says(&mut other, [over], later);
    assert!(!other.node.state().may_write(&name(0)));
    let heard = hears(&mut one, &said, later);
    hears(&mut other, &heard, later);
    assert_eq!((owner(&one, 0), owner(&other, 0)), (Some((3, one.id)), Some((3, one.id))));
    let told = says(&mut other, [Command::Take { conversation: name(0) }], later);
    hears(&mut one, &told, later);
    assert_eq!((owner(&one, 0), owner(&other, 0)), (Some((4, other.id)), Some((4, other.id))));
}

#[test]
fn a_silent_conversation_of_a_machine_that_is_withdrawn_is_its_former_owners_again() {
    let (mut one, mut other) = two();
    walk(&mut one, &mut other, 0);
    // The claims of both lapse.
    for at in 1..=OWNED_MAX + 2 {
        let own = |of: &str| [Command::Own { conversation: format!("of {of}, {at}") }];
        let told = says(&mut other, own("the other"), time(at));
        hears(&mut one, &told, time(at));
        let told = says(&mut one, own("the one"), time(at));
        hears(&mut other, &told, time(at));
    }
    assert_eq!((owner(&one, 0), owner(&other, 0)), (Some((2, other.id)), Some((2, other.id))));
    let withdrawn = says(&mut one, [Command::Withdraw(other.id)], time(OWNED_MAX + 3));
    assert!(!withdrawn.facts.is_empty());
    assert_eq!(owner(&one, 0), Some((1, one.id)));
    assert_eq!(&State::fold(one.id, &one.facts), one.node.state(), "invariant 1");
}

#[test]
fn of_hand_overs_in_a_flood_a_bounded_part_is_taken_and_a_person_is_told_once() {
    let (mut one, mut other) = two();
    let mut refused = Vec::new();
    let mut pass = |one: &mut One, other: &mut One, at: usize, now: UnixMs| {
        let said = says(one, goal(&name(at), other.id), now);
        let heard = hears(other, &said, now);
        refused.extend(heard.deliver.iter().filter_map(|told| match told {
            Delivered::TooManyHandOvers { from, most } => Some((*from, *most)),
            _ => None,
        }));
        hears(one, &heard, now);
    };
    for at in 0..150 {
        pass(&mut one, &mut other, at, NOW.plus_ms(i64::try_from(at).unwrap() * 100));
    }
    let (mine, theirs) = (one.id, other.id);
    let taken = (0..150).filter(|at| owner(&other, *at) == Some((2, theirs))).count();
    assert_eq!(taken, 120);
    assert_eq!(owner(&other, 149), Some((1, mine)), "nobody else's claim stands");
    // The next minute is another one, in which what was not read yet comes first.
    for at in 150..300 {
        pass(&mut one, &mut other, at, NOW.plus_ms(75_000 + i64::try_from(at).unwrap() * 1_000));
        if owner(&other, 150) == Some((2, theirs)) {
            break;
        }
    }
    assert_eq!(owner(&other, 150), Some((2, theirs)));
    assert_eq!(owner(&other, 120), Some((1, mine)), "what was refused is taken by nobody");
    assert_eq!(refused, [(mine, 120)]);
}
