//! Every test in one run, counted, with the conformance lines they left.

use crate::Problem;
use crate::app;
use crate::beside;
use crate::claims;
use crate::conformance;
use crate::hung::SILENCE;
use crate::pages;
use crate::parts;
use crate::place::Place;
use crate::setup::{Purpose, may_install, setup};
use crate::shell::{in_ci, say, spelled};
use crate::stale;
use crate::systems;
use crate::told::{Ran, count_lines};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// How many tests that failed in a run get a second try, alone. More than these failed for a reason they share.
pub const SECOND_TRIES: usize = 3;

/// How many of what took longest are told at the end: a run has to fit into the time that CI has.
const LONGEST: usize = 12;

/// What the runners reported.
#[derive(Default, Debug, PartialEq, Eq)]
pub struct Count {
    /// Tests that passed.
    pub passed: usize,
    /// Tests that failed.
    pub failed: usize,
    /// Tests that did not run what they are there for.
    pub skipped: usize,
    /// Tests that were left out of a run.
    pub left_out: usize,
    /// Names of tests among the passed that had failed before.
    pub second_try: Vec<String>,
    /// What failed, by its name, so far as the runners said one.
    pub failures: Vec<String>,
    /// What took how many seconds.
    pub took: Vec<(u64, String)>,
}

/// Sets up and runs every test. Without words the conformance report is written, or compared with CI=true; with
/// words only `cargo test WORDS` runs and the report stays as it is. Ends with `N passed, N failed, N skipped`.
pub fn test(place: &Place, words: &[String]) -> Result<ExitCode, Problem> {
    let begun = Instant::now();
    setup(Purpose::Test)?;
    let dir = place.target.join(format!("conformance-{}", std::process::id()));
    empty(&dir)?;
    let ran = run_tests(place, words, &dir);
    let (mut count, clean) = ran.unwrap_or_else(|problem| {
        say(&problem);
        (Count::default(), false)
    });
    if !clean && count.failed == 0 {
        say("something did not build, or a test binary did not end by itself; see above");
        count.failed += 1;
    }
    if words.is_empty() {
        add_pages(place, &dir, &pages::AFTER_THE_BUILD, &mut count);
        add_systems(place, begun, &mut count);
    }
    let left = conformance::collect(&dir).unwrap_or_else(|problem| {
        say(&problem);
        count.failed += 1;
        conformance::Left::default()
    });
    let _ = fs::remove_dir_all(&dir);
    count.skip(&left.skips);
    if words.is_empty() {
        let report = conformance::report(&place.root, &left.proofs)?;
        if count.failed > 0 {
            say_what_is_not_shown(place, &report);
        } else if let Err(problem) = settle(place, &report) {
            say(&problem);
            count.failed += 1;
        }
    }
    for test in &count.second_try {
        say(&format!("passed only on its second try, so it is to be mended: {test}"));
    }
    for test in &count.failures {
        say(&format!("failed: {test}"));
    }
    count.took.sort_by_key(|(seconds, _)| std::cmp::Reverse(*seconds));
    for (seconds, what) in count.took.iter().take(LONGEST) {
        say(&format!("{seconds} s: {what}"));
    }
    println!("\n{} passed, {} failed, {} skipped", count.passed, count.failed, count.skipped);
    Ok(if count.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Makes the folder, without what a run that was killed may have left in one of its name.
fn empty(dir: &Path) -> Result<(), Problem> {
    let broken = |e: std::io::Error| format!("cannot make `{}`: {e}", dir.display());
    if dir.exists() {
        fs::remove_dir_all(dir).map_err(broken)?;
    }
    fs::create_dir(dir).map_err(broken)
}

/// Writes the report that a whole run would write in which every claiming test passed.
pub fn report_from_sources(place: &Place) -> Result<(), Problem> {
    settle(place, &conformance::report(&place.root, &claims::in_sources(&place.root)?)?)
}

/// What property tests draw their cases from. At a desk it is drawn anew each time and finds new cases; CI says of a
/// commit the same thing twice.
const SEED: &str = "PROPTEST_RNG_SEED";

/// Runs these suites of the pages too.
fn add_pages(place: &Place, dir: &Path, suites: &[&str], count: &mut Count) {
    if !pages::at_hand() {
        say("node and npm are not here; going on without the tests of the pages");
        return;
    }
    match pages::test(place, dir, suites) {
        Ok(more) => count.add_all(more),
        Err(problem) => {
            say(&problem);
            count.failed += 1;
        }
    }
}

/// What the type-check for other systems is called among tests.
const SYSTEMS: &str = "every room but the shell compiles for Windows and macOS";

/// Sees as one more test that the rooms compile for the other systems, where the parts and the time are there.
fn add_systems(place: &Place, begun: Instant, count: &mut Count) {
    let began = Instant::now();
    match systems::beside_tests(place, systems::WITHIN.saturating_sub(begun.elapsed())) {
        Ok(None) => count.passed += 1,
        Ok(Some(why)) => {
            say(&format!("skipped: {SYSTEMS}: {why}"));
            count.skipped += 1;
        }
        Err(problem) => {
            say(&problem);
            count.failed += 1;
            count.failures.push(SYSTEMS.to_owned());
        }
    }
    count.took.push((began.elapsed().as_secs(), SYSTEMS.to_owned()));
}

/// Streams what cargo says and counts the result lines. The second answer is whether cargo itself was content.
fn run_tests(place: &Place, words: &[String], dir: &Path) -> Result<(Count, bool), Problem> {
    let (mut cargo, mut of_pages) = (place.cargo(), Count::default());
    cargo.arg("test").env("HERMIT_CONFORMANCE_DIR", dir).stdin(Stdio::null()).stdout(Stdio::piped());
    if std::env::var_os("CI").is_some() && std::env::var_os(SEED).is_none() {
        cargo.env(SEED, "2026");
    }
    let whole = words.is_empty();
    if whole {
        cargo.args(["--workspace", "--no-fail-fast"]).args(app::left_out());
        // The app has the pages inside, so they come first.
        lend_second_verifier(place, &mut cargo);
        of_pages = build_beside_pages(place, dir)?;
    }
    lend_stock_tools(&mut cargo, whole);
    cargo.args(words);
    let (mut count, failed, clean) = if whole { beside::all(&cargo)? } else { alone(&mut cargo)? };
    let is_settled = clean || !whole || failed.len() != count.failed || failed.len() > SECOND_TRIES;
    let clean = if is_settled { clean } else { second_try(&mut cargo, &failed, &mut count)? };
    if !clean {
        count.failures = failed;
    }
    count.add_all(of_pages);
    Ok((count, clean))
}

/// One run of cargo.
fn alone(cargo: &mut Command) -> Result<Ran, Problem> {
    say(&format!("{} ...", spelled(cargo)));
    count_lines(cargo, SILENCE, "")
}

/// A busy machine makes a test fail that is about time; a defect fails twice. Which it was is said, and answered.
fn second_try(cargo: &mut Command, failed: &[String], count: &mut Count) -> Result<bool, Problem> {
    say(&format!("once more, alone: {}", failed.join(", ")));
    cargo.args(["--", "--exact", "--test-threads=1"]).args(failed);
    let (again, still, clean) = count_lines(cargo, SILENCE, "")?;
    let passed = clean && still.is_empty() && again.passed >= failed.len();
    if passed {
        count.passed += failed.len();
        count.failed = 0;
        count.second_try = failed.to_vec();
    }
    Ok(passed)
}

/// Builds everything. Pages that need no program are tested meanwhile: while one room waits for the next, the compiler leaves a processor
/// idle.
fn build_beside_pages(place: &Place, dir: &Path) -> Result<Count, Problem> {
    let begun = Instant::now();
    let (mut count, built) = std::thread::scope(|scope| {
        let pages = scope.spawn(|| {
            let mut count = Count::default();
            if pages::at_hand() {
                add_pages(place, dir, &pages::BESIDE_THE_BUILD, &mut count);
            }
            count
        });
        let built = build_programs(place).map(|()| begun.elapsed().as_secs());
        (pages.join().unwrap_or_else(|_| Count { failed: 1, ..Count::default() }), built)
    });
    count.took.push((built?, "the build".to_owned()));
    Ok(count)
}

/// What tells a test to fail where it lacks what set-up installs.
pub const ALL_MUST_BE_HERE: (&str, &str) = ("HERMIT_STOCK_TOOLS", "must");

/// Whether a test that lacks a part is no test here: in CI, where everything can be installed.
pub fn all_must_be_here() -> bool {
    in_ci() && may_install()
}

/// Puts a python that has the stock verifiers first. Tests that ask for them are skipped when they are not there.
fn lend_stock_tools(cargo: &mut Command, whole: bool) {
    if whole && all_must_be_here() {
        cargo.env(ALL_MUST_BE_HERE.0, ALL_MUST_BE_HERE.1);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let joined = parts::stock_python().and_then(|first| {
        std::env::join_paths(std::iter::once(first).chain(std::env::split_paths(&path)))
            .map_err(|e| e.to_string())
    });
    match joined {
        Ok(path) => _ = cargo.env("PATH", path),
        Err(problem) => say(&format!("{problem}; going on without python's verifiers")),
    }
}

/// Builds the verifier in TypeScript, which tests hold against the one in Rust, and fetches servers of tools by others.
fn lend_second_verifier(place: &Place, cargo: &mut Command) {
    if !pages::at_hand() {
        return;
    }
    match pages::build(place) {
        Ok(folder) => _ = cargo.env("HERMIT_VERIFY_MJS", folder.join("verify.mjs")),
        Err(problem) => say(&format!("{problem}; going on without the second verifier")),
    }
    if let Err(problem) = pages::servers(place) {
        say(&format!("{problem}; going on without servers of tools by others"));
    }
}

/// The programs that tests start by path, such as `hermit-exec`, with the tests: without them cargo would choose fewer
/// features, and compile most of the workspace a second time for the tests.
fn build_programs(place: &Place) -> Result<(), Problem> {
    say("building everything; the first time takes a while ...");
    stale::build(place.cargo().args(["build", "--workspace", "--bins", "--tests"]).args(app::left_out()))
}

impl Count {
    /// Reads `test result: ok. 5 passed; 0 failed; ...`; any other line counts nothing.
    pub fn add(&mut self, line: &str) {
        let Some(result) = line.trim_start().strip_prefix("test result: ") else {
            return;
        };
        let number = |what: &str| -> usize {
            let words: Vec<&str> = result.split([' ', ';', '.']).filter(|w| !w.is_empty()).collect();
            words.windows(2).find(|w| w[1] == what).and_then(|w| w[0].parse().ok()).unwrap_or(0)
        };
        self.passed += number("passed");
        self.failed += number("failed");
        self.skipped += number("ignored");
        self.left_out += number("filtered");
    }

    /// Adds what another run came to.
    pub fn add_all(&mut self, more: Count) {
        self.passed += more.passed;
        self.failed += more.failed;
        self.skipped += more.skipped;
        self.left_out += more.left_out;
        self.second_try.extend(more.second_try);
        self.failures.extend(more.failures);
        self.took.extend(more.took);
    }

    /// Says which tests were skipped and why, and counts them; to the runner they had passed.
    fn skip(&mut self, skips: &BTreeMap<String, BTreeSet<String>>) {
        for (test, reasons) in skips {
            say(&format!("skipped: {test}: {}", Vec::from_iter(reasons.iter().cloned()).join("; ")));
        }
        self.skipped += skips.len();
        self.passed = self.passed.saturating_sub(skips.len());
    }
}

/// Says which rows a run that failed has not shown: those of the tests that failed, and others that nobody would see before
/// the next run.
fn say_what_is_not_shown(place: &Place, report: &str) {
    let committed = fs::read_to_string(place.root.join(conformance::REPORT)).unwrap_or_default();
    let rows = conformance::overclaimed(&committed, report);
    if !rows.is_empty() {
        say(&format!("{} claims rows that this run has not shown: {}", conformance::REPORT, rows.join(", ")));
    }
}

/// Writes the report if it changed; in CI says what differs instead, and fails where the committed one claims what was not shown.
fn settle(place: &Place, report: &str) -> Result<(), Problem> {
    let path = place.root.join(conformance::REPORT);
    let committed = fs::read_to_string(&path).unwrap_or_default();
    say(&conformance::summary(report));
    if committed == report {
        return Ok(());
    }
    if in_ci() {
        let lines = conformance::difference(&committed, report).join("\n  ");
        let stale = format!("{} is stale; run `npm test` and commit it:\n  {lines}", conformance::REPORT);
        let too_much = conformance::overclaimed(&committed, report);
        if too_much.is_empty() {
            say(&format!("{stale}\n  it claims less than was shown, and nothing that was not"));
            return Ok(());
        }
        return Err(format!("{stale}\n  not shown: {}", too_much.join(", ")));
    }
    fs::write(&path, report).map_err(|e| format!("cannot write `{}`: {e}", path.display()))?;
    say(&format!("wrote {} again; commit it", conformance::REPORT));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_lines_are_counted_and_nothing_else_is() {
        let mut count = Count::default();
        for line in [
            "running 6 tests",
            "test a::b ... ok",
            "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test result: FAILED. 25 passed; 6 failed; 0 ignored; 0 measured; 2 filtered out; finished in 0.19s",
        ] {
            count.add(line);
        }
        assert_eq!(count, Count { passed: 30, failed: 6, left_out: 2, ..Count::default() });
    }

    #[test]
    fn a_test_that_was_skipped_is_counted_once_and_not_as_passed() {
        let mut count = Count { passed: 30, skipped: 1, ..Count::default() };
        let reasons = BTreeSet::from(["no moon".to_owned(), "no sun".to_owned()]);
        count.skip(&BTreeMap::from([("all::a".to_owned(), reasons)]));
        assert_eq!(count, Count { passed: 29, skipped: 2, ..Count::default() });
    }

    #[test]
    fn what_a_killed_run_left_is_gone() {
        let dir = std::env::temp_dir().join(format!("hermit-lines-{}", std::process::id()));
        empty(&dir).unwrap();
        fs::write(dir.join("1.tsv"), "HK-1-1\tof\tanother\twhole\n").unwrap();
        empty(&dir).unwrap();
        assert!(conformance::collect(&dir).unwrap().proofs.is_empty());
        fs::remove_dir_all(&dir).unwrap();
    }
}
