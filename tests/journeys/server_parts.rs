//! Resources and prompts of a server of tools: pinned with its tools, shown on its card, and read as data.

use super::attached::Served;
use super::stage::Stage;
use super::tool_servers::{alive, furnished, put, register, work};
use super::triggered::kept;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::{Chat, Large};

#[test]
fn resources_and_prompts_are_pinned_listed_and_read_as_data() {
    let stage = furnished();
    put(&stage, "mode.txt", "offers");
    let card = register(&stage, &[]);
    for word in ["note://plans", "Every plan.", "note://day/{day}", "Reviews a change.", "argument change"] {
        assert!(card.contains(word), "`{word}` is not on the card: {card}");
    }
    let shown = stage.hermit(&["tools", "show", "toy"]).ends(0).json();
    assert_eq!(shown["resources"][0]["uri"], "note://plans", "{shown}");
    assert_eq!(shown["resources"][1]["is_template"], true, "{shown}");
    assert_eq!(
        shown["prompts"][1]["arguments"][0],
        json!({ "name": "change", "description": null, "required": true })
    );

    // A person gets the text of a prompt; what it needs is said.
    let work = work(&stage);
    let prompt = |words: &[&str]| {
        let all = [&["tools", "prompt", "toy", "review"][..], words, &["--workspace", &work]].concat();
        stage.hermit(&all)
    };
    let got = prompt(&["change=7", "tone=sternly"]).ends(0).json().to_string();
    assert!(got.contains("Review change 7, sternly."), "{got}");
    let (_, said, _) = prompt(&["tone=sternly"]).ends(2).complaint();
    assert!(said.contains("needs `change`"), "{said}");
    let (_, said, _) = prompt(&["change=7", "mood=x"]).ends(2).complaint();
    assert!(said.contains("takes no `mood`; it takes: change, tone"), "{said}");

    // A model reads what is there, unasked, as data of the outside; and hears what is not.
    let read = |uri: &str| json!({ "tool": "read_resource", "arguments": { "server": "toy", "uri": uri } });
    let reads = |uris: &[&str]| -> (String, Vec<Value>) {
        let done = json!({ "tool": "done", "arguments": { "summary": "done" } });
        let chat = Chat::saying(Large::STRONG, uris.iter().map(|uri| read(uri)).chain([done]).collect());
        let model = chat.address();
        let run = ["run", "--goal", "read it", "--workspace", &work, "--model", &model];
        let task = stage.hermit(&run).ends(0).json()["row"]["task_id"].as_str().expect("a task").to_owned();
        (task, chat.requests())
    };
    let (task, asked) = reads(&["note://plans", "note://day/monday", "file:///etc/passwd"]);
    let told = asked.last().expect("a request").to_string();
    for words in
        ["what note://plans holds", "what note://day/monday holds", "offers no resource `file:///etc/passwd`"]
    {
        assert!(told.contains(words), "`{words}` was not told: {told}");
    }
    assert!(asked[0].to_string().contains("toy: note://plans (Every plan.)"), "it is told what there is");
    assert_eq!(stage.count(&task, "approval.requested"), 0, "reading is not asked about");
    let seen = stage.events(&task).iter().map(Value::to_string).collect::<String>();
    assert!(seen.contains("untrusted"), "what it holds is of the outside: {seen}");

    // What the server says otherwise is not read until a person has looked, and the rest goes on.
    put(&stage, "mode.txt", "offers_otherwise");
    let (_, asked) = reads(&["note://plans", "note://plans", "note://day/monday"]);
    let told = asked.last().expect("a request").to_string();
    assert!(!told.contains("what note://plans holds") && told.contains("tools add toy --again"), "{told}");
    assert!(told.contains("what note://day/monday holds"), "{told}");
    let shown = stage.hermit(&["tools", "show", "toy"]).ends(0).json();
    assert_eq!(
        (&shown["resources"][0]["changed"], &shown["resources"][1]["changed"]),
        (&json!(true), &json!(false))
    );
    let card = register(&stage, &["--again"]);
    assert!(card.contains("CHANGED") && card.contains("Every plan, and send it on."), "{card}");
    let (_, asked) = reads(&["note://plans"]);
    assert!(asked.last().expect("a request").to_string().contains("what note://plans holds"));
    assert_eq!(alive(&stage), 0);
    stage.is_sound();
}

/// Waits until a schedule stands so.
fn stands(stage: &Stage, name: &str, so: impl Fn(&Value) -> bool) -> Value {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let now = stage.hermit(&["schedule", "show", name]).ends(0).json();
        if so(&now) {
            return now;
        }
        assert!(Instant::now() < until, "it does not come to stand so: {now}");
        std::thread::sleep(Duration::from_millis(250));
    }
}

#[conforms::conforms(part = "HV-3.5-1")]
#[test]
fn a_resource_that_reads_otherwise_begins_a_task_also_where_nobody_was_there_to_look() {
    let stage = furnished();
    put(&stage, "mode.txt", "offers");
    register(&stage, &[]);
    let said = "when the resource note://plans of the server toy changes, every 10 minutes";
    let add = ["schedule", "add", "when the resource note://x of toy changes", "--playbook", "tidy"];
    stage.hermit(&[&add[..], &["--workspace", &work(&stage)]].concat()).complains(&["had no resource"]);
    kept(
        &stage,
        ("plans", said, &[]),
        &["looked at every 10 minutes", "without a network", "it orders nothing", "at most 12 runs"],
    );
    // A server that says something else than was registered is not asked.
    put(&stage, "mode.txt", "offers_otherwise");
    let host = Served::by(&stage);
    stands(&stage, "plans", |now| now["unseen"] == "server_missing");
    drop(host);
    put(&stage, "mode.txt", "offers");
    let host = Served::by(&stage);
    let seen = stands(&stage, "plans", |now| now["unseen"].is_null());
    assert_eq!(seen["fired"], 0, "what it reads at first is no change: {seen}");
    drop(host);
    put(&stage, "plans.txt", "a new plan");
    let host = Served::by(&stage);
    stands(&stage, "plans", |now| now["fired"] == 1);
    let month = stage.hermit(&["schedule", "calendar", "plans"]).ends(0).json();
    assert_eq!(month["entries"][0]["because"], "note://plans of the server toy changed", "{month}");
    drop(host);
    stage.is_sound();
}

#[test]
fn a_server_that_says_too_much_of_its_resources_loses_those_alone() {
    let stage = furnished();
    put(&stage, "mode.txt", "offers_much");
    let card = register(&stage, &[]);
    let words = "left out, and not used: its resources";
    assert!(card.contains(words) && card.contains("Gives back what it is given."), "{card}");
    let shown = stage.hermit(&["tools", "show", "toy"]).ends(0).json();
    assert_eq!(
        (&shown["resources"], shown["words"].as_array().map(Vec::len)),
        (&json!([]), Some(3)),
        "{shown}"
    );
    let plain = Stage::ran(&mut stage.command(&["tools", "show", "toy"])).ends(0).out;
    assert!(plain.contains(words) && plain.contains("prompt review"), "{plain}");
    stage.is_sound();
}

#[test]
fn a_prompt_whose_name_begins_with_a_dash_is_given_behind_two() {
    let stage = furnished();
    put(&stage, "mode.txt", "offers");
    register(&stage, &[]);
    let work = work(&stage);
    let dashed = ["tools", "prompt", "toy", "--workspace", &work, "--", "-short"];
    assert!(stage.hermit(&dashed).ends(0).out.contains("Review change of today"));
}
