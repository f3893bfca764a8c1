//! A large store: opened, listed, verified in bounded memory, and hosted without anything to do.

use crate::board::{Board, again, memory, program, timed};
use crate::{Asked, grown};
use host::{Home, Local, Unlock};
use ledger::{Reader, Verdict};
use seal::Signer;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use testkit::World;

/// Long enough for threads to settle.
const SETTLE: Duration = Duration::from_secs(1);

pub fn run(asked: &Asked, board: &Board) {
    let mut world = World::new(11);
    world.crash();
    let writer = grown::writer(world.store.path(), false);
    let (took, events) = timed(|| grown::live(&writer, asked.events));
    let rate = events as f64 / took.as_secs_f64();
    let stats = writer.reader().stats().expect("it counts");
    let size = format!("{events} events of {} tasks, {} MB", stats.tasks, stats.file_bytes >> 20);
    board.figure("grown by the writer", &format!("{rate:.0} events/s, {size}"));
    drop(writer);
    let (took, ()) = timed(|| grown::fold(world.store.path()));
    board.figure("views folded once", &format!("{took:.1?}"));
    let (took, kernel) = timed(|| world.open());
    let detail = format!("{events} events; the bound is for 1000000");
    // The kernel's own keys signed nothing here yet; the bench's signed every task.
    let keys = [grown::signer().public()];
    let (looked, changed) = timed(|| ledger::verify::changed(kernel.reader(), &keys));
    assert_eq!(changed.expect("it can be read"), None);
    board.figure("of which what was signed is looked at", &format!("{looked:.0?}"));
    board.at_most("open, seconds", (took + looked).as_secs_f64(), 2.0, &detail);
    let (took, listed) = timed(|| kernel.query().map(drop));
    listed.expect("the lists can be asked");
    board.figure("first question to the lists", &format!("{took:.0?}"));
    drop(kernel);
    let store = world.store.path();
    match again(&["--verify-only", &store.display().to_string()]) {
        Some(said) => board.figure("verification of it, in a process of its own", &said),
        None => board.figure("verification of it", "it failed"),
    }
    list(board, store);
    match again(&["--host-only", &store.display().to_string()]).and_then(|said| said.parse().ok()) {
        Some(megabytes) => board.at_most("idle host on it, MB resident", megabytes, 30.0, ""),
        None => board.figure("idle host on it", "it failed"),
    }
}

fn list(board: &Board, store: &Path) {
    let Some(hermit) = program("hermit") else {
        return board.figure("task list on it", "`hermit` is not built");
    };
    let list = || {
        let mut run = Command::new(&hermit);
        run.arg("--home").arg(store).args(["task", "list"]).stdout(Stdio::null());
        run.stderr(Stdio::null()).status()
    };
    let fastest = (0..10).map(|_| timed(list).0).min().unwrap_or_default();
    let detail = if list().is_ok_and(|s| s.success()) { "best of ten" } else { "(it fails on this store)" };
    board.at_most("hermit task list, ms", fastest.as_secs_f64() * 1_000.0, 50.0, detail);
}

/// Verifies a store and tells how fast and in how much memory.
pub fn verify_only(words: &[String]) {
    let reader = Reader::open(Path::new(words.get(1).expect("a folder"))).expect("a reader");
    let keys = [grown::signer().public()];
    let (took, report) =
        timed(|| ledger::verify(&reader, &keys, None, &mut |_| true).expect("it can be read"));
    // The kernel that made the store signed nothing yet, so every checkpoint is by the bench's own key.
    assert_eq!(report.verdict, Verdict::Valid, "{}", report.reason);
    let rate = report.events as f64 / took.as_secs_f64();
    let peak = memory("VmHWM").unwrap_or_default();
    print!("{took:.1?}, {rate:.0} events/s, {} checkpoints, {peak:.0} MB at most", report.checkpoints);
}

/// Hosts a store for a moment with nothing to do, and tells its megabytes.
pub fn host_only(words: &[String]) {
    let home = Home::find(words.get(1).map(Path::new)).expect("a folder");
    let local = Local::owning(home, &Unlock::Environment).expect("the store opens");
    std::thread::sleep(SETTLE);
    print!("{:.1}", memory("VmRSS").unwrap_or_default());
    drop(local);
}
