//! Folders that the real program watches, through bursts of changes, an editor's saves, branches that are switched and a rebase:
//! the stated firings and no more (schedule.md 5).

use super::audit::audit;
use super::fired::{Serving, keep, looks, schedule};
use super::killed::{finish, to_this_moment};
use super::sim::Sim;
use crate::journeys;
use model::body::{Body, KeyPurpose};
use model::schedule::{FileChanges, Rule, Trigger};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Folders in the suite.
const FOLDERS: usize = 6;
/// Changes of a burst in each folder.
const CHANGES: usize = 50;
const QUIET_MS: u64 = 1_000;
/// Longer than files are left alone, and than a look takes.
const STILL: Duration = Duration::from_secs(3);
/// What is to begin has begun by then.
const PATIENCE: Duration = Duration::from_secs(300);
/// The schedule that waits for a branch of the first folder.
const MOVED: &str = "moved";
const BRANCH: &str = "aside";

/// How often each schedule has begun a run.
type Firings = BTreeMap<String, usize>;

fn name_of(folder: usize) -> String {
    format!("folder-{folder}")
}

fn git(folder: &Path, words: &[&str]) {
    let who = ["-c", "user.name=Anna", "-c", "user.email=anna@example.org"];
    let ran = Command::new("git").args(who).args(words).current_dir(folder).output().expect("git");
    assert!(ran.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

fn commits(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("a file");
    git(folder, &["add", name]);
    git(folder, &["commit", "-q", "-m", name]);
}

/// A repository with a branch whose files are others, and that is behind by a file.
fn branches(folder: &Path) {
    git(folder, &["init", "-q", "-b", "main"]);
    (0..8).for_each(|n| commits(folder, &format!("kept-{n}.txt"), &format!("{n} as it was")));
    git(folder, &["checkout", "-q", "-b", BRANCH]);
    (0..8).for_each(|n| commits(folder, &format!("kept-{n}.txt"), &format!("{n} as it is aside")));
    git(folder, &["checkout", "-q", "main"]);
    commits(folder, "behind.txt", "what the branch does not have");
}

/// A store that waits for changes of files in each of these folders, and for a branch of the first one.
fn watched(folders: usize) -> (Sim, Vec<PathBuf>) {
    let mut sim = Sim::new("bursts", 0xB0B5, false);
    to_this_moment(&sim);
    // What is looked at before takes some seconds of it.
    sim.world.clock.advance(-60_000);
    sim.world.take_up().expect("the store opens");
    // The keys of a test stay with the test.
    sim.world.keys.lock(true);
    let person = [(KeyPurpose::Approval, sim.world.person.public())];
    sim.kernel().register_keys(&person, "test").expect("a key");
    let root = sim.world.folder.path().canonicalize().expect("a folder");
    let all: Vec<PathBuf> = (0..folders).map(|n| root.join(name_of(n))).collect();
    for (n, folder) in all.iter().enumerate() {
        std::fs::create_dir(folder).expect("a folder");
        if n == 0 {
            branches(folder);
            let branch = Trigger::Ref { name: format!("refs/heads/{BRANCH}") };
            keep(&sim, schedule(&sim, folder, MOVED, (Rule::Event, Some(branch))));
        }
        let globs = vec!["*.txt".to_owned()];
        let files = Trigger::Files { globs, changes: FileChanges::Changed, quiet_ms: QUIET_MS };
        keep(&sim, schedule(&sim, folder, &name_of(n), (Rule::Event, Some(files))));
    }
    looks(&sim);
    sim.world.crash();
    sim.world.keys.lock(false);
    sim.learn(true);
    (sim, all)
}

fn firings(sim: &Sim) -> Firings {
    let mut firings = Firings::new();
    for (_, body) in sim.events().iter() {
        if let Body::ScheduleFired(b) = body {
            *firings.entry(b.name.clone()).or_default() += 1;
        }
    }
    firings
}

/// Waits until these and no others have begun, and that nothing more comes of it.
fn are(sim: &Sim, what: &str, expected: &Firings) {
    let began = Instant::now();
    loop {
        let now = firings(sim);
        let more = now.iter().find(|(name, times)| expected.get(*name).is_none_or(|most| *times > most));
        assert_eq!(more, None, "{what}: it began more than was to begin");
        if now == *expected {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{what}: {now:?} instead of {expected:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
    println!("bursts: {what}: {:.1?}", began.elapsed());
    std::thread::sleep(STILL);
    assert_eq!(firings(sim), *expected, "{what}: and no more");
}

#[test]
fn a_burst_an_editors_save_a_branch_and_a_rebase_begin_one_run_each_in_every_folder() {
    let hermit = journeys::hermit();
    let folders = super::asked("HERMIT_SIMULATION_FOLDERS", FOLDERS);
    let (mut sim, all) = watched(folders);
    let serving = Serving::begins(hermit, &sim, None);
    std::thread::sleep(STILL);
    let mut expected = Firings::new();
    are(&sim, "nothing changed", &expected);
    let each = |expected: &mut Firings| {
        (0..folders).for_each(|n| *expected.entry(name_of(n)).or_default() += 1);
    };

    for (n, folder) in all.iter().enumerate() {
        for change in 0..CHANGES {
            let text = format!("change {change} of folder {n}");
            std::fs::write(folder.join(format!("{change:04}.txt")), text).expect("a file");
        }
        std::fs::write(folder.join("note.md"), "none of it").expect("a file");
    }
    each(&mut expected);
    are(&sim, "a burst", &expected);

    // An editor that saves by renaming has written one file, however it goes about it.
    for (n, folder) in all.iter().enumerate() {
        let (file, aside) = (folder.join("0000.txt"), folder.join(".0000.txt.swp"));
        std::fs::write(&aside, format!("saved in folder {n}")).expect("a file");
        std::fs::rename(&file, folder.join("0000.txt~")).expect("its copy");
        std::fs::rename(&aside, &file).expect("a save");
    }
    each(&mut expected);
    are(&sim, "an editor's save", &expected);

    // Eight files are others on the branch, and to be switched to is no move of it.
    let more = |expected: &mut Firings, name: &str| *expected.entry(name.to_owned()).or_default() += 1;
    git(&all[0], &["checkout", "-q", BRANCH]);
    more(&mut expected, &name_of(0));
    are(&sim, "a branch switch", &expected);
    // Its eight commits are made anew on another one: the files are written again and again, and the branch moves once.
    git(&all[0], &["rebase", "-q", "main"]);
    more(&mut expected, &name_of(0));
    more(&mut expected, MOVED);
    are(&sim, "a rebase", &expected);

    drop(serving);
    finish(hermit, &sim);
    to_this_moment(&sim);
    let ending = audit(&mut sim);
    assert!(ending.tasks.values().all(|(status, _)| status.is_terminal()), "{:?}", ending.tasks);
    println!("bursts: {folders} folders, {} changes in a burst", folders * CHANGES);
}
