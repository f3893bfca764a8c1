//! What is written in TypeScript: its packages, its builds, its tests.

use crate::Problem;
use crate::place::Place;
use crate::shell::{answers, run, say, spelled};
use crate::tests_run::{ALL_MUST_BE_HERE, Count, SECOND_TRIES, all_must_be_here};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime};

/// Folders with a `vite.config.ts` and tests that Vitest runs, which start no program of the house and measure no time.
pub const BESIDE_THE_BUILD: [&str; 1] = ["ui"];

/// The same, which are walks through the pages of programs that are built, or hold what is hostile to a limit of time.
pub const AFTER_THE_BUILD: [&str; 2] = ["ui/verifier", "tests/browser"];

/// Folders with a `tsconfig.json` that the compiler checks.
const TYPED: [&str; 3] = ["ui/verifier", "ui", "tests/browser"];

/// Fetches what the lock names and leaves the lock as it is. `npm ci` would refuse a lock that does not list the
/// binaries of platforms which the registry at hand does not keep.
const FETCH: [&str; 5] = ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"];

/// Whether node and npm are here. They are when a person typed `npm test`; not always behind `cargo xtask`.
pub fn at_hand() -> bool {
    answers("node", &["--version"]) && answers(npm(), &["--version"])
}

const fn npm() -> &'static str {
    if cfg!(windows) { "npm.cmd" } else { "npm" }
}

/// Fetches the packages that `package-lock.json` names, if those at hand are others.
fn packages(place: &Place) -> Result<(), Problem> {
    packages_of(&place.root, "the pages")
}

/// Fetches the servers of tools by others that tests use.
pub fn servers(place: &Place) -> Result<(), Problem> {
    packages_of(&place.root.join("tests/servers"), "the servers of tools that tests use")
}

fn packages_of(folder: &Path, whose: &str) -> Result<(), Problem> {
    let locked =
        fs::read(folder.join("package-lock.json")).map_err(|e| format!("cannot read the lock: {e}"))?;
    let stamp = folder.join("node_modules/.hermit-lock");
    if fs::read(&stamp).is_ok_and(|last| last == locked) {
        return Ok(());
    }
    say(&format!("fetching the packages of {whose} ..."));
    run(Command::new(npm()).current_dir(folder).args(FETCH).stdout(Stdio::null()))?;
    fs::write(&stamp, locked).map_err(|e| format!("cannot write `{}`: {e}", stamp.display()))
}

/// A program of the fetched packages, in the root.
pub fn tool(place: &Place, path: &str) -> Command {
    let mut command = Command::new("node");
    command.current_dir(&place.root).arg(place.root.join("node_modules").join(path));
    command
}

/// Builds the interface into `ui/dist`, unless nothing of it is younger than what lies there.
pub fn interface(place: &Place) -> Result<(), Problem> {
    packages(place)?;
    let dist = place.root.join("ui/dist/index.html");
    let built = fs::metadata(&dist).and_then(|found| found.modified());
    let sources = [
        "ui/src",
        "ui/index.html",
        "ui/approval.html",
        "ui/tray.html",
        "ui/vite.config.ts",
        "package-lock.json",
    ];
    let is_younger = |built| sources.iter().any(|path| newest(&place.root.join(path)) > Some(built));
    if built.is_ok_and(|built| !is_younger(built)) {
        return Ok(());
    }
    interface_built(place)
}

/// Builds the interface into `ui/dist`, whatever lies there: what is signed is of its commit alone.
pub fn interface_anew(place: &Place) -> Result<(), Problem> {
    packages(place)?;
    interface_built(place)
}

fn interface_built(place: &Place) -> Result<(), Problem> {
    run(tool(place, "vite/bin/vite.js").args(["build", "ui", "--logLevel", "warn"]))
}

/// When the youngest file there was made.
fn newest(path: &Path) -> Option<SystemTime> {
    if path.is_dir() {
        return fs::read_dir(path).ok()?.flatten().filter_map(|entry| newest(&entry.path())).max();
    }
    fs::metadata(path).and_then(|found| found.modified()).ok()
}

/// Builds the interface into `ui/dist`, and the verifier, `verify.html` for a person and `verify.mjs` for Node, into
/// `ui` of the build folder.
pub fn build(place: &Place) -> Result<PathBuf, Problem> {
    interface(place)?;
    verifier(place, &place.root, &place.target.join("ui"))
}

/// Builds the verifier of a checkout into a folder.
pub fn verifier(place: &Place, root: &Path, folder: &Path) -> Result<PathBuf, Problem> {
    for mode in ["production", "node"] {
        let mut vite = tool(place, "vite/bin/vite.js");
        vite.args(["build", "ui/verifier", "--logLevel", "warn", "--mode", mode, "--outDir"]).arg(folder);
        run(vite.current_dir(root))?;
    }
    Ok(folder.to_owned())
}

/// Checks the types of everything.
pub fn check(place: &Place) -> Result<(), Problem> {
    packages(place)?;
    for folder in TYPED.iter().filter(|folder| place.root.join(folder).join("tsconfig.json").is_file()) {
        run(tool(place, "typescript/bin/tsc").args(["-p", folder]))?;
    }
    Ok(())
}

/// Runs these suites and counts; tests that prove requirements leave their lines in `dir`. A suite in which few tests
/// failed runs once more. A suite that does not come to its end counts as one failure.
pub fn test(place: &Place, dir: &Path, suites: &[&str]) -> Result<Count, Problem> {
    packages(place)?;
    let mut count = Count::default();
    for &folder in suites {
        let mut vitest = tool(place, "vitest/vitest.mjs");
        vitest.args(["run", "--config"]).arg(Path::new(folder).join("vite.config.ts"));
        vitest.env("HERMIT_PROGRAMS", place.target.join("debug")).env("HERMIT_CONFORMANCE_DIR", dir);
        // Each walk through the pages would build its own.
        vitest.env("HERMIT_UI_DIR", place.root.join("ui/dist"));
        if all_must_be_here() {
            vitest.env(ALL_MUST_BE_HERE.0, ALL_MUST_BE_HERE.1);
        }
        let begun = Instant::now();
        let (mut suite, mut clean, files) = ran(vitest.env("NO_COLOR", "1"))?;
        if (1..=SECOND_TRIES).contains(&suite.failed) && !files.is_empty() {
            say(&format!("once more: {} of `{folder}`", files.join(", ")));
            let (again, ended, _) = ran(vitest.args(&files))?;
            if ended && again.failed == 0 {
                suite.passed += suite.failed;
                (suite.failed, clean) = (0, true);
                suite.failures.clear();
                count.second_try.extend(files);
            }
        }
        let broken = usize::from(!clean && suite.failed == 0);
        if broken > 0 {
            say(&format!("the tests of `{folder}` did not come to their end"));
            count.failures.push(format!("{folder} did not come to its end"));
        }
        count.failures.extend(suite.failures);
        count.took.push((begun.elapsed().as_secs(), folder.to_owned()));
        count.passed += suite.passed;
        count.skipped += suite.skipped;
        count.failed += suite.failed + broken;
    }
    Ok(count)
}

/// What was counted, whether the runner was content, and the files in which a test failed.
fn ran(vitest: &mut Command) -> Result<(Count, bool, Vec<String>), Problem> {
    say(&format!("{} ...", spelled(vitest)));
    let mut child = vitest
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("node could not be started: {e}"))?;
    let output = child.stdout.take().ok_or("the output of the tests cannot be read")?;
    let (mut count, mut files) = (Count::default(), Vec::new());
    for line in BufReader::new(output).lines() {
        let line = line.map_err(|e| format!("the output of the tests broke off: {e}"))?;
        println!("{line}");
        add(&mut count, &line);
        files.extend(file_of_failed(&line).map(str::to_owned));
        let file = files.last().map_or("", String::as_str);
        count.failures.extend(name_of_failed(&line).map(|name| format!("{file}: {name}")));
    }
    let status = child.wait().map_err(|e| format!("the tests were lost: {e}"))?;
    Ok((count, status.success(), files))
}

/// Reads `❯ a.test.ts (18 tests | 1 failed) 103854ms`; any other line names no file with a test that failed.
fn file_of_failed(line: &str) -> Option<&str> {
    let (file, rest) = line.trim_start().strip_prefix("\u{276f} ")?.split_once(" (")?;
    rest.contains(" failed)").then_some(file)
}

/// Reads `× a title 20ms`, which follows the line of its file; in any other line no test has failed.
fn name_of_failed(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("\u{d7} ")
}

/// Reads `Tests  1 failed | 36 passed (37)`; any other line counts nothing.
fn add(count: &mut Count, line: &str) {
    let Some(result) = line.trim_start().strip_prefix("Tests  ") else {
        return;
    };
    let words: Vec<&str> = result.split_whitespace().collect();
    let number = |what: &str| -> usize {
        words.windows(2).find(|w| w[1] == what).and_then(|w| w[0].parse().ok()).unwrap_or(0)
    };
    count.passed += number("passed");
    count.failed += number("failed");
    count.skipped += number("skipped");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_vitest_is_counted_and_nothing_else_is() {
        let mut count = Count::default();
        for line in [
            " Test Files  1 failed | 2 passed (3)",
            "      Tests  1 failed | 36 passed (37)",
            " ✓ Tests of the page  5 passed",
            "      Tests  28 passed | 2 skipped (30)",
        ] {
            add(&mut count, line);
        }
        assert_eq!(count, Count { passed: 64, failed: 1, skipped: 2, ..Count::default() });
    }

    #[test]
    fn a_file_in_which_a_test_failed_is_known_by_its_name() {
        let failed = " \u{276f} screens.test.ts (18 tests | 1 failed) 103854ms";
        assert_eq!(file_of_failed(failed), Some("screens.test.ts"));
        assert_eq!(file_of_failed(" \u{2713} tools.test.ts (4 tests) 55890ms"), None);
        assert_eq!(file_of_failed(" \u{276f} tools.test.ts (4 tests | 1 skipped) 55890ms"), None);
        assert_eq!(name_of_failed("   \u{d7} a person is asked 20312ms"), Some("a person is asked 20312ms"));
        assert_eq!(name_of_failed("   \u{2713} a person is asked 20312ms"), None);
    }
}
