//! A second machine that cosigns: what grew, never a fork, never an older head, and it remembers across its own death.

use crate::bench::{Bench, alone, copy, program, text};
use crate::without_terminal;
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;
use testkit::{Killed, Lines};

/// A witness at work; it ends with the test.
struct Serving {
    _child: Killed,
    url: String,
    key: String,
}

fn log_key(bench: &Bench) -> String {
    let keys = bench.run(&["keys", "list", "--json"]).ends_with(0).json();
    let log = keys["keys"].as_array().unwrap().iter().find(|k| k["purpose"] == "log").unwrap().clone();
    text(&log["vkey"])
}

fn serve(bench: &Bench, log: &str, fault: &str) -> Serving {
    let mut command = without_terminal(program());
    command
        .args(["--json", "witness", "serve", "--name", "witness.test/one", "--listen", "127.0.0.1:0"])
        .arg("--dir")
        .arg(bench.path("witness"))
        .args(["--log", log]);
    let mut child = alone(&mut command)
        .env("HERMIT_HOME", bench.path("no store"))
        .env("HERMIT_PASSPHRASE_FILE", bench.path("vault"))
        .env("HERMIT_FAULT", fault)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut lines = Lines::of(child.stdout.take().unwrap());
    // Killed also where it says nothing.
    let mut serving = Serving { _child: Killed(child), url: String::new(), key: String::new() };
    let said: Value = serde_json::from_str(&lines.next().expect("where it listens")).unwrap();
    (serving.url, serving.key) = (text(&said["url"]), text(&said["key"]));
    serving
}

/// Status, content type and body of a request.
fn post(url: &str, body: &[u8]) -> (u16, String, String) {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(300))).unwrap();
    let head = format!(
        "POST /add-checkpoint HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let kind = head.lines().find_map(|l| l.to_lowercase().strip_prefix("content-type: ").map(str::to_owned));
    (status, kind.unwrap_or_default(), body.to_owned())
}

fn more(bench: &Bench, goal: &str) -> String {
    std::fs::write(bench.path(goal), goal).unwrap();
    bench.run(&["artifacts", "ingest", bench.path(goal).to_str().unwrap()]).ends_with(0);
    bench.run(&["ledger", "checkpoint"]).ends_with(0);
    bench.run(&["checkpoint", "export"]).ends_with(0).out
}

#[test]
fn a_proof_carries_what_a_witness_signed_and_says_how_many_of_the_policy_did() {
    let bench = Bench::new();
    let (task, _) = bench.tidied();
    let serving = serve(&bench, &log_key(&bench), "");
    bench.run(&["checkpoint", "witness"]).ends_with(2);
    bench.run(&["checkpoint", "witness", &serving.url]).ends_with(2);
    let asked = bench.run(&["checkpoint", "witness", &serving.url, "--key", &serving.key]).ends_with(0);
    assert!(asked.out.contains("1 of 1 witnesses cosigned"), "{}", asked.out);
    bench.run(&["checkpoint", "witness"]).ends_with(0);
    let keys = bench.run(&["keys", "list", "--json"]).ends_with(0).json();
    let manifest = keys["keys"].as_array().unwrap().iter().find(|k| k["purpose"] == "manifest").unwrap();
    let manifest = text(&manifest["keyid"]);
    let proof = bench.path("proof");
    bench.run(&["proof", "export", &task, "-o", proof.to_str().unwrap()]).ends_with(0);
    let note = std::fs::read_to_string(proof.join("log/checkpoint")).unwrap();
    assert!(note.contains("\u{2014} witness.test/one "), "{note}");
    let verify = |more: &[&str]| {
        let words =
            [&["proof", "verify", proof.to_str().unwrap(), "--trust", &manifest, "--json"], more].concat();
        bench.run(&words).ends_with(0).json().to_string()
    };
    assert!(verify(&[]).contains("1 of the 1 witnesses that the bundle's policy names have cosigned"));
    let trusted = verify(&["--trust", &serving.key]);
    assert!(trusted.contains("has seen this log only grow"), "{trusted}");
    // A witness that is gone costs a word, not the proof.
    drop(serving);
    let later = bench.path("later.zip");
    let made = bench.run(&["proof", "export", &task, "-o", later.to_str().unwrap()]).ends_with(0);
    assert!(made.out.contains("witness.test/one"), "{}", made.out);
    let report =
        bench.run(&["proof", "verify", later.to_str().unwrap(), "--trust", &manifest, "--json"]).ends_with(0);
    assert!(report.json().to_string().contains("0 of the 1 witnesses"), "{}", report.out);
    // A line of the witness that does not hold is refused, not overlooked.
    let changed = note.replacen("witness.test/one ", "witness.test/one A", 1);
    std::fs::write(proof.join("log/checkpoint"), changed).unwrap();
    bench.run(&["proof", "verify", proof.to_str().unwrap(), "--trust", &manifest]).ends_with(5);
}

#[test]
fn a_fork_and_a_rollback_are_refused_also_after_the_witness_was_started_again() {
    let bench = Bench::new();
    more(&bench, "one");
    let serving = serve(&bench, &log_key(&bench), "");
    bench.run(&["checkpoint", "witness", &serving.url, "--key", &serving.key]).ends_with(0);
    copy(&bench.home(), &bench.path("old"));
    more(&bench, "two");
    bench.run(&["checkpoint", "witness"]).ends_with(0);
    drop(serving);

    let serving = serve(&bench, &log_key(&bench), "");
    bench.run(&["checkpoint", "witness", &serving.url, "--key", &serving.key]).ends_with(0);
    // The store is set back, and its owner goes on as if nothing had been.
    std::fs::remove_dir_all(bench.home()).unwrap();
    copy(&bench.path("old"), &bench.home());
    bench.accept(crate::bench::APPROVAL).ends_with(0);
    let behind = bench.run(&["checkpoint", "witness", &serving.url, "--key", &serving.key]).ends_with(1);
    assert!(
        behind.out.contains("this store is older") || behind.out.contains("another history"),
        "{}",
        behind.out
    );
    for goal in ["three", "four", "five", "six"] {
        more(&bench, goal);
    }
    let forked = bench.run(&["checkpoint", "witness", &serving.url, "--key", &serving.key]).ends_with(1);
    assert!(forked.out.contains("another history"), "{}", forked.out);
    assert!(!bench.run(&["checkpoint", "witness", "--json"]).out.contains("\"cosigned_at\": 1"));
}

#[test]
fn every_answer_has_the_status_that_the_specification_gives_it() {
    let bench = Bench::new();
    let first = more(&bench, "one");
    let second = more(&bench, "two");
    let serving = serve(&bench, &log_key(&bench), "");
    let ask = |old: u64, lines: &str, note: &str| {
        post(&serving.url, format!("old {old}\n{lines}\n{note}").as_bytes())
    };
    let size = |note: &str| note.lines().nth(1).unwrap().parse::<u64>().unwrap();
    assert_eq!(post(&serving.url, b"nonsense").0, 400);
    assert_eq!(ask(size(&first) + 1, "", &first).0, 400, "the old size is larger than the checkpoint's");
    let (status, kind, body) = ask(3, "", &second);
    assert_eq!((status, kind.as_str(), body.as_str()), (409, "text/x.tlog.size", "0\n"));
    let (status, _, line) = ask(0, "", &first);
    assert_eq!(status, 200);
    assert!(line.starts_with("\u{2014} witness.test/one "), "{line}");
    assert_eq!(ask(0, "", &second).2, format!("{}\n", size(&first)));
    assert_eq!(ask(size(&first), "", &second).0, 422, "a proof is missing");
    let zero = format!("{}\n", "A".repeat(43) + "=");
    assert_eq!(ask(size(&first), &zero, &second).0, 422);
    assert_eq!(ask(size(&first), "", &first).0, 200, "the same head once more");
    let stranger = second.replacen("hermit.local/", "hermit.other/", 1);
    assert_eq!(ask(0, "", &stranger).0, 404);
    let forged = second.replacen(&format!("\n{}\n", size(&second)), &format!("\n{}\n", size(&second) + 1), 1);
    assert_eq!(ask(size(&first), "", &forged).0, 403);
    assert_eq!(post(&serving.url, &vec![b'x'; 200_000]).0, 413);
}

#[test]
fn a_witness_that_dies_before_it_signs_has_remembered_and_one_that_dies_before_that_has_not() {
    let bench = Bench::new();
    let first = more(&bench, "one");
    for (fault, status) in [("witness.remember:before:error:2", 200), ("witness.remember:after:error:2", 409)]
    {
        std::fs::remove_dir_all(bench.path("witness")).ok();
        let serving = serve(&bench, &log_key(&bench), fault);
        let body = format!("old 0\n\n{first}");
        assert_eq!(
            post(&serving.url, body.as_bytes()).0,
            500,
            "{fault}: it does not sign what it did not remember"
        );
        drop(serving);
        let again = serve(&bench, &log_key(&bench), "");
        assert_eq!(post(&again.url, body.as_bytes()).0, status, "{fault}");
    }
}
