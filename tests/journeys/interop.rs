//! The conformance suite of the Model Context Protocol against Hermit as a server and as a client, as it comes from npm.
//!
//! Each of its scenarios either passes or stands in a list with the reason why it cannot be about Hermit.

use super::attached::Served;
use super::programs::root;
use super::stage::Stage;
use super::tool_servers::{asked as waiting, calls, yes};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Scenarios of the suite for a server that Hermit is held against.
const HELD: [&str; 6] = [
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
];

/// Scenarios that ask for something of the suite's own example server, or for a capability that Hermit does not declare.
const NOT_OF_HERMIT: [(&str, &[&str]); 5] = [
    (
        "a tool of the example server, by its name",
        &[
            "tools-call-simple-text",
            "tools-call-image",
            "tools-call-audio",
            "tools-call-embedded-resource",
            "tools-call-mixed-content",
            "tools-call-with-logging",
            "tools-call-error",
            "tools-call-with-progress",
            "json-schema-2020-12",
            "server-sse-polling",
        ],
    ),
    (
        "a tool of the example server that asks its client, which Hermit does by a card of its own",
        &[
            "tools-call-sampling",
            "tools-call-elicitation",
            "elicitation-sep1034-defaults",
            "elicitation-sep1330-enums",
        ],
    ),
    (
        "a resource of the example server; those of Hermit are receipts and do not change",
        &[
            "resources-read-text",
            "resources-read-binary",
            "resources-templates-read",
            "resources-subscribe",
            "resources-unsubscribe",
        ],
    ),
    (
        "prompts, which Hermit does not declare",
        &[
            "prompts-list",
            "prompts-get-simple",
            "prompts-get-with-args",
            "prompts-get-embedded-resource",
            "prompts-get-with-image",
        ],
    ),
    ("logging and completion, which Hermit does not declare", &["logging-set-level", "completion-complete"]),
];

/// Scenarios of the suite for a client that Hermit is held against, and what of a server they want to be used.
const HELD_AS_CLIENT: [(&str, Option<&str>); 2] = [("initialize", None), ("tools_call", Some("add_numbers"))];

/// Scenarios of the suite for a client, by how their names begin, that Hermit does not pass, and why.
const NOT_YET: [(&str, &str); 3] = [
    ("auth/", "there is no log-in by OAuth"),
    (
        "sse-retry",
        "a call whose stream ends without an answer has an unknown outcome, and is not asked for again",
    ),
    ("elicitation-sep1034-client-defaults", "a server at an address gets no answer to what it asks"),
];

/// Ends a process with the story.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn suite() -> Option<PathBuf> {
    let at = root().join("tests/servers/node_modules/@modelcontextprotocol/conformance/dist/index.js");
    if !at.is_file() {
        conforms::lacks("the conformance suite of MCP, which `npm test` fetches,");
        return None;
    }
    Some(at)
}

fn node(words: &[&str]) -> (bool, String) {
    let ran = Command::new("node").args(words).output().expect("node");
    let said = [ran.stdout, ran.stderr].concat();
    (ran.status.success(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn the_conformance_suite_of_mcp_finds_nothing_wrong_with_hermit_as_a_server() {
    let Some(suite) = suite() else { return };
    let suite = suite.to_str().expect("UTF-8");
    let (_, listed) = node(&[suite, "list"]);
    let of_servers = listed.split("Client scenarios").next().unwrap_or_default();
    let there: BTreeSet<&str> =
        of_servers.lines().filter_map(|line| line.trim().strip_prefix("- ")).map(str::trim).collect();
    let known = NOT_OF_HERMIT.iter().flat_map(|(_, names)| names.iter()).chain(&HELD).copied();
    assert_eq!(there, known.collect(), "a scenario is held, or stands in a list with its reason");

    let stage = Stage::new();
    let served = Served::by(&stage);
    let token = std::fs::read_to_string(stage.home().join("gateway.token")).expect("a token");
    let query = format!("workspace={}", stage.work().to_str().expect("UTF-8"));
    let forward = root().join("tests/journeys/data/forward.mjs");
    let mut child = Command::new("node")
        .args([forward.to_str().expect("UTF-8"), &served.address(), token.trim(), &query])
        .stdout(Stdio::piped())
        .spawn()
        .expect("node");
    let mut port = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut port).expect("its port");
    let _forward = Ended(child);
    let url = format!("http://localhost:{}/mcp", port.trim());
    for scenario in HELD {
        let results = tempfile::tempdir().expect("a folder");
        let results = results.path().to_str().expect("UTF-8");
        let (passed, said) =
            node(&[suite, "server", "--url", &url, "--scenario", scenario, "--output-dir", results]);
        assert!(passed && said.contains(", 0 failed"), "{scenario}: {said}");
    }
}

/// What the suite starts as a client: it leaves the server's address, and stays until the person's part is done.
const CLIENT: &str = "#!/bin/sh\nprintf %s \"$1\" > \"$0.new\"; mv \"$0.new\" \"$0.url\"\nuntil [ -e \"$0.done\" ]; do sleep 0.1; done\n";

fn as_client(suite: &str, scenario: &str, tool: Option<&str>) {
    let stage = Stage::new();
    let client = stage.at("client.sh");
    std::fs::write(&client, CLIENT).expect("a script");
    let client = client.to_str().expect("UTF-8").to_owned();
    let (results, command) = (stage.at("results"), format!("sh {client}"));
    let words =
        ["client", "--command", &command, "--scenario", scenario, "--timeout", "120000", "--output-dir"];
    let mut asked = Command::new("node");
    asked.arg(suite).args(words).arg(&results).stdout(Stdio::piped()).stderr(Stdio::piped());
    let running = asked.spawn().expect("node");
    let by = Instant::now() + Duration::from_secs(60);
    let url = loop {
        match std::fs::read_to_string(format!("{client}.url")) {
            Ok(url) => break url,
            Err(_) => assert!(Instant::now() < by, "{scenario}: no server was begun"),
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let work = stage.work().to_str().expect("UTF-8").to_owned();
    let words = ["tools", "add", "suite", "--workspace", &work, "--url", url.trim()];
    let (_, approval) = waiting(&stage.hermit(&words).ends(4).json());
    yes(&stage, &approval);
    if let Some(tool) = tool {
        let called = calls(&stage, &format!("suite__{tool}"), &json!({ "a": 5, "b": 3 }), 4);
        let (task, approval) = waiting(&called);
        yes(&stage, &approval);
        assert_eq!(stage.receipt(&task)["result"], "succeeded", "{scenario}");
    }
    std::fs::write(format!("{client}.done"), "").expect("a file");
    let ran = running.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
    assert!(ran.status.success() && said.contains(", 0 failed"), "{scenario}: {said}");
}

#[test]
fn the_conformance_suite_of_mcp_finds_nothing_wrong_with_hermit_as_a_client() {
    let Some(suite) = suite() else { return };
    let suite = suite.to_str().expect("UTF-8");
    let (_, listed) = node(&[suite, "list"]);
    let of_clients = listed.split("Client scenarios").nth(1).unwrap_or_default();
    let names = of_clients.lines().filter_map(|line| line.trim().strip_prefix("- ")).map(str::trim);
    let is_known = |name: &&str| {
        HELD_AS_CLIENT.iter().any(|(held, _)| held == name)
            || NOT_YET.iter().any(|(not, _)| name.starts_with(not))
    };
    let unknown: Vec<&str> = names.filter(|name| !is_known(name)).collect();
    assert_eq!(unknown, Vec::<&str>::new(), "a scenario is held, or stands in a list with its reason");
    for (scenario, tool) in HELD_AS_CLIENT {
        as_client(suite, scenario, tool);
    }
}
