//! Policy asked about acts that nobody proposed, and all of history asked again.

use crate::home::Home;
use serde_json::{Value, json};
use testkit::{done, look, say, write};

fn verdict(home: &Home, params: Value) -> String {
    home.must("policy.test", params)["verdict"].as_str().unwrap().to_owned()
}

#[test]
fn an_act_is_judged_without_being_proposed() {
    let home = Home::new(81);
    let command = json!({ "kind": "command", "argv": ["cargo", "test"] });
    assert_eq!(verdict(&home, json!({ "act": command })), "require_approval");
    let unasked = json!({ "without": ["local_edit_allowed.ask_command"] });
    assert_eq!(verdict(&home, json!({ "act": command, "trial": unasked })), "allow");
    // Leaving out one rule leaves the others standing: who has read untrusted content still asks.
    assert_eq!(
        verdict(&home, json!({ "act": command, "trial": unasked, "untrusted": true })),
        "require_approval"
    );
    assert_eq!(verdict(&home, json!({ "act": command, "walls": "unconfined" })), "deny");
    assert_eq!(
        verdict(&home, json!({ "act": { "kind": "delete", "path": "a" }, "profile": "destructive_denied" })),
        "deny"
    );
    for (profile, method, wanted) in [
        ("local_edit_allowed", None, "deny"),
        ("network_read_allowed", None, "require_approval"),
        ("network_read_allowed", Some("POST"), "downgrade"),
        ("readonly_analysis", Some("DELETE"), "downgrade"),
        ("external_publish_gated", Some("POST"), "require_approval"),
    ] {
        let act = json!({ "kind": "fetch", "url": "https://example.org/a", "method": method });
        let said = verdict(&home, json!({ "act": act, "profile": profile }));
        assert_eq!(said, wanted, "{profile} {method:?}");
    }
    for (url, method) in
        [("example.org", "GET"), ("https://example.org/", "LOOK"), ("file:///etc/passwd", "GET")]
    {
        let act = json!({ "kind": "fetch", "url": url, "method": method });
        let refused = home.ask("policy.test", json!({ "act": act })).unwrap_err();
        assert_eq!(refused.code, wire::Code::Usage, "{refused:?}");
    }
    let rules = "@id(\"trial.no_tmp\") @reason(\"not today\") forbid (principal, action == Hermit::Action::\"execute_command\", resource);";
    let judged = home.must("policy.test", json!({ "act": command, "trial": { "rules": rules } }));
    assert_eq!(judged["verdict"], "deny");
    assert_eq!(judged["rules"][0]["reason"], "not today");
    let tasks = home.must("task.list", json!({}));
    assert_eq!(tasks["rows"], json!([]), "asking leaves nothing behind");
}

#[test]
fn rules_that_are_none_are_refused_with_words() {
    let home = Home::new(82);
    let act = json!({ "kind": "read", "path": "a" });
    for trial in [
        json!({ "rules": "forbid everything" }),
        json!({ "rules": "@id(\"base.x\") @reason(\"x\") forbid (principal, action, resource);" }),
        json!({ "without": ["no.such_rule"] }),
    ] {
        let refused = home.ask("policy.test", json!({ "act": act, "trial": trial })).unwrap_err();
        assert_eq!(refused.code, wire::Code::Usage, "{refused:?}");
        assert!(!refused.hint.is_empty());
    }
    assert!(home.ask("policy.test", json!({ "act": { "kind": "read", "path": "../x" } })).is_err());
}

/// Two acts a person allowed, one they refused, and looks nobody was asked about.
fn lived(seed: u64) -> Home {
    let home = Home::new(seed);
    let world = &home.world;
    world.file("old.txt", "old");
    let gone = say("delete", json!({ "path": "old.txt" }));
    let task = world.script("tidy", vec![look("old.txt"), write("new.txt", "new"), gone, done("ok")]);
    world.drive_allowing(task);
    let task = world.script("more", vec![write("more.txt", "more"), done("ok")]);
    let approval = world.drive_to_approval(task);
    world.person.deny(world.kernel(), task, approval, "no").unwrap();
    world.drive(task);
    home
}

#[test]
fn under_the_same_rules_all_of_history_is_judged_as_it_was() {
    let home = lived(83);
    let again = home.must("policy.backtest", json!({}));
    assert!(again["judged"].as_u64().unwrap() >= 4, "{again}");
    assert_eq!((&again["changed"], &again["unreadable"]), (&json!(0), &json!(0)), "{again}");
}

#[test]
fn other_rules_tell_what_they_would_have_refused_and_what_would_have_gone_unasked() {
    let home = lived(84);
    let strict = home.must("policy.backtest", json!({ "profile": "destructive_denied" }));
    assert_eq!(strict["changed"], 1, "{strict}");
    let row = &strict["rows"][0];
    assert_eq!((&row["was"], &row["would"]), (&json!("require_approval"), &json!("deny")));
    assert_eq!((&row["class"], &row["answered"]), (&json!("delete_local"), &json!("granted")));
    assert_eq!(row["rules"][0], "destructive_denied.delete");

    // The act that followed a look at an untrusted file is still asked about; the first one of a fresh task is not.
    let trial = json!({ "without": ["local_edit_allowed.ask_edit"] });
    let loose = home.must("policy.backtest", json!({ "trial": trial }));
    let unasked =
        loose["counts"].as_array().unwrap().iter().find(|t| t["would"] == "allow" && t["was"] != "allow");
    assert_eq!(unasked.unwrap()["refused"], 1, "what a person refused would have happened: {loose}");
    assert_eq!(loose["changed"], 1, "{loose}");
    let none = home.must("policy.backtest", json!({ "trial": trial, "limit": 1 }));
    assert_eq!(none["rows"].as_array().unwrap().len(), 1);
}

#[test]
fn an_answer_of_policy_is_explained_from_its_approval_and_its_receipt() {
    let home = lived(85);
    let receipts = home.must("receipts.list", json!({}));
    let receipt =
        receipts["rows"].as_array().unwrap().iter().find(|r| r["class"] == "tool_execution").unwrap();
    let explained = home.must("policy.explain", json!({ "about": receipt["receipt_id"] }));
    assert_eq!(explained["verdict"], "require_approval");
    assert!(!explained["rules"][0]["text"].as_str().unwrap().is_empty());
    let approval =
        home.must("approvals.list", json!({ "status": "denied" }))["rows"][0]["approval_id"].clone();
    assert_eq!(home.must("policy.explain", json!({ "about": approval }))["verdict"], "require_approval");
}

fn own(home: &Home) -> Value {
    home.must("policy.own_rules", json!({ "days": 30 }))
}

/// Asks for a change of rules and answers its card.
fn change(home: &Home, line: Option<u64>, rule: Option<&str>, is_yes: bool) -> Value {
    let was = own(home)["sha256"].clone();
    let asked = home.must("policy.change_rules", json!({ "line": line, "rule": rule, "was_sha256": was }));
    let task = asked["task_id"].as_str().unwrap().parse().unwrap();
    let approval = home.world.drive_to_approval(task);
    let card = home.must("approvals.show", json!({ "approval": approval.to_string() }));
    let world = &home.world;
    match is_yes {
        true => drop(world.person.allow(world.kernel(), task, approval).unwrap()),
        false => drop(world.person.deny(world.kernel(), task, approval, "no").unwrap()),
    }
    world.drive(task);
    card
}

#[test]
fn rules_of_a_person_are_drafted_put_to_them_and_then_judge_what_is_asked() {
    let home = lived(86);
    let edit = json!({ "act": { "kind": "write", "path": "a.md" } });
    assert_eq!(verdict(&home, edit.clone()), "require_approval");
    let was = own(&home)["sha256"].clone();
    let drafted = home.must(
        "policy.draft_rules",
        json!({ "rule": "deny FileEdit(*.txt)\n  because they are mine", "was_sha256": was }),
    );
    assert_eq!(drafted["before"], Value::Null);
    assert_eq!(drafted["after"], "Never allow: creating or changing files that match `*.txt`");
    assert_eq!(drafted["told"]["changed"], 2, "two writes would have been denied: {drafted}");
    assert_eq!(own(&home)["rows"], json!([]), "a draft changes nothing");
    let card = change(&home, None, Some("deny FileEdit(*.txt)\n  because they are mine"), true);
    for words in ["from now on: Never allow: creating or changing files that match", "because they are mine"]
    {
        assert!(card.to_string().contains(words), "`{words}` is not on the card: {card}");
    }
    let listed = own(&home);
    assert_eq!(listed["rows"][0]["scope"], "signed");
    assert_eq!(listed["rows"][0]["decided"], 2, "{listed}");
    let text = listed["text"].as_str().unwrap();
    assert_eq!(text.trim_end(), "deny FileEdit(*.txt)\n  because they are mine", "as it is written");
    assert_eq!(verdict(&home, json!({ "act": { "kind": "write", "path": "a.txt" } })), "deny");
    change(&home, None, Some("deny FileEdit(*.md)"), false);
    assert_eq!(verdict(&home, edit.clone()), "require_approval", "what was denied is not in force");
    change(&home, None, Some("allow FileEdit(*.md)"), true);
    assert_eq!(verdict(&home, edit.clone()), "allow");
    let card = change(&home, Some(3), Some("ask FileEdit(*.md)"), true).to_string();
    assert!(card.contains("until now: Allow without asking") && card.contains("1 other rule"), "{card}");
    assert_eq!(verdict(&home, edit), "require_approval");
    change(&home, Some(1), None, true);
    assert_eq!(own(&home)["rows"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_rule_that_is_none_is_refused_with_the_line_and_rules_of_before_with_what_to_do() {
    let home = Home::new(87);
    let was = own(&home)["sha256"].clone();
    for (rule, why) in [
        ("ask Bash(git push:*)\n  no match git push origin", "line 2"),
        ("often FileEdit(a)", "`often` is none of"),
        ("allow Bash(*)", "nobody allows every command"),
        ("  ", "no rule is written"),
    ] {
        for command in ["policy.draft_rules", "policy.change_rules"] {
            let refused = home.ask(command, json!({ "rule": rule, "was_sha256": was })).unwrap_err();
            assert_eq!(refused.code, wire::Code::Usage, "{refused:?}");
            assert!(refused.message.contains(why) && !refused.hint.is_empty(), "{rule}: {refused:?}");
        }
    }
    change(&home, None, Some("deny FileDelete(**)"), true);
    let late = home.ask("policy.change_rules", json!({ "rule": "deny FileEdit(**)", "was_sha256": was }));
    assert_eq!(late.unwrap_err().code, wire::Code::Conflict);
}
