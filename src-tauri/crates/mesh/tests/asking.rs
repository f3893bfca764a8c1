//! A decision that is asked of another machine: what is kept for it, which answer counts, and when it is over.

use crate::nodes::{NOW, One, two};
use mesh::port::Discount;
use mesh::{
    CLOCK_DIFFERENCE_MS, Card, Command, Decision, Delivered, Fact, Happened, PACKET_BYTES_MAX,
    SignedDecision, State, Step,
};
use seal::{Digest, SeedSigner, Signer as _};

const HOUR_MS: i64 = 3_600_000;

fn card(approval: &str, packet: &[u8]) -> Card {
    Card {
        approval: approval.to_owned(),
        packet: Digest::of(packet),
        nonce: Digest::of(approval.as_bytes()),
        person: "prn_somebody".to_owned(),
        asked_at: NOW,
        expires_at: NOW.plus_ms(HOUR_MS),
        need: 1,
    }
}

fn ask(one: &mut One, other: &One, approval: &str, packet: &[u8]) -> Result<Step, mesh::Error> {
    let command = Command::Ask { card: card(approval, packet), packet: packet.to_vec(), of: vec![other.id] };
    let step = one.node.handle(Happened::Said(command), NOW, &mut one.chance)?;
    one.facts.extend(step.facts.clone());
    Ok(step)
}

fn yes(one: &One, card: &Card, counter: u32, key: &SeedSigner) -> SignedDecision {
    let (approval, packet, nonce) = (card.approval.clone(), card.packet, card.nonce);
    let (asked_by, allow, decided_at) = (one.id, true, NOW);
    let decision = Decision { approval, packet, nonce, asked_by, allow, decided_at, counter };
    decision.signed(Some(b"yes"), key).unwrap()
}

#[test]
fn a_question_keeps_its_packet_until_it_is_answered_by_a_key_that_counts_on() {
    let (mut one, mut other) = two();
    let key = SeedSigner::from_seed([7; 32]);
    one.does(Happened::Said(Command::Register { node: other.id, key: key.public() }));
    let packet = vec![b'p'; 40_000];
    for approval in ["a-1", "a-2", "a-3"] {
        let asked = ask(&mut one, &other, approval, &packet).unwrap();
        let heard = other.hears(&asked);
        assert!(heard.deliver.iter().any(|came| matches!(came, Delivered::Question { .. })), "{approval}");
    }
    let large = vec![b'p'; PACKET_BYTES_MAX + 1];
    assert!(ask(&mut one, &other, "a-4", &large).is_err(), "it is answered where it is asked");
    assert_eq!(other.node.state().questions().count(), 3);
    let first = card("a-1", &packet);
    let said = other.does(Happened::Said(Command::Decide(yes(&one, &first, 5, &key))));
    assert_eq!((other.node.state().answers(), other.node.state().packet(one.id, "a-1")), (5, None));
    assert_eq!(other.node.state().packet(one.id, "a-2"), Some(packet.clone()), "others are about the same");
    let came = one.hears(&said).deliver;
    let [Delivered::Decided { allow: true, decisions, .. }] = came.as_slice() else { panic!("{came:?}") };
    assert_eq!(decisions[0].approval_bytes().as_deref(), Some(&b"yes"[..]));
    assert!(ask(&mut one, &other, "a-1", &packet).is_err(), "it was asked before");
    // A count that does not go on is no answer; nor is one of a key that was taken away meanwhile.
    let second = card("a-2", &packet);
    let stale = Command::Decide(yes(&one, &second, 5, &key));
    assert!(other.node.handle(Happened::Said(stale), NOW, &mut other.chance).is_err());
    one.does(Happened::Said(Command::Unregister { node: other.id }));
    let said = other.does(Happened::Said(Command::Decide(yes(&one, &second, 6, &key))));
    let heard = one.hears(&said);
    let is_refused = |fact: &Fact| matches!(fact, Fact::Discounted { why: Discount::NotRegistered, .. });
    assert!(heard.facts.iter().any(is_refused), "{:?}", heard.facts);
    assert_eq!(heard.deliver, []);
    // Nobody answered the third in time.
    let late = NOW.plus_ms(HOUR_MS + CLOCK_DIFFERENCE_MS + 1);
    let over = other.at(Happened::Tick, late).deliver;
    assert!(
        matches!(over.as_slice(), [Delivered::Answered { approval, .. }] if approval == "a-3"),
        "{over:?}"
    );
    assert_eq!(other.node.state().packet(one.id, "a-3"), None);
    for node in [&one, &other] {
        assert_eq!(&State::fold(node.id, &node.facts), node.node.state());
    }
}
