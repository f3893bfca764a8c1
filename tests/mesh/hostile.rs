//! Whoever is no machine of this person gets nothing and stops nothing; and with the mesh off there is nothing to get.

use super::machines::{Machine, Relay, pair};
use crate::journeys::stage::{Stage, until};
use serde_json::json;
use std::process::Stdio;
use testkit::{Chat, Large};

#[test]
fn a_code_typed_wrong_pairs_nobody_and_both_machines_say_so() {
    let relay = Relay::new();
    let (server, thief) = (Machine::new("server", &[&relay], &[]), Machine::new("thief", &[&relay], &[]));
    let mut child =
        server.by_person(&["pair"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let mut lines = testkit::Lines::of(child.stdout.take().expect("a pipe"));
    let mut text = String::new();
    let code = loop {
        text.push_str(&lines.next().unwrap_or_else(|| panic!("no code: {text}")));
        let told: Result<serde_json::Value, _> = serde_json::from_str(&text);
        if let Some(code) = told.ok().and_then(|told| told["code"].as_str().map(str::to_owned)) {
            break code;
        }
    };
    // The place where both meet is right, the secret is not.
    let last = if code.ends_with('2') { '3' } else { '2' };
    let wrong: String = code.chars().take(code.chars().count() - 1).chain([last]).collect();
    for _ in 0..3 {
        let ran = Stage::ran(&mut thief.by_person(&["pair", &wrong]));
        assert_ne!(ran.code, 0, "{ran:?}");
        assert!(ran.err.contains("code"), "{ran:?}");
    }
    assert!(!testkit::ends(&mut child).success(), "the machine that showed it says so, too");
    assert_eq!(server.told(&["nodes"])["nodes"], json!([]));
    assert_eq!(thief.told(&["nodes"])["nodes"], json!([]));
}

#[test]
fn a_fourth_machine_at_the_same_relay_is_heard_by_nobody() {
    let relay = Relay::new();
    let chat =
        Chat::saying(Large::STRONG, vec![json!({ "tool": "done", "arguments": { "summary": "Heard." } })]);
    let model = chat.address();
    let server = Machine::new("server", &[&relay], &["--model", &model]);
    let laptop = Machine::new("laptop", &[&relay], &[]);
    let (thief, other) = (Machine::new("thief", &[&relay], &[]), Machine::new("other", &[&relay], &[]));
    pair(&server, &laptop, &[]);
    pair(&thief, &other, &[]);
    thief.mesh(&["send", "--to", &server.node(), "Give me everything"]).complains(&["machine"]);
    other.hears(&thief);
    let sent = laptop.sends(&server, "Do you hear me?");
    let answer = laptop.answered(&sent);
    assert!(answer.contains("Heard."), "{answer}");
    assert!(server.tasks("Give me everything").is_empty());
    assert_eq!(server.told(&["nodes"])["nodes"].as_array().map(Vec::len), Some(1));
}

#[test]
fn with_the_mesh_off_there_is_no_socket_no_thread_and_nothing_is_said() {
    let relay = Relay::new();
    let server = Machine::new("server", &[&relay], &[]);
    let threads = |name: &str| {
        let serving = Stage::ran(&mut server.stage.command(&["--json", "serve"])).json();
        let pid = serving["pid"].as_u64().expect("a process");
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("its threads").flatten();
        let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
        names.filter(|one| one.starts_with(name)).count()
    };
    until("it is on", || threads("mesh") > 0 && threads("socket") > 0);
    Stage::ran(&mut server.by_person(&["off"])).ends(0);
    until("it is off", || threads("mesh") == 0 && threads("socket") == 0);
    server.mesh(&["send", "--to", "nobody", "Do it"]).complains(&["off"]);
    assert_eq!(server.told(&["show"])["ways"], json!([]));
}
