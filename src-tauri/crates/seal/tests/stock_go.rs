//! Go's `sumdb/note` and `sumdb/tlog`, which check the Go module proxy's log, agree with our notes and proofs.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on stops where it stands"
)]

mod foreign;

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use seal::{
    Digest, SeedSigner, Signer,
    merkle::{Tree, leaf_hash},
    note::{Checkpoint, VerifierKey},
};

fn joined(hashes: &[Digest]) -> String {
    hashes.iter().map(Digest::to_string).collect::<Vec<_>>().join(",")
}

/// Every proof of every tree up to `size` leaves, a line each.
fn all_proofs(size: u64) -> (String, usize) {
    let leaves: Vec<Digest> = (0..size).map(|i| leaf_hash(&i.to_le_bytes())).collect();
    let tree = Tree::from_leaves(&leaves);
    let mut lines = String::new();
    for size in 1..=size {
        let root = tree.root_at(size).unwrap();
        for index in 0..size {
            let path = joined(&tree.inclusion_proof_at(index, size).unwrap());
            writeln!(lines, "record {size} {index} {} {root} {path}", leaves[index as usize]).unwrap();
        }
        let current = Tree::from_leaves(&leaves[..size as usize]);
        for old in 1..=size {
            let path = joined(&current.consistency_proof(old).unwrap());
            writeln!(lines, "tree {old} {size} {} {root} {path}", tree.root_at(old).unwrap()).unwrap();
        }
    }
    let count = lines.lines().count();
    (lines, count)
}

#[test]
fn cross_check_go_sumdb_opens_our_note_accepts_our_proofs_and_signs_one_we_open() {
    let scratch = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let folder = scratch.join(format!("seal-go-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let signer = SeedSigner::from_seed([5; 32]);
    let origin = "hermit.local/0a1b/task/task_1";
    let vkey = VerifierKey::new(origin, signer.public()).unwrap();
    let note = Checkpoint::new(origin, 12, Digest::of(b"root")).sign(&signer).unwrap();
    let (proofs, count) = all_proofs(33);
    fs::write(folder.join("vkey"), vkey.to_string()).unwrap();
    fs::write(folder.join("note"), note.to_bytes()).unwrap();
    fs::write(folder.join("proofs"), proofs).unwrap();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sumdb_check/main.go");
    let Some(said) = foreign::go(&program, &folder, &[]) else { return };
    let said = said.unwrap_or_else(|said| panic!("{said}"));
    assert_eq!(said, format!("opened {origin} 12\nproofs {count} wrong 0\n"));

    let key: VerifierKey = fs::read_to_string(folder.join("go.vkey")).unwrap().parse().unwrap();
    let opened = Checkpoint::open(&fs::read(folder.join("go.note")).unwrap(), "go.sum database tree", &[key]);
    assert_eq!(opened.unwrap(), Checkpoint::new("go.sum database tree", 7, leaf_hash(b"from go")));
    fs::remove_dir_all(&folder).unwrap();
}
