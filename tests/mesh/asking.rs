//! Machines over a relay that gives and takes nothing before it knows who is there (NIP-42).

use super::machines::{Machine, Relay, pair};
use crate::journeys::stage::until;
use serde_json::json;
use testkit::{Chat, Large};

#[test]
fn over_a_relay_that_asks_who_is_there_a_goal_is_done_and_answered() {
    let (asks, open) = (Relay::asking(), Relay::new());
    let chat = Chat::saying(
        Large::STRONG,
        vec![json!({ "tool": "done", "arguments": { "summary": "By a door that asks." } })],
    );
    let model = chat.address();
    let mut server = Machine::new("server", &[&asks, &open], &["--model", &model]);
    let laptop = Machine::new("laptop", &[&asks, &open], &[]);
    pair(&server, &laptop, &[]);
    laptop.hears(&server);
    // From here on the relay that asks is the only way.
    drop(open);
    server.ends();
    let message = laptop.sends(&server, "Who is there?");
    until("the relay has it", || laptop.message(&message)["state"] == "accepted");
    server.serve();
    let answer = laptop.answered(&message);
    assert!(answer.contains("By a door that asks."), "{answer}");
}
