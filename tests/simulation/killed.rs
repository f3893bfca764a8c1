//! `kill -9` of the real program at times nobody chose, while it carries out what a person has allowed.

use super::audit::audit;
use super::sim::Sim;
use crate::journeys;
use kernel::{DriveOutcome, Waiting};
use model::Clock as _;
use model::TaskId;
use model::attempt::TerminationReason;
use model::body::KeyPurpose;
use model::task::TaskStatus;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// Kills in the suite.
const KILLS: usize = 30;
/// Files in the folder.
const FILES: usize = 200;
/// Kills of one store at most, then its host may finish.
const KILLS_OF_ONE: usize = 12;

/// A store whose person has allowed 200 files to be tidied, and nobody has begun.
fn allowed(round: usize) -> (Sim, TaskId) {
    let mut sim = Sim::new(&format!("killed-{round}"), 0xDEAD + round as u64, false);
    to_this_moment(&sim);
    sim.world.take_up().expect("the store opens");
    // Receipts are chained and not signed here: the keys of a test stay with the test.
    let person = [(KeyPurpose::Approval, sim.world.person.public())];
    sim.kernel().register_keys(&person, "test").expect("a key");
    for at in 0..FILES {
        let kind = ["txt", "jpg", "mp3", "zip", "pdf"][at % 5];
        sim.world.file(&format!("file {at}.{kind}"), &format!("content of {at}"));
    }
    let task = sim.world.playbook("tidy");
    let approval = sim.world.drive_to_approval(task);
    sim.world.person.allow(sim.kernel(), task, approval).expect("allowed");
    sim.world.crash();
    sim.learn(true);
    (sim, task)
}

/// The fake clock says what the program's real one says.
pub(super) fn to_this_moment(sim: &Sim) {
    let real = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a time").as_millis();
    let real = i64::try_from(real).expect("a time");
    sim.world.clock.advance(real - sim.world.clock.now().0);
}

fn resume(hermit: &Path, sim: &Sim) -> Child {
    let mut command = Command::new(hermit);
    command.arg("--home").arg(sim.world.store.path()).arg("resume");
    command.env_clear().env("HOME", sim.world.store.path()).env("PATH", "/usr/bin:/bin");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().expect("the program starts")
}

/// Lets it work for a while, then kills it; whether it was still at work.
fn kill_after(mut child: Child, time: Duration) -> bool {
    let began = Instant::now();
    while began.elapsed() < time {
        if child.try_wait().expect("a child").is_some() {
            return false;
        }
        std::thread::yield_now();
    }
    // SIGKILL: the process never hears of it.
    child.kill().expect("killed");
    let status = child.wait().expect("a child");
    status.code().is_none()
}

pub(super) fn finish(hermit: &Path, sim: &Sim) {
    let output = testkit::finished(resume(hermit, sim), testkit::TO_THE_END);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{}: `hermit resume` ended with {:?}: {said}",
        sim.name,
        output.status.code()
    );
}

/// Everything is in its place once, and the store says how it came there.
fn whole(sim: &mut Sim, task: TaskId, before: &BTreeMap<String, Vec<u8>>) {
    let contents = |files: &BTreeMap<String, Vec<u8>>| {
        let mut contents: Vec<Vec<u8>> = files.values().cloned().collect();
        contents.sort();
        contents
    };
    let after = sim.world.files();
    assert_eq!(contents(before), contents(&after), "{}: a file was lost, doubled or changed", sim.name);
    assert!(after.keys().all(|name| name.contains('/')), "{}: a file was not moved", sim.name);
    to_this_moment(sim);
    sim.world.take_up().expect("the store opens");
    let standing = sim.kernel().drive(task).expect("driven");
    if standing == DriveOutcome::Waiting(Waiting::UnknownOutcome) {
        sim.settle();
    } else {
        let done =
            DriveOutcome::Ended { status: TaskStatus::Completed, reason: Some(TerminationReason::Done) };
        assert_eq!(standing, done, "{}", sim.name);
    }
    audit(sim);
}

#[test]
fn the_program_is_killed_again_and_again_and_no_file_is_lost_or_moved_twice() {
    let hermit = journeys::hermit();
    let began = Instant::now();
    let (mut sim, task) = allowed(0);
    let before = sim.world.files();
    let calm = Instant::now();
    finish(hermit, &sim);
    let calm = calm.elapsed();
    whole(&mut sim, task, &before);
    let (mut kills, mut stores, mut chance) = (0, 0, 0x9E37_79B9_7F4A_7C15_u64);
    let asked = super::asked("HERMIT_SIMULATION_KILLS", KILLS);
    let progress = super::Progress::new("kills", asked);
    while kills < asked {
        stores += 1;
        let (mut sim, task) = allowed(stores);
        let before = sim.world.files();
        for _ in 0..KILLS_OF_ONE {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let part = u32::try_from(chance >> 54).unwrap_or(0);
            let time = calm * part / 1_024;
            sim.name = format!("killed: store {stores}, after {time:?} of {calm:?}");
            let at_work = kill_after(resume(hermit, &sim), time);
            sim.learn(true);
            kills += usize::from(at_work);
            progress.add(usize::from(at_work));
            if !at_work {
                break;
            }
        }
        finish(hermit, &sim);
        whole(&mut sim, task, &before);
    }
    println!(
        "kill -9: {kills} kills of hermit over {stores} stores of {FILES} files, a calm run takes {calm:?}, {:?}",
        began.elapsed()
    );
}
