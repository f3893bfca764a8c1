//! Servers at an address on both wires: what one wants to know, in the stream of its answer or as an answer of its own.

use super::asked_by_servers::question;
use super::attached::Served;
use super::remote_tools::answered;
use super::stage::Stage;
use super::tool_servers::{asked, work, yes};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use testkit::{Answers, Chat, Large, Server};

/// A server whose tool asks a model in the stream of its answer, and says what it was told.
pub fn asking_a_model() -> Server {
    let (send, rest) = channel();
    let (send, rest, call) = (Mutex::new(send), Arc::new(Mutex::new(rest)), Mutex::new(Value::Null));
    let event = |message: Value| format!("event: message\r\ndata: {message}\r\n\r\n");
    Server::begin(move |heard| {
        let said: Value = serde_json::from_str(&heard.body).unwrap_or_default();
        match said["method"].as_str() {
            Some("tools/call") => {
                *call.lock().expect("no poison") = said["id"].clone();
                let words = json!([{ "role": "user", "content": { "type": "text", "text": "think" } }]);
                let params = json!({ "messages": words, "maxTokens": 50 });
                let ask = json!({ "jsonrpc": "2.0", "id": "s", "method": "sampling/createMessage", "params": params });
                let kind = vec![("Content-Type", "text/event-stream".to_owned())];
                Answers::Begins(kind, event(ask), Arc::clone(&rest))
            }
            None if said["id"] == "s" => {
                let text = format!("it said {}", said["result"]);
                let result = json!({ "content": [{ "type": "text", "text": text }] });
                let id = call.lock().expect("no poison").clone();
                let last = event(json!({ "jsonrpc": "2.0", "id": id, "result": result }));
                send.lock().expect("no poison").send(last).expect("somebody waits");
                Answers::With(202, Vec::new(), String::new())
            }
            _ => answered(heard, "good"),
        }
    })
}

/// A server without conversations (2026-07-28), whose tool wants something first.
pub fn without_conversations(wants: Value) -> Server {
    Server::begin(move |heard| {
        let asked: Value = serde_json::from_str(&heard.body).unwrap_or_default();
        let say = |name: &str, value: Value| {
            let body = json!({ "jsonrpc": "2.0", "id": asked["id"], name: value }).to_string();
            Answers::With(200, vec![("Content-Type", "application/json".to_owned())], body)
        };
        let method = asked["method"].as_str().unwrap_or_default();
        let meta = &asked["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        if method == "initialize" {
            return say(
                "error",
                json!({ "code": -32022, "message": "unsupported version", "data": { "supported": ["2026-07-28"] } }),
            );
        }
        if meta != "2026-07-28"
            || heard.header("mcp-method") != Some(method)
            || heard.header("mcp-session-id").is_some()
        {
            return say("error", json!({ "code": -32020, "message": "header and body do not say the same" }));
        }
        match method {
            "server/discover" => say(
                "result",
                json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": {} }, "ttlMs": 3_600_000, "cacheScope": "private" }),
            ),
            "tools/list" => say(
                "result",
                json!({ "resultType": "complete", "ttlMs": 3_600_000, "cacheScope": "private",
                "tools": [{ "name": "echo", "description": "Says it again.", "inputSchema": { "type": "object",
                    "properties": { "tenant": { "type": "string", "x-mcp-header": "Tenant" } } } }] }),
            ),
            "tools/call"
                if heard.header("mcp-param-tenant") != asked["params"]["arguments"]["tenant"].as_str() =>
            {
                say("error", json!({ "code": -32020, "message": "an argument is not above" }))
            }
            "tools/call" if heard.header("mcp-name") != Some("echo") => {
                say("error", json!({ "code": -32020, "message": "no name above" }))
            }
            "tools/call" if asked["params"]["inputResponses"].is_null() => say(
                "result",
                json!({
                "resultType": "input_required", "inputRequests": { "one": wants }, "requestState": "sealed" }),
            ),
            "tools/call" => {
                let text = format!(
                    "you said {} and {}",
                    asked["params"]["inputResponses"], asked["params"]["requestState"]
                );
                say(
                    "result",
                    json!({ "resultType": "complete", "content": [{ "type": "text", "text": text }] }),
                )
            }
            _ => say("error", json!({ "code": -32601, "message": "no such method" })),
        }
    })
}

#[test]
fn a_server_with_conversations_is_called_once_whatever_it_wants_first() {
    let stage = Stage::new();
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let server = Server::begin(move |heard| {
        let asked: Value = serde_json::from_str(&heard.body).unwrap_or_default();
        if asked["method"] != "tools/call" {
            return answered(heard, "good");
        }
        counted.fetch_add(1, Ordering::SeqCst);
        let result = json!({ "resultType": "input_required", "requestState": "again", "content": [] });
        let body = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }).to_string();
        Answers::With(200, vec![("Content-Type", "application/json".to_owned())], body)
    });
    let (work, url) = (work(&stage), server.url("/mcp"));
    let add = ["tools", "add", "far", "--workspace", &work, "--url", &url, "--class", "echo=network_read"];
    let (_, approval) = asked(&stage.hermit(&add).ends(4).json());
    yes(&stage, &approval);
    let call = json!({ "tool": "far__echo", "arguments": { "text": "x" } });
    let chat = Chat::saying(
        Large::STRONG,
        vec![call, json!({ "tool": "done", "arguments": { "summary": "done" } })],
    );
    let model = chat.address();
    let run = ["run", "--goal", "say it", "--workspace", &work, "--model", &model, "--profile"];
    let run = [&run[..], &["network_read_allowed"]].concat();
    let (task, approval) = asked(&stage.hermit(&run).ends(4).json());
    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 0, "{screen}");
    assert_eq!(calls.load(Ordering::SeqCst), 1, "one yes is one call");
    let receipt = stage.receipt(&task);
    assert_eq!(receipt["result"], "failed", "it only looks: {receipt}");
    assert!(receipt.to_string().contains("something that is no result"), "{receipt}");
}

#[test]
fn a_server_without_conversations_has_what_the_person_said_when_it_is_asked_again() {
    let stage = Stage::new();
    let schema =
        json!({ "type": "object", "required": ["age"], "properties": { "age": { "type": "integer" } } });
    let asks = json!({ "method": "elicitation/create", "params": { "message": "How old are you?", "requestedSchema": schema } });
    let (server, work) = (without_conversations(asks), work(&stage));
    let url = server.url("/mcp");
    let add = ["tools", "add", "far", "--workspace", &work, "--url", &url, "--class", "echo=network_read"];
    let (_, approval) = asked(&stage.hermit(&add).ends(4).json());
    yes(&stage, &approval);
    let served = Served::by(&stage);
    let call = json!({ "tool": "far__echo", "arguments": { "tenant": "north" } });
    let chat = Chat::saying(
        Large::STRONG,
        vec![call, json!({ "tool": "done", "arguments": { "summary": "done" } })],
    );
    let body = json!({ "message": "say it", "workspace": work, "profile": "network_read_allowed", "model": chat.address() });
    let (status, told) = served.ask(&stage, "POST", "/v1/runs", &body);
    assert_eq!(status, 200, "{told}");
    let task = told["run_id"].as_str().expect("a run").to_owned();
    let approval = stage.is_asked();
    // Whoever allowed it at a terminal is asked there: an answer from elsewhere would come before or after that by chance.
    let mut terminal = stage.allow(&approval, &[]);
    assert!(question(&stage, &task).to_string().contains("How old are you?"));
    terminal.expect("Your answer").send("42\r");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    let told = chat.requests().last().expect("a request").to_string();
    for word in ["accept", "42", "sealed"] {
        assert!(told.contains(word), "`{word}` did not come back: {told}");
    }
    assert_eq!(stage.receipt(&task)["result"], "succeeded");
    drop(served);
    stage.is_sound();
}
