//! What a person erases is nowhere in the store any more, and everything that was proven stays proven.

use crate::bench::{Bench, holding, text};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const PLANTED: &str = "quokka zanzibar 7731 \"quoted\"";

/// A task that was told something, and has ended.
fn told(bench: &Bench) -> String {
    let (task, approval) = bench.waiting();
    bench.run(&["task", "note", &task, PLANTED]).ends_with(0);
    // What was asked before the words came is void; it is asked anew with them in sight.
    bench.run(&["resume"]).ends_with(0);
    assert_eq!(bench.status(&approval), "invalidated");
    let waiting = bench.run(&["approvals", "list", "--json"]).ends_with(0).json();
    let again = text(&waiting["rows"][0]["approval_id"]);
    bench.allow(&task, &again);
    task
}

#[test]
fn a_tasks_words_are_erased_from_every_file_and_every_proof_of_it_still_holds() {
    let bench = Bench::new();
    let task = told(&bench);
    let before = bench.path("before.zip");
    bench.run(&["proof", "export", &task, "-o", before.to_str().unwrap()]).ends_with(0);
    let there = holding(&bench.home(), b"quokka");
    let files: BTreeSet<String> =
        there.iter().map(|path| path.file_name().unwrap().to_str().unwrap().replace("-wal", "")).collect();
    assert!(files.contains("ledger.db"), "words and their index are there: {files:?}");
    assert!(files.contains("journal.db"), "the run stream has told them: {files:?}");
    assert!(bench.run(&["search", "quokka"]).ends_with(0).out.contains(&task));
    let plan = bench.run(&["erase", "--task", &task, "--preview", "--json"]).ends_with(0).json();
    assert!(plan["values"].to_string().contains("quokka"), "{plan}");
    assert!(!holding(&bench.home(), b"quokka").is_empty(), "a look erases nothing");
    bench.run(&["erase", "--task", &task]).ends_with(2);
    assert_ne!(bench.erase(&["--task", &task], "a wrong passphrase").code, 0);
    assert!(!holding(&bench.home(), b"quokka").is_empty());

    let erased = bench.erase(&["--task", &task], crate::bench::APPROVAL).ends_with(0);
    assert!(erased.out.contains("erased:"), "{}", erased.out);
    assert_eq!(holding(&bench.home(), b"quokka"), Vec::<PathBuf>::new());
    assert!(!bench.run(&["search", "quokka"]).ends_with(0).out.contains("task_"));
    let report = bench.run(&["ledger", "verify", "--json"]).ends_with(0).json();
    assert_eq!(report["verdict"], "valid", "{report}");
    let live = bench.run(&["task", "show", &task, "--json"]).ends_with(0).json();
    bench.run(&["ledger", "rebuild"]).ends_with(0);
    assert_eq!(bench.run(&["task", "show", &task, "--json"]).ends_with(0).json(), live);
    assert_eq!(holding(&bench.home(), b"quokka"), Vec::<PathBuf>::new());

    // What was given away holds as before; what is given away now shows digests instead.
    let keys = bench.run(&["keys", "list", "--json"]).ends_with(0).json();
    let manifest = keys["keys"].as_array().unwrap().iter().find(|k| k["purpose"] == "manifest").unwrap();
    let (manifest, after) = (text(&manifest["keyid"]), bench.path("after"));
    let verify =
        |path: &Path| bench.run(&["proof", "verify", path.to_str().unwrap(), "--trust", &manifest, "--json"]);
    verify(&before).ends_with(0);
    bench.run(&["proof", "export", &task, "-o", after.to_str().unwrap()]).ends_with(0);
    let report = verify(&after).ends_with(0).json();
    assert!(report["counts"]["redacted"].as_u64().unwrap() > 0, "{report}");
    assert_eq!(holding(&after, b"quokka"), Vec::<PathBuf>::new());

    // Who decided it stands in the log, signed.
    let events = bench.run(&["erase", "--task", &task, "--preview"]).ends_with(0);
    assert!(events.out.contains("nothing left to erase"), "{}", events.out);
}

#[test]
fn an_erasure_cut_off_after_its_commit_is_finished_by_saying_it_again() {
    let bench = Bench::new();
    let task = told(&bench);
    let cut = bench.erase_with(&["--task", &task], crate::bench::APPROVAL, "disclosure.erase:after:abort");
    assert_ne!(cut.code, 0);
    bench.erase(&["--task", &task], crate::bench::APPROVAL).ends_with(0);
    assert_eq!(holding(&bench.home(), b"quokka"), Vec::<PathBuf>::new());
    bench.run(&["ledger", "verify"]).ends_with(0);
    let before =
        bench.erase_with(&["--task", &task], crate::bench::APPROVAL, "disclosure.erase:before:abort");
    assert_eq!(before.code, 0, "nothing is left, so nothing is committed: {}", before.err);
}

#[test]
fn a_task_at_work_is_not_erased_and_one_value_goes_alone() {
    let bench = Bench::new();
    let (task, _) = bench.waiting();
    let refused = bench.erase(&["--task", &task], crate::bench::APPROVAL);
    assert_eq!(refused.code, 1, "{}", refused.err);
    assert!(refused.err.contains("cancel it first"), "{}", refused.err);
    bench.run(&["task", "cancel", &task]).ends_with(0);
    let plan = bench.run(&["erase", "--task", &task, "--preview", "--json"]).ends_with(0).json();
    let values = plan["values"].as_array().unwrap();
    let one = text(&values[0]["digest"]);
    bench.erase(&["--value", &one], crate::bench::APPROVAL).ends_with(0);
    let left = bench.run(&["erase", "--task", &task, "--preview", "--json"]).ends_with(0).json();
    let left: Vec<String> = left["values"].as_array().unwrap().iter().map(|v| text(&v["digest"])).collect();
    assert_eq!(left.len(), values.len() - 1);
    assert!(!left.contains(&one));
    bench.run(&["ledger", "checkpoint"]).ends_with(0);
    bench.run(&["ledger", "verify"]).ends_with(0);
    bench.run(&["erase", "--value", &one, "--preview"]).ends_with(1);
    bench.run(&["erase", "--value", &one, "--task", &task]).ends_with(2);
}
