//! What a run says and does, in the real window: told again by a window that is read anew, by another window, and by the next
//! app after the first was killed; each thing once (the acceptance catalogue of the run adapter contract, Artifact 3).

use super::driver::Driver;
use super::first::make_keys;
use super::room::{MAIN, Room, room, soon, until};
use conforms::conforms;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use testkit::{Answers, Chat, Heard, Large, Server};

/// What a person reads of the run or conversation that is open; for how long it has been at it is left out, and so is what is
/// only of this moment.
const STORY: &str = "const of = (at) => document.querySelector(at)?.innerText ?? '';\
    return [of('[role=log]'), of('[aria-label=\"What happened\"]')].join('\\n')\
    .replace(/^\\d+ (s|min|h).*$/gm, '').replace(/^Quote$/gm, '').replace(/\\s+/g, ' ').trim();";

/// What a person reads at this moment.
pub fn story(app: &Driver) -> String {
    app.run(STORY).ok().and_then(|told| told.as_str().map(str::to_owned)).unwrap_or_default()
}

/// The story as soon as it holds this and stands still.
pub fn story_with(app: &Driver, part: &str) -> String {
    let last = RefCell::new(String::new());
    let is_told = || {
        let now = story(app);
        let is_still = last.replace(now.clone()) == now;
        is_still && now.contains(part) && !app.has("//*[starts-with(@aria-label, 'Reading ')]")
    };
    let told = soon(is_told);
    let last = last.into_inner();
    assert!(told, "it never came that `{part}` is told, and stands still: {last}");
    last
}

/// How often this is told.
pub fn times(told: &str, part: &str) -> usize {
    told.matches(part).count()
}

/// Goes to a page of the app's own window, once that is there.
pub fn open(app: &Driver, path: &str) {
    let script = format!("location.hash = {}", json!(path));
    until("the main window is there", || app.turn_to(MAIN) && app.run(&script).is_ok());
}

/// The window is read anew, and tells the same.
pub fn again(app: &Driver, told: &str) {
    read_anew(app);
    let now = RefCell::new(String::new());
    let is_same = || now.replace(story(app)) == told || *now.borrow() == told;
    assert!(soon(is_same), "it never came that the same is told; before: {told}\nnow: {}", now.borrow());
}

/// The window is read anew.
pub fn read_anew(app: &Driver) {
    app.run("window.before = true").expect("a mark");
    app.run("setTimeout(() => location.reload())").expect("it is read anew");
    until("it was read anew", || {
        app.run("return window.before !== true && document.readyState === 'complete'")
            .is_ok_and(|is| is == true)
    });
}

/// Presses the button with these words, as soon as it may be pressed.
pub fn press(app: &Driver, words: &str) {
    let button = format!("//button[normalize-space()='{words}' and not(@aria-disabled)]");
    until(&format!("`{words}` may be pressed"), || app.click(&button).is_ok());
}

/// Kills the app, as a crash would, and starts the next one.
pub fn killed(room: &mut Room, app: Driver) -> Driver {
    kill(room, app);
    room.app()
}

/// Kills the app, as a crash would.
pub fn kill(room: &Room, app: Driver) {
    let pid = room.hermit(&["serve"])["pid"].as_u64().expect("the app holds the store").to_string();
    assert!(Command::new("kill").args(["-9", &pid]).status().expect("kill").success(), "it was there");
    drop(app);
}

/// What a server of a model sends for these words, as they are said.
pub fn said(words: &str) -> String {
    format!("data: {}\n\n", json!({ "choices": [{ "index": 0, "delta": { "content": words } }] }))
}

/// The same for a call, with which it ends.
pub fn called(tool: &str, arguments: &Value) -> String {
    let function = json!({ "name": tool, "arguments": arguments.to_string() });
    let call = json!({ "index": 0, "id": "call_1", "type": "function", "function": function });
    let delta = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] } }] });
    let end = json!({
        "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }],
        "usage": { "prompt_tokens": 1000, "completion_tokens": 10 },
    });
    format!("data: {delta}\n\ndata: {end}\n\ndata: [DONE]\n\n")
}

/// A model that begins each answer with these words in turn, and says the rest of it when it is told to.
pub struct Halting {
    server: Server,
    turns: Vec<Sender<String>>,
    asked: Arc<AtomicUsize>,
}

impl Halting {
    /// A model that begins so.
    pub fn begin(beginnings: &[&str]) -> Self {
        Self::sending(beginnings.iter().map(|words| said(words)).collect())
    }

    /// The same, by what is sent of each beginning.
    pub fn sending(beginnings: Vec<String>) -> Self {
        let (turns, rests): (Vec<_>, Vec<_>) = beginnings
            .into_iter()
            .map(|sent| {
                let (tell, rest) = channel();
                (tell, (sent, Arc::new(Mutex::new(rest))))
            })
            .unzip();
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let json = |value: Value| {
            Answers::With(200, vec![("Content-Type", "application/json".to_owned())], value.to_string())
        };
        let server = Server::begin(move |heard: &Heard| match heard.line.as_str() {
            "GET /v1/models" => json(json!({ "object": "list", "data": [{
                "id": "words", "object": "model", "owned_by": "llamacpp",
                "meta": { "n_ctx": 131_072, "n_params": 70_000_000_000_u64 },
            }] })),
            "GET /props" => json(json!({ "default_generation_settings": { "n_ctx": 131_072 } })),
            "POST /v1/chat/completions" => match rests.get(count.fetch_add(1, Ordering::SeqCst)) {
                Some((words, rest)) => Answers::Begins(
                    vec![("Content-Type", "text/event-stream".to_owned())],
                    words.clone(),
                    Arc::clone(rest),
                ),
                None => Answers::HangsUp,
            },
            _ => Answers::With(404, Vec::new(), String::new()),
        });
        Self { server, turns, asked }
    }

    /// Its address, as `--model` takes it.
    pub fn address(&self) -> String {
        format!("openai:{}#words", self.server.url("/v1"))
    }

    /// Lets it say the rest of an answer.
    pub fn goes_on(&self, turn: usize, rest: String) {
        self.turns[turn].send(rest).expect("it waits");
    }

    /// How often it was asked.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

/// The window is closed, which takes its page away, and another is opened from the tray.
fn reopened(room: &Room, app: &Driver, meanwhile: impl FnOnce()) {
    app.run("window.before = true").expect("a mark");
    room.forward("^Hermit$");
    room.xdo(&["key", "alt+F4"]);
    until("the window is closed", || room.window("^Hermit$").is_none());
    meanwhile();
    room.panel.press("Open Hermit");
    until("another window is there", || {
        app.turn_to(MAIN) && app.run("return window.before !== true").is_ok_and(|is| is == true)
    });
}

#[conforms("RA-3-4", "RA-2-4", part = "RA-3-1", part = "RA-3-5", part = "RA-3-6", part = "RA-S-2")]
#[test]
fn a_run_is_told_the_same_by_a_window_read_anew_and_by_another_each_thing_once_and_ends_where_it_is_cancelled()
 {
    let Some(mut room) = room("the story of a run in its windows") else { return };
    std::fs::write(room.work().join("notes.md"), "buy milk\n").expect("a file");
    let app = room.app();
    make_keys(&room, &app);
    let model = Halting::begin(&["Once upon ", "Then I look "]);
    until("the main window is there", || app.turn_to(MAIN));
    let asked = json!({
        "goal": "tell me the notes", "workspace": room.work(), "title": "A tale",
        "reasoner": { "kind": "address", "address": model.address() },
    });
    let task = app.invoke("task_submit", &json!({ "params": asked })).expect("it is taken in");
    let task = task["task_id"].as_str().expect("a name").to_owned();
    let page = format!("/task/{task}");
    open(&app, &page);
    let begun = story_with(&app, "Once upon");
    assert_eq!(times(&begun, "Once upon"), 1, "{begun}");
    again(&app, &begun);

    // No window is there while it goes on; the next one tells what came meanwhile, and what came before, once.
    reopened(&room, &app, || {
        model.goes_on(0, format!("{}{}", said("a time."), called("read", &json!({ "path": "notes.md" }))));
        until("it works on while nobody looks", || model.asked() == 2);
    });
    open(&app, &page);
    story_with(&app, "Once upon a time.");
    let caught_up = story_with(&app, "Then I look");
    for once in ["Once upon a time.", "Then I look"] {
        assert_eq!(times(&caught_up, once), 1, "{once}: {caught_up}");
    }
    again(&app, &caught_up);
    room.picture("story");

    // It is cancelled in the middle of a sentence: what was said of it stays, and nothing comes behind it.
    press(&app, "Cancel");
    press(&app, "Cancel the task");
    let ended = story_with(&app, "Stopped: a person cancelled it.");
    assert_eq!((times(&ended, "Once upon a time."), times(&ended, "Then I look")), (1, 1), "{ended}");
    until("it seems to be at nothing", || {
        app.words().contains("Cancelled") && !app.has("//*[@role='log']//*[@aria-busy='true']")
    });
    again(&app, &story_with(&app, "Then I look"));
    model.goes_on(1, called("write", &json!({ "path": "late.md", "content": "late" })));
    let shown = room.hermit(&["task", "show", &task]);
    assert_eq!(shown["row"]["status"], "cancelled");
    let reads =
        shown["actions"].as_array().expect("actions").iter().filter(|act| act["summary"] == "read notes.md");
    assert_eq!(reads.count(), 1, "{shown}");
    assert!(!room.work().join("late.md").exists());
}

/// Types words where they are written, and sends them.
pub fn say(app: &Driver, words: &str) {
    until("the words are written", || {
        app.write("//textarea", words).is_ok()
            && app.run("return document.querySelector('textarea').value").is_ok_and(|now| now == words)
    });
    press(app, "Send");
    until("they are sent", || {
        app.run("return document.querySelector('textarea').value").is_ok_and(|now| now == "")
    });
}

#[conforms("RA-3-8", "RA-2-9", part = "RA-3-9", part = "RA-3-13", "RA-3-16", part = "RA-S-2")]
#[test]
fn what_a_person_is_asked_answers_and_commands_in_the_window_outlives_the_app_and_is_told_once() {
    let Some(mut room) = room("a conversation in the real window") else { return };
    let app = room.app();
    make_keys(&room, &app);
    let ask = json!({ "tool": "ask", "arguments": { "question": "In which language?", "choices": ["English", "German"] } });
    let chat = Chat::saying(
        Large::STRONG,
        vec![ask, json!({ "tool": "done", "arguments": { "summary": "It is in German." } })],
    );
    until("the main window is there", || app.turn_to(MAIN));
    let standard = json!({ "params": { "address": chat.address() } });
    app.invoke("models_standard", &standard).expect("the model is chosen");
    let opened = json!({ "params": { "title": "Photos of June", "folder": room.work() } });
    let opened = app.invoke("conversations_open", &opened).expect("it is opened");
    let id = opened["conversation_id"].as_str().expect("a name").to_owned();
    let page = format!("/conversations?at={id}");
    open(&app, &page);
    until("it is empty", || story(&app).contains("Your first words begin a task in this folder"));
    say(&app, "Write a summary of the photos");
    let asks = story_with(&app, "In which language?");
    again(&app, &asks);
    room.picture("conversation");

    // The question, and the folder of the conversation, outlive the app.
    let app = killed(&mut room, app);
    open(&app, &page);
    assert_eq!(story_with(&app, "In which language?"), asks);
    let folder = room.work().file_name().expect("a name").to_string_lossy().into_owned();
    assert!(app.words().contains(&folder), "{}", app.words());
    press(&app, "German");
    story_with(&app, "It is in German.");
    assert!(chat.requests().last().expect("it was asked").to_string().contains("German"));
    say(&app, "/explain");
    until("the command is done", || app.words().contains("is completed"));
    let told = story_with(&app, "/explain");
    for once in ["In which language?", "It is in German.", "/explain"] {
        assert_eq!(times(&told, once), 1, "{once}: {told}");
    }
    again(&app, &told);

    // The terminal tells the same lines, each once.
    let lines = room.hermit(&["conversation", "show", &id]);
    let lines = lines["rows"].as_array().expect("lines");
    let places: std::collections::BTreeSet<u64> =
        lines.iter().filter_map(|line| line["seq"].as_u64()).collect();
    assert_eq!(places.len(), lines.len());
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in lines.iter().filter(|line| line["kind"] == "message" || line["kind"] == "answer") {
        let text = flat(line["text"].as_str().unwrap_or_default());
        assert!(told.contains(&text), "`{text}` is not in {told}");
    }
}
