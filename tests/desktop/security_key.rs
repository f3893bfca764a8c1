//! A yes with a security key in the approval window: its PIN is typed there, and the app asks the key.

use super::first::{hold_until, make_keys, standing, waiting};
use super::room::{APPROVAL, DESK, MAIN, Room, room, until};
use super::waiting::run_attached;
use crate::journeys::hermit;
use serde_json::json;
use testkit::pty::Pty;
use testkit::{Authenticator, PlainKey};

const PIN: &str = "tulip-4711";

/// Adds the key at a terminal, while the app has the store.
fn add(room: &Room) {
    let (home, key, own) = (room.at("store"), room.at("key"), room.at("home"));
    let environment = [
        ("HERMIT_HOME", home.to_str().expect("UTF-8")),
        ("HERMIT_TEST_SECURITY_KEY", key.to_str().expect("UTF-8")),
        ("HOME", own.to_str().expect("UTF-8")),
    ];
    let mut terminal =
        Pty::spawn(hermit(), &["passkey", "add", "--security-key", "the blue one"], &environment);
    terminal.expect("Approval passphrase: ").send(&format!("{APPROVAL}\r"));
    terminal.expect("PIN of the security key: ").send(&format!("{PIN}\r"));
    terminal.expect("Touch your security key").expect("may approve from now on");
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
}

#[test]
fn a_security_key_approves_in_the_approval_window_with_its_pin_and_a_touch() {
    let Some(mut room) = room("a yes by a security key") else { return };
    std::fs::write(room.work().join("letter.txt"), "dear you\n").expect("a file");
    let key = PlainKey::new(Authenticator::es256(7, "https://nowhere.example"), PIN).serve(&room.at("key"));
    let app = room.app();
    make_keys(&room, &app);
    add(&room);
    let work = room.work();
    let words = ["run", "--playbook", "inventory", "--workspace", work.to_str().expect("UTF-8")];
    assert_eq!(run_attached(&room, &words), Some(4), "a person is waited for");
    let asked = waiting(&room).expect("it waits");
    until("the main window is there", || app.turn_to(MAIN));
    app.invoke("open_card", &json!({ "approval": asked })).expect("its card opens");
    until("the card is whole", || app.turn_to(DESK) && app.words().contains("Exactly what would change"));
    let offered = "//button[contains(., 'Use security key')]";
    until("the key is offered", || app.has(offered));
    app.click(offered).expect("it is chosen");
    app.write("//input[@type='password']", PIN).expect("it is typed");
    room.picture("security-key");
    let window = room.forward("Hermit waits for your answer");
    hold_until(&room, &app, (&window, "//button[contains(., 'Hold to approve')]"), "it is approved", || {
        standing(&room, &asked)["status"] == "granted"
    });
    until("it is done", || work.join("INVENTORY.csv").is_file());
    let listed = room.hermit(&["passkey", "list"]);
    assert!(listed["passkeys"][0]["last_used_at"].is_i64(), "{listed}");
    assert_eq!(key.lock().expect("no poison").passkey.counter, 1, "one touch, one yes");
}
