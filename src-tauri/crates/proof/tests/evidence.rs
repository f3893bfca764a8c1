//! The gate's own bundle as a file: written entry by entry, read whole, replayed, and no change passes.

use crate::world::World;
use proof::{Verdict, evidence};

fn written(world: &World) -> (Vec<u8>, seal::Digest) {
    let mut out = Vec::new();
    let entries = world.entries.iter().map(|e| Ok(e.to_bytes().unwrap()));
    let (count, root) = evidence::export(entries, "5f3a9c1e", "strict", model::UnixMs(7), &mut out).unwrap();
    assert_eq!(count, world.entries.len() as u64);
    (out, root)
}

#[conforms::conforms("KS-3.9-1", "KS-4.8-1", "KS-7.1-1", "KS-7.2-1")]
#[test]
fn all_entries_make_one_file_that_replays_from_genesis_and_ends_at_its_root() {
    let world = World::new(2, 0);
    let (bytes, root) = written(&world);
    assert_eq!(Some(root), world.entries.last().map(|e| e.entry_hash));
    let bundle = gate::EvidenceBundle::from_bytes(bytes.strip_suffix(b"\n").unwrap()).unwrap();
    assert_eq!(bundle.ledger_entries, world.entries);
    assert_eq!([bundle.to_bytes().unwrap().as_slice(), b"\n"].concat(), bytes, "one spelling");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.json");
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(evidence::verify(&path, Some(root)).unwrap().verdict, Verdict::Valid);
    assert_eq!(evidence::verify(&path, None).unwrap().exit_code(), 6);
    assert_eq!(evidence::verify(&path, Some(seal::Digest::ZERO)).unwrap().exit_code(), 5);
    let mut made = 0;
    for at in (0..bytes.len()).step_by(7) {
        let mut mutant = bytes.clone();
        mutant[at] ^= 1;
        std::fs::write(&path, &mutant).unwrap();
        let code = evidence::verify(&path, Some(root)).unwrap().exit_code();
        // Time, kernel and variant of an export stand in no entry.
        let entries = bytes.windows(16).position(|w| w == b"\"ledger_entries\"").unwrap();
        let behind = bytes.windows(9).position(|w| w == b"\"variant\"").unwrap();
        assert!(code == 5 || at < entries || at > behind, "byte {at}");
        made += 1;
    }
    println!("{made} changed evidence bundles tried");
}

#[test]
fn a_broken_or_empty_log_is_not_exported_as_if_it_were_whole() {
    let world = World::new(1, 0);
    let mut entries: Vec<Vec<u8>> = world.entries.iter().map(|e| e.to_bytes().unwrap()).collect();
    entries.remove(2);
    let mut out = Vec::new();
    let broken = evidence::export(entries.into_iter().map(Ok), "k", "strict", model::UnixMs(7), &mut out);
    assert!(matches!(broken, Err(proof::Error::Inconsistent { .. })));
    assert!(evidence::export(std::iter::empty(), "k", "strict", model::UnixMs(7), &mut out).is_err());
}
