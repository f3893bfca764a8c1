//! Changes of code: a small workspace of its own through the same way as Hermit's, which `own_code.rs` builds where there is time for it.

use super::{AMPLE, has_walls, sandbox};
use ::successor::Budget;
use conforms::conforms;
use host::successor::{Bases, Built, CloneProgram, CodeTrial, build, build_in_turn, nobody, run_confined};
use model::Digest;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use words::successor::BudgetPart;

const MANIFEST: &str = "[package]\nname = \"little\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
const LOCK: &str = "version = 3\n\n[[package]]\nname = \"little\"\nversion = \"0.1.0\"\n";
const MAIN: &str = "fn main() {\n    println!(\"{}\", little::says());\n}\n";
const LIB: &str = "pub fn says() -> &'static str {\n    \"old\"\n}\n";
const TEST: &str =
    "#[test]\nfn it_says_something() {\n    assert!(!little::says().is_empty(), \"it says nothing\");\n}\n";

/// The source of the small workspace, and its digest.
fn unpack(at: &Path) -> Result<Digest, String> {
    let files = [
        ("Cargo.toml", MANIFEST),
        ("Cargo.lock", LOCK),
        ("src/main.rs", MAIN),
        ("src/lib.rs", LIB),
        ("tests/it.rs", TEST),
    ];
    for (name, text) in files {
        let file = at.join(name);
        std::fs::create_dir_all(file.parent().expect("a folder")).map_err(|e| e.to_string())?;
        std::fs::write(file, text).map_err(|e| e.to_string())?;
    }
    Ok(source())
}

fn source() -> Digest {
    Digest::of([MANIFEST, LOCK, MAIN, LIB, TEST].concat().as_bytes())
}

fn toolchain() -> PathBuf {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).output().expect("a compiler");
    PathBuf::from(String::from_utf8(sysroot.stdout).expect("UTF-8").trim())
}

fn little(folder: &TempDir, budget: Budget) -> CodeTrial<'static> {
    CodeTrial {
        unpack: &unpack,
        folder: folder.path().join("build"),
        toolchain: toolchain(),
        cargo_home: folder.path().join("no-registry"),
        warm: None,
        bases: None,
        at: &nobody,
        program: ("little".to_owned(), "little".to_owned()),
        build: Vec::new(),
        suite: ("all of it".to_owned(), Vec::new()),
        budget,
    }
}

const ENOUGH: Budget = Budget {
    wall_ms: 120_000,
    cpu_ms: 120_000,
    memory_bytes: 2 << 30,
    disk_bytes: 1 << 30,
    processes: 200,
    ..AMPLE
};

fn built(diff: &str, budget: Budget) -> Result<(Built, TempDir), String> {
    let folder = TempDir::new().expect("a folder");
    let built = build(&sandbox(), &little(&folder, budget), source(), diff, &|| false)?;
    Ok((built, folder))
}

/// A difference that makes the library say something else.
fn says(new: &str) -> String {
    format!(
        "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -1,3 +1,3 @@\n pub fn says() -> &'static str {{\n-    \"old\"\n+    {new}\n }}\n"
    )
}

/// A difference that adds a test.
fn tests(body: &str) -> String {
    let lines: Vec<String> = body.lines().map(|line| format!("+{line}")).collect();
    format!("--- /dev/null\n+++ b/tests/more.rs\n@@ -0,0 +1,{} @@\n{}\n", lines.len(), lines.join("\n"))
}

#[conforms(part = "HV-7-1", part = "HV-5-5")]
#[test]
fn a_change_that_applies_is_built_tested_and_runs_in_a_sandbox() {
    if !has_walls() {
        return;
    }
    let (built, _folder) = built(&says("\"new\""), ENOUGH).expect("it applies");
    assert!(built.tests.passed == 1 && built.tests.failed.is_empty(), "{:?}", built.tests);
    assert!(built.tests.edited.is_empty() && built.used.cpu_ms > 0, "{:?}", built.used);
    let program = built.program.expect("a program");
    let clone = CloneProgram::of(&program, &[]);
    let end = run_confined(&sandbox(), &clone, Vec::new(), &AMPLE, &|| false).expect("it runs");
    assert_eq!(end.evidence, b"new\n");
}

#[conforms(part = "HV-7-1")]
#[test]
fn a_change_that_breaks_a_test_or_does_not_build_has_no_program() {
    if !has_walls() {
        return;
    }
    let (broken, _folder) = built(&says("\"\""), ENOUGH).expect("it applies");
    assert!(broken.program.is_none() && broken.tests.failed == ["it_says_something"], "{:?}", broken.tests);
    let (unbuilt, _folder) = built(&says("7"), ENOUGH).expect("it applies");
    assert!(unbuilt.program.is_none(), "{:?}", unbuilt.tests);
    assert!(unbuilt.tests.failed.iter().any(|why| why.contains("does not build")), "{:?}", unbuilt.tests);
}

#[conforms(part = "HV-7-1")]
#[test]
fn a_change_that_deletes_the_failing_test_says_so_first() {
    if !has_walls() {
        return;
    }
    let deleted = TEST.lines().map(|line| format!("-{line}\n")).collect::<String>();
    let lines = TEST.lines().count();
    let gone = format!("{}--- a/tests/it.rs\n+++ /dev/null\n@@ -1,{lines} +0,0 @@\n{deleted}", says("\"\""));
    let (built, _folder) = built(&gone, ENOUGH).expect("it applies");
    assert_eq!(built.tests.edited, ["tests/it.rs"], "{:?}", built.tests);
    assert_eq!(built.tests.passed, 0);
    // As its parent has it, it is run all the same.
    let parent = built.tests.parent.expect("it was run");
    assert_eq!((parent.passed, parent.failed.as_slice()), (0, &["it_says_something".to_owned()][..]));
    assert!(parent.not_run.is_empty() && built.program.is_none(), "{parent:?}");
}

/// A difference that makes the test of the small workspace another one: `body` in place of what it asserts.
fn retests(body: &str) -> String {
    let (mut lines, mut goes) = (String::new(), 0);
    for line in TEST.lines() {
        if line.contains("assert!") {
            lines.push_str(&format!("-{line}\n+    {body}\n"));
        } else {
            lines.push_str(&format!(" {line}\n"));
        }
        goes += 1;
    }
    format!("--- a/tests/it.rs\n+++ b/tests/it.rs\n@@ -1,{goes} +1,{goes} @@\n{lines}")
}

#[conforms(part = "HV-7-1")]
#[test]
fn tests_that_a_change_edits_moves_or_takes_out_of_a_file_run_as_the_parent_has_them() {
    if !has_walls() {
        return;
    }
    // It passes what it says of itself, and not what was asked before.
    let weakened = format!("{}{}", says("\"\""), retests("let _ = little::says();"));
    let (built, _folder) = built(&weakened, ENOUGH).expect("it applies");
    assert!(built.tests.passed == 1 && built.tests.failed.is_empty(), "{:?}", built.tests);
    let parent = built.tests.parent.expect("it was run");
    assert_eq!((parent.passed, parent.failed.as_slice()), (0, &["it_says_something".to_owned()][..]));
    assert!(built.program.is_none(), "{parent:?}");
    // A change that holds to what was asked has a program, and both runs are told.
    let (built, _folder) = self::built(
        &format!("{}{}", says("\"new\""), retests("assert_eq!(little::says(), \"new\");")),
        ENOUGH,
    )
    .expect("it applies");
    let parent = built.tests.parent.expect("it was run");
    assert_eq!((built.tests.passed, parent.passed, parent.failed.len()), (1, 1, 0), "{parent:?}");
    let program = built.program.expect("a program");
    let clone = CloneProgram::of(&program, &[]);
    let end = run_confined(&sandbox(), &clone, Vec::new(), &AMPLE, &|| false).expect("it runs");
    assert_eq!(end.evidence, b"new\n", "it is the one of the change");
    // What is moved to where no test is looked for was a test.
    let moved = "diff --git a/tests/it.rs b/it.txt\nsimilarity index 100%\nrename from tests/it.rs\nrename to it.txt\n";
    let (built, _folder) = self::built(&format!("{}{moved}", says("\"\"")), ENOUGH).expect("it applies");
    assert_eq!((built.tests.edited.as_slice(), built.tests.passed), (&["tests/it.rs".to_owned()][..], 0));
    assert_eq!(built.tests.parent.expect("it was run").failed, ["it_says_something"]);
}

#[conforms(part = "HV-7-1")]
#[test]
fn a_change_that_ends_its_tests_early_with_success_has_no_program() {
    if !has_walls() {
        return;
    }
    // The test asks the library, which ends the whole program with 0: nothing failed, and nothing was shown.
    let ends = "{ std::process::exit(0) }";
    let more = "#[test]\nfn it_holds_by_itself() {}";
    let (built, _folder) = built(&format!("{}{}", says(ends), tests(more)), ENOUGH).expect("it applies");
    let why = "a program of tests began with 1 and ended before it said what became of them";
    assert_eq!(built.tests.failed, [why], "{:?}", built.tests);
    assert!(built.tests.passed == 1 && built.program.is_none(), "another one passed: {:?}", built.tests);
}

/// The library with a test in it, which what is not of three letters does not pass.
const TESTED: &str = "pub fn says() -> &'static str {\n    \"old\"\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn it_is_short() {\n        assert_eq!(super::says().len(), 3);\n    }\n}\n";

fn tested() -> Digest {
    Digest::of(TESTED.as_bytes())
}

fn unpack_tested(at: &Path) -> Result<Digest, String> {
    unpack(at)?;
    std::fs::write(at.join("src/lib.rs"), TESTED).map_err(|e| e.to_string())?;
    Ok(tested())
}

#[conforms(part = "HV-7-1")]
#[test]
fn a_test_that_lines_are_only_added_to_runs_as_the_parent_has_it() {
    if !has_walls() {
        return;
    }
    let returns = "@@ -7,3 +7,4 @@\n     #[test]\n     fn it_is_short() {\n+        return;\n         assert_eq!(super::says().len(), 3);\n";
    let never = "@@ -4,3 +4,4 @@\n \n+#[cfg(any())]\n #[cfg(test)]\n mod tests {\n";
    for (weakens, passed) in [(returns, 2), (never, 1)] {
        let folder = TempDir::new().expect("a folder");
        let code = CodeTrial { unpack: &unpack_tested, ..little(&folder, ENOUGH) };
        let diff = format!("{}{weakens}", says("\"longer\""));
        let built = build(&sandbox(), &code, tested(), &diff, &|| false).expect("it applies");
        assert_eq!((built.tests.passed, built.tests.failed.len()), (passed, 0), "{:?}", built.tests);
        assert_eq!(built.tests.edited, ["src/lib.rs"], "{:?}", built.tests);
        let parent = built.tests.parent.expect("it was run");
        assert_eq!(parent.failed, ["tests::it_is_short"], "{parent:?}");
        assert!(built.program.is_none() && parent.not_run.is_empty(), "{parent:?}");
    }
}

#[conforms(part = "HV-7-1")]
#[test]
fn a_change_that_does_not_apply_or_is_of_another_source_is_refused_with_words() {
    if !has_walls() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let code = little(&folder, ENOUGH);
    let of = |source, diff: &str| {
        build(&sandbox(), &code, source, diff, &|| false).map(drop).expect_err("refused")
    };
    let why = of(source(), &says("\"new\"").replace("old", "older"));
    assert!(why.contains("does not apply"), "{why}");
    let why = of(Digest::of(b"another"), &says("\"new\""));
    assert!(why.contains("is one of the source"), "{why}");
    let why = of(source(), "--- a/../x\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n");
    assert!(why.contains("is not one below the source"), "{why}");
    let why = of(source(), "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -1 +1 @@\n-a\n+b\nand more\n");
    assert!(why.contains("belongs to no file"), "what git would pass over is refused: {why}");
}

/// A library of another package that no change below touches, and a program that needs it.
fn unpack_two(at: &Path) -> Result<Digest, String> {
    unpack(at)?;
    let more = "[dependencies]\ndeep = { path = \"deep\" }\n";
    let lock = "\n[[package]]\nname = \"deep\"\nversion = \"0.1.0\"\n";
    let files = [
        ("Cargo.toml", MANIFEST.replace("[workspace]\n", more) + "[workspace]\n"),
        ("Cargo.lock", LOCK.replace("\n[[", &format!("{lock}\n[[")) + "dependencies = [\n \"deep\",\n]\n"),
        ("deep/Cargo.toml", MANIFEST.replace("little", "deep").replace("[workspace]\n", "")),
        ("deep/src/lib.rs", "pub fn depth() -> u32 {\n    7\n}\n".to_owned()),
    ];
    for (name, text) in files {
        std::fs::create_dir_all(at.join(name).parent().expect("a folder")).map_err(|e| e.to_string())?;
        std::fs::write(at.join(name), text).map_err(|e| e.to_string())?;
    }
    Ok(Digest::of(b"two"))
}

/// When the library that no change touches was built, in a target folder.
fn built_at(target: &Path) -> std::time::SystemTime {
    let mut all = std::fs::read_dir(target.join("debug/deps")).expect("it was built").flatten();
    let is_it = |one: &std::fs::DirEntry| {
        let name = one.file_name().to_string_lossy().into_owned();
        name.starts_with("libdeep") && name.ends_with(".rlib")
    };
    all.find(is_it).expect("a library").metadata().and_then(|about| about.modified()).expect("its time")
}

#[test]
fn changes_are_built_on_the_source_as_it_is_which_is_built_once_and_holds_nothing_of_them() {
    if !has_walls() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let bases = |makes| Some(Bases { folder: folder.path().join("bases"), makes });
    let code = |makes| CodeTrial { unpack: &unpack_two, bases: bases(makes), ..little(&folder, ENOUGH) };
    let two = Digest::of(b"two");
    let base = folder.path().join("bases").join(two.to_string());
    let target = folder.path().join("build/target");
    let built = |code: &CodeTrial<'_>, diff: &str| {
        build_in_turn(&sandbox(), code, two, diff, &|| false).expect("it applies")
    };

    // Where none may be made, it is built from nothing, and nothing is kept.
    let alone = built(&code(false), &says("\"alone\""));
    assert!(alone.program.is_some() && !base.exists(), "{:?}", alone.tests);

    // One that writes into what it is built in, to be found there by the next.
    let poisons = format!(
        "{}{}",
        says("\"first\""),
        tests(
            "#[test]\nfn writes() {\n    let at = std::env::var(\"CARGO_TARGET_DIR\").unwrap();\n    std::fs::write(format!(\"{at}/left\"), \"\").unwrap();\n    std::fs::write(format!(\"{at}/debug/little\"), \"\").unwrap();\n}"
        )
    );
    let first = built(&code(true), &poisons);
    assert!(first.program.is_none() && target.join("left").exists(), "{:?}", first.tests);
    let made = built_at(&base);
    assert!(built_at(&target) == made, "what it does not touch is not built again");
    let old = std::process::Command::new(base.join("debug/little")).output().expect("it runs");
    assert_eq!(old.stdout, b"old\n", "it is the source as it is");

    let second = built(&code(true), &says("\"second\""));
    assert_eq!((second.tests.passed, second.tests.failed.len()), (1, 0), "{:?}", second.tests);
    assert!(built_at(&target) == made && built_at(&base) == made, "it is built once");
    assert!(!target.join("left").exists() && !base.join("left").exists(), "nothing of a change is in it");
    let clone = CloneProgram::of(&second.program.expect("a program"), &[]);
    let end = run_confined(&sandbox(), &clone, Vec::new(), &AMPLE, &|| false).expect("it runs");
    assert_eq!(end.evidence, b"second\n");

    // Of another source there is none, and the one before goes.
    let other = CodeTrial { unpack: &unpack, bases: bases(true), ..little(&folder, ENOUGH) };
    let built = build_in_turn(&sandbox(), &other, source(), &says("\"other\""), &|| false);
    assert!(built.expect("it applies").program.is_some());
    assert!(!base.exists() && folder.path().join("bases").join(source().to_string()).is_dir());
}

fn unpack_broken(at: &Path) -> Result<Digest, String> {
    unpack(at)?;
    std::fs::write(at.join("src/lib.rs"), "pub fn says() -> u32 {\n    \"old\"\n}\n")
        .map_err(|e| e.to_string())?;
    Ok(Digest::of(b"broken"))
}

#[test]
fn a_source_that_cannot_be_built_as_it_is_is_told_as_that_and_no_change_is_blamed() {
    if !has_walls() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let bases = Some(Bases { folder: folder.path().join("bases"), makes: true });
    let code = CodeTrial { unpack: &unpack_broken, bases, ..little(&folder, ENOUGH) };
    let why = build_in_turn(&sandbox(), &code, Digest::of(b"broken"), &says("\"new\""), &|| false);
    let why = why.map(drop).expect_err("no change of it can be built");
    assert!(why.contains("as it is cannot be built here") && why.contains("could not compile"), "{why}");
}

#[conforms(part = "HV-5-5", part = "HV-5-6")]
#[test]
fn a_change_that_phones_home_while_it_is_tested_reaches_nobody() {
    if !has_walls() {
        return;
    }
    let home = TcpListener::bind("127.0.0.1:0").expect("a listener");
    home.set_nonblocking(true).expect("it may have nothing");
    let address = home.local_addr().expect("an address");
    let body = format!(
        "#[test]\nfn phones_home() {{\n    std::net::TcpStream::connect(\"{address}\").unwrap();\n}}"
    );
    let (built, _folder) = built(&tests(&body), ENOUGH).expect("it applies");
    assert!(built.program.is_none() && built.tests.failed == ["phones_home"], "{:?}", built.tests);
    assert!(home.accept().is_err(), "somebody called");
}

#[conforms(part = "HV-5-5")]
#[test]
fn a_change_that_forks_without_an_end_while_it_is_tested_ends_for_its_processes() {
    if !has_walls() {
        return;
    }
    let body = "#[test]\nfn forks() {\n    loop {\n        \
                let _ = std::process::Command::new(\"sleep\").arg(\"600\").spawn();\n    }\n}";
    let (built, _folder) = built(&tests(body), Budget { processes: 100, ..ENOUGH }).expect("it applies");
    assert!(built.program.is_none(), "{:?}", built.tests);
    assert_eq!(built.used.ended_for, Some(BudgetPart::Processes), "{:?}", built.tests);
}
