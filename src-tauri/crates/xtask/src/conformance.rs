//! The conformance report: for each requirement the tests that ran, passed and said they prove it, and through what.
//!
//! `#[conforms("ID")]` leaves a line for each id when its test has passed. This folds the lines into
//! `tests/conformance/report.tsv`, in the order of the requirement table, the same bytes for the same tests. What is open,
//! with where it is to be done, and what does not apply, with the reason, stands in `open.tsv` beside it; how many
//! mutants the tests kill, in `killed.tsv`, which `cargo xtask mutants` writes.

use crate::Problem;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;

/// The report, from the root.
pub const REPORT: &str = "tests/conformance/report.tsv";
/// The mutants, one a line, and what became of them.
pub const MUTANTS: &str = "tests/conformance/mutants.tsv";
/// Of the mutants those that a test killed.
pub const KILLED: &str = "tests/conformance/killed.tsv";
/// Rows that no fault behind a switch can break, each with the reason.
const UNMUTATED: &str = "tests/conformance/unmutated.tsv";
const TABLE: &str = "tests/conformance/requirements.tsv";
const OPEN: &str = "tests/conformance/open.tsv";
const LEVELS: [&str; 4] = ["MUST", "SHOULD", "MAY", "GOAL"];
const HEAD: &str = "\
# Requirements, and the tests that ran, passed and show them. Written by `cargo xtask test`.
# proven: the whole row through the product: a kernel, a built program or a page. in a room: the whole row, in the room that
# does it. in part: a part of the row. not yet: nothing of it. The note says where what is open is to be done.
";

/// What a test went through.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Surface {
    /// A kernel with its ledger, by its own door or by the api's.
    Kernel,
    /// A program as a person starts it.
    Program,
    /// A page in a browser.
    Page,
    /// One room, without a kernel.
    Room,
}

impl Surface {
    /// By the package a test stands in, and its path there.
    pub fn of(package: &str, test: &str) -> Self {
        let module = test.split("::").nth(1).unwrap_or_default();
        let own = !test.starts_with(&format!("{package}::"));
        match (package, module) {
            ("kernel", "rules") | ("tests", "house" | "conformance") => Self::Room,
            ("kernel" | "host" | "api" | "gateway", _) if own => Self::Kernel,
            ("tests", "simulation") => Self::Kernel,
            ("cli" | "exec", _) if own => Self::Program,
            ("proof", "program") | ("tests" | "desktop", _) => Self::Program,
            ("browser", _) => Self::Page,
            _ => Self::Room,
        }
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kernel => "kernel",
            Self::Program => "program",
            Self::Page => "page",
            Self::Room => "room",
        })
    }
}

/// One test that shows a requirement.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Proof {
    /// Whether it shows a part of the row only; what is shown whole comes first.
    pub is_part: bool,
    /// What it went through.
    pub surface: Surface,
    /// Its path.
    pub test: String,
}

impl Proof {
    /// From the package with or without `hermit-`.
    pub fn new(test: &str, package: &str, is_part: bool) -> Self {
        let package = package.strip_prefix("hermit-").unwrap_or(package);
        Self { is_part, surface: Surface::of(package, test), test: test.to_owned() }
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{} {}", if self.is_part { "part " } else { "" }, self.surface, self.test)
    }
}

/// Tests by requirement id.
pub type Proofs = BTreeMap<String, BTreeSet<Proof>>;

/// What a run left behind.
#[derive(Default, Debug)]
pub struct Left {
    /// What was shown.
    pub proofs: Proofs,
    /// The tests that were skipped, each with its reasons.
    pub skips: BTreeMap<String, BTreeSet<String>>,
}

/// Reads every file that test processes left in the folder.
pub fn collect(dir: &Path) -> Result<Left, Problem> {
    let broken = |e: std::io::Error| format!("cannot read `{}`: {e}", dir.display());
    let mut left = Left::default();
    for entry in fs::read_dir(dir).map_err(broken)? {
        let path = entry.map_err(broken)?.path();
        let text = fs::read_to_string(&path).map_err(broken)?;
        for line in text.lines() {
            left.add(line, path.extension().is_some_and(|ending| ending == "skipped"))?;
        }
    }
    Ok(left)
}

impl Left {
    fn add(&mut self, line: &str, skipped: bool) -> Result<(), Problem> {
        let columns: Vec<&str> = line.split('\t').collect();
        match columns[..] {
            [test, why] if skipped => {
                self.skips.entry(test.to_owned()).or_default().insert(why.to_owned());
            }
            [id, test, package, extent @ ("whole" | "part")] => {
                // Section 0 belongs to the attribute's own tests.
                if id.split('-').nth(1) != Some("0") {
                    let proof = Proof::new(test, package, extent == "part");
                    self.proofs.entry(id.to_owned()).or_default().insert(proof);
                }
            }
            _ => return Err(format!("`{line}` is no conformance line")),
        }
        Ok(())
    }
}

/// The whole report. An error if a test claims an id that the table does not have, or one that is said not to apply.
pub fn report(root: &Path, proofs: &Proofs) -> Result<String, Problem> {
    let read =
        |path: &str| fs::read_to_string(root.join(path)).map_err(|e| format!("cannot read `{path}`: {e}"));
    let killed = fs::read_to_string(root.join(KILLED)).unwrap_or_default();
    let mutants = read(MUTANTS)?;
    let mutants = Mutants::of(&mutants, &killed, &read(UNMUTATED)?)?;
    render(&read(TABLE)?, &read(OPEN)?, &mutants, proofs)
}

/// How the mutants stand that are in the list today.
struct Mutants {
    all: usize,
    dead: usize,
    /// The rows of those that a test was seen to kill.
    rows: BTreeSet<String>,
    /// Rows that can have none.
    none: BTreeSet<String>,
}

impl Mutants {
    fn of(mutants: &str, killed: &str, unmutated: &str) -> Result<Self, Problem> {
        fn lines(text: &str) -> BTreeSet<&str> {
            text.lines().filter(|line| !line.starts_with('#')).collect()
        }
        let (all, dead) = (lines(mutants), lines(killed));
        let dead: Vec<&str> = all.intersection(&dead).copied().collect();
        let ids = dead.iter().filter_map(|line| line.split('\t').next());
        let rows: BTreeSet<String> = ids.flat_map(|ids| ids.split(',')).map(str::to_owned).collect();
        let reason = |line: &str| match line.split_once('\t') {
            Some((id, why)) if !why.trim().is_empty() => Ok(id.to_owned()),
            _ => Err(format!("`{line}` of `{UNMUTATED}` is not `id<TAB>why`")),
        };
        let none = lines(unmutated).into_iter().map(reason).collect::<Result<BTreeSet<_>, _>>()?;
        if let Some(both) = none.intersection(&rows).next() {
            return Err(format!("`{both}` has a mutant, and `{UNMUTATED}` says that it can have none"));
        }
        Ok(Self { all: all.len(), dead: dead.len(), rows, none })
    }

    fn score(&self, rows: &[Row<'_>]) -> String {
        let proven = rows.iter().filter(|row| row.level == "MUST" && row.state == STATES[0]);
        let without: Vec<&str> = proven
            .map(|row| row.id)
            .filter(|id| !self.rows.contains(*id) && !self.none.contains(*id))
            .collect();
        let Self { all, dead, rows, none } = self;
        format!(
            "{dead}/{all} killed, of {} requirements; {} can have none, for the reason in {UNMUTATED}; proven MUST rows \
             without: {}",
            rows.len(),
            none.len(),
            if without.is_empty() { "none".to_owned() } else { without.join(", ") }
        )
    }
}

struct Row<'a> {
    id: &'a str,
    level: &'a str,
    area: &'a str,
    state: &'static str,
    tests: String,
    note: String,
}

/// The states of a row, the best first.
const STATES: [&str; 5] = ["proven", "in a room", "in part", "does not apply", "not yet"];

fn render(table: &str, open: &str, mutants: &Mutants, proofs: &Proofs) -> Result<String, Problem> {
    let open: BTreeMap<&str, (&str, &str)> = open
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let mut columns = line.splitn(3, '\t');
            match (columns.next(), columns.next(), columns.next()) {
                (Some(id), Some(place), Some(what)) => Ok((id, (place, what))),
                _ => Err(format!("`{line}` of `{OPEN}` is not `id<TAB>where<TAB>what`")),
            }
        })
        .collect::<Result<_, _>>()?;
    let rows: Vec<Row> = table
        .lines()
        .skip(1)
        .filter_map(|line| row(line, &open, proofs).transpose())
        .collect::<Result<_, _>>()?;
    let known: BTreeSet<&str> = rows.iter().map(|r| r.id).collect();
    if let Some(stranger) =
        proofs.keys().map(String::as_str).chain(open.keys().copied()).find(|id| !known.contains(id))
    {
        return Err(format!("`{stranger}` is claimed or said to be open, and no requirement has it"));
    }
    let mut text = String::from(HEAD);
    text.push_str(&format!("# mutants: {}\n", mutants.score(&rows)));
    text.push_str(&format!("# all: {}\n", counts(rows.iter())));
    let areas: BTreeSet<&str> = rows.iter().map(|r| r.area).collect();
    for area in areas {
        text.push_str(&format!("# {area}: {}\n", counts(rows.iter().filter(|r| r.area == area))));
    }
    text.push_str("id\tlevel\tarea\tstate\ttest\tnote\n");
    for Row { id, level, area, state, tests, note } in &rows {
        text.push_str(&format!("{id}\t{level}\t{area}\t{state}\t{tests}\t{note}\n"));
    }
    Ok(text)
}

fn row<'a>(
    line: &'a str,
    open: &BTreeMap<&str, (&str, &str)>,
    proofs: &Proofs,
) -> Result<Option<Row<'a>>, Problem> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [id, _, _, level, area, ..] = columns[..] else {
        return Ok(None);
    };
    let tests: Vec<&Proof> = proofs.get(id).into_iter().flatten().collect();
    let whole = |product: bool| tests.iter().any(|p| !p.is_part && (p.surface != Surface::Room || !product));
    let said = open.get(id);
    let state = match (said, tests.is_empty()) {
        (Some(("does not apply", _)), true) => STATES[3],
        (Some(("does not apply", _)), false) => {
            return Err(format!("`{id}` does not apply, says `{OPEN}`, and a test claims it"));
        }
        (_, true) => STATES[4],
        _ if whole(true) => STATES[0],
        _ if whole(false) => STATES[1],
        _ => STATES[2],
    };
    let note = match said {
        Some(("does not apply", why)) => (*why).to_owned(),
        Some((place, what)) if state != STATES[0] => format!("{place}: {what}"),
        _ => String::new(),
    };
    let tests: Vec<String> = tests.iter().map(ToString::to_string).collect();
    Ok(Some(Row { id, level, area, state, tests: tests.join(", "), note }))
}

/// `MUST 3 proven, 2 in part of 10; SHOULD 2 not yet of 2`, what there is none of left out.
fn counts<'a>(rows: impl Iterator<Item = &'a Row<'a>> + Clone) -> String {
    let of = |level: &str| {
        let all = rows.clone().filter(|r| r.level == level);
        let with = |state: &str| all.clone().filter(|r| r.state == state).count();
        let parts = STATES.iter().map(|state| (with(state), state)).filter(|(many, _)| *many > 0);
        let parts: Vec<String> = parts.map(|(many, state)| format!("{many} {state}")).collect();
        (!parts.is_empty()).then(|| format!("{level} {} of {}", parts.join(", "), all.clone().count()))
    };
    LEVELS.iter().filter_map(|level| of(level)).collect::<Vec<_>>().join("; ")
}

/// The line of the report that sums it all up.
pub fn summary(report: &str) -> String {
    let line = report.lines().find_map(|line| line.strip_prefix("# all: ")).unwrap_or("nothing");
    format!("requirements shown by a test that passed: {line}")
}

/// The rows of a committed report that claim what the run has not shown: a test that did not pass, or a better state.
pub fn overclaimed(committed: &str, report: &str) -> Vec<String> {
    let rows = |text: &str| -> BTreeMap<String, (usize, BTreeSet<String>)> {
        let rows = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
            let [id, _, _, state, tests, ..] = line.split('\t').collect::<Vec<_>>()[..] else { return None };
            let rank = STATES.iter().position(|known| *known == state)?;
            let tests = tests.split(", ").filter(|test| !test.is_empty()).map(str::to_owned);
            Some((id.to_owned(), (rank, tests.collect())))
        });
        rows.collect()
    };
    let shown = rows(report);
    let claims = |(rank, tests): &(usize, BTreeSet<String>), id: &str| {
        shown.get(id).is_none_or(|(seen, passed)| rank < seen || !tests.is_subset(passed))
    };
    rows(committed).into_iter().filter(|(id, row)| claims(row, id)).map(|(id, _)| id).collect()
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
        HK-2-1\ts\t2\tMUST\tledger\tx\nHK-1-1\ts\t1\tSHOULD\tledger\ty\nRX-1-1\ts\t1\tMUST\tloop\tz\n\
        RX-1-2\ts\t1\tMUST\tloop\tz\nRX-1-3\ts\t1\tMUST\tloop\tz\n";

    fn left(lines: &[&str]) -> Left {
        let mut left = Left::default();
        for line in lines {
            left.add(line, false).unwrap();
        }
        left
    }

    fn rendered(open: &str, lines: &[&str]) -> Result<String, Problem> {
        let mutants = Mutants::of("RX-1-1\t1\nRX-1-2\t2\n", "RX-1-1\t1\n", "RX-1-3\twhy\n").unwrap();
        render(TABLE, open, &mutants, &left(lines).proofs)
    }

    #[test]
    fn the_report_keeps_the_tables_order_and_counts_by_area_what_is_shown_and_through_what() {
        let text = rendered(
            "# id\twhere\twhat\nRX-1-2\tdoes not apply\twhy\nHK-2-1\there\tnever seen\nRX-1-1\tissue 11\tthe rest\n",
            &[
                "HK-2-1\tseal::b\thermit-seal\twhole",
                "HK-2-1\tall::a\thermit-kernel\twhole",
                "HK-0-1\tall::own\thermit-conforms\twhole",
                "HK-1-1\tkernel::unit\thermit-kernel\twhole",
                "RX-1-1\tall::c\thermit-kernel\tpart",
            ],
        );
        let text = text.unwrap();
        assert!(text.starts_with(HEAD));
        let lines: Vec<&str> = text.strip_prefix(HEAD).unwrap().lines().collect();
        assert_eq!(
            lines,
            [
                "# mutants: 1/2 killed, of 1 requirements; 1 can have none, for the reason in \
                 tests/conformance/unmutated.tsv; proven MUST rows without: HK-2-1",
                "# all: MUST 1 proven, 1 in part, 1 does not apply, 1 not yet of 4; SHOULD 1 in a room of 1",
                "# ledger: MUST 1 proven of 1; SHOULD 1 in a room of 1",
                "# loop: MUST 1 in part, 1 does not apply, 1 not yet of 3",
                "id\tlevel\tarea\tstate\ttest\tnote",
                "HK-2-1\tMUST\tledger\tproven\tkernel all::a, room seal::b\t",
                "HK-1-1\tSHOULD\tledger\tin a room\troom kernel::unit\t",
                "RX-1-1\tMUST\tloop\tin part\tpart kernel all::c\tissue 11: the rest",
                "RX-1-2\tMUST\tloop\tdoes not apply\t\twhy",
                "RX-1-3\tMUST\tloop\tnot yet\t\t",
            ]
        );
    }

    #[test]
    fn a_claim_that_no_requirement_has_or_that_does_not_apply_is_refused() {
        assert!(rendered("", &["HK-9-9\ta::t\tp\twhole"]).unwrap_err().contains("`HK-9-9`"));
        assert!(rendered("HK-9-9\t12\twhat\n", &[]).unwrap_err().contains("`HK-9-9`"));
        let claimed = ["HK-2-1\ta::t\tp\twhole"];
        assert!(rendered("HK-2-1\tdoes not apply\twhy\n", &claimed).unwrap_err().contains("does not apply"));
        assert!(rendered("HK-2-1\n", &[]).is_err());
    }

    #[test]
    fn a_line_of_another_shape_is_refused_and_a_skip_keeps_its_reason() {
        let mut left = left(&[]);
        assert!(left.add("HK-2-1\ta::t", false).is_err());
        assert!(left.add("HK-2-1\ta::t\tp\thalf", false).is_err());
        left.add("a::t\tno moon", true).unwrap();
        assert_eq!(left.skips["a::t"], BTreeSet::from(["no moon".to_owned()]));
    }

    #[test]
    fn a_surface_is_known_by_where_the_test_stands() {
        for (package, test, surface) in [
            ("kernel", "all::chain::a", Surface::Kernel),
            ("kernel", "all::rules::a", Surface::Room),
            ("kernel", "kernel::next::a", Surface::Room),
            ("tests", "house::journeys::a", Surface::Program),
            ("tests", "house::house::a", Surface::Room),
            ("tests", "house::simulation::a", Surface::Kernel),
            ("cli", "it::run::a", Surface::Program),
            ("browser", "browser::a", Surface::Page),
            ("gate", "rules::api::a", Surface::Room),
        ] {
            assert_eq!(Surface::of(package, test), surface, "{package} {test}");
        }
    }

    #[test]
    fn only_a_mutant_that_stands_in_the_list_as_it_was_killed_counts() {
        let (mutants, killed) = ("# head\nA,C\t1\nB\t2\n", "# head\nA,C\t1\nB\tolder\n");
        let score = |none: &str| Mutants::of(mutants, killed, none).map(|found| found.score(&[]));
        assert!(score("").unwrap().starts_with("1/2 killed, of 2 requirements; 0 can have none"));
        assert!(score("A\twhy\n").unwrap_err().contains("`A` has a mutant"));
        assert!(score("B\n").unwrap_err().contains("id<TAB>why"), "it says why");
    }

    #[test]
    fn a_report_that_claims_less_than_was_shown_claims_nothing_too_much() {
        let row = |state: &str, tests: &str| format!("# all: x\nHK-1\tMUST\ta\t{state}\t{tests}\t\n");
        let shown = row("proven", "kernel a::b, part room c::d");
        for less in [row("in part", "part room c::d"), row("proven", "kernel a::b"), row("not yet", "")] {
            assert!(overclaimed(&less, &shown).is_empty(), "{less}");
            assert_eq!(overclaimed(&shown, &less), ["HK-1"], "{less}");
        }
        assert!(overclaimed(&shown, &shown).is_empty());
        assert_eq!(overclaimed(&shown, "# nothing\n"), ["HK-1"], "a row that is gone");
    }

    #[test]
    fn a_difference_names_both_sides() {
        assert_eq!(difference("a\nb\n", "b\nc\n"), ["- a", "+ c"]);
    }
}
