//! Windows without Windows: the programs of the terminal and the tests of rooms, built for it here and run under wine.
//!
//! A test that asks for what wine does not do stands in `tests/systems/wine.tsv` with the reason, and is left out; all others count.

use crate::place::{Place, cache};
use crate::shell::{answers, run, say};
use crate::{Problem, systems};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// What the compiler calls Windows here, and how cargo's variables spell it.
const TARGET: (&str, &str) = ("x86_64-pc-windows-gnu", "X86_64_PC_WINDOWS_GNU");

/// Packages whose tests run, from what lies below the others upwards.
const ROOMS: [&str; 16] = [
    "hermit-win32",
    "hermit-disk",
    "hermit-model",
    "hermit-seal",
    "hermit-ledger",
    "hermit-artifacts",
    "hermit-projections",
    "hermit-runstream",
    "hermit-gate",
    "hermit-governance",
    "hermit-knowledge",
    "hermit-effects",
    "hermit-toolservers",
    "hermit-exec",
    "hermit-proof",
    "hermit-cli",
];

/// The packages of programs.
const PROGRAMS: [&str; 3] = ["hermit-cli", "hermit-exec", "hermit-proof"];

/// The package of `hermit`, whose tests start it.
const CLI: &str = "hermit-cli";
/// Modules of its tests that run with the programs, too: how commands end, and what a proof is worth. All run with its package.
const WITH_PROGRAMS: [&str; 3] = ["exits::", "proofs::", "terminal::"];

/// A linker, a compiler of C and of C++, and an archiver for Windows.
const MINGW: [&str; 4] =
    ["x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32-g++", "x86_64-w64-mingw32-ar"];

/// Where wine is looked for: the path, and where Debian puts it.
const WINES: [&str; 3] = ["wine64", "/usr/lib/wine/wine64", "wine"];

/// What a person does who lacks one of the two.
const MISSING: &str = "wine and a C compiler for Windows are needed: as root on Debian \
    `apt-get install --no-install-recommends wine64 gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64`";

/// A call of Windows for random bytes that wine lacks before its version 9, over one that it has.
const RANDOM: &str = "#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE to, SIZE_T size) { return SystemFunction036(to, (ULONG)size); }
";

/// Tests that wine cannot show: `package<TAB>test<TAB>why`.
const LEFT_OUT: &str = "tests/systems/wine.tsv";

/// Builds the programs, has the tests here hold them against ours, and runs the tests of each room, those that start `hermit` among
/// them; of those packages alone that are named.
pub fn check(place: &Place, words: &[String]) -> Result<(), Problem> {
    if let Some(other) = words.iter().find(|word| *word != "programs" && !ROOMS.contains(&word.as_str())) {
        return Err(format!(
            "`{other}` is nothing that runs under wine; there are programs, {}",
            ROOMS.join(", ")
        ));
    }
    let asked = |name: &str| words.is_empty() || words.iter().any(|word| word == name);
    let wine = Wine::at_hand(place)?;
    let mut failed = Vec::new();
    if asked("programs") {
        failed.extend(wine.programs(place).err());
    }
    for room in ROOMS.into_iter().filter(|room| asked(room)) {
        say(&format!("{room} under wine ..."));
        failed.extend(wine.room(place, room).err().map(|why| format!("{room}: {why}")));
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// A wine with a disk of its own, and what builds for it.
struct Wine {
    program: PathBuf,
    prefix: PathBuf,
    /// A compiler and a cargo.
    toolchain: (PathBuf, PathBuf),
    /// Where they build.
    folder: PathBuf,
}

impl Wine {
    fn at_hand(place: &Place) -> Result<Self, Problem> {
        let toolchain = systems::toolchain().ok_or(systems::MISSING)?;
        let program = WINES.into_iter().find(|wine| answers(wine, &["--version"])).ok_or(MISSING)?;
        if !MINGW.iter().all(|tool| answers(tool, &["--version"])) {
            return Err(MISSING.to_owned());
        }
        let prefix = cache()?.join("wine");
        let wine = Self { program: program.into(), prefix, toolchain, folder: place.target.join("wine") };
        wine.begins()?;
        Ok(wine)
    }

    /// Makes its disk, where there is none, and puts what it lacks there.
    fn begins(&self) -> Result<(), Problem> {
        let system = self.prefix.join("drive_c/windows/system32");
        fs::create_dir_all(&self.prefix)
            .map_err(|e| format!("cannot make `{}`: {e}", self.prefix.display()))?;
        if !system.join("kernel32.dll").is_file() {
            say("making wine's disk ...");
            run(self.own(&mut Command::new(&self.program)).args(["wineboot", "--init"]))?;
        }
        let library = system.join("bcryptprimitives.dll");
        if !library.exists() {
            let source = self.prefix.join("random.c");
            fs::write(&source, RANDOM).map_err(|e| format!("cannot write `{}`: {e}", source.display()))?;
            let [linker, ..] = MINGW;
            run(Command::new(linker).arg("-shared").arg("-o").arg(&library).arg(&source).arg("-ladvapi32"))?;
        }
        Ok(())
    }

    fn own<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        // Neither its complaints nor its windows.
        command.env("WINEPREFIX", &self.prefix).env("WINEDEBUG", "-all").env_remove("DISPLAY")
    }

    /// A cargo that builds for Windows and starts what it built under wine.
    fn cargo(&self, place: &Place, word: &str) -> Command {
        let (target, spelled) = TARGET;
        let mut command = systems::cargo_for(place, &self.toolchain, &self.folder, word, target);
        for profile in ["DEV", "TEST"] {
            command.env(format!("CARGO_PROFILE_{profile}_DEBUG"), "0");
        }
        let [linker, tools @ ..] = MINGW;
        command.env(format!("CARGO_TARGET_{spelled}_LINKER"), linker);
        command.env(format!("CARGO_TARGET_{spelled}_RUNNER"), &self.program);
        for (name, tool) in ["CC", "CXX", "AR"].into_iter().zip(tools) {
            command.env(format!("{name}_{}", target.replace('-', "_")), tool);
        }
        self.own(&mut command);
        command
    }

    fn room(&self, place: &Place, room: &str) -> Result<(), Problem> {
        if room == CLI {
            // What `hermit` starts has to lie beside it.
            self.build(place)?;
        }
        let mut command = self.cargo(place, "test");
        command.args(["--no-fail-fast", "--package", room, "--lib", "--bins", "--tests", "--", "--exact"]);
        run(skipping(&mut command, place, room)?)
    }

    fn build(&self, place: &Place) -> Result<(), Problem> {
        say("building the programs for Windows; the first time takes long ...");
        let mut build = self.cargo(place, "build");
        run(build.arg("--bins").args(PROGRAMS.into_iter().flat_map(|package| ["--package", package])))
    }

    /// Builds the programs for Windows, has a test of this system play stories with them and with ours, and runs a few of those
    /// that start `hermit` on Windows itself.
    fn programs(&self, place: &Place) -> Result<(), Problem> {
        self.build(place)?;
        let (target, _) = TARGET;
        let mut stories = place.cargo();
        stories.args(["test", "--package", "hermit-tests", "--test", "house", "windows_programs"]);
        stories
            .env("HERMIT_WINE", &self.program)
            .env("HERMIT_WINDOWS_PROGRAMS", self.folder.join(target).join("debug"));
        run(self.own(&mut stories))?;
        let mut command = self.cargo(place, "test");
        command.args(["--no-fail-fast", "--package", CLI, "--test", "it", "--"]).args(WITH_PROGRAMS);
        run(skipping(&mut command, place, CLI)?)
    }
}

/// The command, with the tests of a room left out that wine cannot show.
fn skipping<'c>(command: &'c mut Command, place: &Place, room: &str) -> Result<&'c mut Command, Problem> {
    let list = place.root.join(LEFT_OUT);
    let text = fs::read_to_string(&list).map_err(|e| format!("cannot read `{}`: {e}", list.display()))?;
    let skipped = left_out(&text, room)?.into_iter().flat_map(|test| ["--skip", test]);
    Ok(command.args(skipped))
}

/// The tests of a room that are left out. A row that does not say why is none.
fn left_out<'t>(list: &'t str, room: &str) -> Result<Vec<&'t str>, Problem> {
    let mut tests = Vec::new();
    for row in list.lines().filter(|row| !row.is_empty() && !row.starts_with('#')) {
        match row.split('\t').collect::<Vec<_>>()[..] {
            [package, test, why] if !why.is_empty() => tests.extend((package == room).then_some(test)),
            _ => return Err(format!("`{LEFT_OUT}` has a row that is not `package<TAB>test<TAB>why`: {row}")),
        }
    }
    Ok(tests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_wine_cannot_show_is_left_out_of_its_room_alone_and_says_why() {
        let list = "# words\nhermit-ledger\tlock::one\tno such call\nhermit-disk\tother\tnone\n";
        assert_eq!(left_out(list, "hermit-ledger"), Ok(vec!["lock::one"]));
        assert_eq!(left_out(list, "hermit-seal"), Ok(vec![]));
        assert!(
            left_out("hermit-ledger\tlock::one\t\n", "hermit-ledger")
                .is_err_and(|why| why.contains("lock::one"))
        );
    }
}
