//! Whether the workspace compiles for systems that this machine is not: a type-check for Windows and macOS, which links nothing.
//!
//! Rust's library for those systems is built from its source, so a toolchain is needed that has the source beside it. C that crates
//! bring along is not compiled: an empty file stands in for what a C compiler would have made, and nothing reads it.

use crate::place::Place;
use crate::shell::{run, say};
use crate::{Problem, app};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

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
    let folder = place.target.join("systems");
    let stand_in = stand_in(&folder)?;
    let mut failed = Vec::new();
    for (name, target) in systems {
        say(&format!("type-checking for {name} ({target}) ..."));
        let mut command = cargo_for(place, &toolchain, &folder, "check", target);
        command.env("SDKROOT", "/");
        for tool in ["CC", "CXX", "AR"] {
            command.env(format!("{tool}_{}", target.replace('-', "_")), &stand_in);
        }
        command.args(["--workspace", "--exclude", app::PACKAGE]);
        if let Err(why) = run(&mut command) {
            failed.push(format!("{name}: {why}"));
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
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
