//! The agent of another program, which acts through `hermit mcp`: a client of this test's own on standard input and
//! output, a person at a terminal, and kills in between.

use super::attached::Served;
use super::stage::Stage;
use conforms::conforms;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use testkit::Killed;

/// How long anything expected may take on a slow machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Starts a program that speaks in lines of JSON: itself, where it is spoken to, and what it says.
pub fn speaks(mut command: Command) -> (Killed, Option<ChildStdin>, Receiver<Value>) {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = Killed(command.spawn().expect("it starts"));
    let (send, from) = channel();
    let lines = BufReader::new(child.stdout.take().expect("a pipe"));
    std::thread::spawn(move || {
        for line in lines.lines().map_while(Result::ok) {
            // Standard output holds the protocol and nothing else.
            let message = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
            if send.send(message).is_err() {
                return;
            }
        }
    });
    let to = child.stdin.take();
    (child, to, from)
}

/// A program that speaks the protocol with a `hermit mcp` that it has started.
pub struct Agent {
    child: Killed,
    to: Option<ChildStdin>,
    from: Receiver<Value>,
    last: i64,
    told: Value,
}

impl Agent {
    /// Before anything was said.
    pub fn connected(stage: &Stage, words: &[&str]) -> Self {
        let mut all = vec!["mcp", "--workspace", stage.work().to_str().expect("UTF-8")]
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>();
        all.extend(words.iter().map(|word| (*word).to_owned()));
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let (child, to, from) = speaks(stage.command(&all));
        Self { child, to, from, last: 0, told: Value::Null }
    }

    pub fn start(stage: &Stage, words: &[&str]) -> Self {
        let mut agent = Self::connected(stage, words);
        agent.told = agent.ask(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "claude-code", "version": "2.1" },
            }),
        );
        agent.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        agent
    }

    fn say(&mut self, message: &Value) {
        let to = self.to.as_mut().expect("it is open");
        writeln!(to, "{message}").expect("it listens");
        to.flush().expect("it listens");
    }

    pub fn begin(&mut self, method: &str, params: &Value) -> i64 {
        self.last += 1;
        let message = json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        self.say(&message);
        self.last
    }

    /// The answer to a request, in a minute in all, and what was notified before it.
    pub fn answer(&mut self, id: i64) -> (Value, Vec<Value>) {
        let (mut notified, until) = (Vec::new(), Instant::now() + PATIENCE);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let message = self.from.recv_timeout(left).expect("an answer");
            if message["id"] == json!(id) {
                return (message, notified);
            }
            notified.push(message);
        }
    }

    pub fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params);
        let (answer, _) = self.answer(id);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// Ends as an agent's program does: it closes standard input.
    pub fn close(mut self) {
        drop(self.to.take());
        assert_eq!(testkit::ends(&mut self.child).code(), Some(0));
    }

    pub fn kill(mut self) {
        self.child.kill().expect("it is there");
        self.child.wait().expect("it ends");
    }
}

pub fn words(result: &Value) -> String {
    let blocks = result["content"].as_array().expect("content").iter();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

pub fn status(result: &Value) -> &str {
    result["structuredContent"]["status"].as_str().unwrap_or_default()
}

/// Makes the call again until it is over.
pub fn to_the_end(agent: &mut Agent, tool: &str, arguments: &Value) -> Value {
    let until = Instant::now() + PATIENCE;
    loop {
        let result = agent.call(tool, arguments);
        if matches!(status(&result), "done" | "refused" | "denied" | "ended") {
            return result;
        }
        assert!(Instant::now() < until, "{result}");
    }
}

pub fn a_file() -> Value {
    json!({ "path": "made.txt", "content": "by an agent of another program\n" })
}

/// The only task of an agent in this store.
pub fn task(stage: &Stage) -> String {
    let rows = stage.hermit(&["task", "list"]).ends(0).json();
    let rows = rows["rows"].as_array().expect("rows").clone();
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows[0]["task_id"].as_str().expect("an identifier").to_owned()
}

#[conforms(part = "HV-3.3-4")]
#[test]
fn an_agent_of_another_program_acts_through_hermit_and_its_approval_outlives_every_process() {
    let stage = Stage::new();
    std::fs::write(stage.work().join("notes.txt"), "what is there\n").expect("a file");
    let mut agent = Agent::start(&stage, &[]);
    assert_eq!(agent.told["serverInfo"]["name"], "hermit", "{}", agent.told);
    let tools = agent.ask("tools/list", &json!({}));
    let names: Vec<&str> =
        tools["tools"].as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect();
    for name in ["list", "read", "search", "write", "edit", "change", "command", "fetch", "commit", "ask"] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    for name in &names {
        assert!(!["approve", "grant", "erase", "classify", "secret"].iter().any(|word| name.contains(word)));
    }
    let read = agent.call("read", &json!({ "path": "notes.txt" }));
    assert_eq!((status(&read), &read["isError"]), ("done", &json!(false)), "{read}");
    assert!(words(&read).contains("what is there"), "{read}");

    let asked = agent.call("write", &a_file());
    assert_eq!(status(&asked), "awaiting_approval", "{asked}");
    assert!(
        words(&asked).contains("a person has to allow this") && words(&asked).contains("again"),
        "{asked}"
    );
    let approval = asked["structuredContent"]["approval_id"].as_str().expect("an approval").to_owned();
    assert!(!stage.work().join("made.txt").exists());
    agent.kill();

    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 0, "{screen}");
    let mut agent = Agent::start(&stage, &[]);
    let done = to_the_end(&mut agent, "write", &a_file());
    assert_eq!((status(&done), &done["isError"]), ("done", &json!(false)), "{done}");
    assert_eq!(
        std::fs::read_to_string(stage.work().join("made.txt")).expect("the file"),
        "by an agent of another program\n"
    );
    let task = task(&stage);
    let receipt = stage.receipt(&task);
    let id = receipt["receipt_id"].as_str().expect("an identifier");
    assert_eq!(done["structuredContent"]["receipt_id"], id, "{done}");
    assert_eq!(stage.count(&task, "approval.requested"), 1, "nobody is asked twice");
    assert_eq!(stage.count(&task, "attempt.created"), 1, "the same attempt went on");

    let link =
        done["content"].as_array().expect("content").iter().find(|block| block["type"] == "resource_link");
    let uri = link.expect("a link")["uri"].clone();
    let shown = agent.ask("resources/read", &json!({ "uri": uri }));
    let (first, second) = (&shown["contents"][0], &shown["contents"][1]);
    let told: Value = serde_json::from_str(first["text"].as_str().expect("a text")).expect("JSON");
    assert_eq!(told["row"]["receipt_id"], id, "{shown}");
    assert!(second["text"].as_str().expect("words").contains("result: succeeded"), "{shown}");
    agent.close();

    let shown = stage.hermit(&["task", "show", &task]).ends(0).json();
    assert_eq!(shown["row"]["title"], "claude-code 2.1 in work", "{shown}");
    assert_eq!(shown["reasoner"], "session:claude-code 2.1", "{shown}");
    assert_eq!(shown["waits_for"]["kind"], "agent", "{shown}");
    stage.is_sound();
    stage.prove(&task);
}

#[test]
fn a_client_that_takes_progress_is_told_of_it_until_the_person_has_answered() {
    let stage = Stage::new();
    let mut agent = Agent::start(&stage, &[]);
    let id = agent.begin(
        "tools/call",
        &json!({ "name": "write", "arguments": a_file(), "_meta": { "progressToken": "p-1" } }),
    );
    let approval = stage.is_asked();
    stage.hermit(&["approvals", "deny", &approval, "--feedback", "not this one"]).ends(0);
    let (answer, notified) = agent.answer(id);
    let result = &answer["result"];
    assert_eq!((status(result), &result["isError"]), ("refused", &json!(true)), "{answer}");
    assert!(words(result).contains("not this one"), "{answer}");
    let progress: Vec<_> =
        notified.iter().filter(|told| told["method"] == "notifications/progress").collect();
    assert!(progress.iter().all(|told| told["params"]["progressToken"] == "p-1"), "{notified:?}");
    assert!(!progress.is_empty(), "it was told that it waits");
    assert!(!stage.work().join("made.txt").exists());
    agent.close();
}

#[test]
fn what_a_client_waits_for_no_longer_is_stopped_and_a_question_to_a_person_stays() {
    let stage = Stage::new();
    let mut agent = Agent::start(&stage, &[]);
    let begin = |agent: &mut Agent, tool: &str, arguments: &Value| {
        let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": "p" } });
        agent.begin("tools/call", &params)
    };
    let give_up = |agent: &mut Agent, id: i64| {
        let params = json!({ "requestId": id, "reason": "the user pressed escape" });
        agent.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    };
    let until = |what: &str, holds: &dyn Fn() -> bool| {
        let by = Instant::now() + PATIENCE;
        while !holds() {
            assert!(Instant::now() < by, "not in time: {what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    // A command is at work: in a copy of the folder, before anybody is asked.
    let mark = format!("{}", 590_000 + std::process::id() % 1_000);
    let id = begin(&mut agent, "command", &json!({ "argv": ["sleep", mark] }));
    until("it is at work", &|| processes(&mark) > 0);
    give_up(&mut agent, id);
    until("it is ended", &|| processes(&mark) == 0);
    let task = task(&stage);
    until("its end is on record", &|| stage.count(&task, "trial.ended") == 1);
    // It did nothing, so the same call is a new one, and is given up as well.
    let id = begin(&mut agent, "command", &json!({ "argv": ["sleep", mark] }));
    until("it is at work again", &|| processes(&mark) > 0);
    give_up(&mut agent, id);
    until("it is ended again", &|| processes(&mark) == 0);
    until("that is on record, too", &|| stage.count(&task, "trial.ended") == 2);
    // The connection is as good as before; what waits for a person waits on.
    let id = begin(&mut agent, "write", &a_file());
    until("a person is asked", &|| !stage.waiting().is_empty());
    give_up(&mut agent, id);
    let read = agent.call("hermit_task", &json!({}));
    assert_eq!(read["isError"], json!(false), "{read}");
    let waiting = stage.waiting();
    let approval = waiting.first().expect("the question stays")["approval_id"].as_str().expect("an id");
    let (code, screen) = stage.approve(approval);
    assert_eq!(code, 0, "{screen}");
    let done = to_the_end(&mut agent, "write", &a_file());
    assert_eq!(status(&done), "done", "the same call goes on: {done}");
    assert!(stage.work().join("made.txt").exists());
    agent.close();
}

/// Processes that have this among their words.
fn processes(word: &str) -> usize {
    let words = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).ok();
    let all = std::fs::read_dir("/proc").expect("processes").flatten().filter_map(words);
    all.filter(|words| words.split(|byte| *byte == 0).any(|one| one == word.as_bytes())).count()
}

#[test]
fn reads_that_a_client_makes_at_once_are_all_answered_and_a_change_behind_a_question_is_not_taken() {
    let stage = Stage::new();
    for n in 0..10 {
        std::fs::write(stage.work().join(format!("{n}.txt")), format!("words of {n}\n")).expect("a file");
    }
    let mut agent = Agent::start(&stage, &[]);
    let call = |tool: &str, arguments: Value| json!({ "name": tool, "arguments": arguments });
    let ids: Vec<i64> = (0..10)
        .map(|n| agent.begin("tools/call", &call("read", json!({ "path": format!("{n}.txt") }))))
        .collect();
    let mut answers = std::collections::BTreeMap::new();
    let mut order = Vec::new();
    while answers.len() < ids.len() {
        let message = agent.from.recv_timeout(PATIENCE).expect("an answer");
        order.push(message["id"].as_i64().expect("an id"));
        answers.insert(message["id"].as_i64().expect("an id"), message);
    }
    assert_eq!(order, ids, "who came first went first");
    // The same twice at once are two acts, each with its own record.
    let same = call("read", json!({ "path": "3.txt" }));
    let twice = [agent.begin("tools/call", &same), agent.begin("tools/call", &same)];
    let keys: std::collections::BTreeSet<String> = twice
        .iter()
        .map(|_| {
            agent.from.recv_timeout(PATIENCE).expect("an answer")["result"]["structuredContent"]["key"]
                .to_string()
        })
        .collect();
    assert_eq!(keys.len(), 2, "{keys:?}");
    for (n, id) in ids.iter().enumerate() {
        let told = answers[id].to_string();
        assert!(told.contains(&format!("words of {n}")), "{n}: {told}");
    }
    let rows = stage.hermit(&["task", "list"]).ends(0).json();
    assert_eq!(rows["rows"].as_array().map(Vec::len), Some(1), "one task for all of them: {rows}");
    // A change that waits for a person holds the line; what is cancelled behind it stops nothing of it.
    let first = agent.call("write", &a_file());
    assert_eq!(status(&first), "awaiting_approval", "{first}");
    let second = agent.begin("tools/call", &call("write", json!({ "path": "c.txt", "content": "c" })));
    agent.say(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": second } }),
    );
    let third = agent.call("write", &json!({ "path": "d.txt", "content": "d" }));
    assert!(words(&third).contains("nothing of this call was taken"), "{third}");
    assert_eq!(stage.waiting().len(), 1, "the question stays");
    agent.close();
    stage.is_sound();
}

#[test]
fn what_only_a_person_does_has_no_tool_and_an_agent_is_told_so() {
    let stage = Stage::new();
    let mut agent = Agent::start(&stage, &["--profile", "readonly_analysis"]);
    let refused = agent.call("approve_action", &json!({ "approval_id": "appr_1" }));
    assert_eq!(refused["isError"], true);
    assert!(
        words(&refused).contains("only a person") && words(&refused).contains("hermit approvals approve"),
        "{refused}"
    );
    let lesser = agent.call("write", &a_file());
    assert!(words(&lesser).contains("not done: policy allows it only as `readonly`"), "{lesser}");
    assert!(!stage.work().join("made.txt").exists());
    let malformed = agent.call("read", &json!({ "wrong": 1 }));
    assert_eq!((status(&malformed), &malformed["isError"]), ("done", &json!(true)), "{malformed}");
    let outside = agent.call("hermit_explain", &json!({ "path": "/etc/passwd" }));
    assert!(words(&outside).contains("no path inside the folder"), "{outside}");
    let foreign = agent.call("hermit_task", &json!({ "task": "task_of_somebody_else" }));
    assert!(words(&foreign).contains("no task that this session knows"), "{foreign}");
    let own = agent.call("hermit_task", &json!({}));
    assert_eq!(own["structuredContent"]["reasoner"], "session:claude-code 2.1", "{own}");
    agent.close();
}

#[test]
fn a_programs_configuration_is_changed_after_a_yes_and_keeps_what_was_there() {
    let stage = Stage::new();
    let home = stage.at("person");
    std::fs::create_dir(&home).expect("a folder");
    let file = home.join(".claude.json");
    let before =
        "{\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" }\n  }\n}\n";
    std::fs::write(&file, before).expect("a file");
    let run = |words: &[&str]| Stage::ran(stage.command(words).env("HOME", &home));
    let printed = run(&["mcp", "install", "claude-code", "--print"]).ends(0);
    assert!(printed.out.contains("+    \"hermit\": {"), "{printed:?}");
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), before, "nothing is changed by looking");
    run(&["--json", "mcp", "install", "claude-code"]).ends(2).complains(&["terminal"]);
    let person = home.to_str().expect("UTF-8");
    let mut pty = stage.terminal(&["mcp", "install", "claude-code"], &[("HOME", person)]);
    pty.expect("Change it?").send("yes\r");
    let (code, screen) = pty.end();
    assert_eq!(code, 0, "{screen}");
    let after: Value = serde_json::from_str(&std::fs::read_to_string(&file).expect("a file")).expect("JSON");
    assert_eq!(after["theme"], "dark");
    assert_eq!(after["mcpServers"]["other"]["command"], "x");
    assert_eq!(after["mcpServers"]["hermit"]["args"], json!(["mcp"]), "{after}");
    let command = after["mcpServers"]["hermit"]["command"].as_str().expect("a command");
    assert!(Command::new(command).arg("--version").status().expect("it starts").success());
    let mut pty = stage.terminal(&["mcp", "uninstall", "claude-code"], &[("HOME", person)]);
    pty.expect("Change it?").send("yes\r");
    let (code, screen) = pty.end();
    assert_eq!(code, 0, "{screen}");
    let after: Value = serde_json::from_str(&std::fs::read_to_string(&file).expect("a file")).expect("JSON");
    assert_eq!(after, serde_json::from_str::<Value>(before).expect("JSON"));
}

/// An agent that speaks over HTTP with the host that serves the store.
struct Far<'s> {
    served: &'s Served,
    lines: String,
    path: String,
    last: i64,
}

impl Far<'_> {
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let message =
            json!({ "jsonrpc": "2.0", "id": format!("n{}", self.last), "method": method, "params": params });
        let (status, _, body) = self.served.exchange(&self.lines, ("POST", &self.path), &message);
        assert_eq!(status, 200, "{method}: {body}");
        let answer: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(answer["id"], format!("n{}", self.last), "{answer}");
        answer["result"].clone()
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": 1 } }),
        )
    }
}

#[test]
fn an_agent_acts_over_http_as_over_standard_input_and_only_with_the_token_of_the_host() {
    let stage = Stage::new();
    let served = Served::by(&stage);
    let token = std::fs::read_to_string(stage.home().join("gateway.token")).expect("a token");
    let bearer = format!("Authorization: Bearer {}\r\n", token.trim());
    let path = format!("/mcp?workspace={}", stage.work().to_str().expect("UTF-8"));
    let greeting = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "codex", "version": "1" } } });
    // Nobody without the token, no page of another origin, no name that leads here by a trick, no unknown version.
    let with = |line: &str| format!("{bearer}{line}\r\n");
    for (lines, path, wanted) in [
        (String::new(), &*path, 401),
        (with("Origin: http://elsewhere.example"), &path, 403),
        (with("MCP-Protocol-Version: 1999-01-01"), &path, 400),
        (bearer.clone(), "/mcp", 400),
        (bearer.clone(), "/mcp?workspace=relative", 400),
    ] {
        let (status, _, body) = served.exchange(&lines, ("POST", path), &greeting);
        assert_eq!(status, wanted, "{lines} {path}: {body}");
    }
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {} });
    assert_eq!(served.exchange(&bearer, ("POST", &path), &list).0, 400, "before a greeting");
    let unknown = with("Mcp-Session-Id: guessed");
    assert_eq!(served.exchange(&unknown, ("POST", &path), &list).0, 404);
    assert_eq!(served.exchange(&bearer, ("GET", &path), &Value::Null).0, 405, "no stream is offered");

    let (code, head, body) = served.exchange(&bearer, ("POST", &path), &greeting);
    assert_eq!(code, 200, "{body}");
    let head = head.to_ascii_lowercase();
    let session =
        head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a name").to_owned();
    let lines = format!("{bearer}Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(served.exchange(&lines, ("POST", &path), &told).0, 202);
    let mut far = Far { served: &served, lines: lines.clone(), path: path.clone(), last: 0 };

    // The same tools as over standard input.
    let mut near = Agent::start(&stage, &[]);
    assert_eq!(far.ask("tools/list", &json!({})), near.ask("tools/list", &json!({})));
    near.close();

    let asked = far.call("write", &a_file());
    assert_eq!(status(&asked), "awaiting_approval", "{asked}");
    let approval = asked["structuredContent"]["approval_id"].as_str().expect("an approval").to_owned();
    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 0, "{screen}");
    let until = Instant::now() + PATIENCE;
    let done = loop {
        let result = far.call("write", &a_file());
        if status(&result) == "done" {
            break result;
        }
        assert!(Instant::now() < until, "{result}");
    };
    assert!(stage.work().join("made.txt").exists());
    let task = task(&stage);
    assert_eq!(done["structuredContent"]["receipt_id"], stage.receipt(&task)["receipt_id"], "{done}");
    assert_eq!(stage.count(&task, "approval.requested"), 1, "nobody is asked twice");

    assert_eq!(served.exchange(&lines, ("DELETE", &path), &Value::Null).0, 204);
    assert_eq!(served.exchange(&lines, ("POST", &path), &list).0, 404, "it is over");
    drop(served);
    stage.is_sound();
}
