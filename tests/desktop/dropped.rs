//! Things that a person holds above the window and lets fall.

use super::drag::Hand;
use super::room::{MAIN, room, until};
use serde_json::json;

#[test]
fn a_folder_that_is_let_fall_onto_the_window_is_offered_for_a_task_and_nothing_is_done_with_it() {
    let Some(mut room) = room("a drop") else { return };
    let letter = room.work().join("letter.txt");
    std::fs::write(&letter, "dear you\n").expect("a file");
    let app = room.app();
    super::first::make_keys(&room, &app);
    until("the main window is there", || app.turn_to(MAIN));
    app.run("location.hash = '/tasks'").expect("it goes there");
    until("the list is there", || app.words().contains("New task"));
    room.forward("^Hermit$");
    let target = room.window("^Hermit$").expect("a window").parse().expect("its number");
    let place = room.place("^Hermit$");
    let at = (place.0 + 400, place.1 + 300);

    // Held above it, the window says what it would take; gone again, it says nothing.
    let work = room.work();
    let hand = Hand::holding(&room.display(), &[&work]);
    assert!(hand.enters(target, at), "the window takes files");
    until("it says so", || app.words().contains("Drop to add 1 thing"));
    room.picture("dropping");
    hand.leaves(target);
    until("it says nothing any more", || !app.words().contains("Drop to add"));

    // Let fall, the folder is offered for a task; that is all.
    let hand = Hand::holding(&room.display(), &[&work]);
    assert!(hand.enters(target, at));
    until("it says so again", || {
        hand.stays(target, at);
        app.words().contains("Drop to add 1 thing")
    });
    assert!(hand.drops(target), "it was taken");
    let folder = work.to_str().expect("UTF-8");
    let values = "return [...document.querySelectorAll('input')].map((one) => one.value).join('\\n')";
    let holds =
        || app.run(values).is_ok_and(|found| found.as_str().is_some_and(|text| text.contains(folder)));
    until("the folder stands in the new task", holds);
    room.picture("dropped");
    let tasks = room.hermit(&["task", "list"]);
    assert_eq!(tasks["rows"], json!([]), "nothing was begun");
    assert!(letter.is_file());
}
