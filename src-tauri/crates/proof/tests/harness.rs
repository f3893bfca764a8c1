//! A sample of the mutation harness. `HERMIT_MUTANTS=N` asks for more, and so does
//! `cargo bench -p hermit-tests -- mutants --mutants N`.

use crate::foreign;
use crate::world::mutations::{Class, Reference, harness};
use crate::world::tools::Files;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// About how many mutants the suite makes.
const SAMPLE: u64 = 1_500;

fn written(files: &Files, root: &Path) {
    for (name, bytes) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

#[test]
fn every_mutant_of_the_sample_is_refused_and_every_kind_of_them_by_a_stock_tool_too() {
    let asked = std::env::var("HERMIT_MUTANTS").ok().and_then(|n| n.parse().ok());
    let (tally, all) = harness(asked.unwrap_or(SAMPLE));
    for (class, count) in &tally.refused {
        println!("{count:>7} refused: {class:?}");
    }
    println!("{} mutants of {all} there are, {} of them passed", tally.total(), tally.passed.len());
    assert!(tally.passed.is_empty(), "{:#?}", tally.passed);
    assert!(tally.total() > 1_000, "{}", tally.total());
    let kinds: BTreeSet<Class> = tally.refused.keys().copied().collect();
    assert_eq!(kinds.len(), 15, "every kind was made: {kinds:?}");

    // Who could not repair everything is seen by the tools of the README; a zip that was changed, by any unzip.
    let mut seen: BTreeMap<Class, BTreeSet<&str>> = BTreeMap::new();
    let mut asked = 0;
    for ((class, _), files) in &tally.samples {
        let folder = tempfile::tempdir().unwrap();
        written(files, folder.path());
        let Some(found) = foreign::refusals(folder.path()) else { return };
        asked += 1;
        seen.entry(*class).or_default().extend(found);
    }
    for (class, tools) in &seen {
        println!("{class:?}: refused by {tools:?}");
        assert!(!tools.is_empty(), "{class:?} was accepted by every stock tool");
    }
    println!(
        "{} mutants of {all} there are, all refused; {asked} of them shown to stock tools",
        tally.total()
    );
}

#[test]
fn a_zip_that_was_changed_or_cut_is_refused_by_a_stock_unzip() {
    let reference = &Reference::all()[2];
    let folder = tempfile::tempdir().unwrap();
    let program = "import sys, zipfile\ntry:\n    sys.exit(zipfile.ZipFile('b.zip').testzip() is not None)\nexcept Exception:\n    sys.exit(1)";
    let ask = |zip: &[u8]| {
        std::fs::write(folder.path().join("b.zip"), zip).unwrap();
        foreign::run("python3", folder.path(), &["-c", program], b"").map(|(ok, _)| ok)
    };
    let Some(whole) = ask(&reference.zip) else { return };
    assert!(whole);
    // In the bytes of a file, and in the lengths that a zip needs.
    let middle = reference.zip.len() / 3;
    let mut changed = reference.zip.clone();
    changed[middle] ^= 1;
    assert_eq!(ask(&changed), Some(false));
    assert_eq!(ask(&reference.zip[..middle]), Some(false));
}
