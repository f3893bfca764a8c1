//! The acceptance catalogue of the run adapter contract (RA-3) is automated: each of its rows is claimed whole by a test, and a
//! row of which a person sees something by a test of the pages or of the windows (RA-3-17). A mark alone says nothing: the
//! committed report names the tests that ran and passed, and each row has to be proven there in the same way.

use super::tree::root;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Rows of which a person sees nothing of their own: two homes in one process, which no page opens.
const UNSEEN: [&str; 1] = ["RA-3-12"];

/// How a mark begins: put together here, so that whoever looks for marks in sources finds none in this one.
const MARK: &str = concat!("conf", "orms(");

/// The row that this is about.
const ITSELF: &str = "RA-3-17";

/// Rows of the catalogue, as the requirements have them.
fn rows(requirements: &str) -> Vec<&str> {
    let ids = requirements.lines().filter_map(|line| line.split('\t').next());
    ids.filter(|id| id.starts_with("RA-3-") && *id != ITSELF).collect()
}

/// Rows that a source claims whole: named within the brackets of a mark, and not as a part.
fn claimed(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in source.match_indices("\"RA-3-") {
        let (before, behind) = source.split_at(at);
        let before = before.trim_end();
        let is_part = before.ends_with("part(") || before.ends_with("part =");
        let id = behind.split('"').nth(1).unwrap_or_default();
        let is_mark = before
            .rsplit_once(MARK)
            .is_some_and(|(_, between)| !between.contains(['{', ';']) && !between.contains("=>"));
        if is_mark && !is_part {
            found.insert(id.to_owned());
        }
    }
    found
}

fn claimed_in(folder: &Path, ending: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let sources = entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(ending));
    sources.flat_map(|entry| claimed(&fs::read_to_string(entry.path()).expect("a text"))).collect()
}

/// Rows that are not claimed, but for some.
fn lacking<'r>(rows: &[&'r str], claimed: &BTreeSet<String>, but: &[&str]) -> Vec<&'r str> {
    rows.iter().copied().filter(|id| !claimed.contains(*id) && !but.contains(id)).collect()
}

/// How the report begins what a test showed through a page, or through a built program such as the app in its windows.
const SEEN: [&str; 2] = ["page ", "program "];

/// Of each row that the report calls proven, whether a test showed it whole on a page or in a window.
fn proven(report: &str) -> BTreeMap<&str, bool> {
    let rows = report.lines().filter(|line| !line.starts_with('#'));
    let columns = rows.map(|row| row.split('\t').collect::<Vec<_>>());
    let proven = columns.filter(|row| row.get(3) == Some(&"proven"));
    let is_seen = |tests: &str| tests.split(", ").any(|test| SEEN.iter().any(|by| test.starts_with(by)));
    proven.map(|row| (row[0], row.get(4).copied().is_some_and(is_seen))).collect()
}

#[conforms::conforms("RA-3-17")]
#[test]
fn each_row_of_the_acceptance_catalogue_is_shown_by_a_test_and_where_a_person_sees_it_by_one_of_the_pages() {
    let root = root();
    let requirements = fs::read_to_string(root.join("tests/conformance/requirements.tsv")).expect("a text");
    let rows = rows(&requirements);
    assert_eq!(rows.len(), 16, "{rows:?}");
    let mut seen = claimed_in(&root.join("tests/browser"), ".test.ts");
    seen.extend(claimed_in(&root.join("tests/desktop"), ".rs"));
    let mut all = seen.clone();
    all.extend(claimed_in(&root.join("src-tauri/crates/host/tests/all"), ".rs"));
    assert_eq!(lacking(&rows, &all, &[]), Vec::<&str>::new(), "no test shows these");
    assert_eq!(
        lacking(&rows, &seen, &UNSEEN),
        Vec::<&str>::new(),
        "no test of the pages or windows shows these"
    );
    let report =
        fs::read_to_string(root.join("tests/conformance/report.tsv")).expect("the report is committed");
    let proven = proven(&report);
    let shown: BTreeSet<String> = proven.keys().map(|&id| id.to_owned()).collect();
    assert_eq!(lacking(&rows, &shown, &[]), Vec::<&str>::new(), "no test that shows these has passed");
    let seen = proven.iter().filter(|(_, is_seen)| **is_seen).map(|(&id, _)| id.to_owned()).collect();
    assert_eq!(
        lacking(&rows, &seen, &UNSEEN),
        Vec::<&str>::new(),
        "no test of the pages or windows that shows these has passed"
    );
}

#[test]
fn a_row_is_shown_by_what_passed_whole_and_seen_by_a_page_or_a_program_alone() {
    let report = "# all: 4\nid\tlevel\tarea\tstate\ttests\tnote\n\
        RA-3-1\tMUST\trun-api\tproven\tkernel all::a, page browser::b\t\n\
        RA-3-2\tMUST\trun-api\tproven\tkernel all::a, part page browser::b\t\n\
        RA-3-3\tMUST\trun-api\tin part\tpart program house::c\t\n\
        RA-3-4\tMUST\trun-api\tproven\tprogram house::c\t\n\
        RA-3-5\tMUST\trun-api\tnot yet\t\t\n";
    let wanted = [("RA-3-1", true), ("RA-3-2", false), ("RA-3-4", true)];
    assert_eq!(proven(report), BTreeMap::from(wanted));
}

#[test]
fn a_part_of_a_row_a_word_in_a_text_and_a_row_behind_the_mark_are_no_claim() {
    let source = r#"
        #[MARK"RA-3-1", part = "RA-3-2")]
        fn it() { let row = "RA-3-3"; }
        test("a", MARKpart("RA-3-4"), "RA-3-5", async () => { said("RA-3-6"); }));
    "#
    .replace("MARK", MARK);
    assert_eq!(claimed(&source).into_iter().collect::<Vec<_>>(), ["RA-3-1", "RA-3-5"]);
}
