//! A change of code: the source unpacked, the difference applied, built and tested in a sandbox of its own, from what lies on this
//! machine and nothing else.

use super::base::{self, Bases};
use super::confined::{CloneEnd, CloneProgram, DISK_LEFT_BYTES, LOOK, clear, run_confined, weight};
use super::parents_tests::{of_parent, texts};
use crate::chance::Deadline;
use crate::programs::{digest_of, is_own_file};
use ::successor::{Budget, TestsRun, TouchedTests, Used};
use effects::{CLONE_HOME, Sandbox};
use model::Digest;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use words::successor::TrialStage;

/// Names of tests that failed which are kept.
const FAILED_MAX: usize = 100;
/// Characters of such a name, or of what a build said last.
const SAID_MAX: usize = 2_000;
/// Where the source is, below the home of the build.
pub(super) const SOURCE: &str = "source";
/// Where is built, below the home of the build.
pub(super) const TARGET: &str = "target";
/// When all of the source was written last, in seconds since 1970, as far as cargo is told: what a change does not touch is no newer than
/// what was built of it before.
const SOURCE_SECONDS: u64 = 946_684_800;

/// Unpacks the source of this program into a folder that is empty; answers its digest.
pub type Unpack<'a> = &'a dyn Fn(&Path) -> Result<Digest, String>;

/// How code is built.
#[derive(Clone)]
pub struct CodeTrial<'a> {
    /// Gives the source.
    pub unpack: Unpack<'a>,
    /// A folder for what is built, on a disk with room; whatever is in it is taken away.
    pub folder: PathBuf,
    /// The folder of the toolchain, with `bin/cargo` in it.
    pub toolchain: PathBuf,
    /// The folder of cargo, with the registry in it that everything is built from.
    pub cargo_home: PathBuf,
    /// A target folder that was built before, where there is one: a copy of it is built on.
    pub warm: Option<PathBuf>,
    /// Where builds of the source as it is are kept, to build on; none where each is built from what is `warm`, or from nothing.
    pub bases: Option<Bases>,
    /// The package and the program in it that plays the case.
    pub program: (String, String),
    /// What is built, beside that: arguments of `cargo build`.
    pub build: Vec<String>,
    /// The suite: arguments of `cargo test`, and what it is called.
    pub suite: (String, Vec<String>),
    /// What building and testing may use up together.
    pub budget: Budget,
    /// Is told what it is at.
    pub at: &'a dyn Fn(TrialStage),
}

/// What builds and tests Hermit itself may use up.
const OF_HERMIT: Budget = Budget {
    wall_ms: 60 * 60 * 1000,
    cpu_ms: 3 * 60 * 60 * 1000,
    memory_bytes: 6 * 1024 * 1024 * 1024,
    disk_bytes: 16 * 1024 * 1024 * 1024,
    processes: 512,
    tokens: 0,
};
/// Rooms whose tests are the suite of a change of Hermit's own code: those that decide what may be done.
const SUITE: [&str; 8] =
    ["-p", "hermit-seal", "-p", "hermit-gate", "-p", "hermit-governance", "-p", "hermit-acts"];

impl<'a> CodeTrial<'a> {
    /// How Hermit's own source is built on this machine; none where there is no toolchain.
    pub fn of_hermit(unpack: Unpack<'a>, folder: PathBuf) -> Option<Self> {
        let sysroot = std::process::Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
        let toolchain = PathBuf::from(String::from_utf8(sysroot.stdout).ok()?.trim());
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let cargo_home = cargo_home.or_else(|| Some(home?.join(".cargo")))?;
        Some(Self {
            unpack,
            folder,
            toolchain: Some(toolchain).filter(|at| at.join("bin/cargo").is_file())?,
            cargo_home,
            warm: None,
            bases: None,
            program: ("hermit-cli".to_owned(), "hermit".to_owned()),
            build: Vec::new(),
            suite: (
                "rooms that decide what may be done".to_owned(),
                SUITE.iter().map(|word| (*word).to_owned()).collect(),
            ),
            budget: OF_HERMIT,
            at: &nobody,
        })
    }

    /// The same, in no more time than a budget has.
    pub(super) fn within(mut self, budget: Budget) -> Self {
        self.budget.wall_ms = self.budget.wall_ms.min(budget.wall_ms);
        self.budget.cpu_ms = self.budget.cpu_ms.min(budget.cpu_ms);
        self
    }

    /// The same, in the time that is left once this was used.
    fn left(&self, used: Used) -> Self {
        let (wall_ms, cpu_ms) = (self.budget.wall_ms, self.budget.cpu_ms);
        self.clone().within(Budget {
            wall_ms: wall_ms.saturating_sub(used.wall_ms),
            cpu_ms: cpu_ms.saturating_sub(used.cpu_ms),
            ..self.budget
        })
    }
}

/// Nobody is told what it is at.
pub fn nobody(_: TrialStage) {}

/// What was built of a change.
pub struct Built {
    /// The program; none where it could not be built, or where the suite did not pass.
    pub program: Option<PathBuf>,
    /// The suite, as it ran.
    pub tests: TestsRun,
    /// What building and testing used.
    pub used: Used,
}

/// Builds a change in its turn, on what is kept of the source as it is, and runs its suite ([`build`]).
///
/// # Errors
/// In words, also when the source cannot be built as it is.
pub fn build_in_turn(
    sandbox: &Sandbox,
    code: &CodeTrial<'_>,
    source: Digest,
    diff: &str,
    stopped: &dyn Fn() -> bool,
) -> Result<Built, String> {
    (code.at)(TrialStage::Waiting);
    let _turn = base::in_turn(stopped)?;
    let warm = base::of(sandbox, code, source, stopped)?;
    build(sandbox, &CodeTrial { warm, ..code.clone() }, source, diff, stopped)
}

/// Builds a change and runs its suite; where it edits tests, first the same suite with these as they are without it. What does not
/// build or does not pass has no program.
///
/// # Errors
/// In words, when the change does not apply to the source of this program, or there is nothing to build it with.
pub fn build(
    sandbox: &Sandbox,
    code: &CodeTrial<'_>,
    source: Digest,
    diff: &str,
    stopped: &dyn Fn() -> bool,
) -> Result<Built, String> {
    (code.at)(TrialStage::Building);
    let (mut touched, sources) = (TouchedTests::read(diff)?, TouchedTests::sources(diff)?);
    let reads = prepare(code, source, stopped)?;
    let as_before = texts(code, &sources)?;
    apply(sandbox, code, diff, stopped)?;
    touched.compare(&as_before, &texts(code, &sources)?);
    let (suite_name, edited) = (code.suite.0.clone(), touched.all());
    let mut tests = TestsRun { suite: suite_name, passed: 0, failed: Vec::new(), edited, parent: None };
    let built = cargo(sandbox, code, &reads, &program_words(code), stopped)?;
    let mut used = built.used;
    if !built.is_whole() {
        tests.failed.push(format!("it does not build: {}", last_lines(&built)));
        return Ok(Built { program: None, tests, used });
    }
    (code.at)(TrialStage::Testing);
    let before = made(code);
    if !touched.is_empty() {
        // Before any test of the change has run, which could write what comes after it.
        let (found, used_by_it) = of_parent(sandbox, &code.left(used), (source, diff, &touched), stopped)?;
        used = both(used, used_by_it);
        tests.parent = Some(found);
    }
    let tested = suite(sandbox, &code.left(used), &reads, stopped)?;
    used = both(used, tested.used);
    (tests.passed, tests.failed) = read_tests(&tested);
    let after = made(code);
    if before != after || after.is_none() {
        tests.failed.push("the program that was built is gone or another one, once it was tested".to_owned());
    }
    let fails_as_it_was = tests.parent.as_ref().is_some_and(|parent| !parent.failed.is_empty());
    let passes = tested.is_whole() && tests.failed.is_empty() && !fails_as_it_was;
    Ok(Built { program: after.map(|(at, _)| at).filter(|_| passes), tests, used })
}

/// The program that was built and its digest: a file in the folder of the build, and no link, which could lead to what is its parent's.
fn made(code: &CodeTrial<'_>) -> Option<(PathBuf, Digest)> {
    let at = code.folder.canonicalize().ok()?.join(TARGET).join("debug").join(&code.program.1);
    if !is_own_file(&at) {
        return None;
    }
    let (digest, _) = digest_of(&at).ok()?;
    Some((at, digest))
}

/// The folder of a build, made anew, with the source in it; where the copy of a warm target is, and what it may read.
pub(super) fn prepare(
    code: &CodeTrial<'_>,
    source: Digest,
    stopped: &dyn Fn() -> bool,
) -> Result<Vec<PathBuf>, String> {
    let failed = |at: &Path, e: &std::io::Error| format!("`{}`: {e}", at.display());
    let cargo = code.toolchain.join("bin/cargo");
    if !cargo.is_file() {
        return Err(format!("there is no toolchain to build with: `{}` is not there", cargo.display()));
    }
    clear(&code.folder).map_err(|e| failed(&code.folder, &e))?;
    let at = code.folder.join(SOURCE);
    std::fs::create_dir_all(&at).map_err(|e| failed(&at, &e))?;
    let unpacked = (code.unpack)(&at)?;
    if unpacked != source {
        return Err(format!(
            "the change is one of the source `{source}`, and this program's is `{unpacked}`"
        ));
    }
    written_long_ago(&at).map_err(|e| failed(&at, &e))?;
    if let Some(warm) = &code.warm {
        copy(warm, code, stopped)?;
    }
    Ok(vec![code.toolchain.clone(), code.cargo_home.join("registry"), code.cargo_home.join("git")])
}

/// Gives everything in a folder that nothing has run in the same time.
fn written_long_ago(folder: &Path) -> std::io::Result<()> {
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(SOURCE_SECONDS);
    let mut open = vec![folder.to_owned()];
    while let Some(at) = open.pop() {
        for entry in std::fs::read_dir(&at)? {
            let entry = entry?;
            match entry.file_type()? {
                kind if kind.is_dir() => open.push(entry.path()),
                kind if kind.is_file() => File::open(entry.path())?.set_modified(then)?,
                _ => {}
            }
        }
        File::open(&at)?.set_modified(then)?;
    }
    Ok(())
}

/// Copies a target folder to build on, where there is room for it, and no longer than the build may take.
fn copy(warm: &Path, code: &CodeTrial<'_>, stopped: &dyn Fn() -> bool) -> Result<(), String> {
    let failed = |why: &str| format!("`{}` cannot be copied to build on: {why}", warm.display());
    let room = disk::space(&code.folder).map_or(0, |space| space.available);
    if weight(warm, room).saturating_add(DISK_LEFT_BYTES) > room {
        return Err(failed("the disk has no room for it"));
    }
    // Links to the same bytes where the disk has them; what is built anew is a file of its own.
    let mut command = std::process::Command::new("cp");
    command.arg("-a").arg("--reflink=auto").arg(warm).arg(code.folder.join(TARGET));
    let mut child = command.spawn().map_err(|e| failed(&e.to_string()))?;
    let wall = Deadline::after(Duration::from_millis(code.budget.wall_ms));
    let why = loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => break failed(&status.to_string()),
            Ok(None) if stopped() => break "the trial was stopped".to_owned(),
            Ok(None) if wall.left().is_zero() => break failed("its time is used up"),
            Ok(None) => std::thread::sleep(LOOK),
            Err(error) => break failed(&error.to_string()),
        }
    };
    let _ = child.kill();
    let _ = child.wait();
    Err(why)
}

/// `git apply`, in the sandbox: what is in a change is not believed either.
///
/// # Errors
/// In words, when it does not apply.
pub(super) fn apply(
    sandbox: &Sandbox,
    code: &CodeTrial<'_>,
    diff: &str,
    stopped: &dyn Fn() -> bool,
) -> Result<(), String> {
    let script = r#"exec git apply -p1 --whitespace=nowarn -"#;
    let mut clone = CloneProgram::of(&canonical("/bin/sh")?, &["-c", script]);
    clone.home = Some(code.folder.clone());
    clone.folder = Some(Path::new(CLONE_HOME).join(SOURCE));
    clone.environment = vec![
        ("GIT_CEILING_DIRECTORIES".to_owned(), CLONE_HOME.to_owned()),
        ("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()),
    ];
    // What `git apply` is given ends in a line of its own.
    let mut text = diff.to_owned();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let applied = run_confined(sandbox, &clone, text.into_bytes(), &code.budget, stopped)?;
    match applied.is_whole() {
        true => Ok(()),
        false => {
            Err(format!("the change does not apply to this version's source: {}", applied.complaint.trim()))
        }
    }
}

/// How the program is built.
pub(super) fn program_words<'c>(code: &'c CodeTrial<'_>) -> Vec<&'c str> {
    let (package, program) = &code.program;
    let words = ["build", "-p", package.as_str(), "--bin", program.as_str()];
    words.into_iter().chain(code.build.iter().map(String::as_str)).collect()
}

/// How the suite is run, with this word of cargo's before its own.
pub(super) fn suite_words<'c>(code: &'c CodeTrial<'_>, word: Option<&'c str>) -> Vec<&'c str> {
    let own = code.suite.1.iter().map(String::as_str);
    std::iter::once("test").chain(word).chain(own).collect()
}

/// The suite, over the source as it stands.
pub(super) fn suite(
    sandbox: &Sandbox,
    code: &CodeTrial<'_>,
    reads: &[PathBuf],
    stopped: &dyn Fn() -> bool,
) -> Result<CloneEnd, String> {
    cargo(sandbox, code, reads, &suite_words(code, None), stopped)
}

/// `cargo` in the sandbox, from what lies on this machine.
pub(super) fn cargo(
    sandbox: &Sandbox,
    code: &CodeTrial<'_>,
    reads: &[PathBuf],
    words: &[&str],
    stopped: &dyn Fn() -> bool,
) -> Result<CloneEnd, String> {
    let script = r#"mkdir -p "$CARGO_HOME" && ln -sfn "$HERMIT_CARGO/registry" "$CARGO_HOME/registry" && { [ ! -d "$HERMIT_CARGO/git" ] || ln -sfn "$HERMIT_CARGO/git" "$CARGO_HOME/git"; } && exec cargo "$@" --offline --locked 2>&1"#;
    let (tests, ours) = match words.iter().position(|word| *word == "--") {
        Some(at) => (words.get(at..).unwrap_or(&[]), words.get(..at).unwrap_or(&[])),
        None => (&[] as &[&str], words),
    };
    // What cargo itself is told comes before the words of the tests.
    let script = match tests.is_empty() {
        true => script.to_owned(),
        false => script.replace("--offline --locked 2>&1", "2>&1"),
    };
    let mut arguments = vec!["-c", script.as_str(), "cargo"];
    arguments.extend(ours);
    if !tests.is_empty() {
        arguments.extend(["--offline", "--locked"]);
        arguments.extend(tests);
    }
    let mut clone = CloneProgram::of(&canonical("/bin/sh")?, &arguments);
    clone.reads = reads.to_vec();
    clone.home = Some(code.folder.clone());
    clone.folder = Some(Path::new(CLONE_HOME).join(SOURCE));
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", code.toolchain.join("bin").display());
    let at = |name: &str| Path::new(CLONE_HOME).join(name).to_string_lossy().into_owned();
    clone.environment = [
        ("PATH", path),
        ("CARGO_HOME", at("cargo")),
        ("CARGO_TARGET_DIR", at(TARGET)),
        ("CARGO_NET_OFFLINE", "true".to_owned()),
        ("CARGO_TERM_COLOR", "never".to_owned()),
        // Nobody debugs it or builds it in pieces: what serves that alone takes time and disk.
        ("CARGO_INCREMENTAL", "0".to_owned()),
        ("CARGO_PROFILE_DEV_DEBUG", "0".to_owned()),
        ("CARGO_PROFILE_TEST_DEBUG", "0".to_owned()),
        ("HERMIT_CARGO", code.cargo_home.to_string_lossy().into_owned()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    run_confined(sandbox, &clone, Vec::new(), &code.budget, stopped)
}

fn canonical(program: &str) -> Result<PathBuf, String> {
    Path::new(program).canonicalize().map_err(|e| format!("`{program}`: {e}"))
}

/// What the harness of tests said: how many passed, and which did not.
pub(super) fn read_tests(end: &CloneEnd) -> (u64, Vec<String>) {
    let (passed, mut failed, cut_short) = outcomes(&String::from_utf8_lossy(&end.evidence));
    if !end.is_whole() && failed.is_empty() {
        failed.push(format!("the suite did not come to its end: {}", last_lines(end)));
    } else {
        failed.extend(cut_short);
    }
    failed.truncate(FAILED_MAX);
    (passed, failed)
}

/// The same, from what was printed alone, and the programs of tests that ended before their tests had run. Such a program is whole for
/// `cargo` where it ends with 0: it is told by the number of tests that it began with, and by the sum that it said at its end.
fn outcomes(said: &str) -> (u64, Vec<String>, Vec<String>) {
    let (mut passed, mut failed, mut short) = (0_u64, Vec::new(), Vec::new());
    // How many tests the program began with whose sum is not said yet.
    let mut running: Option<u64> = None;
    for line in said.lines() {
        if let Some(begun) = begins(line) {
            short.extend(running.replace(begun).map(cut_short));
        } else if let Some(sum) = line.strip_prefix("test result: ") {
            short.extend(running.take().filter(|begun| *begun != total(sum)).map(cut_short));
        } else if let Some(rest) = line.strip_prefix("test ") {
            if rest.ends_with(" ... ok") {
                passed = passed.saturating_add(1);
            } else if let Some(name) = rest.strip_suffix(" ... FAILED") {
                failed.push(cut(name));
            }
        }
    }
    short.extend(running.map(cut_short));
    (passed, failed, short)
}

fn cut_short(begun: u64) -> String {
    format!("a program of tests began with {begun} and ended before it said what became of them")
}

/// How many tests a sum speaks of: those that passed, failed, were left out, and were measured.
fn total(sum: &str) -> u64 {
    let counts = sum.split(['.', ';']).filter_map(|part| part.trim().split_once(' '));
    let counted = counts.filter(|(_, what)| ["passed", "failed", "ignored", "measured"].contains(what));
    counted.fold(0, |all: u64, (number, _)| all.saturating_add(number.parse().unwrap_or(0)))
}

/// How many tests a program begins with, where a line says so.
fn begins(line: &str) -> Option<u64> {
    let (number, noun) = line.strip_prefix("running ")?.split_once(' ')?;
    matches!(noun, "test" | "tests").then(|| number.parse().ok())?
}

/// The end of what was said, with why it ended.
pub(super) fn last_lines(end: &CloneEnd) -> String {
    let said = String::from_utf8_lossy(&end.evidence);
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let from = lines.len().saturating_sub(8);
    let last = cut(&lines.get(from..).unwrap_or(&[]).join("; "));
    match end.used.ended_for {
        Some(_) => format!("{}; {last}", end.in_words()),
        None => last,
    }
}

/// The beginning of what a program said, which may be of any length.
fn cut(said: &str) -> String {
    said.chars().take(SAID_MAX).collect()
}

/// What two runs used, one after the other.
fn both(one: Used, other: Used) -> Used {
    Used {
        wall_ms: one.wall_ms.saturating_add(other.wall_ms),
        cpu_ms: one.cpu_ms.saturating_add(other.cpu_ms),
        memory_bytes: one.memory_bytes.max(other.memory_bytes),
        disk_bytes: one.disk_bytes.max(other.disk_bytes),
        tokens: one.tokens.saturating_add(other.tokens),
        ended_for: one.ended_for.or(other.ended_for),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_ends_before_its_tests_have_run_has_failed_whatever_it_ended_with() {
        let whole = "running 3 tests\ntest a ... ok\ntest b ... ignored, slow\ntest c - should panic ... ok\n\n\
                     test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 7 filtered out; finished in 0.01s\n\n\
                     running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored\n";
        let none = Vec::<String>::new;
        assert_eq!(outcomes(whole), (2, none(), none()));
        let short = "running 3 tests\ntest a ... ok\n";
        let said = vec![cut_short(3)];
        assert_eq!(outcomes(short), (1, none(), said.clone()), "the last one");
        assert_eq!(outcomes(&format!("{short}{whole}")), (3, none(), said.clone()), "one before others");
        let less = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 2 filtered out\n";
        assert_eq!(outcomes(&format!("{short}{less}{whole}")), (3, none(), said), "a sum of fewer");
        let failed =
            "running 2 tests\ntest a ... FAILED\ntest b ... ok\n\ntest result: FAILED. 1 passed; 1 failed\n";
        assert_eq!(outcomes(failed), (1, vec!["a".to_owned()], none()));
    }
}
