//! The wire's shapes: what is on it today stays on it.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "helpers of tests fail by panicking, as tests do"
)]
#![allow(clippy::disallowed_methods, reason = "whoever writes the bindings anew says so in the environment")]

mod bindings;
mod words;

use serde_json::{Value, json};
use std::collections::BTreeSet;
use wire::{Access, COMMANDS, Code, Command, Error, Text, Topic, Verdict};

#[test]
fn every_command_stands_in_the_table_once_and_names_noun_and_verb() {
    let names: BTreeSet<&str> = COMMANDS.iter().map(|info| info.name).collect();
    assert_eq!(names.len(), COMMANDS.len());
    for info in COMMANDS {
        let parts: Vec<&str> = info.name.split('.').collect();
        assert_eq!(parts.len(), 2, "{}", info.name);
        assert!(
            parts.iter().all(|p| p.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')),
            "{}",
            info.name
        );
        assert!(!info.about.is_empty() && !info.about.ends_with('.'), "{}", info.name);
        assert!(
            info.topics.is_empty() || info.access == Access::read,
            "{} answers nothing that goes stale",
            info.name
        );
    }
}

/// Names are a contract: adding one changes this list on purpose, losing one breaks somebody.
#[test]
fn the_names_of_commands_are_these() {
    let mut listed: Vec<String> = COMMANDS.iter().map(|i| format!("{} {:?}", i.name, i.access)).collect();
    listed.sort();
    let known: Vec<&str> = include_str!("../data/commands.txt").lines().collect();
    assert_eq!(listed, known);
}

macro_rules! each_params {
    ($($about:literal $noun:ident . $verb:ident ( $params:ident ) -> $answer:ident , $access:ident [ $($topic:ident),* ];)+) => {
        fn refusals() -> Vec<(&'static str, Result<(), String>)> {
            vec![$((
                <wire::$noun::$params as Command>::NAME,
                serde_json::from_value::<wire::$noun::$params>(json!({ "no_such_thing": 1 }))
                    .map(drop)
                    .map_err(|e| e.to_string()),
            )),+]
        }

        fn round_trips() -> Vec<(&'static str, bool)> {
            vec![$({
                let params = wire::$noun::$params::default();
                let value = serde_json::to_value(&params).unwrap();
                (<wire::$noun::$params as Command>::NAME, serde_json::from_value::<wire::$noun::$params>(value).unwrap() == params)
            }),+]
        }
    };
}
wire::with_commands!(each_params);

#[test]
fn every_parameter_struct_refuses_a_field_it_does_not_have_and_names_it() {
    for (name, refused) in refusals() {
        let why = refused.expect_err(name);
        assert!(why.contains("unknown field `no_such_thing`"), "{name}: {why}");
    }
}

#[test]
fn every_parameter_struct_comes_back_as_it_went() {
    for (name, same) in round_trips() {
        assert!(same, "{name}");
    }
}

#[test]
fn a_submission_looks_like_this() {
    let told: wire::task::Submit = serde_json::from_value(json!({
        "goal": "sort my downloads",
        "workspace": "/home/me/Downloads",
        "reasoner": { "kind": "playbook", "name": "sort-by-type", "parameters": { "under": "." } },
        "budget": { "tokens_max": 1000 },
    }))
    .unwrap();
    let value = serde_json::to_value(&told).unwrap();
    let golden = json!({
        "goal": "sort my downloads",
        "workspace": "/home/me/Downloads",
        "reasoner": { "kind": "playbook", "name": "sort-by-type", "parameters": { "under": "." } },
        "steps": [], "profile": null, "attachments": [],
        "budget": { "iterations_max": null, "tokens_max": 1000, "wall_ms_max": null, "cost_micros_max": null },
        "constraints": [], "done_when": [], "title": null, "priority": null, "deadline_at": null, "idempotency_key": null,
        "channel": null,
    });
    assert_eq!(value, golden);
    let nested =
        json!({ "workspace": "/w", "reasoner": { "kind": "address", "address": "x", "key": "secret" } });
    assert!(
        serde_json::from_value::<wire::task::Submit>(nested).is_err(),
        "unknown fields inside are refused too"
    );
}

#[test]
fn an_approval_to_sign_looks_like_this() {
    let golden = json!({
        "row": {
            "approval_id": "apr_1", "task_id": "task_1", "action_class": "write_local", "risk": "moderate",
            "summary": "write one file", "status": "pending", "requested_at": 1, "expires_at": 2, "resolved_at": null,
            "surface": null, "feedback": { "erased": "00ff" }, "reason": "", "origin": "person",
        },
        "title": "write one file", "lines": [{ "kind": "destructive", "text": "OVERWRITE a" }], "act_lines": 1, "lines_left": 0, "asked_each_time": null,
        "outline": { "a": 1 }, "resources": 1, "hosts": ["api.example.org:443"], "checked": 0, "packet_sha256": "ab", "packet_bytes": 2, "packet": "e30=", "nonce": "cd", "person_id": "prn_1", "approval_keyid": null,
        "receipt_id": null,
    });
    let read: wire::approvals::Approval = serde_json::from_value(golden.clone()).unwrap();
    assert_eq!(read.row.feedback, Some(Text::Erased { erased: "00ff".to_owned() }));
    assert_eq!(serde_json::to_value(read).unwrap(), golden);
    // Of a part of another task, the same with three fields more.
    let mut of_a_part = golden;
    of_a_part["row"]["part_of"] = json!({ "task_id": "task_0", "goal": "tidy all of it" });
    of_a_part["row"]["agent"] = json!("qwen2.5-1.5b");
    of_a_part["row"]["workspace"] = json!("/home/me/Downloads");
    let read: wire::approvals::Approval = serde_json::from_value(of_a_part.clone()).unwrap();
    assert_eq!(
        wire::who_asks(read.row.part_of.as_ref(), read.row.agent.as_deref()),
        ["Part of: tidy all of it", "Asked by: qwen2.5-1.5b"]
    );
    assert_eq!(serde_json::to_value(read).unwrap(), of_a_part);
}

#[test]
fn answers_may_grow_without_breaking_an_older_reader() {
    let newer = json!({ "task_id": "task_1", "status": "ready", "new_in_later_versions": [1, 2] });
    assert!(serde_json::from_value::<wire::task::Done>(newer).is_ok());
}

#[test]
fn the_end_of_a_list_has_no_cursor() {
    let page = wire::Page { rows: vec![1], next: None };
    assert_eq!(serde_json::to_value(page).unwrap(), json!({ "rows": [1] }));
    let page = wire::Page { rows: vec![1], next: Some("c1".to_owned()) };
    assert_eq!(serde_json::to_value(page).unwrap(), json!({ "rows": [1], "next": "c1" }));
}

#[test]
fn an_error_has_code_and_message_and_the_rest_only_when_there_is_some() {
    let bare = Error::new(Code::NotFound, "there is no task `x`");
    assert_eq!(
        serde_json::to_value(&bare).unwrap(),
        json!({ "code": "not_found", "message": "there is no task `x`" })
    );
    let full = bare.hint("list them").details(json!({ "id": "x" }));
    let value = serde_json::to_value(&full).unwrap();
    assert_eq!(value["hint"], "list them");
    assert_eq!(value["details"]["id"], "x");
    assert_eq!(serde_json::from_value::<Error>(value).unwrap(), full);
}

#[test]
fn every_code_has_its_exit_code_and_status() {
    let exits = |exit: u8| {
        Code::ALL.iter().filter(|c| c.exit_code() == exit).map(|c| c.as_str()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(exits(0), "");
    assert_eq!(exits(2), "usage unknown_command unknown_field ambiguous too_large");
    assert_eq!(exits(3), "refused halted forbidden");
    assert_eq!(exits(4), "key_locked");
    assert_eq!(exits(5), "damaged");
    for code in Code::ALL {
        assert!((400..600).contains(&code.http_status()), "{code}");
        let value = serde_json::to_value(code).unwrap();
        assert_eq!(value, Value::from(code.as_str()));
        assert_eq!(serde_json::from_value::<Code>(value).unwrap(), *code);
    }
    let verdicts =
        [(Verdict::Valid, 0), (Verdict::Invalid, 5), (Verdict::Unverifiable, 6), (Verdict::Incomplete, 7)];
    for (verdict, exit) in verdicts {
        assert_eq!(verdict.exit_code(), exit);
    }
}

#[test]
fn an_event_names_the_lists_that_may_show_something_else() {
    assert_eq!(wire::topics_of("approval.requested"), [Topic::approvals, Topic::tasks]);
    assert_eq!(wire::topics_of("memory.promoted"), [Topic::knowledge]);
    assert_eq!(wire::topics_of("attempt.context_compiled"), [Topic::tasks, Topic::knowledge]);
    assert_eq!(wire::topics_of("attempt.created"), [Topic::tasks]);
    let notice = wire::Notice::Event {
        task_id: "task_1".to_owned(),
        task_seq: 3,
        event_type: "receipt.issued".to_owned(),
        topics: wire::topics_of("receipt.issued"),
    };
    let golden = json!({
        "kind": "event", "task_id": "task_1", "task_seq": 3, "event_type": "receipt.issued",
        "topics": ["receipts", "tasks"],
    });
    assert_eq!(serde_json::to_value(&notice).unwrap(), golden);
    assert_eq!(serde_json::from_value::<wire::Notice>(golden).unwrap(), notice);
}

#[test]
fn erased_words_say_so() {
    assert_eq!(serde_json::to_value(Text::Shown("hello".to_owned())).unwrap(), json!("hello"));
    let gone: Text = serde_json::from_value(json!({ "erased": "ab" })).unwrap();
    assert_eq!(gone.to_string(), "(erased)");
}
