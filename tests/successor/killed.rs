//! A clone dies with its parent: `kill -9` of the process that started it leaves nothing of it.

use super::{AMPLE, has_walls, processes_with, sandbox, shell, soon};
use crate::journeys::attached::Served;
use crate::journeys::stage::Stage;
use conforms::conforms;
use host::successor::{CloneProgram, run_confined};
use std::process::{Command, Stdio};

/// Says to this program that it is the parent of a clone, and what stands in the clone's words.
const PARENT: &str = "HERMIT_TEST_PARENT_OF_A_CLONE";

/// The parent, in a process of its own; for whoever runs the tests it does nothing.
#[test]
fn parent_of_a_clone() {
    let Ok(mark) = std::env::var(PARENT) else { return };
    let words = format!("setsid sleep {mark} & sleep {mark}");
    let clone = CloneProgram::of(&shell(), &["-c", &words]);
    let _ = run_confined(&sandbox(), &clone, Vec::new(), &AMPLE, &|| false);
}

#[conforms(part = "HV-5-3", part = "HV-5-6")]
#[test]
fn a_clone_dies_with_its_parent() {
    if !has_walls() {
        return;
    }
    let mark = format!("{}", 20_000_000_u64 + u64::from(std::process::id()));
    let mut parent = Command::new(std::env::current_exe().expect("this program"))
        .args(["successor::killed::parent_of_a_clone", "--exact", "--nocapture"])
        .env(PARENT, &mark)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let inside = format!("sleep {mark}");
    let begun = std::time::Instant::now();
    // Both of what it started, and what leads there.
    while processes_with(&inside).len() < 3 && begun.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let before = processes_with(&inside);
    parent.kill().expect("killed");
    parent.wait().expect("it has ended");
    assert!(before.len() >= 3, "the clone was at work: {before:?}");
    soon("nothing of the clone is left", || processes_with(&mark).is_empty());
}

#[conforms(part = "HV-5-3")]
#[test]
fn what_a_build_left_behind_goes_at_the_next_opening() {
    let stage = Stage::new();
    let left = stage.home().join("successor/trial/target");
    std::fs::create_dir_all(&left).expect("a folder");
    std::fs::write(left.join("half"), "of a build").expect("a file");
    let served = Served::by(&stage);
    soon("it is gone", || !stage.home().join("successor").exists());
    drop(served);
}
