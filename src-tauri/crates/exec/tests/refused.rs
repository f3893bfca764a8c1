//! What the system refuses in the middle of an act: nothing is said to be gone that is still there.

use crate::support::{World, sha};
use effects::Sandbox;
use model::action::{ChangeItem, Prior};
use model::receipt::{ItemOutcome, ResultCode};
use std::path::PathBuf;
use std::process::Command;

/// Set for the process that may not remove anything: where it works.
const FOLDER: &str = "HERMIT_TEST_REFUSED";

/// Not a test of its own: what the next test runs where nothing can be removed.
#[test]
fn the_acts_that_cannot_remove_anything() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let mut known = tempfile::Builder::new().prefix("known").rand_bytes(0).tempdir_in(folder).unwrap();
    known.disable_cleanup(true);
    let root = known.path().join("lease");
    std::fs::create_dir(&root).unwrap();
    let world = World::over(known, root, Sandbox::none("nothing is run".to_owned()));
    world.put("gone", "old");
    world.put("kept", "old");
    let delete = ChangeItem::Delete { path: crate::support::rel("gone"), prior: sha(b"old") };
    let (_, outcome) = world.change(vec![delete]);
    assert_eq!(outcome.result_code, ResultCode::Failed, "{outcome:?}");
    assert_eq!(outcome.changes[0].outcome, ItemOutcome::NotDone);
    assert_eq!(world.get("gone").unwrap(), b"old", "it has its name back");
    assert_eq!(world.tree().len(), 2, "and nothing else is there: {:?}", world.tree().keys());
    let (_, outcome) = world.change(vec![world.write("kept", b"new", sha(b"old"))]);
    assert_eq!(outcome.result_code, ResultCode::Failed, "{outcome:?}");
    assert_eq!(world.get("kept").unwrap(), b"old");
    assert!(outcome.observed.join(" ").contains("temporary file"), "what is left is told: {outcome:?}");
    let (_, outcome) = world.change(vec![world.write("new", b"new", Prior::Absent)]);
    assert_eq!(outcome.result_code, ResultCode::Succeeded, "{outcome:?}");
}

#[test]
fn what_cannot_be_removed_is_put_back_and_said_not_to_be_done() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let refused = Command::new("strace")
        .args([
            "-f",
            "-qq",
            "-o",
            "/dev/null",
            "-e",
            "trace=unlinkat",
            "-e",
            "inject=unlinkat:error=EPERM",
            "-P",
        ])
        .arg(root.join("known/lease"))
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "refused::the_acts_that_cannot_remove_anything"])
        .env(FOLDER, &root)
        .output()
        .expect("strace; install it to run this test");
    assert!(refused.status.success(), "{}", String::from_utf8_lossy(&refused.stdout));
}
