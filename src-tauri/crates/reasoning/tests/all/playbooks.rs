//! Every shipped playbook on real folders: what it proposes, that a second run proposes nothing, what it leaves alone.

use crate::bench::{Bench, Fate, shipped};
use iteration::ProposedChange;
use reasoning::Playbook;
use std::collections::BTreeMap;

/// Runs twice; the second run may propose nothing and says so.
fn settles(bench: &mut Bench, name: &str, parameters: &[(&str, &str)]) -> String {
    let playbook = shipped(name);
    let first = bench.run(&playbook, parameters);
    let tree = bench.tree();
    let again = bench.run(&playbook, parameters);
    assert_eq!(bench.proposed, [], "{name} proposed something on its own result: {again}");
    assert_eq!(bench.tree(), tree);
    assert!(again.to_lowercase().contains("nothing to do"), "it does not say so: {again}");
    first
}

fn mixed() -> Bench {
    let bench = Bench::new();
    bench
        .file(b"photo.JPG", b"jpg", 1)
        .file(b"report.pdf", b"pdf", 2)
        .file(b"notes.txt", b"txt", 3)
        .file(b"song.mp3", b"mp3", 4)
        .file(b"README", b"read me", 5)
        .file(b".hidden", b"h", 6)
        .file(b"caf\xe9 100%.txt", b"latin-1", 7)
        .file(b"Documents/report.pdf", b"an older report", 0)
        .file(b"src/main.rs", b"fn main() {}", 8);
    std::os::unix::fs::symlink("photo.JPG", bench.root().join("link.jpg")).unwrap();
    bench
}

#[test]
fn every_shipped_playbook_is_sound_and_says_what_it_is() {
    let shipped = Playbook::shipped();
    let names: Vec<&str> = shipped.iter().map(Playbook::name).collect();
    assert_eq!(names, ["inventory", "tidy", "duplicates", "rename", "changes"]);
    for playbook in &shipped {
        assert!(!playbook.title().is_empty() && playbook.description().len() > 40);
        assert!(playbook.parameters().iter().all(|p| !p.help.is_empty()));
        assert!(playbook.to_reasoner(&BTreeMap::new()).is_ok(), "{} needs no parameter", playbook.name());
        assert_eq!(Playbook::parse(playbook.text()).unwrap().name(), playbook.name());
    }
}

#[test]
fn tidy_sorts_loose_files_numbers_collisions_and_leaves_the_rest() {
    let mut bench = mixed();
    let said = settles(&mut bench, "tidy", &[]);
    assert_eq!(
        bench.tree(),
        [
            ".hidden",
            "Audio/song.mp3",
            "Documents/caf%E9%20100%25.txt",
            "Documents/notes.txt",
            "Documents/report%20(2).pdf",
            "Documents/report.pdf",
            "Images/photo.JPG",
            "Other/README",
            "link.jpg",
            "src/main.rs",
        ]
    );
    assert_eq!(bench.text("Documents/report.pdf"), "an older report");
    assert!(said.contains("6 files were moved"), "{said}");
    assert!(
        said.contains("2 folders") && said.contains("1 file with a dot") && said.contains("1 link"),
        "{said}"
    );
}

#[test]
fn tidy_is_one_change_and_looks_before_it() {
    let mut bench = mixed();
    bench.run(&shipped("tidy"), &[]);
    let tools: Vec<&str> = bench.observed.iter().map(|o| o.tool.as_str()).collect();
    assert_eq!(tools.iter().filter(|tool| **tool == "change").count(), 1);
    assert_eq!(tools.last(), Some(&"change"));
}

#[test]
fn tidy_by_month_and_by_extension() {
    let mut bench = Bench::new();
    bench
        .file(b"in/a.txt", b"a", 0)
        .file(b"in/b.TXT", b"b", 40)
        .file(b"in/c", b"c", 40)
        .file(b"out.txt", b"o", 0);
    settles(&mut bench, "tidy", &[("folder", "./in/"), ("by", "month")]);
    assert_eq!(bench.tree(), ["in/2026-01/a.txt", "in/2026-02/b.TXT", "in/2026-02/c", "out.txt"]);
    let mut bench = Bench::new();
    bench.file(b"a.txt", b"a", 0).file(b"b.TXT", b"b", 40).file(b"c", b"c", 40);
    settles(&mut bench, "tidy", &[("by", "extension")]);
    assert_eq!(bench.tree(), ["none/c", "txt/a.txt", "txt/b.TXT"]);
}

#[test]
fn tidy_keeps_out_of_version_control_and_says_so() {
    let mut bench = mixed();
    bench.file(b".git/HEAD", b"ref: refs/heads/main", 0);
    let before = bench.tree();
    let said = bench.run(&shipped("tidy"), &[]);
    assert_eq!(bench.tree(), before);
    assert!(said.contains("version control") && said.contains("Nothing was changed"), "{said}");
}

#[test]
fn two_loose_files_that_differ_in_case_do_not_fall_onto_each_other() {
    let mut bench = Bench::new();
    bench.file(b"Note.txt", b"1", 0).file(b"note.txt", b"2", 0);
    settles(&mut bench, "tidy", &[]);
    assert_eq!(bench.tree(), ["Documents/Note.txt", "Documents/note%20(2).txt"]);
}

#[test]
fn a_file_where_the_folder_should_be_leaves_the_others_alone() {
    let mut bench = Bench::new();
    bench.file(b"a.txt", b"a", 0).file(b"Documents", b"not a folder", 0);
    let said = bench.run(&shipped("tidy"), &[]);
    assert_eq!(bench.tree(), ["Other/Documents", "a.txt"]);
    assert!(said.contains("Left alone: `a.txt`: `Documents` is not a folder"), "{said}");
}

#[test]
fn hundreds_of_files_are_tidied_within_the_loops_limits() {
    let mut bench = Bench::new();
    for n in 0..300 {
        bench.file(format!("f{n:03}.txt").as_bytes(), format!("{n}").as_bytes(), 0);
    }
    settles(&mut bench, "tidy", &[]);
    assert_eq!(bench.tree().len(), 300);
    assert!(bench.tree().iter().all(|path| path.starts_with("Documents/")));
}

#[test]
fn hundreds_of_loose_files_take_no_more_turns_than_a_hundred() {
    let turns = |files: usize, playbook: &str, parameters: &[(&str, &str)]| {
        let mut bench = Bench::new();
        for n in 0..files {
            bench.file(format!("IMG_{n:04}.jpg").as_bytes(), b"the same", 0);
        }
        bench.run(&shipped(playbook), parameters);
        (bench.observed.len(), bench.proposed.len())
    };
    let rename = [("pattern", "IMG_(.*)"), ("replacement", "trip-$1")];
    for (playbook, parameters) in [("tidy", &[][..]), ("rename", &rename), ("duplicates", &[])] {
        let (few, many) = (turns(100, playbook, parameters), turns(600, playbook, parameters));
        assert_eq!(few.0, many.0, "{playbook} takes more turns for more files");
        assert!(many.1 >= 599, "{playbook} proposed {} changes", many.1);
    }
}

#[test]
fn inventory_writes_what_is_there_and_replaces_only_its_own_table() {
    let mut bench = Bench::new();
    bench
        .file(b"b/two.txt", b"22", 1)
        .file(b"one, \"1\".txt", b"1", 0)
        .file(b"=cmd.csv", b"", 0)
        .file(b"caf\xe9.txt", b"4", 0)
        .file(b".env", b"x", 0);
    let said = settles(&mut bench, "inventory", &[]);
    let digest = |bytes: &[u8]| model::Digest::of(bytes).to_string();
    let expected = [
        "path,size,sha256,modified".to_owned(),
        format!("%3Dcmd.csv,0,{},2026-01-01T00:00:00Z", digest(b"")),
        format!("b/two.txt,2,{},2026-01-02T00:00:00Z", digest(b"22")),
        format!("caf%E9.txt,1,{},2026-01-01T00:00:00Z", digest(b"4")),
        format!("\"one, \"\"1\"\".txt\",1,{},2026-01-01T00:00:00Z", digest(b"1")),
    ];
    assert_eq!(bench.text("INVENTORY.csv"), expected.join("\n") + "\n");
    assert!(said.contains("4 files"), "{said}");
    bench.file(b"new.txt", b"n", 2);
    bench.run(&shipped("inventory"), &[]);
    assert!(bench.text("INVENTORY.csv").contains("new.txt,1,"));
    assert_eq!(bench.tree().iter().filter(|path| path.contains("INVENTORY")).count(), 1);
}

#[test]
fn inventory_does_not_touch_a_table_that_is_not_its_own() {
    let mut bench = Bench::new();
    bench.file(b"INVENTORY.csv", b"my own, precious\n", 0).file(b"a", b"a", 0);
    settles(&mut bench, "inventory", &[]);
    assert_eq!(bench.text("INVENTORY.csv"), "my own, precious\n");
    assert!(bench.text("INVENTORY (2).csv").starts_with("path,size"));
}

#[test]
fn duplicates_keep_the_oldest_and_are_set_aside_once() {
    let mut bench = Bench::new();
    bench
        .file(b"new/copy.bin", b"same", 9)
        .file(b"old.bin", b"same", 1)
        .file(b"also/copy.bin", b"same", 5)
        .file(b"other.bin", b"different", 1)
        .file(b"empty1", b"", 1)
        .file(b"empty2", b"", 1)
        .file(b".cache/copy.bin", b"same", 1)
        .file(b"Duplicates/copy.bin", b"from before", 1);
    let said = settles(&mut bench, "duplicates", &[]);
    assert_eq!(
        bench.tree(),
        [
            ".cache/copy.bin",
            "Duplicates/copy%20(2).bin",
            "Duplicates/copy%20(3).bin",
            "Duplicates/copy.bin",
            "empty1",
            "empty2",
            "old.bin",
            "other.bin",
        ]
    );
    assert_eq!(bench.text("Duplicates/copy.bin"), "from before");
    assert!(said.contains("`new/copy.bin` has the same bytes as `old.bin`"), "{said}");
}

#[test]
fn rename_by_expression_small_letters_and_date() {
    let mut bench = Bench::new();
    bench.file(b"IMG_0001.JPG", b"1", 0).file(b"IMG_0002.JPG", b"2", 31).file(b"Text File.txt", b"3", 0);
    let rule = [("pattern", r"^IMG_(\d+)$"), ("replacement", "${1}_holiday"), ("lower_case", "yes")];
    let said = settles(&mut bench, "rename", &rule);
    assert_eq!(bench.tree(), ["0001_holiday.jpg", "0002_holiday.jpg", "text%20file.txt"]);
    assert!(said.contains("3 files"), "{said}");
    settles(&mut bench, "rename", &[("date_prefix", "yes"), ("only", "*.jpg")]);
    assert_eq!(
        bench.tree(),
        ["2026-01-01%200001_holiday.jpg", "2026-02-01%200002_holiday.jpg", "text%20file.txt"]
    );
}

#[test]
fn rename_leaves_alone_what_the_rule_would_change_again() {
    let mut bench = Bench::new();
    bench.file(b"a.txt", b"1", 0).file(b"my file.txt", b"2", 0).file(b"my_file.txt", b"3", 0);
    let said = settles(&mut bench, "rename", &[("pattern", "^"), ("replacement", "x")]);
    assert!(said.contains("Left alone: `a.txt`: the rule would change its own result again"), "{said}");
    let said = settles(&mut bench, "rename", &[("pattern", " "), ("replacement", "_")]);
    assert_eq!(bench.tree(), ["a.txt", "my%20file.txt", "my_file.txt"]);
    assert!(said.contains("its new name `my_file.txt` is taken"), "{said}");
    let said = settles(&mut bench, "rename", &[("pattern", "^a$"), ("replacement", "")]);
    assert!(said.to_lowercase().contains("nothing to do"), "{said}");
}

#[test]
fn rename_numbers_names_that_collide() {
    let mut bench = Bench::new();
    bench.file(b"a-1.txt", b"1", 0).file(b"a-2.txt", b"2", 0).file(b"\xff-3.txt", b"3", 0);
    settles(&mut bench, "rename", &[("pattern", r"-\d$"), ("replacement", "")]);
    assert_eq!(bench.tree(), ["%FF.txt", "a%20(2).txt", "a.txt"]);
}

#[test]
fn rename_without_a_rule_looks_at_nothing() {
    let mut bench = mixed();
    let said = bench.run(&shipped("rename"), &[]);
    assert!(said.starts_with("Nothing to do: give"), "{said}");
    assert_eq!(bench.observed.len(), 0);
}

#[test]
fn changes_against_an_inventory() {
    let mut bench = Bench::new();
    bench
        .file(b"keep.txt", b"keep", 0)
        .file(b"edit.txt", b"before", 0)
        .file(b"drop.txt", b"dropped", 0)
        .file(b"here/caf\xe9 `x`.txt", b"travels", 0);
    bench.run(&shipped("inventory"), &[]);
    std::fs::remove_file(bench.root().join("drop.txt")).unwrap();
    std::fs::create_dir(bench.root().join("there")).unwrap();
    let from = std::fs::read_dir(bench.root().join("here")).unwrap().next().unwrap().unwrap().path();
    std::fs::rename(&from, bench.root().join("there/moved.txt")).unwrap();
    bench.file(b"edit.txt", b"after!!", 3).file(b"fresh.txt", b"fresh", 3);
    let said = settles(&mut bench, "changes", &[]);
    assert!(said.contains("1 added, 1 removed, 1 changed, 1 moved"), "{said}");
    let text = bench.text("CHANGES.md");
    for line in [
        "## Added\n\n- `fresh.txt`, 5 bytes\n",
        "## Removed\n\n- `drop.txt`, 7 bytes\n",
        "## Changed\n\n- `edit.txt`, 6 bytes → 7 bytes\n",
        "## Moved\n\n- ``here/caf%E9 `x`.txt`` → `there/moved.txt`\n",
    ] {
        assert!(text.contains(line), "{line} is missing in\n{text}");
    }
}

#[test]
fn changes_without_an_inventory_lists_what_changed_last() {
    let mut bench = Bench::new();
    bench.file(b"old.txt", b"o", 0).file(b"new.txt", b"n", 30).file(b"newer.txt", b"nn", 31);
    let said = settles(&mut bench, "changes", &[]);
    assert!(said.contains("2 files changed within 7 days"), "{said}");
    let text = bench.text("CHANGES.md");
    assert!(
        text.contains("## Changed last\n\n- 2026-02-01T00:00:00Z `newer.txt`, 2 bytes\n- 2026-01-31"),
        "{text}"
    );
    assert!(!text.contains("old.txt"), "{text}");
}

#[test]
fn an_empty_folder_is_no_accident_for_anyone() {
    for playbook in Playbook::shipped() {
        let mut bench = Bench::new();
        let first = bench.run(&playbook, &[]);
        assert!(!first.is_empty());
        let again = bench.run(&playbook, &[]);
        assert_eq!(bench.proposed, [], "{}: {again}", playbook.name());
    }
}

#[test]
fn a_folder_that_is_not_there_ends_honestly() {
    for playbook in Playbook::shipped().into_iter().filter(|p| p.name() != "rename") {
        let mut bench = mixed();
        let said = bench.run(&playbook, &[("folder", "nowhere")]);
        assert!(
            said.contains("not done") && said.contains("`nowhere`") && said.contains("Nothing was changed"),
            "{said}"
        );
    }
}

#[test]
fn after_a_no_it_ends_and_says_what_was_not_done() {
    let mut bench = mixed();
    let before = bench.tree();
    bench.fate = vec![Fate::Denied(Some("not my photos"))];
    let said = bench.run(&shipped("tidy"), &[]);
    assert_eq!(bench.tree(), before);
    assert!(
        said.contains("not done") && said.contains("not my photos") && said.contains("6 files"),
        "{said}"
    );
    assert!(said.contains("Nothing was changed"), "{said}");
    assert_eq!(bench.proposed.len(), 6, "it did not try again");
}

#[test]
fn after_a_partial_outcome_only_what_is_left_is_proposed() {
    let mut bench = mixed();
    bench.fate = vec![Fate::Partial(2), Fate::Partial(1)];
    let said = bench.run(&shipped("tidy"), &[]);
    assert_eq!(bench.proposed.len(), 6 + 4 + 3);
    assert!(said.contains("6 files were moved"), "{said}");
    let mut whole = mixed();
    whole.run(&shipped("tidy"), &[]);
    assert_eq!(bench.tree(), whole.tree());
}

#[test]
fn a_failure_is_tried_once_more_and_then_told() {
    let mut bench = mixed();
    bench.fate = vec![Fate::Failed];
    assert!(bench.run(&shipped("tidy"), &[]).contains("6 files were moved"));
    let mut bench = mixed();
    bench.fate = vec![Fate::Partial(1), Fate::Failed, Fate::Failed];
    let said = bench.run(&shipped("tidy"), &[]);
    assert!(
        said.contains("not done") && said.contains("tried twice") && said.contains("1 file was changed"),
        "{said}"
    );
}

#[test]
fn the_world_may_change_under_a_playbook() {
    let playbook = Playbook::parse(
        "playbook: 1\nname: two\ntitle: Two\ndescription: d\nsteps:\n\
         - write: { path: a.txt, content: one }\n- write: { path: a.txt, content: one }\n\
         - write: { path: a.txt, content: two }\n- done: { summary: ok }\n",
    )
    .unwrap();
    let mut bench = Bench::new();
    assert_eq!(bench.run(&playbook, &[]), "ok");
    assert_eq!(bench.tree(), ["a%20(2).txt", "a.txt"]);
    assert_eq!(bench.text("a.txt"), "one\n");
    bench.run(&playbook, &[]);
    assert_eq!(bench.proposed, [], "both files are there");
}

#[test]
fn asking_noting_believing_searching_and_deleting() {
    let text = "playbook: 1\nname: purge\ntitle: Purge\ndescription: d\nsteps:\n\
        - id: todo\n  search: { path: '', pattern: 'TODO' }\n\
        - id: fixme\n  search: { path: '', pattern: 'FIXME' }\n\
        - note: { plan: 'delete {todo.count}' }\n\
        - believe: { claim: 'there are {fixme.count} FIXMEs', confidence: 900, evidence: [a.txt] }\n\
        - id: answer\n  ask: { question: 'Delete {todo.count|of:file:files}?', choices: [yes, no] }\n\
        - id: gone\n  when: { equals: ['{answer}', yes] }\n  for_each: { from: todo }\n  delete: { path: '{path}' }\n\
        - done: { summary: '{gone.count|of:file:files} deleted, {fixme.count} kept' }\n";
    let playbook = Playbook::parse(text).unwrap();
    let mut bench = Bench::new();
    bench.file(b"a.txt", b"x\nTODO\n", 0).file(b"b.txt", b"FIXME", 0);
    bench.answers = vec!["yes".to_owned()];
    assert_eq!(bench.run(&playbook, &[]), "1 file deleted, 1 kept");
    assert_eq!(bench.questions, ["Delete 1 file?"]);
    assert_eq!(bench.tree(), ["b.txt"]);
    assert_eq!(bench.proposed, [ProposedChange::Delete { path: "a.txt".parse().unwrap() }]);
}

#[test]
fn reading_each_and_capturing() {
    let text = "playbook: 1\nname: heads\ntitle: Heads\ndescription: d\nsteps:\n\
        - id: all\n  list: { path: '' }\n\
        - id: texts\n  for_each: { from: all, extension: md }\n  read: { path: '{path}' }\n\
        - id: titled\n  select:\n    from: texts\n    capture: { in: '{text}', pattern: '(?m)^# (?<head>.+)$' }\n    sort: path\n\
        - write:\n    path: HEADS.txt\n    content:\n    - for_each: { from: titled }\n      line: '{stem}: {head}'\n\
        - done: { summary: done }\n";
    let playbook = Playbook::parse(text).unwrap();
    let mut bench = Bench::new();
    bench.file(b"b.md", b"# Second\n", 0).file(b"a.md", b"intro\n# First\n", 0).file(b"c.md", b"none", 0);
    bench.run(&playbook, &[]);
    assert_eq!(bench.text("HEADS.txt"), "a: First\nb: Second\n");
}
