//! Making room beside a process that works at a terminal.

use crate::bench::Bench;

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
