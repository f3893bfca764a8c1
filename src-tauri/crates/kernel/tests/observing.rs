//! Dispatched, and nobody wrote down how it ended: who is asked first, and who last (HK-19.3).

use crate::story::{completed, count};
use effects::Contents;
use kernel::ports::{ExecutorSource, Executors};
use kernel::{DriveOutcome, Kernel, Ports, Waiting};
use model::TaskId;
use model::WorkspaceId;
use model::fault::Point;
use model::receipt::{ResultCode, SandboxLevel};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use testkit::{Edge, World, command, done, write};

/// The real executors, said to be behind walls, so that policy lets a command come as far as its dispatch.
pub struct Walled(pub Arc<dyn ExecutorSource>);

impl ExecutorSource for Walled {
    fn open(
        &self,
        root: &Path,
        id: WorkspaceId,
        contents: Arc<dyn Contents>,
    ) -> Result<Arc<dyn Executors>, String> {
        self.0.open(root, id, contents)
    }

    fn sweep(&self, needed: &dyn effects::Needed) -> Result<usize, String> {
        self.0.sweep(needed)
    }

    fn sandbox(&self) -> SandboxLevel {
        SandboxLevel::NamespacesLandlock
    }

    fn remote(&self, root: &Path) -> Option<String> {
        self.0.remote(root)
    }

    fn environment(&self, root: &Path) -> Value {
        self.0.environment(root)
    }
}

fn walled(world: &World) -> Kernel {
    let ports = world.ports();
    let executors = Arc::new(Walled(Arc::clone(&ports.executors)));
    Kernel::open(world.store.path(), Ports { executors, ..ports }).unwrap()
}

/// A command that was dispatched by a host that died before it could begin, and the folder its executor writes to.
fn dispatched(seed: u64) -> (World, Kernel, TaskId, PathBuf) {
    let mut world = World::new(seed);
    world.reasoners.script("run", vec![command(&["touch", "x"]), done("ran")]);
    let submission =
        world.submission("run", kernel::command::submit::Reasoning::Scripted { name: "run".to_owned() });
    let task = world.kernel().submit(&submission).unwrap().task_id;
    world.crash();
    let kernel = walled(&world);
    let DriveOutcome::Waiting(Waiting::Approval(approval)) = kernel.drive(task).unwrap() else {
        panic!("a command is asked for")
    };
    world.person.allow(&kernel, task, approval).unwrap();
    world.faults.plan(Point::EffectDispatch, Edge::After, testkit::Mode::Abort, 1);
    let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| kernel.drive(task)));
    assert!(world.faults.fired(), "{died:?}");
    world.faults.clear();
    drop(kernel);
    let kernel = walled(&world);
    let request = kernel.task(task).unwrap().attempt().unwrap().act().unwrap().action_request_id;
    let spool = world.store.path().join("spool").join(request.to_string());
    (world, kernel, task, spool)
}

/// What the executor leaves: that it began, the mark of its start, and how it ended.
fn leave(spool: &Path, mark: &str, ended: Option<i32>) -> File {
    fs::create_dir_all(spool).unwrap();
    let begun = json!({ "argv": ["touch", "x"], "cwd": "", "network": false, "marked": true });
    fs::write(spool.join("argv.json"), begun.to_string()).unwrap();
    fs::write(spool.join("started"), mark).unwrap();
    if let Some(code) = ended {
        let ended = json!({ "exit_code": code, "signal": null, "ended_by": null, "stdout_bytes": 0, "stderr_bytes": 0 });
        fs::write(spool.join("exit.json"), ended.to_string()).unwrap();
    }
    File::options().read(true).write(true).open(spool.join("started")).unwrap()
}

fn result(kernel: &Kernel, task: TaskId) -> Option<ResultCode> {
    kernel.task(task).unwrap().receipts.last().map(|r| r.result_code)
}

#[conforms::conforms("HK-19.3-2")]
#[test]
fn the_executor_is_asked_first_then_the_folder_then_the_transcript_and_a_person_only_last() {
    // First the executor: its own word of the end counts, whatever the folder looks like by now.
    let (world, kernel, task, spool) = dispatched(1001);
    drop(leave(&spool, "started\n", Some(0)));
    world.file("x", "somebody else wrote here since");
    assert_eq!(kernel.drive(task).unwrap(), completed());
    assert_eq!(result(&kernel, task), Some(ResultCode::Succeeded));
    // Also when it lives still: then nothing else is believed, and it is not begun again.
    let (_world, kernel, task, spool) = dispatched(1002);
    let held = leave(&spool, "", None);
    held.try_lock().unwrap();
    assert_eq!(kernel.drive(task).unwrap(), DriveOutcome::Waiting(Waiting::UnknownOutcome));
    drop(held);
    // Second the target: an act that its executor keeps no word of is told from the folder alone.
    let mut world = World::new(1003);
    let task = world.script("write", vec![write("a.txt", "a"), done("ok")]);
    let approval = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, approval).unwrap();
    world.oracle.die_after_next();
    let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.kernel().drive(task)));
    assert!(died.is_err());
    world.reopen();
    assert_eq!(world.drive(task), completed());
    assert_eq!(result(world.kernel(), task), Some(ResultCode::Succeeded));
    // Third the transcript: it says that the command never came to begin.
    for mark in [None, Some(""), Some("started\nno such program")] {
        let (_world, kernel, task, spool) = dispatched(1004);
        if let Some(mark) = mark {
            drop(leave(&spool, mark, None));
        }
        assert_eq!(kernel.drive(task).unwrap(), completed(), "{mark:?}");
        assert_eq!(result(&kernel, task), Some(ResultCode::Failed), "{mark:?}");
        assert_eq!(count(&kernel, task, "effect.dispatched"), 1, "it is not begun again");
    }
    // Last a person: it had begun, and neither executor nor folder nor transcript says how it ended.
    let (world, kernel, task, spool) = dispatched(1005);
    drop(leave(&spool, "started\n", None));
    assert_eq!(kernel.drive(task).unwrap(), DriveOutcome::Waiting(Waiting::UnknownOutcome));
    assert_eq!(result(&kernel, task), Some(ResultCode::UnknownOutcome));
    kernel.resolve_outcome(task, ResultCode::Failed, "I looked, and there is no file x").unwrap();
    assert_eq!(kernel.drive(task).unwrap(), completed());
    assert!(world.oracle.performed().is_empty(), "nothing was run by any of this");
}
