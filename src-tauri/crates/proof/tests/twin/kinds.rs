//! Bundles that hold every kind of act, event and signed yes there is: both verifiers know all of them, and say the
//! same where somebody who holds every key has rewritten one.

use super::{Dice, Field, agree, insider, many, zip};
use crate::world::World;
use crate::world::tools::Bench;
use proof::{Options, Scope};

#[test]
fn both_verifiers_know_every_kind_of_record_that_is_proven() {
    let whole = Field::new(World::of_every_kind(), &World::everything());
    assert!(whole.world.receipts.len() > 10, "one act for each variant of a request");
    let trust = whole.trust();
    let mut bundles = vec![("a task with every kind of act and event".to_owned(), whole.zip())];
    for n in 0..World::kinds() {
        let world = World::of_kind(n);
        let one = Options { scope: Scope::Receipt(world.receipts[0]), ..Options::default() };
        bundles.push((format!("an act of kind {n} alone"), Field::new(world, &one).zip()));
    }
    for world in World::of_every_standing_grant() {
        bundles.push(("under a standing grant".to_owned(), Field::new(world, &World::everything()).zip()));
    }
    let bench = Bench::new();
    for (what, zip) in &bundles {
        let report = bench.verify(zip, std::slice::from_ref(&trust));
        assert_eq!(report.exit_code(), 0, "{what}: {report}");
    }
    if let Some(valid) = agree(&bundles, &trust) {
        assert_eq!(valid, bundles.len());
    }
    println!("{} bundles with every kind of record: both verifiers know all of them", bundles.len());
}

#[test]
fn both_verifiers_judge_any_kind_of_record_the_same_that_an_insider_has_rewritten() {
    let (mut dice, mut zips, mut trust) = (Dice(41), Vec::new(), None);
    for n in 0..World::kinds() {
        let field = Field::new(World::of_kind(n), &World::everything());
        let rewritten = std::iter::repeat_with(|| insider::rewritten(&field.files, &field.world, &mut dice));
        zips.extend(rewritten.take(many(4)).map(|(what, files)| (format!("kind {n}: {what}"), zip(&files))));
        trust = Some(field.trust());
    }
    let Some(valid) = agree(&zips, &trust.unwrap()) else { return };
    println!("{} rewritten, {valid} of them valid: both verifiers say the same", zips.len());
}
