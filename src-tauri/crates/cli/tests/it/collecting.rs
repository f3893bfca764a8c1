//! Making room: what no receipt leads to goes, and everything that was done can still be undone and proven.

use crate::bench::{Bench, allow, before};

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
    let mut terminal = bench.terminal(&["rollback", &task]);
    allow(&mut terminal);
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
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

/// Bytes that repeat nothing.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 88_172_645_463_325_252_u64;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    (0..length).map(next).collect()
}

#[test]
fn beside_a_process_at_work_room_is_made_there_and_large_files_share_what_is_the_same() {
    let bench = Bench::new();
    let (first, second) = (bench.path("first.bin"), bench.path("second.bin"));
    let mut bytes = noise(6_000_000);
    std::fs::write(&first, &bytes).unwrap();
    bytes[5_000_000] ^= 1;
    std::fs::write(&second, &bytes).unwrap();
    let folder = bench.folder();
    let mut terminal =
        bench.terminal(&["run", "--playbook", "tidy", "--workspace", folder.to_str().unwrap()]);
    terminal.expect("Approve?");
    let taken = |file: &std::path::Path| {
        let taken = bench.run(&["artifacts", "ingest", file.to_str().unwrap(), "--json"]).ends_with(0).json();
        taken["artifact_id"].as_str().unwrap().to_owned()
    };
    taken(&first);
    let artifact = taken(&second);
    let weighed = bench.run(&["artifacts", "size", "--json"]).ends_with(0).json();
    assert_eq!(weighed["content_bytes"], 12_000_000, "{weighed}");
    assert!(weighed["saved_bytes"].as_u64().unwrap() > 2_000_000, "{weighed}");
    let out = bench.path("out.bin");
    bench.run(&["artifacts", "show", &artifact, "-o", out.to_str().unwrap()]).ends_with(0);
    assert!(std::fs::read(&out).unwrap() == bytes);

    let soon = bench.run(&["artifacts", "gc", "--older-than", "0s"]).ends_with(2);
    assert!(soon.err.contains("less than a day ago"), "{}", soon.err);
    let looked = bench.run(&["artifacts", "gc", "--dry-run", "--json"]).ends_with(0).json();
    let went = bench.run(&["artifacts", "gc", "--json"]).ends_with(0).json();
    assert_eq!(
        (&looked["artifacts"], &went["artifacts"], &went["dry_run"]),
        (&0.into(), &0.into(), &false.into())
    );
    bench.run(&["artifacts", "keep", &artifact]).ends_with(0);
    let undone = bench.run(&["artifacts", "keep", &artifact, "--undo"]);
    assert!(
        undone.err.contains("has this store open, and this cannot be done while it runs"),
        "{}",
        undone.err
    );
    terminal.send("later\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, 4, "{shown}");
}
