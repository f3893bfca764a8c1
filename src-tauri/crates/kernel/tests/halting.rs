//! A halt counts at once, whatever the disk says, and is recorded as soon as the log takes it.

use crate::story::completed;
use kernel::{DriveOutcome, Error};
use model::fault::Point;
use testkit::{Edge, Mode, World, done, write};

#[test]
fn a_halt_that_the_disk_did_not_take_stops_everything_and_is_recorded_later() {
    let mut world = World::new(930);
    let task = world.script("write", vec![write("a.txt", "a"), done("ok")]);
    let approval = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, approval).unwrap();
    world.faults.plan(Point::GateHalt, Edge::Before, Mode::Full, 1);
    let said = world.kernel().halt("it does too much");
    assert!(matches!(said, Err(Error::HaltUnrecorded(_))), "{said:?}");
    world.faults.clear();
    assert!(world.kernel().halted().is_some_and(|why| why.contains("could not take it yet")));
    assert_eq!(world.drive(task), DriveOutcome::Halted);
    assert!(world.files().is_empty(), "nothing was done");
    world.kernel().record_halt().unwrap();
    world.kernel().record_halt().unwrap();
    world.reopen();
    // Whoever comes next finds it, with the reason of the person who gave it.
    assert_eq!(world.kernel().halted().as_deref(), Some("it does too much"));
    assert_eq!(world.drive(task), DriveOutcome::Halted);
    world.kernel().boot().unwrap();
    assert_eq!(world.drive(task), completed());
}
