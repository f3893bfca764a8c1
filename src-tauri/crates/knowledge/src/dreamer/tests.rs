//! Shapes and drafts, without a store.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

fn task(n: u128) -> TaskId {
    format!("task_{n:032x}").parse().unwrap()
}

fn project() -> Digest {
    Digest::of(b"a project")
}

fn write(path: &str, content: &str) -> Did {
    Did::Write { path: path.to_owned(), content: content.to_owned() }
}

fn begun(n: u128, part: &str, owner: &str) -> Recorded {
    let readme = format!("# {part}\n\nOwner: {owner}\nStatus: begun {{today}}\n");
    Recorded { task_id: task(n), acts: vec![vec![write(&format!("parts/{part}/README.md"), &readme)]] }
}

#[test]
fn the_words_that_differ_become_parameters_and_the_same_word_is_the_same_one() {
    let all = [begun(1, "alpha", "ann"), begun(2, "beta", "bob"), begun(3, "gamma", "ann")];
    let shapes: BTreeSet<_> = all.iter().map(|one| shape(&one.acts).unwrap()).collect();
    assert_eq!(shapes.len(), 1, "they are of one shape");
    let made = draft(project(), *shapes.first().unwrap(), &all).unwrap();
    assert!(made.name.starts_with("write-1-files-"), "{}", made.name);
    let given = |folder: &str, value: &str| {
        BTreeMap::from([("folder".to_owned(), folder.to_owned()), ("value".to_owned(), value.to_owned())])
    };
    assert_eq!(made.parameters, [given("alpha", "ann"), given("beta", "bob"), given("gamma", "ann")]);
    assert!(made.text.contains("path: \"parts/{folder}/README.md\""), "{}", made.text);
    assert!(
        made.text.contains("- \"# {folder}\"") && made.text.contains("- \"Owner: {value}\""),
        "{}",
        made.text
    );
    assert!(made.text.contains("begun {{today}}"), "what looks like a template stays text: {}", made.text);
    assert_eq!(made.narrowest, "write files below `parts`, in one project");
}

#[test]
fn another_kind_place_or_length_is_another_shape() {
    let of = |path: &str, content: &str| shape(&[vec![write(path, content)]]);
    let one = of("a/b.md", "x\n");
    assert!(one.is_some());
    assert_eq!(one, of("c/d.md", "other words\n"));
    for other in [of("b.md", "x\n"), of("a/b.txt", "x\n"), of("a/b.md", "x\ny\n")] {
        assert_ne!(one, other);
    }
    let deleted = shape(&[vec![Did::Delete { path: "a/b.md".to_owned() }]]);
    assert_ne!(one, deleted);
    let apart = shape(&[vec![write("a/b.md", "x\n")], vec![write("a/c.md", "x\n")]]);
    assert_ne!(apart, shape(&[vec![write("a/b.md", "x\n"), write("a/c.md", "x\n")]]), "two acts are not one");
    assert_ne!(one, of("a/b.md", "no end of line"), "an end of line is a byte");
    assert_eq!(shape(&[]), None);
    assert_eq!(of("a", &"long line\n".repeat(BYTES_MAX)), None);
}

#[test]
fn what_has_hardly_anything_in_common_gives_no_draft() {
    let one = |n: u128, name: &str, text: &str| Recorded {
        task_id: task(n),
        acts: vec![vec![write(&format!("{name}.md"), &format!("{text}\n"))]],
    };
    let all = [one(1, "alpha", "red words"), one(2, "beta", "blue cars"), one(3, "gamma", "no idea")];
    assert_eq!(draft(project(), shape(&all[0].acts).unwrap(), &all), None);
    // Other numbers of words: what is the same at both ends stays.
    let all = [
        one(1, "a", "Dear Ann, all the best"),
        one(2, "b", "Dear Mr Bob, all the best"),
        one(3, "c", "Dear C, all the best"),
    ];
    let made = draft(project(), shape(&all[0].acts).unwrap(), &all).unwrap();
    assert!(made.text.contains("- \"Dear {value}, all the best\""), "{}", made.text);
    assert_eq!(made.parameters[1].get("value").map(String::as_str), Some("Mr Bob"));
}

#[test]
fn a_name_holds_no_word_of_a_file_and_is_another_in_another_project() {
    let one = |n: u128, folder: &str| Recorded {
        task_id: task(n),
        acts: vec![vec![write(&format!("{folder}/Ré port; \u{202e}rm -rf.md"), "same old words here\n")]],
    };
    let all = [one(1, "a"), one(2, "b"), one(3, "c")];
    let made = draft(project(), shape(&all[0].acts).unwrap(), &all).unwrap();
    assert!(
        made.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'),
        "{}",
        made.name
    );
    assert!(!made.name.contains("--") && !made.name.contains("port"), "{}", made.name);
    let other = draft(Digest::of(b"another"), shape(&all[0].acts).unwrap(), &all).unwrap();
    assert_ne!(made.name, other.name);
    assert_ne!(Digest::of(made.text.as_bytes()), Digest::of(other.text.as_bytes()), "its text names it");
}

#[test]
fn evidence_is_new_where_no_draft_rested_on_it() {
    let all: Vec<TaskId> = (1..=5).map(task).collect();
    assert_eq!(fresh(&all, &[&all[..3]]), all[3..]);
    assert_eq!(fresh(&all, &[]), all);
}
