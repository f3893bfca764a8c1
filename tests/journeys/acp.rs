//! An agent that speaks the Agent Client Protocol works as a guest: it is spoken to inside its sandbox, and what it asks
//! for there is answered with nothing but what is there.

use super::guests::{begin, furnished, lets_run, receipts};
use super::stage::Stage;
use super::tool_servers::card;
use super::tree;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

/// How long anything expected may take on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// An agent without a model: what it does with a prompt is `works`, in Python; `ask` asks the client, `tell` updates it.
fn agent(stage: &Stage, works: &str) -> String {
    let folder = stage.at("bin");
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("toy");
    let script = AGENT.replace("WORKS", &works.replace('\n', "\n    "));
    std::fs::write(&path, script).expect("a file");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("its bits");
    format!("acp:{}", path.display())
}

const AGENT: &str = r#"#!/usr/bin/python3
import json, os, sys
number = 100
def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()
def hear():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)
def ask(method, **params):
    global number
    number += 1
    say({"id": number, "method": method, "params": {"sessionId": session, **params}})
    while True:
        heard = hear()
        if heard.get("id") == number and "method" not in heard:
            return heard.get("result"), (heard.get("error") or {}).get("message", "")
def tell(what, **update):
    say({"method": "session/update", "params": {"sessionId": session, "update": {"sessionUpdate": what, **update}}})
def words(text):
    tell("agent_message_chunk", content={"type": "text", "text": text})
def may(kind, path=None, options=("allow_once", "allow_always", "reject_once")):
    call = {"toolCallId": "p", "kind": kind, "title": "Try " + kind, "locations": [{"path": path}] if path else []}
    answer, error = ask("session/request_permission", toolCall=call,
        options=[{"optionId": "o-" + kind, "name": kind, "kind": kind} for kind in options])
    outcome = (answer or {}).get("outcome", {})
    return error or outcome.get("optionId") or outcome.get("outcome")
session, root, servers = "", "", []
home = os.environ["HOME"]
def work(text):
    WORKS
while True:
    heard = hear()
    method, params = heard.get("method"), heard.get("params", {})
    if method == "initialize":
        assert params["clientCapabilities"]["fs"]["writeTextFile"] and params["clientCapabilities"]["terminal"]
        say({"id": heard["id"], "result": {"protocolVersion": 1, "agentCapabilities": {"loadSession": True},
            "agentInfo": {"name": "toy", "version": "9.9"}}})
    elif method in ("session/new", "session/load"):
        session, root, servers = params.get("sessionId", "one"), params["cwd"], params["mcpServers"]
        if method == "session/load":
            words("this was said before")
        say({"id": heard["id"], "result": {"sessionId": session} if method == "session/new" else {}})
    elif method == "session/prompt":
        reason = work("".join(block["text"] for block in params["prompt"])) or "end_turn"
        say({"id": heard["id"], "result": {"stopReason": reason}})
"#;

/// What is on the card of its turn and of its work, and what it printed.
fn said(stage: &Stage, task: &str) -> String {
    let events = stage.hermit(&["task", "events", task]).ends(0).out;
    let found = stage.hermit(&["search", "agent: toy 9.9"]).ends(0).json();
    let rows = found["rows"].as_array().expect("rows");
    let is_output =
        |row: &&Value| row["what"].as_str().is_some_and(|what| what.contains("output of a command"));
    let id =
        rows.iter().find(is_output).unwrap_or_else(|| panic!("no output: {found} {events}"))["id"].clone();
    stage.hermit(&["artifacts", "show", id.as_str().expect("an id"), "-o", "-"]).ends(0).out
}

const DOES_ALL: &str = r#"words("I look. ")
tell("plan", entries=[{"content": "look", "priority": "high", "status": "completed"}, {"content": "write", "priority": "high", "status": "in_progress"}])
read, _ = ask("fs/read_text_file", path=root + "/a.txt")
assert read["content"] == "first\n"
_, why = ask("fs/read_text_file", path="/etc/passwd")
words("outside: " + why + "\n")
_, why = ask("fs/write_text_file", path=root + "/../x.txt", content="no")
words("above: " + why + "\n")
ask("fs/write_text_file", path=root + "/new/c.txt", content="made\n")
with open(root + "/new/c.txt", "a") as c:
    c.write("more than it told\n")
tell("tool_call", toolCallId="t", title="Edit a", kind="edit", status="pending", locations=[{"path": root + "/a.txt"}])
with open(root + "/a.txt", "a") as a:
    a.write("more\n")
tell("tool_call_update", toolCallId="t", status="completed", content=[{"type": "diff", "path": root + "/a.txt", "oldText": "first\n", "newText": "first\nmore\n"}])
made, _ = ask("terminal/create", command="sh", args=["-c", "echo out; echo hidden > untold.txt; exit 3"], cwd=root)
ended, _ = ask("terminal/wait_for_exit", terminalId=made["terminalId"])
shown, _ = ask("terminal/output", terminalId=made["terminalId"])
ask("terminal/release", terminalId=made["terminalId"])
words("ran: %s %s\n" % (ended["exitCode"], shown["output"].strip()))
line, _ = ask("terminal/create", command="echo a line | tr a b")
ask("terminal/wait_for_exit", terminalId=line["terminalId"])
words(ask("terminal/output", terminalId=line["terminalId"])[0]["output"])
words("unknown: %s\n" % ask("fs/format_disk")[1])
words("edit: %s; out: %s; kind: %s; fetch: %s; always: %s\n" % (may("edit", root + "/a.txt"), may("edit", "/etc/passwd"),
    may("teleport"), may("fetch"), may("execute", options=("allow_always",))))
words("tools: %s" % [server["command"] for server in servers])"#;

#[test]
fn an_agent_that_speaks_acp_is_answered_inside_its_copy_and_its_work_is_one_card() {
    let (stage, _) = furnished("true");
    let agent = agent(&stage, DOES_ALL);
    let before = tree::of(&stage.work());
    let (task, first) = begin(&stage, &agent, "make it so", &[]);
    let shown = card(&stage, &first);
    for word in ["Agent Client Protocol", "make it so", "no network"] {
        assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
    }
    let second = lets_run(&stage, &first);
    assert!(tree::of(&stage.work()) == before, "nothing of it is in the folder before the yes");
    let told = said(&stage, &task);
    for line in [
        "I look. ",
        "plan: done: look",
        "plan: now: write",
        "outside: `/etc/passwd` is outside of the folder",
        "above: ",
        "reads a.txt",
        "writes new/c.txt (5 bytes)",
        "tool: edit Edit a [pending]",
        "tool: edit Edit a [completed]",
        "ran: 3 out",
        "b line",
        "unknown: Hermit does not do `fs/format_disk`",
        "edit: o-allow_once; out: o-reject_once; kind: o-reject_once; fetch: o-reject_once; always: refused: ",
        "tools: ['/run/hermit/exec']",
        "told: changed new/c.txt",
    ] {
        assert!(told.contains(line), "`{line}` is not in what it printed: {told}");
    }
    let shown = card(&stage, &second);
    for word in [
        "a.txt",
        "new/c.txt",
        "did NOT tell of 1 place",
        "not told of: \\\"untold.txt\\\" (7 bytes)",
        "told otherwise: \\\"new/c.txt\\\" holds 23 bytes, and it told of 5",
    ] {
        assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
    }
    let (code, screen) = stage.approve(&second);
    assert_eq!(code, 0, "{screen}");
    let read = |name: &str| std::fs::read_to_string(stage.work().join(name)).ok();
    assert_eq!(read("a.txt").as_deref(), Some("first\nmore\n"));
    assert_eq!(
        (read("new/c.txt").as_deref(), read("untold.txt").as_deref()),
        (Some("made\nmore than it told\n"), Some("hidden\n"))
    );
    let turn =
        receipts(&stage, &task).into_iter().find(|receipt| receipt["action_class"] == "external_effect");
    let turn = turn.expect("its turn")["receipt_id"].as_str().expect("an id").to_owned();
    let receipt = stage.hermit(&["receipts", "show", &turn]).ends(0).out;
    for words in ["toy 9.9", "it read 1 file through its client: a.txt"] {
        assert!(receipt.contains(words), "`{words}` is not in {receipt}");
    }
    stage.is_sound();
    stage.prove_receipts(&task);
}

#[test]
fn a_no_with_words_is_the_next_prompt_of_the_same_conversation() {
    let (stage, _) = furnished("true");
    let works = "open(home + '/n', 'a').write('1')\nask('fs/write_text_file', path=root + '/said.txt', \
                 content=session + open(home + '/n').read() + text)";
    let agent = agent(&stage, works);
    let (task, first) = begin(&stage, &agent, "write it", &[]);
    let second = lets_run(&stage, &first);
    stage.hermit(&["approvals", "deny", &second, "--feedback", "shorter, please"]).ends(0);
    stage.hermit(&["resume"]);
    let third = stage.waiting()[0]["approval_id"].as_str().expect("an id").to_owned();
    let fourth = lets_run(&stage, &third);
    let (code, screen) = stage.approve(&fourth);
    assert_eq!(code, 0, "{screen}");
    let said = std::fs::read_to_string(stage.work().join("said.txt")).expect("it is there");
    assert!(
        said.starts_with("one11A person looked at what you changed"),
        "it took its conversation up: {said}"
    );
    assert!(said.contains("shorter, please"), "{said}");
    assert!(
        !self::said(&stage, &task).contains("this was said before"),
        "what it said before is not said again"
    );
    stage.is_sound();
}

#[test]
fn a_turn_that_is_cancelled_is_told_to_the_agent_which_may_end_it_and_nothing_is_left() {
    let (stage, _) = furnished("true");
    // It asks for permission once it hears that it is cancelled, and tells outside what it was answered.
    let works = "open(beside + '/began', 'w').close()\nwhile hear().get('method') != 'session/cancel':\n    pass\n\
                 answer = may('edit', root + '/a.txt')\nopen(beside + '/heard', 'w').write(answer)\nreturn 'cancelled'";
    let works = format!("beside = os.environ['BESIDE']\n{works}");
    let agent = agent(&stage, &works);
    // What it opens beside its copy is its HOME, which is there while its task is.
    let (task, first) = begin(&stage, &agent, "wait", &["--agent-env", "BESIDE=/tmp/home"]);
    let pty = stage.allow(&first, &[]);
    let end = Instant::now() + PATIENCE;
    while !lies(&stage.home(), "began") {
        assert!(Instant::now() < end, "it never began");
        std::thread::yield_now();
    }
    let watched = stage.home();
    let watching = std::thread::spawn(move || {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if let Some(text) = find(&watched, "heard").filter(|text| !text.is_empty()) {
                return text;
            }
        }
        String::new()
    });
    stage.hermit(&["task", "cancel", &task]).ends(0);
    let (_, screen) = pty.end();
    assert_eq!(watching.join().expect("it watches"), "cancelled", "and no refusal: {screen}");
    let row = stage.hermit(&["task", "show", &task]).ends(0).json();
    assert_eq!(row["row"]["status"], "cancelled", "{screen}");
    assert_eq!(tree::of(&stage.work()).len(), 2, "nothing is in the folder");
    stage.is_sound();
}

/// What a file of this name below a folder holds.
fn find(folder: &std::path::Path, name: &str) -> Option<String> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().find_map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => find(&entry.path(), name),
        _ if entry.file_name() == name => std::fs::read_to_string(entry.path()).ok(),
        _ => None,
    })
}

fn lies(folder: &std::path::Path, name: &str) -> bool {
    find(folder, name).is_some()
}

#[test]
fn what_does_not_speak_acp_or_floods_is_told_in_words_and_changes_nothing() {
    let (stage, silent) = furnished("echo hello; exit 0");
    let flood = agent(
        &stage,
        "print('x' * 20000000)\nfor n in range(100):\n    print('noise')\nwords('done')\nreturn 'max_tokens'",
    );
    let more = stage.hermit(&[
        "run",
        "--agent",
        "acp:aider",
        "x",
        "--workspace",
        stage.work().to_str().expect("UTF-8"),
    ]);
    let told = more.ends(1).complaint();
    assert!(told.1.contains("aider"), "{told:?}");
    for (agent, words) in [
        (
            format!("acp:{silent}"),
            &["did not answer `initialize`", "does this program speak the Agent Client Protocol"][..],
        ),
        (flood, &["its model's answer became too long"]),
    ] {
        let before = tree::of(&stage.work());
        let (_, first) = begin(&stage, &agent, "try", &[]);
        let (code, screen) = stage.approve(&first);
        assert_eq!(code, 1, "{screen}");
        let screen: String = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        for word in words {
            assert!(screen.contains(word), "`{word}` is not in {screen}");
        }
        assert!(stage.waiting().is_empty() && tree::of(&stage.work()) == before);
    }
    stage.is_sound();
}
