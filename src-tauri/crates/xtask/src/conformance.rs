//! The conformance report: for each requirement the tests that ran, passed and said they prove it.
//!
//! `#[conforms("ID")]` leaves a line for each id when its test has passed. This folds the lines into
//! `tests/conformance/report.tsv`, in the order of the requirement table, the same bytes for the same tests.

use crate::Problem;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The report, from the root.
pub const REPORT: &str = "tests/conformance/report.tsv";
const TABLE: &str = "tests/conformance/requirements.tsv";
const LEVELS: [&str; 4] = ["MUST", "SHOULD", "MAY", "GOAL"];
const NOT_YET: &str = "not yet";

/// Tests by requirement id.
pub type Proofs = BTreeMap<String, BTreeSet<String>>;

/// Reads every file that test processes left in the folder.
pub fn collect(dir: &Path) -> Result<Proofs, Problem> {
    let broken = |e: std::io::Error| format!("cannot read `{}`: {e}", dir.display());
    let mut proofs = Proofs::new();
    for entry in fs::read_dir(dir).map_err(broken)? {
        let text = fs::read_to_string(entry.map_err(broken)?.path()).map_err(broken)?;
        for line in text.lines() {
            let (id, test) =
                line.split_once('\t').ok_or_else(|| format!("`{line}` is no conformance line"))?;
            // Section 0 belongs to the attribute's own tests.
            if id.split('-').nth(1) != Some("0") {
                proofs.entry(id.to_owned()).or_default().insert(test.to_owned());
            }
        }
    }
    Ok(proofs)
}

/// The whole report. An error if a test claims an id that the table does not have.
pub fn report(root: &Path, proofs: &Proofs) -> Result<String, Problem> {
    let table = fs::read_to_string(root.join(TABLE)).map_err(|e| format!("cannot read `{TABLE}`: {e}"))?;
    render(&table, proofs)
}

struct Row<'a> {
    id: &'a str,
    level: &'a str,
    area: &'a str,
    tests: String,
}

fn render(table: &str, proofs: &Proofs) -> Result<String, Problem> {
    let rows: Vec<Row> = table.lines().skip(1).filter_map(|line| row(line, proofs)).collect();
    let known: BTreeSet<&str> = rows.iter().map(|r| r.id).collect();
    if let Some(stranger) = proofs.keys().find(|id| !known.contains(id.as_str())) {
        return Err(format!("a test claims `{stranger}`, which no requirement has"));
    }
    let mut text = String::from(
        "# Requirements and the tests that ran, passed and prove them. Written by `cargo xtask test`.\n",
    );
    text.push_str(&format!("# all: {}\n", counts(rows.iter())));
    let areas: BTreeSet<&str> = rows.iter().map(|r| r.area).collect();
    for area in areas {
        text.push_str(&format!("# {area}: {}\n", counts(rows.iter().filter(|r| r.area == area))));
    }
    text.push_str("id\tlevel\tarea\ttest\n");
    for Row { id, level, area, tests } in &rows {
        text.push_str(&format!("{id}\t{level}\t{area}\t{tests}\n"));
    }
    Ok(text)
}

fn row<'a>(line: &'a str, proofs: &Proofs) -> Option<Row<'a>> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [id, _, _, level, area, ..] = columns[..] else {
        return None;
    };
    let tests = proofs.get(id).map(|tests| tests.iter().cloned().collect::<Vec<_>>().join(", "));
    Some(Row { id, level, area, tests: tests.unwrap_or_else(|| NOT_YET.to_owned()) })
}

/// `MUST 3/10, SHOULD 0/2`, levels without a row left out.
fn counts<'a>(rows: impl Iterator<Item = &'a Row<'a>> + Clone) -> String {
    let of = |level: &str| {
        let all = rows.clone().filter(|r| r.level == level);
        let proven = all.clone().filter(|r| r.tests != NOT_YET).count();
        let all = all.count();
        (all > 0).then(|| format!("{level} {proven}/{all}"))
    };
    LEVELS.iter().filter_map(|level| of(level)).collect::<Vec<_>>().join(", ")
}

/// The line of the report that sums it all up.
pub fn summary(report: &str) -> String {
    let line = report.lines().find_map(|line| line.strip_prefix("# all: ")).unwrap_or("nothing");
    format!("requirements proven by a test that passed: {line}")
}

/// At most 20 lines that one has and the other has not.
pub fn difference(committed: &str, report: &str) -> Vec<String> {
    let (old, new): (BTreeSet<&str>, BTreeSet<&str>) =
        (committed.lines().collect(), report.lines().collect());
    let gone = old.difference(&new).map(|line| format!("- {line}"));
    gone.chain(new.difference(&old).map(|line| format!("+ {line}"))).take(20).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "id\tsource\tsection\tlevel\tarea\ttext\n\
        HK-2-1\ts\t2\tMUST\tledger\tx\nHK-1-1\ts\t1\tSHOULD\tledger\ty\nRX-1-1\ts\t1\tMUST\tloop\tz\n";

    fn proofs(lines: &[(&str, &str)]) -> Proofs {
        let mut proofs = Proofs::new();
        for (id, test) in lines {
            proofs.entry((*id).to_owned()).or_default().insert((*test).to_owned());
        }
        proofs
    }

    #[test]
    fn the_report_keeps_the_tables_order_and_counts_by_area() {
        let text = render(TABLE, &proofs(&[("HK-2-1", "b::t"), ("HK-2-1", "a::t")])).unwrap();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "# all: MUST 1/2, SHOULD 0/1",
                "# ledger: MUST 1/1, SHOULD 0/1",
                "# loop: MUST 0/1",
                "id\tlevel\tarea\ttest",
                "HK-2-1\tMUST\tledger\ta::t, b::t",
                "HK-1-1\tSHOULD\tledger\tnot yet",
                "RX-1-1\tMUST\tloop\tnot yet",
            ]
        );
    }

    #[test]
    fn a_claim_that_no_requirement_has_is_refused() {
        assert!(render(TABLE, &proofs(&[("HK-9-9", "a::t")])).unwrap_err().contains("`HK-9-9`"));
    }

    #[test]
    fn a_difference_names_both_sides() {
        assert_eq!(difference("a\nb\n", "b\nc\n"), ["- a", "+ c"]);
    }
}
