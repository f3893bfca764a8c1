//! An agent that nobody here wrote has `hermit mcp` in its own configuration: what it does there is a card and a receipt of
//! Hermit, while it runs as its owner starts it, outside of Hermit's walls.

use super::agents::task;
use super::foreign_agents::{fetched, serves};
use super::foreign_presets::says_to_claude;
use super::stage::Stage;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::Receiver;

/// What a model says to Claude Code that has the tools of Hermit: it writes a file with one of them, then that it is done.
fn to_claude(body: &str) -> (&'static str, String) {
    let asked: Value = serde_json::from_str(body).unwrap_or_default();
    let has =
        |name: &str| asked["tools"].as_array().is_some_and(|all| all.iter().any(|tool| tool["name"] == name));
    let call = (has("mcp__hermit__write") && !body.contains("tool_result"))
        .then(|| ("mcp__hermit__write", json!({ "path": "made.txt", "content": "made" })));
    says_to_claude(&asked, call)
}

/// The agent while it works; it is ended with the story.
struct Agent(Option<Child>);

impl Agent {
    fn ends(mut self) -> Output {
        testkit::finished(self.0.take().expect("it runs"), testkit::TO_THE_END)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if let Some(mut agent) = self.0.take() {
            let _ = agent.kill();
            let _ = agent.wait();
        }
    }
}

/// How `hermit mcp` of a stage is started: the program, its arguments and its variables.
fn mcp_of(stage: &Stage) -> (String, Vec<String>, BTreeMap<String, String>) {
    let work = stage.work();
    let hermit = stage.command(&["mcp", "--workspace", work.to_str().expect("UTF-8")]);
    let text = |text: &OsStr| text.to_str().expect("UTF-8").to_owned();
    let variables = hermit.get_envs().filter_map(|(name, value)| Some((text(name), text(value?))));
    (text(hermit.get_program()), hermit.get_args().map(text).collect(), variables.collect())
}

/// The agent makes a file through Hermit, which asks first; what it is told of the call, in the part of its request that is named
/// `results`, names the receipt. Who proposed, as the task says.
fn makes_a_file(
    stage: &Stage,
    command: &mut Command,
    heard: &Receiver<(String, String)>,
    results: &str,
) -> String {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let agent = Agent(Some(command.spawn().expect("it starts")));
    let approval = stage.is_asked();
    let made = stage.work().join("made.txt");
    assert!(!made.exists(), "nothing before the yes");
    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 0, "{screen}");
    let ended = agent.ends();
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    let complained = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success() && said.contains("It is made."), "{said} {complained}");
    assert_eq!(std::fs::read_to_string(made).expect("a file"), "made");

    let task = task(stage);
    let id = stage.receipt(&task)["receipt_id"].as_str().expect("an id").to_owned();
    let told: Vec<String> =
        heard.try_iter().map(|(_, body)| body).filter(|body| body.contains(results)).collect();
    assert!(told.iter().any(|body| body.contains(&id)), "it was told of {id}: {told:?}");
    let shown = stage.hermit(&["task", "show", &task]).ends(0).json();
    stage.is_sound();
    stage.prove(&task);
    shown["reasoner"].as_str().expect("who proposed").to_owned()
}

#[test]
fn claude_code_as_it_comes_from_npm_acts_through_hermit_mcp() {
    let how: [&[&str]; 1] = [&[
        "npm",
        "install",
        "--no-fund",
        "--no-audit",
        "--prefix",
        ".",
        "@anthropic-ai/claude-code@2.1.197",
    ]];
    let Some(claude) = fetched("claude-2.1.197", "node_modules/.bin/claude", &how) else { return };
    let stage = Stage::new();
    let (host, heard) = serves(to_claude);
    let (command, args, env) = mcp_of(&stage);
    let servers = json!({ "mcpServers": { "hermit": { "command": command, "args": args, "env": env } } });
    let own = stage.at("claude");
    std::fs::create_dir_all(&own).expect("a folder");
    std::fs::write(own.join("servers.json"), servers.to_string()).expect("a file");
    let mut command = Command::new(&claude);
    command
        .args(["-p", "make a file", "--strict-mcp-config", "--allowedTools", "mcp__hermit", "--mcp-config"])
        .arg(own.join("servers.json"))
        .current_dir(&own)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", &own)
        .env("CLAUDE_CONFIG_DIR", own.join("config"))
        .env("ANTHROPIC_BASE_URL", format!("http://{host}"))
        .env("ANTHROPIC_API_KEY", "sk-of-a-test")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_AUTOUPDATER", "1");
    let who = makes_a_file(&stage, &mut command, &heard, "tool_result");
    assert!(who.contains("claude-code"), "{who}");
}

/// What a model says to Codex that has the tools of Hermit: it writes a file with one of them, then that it is done.
fn to_codex(body: &str) -> (&'static str, String) {
    let asked: Value = serde_json::from_str(body).unwrap_or_default();
    let has = asked["tools"].as_array().is_some_and(|all| {
        all.iter().any(|tool| tool["type"] == "namespace" && tool["name"] == "mcp__hermit")
    });
    super::foreign_agents::over_responses(&match has && !body.contains("function_call_output") {
        true => json!({
            "type": "function_call", "id": "fc_1", "call_id": "call_1", "status": "completed",
            "namespace": "mcp__hermit", "name": "write",
            "arguments": json!({ "path": "made.txt", "content": "made" }).to_string(),
        }),
        false => json!({
            "type": "message", "id": "m_1", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": "It is made.", "annotations": [] }],
        }),
    })
}

/// The configuration of Codex: this model, and `hermit mcp` of this stage.
fn of_codex(stage: &Stage, host: &str) -> String {
    let (command, args, env) = mcp_of(stage);
    // A string of JSON is one of TOML, and so is a list of them.
    let (command, args) = (json!(command), json!(args));
    let variables: Vec<String> =
        env.iter().map(|(name, value)| format!("{name} = {}", json!(value))).collect();
    format!(
        "model = \"toy\"\nmodel_provider = \"toy\"\n[model_providers.toy]\nname = \"toy\"\nbase_url = \"http://{host}/v1\"\n\
         env_key = \"TOY_KEY\"\nwire_api = \"responses\"\n[mcp_servers.hermit]\ncommand = {command}\n\
         args = {args}\nrequired = true\nstartup_timeout_sec = 60\ntool_timeout_sec = 300\n\
         env = {{ {} }}\n",
        variables.join(", ")
    )
}

#[test]
fn codex_as_it_comes_from_npm_acts_through_hermit_mcp() {
    let version = super::foreign_agents::CODEX;
    let package = format!("@openai/codex@{version}");
    let how: [&[&str]; 1] = [&["npm", "install", "--no-fund", "--no-audit", "--prefix", ".", &package]];
    let found = fetched(&format!("codex-{version}"), "node_modules/.bin/codex", &how);
    let Some(codex) = found else { return };
    let stage = Stage::new();
    let (host, heard) = serves(to_codex);
    let own = stage.at("codex");
    std::fs::create_dir_all(&own).expect("a folder");
    std::fs::write(own.join("config.toml"), of_codex(&stage, &host)).expect("a file");
    let mut command = Command::new(&codex);
    command
        .args(["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "make a file"])
        .current_dir(&own)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", &own)
        .env("CODEX_HOME", &own)
        .env("TOY_KEY", "sk-of-a-test");
    // It bypasses its own questions, and Hermit asks all the same.
    let who = makes_a_file(&stage, &mut command, &heard, "function_call_output");
    assert!(who.contains("codex") && who.contains(version), "{who}");
}
