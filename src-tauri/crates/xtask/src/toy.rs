//! The toy: a tool put into a copy of the sources, to see that three files are enough for it and that it goes the whole
//! way of an act by the real programs, to both verifiers.

use crate::place::Place;
use crate::shell::{self, run as run_program, say};
use crate::{Problem, pages, sources_copy};
use std::fs;
use std::process::ExitCode;

/// Where the list of tools stands, and what the toy's rows are put behind.
const LIST: &str = "src-tauri/crates/acts/src/lib.rs";
const ROWS: [(&str, &str); 3] = [
    ("mod fetch;\n", "mod folder;\n"),
    ("pub use fetch::Fetch;\n", "pub use folder::Folder;\n"),
    (
        "fetch::Fetch = \"fetch\",\n",
        "            /// Make a folder.\n            folder::Folder = \"folder\",\n",
    ),
];
/// The toy's two files; with the list they are all that a tool is, outside its tests.
const FILES: [(&str, &str); 2] = [
    ("tests/toy/acts.rs", "src-tauri/crates/acts/src/folder.rs"),
    ("tests/toy/effects.rs", "src-tauri/crates/effects/src/tools/folder.rs"),
];
/// Its story on a page, run where the other stories of pages are.
const PAGE: (&str, &str) = ("tests/toy/page.test.ts", "tests/browser/toy.test.ts");
/// Its story, and the list of stories.
const STORY: (&str, &str) = ("tests/toy/story.rs", "tests/journeys/toy.rs");
const STORIES: (&str, &str, &str) = ("tests/journeys/mod.rs", "mod tidy;\n", "mod toy;\n");

/// Makes the copy, builds it and tells the story.
pub fn run(place: &Place) -> Result<ExitCode, Problem> {
    let (tree, target) = (place.target.join("toy/tree"), place.target.join("toy/target"));
    sources_copy::copy(&place.root, &tree, &|name, text| match name {
        LIST => ROWS.iter().try_fold(text.to_owned(), |text, (at, row)| behind(&text, at, row)).map(Some),
        _ if name == STORIES.0 => behind(text, STORIES.1, STORIES.2).map(Some),
        _ => Ok(None),
    })?;
    for (from, to) in FILES.into_iter().chain([STORY, PAGE]) {
        fs::copy(place.root.join(from), tree.join(to)).map_err(|e| format!("cannot copy `{from}`: {e}"))?;
    }
    sources_copy::lend(place, &target)?;
    say("building it; what it touches takes a while ...");
    let cargo = |words: &[&str]| {
        let mut cargo = place.cargo();
        cargo.current_dir(&tree).env("CARGO_TARGET_DIR", &target).arg("test");
        cargo.arg("--workspace").args(words);
        cargo
    };
    // The shapes that the second verifier knows are written anew, as after any change of the records.
    run_program(
        cargo(&["--test", "all", "--test", "it", "--test", "house", "shapes_of_the_second_verifier"])
            .env("HERMIT_BINDINGS", "write"),
    )?;
    let modules = tree.join("node_modules");
    if !modules.exists() {
        shell::lend(&place.root.join("node_modules"), &modules)
            .map_err(|e| format!("cannot lend the packages of the pages: {e}"))?;
    }
    let verifier = pages::verifier(place, &tree, &target.join("ui"))?;
    say("telling its story ...");
    // The programs lie there by now: cargo builds those of a package for its tests.
    let programs = target.join("debug");
    let mut story = cargo(&["--test", "house", "journeys::toy"]);
    story.env("HERMIT_PROGRAMS", &programs).env("HERMIT_VERIFY_MJS", verifier.join("verify.mjs"));
    run_program(&mut story)?;
    say("telling it on a page ...");
    let mut page = pages::tool(place, "vitest/vitest.mjs");
    page.current_dir(&tree).args(["run", "--config", "tests/browser/vite.config.ts", "toy"]);
    run_program(page.env("HERMIT_PROGRAMS", &programs))?;
    println!("a tool of {} files went the whole way", FILES.len() + 1);
    Ok(ExitCode::SUCCESS)
}

/// The text with a row behind the one place where `at` stands.
fn behind(text: &str, at: &str, row: &str) -> Result<String, Problem> {
    match text.matches(at).count() {
        1 => Ok(text.replace(at, &format!("{at}{row}"))),
        found => Err(format!("`{}` stands {found} times where the toy's row goes", at.trim())),
    }
}
