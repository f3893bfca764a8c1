//! A store that an earlier version wrote is opened, verified, folded anew, and goes on.
//!
//! `data/store-v1.tar.gz` was written by version 0.1.0 through [`write_fixture`]: one task that is done, one that waits
//! for an approval, and the folder both worked in. A later version keeps this file as it is and adds its own.

use super::programs::root;
use super::stage::{Ran, Stage};
use effects::Contents;
use kernel::ports::{ExecutorSource, Executors};
use kernel::{DriveOutcome, Kernel, Ports, Waiting};
use model::WorkspaceId;
use model::receipt::SandboxLevel;
use seal::Signer as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;
use testkit::{World, done, write};

const SEED: u64 = 0x0F1D;
const GOALS: [&str; 2] = ["write one file", "write another file"];
/// The clock of a kernel that goes on stands an hour behind the last event.
const LATER_MS: i64 = 3_600_000;

fn fixture() -> PathBuf {
    root().join("tests/journeys/data/store-v1.tar.gz")
}

fn script(n: usize) -> Vec<model::proposal::Answer> {
    vec![write(&format!("{n}.txt"), &format!("number {n}\n")), done("written")]
}

/// Writes the fixture, when HERMIT_WRITE_FIXTURE is set.
fn write_fixture() {
    let mut world = World::new(SEED);
    world.file("before.txt", "was here before\n");
    let first = world.script(GOALS[0], script(0));
    assert!(matches!(world.drive_allowing(first), (DriveOutcome::Ended { .. }, 1)));
    let second = world.script(GOALS[1], script(1));
    world.drive_to_approval(second);
    world.kernel().checkpoint(&[first, second]).expect("signed");
    world.kernel().close().expect("closed");
    world.crash();
    let packed = Command::new("sh")
        .args(["-c", r#"d=$(mktemp -d) && cp -a "$1" "$d/store" && cp -a "$2" "$d/work" && tar -C "$d" -czf "$3" store work"#, "sh"])
        .args([world.store.path(), world.folder.path()])
        .arg(fixture())
        .status();
    assert!(packed.expect("tar").success());
}

/// The fixture, unpacked.
fn unpacked() -> TempDir {
    if std::env::var_os("HERMIT_WRITE_FIXTURE").is_some() {
        write_fixture();
    }
    let dir = TempDir::new().expect("a folder");
    let unpacked = Command::new("tar").arg("-xzf").arg(fixture()).arg("-C").arg(dir.path()).status();
    assert!(unpacked.expect("tar").success());
    dir
}

fn hermit(dir: &Path, words: &[&str]) -> Ran {
    let mut command = Command::new(super::programs::hermit());
    command
        .arg("--json")
        .args(words)
        .env("HERMIT_HOME", dir.join("store"))
        .env_remove("HERMIT_PASSPHRASE_FILE")
        .stdin(std::process::Stdio::null());
    Stage::ran(&mut command)
}

/// Executors in the unpacked folder, wherever the folder stood when the store was written.
struct Moved {
    inner: Arc<dyn ExecutorSource>,
    folder: PathBuf,
}

impl ExecutorSource for Moved {
    fn open(
        &self,
        _: &Path,
        workspace: WorkspaceId,
        contents: Arc<dyn Contents>,
    ) -> Result<Arc<dyn Executors>, String> {
        self.inner.open(&self.folder, workspace, contents)
    }

    fn sweep(&self, needed: &dyn effects::Needed) -> Result<usize, String> {
        self.inner.sweep(needed)
    }

    fn sandbox(&self) -> SandboxLevel {
        self.inner.sandbox()
    }

    fn remote(&self, _: &Path) -> Option<String> {
        self.inner.remote(&self.folder)
    }

    fn environment(&self, root: &Path) -> serde_json::Value {
        self.inner.environment(root)
    }
}

#[test]
fn a_store_of_version_one_verifies_folds_anew_and_goes_on_where_it_waited() {
    let dir = unpacked();
    let key = testkit::TestKeys::new(0x40).log_signer().public();
    let pem = dir.path().join("log.pem");
    std::fs::write(&pem, key.to_pem()).expect("a file");
    let trust = pem.to_str().expect("UTF-8");
    let verified = hermit(dir.path(), &["ledger", "verify", "--trust", trust]).ends(0).json();
    assert_eq!(verified["verdict"], "valid");
    let listed = hermit(dir.path(), &["task", "list"]).ends(0).json()["rows"].clone();
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "{listed}");
    folds_anew(&dir.path().join("store"));

    let world = World::bare(SEED + 1);
    world.clock.advance(LATER_MS);
    for (n, goal) in GOALS.iter().enumerate() {
        world.reasoners.script(goal, script(n).split_off(1));
    }
    let ports = world.ports();
    let executors = Arc::new(Moved { inner: Arc::clone(&ports.executors), folder: dir.path().join("work") });
    let kernel =
        Kernel::open(&dir.path().join("store"), Ports { executors, ..ports }).expect("this version opens it");
    goes_on(&world, &kernel, &dir.path().join("work"));
    kernel.checkpoint(&kernel.reader().task_ids().expect("tasks")).expect("signed");
    kernel.close().expect("closed");
    drop(kernel);
    hermit(dir.path(), &["ledger", "verify", "--trust", trust]).ends(0);
    folds_anew(&dir.path().join("store"));
    let rows = hermit(dir.path(), &["receipts", "list"]).ends(0).json()["rows"].clone();
    let effects =
        rows.as_array().expect("rows").iter().filter(|r| r["class"] != "approval_resolution").count();
    assert_eq!(effects, 2, "{rows}");
}

/// The question that waited is answered; the rules of this version are others than those it was put under, so it is
/// put once more, and then the act is done in the same attempt.
fn goes_on(world: &World, kernel: &Kernel, work: &Path) {
    let waits = |task: &model::TaskId| match kernel.drive(*task).expect("driven") {
        DriveOutcome::Waiting(Waiting::Approval(approval)) => Some((*task, approval)),
        _ => None,
    };
    let tasks = kernel.reader().task_ids().expect("tasks");
    let open: Vec<_> = tasks
        .iter()
        .filter(|t| kernel.task(**t).is_ok_and(|s| GOALS.contains(&s.goal_text().as_str())))
        .filter_map(waits)
        .collect();
    assert_eq!(open.len(), 1, "one question waits");
    let (task, approval) = open[0];
    world.person.allow(kernel, task, approval).expect("allowed");
    let (_, again) = waits(&task).expect("it is asked under the rules of today");
    assert_ne!(again, approval);
    assert!(!work.join("1.txt").exists(), "nothing is done on a yes under other rules");
    world.person.allow(kernel, task, again).expect("allowed");
    let standing = kernel.drive(task).expect("driven");
    assert!(matches!(standing, DriveOutcome::Ended { .. }), "{standing:?}");
    assert_eq!(std::fs::read(work.join("1.txt")).expect("written"), b"number 1\n");
}

/// The lists, folded anew from the log, are those that the store came with, byte for byte.
fn folds_anew(store: &Path) {
    let conn = rusqlite::Connection::open(store.join(ledger::FILE)).expect("the ledger");
    let live = projections::tables(&conn).expect("the lists");
    projections::rebuild(&conn, &mut |_| projections::Flow::Continue).expect("they fold");
    assert!(live == projections::tables(&conn).expect("the lists"), "lists differ from the log");
}
