//! Stores that hold a broken chain and sign it all the same: the links are checked wherever two neighbours are shown.

use super::{Field, agree, insider};
use crate::world::World;
use crate::world::tools::{Bench, Files, Power, repair};
use proof::{Options, Scope, Source as _};
use seal::Digest;
use seal::merkle::{Tree, leaf_hash};
use seal::note::Note;
use seal::tlog_proof::TlogProof;
use serde_json::Value;

/// Events 4 to 6 of a task in which one event says something else, every place and head signed for it. An honest
/// export refuses to make this, so it is made here.
fn span(broken: usize, edit: fn(&mut Value)) -> (Field, Files) {
    let mut world = World::new(1, 3);
    let mut event: Value = serde_json::from_slice(&world.events[broken - 1]).unwrap();
    edit(&mut event);
    let scope = Scope::Span { first: 4, last: 6 };
    let Field { mut files, .. } = Field::new(World::new(1, 3), &Options { scope, ..Options::default() });
    world.events[broken - 1] = seal::canon::canonical_value(&event).unwrap();
    let tree = Tree::from_leaves(&world.events.iter().map(|bytes| leaf_hash(bytes)).collect::<Vec<_>>());
    let (task, global) =
        (world.task_head(world.task).unwrap().unwrap(), world.global_head().unwrap().unwrap());
    let note = Note::parse(&task.note).unwrap();
    for seq in 4..=6_u64 {
        let at = usize::try_from(seq).unwrap() - 1;
        files.insert(format!("task/events/{seq}.json"), world.events[at].clone());
        let place = TlogProof::new(seq - 1, tree.inclusion_proof(seq - 1).unwrap(), note.clone()).to_text();
        files.insert(format!("task/proofs.tlog-proof/{seq}"), place.into_bytes());
    }
    let (head, size) = (Note::parse(&global.note).unwrap(), world.others.len() as u64 + 2);
    for (name, index) in [("task/checkpoint.tlog-proof", size - 2), ("gate/checkpoint.tlog-proof", size - 1)]
    {
        let way = world.global_proof(index, size).unwrap();
        let place = TlogProof::new(index, way, head.clone()).to_text();
        files.entry(name.to_owned()).and_modify(|bytes| *bytes = place.into_bytes());
    }
    files.insert("task/checkpoint".to_owned(), task.note);
    files.insert("log/checkpoint".to_owned(), global.note);
    repair(&mut files, Power::Receipt, &world);
    insider::edit_statement(&mut files, &world, &mut |statement| {
        statement["predicate"]["task_root"] = tree.root().to_string().into();
    });
    (Field { world, files: Files::new() }, files)
}

#[test]
fn an_event_of_a_span_that_does_not_point_back_to_its_neighbour_is_refused() {
    // Of the links into the span and out of it only one end is shown, so they cannot be followed.
    for (broken, code) in [(3, 0), (4, 5), (5, 5), (6, 5), (7, 0)] {
        let (field, files) = span(broken, |event| {
            event["prev_event_hash"] = Digest::of(b"elsewhere").to_string().into();
        });
        let zip = super::zip(&files);
        let report = Bench::new().verify(&zip, &[field.manifest()]);
        assert_eq!(report.exit_code(), code, "event {broken}: {report}");
        assert_eq!(report.headline().contains("does not point back to the event before it"), code != 0);
        agree(&[(format!("event {broken}"), zip)], &field.manifest());
    }
}

#[test]
fn an_event_of_a_span_that_is_counted_otherwise_than_it_stands_is_refused() {
    let (field, files) = span(6, |event| event["task_seq"] = 7.into());
    let zip = super::zip(&files);
    let report = Bench::new().verify(&zip, &[field.manifest()]);
    assert!(report.headline().contains("it is event 7 of its task, not 6"), "{report}");
    agree(&[("counted otherwise".to_owned(), zip)], &field.manifest());
}

#[test]
fn an_entry_of_the_gate_that_does_not_point_back_to_its_neighbour_is_refused() {
    let field = Field::new(unlinked(), &World::everything());
    let report = Bench::new().verify(&field.zip(), &[field.manifest()]);
    assert!(report.headline().contains("does not point back to the entry before it"), "{report}");
    agree(&[("entry".to_owned(), field.zip())], &field.manifest());
}

/// A store whose gate has an entry that points elsewhere.
fn unlinked() -> World {
    let mut world = World::new(2, 0);
    let (first, named) = (world.ours[0], world.entries[usize::try_from(world.ours[0]).unwrap()].entry_hash);
    let second = &mut world.entries[usize::try_from(first).unwrap()];
    second.prev_hash = Digest::of(b"elsewhere");
    second.entry_hash = second.computed_hash().unwrap();
    assert_ne!(second.entry_hash, named);
    world
}

/// One of each, with a word of the refusal; the kit of vectors has them too.
pub fn broken() -> Vec<(&'static str, &'static str, Files)> {
    let (_, event) = span(5, |event| {
        event["prev_event_hash"] = Digest::of(b"elsewhere").to_string().into();
    });
    let (_, counted) = span(6, |event| event["task_seq"] = 7.into());
    let entry = Field::new(unlinked(), &World::everything()).files;
    vec![
        ("an event that points elsewhere", "does not point back to the event before it", event),
        ("an event that is counted otherwise", "it is event 7 of its task, not 6", counted),
        ("an entry that points elsewhere", "does not point back to the entry before it", entry),
    ]
}
