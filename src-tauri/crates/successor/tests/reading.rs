//! What a stranger hands in is bounded, and refused by name.

use crate::world::{Run, code, one_line, patch};
use successor::limits::{ACTS_MAX, EVIDENCE_BYTES_MAX, PATCH_BYTES_MAX, PROBES_MAX, TASKS_MAX};
use successor::{Case, Change, Error, Evidence, Patch, WordsItem};

fn words(name: &str) -> WordsItem {
    WordsItem { what: "skill".to_owned(), name: name.to_owned(), text: "Do it.".to_owned() }
}

#[test]
fn what_is_written_is_read_again() {
    let run = Run::new(1);
    let handed = run.successor_case.patch.clone().unwrap();
    assert_eq!(Patch::read(&handed.bytes().unwrap()).unwrap(), handed);
    assert_eq!(Case::read(&run.successor_case.bytes().unwrap()).unwrap(), run.successor_case);
    assert_eq!(Evidence::read(&run.parent.bytes().unwrap()).unwrap(), run.parent);
}

#[test]
fn a_change_is_refused_by_its_size_before_it_is_read() {
    let large = vec![b'['; 10 * 1024 * 1024];
    let Err(Error::TooLarge { what, is, most, unit }) = Patch::read(&large) else { panic!("it was read") };
    assert_eq!((what, is, most, unit), ("change", 10 * 1024 * 1024, 1024 * 1024, "bytes"));
    assert!(matches!(Evidence::read(&vec![b'['; EVIDENCE_BYTES_MAX + 1]), Err(Error::TooLarge { .. })));
    let text = "x".repeat(PATCH_BYTES_MAX);
    let long = patch(Change::Words { items: vec![WordsItem { text, ..words("one") }] });
    assert!(matches!(long.bytes(), Err(Error::TooLarge { .. })), "nor is it written");
}

#[test]
fn what_is_no_change_is_refused_in_words() {
    let fit = patch(code(&one_line("src/one.rs")));
    let unfit = |spoil: fn(&mut Patch)| {
        let mut patch = fit.clone();
        spoil(&mut patch);
        patch.bytes().unwrap_err().to_string()
    };
    assert!(unfit(|patch| patch.sources = vec![" ".to_owned()]).contains("source"));
    assert!(unfit(|patch| patch.says = "two\nlines".to_owned()).contains("one line"));
    assert!(unfit(|patch| patch.says = String::new()).contains("empty"));
    assert!(unfit(|patch| patch.change = code("nothing")).contains("no file"));
    assert!(unfit(|patch| patch.change = code(&one_line("../etc/passwd"))).contains("below the source"));
    assert!(unfit(|patch| patch.change = Change::Words { items: Vec::new() }).contains("nothing"));
    let strict = |patch: &mut Patch| {
        patch.change = Change::Policy { rules: String::new(), profile: Some("strict".to_owned()) };
    };
    assert!(unfit(strict).contains("no profile; there are readonly_analysis"));
    assert!(
        unfit(|patch| patch.change = Change::Words { items: vec![words("one"), words("one")] })
            .contains("twice")
    );
    // Of two texts of the one SOUL.md the last would be tried, and the other adopted where the last is as it stands.
    let souls = |patch: &mut Patch| {
        let soul = |name| WordsItem { what: "soul".to_owned(), ..words(name) };
        patch.change = Change::Words { items: vec![soul("SOUL.md"), soul("other")] };
    };
    assert!(unfit(souls).contains("twice"));
    let more = String::from_utf8(fit.bytes().unwrap()).unwrap().replacen('{', "{\"more\":1,", 1);
    assert!(Patch::read(more.as_bytes()).unwrap_err().to_string().contains("more"));
}

#[test]
fn evidence_is_bounded_in_every_part() {
    let run = Run::new(2);
    let refused = |spoil: &dyn Fn(&mut Evidence)| {
        let mut evidence = run.parent.clone();
        spoil(&mut evidence);
        evidence.bytes().unwrap_err().to_string()
    };
    let act = run.parent.tasks[0].acts[0].clone();
    assert!(refused(&|e| e.tasks[0].acts = vec![act.clone(); ACTS_MAX + 1]).contains("acts"));
    assert!(refused(&|e| e.tasks = vec![e.tasks[0].clone(); TASKS_MAX + 1]).contains("tasks"));
    assert!(refused(&|e| e.probes = vec![e.probes[0].clone(); PROBES_MAX + 1]).contains("attempts"));
    assert!(refused(&|e| e.tasks.push(e.tasks[0].clone())).contains("twice"));
    assert!(refused(&|e| e.tasks[0].acts[0].summary = "x".repeat(5_000)).contains("characters"));
    assert!(refused(&|e| e.tasks[0].acts[0].verdict = "al\u{1b}low".to_owned()).contains("name"));
    assert!(refused(&|e| e.tasks[0].acts[0].rules = vec!["r".to_owned(); 101]).contains("rules"));
    let twice = br#"{"arm":"parent","arm":"successor"}"#;
    assert!(matches!(Evidence::read(twice), Err(Error::Misfit { .. })), "a name that comes twice");
}
