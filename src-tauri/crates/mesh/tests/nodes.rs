//! Two nodes and a stranger: what is told of a letter, what is carried, and what comes of what nobody signed.

use crate::fake::{Fake, Make as _, Seeded};
use mesh::sealed::{Sealing as _, WireEvent};
use mesh::{
    Answer, Capabilities, Card, Command, Delivered, Fact, GroupSecret, Happened, Input, Node, NodeId, Peer,
    State, Step, Telling, Waits, Way, carry, frame,
};
use model::UnixMs;
use seal::{Digest, PublicKey, SeedSigner, Signer as _};
use std::collections::BTreeSet;

pub const NOW: UnixMs = UnixMs(1_800_000_000_000);

pub fn relay() -> Way {
    Way::Relay("wss://relay.example".to_owned())
}

pub fn log_key(seed: u8) -> PublicKey {
    SeedSigner::from_seed([seed; 32]).public()
}

pub fn peer(node: NodeId) -> Peer {
    Peer {
        node,
        name: "a machine".to_owned(),
        relays: vec!["wss://relay.example".to_owned()],
        log_key: log_key(1),
        approval_key: None,
    }
}

pub struct One {
    pub node: Node<Fake>,
    pub facts: Vec<Fact>,
    pub chance: Seeded,
    pub id: NodeId,
}

impl One {
    pub fn new(secret: u8, others: &[u8]) -> Self {
        let sealing = Fake::make([secret; 32]);
        let id = sealing.node();
        let mut one = Self {
            node: Node::new(sealing, State::new(id), NOW),
            facts: Vec::new(),
            chance: Seeded(secret.into()),
            id,
        };
        for other in others {
            let group = Some(GroupSecret {
                epoch: 1,
                secret: Digest::of(b"group"),
                without: BTreeSet::new(),
                through: BTreeSet::new(),
            });
            one.does(Happened::Said(Command::Pair { peer: peer(Fake::make([*other; 32]).node()), group }));
        }
        one
    }

    pub fn at(&mut self, what: Happened, now: UnixMs) -> Step {
        let step = self.node.handle(what, now, &mut self.chance).unwrap();
        self.facts.extend(step.facts.clone());
        step
    }

    pub fn does(&mut self, what: Happened) -> Step {
        self.at(what, NOW)
    }

    fn route(&mut self, conversation: &str) -> Step {
        let (conversation, envelope) = (conversation.to_owned(), "hello".to_owned());
        self.does(Happened::Said(Command::Route { conversation, envelope }))
    }

    pub fn hears(&mut self, step: &Step) -> Step {
        let mut all = Step::default();
        for (_, bytes) in &step.write {
            let heard = self.does(Happened::Received { way: relay(), bytes: bytes.clone() });
            all.deliver.extend(heard.deliver);
            all.facts.extend(heard.facts);
            all.write.extend(heard.write);
            all.tell.extend(heard.tell);
        }
        all
    }
}

/// Two that are paired; the second owns a conversation, and the first knows.
pub fn two() -> (One, One) {
    let (mut one, mut other) = (One::new(1, &[2]), One::new(2, &[1]));
    one.does(Happened::Up(relay()));
    other.does(Happened::Up(relay()));
    let owns = other.does(Happened::Said(Command::Own { conversation: "c".to_owned() }));
    one.hears(&owns);
    (one, other)
}

/// Whether a step says that the first letter was opened, and no more.
fn is_opened(step: &Step, by: NodeId) -> bool {
    matches!(step.facts.as_slice(), [Fact::Opened { to, upto: 1, .. }] if *to == by)
}

pub fn event_of(bytes: &[u8]) -> WireEvent {
    match frame::read(bytes) {
        Some(frame::Frame::Event(event)) => *event,
        other => panic!("{other:?}"),
    }
}

#[test]
fn delivery_is_told_as_it_is() {
    let (mut one, mut other) = two();
    let sent = one.route("c");
    assert!(matches!(sent.facts.as_slice(), [Fact::Queued { number: 1, .. }]));
    // A relay has it: no more is said than that.
    let event = event_of(&sent.write[0].1);
    let ok = serde_json::to_vec(&("OK", event.id, true, "")).unwrap();
    let told = one.does(Happened::Received { way: relay(), bytes: ok.clone() });
    assert_eq!(told.facts, [Fact::Accepted { to: other.id, number: 1, way: relay() }]);
    assert_eq!(one.does(Happened::Received { way: relay(), bytes: ok }).facts, []);
    // Of an event that nobody wrote, a relay says nothing that counts.
    let lie = serde_json::to_vec(&("OK", Digest::of(b"another"), true, "")).unwrap();
    assert_eq!(one.does(Happened::Received { way: relay(), bytes: lie }).facts, []);
    let no = serde_json::to_vec(&("OK", event.id, false, "too old")).unwrap();
    let told = one.does(Happened::Received { way: relay(), bytes: no });
    assert_eq!(told.tell, [Telling::Refused { way: relay(), why: "too old".to_owned() }]);
    // The receiver opens it once, however often it comes, and says so.
    let heard = other.hears(&sent);
    assert!(matches!(heard.deliver.as_slice(), [Delivered::Input { .. }]));
    assert_eq!(carry::messages(&heard.deliver), 1);
    assert_eq!(other.hears(&sent).deliver, []);
    let opened = other.does(Happened::Tick);
    assert!(is_opened(&one.hears(&opened), other.id));
    assert_eq!(one.node.state().waiting(), 0);
}

#[test]
fn a_letter_that_has_no_way_wakes_nobody_until_there_is_one() {
    let (mut one, _) = two();
    assert!(!one.route("c").write.is_empty());
    one.does(Happened::Down(relay()));
    let later = NOW.plus_ms(60 * 60_000);
    let step = one.at(Happened::Tick, later);
    assert!(step.write.is_empty() && step.wake_at.is_none_or(|at| at > later), "{:?}", step.wake_at);
    let step = one.at(Happened::Up(relay()), later);
    assert!(!step.write.is_empty() && step.wake_at.is_some_and(|at| at > later), "{:?}", step.wake_at);
}

#[test]
fn without_any_network_a_stick_carries_the_same() {
    let (mut one, mut other) = two();
    one.does(Happened::Down(relay()));
    assert_eq!(one.route("c").write, []);
    let mut chance = Seeded(5);
    let carry::Packed { file, messages, left_out } =
        one.node.export(Some(other.id), NOW, &mut chance).unwrap();
    assert_eq!((messages, left_out), (1, 0), "whatever the machine tells by itself in this file");
    assert!(file.starts_with(b"hermit-mesh-carry/1\n"));
    let heard = other.does(Happened::Imported(file.clone()));
    assert!(matches!(heard.deliver.as_slice(), [Delivered::Input { .. }]));
    assert_eq!(other.does(Happened::Imported(file)).deliver, []);
    // The way back is a stick too: it says what was opened.
    let back = other.node.export(None, NOW, &mut chance).unwrap();
    assert_eq!(back.messages, 0, "what was opened is no message");
    other.route("c");
    assert!(is_opened(&one.does(Happened::Imported(back.file)), other.id));
    assert!(carry::unpack(b"another file").is_err());
}

#[test]
fn a_stranger_gets_nothing_and_stops_nothing() {
    let (mut one, mut other) = two();
    // It knows everybody's keys and relays, and takes itself for paired.
    let mut stranger = One::new(3, &[1, 2]);
    stranger.does(Happened::Up(relay()));
    let before = other.node.state().clone();
    let owns = stranger.does(Happened::Said(Command::Own { conversation: "c2".to_owned() }));
    let over = Command::HandOver { conversation: "c2".to_owned(), to: other.id, head: Digest::ZERO };
    let over = stranger.does(Happened::Said(over));
    let told = Command::Tell { can: Capabilities::default(), load: 0, relays: Vec::new() };
    let told = stranger.does(Happened::Said(told));
    for step in [&owns, &over, &told] {
        assert!(!step.write.is_empty());
        let heard = other.hears(step);
        assert_eq!((heard.facts, heard.deliver, heard.write), (vec![], vec![], vec![]));
    }
    assert_eq!(other.node.state(), &before);
    assert_eq!(other.does(Happened::Tick).tell.len(), 1, "that there was something is told");
    // Frames that are none, of any length, change nothing either.
    for bytes in
        [b"".to_vec(), b"[]".to_vec(), vec![b'['; 400_000], b"[\"EVENT\",{}]".to_vec(), vec![0xff; 40]]
    {
        assert_eq!(other.does(Happened::Received { way: relay(), bytes }).facts, []);
    }
    let sent = one.route("c");
    assert_eq!(stranger.hears(&sent).deliver, [], "what is sealed for another is opened by no one else");
    assert!(matches!(other.hears(&sent).deliver.as_slice(), [Delivered::Input { .. }]));
}

#[test]
fn a_relay_that_lies_about_time_makes_nobody_younger_and_nothing_newer() {
    let (mut one, mut other) = two();
    let relays = vec!["wss://relay.example".to_owned()];
    let told = Command::Tell { can: Capabilities::default(), load: 0, relays };
    let sign = other.does(Happened::Said(told));
    one.hears(&sign);
    assert_eq!(one.node.heard().collect::<Vec<_>>(), [(other.id, NOW, true)]);
    // It keeps back what there is since, and shows old signs as if they were of now, with another time or as they are.
    let at = |minutes: i64| NOW.plus_ms(minutes * 60_000);
    for (_, bytes) in &sign.write {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let later = text.replace(&(NOW.0 / 1_000).to_string(), &(at(8).0 / 1_000).to_string());
        for bytes in [text.into_bytes(), later.into_bytes()] {
            let step = one.at(Happened::Received { way: relay(), bytes }, at(8));
            assert_eq!(step.deliver, []);
        }
    }
    assert!(one.node.heard().all(|(_, heard, is_heard)| !is_heard || heard == NOW));
    one.at(Happened::Tick, at(16));
    assert_eq!(one.node.here().count(), 0, "it is gone when it said that it would be");
}

#[test]
fn facts_alone_make_a_node_again() {
    let (mut one, other) = two();
    one.route("c");
    let lines: Vec<String> = one.facts.iter().map(|fact| serde_json::to_string(fact).unwrap()).collect();
    assert!(!lines.concat().contains(&Digest::of(b"group").to_string()), "invariant 8");
    let facts: Vec<Fact> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(&State::fold(one.id, &facts), one.node.state());
    assert_eq!(one.node.state().owner("c"), Some((1, other.id)));
}

#[test]
fn what_waited_for_thirty_days_never_comes_and_its_number_stays() {
    let (mut one, mut other) = two();
    one.route("c");
    let late = NOW.plus_ms(mesh::NEVER_AFTER_MS + 1);
    let step = one.at(Happened::Tick, late);
    assert!(step.facts.iter().any(|fact| matches!(fact, Fact::Never { number: 1, .. })));
    let heard = other.hears(&step);
    assert_eq!(heard.deliver, []);
    assert!(heard.facts.iter().any(|fact| matches!(fact, Fact::Took { number: 1, .. })));
}

#[test]
fn the_key_of_a_log_is_that_of_the_pairing_until_another_one_is_told() {
    let (mut one, mut other) = two();
    let known = |one: &One, of: NodeId| one.node.state().log_key(of).copied();
    assert_eq!((known(&one, other.id), known(&other, other.id)), (Some(log_key(1)), None));
    let told = other.does(Happened::Said(Command::LogKey { key: log_key(2) }));
    one.hears(&told);
    assert_eq!((known(&one, other.id), known(&other, other.id)), (Some(log_key(2)), Some(log_key(2))));
    // What was told is not told again, and facts alone make the same of it.
    assert_eq!(other.does(Happened::Said(Command::LogKey { key: log_key(2) })).facts, []);
    assert_eq!(&State::fold(one.id, &one.facts), one.node.state());
    // A machine that is paired anew with another log told nothing yet; where it moved, it is the one that it was.
    let moved = Peer { relays: vec!["wss://elsewhere.example".to_owned()], ..peer(other.id) };
    one.does(Happened::Said(Command::Pair { peer: moved, group: None }));
    assert_eq!(known(&one, other.id), Some(log_key(2)));
    let anew = Peer { log_key: log_key(3), ..peer(other.id) };
    one.does(Happened::Said(Command::Pair { peer: anew, group: None }));
    assert_eq!(known(&one, other.id), Some(log_key(3)));
}

#[test]
fn deliveries_have_a_form_that_can_be_recorded() {
    let node = NodeId(Digest::of(b"a node"));
    let (conversation, envelope) = ("c".to_owned(), "hello".to_owned());
    let input = Input { conversation: conversation.clone(), origin: node, envelope, hops: 1 };
    let (approval, at) = ("a".to_owned(), NOW);
    let card = Card {
        approval,
        packet: Digest::of(b"packet"),
        nonce: Digest::ZERO,
        person: String::new(),
        asked_at: at,
        expires_at: at,
        need: 1,
    };
    let answer =
        |refused| Answer { conversation: "c".to_owned(), answers: input.id(), body: "no".into(), refused };
    let waits = Waits { conversation: conversation.clone(), message: input.id(), waits: true, at: NOW };
    for delivered in [
        Delivered::Input { input: input.clone(), epoch: 2 },
        Delivered::Secret { input: input.id(), origin: node, conversation },
        Delivered::Answer { from: node, answer: answer(true) },
        Delivered::Answer { from: node, answer: answer(false) },
        Delivered::Receipts { from: node, lines: Vec::new() },
        Delivered::Waits { from: node, waits },
        Delivered::Decided { approval: "a".to_owned(), allow: true, decisions: Vec::new() },
    ] {
        let text = seal::canon::to_canonical(&delivered).unwrap();
        assert_eq!(serde_json::from_slice::<Delivered>(&text).unwrap(), delivered);
    }
    // The packet of a card is content, and kept as such.
    let question = Delivered::Question { from: node, card: card.clone(), packet: b"packet".to_vec() };
    let text = seal::canon::to_canonical(&question).unwrap();
    let bare = Delivered::Question { from: node, card, packet: Vec::new() };
    assert_eq!(serde_json::from_slice::<Delivered>(&text).unwrap(), bare);
}

#[test]
fn letters_behind_one_whose_record_was_erased_stand_where_they_stood() {
    let (mut one, mut other) = two();
    for conversation in ["c", "d", "c", "c"] {
        // One of them waits for an owner, and is no letter.
        let sent = one.route(conversation);
        other.hears(&sent);
    }
    let to = other.id;
    let without = |one: &One, number: u64| {
        let erased = |fact: &&Fact| matches!(fact, Fact::Queued { number: known, .. } if *known == number);
        State::fold(one.id, one.facts.iter().filter(|fact| !erased(fact))).lanes()[&to].clone()
    };
    let whole = one.node.state().lanes()[&to].clone();
    for number in 1..=2 {
        let lane = without(&one, number);
        assert_eq!((lane.last, lane.chain, lane.waiting.len()), (3, whole.chain, 2));
        assert!(lane.waiting.iter().all(|(number, letter)| whole.waiting[number] == *letter));
    }
    // Once it was opened, that holds for the last one too.
    let opened = other.does(Happened::Tick);
    one.hears(&opened);
    let lane = without(&one, 3);
    assert_eq!((lane.last, lane.chain, lane.waiting.len()), (3, whole.chain, 0));
}
