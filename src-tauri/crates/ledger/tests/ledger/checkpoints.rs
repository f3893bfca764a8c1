//! Signed tree heads, proofs against them, and the pin outside the store.

use crate::tampering::tampered_in;
use crate::world::{World, batch, commit, entries, plain, signer, task};
use ledger::{Batch, CheckpointKind, Error, PinState, Verdict, check_pin};
use model::UnixMs;
use model::fault::Point;
use seal::merkle::{leaf_hash, verify_consistency, verify_inclusion};
use seal::note::{Checkpoint as Note, VerifierKey};
use seal::{Digest, SeedSigner, Signer};

fn opened(bytes: &[u8], origin: &str) -> Note {
    Note::open(bytes, origin, &[VerifierKey::new(origin, signer().public()).unwrap()]).unwrap()
}

#[test]
fn a_tasks_checkpoint_signs_the_size_and_root_of_its_events() {
    let world = World::new();
    let writer = world.writer();
    let id = task();
    for round in 1..=5 {
        commit(&writer, vec![plain(id), plain(id)]);
        let made = writer.checkpoint_task(id, &signer(), UnixMs(round)).unwrap();
        assert_eq!(made.origin, format!("hermit.local/{}/task/{id}", writer.log_id()));
        let note = opened(&made.note, &made.origin);
        let leaves = world.reader().task_leaves(id, made.size).unwrap();
        assert_eq!((note.size, note.root), (2 * round as u64, seal::merkle::root(&leaves)));
        let bytes = world.reader().events(id, 0, 1).unwrap().remove(0).bytes;
        let proof = seal::merkle::inclusion_proof(0, &leaves).unwrap();
        verify_inclusion(&leaf_hash(&bytes), 0, note.size, &proof, &note.root).unwrap();
    }
    let again = writer.checkpoint_task(id, &signer(), UnixMs(99)).unwrap();
    assert_eq!(again.made_at, UnixMs(5), "nothing was added, so the last one stands");
    assert!(matches!(writer.checkpoint_task(task(), &signer(), UnixMs(1)), Err(Error::Invalid { .. })));
    assert_eq!(world.verify().verdict, Verdict::Valid);
}

#[test]
fn any_entry_of_a_large_gate_is_proven_without_the_others() {
    let world = World::new();
    let writer = world.writer();
    let all = entries(Digest::ZERO, "req", 1500);
    for part in all.chunks(100) {
        writer.commit(Batch { entries: part.to_vec(), ..Batch::new(Point::GateBoot) }).unwrap();
    }
    let id = task();
    commit(&writer, vec![plain(id)]);
    writer.checkpoint_global(&signer(), UnixMs(1)).unwrap();
    let gate = world.reader().last_checkpoint(CheckpointKind::Gate, None).unwrap().unwrap();
    let note = opened(&gate.note, &gate.origin);
    assert_eq!(note.size, 1500);
    for seq in [1, 2, 255, 256, 257, 512, 1024, 1025, 1499, 1500] {
        let bytes = world.reader().gate_entries(seq, 1).unwrap().remove(0).1;
        let proof = world.reader().gate_proof(seq, note.size).unwrap();
        verify_inclusion(&leaf_hash(&bytes), seq - 1, note.size, &proof, &note.root).unwrap();
        assert!(proof.len() <= 11);
    }
    assert!(world.reader().gate_proof(1501, 1500).is_err());
    assert!(world.reader().gate_proof(1, 1501).is_err());
    assert_eq!(world.verify().verdict, Verdict::Valid);
    drop(writer);
    // The tree is derived again from its stored nodes when the store is opened, and grows on.
    let writer = world.writer();
    let more = entries(all[1499].entry_hash, "req", 600);
    writer.commit(Batch { entries: more, ..Batch::new(Point::GateBoot) }).unwrap();
    writer.checkpoint_global(&signer(), UnixMs(2)).unwrap();
    assert_eq!(world.verify().verdict, Verdict::Valid);
}

#[test]
fn the_global_log_holds_every_note_and_only_grows() {
    let world = World::new();
    let writer = world.writer();
    let ids = [task(), task(), task()];
    let mut globals = Vec::new();
    for round in 0..6 {
        let id = ids[round % 3];
        commit(&writer, vec![plain(id)]);
        let (made, committed) = writer
            .checkpoint(&[id], &signer(), UnixMs(1), |made, batch| {
                assert_eq!(made.len(), 2);
                batch.drafts.push(plain(ids[0]));
            })
            .unwrap();
        assert_eq!(committed.placed.len(), 1, "the event about the checkpoint is in the same commit");
        globals.push(opened(&made[1].note, &made[1].origin));
    }
    let reader = world.reader();
    let leaves = reader.global_leaves(6).unwrap();
    for global in &globals {
        let proof = seal::merkle::consistency_proof(global.size, &leaves).unwrap();
        let last = globals.last().unwrap();
        verify_consistency(global.size, last.size, &global.root, &last.root, &proof).unwrap();
    }
    let first = reader.checkpoint_at(CheckpointKind::Task, Some(ids[0]), 1).unwrap().unwrap();
    let text = seal::note::Note::parse(&first.note).unwrap().text;
    let proof = seal::merkle::inclusion_proof(first.leaf_index.unwrap(), &leaves).unwrap();
    let last = globals.last().unwrap();
    verify_inclusion(&leaf_hash(text.as_bytes()), 0, last.size, &proof, &last.root).unwrap();
    assert_eq!(world.verify().verdict, Verdict::Valid);
}

#[test]
fn that_the_log_grew_is_proven_from_the_notes_since_and_none_before_is_read() {
    let world = World::new();
    let writer = world.writer();
    let ids = [task(), task(), task()];
    // One note and then three, so that a head stands at some sizes only.
    for round in 0..12 {
        let signs = if round % 2 == 0 { &ids[..1] } else { &ids[..] };
        commit(&writer, ids.iter().map(|id| plain(*id)).collect());
        writer.checkpoint(signs, &signer(), UnixMs(1), |_, _| {}).unwrap();
    }
    drop(writer);
    let reader = world.reader();
    let leaves = reader.global_leaves(24).unwrap();
    for size in 0..=24_u64 {
        let first = &leaves[..usize::try_from(size).unwrap()];
        assert_eq!(reader.global_root(size).unwrap(), Some(seal::merkle::root(first)), "{size}");
        for old in 0..=size {
            let whole = seal::merkle::consistency_proof(old, first).unwrap();
            assert_eq!(reader.global_consistency(old, size).unwrap(), whole, "{old} of {size}");
        }
    }
    assert_eq!(reader.global_root(25).unwrap(), None);
    assert!(reader.global_consistency(3, 2).is_err() && reader.global_consistency(3, 25).is_err());
    // Notes that nobody can read are read by nobody: a head stands at 20.
    let proof = reader.global_consistency(20, 24).unwrap();
    tampered_in(&world, "UPDATE checkpoints SET note = x'00' WHERE leaf_index < 20");
    let reader = world.reader();
    assert!(reader.global_leaves(24).is_err());
    assert_eq!(reader.global_root(20).unwrap(), Some(seal::merkle::root(&leaves[..20])));
    assert_eq!(reader.global_consistency(20, 24).unwrap(), proof);
    assert!(reader.global_consistency(19, 24).is_err(), "the notes between two heads are read");
}

#[test]
fn after_a_rotation_the_first_note_of_a_head_is_found_and_not_the_one_that_was_signed_again() {
    let world = World::new();
    let writer = world.writer();
    let (id, other) = (task(), task());
    commit(&writer, vec![plain(other), plain(id)]);
    writer.checkpoint_task(other, &signer(), UnixMs(1)).unwrap();
    let first = writer.checkpoint_task(id, &signer(), UnixMs(2)).unwrap();
    let again = writer.checkpoint_task(id, &SeedSigner::from_seed([77; 32]), UnixMs(3)).unwrap();
    assert_eq!((first.size, first.root), (again.size, again.root));
    assert!(first.leaf_index < again.leaf_index && first.note != again.note);
    let reader = world.reader();
    assert_eq!(reader.task_checkpoint_first(id, first.size).unwrap(), Some(first.clone()));
    assert_eq!(reader.task_checkpoint_first(id, first.size + 1).unwrap(), None);
    let head = reader.last_checkpoint(CheckpointKind::Global, None).unwrap().unwrap();
    let resigned = writer.checkpoint_global(&signer(), UnixMs(4)).unwrap();
    assert!(head.size == resigned.size && head.note != resigned.note);
    for made in [&head, &resigned] {
        let note_sha256 = Digest::of(&made.note);
        assert_eq!(reader.global_checkpoint_of(made.size, note_sha256).unwrap().as_ref(), Some(made));
        assert_eq!(reader.global_checkpoint_of(made.size + 1, note_sha256).unwrap(), None);
    }
    // Both are the same leaf, so a head of before covers the one that is handed out now.
    let leaves = reader.global_leaves(again.leaf_index.unwrap() + 1).unwrap();
    let at = |made: &ledger::Checkpoint| leaves[usize::try_from(made.leaf_index.unwrap()).unwrap()];
    assert_eq!(at(&first), at(&again));
}

#[test]
fn many_threads_make_checkpoints_and_every_leaf_gets_a_place_of_its_own() {
    let world = World::new();
    let writer = world.writer();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let id = task();
                for _ in 0..3 {
                    commit(&writer, vec![plain(id)]);
                    writer.checkpoint_task(id, &signer(), UnixMs(1)).unwrap();
                }
            });
        }
    });
    assert_eq!(world.reader().global_leaves(24).unwrap().len(), 24);
    assert_eq!(world.verify().verdict, Verdict::Valid);
}

#[test]
fn a_store_is_held_against_the_checkpoint_pinned_outside_it() {
    let world = World::new();
    let id = task();
    let keys = [signer().public()];
    let (pin, old) = {
        let writer = world.writer();
        commit(&writer, vec![plain(id)]);
        writer.checkpoint_task(id, &signer(), UnixMs(1)).unwrap();
        writer.commit(batch(vec![])).unwrap();
        let old = tempfile::tempdir().unwrap();
        ledger::backup(&writer.reader(), old.path()).unwrap();
        commit(&writer, vec![plain(id)]);
        writer.checkpoint_task(id, &signer(), UnixMs(2)).unwrap();
        (writer.checkpoint_global(&signer(), UnixMs(3)).unwrap().note, old)
    };
    let state = |dir: &std::path::Path, keys: &[_]| {
        check_pin(&ledger::Reader::open(dir).unwrap(), &pin, keys).unwrap()
    };
    assert_eq!(state(world.path(), &keys), PinState::Consistent);
    assert_eq!(state(old.path(), &keys), PinState::Behind { pinned: 2, found: 1 });
    let verdict = |dir: &std::path::Path| {
        let reader = ledger::Reader::open(dir).unwrap();
        ledger::verify(&reader, &keys, Some(&pin), &mut |_| true).unwrap().verdict
    };
    assert_eq!((verdict(world.path()), verdict(old.path())), (Verdict::Valid, Verdict::Incomplete));
    // The old copy lives on another way: same log, other history.
    {
        let writer = crate::world::open_at(
            old.path(),
            Box::new(ledger::NoProjections),
            std::sync::Arc::new(model::fault::NoFaults),
        )
        .unwrap();
        commit(&writer, vec![plain(id)]);
        writer.checkpoint_task(id, &signer(), UnixMs(2)).unwrap();
    }
    assert_eq!(state(old.path(), &keys), PinState::Forked { pinned: 2 });
    assert!(matches!(verdict(old.path()), Verdict::Invalid { place: ledger::verify::Place::Pin, .. }));
    let stranger = SeedSigner::from_seed([9; 32]).public();
    assert!(matches!(state(world.path(), &[stranger]), PinState::Unusable { .. }));
}
