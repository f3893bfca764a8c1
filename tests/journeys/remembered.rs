//! What a person says is to be remembered: they are asked, the tasks it is about are told of it, and it can be replaced and taken
//! back.

use super::server;
use super::stage::Stage;
use super::tool_servers::{asked, put, work, yes};
use serde_json::{Value, json};

fn rows(stage: &Stage, more: &[&str]) -> Vec<Value> {
    let listed = stage.hermit(&[&["memory", "list"][..], more].concat()).ends(0).json();
    listed["rows"].as_array().expect("rows").clone()
}

/// The digits that a record is named by.
fn named(stage: &Stage, claim: &str) -> String {
    let rows = rows(stage, &["--status", "any"]);
    let row =
        rows.iter().find(|row| row["claim"] == claim).unwrap_or_else(|| panic!("no `{claim}`: {rows:?}"));
    row["memory_id"].as_str().expect("an id").to_owned()
}

#[test]
fn what_mended_a_command_is_proposed_when_its_task_has_ended_and_kept_with_a_persons_yes() {
    let stage = Stage::new();
    let work = work(&stage);
    let run = json!({ "tool": "command", "arguments": { "argv": ["test", "-f", "ok.txt"] } });
    let model = server::script(&[
        run.clone(),
        json!({ "tool": "write", "arguments": { "path": "ok.txt", "content": "ok" } }),
        run,
        json!({ "tool": "done", "arguments": { "summary": "mended" } }),
    ]);
    stage.hermit(&["run", "--goal", "Always keep ok.txt there", "--workspace", &work, "--model", &model]);
    for _ in 0..4 {
        let Some(approval) = stage.waiting().first().map(|row| row["approval_id"].clone()) else { break };
        yes(&stage, approval.as_str().expect("an id"));
    }
    let came = stage.hermit(&["memory", "review"]).ends(0).json();
    assert_eq!((&came["lines"], &came["tasks"]), (&json!(2), &json!(1)), "{came}");
    let rows = stage.hermit(&["memory", "suggestions"]).ends(0).json()["rows"].clone();
    let rows = rows.as_array().expect("rows").clone();
    assert_eq!(rows[0]["claim"], "Always keep ok.txt there");
    let mended = rows[1]["claim"].as_str().expect("a claim");
    assert!(mended.contains("test -f ok.txt") && mended.contains("failed, and passed after"), "{mended}");
    let grounds = rows[1]["grounds"].as_array().expect("what shows it");
    assert_eq!(grounds.len(), 3, "{grounds:?}");
    for ground in grounds {
        let receipt = ground["receipt_id"].as_str().expect("a receipt");
        stage.hermit(&["receipts", "show", receipt]).ends(0);
    }
    assert_ne!(rows[1]["trust"], "user_asserted");
    yes(&stage, rows[0]["approval_id"].as_str().expect("a card"));
    assert!(named(&stage, "Always keep ok.txt there").starts_with("mem_"));
    assert!(named(&stage, mended).starts_with("mem_"));
    let again = stage.hermit(&["memory", "review"]).ends(0).json();
    assert_eq!((&again["lines"], &again["tasks"]), (&json!(0), &json!(0)), "{again}");
    stage.is_sound();
}

#[test]
fn what_a_person_says_is_told_to_the_tasks_it_is_about_until_it_is_taken_back() {
    let stage = Stage::new();
    put(&stage, "rates.toml", "malta = 18");
    let work = work(&stage);
    let says = |words: &[&str]| {
        let (_, approval) = asked(&stage.hermit(&[words, &["--workspace", &work]].concat()).ends(4).json());
        let card = stage.hermit(&["approvals", "show", &approval]).ends(0).json().to_string();
        yes(&stage, &approval);
        card
    };
    let card = says(&["memory", "add", "tax rates live in rates.toml", "--type", "decision"]);
    assert!(card.contains("until you say otherwise") && card.contains("it is a decision"), "{card}");
    says(&["memory", "add", "the logo is blue"]);
    let told = |goal: &str| {
        let model = server::script(&[json!({ "tool": "done", "arguments": { "summary": "done" } })]);
        let words = ["run", "--goal", goal, "--workspace", &work, "--model", &model];
        stage.hermit(&words).ends(0);
        let uses = |claim: &str| {
            let shown = stage.hermit(&["memory", "show", &named(&stage, claim)]).ends(0).json();
            shown["uses"].as_u64().expect("a count")
        };
        (uses("tax rates live in rates.toml"), uses("the logo is blue"))
    };
    assert_eq!(told("Update the tax rate of Malta"), (1, 0));
    assert_eq!(told("Paint something green"), (1, 0), "it is about neither");
    let shown =
        stage.hermit(&["memory", "show", &named(&stage, "tax rates live in rates.toml")]).ends(0).json();
    let sent_in = shown["sent_in"]["tasks"].as_array().expect("tasks");
    assert_eq!(sent_in.len(), 1, "{shown}");
    assert_eq!(sent_in[0]["turns"], json!([{ "attempt": 1, "first": 1, "last": 1 }]), "{shown}");
    // What cannot be meant is refused in words, and nobody is asked.
    let wrong = |words: &[&str]| stage.hermit(words).ends(2).complaint().1;
    assert!(wrong(&["memory", "show", "mem_"]).contains("names no memory record"));
    assert!(wrong(&["memory", "add", " ", "--workspace", &work]).contains("nothing to remember"));
    // Another takes its place, where it holds.
    let tax = named(&stage, "tax rates live in rates.toml");
    let elsewhere =
        stage.hermit(&["memory", "replace", &tax, "rates are gone", "--everywhere", "--workspace", &work]);
    let said = elsewhere.complaint().1;
    assert!(said.contains("holds in one project"), "{said}");
    let card = says(&["memory", "replace", &tax, "tax rates live in taxes.toml"]);
    assert!(card.contains("it takes the place of"), "{card}");
    assert_eq!(rows(&stage, &["--status", "invalidated"])[0]["claim"], "tax rates live in rates.toml");
    // And it is taken back: it stays readable, and no task is told of it.
    let logo = named(&stage, "the logo is blue");
    stage.hermit(&["memory", "forget", &logo, "--reason", "it is a secret"]).ends(0);
    told("Paint the logo in its colour");
    let shown = stage.hermit(&["memory", "show", &logo]).ends(0).json();
    assert_eq!((&shown["status"], &shown["uses"]), (&json!("revoked"), &json!(0)));
    assert_eq!(shown["end_reason"], "it is a secret");
    stage.is_sound();
}
