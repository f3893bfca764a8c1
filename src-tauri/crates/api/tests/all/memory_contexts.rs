//! In which contexts a memory record was sent, and whether it helped there.

use crate::home::Home;
use model::TaskId;
use serde_json::{Value, json};
use testkit::{done, look, say};

/// What is told of a task: contexts, turns by attempt, and what came of the record there.
fn told(task: TaskId, contexts: u32, turns: &[(u32, u32)], helped: bool) -> Value {
    let turns = turns.iter().map(|(first, last)| json!({ "attempt": 1, "first": first, "last": last }));
    json!({
        "task_id": task.to_string(), "contexts": contexts, "turns": turns.collect::<Vec<_>>(), "helped": helped,
        "contradicted": false,
    })
}

/// The tasks of an answer without what differs from run to run, after a look at it.
fn tasks(answer: &Value) -> Vec<Value> {
    let of = |row: &Value| {
        let mut row = row.as_object().unwrap().clone();
        assert!(row["title"].as_str().is_some_and(|title| !title.is_empty()), "{row:?}");
        assert!(row["first_at"].as_i64().unwrap() <= row["last_at"].as_i64().unwrap(), "{row:?}");
        row.retain(|name, _| !matches!(name.as_str(), "title" | "first_at" | "last_at"));
        Value::Object(row)
    };
    answer["tasks"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn a_memory_names_the_contexts_that_it_was_sent_in_and_no_other() {
    let home = Home::new(43);
    home.world.file("a.txt", "text");
    let claim = "tax rates live in rates.toml";
    let remember =
        json!({ "claim": claim, "scope": "project", "reason": "it is asked", "evidence": ["a.txt"] });
    let learn = home.world.script("learn", vec![look("a.txt"), say("remember", remember), done("learnt")]);
    home.world.drive_allowing(learn);
    let record = |home: &Home| home.must("knowledge.memories", json!({}))["rows"][0].clone();
    let memory = record(&home)["memory_id"].as_str().unwrap().to_owned();
    let contexts = |home: &Home| home.must("knowledge.memory_contexts", json!({ "memory": memory }));
    assert_eq!(tasks(&contexts(&home)), Vec::<Value>::new(), "nobody was told yet");

    let answers = vec![look("a.txt"), done("Tax rates live in rates.toml.")];
    let followed = home.world.script("Update the tax rate of Malta", answers);
    home.world.drive_allowing(followed);
    home.world.clock.advance(60_000);
    let other = home.world.script("Look up the tax rate of Peru", vec![done("ok")]);
    home.world.drive_allowing(other);
    let unrelated = home.world.script("Write a poem", vec![done("ok")]);
    home.world.drive_allowing(unrelated);

    let found = contexts(&home);
    assert_eq!(
        tasks(&found),
        [told(other, 1, &[(1, 1)], false), told(followed, 2, &[(1, 2)], true)],
        "the last first: {found}"
    );
    assert_eq!((&found["memory_id"], &found["more"]), (&json!(memory), &json!(0)));
    // They are the ones that are counted.
    let counted = record(&home);
    assert_eq!((&counted["uses"], &counted["last_used_at"]), (&json!(3), &found["tasks"][0]["last_at"]));
    // A turn that is named is one whose bytes can be seen.
    let asked = json!({ "task": followed.to_string(), "attempt": 1, "iteration": 2 });
    let shown = home.must("context.show", asked);
    assert_eq!(shown["shown"]["iteration"], 2, "{shown}");
    home.must("knowledge.invalidate", json!({ "memory": memory, "reason": "they moved" }));
    assert_eq!(tasks(&contexts(&home)), tasks(&found), "what was sent stays on record");
    let missing = home.ask("knowledge.memory_contexts", json!({ "memory": learn.to_string() }));
    assert!(missing.is_err(), "{missing:?}");
    let home = home.into_reader();
    assert_eq!(contexts(&home)["tasks"], found["tasks"], "as a process that only reads tells it");
}

#[test]
fn a_list_says_of_which_records_no_task_is_told_although_they_are_in_force() {
    let mut home = Home::new(47);
    home.world.file(".env", "PET=flamingo\n");
    home.world.file("a.txt", "text");
    let remember = |claim: &str| {
        let told =
            json!({ "claim": claim, "scope": "project", "reason": "it is asked", "evidence": ["a.txt"] });
        say("remember", told)
    };
    let (pet, cage) = ("the pet is a flamingo", "the pet has a cage");
    let answers = vec![look("a.txt"), remember(pet), remember(cage), look(".env"), done("learnt")];
    let learn = home.world.script("learn", answers);
    home.world.drive_allowing(learn);
    let listed = |home: &Home, params: Value| {
        let found = home.must("knowledge.memories", params);
        let of = |row: &Value| {
            (row["claim"].as_str().unwrap().to_owned(), row["withheld"].as_bool().expect("it is said"))
        };
        let mut rows: Vec<(String, bool)> = found["rows"].as_array().unwrap().iter().map(of).collect();
        rows.sort();
        rows
    };
    let rows = |of_pet: bool| [(cage.to_owned(), false), (pet.to_owned(), of_pet)];
    assert_eq!(listed(&home, json!({})), rows(false), "it was said before the look");
    // As if the look had come before both, which an older Hermit kept then.
    home.world.crash();
    let views = rusqlite::Connection::open(home.world.store.path().join("ledger.db")).unwrap();
    assert_eq!(views.execute("UPDATE view_withheld SET seq = 0", []).unwrap(), 1);
    drop(views);
    home.world.reopen();
    assert_eq!(listed(&home, json!({})), rows(true));
    let folder = home.world.folder.path().canonicalize().unwrap();
    let about = json!({ "about": "a cage, a flamingo", "folder": folder.to_str().unwrap() });
    assert_eq!(listed(&home, about), rows(true));
    let all = home.must("knowledge.memories", json!({}));
    let withheld = all["rows"].as_array().unwrap().iter().find(|row| row["withheld"] == true).unwrap();
    let one = json!({ "memory": withheld["memory_id"] });
    assert_eq!(listed(&home, one), [(pet.to_owned(), true)]);
    // Of what is over, no task is told in any case.
    let forget = json!({ "memory": withheld["memory_id"], "reason": "it holds a secret" });
    home.must("knowledge.forget", forget);
    assert_eq!(listed(&home, json!({ "status": "any" })), rows(false));
}
