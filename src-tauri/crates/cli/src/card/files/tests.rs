use super::*;

fn texts(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|(_, text)| text.as_str()).collect()
}

#[test]
fn only_the_text_whose_digest_is_signed_is_shown_and_nothing_in_it_is_hidden() {
    let made = |text: Option<&str>, missing: Option<NoText>| Side {
        sha256: String::new(),
        byte_size: None,
        text: text.map(str::to_owned),
        missing,
    };
    let side = |text: &str| made(Some(text), None);
    let meant = Digest::of(b"rm x\r\n\tend\n");
    let shown = added(&known(Some(&side("rm x\r\n\tend\n")), &meant));
    assert_eq!(texts(&shown), ["      +rm x\\u{d}", "      +\tend"]);
    for other in [Some(side("rm y\n")), Some(made(None, Some(NoText::Gone))), None] {
        let shown = added(&known(other.as_ref(), &meant));
        assert!(!texts(&shown).iter().any(|text| text.contains("rm")), "{shown:?}");
        assert_eq!(shown.len(), 1, "it says that nothing is shown: {shown:?}");
    }
    let binary = made(None, Some(NoText::Binary));
    assert_eq!(texts(&added(&known(Some(&binary), &meant))), ["      binary, not shown"]);
}

#[test]
fn folders_that_are_made_on_the_way_are_counted_with_those_that_are_items() {
    let path = |name: &str| -> RelPath { name.parse().unwrap() };
    let prior = Prior::Sha256(Digest::of(b"x"));
    let moved = ChangeItem::Move { from: path("a.jpg"), to: path("Images/a.jpg"), prior };
    let folder = ChangeItem::Folder { path: path("own"), mode: None, was: None };
    let items = [moved, folder];
    assert_eq!(sum(&items, 2), ["moves 1 file", "makes 3 folders"]);
    assert_eq!(sum(&items, 0), ["moves 1 file", "makes 1 folder"]);
    assert_eq!(sum_staged(&[], 1), ["makes 1 folder"]);
    let names: Vec<String> = (0..NAMES).map(|at| format!("d{at}")).collect();
    assert!(in_one_row(names, NAMES + 3).1.ends_with(" and 3 more"));
}

#[test]
fn hunks_carry_the_numbers_by_which_a_person_takes_them() {
    let before: String = (1..=40).map(|n| format!("line {n}\n")).collect();
    let after =
        before.replace("line 4\n", "").replace("line 20\n", "line 20\nmore\n").replace("line 40\n", "end");
    let rows = changed(&Known::Text(&before), &Known::Text(&after));
    let heads: Vec<&str> = texts(&rows).into_iter().filter(|row| row.contains("@@")).collect();
    assert_eq!(
        heads,
        [
            "      hunk 1 of 3  @@ -1,7 +1,6 @@",
            "      hunk 2 of 3  @@ -18,6 +17,7 @@",
            "      hunk 3 of 3  @@ -37,4 +37,4 @@"
        ]
    );
    assert_eq!(texts(&rows).last(), Some(&"      (no line break at the end)"));
    assert_eq!(tally(&rows), (2, 2));
    let one = changed(&Known::Text("a\n"), &Known::Text("b\n"));
    assert_eq!(texts(&one), ["      @@ -1 +1 @@", "      -a", "      +b"]);
}

#[test]
fn one_changed_line_of_many_is_shown_with_what_stands_around_it() {
    let before: String = (1..=5_000).map(|n| format!("line {n}\n")).collect();
    let after = before.replace("line 2500\n", "rm -rf /\n");
    let rows = changed(&Known::Text(&before), &Known::Text(&after));
    assert_eq!(tally(&rows), (1, 1));
    assert!(texts(&rows).contains(&"      +rm -rf /") && rows.len() < 12, "{rows:?}");
}
