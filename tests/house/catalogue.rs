//! The acceptance catalogue of the run adapter contract (RA-3) is automated: each of its rows is claimed whole by a test, and a
//! row of which a person sees something by a test of the pages or of the windows (RA-3-17).

use super::tree::root;
use std::collections::BTreeSet;
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
