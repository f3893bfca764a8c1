//! A clone that takes more than it was given ends with its namespace, and its end says of what.

use super::asked_words::{by_its_words, reads, tried_words, works_in};
use super::proposed::{done, writes};
use super::{AMPLE, has_walls, misbehaves, processes_with, sandbox, shell, soon};
use crate::journeys::stage::Stage;
use ::successor::Budget;
use conforms::conforms;
use host::successor::{CloneProgram, run_confined};
use serde_json::{Value, json};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use testkit::{Chat, Large};
use words::successor::BudgetPart;

/// A number that stands in the words of no other process.
fn mark(of: u32) -> String {
    format!("{}", 10_000_000_u64 + u64::from(std::process::id()) * 10 + u64::from(of))
}

#[conforms(part = "HV-5-5", part = "HV-7-1")]
#[test]
fn one_that_forks_without_an_end_ends_for_its_processes() {
    if !has_walls() {
        return;
    }
    let mark = mark(1);
    let words = format!("while :; do sleep {mark} & done");
    let end = misbehaves(&words, &Budget { processes: 24, ..AMPLE });
    assert_eq!(end.used.ended_for, Some(BudgetPart::Processes), "{end:?}");
    assert!(end.evidence.is_empty());
    soon("none of them is left", || processes_with(&mark).is_empty());
}

#[conforms(part = "HV-5-5", part = "HV-7-1")]
#[test]
fn one_whose_name_is_no_text_hides_neither_itself_nor_what_it_begins() {
    if !has_walls() {
        return;
    }
    let mark = mark(4);
    let named = |does: &str| {
        format!("name=\"$HOME/$(printf 'a\\377')\"; ln -s /bin/sh \"$name\"; exec \"$name\" -c '{does}'")
    };
    let words = named(&format!("while :; do sleep {mark} & done"));
    let end = misbehaves(&words, &Budget { processes: 24, ..AMPLE });
    assert_eq!(end.used.ended_for, Some(BudgetPart::Processes), "{end:?}");
    soon("none of them is left", || processes_with(&mark).is_empty());
    let words = named("for i in 1 2 3 4 5 6; do (while :; do :; done) & done; wait");
    let end = misbehaves(&words, &Budget { cpu_ms: 900, ..AMPLE });
    assert_eq!(end.used.ended_for, Some(BudgetPart::CpuTime), "{end:?}");
}

#[conforms(part = "HV-5-5", part = "HV-7-1")]
#[test]
fn one_that_spins_ends_for_its_processor_time() {
    if !has_walls() {
        return;
    }
    let end = misbehaves("while :; do :; done", &Budget { cpu_ms: 500, ..AMPLE });
    assert_eq!(end.used.ended_for, Some(BudgetPart::CpuTime), "{end:?}");
    assert!(end.used.cpu_ms >= 500 && end.used.wall_ms < AMPLE.wall_ms, "{end:?}");
}

#[conforms(part = "HV-5-5", part = "HV-7-1")]
#[test]
fn one_that_spins_in_many_processes_ends_for_what_they_used_together() {
    if !has_walls() {
        return;
    }
    let words = "for i in 1 2 3 4 5 6; do (while :; do :; done) & done; wait";
    let end = misbehaves(words, &Budget { cpu_ms: 900, ..AMPLE });
    assert_eq!(end.used.ended_for, Some(BudgetPart::CpuTime), "{end:?}");
}

/// It keeps the last line, which never ends and grows by less than 40 MB each second, so that a look comes before the system's own limit.
const GROWS: &str = "while :; do head -c 2000000 /dev/full | tr '\\0' x; sleep 0.05; done | tail -n 1";

#[conforms(part = "HV-5-5", part = "HV-7-1")]
#[test]
fn one_that_eats_memory_ends_for_its_memory() {
    if !has_walls() {
        return;
    }
    let end = misbehaves(GROWS, &Budget { memory_bytes: 192 << 20, ..AMPLE });
    assert_eq!(end.used.ended_for, Some(BudgetPart::Memory), "{end:?}");
}

#[conforms(part = "HV-5-5", part = "HV-7-1")]
#[test]
fn one_that_was_calm_for_long_ends_all_the_same_once_it_forks_or_eats_memory() {
    if !has_walls() {
        return;
    }
    // By then it is looked at seldom.
    let mark = mark(3);
    let words = format!("sleep 2; while :; do sleep {mark} & done");
    let end = misbehaves(&words, &Budget { processes: 24, ..AMPLE });
    assert_eq!(end.used.ended_for, Some(BudgetPart::Processes), "{end:?}");
    soon("none of them is left", || processes_with(&mark).is_empty());
    let end = misbehaves(&format!("sleep 2; {GROWS}"), &Budget { memory_bytes: 192 << 20, ..AMPLE });
    assert_eq!(end.used.ended_for, Some(BudgetPart::Memory), "{end:?}");
}

#[conforms(part = "HV-5-5", part = "HV-7-1")]
#[test]
fn one_that_fills_the_disk_ends_for_its_disk() {
    if !has_walls() {
        return;
    }
    let words = "cat /dev/full > \"$HOME/large\"; sleep 60";
    let end = misbehaves(words, &Budget { disk_bytes: 8 << 20, ..AMPLE });
    assert_eq!(end.used.ended_for, Some(BudgetPart::Disk), "{end:?}");
    // Nowhere else can it write anything that would be counted by nobody.
    for place in ["/large", "/dev/large", "/dev/shm/large", "/run/large", "/usr/large", "/etc/large"] {
        let end = misbehaves(&format!("echo x > {place} && echo written"), &AMPLE);
        assert!(end.evidence.is_empty(), "{place}: {end:?}");
    }
}

#[conforms(part = "HV-5-5", part = "HV-7-1")]
#[test]
fn one_that_waits_ends_for_its_time() {
    if !has_walls() {
        return;
    }
    let end = misbehaves("sleep 600", &Budget { wall_ms: 300, ..AMPLE });
    assert_eq!(end.used.ended_for, Some(BudgetPart::WallTime), "{end:?}");
    assert!(end.in_words().contains("time"), "{}", end.in_words());
}

/// As a person types it: in the place of a clone that waits for ever stands one whose model never answers.
#[conforms(part = "HV-5-5", part = "HV-7-1")]
#[test]
fn one_whose_model_never_answers_ends_for_the_time_that_its_person_said() {
    if !has_walls() {
        return;
    }
    let works = vec![reads("plan.md"), writes("a.md"), done("written")];
    let chat = by_its_words(works.clone(), works);
    let stage = Stage::new();
    let task = works_in(&stage, &chat.address());
    let (answers, waits) = channel::<()>();
    let waits = Mutex::new(waits);
    let silent = Chat::begin(Large::STRONG, move |_| {
        // Whoever is at the other end has let go of it at the end of the test.
        let _gone = waits.lock().expect("no poison").recv();
        done("late")
    });
    let (soul, address) = (stage.at("SOUL.md"), silent.address());
    std::fs::write(&soul, "# Ada\nI answer in good time.\n").expect("a file");
    let words = format!("soul={}", soul.to_str().expect("UTF-8"));
    // What is played without a model before needs little of it, on a busy machine as well.
    let shown = tried_words(&stage, &task, &words, &["--ask", &address, "--wall-seconds", "45"]);
    assert_eq!((&shown["trial"]["state"], &shown["verdict"]), (&json!("failed"), &Value::Null), "{shown}");
    assert_eq!(shown["budget"]["wall_ms"], 45_000, "{shown}");
    let why = shown["trial"]["why"].as_str().expect("words");
    for words in [address.as_str(), "its budget of time is used up"] {
        assert!(why.contains(words), "`{words}` is not in `{why}`");
    }
    drop(answers);
    stage.is_sound();
}

#[conforms(part = "HV-5-5", part = "HV-5-6")]
#[test]
fn one_that_hides_a_process_leaves_none_behind() {
    if !has_walls() {
        return;
    }
    let mark = mark(2);
    let words = format!(
        "setsid sh -c 'trap \"\" TERM HUP; sleep {mark}' > /dev/null 2>&1 & setsid sleep {mark} & echo done"
    );
    let end = misbehaves(&words, &AMPLE);
    assert!(end.is_whole() && end.evidence == b"done\n", "{end:?}");
    soon("what it hid has ended", || processes_with(&mark).is_empty());
}

#[conforms(part = "HV-5-5")]
#[test]
fn one_that_writes_without_an_end_is_read_to_a_bound() {
    if !has_walls() {
        return;
    }
    let clone = CloneProgram::of(&shell(), &["-c", "cat /dev/full"]);
    let why = run_confined(&sandbox(), &clone, Vec::new(), &AMPLE, &|| false).expect_err("too much");
    assert!(why.contains("more than"), "{why}");
}

#[conforms(part = "HV-5-5")]
#[test]
fn one_that_is_stopped_ends_at_once() {
    if !has_walls() {
        return;
    }
    let clone = CloneProgram::of(&shell(), &["-c", "sleep 600"]);
    let begun = std::time::Instant::now();
    let why = run_confined(&sandbox(), &clone, Vec::new(), &AMPLE, &|| true).expect_err("stopped");
    assert!(why.contains("stopped") && begun.elapsed().as_secs() < 10, "{why}");
}

#[test]
fn without_a_sandbox_there_is_no_clone() {
    let clone = CloneProgram::of(&shell(), &["-c", "true"]);
    let none = effects::Sandbox::none("it was taken away".to_owned());
    let why = run_confined(&none, &clone, Vec::new(), &AMPLE, &|| false).expect_err("no sandbox");
    assert!(why.contains("it was taken away"), "{why}");
}
