//! What begins a task of a schedule in the mesh: a message of another machine, its silence, and an event that it leaves at a relay
//! (HV-3.5-1). Time passes faster for both machines.

use super::machines::{Machine, Relay, pair};
use crate::journeys::tool_servers::{work, yes};
use serde_json::json;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use testkit::{Chat, Large};

/// How many times as fast time passes: a quarter of an hour is thirty-eight seconds, and a look comes within three.
const TIMES: u32 = 24;
const PATIENCE: Duration = Duration::from_secs(180);
const LOOKS_EVERY: Duration = Duration::from_millis(300);
/// Longer than it takes until every schedule was looked at.
const LOOKED: Duration = Duration::from_secs(7);

fn approves(machine: &Machine, name: &str, when: &str) {
    let folder = work(&machine.stage);
    let add = ["schedule", "add", when, "--playbook", "duplicates", "--name", name, "--workspace", &folder];
    let asked = machine.stage.hermit(&add).ends(4).json();
    yes(&machine.stage, asked["waits_for"]["id"].as_str().expect("an approval"));
}

/// How often a schedule has begun a task.
fn fired(machine: &Machine, name: &str) -> u64 {
    let shown = machine.stage.hermit(&["schedule", "show", name]).ends(0).json();
    assert_eq!(shown["state"], "active", "{shown}");
    shown["fired"].as_u64().expect("a number")
}

#[track_caller]
fn fires(machine: &Machine, name: &str, times: u64) {
    let by = Instant::now() + PATIENCE;
    while fired(machine, name) < times {
        let told = || [machine.told(&["show"]), machine.told(&["messages"]), machine.told(&["nodes"])];
        assert!(
            Instant::now() < by,
            "{name} did not begin: {}\n{:#?}",
            machine.stage.hermit(&["schedule", "show", name]).ends(0).json(),
            told()
        );
        std::thread::sleep(LOOKS_EVERY);
    }
}

#[conforms::conforms(part = "HV-3.5-1")]
#[test]
fn a_message_a_silence_and_an_event_at_a_relay_begin_one_task_each_also_after_a_death() {
    let relay = Relay::new();
    let chat =
        Chat::saying(Large::STRONG, vec![json!({ "tool": "done", "arguments": { "summary": "Heard." } })]);
    let model = chat.address();
    let mut server = Machine::new("server", &[&relay], &["--model", &model]);
    let mut laptop = Machine::new("laptop", &[&relay], &[]);
    let add = |when: &str| {
        let folder = work(&server.stage);
        let add =
            ["schedule", "add", when, "--playbook", "duplicates", "--name", "x", "--workspace", &folder];
        server.stage.hermit(&add)
    };
    add("when the machine laptop sends a message").complains(&["laptop", "hermit mesh nodes"]);
    add("when a Nostr event comes at wss://relay.example").complains(&["whose events count"]);
    pair(&server, &laptop, &[]);
    approves(&server, "noted", "when the machine laptop sends a message");
    approves(&server, "watch", "when the machine laptop is silent for 15 minutes");
    // A machine tells by a signed event at the relay that it is here.
    let signs =
        format!("when a Nostr event of kind 30078 by {} comes at {}, every minute", laptop.node(), relay.url);
    approves(&server, "signs", &signs);
    laptop.hears(&server);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_millis();
    let pace = format!("{now}*{TIMES}");
    server.hurries(&pace);
    std::thread::sleep(LOOKED);
    laptop.hurries(&pace);
    // Each sign that it gives from now on is an event that was not there.
    fires(&server, "signs", 1);
    let message = laptop.sends(&server, "Do you hear me?");
    fires(&server, "noted", 1);
    assert!(laptop.answered(&message).contains("Heard."), "and it is a goal, as it is without a schedule");
    assert_eq!((fired(&server, "noted"), fired(&server, "watch")), (1, 0));
    // Both die; the server comes back, and the message begins nothing again.
    laptop.killed();
    server.killed_and_served();
    fires(&server, "watch", 1);
    std::thread::sleep(LOOKED);
    assert_eq!((fired(&server, "noted"), fired(&server, "watch")), (1, 1));
    server.ends();
    server.stage.is_sound();
}
