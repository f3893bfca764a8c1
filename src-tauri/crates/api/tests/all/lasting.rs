//! A person's lasting yes: proposed from a question, drafted from words, rehearsed on the past, listed, taken back.

use crate::home::Home;
use model::approval::Choice;
use model::standing::StandingGrant;
use serde_json::{Value, json};

fn words(proposals: &Value) -> Vec<String> {
    let rows = proposals["rows"].as_array().expect("rows");
    rows.iter().map(|row| row["words"].as_str().expect("words").to_owned()).collect()
}

#[test]
fn a_proposal_covers_the_question_and_tells_what_it_would_have_answered() {
    let home = Home::new(61);
    let (task, approval) = home.with_a_question("delete it");
    home.world.person.deny(home.world.kernel(), task, approval.parse().unwrap(), "no").unwrap();
    let (_, again) = home.with_a_question("delete it again");
    let found = home.must("grants.propose", json!({ "approval": again }));
    // Whoever asks again will have read something: an offer that does not say so would never answer.
    let also = "also after the model has read files or names that may contain instructions";
    let offered = ["held.txt", "*.txt"]
        .map(|glob| format!("delete `{glob}` in this project, 7 days, 50 times, {also}"));
    assert_eq!(words(&found), offered);
    let rehearsed = &found["rows"][0]["rehearsed"];
    assert_eq!(
        (&rehearsed["questions"], &rehearsed["answered"], &rehearsed["refused"]),
        (&json!(2), &json!(2), &json!(1))
    );
    assert_eq!(rehearsed["rows"][1]["answered"], "denied", "and it says that a person had refused it");
    let other =
        home.must("grants.draft", json!({ "paths": "*.md", "acts": ["create"], "days": 1, "uses": 1 }));
    assert_eq!(other["words"], "create `*.md` in every project, 1 day, once");
    assert_eq!(other["rehearsed"]["answered"], 0);
    let folder = home.world.folder.path().to_str().unwrap();
    let here = home.must("grants.draft", json!({ "command": ["make"], "whole": true, "workspace": folder }));
    assert_eq!(here["words"], "run `make`, no network, changing nothing, in this project, 7 days, 50 times");
    for bad in [
        json!({}),
        json!({ "paths": "*.md", "acts": [] }),
        json!({ "paths": "*.md", "acts": ["read"] }),
        json!({ "paths": "../*", "acts": ["create"] }),
        json!({ "command": ["sh", "-c"], "changes": ["**"] }),
        json!({ "command": ["a"], "host": "example.com" }),
        json!({ "host": "localhost" }),
        json!({ "host": "example.com", "days": 400 }),
        json!({ "host": "example.com", "uses": 0 }),
        json!({ "host": "example.com", "workspace": "a/relative/folder" }),
    ] {
        assert_eq!(
            home.ask("grants.draft", bad.clone()).expect_err("refused").code,
            wire::Code::Usage,
            "{bad}"
        );
    }
}

#[test]
fn it_is_handed_in_with_the_answer_listed_with_its_uses_and_taken_back() {
    let home = Home::new(62);
    let (task, approval) = home.with_a_question("delete it");
    let (world, kernel) = (&home.world, home.world.kernel());
    let found = home.must("grants.propose", json!({ "approval": approval }));
    let draft: StandingGrant = serde_json::from_value(found["rows"][0]["draft"].clone()).unwrap();
    let id = approval.parse().unwrap();
    let fresh = world.person.standing(kernel, draft.cover.clone(), draft.scope, Some((task, id)));
    let yes = world.person.sign(kernel, task, id, Choice::Once, None);
    let base64 = |bytes: &[u8]| {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.encode(bytes)
    };
    let (yes, lasting) = (base64(&yes), base64(&world.person.sign_standing(&fresh)));
    let decided =
        home.must("approvals.decide", json!({ "approval": approval, "envelope": yes, "standing": lasting }));
    assert_eq!(decided["accepted"], true);
    world.file("held.txt", "before\n");
    let again = vec![testkit::say("delete", json!({ "path": "held.txt" })), testkit::done("deleted it")];
    let second = world.script("again", again);
    assert!(matches!(world.drive(second), kernel::DriveOutcome::Ended { .. }), "nobody was asked");
    let list = home.must("grants.standing", json!({}));
    let row = &list["rows"][0];
    assert_eq!((&row["uses"], &row["max_uses"], &row["state"]), (&json!(1), &json!(50), &json!("active")));
    assert_eq!((&row["surface"], &row["decided_by"]), (&json!("test"), &json!(fresh.decided_by.to_string())));
    let receipts = home.must("receipts.list", json!({ "task": second.to_string() }));
    let acts = receipts["rows"].as_array().unwrap().iter().find(|r| r["class"] == "tool_execution").unwrap();
    let receipt = home.must("receipts.show", json!({ "receipt": acts["receipt_id"] }))["receipt"].clone();
    assert_eq!(receipt["authorized"]["standing"]["grant_id"], row["grant_id"], "the receipt names it");
    let grant = row["grant_id"].as_str().unwrap();
    let shortened = &grant[grant.len() - 8..];
    assert_eq!(home.must("grants.revoke", json!({ "grant": shortened }))["grant_id"], grant);
    assert_eq!(home.must("grants.standing", json!({}))["rows"], json!([]));
    let all = home.must("grants.standing", json!({ "all": true }));
    assert_eq!(
        (&all["rows"][0]["state"], &all["rows"][0]["reason"]),
        (&json!("revoked"), &json!("revoked by a person"))
    );
    let said = home.ask("grants.revoke", json!({ "grant": grant })).expect_err("once is enough");
    assert_eq!(said.code, wire::Code::Conflict);
}
