//! A sample of the mutation harness. `HERMIT_MUTANTS=N` asks for more, and so does
//! `cargo bench -p hermit-tests -- mutants --mutants N`.

use crate::foreign;
use crate::world::World;
use crate::world::mutations::{Class, Reference, harness};
use crate::world::tools::{Bench, Files, Power, files_of, repair};
use proof::{Options, Scope, Source as _, Trust, export_to};
use seal::Signer as _;
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

/// What the harness leaves out by name: two heads of one log by the same key. Each alone proves the receipt; together
/// they prove that the log was rewritten.
#[test]
fn a_forked_head_in_one_receipt_alone_is_refused_by_who_holds_another() {
    const WAY: &str = "task/checkpoint.tlog-proof";
    let made = |forked: bool| {
        let mut world = World::new(1, 1);
        if forked {
            world.others.reverse();
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bundle");
        let one = Options { scope: Scope::Receipt(world.receipts[0]), ..Options::default() };
        export_to(&world, world.signers(), world.task, &one, &path).unwrap();
        let head = world.global_head().unwrap().unwrap().note;
        (world, files_of(&path), head)
    };
    let ((world, honest, head), (_, fork, other)) = (made(false), made(true));
    let mut mixed = honest.clone();
    mixed.insert(WAY.to_owned(), fork[WAY].clone());
    repair(&mut mixed, Power::Manifest, &world);
    let (bench, trust) = (Bench::new(), [Trust::from(world.keys.log.public())]);
    let code = |files: &Files, held: Option<&[u8]>| {
        let zip = crate::world::tools::zip_of(files.iter().map(|(n, b)| (n.as_str(), b.as_slice())));
        bench.verify_since(&zip, &trust, held).exit_code()
    };
    assert_eq!((code(&honest, None), code(&mixed, None)), (0, 0));
    assert_eq!((code(&honest, Some(&head)), code(&mixed, Some(&head))), (0, 5));
    assert_eq!((code(&honest, Some(&other)), code(&mixed, Some(&other))), (5, 0));
}
