//! `kill -9` of the app in the middle of an effect; the next one finishes it once.

use super::first::{hold_with_pointer, make_keys, waiting};
use super::room::{MAIN, room, until};
use crate::journeys::attached::{MOVED, WAITS};
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Enough to be killed among, and few enough to be looked at in the turns an attempt has.
const FILES: usize = 120;

fn lying(folder: &Path) -> usize {
    std::fs::read_dir(folder).into_iter().flatten().flatten().filter(|entry| entry.path().is_file()).count()
}

#[test]
fn the_app_killed_in_mid_effect_and_started_again_finishes_it_once() {
    let Some(mut room) = room("the app killed in mid-effect") else { return };
    for n in 0..FILES {
        std::fs::write(room.work().join(format!("{n:03}.txt")), format!("number {n}\n")).expect("a file");
    }
    let app = room.app_told(&[WAITS]);
    make_keys(&room, &app);
    let (work, documents) = (room.work(), room.work().join("Documents"));
    until("the main window is there", || app.turn_to(MAIN));
    let params =
        json!({ "params": { "workspace": work, "reasoner": { "kind": "playbook", "name": "tidy" } } });
    app.invoke("task_submit", &params).expect("it is taken in");
    until("it waits", || waiting(&room).is_some());
    let approval = waiting(&room).expect("it waits");
    app.invoke("open_card", &json!({ "approval": approval })).expect("its card opens");
    let pid = room.hermit(&["serve"])["pid"].as_u64().expect("the app holds the store").to_string();
    hold_with_pointer(&room, &app, || lying(&documents) > 0);
    let end = Instant::now() + Duration::from_secs(60);
    while lying(&documents) < MOVED {
        assert!(Instant::now() < end, "it never began");
        std::thread::yield_now();
    }
    let killed = Command::new("kill").args(["-9", &pid]).status().expect("kill");
    assert!(killed.success(), "the app was there to be killed");
    room.xdo(&["mouseup", "1"]);
    let (done, left) = (lying(&documents), lying(&work));
    assert_eq!((done, left), (MOVED, FILES - MOVED), "a file is here or there, never both, never neither");
    drop(app);

    let app = room.app();
    until("everything is done", || lying(&documents) == FILES && lying(&work) == 0);
    let receipts = || room.hermit(&["receipts", "list"])["rows"].as_array().cloned().unwrap_or_default();
    until("its receipt is there", || receipts().iter().any(|row| row["class"] == "tool_execution"));
    let effects: Vec<_> = receipts().into_iter().filter(|row| row["class"] == "tool_execution").collect();
    assert_eq!(effects.len(), 1, "one effect, one receipt: {effects:?}");
    assert_eq!(effects[0]["result"], "succeeded");
    for n in 0..FILES {
        let bytes = std::fs::read(documents.join(format!("{n:03}.txt"))).expect("it is there");
        assert_eq!(bytes, format!("number {n}\n").into_bytes());
    }
    until("the app shows it", || {
        app.words().contains("Done") || app.run("location.hash = '#/tasks'").is_err()
    });
}
