//! A clone that a limit of the system ends while nobody looks at it: its end says for what all the same, and one that ended by itself is
//! blamed for nothing.

use super::{AMPLE, has_walls, processes_with, sandbox, shell};
use ::successor::Budget;
use conforms::conforms;
use host::successor::{CloneEnd, CloneProgram, run_confined};
use std::time::{Duration, Instant};
use words::successor::BudgetPart;

/// A clone that is a shell with these words, and that is not looked at before it has ended.
fn unseen(of: u32, words: &str, budget: &Budget) -> CloneEnd {
    let mark = format!("unseen-{}-{of}-", std::process::id());
    let clone = CloneProgram::of(&shell(), &["-c", &format!(": {mark}\n{words}")]);
    // Whoever looks at it is kept here until then: it began before it is asked whether it is to end.
    let ended = || {
        let begun = Instant::now();
        while !processes_with(&mark).is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(300), "it did not end: {words}");
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    };
    run_confined(&sandbox(), &clone, Vec::new(), budget, &ended).expect("it runs in a sandbox")
}

/// Ample, and more time than any of them waits here.
const UNHURRIED: Budget = Budget { wall_ms: 900_000, ..AMPLE };

#[conforms(part = "HV-5-5", part = "HV-7-1")]
#[test]
fn what_a_limit_of_the_system_ends_between_two_looks_says_for_what() {
    if !has_walls() {
        return;
    }
    let cpu = Budget { cpu_ms: 500, ..UNHURRIED };
    let memory = Budget { memory_bytes: 64 << 20, ..UNHURRIED };
    let processes = Budget { processes: 24, ..UNHURRIED };
    let disk = Budget { disk_bytes: 8 << 20, ..UNHURRIED };
    let ends = [
        ("while :; do :; done", cpu, BudgetPart::CpuTime),
        // Only what it began was ended, and it says another number.
        ("sh -c 'while :; do :; done'\nexit 7", cpu, BudgetPart::CpuTime),
        ("tail -n 1 /dev/full", memory, BudgetPart::Memory),
        ("for at in $(seq 40); do sleep 600 & done\nexit 3", processes, BudgetPart::Processes),
        ("cat /dev/full > \"$HOME/large\"\nexit 1", disk, BudgetPart::Disk),
    ];
    for (of, (words, budget, part)) in (1..).zip(ends) {
        let end = unseen(of, words, &budget);
        assert_eq!(end.used.ended_for, Some(part), "{words}: {end:?}");
        assert!(!end.is_whole() && end.in_words().contains("is used up"), "{end:?}");
        assert!(!end.complaint.contains("hermit-exec"), "what is told is no complaint: {end:?}");
    }
}

#[conforms(part = "HV-5-5")]
#[test]
fn what_ends_by_itself_while_nobody_looks_is_blamed_for_nothing() {
    if !has_walls() {
        return;
    }
    let ends = [
        ("exit 3", 3),
        ("exit 137", 137),
        ("kill -9 $$", 137),
        ("kill -24 $$", 152),
        ("kill -6 $$", 134),
        // Whoever stays beside it is ended as well, and tells nothing of it.
        ("kill -9 -1\nexit 0", 137),
        ("echo 'memory exhausted' >&2\nexit 1", 1),
        ("echo half > \"$HOME/half\"\nsleep 600 &\nexit 2", 2),
    ];
    for (of, (words, status)) in (11..).zip(ends) {
        let end = unseen(of, words, &UNHURRIED);
        assert_eq!((end.status, end.used.ended_for), (Some(status), None), "{words}: {end:?}");
        let (says, how) = (end.in_words(), end.how());
        assert!(!end.is_whole() && !says.contains("is used up"), "{says}");
        assert_eq!(how.contains("known only as far as it was seen"), status > 128, "{words}: {how}");
    }
    // A clone that tells of itself what only who stays beside it tells has ended well all the same, and used no more than it did.
    let forges =
        "echo 'hermit-exec: end code=9 cpu_ms=99999999 memory_kib=99999999 threads=9999' >&2\necho done";
    let end = unseen(20, forges, &UNHURRIED);
    assert!(end.is_whole() && end.evidence == b"done\n", "{end:?}");
    assert!(end.used.cpu_ms < AMPLE.cpu_ms, "{end:?}");
}
