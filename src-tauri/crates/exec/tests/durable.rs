//! What git has written is on disk, and what it held when it was ended is let go of.
#![allow(clippy::disallowed_methods, reason = "system calls are looked at from outside")]

use crate::versioning::{MAIN, asked, at, commit, git, said, world};
use model::fault::Point;
use model::receipt::ResultCode;
use model::vcs::VcsChange;
use std::io;
use std::process::Command;

/// Set for the process whose system calls are written down.
const WATCHED: &str = "HERMIT_TEST_WATCHED";

/// Not a test of its own: what the next test looks at from outside.
#[test]
fn the_commit_that_is_watched() {
    if std::env::var_os(WATCHED).is_none() {
        return;
    }
    let world = world();
    world.put("a.txt", "a two\n");
    let (request, _) = commit(&world, &["a.txt"], "second");
    let outcome = world.perform(&request);
    assert_eq!(outcome.result_code, ResultCode::Succeeded, "{}", said(&outcome));
    let at = at(&world, MAIN).unwrap();
    let (request, _) = asked(&world, VcsChange::Name { name: "refs/tags/v1".to_owned(), at });
    assert_eq!(world.perform(&request).result_code, ResultCode::Succeeded);
}

#[test]
fn what_git_has_written_is_on_disk_before_its_receipt() {
    let dir = tempfile::tempdir().unwrap();
    let calls = dir.path().join("calls");
    let watched = Command::new("strace")
        .args(["-f", "-y", "-qq", "-e", "trace=fsync,fdatasync", "-o"])
        .arg(&calls)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "durable::the_commit_that_is_watched"])
        .env(WATCHED, "1")
        .output()
        .expect("strace; install it to run this test");
    assert!(watched.status.success(), "{}", String::from_utf8_lossy(&watched.stdout));
    let calls = std::fs::read_to_string(calls).unwrap();
    let synced = |ending: &str| {
        let call = format!("{ending}>)");
        calls.lines().any(|line| line.contains("sync(") && line.contains(&call) && line.ends_with("= 0"))
    };
    for place in [
        ".git/refs/heads/main.lock",
        ".git/refs/heads",
        ".git/logs/refs/heads/main",
        ".git/logs/refs/heads",
        ".git/logs/HEAD",
        ".git/index.lock",
        ".git/objects",
        ".git/refs/tags/v1.lock",
        ".git/refs/tags",
        ".git",
    ] {
        assert!(synced(place), "`{place}` was not synced: {calls}");
    }
    let objects = |line: &&str| line.contains("sync(") && line.contains("/tmp_obj_");
    assert!(calls.lines().filter(objects).count() >= 3, "a blob, a tree and a commit: {calls}");
}

#[test]
fn locks_that_git_held_when_it_was_ended_are_taken_away_and_those_of_others_stay() {
    for killed in [true, false] {
        let world = world();
        world.put("a.txt", "a two\n");
        std::fs::write(world.at(".git/packed-refs.lock"), "").unwrap();
        let (request, before) = commit(&world, &["a.txt"], "second");
        let (head, main, index) =
            (world.at(".git/HEAD.lock"), world.at(".git/refs/heads/main.lock"), world.at(".git/index.lock"));
        let made = [head.clone(), main.clone(), index.clone()];
        world.traps.set(move |point, after| {
            if point != Point::CommandSpawn {
                return Ok(());
            }
            if !after {
                // Git comes to its locks when these are there: as if it had made them, and was ended then.
                made.iter().for_each(|lock| std::fs::write(lock, "").unwrap());
                return Ok(());
            }
            if killed { Err(io::Error::other("the host ends here")) } else { Ok(()) }
        });
        let mut outcome = world.perform(&request);
        world.traps.set(|_, _| Ok(()));
        if outcome.result_code == ResultCode::UnknownOutcome {
            // Something of it is still ending.
            world.ended(&request);
            outcome = world.executors.settle(&request, &before).outcome.unwrap();
        }
        assert_eq!(outcome.result_code, ResultCode::Failed, "{}", said(&outcome));
        let told = outcome.observed.join("\n");
        assert!(world.at(".git/packed-refs.lock").exists() && index.exists());
        assert_eq!((head.exists(), main.exists()), (!killed, !killed), "{told}");
        assert_eq!(told.contains("`.git/HEAD.lock`, which git held when it was ended"), killed, "{told}");
        assert_eq!(told.contains("`.git/index.lock` is there and was not before"), killed, "{told}");
        assert!(!told.contains("packed-refs"), "{told}");
        world.ended(&request);
        let again = world.executors.settle(&request, &before).outcome.unwrap();
        assert_eq!(again.result_code, ResultCode::Failed, "{}", said(&again));
        if killed {
            std::fs::remove_file(index).unwrap();
            std::fs::remove_file(world.at(".git/packed-refs.lock")).unwrap();
            git(&world, &["commit", "-q", "--allow-empty", "-m", "mine"]);
            assert!(git(&world, &["log", "-1", "--format=%s"]) == "mine", "the person's own git works");
        }
    }
}
