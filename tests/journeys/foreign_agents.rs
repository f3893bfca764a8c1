//! Agents that nobody here wrote, as they come from their registries, work as guests against a model server of this
//! machine: what they changed is a card, its receipt verifies, and their key is in nothing that they could read.
//!
//! They are some hundred megabytes each, so they are fetched into the cache, by pip and npm, only where
//! `HERMIT_FOREIGN_AGENTS=fetch` says so; where they are neither there nor to be fetched the tests are skipped.

use super::fetched::{VALUE, keep};
use super::guests::{lets_run, receipts};
use super::programs::root;
use super::stage::Stage;
use super::tool_servers::{asked, card};
use super::tree;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};

const AIDER: &str = "0.86.2";
pub(super) const CODEX: &str = "0.169.0";
const ACP: &str = "2.4.0";

/// Where an agent is kept that was fetched.
fn cached(name: &str) -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache");
    let parts = std::env::var_os("HERMIT_PARTS_DIR").map(PathBuf::from);
    parts.unwrap_or_else(|| cache.unwrap_or_else(home).join("hermit/parts")).join("agents").join(name)
}

/// A program of the cache, fetched by these commands where it is asked for.
pub(super) fn fetched(folder: &str, program: &str, how: &[&[&str]]) -> Option<PathBuf> {
    let at = cached(folder);
    let program = at.join(program);
    if !program.exists() && std::env::var("HERMIT_FOREIGN_AGENTS").is_ok_and(|word| word == "fetch") {
        std::fs::create_dir_all(&at).expect("a folder");
        for words in how {
            let mut command = Command::new(words[0]);
            command.args(&words[1..]).current_dir(&at).stdin(Stdio::null()).stdout(Stdio::null());
            let ran = command.status();
            if !ran.is_ok_and(|status| status.success()) {
                break;
            }
        }
    }
    if !program.exists() {
        conforms::skip(&format!("{folder}, which `HERMIT_FOREIGN_AGENTS=fetch` fetches, is not here"));
        return None;
    }
    Some(program)
}

/// A server of models that answers every request with what this makes of its body; its host, and every head and body.
pub(super) fn serves(answer: fn(&str) -> (&'static str, String)) -> (String, Receiver<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let host = listener.local_addr().expect("an address").to_string();
    let (send, heard) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let send = send.clone();
            std::thread::spawn(move || exchange(stream, answer, &send));
        }
    });
    (host, heard)
}

fn exchange(stream: TcpStream, answer: fn(&str) -> (&'static str, String), heard: &Sender<(String, String)>) {
    let mut lines = BufReader::new(stream.try_clone().expect("a stream"));
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if !lines.read_line(&mut head).is_ok_and(|read| read > 0) {
                return;
            }
        }
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
        });
        let mut body = vec![0; length.unwrap_or(0)];
        if lines.read_exact(&mut body).is_err() {
            return;
        }
        let body = String::from_utf8_lossy(&body).into_owned();
        let (kind, said) =
            if head.starts_with("GET") { ("application/json", "{}".to_owned()) } else { answer(&body) };
        let _ = heard.send((head, body));
        let mut stream = &stream;
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n", said.len());
        if stream.write_all(&[head.as_bytes(), said.as_bytes()].concat()).is_err() {
            return;
        }
    }
}

/// Nothing of the store, the folder or a proof holds the value of the key.
pub(super) fn holds_no_key(folder: &Path) {
    for (name, thing) in tree::of(folder) {
        let tree::Thing::File(_, bytes) = thing else { continue };
        let found = bytes.windows(VALUE.len()).any(|part| part == VALUE.as_bytes());
        assert!(!found, "the value is in {}", name.display());
    }
}

/// The key arrived with every question to the model, and only there.
fn signed_in(heard: &Receiver<(String, String)>) {
    let all: Vec<(String, String)> = heard.try_iter().filter(|(head, _)| head.starts_with("POST")).collect();
    assert!(!all.is_empty(), "the model was never asked");
    for (head, body) in all {
        assert!(head.contains(VALUE), "{head}");
        assert!(!body.contains(VALUE), "what it read it would have sent: {body}");
    }
}

const BROKEN: &str = "def add(a, b):\n    return a - b\n";
const MENDED: &str = "def add(a, b):\n    return a + b\n";

/// What a model says to aider: the whole file, as its format for models that it does not know wants it.
fn to_aider(_: &str) -> (&'static str, String) {
    let said = format!("I mend it.\n\ncalc.py\n```\n{MENDED}```\n");
    let answer = json!({
        "id": "1", "object": "chat.completion", "created": 1, "model": "toy",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": said }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 },
    });
    ("application/json", answer.to_string())
}

#[test]
fn aider_as_it_comes_from_pypi_works_as_a_guest_and_its_change_is_a_card() {
    let package = format!("aider-chat=={AIDER}");
    let how: [&[&str]; 2] = [&["python3", "-m", "venv", "."], &["bin/pip", "install", "--quiet", &package]];
    let Some(aider) = fetched(&format!("aider-{AIDER}"), "bin/aider", &how) else { return };
    let stage = Stage::new();
    std::fs::write(stage.work().join("calc.py"), BROKEN).expect("a file");
    std::fs::write(stage.work().join("other.py"), "pass\n").expect("a file");
    let (host, heard) = serves(to_aider);
    keep(&stage, "openai", &host);
    let path = format!("{}:/usr/bin:/bin", aider.parent().expect("a folder").display());
    let listed = Stage::ran(stage.command(&["--json", "agents", "list"]).env("PATH", &path)).ends(0).json();
    let known = listed["agents"].as_array().expect("agents").iter().find(|one| one["name"] == "aider");
    let known = known.expect("it is known");
    assert_eq!((&known["program"], &known["has_secret"]), (&json!(aider), &json!(true)));
    let (work, base) = (stage.work(), format!("OPENAI_API_BASE=http://{host}/v1"));
    let words = [
        "--json",
        "run",
        "--agent",
        "aider",
        "mend calc.py",
        "--workspace",
        work.to_str().expect("UTF-8"),
        "--agent-host",
        &host,
        "--agent-env",
        &base,
        "--agent-env",
        "AIDER_MODEL=openai/toy",
    ];
    let (task, first) = asked(&Stage::ran(stage.command(&words).env("PATH", &path)).ends(4).json());
    assert!(card(&stage, &first).contains("secret:openai"), "its key is on the card, by its name");
    let second = lets_run(&stage, &first);
    assert_eq!(std::fs::read_to_string(work.join("calc.py")).expect("a file"), BROKEN);
    let shown = card(&stage, &second);
    for word in ["calc.py", "aider", "it told of every place"] {
        assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
    }
    assert!(!shown.contains("other.py"), "{shown}");
    let (code, screen) = stage.approve(&second);
    assert_eq!(code, 0, "{screen}");
    assert_eq!(std::fs::read_to_string(work.join("calc.py")).expect("a file"), MENDED);
    assert_eq!(tree::of(&work).len(), 2, "nothing else came");
    proven(&stage, &task, &heard, &format!("aider {AIDER}"));
}

/// Its receipts verify, one of them tells its version and whom it reached, and its key is nowhere.
pub(super) fn proven(stage: &Stage, task: &str, heard: &Receiver<(String, String)>, version: &str) {
    signed_in(heard);
    let all = receipts(stage, task);
    assert_eq!(all.len(), 2, "{all:?}");
    let turn = all.iter().find(|receipt| receipt["action_class"] == "external_effect").expect("its turn");
    let told = stage.hermit(&["receipts", "show", turn["receipt_id"].as_str().expect("an id")]).ends(0).out;
    for word in [version, "at 127.0.0.1: allowed", "bytes sent"] {
        assert!(told.contains(word), "`{word}` is not in the receipt: {told}");
    }
    stage.is_sound();
    let proof = stage.prove(task);
    holds_no_key(proof.parent().expect("a folder"));
}

/// What a model says to Codex over the Responses protocol: a command first, then that it is done.
fn to_codex(body: &str) -> (&'static str, String) {
    let asked: Value = serde_json::from_str(body).unwrap_or_default();
    let offered = |name: &str| {
        asked["tools"].as_array().is_some_and(|tools| tools.iter().any(|tool| tool["name"] == name))
    };
    let does = "printf made > made.txt";
    let (name, arguments) = match (offered("shell_command"), offered("exec_command")) {
        (true, _) => ("shell_command", json!({ "command": does })),
        (_, true) => ("exec_command", json!({ "cmd": does })),
        _ => ("shell", json!({ "command": ["sh", "-c", does] })),
    };
    let item = match body.contains("function_call_output") {
        false => json!({
            "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name, "status": "completed",
            "arguments": arguments.to_string(),
        }),
        true => json!({
            "type": "message", "id": "m_1", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": "It is made.", "annotations": [] }],
        }),
    };
    over_responses(&item)
}

/// One item of a model, as the Responses protocol streams it.
pub(super) fn over_responses(item: &Value) -> (&'static str, String) {
    let usage = json!({ "input_tokens": 1, "output_tokens": 1, "total_tokens": 2 });
    let events = [
        json!({ "type": "response.created", "response": { "id": "r" } }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": { "id": "r", "usage": usage } }),
    ];
    let line =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    ("text/event-stream", events.iter().map(line).collect())
}

#[test]
fn codex_as_it_comes_from_npm_works_as_a_guest_and_what_it_did_not_tell_is_listed() {
    let package = format!("@openai/codex@{CODEX}");
    let how: [&[&str]; 1] = [&["npm", "install", "--no-fund", "--no-audit", "--prefix", ".", &package]];
    let Some(codex) = fetched(&format!("codex-{CODEX}"), "node_modules/.bin/codex", &how) else { return };
    let stage = Stage::new();
    let (host, heard) = serves(to_codex);
    keep(&stage, "toy", &host);
    let provider = format!(
        "-c model_provider=toy -c model_providers.toy.name=toy -c model_providers.toy.env_key=TOY_KEY \
                            -c model_providers.toy.wire_api=responses -c model_providers.toy.base_url=http://{host}/v1"
    );
    let agent = format!(
        "{} exec --json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox {provider} -m toy {{goal}}",
        codex.display()
    );
    let work = stage.work();
    let words = [
        "run",
        "--agent",
        &agent,
        "make a file",
        "--workspace",
        work.to_str().expect("UTF-8"),
        "--agent-host",
        &host,
        "--agent-key",
        "TOY_KEY=toy",
    ];
    let (task, first) = asked(&stage.hermit(&words).ends(4).json());
    let second = lets_run(&stage, &first);
    assert!(tree::of(&work).is_empty(), "nothing is in the folder before the yes");
    let shown = card(&stage, &second);
    // It tells of files that it patched, and a shell that it started made this one.
    for word in ["made.txt", "did NOT tell of 1 place"] {
        assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
    }
    let (code, screen) = stage.approve(&second);
    assert_eq!(code, 0, "{screen}");
    assert_eq!(std::fs::read_to_string(work.join("made.txt")).expect("a file"), "made");
    let made = receipts(&stage, &task).into_iter().find(|receipt| receipt["action_class"] == "write_local");
    let made = made.expect("its work")["receipt_id"].as_str().expect("an id").to_owned();
    let told = stage.hermit(&["receipts", "show", &made]).ends(0).out;
    assert!(told.contains("not told of: ") && told.contains("made.txt"), "{told}");
    proven(&stage, &task, &heard, CODEX);
}

/// An agent made of the protocol's own library: it writes, reads, runs, asks, and says what it was answered.
const SDK_AGENT: &str = r#"#!/usr/bin/env node
import * as acp from "@agentclientprotocol/sdk";
import { Readable, Writable } from "node:stream";
const m = acp.methods;
acp.agent({ name: "sdk" })
  .onRequest(m.agent.initialize, async () => ({ protocolVersion: acp.PROTOCOL_VERSION, agentInfo: { name: "sdk", version: "1" } }))
  .onRequest(m.agent.session.new, async () => ({ sessionId: "one" }))
  .onRequest(m.agent.session.prompt, async (c) => {
    const { client, params: { sessionId } } = c;
    const path = process.cwd() + "/made.txt";
    await client.request(m.client.fs.writeTextFile, { sessionId, path, content: "made\n" });
    const read = await client.request(m.client.fs.readTextFile, { sessionId, path });
    const { terminalId } = await client.request(m.client.terminal.create, { sessionId, command: "echo", args: ["ran"] });
    const ended = await client.request(m.client.terminal.waitForExit, { sessionId, terminalId });
    const shown = await client.request(m.client.terminal.output, { sessionId, terminalId });
    const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" }];
    const may = await client.request(m.client.session.requestPermission, { sessionId, toolCall: { toolCallId: "1", kind: "edit" }, options });
    const text = [read.content.trim(), ended.exitCode, shown.output.trim(), may.outcome.optionId].join(" ") + "\n";
    await client.notify(m.client.session.update, { sessionId, update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } } });
    return { stopReason: "end_turn" };
  })
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
"#;

/// An editor made of it, which cancels once it has read that a person is waited for.
const SDK_EDITOR: &str = r#"import * as acp from "@agentclientprotocol/sdk";
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
const m = acp.methods;
const [folder, program, ...words] = process.argv.slice(2);
const child = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"] });
let waits = () => {};
const waiting = new Promise((done) => { waits = done; });
await acp.client({ name: "editor" })
  .onRequest(m.client.session.requestPermission, async () => { throw new Error("asked to allow"); })
  .onNotification(m.client.session.update, async ({ params: { update } }) => {
    console.log(update.sessionUpdate, update.title ?? update.content?.text ?? update.status ?? "");
    if (update.content?.text?.includes("approvals approve")) waits();
  })
  .connectWith(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (hermit) => {
    await hermit.request(m.agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} });
    const { sessionId } = await hermit.request(m.agent.session.new, { cwd: folder, mcpServers: [] });
    void waiting.then(() => hermit.notify(m.agent.session.cancel, { sessionId }));
    const prompt = [{ type: "text", text: "tidy" }];
    console.log("ended", (await hermit.request(m.agent.session.prompt, { sessionId, prompt })).stopReason);
  });
child.stdin.end();
child.kill();
"#;

#[test]
fn the_protocols_own_library_speaks_with_hermit_as_an_agent_and_as_an_editor() {
    let packages = root().join("tests/servers/node_modules");
    let described = std::fs::read_to_string(packages.join("@agentclientprotocol/sdk/package.json"));
    let Ok(described) = described else {
        return conforms::lacks("the library of the Agent Client Protocol, which `npm test` fetches,");
    };
    assert!(described.contains(&format!("\"version\": \"{ACP}\"")), "another version: {described}");
    let stage = Stage::new();
    let place = stage.at("sdk");
    std::fs::create_dir_all(place.join("node_modules")).expect("a folder");
    for package in ["@agentclientprotocol", "zod"] {
        let to = place.join("node_modules").join(package);
        let copied = Command::new("cp").arg("-a").args([&packages.join(package), &to]).status();
        assert!(copied.expect("cp").success(), "{package}");
    }
    let [agent, editor] = [("agent.mjs", SDK_AGENT), ("editor.mjs", SDK_EDITOR)].map(|(name, text)| {
        let at = place.join(name);
        std::fs::write(&at, text).expect("a file");
        std::fs::set_permissions(&at, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("its bits");
        at
    });
    let (agent, reads) = (format!("acp:{}", agent.display()), place.display().to_string());
    let (task, first) = super::guests::begin(&stage, &agent, "make it", &["--agent-read", &reads]);
    let second = lets_run(&stage, &first);
    assert!(card(&stage, &second).contains("it told of every place"));
    let (code, screen) = stage.approve(&second);
    assert_eq!(code, 0, "{screen}");
    assert_eq!(std::fs::read_to_string(stage.work().join("made.txt")).expect("a file"), "made\n");
    let turn = receipts(&stage, &task).into_iter().find(|one| one["action_class"] == "external_effect");
    let turn = turn.expect("its turn")["receipt_id"].as_str().expect("an id").to_owned();
    assert!(stage.hermit(&["receipts", "show", &turn]).ends(0).out.contains("sdk 1"), "its version");
    let said = stage.hermit(&["search", "made 0 ran yes"]).ends(0).json();
    assert!(said["rows"].as_array().is_some_and(|rows| !rows.is_empty()), "all of it was answered: {said}");

    std::fs::write(stage.work().join("b.txt"), "b\n").expect("a file");
    let before = tree::of(&stage.work());
    let work = stage.work().display().to_string();
    let mut command = Command::new("node");
    command.arg(&editor).arg(&work).arg(super::hermit()).args(["acp", "--model", "playbook:tidy"]);
    command.env("HERMIT_HOME", stage.home()).env("HERMIT_PASSPHRASE_FILE", stage.at("vault.txt"));
    let ran = Stage::ran(command.stdin(Stdio::null())).ends(0);
    for words in ["tool_call Listing the folder", "tool_call_update completed", "ended cancelled"] {
        assert!(ran.out.contains(words), "`{words}` is not in {}", ran.out);
    }
    assert!(tree::of(&stage.work()) == before);
    stage.is_sound();
}
