//! A schedule that waits until a resource of a server of tools reads otherwise (schedule.md 1).

use crate::schedules::{MINUTE, begun, keep, now, record};
use crate::story::{completed, state};
use crate::waiting::{over, waits};
use kernel::Error;
use kernel::command::looking::Among;
use model::TaskId;
use model::artifact::TrustTier;
use model::ingress::Channel;
use model::schedule::Unseen;
use model::server_part::ServerResource;
use model::tool_server::{ServerLaunch, ToolManifest};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use testkit::World;

const RATES: &str = "docs://rates";

/// What the resource reads; none where its server does not answer.
type Text = Arc<Mutex<Option<&'static str>>>;

/// A world where every server has that resource.
fn serving(world: &World) -> Text {
    let text: Text = Arc::new(Mutex::new(Some("one")));
    let resource = |uri: &str| ServerResource {
        uri: uri.to_owned(),
        name: "rates".to_owned(),
        title: None,
        description: None,
        media_type: None,
    };
    let manifest = ToolManifest { resources: vec![resource(RATES)], ..ToolManifest::default() };
    let read = Arc::clone(&text);
    world.oracle.serves(manifest, move |uri| {
        let text = read.lock().unwrap().ok_or("it does not answer")?;
        let resource = json!({ "uri": uri, "text": text });
        Ok(json!({ "content": [{ "type": "resource", "resource": resource }], "at": text.len() }))
    });
    text
}

fn register(world: &World, name: &str, hosts: &[&str]) {
    let launch = ServerLaunch {
        argv: vec!["notes".to_owned()],
        url: None,
        secrets: BTreeMap::new(),
        variables: BTreeMap::new(),
        package: None,
        hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        reads: Vec::new(),
        pins: Vec::new(),
    };
    let (kernel, by) = (world.kernel(), (Channel::Cli, format!("register {name}")));
    let asked = kernel.propose_server(name, &launch, BTreeMap::new(), false, world.folder.path(), by);
    let asked = asked.unwrap().task_id;
    let approval = world.drive_to_approval(asked);
    world.person.allow(kernel, asked, approval).unwrap();
    assert_eq!(world.drive(asked), completed());
}

/// What begins once it is time to look again.
pub fn later(world: &World, minutes: i64) -> Vec<TaskId> {
    world.clock.advance(minutes * MINUTE);
    world.kernel().look_due().unwrap();
    world.kernel().fire_due().unwrap()
}

/// What a run was told, as JSON.
pub fn told(world: &World, run: TaskId) -> Value {
    let now = state(world, run);
    let named = |a: &&model::artifact::Artifact| {
        a.task_local_alias
            .as_ref()
            .and_then(|name| name.shown())
            .is_some_and(|name| name == "what-changed.json")
    };
    let given = now.artifacts.values().find(named).unwrap();
    assert_eq!(given.trust_tier, TrustTier::Untrusted);
    serde_json::from_slice(&world.kernel().artifacts().read(&given.content_hash).unwrap()).unwrap()
}

/// The next look is ten minutes after the last.
fn in_ten_minutes(world: &World) {
    let left = world.kernel().next_look().unwrap().0 - now(world).0;
    assert!((9 * MINUTE..=10 * MINUTE).contains(&left), "{left}");
}

#[test]
fn a_resource_that_reads_otherwise_at_a_look_begins_one_task_that_is_told_what_it_reads() {
    let mut world = World::new(6_831);
    let text = serving(&world);
    register(&world, "notes", &[]);
    let said = "when the resource docs://rates of the server notes changes, every 10 minutes";
    keep(&world, waits(&world, said), "keep");
    let says = |words: Option<&'static str>| *text.lock().unwrap() = words;
    assert_eq!(world.kernel().look_due_among(Among::Others).unwrap(), [], "servers are looked at apart");
    let [others, servers] =
        [Among::Others, Among::Servers].map(|among| world.kernel().next_look_among(among));
    assert!(others.is_none() && servers.is_some_and(|at| at <= now(&world)), "{others:?}, {servers:?}");
    assert_eq!(later(&world, 0), [], "what it reads at first is no change");
    in_ten_minutes(&world);
    assert_eq!(later(&world, 10), [], "it reads as before");
    says(Some("two"));
    assert_eq!(later(&world, 5), [], "nobody looks before it is time");
    let [run] = later(&world, 5)[..] else { panic!("one task") };
    let change = told(&world, run);
    assert_eq!((&change["server"], &change["uri"]), (&json!("notes"), &json!(RATES)));
    assert_eq!((&change["text"], &change["more"]), (&json!("two"), &json!(0)));
    over(&world, run);
    // One that does not answer is told of once, and is no change when it answers as before; nor is it asked all the time.
    says(None);
    assert_eq!(later(&world, 10), []);
    assert_eq!(record(&world).slots.unseen, Some(Unseen::ServerMissing));
    in_ten_minutes(&world);
    says(Some("two"));
    assert_eq!((later(&world, 10), record(&world).slots.unseen), (vec![], None));
    // What changed while no host was open is found.
    says(Some("three"));
    world.reopen();
    let [run] = later(&world, 0)[..] else { panic!("it is found") };
    over(&world, run);
    // What changed while it was paused is none.
    world.kernel().pause_schedule("morning", "for now", Channel::Cli).unwrap();
    says(Some("four"));
    world.kernel().resume_schedule("morning", Channel::Cli).unwrap();
    assert_eq!(later(&world, 20), []);
    assert_eq!(begun(&world).len(), 2);
}

#[test]
fn a_long_text_is_told_in_part_and_what_flaps_begins_no_more_than_an_hour_may() {
    let world = World::new(6_832);
    let text = serving(&world);
    register(&world, "notes", &[]);
    keep(&world, waits(&world, "when the resource docs://rates of notes changes, every minute"), "keep");
    assert_eq!(later(&world, 0), []);
    let long: &'static str = Box::leak("a word, ".repeat(10_000).into_boxed_str());
    *text.lock().unwrap() = Some(long);
    let [run] = later(&world, 1)[..] else { panic!("one task") };
    let change = told(&world, run);
    assert_eq!(
        (change["text"].as_str().unwrap().len(), &change["more"]),
        (64 * 1024, &json!(80_000 - 64 * 1024))
    );
    over(&world, run);
    for turn in 0..40 {
        *text.lock().unwrap() = Some(if turn % 2 == 0 { "on" } else { "off" });
        later(&world, 1).into_iter().for_each(|run| over(&world, run));
    }
    assert_eq!(begun(&world).len(), 12, "as many as an hour may");
}

#[test]
fn only_a_registered_resource_of_a_server_that_stays_on_this_machine_is_waited_for() {
    let world = World::new(6_833);
    serving(&world);
    register(&world, "notes", &[]);
    register(&world, "far", &["api.example.org:443"]);
    for (said, word) in [
        ("when the resource docs://rates of nobody changes", "no server of tools is registered as `nobody`"),
        ("when the resource docs://other of notes changes", "had no resource `docs://other`"),
        ("when the resource docs://rates of far changes", "reaches out of this machine"),
    ] {
        let by = (Channel::App, said.to_owned());
        let refused = world.kernel().propose_schedule(waits(&world, said), "UTC", by).unwrap_err();
        assert!(matches!(&refused, Error::Input(words) if words.contains(word)), "{refused}");
    }
}
