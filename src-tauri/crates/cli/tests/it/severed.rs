//! A chain that broke is found, read, not written, and gone on with by a person; what was severed stays for ever.

use crate::bench::{APPROVAL, Bench, text};
use conforms::conforms;
use serde_json::Value;

/// A tidied folder whose task was signed for half-way; the task, and how many events were signed for then.
fn tidied(bench: &Bench) -> (String, u64) {
    let (task, approval) = bench.waiting();
    let signed = bench.run(&["ledger", "checkpoint", &task, "--json"]).ends_with(0).json();
    bench.allow(&task, &approval);
    let of_task = signed["checkpoints"].as_array().unwrap().iter().find(|c| c["task_id"] == task.as_str());
    (task, of_task.unwrap()["size"].as_u64().unwrap())
}

fn verify(bench: &Bench, code: i32) -> Value {
    bench.run(&["ledger", "verify", "--json"]).ends_with(code).json()
}

fn trusted(bench: &Bench) -> String {
    let keys = bench.run(&["keys", "list", "--json"]).ends_with(0).json();
    text(&keys["keys"].as_array().unwrap().iter().find(|k| k["purpose"] == "log").unwrap()["keyid"])
}

#[conforms("HK-13.4-1")]
#[test]
fn a_broken_chain_is_found_read_not_written_and_anchored_anew_by_a_person() {
    let bench = Bench::new();
    let (old, signed) = tidied(&bench);
    let receipt = bench.receipt(&old);
    bench.run(&["ledger", "checkpoint"]).ends_with(0);
    assert_eq!(verify(&bench, 0)["severed"], serde_json::json!([]));

    // Two events before its end, somebody changes what happened.
    let uuid = old.replace("task_", "").replace('-', "");
    let at = format!(
        "task_id = x'{uuid}' AND task_seq = (SELECT max(task_seq) - 2 FROM events WHERE task_id = x'{uuid}')"
    );
    let broken = bench.sqlite(&format!("SELECT task_seq FROM events WHERE {at}"))[0][0].as_u64().unwrap();
    assert!(broken > signed);
    bench.sqlite(&format!("UPDATE events SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"canon\"', '\"cAnon\"') AS BLOB) WHERE {at}"));
    let found = verify(&bench, 5);
    assert!(text(&found["place"]).contains(&format!("event {broken} of task `{old}`")), "{found}");

    // It is read, and nothing is written into it.
    bench.run(&["task", "list"]).ends_with(0);
    bench.run(&["receipts", "show", &receipt]).ends_with(0);
    let refused = bench.run(&["ledger", "checkpoint"]);
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("hermit ledger reanchor"), "it says what to do: {}", refused.err);

    // Only a person goes on.
    let looked = bench.run(&["ledger", "reanchor", "--preview", "--json"]).ends_with(0).json();
    assert_eq!(
        (&looked["broken"][0]["task_id"], &looked["broken"][0]["from_seq"]),
        (&old.as_str().into(), &broken.into())
    );
    bench.run(&["ledger", "reanchor"]).ends_with(2);
    assert_ne!(bench.reanchor("a wrong passphrase").code, 0);
    assert_eq!(verify(&bench, 5), found, "nothing was changed");
    let done = bench.reanchor(APPROVAL).ends_with(0).json();
    assert_eq!(done["verdict"], "incomplete", "{done}");
    assert_ne!(bench.reanchor(APPROVAL).code, 0, "there is nothing left to sever");

    stays_severed(&bench, &old, broken, signed, &receipt);
    goes_on(&bench);
    // For ever: folded anew, by a later host, still so.
    bench.run(&["ledger", "rebuild"]).ends_with(0);
    assert_eq!(verify(&bench, 7)["severed"][0]["from_seq"], broken);
}

/// The old part is named, readable, and nothing is done with it or proven of it.
fn stays_severed(bench: &Bench, old: &str, broken: u64, signed: u64, receipt: &str) {
    let report = verify(bench, 7);
    let cut = &report["severed"][0];
    assert_eq!(
        (&cut["task_id"], &cut["from_seq"], &cut["rows"]),
        (&old.into(), &broken.into(), &3.into()),
        "{report}"
    );
    assert_eq!(cut["reason"], "a disk that lies");
    assert!(text(&report["reason"]).contains("was severed at event"), "{report}");
    let told = bench.run(&["ledger", "verify"]).ends_with(7);
    assert!(told.out.contains(old) && told.out.contains("a disk that lies"), "{}", told.out);
    let shown = bench.run(&["ledger", "severed", old, "--json"]).ends_with(0).json();
    let rows = shown["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert!(text(&rows[0]["text"]).contains("cAnon"), "what is there is read as it is: {shown}");
    assert!(rows[0]["hash"] != rows[0]["sha256"] && rows[1]["hash"] == rows[1]["sha256"], "{shown}");
    bench.run(&["task", "show", old]).ends_with(0);
    let refused = bench.run(&["rollback", receipt]);
    assert!(refused.code != 0 && refused.err.contains("severed"), "{}", refused.err);
    // Its proof ends where its last signed head before the cut does, and says so.
    let path = bench.path("old.zip");
    let made =
        bench.run(&["proof", "export", old, "-o", path.to_str().unwrap(), "--json"]).ends_with(0).json();
    assert!(made["left_out"].to_string().contains("severed"), "{made}");
    let key = trusted(bench);
    let proven = bench.run(&["proof", "verify", path.to_str().unwrap(), "--trust", &key, "--json"]).json();
    assert_eq!(proven["task_size"], signed, "{proven}");
    assert_ne!(proven["verdict"], "invalid", "{proven}");
}

/// A new task is done, and proven as ever.
fn goes_on(bench: &Bench) {
    std::fs::remove_dir_all(bench.folder()).unwrap();
    std::fs::create_dir(bench.folder()).unwrap();
    std::fs::write(bench.folder().join("new.txt"), "new").unwrap();
    let (task, _) = tidied(bench);
    let path = bench.path("new.zip");
    bench.run(&["proof", "export", &task, "-o", path.to_str().unwrap()]).ends_with(0);
    let proven = bench
        .run(&["proof", "verify", path.to_str().unwrap(), "--trust", &trusted(bench), "--json"])
        .ends_with(0);
    assert_eq!(proven.json()["verdict"], "valid");
}

#[test]
fn a_broken_stream_of_the_store_itself_is_gone_on_with_too() {
    let bench = Bench::new();
    let file = bench.path("one");
    std::fs::write(&file, "one").unwrap();
    bench.run(&["artifacts", "ingest", file.to_str().unwrap()]).ends_with(0);
    bench.run(&["ledger", "checkpoint"]).ends_with(0);
    // The store's own stream lost a row in the middle.
    let system = "task_id = (SELECT task_id FROM events WHERE log_seq = 1)";
    let lost = format!(
        "{system} AND event_type = 'host.stopped' AND task_seq = (SELECT min(task_seq) FROM events WHERE {system} AND event_type = 'host.stopped')"
    );
    let at = bench.sqlite(&format!("SELECT task_seq FROM events WHERE {lost}"))[0][0].as_u64().unwrap();
    bench.sqlite(&format!("DELETE FROM events WHERE {lost}"));
    verify(&bench, 5);
    assert_ne!(bench.run(&["ledger", "checkpoint"]).code, 0);
    let done = bench.reanchor(APPROVAL).ends_with(0).json();
    assert_eq!((&done["verdict"], &done["severed"][0]["lost"]), (&"incomplete".into(), &1.into()), "{done}");
    assert_eq!(done["severed"][0]["from_seq"], at);
    goes_on(&bench);
    verify(&bench, 7);
}
