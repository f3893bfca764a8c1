//! An editor that speaks the Agent Client Protocol uses Hermit as its agent: `hermit acp` on standard input and output, a
//! person at a terminal, and kills in between.

use super::agents::speaks;
use super::attached::Served;
use super::stage::Stage;
use super::tree;
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::ChildStdin;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};
use testkit::Killed;

/// How long anything expected may take on a slow machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// An editor that has started a `hermit acp`.
struct Editor {
    child: Killed,
    to: Option<ChildStdin>,
    from: Receiver<Value>,
    last: i64,
    /// What it was told since it looked last.
    told: String,
}

impl Editor {
    fn start(stage: &Stage, words: &[&str]) -> Self {
        let all: Vec<&str> = ["acp"].iter().chain(words).copied().collect();
        let (child, to, from) = speaks(stage.command(&all));
        let mut editor = Self { child, to, from, last: 0, told: String::new() };
        let capabilities = json!({ "fs": { "readTextFile": true, "writeTextFile": true }, "terminal": true });
        let greeted =
            editor.ask("initialize", &json!({ "protocolVersion": 1, "clientCapabilities": capabilities }));
        assert_eq!(greeted["result"]["agentInfo"]["name"], "hermit", "{greeted}");
        editor
    }

    fn write(&mut self, line: &str) {
        let to = self.to.as_mut().expect("it is open");
        writeln!(to, "{line}").expect("it listens");
        to.flush().expect("it listens");
    }

    fn begin(&mut self, method: &str, params: &Value) -> i64 {
        self.last += 1;
        let last = self.last;
        self.write(&json!({ "jsonrpc": "2.0", "id": last, "method": method, "params": params }).to_string());
        last
    }

    /// The next message; what it is told is kept.
    fn hear(&mut self) -> Value {
        let heard =
            self.from.recv_timeout(PATIENCE).unwrap_or_else(|e| panic!("{e}; told so far: {}", self.told));
        assert_ne!(
            heard["method"], "session/request_permission",
            "an editor is never asked to allow anything"
        );
        if heard["method"] == "session/update" {
            let update = &heard["params"]["update"];
            let text = update["content"]["text"].as_str().map_or_else(|| update.to_string(), str::to_owned);
            self.told.push_str(&text);
        }
        heard
    }

    fn answer(&mut self, id: i64) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            assert!(Instant::now() < until, "never answered; told so far: {}", self.told);
            let heard = self.hear();
            if heard["id"] == id && heard.get("method").is_none() {
                return heard;
            }
        }
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    fn session(&mut self, stage: &Stage) -> String {
        let begun = self.ask("session/new", &json!({ "cwd": stage.work(), "mcpServers": [] }));
        begun["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned()
    }

    fn prompt(&mut self, session: &str, text: &str) -> i64 {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.begin("session/prompt", &json!({ "sessionId": session, "prompt": prompt }))
    }

    /// Listens until it is told these words.
    fn until(&mut self, words: &str) {
        let end = Instant::now() + PATIENCE;
        while !self.told.contains(words) {
            assert!(Instant::now() < end, "never told `{words}`: {}", self.told);
            self.hear();
        }
    }

    /// Closes its end, and waits until the program has ended.
    fn leave(mut self) -> i32 {
        drop(self.to.take());
        testkit::ends(&mut self.child).code().unwrap_or(-1)
    }
}

fn mixed() -> (Stage, tree::Tree) {
    let stage = Stage::new();
    let outside = stage.at("outside");
    std::fs::create_dir(&outside).expect("a folder");
    tree::mixed(&stage.work(), &outside);
    let before = tree::of(&stage.work());
    (stage, before)
}

#[test]
fn a_prompt_becomes_a_task_that_a_person_allows_elsewhere_and_the_next_one_follows_it() {
    let (stage, before) = mixed();
    let mut editor = Editor::start(&stage, &["--model", "playbook:tidy"]);
    let session = editor.session(&stage);
    let prompt = editor.prompt(&session, "tidy up here");
    editor.until("hermit approvals approve");
    assert!(editor.told.contains("not from here"), "{}", editor.told);
    assert!(editor.told.contains("tool_call"), "what it does is told: {}", editor.told);
    assert!(tree::of(&stage.work()) == before, "nothing is done before the yes");
    // What an editor says of itself allows nothing.
    let yes = json!({ "outcome": { "outcome": "selected", "optionId": "allow_always" } });
    editor.write(&json!({ "jsonrpc": "2.0", "id": 1, "result": yes }).to_string());
    let refused = editor.ask("session/approve", &json!({ "sessionId": session }));
    assert_eq!(refused["error"]["code"], -32601, "{refused}");
    let waiting = stage.waiting();
    let task = waiting[0]["task_id"].as_str().expect("a task").to_owned();
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    let pty = stage.allow(waiting[0]["approval_id"].as_str().expect("an id"), &[]);
    let ended = editor.answer(prompt);
    assert_eq!(ended["result"]["stopReason"], "end_turn", "{ended}");
    let (code, screen) = pty.end();
    assert_eq!(code, 0, "{screen}");
    for words in ["You approved it", "\"status\":\"completed\"", "Done.", "receipt"] {
        assert!(editor.told.contains(words), "`{words}` is not in {}", editor.told);
    }
    assert!(tree::of(&stage.work()) != before, "it was done");
    let shown = stage.hermit(&["task", "show", &task]).ends(0).json();
    assert_eq!((&shown["channel"], &shown["row"]["status"]), (&json!("acp"), &json!("completed")), "{shown}");

    // The next prompt is a task that follows; with nothing left to tidy it ends by itself.
    let next = editor.prompt(&session, "and once more");
    let ended = editor.answer(next);
    assert_eq!(ended["result"]["stopReason"], "end_turn", "{ended}");
    let list = stage.hermit(&["task", "list"]).ends(0).json();
    let follows = list["rows"].as_array().expect("rows").iter().find(|row| row["task_id"] != task.as_str());
    let follows = follows.expect("a second task")["task_id"].as_str().expect("an id").to_owned();
    assert_eq!(stage.hermit(&["task", "show", &follows]).ends(0).json()["follows"], task.as_str());
    assert_eq!(editor.leave(), 0);
    stage.is_sound();
    stage.prove(&task);
}

#[test]
fn a_prompt_is_cancelled_from_the_editor_and_a_denial_is_told_with_its_words() {
    let (stage, before) = mixed();
    let mut editor = Editor::start(&stage, &["--model", "playbook:tidy"]);
    let session = editor.session(&stage);
    let prompt = editor.prompt(&session, "tidy up here");
    editor.until("hermit approvals approve");
    let busy = editor.prompt(&session, "meanwhile");
    assert!(editor.answer(busy)["error"]["message"].as_str().expect("words").contains("at work"));
    editor.write(
        &json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session } })
            .to_string(),
    );
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "cancelled");
    assert!(stage.waiting().is_empty(), "the question is gone with its task");

    let other = editor.session(&stage);
    editor.told.clear();
    let prompt = editor.prompt(&other, "tidy up here");
    editor.until("hermit approvals approve");
    let approval = stage.waiting()[0]["approval_id"].as_str().expect("an id").to_owned();
    stage.hermit(&["approvals", "deny", &approval, "--feedback", "leave it as it is"]).ends(0);
    let ended = editor.answer(prompt);
    assert_eq!(ended["result"]["stopReason"], "end_turn", "{ended}");
    assert!(editor.told.contains("leave it as it is"), "{}", editor.told);
    assert!(tree::of(&stage.work()) == before);
    assert_eq!(editor.leave(), 0);
    stage.is_sound();
}

#[test]
fn what_an_editor_says_wrongly_is_answered_in_words_and_ends_nothing() {
    let stage = Stage::new();
    let mut editor = Editor::start(&stage, &["--model", "playbook:no-such"]);
    editor.write("{ this is no JSON");
    let told = editor.hear();
    assert_eq!((&told["error"]["code"], &told["id"]), (&json!(-32700), &Value::Null), "{told}");
    let unknown = editor.ask("session/fly", &json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    for (cwd, words) in [("/nowhere/at/all", "cannot work in `/nowhere/at/all`"), ("here", "whole path")] {
        let told = editor.ask("session/new", &json!({ "cwd": cwd, "mcpServers": [] }));
        assert!(told["error"]["message"].as_str().expect("words").contains(words), "{told}");
    }
    let session = editor.session(&stage);
    let prompt = editor.prompt(&session, "go");
    let told = editor.answer(prompt);
    assert!(told["error"]["message"].as_str().expect("words").contains("no playbook `no-such`"), "{told}");
    let prompt = editor.prompt(&session, "   ");
    assert!(editor.answer(prompt)["error"]["message"].as_str().expect("words").contains("says nothing"));
    assert_eq!(editor.leave(), 0);
}

#[test]
fn a_host_killed_in_the_middle_is_followed_by_the_next_and_the_prompt_stays_open() {
    let (stage, before) = mixed();
    let served = Served::by(&stage);
    let mut editor = Editor::start(&stage, &["--model", "playbook:tidy"]);
    let session = editor.session(&stage);
    let prompt = editor.prompt(&session, "tidy up here");
    editor.until("hermit approvals approve");
    drop(served);
    assert!(tree::of(&stage.work()) == before);
    let waiting = stage.waiting();
    let pty = stage.allow(waiting[0]["approval_id"].as_str().expect("an id"), &[]);
    let ended = editor.answer(prompt);
    assert_eq!(ended["result"]["stopReason"], "end_turn", "{ended}");
    let (code, screen) = pty.end();
    assert_eq!(code, 0, "{screen}");
    assert!(tree::of(&stage.work()) != before, "it was done once: {}", editor.told);
    assert_eq!(editor.leave(), 0);
    stage.is_sound();
}

#[test]
fn an_editor_that_is_killed_with_the_hermit_it_started_leaves_its_question_and_it_is_done_once() {
    let (stage, before) = mixed();
    let mut editor = Editor::start(&stage, &["--model", "playbook:tidy"]);
    let session = editor.session(&stage);
    editor.prompt(&session, "tidy up here");
    editor.until("hermit approvals approve");
    assert!(editor.told.contains("\"kind\":\"read\""), "what it does is told by its kind: {}", editor.told);
    drop(editor);
    let waiting = stage.waiting();
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    assert!(tree::of(&stage.work()) == before);
    let task = waiting[0]["task_id"].as_str().expect("a task").to_owned();
    let (code, screen) = stage.approve(waiting[0]["approval_id"].as_str().expect("an id"));
    assert_eq!(code, 0, "{screen}");
    assert!(tree::of(&stage.work()) != before);
    assert_eq!(stage.count(&task, "effect.observed"), stage.count(&task, "effect.dispatched"));
    stage.is_sound();
}

#[test]
fn hermit_is_put_into_the_settings_of_zed_after_it_was_shown_and_taken_out_again() {
    let stage = Stage::new();
    let home = stage.at("person");
    let file = home.join(".config/zed/settings.json");
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    let before = "// mine\n{\n  \"theme\": \"One Dark\", // dark\n  \"agent_servers\": { \"other\": { \"command\": \"x\" } }\n}\n";
    std::fs::write(&file, before).expect("a file");
    let run = |words: &[&str]| Stage::ran(stage.command(words).env("HOME", &home));
    let shown = run(&["acp", "install", "zed", "--profile", "readonly_analysis", "--print"]).ends(0).out;
    for words in
        ["+", "\"hermit\"", "\"acp\"", "readonly_analysis", "Nothing was changed", "hermit acp install"]
    {
        assert!(shown.contains(words), "`{words}` is not in {shown}");
    }
    run(&["--json", "acp", "install", "zed"]).ends(2).complains(&["only a person at a terminal"]);
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), before);
    run(&["--json", "acp", "install", "nano"]).ends(1).complains(&["not known", "hermit acp"]);
    let home = home.to_str().expect("UTF-8").to_owned();
    let mut pty = stage.terminal(&["acp", "install", "zed"], &[("HOME", &home)]);
    pty.expect("Change it?").send("yes\r").expect("Done.");
    assert_eq!(pty.end().0, 0);
    let after = std::fs::read_to_string(&file).expect("a file");
    for words in ["// mine", "\"other\"", "\"hermit\"", "\"acp\""] {
        assert!(after.contains(words), "`{words}` is not in {after}");
    }
    let mut pty = stage.terminal(&["acp", "uninstall", "zed"], &[("HOME", &home)]);
    pty.expect("Change it?").send("yes\r").expect("Done.");
    assert_eq!(pty.end().0, 0);
    assert!(!std::fs::read_to_string(&file).expect("a file").contains("hermit"));
}
