//! What a person says of a tool: with examples that are tried, in one folder or everywhere, with its amounts shown apart, and
//! switched off without being forgotten; and what the tool did lately.

use super::server;
use super::stage::Stage;
use super::tool_servers::{asked, calls, card, furnished, put, register, work, yes};
use serde_json::{Value, json};

const ECHO: &str = "toy__echo";

/// `hermit tools classify` of the tool `echo`, in the folder.
fn said(stage: &Stage, more: &[&str]) -> super::stage::Ran {
    let work = work(stage);
    let words = [&["tools", "classify", "toy", "echo", "--workspace", &work][..], more].concat();
    stage.hermit(&words)
}

/// How the list tells the tool.
fn echo(stage: &Stage) -> Value {
    let listed = stage.hermit(&["tools", "list"]).ends(0).json();
    let tools = listed["servers"][0]["tools"].as_array().expect("tools").clone();
    tools.into_iter().find(|tool| tool["name"] == "echo").expect("the tool")
}

#[test]
fn examples_are_tried_before_anybody_is_asked_and_stand_on_the_card() {
    let stage = furnished();
    register(&stage, &[]);
    let class = ["--class", "read_local", "--path-pointer", "/text", "--amount-pointer", "/share"];
    let wrong = |more: &[&str]| said(&stage, &[&class[..], more].concat()).ends(2).complaint().1;
    let why = wrong(&["--match", r#"{"text":"/etc/passwd"}"#]);
    assert!(why.contains("is to match, and does not") && why.contains("no place in the folder"), "{why}");
    let why = wrong(&["--match", r#"{"text":"a.txt","share":0.75}"#]);
    assert!(why.contains("is to match, and does not") && why.contains("/share"), "{why}");
    let why = wrong(&["--no-match", r#"{"text":"a.txt"}"#]);
    assert!(why.contains("is not to match, and does"), "{why}");
    assert!(stage.waiting().is_empty(), "nobody was asked");

    let examples = ["--match", r#"{"text":"a.txt","share":0.25}"#, "--no-match", r#"{"text":"../b"}"#];
    let (_, approval) = asked(&said(&stage, &[&class[..], &examples].concat()).ends(4).json());
    let shown = card(&stage, &approval);
    for words in [
        "a.txt\\\\\\\",\\\\\\\"share\\\\\\\":0.25} is judged so",
        "../b\\\\\\\"} is refused",
        "amounts in its arguments: /share",
    ] {
        let plain = shown.replace("\\\\\\\"", "\"").replace("\\\"", "\"");
        let words = words.replace("\\\\\\\"", "\"");
        assert!(plain.contains(&words), "`{words}` is not on the card: {plain}");
    }
    yes(&stage, &approval);
    let told = echo(&stage);
    assert_eq!((&told["class"], &told["amounts"]), (&json!("read_local"), &json!(["/share"])), "{told}");
    assert_eq!(told["examples"].as_array().map(Vec::len), Some(2), "{told}");
    stage.is_sound();
}

#[test]
fn what_is_said_holds_where_it_was_said_and_not_after_it_was_switched_off() {
    let stage = furnished();
    register(&stage, &[]);
    let (_, approval) = asked(&said(&stage, &["--class", "read_local", "--only-here"]).ends(4).json());
    assert!(card(&stage, &approval).contains("only in this folder"));
    yes(&stage, &approval);
    let at = std::fs::canonicalize(stage.work()).expect("a folder");
    assert_eq!(echo(&stage)["only_in"], json!(at.to_str()), "{}", echo(&stage));

    // Here it is called unasked, elsewhere as if nobody had said anything.
    calls(&stage, ECHO, &json!({ "text": "here" }), 0);
    let other = stage.at("other");
    std::fs::create_dir(&other).expect("a folder");
    for name in ["server.py", "mode.txt"] {
        std::fs::copy(stage.work().join(name), other.join(name)).expect("a file");
    }
    let done = json!({ "tool": "done", "arguments": { "summary": "done" } });
    let model = server::script(&[json!({ "tool": ECHO, "arguments": { "text": "there" } }), done]);
    let other = other.to_str().expect("UTF-8");
    let run = ["run", "--goal", "say it", "--workspace", other, "--model", &model];
    let (_, approval) = asked(&stage.hermit(&run).ends(4).json());
    assert!(card(&stage, &approval).contains("NOBODY has said what it may do"));
    stage.hermit(&["approvals", "deny", &approval]).ends(0);

    // Off asks nobody, holds at once, and leaves the rest of the server as it is.
    said(&stage, &["--off"]).ends(0);
    assert_eq!((&echo(&stage)["class"], &echo(&stage)["off"]), (&Value::Null, &json!(true)));
    assert_eq!(stage.hermit(&["tools", "list"]).ends(0).json()["servers"][0]["state"], "ready");
    let (_, approval) = asked(&calls(&stage, ECHO, &json!({ "text": "off" }), 4));
    assert!(card(&stage, &approval).contains("NOBODY has said what it may do"));
    stage.hermit(&["approvals", "deny", &approval]).ends(0);
    let nothing = ["tools", "classify", "toy", "count", "--off", "--workspace", &work(&stage)];
    let (_, why, _) = stage.hermit(&nothing).ends(1).complaint();
    assert!(why.contains("toy.count"), "{why}");

    // Said again it holds again, here with an amount that a card shows apart.
    let (_, approval) =
        asked(&said(&stage, &["--class", "external_effect", "--amount-pointer", "/share"]).ends(4).json());
    yes(&stage, &approval);
    let (task, approval) = asked(&calls(&stage, ECHO, &json!({ "text": "pay", "share": 0.25 }), 4));
    let shown = card(&stage, &approval);
    assert!(shown.contains("an AMOUNT in its arguments: 0.25 (`/share`)"), "{shown}");
    yes(&stage, &approval);
    assert_eq!(stage.receipt(&task)["action_class"], "external_effect");
    lately(&stage, &task);
    stage.is_sound();
}

/// The latest call of the server stands first, with its receipt; of what nobody did there is none.
fn lately(stage: &Stage, task: &str) {
    let shown = stage.hermit(&["tools", "show", "toy"]).ends(0).json();
    let told = shown["calls"].as_array().expect("calls");
    assert_eq!((&told[0]["task_id"], &told[0]["result"]), (&json!(task), &json!("succeeded")), "{told:?}");
    assert_eq!(told[0]["receipt_id"], stage.receipt(task)["receipt_id"]);
    assert!(told[0]["summary"].as_str().is_some_and(|said| said.contains("pay")), "{told:?}");
    let refused = told.iter().filter(|call| call["result"] == "denied" && call["receipt_id"].is_null());
    assert!(refused.count() >= 2, "{told:?}");
    let succeeded = told.iter().filter(|call| call["result"] == "succeeded");
    assert_eq!(succeeded.count(), 2, "{told:?}");
    put(stage, "mode.txt", "good");
    let said = Stage::ran(&mut stage.command(&["tools", "show", "toy"])).ends(0).out;
    let receipt = told[0]["receipt_id"].as_str().expect("an id");
    assert!(said.contains(&format!("hermit receipts show {receipt}")), "{said}");
}
