//! A foreign agent acts through Hermit: Codex, as it comes from npm, with `hermit mcp` in its configuration, against a model
//! server of this machine. Its call of a tool is a card, is done once after the yes, and has a receipt that verifies.

use super::fetched::VALUE;
use super::foreign_agents::{CODEX, fetched, holds_no_key, over_responses, serves};
use super::stage::Stage;
use super::tree;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long Codex may take until a person is asked.
const PATIENCE: Duration = Duration::from_secs(90);

/// The name of a tool under which Codex offers Hermit's `write`, and the namespace where it has one.
fn offered(tools: &Value, space: Option<&str>) -> Option<(String, Option<String>)> {
    tools.as_array()?.iter().find_map(|tool| {
        let name = tool["name"].as_str()?;
        let inner = tool.get("tools").and_then(|tools| offered(tools, Some(name)));
        let is_write = name.ends_with("write")
            && (name.contains("hermit") || space.is_some_and(|s| s.contains("hermit")));
        inner.or_else(|| is_write.then(|| (name.to_owned(), space.map(str::to_owned))))
    })
}

/// What a model says to Codex: a call of Hermit's tool first, then that it has heard.
fn calls_hermit(body: &str) -> (&'static str, String) {
    let asked: Value = serde_json::from_str(body).unwrap_or_default();
    if body.contains("function_call_output") {
        return over_responses(&json!({
            "type": "message", "id": "m_1", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": "I have heard.", "annotations": [] }],
        }));
    }
    let (name, space) = offered(&asked["tools"], None).unwrap_or_default();
    let mut call = json!({
        "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name, "status": "completed",
        "arguments": json!({ "path": "made.txt", "content": "made by Codex\n" }).to_string(),
    });
    if let Some(space) = space {
        call["namespace"] = json!(space);
    }
    over_responses(&call)
}

/// Codex, asked once.
fn begun(stage: &Stage, codex: &Path, host: &str) -> Child {
    let of = |name: &str| format!("model_providers.toy.{name}");
    let settings = [
        "model_provider=toy".to_owned(),
        format!("{}=toy", of("name")),
        format!("{}=TOY_KEY", of("env_key")),
        format!("{}=responses", of("wire_api")),
        format!("{}=http://{host}/v1", of("base_url")),
    ];
    let mut command = Command::new(codex);
    command.args([
        "exec",
        "--json",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        "-m",
        "toy",
    ]);
    settings.iter().for_each(|setting| {
        command.args(["-c", setting]);
    });
    command.arg("make the file").current_dir(stage.work()).stdin(Stdio::null());
    command
        .env("HOME", stage.at("person"))
        .env("CODEX_HOME", stage.at("person/.codex"))
        .env("TOY_KEY", VALUE);
    for name in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"] {
        command.env_remove(name);
    }
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
}

/// The question that a person is asked, once there is one: its approval and its task.
fn waits(stage: &Stage) -> (String, String) {
    let until = Instant::now() + PATIENCE;
    loop {
        if let [one] = stage.waiting().as_slice() {
            let id = |name: &str| one[name].as_str().expect("an id").to_owned();
            return (id("approval_id"), id("task_id"));
        }
        assert!(Instant::now() < until, "nobody was asked");
    }
}

#[test]
fn codex_writes_a_file_through_hermit_by_a_card_and_once() {
    let package = format!("@openai/codex@{CODEX}");
    let how: [&[&str]; 1] = [&["npm", "install", "--no-fund", "--no-audit", "--prefix", ".", &package]];
    let Some(codex) = fetched(&format!("codex-{CODEX}"), "node_modules/.bin/codex", &how) else { return };
    let stage = Stage::new();
    let (host, heard) = serves(calls_hermit);
    std::fs::create_dir_all(stage.at("person/.codex")).expect("a folder");
    let text = |path: &Path| json!(path.to_str().expect("UTF-8"));
    let configuration = format!(
        "[mcp_servers.hermit]\ncommand = {}\nargs = [\"mcp\", \"--workspace\", {}]\n\
         env = {{ HERMIT_HOME = {}, HERMIT_PASSPHRASE_FILE = {} }}\n",
        text(super::hermit().as_ref()),
        text(&stage.work()),
        text(&stage.home()),
        text(&stage.at("vault.txt")),
    );
    std::fs::write(stage.at("person/.codex/config.toml"), configuration).expect("a file");

    // Codex takes progress, so its call stays open while a person is waited for.
    let mut codex = begun(&stage, &codex, &host);
    let (approval, task) = waits(&stage);
    assert!(tree::of(&stage.work()).is_empty(), "nothing is in the folder before the yes");
    let shown = stage.hermit(&["approvals", "show", &approval]).ends(0).json().to_string();
    assert!(shown.contains("made.txt") && shown.contains("made by Codex"), "{shown}");
    assert!(stage.hermit(&["task", "show", &task]).ends(0).out.to_lowercase().contains("codex"));
    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 0, "{screen}");
    assert!(codex.wait().expect("it ends").success());

    let told: Vec<(String, String)> =
        heard.try_iter().filter(|(_, body)| body.contains("function_call_output")).collect();
    assert_eq!(told.len(), 1, "it made one call");
    assert!(told[0].0.contains(VALUE), "its key went to its model");
    assert!(told[0].1.contains("hermit://receipt/"), "{}", told[0].1);
    assert_eq!(std::fs::read_to_string(stage.work().join("made.txt")).expect("a file"), "made by Codex\n");
    assert_eq!(stage.hermit(&["task", "list"]).ends(0).json()["rows"].as_array().map(Vec::len), Some(1));
    assert_eq!(stage.count(&task, "effect.dispatched"), 1, "it is done once");
    assert_eq!(stage.receipt(&task)["result"], "succeeded");
    stage.prove(&task);
    stage.is_sound();
    holds_no_key(&stage.home());
    holds_no_key(&stage.work());
}
