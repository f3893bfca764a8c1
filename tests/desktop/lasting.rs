//! What a person allows from now on, and what they override, in the window that alone may take it.

use super::driver::Driver;
use super::first::{hold_until, make_keys, standing, type_passphrase, waiting};
use super::room::{DESK, MAIN, Room, room, until};
use super::waiting::run_attached;
use serde_json::{Value, json};
use std::process::Stdio;

/// The sentence of the narrowest that is offered.
const FIRST: &str =
    "return document.querySelector(`section[aria-label='From now on'] button[role=radio]`)?.innerText ?? ''";

/// Also similar actions, from now on: the narrowest, in this project, three times.
fn choose(room: &Room, app: &Driver) -> String {
    until("the card is whole", || app.turn_to(DESK) && app.words().contains("Exactly what would change"));
    app.click("//button[contains(., 'Also similar actions, from now on')]").expect("it is chosen");
    until("something is offered", || app.has("//section[@aria-label='From now on']//button[@role='radio']"));
    let uses = "//label[.='Uses']/following-sibling::input";
    room.forward("Hermit waits for your answer");
    app.click(uses).expect("the field has the focus");
    until("the number is typed", || {
        room.xdo(&["key", "ctrl+a"]);
        room.xdo(&["type", "3"]);
        app.run("return document.activeElement.value").is_ok_and(|value| value == "3")
            || app.click(uses).is_err()
    });
    let narrowest = "(//section[@aria-label='From now on']//button[@role='radio'])[1]";
    until("the sentence has the uses in it", || {
        app.run(FIRST).is_ok_and(|text| text.as_str().unwrap_or_default().contains("3 times"))
    });
    app.click(narrowest).expect("it is chosen");
    until("what the past would have been is told", || app.words().contains("It would have answered"));
    until("the sentence stands before the hand", || {
        app.words().contains("You approve this, and from now on:")
    });
    app.run(FIRST).expect("its words").as_str().expect("a text").to_owned()
}

/// Types the passphrase and holds the button with these words until this is so.
fn hold(room: &Room, app: &Driver, (title, words): (&str, &str), what: &str, over: impl Fn() -> bool) {
    let window = room.forward(title);
    type_passphrase(room, app, &window);
    hold_until(room, app, (&window, &format!("//button[contains(., '{words}')]")), what, over);
}

fn standing_grants(room: &Room) -> Vec<Value> {
    room.hermit(&["grants", "list"])["standing"].as_array().cloned().unwrap_or_default()
}

#[test]
fn what_lasts_is_chosen_read_and_held_in_the_approval_window_and_answers_the_next_time() {
    let Some(mut room) = room("a yes that lasts") else { return };
    std::fs::write(room.work().join("letter.txt"), "dear you\n").expect("a file");
    let app = room.app();
    make_keys(&room, &app);
    let (work, table) = (room.work(), room.work().join("INVENTORY.csv"));
    let inventory = ["run", "--playbook", "inventory", "--workspace", work.to_str().expect("UTF-8")];
    assert_eq!(run_attached(&room, &inventory), Some(4), "a person is waited for");
    let first = waiting(&room).expect("it waits");
    until("the main window is there", || app.turn_to(MAIN));
    app.invoke("open_card", &json!({ "approval": first })).expect("its card opens");
    let read = choose(&room, &app);
    room.picture("lasting");
    assert!(standing_grants(&room).is_empty(), "choosing decides nothing");
    let button = ("Hermit waits for your answer", "Hold to approve from now on");
    hold(&room, &app, button, "it is allowed", || standing(&room, &first)["status"] == "granted");
    until("it is done", || table.is_file());
    let grants = standing_grants(&room);
    assert_eq!(grants.len(), 1, "{grants:?}");
    let words = grants[0]["words"].as_str().expect("its sentence").to_owned();
    assert_eq!(words.to_lowercase(), read.to_lowercase(), "what was signed is what was read");
    assert_eq!((&grants[0]["max_uses"], &grants[0]["scope"]), (&json!(3), &json!("project")));

    // Its notification went with the answer, and none came that says it was answered elsewhere.
    let shown = || {
        let mut count = room.command("dunstctl");
        let said = count.args(["count", "displayed"]).stdout(Stdio::piped()).output().expect("dunstctl");
        String::from_utf8_lossy(&said.stdout).trim().to_owned()
    };
    until("its notification is gone", || shown() == "0");
    let mut history = room.command("dunstctl");
    let history = history.arg("history").stdout(Stdio::piped()).output().expect("dunstctl");
    let history = String::from_utf8_lossy(&history.stdout).into_owned();
    assert!(history.contains("Hermit waits for you"), "{history}");
    assert!(!history.contains("elsewhere") && !history.contains("Answered"), "{history}");

    // Also similar is done without a question, and counted.
    std::fs::remove_file(&table).expect("it was there");
    assert_eq!(run_attached(&room, &inventory), Some(0), "nobody is asked");
    assert!(table.is_file() && waiting(&room).is_none());
    assert_eq!(standing_grants(&room)[0]["uses"], 1);
}

#[test]
fn a_denial_is_overridden_in_the_approval_window_with_a_reason_and_then_asked_about() {
    let Some(mut room) = room("an override") else { return };
    std::fs::write(room.work().join("letter.txt"), "dear you\n").expect("a file");
    let app = room.app();
    make_keys(&room, &app);
    let work = room.work();
    let words = ["run", "--playbook", "tidy", "--profile", "destructive_denied", "--workspace"];
    run_attached(&room, &[&words[..], &[work.to_str().expect("UTF-8")]].concat());
    let task = room.hermit(&["task", "list"])["rows"][0]["task_id"].as_str().expect("a task").to_owned();
    let shown = room.hermit(&["task", "show", &task]);
    let actions = shown["actions"].as_array().expect("actions");
    let denied = actions.iter().find(|one| one["verdict"] == "deny").expect("policy refuses");
    let act = denied["action_request_id"].as_str().expect("an act").to_owned();

    until("the main window is there", || app.turn_to(MAIN));
    app.invoke("open_override", &json!({ "act": act })).expect("it opens");
    until("the denial is shown", || app.turn_to(DESK) && app.words().contains("Why policy denied it"));
    app.write("//textarea", "the folder is mine").expect("it is typed");
    app.click("//button[contains(., 'Show what I would sign')]").expect("it is pressed");
    until("the sentence is there", || app.words().contains("OVERRIDE policy"));
    room.picture("override");
    assert!(standing_grants(&room).is_empty(), "reading decides nothing");
    // The window closes by itself once it is signed: the log says so, also when nobody looked at the page meanwhile.
    let button = ("Hermit: override a denial", "Hold to override");
    hold(&room, &app, button, "it is signed", || !standing_grants(&room).is_empty());
    assert_eq!(standing_grants(&room).len(), 1);
    until("the window closes by itself", || room.window("Hermit: override a denial").is_none());
    let grant = &standing_grants(&room)[0];
    assert!(grant["words"].as_str().is_some_and(|words| words.contains("the folder is mine")), "{grant}");

    // It allowed nothing: when the act is proposed again a person is asked, at critical risk.
    assert!(work.join("letter.txt").is_file() && waiting(&room).is_none());
    let retry = room.command(crate::journeys::hermit()).args(["--json", "task", "retry", &task]).status();
    assert!(retry.is_ok(), "it is tried again");
    until("it is asked about", || waiting(&room).is_some());
    let asked = waiting(&room).expect("it waits");
    assert_eq!(standing(&room, &asked)["risk"], "critical");
    assert!(work.join("letter.txt").is_file());
}
