//! A server of tools asks the person while its tool is at work: a question of the task, answered at a terminal or on a page;
//! what is said goes to the server, held against its form, and nothing that it asks for is done without it.

use super::attached::Served;
use super::stage::Stage;
use super::tool_servers::{asked, classify, furnished, put, register, work, yes};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use testkit::{Chat, Large};

/// The toy server in a mode, registered, its tool of one class that asks nobody.
fn asking(mode: &str) -> Stage {
    let stage = furnished();
    register(&stage, &[]);
    classify(&stage, "echo", "read_local", &[]);
    put(&stage, "mode.txt", mode);
    stage
}

/// A run in the host whose model calls the tool; its task.
fn runs(stage: &Stage, served: &Served, chat: &Chat) -> String {
    let body = json!({ "message": "say it", "workspace": work(stage), "profile": "local_edit_allowed", "model": chat.address() });
    let (status, told) = served.ask(stage, "POST", "/v1/runs", &body);
    assert_eq!(status, 200, "{told}");
    told["run_id"].as_str().expect("a run").to_owned()
}

fn chat() -> Chat {
    let call = json!({ "tool": "toy__echo", "arguments": { "text": "hello" } });
    Chat::saying(Large::STRONG, vec![call, json!({ "tool": "done", "arguments": { "summary": "done" } })])
}

fn shown(stage: &Stage, task: &str) -> Value {
    stage.hermit(&["task", "show", task]).ends(0).json()
}

/// Waits until the task asks something; the question.
pub fn question(stage: &Stage, task: &str) -> Value {
    let by = Instant::now() + Duration::from_secs(60);
    loop {
        let task = shown(stage, task);
        if task["waits_for"]["kind"] == "answer" && task["question"].is_object() {
            return task["question"].clone();
        }
        assert!(Instant::now() < by && task["row"]["status"] != "completed", "it asks nothing: {task}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Answers what is asked, and waits until that very question is closed.
pub fn answer(stage: &Stage, task: &str, words: &str) {
    let asked = question(stage, task)["question_id"].clone();
    let code = stage.hermit(&["task", "answer", task, words]).code;
    assert!(matches!(code, 0 | 4), "it ends with {code}");
    let by = Instant::now() + Duration::from_secs(60);
    while shown(stage, task)["question"]["question_id"] == asked {
        assert!(Instant::now() < by, "it is still asked");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub fn ends(stage: &Stage, task: &str) {
    let by = Instant::now() + Duration::from_secs(60);
    while shown(stage, task)["row"]["status"] != "completed" {
        assert!(Instant::now() < by, "it does not end: {}", shown(stage, task));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_server_asks_the_person_field_by_field_and_has_what_fits_its_form() {
    let stage = asking("asks");
    let served = Served::by(&stage);
    let chat = chat();
    let task = runs(&stage, &served, &chat);
    let first = question(&stage, &task);
    for word in
        [r#"A server of tools asks you, \"toy\", while its tool \"echo\""#, "Who are you?", "age (a number)"]
    {
        assert!(first.to_string().contains(word), "`{word}` is not asked: {first}");
    }
    assert_eq!(shown(&stage, &task)["row"]["status"], "running", "the call waits, and the task is at work");
    answer(&stage, &task, "as old as you");
    assert!(question(&stage, &task).to_string().contains("did not fit"));
    answer(&stage, &task, "42");
    let color = question(&stage, &task);
    assert_eq!(color["choices"], json!(["red", "green", "skip", "Decline", "Cancel"]), "{color}");
    answer(&stage, &task, "green");
    ends(&stage, &task);
    let told = chat.requests().last().expect("a request").to_string();
    assert!(told.contains("accept") && told.contains("42") && told.contains("green"), "{told}");
    assert_eq!(stage.receipt(&task)["result"], "succeeded");
    assert_eq!(
        (stage.count(&task, "clarification.requested"), stage.count(&task, "clarification.answered")),
        (3, 3)
    );
    drop(served);
    stage.is_sound();
    stage.prove(&task);
}

#[test]
fn on_the_newer_wire_a_server_has_what_the_person_said_when_it_is_asked_again() {
    let stage = asking("new_wire");
    let served = Served::by(&stage);
    let chat = chat();
    let task = runs(&stage, &served, &chat);
    assert!(question(&stage, &task).to_string().contains("How old are you?"));
    answer(&stage, &task, "42");
    ends(&stage, &task);
    let told = chat.requests().last().expect("a request").to_string();
    for word in ["accept", "42", "sealed"] {
        assert!(told.contains(word), "`{word}` did not come back: {told}");
    }
    assert_eq!(stage.receipt(&task)["result"], "succeeded");
    drop(served);
    stage.is_sound();
}

#[test]
fn a_server_learns_which_folder_it_works_in_on_both_wires_and_nothing_of_others() {
    for mode in ["asks_roots", "new_wire_roots"] {
        let stage = asking(mode);
        let served = Served::by(&stage);
        let chat = chat();
        let task = runs(&stage, &served, &chat);
        ends(&stage, &task);
        let told = chat.requests().last().expect("a request").to_string().replace('\\', "");
        let folder = format!(r#""uri": "file://{}""#, work(&stage));
        assert!(told.contains(&folder), "{mode}: {folder} is not told: {told}");
        assert_eq!(told.matches("file://").count(), 1, "{mode}: one folder: {told}");
        assert_eq!(stage.count(&task, "clarification.requested"), 0, "{mode}: nobody is asked");
        drop(served);
        stage.is_sound();
    }
}

#[test]
fn a_question_that_its_server_takes_back_is_asked_of_nobody_any_longer() {
    let stage = asking("takes_back");
    let served = Served::by(&stage);
    let chat = chat();
    let task = runs(&stage, &served, &chat);
    question(&stage, &task);
    put(&stage, "go_on.txt", "");
    ends(&stage, &task);
    assert_eq!(
        (stage.count(&task, "clarification.cancelled"), stage.count(&task, "clarification.answered")),
        (1, 0)
    );
    assert_eq!(stage.receipt(&task)["result"], "succeeded");
    drop(served);
    stage.is_sound();
}

#[test]
fn an_address_is_shown_and_not_opened_and_a_no_is_told_to_the_server() {
    let stage = asking("asks_url");
    let served = Served::by(&stage);
    let chat = chat();
    let task = runs(&stage, &served, &chat);
    let asked = question(&stage, &task);
    assert!(asked.to_string().contains("https://login.example/x"), "{asked}");
    assert_eq!(asked["choices"], json!(["I have opened it", "Decline", "Cancel"]));
    answer(&stage, &task, "Decline");
    ends(&stage, &task);
    let told = chat.requests().last().expect("a request").to_string();
    assert!(told.contains("decline"), "{told}");
    drop(served);
    stage.is_sound();
}

#[test]
fn a_server_that_asks_in_a_loop_is_declined_after_a_few_questions() {
    let stage = asking("asks_in_a_loop");
    let served = Served::by(&stage);
    let chat = chat();
    let task = runs(&stage, &served, &chat);
    // The last of them is the end of the call.
    for _ in 0..3 {
        answer(&stage, &task, "decline");
    }
    question(&stage, &task);
    stage.hermit(&["task", "answer", &task, "decline"]).ends(0);
    ends(&stage, &task);
    assert_eq!(stage.count(&task, "clarification.requested"), 4);
    drop(served);
    stage.is_sound();
}

#[test]
fn a_question_of_a_server_whose_host_dies_is_taken_back_and_what_happened_is_said() {
    let stage = asking("asks");
    let served = Served::by(&stage);
    let chat = chat();
    let task = runs(&stage, &served, &chat);
    question(&stage, &task);
    drop(served);
    let served = Served::by(&stage);
    let by = Instant::now() + Duration::from_secs(60);
    // Its tool only looks: nobody has to settle anything.
    while shown(&stage, &task)["row"]["status"] != "completed" {
        assert!(Instant::now() < by, "{}", shown(&stage, &task));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(stage.receipt(&task)["result"], "failed");
    assert_eq!(stage.count(&task, "clarification.cancelled"), 1);
    assert_eq!(shown(&stage, &task)["row"]["open_questions"], 0);
    let told = stage.events(&task).iter().map(Value::to_string).collect::<String>();
    assert!(told.contains("nobody had answered when it ended"), "{told}");
    drop(served);
    stage.is_sound();
}

/// The questions of a task that wait: each server that asks, with the name of its question and the words.
fn open_questions(stage: &Stage, task: &str) -> Vec<(String, String, String)> {
    let events = stage.events(task);
    let of = |event: &Value, event_type: &str, at: &str| {
        (event["event_type"] == event_type).then(|| event["body"].pointer(at).cloned().unwrap_or_default())
    };
    let over = ["clarification.answered", "clarification.cancelled"];
    let over: Vec<Value> = events
        .iter()
        .flat_map(|event| over.iter().filter_map(|name| of(event, name, "/clarification_id")))
        .collect();
    let asked = events.iter().filter_map(|event| of(event, "clarification.requested", "/clarification"));
    let open = asked.filter(|one| !over.contains(&one["clarification_id"]));
    let named = open.map(|one| {
        let words = one.to_string();
        let server = if words.contains(r#"\"toy\""#) { "toy" } else { "other" };
        (server.to_owned(), one["clarification_id"].as_str().expect("an id").to_owned(), words)
    });
    named.collect()
}

#[test]
fn two_servers_ask_at_the_same_time_and_each_has_the_answer_to_its_own_question() {
    let stage = asking("asks");
    let work = work(&stage);
    let add = ["tools", "add", "other", "--workspace", &work, "--class", "echo=read_local"];
    let add = [&add[..], &["--", "/usr/bin/python3", "server.py"]].concat();
    let (_, approval) = asked(&stage.hermit(&add).ends(4).json());
    yes(&stage, &approval);
    let served = Served::by(&stage);
    let call = |server: &str| json!({ "tool": format!("{server}__echo"), "arguments": { "text": "hello" } });
    let calls = json!([call("toy"), call("other")]);
    let done = json!({ "tool": "done", "arguments": { "summary": "done" } });
    let chat = Chat::saying(Large::STRONG, vec![calls, done]);
    let task = runs(&stage, &served, &chat);
    // The one that is asked second is answered first, and each of the two later questions is that of its own server.
    for (words, [first, second]) in [("age (a number)", ["42", "7"]), ("color", ["green", "red"])] {
        let by = Instant::now() + Duration::from_secs(60);
        let open = loop {
            let open = open_questions(&stage, &task);
            if open.len() == 2 && open.iter().all(|(.., question)| question.contains(words)) {
                break open;
            }
            assert!(Instant::now() < by, "both are asked: {open:?}");
            std::thread::sleep(Duration::from_millis(20));
        };
        let which = stage.hermit(&["task", "answer", &task, "42"]).ends(2);
        assert!(open.iter().all(|(_, id, _)| which.err.contains(id)), "nobody guesses which: {}", which.err);
        for (server, said) in [("other", second), ("toy", first)] {
            let (_, id, _) = open.iter().find(|(asks, ..)| asks == server).expect("its question");
            let code = stage.hermit(&["task", "answer", &task, said, "--question", id]).code;
            assert!(matches!(code, 0 | 4), "{server}: {code}");
        }
    }
    ends(&stage, &task);
    // What each answered is told in the order in which they were called.
    let told = chat.requests().pop().expect("a request").to_string().replace('\\', "");
    let [toy, other] =
        [r#""age": 42, "color": "green""#, r#""age": 7, "color": "red""#].map(|said| told.find(said));
    assert!(toy.is_some() && toy < other, "each has its own: {told}");
    drop(served);
    stage.is_sound();
}
