//! Skills over the wire: found, shown, put to a person as they were looked at, and taken back; in one list with every tool.

use crate::home::Home;
use serde_json::{Value, json};
use wire::Code;

fn put(home: &Home, body: &str) {
    home.world.file(
        ".agents/skills/knots/SKILL.md",
        &format!("---\nname: knots\ndescription: Ties\u{200b}\n---\n{body}\n"),
    );
}

fn folder(home: &Home) -> String {
    home.world.folder.path().canonicalize().expect("it is there").display().to_string()
}

fn row(home: &Home) -> Value {
    home.must("skills.list", json!({ "folder": folder(home) }))["skills"][0].clone()
}

fn trust(home: &Home, sha256: &Value) -> Result<Value, wire::Error> {
    home.ask("skills.trust", json!({ "name": "knots", "sha256": sha256, "folder": folder(home) }))
}

fn listed(home: &Home) -> Vec<(bool, String)> {
    let tools = api::runs::registered_tools(home).expect("the list").tools;
    let skills = tools.into_iter().filter(|one| one.kind == words::store::ToolKind::Skill);
    skills.map(|one| (one.callable, one.sha256)).collect()
}

fn said(home: &Home) -> Vec<String> {
    let tools = api::runs::registered_tools(home).expect("the list").tools;
    let skills = tools.into_iter().filter(|one| one.kind == words::store::ToolKind::Skill);
    skills.map(|one| one.description).collect()
}

#[test]
fn what_was_looked_at_is_what_is_asked_about_and_every_tool_stands_in_one_list() {
    let home = Home::new(71);
    put(&home, "Twice.");
    home.world.file(".agents/skills/knots/more.md", "A bowline.");
    let seen = row(&home);
    assert_eq!((&seen["state"], &seen["files"]), (&json!("untrusted"), &json!(2)));
    let shown =
        home.must("skills.show", json!({ "name": "knots", "file": "more.md", "folder": folder(&home) }));
    assert_eq!((&shown["file_text"], &shown["skill"]["sha256"]), (&json!("A bowline."), &seen["sha256"]));
    // It changed since: nobody is asked about what nobody saw.
    put(&home, "Thrice.");
    assert_eq!(trust(&home, &seen["sha256"]).unwrap_err().code, Code::Conflict);
    let seen = row(&home);
    let task = trust(&home, &seen["sha256"]).expect("it is proposed")["task_id"].clone();
    let task = task.as_str().expect("an id").parse().expect("a task");
    let approval = home.world.drive_to_approval(task);
    assert_eq!(listed(&home), []);
    home.world.person.allow(home.world.kernel(), task, approval).expect("it is a person's");
    home.world.drive(task);
    assert_eq!(row(&home)["state"], "trusted");
    let sha256 = seen["sha256"].as_str().expect("a digest").to_owned();
    assert_eq!(listed(&home), [(true, sha256.clone())]);
    assert_eq!(said(&home), ["Ties\\u{200b}"], "and nothing hides in what it says");
    let gone = home.must("skills.untrust", json!({ "name": "knots", "reason": "no" }));
    assert_eq!(gone["sha256"], json!([sha256]));
    assert_eq!(listed(&home), [(false, sha256)]);
    assert_eq!(said(&home), [""], "words that nobody stands behind are not told");
    let wrong = home.ask("skills.show", json!({ "name": "../knots", "folder": folder(&home) })).unwrap_err();
    assert_eq!(wrong.code, Code::NotFound);
}
