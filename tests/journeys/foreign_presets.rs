//! Agents that Hermit knows by name and nobody here wrote, as they come from npm, each as its preset starts it, against a model
//! server of this machine: it works in a copy, what it made is a card, what it told and did not tell stands on it, and its key is
//! in nothing that it could read.

use super::fetched::keep;
use super::foreign_agents::{fetched, proven, serves};
use super::guests::lets_run;
use super::stage::Stage;
use super::tool_servers::{asked, card};
use super::tree;
use serde_json::{Value, json};

/// One event of a stream of the Messages API.
fn line(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
}

/// What a model says to Claude Code over the Messages API: a file first, then that it is done.
fn to_claude(body: &str) -> (&'static str, String) {
    let asked: Value = serde_json::from_str(body).unwrap_or_default();
    let can_write =
        asked["tools"].as_array().is_some_and(|all| all.iter().any(|tool| tool["name"] == "Write"));
    let call = (can_write && !body.contains("tool_result"))
        .then(|| ("Write", json!({ "file_path": "made.txt", "content": "made" })));
    says_to_claude(&asked, call)
}

/// A message of the Messages API, in the form that is asked for: this call of a tool, or that it is made.
pub(super) fn says_to_claude(asked: &Value, call: Option<(&str, Value)>) -> (&'static str, String) {
    let (block, delta, stop) = match call {
        Some((name, arguments)) => (
            json!({ "type": "tool_use", "id": "toolu_1", "name": name, "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": arguments.to_string() }),
            "tool_use",
        ),
        None => (
            json!({ "type": "text", "text": "" }),
            json!({ "type": "text_delta", "text": "It is made." }),
            "end_turn",
        ),
    };
    let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "toy", "content": [], "stop_reason": null,
        "stop_sequence": null, "usage": usage,
    });
    if asked["stream"] != json!(true) {
        let mut whole = message;
        whole["content"] = json!([{ "type": "text", "text": "It is made." }]);
        whole["stop_reason"] = json!("end_turn");
        return ("application/json", whole.to_string());
    }
    let events = [
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": stop, "stop_sequence": null }, "usage": usage }),
        json!({ "type": "message_stop" }),
    ];
    ("text/event-stream", events.iter().map(line).collect())
}

/// What a model says to Gemini CLI over its API.
fn to_gemini(body: &str) -> (&'static str, String) {
    let asked: Value = serde_json::from_str(body).unwrap_or_default();
    let can_write = asked["tools"].to_string().contains("\"write_file\"");
    let arguments = json!({ "file_path": "made.txt", "content": "made" });
    // It asks first how hard the work is, to choose a model.
    let is_routed = asked["generationConfig"]["responseJsonSchema"].is_object();
    let has_written = asked["contents"].to_string().contains("\"functionResponse\":{");
    let part = match can_write && !has_written {
        true => json!({ "functionCall": { "name": "write_file", "args": arguments } }),
        false if is_routed => {
            json!({ "text": json!({ "complexity_reasoning": "small", "complexity_score": 1 }).to_string() })
        }
        false => json!({ "text": "It is made." }),
    };
    let answer = json!({
        "candidates": [{ "content": { "role": "model", "parts": [part] }, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": { "promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2 },
    });
    match is_routed {
        true => ("application/json", answer.to_string()),
        false => ("text/event-stream", format!("data: {answer}\n\n")),
    }
}

/// What a model says to opencode over the Messages API.
fn to_opencode(body: &str) -> (&'static str, String) {
    let (kind, said) = to_claude(&body.replace("\"name\":\"write\"", "\"name\":\"Write\""));
    (kind, said.replace("\"Write\"", "\"write\"").replace("file_path", "filePath"))
}

/// An agent of npm as its preset starts it: asked once to let it work, and once for what it made.
struct Preset {
    /// Its package, its version, and its program.
    package: (&'static str, &'static str, &'static str),
    /// The handle of its key.
    handle: &'static str,
    answers: fn(&str) -> (&'static str, String),
    /// What tells it where its model is, for this host.
    environment: fn(&str) -> Vec<String>,
    /// What its card says of what it told.
    told: &'static str,
}

fn works(preset: &Preset) {
    let (package, version, program) = preset.package;
    let whole = format!("{package}@{version}");
    let how: [&[&str]; 1] = [&["npm", "install", "--no-fund", "--no-audit", "--prefix", ".", &whole]];
    let at = format!("node_modules/.bin/{program}");
    let Some(found) = fetched(&format!("{program}-{version}"), &at, &how) else { return };
    let stage = Stage::new();
    let (host, heard) = serves(preset.answers);
    keep(&stage, preset.handle, &host);
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", found.parent().expect("a folder").display());
    let (work, environment) = (stage.work(), (preset.environment)(&host));
    let mut words = vec!["--json", "run", "--agent", program, "make a file", "--agent-host", &host];
    words.extend(["--workspace", work.to_str().expect("UTF-8")]);
    words.extend(environment.iter().flat_map(|one| ["--agent-env", one.as_str()]));
    let (task, first) = asked(&Stage::ran(stage.command(&words).env("PATH", &path)).ends(4).json());
    let key = format!("secret:{}", preset.handle);
    assert!(card(&stage, &first).contains(&key), "its key is on the card, by its name");
    let second = lets_run(&stage, &first);
    assert!(tree::of(&work).is_empty(), "nothing is in the folder before the yes");
    let shown = card(&stage, &second);
    for word in ["made.txt", preset.told] {
        assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
    }
    let (code, screen) = stage.approve(&second);
    assert_eq!(code, 0, "{screen}");
    assert_eq!(std::fs::read_to_string(work.join("made.txt")).expect("a file"), "made");
    proven(&stage, &task, &heard, version);
}

#[test]
fn claude_code_as_it_comes_from_npm_works_as_its_preset_starts_it() {
    works(&Preset {
        package: ("@anthropic-ai/claude-code", "2.1.197", "claude"),
        handle: "anthropic",
        answers: to_claude,
        environment: |host| vec![format!("ANTHROPIC_BASE_URL=http://{host}")],
        told: "it told of every place",
    });
}

#[test]
fn gemini_as_it_comes_from_npm_works_as_its_preset_starts_it() {
    works(&Preset {
        package: ("@google/gemini-cli", "0.61.0", "gemini"),
        handle: "gemini",
        answers: to_gemini,
        environment: |host| vec![format!("GOOGLE_GEMINI_BASE_URL=http://{host}")],
        told: "made.txt",
    });
}

#[test]
fn opencode_as_it_comes_from_npm_works_as_its_preset_starts_it() {
    works(&Preset {
        package: ("opencode-ai", "1.18.33", "opencode"),
        handle: "anthropic",
        answers: to_opencode,
        environment: |host| {
            let provider = json!({ "anthropic": { "options": { "baseURL": format!("http://{host}/v1") } } });
            let config = json!({ "model": "anthropic/claude-sonnet-4-5", "provider": provider });
            vec![format!("OPENCODE_CONFIG_CONTENT={config}")]
        },
        told: "made.txt",
    });
}
