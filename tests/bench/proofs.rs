//! Bundles: made, checked, and how large.

// An inline module, so that the world finds its own parts below its folder.
#[allow(dead_code, missing_docs, unused_imports, reason = "shared with the tests of the room")]
#[path = "../../src-tauri/crates/proof/tests"]
pub mod shared {
    pub mod nouns;
    pub mod world;
}

use crate::Asked;
use crate::board::{Board, timed};
use model::TaskId;
use proof::{Include, Options, Scope, Trust, Verdict};
use seal::{Digest, Signer};
use shared::world::World;
use std::path::Path;

const EVENTS: usize = 10_000;

fn export(world: &World, task: TaskId, options: &Options, path: &Path) {
    proof::export_to(world, world.signers(), task, options, path).expect("exported");
}

pub fn run(_: &Asked, board: &Board) {
    let folder = tempfile::tempdir().expect("a folder");
    let world = World::new(20, EVENTS);
    let path = folder.path().join("whole.zip");
    let (took, ()) = timed(|| export(&world, world.task, &Options::default(), &path));
    let detail = format!("{} events", world.events.len());
    board.at_most("export of a bundle, s", took.as_secs_f64(), 3.0, &detail);
    let trust = [Trust::Key(world.keys.log.public())];
    let (took, report) = timed(|| proof::verify(&path, &trust).expect("it can be read"));
    assert_eq!(report.verdict, Verdict::Valid, "{report:?}");
    raw(board, &path, took.as_secs_f64(), &report);
    board.at_most("verification of it, s", took.as_secs_f64(), 1.0, &detail);
    let receipt = world.receipts.first().copied().expect("a receipt");
    let one = Options { scope: Scope::Receipt(receipt), artifacts: Include::None, ..Options::default() };
    let path = folder.path().join("one.zip");
    export(&world, world.task, &one, &path);
    let bytes = std::fs::metadata(&path).map_or(0, |m| m.len());
    board.at_most(
        "bundle of one receipt, KB",
        bytes as f64 / 1_000.0,
        12.0,
        "without artifacts, uncompressed zip",
    );
}

/// What the machine itself needs for the same bytes and as many signatures, in the same run.
fn raw(board: &Board, path: &Path, took: f64, report: &proof::Report) {
    let bytes = std::fs::read(path).expect("the bundle");
    let (hashed, _) = timed(|| Digest::of(&bytes));
    let rate = bytes.len() as f64 / 1e6 / hashed.as_secs_f64();
    let detail = format!("{:.1} MB at {rate:.0} MB/s of raw SHA-256", bytes.len() as f64 / 1e6);
    board.figure(
        "verification / SHA-256 over the same bytes",
        &format!("{:.1}  {detail}", took / hashed.as_secs_f64()),
    );
    // Three notes, the list twice, the statement, every receipt and every decision.
    let signatures = 6 + report.counts.receipts + report.counts.decisions;
    let signer = seal::SeedSigner::from_seed([3; 32]);
    let (message, key) = ([7; 300], signer.public());
    let signature = signer.sign(&message).expect("signed");
    let (verified, ()) =
        timed(|| (0..signatures).for_each(|_| key.verify(&message, &signature).expect("it holds")));
    let detail = format!("{signatures} signatures in {:.1} ms", verified.as_secs_f64() * 1e3);
    board.figure(
        "verification / as many raw Ed25519 verifications",
        &format!("{:.1}  {detail}", took / verified.as_secs_f64()),
    );
}
