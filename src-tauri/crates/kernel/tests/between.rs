//! Between a yes and the act: whatever changes there, the old yes does nothing.
//!
//! What was said is changed field by field, as its JSON shows them, so that a field that comes later is tried too.
//! Every field of every object is also tried against `governance` itself, without a kernel around it, in its own tests.

use crate::story::{count, state};
use kernel::Kernel;
use model::artifact::ArtifactKind;
use model::proposal::Answer;
use model::{ApprovalId, TaskId};
use rusqlite::Connection;
use seal::Digest;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use testkit::{World, change, done, look, say, write};

/// What binds a yes to an act.
const BINDING: [ArtifactKind; 5] = [
    ArtifactKind::ActionRequest,
    ArtifactKind::PolicyResult,
    ArtifactKind::ApprovalPacket,
    ArtifactKind::ApprovalDecision,
    ArtifactKind::StateWitness,
];

/// A kind of act, and the answers of a model that lead to it in a folder with `a.txt` and `kept/b.txt`.
fn acts() -> Vec<(&'static str, Vec<Answer>)> {
    let items = json!([
        { "op": "write", "path": "c.txt", "content": "new" },
        { "op": "delete", "path": "kept/b.txt" },
        { "op": "move", "from": "a.txt", "to": "d.txt" },
    ]);
    vec![
        ("create", vec![write("new/c.txt", "new")]),
        ("overwrite", vec![look("a.txt"), write("a.txt", "mine")]),
        ("delete", vec![say("delete", json!({ "path": "kept/b.txt" }))]),
        ("move", vec![change(json!([{ "op": "move", "from": "a.txt", "to": "kept/c.txt" }]))]),
        ("change set", vec![look("a.txt"), change(items)]),
    ]
}

/// A world in which this act was allowed and has not begun.
fn allowed(seed: u64, answers: Vec<Answer>) -> (World, TaskId, ApprovalId) {
    let world = World::new(seed);
    world.file("a.txt", "one");
    world.file("kept/b.txt", "two");
    // Whoever is asked again gives up, so that one yes is all there is.
    let task = world.script("act", [answers, vec![done("gave up")]].concat());
    let approval = world.drive_to_approval(task);
    world.person.allow(world.kernel(), task, approval).unwrap();
    (world, task, approval)
}

/// Effects other than looking that were begun.
fn begun(kernel: &Kernel, task: TaskId) -> usize {
    count(kernel, task, "effect.dispatched")
}

/// The digests and bytes of the objects that bind a yes; not those of what was looked at before.
fn bindings(world: &World, task: TaskId, approval: ApprovalId) -> Vec<(ArtifactKind, Digest, Value)> {
    let state = state(world, task);
    let asked = &state.approvals[&approval].approval;
    let bound = state.artifacts.values().filter(|artifact| match artifact.kind {
        ArtifactKind::ActionRequest => artifact.artifact_id == asked.requested_action_ref,
        ArtifactKind::PolicyResult => artifact.artifact_id == asked.policy_result_ref,
        kind => BINDING.contains(&kind),
    });
    let read = |digest: &Digest| world.kernel().artifacts().read(digest).unwrap();
    let objects = bound.map(|artifact| {
        let digest = state.digest_of(artifact.artifact_id).unwrap();
        (artifact.kind, digest, serde_json::from_slice(&read(&digest)).unwrap())
    });
    objects.collect()
}

/// Pointers to every leaf of an object.
fn leaves(at: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(k, v)| leaves(&format!("{at}/{k}"), v, found)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(n, v)| leaves(&format!("{at}/{n}"), v, found));
        }
        _ => found.push(at.to_owned()),
    }
}

fn other(value: &Value) -> Value {
    match value {
        Value::Null => json!("x"),
        Value::Bool(truth) => json!(!truth),
        Value::Number(number) => json!(number.as_i64().unwrap() + 1),
        Value::String(text) => {
            let last = if text.ends_with('0') { '1' } else { '0' };
            json!(text.chars().take(text.chars().count().saturating_sub(1)).chain([last]).collect::<String>())
        }
        Value::Array(_) | Value::Object(_) => unreachable!("a leaf"),
    }
}

/// Puts other bytes where an object lies, as somebody would who owns the machine.
fn exchange(file: &Path, digest: &Digest, bytes: &[u8]) {
    let db = Connection::open(file).unwrap();
    let sql: String = db
        .query_row("SELECT sql FROM sqlite_schema WHERE name = 'blobs_keep'", [], |row| row.get(0))
        .unwrap();
    db.execute_batch("PRAGMA synchronous = off; DROP TRIGGER blobs_keep").unwrap();
    let changed =
        db.execute("UPDATE blobs SET bytes = ?1 WHERE digest = ?2", (bytes, digest.as_bytes())).unwrap();
    assert_eq!(changed, 1, "the object lies in the store");
    db.execute_batch(&sql).unwrap();
}

#[test]
fn no_field_of_what_was_allowed_can_change_before_it_is_done() {
    for (n, (kind, answers)) in acts().into_iter().enumerate() {
        let (mut world, task, approval) = allowed(1_100 + n as u64, answers);
        let (files, before) = (world.files(), begun(world.kernel(), task));
        let bindings = bindings(&world, task, approval);
        for wanted in BINDING {
            assert!(bindings.iter().any(|(kind, ..)| *kind == wanted), "{kind}: no {wanted:?}");
        }
        world.crash();
        let file = world.store.path().join(ledger::FILE);
        let master: PathBuf = world.store.path().join("master");
        std::fs::copy(&file, &master).unwrap();
        for (bound, digest, object) in bindings {
            let mut pointers = Vec::new();
            leaves("", &object, &mut pointers);
            // One kind whole, of the others every fourth.
            for pointer in pointers.into_iter().skip(n % 4).step_by(if n == 0 { 1 } else { 4 }) {
                let mut changed = object.clone();
                let place = changed.pointer_mut(&pointer).unwrap();
                *place = other(place);
                exchange(&file, &digest, &serde_json::to_vec(&changed).unwrap());
                if let Ok(kernel) = world.try_open() {
                    let standing = kernel.drive(task);
                    let what = format!("{kind}, {bound:?}{pointer}: {standing:?}");
                    assert_eq!(begun(&kernel, task), before, "{what}");
                }
                assert_eq!(world.files(), files, "{kind}, {bound:?}{pointer}");
                std::fs::copy(&master, &file).unwrap();
            }
        }
        // Nothing changed: then it is done.
        world.take_up().unwrap();
        world.drive(task);
        assert!(begun(world.kernel(), task) > before, "{kind}");
        assert_ne!(world.files(), files, "{kind}");
    }
}

/// A change of the folder by somebody else, after the yes.
type Meddling = (&'static str, fn(&World));

/// Nothing is at the place, as before, so the yes holds; the act is begun, and fails.
const HOPELESS: &str = "its folder is a file";

/// Every way in which a file, its folder, or a free place can become another.
fn meddlings(of: &str) -> Vec<Meddling> {
    let [file, folder, place]: [Vec<Meddling>; 3] = [
        vec![
            ("other bytes, as many", |w| w.file("a.txt", "two")),
            ("longer", |w| w.file("a.txt", "one and more")),
            ("emptied", |w| w.file("a.txt", "")),
            ("gone", |w| std::fs::remove_file(w.path("a.txt")).unwrap()),
            ("a folder now", |w| {
                std::fs::remove_file(w.path("a.txt")).unwrap();
                std::fs::create_dir(w.path("a.txt")).unwrap();
            }),
            ("a link to the same bytes", |w| {
                std::fs::rename(w.path("a.txt"), w.path("kept/real")).unwrap();
                std::os::unix::fs::symlink("kept/real", w.path("a.txt")).unwrap();
            }),
            ("a link that leads out", |w| {
                std::fs::remove_file(w.path("a.txt")).unwrap();
                std::os::unix::fs::symlink("/etc/hostname", w.path("a.txt")).unwrap();
            }),
        ],
        vec![
            ("other bytes", |w| w.file("kept/b.txt", "TWO")),
            ("gone", |w| std::fs::remove_file(w.path("kept/b.txt")).unwrap()),
            ("the folder is a link to one that looks the same", |w| {
                std::fs::rename(w.path("kept"), w.path("real")).unwrap();
                std::os::unix::fs::symlink("real", w.path("kept")).unwrap();
            }),
            ("the folder is a link that leads out", |w| {
                let out = w.store.path().join("out");
                std::fs::rename(w.path("kept"), &out).unwrap();
                std::os::unix::fs::symlink(&out, w.path("kept")).unwrap();
            }),
        ],
        vec![
            ("a file", |w| w.file("new/c.txt", "theirs")),
            ("a folder", |w| std::fs::create_dir_all(w.path("new/c.txt")).unwrap()),
            ("a link", |w| {
                std::fs::create_dir(w.path("new")).unwrap();
                std::os::unix::fs::symlink("/etc/hostname", w.path("new/c.txt")).unwrap();
            }),
            (HOPELESS, |w| w.file("new", "theirs")),
            ("its folder is a link that leads out", |w| {
                std::os::unix::fs::symlink(w.store.path(), w.path("new")).unwrap();
            }),
        ],
    ];
    match of {
        "create" => place,
        "delete" => folder,
        "overwrite" | "move" => file,
        _ => [file, folder].concat(),
    }
}

/// What lies in the folder, links as what they say, their targets with it.
fn everything(world: &World) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut open = vec![world.folder.path().to_owned(), world.store.path().join("out")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let kind = path.symlink_metadata().unwrap().file_type();
            if kind.is_dir() {
                open.push(path.clone());
            }
            let says = match () {
                () if kind.is_symlink() => format!("-> {}", std::fs::read_link(&path).unwrap().display()),
                () if kind.is_file() => std::fs::read_to_string(&path).unwrap(),
                () => "a folder".to_owned(),
            };
            found.push((path, says));
        }
    }
    found.sort();
    found
}

#[conforms::conforms("HK-6.2-5")]
#[test]
fn whatever_somebody_changes_in_the_folder_after_the_yes_nothing_is_done_on_it() {
    for (kind, answers) in acts() {
        for (n, (what, meddle)) in meddlings(kind).into_iter().enumerate() {
            let (world, task, _) = allowed(1_200 + n as u64, answers.clone());
            let before = begun(world.kernel(), task);
            meddle(&world);
            let theirs = everything(&world);
            let standing = world.kernel().drive(task);
            assert_eq!(everything(&world), theirs, "{kind}, {what}");
            if what == HOPELESS {
                continue;
            }
            assert_eq!(begun(world.kernel(), task), before, "{kind}, {what}: {standing:?}");
            assert_eq!(
                count(world.kernel(), task, "approval.invalidated"),
                1,
                "{kind}, {what}: {standing:?}"
            );
        }
    }
}

#[test]
fn whatever_becomes_of_the_authority_after_the_yes_nothing_is_done_on_it() {
    let changes: [(&str, fn(&World, TaskId)); 6] = [
        ("the packet's time has run out", |w, _| w.clock.advance(8 * 24 * 3_600_000)),
        ("a rule of the project", |w, _| w.file(".hermit/policy.rules", "ask FileEdit(**)\n")),
        ("my own rule", |w, _| {
            std::fs::write(w.store.path().join("policy.rules"), "ask FileEdit(**)\n").unwrap();
        }),
        ("the gate is halted", |w, _| w.kernel().halt("test").unwrap()),
        ("the task is paused", |w, task| w.kernel().pause(task).unwrap()),
        ("the task is cancelled", |w, task| w.kernel().cancel(task, "test").unwrap()),
    ];
    for (kind, answers) in acts() {
        for (n, (what, change)) in changes.iter().enumerate() {
            let (world, task, _) = allowed(1_300 + n as u64, answers.clone());
            let (before, files) = (begun(world.kernel(), task), everything(&world));
            change(&world, task);
            let standing = world.kernel().drive(task);
            assert_eq!(begun(world.kernel(), task), before, "{kind}, {what}: {standing:?}");
            let rules = world.folder.path().join(".hermit");
            let now = everything(&world).into_iter().filter(|(path, _)| !path.starts_with(&rules));
            assert_eq!(now.collect::<Vec<_>>(), files, "{kind}, {what}");
        }
    }
}
