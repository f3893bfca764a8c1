//! The copy of the requirement table, the ids that tests claim, and the shape of the committed report.
//! Whether the report is fresh is seen by `cargo xtask test`, which has just watched every test run.

use crate::house::tree::{root, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

const TABLE: &str = include_str!("requirements.tsv");

/// Ids in the table's own order.
fn ids() -> Vec<&'static str> {
    TABLE.lines().skip(1).filter_map(|l| l.split('\t').next()).collect()
}

/// Ids in `#[conforms("..")]` of a file. Section 0 belongs to the attribute's own tests.
fn claimed(text: &str) -> BTreeSet<String> {
    let lists = text.match_indices("conforms(").filter_map(|(at, _)| text.get(at..)?.split(')').next());
    let ids = lists.flat_map(|list| list.split('"').skip(1).step_by(2));
    ids.filter(|id| id.split('-').nth(1).is_some_and(|section| section != "0")).map(str::to_owned).collect()
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
    let own = |path: &str| path.starts_with("src-tauri/crates/conforms/");
    let files = sources().iter().filter(|s| s.is_rust() && !own(&s.path));
    let unknown: BTreeMap<_, Vec<_>> = files
        .map(|s| (&s.path, claimed(&s.text).into_iter().filter(|id| !known.contains(id.as_str())).collect()))
        .filter(|(_, ids): &(_, Vec<_>)| !ids.is_empty())
        .collect();
    assert!(unknown.is_empty(), "ids that no requirement has: {unknown:?}");
}

#[test]
fn the_report_has_one_row_for_each_requirement_in_the_tables_order() {
    let report =
        fs::read_to_string(root().join("tests/conformance/report.tsv")).expect("the report is committed");
    let rows: Vec<_> = report.lines().filter(|l| !l.starts_with('#')).skip(1).collect();
    let reported: Vec<_> = rows.iter().filter_map(|r| r.split('\t').next()).collect();
    assert_eq!(reported, ids(), "run `cargo xtask test` to write the report again");
    assert!(rows.iter().all(|r| r.split('\t').count() == 4), "every row has four columns");
}

#[test]
fn claims_are_read_from_the_attribute() {
    // Cut in two, or this line itself would claim them.
    let text = concat!(
        "#[conf",
        "orms::conf",
        r#"orms("HK-1-1", "RX-4-2b")] fn a() {} #[conf"#,
        r#"orms("HK-0-1")]"#
    );
    assert_eq!(claimed(text), BTreeSet::from(["HK-1-1".to_owned(), "RX-4-2b".to_owned()]));
}
