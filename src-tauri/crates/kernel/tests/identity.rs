//! Who this instance is: SOUL.md by a person's yes alone, in every context below policy, attested in its own commit, and a chain
//! that goes on over rotations and erasures.

use crate::story::{card, completed, in_store, state};
use crate::told::{Wire, give, settings};
use kernel::Error;
use kernel::command::erase::Erasure;
use kernel::command::person::{Matter, Signed};
use kernel::ports::KeyRing as _;
use model::artifact::{ArtifactKind, TrustTier};
use model::context::{ContextPack, Section};
use model::identity::{HandoverReason, Link, SOUL_BYTES_MAX};
use model::ingress::Channel;
use model::{ApprovalId, Clock as _, Digest, TaskId};
use reasoning::ToolMode;
use seal::Signer as _;
use seal::schnorr::SchnorrKey;
use serde_json::json;
use std::sync::atomic::{AtomicU32, Ordering};
use testkit::World;

pub const FIRST: &str = "# Ada\nI keep the letters of the harbour in order.\n";
const SECOND: &str = "# Ada\nI keep the letters of two harbours in order.\n";

pub fn by() -> (Channel, String) {
    static ASKED: AtomicU32 = AtomicU32::new(0);
    (Channel::App, format!("soul {}", ASKED.fetch_add(1, Ordering::SeqCst)))
}

/// Asks whether this is SOUL.md, up to its card.
fn asked(world: &World, text: &str, replaces: u32) -> (TaskId, ApprovalId) {
    let task = world.kernel().propose_soul(text, replaces, by()).unwrap().task_id;
    (task, world.drive_to_approval(task))
}

pub fn written(world: &World, text: &str, replaces: u32) {
    let (task, approval) = asked(world, text, replaces);
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(world.drive(task), completed());
}

/// The first context of a new task.
fn pack(world: &World, goal: &str) -> ContextPack {
    let wire = Wire::new(vec![("done", json!({ "summary": "looked" }))]);
    let task = give(world, &wire, goal, settings(ToolMode::Tools, &[]));
    assert_eq!(world.drive(task), completed());
    let held = state(world, task);
    let at = held.artifacts.values().find(|a| a.kind == ArtifactKind::ContextPack).unwrap();
    serde_json::from_slice(&world.kernel().artifacts().read(&at.content_hash).unwrap()).unwrap()
}

#[conforms::conforms(part = "HV-3.9-2")]
#[test]
fn soul_is_a_persons_word_attested_in_its_commit_and_stands_below_policy_in_every_context() {
    let mut world = World::new(5_901);
    let (task, approval) = asked(&world, FIRST, 0);
    assert!(card(&world, task).contains("    | I keep the letters of the harbour in order."));
    assert_eq!((in_store(&world, "identity.soul_written"), in_store(&world, "identity.linked")), (0, 0));
    assert!(
        matches!(world.kernel().attest(), Err(Error::Conflict(why)) if why.contains("nobody has written"))
    );
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(world.drive(task), completed());
    let registry = world.kernel().identity();
    assert_eq!((registry.souls.len(), registry.links.len()), (1, 1));
    assert_eq!(registry.first_soul(), Some(Digest::of(FIRST.as_bytes())), "its exact bytes");
    let graph = registry.graph(world.kernel().artifacts()).unwrap();
    assert!(graph.unbroken, "{:?}", graph.findings);
    let key = world.keys.instance(&Digest::of(FIRST.as_bytes())).unwrap().public();
    assert_eq!(graph.key_in_force.as_deref(), Some(key.as_str()), "derived from the first SOUL.md");
    assert_eq!(graph.log_key, Some(world.keys.log_signer().public().to_string()));
    assert_eq!(graph.instance_id, Some(world.kernel().store_state().store_id));
    let held = pack(&world, "look around");
    let at = held.items.iter().position(|item| item.source.starts_with("soul:1@")).unwrap();
    let item = &held.items[at];
    assert_eq!((item.section, item.trust_tier, item.cut), (Section::Policy, TrustTier::UserAsserted, false));
    assert!(item.text.contains("letters of the harbour"));
    assert!(held.items[..at].iter().any(|item| item.section == Section::Policy), "below policy");
    assert!(held.items[at + 1..].iter().all(|item| item.section > Section::Policy), "above all else");
    // The second shows what differs; the key stays that of the first.
    let (task, approval) = asked(&world, SECOND, 1);
    let shown = card(&world, task);
    assert!(shown.contains("- I keep the letters of the harbour in order."), "{shown}");
    assert!(shown.contains("+ I keep the letters of two harbours in order."), "{shown}");
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(world.drive(task), completed());
    world.crash();
    world.reopen();
    let registry = world.kernel().identity();
    let graph = registry.graph(world.kernel().artifacts()).unwrap();
    assert_eq!((graph.unbroken, graph.links.len()), (true, 2), "{:?}", graph.findings);
    assert_eq!(graph.key_in_force, Some(key));
    assert_eq!(in_store(&world, "identity.key_registered"), 1);
    // What is attested by the key in force is not attested again.
    let linked = world.kernel().attest().unwrap();
    assert_eq!((linked.number, linked.version, in_store(&world, "identity.linked")), (2, 2, 2));
    assert!(pack(&world, "look again").items.iter().any(|item| item.text.contains("two harbours")));
}

#[test]
fn what_cannot_be_soul_or_is_about_another_version_is_refused_in_words() {
    let world = World::new(5_902);
    let refused = |text: &str, replaces: u32, says: &str| {
        let came = world.kernel().propose_soul(text, replaces, by());
        let why = came.expect_err(says).to_string();
        assert!(why.contains(says), "{says}: {why}");
    };
    refused("", 0, "empty");
    refused(" \n\t", 0, "empty");
    refused(&"x".repeat(1024 * 1024), 0, "shorten it");
    refused(&"x".repeat(SOUL_BYTES_MAX + 1), 0, "shorten it");
    refused("a\0b", 0, "zero byte");
    refused(FIRST, 1, "version 0 by now");
    written(&world, FIRST, 0);
    refused(FIRST, 1, "this text already");
    refused(SECOND, 0, "version 1 by now");
    // Two that take the place of one: the second yes is about what is not there any more.
    let (one, first) = asked(&world, SECOND, 1);
    let (other, second) = asked(&world, "# Eve\n", 1);
    world.person.allow(world.kernel(), one, first).unwrap();
    assert_eq!(world.drive(one), completed());
    world.person.allow(world.kernel(), other, second).unwrap();
    world.drive(other);
    let registry = world.kernel().identity();
    assert_eq!(registry.souls.len(), 2);
    assert_eq!(registry.latest().unwrap().soul.sha256, Digest::of(SECOND.as_bytes()));
    // A no writes nothing.
    let (task, approval) = asked(&world, "# Eve\n", 2);
    world.person.deny(world.kernel(), task, approval, "no").unwrap();
    world.drive(task);
    assert_eq!(in_store(&world, "identity.soul_written"), 2);
}

#[test]
fn no_tool_of_a_model_reaches_soul() {
    for tool in iteration::tools() {
        assert!(!tool.name.contains("soul") && !tool.name.contains("identity"), "{}", tool.name);
    }
}

#[conforms::conforms(part = "HV-3.9-4")]
#[test]
fn a_rotation_hands_over_in_its_commit_and_the_key_that_went_signs_nothing_more() {
    let world = World::new(5_903);
    let (one, next) = (SchnorrKey::from_secret([1; 32]).unwrap(), SchnorrKey::from_secret([2; 32]).unwrap());
    written(&world, FIRST, 0);
    let registry = world.kernel().identity();
    let key = world.keys.instance(&registry.first_soul().unwrap()).unwrap();
    let strange = world.kernel().rotate_keys(&[], Some((&one, &next)));
    assert!(matches!(&strange, Err(Error::Conflict(why)) if why.contains("broken at link 2")), "{strange:?}");
    assert_eq!(in_store(&world, "identity.linked"), 1, "nothing broken is ever recorded");
    world.kernel().rotate_keys(&[], Some((&key, &next))).unwrap();
    let graph = world.kernel().identity().graph(world.kernel().artifacts()).unwrap();
    assert!(graph.unbroken, "{:?}", graph.findings);
    assert_eq!(graph.key_in_force, Some(next.public()));
    let Link::Handover(handed) = &graph.links[1].link else { panic!("it is a hand-over") };
    assert_eq!(handed.reason, HandoverReason::Rotation);
    assert_eq!(graph.links[1].signed_by, [key.public(), next.public()]);
    // The keys of this world are those from before: what they would sign now is not believed.
    let refused = world.kernel().attest();
    assert!(matches!(&refused, Err(Error::Conflict(why)) if why.contains("had handed over")), "{refused:?}");
    world.keys.lock(true);
    assert!(matches!(world.kernel().attest(), Err(Error::KeyLocked(_))));
    world.keys.lock(false);
    // A clock that is put back moves no time of the chain back.
    world.clock.advance(-60_000);
    world.kernel().rotate_keys(&[], Some((&next, &one))).unwrap();
    assert!(world.kernel().identity().graph(world.kernel().artifacts()).unwrap().unbroken);
}

#[test]
fn an_adopted_program_is_named_by_the_hand_over_that_the_old_and_the_new_key_sign() {
    let world = World::new(5_910);
    let next = SchnorrKey::from_secret([2; 32]).unwrap();
    written(&world, FIRST, 0);
    let key = world.keys.instance(&world.kernel().identity().first_soul().unwrap()).unwrap();
    let program = Digest::of(b"a program");
    world.kernel().rotate_keys_to_successor(&[], (&key, &next), program).unwrap();
    let graph = world.kernel().identity().graph(world.kernel().artifacts()).unwrap();
    assert!(graph.unbroken, "{:?}", graph.findings);
    let Link::Handover(handed) = &graph.links[1].link else { panic!("it is a hand-over") };
    assert_eq!((handed.reason, handed.successor_sha256), (HandoverReason::Successor, Some(program)));
    assert_eq!(graph.links[1].signed_by, [key.public(), next.public()]);
}

#[test]
fn an_erased_version_takes_its_text_and_leaves_the_chain() {
    let world = World::new(5_904);
    written(&world, FIRST, 0);
    let registry = world.kernel().identity();
    let soul = registry.latest().unwrap().soul.clone();
    let contents = vec![(soul.artifact_id, soul.sha256)];
    let erasure = Erasure { values: Vec::new(), contents, written: Vec::new(), tasks: Vec::new() };
    let log_id = world.kernel().reader().log_id().to_owned();
    let subject = erasure.sha256().unwrap();
    let signed =
        Signed::of(&log_id, Matter::Erase, subject, world.clock.now(), world.person.signer()).unwrap();
    world.kernel().erase(&erasure, &signed).unwrap();
    assert!(world.kernel().artifacts().read(&soul.sha256).is_err(), "its text is gone");
    let graph = world.kernel().identity().graph(world.kernel().artifacts()).unwrap();
    assert!(graph.unbroken, "{:?}", graph.findings);
    assert!(pack(&world, "look around").items.iter().all(|item| !item.source.starts_with("soul:")));
    // The next one is written and attested as ever, by the key of the first.
    written(&world, SECOND, 1);
    let graph = world.kernel().identity().graph(world.kernel().artifacts()).unwrap();
    assert_eq!((graph.unbroken, graph.links.len()), (true, 2), "{:?}", graph.findings);
}
