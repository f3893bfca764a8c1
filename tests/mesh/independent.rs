//! Machines over a relay that nobody here wrote: `nostr-relay` for Python, where `cargo xtask parts relay` has put it.

use super::machines::{Machine, Relay, pair};
use crate::journeys::stage::{Stage, until};
use crate::journeys::summary::parts;
use serde_json::json;
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use testkit::{Chat, Large};

/// The relay at a free port, with what it keeps in this folder; none where it was not fetched.
fn relay(stage: &Stage) -> Option<Relay> {
    let program = parts()?.join("relay/bin/nostr-relay");
    if !program.is_file() {
        conforms::skip("no relay that nobody here wrote is here; `cargo xtask parts relay` fetches it");
        return None;
    }
    let address =
        TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").to_string();
    let (config, kept) = (stage.at("relay.yaml"), stage.at("relay.sqlite3"));
    let text = format!(
        "storage:\n  sqlalchemy.url: sqlite+aiosqlite:///{}\n  validators:\n    - nostr_relay.validators.is_not_too_large\n    \
         - nostr_relay.validators.is_signed\nmax_event_size: 200000\nverification:\n  nip05_verification: disabled\ngunicorn:\n  bind: {address}\n  \
         workers: 1\nauthentication:\n  enabled: false\n",
        kept.display()
    );
    std::fs::write(&config, text).expect("a file");
    let mut command = Command::new("timeout");
    // Its workers go with it, and none of them outlives the test.
    command
        .args(["--foreground", "300"])
        .arg(program)
        .arg("-c")
        .arg(&config)
        .arg("serve")
        .env("HOME", stage.at("."));
    let child =
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let relay = Relay::of(child.expect("it starts"), format!("ws://{address}"));
    until("the relay listens", || TcpStream::connect(&address).is_ok());
    Some(relay)
}

#[test]
fn over_a_relay_that_nobody_here_wrote_machines_pair_work_and_catch_up() {
    let stage = Stage::bare();
    let Some(relay) = relay(&stage) else { return };
    let chat = Chat::saying(
        Large::STRONG,
        vec![json!({ "tool": "done", "arguments": { "summary": "By a stranger." } })],
    );
    let model = chat.address();
    let mut server = Machine::new("server", &[&relay], &["--model", &model]);
    let laptop = Machine::new("laptop", &[&relay], &[]);
    pair(&server, &laptop, &[]);
    laptop.hears(&server);
    server.ends();
    let message = laptop.sends(&server, "Who carries this?");
    until("the relay has it", || laptop.message(&message)["state"] == "accepted");
    server.serve();
    let answer = laptop.answered(&message);
    assert!(answer.contains("By a stranger."), "{answer}");
    assert_eq!(server.tasks("Who carries this?").len(), 1);
}
