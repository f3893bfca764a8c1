//! How far machines reach each other when relays are cut: by another relay, directly, and by a stick.

use super::machines::{Machine, Relay, pair};
use crate::journeys::stage::until;
use serde_json::json;
use std::net::TcpListener;
use testkit::{Chat, Large};

fn says(words: &str) -> Chat {
    Chat::saying(Large::STRONG, vec![json!({ "tool": "done", "arguments": { "summary": words } })])
}

#[conforms::conforms(part = "HV-3.7-3", part = "HV-3.1-4", part = "HV-7-2")]
#[test]
fn what_is_said_while_a_machine_is_off_or_every_relay_is_cut_waits_and_comes_once() {
    let (one, two) = (Relay::new(), Relay::new());
    let chat = says("The answer is 42.");
    let model = chat.address();
    let mut server = Machine::new("server", &[&one, &two], &["--model", &model]);
    let laptop = Machine::new("laptop", &[&one, &two], &[]);
    pair(&server, &laptop, &[]);
    laptop.hears(&server);
    // The other machine is off: a relay has it, and it is not called opened.
    server.ends();
    let message = laptop.sends(&server, "What is the answer?");
    until("a relay has it", || laptop.message(&message)["state"] == "accepted");
    assert!(laptop.message(&message)["accepted_by"].as_str().is_some_and(|by| by.starts_with("ws://")));
    drop(one);
    server.serve();
    let answer = laptop.answered(&message);
    assert!(answer.contains("The answer is 42."), "by the relay that is left: {answer}");
    // Every relay is cut: it waits here, and says so.
    let address = two.address().to_owned();
    drop(two);
    let message = laptop.sends(&server, "And once more?");
    assert_eq!(laptop.message(&message)["state"], "queued");
    let _back = Relay::at(&address);
    let answer = laptop.answered(&message);
    assert!(answer.contains("The answer is 42."), "{answer}");
    assert_eq!(server.tasks("What is the answer?").len(), 1);
    assert_eq!(server.tasks("And once more?").len(), 1);
}

#[conforms::conforms(part = "HV-3.7-3", part = "HV-7-2")]
#[test]
fn without_any_relay_machines_speak_directly_and_without_any_network_by_a_stick() {
    let port =
        || TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").to_string();
    let (free, other) = (port(), port());
    let chat = says("By cable.");
    let model = chat.address();
    let mut server = Machine::new("server", &[], &["--model", &model, "--listen", &free]);
    let mut laptop = Machine::new("laptop", &[], &["--listen", &other]);
    pair(&server, &laptop, &[&free]);
    laptop.hears(&server);
    let message = laptop.sends(&server, "Say how this came");
    let answer = laptop.answered(&message);
    assert!(answer.contains("By cable."), "{answer}");
    // No network: neither hears the other, and a file goes to and fro.
    for machine in [&mut server, &mut laptop] {
        machine.ends();
        machine.sets(&[], &["--listen", ""]);
        machine.serve();
    }
    let message = laptop.sends(&server, "Say how that came");
    assert_eq!(laptop.message(&message)["state"], "queued");
    let carry = |from: &Machine, to: &Machine| {
        let stick = from.stage.at("stick");
        let _ = std::fs::remove_file(&stick);
        let path = stick.to_str().expect("UTF-8");
        from.mesh(&["export", path]).ends(0);
        let text = std::fs::read(&stick).expect("a stick");
        assert!(
            !String::from_utf8_lossy(&text).contains("Say how that came"),
            "whoever finds it reads nothing"
        );
        to.mesh(&["import", path]).ends(0);
        // Taken in twice, it says nothing twice.
        to.mesh(&["import", path]).ends(0);
    };
    carry(&laptop, &server);
    until("it is done", || server.tasks("Say how that came").iter().any(|one| one["status"] == "completed"));
    // What is not said yet is carried the next time.
    until("the answer is carried", || {
        carry(&server, &laptop);
        laptop.message(&message)["answer"].is_string()
    });
    let answer = laptop.answered(&message);
    assert!(answer.contains("By cable."), "{answer}");
    assert_eq!(server.tasks("Say how that came").len(), 1, "once");
    server
        .stage
        .hermit(&["mesh", "import", laptop.stage.at("approval.txt").to_str().expect("UTF-8")])
        .complains(&["mesh"]);
}
