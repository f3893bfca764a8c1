//! Malformed playbooks: each is refused with its line, its key, and what is allowed there.

use reasoning::{Error, Playbook};
use std::collections::BTreeMap;

/// A sound playbook; each case spoils one thing.
const SOUND: &str = "\
playbook: 1
name: sound
title: Sound
description: nothing wrong
parameters:
  - name: folder
    help: where
    kind: path
  - name: rule
    help: an expression
    default: a
  - name: mode
    help: one of two
    default: x
    choices: [x, y]
steps:
  - id: all
    list: { path: \"{folder}\", recursive: true }
  - id: some
    when: { some: all }
    select:
      from: all
      kind: file
      set:
        - name: fresh
          replace: { in: \"{name}\", pattern: \"{rule}\", with: b }
  - id: moves
    for_each: { from: some }
    move: { from: \"{path}\", to: \"{fresh}\" }
  - done:
      summary: \"{moves.count} moved\"
";

fn refused(text: &str) -> (u32, String) {
    match Playbook::parse(text) {
        Err(Error::Playbook { line, why }) => (line, why),
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_mistake_is_told_with_its_line_and_what_is_allowed() {
    assert!(Playbook::parse(SOUND).is_ok());
    for (was, is, line, words) in [
        ("playbook: 1", "playbook: 2", 1, "it knows 1"),
        ("title: Sound\n", "", 1, "missing field `title`"),
        ("title: Sound", "titel: Sound", 3, "unknown field `titel`, expected one of"),
        ("name: sound", "name: My Book", 2, "small letters"),
        ("  - name: rule", "  - name: path", 9, "taken are path, name"),
        ("  - name: rule", "  - name: folder", 6, "not a new name"),
        ("kind: path", "kind: number", 8, "expected `text` or `path`"),
        ("default: x", "default: z", 14, "none of its choices: x, y"),
        ("recursive: true", "recursive: sometimes", 18, "expected a boolean"),
        ("recursive: true", "recursiv: true", 18, "unknown field `recursiv`, expected `path` or `recursive`"),
        ("    list: {", "    lits: {", 18, "unknown field `lits`"),
        ("kind: file", "kind: document", 23, "expected one of `file`, `folder`, `symlink`, `special`"),
        ("  - id: some\n", "  - id: all\n", 19, "not a new name"),
        ("some: all", "some: none_such", 20, "`none_such` is not the id of an earlier step; there are all"),
        ("from: all", "from: moves", 22, "not the id of an earlier step"),
        ("{fresh}", "{frehs}", 29, "`{frehs}` in `{frehs}` is not known here; there are"),
        ("{moves.count}", "{moves.total}", 31, ".count"),
        ("\"{rule}\"", "\"(\"", 26, "not a regular expression"),
        ("with: b", "with: \"{name\"", 26, "without its `}`"),
        ("with: b", "with: \"name}\"", 26, "without its `{`"),
        ("with: b", "with: \"{name|shout}\"", 26, "`shout` is no filter; there are lower"),
        ("with: b", "with: \"{na me}\"", 26, "does not begin with a name"),
        (
            "    move: {",
            "    read: { path: x }\n    move: {",
            27,
            "exactly one act and this has read and move",
        ),
        (
            "  - done:\n      summary: \"{moves.count} moved\"",
            "  - id: nothing",
            30,
            "this has none; acts are list",
        ),
        ("    select:", "    for_each: { from: all }\n    select:", 21, "goes with list, read"),
    ] {
        assert!(SOUND.contains(was), "{was}");
        let (found, why) = refused(&SOUND.replacen(was, is, 1));
        assert!(why.contains(words), "`{is}`: {why}");
        assert_eq!(found, line, "`{is}`: {why}");
    }
}

#[test]
fn what_is_no_playbook_at_all_is_refused() {
    for text in ["", "steps", "- a\n- b", "playbook: [", "\u{0}", "{}"] {
        refused(text);
    }
    let long = format!("{SOUND}# {}", "x".repeat(300_000));
    assert!(refused(&long).1.contains("longer than"));
    let empty = SOUND.split("steps:").next().unwrap().to_owned() + "steps: []\n";
    assert!(refused(&empty).1.contains("`steps` is empty"));
}

#[test]
fn parameters_are_checked_before_anything_is_looked_at() {
    let book = Playbook::parse(SOUND).unwrap();
    for (name, value, words) in [
        ("colour", "red", "has no parameter `colour`; it has folder, rule, mode"),
        ("mode", "z", "one of x, y"),
        ("rule", "(", "not a regular expression"),
        ("rule", "a{1000}{1000}{1000}", "not a regular expression"),
        ("folder", "/etc", "is not a path inside"),
        ("folder", "../up", "is not a path"),
    ] {
        let given = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        match book.to_reasoner(&given) {
            Err(Error::Playbook { line: 0, why }) => assert!(why.contains(words), "{name}={value}: {why}"),
            other => panic!("{other:?}"),
        }
    }
    let given = BTreeMap::from([("folder".to_owned(), " ./a//b/ ".to_owned())]);
    assert_eq!(book.to_reasoner(&given).unwrap().parameters().get("folder").map(String::as_str), Some("a/b"));
}
