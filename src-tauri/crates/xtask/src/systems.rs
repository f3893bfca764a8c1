//! Whether the workspace compiles for systems that this machine is not: a type-check for Windows and macOS, which links nothing.
//!
//! Rust's library for those systems is built from its source, so a toolchain is needed that has the source beside it. C that crates
//! bring along is not compiled: an empty file stands in for what a C compiler would have made, and nothing reads it.

use crate::place::Place;
use crate::shell::{answers, run, say, tell_the_same};
use crate::{Problem, app};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

/// Systems by the word that a person types, and what the compiler calls them.
const SYSTEMS: [(&str, &str); 2] = [("windows", "x86_64-pc-windows-gnu"), ("macos", "aarch64-apple-darwin")];

/// Toolchains that are looked at: the one that this program was started with, and Debian's, each as compiler and cargo.
const TOOLCHAINS: [(&str, &str); 2] = [("rustc", "cargo"), ("/usr/bin/rustc", "/usr/bin/cargo")];

/// Where the source of the library lies below the root of a toolchain.
const SOURCE: &str = "lib/rustlib/src/rust/library/Cargo.toml";

/// What a person does who has no such toolchain.
pub const MISSING: &str = "no Rust toolchain with the source of its library is here: as root on Debian \
    `apt-get install --no-install-recommends rustc-web cargo-web rust-web-src`, or `rustup component add rust-src`";

/// What stands in for a C compiler and an archiver: it makes the file that it is asked for, empty.
const STAND_IN: &str = "#!/bin/sh
before=
for word in \"$@\"; do
  case \"$before\" in -o) : > \"$word\" ;; esac
  case \"$word\" in *.a) : > \"$word\" ;; esac
  before=\"$word\"
done
exit 0
";

/// Type-checks the rooms for each of these systems, or for all; the first one that fails ends it when all were looked at.
pub fn check(place: &Place, words: &[String]) -> Result<(), Problem> {
    let systems = chosen(words)?;
    let toolchain = toolchain().ok_or(MISSING)?;
    let folder = folder(place)?;
    let stand_in = stand_in(&folder)?;
    let mut failed = Vec::new();
    for (name, target) in systems {
        say(&format!("type-checking for {name} ({target}) ..."));
        let mut command = checks(place, &toolchain, (&folder, &stand_in), target);
        if let Err(why) = run(&mut command) {
            failed.push(format!("{name}: {why}"));
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// The check for one target.
fn checks(
    place: &Place,
    toolchain: &(PathBuf, PathBuf),
    (folder, stand_in): (&Path, &Path),
    target: &str,
) -> Command {
    let mut command = cargo_for(place, toolchain, folder, "check", target);
    command.env("SDKROOT", "/");
    for tool in ["CC", "CXX", "AR"] {
        command.env(format!("{tool}_{}", target.replace('-', "_")), stand_in);
    }
    command.args(["--workspace", "--exclude", app::PACKAGE]);
    command
}

/// Where it builds. In a folder that other clones use as well, rooms of another clone are cleared away first (see `place`).
fn folder(place: &Place) -> Result<PathBuf, Problem> {
    let folder = place.target.join("systems");
    if !place.target.starts_with(&place.root) && folder.exists() {
        for (_, target) in SYSTEMS {
            let mut clean = place.cargo();
            clean.env("CARGO_TARGET_DIR", &folder);
            run(clean.args(["clean", "--quiet", "--workspace", "--target", target]))?;
        }
    }
    Ok(folder)
}

/// How long a whole run of tests may take with this in it: CI ends one after an hour and a half, and begins it some minutes before.
pub const WITHIN: Duration = Duration::from_secs(76 * 60);
/// How much of that has to be left before it begins: the first time each crate is read for both systems, later the rooms.
const AT_LEAST: Duration = Duration::from_secs(6 * 60);
const AT_LEAST_FIRST: Duration = Duration::from_secs(20 * 60);
/// How much has to be free on the disk, in MiB: before all is read for the first time, and later.
const FREE_FIRST: u64 = 6 * 1024;
const FREE: u64 = 512;

/// Checks all systems within a run of tests that has so much time left; why it was not done, where the parts or the time are missing.
///
/// # Errors
/// What does not compile.
pub fn beside_tests(place: &Place, left: Duration) -> Result<Option<String>, Problem> {
    let Some(toolchain) = toolchain() else { return Ok(Some(MISSING.to_owned())) };
    if let Some(why) = hindered(place, &toolchain.0, left) {
        return Ok(Some(why));
    }
    let by = Instant::now() + left;
    let folder = folder(place)?;
    // Where no such program starts, nothing can be checked.
    let begun = stand_in(&folder).and_then(|program| run(&mut Command::new(&program)).map(|()| program));
    let stand_in = match begun {
        Ok(stand_in) => stand_in,
        Err(why) => return Ok(Some(why)),
    };
    let bounded = |command: &Command| {
        let seconds = by.saturating_duration_since(Instant::now()).as_secs().max(1);
        within(command, seconds).status().map_err(|e| format!("`timeout` could not be started: {e}"))
    };
    let mut failed = Vec::new();
    for (name, target) in SYSTEMS {
        say(&format!("type-checking for {name} ({target}) ..."));
        let mut check = checks(place, &toolchain, (&folder, &stand_in), target);
        let mut checked = bounded(&check)?;
        if !checked.success() && !is_over(checked) {
            // A machine that is short of memory ends a compiler; what does not compile fails twice.
            check.args(["--jobs", "1"]);
            checked = bounded(&check)?;
        }
        if checked.success() {
            continue;
        }
        let why = if is_over(checked) {
            "the time of this run was over before it ended; `cargo xtask systems` does it alone".to_owned()
        } else if let Some(why) = is_full(&folder, FREE) {
            why
        } else {
            // What cannot be fetched, as without a network, says nothing of the rooms.
            let fetched = bounded(&cargo_for(place, &toolchain, &folder, "fetch", target))?;
            if fetched.success() {
                failed.push(format!("{name} ({target}) does not compile ({checked})"));
                continue;
            }
            format!("what the rooms need for {name} cannot be fetched ({fetched})")
        };
        return if failed.is_empty() { Ok(Some(why)) } else { Err(failed.join("\n")) };
    }
    if failed.is_empty() { Ok(None) } else { Err(failed.join("\n")) }
}

/// Why the rooms are not checked here in the time that is left, where that says nothing of them.
fn hindered(place: &Place, rustc: &Path, left: Duration) -> Option<String> {
    if !answers("timeout", &["--version"]) {
        return Some("there is no `timeout` here that would bound it".to_owned());
    }
    let said = Command::new(rustc).arg("--version").output().map(|said| said.stdout).unwrap_or_default();
    let manifest = fs::read_to_string(place.root.join("Cargo.toml")).unwrap_or_default();
    let needed = manifest.lines().find_map(|line| line.strip_prefix("rust-version")).and_then(minor);
    if minor(&String::from_utf8_lossy(&said)) < needed {
        return Some(format!("`{}` is older than what the rooms are written for", rustc.display()));
    }
    let is_first = !SYSTEMS.iter().all(|(_, target)| place.target.join("systems").join(target).exists());
    let (time, free) = if is_first { (AT_LEAST_FIRST, FREE_FIRST) } else { (AT_LEAST, FREE) };
    if left < time {
        let minutes = left.as_secs() / 60;
        return Some(format!("{minutes} minutes are left of this run; `cargo xtask systems` does it alone"));
    }
    is_full(&place.target, free)
}

/// The second number of a version, as in `1.95` and `rustc 1.96.0 (...)`.
fn minor(version: &str) -> Option<u32> {
    let (_, rest) = version.split_once("1.")?;
    rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// That less than so many MiB are free where this folder lies; none also where the system does not tell.
fn is_full(folder: &Path, needed: u64) -> Option<String> {
    let said =
        Command::new("df").arg("-Pm").arg(folder).output().ok().filter(|said| said.status.success())?;
    let told = String::from_utf8_lossy(&said.stdout).into_owned();
    let free: u64 = told.lines().nth(1)?.split_whitespace().nth(3)?.parse().ok()?;
    (free < needed).then(|| format!("{free} MiB are free on the disk, and it needs {needed}"))
}

/// What `timeout` ends with where it ended the program, and where that did not go by itself.
const TIME_IS_OVER: i32 = 124;
const KILLED: i32 = 137;

/// Whether a program that was bounded was ended for its time.
fn is_over(ended: ExitStatus) -> bool {
    matches!(ended.code(), Some(TIME_IS_OVER | KILLED))
}

/// The same command, ended after so many seconds.
fn within(command: &Command, seconds: u64) -> Command {
    let mut within = Command::new("timeout");
    // It stays in this group, so that whoever ends the run ends it as well.
    within.args(["--foreground", "--kill-after=20"]).arg(seconds.to_string());
    within.arg(command.get_program()).args(command.get_args());
    tell_the_same(command, &mut within);
    within
}

/// A cargo that builds the library from its source with everything else, into a folder, for a target; what it does is a word.
pub fn cargo_for(
    place: &Place,
    (rustc, cargo): &(PathBuf, PathBuf),
    folder: &Path,
    word: &str,
    target: &str,
) -> Command {
    let mut command = place.cargo_of(cargo);
    command.env("CARGO_TARGET_DIR", folder).env("RUSTC", rustc).env("RUSTC_BOOTSTRAP", "1");
    command.env_remove("RUSTUP_TOOLCHAIN").env("CARGO_INCREMENTAL", "0");
    command.args([word, "--locked", "-Z", "build-std=std,panic_abort", "--target", target]);
    command
}

/// The systems that were named; all where none was.
fn chosen(words: &[String]) -> Result<Vec<(&'static str, &'static str)>, Problem> {
    if words.is_empty() {
        return Ok(SYSTEMS.to_vec());
    }
    let named = words.iter().map(|word| {
        let known = SYSTEMS.into_iter().find(|(name, _)| name == word);
        known.ok_or_else(|| format!("`{word}` is no system that can be checked; say `windows` or `macos`"))
    });
    named.collect()
}

/// The first toolchain that has the source of its library beside it.
pub fn toolchain() -> Option<(PathBuf, PathBuf)> {
    let found = TOOLCHAINS.iter().find(|(rustc, _)| {
        let said = Command::new(rustc).args(["--print", "sysroot"]).output();
        let root = said.ok().filter(|said| said.status.success()).map(|said| said.stdout);
        root.is_some_and(|root| Path::new(String::from_utf8_lossy(&root).trim()).join(SOURCE).is_file())
    });
    found.map(|(rustc, cargo)| (PathBuf::from(rustc), PathBuf::from(cargo)))
}

/// Writes what stands in for C, as a program.
fn stand_in(folder: &Path) -> Result<PathBuf, Problem> {
    let path = folder.join("no-c");
    let failed = |e: std::io::Error| format!("cannot make `{}`: {e}", path.display());
    fs::create_dir_all(folder).map_err(failed)?;
    fs::write(&path, STAND_IN).map_err(failed)?;
    run(Command::new("chmod").arg("+x").arg(&path))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_systems_are_checked_or_those_that_are_named_and_no_others() {
        let words = |all: &[&str]| all.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(chosen(&[]), Ok(SYSTEMS.to_vec()));
        assert_eq!(chosen(&words(&["macos"])), Ok(vec![("macos", "aarch64-apple-darwin")]));
        assert!(chosen(&words(&["windows", "plan9"])).is_err_and(|why| why.contains("`plan9`")));
    }

    #[test]
    fn a_toolchain_is_compared_by_the_second_number_of_its_version() {
        assert_eq!(minor("rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)"), Some(96));
        assert_eq!(minor(" = \"1.95\""), Some(95));
        assert!(minor("") < Some(95) && minor("rustc 1.63.0") < Some(95));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_check_that_takes_longer_than_the_run_has_time_is_ended_and_known_by_its_number() {
        let mut slow = Command::new("sh");
        slow.args(["-c", "test \"$A\" = told && test -z \"$HOME\" && exec sleep 600"])
            .env("A", "told")
            .env_remove("HOME");
        let ended = within(&slow, 1).status().expect("it starts");
        assert_eq!(ended.code(), Some(TIME_IS_OVER), "it is told the same, and ended");
        let ends =
            |words: &str| within(Command::new("sh").args(["-c", words]), 60).status().expect("it starts");
        assert!(ends("exit 0").success() && !is_over(ends("exit 101")), "what ends by itself was in time");
        assert!(is_over(ended) && is_over(ends("exit 137")), "one that did not go was killed");
        assert!(!is_over(ends("kill -9 $$")), "by somebody else it was not for its time");
    }

    #[test]
    fn what_stands_in_for_c_makes_the_files_that_it_is_asked_for() {
        let folder = std::env::temp_dir().join(format!("hermit-no-c-{}", std::process::id()));
        let program = stand_in(&folder).expect("written");
        let (object, archive) = (folder.join("a.o"), folder.join("liba.a"));
        let compiled = Command::new(&program).args(["-c", "a.c", "-o"]).arg(&object).status();
        let packed = Command::new(&program).arg("cq").arg(&archive).arg(&object).status();
        let made = [&object, &archive].map(|path| fs::metadata(path).is_ok_and(|file| file.len() == 0));
        fs::remove_dir_all(&folder).expect("it goes");
        assert!(compiled.is_ok_and(|status| status.success()) && packed.is_ok_and(|status| status.success()));
        assert_eq!(made, [true, true]);
    }
}
