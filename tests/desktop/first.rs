//! A first task in the app, from keys to a proof, as a person does it: with the pointer, and with the keyboard.

use super::driver::Driver;
use super::room::{APPROVAL, DESK, MAIN, Room, room, until};
use crate::journeys::verifier;
use serde_json::{Value, json};
use std::process::Command;
use std::time::{Duration, Instant};

/// Files to tidy.
const FILES: [&str; 5] = ["letter.txt", "photo.jpg", "song.mp3", "table.csv", "old.zip"];

fn fill(room: &Room) {
    for name in FILES {
        std::fs::write(room.work().join(name), format!("this is {name}\n")).expect("a file");
    }
}

fn names(room: &Room) -> Vec<String> {
    let entries = std::fs::read_dir(room.work()).expect("a folder").flatten();
    let mut names: Vec<String> = entries
        .filter(|e| e.path().is_file())
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Makes keys in their own window: the passphrase is never typed into the app's own.
pub fn make_keys(room: &Room, app: &Driver) {
    until("the first steps are there", || {
        app.turn_to(MAIN) && app.has("//button[contains(., 'Make your keys')]")
    });
    app.click("//button[contains(., 'Make your keys')]").expect("it is pressed");
    until("the window for keys is there", || app.turn_to(DESK) && app.has("//input[@type='password']"));
    app.write("(//input[@type='password'])[1]", APPROVAL).expect("it is typed");
    app.write("(//input[@type='password'])[2]", APPROVAL).expect("it is typed");
    room.picture("keys");
    app.click("//button[contains(., 'Make keys')]").expect("it is pressed");
    until("the keys are made", || {
        let listed = room.hermit(&["keys", "list"]);
        listed["keys"].as_array().is_some_and(|keys| keys.iter().any(|key| key["purpose"] == "approval"))
    });
    until("the window for keys is gone", || room.window("your keys").is_none());
}

/// The only approval that waits.
pub fn waiting(room: &Room) -> Option<String> {
    let rows = room.hermit(&["approvals", "list"]);
    Some(rows["rows"].as_array()?.first()?["approval_id"].as_str()?.to_owned())
}

/// How an approval stands.
pub fn standing(room: &Room, approval: &str) -> Value {
    room.hermit(&["approvals", "show", approval])["row"].clone()
}

/// Keys that a person was typing elsewhere while the card appeared decide nothing.
fn stray_keys(room: &Room, approval: &str) {
    room.forward("Hermit waits for your answer");
    room.xdo(&["key", "--delay", "5", "Return", "y", "Return", "space", "Return"]);
    assert_eq!(standing(room, approval)["status"], "pending", "no key approves");
}

/// The button that a yes is held with.
const HOLD: &str = "//button[contains(., 'Hold to approve')]";

/// Says yes with the pointer, holding the button until it is over. The key is open from a moment ago.
fn allow_with_pointer(room: &Room, app: &Driver, approval: &str) {
    let window = whole_card(room, app);
    hold_until(room, app, (&window, HOLD), "it is allowed", || {
        standing(room, approval)["status"] == "granted"
    });
}

/// Types the passphrase and holds the button until it counts, or this is so.
pub fn hold_with_pointer(room: &Room, app: &Driver, begun: impl Fn() -> bool) {
    let window = whole_card(room, app);
    until("the passphrase is asked for", || app.has("//input[@type='password']"));
    type_passphrase(room, app, &window);
    until("the button counts", || begun() || press_and_count(room, app, (&window, HOLD), &begun));
}

/// Holds a window's button until what it is held for is so. What moved away under the pointer or lost the focus is
/// pressed again, as a person would. A hold that was refused, since a busy machine heard it end too early, takes the
/// passphrase or the PIN with it: that is typed again.
pub fn hold_until(room: &Room, app: &Driver, at: (&str, &str), what: &str, over: impl Fn() -> bool) {
    let counts = format!("{}[@data-closing]", at.1);
    let before = typed(app).as_str().unwrap_or_default().to_owned();
    // A field that is not there asks for none. One that a yes has emptied is left alone: by then it is over.
    let is_typed = || match typed(app) {
        Value::Null => true,
        now => {
            before.is_empty() || now == before.as_str() || (!over() && type_once(room, app, at.0, &before))
        }
    };
    let held = || !app.has(&counts) && is_typed() && press_and_count(room, app, at, &over);
    until(what, || over() || (held() && over()));
    room.xdo(&["mouseup", "1"]);
}

/// Presses a window's button, where it may be pressed; whether it counts, or that is over already.
fn press_and_count(
    room: &Room,
    app: &Driver,
    (window, button): (&str, &str),
    over: &impl Fn() -> bool,
) -> bool {
    if !app.has(&format!("{button}[not(@aria-disabled)]")) {
        return false;
    }
    let Some(place) = app.middle(button) else { return false };
    room.xdo(&["mouseup", "1"]);
    room.point(window, place, &["mousedown", "1"]);
    let (end, counts) = (Instant::now() + Duration::from_secs(2), format!("{button}[@data-closing]"));
    while Instant::now() < end {
        if app.has(&counts) || over() {
            return true;
        }
    }
    false
}

/// The window of a card, forward, once every part of the card is there.
fn whole_card(room: &Room, app: &Driver) -> String {
    let window = room.forward("Hermit waits for your answer");
    until("the card is whole", || app.turn_to(DESK) && app.words().contains("Exactly what would change"));
    window
}

/// Types the approval passphrase with real keys. A busy machine may lose one before the field has the focus; then it is
/// typed again, as a person would.
pub fn type_passphrase(room: &Room, app: &Driver, window: &str) {
    until("the passphrase stands there", || typed(app) == APPROVAL || type_once(room, app, window, APPROVAL));
}

/// Types words into the field of the passphrase; whether they stand there then.
fn type_once(room: &Room, app: &Driver, window: &str, words: &str) -> bool {
    let Some(place) = app.middle("//input[@type='password']") else { return false };
    room.point(window, place, &["click", "1"]);
    room.xdo(&["key", "ctrl+a"]);
    room.xdo(&["type", "--delay", "12", words]);
    typed(app) == words
}

/// What stands in the window's field for a passphrase.
fn typed(app: &Driver) -> Value {
    app.run("return document.querySelector('input[type=password]')?.value").unwrap_or_default()
}

/// Says yes with the keyboard alone.
fn allow_with_keyboard(room: &Room, app: &Driver, approval: &str) {
    room.forward("Hermit waits for your answer");
    until("the card is there", || app.turn_to(DESK) && app.has("//input[@type='password']"));
    until("the card is whole", || app.words().contains("Exactly what would change"));
    let on = |script: &str| {
        app.run(&format!("const a = document.activeElement; return {script};")).is_ok_and(|is| is == true)
    };
    let tab_to = |what: &str, script: &str| {
        until(what, || {
            on(script) || {
                room.xdo(&["key", "Tab"]);
                false
            }
        });
    };
    until("the passphrase stands there", || {
        if typed(app) == APPROVAL {
            return true;
        }
        tab_to("the passphrase has the focus", "a.type === 'password'");
        room.xdo(&["key", "ctrl+a"]);
        room.xdo(&["type", "--delay", "12", APPROVAL]);
        false
    });
    room.xdo(&["key", "Return"]);
    until("it may be held", || !app.has("//button[contains(., 'Hold to approve') and @aria-disabled]"));
    tab_to("the button has the focus", "a.tagName === 'BUTTON' && a.textContent.includes('Hold')");
    room.xdo(&["key", "Return"]);
    assert_eq!(standing(room, approval)["status"], "pending", "Enter decides nothing");
    // The space bar let go at once decides nothing either.
    room.xdo(&["key", "space"]);
    assert_eq!(standing(room, approval)["status"], "pending", "a tap decides nothing");
    assert!(room.command("dunstctl").arg("close-all").status().is_ok(), "its notification is put away");
    room.picture("approval");
    // A busy machine may lose the key on its way; then it is held once more.
    let counts = format!("{HOLD}[@data-closing]");
    let allowed = || standing(room, approval)["status"] == "granted";
    until("it is allowed", || {
        room.xdo(&["keydown", "space"]);
        let (begins, end) =
            (Instant::now() + Duration::from_secs(2), Instant::now() + Duration::from_secs(10));
        while Instant::now() < end && !allowed() && (app.has(&counts) || Instant::now() < begins) {}
        room.xdo(&["keyup", "space"]);
        allowed()
    });
}

#[test]
fn a_first_task_is_asked_about_allowed_done_undone_and_proven_in_the_real_windows() {
    let Some(mut room) = room("a first task in the real windows") else { return };
    fill(&room);
    let begun = Instant::now();
    let app = room.app();
    println!("from start to an interactive window, driver and all: {} ms", begun.elapsed().as_millis());
    until("the page is there", || app.words().contains("The next two minutes"));
    until("nothing is read any more", || !app.has("//*[starts-with(@aria-label, 'Reading ')]"));
    app.drawn();
    room.picture("first");
    make_keys(&room, &app);

    // A folder, a playbook, begin.
    assert!(app.turn_to(MAIN));
    app.write("//input[@placeholder='/home/you/Downloads']", room.work().to_str().expect("UTF-8"))
        .expect("typed");
    app.click("//button[normalize-space()='Begin']").expect("it is pressed");
    until("something waits", || waiting(&room).is_some());
    let approval = waiting(&room).expect("it waits");
    assert_eq!(names(&room), sorted(&FILES), "nothing happens before a yes");
    until("the tray counts it", || room.panel.title() == "Hermit, 1 waiting");
    assert!(room.window("Hermit waits for your answer").is_none(), "nothing opens by itself");
    room.picture("task");

    // The notification opens exactly this card.
    until("the notification opens the card", || {
        room.command("dunstctl").arg("action").status().is_ok() && app.turn_to(DESK)
    });
    stray_keys(&room, &approval);
    allow_with_keyboard(&room, &app, &approval);
    assert_eq!(standing(&room, &approval)["surface"], "approval_window");
    until("the work is done", || names(&room).is_empty());
    until("the tray rests", || room.panel.title() == "Hermit");
    until("the card is put away", || room.window("Hermit waits for your answer").is_none());
    undone_and_proven(&room, &app);
}

fn undone_and_proven(room: &Room, app: &Driver) {
    until("the main window is there", || app.turn_to(MAIN));
    let receipts = room.hermit(&["receipts", "list"]);
    let rows = receipts["rows"].as_array().expect("rows");
    let receipt = rows.iter().find(|row| row["class"] == "tool_execution").expect("a receipt");
    let params = json!({ "params": { "receipt": receipt["receipt_id"] } });
    app.invoke("receipts_rollback", &params).expect("an undo is asked for");
    until("the undo waits", || waiting(room).is_some());
    let undo = waiting(room).expect("it waits");
    app.invoke("open_card", &json!({ "approval": undo })).expect("its card opens");
    allow_with_pointer(room, app, &undo);
    until("everything is as before", || names(room) == sorted(&FILES));
    until("the main window is there", || app.turn_to(MAIN));
    room.picture("undone");

    let task = receipt["task_id"].as_str().expect("a task");
    let proof = room.at("proof.zip");
    room.hermit(&["proof", "export", task, "-o", proof.to_str().expect("UTF-8")]);
    let keys = room.hermit(&["keys", "list"]);
    let keys = keys["keys"].as_array().expect("keys");
    let key =
        keys.iter().find(|key| key["purpose"] == "log").and_then(|key| key["keyid"].as_str()).expect("a key");
    let verified = Command::new(verifier()).arg(&proof).args(["--trust", key]).output().expect("it runs");
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}

fn sorted(names: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    names.sort();
    names
}
