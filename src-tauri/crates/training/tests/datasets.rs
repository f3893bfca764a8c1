//! What is learned from, what is held out, and what a dataset proves.

use proptest::prelude::*;
use seal::merkle::{inclusion_proof, leaf_hash, verify_inclusion};
use std::collections::BTreeSet;
use training::{
    Error, Example, Role, Split, SplitRule, Turn, Why, assemble, check, is_by_time_alone, read_lines, recall,
    receipts, receipts_root, write_lines,
};

pub fn example(number: i64, project: &str) -> Example {
    let asked =
        format!("task {number} of {project}: rename file{number} and tell how many lines number{number} has");
    let prompt = vec![
        Turn { role: Role::System, content: "You answer with one act as JSON.".to_owned() },
        Turn { role: Role::User, content: asked },
    ];
    let answer = format!("{{\"tool\":\"rename\",\"arguments\":{{\"from\":\"file{number}\"}}}}");
    Example::new(prompt, answer, vec![format!("rcp_{project}_{number}")], project.to_owned(), number)
}

fn candidates() -> Vec<Example> {
    let of = |project: &'static str, from: i64| (from..from + 10).map(move |at| example(at, project));
    of("old", 0).chain(of("middle", 100)).chain(of("new", 200)).collect()
}

#[test]
fn the_newest_projects_are_held_out_and_nothing_as_late_is_learned_from() {
    let mut all = candidates();
    all.push(example(205, "old"));
    let made = assemble(all, SplitRule::default()).unwrap();
    assert_eq!((made.of(Split::Train).count(), made.of(Split::HeldOut).count()), (20, 10));
    assert!(made.of(Split::HeldOut).all(|one| one.project == "new"));
    assert!(matches!(made.left_out.as_slice(), [one] if one.why == Why::Late));
    assert!(!is_by_time_alone(&made.examples));
    // One who puts a late one among those that are learned from is refused when it is read.
    let mut leaked = made.examples.clone();
    let last = leaked.len() - 1;
    leaked[last].split = Split::Train;
    assert!(check(&leaked).is_err());
}

#[test]
fn one_project_is_divided_by_time_alone_only_where_that_is_said() {
    let all: Vec<Example> = (0..10).map(|at| example(at, "one")).collect();
    let refused = assemble(all.clone(), SplitRule::default()).unwrap_err();
    assert!(refused.to_string().contains("of one project"), "{refused}");
    let rule = SplitRule { whole_projects: false, ..SplitRule::default() };
    let made = assemble(all, rule).unwrap();
    assert_eq!((made.of(Split::Train).count(), made.of(Split::HeldOut).count()), (8, 2));
    assert!(is_by_time_alone(&made.examples));
}

#[test]
fn nothing_is_no_dataset() {
    for empty in [assemble(Vec::new(), SplitRule::default()).map(|_| ()), read_lines(b"").map(|_| ())] {
        assert!(matches!(&empty, Err(Error::Dataset(words)) if words.contains("no example")), "{empty:?}");
    }
    assert!(read_lines(b"{}\n").is_err());
}

#[test]
fn what_is_the_same_or_nearly_so_is_there_once_and_another_answer_is_not_the_same() {
    let long = |end: &str| (0..60).map(|at| format!("word{at}")).collect::<Vec<_>>().join(" ") + end;
    let with = |text: String, answer: &str, at: i64| {
        let prompt = vec![Turn { role: Role::User, content: text }];
        Example::new(prompt, answer.to_owned(), vec![format!("rcp_{at}")], "old".to_owned(), at)
    };
    let mut all = candidates();
    let first = with(long(" a"), "yes", 20);
    all.extend([
        with(long(" a"), "yes", 21),
        with(long(" b"), "yes", 22),
        with(long(" b"), "no", 23),
        first.clone(),
    ]);
    let made = assemble(all, SplitRule::default()).unwrap();
    let why: Vec<_> = made.left_out.iter().map(|one| one.why.clone()).collect();
    assert_eq!(why, [Why::Duplicate, Why::NearDuplicate { of: first.id }]);
    assert_eq!(made.of(Split::Train).filter(|one| one.answer == "no").count(), 1);
}

#[test]
fn a_changed_line_and_one_without_a_receipt_are_refused() {
    let made = assemble(candidates(), SplitRule::default()).unwrap();
    let lines = write_lines(&made.examples).unwrap();
    assert_eq!(read_lines(&lines).unwrap(), made.examples);
    let changed = String::from_utf8(lines).unwrap().replace("file7", "file8");
    assert!(read_lines(changed.as_bytes()).unwrap_err().to_string().contains("other content"));
    let mut without = example(1, "old");
    without.receipts.clear();
    assert!(without.check().is_err());
    let huge = Example::new(
        without.prompt,
        "x".repeat(training::EXAMPLE_BYTES_MAX),
        vec!["r".into()],
        "p".into(),
        1,
    );
    assert!(huge.check().is_err());
}

#[test]
fn one_receipt_is_proven_without_the_others_and_recalled_with_what_rests_on_it() {
    let made = assemble(candidates(), SplitRule::default()).unwrap();
    let (root, id) = (receipts_root(&made.examples), "rcp_middle_104");
    let ids = receipts(&made.examples);
    let leaves: Vec<_> = ids.iter().map(|id| leaf_hash(id.as_bytes())).collect();
    let (index, size) = (ids.iter().position(|one| one == id).unwrap() as u64, leaves.len() as u64);
    let path = inclusion_proof(index, &leaves).unwrap();
    assert!(verify_inclusion(&leaf_hash(id.as_bytes()), index, size, &path, &root).is_ok());
    assert!(verify_inclusion(&leaf_hash(b"rcp_new_204"), index, size, &path, &root).is_err());
    assert!(!ids.contains(&"rcp_new_204".to_owned()), "it is held out");
    let (kept, gone) = recall(made.examples.clone(), &BTreeSet::from([id.to_owned()]));
    assert_eq!((kept.len(), gone), (29, vec![example(104, "middle").id]));
    assert_ne!(receipts_root(&kept), root);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_order_of_candidates_changes_nothing(all in Just(candidates()).prop_shuffle()) {
        prop_assert_eq!(
            assemble(all, SplitRule::default()).unwrap(),
            assemble(candidates(), SplitRule::default()).unwrap()
        );
    }

    #[test]
    fn nothing_learned_is_of_a_held_out_project_or_as_late(
        times in proptest::collection::vec((0_i64..1_000, 0_usize..5), 2..60),
        percent in 1_u8..90,
    ) {
        let named = ["a", "b", "c", "d", "e"];
        let all = times.iter().map(|(at, project)| example(*at, named[*project])).collect();
        let rule = SplitRule { held_out_percent: percent, whole_projects: true };
        if let Ok(made) = assemble(all, rule) {
            prop_assert!(!is_by_time_alone(&made.examples));
            let held = made.of(Split::HeldOut).map(|one| one.at).min().unwrap();
            prop_assert!(made.of(Split::Train).all(|one| one.at < held));
        }
    }
}
