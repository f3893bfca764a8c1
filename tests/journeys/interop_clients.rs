//! The conformance suite of the Model Context Protocol against Hermit as a client, as it comes from npm: each of its servers is
//! registered, logged in at and called as a person does it, and the suite says what of that was wrong.

use super::interop::{REQUIRED, Suite, failed};
use super::stage::Stage;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::{Duration, Instant};
use testkit::{Killed, Lines, TO_THE_END, finished};

/// Scenarios that are held each time, each on one wire; `HERMIT_SUITE=all` holds everything that the suite requires on both, some
/// eight minutes long, and `HERMIT_SUITE=WORD` those with the word in their names.
const EACH_TIME: [(&str, &str); 7] = [
    ("2025-11-25", "tools_call"),
    ("2026-07-28", "tools_call"),
    ("2026-07-28", "request-metadata"),
    ("2026-07-28", "http-invalid-tool-headers"),
    ("2026-07-28", "sep-2322-client-request-state"),
    ("2026-07-28", "auth/scope-step-up"),
    ("2026-07-28", "auth/iss-wrong-issuer"),
];

/// What Hermit does not pass, and why.
const NOT_HELD: [(&str, &str); 2] = [
    (
        "sse-retry",
        "a call whose stream ends without an answer has an unknown outcome, and is not asked for again",
    ),
    (
        "elicitation-sep1034-client-defaults",
        "what a server asks on a stream beside the answer of its call is not heard: none is opened",
    ),
];

/// Single checks that Hermit does not pass, and why.
const CHECKS_NOT_HELD: [(&str, &str); 1] =
    [("sep-2243-client-omit-null", "arguments that do not fit the schema of a tool are sent to nobody")];

/// How Hermit says that a token is in what it would keep.
const PART_OF_A_TOKEN: &str = "what would be kept holds the value of";

/// What the suite starts as a client: it leaves the server's address and what else a client knows, and stays until the
/// person's part is done.
const CLIENT: &str = "#!/bin/sh\nprintf %s \"$MCP_CONFORMANCE_CONTEXT\" > \"$0.context\"\nprintf %s \"$1\" > \"$0.new\"; mv \"$0.new\" \"$0.url\"\nuntil [ -e \"$0.done\" ]; do sleep 0.1; done\n";

/// A person at Hermit, before a server of the suite.
struct Person<'s> {
    stage: &'s Stage,
    work: String,
    url: String,
    context: Value,
    /// What was said to them.
    said: Vec<String>,
}

impl Person<'_> {
    /// A command that asks: allowed on its card, and its task; none when it was refused in words.
    fn does(&mut self, words: &[&str]) -> Option<String> {
        let ran = self.stage.hermit(&[words, &["--workspace", &self.work]].concat());
        let waits = (ran.code == 4).then(|| ran.json());
        let said = if waits.is_some() { "is asked".to_owned() } else { ran.out + &ran.err };
        self.said.push(format!("{words:?}: {} {said}", ran.code));
        let waits = waits?;
        let mut terminal = self.stage.allow(waits["waits_for"]["id"].as_str()?, &[]).without_hurry();
        // A server may ask first.
        while terminal.expect_one_or_end(&["Your answer"]).is_some() {
            terminal.send("1\r");
        }
        let (code, screen) = terminal.end();
        self.said.push(format!("{code}: {screen}"));
        waits["row"]["task_id"].as_str().map(str::to_owned)
    }

    /// A client that was made beforehand, where tokens are given.
    fn client(&self) -> Vec<String> {
        let Some(id) = self.context["client_id"].as_str() else { return Vec::new() };
        let mut words = vec!["--client-id".to_owned(), id.to_owned()];
        if let Some(secret) = self.context["client_secret"].as_str() {
            let file = self.stage.at("client.secret");
            std::fs::write(&file, secret).expect("a file");
            let host = self.context["issuer"].as_str().unwrap_or_default().trim_start_matches("http://");
            let mut set = self.stage.command(&["secret", "set", "suite.client", "--host", host]);
            let ran = Stage::ran(set.stdin(std::fs::File::open(&file).expect("a file")));
            assert_eq!(ran.code, 0, "{ran:?}");
            words.extend(["--client-secret", "suite.client"].map(str::to_owned));
        }
        words
    }

    /// Logs in at the server, as far as Hermit and whoever gives tokens let them.
    fn logs_in(&mut self, more: &[&str]) -> Option<()> {
        let (client, url) = (self.client(), self.url.clone());
        let mut words = vec!["tools", "login", "suite", "--url", &url];
        words.extend(client.iter().map(String::as_str));
        words.extend(more);
        self.does(&words)?;
        let all = ["--json", "tools", "login", "suite", "--workspace", &self.work];
        let mut child = self.stage.command(&all);
        let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut lines = Lines::of(child.stdout.take().expect("a pipe"));
        let line = lines.next().unwrap_or_default();
        if let Some(address) =
            serde_json::from_str::<Value>(&line).ok().and_then(|at| Some(at["address"].as_str()?.to_owned()))
        {
            let (head, _) = testkit::got(&address);
            let back = head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("location").then(|| value.to_owned())
            });
            self.said.push(format!("the browser: {address} -> {back:?}"));
            if let Some(back) = back {
                let (_, page) = testkit::got(&back);
                self.said.push(page);
            } else {
                let _ = child.kill();
            }
        }
        let output = finished(child, TO_THE_END);
        self.said.push(format!("{line} {}", String::from_utf8_lossy(&output.stderr)));
        output.status.success().then_some(())
    }

    /// Registers the server, after a log-in where it wants one.
    fn adds(&mut self) -> Option<()> {
        let url = self.url.clone();
        let words = ["tools", "add", "suite", "--url", &url];
        // A server may have another say who gives tokens once it was reached: the person logs in there, too.
        for _ in 0..3 {
            if self.does(&words).is_some() {
                return Some(());
            }
            let wants = self.said.last().is_some_and(|said| said.contains("hermit tools login"));
            wants.then(|| self.logs_in(&[]))??;
        }
        None
    }

    /// Calls what the scenario names, or else each of its tools once.
    fn calls(&mut self) {
        let listed = self.stage.hermit(&["tools", "show", "suite"]).ends(0).json();
        self.said.push(listed.to_string());
        let named = self.context["toolCalls"].as_array().cloned().unwrap_or_default();
        let named = named.iter().map(|call| (call["name"].clone(), call["arguments"].clone()));
        let mut all: Vec<(Value, Value)> = named.collect();
        if all.is_empty() {
            let words = listed["words"].as_array().cloned().unwrap_or_default();
            let schema = |one: &Value| serde_json::from_str(one["input_schema"].as_str().unwrap_or_default());
            let call = |one: &Value| (one["name"].clone(), arguments(&schema(one).unwrap_or_default()));
            all = words.iter().map(call).collect();
        }
        for (tool, arguments) in all {
            let (tool, arguments) = (tool.as_str().unwrap_or_default().to_owned(), arguments.to_string());
            let words = ["tools", "try", "suite", &tool, &arguments];
            let Some(task) = self.does(&words) else { continue };
            let receipt = self.stage.receipt(&task).to_string();
            self.said.push(receipt.clone());
            // A server that wants more says so, and a person allows it.
            if !receipt.contains("hermit tools login") {
                continue;
            }
            let plain = receipt.replace("\\\"", "'");
            let more = plain.split("--scope ").nth(1);
            let more = more.and_then(|rest| rest.trim_start_matches('\'').split(['`', '\'']).next());
            let more: Vec<&str> = more.map(|scope| vec!["--scope", scope.trim()]).unwrap_or_default();
            if self.logs_in(&more).is_some() {
                self.does(&words);
            }
        }
    }
}

/// Arguments that fit a schema of the suite.
fn arguments(schema: &Value) -> Value {
    let each = schema["properties"].as_object().into_iter().flatten().zip([5, 3, 2, 1]);
    let value = |of: &Value, number: i64| match of["type"].as_str() {
        Some("number" | "integer") => json!(number),
        Some("boolean") => json!(true),
        Some("object") => json!({}),
        Some("array") => json!([]),
        _ => json!("a word"),
    };
    each.map(|((name, of), number)| (name.clone(), value(of, number)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// One scenario from the suite's server to its verdict: what failed, and everything that was said.
fn as_client(suite: &Suite, version: &str, scenario: &str) -> (BTreeSet<String>, String) {
    let stage = Stage::new();
    let client = stage.at("client.sh");
    std::fs::write(&client, CLIENT).expect("a script");
    let client = client.to_str().expect("UTF-8").to_owned();
    let (results, command) = (stage.at("results"), format!("sh {client}"));
    let at = results.to_str().expect("UTF-8");
    let words = ["client", "--command", &command, "--scenario", scenario, "--spec-version", version];
    let more = ["--timeout", "120000", "--output-dir", at];
    let mut running = suite.command(&[&words[..], &more].concat());
    let said_at = stage.at("said.txt");
    let said = std::fs::File::create(&said_at).expect("a file");
    let running = running.stdout(said.try_clone().expect("a file")).stderr(said).spawn().expect("node");
    let mut running = Killed(running);
    let by = Instant::now() + Duration::from_secs(60);
    let url = loop {
        match std::fs::read_to_string(format!("{client}.url")) {
            Ok(url) => break url.trim().to_owned(),
            Err(_) => assert!(Instant::now() < by, "{scenario}: no server was begun"),
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let context = std::fs::read_to_string(format!("{client}.context")).unwrap_or_default();
    let context = serde_json::from_str(&context).unwrap_or_default();
    let work = stage.work().to_str().expect("UTF-8").to_owned();
    let mut person = Person { stage: &stage, work, url, context, said: Vec::new() };
    if person.adds().is_some() {
        person.calls();
    }
    let said = person.said.join("\n");
    std::fs::write(format!("{client}.done"), "").expect("a file");
    testkit::ends(&mut running.0);
    let said = format!("{said}\n{}", std::fs::read_to_string(said_at).expect("its words"));
    (failed(&results).into_values().flatten().collect(), said)
}

#[test]
fn the_conformance_suite_of_mcp_finds_nothing_wrong_with_hermit_as_a_client() {
    let Some(suite) = Suite::found() else { return };
    let only = std::env::var("HERMIT_SUITE").unwrap_or_default();
    let is_wanted = |version: &str, scenario: &str| match only.as_str() {
        "" => EACH_TIME.contains(&(version, scenario)),
        "all" => true,
        word => scenario.contains(word),
    };
    let (mut done, mut not_held) = (BTreeSet::new(), 0);
    // Passing on one wire says nothing about the other: what both versions require is held on both.
    for (version, _, required) in REQUIRED {
        let scenarios = suite.requires("client", version);
        assert_eq!(scenarios.len(), required, "{version}: {scenarios:?}");
        for scenario in scenarios {
            if NOT_HELD.iter().any(|(not, _)| *not == scenario) {
                not_held += 1;
                continue;
            }
            if !is_wanted(version, &scenario) {
                continue;
            }
            let mut held = as_client(&suite, version, &scenario);
            // The suite's tokens end in the time of day, in milliseconds: a time on record that is the same up to its last digit is a
            // part of the token, and Hermit keeps no part of a secret. A person would log in again.
            for _ in 0..9 {
                if !held.1.contains(PART_OF_A_TOKEN) {
                    break;
                }
                held = as_client(&suite, version, &scenario);
            }
            let (mut wrong, said) = held;
            wrong.retain(|id| !CHECKS_NOT_HELD.iter().any(|(not, _)| not == id));
            assert!(wrong.is_empty(), "{version} {scenario}: {wrong:?}\n{said}");
            println!("{version} {scenario}");
            done.insert((version, scenario));
        }
    }
    assert_eq!(not_held, NOT_HELD.len(), "what is not held is required, by one version each");
    match only.as_str() {
        "" => assert_eq!(done.len(), EACH_TIME.len(), "one of them is not required any more: {done:?}"),
        "all" => {
            let required: usize = REQUIRED.iter().map(|(_, _, of_clients)| of_clients).sum();
            assert_eq!(done.len(), required - not_held, "{done:?}");
        }
        word => assert!(!done.is_empty(), "no scenario has `{word}` in its name"),
    }
}
