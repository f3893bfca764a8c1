//! Each tool that `hermit mcp` offers beside reading and writing, called by the agent of another program: what it says, what it
//! leaves, and how soon a call that waits is answered.

use super::agents::{Agent, status, task, to_the_end, words};
use super::asked_by_servers;
use super::stage::{Stage, verified};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// How long an agent waits until it is told that its call waits: the host looks after it for one and a half seconds.
const SOON: Duration = Duration::from_secs(3);

const BEFORE: &str = "one\ntwo\n";
const AFTER: &str = "one\nthree\n";

/// What git says of the folder.
fn git(stage: &Stage, words: &[&str]) -> String {
    let who = ["-c", "user.name=Anna", "-c", "user.email=anna@example.org"];
    let ran = Command::new("git").args(who).args(words).current_dir(stage.work()).output().expect("git");
    assert!(ran.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

/// A folder under version control with one file.
fn furnished() -> Stage {
    let stage = Stage::new();
    std::fs::write(stage.work().join("notes.txt"), BEFORE).expect("a file");
    let commands: [&[&str]; 3] =
        [&["init", "-q", "-b", "main"], &["add", "notes.txt"], &["commit", "-q", "-m", "the first notes"]];
    for words in commands {
        git(&stage, words);
    }
    stage
}

/// Makes a call that waits for somebody, and is told so soon.
fn waits(agent: &mut Agent, (tool, arguments): (&str, &Value), wanted: &str) -> Value {
    let began = Instant::now();
    let told = agent.call(tool, arguments);
    assert_eq!((status(&told), &told["isError"]), (wanted, &json!(false)), "{tool}: {told}");
    assert!(began.elapsed() < SOON, "{tool}: after {:?}", began.elapsed());
    assert!(words(&told).contains("Make the same call again, word for word"), "{tool}: {told}");
    told
}

/// A call that a person allows: its receipt.
fn is_allowed(stage: &Stage, agent: &mut Agent, tool: &str, arguments: &Value) -> (String, Value) {
    let asked = waits(agent, (tool, arguments), "awaiting_approval");
    let approval = asked["structuredContent"]["approval_id"].as_str().expect("an approval").to_owned();
    assert!(words(&asked).contains(&format!("hermit approvals approve {approval}")), "{asked}");
    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 0, "{screen}");
    let done = to_the_end(agent, tool, arguments);
    assert_eq!((status(&done), &done["isError"]), ("done", &json!(false)), "{done}");
    let receipt = done["structuredContent"]["receipt_id"].as_str().expect("a receipt").to_owned();
    (receipt, done)
}

#[test]
fn an_agent_looks_changes_and_commits_through_hermit_and_is_told_what_came_of_each() {
    let stage = furnished();
    let mut agent = Agent::start(&stage, &["--profile", "repo_mutation_gated"]);
    let found = agent.call("search", &json!({ "pattern": "^tw", "path": "notes.txt" }));
    assert_eq!((status(&found), &found["isError"]), ("done", &json!(false)), "{found}");
    assert!(words(&found).contains("notes.txt:2: two"), "{found}");
    let hashed = agent.call("hash", &json!({ "path": "notes.txt" }));
    let digest = model::Digest::of(BEFORE.as_bytes());
    assert!(words(&hashed).contains(&format!("{digest}  notes.txt")), "{hashed}");
    agent.call("read", &json!({ "path": "notes.txt" }));

    let edit = json!({ "path": "notes.txt", "edits": [{ "old": "two", "new": "three" }] });
    let (edited, told) = is_allowed(&stage, &mut agent, "edit", &edit);
    assert!(words(&told).contains("write notes.txt: done"), "{told}");
    let at = stage.work().join("notes.txt");
    assert_eq!(std::fs::read_to_string(&at).expect("the file"), AFTER);
    let commit = json!({ "paths": ["notes.txt"], "message": "the second notes" });
    let (committed, told) = is_allowed(&stage, &mut agent, "commit", &commit);
    let head = git(&stage, &["rev-parse", "HEAD"]);
    assert!(words(&told).contains(head.trim()), "it is told of {head}: {told}");
    assert_eq!(git(&stage, &["show", "HEAD:notes.txt"]), AFTER);
    assert_eq!(git(&stage, &["log", "-1", "--format=%s"]).trim(), "the second notes");

    receipts_are_told(&mut agent, &edited, &committed);
    explains(&stage, &mut agent, &edited);
    // What this version tells of itself, which an agent that is to change it reads first.
    let told = agent.call("hermit_introspect", &json!({ "topic": "doors", "words": "reasoning" }));
    assert_eq!(told["structuredContent"]["rows"][0]["leads_to"], json!(["model", "words"]), "{told}");
    let proof = agent.call("hermit_proof", &json!({}));
    let path = proof["structuredContent"]["path"].as_str().unwrap_or_else(|| panic!("{proof}")).to_owned();
    assert!(path.starts_with(stage.home().to_str().expect("UTF-8")), "not in the person's folder: {path}");
    verified(Path::new(&path), &["--trust", &stage.key("log")]).ends(0);
    agent.close();
    stage.is_sound();
}

/// What the session did is listed, the newest first, and each is shown to it alone.
fn receipts_are_told(agent: &mut Agent, edited: &str, committed: &str) {
    let listed = agent.call("hermit_receipts", &json!({}));
    let rows = listed["structuredContent"]["rows"].as_array().unwrap_or_else(|| panic!("{listed}"));
    let effects = rows.iter().filter(|row| row["class"] != "approval_resolution");
    let told: Vec<(&str, &str)> = effects
        .map(|row| {
            let word = |name: &str| row[name].as_str().unwrap_or_default();
            (word("receipt_id"), word("action_class"))
        })
        .collect();
    assert_eq!(told, [(committed, "vcs_mutation"), (edited, "write_local")]);
    for (id, class) in told {
        let shown = agent.call("hermit_receipt", &json!({ "receipt": id }));
        let told = &shown["structuredContent"];
        assert_eq!((&told["row"]["receipt_id"], &told["row"]["result"]), (&json!(id), &json!("succeeded")));
        assert_eq!(told["receipt"]["action_class"], class, "{shown}");
    }
    for other in ["rcp_of_somebody_else", "rcp_01a21f9409a27f70b6c3521fec25a951"] {
        let refused = agent.call("hermit_receipt", &json!({ "receipt": other }));
        assert_eq!(refused["isError"], true, "{other}: {refused}");
    }
}

/// Which act made a file, and a line of it.
fn explains(stage: &Stage, agent: &mut Agent, edited: &str) {
    let whole = agent.call("hermit_explain", &json!({ "path": "notes.txt" }));
    let told = whole["structuredContent"]["told"].to_string();
    for said in
        ["overwrite notes.txt", "claude-code 2.1", "approved it", &format!("hermit rollback {edited}")]
    {
        assert!(told.contains(said), "`{said}` is not in {told}");
    }
    let line = agent.call("hermit_explain", &json!({ "path": "notes.txt", "line": 2 }));
    let line = &line["structuredContent"]["line"];
    assert_eq!((&line["text"], &line["written_by"]), (&json!("three"), &json!(edited)), "{line}");
    std::fs::write(stage.work().join("own.txt"), "by a person\n").expect("a file");
    let own = agent.call("hermit_explain", &json!({ "path": "own.txt" }));
    assert!(!own.to_string().contains(edited), "no act of the session made it: {own}");
}

#[test]
fn what_policy_does_not_let_an_agent_fetch_is_denied_at_once_and_nobody_is_asked() {
    let (stage, server) = (Stage::new(), testkit::Server::agreeing());
    let mut agent = Agent::start(&stage, &[]);
    let fetch = json!({ "method": "GET", "url": server.url("/page") });
    let denied = agent.call("fetch", &fetch);
    assert_eq!((status(&denied), &denied["isError"]), ("denied", &json!(true)), "{denied}");
    for said in ["not allowed by policy", "read from the network"] {
        assert!(words(&denied).contains(said), "`{said}` is not in {denied}");
    }
    assert!(server.heard().is_empty() && stage.waiting().is_empty(), "it was asked for");
    assert_eq!(stage.count(&task(&stage), "effect.dispatched"), 0);
    agent.close();
    stage.is_sound();
}

#[test]
fn an_agent_asks_the_person_once_and_the_same_call_again_has_their_answer() {
    let stage = Stage::new();
    let mut agent = Agent::start(&stage, &[]);
    agent.call("list", &json!({}));
    let ask = json!({ "question": "Which one?", "choices": ["blue", "red"] });
    let asked = waits(&mut agent, ("ask", &ask), "awaiting_answer");
    assert!(asked["structuredContent"]["clarification_id"].is_string(), "{asked}");
    let again = waits(&mut agent, ("ask", &ask), "awaiting_answer");
    assert_eq!(asked["structuredContent"], again["structuredContent"], "it is the same question");
    let task = task(&stage);
    asked_by_servers::answer(&stage, &task, "the blue one");
    let told = to_the_end(&mut agent, "ask", &ask);
    assert_eq!((status(&told), &told["isError"]), ("done", &json!(false)), "{told}");
    assert!(words(&told).contains("the blue one"), "{told}");
    assert_eq!(stage.count(&task, "clarification.requested"), 1, "nobody is asked twice");
    agent.close();
    stage.is_sound();
}

#[test]
fn a_call_whose_work_takes_long_is_answered_soon_and_goes_on() {
    let stage = Stage::new();
    let mut agent = Agent::start(&stage, &[]);
    agent.call("list", &json!({}));
    let command = json!({ "argv": ["sh", "-c", "sleep 5; echo made > made.txt"] });
    let working = waits(&mut agent, ("command", &command), "working");
    let until = Instant::now() + Duration::from_secs(120);
    let asked = loop {
        let began = Instant::now();
        let told = agent.call("command", &command);
        assert!(began.elapsed() < SOON, "after {:?}: {told}", began.elapsed());
        if status(&told) != "working" {
            break told;
        }
        assert!(Instant::now() < until, "{told}");
    };
    assert_eq!(status(&asked), "awaiting_approval", "{asked}");
    let key = |told: &Value| told["structuredContent"]["key"].clone();
    assert_eq!(key(&asked), key(&working), "it is the same call");
    assert!(!stage.work().join("made.txt").exists());
    assert_eq!(stage.waiting().len(), 1, "it ran once");
    agent.close();
    stage.is_sound();
}
