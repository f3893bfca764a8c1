//! What a server of tools is not let do, what is told of it while it is at work, and how servers of other programs are proposed.

use super::attached::Served;
use super::stage::Stage;
use super::tool_servers::{alive, calls, classify, furnished, put, register, runs_there, state, work};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use conforms::conforms;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use testkit::{Chat, Large};

/// What the toy server answers in bytes: a picture, a sound and a file.
const MEDIA: [&str; 3] = [
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "UklGRigAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQQAAACAgYKD",
    "UEsFBgD//gAAAAAAAAAAAAAAAAAAAA==",
];

#[conforms(part = "RA-1.2-6")]
#[test]
fn what_a_tool_says_while_it_is_at_work_is_told_in_the_stream_of_its_run() {
    let stage = furnished();
    register(&stage, &[]);
    classify(&stage, "echo", "read_local", &[]);
    put(&stage, "mode.txt", "tells");
    let served = Served::by(&stage);
    let run = runs_there(&stage, &served, "toy__echo");
    let (status, page) = served.ask(&stage, "GET", &format!("/v1/runs/{run}/events?limit=500"), &Value::Null);
    assert_eq!(status, 200, "{page}");
    let told = page["events"].as_array().expect("events");
    let at = |family: &str| told.iter().position(|event| event["type"] == family).expect(family);
    let (started, done) = (at("tool.started"), at("tool.done"));
    let id = &told[started]["payload"]["tool_call_id"];
    let said: Vec<&Value> = told.iter().filter(|event| event["type"] == "tool.updated").collect();
    let said: Vec<&Value> =
        said.iter().map(|event| &event["payload"]).filter(|p| &p["tool_call_id"] == id).collect();
    let text: String = said.iter().filter_map(|p| p["data"]["text"].as_str()).collect();
    assert!(said.iter().any(|p| p["data"]["stream"] == "tool"), "{said:?}");
    assert!(text.contains("going on") && text.contains("of 50"), "its words are told: {text}");
    assert!(started < at("tool.updated") && at("tool.updated") < done, "while it is at work");
    drop(served);
    stage.is_sound();
}

/// All that a model was told in a task in which it calls this tool once.
fn told_of(stage: &Stage, tool: &str, arguments: &Value) -> (String, String) {
    let call = json!({ "tool": tool, "arguments": arguments });
    let done = json!({ "tool": "done", "arguments": { "summary": "done" } });
    let chat = Chat::saying(Large::STRONG, vec![call, done]);
    let (work, model) = (work(stage), chat.address());
    let run = ["run", "--goal", "say it", "--workspace", &work, "--model", &model];
    let task = stage.hermit(&run).ends(0).json()["row"]["task_id"].as_str().expect("a task").to_owned();
    (task, chat.requests().last().expect("a request").to_string())
}

#[test]
fn what_does_not_fit_is_refused_before_the_call_and_a_server_that_is_disabled_is_not_called() {
    let stage = furnished();
    register(&stage, &[]);
    classify(&stage, "echo", "read_local", &[]);
    for wrong in [
        json!({ "text": 7 }),
        json!({}),
        json!({ "text": "x", "more": 1 }),
        json!({ "text": "x", "share": 0.75 }),
    ] {
        let (task, told) = told_of(&stage, "toy__echo", &wrong);
        assert!(told.contains("do not fit"), "{wrong}: {told}");
        assert_eq!(stage.count(&task, "effect.dispatched"), 0, "{wrong}: it was not called");
    }
    stage.hermit(&["tools", "disable", "toy", "--reason", "it tells tales"]).ends(0);
    assert_eq!(state(&stage), "disabled");
    let (task, told) = told_of(&stage, "toy__echo", &json!({ "text": "x" }));
    assert!(told.contains("there is no tool `toy__echo` that can be used"), "{told}");
    assert_eq!(stage.count(&task, "effect.dispatched"), 0);
    register(&stage, &["--again"]);
    assert_eq!(state(&stage), "ready", "a person brings it back");
    stage.is_sound();
}

#[test]
fn servers_of_another_programs_file_are_proposed_with_their_settings_and_without_their_secrets() {
    let stage = furnished();
    put(
        &stage,
        "mcp.json",
        r#"{
  // as an editor keeps it
  "mcpServers": {
    "Git Hub": { "command": "npx", "args": ["-y", "github mcp"], "cwd": "/srv/x",
      "env": { "GITHUB_TOKEN": "ghp_0123456789abcdef0123", "LOG_LEVEL": "debug", "MODE": "a1b2c3d4e5f6g7h8i9" }, },
    "wiki": { "url": "https://mcp.example.org/mcp", "headers": { "Authorization": "Bearer x" } },
  },
}"#,
    );
    let file = stage.work().join("mcp.json");
    let told = stage.hermit(&["tools", "import", file.to_str().expect("UTF-8")]).ends(0).json();
    let lines: Vec<&str> = told.as_array().expect("lines").iter().filter_map(Value::as_str).collect();
    assert_eq!(
        lines,
        [
            "hermit tools add git-hub --workspace /srv/x --secret GITHUB_TOKEN=NAME --host HOST --env LOG_LEVEL=debug \
             --secret MODE=NAME --host HOST -- npx -y 'github mcp'",
            "hermit tools add wiki --url https://mcp.example.org/mcp --header Authorization=NAME",
        ]
    );
    stage.is_sound();
}

#[test]
fn a_call_takes_no_longer_than_a_person_said_and_its_server_is_told_that_it_is_given_up() {
    let stage = furnished();
    register(&stage, &[]);
    let work = work(&stage);
    let words = [
        "tools",
        "classify",
        "toy",
        "echo",
        "--class",
        "read_local",
        "--time-limit",
        "0",
        "--workspace",
        &work,
    ];
    let (code, said, _) = stage.hermit(&words).ends(2).complaint();
    assert!(code == "usage" && said.contains("1 to 3600 seconds"), "{said}");
    classify(&stage, "echo", "read_local", &["--time-limit", "2"]);
    let listed = stage.hermit(&["tools", "list"]).ends(0).json();
    let echo =
        listed["servers"][0]["tools"].as_array().and_then(|all| all.iter().find(|one| one["name"] == "echo"));
    assert_eq!(echo.expect("echo")["time_limit_s"], 2, "{listed}");
    for (mode, word) in [("waits", "it did not answer in time"), ("listens", "told to stop True")] {
        put(&stage, "mode.txt", mode);
        let begun = Instant::now();
        let done = calls(&stage, "toy__echo", &json!({ "text": "hello" }), 0);
        assert!(begun.elapsed() < Duration::from_secs(60), "{mode}: the standard limit is longer");
        let receipt = stage.receipt(done["row"]["task_id"].as_str().expect("a task"));
        assert_eq!(receipt["result"], "failed", "{mode}: {receipt}");
        assert!(receipt.to_string().contains(word), "{mode}: {receipt}");
    }
    assert_eq!(alive(&stage), 0, "a process of a server is still there");
    stage.is_sound();
}

/// The bytes of everything that the only receipt of a task leads to, by their digests.
fn kept(stage: &Stage, task: &str) -> BTreeMap<String, Vec<u8>> {
    let receipt = stage.receipt(task)["receipt_id"].as_str().expect("an id").to_owned();
    let receipt = stage.hermit(&["receipts", "show", &receipt]).ends(0).json()["receipt"].clone();
    assert_eq!(receipt["result_code"], "succeeded", "{receipt}");
    let mut all = BTreeMap::new();
    for output in receipt["output_refs"].as_array().expect("outputs") {
        let word = |name: &str| output[name].as_str().expect("a text").to_owned();
        let (id, at) = (word("artifact_id"), stage.at(&word("sha256")));
        // All of it is of the outside, whatever its kind.
        let shown = stage.hermit(&["artifacts", "show", &id]).ends(0).json();
        assert_eq!((&shown["trust"], &shown["state"]), (&json!("untrusted"), &json!("live")), "{shown}");
        if !at.exists() {
            stage.hermit(&["artifacts", "show", &id, "-o", at.to_str().expect("UTF-8")]).ends(0);
        }
        all.insert(word("sha256"), std::fs::read(at).expect("its bytes"));
    }
    all
}

#[test]
fn an_answer_of_every_kind_is_told_by_its_name_and_kept_byte_for_byte() {
    let stage = furnished();
    register(&stage, &[]);
    classify(&stage, "echo", "read_local", &[]);
    put(&stage, "mode.txt", "media");
    let (task, told) = told_of(&stage, "toy__echo", &json!({ "text": "hello" }));
    for words in
        ["five kinds", "image/png", "audio/wav", "what the note holds", "note://bytes", "note://elsewhere"]
    {
        assert!(told.contains(words), "the model was not told of `{words}`: {told}");
    }
    let kept = kept(&stage, &task);
    assert_eq!(kept.len(), 4, "the answer, and what of it is bytes: {:?}", kept.keys());
    for encoded in MEDIA {
        let bytes = STANDARD.decode(encoded).expect("base64");
        let digest = model::Digest::of(&bytes).to_string();
        assert_eq!(kept.get(&digest), Some(&bytes), "it is kept as it was: {encoded}");
        let named = format!("{} bytes, sha256 {digest}", bytes.len());
        assert!(told.contains(&named) && !told.contains(encoded), "its name is told in its place: {told}");
    }
    stage.is_sound();
    stage.prove(&task);
}

#[test]
fn an_answer_that_is_too_long_is_named_and_cut_in_the_context_and_whole_in_the_store() {
    let stage = furnished();
    register(&stage, &[]);
    classify(&stage, "echo", "read_local", &[]);
    put(&stage, "mode.txt", "long");
    let (task, told) = told_of(&stage, "toy__echo", &json!({ "text": "hello" }));
    assert!(told.contains("line 0 of the answer") && told.contains("(cut)"), "it is said to be cut");
    assert!(told.contains("left out here"), "and where");
    assert!(!told.contains("line 10000 of the answer"), "the middle of it is not told");
    let kept = kept(&stage, &task);
    let (digest, bytes) = kept.first_key_value().expect("the answer");
    assert_eq!((kept.len(), digest), (1, &model::Digest::of(bytes).to_string()));
    let answer: Value = serde_json::from_slice(bytes).expect("JSON");
    let text = answer["answer"]["content"][0]["text"].as_str().expect("a text");
    let whole: Vec<String> = (0..20_000).map(|n| format!("line {n} of the answer")).collect();
    assert!(text == whole.join("\n"), "a line of it is missing: {} bytes", text.len());
    // The context names where the whole is.
    let shown = stage.hermit(&["receipts", "list", "--task", &task]).ends(0).json();
    let receipt = shown["rows"][0]["receipt_id"].as_str().expect("an id").to_owned();
    let receipt = stage.hermit(&["receipts", "show", &receipt]).ends(0).json();
    let id = receipt["receipt"]["output_refs"][0]["artifact_id"].as_str().expect("an id");
    assert!(told.contains(id), "{id} is not named: {told}");
    stage.is_sound();
}

/// What the toy server wrote on its error output, as it is told: nothing of it hidden, and nothing that must not be seen.
#[track_caller]
fn told_as_its_own(said: &str, what: &str) {
    for words in ["the server itself wrote on its error output", "Traceback", "no such ledger"] {
        assert!(said.contains(words), "{what}: `{words}` is not in {said}");
    }
    assert!(!said.contains("0123456789abcdefghij") && !said.contains('\u{1b}'), "{what}: {said}");
}

#[test]
fn what_a_server_writes_on_its_error_output_is_told_where_it_fails() {
    let stage = furnished();
    let work = work(&stage);
    put(&stage, "mode.txt", "complains_at_start");
    let add = ["tools", "add", "toy", "--workspace", &work, "--", "/usr/bin/python3", "server.py"];
    let (_, said, _) = stage.hermit(&add).ends(2).complaint();
    told_as_its_own(&said, "registering");
    put(&stage, "mode.txt", "good");
    register(&stage, &[]);
    classify(&stage, "echo", "read_local", &["--time-limit", "2"]);
    for (mode, words) in
        [("complains", "it ended before it answered"), ("complains_and_waits", "it did not answer in time")]
    {
        put(&stage, "mode.txt", mode);
        let done = calls(&stage, "toy__echo", &json!({ "text": "hello" }), 0);
        let receipt = stage.receipt(done["row"]["task_id"].as_str().expect("a task"));
        assert_eq!(receipt["result"], "failed", "{mode}: {receipt}");
        told_as_its_own(receipt["summary"].as_str().expect("a summary"), mode);
        let shown = stage.hermit(&["tools", "show", "toy"]).ends(0).json();
        let why = shown["calls"][0]["why"].as_str().unwrap_or_default();
        told_as_its_own(why, mode);
        assert!(why.contains(words), "{mode}: {why}");
    }
    put(&stage, "mode.txt", "complains");
    let tried = stage.hermit(&["tools", "try", "toy", "echo", r#"{"text":"x"}"#, "--workspace", &work]);
    told_as_its_own(&format!("{}{}", tried.out, tried.err), "trying it");
    let words = Stage::ran(&mut stage.command(&["tools", "show", "toy"])).ends(0).out;
    told_as_its_own(&words, "shown in words");
    stage.is_sound();
}
