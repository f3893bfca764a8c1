//! Opening a large store.

use crate::board::{Board, program, timed};
use crate::{Asked, grown};
use std::process::{Command, Stdio};
use testkit::World;

pub fn run(asked: &Asked, board: &Board) {
    let mut world = World::new(11);
    world.crash();
    let writer = grown::writer(world.store.path(), true);
    grown::grow(&writer, asked.events);
    drop(writer);
    let (took, kernel) = timed(|| world.open());
    let detail = format!("{} events; the bound is for 1000000", asked.events);
    board.at_most("open, seconds", took.as_secs_f64(), 2.0, &detail);
    let (took, listed) = timed(|| kernel.query().map(drop));
    listed.expect("the lists can be asked");
    board.figure("first question to the lists", &format!("{took:.0?}"));
    drop(kernel);
    let Some(hermit) = program("hermit") else {
        return board.figure("task list on it", "`hermit` is not built");
    };
    let list = || {
        let mut run = Command::new(&hermit);
        run.arg("--home").arg(world.store.path()).args(["task", "list"]).stdout(Stdio::null());
        run.stderr(Stdio::null()).status()
    };
    let fastest = (0..5).map(|_| timed(list).0).min().unwrap_or_default();
    let detail = if list().is_ok_and(|s| s.success()) { "" } else { "(it fails on this store)" };
    board.at_most("hermit task list, ms", fastest.as_secs_f64() * 1_000.0, 50.0, detail);
}
