//! Ten years of slots in zones of several kinds, beside those of another implementation (`schedule.md` 5).
#![allow(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and this one starts a program"
)]

use model::UnixMs;
use std::process::Command;

/// Summer time north and south, by half an hour, at midnight; a zone that dropped it in these years; and one without.
const ZONES: [&str; 6] = [
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Santiago",
    "America/Sao_Paulo",
    "Asia/Kolkata",
];

#[test]
fn ten_years_of_slots_are_those_of_another_implementation() {
    let script =
        format!("{}/tests/reference.mjs", std::env::var("CARGO_MANIFEST_DIR").expect("run by cargo"));
    let ended = Command::new("node").arg(script).args(ZONES).output().expect("Node.js");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let said = String::from_utf8(ended.stdout).expect("UTF-8");
    let (begin, end) = (1_483_228_800_000, 1_798_761_600_000);
    let mut compared = 0;
    for line in said.lines() {
        let [zone, expression, theirs]: [&str; 3] =
            line.split('\t').collect::<Vec<_>>().try_into().expect("three columns");
        let rule = schedule::cron(expression, zone).expect("a rule");
        let ours: Vec<String> = schedule::slots(&rule, UnixMs(begin - 1))
            .expect("slots")
            .take_while(|slot| slot.at.0 <= end)
            .map(|slot| (slot.at.0 / 60_000).to_string())
            .collect();
        let theirs: Vec<&str> = theirs.split(' ').collect();
        let parted = ours.iter().zip(&theirs).find(|(ours, theirs)| ours != *theirs);
        assert!(parted.is_none() && ours.len() == theirs.len(), "{zone} {expression}: {parted:?}");
        compared += ours.len();
    }
    assert!(compared > 1_000_000, "{compared} slots");
}
