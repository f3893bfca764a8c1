//! What ended, what broke off, what was said in a conversation and which goal is in force, in the real window: told again by a
//! window that is read anew and by the next app after the first was killed; each thing once (the acceptance catalogue of the
//! run adapter contract, Artifact 3). What goes on under a window, and a question, are in `story`.

use super::drag::Hand;
use super::driver::{Driver, exchange};
use super::first::{make_keys, standing, waiting};
use super::room::{MAIN, Room, room, until};
use super::story::{Halting, again, called, kill, open, press, read_anew, say, story, story_with, times};
use conforms::conforms;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use testkit::{Chat, Large};

/// Longer than what comes together takes to be drawn.
const A_WHILE: Duration = Duration::from_millis(300);

fn done(summary: &str) -> Value {
    json!({ "tool": "done", "arguments": { "summary": summary } })
}

/// Begins a task in the folder; its name.
fn begin(app: &Driver, room: &Room, (title, goal): (&str, &str), model: &str) -> String {
    let asked = json!({
        "goal": goal, "workspace": room.work(), "title": title,
        "reasoner": { "kind": "address", "address": model },
    });
    let task = app.invoke("task_submit", &json!({ "params": asked })).expect("it is taken in");
    task["task_id"].as_str().expect("a name").to_owned()
}

/// Goes to the page of a run, once that is there.
fn open_run(app: &Driver, run: &str, title: &str) {
    open(app, &format!("/task/{run}"));
    until(&format!("the page of `{title}` is there"), || app.has(&format!("//h1[contains(., '{title}')]")));
}

/// The story as soon as it holds this, and nothing more came to it for a while.
fn settled(app: &Driver, part: &str) -> String {
    let mut last = story_with(app, part);
    until("nothing more is told", || {
        std::thread::sleep(A_WHILE);
        let now = story_with(app, part);
        let is_same = now == last;
        last = now;
        is_same
    });
    last
}

/// A request of a program that has the token of the app that holds the store.
fn api(room: &Room, of: (&str, &str), body: &Value) -> Value {
    let serving = room.hermit(&["serve"]);
    let address = serving["address"].as_str().expect("an address");
    let port = address.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).expect("a port");
    let token = std::fs::read_to_string(room.at("store").join("gateway.token")).expect("a token");
    let line = format!("Authorization: Bearer {}\r\n", token.trim());
    exchange(port, &line, of, body).unwrap_or_else(|why| panic!("{of:?}: {why}"))
}

/// What the run API tells of a run.
fn journal(room: &Room, run: &str) -> Vec<Value> {
    let page = api(room, ("GET", &format!("/v1/runs/{run}/events?limit=500")), &Value::Null);
    page["events"].as_array().cloned().unwrap_or_else(|| panic!("no events of {run}: {page}"))
}

/// Each event of a run is there once, and one is its end, which is the last.
fn ends_once(room: &Room, run: &str) {
    let events = journal(room, run);
    let places: BTreeSet<u64> = events.iter().filter_map(|event| event["seq"].as_u64()).collect();
    assert_eq!(places.len(), events.len(), "{events:?}");
    let ends: Vec<&Value> =
        events.iter().filter(|event| event["terminal"] == true).map(|event| &event["seq"]).collect();
    assert_eq!(ends, [&events.last().expect("an event")["seq"]], "{events:?}");
}

fn is_busy(app: &Driver) -> bool {
    app.has("//*[@role='log']//*[@aria-busy='true']")
}

/// The page of a run says how it ended, and nothing seems to be under way.
fn is_over(app: &Driver, word: &str) {
    let named = |words: &str| app.has(&format!("//button[normalize-space()='{words}']"));
    until(&format!("it is over: {word}"), || {
        let is_told = app.has(&format!("//*[normalize-space()='{word}']"));
        is_told && !is_busy(app) && !named("Pause") && !named("Cancel")
    });
}

/// A run that has ended, as it was told then.
struct Ended {
    run: String,
    title: &'static str,
    /// How it ended, as its page says it.
    word: &'static str,
    told: String,
}

impl Ended {
    /// Told so by this window, and the same when that is read anew.
    fn of(app: &Driver, run: String, (title, word): (&'static str, &'static str), part: &str) -> Self {
        open_run(app, &run, title);
        is_over(app, word);
        let told = settled(app, part);
        again(app, &told);
        is_over(app, word);
        Self { run, title, word, told }
    }

    /// Told the same by another app.
    fn is_told_again(&self, app: &Driver, room: &Room) {
        open_run(app, &self.run, self.title);
        is_over(app, self.word);
        until(&format!("`{}` is told as it ended", self.title), || story(app) == self.told);
        ends_once(room, &self.run);
    }
}

fn completed(app: &Driver, room: &Room) -> Ended {
    let model = Chat::saying(Large::STRONG, vec![done("It is well.")]);
    let run = begin(app, room, ("All well", "look whether all is well"), &model.address());
    let ended = Ended::of(app, run, ("All well", "Done"), "It is well.");
    assert_eq!(times(&ended.told, "It is well."), 1, "{}", ended.told);
    ended
}

/// A run that fails for a no, which is given on the card in the app's own window after that was read anew.
fn denied(app: &Driver, room: &Room) -> Ended {
    let wish = json!({ "tool": "write", "arguments": { "path": "wish.md", "content": "a wish\n" } });
    let model = Chat::saying(Large::STRONG, vec![wish, done("It was not to be.")]);
    let run = begin(app, room, ("A wish", "write my wish down"), &model.address());
    until("it asks", || waiting(room).is_some());
    let approval = waiting(room).expect("it waits");
    open(app, &format!("/?at={approval}"));
    let is_shown = || app.has("//article[@aria-label='Approval'][contains(., 'wish.md')]");
    until("its card is there", is_shown);
    read_anew(app);
    until("its card is there again", is_shown);
    press(app, "Deny");
    until("the no is taken", || standing(room, &approval)["status"] == "denied");
    assert_eq!(standing(room, &approval)["surface"], "main_window");
    let ended = Ended::of(app, run, ("A wish", "Denied by you"), "You denied it");
    assert_eq!(times(&ended.told, "You denied it"), 1, "{}", ended.told);
    assert!(!room.work().join("wish.md").exists());
    ended
}

fn cancelled(app: &Driver, room: &Room) -> Ended {
    let model = Halting::begin(&["Once upon "]);
    let run = begin(app, room, ("A tale", "tell me a tale"), &model.address());
    open_run(app, &run, "A tale");
    story_with(app, "Once upon");
    press(app, "Cancel");
    press(app, "Cancel the task");
    let ended = Ended::of(app, run, ("A tale", "Cancelled"), "Once upon");
    model.goes_on(0, called("write", &json!({ "path": "late.md", "content": "late" })));
    assert_eq!(times(&ended.told, "Once upon"), 1, "{}", ended.told);
    ended
}

/// A run whose app is killed in the middle of a sentence.
struct Broken {
    run: String,
    model: Halting,
    /// What had happened by then.
    happened: String,
}

impl Broken {
    const TITLE: &'static str = "A story cut short";

    fn begin(app: &Driver, room: &Room) -> Self {
        let model = Halting::begin(&["Once there ", "Again: "]);
        let run = begin(app, room, (Self::TITLE, "tell me a story"), &model.address());
        open_run(app, &run, Self::TITLE);
        again(app, &settled(app, "Once there"));
        Self { run, model, happened: happened(app) }
    }

    /// Whoever reads the store while nobody holds it is told that nobody works on it.
    fn is_known_in_the_terminal(&self, room: &Room) {
        let shown = || room.hermit(&["task", "show", &self.run]);
        until("nobody works on it", || shown()["interrupted"] == true);
        assert_eq!(shown()["row"]["status"], "running");
    }

    /// A window tells the last that is known, says that it is no more than that, and seems to be at nothing.
    fn is_told_as_broken_off(&self, app: &Driver, room: &Room) {
        let says_so = || app.words().contains("Interrupted. It should be at work and nobody works on it");
        open_run(app, &self.run, Self::TITLE);
        until("it is said that nobody works on it", says_so);
        let told = settled(app, "Once there");
        assert_eq!(times(&told, "Once there"), 1, "{told}");
        assert!(told.contains("stopped in the middle of this answer") && !is_busy(app), "{told}");
        assert_eq!(happened(app), self.happened);
        again(app, &told);
        until("it is still said that nobody works on it", says_so);
        room.picture("interrupted");
        assert_eq!(self.model.asked(), 1, "nobody has gone on with it");
    }

    /// Once work is resumed, it is asked anew, and ends as any other.
    fn goes_on(&self, app: &Driver, room: &Room) {
        open_run(app, &self.run, Self::TITLE);
        until("the tray says that it is halted", || room.panel.title() == "Hermit, halted");
        room.panel.press("work again");
        story_with(app, "Again:");
        assert!(!app.words().contains("Interrupted."));
        self.model.goes_on(1, called("done", &json!({ "summary": "It is told." })));
        let ended = Ended::of(app, self.run.clone(), (Self::TITLE, "Done"), "It is told.");
        let counts = ["It is told.", "Once there"].map(|part| times(&ended.told, part));
        assert_eq!((counts, self.model.asked()), ([1, 0], 2), "{}", ended.told);
        ends_once(room, &self.run);
    }
}

/// What a person reads of what happened in the run that is open.
fn happened(app: &Driver) -> String {
    let script = "const of = document.querySelector('[aria-label=\"What happened\"]');\
        return (of?.innerText ?? '').replace(/\\s+/g, ' ').trim();";
    app.run(script).expect("it is read").as_str().expect("a text").to_owned()
}

/// A conversation of two runs, each of its own model.
struct Talk {
    page: String,
    told: String,
    /// Each run, and the port of its model.
    runs: [(String, String); 2],
}

impl Talk {
    fn hold(app: &Driver, room: &Room) -> Self {
        let read = json!({ "tool": "read", "arguments": { "path": "notes.md" } });
        let first = Chat::saying(Large::STRONG, vec![read, done("The first model has read them.")]);
        let second = Chat::saying(Large::STRONG, vec![done("The second model has it now.")]);
        let standard = json!({ "params": { "address": first.address() } });
        app.invoke("models_standard", &standard).expect("the model is chosen");
        let opened = json!({ "params": { "title": "Two models", "folder": room.work() } });
        let opened = app.invoke("conversations_open", &opened).expect("it is opened");
        let page = format!("/conversations?at={}", opened["conversation_id"].as_str().expect("a name"));
        open(app, &page);
        until("it is empty", || story(app).contains("Your first words begin a task in this folder"));
        attach(app, room);
        say(app, "Read the notes");
        settled(app, "The first model has read them.");
        let heard: Vec<String> = first.requests().iter().map(Value::to_string).collect();
        assert!(heard[0].contains("IMG_1,yes"), "what came with the words: {}", heard[0]);
        assert!(heard[1].contains("buy milk"), "what lies in the folder: {}", heard[1]);

        use_by_default(app, &port_of(&second));
        app.run(RECOGNISER).expect("it is there");
        open(app, &page);
        choose(app, "A new task");
        dictate(app, "And now the other");
        let told = settled(app, "The second model has it now.");
        assert_eq!((first.requests().len(), second.requests().len()), (2, 1), "each is asked for its own");
        assert!(second.requests()[0].to_string().contains("And now the other"));
        for once in ["list.csv", "spoken", "The first model has read them.", "The second model has it now."] {
            assert_eq!(times(&told, once), 1, "{once}: {told}");
        }
        again(app, &told);
        let rows = room.hermit(&["task", "list"]);
        let run = |nth: usize| rows["rows"][nth]["task_id"].as_str().expect("a run").to_owned();
        Self { page, told, runs: [(run(0), port_of(&second)), (run(1), port_of(&first))] }
    }

    /// Told the same by another app, and each run with its own model and folder.
    fn is_told_again(&self, app: &Driver, room: &Room) {
        open(app, &self.page);
        until("the conversation is told as it was", || story(app) == self.told);
        let (work, folder) = (room.work(), format!("//*[@title='{}']", room.work().display()));
        for (run, port) in &self.runs {
            open(app, &format!("/task/{run}"));
            let model = format!("//section[@aria-label='Conversation']//*[contains(@title, ':{port}/v1')]");
            until(&format!("{run} is told with its model and its folder"), || {
                app.has(&model) && app.has(&folder)
            });
            ends_once(room, run);
            let started = journal(room, run).into_iter().find(|event| event["type"] == "run.started");
            assert_eq!(started.expect("it began")["payload"]["workspace"], json!(work));
        }
    }
}

fn port_of(model: &Chat) -> String {
    let address = model.address();
    let before = address.split_once("/v1").and_then(|(before, _)| before.rsplit_once(':'));
    before.map(|(_, port)| port.to_owned()).expect("a port")
}

/// Lets a file fall onto the window, and has it come with the next words.
fn attach(app: &Driver, room: &Room) {
    let file = room.at("list.csv");
    std::fs::write(&file, "name,blurred\nIMG_1,yes\n").expect("a file");
    room.forward("^Hermit$");
    let target = room.window("^Hermit$").expect("a window").parse().expect("its number");
    let place = room.place("^Hermit$");
    let at = (place.0 + 400, place.1 + 300);
    let hand = Hand::holding(&room.display(), &[&file]);
    assert!(hand.enters(target, at), "the window takes files");
    until("it says so", || {
        hand.stays(target, at);
        app.words().contains("Drop to add 1 thing")
    });
    assert!(hand.drops(target), "it was taken");
    press(app, "Attach to your message");
    let with = "//ul[@aria-label='Comes with your message']/li[contains(., 'list.csv')]";
    until("it comes with the message", || app.has(with));
}

/// Has the settings look for the model at this port, and makes it the default.
fn use_by_default(app: &Driver, port: &str) {
    open(app, "/settings");
    let field = "//label[.='Also at these ports of this machine']/following-sibling::input";
    until("the port is written", || app.write(field, port).is_ok());
    press(app, "Look for models");
    let button = "//button[@aria-label='Use words by default']";
    until("it is found and chosen", || app.click(button).is_ok());
    let standard = format!("//p[contains(., 'The default model is')][contains(., '{port}')]");
    until("it is the default", || app.has(&standard));
}

/// Chooses a line of a list, as soon as it is there.
fn choose(app: &Driver, line: &str) {
    let is_chosen = format!(
        "return [...document.querySelectorAll('select')].some((one) => one.selectedOptions[0]?.label === {})",
        json!(line)
    );
    let option = format!("//option[.='{line}']");
    until(&format!("`{line}` is chosen"), || {
        app.run(&is_chosen).is_ok_and(|is| is == true) || {
            let _ = app.click(&option);
            false
        }
    });
}

/// A double of the platform's recogniser (Web Speech API), which needs a microphone: what the test says is heard by it.
const RECOGNISER: &str = "window.SpeechRecognition = class {\
    start() { window.recogniser = this; } stop() { this.onend?.(); } abort() { this.stop(); } };\
    window.speaks = (transcript) => window.recogniser.onresult({ resultIndex: 0,\
    results: [Object.assign([{ transcript }], { isFinal: true })] });";

/// Speaks words into the field where they are written, and sends them.
fn dictate(app: &Driver, words: &str) {
    let holds = |words: &str| {
        app.run("return document.querySelector('textarea').value").is_ok_and(|now| now == words)
    };
    press(app, "Dictate");
    let agree = "//*[@aria-label='Before you dictate']//button[normalize-space()='Dictate']";
    until("it is asked whether the sound may leave", || app.click(agree).is_ok());
    until("it listens", || app.has("//button[normalize-space()='Stop dictating']"));
    app.run(&format!("window.speaks({})", json!(words))).expect("it is heard");
    until("the words are written", || holds(words));
    press(app, "Stop dictating");
    press(app, "Send");
    until("they are sent", || holds(""));
}

/// A goal that was edited in the window and paused over the run API.
struct Goal {
    run: String,
    session: String,
    told: String,
}

impl Goal {
    const TITLE: &'static str = "Sorting";
    const EDITED: &'static str = "sort them by year";
    const TEXT: &'static str = "//form[.//button[normalize-space()='Save the goal']]//textarea";
    const RESUME: &'static str = "//button[normalize-space()='Resume']";

    fn edit(app: &Driver, room: &Room) -> Self {
        let ask = json!({ "tool": "ask", "arguments": { "question": "By what?", "choices": [] } });
        let model = Chat::saying(Large::STRONG, vec![ask]);
        let run = begin(app, room, (Self::TITLE, "sort them"), &model.address());
        until("it asks", || room.hermit(&["task", "show", &run])["row"]["run_status"] == "awaiting_clarify");
        open_run(app, &run, Self::TITLE);
        // The page may move under the pointer while its story grows.
        until("the goal can be written on", || {
            if !app.has(Self::TEXT) {
                drop(app.click("//button[normalize-space()='Edit the goal']"));
            }
            app.has(Self::TEXT)
        });
        until("the goal is written on", || app.write(Self::TEXT, " by year").is_ok());
        until("it stands there", || {
            let at = json!(Self::TEXT);
            let value =
                format!("return document.evaluate({at}, document, null, 9, null).singleNodeValue.value");
            app.run(&value).is_ok_and(|now| now == Self::EDITED)
        });
        press(app, "Save the goal");
        story_with(app, "The goal as it is now");
        let session = api(room, ("GET", &format!("/v1/runs/{run}")), &Value::Null);
        let session = session["session_id"].as_str().expect("a session").to_owned();
        let goal = Self { run, session, told: String::new() };
        assert!(goal.asked(room, "status").contains(Self::EDITED), "{}", goal.asked(room, "status"));
        goal.asked(room, "pause");
        until("the window says that it is paused", || app.has(Self::RESUME));
        let told = settled(app, "The goal as it is now");
        for once in ["The goal as it is now", "The goal until it was edited"] {
            assert_eq!(times(&told, once), 1, "{once}: {told}");
        }
        again(app, &told);
        Self { told, ..goal }
    }

    /// What the run API says to this.
    fn asked(&self, room: &Room, action: &str) -> String {
        let path = format!("/v1/sessions/{}/goal", self.session);
        let came = api(room, ("POST", &path), &json!({ "action": action }));
        came["message"].as_str().unwrap_or_else(|| panic!("{action}: {came}")).to_owned()
    }

    /// Under another app it is still paused and still that goal, goes on from the window, and is cleared over the run API.
    fn goes_on(&self, app: &Driver, room: &Room) {
        open_run(app, &self.run, Self::TITLE);
        until("the window says that it is paused", || app.has(Self::RESUME));
        until("the goals are told as they were", || story(app) == self.told);
        let status = self.asked(room, "status");
        assert!(status.contains("paused") && status.contains(Self::EDITED), "{status}");
        press(app, "Resume");
        until("the run API says that it goes on", || !self.asked(room, "status").contains("paused"));
        until("the window says so", || !app.has(Self::RESUME));
        self.asked(room, "clear");
        let ended = Ended::of(app, self.run.clone(), (Self::TITLE, "Cancelled"), "The goal as it is now");
        assert_eq!(times(&ended.told, "The goal as it is now"), 1, "{}", ended.told);
        ends_once(room, &self.run);
        assert_eq!(room.hermit(&["task", "show", &self.run])["goal"], Self::EDITED);
    }
}

#[conforms("RA-3-2", "RA-3-3", "RA-3-10", "RA-3-11", "RA-3-14", part = "RA-3-7", part = "RA-3-15")]
#[test]
fn runs_a_conversation_and_a_goal_are_told_by_the_next_app_as_they_were_each_thing_once() {
    let Some(mut room) = room("runs told again in the real window") else { return };
    std::fs::write(room.work().join("notes.md"), "buy milk\n").expect("a file");
    let app = room.app();
    make_keys(&room, &app);
    until("the main window is there", || app.turn_to(MAIN));
    let ended = [completed(&app, &room), denied(&app, &room), cancelled(&app, &room)];
    let talk = Talk::hold(&app, &room);
    let goal = Goal::edit(&app, &room);
    let broken = Broken::begin(&app, &room);

    // The app is killed in the middle of a sentence. A person wants to look first, and has nothing go on by itself.
    kill(&room, app);
    broken.is_known_in_the_terminal(&room);
    assert_eq!(room.hermit(&["halt", "--reason", "to look first"])["halted"], true);

    let app = room.app();
    broken.is_told_as_broken_off(&app, &room);
    ended.iter().for_each(|one| one.is_told_again(&app, &room));
    talk.is_told_again(&app, &room);
    broken.goes_on(&app, &room);
    goal.goes_on(&app, &room);
    assert!(!room.work().join("late.md").exists());
}
