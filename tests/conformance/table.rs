//! The copy of the requirement table, the ids that tests claim, and the shape of the committed report.
//! Whether the report is fresh is seen by `cargo xtask test`, which has just watched every test run.

use crate::house::tree::{root, sources};
use std::collections::BTreeSet;
use std::fs;

const TABLE: &str = include_str!("requirements.tsv");

/// Ids in the table's own order.
fn ids() -> Vec<&'static str> {
    TABLE.lines().skip(1).filter_map(|l| l.split('\t').next()).collect()
}

/// What `#[conforms("..")]` claims in a file: ids with the test's name. Section 0 belongs to the attribute's own tests.
fn claimed(text: &str) -> BTreeSet<(String, String)> {
    let marks = text.match_indices("conforms(").filter_map(|(at, _)| text.get(at..)?.split_once(")]"));
    let claims = marks.flat_map(|(list, after)| {
        let name = after.split_once("fn ").and_then(|(_, name)| name.split('(').next()).unwrap_or_default();
        list.split('"').skip(1).step_by(2).map(|id| (id.to_owned(), name.to_owned()))
    });
    claims.filter(|(id, _)| id.split('-').nth(1).is_some_and(|section| section != "0")).collect()
}

/// Every claim of a test in Rust.
fn claims() -> BTreeSet<(String, String)> {
    let own = |path: &str| {
        ["conforms", "conforms-mark", "xtask"]
            .iter()
            .any(|room| path.starts_with(&format!("src-tauri/crates/{room}/")))
    };
    let files =
        sources().iter().filter(|s| s.is_rust() && !own(&s.path) && s.path != "tests/conformance/table.rs");
    files.flat_map(|s| claimed(&s.text)).collect()
}

/// The rows of the committed report: id, level, area, state, tests and note.
fn rows() -> Vec<[String; 6]> {
    let report =
        fs::read_to_string(root().join("tests/conformance/report.tsv")).expect("the report is committed");
    let rows = report.lines().filter(|l| !l.starts_with('#')).skip(1);
    let columns = |row: &str| row.split('\t').map(str::to_owned).collect::<Vec<_>>();
    rows.map(|row| columns(row).try_into().unwrap_or_else(|row| panic!("six columns: {row:?}"))).collect()
}

#[test]
fn the_copy_of_the_table_is_the_projects_table() {
    let original = root().join("../shared/spec/requirements.tsv");
    if let Ok(original) = fs::read_to_string(original) {
        assert!(
            original == TABLE,
            "tests/conformance/requirements.tsv differs from ../shared/spec/; copy it again"
        );
    }
    let ids = ids();
    let unique: BTreeSet<_> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len(), "an id stands twice in the table");
    assert!(TABLE.lines().all(|l| l.split('\t').count() == 6), "every row has six columns");
}

#[test]
fn no_test_claims_an_id_that_the_table_does_not_have() {
    let known: BTreeSet<_> = ids().into_iter().collect();
    let unknown: Vec<_> = claims().into_iter().filter(|(id, _)| !known.contains(id.as_str())).collect();
    assert!(unknown.is_empty(), "ids that no requirement has: {unknown:?}");
}

#[test]
fn the_report_has_one_row_for_each_requirement_in_the_tables_order() {
    let rows = rows();
    let reported: Vec<&str> = rows.iter().map(|[id, ..]| id.as_str()).collect();
    assert_eq!(reported, ids(), "run `cargo xtask report` to write the report again");
}

#[test]
fn the_report_names_the_tests_that_claim_in_the_sources_and_no_others() {
    let mut reported = BTreeSet::new();
    for [id, _, _, _, tests, _] in rows() {
        let pages = |test: &&str| test.contains("browser::") || test.contains("verifier::");
        for test in tests.split(", ").filter(|test| !test.is_empty() && !pages(test)) {
            reported.insert((id.clone(), test.rsplit("::").next().unwrap_or_default().to_owned()));
        }
    }
    let claims = claims();
    let differ: Vec<_> = claims.symmetric_difference(&reported).collect();
    assert!(differ.is_empty(), "run `cargo xtask report`: {differ:?}");
}

#[test]
fn a_must_that_is_not_proven_says_what_is_missing_and_where_it_is_to_be_done() {
    let open =
        |[_, level, _, state, _, note]: &[String; 6]| level == "MUST" && state != "proven" && note.is_empty();
    let silent: Vec<_> = rows().into_iter().filter(open).map(|[id, ..]| id).collect();
    assert!(silent.is_empty(), "give these a line of tests/conformance/open.tsv: {silent:?}");
}

/// The lines of a list of this folder, in columns.
fn listed(name: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(root().join("tests/conformance").join(name)).expect("it is committed");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn every_must_that_is_proven_has_a_mutant_or_says_why_it_can_have_none() {
    let ids = |lines: Vec<Vec<String>>| -> BTreeSet<String> {
        lines.iter().flat_map(|columns| columns[0].split(',')).map(str::to_owned).collect()
    };
    let (with, without) = (ids(listed("mutants.tsv")), ids(listed("unmutated.tsv")));
    let proven = rows().into_iter().filter(|[_, level, _, state, ..]| level == "MUST" && state == "proven");
    let lacking: Vec<_> =
        proven.map(|[id, ..]| id).filter(|id| !with.contains(id) && !without.contains(id)).collect();
    assert!(lacking.is_empty(), "give these a line of tests/conformance/mutants.tsv: {lacking:?}");
    let known: BTreeSet<String> = self::ids().into_iter().map(str::to_owned).collect();
    let unknown: Vec<_> = with.union(&without).filter(|id| !known.contains(*id)).collect();
    assert!(unknown.is_empty(), "no requirement has these: {unknown:?}");
}

#[test]
fn what_a_mutant_takes_the_place_of_stands_once_in_its_file() {
    let mut stale = Vec::new();
    for columns in listed("mutants.tsv") {
        let [id, file, find, _, _] = &columns[..] else { panic!("five columns: {columns:?}") };
        let find = find.replace("\\n", "\n").replace(['«', '»'], "");
        let text = fs::read_to_string(root().join(file)).unwrap_or_default();
        let times = text.matches(&find).count();
        if times != 1 {
            stale.push(format!("{id}: {times} times in {file}: {find}"));
        }
    }
    assert!(stale.is_empty(), "mend these lines of tests/conformance/mutants.tsv:\n{}", stale.join("\n"));
}

#[test]
fn claims_are_read_from_the_attribute() {
    // Cut in two, or this line itself would claim them.
    let text = concat!(
        "#[conf",
        "orms::conf",
        r#"orms("HK-1-1", part = "RX-4-2b")] #[test] fn a() {} #[conf"#,
        r#"orms("HK-0-1")] fn b() {}"#
    );
    let claim = |id: &str| (id.to_owned(), "a".to_owned());
    assert_eq!(claimed(text), BTreeSet::from([claim("HK-1-1"), claim("RX-4-2b")]));
}
