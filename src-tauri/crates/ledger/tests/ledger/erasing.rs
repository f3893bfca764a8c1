//! Erasing a value: gone from the disk, and every hash still holds.

use crate::world::{World, assert_sound, batch, commit, saying, signer, task};
use ledger::Batch;
use model::UnixMs;
use model::fault::Point;
use std::fs;

#[test]
fn an_erased_value_is_nowhere_in_the_files_and_the_log_stays_valid() {
    let world = World::new();
    let writer = world.writer();
    let id = task();
    let secret = "correct horse battery staple";
    let placed = commit(&writer, vec![saying(id, "other"), saying(id, secret), saying(id, "more")]).placed;
    writer.checkpoint(&[id], &signer(), UnixMs(1), |_, _| {}).unwrap();
    let digest = placed[1].disclosures[0].digest;
    let files =
        || ["ledger.db", "ledger.db-wal"].map(|name| fs::read(world.path().join(name)).unwrap_or_default());
    let stands = || files().iter().any(|bytes| bytes.windows(secret.len()).any(|w| w == secret.as_bytes()));
    assert!(stands(), "it was never there, so nothing is shown");
    let erasing = Batch { erase: vec![digest], ..batch(vec![saying(id, "erased one")]) };
    writer.commit(erasing).unwrap();
    writer.scrub().unwrap();
    assert!(!stands(), "the erased value is still in the files");
    assert_eq!(world.reader().disclosure(&digest).unwrap(), None);
    assert!(world.reader().disclosure(&placed[0].disclosures[0].digest).unwrap().is_some());
    let report = world.verify();
    assert_eq!(report.verdict, ledger::Verdict::Valid, "{}", report.reason);
    commit(&writer, vec![saying(id, "and on")]);
    assert_sound(&world.verify());
}

#[test]
fn an_erasure_that_is_refused_erases_nothing() {
    let world = World::new();
    let writer = world.writer();
    let id = task();
    let digest = commit(&writer, vec![saying(id, "kept")]).placed[0].disclosures[0].digest;
    let stale = Batch { erase: vec![digest], expect: vec![(id, 0)], ..Batch::new(Point::KnowledgeChange) };
    assert!(writer.commit(stale).is_err());
    assert!(world.reader().disclosure(&digest).unwrap().is_some());
}
