//! Making room: what no receipt leads to goes, and everything that was done can still be undone and proven.

use crate::bench::{Bench, before, text};

#[test]
fn garbage_is_shown_collected_and_listed_and_every_receipt_is_as_good_as_before() {
    let bench = Bench::new();
    let (task, receipt) = bench.tidied();
    let gc = |words: &[&str]| {
        let all = [&["artifacts", "gc", "--json"], words].concat();
        bench.run(&all).ends_with(0).json()
    };
    assert_eq!(gc(&["--dry-run"])["artifacts"], 0, "the task has ended just now");
    let planned = gc(&["--dry-run", "--older-than", "0s"]);
    let many = planned["artifacts"].as_u64().unwrap();
    assert!(many > 0, "{planned}");
    assert_eq!(planned["lists"].as_array().unwrap().len(), 0, "only looked: {planned}");
    let collected = gc(&["--older-than", "0s"]);
    assert_eq!(collected["artifacts"], many, "{collected}");
    let list = collected["lists"][0].as_str().unwrap();
    bench.run(&["artifacts", "show", list]).ends_with(0);
    assert_eq!(gc(&["--dry-run", "--older-than", "0s"])["artifacts"], 0, "once is enough");

    bench.run(&["ledger", "verify"]).ends_with(0);
    bench.run(&["receipts", "show", &receipt]).ends_with(0);
    bench.run(&["explain", &receipt]).ends_with(0);
    let proof = bench.path("proof.zip");
    bench.run(&["proof", "export", &task, "-o", proof.to_str().unwrap()]).ends_with(0);
    bench.run(&["proof", "verify", proof.to_str().unwrap()]).ends_with(0);
    let undo = bench.run(&["rollback", &task, "--json"]).ends_with(4).json();
    bench.allow(&text(&undo["row"]["task_id"]), &text(&undo["waits_for"]["id"]));
    assert_eq!(bench.files(), before());
}

#[test]
fn what_is_no_time_is_refused_and_doctor_tells_of_content_beside_its_quota() {
    let bench = Bench::new();
    let ran = bench.run(&["artifacts", "gc", "--older-than", "a while"]).ends_with(2);
    assert!(ran.err.contains("`a while` is no time"), "{}", ran.err);
    let fact = |bench: &Bench| {
        let facts = bench.run(&["doctor", "--json"]).json();
        let facts = facts["facts"].as_array().unwrap().clone();
        facts.into_iter().find(|fact| fact["name"] == "content").unwrap()
    };
    assert_eq!(fact(&bench)["level"], "fine");
    let file = bench.path("large.bin");
    std::fs::write(&file, vec![7_u8; 200_000]).unwrap();
    bench.run(&["artifacts", "ingest", file.to_str().unwrap()]).ends_with(0);
    std::fs::write(bench.home().join("config.json"), r#"{"content_quota_bytes":100000}"#).unwrap();
    let full = fact(&bench);
    assert_eq!(full["level"], "trouble", "{full}");
    assert!(full["advice"].as_str().unwrap().contains("hermit artifacts gc"), "{full}");
}
