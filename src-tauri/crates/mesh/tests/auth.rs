//! A relay that asks who is there (NIP-42).

use crate::nodes::{NOW, One, relay};
use mesh::direct::PROOF_KIND;
use mesh::{Capabilities, Command, Happened, Step, Telling, Way};
use serde_json::json;

fn tell(one: &mut One, relays: &[&str]) -> Step {
    let relays = relays.iter().map(|url| (*url).to_owned()).collect();
    one.does(Happened::Said(Command::Tell { can: Capabilities::default(), load: 0, relays }))
}

fn asks(one: &mut One, way: Way, challenge: &str) -> Step {
    let bytes = serde_json::to_vec(&json!(["AUTH", challenge])).unwrap();
    one.does(Happened::Received { way, bytes })
}

fn says(one: &mut One, id: seal::Digest, accepted: bool) -> Step {
    let bytes = serde_json::to_vec(&("OK", id, accepted, "")).unwrap();
    one.does(Happened::Received { way: relay(), bytes })
}

fn proof(step: &Step) -> mesh::sealed::WireEvent {
    let [(way, bytes)] = step.write.as_slice() else { panic!("{:?}", step.write) };
    assert_eq!(*way, relay());
    let (word, event) = serde_json::from_slice::<(String, mesh::sealed::WireEvent)>(bytes).unwrap();
    assert_eq!((word.as_str(), event.kind), ("AUTH", PROOF_KIND));
    event
}

/// Whether a step subscribes.
fn subscribes(step: &Step) -> bool {
    step.write.iter().any(|(_, bytes)| bytes.starts_with(b"[\"REQ\""))
}

#[test]
fn a_relay_of_this_node_is_told_once_for_each_challenge_and_then_what_it_refused() {
    let mut one = One::new(1, &[2]);
    tell(&mut one, &["wss://relay.example"]);
    one.does(Happened::Up(relay()));
    let event = proof(&asks(&mut one, relay(), "first"));
    assert_eq!((event.pubkey, event.created_at), (one.id, NOW.0 / 1000));
    let tags = vec![
        vec!["relay".to_owned(), "wss://relay.example".to_owned()],
        vec!["challenge".to_owned(), "first".to_owned()],
    ];
    assert_eq!(event.tags, tags);
    // The same again, and another while the relay has not said whether it believes it.
    assert_eq!(asks(&mut one, relay(), "first").write, []);
    assert_eq!(asks(&mut one, relay(), "second").write, []);
    let told = says(&mut one, event.id, true);
    assert!(subscribes(&told), "what it refused is said to it again");
    assert!(told.write.iter().all(|(_, bytes)| !bytes.starts_with(b"[\"AUTH\"")), "it knows by now");
    // A proof that it does not believe is told, and the challenge that came meanwhile is answered.
    let event = proof(&asks(&mut one, relay(), "third"));
    asks(&mut one, relay(), "fourth");
    let refused = says(&mut one, event.id, false);
    assert!(matches!(refused.tell.as_slice(), [Telling::Refused { .. }]));
    proof(&refused);
}

#[test]
fn a_relay_that_asks_without_end_is_told_a_few_times_until_it_is_connected_to_anew() {
    let mut one = One::new(1, &[2]);
    tell(&mut one, &["wss://relay.example"]);
    one.does(Happened::Up(relay()));
    let round = |one: &mut One, n: usize| {
        let step = asks(one, relay(), &format!("challenge {n}"));
        let Some((_, bytes)) = step.write.first() else { return step };
        let (_, event) = serde_json::from_slice::<(String, mesh::sealed::WireEvent)>(bytes).unwrap();
        says(one, event.id, true);
        step
    };
    let steps: Vec<Step> = (0..40).map(|n| round(&mut one, n)).collect();
    assert_eq!(steps.iter().filter(|step| !step.write.is_empty()).count(), 4);
    assert_eq!(steps.iter().flat_map(|step| &step.tell).count(), 1, "a person is told once");
    one.does(Happened::Down(relay()));
    one.does(Happened::Up(relay()));
    proof(&asks(&mut one, relay(), "again"));
}

#[test]
fn whose_relay_it_is_not_learns_nobodys_key() {
    let mut one = One::new(1, &[2]);
    // The relay of a peer: nobody here has set it.
    tell(&mut one, &["wss://other.example"]);
    one.does(Happened::Up(relay()));
    assert_eq!(asks(&mut one, relay(), "who").write, []);
    // One that is not connected to, one that asks for what nobody signs, and a machine that asks as a relay does.
    let own = Way::Relay("wss://other.example".to_owned());
    assert_eq!(asks(&mut one, own.clone(), "who").write, []);
    one.does(Happened::Up(own.clone()));
    assert_eq!(asks(&mut one, own.clone(), "").write, []);
    assert_eq!(asks(&mut one, own, &"w".repeat(257)).write, []);
    let direct = Way::Direct(One::new(2, &[]).id);
    one.does(Happened::Up(direct.clone()));
    assert_eq!(asks(&mut one, direct, "who").write, []);
    // Once its person sets it, what it asked is answered.
    let step = tell(&mut one, &["wss://other.example", "wss://relay.example"]);
    let is_proof = |bytes: &Vec<u8>| bytes.starts_with(b"[\"AUTH\"");
    let proofs: Vec<&Way> =
        step.write.iter().filter(|(_, bytes)| is_proof(bytes)).map(|(way, _)| way).collect();
    assert_eq!(proofs, [&relay()]);
}
