//! A server asks a model while its tool is at work: nothing until a person allows it, then within bounds of its own, on
//! record with what it cost, and stopped with words where it goes on asking.

use super::remote_wires;
use super::stage::Stage;
use super::tool_servers::{asked, card, classify, furnished, put, register, work, yes};
use serde_json::{Value, json};
use testkit::{Chat, Large};

/// The toy server in a mode, registered, its tool of a class that asks nobody.
fn sampling(mode: &str) -> Stage {
    let stage = furnished();
    register(&stage, &[]);
    classify(&stage, "echo", "read_local", &[]);
    put(&stage, "mode.txt", mode);
    stage
}

/// Lets a server ask a model; what the card said.
pub fn allow(stage: &Stage, server: &str, more: &[&str]) -> String {
    let work = work(stage);
    let words = [&["tools", "sampling", server, "--workspace", &work][..], more].concat();
    let (_, approval) = asked(&stage.hermit(&words).ends(4).json());
    let shown = card(stage, &approval);
    yes(stage, &approval);
    shown
}

/// What the model of a run says: to the task, and to whoever asks it without tools.
fn chat(call: Value, answers: usize) -> Chat {
    let mut says = vec![call];
    says.extend((0..answers).map(|n| json!(format!("the model's answer {n}"))));
    says.push(json!({ "tool": "done", "arguments": { "summary": "done" } }));
    Chat::saying(Large::STRONG, says)
}

fn echo() -> Value {
    json!({ "tool": "toy__echo", "arguments": { "text": "hello" } })
}

fn runs(stage: &Stage, chat: &Chat, code: i32) -> String {
    let (work, model) = (work(stage), chat.address());
    let run = ["run", "--goal", "say it", "--workspace", &work, "--model", &model];
    stage.hermit(&run).ends(code).json()["row"]["task_id"].as_str().expect("a task").to_owned()
}

/// The receipt of the only call of a task, whole.
fn receipt(stage: &Stage, task: &str) -> String {
    let id = stage.receipt(task)["receipt_id"].as_str().expect("an id").to_owned();
    stage.hermit(&["receipts", "show", &id]).ends(0).out
}

#[test]
fn a_server_asks_a_model_where_a_person_allowed_it_and_it_is_on_record_what_that_cost() {
    for mode in ["samples_once", "new_wire_samples"] {
        let stage = sampling(mode);
        let none = chat(echo(), 0);
        let task = runs(&stage, &none, 0);
        let told = none.requests().last().expect("a request").to_string();
        assert!(told.contains("hermit tools sampling") || told.contains("refused"), "{mode}: {told}");
        assert_eq!((none.requests().len(), stage.count(&task, "sampling.requested")), (2, 0), "{mode}");

        let shown = allow(&stage, "toy", &["--calls", "2"]);
        for word in ["WITHOUT asking", "at most 2 times in one call", "until now: not at all"] {
            assert!(shown.contains(word), "`{word}` is not on the card: {shown}");
        }
        let chat = chat(echo(), 1);
        let task = runs(&stage, &chat, 0);
        let requests = chat.requests();
        assert_eq!(requests.len(), 3, "{mode}: the task, the server, the task");
        let question = requests[1].to_string();
        assert!(
            question.contains("what do you think of it") && question.contains("no word of the person"),
            "{question}"
        );
        assert!(
            requests[1].get("tools").is_none() && !question.contains("say it"),
            "neither tools nor the task: {question}"
        );
        assert!(requests[2].to_string().contains("the model's answer 0"), "the tool used it");
        let told = receipt(&stage, &task);
        assert!(told.contains("the server asked the model of the task once: "), "{told}");
        assert_eq!((stage.count(&task, "sampling.requested"), stage.count(&task, "sampling.ended")), (1, 1));
        let events = stage.events(&task);
        let ended = events.iter().find(|event| event["event_type"] == "sampling.ended").expect("it ended");
        assert!(ended.to_string().contains("tokens_out"), "{ended}");
        stage.is_sound();
        stage.prove(&task);

        allow(&stage, "toy", &["--off"]);
        let again = chat_of_none(&stage);
        assert_eq!(again, 2, "it may ask nothing any more");
    }
}

fn chat_of_none(stage: &Stage) -> usize {
    let chat = chat(echo(), 0);
    runs(stage, &chat, 0);
    chat.requests().len()
}

#[test]
fn a_server_that_asks_a_model_in_a_loop_is_refused_and_then_ended_with_words() {
    let stage = sampling("samples");
    allow(&stage, "toy", &["--calls", "3"]);
    let chat = chat(echo(), 3);
    let task = runs(&stage, &chat, 0);
    assert_eq!(chat.requests().len(), 5, "two turns of the task and three questions");
    assert_eq!(stage.receipt(&task)["result"], "failed", "its tool only looks");
    let told = receipt(&stage, &task);
    for words in
        ["went on asking for a model after it was refused 8 times", "it may ask a model 3 times in one call"]
    {
        assert!(told.contains(words), "`{words}` is not in {told}");
    }
    assert_eq!((stage.count(&task, "sampling.requested"), stage.count(&task, "sampling.ended")), (3, 11));
    stage.is_sound();
    stage.prove(&task);
}

#[test]
fn a_question_that_is_too_long_or_asked_where_no_model_is_gets_words_and_no_tokens() {
    let stage = sampling("samples_once");
    allow(&stage, "toy", &["--tokens", "60", "--task-tokens", "60"]);
    let chat = chat(echo(), 0);
    let task = runs(&stage, &chat, 0);
    assert_eq!(chat.requests().len(), 2);
    let told = chat.requests().last().expect("a request").to_string();
    assert!(told.contains("it may use 60 tokens in one question and 60 in one task"), "{told}");
    assert_eq!((stage.count(&task, "sampling.requested"), stage.count(&task, "sampling.ended")), (0, 1));
    // A person who tries a tool by hand has no model in that task.
    let work = work(&stage);
    let tried = stage.hermit(&["tools", "try", "toy", "echo", r#"{"text":"x"}"#, "--workspace", &work]);
    let tried = tried.ends(0).json().to_string();
    assert!(tried.contains("no model is set for this task"), "{tried}");
    let (_, said, _) = stage
        .hermit(&["tools", "sampling", "toy", "--calls", "33", "--workspace", &work])
        .ends(2)
        .complaint();
    assert!(said.contains("at most 32"), "{said}");
    stage.is_sound();
}

#[test]
fn a_server_at_an_address_asks_a_model_on_both_wires() {
    let think = json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": "think" } }], "maxTokens": 50 });
    let wants = json!({ "method": "sampling/createMessage", "params": think });
    for server in [remote_wires::asking_a_model(), remote_wires::without_conversations(wants)] {
        let stage = Stage::new();
        let work = work(&stage);
        let url = server.url("/mcp");
        let words =
            ["tools", "add", "far", "--workspace", &work, "--url", &url, "--class", "echo=network_read"];
        let (_, approval) = asked(&stage.hermit(&words).ends(4).json());
        yes(&stage, &approval);
        allow(&stage, "far", &[]);
        let chat = chat(json!({ "tool": "far__echo", "arguments": { "text": "hello" } }), 1);
        let model = chat.address();
        let run = [
            "run",
            "--goal",
            "say it",
            "--workspace",
            &work,
            "--model",
            &model,
            "--profile",
            "network_read_allowed",
        ];
        let (task, approval) = asked(&stage.hermit(&run).ends(4).json());
        yes(&stage, &approval);
        let told = chat.requests().last().expect("a request").to_string();
        assert!(told.contains("the model's answer 0"), "{told}");
        assert_eq!(stage.count(&task, "sampling.ended"), 1);
        stage.is_sound();
    }
}
