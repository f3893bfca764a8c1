//! A turn with an agent that is a script of this test.

use super::*;
use std::path::Path;

/// An agent that answers what it is asked as this says: `case` arms of a shell over each line it reads.
fn agent(folder: &Path, arms: &str) -> PathBuf {
    let path = folder.join("agent");
    let script = format!(
        "#!/bin/sh\nwhile IFS= read -r line; do\ncase \"$line\" in\n{arms}\n\
         *'\"method\":\"initialize\"'*) echo '{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"protocolVersion\":1,\"agentInfo\":\
         {{\"name\":\"toy\",\"version\":\"9\"}}}}}}' ;;\n\
         *'\"method\":\"session/new\"'*) echo '{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{{\"sessionId\":\"s\"}}}}' ;;\n\
         esac\ndone\n"
    );
    std::fs::write(&path, script).unwrap();
    path
}

const ENDS: &str = "echo '{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}'";

fn turn(arms: &str, cancel: Option<std::io::Empty>) -> (Result<(), String>, String) {
    turn_after(arms, cancel, &State::default())
}

fn turn_after(arms: &str, cancel: Option<std::io::Empty>, before: &State) -> (Result<(), String>, String) {
    let (folder, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let turn = Turn {
        prompt: "do it".to_owned(),
        goes_on: *before != State::default(),
        // By its shell: what another thread of this test forks meanwhile may hold the script open for writing.
        program: "/bin/sh".into(),
        words: vec![agent(folder.path(), arms).into()],
        root: root.path().canonicalize().unwrap(),
        home: folder.path().to_owned(),
        tools: None,
        version: "1".to_owned(),
    };
    before.write(&turn.home);
    let mut out = Vec::new();
    let came = work(&turn, &mut out, cancel);
    (came, String::from_utf8(out).unwrap())
}

#[test]
fn a_turn_is_told_as_it_goes_and_ends_with_the_agents_reason() {
    let update = |update: &str| {
        format!(
            "echo '{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"s\",\"update\":{update}}}}}'"
        )
    };
    let says = update(
        "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"hello\"}}",
    );
    let plan = update(
        "{\"sessionUpdate\":\"plan\",\"entries\":[{\"content\":\"look\",\"status\":\"in_progress\"}]}",
    );
    let call = update(
        "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"1\",\"title\":\"Edit\",\"kind\":\"edit\",\"status\":\"pending\",\"locations\":[{\"path\":\"a.txt\"}]}",
    );
    let done =
        update("{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"1\",\"status\":\"completed\"}");
    let arms = format!("*session/prompt*) echo noise; {says}; {plan}; {call}; {done}; {ENDS} ;;");
    let (came, told) = turn(&arms, None);
    assert_eq!(came, Ok(()), "{told}");
    for line in [
        "agent: toy 9",
        "it said what is no message",
        "hello",
        "plan: now: look",
        "tool: edit Edit [pending]: a.txt",
        "[completed]",
        "told: changed a.txt",
    ] {
        assert!(told.contains(line), "`{line}` is not in {told}");
    }
    let refuses =
        "*session/prompt*) echo '{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"stopReason\":\"refusal\"}}' ;;";
    assert!(turn(refuses, None).0.unwrap_err().contains("refused"));
    let fails = "*session/prompt*) echo '{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":1,\"message\":\"no model\"}}' ;;";
    assert!(turn(fails, None).0.unwrap_err().contains("no model"));
}

#[test]
fn an_agent_that_ends_speaks_another_version_or_is_not_signed_in_is_told_in_words() {
    assert!(
        turn("*initialize*) exit 3 ;;", None)
            .0
            .unwrap_err()
            .contains("ended and did not answer `initialize`")
    );
    let other = "*'\"method\":\"initialize\"'*) echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":2}}' ;;";
    assert!(turn(other, None).0.unwrap_err().contains("version 2"));
    let auth = "*session/new*) echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32000,\"message\":\"sign in\"}}' ;;";
    assert!(turn(auth, None).0.unwrap_err().contains("--agent-key"));
}

#[test]
fn a_turn_that_is_called_off_is_told_to_the_agent_and_a_permission_is_cancelled_then() {
    // It is called off at once, and nothing was asked yet.
    assert!(turn("", Some(std::io::empty())).0.unwrap_err().contains("cancelled"));
}

#[test]
fn an_agent_that_cannot_go_on_is_asked_all_of_it_anew_and_one_that_can_is_asked_what_is_new() {
    // What it is asked comes back as what it says.
    let says = "printf '%s\\n' \"$line\" | sed 's/.*\"text\":\"/{\"jsonrpc\":\"2.0\",\"method\":\"session\\/update\",\"params\":\
                {\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"said: /; s/\"}.*/\"}}}}/'";
    let before = State { session: "old".to_owned(), prompts: vec!["first".to_owned()] };
    let arms = format!("*session/prompt*) {says}; {ENDS} ;;");
    let (came, told) = turn_after(&arms, None, &before);
    assert_eq!(came, Ok(()), "{told}");
    assert!(told.contains("said: first\n  \n  do it"), "{told}");
    let loads = "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1,\"agentCapabilities\":{\"loadSession\":true}}}'";
    let arms = format!(
        "*'\"method\":\"initialize\"'*) {loads} ;;\n*session/load*old*) echo '{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":null}}' ;;\n{arms}"
    );
    let (came, told) = turn_after(&arms, None, &before);
    assert_eq!(came, Ok(()), "{told}");
    assert!(told.contains("said: do it") && !told.contains("first"), "{told}");
}
