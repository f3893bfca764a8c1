//! The rest of the acceptance catalogue of the run adapter contract (Artifact 3) in the real window: how runs end, what a host
//! that dies leaves behind, who is asked with what, and what a person commands. A model says its next words when it is told to,
//! and the test tells it when it has seen the words before.

use super::drag::Hand;
use super::driver::{Driver, exchange};
use super::first::{make_keys, waiting};
use super::room::{MAIN, Room, room, until};
use super::story::{Halting, again, called, kill, killed, open, press, said, say, story, story_with, times};
use conforms::conforms;
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use testkit::{Chat, Killed, Large, Lines};

/// What a server of a model sends of its reasoning.
fn thought(words: &str) -> String {
    let delta = json!({ "reasoning_content": words });
    format!("data: {}\n\n", json!({ "choices": [{ "index": 0, "delta": delta }] }))
}

fn done(summary: &str) -> String {
    called("done", &json!({ "summary": summary }))
}

/// A task of this model, given in the window.
fn begun(room: &Room, app: &Driver, title: &str, address: &str) -> String {
    until("the main window is there", || app.turn_to(MAIN));
    let asked = json!({
        "goal": format!("the goal of {title}"), "workspace": room.work(), "title": title,
        "reasoner": { "kind": "address", "address": address },
    });
    let task = app.invoke("task_submit", &json!({ "params": asked })).expect("it is taken in");
    task["task_id"].as_str().expect("a name").to_owned()
}

fn page(task: &str) -> String {
    format!("/task/{task}")
}

/// Whether the page says exactly this somewhere.
fn tells(app: &Driver, words: &str) -> bool {
    app.has(&format!("//main//*[normalize-space()='{words}']"))
}

/// A run that has ended says so and seems to be at nothing, and so it does when the window is read anew; what is told of it.
fn ended(app: &Driver, word: &str, part: &str) -> String {
    let is_over = || {
        tells(app, word)
            && !app.has("//button[normalize-space()='Pause']")
            && !app.has("//*[@role='log']//*[@aria-busy='true']")
    };
    until(&format!("it is `{word}`, and seems to be at nothing"), is_over);
    let told = story_with(app, part);
    again(app, &told);
    until("it seems to be at nothing still", is_over);
    told
}

/// Everything within what has this name, also what is folded.
fn within(app: &Driver, selector: &str) -> String {
    let script = format!("return document.querySelector({})?.textContent ?? ''", json!(selector));
    app.run(&script).ok().and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default()
}

const BROKEN_OFF: &str = "[role=log] [aria-label='Broken off']";
const AT_WORK: &str = "[role=log] [aria-busy=true]";

/// How many processes of this machine were begun with these words, one behind the other.
fn running(words: &[&str]) -> usize {
    let wanted = words.join("\0");
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(&wanted)).count()
}

/// A cancel, as a person gives it.
fn cancel(app: &Driver) {
    press(app, "Cancel");
    press(app, "Cancel the task");
}

/// One run does what it was asked, another is refused by a person; both end, and are told so.
fn ends_well_and_badly(room: &Room, app: &Driver) -> [(String, String); 2] {
    let model = Halting::begin(&["All is "]);
    let well = begun(room, app, "All well", &model.address());
    open(app, &page(&well));
    story_with(app, "All is");
    model.goes_on(0, format!("{}{}", said("in order here."), done("It is well.")));
    let told_well = ended(app, "Done", "It is well.");
    assert_eq!(times(&told_well, "It is well."), 1, "{told_well}");

    let model = Halting::begin(&["I write it down. ", "So be it. "]);
    let wish = begun(room, app, "A wish", &model.address());
    open(app, &page(&wish));
    story_with(app, "I write it down.");
    model.goes_on(0, called("write", &json!({ "path": "wish.md", "content": "a wish\n" })));
    until("it waits for a person", || waiting(room).is_some());
    room.hermit(&["approvals", "deny", &waiting(room).expect("it waits")]);
    until("the model hears of it", || model.asked() == 2);
    model.goes_on(1, done("It was not to be."));
    until("the main window is there", || app.turn_to(MAIN));
    let told_wish = ended(app, "Denied by you", "I write it down.");
    assert_eq!(times(&told_wish, "I write it down."), 1, "{told_wish}");
    assert!(!room.work().join("wish.md").exists());
    [(page(&well), told_well), (page(&wish), told_wish)]
}

/// A run that is cancelled in the middle of a thought, and one that is cancelled while its tool is at work.
fn ends_where_it_is_cancelled(room: &Room, app: &Driver) -> [(String, String); 2] {
    let model = Halting::sending(vec![format!("{}{}", thought("I weigh both. "), said("On the one "))]);
    let doubt = begun(room, app, "A doubt", &model.address());
    open(app, &page(&doubt));
    story_with(app, "On the one");
    until("what it reasons is there", || within(app, AT_WORK).contains("I weigh both."));
    cancel(app);
    let told_doubt = ended(app, "Cancelled", "On the one");
    model.goes_on(0, format!("{}{}", said("hand"), done("both")));
    until("what was thought and said is kept", || {
        let kept = within(app, BROKEN_OFF);
        times(&kept, "I weigh both.") == 1 && times(&kept, "On the one") == 1 && !kept.contains("hand")
    });
    assert!(!told_doubt.contains("Model failed"), "{told_doubt}");

    let argv = ["/bin/sh", "-c", "echo begun; sleep 317; echo late; echo late > late.txt"];
    let model = Halting::begin(&["It takes long. "]);
    let long = begun(room, app, "A long command", &model.address());
    open(app, &page(&long));
    story_with(app, "It takes long.");
    model.goes_on(0, called("command", &json!({ "argv": argv })));
    until("it is read along", || app.has("//summary[normalize-space()='What it prints']"));
    story_with(app, "begun");
    until("its tool is at work", || running(&["sleep", "317"]) == 1);
    cancel(app);
    let told_long = ended(app, "Cancelled", "Stopped: a person cancelled it.");
    until("its tool has ended as well", || running(&["sleep", "317"]) == 0);
    again(app, &told_long);
    assert!(!app.has("//summary[normalize-space()='What it prints']"), "nothing of it comes late");
    assert!(!room.work().join("late.txt").exists());
    assert_eq!(model.asked(), 1, "nobody goes on with it");
    [(page(&doubt), told_doubt), (page(&long), told_long)]
}

#[conforms("RA-3-2", "RA-3-6", part = "RA-3-5")]
#[test]
fn runs_that_end_are_told_again_as_they_ended_by_the_window_and_by_the_next_app_and_seem_to_be_at_nothing() {
    let Some(mut room) = room("how runs end, in the window") else { return };
    let app = room.app();
    make_keys(&room, &app);
    let mut told = Vec::from(ends_well_and_badly(&room, &app));
    told.extend(ends_where_it_is_cancelled(&room, &app));
    room.picture("ended");
    let app = killed(&mut room, app);
    for (page, before) in &told {
        open(&app, page);
        // What was reasoned was told by the app that heard it: no file holds it (HK-15.1).
        let before = before.replace("What it was thinking ", "");
        until(&format!("the next app tells the same of {page}"), || story(&app) == before);
        assert!(!within(&app, BROKEN_OFF).contains("I weigh both."), "{before}");
        assert!(!app.has("//*[@role='log']//*[@aria-busy='true']"), "{before}");
    }
    let statuses = told.iter().map(|(page, _)| {
        let task = page.rsplit('/').next().expect("a name");
        room.hermit(&["task", "show", task])["row"]["run_status"].as_str().expect("a word").to_owned()
    });
    let statuses: Vec<String> = statuses.collect();
    assert_eq!(
        (statuses[0].as_str(), &statuses[2..]),
        ("completed", &["cancelled", "cancelled"].map(str::to_owned)[..])
    );
}

#[conforms("RA-3-1", "RA-3-3")]
#[test]
fn an_app_that_is_killed_in_mid_sentence_leaves_what_was_said_told_as_broken_off_until_it_is_asked_again() {
    let Some(mut room) = room("an app killed in mid-sentence") else { return };
    std::fs::write(room.work().join("notes.md"), "buy milk\n").expect("a file");
    let app = room.app();
    make_keys(&room, &app);
    let model = Halting::sending(vec![
        said("First I look "),
        format!("{}{}", thought("One thought. "), said("Once upon ")),
        said("Then anew "),
    ]);
    let task = begun(&room, &app, "A broken tale", &model.address());
    open(&app, &page(&task));
    story_with(&app, "First I look");
    model.goes_on(0, format!("{}{}", said("at the notes."), called("read", &json!({ "path": "notes.md" }))));
    story_with(&app, "First I look at the notes.");
    let before = story_with(&app, "Once upon");
    // Read anew, it tells words, reasoning and tool, each once.
    again(&app, &before);
    until("what it reasons is there", || times(&within(&app, AT_WORK), "One thought.") == 1);
    for once in ["First I look at the notes.", "Once upon"] {
        assert_eq!(times(&before, once), 1, "{once}: {before}");
    }

    // Nobody works on it, and nobody may: the next app shows the last that is known, and that it is no more than that.
    kill(&room, app);
    let left = room.hermit(&["task", "show", &task]);
    assert_eq!((&left["interrupted"], &left["row"]["run_status"]), (&json!(true), &json!("running")));
    room.hermit(&["halt", "--reason", "nothing goes on yet"]);
    let app = room.app();
    open(&app, &page(&task));
    until("it says that nobody works on it", || {
        app.words().contains("It should be at work and nobody works on it")
    });
    until("what was said of its answer is told as broken off", || {
        let kept = within(&app, BROKEN_OFF);
        times(&kept, "Once upon") == 1 && !kept.contains("One thought.")
    });
    assert!(!app.has("//*[@role='log']//*[@aria-busy='true']"), "it seems to be at nothing");
    let halted = story_with(&app, "First I look at the notes.");
    again(&app, &halted);
    let told = ["First I look at the notes.", "Once upon"].map(|once| times(&halted, once));
    assert_eq!((told, model.asked()), ([1, 1], 2), "{halted}");
    room.picture("broken-off");

    // It goes on: the model is asked again, and its words stand alone.
    press(&app, "Resume work");
    until("the model is asked again", || model.asked() == 3);
    until("nothing is broken off any more", || !app.has("//*[@aria-label='Broken off']"));
    let after = story_with(&app, "Then anew");
    assert_eq!((times(&after, "First I look at the notes."), times(&after, "Once upon")), (1, 0), "{after}");
    again(&app, &after);
    model.goes_on(2, format!("{}{}", said("and so on."), done("That is all.")));
    ended(&app, "Done", "That is all.");
    let shown = room.hermit(&["task", "show", &task]);
    let acts = shown["actions"].as_array().expect("actions").iter();
    assert_eq!(acts.filter(|act| act["summary"] == "read notes.md").count(), 1, "{shown}");
}

/// `hermit serve` on the desktop's store; killed when the story is over.
struct Serving {
    _child: Killed,
    pid: String,
}

impl Serving {
    fn begin(room: &Room) -> Self {
        let mut command = room.command(crate::journeys::hermit());
        let mut child = command.args(["--json", "serve"]).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut lines = Lines::of(child.stdout.take().expect("a pipe"));
        let mut serving = Self { _child: Killed(child), pid: String::new() };
        let mut text = String::new();
        let told: Value = loop {
            let line = lines.next().unwrap_or_else(|| panic!("it ended: {text}"));
            text.push_str(&line);
            if let Ok(told) = serde_json::from_str(&text) {
                break told;
            }
        };
        serving.pid = told["pid"].as_u64().expect("a process").to_string();
        serving
    }

    fn dies(&self) {
        let killed = Command::new("kill").args(["-9", &self.pid]).status().expect("kill");
        assert!(killed.success(), "it was there");
    }
}

#[conforms(part = "RA-3-1", part = "RA-3-3", part = "RA-S-2")]
#[test]
fn a_window_whose_host_dies_drops_the_half_sentence_and_tells_the_next_answer_alone() {
    let Some(mut room) = room("a window whose host dies") else { return };
    std::fs::write(room.work().join("notes.md"), "buy milk\n").expect("a file");
    let app = room.app();
    make_keys(&room, &app);
    kill(&room, app);
    let host = Serving::begin(&room);
    let app = room.app();
    // The second answer says nothing until it is told to: what the window shows until then is of the host, not of new words.
    let model = Halting::sending(vec![said("Once there "), String::new(), said("And then ")]);
    let task = begun(&room, &app, "A tale of two hosts", &model.address());
    open(&app, &page(&task));
    // It is kept, and a window that is opened in the middle of it tells it.
    again(&app, &story_with(&app, "Once there"));
    host.dies();
    until("the app takes the store over, and asks again", || model.asked() == 2);
    until("the half sentence is gone before any new word", || !story(&app).contains("Once there"));
    until("the window hears its host", || !app.words().contains("Not connected to Hermit"));
    model.goes_on(1, format!("{}{}", said("Again."), called("read", &json!({ "path": "notes.md" }))));
    story_with(&app, "Again.");
    let told = story_with(&app, "And then");
    assert_eq!((times(&told, "Again."), times(&told, "Once there")), (1, 0), "{told}");
    again(&app, &told);
}

/// A conversation of this title in the folder that is worked in, opened in the window.
fn talk(room: &Room, app: &Driver, title: &str, model: &str) -> String {
    until("the main window is there", || app.turn_to(MAIN));
    app.invoke("models_standard", &json!({ "params": { "address": model } })).expect("the model is chosen");
    let opened = json!({ "params": { "title": title, "folder": room.work() } });
    let opened = app.invoke("conversations_open", &opened).expect("it is opened");
    let page = format!("/conversations?at={}", opened["conversation_id"].as_str().expect("a name"));
    open(app, &page);
    until("it is empty", || story(app).contains("Your first words begin a task in this folder"));
    page
}

/// A file is let fall onto the window, and comes with the next words.
fn enclose(room: &Room, app: &Driver, path: &std::path::Path) {
    room.forward("^Hermit$");
    let target = room.window("^Hermit$").expect("a window").parse().expect("its number");
    let place = room.place("^Hermit$");
    let at = (place.0 + 400, place.1 + 300);
    let hand = Hand::holding(&room.display(), &[path]);
    assert!(hand.enters(target, at), "the window takes files");
    until("it says so", || {
        hand.stays(target, at);
        app.words().contains("Drop to add 1 thing")
    });
    assert!(hand.drops(target), "it was taken");
    press(app, "Attach to your message");
    until("it comes with the words", || {
        app.has("//ul[@aria-label='Comes with your message']/li[not(@aria-busy)]")
    });
}

#[conforms("RA-3-10", "RA-3-11")]
#[test]
fn a_run_has_the_folder_and_the_files_of_its_conversation_and_the_next_the_model_that_was_chosen_since() {
    let Some(mut room) = room("folder, files and two models in one conversation") else { return };
    std::fs::write(room.work().join("notes.md"), "buy milk\n").expect("a file");
    let list = room.at("list.csv");
    std::fs::write(&list, "name,blurred\nIMG_1,yes\n").expect("a file");
    let app = room.app();
    make_keys(&room, &app);
    let read = json!({ "tool": "read", "arguments": { "path": "notes.md" } });
    let says = |words: &str| json!({ "tool": "done", "arguments": { "summary": words } });
    let first = Chat::saying(Large::STRONG, vec![read, says("The first model has read them.")]);
    let second = Chat::saying(Large::STRONG, vec![says("The second model has it now.")]);
    let at = talk(&room, &app, "Two models", &first.address());
    enclose(&room, &app, &list);
    say(&app, "Read the notes");
    story_with(&app, "The first model has read them.");
    let heard = first.requests();
    assert!(heard[0].to_string().contains("IMG_1,yes"), "the file came along");
    assert!(heard[1].to_string().contains("buy milk"), "it reads in the folder of the conversation");

    let standard = json!({ "params": { "address": second.address() } });
    app.invoke("models_standard", &standard).expect("another model is chosen");
    app.click("//option[normalize-space()='A new task']").expect("it is chosen");
    say(&app, "And now the other");
    let told = story_with(&app, "The second model has it now.");
    assert_eq!((first.requests().len(), second.requests().len()), (2, 1), "each is asked for its own");
    for once in ["The first model has read them.", "The second model has it now."] {
        assert_eq!(times(&told, once), 1, "{once}: {told}");
    }
    assert!(told.contains("list.csv"), "{told}");
    again(&app, &told);

    // The next app tells the same of the conversation, and of each run its own model and folder.
    let app = killed(&mut room, app);
    open(&app, &at);
    until("the next app tells the same", || story(&app) == told);
    let rows = room.hermit(&["task", "list"])["rows"].as_array().cloned().expect("tasks");
    assert_eq!(rows.len(), 2, "{rows:?}");
    for (row, model) in rows.iter().zip([&second, &first]) {
        let task = row["task_id"].as_str().expect("a name");
        open(&app, &page(task));
        let address = model.address();
        let server = address.trim_start_matches("openai:").split('#').next().expect("a server").to_owned();
        let named = format!("//section[@aria-label='Conversation']//*[contains(@title, '{server}')]");
        until("its model is named", || app.has(&named));
        let folder = room.work().display().to_string();
        until("its folder is named", || app.has(&format!("//main//*[@title='{folder}']")));
    }
}

/// What the run API answers whoever has the token of the app.
fn run_api(room: &Room, method: &str, path: &str, body: &Value) -> Value {
    let address = room.hermit(&["serve"])["address"].as_str().expect("an address").to_owned();
    let port = address.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    let token = std::fs::read_to_string(room.at("store").join("gateway.token")).expect("a token");
    let lines = format!("Authorization: Bearer {}\r\n", token.trim());
    exchange(port, &lines, (method, path), body).unwrap_or_else(|why| panic!("{method} {path}: {why}"))
}

#[conforms("RA-3-14")]
#[test]
fn the_goal_of_a_run_is_one_for_the_window_and_for_the_run_api_also_under_the_next_app() {
    let Some(mut room) = room("the goal of a run, in the window") else { return };
    let app = room.app();
    make_keys(&room, &app);
    let model = Halting::begin(&["I sort. ", "I go on. ", "I go on. ", "I go on. "]);
    let task = begun(&room, &app, "Sorting", &model.address());
    open(&app, &page(&task));
    story_with(&app, "I sort.");
    model.goes_on(0, called("ask", &json!({ "question": "By what?" })));
    until("it asks", || tells(&app, "Asks you"));
    let session = run_api(&room, "GET", &format!("/v1/runs/{task}"), &Value::Null);
    let path = format!("/v1/sessions/{}/goal", session["session_id"].as_str().expect("a name"));
    let goal = |room: &Room, action: &str| {
        let told = run_api(room, "POST", &path, &json!({ "action": action }));
        told["message"].as_str().unwrap_or_else(|| panic!("{action}: {told}")).to_owned()
    };
    press(&app, "Edit the goal");
    until("it is edited", || {
        // A story that grows meanwhile may take the press: it is pressed again.
        app.write("//form//textarea", ", by year").is_ok() || {
            let _ = app.click("//button[normalize-space()='Edit the goal' and not(@aria-disabled)]");
            false
        }
    });
    press(&app, "Save the goal");
    story_with(&app, "The goal as it is now");
    assert!(goal(&room, "status").contains("the goal of Sorting, by year"));
    goal(&room, "pause");
    until("the window tells of it", || tells(&app, "Paused"));
    let before = story_with(&app, "The goal as it is now");
    again(&app, &before);

    let app = killed(&mut room, app);
    open(&app, &page(&task));
    until("the next app tells the same", || story(&app) == before && tells(&app, "Paused"));
    let status = goal(&room, "status");
    assert!(status.contains("paused") && status.contains("the goal of Sorting, by year"), "{status}");
    press(&app, "Resume");
    until("it goes on", || !goal(&room, "status").contains("paused"));
    goal(&room, "clear");
    let told = ended(&app, "Cancelled", "The goal as it is now");
    assert!(told.contains("the goal of Sorting, by year"), "{told}");
    assert_eq!(room.hermit(&["task", "show", &task])["goal"], "the goal of Sorting, by year");
}

#[conforms(part = "RA-3-9")]
#[test]
fn each_command_behind_a_slash_is_typed_in_the_window_and_does_at_its_host_what_it_stands_for() {
    let Some(mut room) = room("commands behind a slash, in the window") else { return };
    let app = room.app();
    make_keys(&room, &app);
    let ask = json!({ "tool": "ask", "arguments": { "question": "By what?" } });
    let chat = Chat::saying(Large::STRONG, vec![ask]);
    talk(&room, &app, "Photos of June", &chat.address());
    say(&app, "Sort the photos");
    story_with(&app, "By what?");
    let tasks = || room.hermit(&["task", "list"])["rows"].as_array().cloned().expect("tasks");
    let newest = || tasks()[0]["task_id"].as_str().expect("a name").to_owned();
    let shown = |task: &str| room.hermit(&["task", "show", task]);
    let comes_to = |task: &str, status: &str| shown(task)["row"]["status"] == status;
    let sort = newest();

    say(&app, "/compress");
    until("there is nothing to sum up", || app.words().contains("There is nothing to sum up yet."));
    say(&app, "/goal Sort the photos by year");
    until("the goal is edited", || shown(&sort)["goal"] == "Sort the photos by year");
    say(&app, "/pause");
    until("it pauses", || comes_to(&sort, "paused"));
    say(&app, "/resume");
    until("it goes on", || !comes_to(&sort, "paused"));
    say(&app, "/stop");
    until("it ends", || comes_to(&sort, "cancelled"));
    say(&app, "/retry");
    until("it is tried again", || tasks().len() == 2);
    let retried = newest();
    assert_eq!(
        (&shown(&retried)["goal"], &shown(&retried)["follows"]),
        (&json!("Sort the photos by year"), &json!(sort))
    );
    say(&app, "/branch Sort them by month");
    until("there is one beside it", || tasks().len() == 3);
    let beside = shown(&newest());
    assert_eq!(beside["goal"], "Sort them by month");
    assert_ne!(beside["conversation_id"], shown(&retried)["conversation_id"]);
    story_with(&app, "Sort them by month");
    again(&app, &story_with(&app, "By what?"));
}
