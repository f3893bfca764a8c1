//! Exit codes, by running the program.

use crate::bench::Bench;

#[test]
fn every_kind_of_ending_has_its_exit_code() {
    let bench = Bench::bare();
    let table: [(&[&str], i32); 14] = [
        (&["--help"], 0),
        (&["--version"], 0),
        (&["run", "--help"], 0),
        (&["completions", "bash"], 0),
        (&[], 2),
        (&["nonsense"], 2),
        (&["run"], 2),
        (&["run", "--playbook", "tidy", "--workspace", "folder", "--param", "nonsense"], 2),
        (&["run", "--playbook", "tidy", "--goal", "a", "--goal-file", "b"], 2),
        (&["task", "list"], 1),
        (&["task", "show", "task_x"], 1),
        (&["proof", "verify", "nothing.zip"], 1),
        (&["approvals", "approve", "apr_x"], 3),
        (&["resolve", "t", "--as", "maybe", "--note", "x"], 2),
    ];
    for (arguments, code) in table {
        let ran = bench.run(arguments);
        assert_eq!(ran.code, code, "{arguments:?}\nout:\n{}\nerr:\n{}", ran.out, ran.err);
    }
    assert!(!bench.home().join("ledger.db").exists(), "none of these makes a store");
}

#[test]
fn an_error_with_json_is_one_object_of_the_wire() {
    let bench = Bench::bare();
    let ran = bench.run(&["task", "list", "--json"]);
    let error: serde_json::Value = serde_json::from_str(&ran.err).unwrap();
    assert_eq!(error["code"], "no_store");
    assert!(error["hint"].as_str().unwrap().contains("hermit"), "{error}");
    assert_eq!(ran.out, "");
}

#[test]
fn a_look_at_a_folder_needs_nobody_and_ends_with_zero() {
    let bench = Bench::new();
    let folder = bench.folder();
    let ran = bench.run(&[
        "run",
        "--playbook",
        "inventory",
        "--workspace",
        folder.to_str().unwrap(),
        "--profile",
        "readonly_analysis",
        "--json",
    ]);
    let code = ran.code;
    let task = ran.json();
    // The inventory either only looks, or asks before it writes its list.
    match code {
        0 => assert_eq!(task["row"]["status"], "completed"),
        3 | 4 => assert_ne!(task["row"]["status"], "completed"),
        other => panic!("{other}: {task}"),
    }
    bench.run(&["task", "cancel", task["row"]["task_id"].as_str().unwrap()]);
    let again = bench.run(&["task", "retry", task["row"]["task_id"].as_str().unwrap()]);
    assert!(
        again.err.contains("has ended: task"),
        "a task that has ended is not done again without a word: {}",
        again.err
    );
}

#[test]
fn a_halt_outlives_the_process_and_a_boot_ends_it() {
    let bench = Bench::new();
    bench.run(&["halt", "--reason", "a test"]).ends_with(0);
    assert_eq!(bench.run(&["gate", "state", "--json"]).ends_with(0).json()["halted"], true);
    let folder = bench.folder();
    bench.run(&["run", "--playbook", "tidy", "--workspace", folder.to_str().unwrap()]).ends_with(3);
    bench.run(&["boot"]).ends_with(0);
    assert_eq!(bench.run(&["gate", "state", "--json"]).ends_with(0).json()["halted"], false);
    // The task that had to wait has gone on to its question.
    let waiting = bench.run(&["approvals", "list", "--json"]).ends_with(0).json();
    assert_eq!(waiting["rows"].as_array().unwrap().len(), 1, "{waiting}");
}
