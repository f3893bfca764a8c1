//! What a desktop shows while Hermit works: tray, notifications, links, and a window that was closed.

use super::first::{make_keys, standing, waiting};
use super::room::{DESK, Room, room, until};
use std::collections::BTreeSet;

/// Whether the button of a yes comes into sight in a window that is too small for the whole card.
const REACHED: &str = "const all = [...document.querySelectorAll('button')];\
    const yes = all.find((one) => one.textContent.includes('Hold to approve'));\
    if (yes === undefined || innerWidth > 500) return false;\
    yes.scrollIntoView({ block: 'center' });\
    const at = yes.getBoundingClientRect(); return at.top >= 0 && at.bottom <= innerHeight;";

#[test]
fn tray_and_notifications_tell_what_waits_refuse_and_outlive_the_window() {
    let Some(mut room) = room("tray, notifications, a closed window") else { return };
    std::fs::write(room.work().join("letter.txt"), "dear you\n").expect("a file");
    let app = room.app();
    make_keys(&room, &app);
    until("the tray is there", || room.panel.title() == "Hermit");
    let mut glyphs = BTreeSet::from([room.panel.glyph()]);

    let work = room.work();
    let tidy = ["run", "--playbook", "tidy", "--workspace", work.to_str().expect("UTF-8")];
    assert_eq!(run_attached(&room, &tidy), Some(4), "a person is waited for");
    let first = waiting(&room).expect("it waits");
    until("the tray counts it", || room.panel.title() == "Hermit, 1 waiting");
    glyphs.insert(room.panel.glyph());
    assert!(room.panel.menu().iter().any(|(_, line)| line.contains("risk)")), "{:?}", room.panel.menu());
    room.picture("notification");

    // A no from the notification is taken, and says where it was given.
    until("the no is taken", || {
        room.command("dunstctl").arg("context").status().is_ok()
            && standing(&room, &first)["status"] == "denied"
    });
    assert_eq!(standing(&room, &first)["surface"], "notification");
    until("the tray rests", || room.panel.title() == "Hermit");
    assert!(work.join("letter.txt").is_file(), "nothing was done");

    // Halted from the tray, and booted again.
    room.panel.press("Halt everything");
    until("the tray says so", || room.panel.title() == "Hermit, halted");
    glyphs.insert(room.panel.glyph());
    assert_eq!(glyphs.len(), 3, "idle, waiting and halted look different");
    room.panel.press("work again");
    until("it works again", || room.panel.title() == "Hermit");

    // The window is closed; the app is not.
    room.forward("^Hermit$");
    room.xdo(&["key", "alt+F4"]);
    until("the window is closed", || room.window("^Hermit$").is_none());
    assert_eq!(run_attached(&room, &tidy), Some(4), "a person is waited for");
    let second = waiting(&room).expect("it waits");
    until("the tray counts it without a window", || room.panel.title() == "Hermit, 1 waiting");

    // A link opens its card and decides nothing; another instance hands its words over and ends.
    let link = format!("hermit://approval/{second}");
    let other = room.command(crate::journeys::desktop_program().expect("built")).arg(&link).status();
    assert!(other.is_ok_and(|status| status.success()));
    until("the card is there", || room.window("Hermit waits for your answer").is_some());
    let card = room.forward("Hermit waits for your answer");
    room.xdo(&["windowsize", &card, "460", "300"]);
    until("the answer is reached in the smallest window, too", || {
        app.turn_to(DESK) && app.run(REACHED).is_ok_and(|is| is == true)
    });
    room.forward("Hermit waits for your answer");
    room.xdo(&["key", "alt+F4"]);
    until("the card is closed", || room.window("Hermit waits for your answer").is_none());
    assert_eq!(standing(&room, &second)["status"], "pending", "closing decides nothing");

    room.panel.press("Open Hermit");
    until("the window is back", || room.window("^Hermit$").is_some());
    assert_eq!(standing(&room, &second)["status"], "pending", "it waited without a window, and waits still");
    drop(app);
}

/// Gives a task through the app that holds the store, and does not stay with it; how it ended.
pub fn run_attached(room: &Room, words: &[&str]) -> Option<i32> {
    let run = room.command(crate::journeys::hermit()).args(["--json", "--no-input"]).args(words).status();
    run.ok().and_then(|status| status.code())
}
