//! A long task needs no more memory than a few bytes for each event: shown below a hard limit of the system's.

#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "this test starts itself again below a limit")]

use crate::world::flat::Flat;
use proof::{Options, Trust, export_to, verify};
use seal::Signer as _;
use std::process::Command;

const EVENTS: u64 = 30_000;
const ASKED: &str = "HERMIT_LONG_EVENTS";

/// What all events, disclosures and names together need: if they were held, the limit below would not do.
fn all_of_it(events: u64) -> u64 {
    events * (900 + 110 + 2 * 81 + 148)
}

/// Not a test by itself: what runs below the limit, in a process of its own.
#[test]
fn below_the_limit() {
    let Some(events) = std::env::var(ASKED).ok().and_then(|n| n.parse::<u64>().ok()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let store = Flat::new(folder.path(), 2, events);
    let path = folder.path().join("bundle");
    export_to(&store, store.signers(), store.world.task, &Options::default(), &path).unwrap();
    let report = verify(&path, &[Trust::from(store.world.keys.log.public())]).unwrap();
    assert_eq!((report.exit_code(), report.counts.events), (0, events), "{report}");
    println!("whole {} files", report.counts.files);
}

fn limited(events: u64, kilobytes: u64) -> (bool, String) {
    let words = "ulimit -v $0 && exec \"$@\"";
    let output = Command::new("sh")
        .args(["-c", words, &kilobytes.to_string()])
        .arg(std::env::current_exe().unwrap())
        .args(["long::below_the_limit", "--exact", "--nocapture", "--test-threads=1"])
        .env(ASKED, events.to_string())
        .env("MALLOC_ARENA_MAX", "1")
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn a_long_task_is_exported_and_verified_below_a_hard_limit_of_memory() {
    // What the program needs before the first event: its own pages, stacks, the allocator.
    let floor = (10..200).map(|n| n * 2_048).find(|kb| limited(50, *kb).0).expect("some memory is enough");
    let most = floor + 12 * 1_024;
    assert!(all_of_it(EVENTS) > 2 * (most - floor) * 1_024, "the limit would not be felt");
    let (ok, said) = limited(EVENTS, most);
    assert!(ok && said.contains("whole "), "{} KB are not enough for {EVENTS} events: {said}", most);
    println!("{EVENTS} events below {most} KB of address space, of which {floor} are the program itself");
}
