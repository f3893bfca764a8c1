//! Who this instance is, published: by an act with a card, a grant and a receipt, at relays that each answer for themselves.

use crate::identity::{FIRST, by, written};
use crate::story::{card, completed, die, in_store, state};
use effects::Undelivered;
use kernel::ports::KeyRing as _;
use kernel::{DriveOutcome, Error, Waiting};
use mesh::NodeId;
use mesh::published;
use mesh::sealed::WireEvent;
use model::action::{ActionClass, Reversibility};
use model::fault::Point;
use model::receipt::{ReceiptClass, ResultCode};
use model::{Digest, TaskId};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use testkit::{Edge, World};

pub const ONE: &str = "wss://one.example";
const TWO: &str = "wss://two.example/inbox";
const SHUT: &str = "ws://127.0.0.1:7777";
const MUTE: &str = "wss://mute.example";

/// Relays that keep what they are given, but for one that refuses and one that does not say.
#[derive(Default)]
pub struct Shelves(Mutex<BTreeMap<String, Vec<String>>>);

impl Shelves {
    fn of(&self, relay: &str) -> Vec<String> {
        self.0.lock().unwrap().get(relay).cloned().unwrap_or_default()
    }
}

impl effects::Relays for Shelves {
    fn publish(&self, relay: &str, events: &[String]) -> Result<(), Undelivered> {
        if relay == SHUT {
            return Err(Undelivered::NotSent("blocked: pay first".to_owned()));
        }
        if relay == MUTE {
            return Err(Undelivered::Unknown("it hung up".to_owned()));
        }
        self.0.lock().unwrap().entry(relay.to_owned()).or_default().extend(events.iter().cloned());
        Ok(())
    }
}

pub fn world(seed: u64) -> (World, Arc<Shelves>) {
    let shelves = Arc::new(Shelves::default());
    let mut world = World::bare(seed);
    world.relays = Arc::clone(&shelves) as _;
    world.take_up().unwrap();
    world.register_keys().unwrap();
    (world, shelves)
}

pub fn proposed(world: &World, relays: &[&str]) -> Result<TaskId, Error> {
    let relays = relays.iter().map(|relay| (*relay).to_owned()).collect();
    world.kernel().propose_publication(relays, by()).map(|submitted| submitted.task_id)
}

fn key(world: &World) -> NodeId {
    world.keys.instance(&Digest::of(FIRST.as_bytes())).unwrap().public().parse().unwrap()
}

#[conforms::conforms(part = "HV-3.9-2")]
#[test]
fn a_chain_is_published_by_a_yes_and_what_each_relay_said_is_told_by_itself() {
    let (world, shelves) = world(6_001);
    assert!(
        matches!(proposed(&world, &[ONE]), Err(Error::Conflict(why)) if why.contains("nothing of itself"))
    );
    written(&world, FIRST, 0);
    let task = proposed(&world, &[ONE, SHUT, TWO]).unwrap();
    let approval = world.drive_to_approval(task);
    assert_eq!(
        (shelves.of(ONE).len(), in_store(&world, "identity.published")),
        (0, 0),
        "nothing left before"
    );
    let shown = card(&world, task);
    for says in ["PUBLISH it at wss://one.example, for everybody", "127.0.0.1:7777", "no word of SOUL.md"] {
        assert!(shown.contains(says), "{says}: {shown}");
    }
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(world.drive(task), completed());
    // One that refuses stops no other, and is on record with its words.
    let link = world.kernel().identity().links[0].link_sha256;
    assert_eq!(world.kernel().identity().published[&link], [ONE, TWO]);
    let held = state(&world, task);
    let receipt = held.receipts.iter().find(|one| one.receipt_class == ReceiptClass::Publish).unwrap();
    assert_eq!(
        (receipt.result_code, receipt.action_class),
        (ResultCode::Succeeded, ActionClass::Publication)
    );
    let told = held.artifacts.values().map(|one| world.kernel().artifacts().read(&one.content_hash).unwrap());
    let told: Vec<String> = told.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect();
    assert!(told.iter().any(|text| text.contains("not taken by ws://127.0.0.1:7777: blocked: pay first")));
    // What a relay has is followed back to genesis by whoever reads it there.
    let events: Vec<WireEvent> =
        shelves.of(TWO).iter().map(|event| serde_json::from_str(event).unwrap()).collect();
    let bytes = published::read(&events, key(&world)).unwrap().join(&b'\n');
    let (statement, links) = ::identity::lines(&bytes);
    let graph = ::identity::follow(statement, &links);
    assert!(graph.unbroken && graph.log_key.is_some(), "{:?}", graph.findings);
    assert_eq!(graph.key_in_force, Some(key(&world).to_string()));
    let said = String::from_utf8_lossy(&bytes).into_owned();
    assert!(!said.contains("harbour"), "no word of SOUL.md: {said}");
}

#[test]
fn what_no_relay_took_is_published_nowhere_and_what_a_death_interrupted_is_given_again_and_recorded_once() {
    let (mut world, shelves) = world(6_002);
    written(&world, FIRST, 0);
    let task = proposed(&world, &[SHUT]).unwrap();
    world.drive_allowing(task);
    let held = state(&world, task);
    let receipt = held.receipts.iter().find(|one| one.receipt_class == ReceiptClass::Publish).unwrap();
    assert_eq!((receipt.result_code, in_store(&world, "identity.published")), (ResultCode::Failed, 0));
    let task = proposed(&world, &[ONE]).unwrap();
    let approval = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, approval).unwrap();
    die(&mut world, task, Point::CallSend, Edge::After);
    assert_eq!((shelves.of(ONE).len(), in_store(&world, "identity.published")), (1, 0));
    assert_eq!(world.drive(task), completed());
    let kept = shelves.of(ONE);
    assert!(kept.len() == 2 && kept[0] == kept[1], "the same event");
    assert_eq!(in_store(&world, "identity.published"), 1);
    // Of a relay that does not say whether it keeps it nobody says that it has none of it.
    let task = proposed(&world, &[MUTE]).unwrap();
    let approval = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(world.drive(task), DriveOutcome::Waiting(Waiting::UnknownOutcome));
    let held = state(&world, task);
    let receipt = held.receipts.iter().find(|one| one.receipt_class == ReceiptClass::Publish).unwrap();
    assert_eq!(
        (receipt.result_code, receipt.reversibility),
        (ResultCode::UnknownOutcome, Reversibility::Irreversible)
    );
    assert_eq!(in_store(&world, "identity.published"), 1);
}

#[test]
fn what_is_no_relay_and_what_is_denied_or_older_than_the_chain_is_not_published() {
    let (world, shelves) = world(6_003);
    written(&world, FIRST, 0);
    let wrongs: [&[&str]; 5] =
        [&[], &["https://one.example"], &["wss://me@one.example"], &[ONE, ONE], &[ONE; 9]];
    for wrong in wrongs {
        assert!(matches!(proposed(&world, wrong), Err(Error::Input(_))), "{wrong:?}");
    }
    let task = proposed(&world, &[ONE]).unwrap();
    let approval = world.drive_to_approval(task);
    world.person.deny(world.kernel(), task, approval, "not now").unwrap();
    world.drive(task);
    // The person's rules bear on it, as on whatever else leaves.
    let rules = world.store.path().join("policy.rules");
    std::fs::write(&rules, "dual Net(host:one.example)\n").unwrap();
    let task = proposed(&world, &[ONE]).unwrap();
    let approval = world.drive_to_approval(task);
    assert!(state(&world, task).approvals[&approval].needs_two);
    world.person.deny(world.kernel(), task, approval, "not by one").unwrap();
    world.drive(task);
    std::fs::remove_file(rules).unwrap();
    // A task that waits while SOUL.md gets another version asks about nothing that is old.
    let task = proposed(&world, &[ONE]).unwrap();
    written(&world, "# Ada\nI keep the letters of two harbours in order.\n", 1);
    assert_ne!(world.drive(task), completed());
    assert_eq!((shelves.of(ONE).len(), in_store(&world, "identity.published")), (0, 0));
    world.keys.lock(true);
    assert!(matches!(proposed(&world, &[ONE]), Err(Error::KeyLocked(_))));
}
