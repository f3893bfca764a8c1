//! Schedules that wait for what happens elsewhere (schedule.md 1, HV-3.5-1): an event of Nostr at a relay, and a machine of the mesh that
//! falls silent or tells a receipt.

use crate::resources::{later, told};
use crate::schedules::{MINUTE, begun, keep, now, record};
use crate::waiting::{over, waits};
use conforms::conforms;
use kernel::Error;
use kernel::command::afar_looks::{MachinesHeard, RelayEvent, Relays};
use kernel::command::looking::Among;
use mesh::{Delivered, Fact, Input, NodeId, Peer, ReceiptLine};
use model::ingress::Channel;
use model::schedule::{EventFilter, Unseen};
use model::{TaskId, UnixMs};
use seal::{Digest, SeedSigner, Signer as _};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use testkit::World;

const ONE: &str = "wss://one.example";
const TWO: &str = "wss://two.example";

/// What each relay has; one that is not here does not answer.
#[derive(Default)]
struct Kept(Mutex<BTreeMap<&'static str, Vec<RelayEvent>>>);

impl Kept {
    fn have(&self, relay: &'static str, event: &RelayEvent) {
        self.0.lock().unwrap().entry(relay).or_default().push(event.clone());
    }
}

impl Relays for Kept {
    /// It gives all that it has, whatever was asked for.
    fn events(
        &self,
        relay: &str,
        _: (&EventFilter, i64),
        _: &dyn Fn() -> bool,
    ) -> Result<Vec<RelayEvent>, String> {
        self.0.lock().unwrap().get(relay).cloned().ok_or_else(|| "it does not answer".to_owned())
    }
}

fn author() -> Digest {
    Digest::of(b"somebody")
}

/// An event that was made so many seconds before now.
fn event(world: &World, text: &str, before: i64) -> RelayEvent {
    let at = now(world).0 / 1_000 - before;
    let id = Digest::of(format!("{text} {at}").as_bytes());
    let tags = vec![vec!["t".to_owned(), "hermit".to_owned()]];
    RelayEvent { id, author: author(), at, kind: 1, tags, text: text.to_owned() }
}

fn asking(world: &World, relays: &Arc<Kept>) {
    world.kernel().asks_relays_by(Arc::clone(relays) as _);
}

fn said() -> String {
    format!("when a Nostr event of kind 1 by {} comes at {ONE}, {TWO}, every minute", author())
}

/// The first of two relays answers only while the other one is asked, too.
#[derive(Default)]
struct Together(Mutex<BTreeSet<String>>, Condvar, Kept);

impl Relays for Together {
    fn events(
        &self,
        relay: &str,
        of: (&EventFilter, i64),
        is_over: &dyn Fn() -> bool,
    ) -> Result<Vec<RelayEvent>, String> {
        let mut asked = self.0.lock().unwrap();
        asked.insert(relay.to_owned());
        self.1.notify_all();
        let waited = self.1.wait_timeout_while(asked, Duration::from_secs(20), |asked| asked.len() < 2);
        if waited.unwrap().1.timed_out() {
            return Err("it was asked alone".to_owned());
        }
        self.2.events(relay, of, is_over)
    }
}

#[test]
fn relays_are_asked_at_once_and_apart_from_servers_so_that_one_that_hangs_holds_up_no_other() {
    let world = World::new(6_847);
    let relays = Arc::new(Together::default());
    world.kernel().asks_relays_by(Arc::clone(&relays) as _);
    keep(&world, waits(&world, &said()), "keep");
    assert!(world.kernel().next_look_among(Among::Servers).is_none());
    assert!(world.kernel().next_look_among(Among::Relays).is_some());
    relays.2.have(TWO, &event(&world, "there before", 60));
    assert_eq!(later(&world, 0), []);
    relays.0.lock().unwrap().clear();
    relays.2.have(ONE, &event(&world, "news", 0));
    let [run] = later(&world, 1)[..] else { panic!("one task") };
    assert_eq!(told(&world, run)["events"][0]["text"], json!("news"));
}

#[conforms(part = "HV-3.5-1")]
#[test]
fn an_event_at_a_relay_begins_one_task_by_whichever_relay_and_however_often_it_comes() {
    let mut world = World::new(6_841);
    let relays = Arc::new(Kept::default());
    asking(&world, &relays);
    keep(&world, waits(&world, &said()), "keep");
    let before = event(&world, "there before", 60);
    relays.have(ONE, &before);
    assert_eq!(world.kernel().look_due_among(Among::Others).unwrap(), [], "relays are asked beside folders");
    assert_eq!(later(&world, 0), [], "what there was before is no news");
    // Of what a relay gives, that alone counts which was asked for, and which is made by now.
    let news = event(&world, "news", 0);
    for strange in [
        RelayEvent { author: Digest::of(b"eve"), ..event(&world, "of another", 0) },
        RelayEvent { kind: 7, ..event(&world, "of another kind", 0) },
        event(&world, "of a time to come", -86_400),
        event(&world, "of long ago", 86_400),
    ] {
        relays.have(ONE, &strange);
    }
    assert_eq!(later(&world, 1), []);
    relays.have(ONE, &news);
    let [run] = later(&world, 1)[..] else { panic!("one task") };
    let change = told(&world, run);
    assert_eq!(change["events"].as_array().map(Vec::len), Some(1), "{change}");
    assert_eq!((&change["events"][0]["text"], &change["more"]), (&json!("news"), &json!(0)));
    over(&world, run);
    // It comes again by the other relay, and a late one comes by that alone.
    let late = event(&world, "late", 300);
    [&before, &news].into_iter().for_each(|one| relays.have(TWO, one));
    assert_eq!(later(&world, 1), []);
    relays.have(TWO, &late);
    let [run] = later(&world, 1)[..] else { panic!("one task") };
    assert_eq!(told(&world, run)["events"][0]["text"], json!("late"));
    over(&world, run);
    // While no host is open one comes; what was seen begins nothing again.
    let meanwhile = event(&world, "meanwhile", 0);
    relays.have(TWO, &meanwhile);
    world.reopen();
    assert_eq!(later(&world, 1), [], "nobody asks relays yet");
    assert_eq!(record(&world).slots.unseen, Some(Unseen::RelayMissing));
    asking(&world, &relays);
    let [run] = later(&world, 1)[..] else { panic!("one task") };
    assert_eq!(told(&world, run)["events"][0]["text"], json!("meanwhile"));
    over(&world, run);
    for _ in 0..30 {
        assert_eq!(later(&world, 1), []);
    }
    assert_eq!(begun(&world).len(), 3);
}

#[test]
fn a_flood_of_events_begins_no_more_than_an_hour_may_and_long_texts_are_told_in_part() {
    let world = World::new(6_842);
    let relays = Arc::new(Kept::default());
    asking(&world, &relays);
    keep(&world, waits(&world, &said()), "keep");
    relays.have(ONE, &event(&world, "there before", 60));
    assert_eq!(later(&world, 0), []);
    for nth in 0..30 {
        relays.have(ONE, &event(&world, &format!("{nth} {}", "a word, ".repeat(1_000)), nth));
    }
    let [run] = later(&world, 1)[..] else { panic!("one task") };
    let change = told(&world, run);
    assert_eq!((change["events"].as_array().map(Vec::len), &change["more"]), (Some(20), &json!(10)));
    assert_eq!(change["events"][0]["text"].as_str().map(str::len), Some(2 * 1024));
    assert!(change["events"][0]["more"].as_u64() > Some(5_000), "{change}");
    over(&world, run);
    for turn in 0..40 {
        for nth in 0..50 {
            relays.have(ONE, &event(&world, &format!("{turn} {nth}"), 0));
        }
        later(&world, 1).into_iter().for_each(|run| over(&world, run));
    }
    assert_eq!(begun(&world).len(), 12, "as many as an hour may");
}

/// A machine that is paired with this one.
fn laptop(world: &World) -> NodeId {
    let node = NodeId(Digest::of(b"laptop"));
    world.kernel().join_mesh(NodeId(Digest::of(b"desk")), "desk").unwrap();
    let log_key = SeedSigner::from_seed([9; 32]).public();
    let peer = Peer { node, name: "Laptop".to_owned(), relays: Vec::new(), log_key, approval_key: None };
    world.kernel().record_mesh(&[Fact::Paired(peer)], &[], None).unwrap();
    node
}

/// What begins after so many minutes, where the machine was heard then, or was not since then.
fn heard(world: &World, (node, at, is_heard): (NodeId, UnixMs, bool), minutes: i64) -> Vec<TaskId> {
    world.clock.advance(minutes * MINUTE);
    let last = BTreeMap::from([(node, (at, is_heard))]);
    let heard = MachinesHeard { now: now(world), last, quiet_ms: 10 * MINUTE };
    world.kernel().heard_machines(Some(heard));
    later(world, 0)
}

#[conforms(part = "HV-3.5-1")]
#[test]
fn a_machine_that_falls_silent_begins_one_task_also_after_a_host_that_begins_anew() {
    let mut world = World::new(6_843);
    let node = laptop(&world);
    keep(&world, waits(&world, "when the machine laptop is silent for 30 minutes"), "keep");
    let seen = now(&world);
    assert_eq!(heard(&world, (node, seen, true), 0), []);
    assert_eq!(heard(&world, (node, seen, true), 20), []);
    let [run] = heard(&world, (node, seen, true), 11)[..] else { panic!("one task") };
    over(&world, run);
    assert_eq!(heard(&world, (node, seen, true), 20), [], "once");
    // The host begins anew, and does not know for how long it was silent before.
    world.reopen();
    let began = now(&world);
    assert_eq!(heard(&world, (node, began, false), 1), []);
    assert_eq!(heard(&world, (node, began, false), 40), [], "it was silent before");
    // Nobody listens: that is no silence.
    world.kernel().heard_machines(None);
    assert_eq!(later(&world, 60), []);
    assert_eq!(record(&world).slots.unseen, Some(Unseen::MachineMissing));
    // It is back, and falls silent again.
    let seen = now(&world);
    assert_eq!(heard(&world, (node, seen, true), 1), []);
    let [run] = heard(&world, (node, seen, true), 30)[..] else { panic!("one task") };
    over(&world, run);
    assert_eq!(begun(&world).len(), 2);
}

#[test]
fn receipts_that_a_machine_tells_begin_one_task_together_and_only_paired_machines_are_waited_for() {
    let world = World::new(6_844);
    let refused = |name: &str| {
        let schedule = waits(&world, &format!("when the machine {name} tells a receipt"));
        let by = (Channel::App, name.to_owned());
        world.kernel().propose_schedule(schedule, "UTC", by).unwrap_err()
    };
    assert!(matches!(refused("laptop"), Error::Input(why) if why.contains("hermit mesh nodes")));
    let node = laptop(&world);
    assert!(matches!(refused("phone"), Error::Input(_)));
    keep(&world, waits(&world, "when the machine laptop tells a receipt"), "keep");
    let tell = |numbers: std::ops::Range<u64>| {
        let line = |number: u64| {
            let sha256 = Digest::of(&number.to_be_bytes());
            ReceiptLine { number, sha256, at: now(&world) }
        };
        let told = Delivered::Receipts { from: node, lines: numbers.map(line).collect() };
        world.kernel().record_mesh(&[], &[told], None).unwrap();
    };
    tell(1..4);
    assert_eq!(later(&world, 0), [], "what it told before is no news");
    tell(1..6);
    let [run] = later(&world, 1)[..] else { panic!("one task") };
    over(&world, run);
    assert_eq!(later(&world, 5), []);
    // Whatever number it names, what it tells next is news.
    tell(u64::from(u32::MAX)..u64::from(u32::MAX) + 1);
    let [run] = later(&world, 1)[..] else { panic!("one task") };
    over(&world, run);
    tell(6..7);
    let [run] = later(&world, 1)[..] else { panic!("one task") };
    over(&world, run);
    assert_eq!(begun(&world).len(), 3);
}

#[test]
fn a_message_that_only_names_a_machine_as_its_origin_is_none_of_that_machine() {
    let world = World::new(6_845);
    let node = laptop(&world);
    keep(&world, waits(&world, "when the machine laptop sends a message"), "keep");
    assert_eq!(later(&world, 0), []);
    let envelope = "what laptop never signed".to_owned();
    let input = Input { conversation: "c".to_owned(), origin: node, envelope, hops: 1 };
    world.kernel().record_mesh(&[], &[Delivered::Input { input, epoch: 1 }], None).unwrap();
    assert_eq!(world.kernel().mesh_registry().messages().count(), 1, "it is shown");
    assert_eq!(later(&world, 1), [], "and begins nothing");
}
