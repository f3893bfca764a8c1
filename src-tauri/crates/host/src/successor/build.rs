//! A change of code: the source unpacked, the difference applied, built and tested in a sandbox of its own, from what lies on this
//! machine and nothing else.

use super::confined::{CloneEnd, CloneProgram, clear, run_confined};
use crate::programs::{digest_of, is_own_file};
use ::successor::{Budget, TestsRun, Used};
use effects::{CLONE_HOME, Sandbox};
use model::Digest;
use std::path::{Path, PathBuf};

/// Bytes of a difference.
const DIFF_BYTES_MAX: usize = 1024 * 1024;
/// Names of tests that failed which are kept.
const FAILED_MAX: usize = 100;
/// Where the source is, below the home of the build.
pub(super) const SOURCE: &str = "source";
/// Where is built, below the home of the build.
const TARGET: &str = "target";

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
    /// The package and the program in it that plays the case.
    pub program: (String, String),
    /// What is built, beside that: arguments of `cargo build`.
    pub build: Vec<String>,
    /// The suite: arguments of `cargo test`, and what it is called.
    pub suite: (String, Vec<String>),
    /// What building and testing may use up together.
    pub budget: Budget,
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
            program: ("hermit-cli".to_owned(), "hermit".to_owned()),
            build: Vec::new(),
            suite: (
                "rooms that decide what may be done".to_owned(),
                SUITE.iter().map(|word| (*word).to_owned()).collect(),
            ),
            budget: OF_HERMIT,
        })
    }
}

/// What was built of a change.
pub struct Built {
    /// The program; none where it could not be built, or where the suite did not pass.
    pub program: Option<PathBuf>,
    /// The suite, as it ran.
    pub tests: TestsRun,
    /// What building and testing used.
    pub used: Used,
}

/// Builds a change and runs its suite. What does not build or does not pass has no program.
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
    check(diff)?;
    let prepared = prepare(code, source)?;
    let applied = apply(sandbox, code, diff, stopped)?;
    if !applied.is_whole() {
        return Err(format!(
            "the change does not apply to this version's source: {}",
            applied.complaint.trim()
        ));
    }
    let mut tests =
        TestsRun { suite: code.suite.0.clone(), passed: 0, failed: Vec::new(), edited: edited_tests(diff) };
    let (package, program) = &code.program;
    let mut words = vec!["build", "-p", package.as_str(), "--bin", program.as_str()];
    words.extend(code.build.iter().map(String::as_str));
    let built = cargo(sandbox, code, &prepared, &words, stopped)?;
    let mut used = built.used;
    if !built.is_whole() {
        tests.failed.push(format!("it does not build: {}", last_lines(&built)));
        return Ok(Built { program: None, tests, used });
    }
    let before = made(code);
    let words: Vec<&str> = std::iter::once("test").chain(code.suite.1.iter().map(String::as_str)).collect();
    let tested = cargo(sandbox, code, &prepared, &words, stopped)?;
    used = both(used, tested.used);
    read_tests(&tested, &mut tests);
    let after = made(code);
    if before != after || after.is_none() {
        tests.failed.push("the program that was built is gone or another one, once it was tested".to_owned());
    }
    let passes = tested.is_whole() && tests.failed.is_empty();
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

/// A difference that can be applied by words alone: bounded, of text, and below the root.
fn check(diff: &str) -> Result<(), String> {
    if diff.len() > DIFF_BYTES_MAX {
        return Err(format!(
            "a change of code has {DIFF_BYTES_MAX} bytes at most, and this one has {}",
            diff.len()
        ));
    }
    let paths = paths_of(diff);
    if paths.is_empty() {
        return Err("the change names no file; it is a unified diff with paths from the root of the source"
            .to_owned());
    }
    let climbs = |path: &&str| {
        Path::new(*path).components().any(|part| !matches!(part, std::path::Component::Normal(_)))
    };
    match paths.into_iter().find(climbs) {
        Some(path) => Err(format!("`{path}` is no path below the root of the source")),
        None => Ok(()),
    }
}

/// Every file that a difference names, without the one letter before it.
fn paths_of(diff: &str) -> Vec<&str> {
    let lines = diff.lines().filter(|line| line.starts_with("--- ") || line.starts_with("+++ "));
    let lines = lines.filter_map(|line| line.get(4..));
    let lines = lines.map(|path| path.split('\t').next().unwrap_or(path)).filter(|path| *path != "/dev/null");
    lines.map(|path| path.strip_prefix("a/").or(path.strip_prefix("b/")).unwrap_or(path)).collect()
}

/// Files of tests that a difference edits or removes, and what decides which tests there are.
pub fn edited_tests(diff: &str) -> Vec<String> {
    let is_of_tests = |path: &&str| {
        let parts: Vec<&str> = path.split('/').collect();
        let name = parts.last().copied().unwrap_or_default();
        parts.contains(&"tests")
            || name == "tests.rs"
            || name.ends_with(".test.ts")
            || name.ends_with(".test.tsx")
            || name.ends_with("_test.rs")
    };
    let mut found: Vec<String> = paths_of(diff).into_iter().filter(is_of_tests).map(str::to_owned).collect();
    found.extend(inline_tests(diff));
    found.sort();
    found.dedup();
    found
}

/// Files in which lines of tests are taken away that stand beside what they test.
fn inline_tests(diff: &str) -> Vec<String> {
    let (mut found, mut file) = (Vec::new(), "");
    for line in diff.lines() {
        if let Some(path) = line.strip_prefix("--- ") {
            file = path.split('\t').next().unwrap_or(path);
            file = file.strip_prefix("a/").unwrap_or(file);
        } else if let Some(gone) = line.strip_prefix('-') {
            let gone = gone.trim_start();
            if ["#[test]", "#[conforms", "assert", "mod tests"].iter().any(|start| gone.starts_with(start)) {
                found.push(file.to_owned());
            }
        }
    }
    found
}

/// The folder of a build, made anew, with the source in it; where the copy of a warm target is, and what it may read.
fn prepare(code: &CodeTrial<'_>, source: Digest) -> Result<Vec<PathBuf>, String> {
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
    if let Some(warm) = &code.warm {
        let to = code.folder.join(TARGET);
        // Links to the same bytes where the disk has them; what is built anew is a file of its own.
        let copied =
            std::process::Command::new("cp").arg("-a").arg("--reflink=auto").arg(warm).arg(&to).status();
        if !copied.is_ok_and(|status| status.success()) {
            return Err(format!("`{}` cannot be copied to build on", warm.display()));
        }
    }
    Ok(vec![code.toolchain.clone(), code.cargo_home.join("registry"), code.cargo_home.join("git")])
}

/// `git apply`, in the sandbox: what is in a change is not believed either.
fn apply(
    sandbox: &Sandbox,
    code: &CodeTrial<'_>,
    diff: &str,
    stopped: &dyn Fn() -> bool,
) -> Result<CloneEnd, String> {
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
    run_confined(sandbox, &clone, text.into_bytes(), &code.budget, stopped)
}

/// `cargo` in the sandbox, from what lies on this machine.
fn cargo(
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
fn read_tests(end: &CloneEnd, tests: &mut TestsRun) {
    let said = String::from_utf8_lossy(&end.evidence);
    for line in said.lines() {
        let Some(rest) = line.strip_prefix("test ") else { continue };
        if rest.ends_with(" ... ok") {
            tests.passed = tests.passed.saturating_add(1);
        } else if let Some(name) = rest.strip_suffix(" ... FAILED")
            && tests.failed.len() < FAILED_MAX
        {
            tests.failed.push(name.to_owned());
        }
    }
    if !end.is_whole() && tests.failed.is_empty() {
        tests.failed.push(format!("the suite did not come to its end: {}", last_lines(end)));
    }
}

/// The end of what was said, with why it ended.
fn last_lines(end: &CloneEnd) -> String {
    let said = String::from_utf8_lossy(&end.evidence);
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let from = lines.len().saturating_sub(8);
    let last = lines.get(from..).unwrap_or(&[]).join("; ");
    match end.used.ended_for {
        Some(_) => format!("{}; {last}", end.in_words()),
        None => last,
    }
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

    const DIFF: &str = "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -1 +1 @@\n-old\n+new\n";

    #[test]
    fn a_difference_names_its_files_and_nothing_above_the_root() {
        assert!(check(DIFF).is_ok());
        assert!(check(&DIFF.replace("src/lib.rs", "../lib.rs")).is_err());
        assert!(check(&DIFF.replace("a/src/lib.rs", "/etc/passwd")).is_err());
        assert!(check("nothing").is_err());
        assert!(check(&"x".repeat(DIFF_BYTES_MAX + 1)).is_err());
    }

    #[test]
    fn tests_that_it_edits_or_takes_away_are_named() {
        assert!(edited_tests(DIFF).is_empty());
        assert_eq!(edited_tests(&DIFF.replace("src/lib.rs", "tests/a.rs")), ["tests/a.rs"]);
        let gone = DIFF.replace("-old", "-    #[test]\n-    fn holds() {}\n-    assert!(true);");
        assert_eq!(edited_tests(&gone), ["src/lib.rs"]);
        assert_eq!(edited_tests(&DIFF.replace("src/lib.rs", "ui/src/a.test.ts")), ["ui/src/a.test.ts"]);
    }
}
