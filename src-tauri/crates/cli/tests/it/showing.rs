//! What is shown: the bytes of an artifact in a file, whole or not at all, and a receipt with what stands around it.

use crate::bench::{Bench, text};
use std::path::{Path, PathBuf};

/// Noise that no chunk of which is like another.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(length);
    while bytes.len() < length {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        bytes.extend_from_slice(&state.to_be_bytes()[..4]);
    }
    bytes.truncate(length);
    bytes
}

/// The file below `folder` that ends with these bytes.
fn ending(folder: &Path, end: &[u8]) -> Option<PathBuf> {
    std::fs::read_dir(folder).unwrap().flatten().find_map(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return ending(&path, end);
        }
        std::fs::read(&path).unwrap().ends_with(end).then_some(path)
    })
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn bytes_that_turn_out_damaged_half_way_leave_no_file_and_whole_ones_never_replace_another() {
    let bench = Bench::new();
    // Three parts of an answer, the damage in the last.
    let content = noise(10 << 20);
    std::fs::write(bench.path("noise"), &content).unwrap();
    let taken = bench.run(&["artifacts", "ingest", "noise", "--json"]).ends_with(0).json();
    let artifact = text(&taken["artifact_id"]);
    std::fs::create_dir(bench.path("out")).unwrap();
    let out = bench.path("out").join("whole");
    let show = ["artifacts", "show", &artifact, "-o", out.to_str().unwrap()];
    bench.run(&show).ends_with(0);
    assert!(std::fs::read(&out).unwrap() == content, "the same bytes");
    std::fs::write(&out, "mine").unwrap();
    let refused = bench.run(&show).ends_with(1);
    assert!(refused.err.contains("does not exist"), "{}", refused.err);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "mine");
    assert_eq!(names(&bench.path("out")), ["whole"]);

    let chunk = ending(&bench.home(), &content[content.len() - 64..]).expect("the last part is kept");
    let mut bytes = std::fs::read(&chunk).unwrap();
    let at = bytes.len() - 1;
    bytes[at] ^= 1;
    let mut permissions = std::fs::metadata(&chunk).unwrap().permissions();
    #[allow(clippy::permissions_set_readonly_false, reason = "as somebody would who owns the machine")]
    permissions.set_readonly(false);
    std::fs::set_permissions(&chunk, permissions).unwrap();
    std::fs::write(&chunk, bytes).unwrap();
    let out = bench.path("out").join("damaged");
    let damaged = bench.run(&["artifacts", "show", &artifact, "-o", out.to_str().unwrap()]);
    assert_ne!(damaged.code, 0, "{}", damaged.out);
    assert_eq!(names(&bench.path("out")), ["whole"], "{}", damaged.err);
}

#[test]
fn a_receipt_whose_surroundings_cannot_be_read_says_so_and_guesses_nothing() {
    let bench = Bench::new();
    let (_, receipt) = bench.tidied();
    let whole = bench.run(&["receipts", "show", &receipt]).ends_with(0).out;
    assert!(whole.contains("you approved it") && !whole.contains("could not be read"), "{whole}");
    bench.sqlite("DELETE FROM view_tasks");
    let told = bench.run(&["receipts", "show", &receipt]).ends_with(0).out;
    for question in ["goal", "authority", "denied"] {
        let line = told.lines().find(|line| line.trim_start().starts_with(question)).unwrap_or_default();
        assert!(line.contains("could not be read"), "`{question}` is guessed: {told}");
    }
    assert!(!told.contains("without asking") && !told.contains("nothing of this task"), "{told}");
}

#[test]
fn licences_are_told_without_a_store_and_where_no_texts_lie_beside_the_program_that_is_said() {
    let bench = Bench::new();
    let told = bench.run(&["licences"]).ends_with(0);
    assert!(told.out.contains("\nsha2: MIT OR Apache-2.0\n"), "{}", told.out);
    assert!(told.err.contains("do not lie beside this program"), "{}", told.err);
    let listed = bench.run(&["licences", "--list"]).ends_with(0);
    assert_eq!((listed.out, listed.err), (told.out, String::new()));
    let json = bench.run(&["licences", "--json"]).ends_with(0).json();
    assert!(json["texts"].is_null() && json["packages"].as_array().unwrap().len() > 800, "{json}");
}
