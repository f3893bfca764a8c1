//! Staged runs that would take their host with them.

use crate::staged::{Only, requested, stage, worlds};
use crate::support::{World, shell};
use effects::{Sandbox, Unstaged};
use model::receipt::ResultCode;
use std::path::Path;

const EXEC: &str = env!("CARGO_BIN_EXE_hermit-exec");

#[test]
fn a_tree_deeper_than_any_path_is_told_of_ended_and_removed() {
    // As a driver's thread has it, and much less of it.
    let small = std::thread::Builder::new().stack_size(512 * 1024);
    let tried = small.spawn(|| {
        for world in worlds() {
            let deep = |levels: u32| {
                format!("perl -e 'for (1..{levels}) {{ mkdir \"d\" or die $!; chdir \"d\" or die $! }}'")
            };
            let (_, staging) = stage(&world, &deep(3_000));
            let Err(Unstaged::Failed(said)) = staging else { panic!("{staging:?}") };
            assert!(said.contains("folders in each other"), "{said}");
            assert_eq!(std::fs::read_dir(world.store.join("spool")).unwrap().count(), 0, "nothing is left");
            let (request, staging) = stage(&world, &deep(300));
            let staging = staging.unwrap();
            assert_eq!(
                staging.changes.len(),
                1,
                "the innermost, which is empty: {:?}",
                staging.changes.len()
            );
            let request = requested(&world, request, &staging);
            let done = world.executors.perform(world.authorize(&request), &request, &|| false, &mut |_| {});
            assert_eq!(done.result_code, ResultCode::Succeeded, "{:?}", done.error);
            let (_, again) = stage(&world, "cat nothing");
            assert_eq!(
                again.unwrap().staged.items,
                [],
                "a folder that is deep already is staged like any other"
            );
            assert_eq!(world.executors.reach(&shell("true")).unsure, None);
        }
    });
    tried.unwrap().join().unwrap();
}

#[test]
fn a_run_that_ends_its_host_each_time_is_not_tried_for_ever() {
    let world = World::with(Sandbox::probe(Path::new(EXEC)));
    let request = world.request(shell("echo one > one.txt"));
    let stage = || world.executors.stage(request.attempt_id, &request.action, &|| false, &mut |_| {});
    for _ in 0..effects::STAGE_HOSTS_MAX {
        world.traps.set(|point, _| {
            if point == model::fault::Point::StageRun { panic!("the host ends here") } else { Ok(()) }
        });
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(stage));
        assert!(ended.is_err());
        world.traps.0.clear_poison();
        effects::Spool::new(world.store.join("spool")).sweep(&Only(Some(request.attempt_id))).unwrap();
    }
    world.traps.set(|_, _| Ok(()));
    let Err(Unstaged::Failed(said)) = stage() else { panic!("it was tried again") };
    assert!(said.contains("Hermit itself ended"), "{said}");
    assert!(stage().is_ok(), "it was told of; what is proposed next is tried like any other");
    assert!(world.get("one.txt").is_none());
}
