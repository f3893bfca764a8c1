//! Set-up, build, test and release chores, in Rust. `cargo xtask WORD`, or through `npm run WORD`.
//!
//! # What this room is for
//!
//! One place for every chore, so that a person, CI and the README use the same words. `npm start` and `npm test`
//! end here, after `.config/doorstep.mjs` has seen to cargo and a linker.
//!
//! # What it must never do
//!
//! Be needed by another room; install anything but as root on Debian or Ubuntu; download but through the
//! package clients; hide a failing test.
//!
//! # Invariants
//!
//! 1. It builds in seconds on a fresh machine: the standard library only.
//! 2. The last line of `test` is `N passed, N failed, N skipped`, and the exit code agrees with it.
//! 3. `test` writes the conformance report only from tests that ran and passed in one whole run.
//! 4. With `CI=true` nothing committed is rewritten; a stale report fails.
//!
//! # Where to start reading
//!
//! [`main`] has the table of words; [`place`] says where builds go; [`setup`] what a machine needs.

#![allow(
    clippy::disallowed_methods,
    reason = "the workshop runs programs, asks its machine and keeps no record"
)]

mod app;
#[allow(dead_code, reason = "the half that reads is for the room `source`")]
#[path = "../../provenance/src/archive.rs"]
mod archive;
mod beside;
mod bitcoind;
mod chores;
mod claims;
mod conformance;
mod dependencies;
#[allow(dead_code, reason = "what a text says of others is for the room `provenance`")]
#[path = "../../provenance/src/clean_room/foreign.rs"]
mod foreign;
#[allow(dead_code, reason = "it also reads, for the build script of `source`")]
#[path = "../../source/src/gather.rs"]
mod gather;
mod hung;
mod installer;
#[allow(dead_code, reason = "what a label says is for the room `provenance`")]
#[path = "../../provenance/src/clean_room/labels.rs"]
mod labels;
mod licence_texts;
mod model_box;
mod model_server;
mod mutants;
mod package_files;
#[allow(dead_code, reason = "what the list has is for the tests of the house")]
#[path = "../../provenance/src/clean_room/packages.rs"]
mod packages;
mod pages;
mod parts;
mod place;
mod release;
mod reproducible;
mod setup;
mod shell;
mod sources_copy;
mod stale;
mod systems;
mod tests_run;
mod told;
mod toy;
mod trainer;
mod wine;

use place::Place;
use std::path::Path;
use std::process::ExitCode;

/// What went wrong, in words for the person who typed the command.
type Problem = String;

const HELP: &str = "\
cargo xtask WORD

  setup          look for what building and testing need; as root on Debian or Ubuntu install it
  start [ARGS]   set up, build, and open the app; without a display `hermit serve`; with ARGS `hermit start ARGS`
  dev [ARGS]     build, and run `hermit ARGS`
  test [ARGS]    set up, run every test, write the conformance report; with ARGS only `cargo test ARGS`
  check          formatting, clippy, documentation, types and dependencies, as strict as review
  build          release build of hermit, hermit-exec and hermit-verify, and the page that verifies
  bundle [ARGS]  packages of the app for this system (.deb and .rpm on Linux), with the program of the model in the box
                 unless `--no-model-box` is among ARGS; the others go to `tauri build`. An .AppImage is among them where
                 Tauri's tools for it are in your cache, or `--bundles` asks for it
  licences       gather the licence texts of what is in the programs into one file
  installer [--programs DIR]
                 the installer of the console programs for Windows; without `makensis` only its script
  release --key FILE --out DIR [--programs DIR [--remapped]] [--log DIR]
                 build the programs with the folders of this machine taken out, and make a signed release of them; with
                 --programs of those that are built already; --log keeps the log of releases, else beside the key
  reproducible [all]  build hermit-verify, or all programs, in two folders and compare their bytes
  bench          the benchmarks of tests/bench
  conformance    run every test and write tests/conformance/report.tsv again
  report         write it as a whole run would in which every test passed that claims a requirement, without running one
  kit --out FOLDER  write the vectors by which others grade their verifiers; `hermit-verify kit grade FOLDER` runs them
  mutants [conformance] [new | ID | TEST ...]
                 see that the tests fail with each fault of tests/conformance/mutants.tsv; write tests/conformance/killed.tsv;
                 with `new` only those that were not killed yet, with an ID or a TEST only those
  systems [windows | macos ...]
                 see that every room but the shell compiles for systems that this machine is not; it links and runs nothing
  wine [programs | PACKAGE ...]
                 build the programs of the terminal and the tests of rooms for Windows, and run them under wine
  toy            put a tool of three files into a copy of the sources, and see it proposed, asked, done, undone and proven
  parts [NAME]   fetch a small model and its server into your cache: smollm2 (default), qwen, qwen-1.5b,
                 or minilm, which makes vectors; `matrix`, `mail` and `bitcoind` fetch a homeserver and a mail server,
                 and build a Bitcoin node, and tests that speak to a real one run from then on
  model-box [--portable]  build the program of the model in the box, llama.cpp and all, and put it where Hermit finds it;
                 for this machine's processor; portable, for the packages of `bundle`
  trainer [test [ARGS]]  build the program that trains adapters, candle and all, and put it where Hermit finds it; with
                 `test` run its tests, which `test` alone leaves out
  model-server   [--model PATH] [--port N] [--threads N] [--embeddings]: serve a model over the OpenAI-compatible API;
                 with --embeddings one that makes vectors

environment
  CARGO_TARGET_DIR, HERMIT_TARGET_DIR   where builds go (the first that is set); else target/, or the user's
                                        cache folder when CI=true, so that a second clone starts warm
  HERMIT_PARTS_DIR                      where models and python environments lie; else the user's cache folder
";

/// Words that build, and claim the target folder.
const BUILDS: [&str; 15] = [
    "start",
    "dev",
    "test",
    "check",
    "build",
    "bundle",
    "release",
    "reproducible",
    "bench",
    "conformance",
    "kit",
    "mutants",
    "systems",
    "wine",
    "toy",
];

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let word = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    let done = Place::find().and_then(|place| run(&place, &word, &rest));
    match done {
        Ok(code) => code,
        Err(problem) => {
            shell::say(&problem);
            ExitCode::FAILURE
        }
    }
}

fn run(place: &Place, word: &str, rest: &[String]) -> Result<ExitCode, Problem> {
    let builds = BUILDS.contains(&word);
    if builds {
        refuse_study(&place.root)?;
    }
    let _claim = if builds { place.claim()? } else { None };
    match word {
        "setup" => setup::setup(setup::Purpose::Test).map(|()| ExitCode::SUCCESS),
        "start" => chores::start(place, rest),
        "dev" => chores::dev(place, rest),
        "test" => tests_run::test(place, rest),
        "check" => chores::check(place).map(|()| ExitCode::SUCCESS),
        "build" => chores::build(place).map(|()| ExitCode::SUCCESS),
        "bundle" => app::bundle(place, rest).map(|()| ExitCode::SUCCESS),
        "licences" => licence_texts::packaged(place, true).map(|_| ExitCode::SUCCESS),
        "installer" => installer::make(place, rest).map(|()| ExitCode::SUCCESS),
        "release" => release::release(place, rest).map(|()| ExitCode::SUCCESS),
        "reproducible" => reproducible::compare(place, rest).map(|()| ExitCode::SUCCESS),
        "bench" => chores::bench(place, rest).map(|()| ExitCode::SUCCESS),
        "conformance" => tests_run::test(place, &[]),
        "report" => tests_run::report_from_sources(place).map(|()| ExitCode::SUCCESS),
        "kit" => chores::kit(place, rest).map(|()| ExitCode::SUCCESS),
        "mutants" => mutants::run(place, rest),
        "systems" => systems::check(place, rest).map(|()| ExitCode::SUCCESS),
        "wine" => wine::check(place, rest).map(|()| ExitCode::SUCCESS),
        "toy" => toy::run(place),
        "parts" => parts::fetch(rest).map(|()| ExitCode::SUCCESS),
        "model-box" => model_box::build(place, rest).map(|_| ExitCode::SUCCESS),
        "trainer" => trainer::trainer(place, rest).map(|()| ExitCode::SUCCESS),
        "model-server" => model_server::serve(rest),
        "" | "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        other => Err(format!("there is no chore `{other}`; `cargo xtask help` lists them")),
    }
}

/// Refuses a tree that holds study material (CLEAN_ROOM.md), before anything of it is built.
fn refuse_study(root: &Path) -> Result<(), Problem> {
    let files = gather::listed(root)
        .map_err(|e| format!("the files of `{}` cannot be listed: {e}", root.display()))?;
    labels::refusal(files.iter().map(String::as_str)).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_tree_with_study_material_is_not_built_and_one_without_is() {
        let root = std::env::temp_dir().join(format!("hermit-study-{}", std::process::id()));
        let folder = root.join("src/lamp");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("fold.rs"), "fn fold() {}").expect("a file");
        let clean = refuse_study(&root);
        fs::write(folder.join(labels::MARKER), "name: lamp").expect("a file");
        let labelled = refuse_study(&root);
        fs::remove_dir_all(&root).expect("it goes");
        assert_eq!(clean, Ok(()));
        assert!(labelled.is_err_and(|why| why.contains("`src/lamp/` is labelled as study material")));
    }
}
