//! What is refused, and that nothing changes by it.

use crate::home::Home;
use serde_json::json;
use wire::{COMMANDS, Code};

#[test]
fn an_unknown_parameter_of_any_command_is_named_and_changes_nothing() {
    let home = Home::new(20);
    let before = home.must("ledger.stats", json!({}));
    for info in COMMANDS {
        let error = home.ask(info.name, json!({ "unheard_of": true })).expect_err(info.name);
        assert_eq!(error.code, Code::UnknownField, "{}: {error:?}", info.name);
        assert_eq!(error.details["field"], "unheard_of", "{}", info.name);
    }
    assert_eq!(before, home.must("ledger.stats", json!({})));
}

#[test]
fn an_unknown_command_is_refused_with_what_there_is() {
    let home = Home::new(21);
    let error = home.ask("task.explode", json!({})).expect_err("no such command");
    assert_eq!(error.code, Code::UnknownCommand);
    assert!(error.hint.contains("task.list"), "{}", error.hint);
    assert_eq!(error.exit_code(), 2);
}

#[test]
fn a_missing_parameter_is_named() {
    let home = Home::new(22);
    let error = home.ask("task.show", json!({})).expect_err("no task named");
    assert_eq!((error.code, error.details["field"].as_str()), (Code::Usage, Some("task")));
}

#[test]
fn a_word_of_no_list_is_answered_with_the_list() {
    let home = Home::new(23);
    let error = home.ask("task.list", json!({ "status": ["sleeping"] })).expect_err("no status");
    assert_eq!(error.code, Code::Usage);
    assert!(error.message.contains("completed"), "{}", error.message);
    for limit in [0, 501] {
        assert_eq!(home.ask("task.list", json!({ "limit": limit })).expect_err("a cap").code, Code::Usage);
    }
    assert_eq!(home.ask("task.list", json!({ "after": "zz" })).expect_err("no cursor").code, Code::Usage);
}

#[test]
fn a_relative_path_is_refused_because_the_host_is_elsewhere() {
    let home = Home::new(24);
    let (task, _) = home.with_an_act("write a");
    let asked = [
        ("proof.export", json!({ "task": task.to_string(), "path": "proof.zip" })),
        ("proof.verify", json!({ "path": "proof.zip" })),
        ("gate.export", json!({ "path": "gate.json" })),
        ("store.backup", json!({ "to": "copy" })),
        ("artifacts.ingest", json!({ "path": "a.txt" })),
        ("task.submit", json!({ "workspace": ".", "goal": "x" })),
    ];
    for (name, params) in asked {
        let error = home.ask(name, params).expect_err(name);
        assert_eq!(error.code, Code::Usage, "{name}: {error:?}");
        assert!(error.message.contains("absolute"), "{name}");
    }
}

#[conforms::conforms(part = "HK-8.1-3", part = "HK-10.1-1")]
#[test]
fn nobody_who_comes_in_by_one_way_says_that_it_was_one_of_hermit_itself() {
    let home = Home::new(26);
    let (task, _) = home.with_an_act("write a");
    let folder = home.world.folder.path().canonicalize().expect("a folder");
    let before = home.must("ledger.stats", json!({}));
    for channel in ["system", "scheduler", "chat", "mesh"] {
        for (name, params) in [
            ("task.submit", json!({ "workspace": folder, "goal": "x", "channel": channel })),
            ("task.note", json!({ "task": task.to_string(), "text": "x", "channel": channel })),
            ("conversations.say", json!({ "text": "x", "channel": channel })),
            ("artifacts.ingest", json!({ "bytes": "eA==", "name": "x.txt", "channel": channel })),
        ] {
            let error = home.ask(name, params).expect_err(name);
            assert_eq!(error.code, Code::Usage, "{name} {channel}: {error:?}");
            assert!(error.message.contains("only Hermit itself"), "{name} {channel}: {}", error.message);
        }
    }
    for source in ["system", " Scheduler "] {
        let run = json!({ "message": "x", "workspace": folder, "source": source });
        let error = api::runs::start(&home, run, None).expect_err(source);
        assert_eq!(error.code, Code::Usage, "{source}: {error:?}");
        assert!(error.message.contains("Hermit itself"), "{source}: {}", error.message);
    }
    assert_eq!(before, home.must("ledger.stats", json!({})), "nothing is recorded");
}
