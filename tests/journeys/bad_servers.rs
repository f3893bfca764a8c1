//! What is no server of tools, or a wrong one: it is refused before anybody is asked, with words that name what was tried and
//! what is to be done, and what was registered before stays as it was.

use super::remote_tools::answered;
use super::server;
use super::stage::Stage;
use super::tool_servers::{alive, furnished, put, register, state, work};
use serde_json::{Value, json};
use testkit::{Answers, Heard, Server};

/// A server over standard streams that offers two tools of one name.
const TWICE: &str = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("id") is None:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "initialize":
        answer["result"] = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                            "serverInfo": {"name": "twice", "version": "1"}}
    elif message["method"] == "tools/list":
        one = {"name": "echo", "description": "Says it.", "inputSchema": {"type": "object"}}
        answer["result"] = {"tools": [one, dict(one, description="Says it, and sends it on.")]}
    else:
        answer["error"] = {"code": -32601, "message": "there is no such method"}
    print(json.dumps(answer), flush=True)
"#;

/// What is said of a program that is no server: what to look at.
const OF_A_PROGRAM: [&str; 1] = ["look in its documentation"];
/// What is said of an address where no server of tools is.
const OF_AN_ADDRESS: [&str; 2] = ["is this its address", "the whole address of its endpoint"];
/// What is said of a server that is wrong in itself.
const OF_ITS_MAKER: [&str; 1] = ["whoever makes it"];

/// What is to be added, the words that the refusal has all of, and those that it has one of.
struct Bad<'a> {
    words: &'a [&'a str],
    names: &'a [&'a str],
    does: &'a [&'a str],
}

/// Nothing is registered and nobody is asked; the refusal says what was tried, and what is to be done.
fn is_refused(stage: &Stage, bad: &Bad<'_>) {
    let work = work(stage);
    let add = ["tools", "add", "bad", "--workspace", &work];
    let (code, message, hint) = stage.hermit(&[&add[..], bad.words].concat()).ends(2).complaint();
    assert_eq!(code, "usage", "{:?}: {message}", bad.words);
    let said = format!("{message} {hint}");
    for name in ["`bad` was not registered"].iter().chain(bad.names) {
        assert!(said.contains(*name), "{:?}: `{name}` is not in `{said}`", bad.words);
    }
    let is_told = bad.does.iter().any(|word| said.contains(*word));
    assert!(is_told, "{:?}: what is to be done, one of {:?}, is not in `{said}`", bad.words, bad.does);
    assert!(stage.waiting().is_empty(), "{:?}: somebody was asked", bad.words);
    let listed = stage.hermit(&["tools", "list"]).ends(0).json();
    let servers = listed["servers"].as_array().expect("servers");
    assert!(servers.iter().all(|one| one["server"] != "bad"), "{:?}: {listed}", bad.words);
}

#[test]
fn a_program_that_is_no_server_is_refused_with_what_was_started_and_what_to_look_at() {
    let stage = furnished();
    put(&stage, "twice.py", TWICE);
    let programs = [
        Bad {
            words: &["--", "no-such-mcp-server"],
            names: &["no-such-mcp-server", "could not be started"],
            does: &["is it installed"],
        },
        Bad {
            words: &["--", "./no-such-server.py"],
            names: &["./no-such-server.py", "could not be started"],
            does: &["is it installed"],
        },
        Bad {
            words: &["--", "echo", "hello"],
            names: &["`echo hello`", "before it had spoken the Model Context Protocol"],
            does: &OF_A_PROGRAM,
        },
        Bad { words: &["--", "sh", "-c", "exit 1"], names: &["sh", "ended"], does: &OF_A_PROGRAM },
        Bad {
            words: &["--", "sh", "-c", "echo no ledger here >&2; exit 1"],
            names: &["sh", "ended", "no ledger here"],
            does: &OF_A_PROGRAM,
        },
        Bad {
            words: &["--", "/usr/bin/python3", "twice.py"],
            names: &["two tools named `echo`"],
            does: &OF_ITS_MAKER,
        },
    ];
    for bad in &programs {
        is_refused(&stage, bad);
    }
    assert_eq!(alive(&stage), 0, "a process of what was started is still there");
    stage.is_sound();
}

/// What answers at the addresses of this server: nothing of use, a page, and two tools of one name.
fn wrong(heard: &Heard) -> Answers {
    let page = || "<html><body>Welcome to nginx!</body></html>".to_owned();
    match heard.line.rsplit(' ').next() {
        Some("/501") => Answers::With(501, Vec::new(), "not implemented".to_owned()),
        Some("/page") => Answers::With(200, vec![("Content-Type", "text/html".to_owned())], page()),
        _ if heard.body.contains("tools/list") => {
            let asked: Value = serde_json::from_str(&heard.body).unwrap_or_default();
            let one = |words: &str| json!({ "name": "echo", "description": words, "inputSchema": { "type": "object" } });
            let tools = [one("Says it."), one("Says it, and sends it on.")];
            let told = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "tools": tools } });
            let head = vec![
                ("Content-Type", "application/json".to_owned()),
                ("Mcp-Session-Id", "session-1".to_owned()),
            ];
            Answers::With(200, head, told.to_string())
        }
        _ => answered(heard, "good"),
    }
}

#[test]
fn an_address_where_no_server_of_tools_is_is_refused_with_the_address_and_what_came_of_it() {
    let stage = Stage::new();
    let here = Server::begin(wrong);
    let host = here.host();
    let closed = server::nobody().replace("openai:", "").replace("/v1#nobody", "/mcp");
    let closed_host = closed.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let at = |path: &str| here.url(path);
    let (gone, page, twice) = (at("/501"), at("/page"), at("/mcp"));
    let addresses = [
        Bad { words: &["--url", &closed], names: &[&closed_host, "refused"], does: &OF_AN_ADDRESS },
        Bad { words: &["--url", &gone], names: &[&host, "501"], does: &OF_AN_ADDRESS },
        Bad { words: &["--url", &page], names: &[&host, "does not speak"], does: &OF_AN_ADDRESS },
        Bad { words: &["--url", &twice], names: &["two tools named `echo`"], does: &OF_ITS_MAKER },
    ];
    for bad in &addresses {
        is_refused(&stage, bad);
    }
    stage.is_sound();
}

#[test]
fn what_was_registered_stays_when_another_program_in_its_place_is_no_server() {
    let stage = furnished();
    register(&stage, &[]);
    let work = work(&stage);
    for program in [&["no-such-mcp-server"][..], &["echo", "hello"], &["sh", "-c", "exit 1"]] {
        let add = ["tools", "add", "toy", "--again", "--workspace", &work, "--"];
        let refused = stage.hermit(&[&add[..], program].concat()).ends(2);
        refused.complains(&["`toy` was not registered"]);
    }
    assert_eq!(state(&stage), "ready", "the one of before is used as before");
    let shown = stage.hermit(&["tools", "show", "toy"]).ends(0).out;
    assert!(shown.contains("server.py") && !shown.contains("no-such-mcp-server"), "{shown}");
    let tried = ["tools", "try", "toy", "echo", r#"{"text":"still here"}"#, "--workspace", &work];
    let (_, approval) = super::tool_servers::asked(&stage.hermit(&tried).ends(4).json());
    let (code, screen) = stage.approve(&approval);
    assert!(code == 0 && screen.contains("It answered: still here"), "{code}: {screen}");
    stage.is_sound();
}
