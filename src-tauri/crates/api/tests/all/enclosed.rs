//! What comes with words over the wire: files by their artifacts and a passage that is quoted, told with the message and listed,
//! refused in words, and erased with their task.

use crate::home::Home;
use serde_json::{Value, json};
use testkit::{done, say, write};
use wire::Code;

fn taken_in(home: &Home, name: &str, text: &str) -> String {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD.encode(text);
    let taken = home.must("artifacts.ingest", json!({ "bytes": bytes, "name": name, "channel": "app" }));
    taken["artifact_id"].as_str().expect("an id").to_owned()
}

/// A task that waits for a person, and the message by which it began.
fn at_work(home: &Home, goal: &str) -> (String, String) {
    let task = home.world.script(goal, vec![write("a.txt", "x"), done("ok"), done("ok")]);
    home.world.drive_to_approval(task);
    let lines = home.must("conversations.lines", json!({ "task": task.to_string() }));
    let rows = lines["rows"].as_array().expect("lines");
    let first = rows.iter().find(|line| line["kind"] == "message").expect("its goal");
    (task.to_string(), first["ref_id"].as_str().expect("an id").to_owned())
}

fn heard(home: &Home, message: &Value) -> Value {
    let lines = home.must("conversations.lines", json!({}));
    let rows = lines["rows"].as_array().expect("lines").clone();
    rows.into_iter().find(|line| line["ref_id"] == *message).expect("it is told")["heard"].clone()
}

#[test]
fn a_message_is_told_with_what_it_quotes_and_its_files_and_they_are_listed() {
    let home = Home::new(171);
    let (task, goal) = at_work(&home, "count the seven files");
    let file = taken_in(&home, "notes.txt", "seven of nine");
    let note = json!({
        "task": task, "text": "mind this", "mode": "queue", "channel": "app", "quotes": goal, "passage": "the seven files",
        "encloses": [file],
    });
    let noted = home.must("task.note", note);
    let told = heard(&home, &noted["ingress_id"]);
    assert_eq!((&told["quoted"]["of"], &told["quoted"]["text"]), (&json!(goal), &json!("the seven files")));
    assert_eq!(told["quoted"]["trust"], "user_asserted");
    assert_eq!(
        (&told["attached"][0]["name"], &told["attached"][0]["byte_size"]),
        (&json!("notes.txt"), &json!(13))
    );
    let said = home.must(
        "conversations.say",
        json!({ "task": task, "text": "and that", "channel": "app", "encloses": [file] }),
    );
    let files = home.must("conversations.files", json!({}));
    let of: Vec<&str> =
        files["rows"].as_array().expect("rows").iter().filter_map(|row| row["message_id"].as_str()).collect();
    assert_eq!(
        of,
        [said["message_id"].as_str().expect("an id"), noted["ingress_id"].as_str().expect("an id")]
    );
    // A goal's own record is no file of it.
    assert!(files["rows"].as_array().expect("rows").iter().all(|row| row["artifact_id"] == *file));
}

/// Words that were spoken: told as such on every way that words take, bound as written words are, and no answer to a card.
#[test]
fn what_was_spoken_is_marked_and_is_bound_as_what_was_written() {
    let home = Home::new(175);
    // Each word has it ask anew for what it wants to write.
    let task =
        home.world.script("count the files", (0..12).map(|n| write("a.txt", &n.to_string())).collect());
    home.world.drive_to_approval(task);
    let lines = home.must("conversations.lines", json!({ "task": task.to_string() }));
    let rows = lines["rows"].as_array().expect("lines");
    let goal = rows.iter().find(|line| line["kind"] == "message").expect("its goal")["ref_id"].clone();
    let task = task.to_string();
    assert!(heard(&home, &goal).get("spoken").is_none(), "what was written has no mark");
    for mode in ["steer", "queue", "stop_and_send"] {
        let mut resolutions = Vec::new();
        for spoken in [true, false] {
            let text = format!("yes, allow it: {mode} {spoken}");
            let note =
                json!({ "task": task, "text": text, "mode": mode, "channel": "app", "spoken": spoken });
            let noted = home.must("task.note", note);
            let told = heard(&home, &noted["ingress_id"]);
            assert_eq!(told.get("spoken").is_some_and(|mark| *mark == true), spoken, "{told}");
            resolutions.push((told["resolution"].clone(), told["trust"].clone(), told["channel"].clone()));
        }
        assert_eq!(resolutions[0], resolutions[1], "{mode}");
    }
    assert!(!home.world.path("a.txt").exists(), "no words allow an act");
    for (asked, spoken) in [
        (json!({ "task": task, "text": "and that", "channel": "app", "spoken": true }), true),
        (json!({ "task": task, "text": "/pause", "channel": "app", "spoken": true }), true),
        (json!({ "task": task, "text": "/resume", "channel": "app" }), false),
    ] {
        let said = home.must("conversations.say", asked);
        let told = heard(&home, &said["message_id"]);
        assert_eq!(told.get("spoken").is_some_and(|mark| *mark == true), spoken, "{told}");
    }
}

/// An answer and an edited goal are words as well: each way by which they come takes the mark, and nothing else differs by it.
#[test]
fn a_spoken_answer_and_a_spoken_goal_are_marked_on_every_way_they_come() {
    let home = Home::new(176);
    let asks = (0..8).map(|n| say("ask", json!({ "question": format!("which of {n}?") }))).collect();
    let task = home.world.script("sort them", asks);
    let run = task.to_string();
    let newest = || {
        let lines = home.must("conversations.lines", json!({ "task": run }));
        let rows = lines["rows"].as_array().expect("lines").clone();
        let said = rows.into_iter().filter(|line| line["kind"] == "message");
        said.max_by_key(|line| line["seq"].as_u64()).expect("words")
    };
    let open = || {
        home.world.drive(task);
        let asked = home.must("task.questions", json!({ "task": run, "status": "pending" }));
        asked["rows"][0]["question_id"].as_str().expect("it asks").to_owned()
    };
    let mut heard = Vec::new();
    for spoken in [true, false] {
        let text = format!("the left one: {spoken}");
        let question = open();
        home.must(
            "task.answer",
            json!({ "task": run, "question": question, "text": text, "channel": "app", "spoken": spoken }),
        );
        heard.push((spoken, text.clone(), newest()));
        let question = open();
        let asked = json!({ "response": text, "spoken": spoken });
        let came = api::runs::respond(&home, &run, &question, asked).expect("a result");
        assert_eq!(came.status, "accepted", "{}", came.message);
        heard.push((spoken, text, newest()));
        let goal = format!("sort them by year: {spoken}");
        home.must("task.edit_goal", json!({ "task": run, "goal": goal, "channel": "app", "spoken": spoken }));
        heard.push((spoken, goal, newest()));
        let goal = format!("sort them by month: {spoken}");
        let session = home.must("task.show", json!({ "task": run }))["conversation_id"].clone();
        let asked = json!({ "action": "edit", "text": goal, "spoken": spoken });
        let came = api::runs::goal(&home, session.as_str().expect("an id"), asked).expect("a result");
        assert_eq!(came.status, "accepted", "{}", came.message);
        heard.push((spoken, goal, newest()));
    }
    for (spoken, text, line) in &heard {
        assert_eq!(line["text"], json!(text));
        assert_eq!(line["heard"].get("spoken").is_some_and(|mark| *mark == true), *spoken, "{line}");
    }
    for (by_voice, by_hand) in heard[..4].iter().zip(&heard[4..]) {
        let how = |line: &Value| [&line["heard"]["resolution"], &line["heard"]["channel"]].map(Clone::clone);
        assert_eq!(how(&by_voice.2), how(&by_hand.2), "it is bound alike");
    }
}

#[test]
fn what_cannot_come_with_words_is_refused_and_says_what_to_do() {
    let home = Home::new(172);
    let (task, goal) = at_work(&home, "count the files");
    let file = taken_in(&home, "notes.txt", "seven");
    for (more, code, words) in [
        (json!({ "passage": "the files" }), Code::Usage, "needs `quotes`"),
        (json!({ "quotes": goal, "passage": "the folders" }), Code::Usage, "word for word"),
        (json!({ "quotes": "ing_00000000000000000000000000000000" }), Code::NotFound, "ing_"),
        (json!({ "encloses": ["art_0000"] }), Code::NotFound, "art_0000"),
        (json!({ "encloses": vec![file.clone(); 17] }), Code::Usage, "at most 16"),
        (json!({ "text": "/pause", "encloses": [file] }), Code::Usage, "a command takes neither"),
        (json!({ "text": "/pause", "quotes": goal }), Code::Usage, "a command takes neither"),
    ] {
        for (name, mut asked) in [
            ("task.note", json!({ "task": task, "text": "mind this", "channel": "app" })),
            ("conversations.say", json!({ "task": task, "text": "mind this", "channel": "app" })),
        ] {
            for (field, value) in more.as_object().expect("fields") {
                asked[field] = value.clone();
            }
            let refused = home.ask(name, asked.clone()).expect_err("it is refused");
            assert_eq!(refused.code, code, "{name} {asked}: {refused:?}");
            let all = format!("{} {}", refused.message, refused.hint);
            assert!(all.contains(words), "{name} {asked}: {all}");
        }
    }
    let lines = home.must("conversations.lines", json!({ "task": task }));
    let said = lines["rows"].as_array().expect("lines").iter().filter(|line| line["kind"] == "message");
    assert_eq!(said.count(), 1, "nothing of it was recorded");
}

#[test]
fn a_run_takes_files_and_a_quotation_with_a_message_and_neither_with_a_command() {
    let home = Home::new(173);
    let (task, goal) = at_work(&home, "count the files");
    home.world.file("more.txt", "eight of nine");
    let path = home.world.path("more.txt");
    let message = json!({
        "message": "mind this", "mode": "steer", "attachments": [{ "path": path, "name": "x" }], "quotes": goal,
    });
    let command = json!({ "message": "/pause", "mode": "steer", "quotes": goal });
    assert_eq!(api::runs::message(&home, &task, command, None).expect_err("refused").code, Code::Usage);
    let taken = api::runs::message(&home, &task, message, None).expect("a result");
    assert_eq!(taken.status, "accepted", "{}", taken.message);
    let lines = home.must("conversations.lines", json!({ "task": task }));
    let rows = lines["rows"].as_array().expect("lines");
    let said: Vec<&Value> = rows.iter().filter(|line| line["text"] == "mind this").collect();
    assert_eq!(said.len(), 1);
    assert_eq!(said[0]["heard"]["quoted"]["text"], "count the files");
    assert_eq!(said[0]["heard"]["attached"][0]["name"], "more.txt");
}

/// What a plan of erasing a task would take, as text.
fn erased_with(home: &Home, task: &str) -> String {
    home.must("erasure.plan", json!({ "task": task })).to_string()
}

#[test]
fn erasing_a_task_takes_its_quotations_and_files_and_leaves_what_another_task_has_too() {
    let home = Home::new(174);
    let (first, goal) = at_work(&home, "count the files");
    let (other, _) = at_work(&home, "something else");
    let (own, shared) = (taken_in(&home, "own.txt", "only here"), taken_in(&home, "shared.txt", "in both"));
    let note = |task: &str, text: &str, files: Value| {
        home.must(
            "task.note",
            json!({ "task": task, "text": text, "channel": "app", "quotes": goal, "encloses": files }),
        );
    };
    note(&first, "words of the first", json!([own, shared]));
    note(&other, "words of the other", json!([shared]));
    let plan = home.must("erasure.plan", json!({ "task": first }));
    let names: Vec<&str> = plan["contents"]
        .as_array()
        .expect("contents")
        .iter()
        .filter_map(|row| row["artifact_id"].as_str())
        .collect();
    assert!(names.contains(&own.as_str()), "its own file in the inbox goes, too: {plan}");
    let all = erased_with(&home, &first);
    assert!(all.contains("words of the first") && all.contains("own.txt"), "{all}");
    assert!(!all.contains("words of the other"), "words of another task stay: {all}");
    assert!(!names.contains(&shared.as_str()), "what another task has stays in the inbox: {plan}");
}
