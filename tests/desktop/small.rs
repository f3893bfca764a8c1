//! The small windows: the one that stands in for notifications, and the one in which locked keys are opened.

use super::first::{standing, waiting};
use super::room::{APPROVAL, DESK, MAIN, Without, room, room_without, until};
use super::waiting::run_attached;
use crate::journeys::desktop_program;
use serde_json::json;

/// The page of the small window.
const NOTICE: &str = "/tray.html";
/// What opens the vault.
const VAULT: &str = "a vault of words";

#[test]
fn where_no_notification_is_shown_a_small_window_says_what_waits_and_takes_no_focus() {
    let Some(mut room) = room_without("the small window", Without::Notifications) else { return };
    std::fs::write(room.work().join("letter.txt"), "dear you\n").expect("a file");
    let app = room.app();
    super::first::make_keys(&room, &app);
    until("the main window is there", || app.turn_to(MAIN));
    let lacks = app.invoke("surfaces", &json!({})).expect("it tells");
    assert!(lacks["notifications"].is_string() && lacks["tray"].is_null(), "{lacks}");
    room.forward("^Hermit$");
    let active = room.xdo(&["getactivewindow"]);
    let work = room.work();
    let tidy = ["run", "--playbook", "tidy", "--workspace", work.to_str().expect("UTF-8")];
    assert_eq!(run_attached(&room, &tidy), Some(4), "a person is waited for");
    let approval = waiting(&room).expect("it waits");
    until("the small window is there", || room.window("Hermit waits for you$").is_some());
    until("it says what waits", || app.turn_to(NOTICE) && app.words().contains("risk)"));
    assert_eq!(room.xdo(&["getactivewindow"]), active, "the focus stays where it was");
    room.picture("notice");

    // It can open the card and put itself away; it can neither allow nor refuse.
    let asked = json!({ "params": { "approval": approval }, "approval": approval, "packetSha256": "00", "down": true });
    for command in [
        "grant",
        "press",
        "shown",
        "approvals_deny",
        "approvals_show",
        "task_list",
        "open_override",
        "offers",
    ] {
        let why = app.invoke(command, &asked).expect_err(command);
        assert!(why.contains("not allowed"), "{command}: {why}");
    }
    app.click("//button[.='Later']").expect("it is pressed");
    until("it is put away", || room.window("Hermit waits for you$").is_none());
    assert_eq!(standing(&room, &approval)["status"], "pending", "putting it away decides nothing");

    // The next question brings it back, and it opens exactly the card.
    std::fs::create_dir(room.at("other")).expect("a folder");
    std::fs::write(room.at("other").join("photo.jpg"), "a photo\n").expect("a file");
    let other = room.at("other");
    run_attached(&room, &["run", "--playbook", "tidy", "--workspace", other.to_str().expect("UTF-8")]);
    until("it is back", || app.turn_to(NOTICE) && app.has("//button[.='Review' and not(@aria-disabled)]"));
    app.click("//button[.='Review']").expect("it is pressed");
    until("the card is there", || app.turn_to(DESK) && app.words().contains("photo.jpg"));
    until("the small window gave way", || room.window("Hermit waits for you$").is_none());
    assert_eq!(standing(&room, &approval)["status"], "pending");
}

#[test]
fn keys_under_a_passphrase_are_made_and_opened_in_their_own_window() {
    let Some(mut room) = room("keys under a passphrase") else { return };
    let app = room.app();
    until("the first steps are there", || {
        app.turn_to(MAIN) && app.has("//button[contains(., 'Make your keys')]")
    });
    app.click("//button[contains(., 'Make your keys')]").expect("it is pressed");
    until("the window for keys is there", || app.turn_to(DESK) && app.has("//input[@type='password']"));
    app.click("//button[contains(., 'A file with a passphrase')]").expect("it is chosen");
    for (field, words) in [(1, APPROVAL), (2, APPROVAL), (3, VAULT), (4, VAULT)] {
        app.write(&format!("(//input[@type='password'])[{field}]"), words).expect("it is typed");
    }
    app.click("//button[contains(., 'Make keys') and not(@aria-disabled)]").expect("it is pressed");
    until("the window for keys is gone", || room.window("your keys").is_none());
    let open = |app: &super::driver::Driver| {
        until("the main window is there", || app.turn_to(MAIN));
        let listed = app.invoke("keys_list", &json!({ "params": {} })).expect("it may be asked");
        listed["keys"]
            .as_array()
            .is_some_and(|keys| keys.iter().any(|key| key["purpose"] == "receipt" && key["open"] == true))
    };
    assert!(open(&app), "made keys are open");
    drop(app);
    until("the app has ended", || room.window("^Hermit$").is_none());

    let app = room.app();
    until("the main window is there", || app.turn_to(MAIN));
    let opened = app.invoke("opened", &json!({})).expect("it is open");
    assert_eq!((&opened["has_keys"], &opened["locked"]), (&json!(true), &json!(true)));
    assert!(!open(&app));
    app.invoke("open_keys", &json!({})).expect("the main window may ask for it");
    until("the window is there", || app.turn_to(DESK) && app.words().contains("Unlock the keys"));
    room.picture("unlock");
    app.write("//input[@type='password']", "not these words").expect("it is typed");
    app.click("//button[.='Unlock' and not(@aria-disabled)]").expect("it is pressed");
    until("it says that they are wrong", || {
        app.words().to_lowercase().contains("passphrase") && app.has("//*[@role='alert']")
    });
    assert!(!open(&app), "nothing was opened");
    until("the window is there", || app.turn_to(DESK));
    app.write("//input[@type='password']", VAULT).expect("it is typed");
    app.click("//button[.='Unlock' and not(@aria-disabled)]").expect("it is pressed");
    until("the keys are open", || open(&app));
    until("the window is gone", || room.window("open the keys").is_none());
    assert!(desktop_program().is_some());
}
