//! `kill -9` in the middle of a change of many files.

use super::attached::{MOVED, WAITS, lying};
use super::stage::Stage;
use super::tree;
use std::time::{Duration, Instant};

/// With more the playbook needs more turns than an attempt has: it looks at ten files a turn.
const FILES: usize = 150;

#[test]
fn a_host_killed_in_mid_change_is_followed_by_one_that_finishes_it_once() {
    let stage = Stage::new();
    for n in 0..FILES {
        std::fs::write(stage.work().join(format!("{n:03}.txt")), format!("number {n}\n")).expect("a file");
    }
    let before = tree::of(&stage.work());
    let (task, approval) = stage.asks("tidy");
    let pty = stage.allow(&approval, &[WAITS]);
    let until = Instant::now() + Duration::from_secs(60);
    while lying(&stage, "Documents") < MOVED {
        assert!(Instant::now() < until, "it never began: {}", pty.shown());
        std::thread::yield_now();
    }
    // Letting go of the terminal kills what runs on it with SIGKILL.
    drop(pty);
    let (done, left) = (lying(&stage, "Documents"), lying(&stage, ""));
    assert_eq!((done, left), (MOVED, FILES - MOVED), "a file is here or there, never both, never neither");
    assert_eq!(
        stage.count(&task, "effect.dispatched") - stage.count(&task, "effect.observed"),
        1,
        "it was at work"
    );

    stage.hermit(&["resume"]).ends(0);
    assert_eq!(lying(&stage, "Documents"), FILES);
    assert_eq!(lying(&stage, ""), 0);
    assert_eq!(tree::contents(&before), tree::contents(&tree::of(&stage.work())));
    let receipt = stage.receipt(&task);
    assert_eq!(receipt["result"], "succeeded", "{receipt}");
    assert_eq!(stage.count(&task, "approval.requested"), 1, "nobody is asked twice");
    assert_eq!(stage.count(&task, "effect.dispatched"), stage.count(&task, "effect.observed"));
    stage.is_sound();
    stage.prove(&task);

    // What two processes did is undone as one.
    let asked = stage.hermit(&["rollback", receipt["receipt_id"].as_str().expect("an id")]).ends(4).json();
    let (code, screen) = stage.approve(asked["waits_for"]["id"].as_str().expect("an approval"));
    assert_eq!(code, 0, "{screen}");
    let mut again = tree::of(&stage.work());
    // The folder that the killed process had made is not known as made by the receipt, and stays, empty.
    again.retain(|_, thing| *thing != tree::Thing::Folder);
    assert_eq!(
        again.keys().collect::<Vec<_>>(),
        before.keys().collect::<Vec<_>>(),
        "every file is where it was"
    );
    assert!(again == before, "byte for byte as before");
}
