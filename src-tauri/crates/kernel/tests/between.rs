//! Between a yes and the act: whatever changes there, the old yes does nothing.
//!
//! What was said is changed field by field, as its JSON shows them, so that a field that comes later is tried too. Acts of
//! every kind that a person is asked about are in [`acts`]; what somebody else may do meanwhile is in [`meddlings`].
//! Every field of every object is also tried against `governance` itself, without a kernel around it, in its own tests.

use crate::story::{count, state};
use kernel::Kernel;
use kernel::command::submit::{Reasoning, Submission};
use model::artifact::ArtifactKind;
use model::policy::Profile;
use model::proposal::Answer;
use model::{ApprovalId, TaskId};
use rusqlite::Connection;
use seal::Digest;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use testkit::{Answers, Server, World, change, done, fetch, look, say, write};

/// What binds a yes to an act.
const BINDING: [ArtifactKind; 5] = [
    ArtifactKind::ActionRequest,
    ArtifactKind::PolicyResult,
    ArtifactKind::ApprovalPacket,
    ArtifactKind::ApprovalDecision,
    ArtifactKind::StateWitness,
];

/// A kind of act, and the answers of a model that lead to it in a folder with `a.txt`, `kept/b.txt` and a repository.
/// Where it says `SERVER` stands the one server there is.
fn acts() -> Vec<(&'static str, Vec<Answer>)> {
    let put = json!({ "method": "PUT", "url": "SERVER/note", "body": "mine",
        "headers": [{ "name": "Accept", "value": "text/plain" }] });
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
        ("fetch", vec![fetch("GET", "SERVER/page?q=1", None)]),
        ("send", vec![fetched(), say("fetch", put)]),
        ("commit", vec![say("commit", json!({ "paths": ["a.txt", "kept/b.txt"], "message": "one\n\ntwo" }))]),
        ("branch", vec![say("branch", json!({ "name": "topic/x" }))]),
        ("tag", vec![say("tag", json!({ "name": "v1" }))]),
        ("move_ref", vec![say("move_ref", json!({ "name": OLD, "to": "d".repeat(40), "force": true }))]),
        ("delete_ref", vec![say("delete_ref", json!({ "name": OLD }))]),
    ]
}

/// Acts that come to a file, which a test of the folder can see.
fn is_of_files(kind: &str) -> bool {
    !matches!(kind, "fetch" | "send" | "commit" | "branch" | "tag" | "move_ref" | "delete_ref")
}

/// A look at what is replaced later: nobody is asked about it here, and it tells the version.
fn fetched() -> Answer {
    fetch("GET", "SERVER/note", None)
}

/// A branch that nobody has checked out.
const OLD: &str = "refs/heads/old";

fn at(world: &World, letter: char) {
    world.file(".git/refs/heads/main", &format!("{}\n", letter.to_string().repeat(40)));
}

/// A server whose pages have a version.
fn server() -> Server {
    Server::begin(|_| Answers::With(200, vec![("ETag", "\"v1\"".to_owned())], "text".to_owned()))
}

/// A world in which this act was allowed and has not begun.
struct Stage {
    world: World,
    task: TaskId,
    approval: ApprovalId,
    server: Server,
}

fn allowed(seed: u64, kind: &str, answers: &[Answer]) -> Stage {
    let (world, server) = (World::new(seed), server());
    world.file("a.txt", "one");
    world.file("kept/b.txt", "two");
    world.file(".git/HEAD", "ref: refs/heads/main\n");
    at(&world, 'a');
    world.file(&format!(".git/{OLD}"), &format!("{}\n", "e".repeat(40)));
    let there = |answer: &Answer| -> Answer {
        let text = serde_json::to_string(answer).unwrap().replace("SERVER", &server.url(""));
        serde_json::from_str(&text).unwrap()
    };
    // Whoever is asked again gives up, so that one yes is all there is.
    let says: Vec<Answer> = answers.iter().map(there).chain([done("gave up")]).collect();
    world.reasoners.script("act", says);
    let profile = if is_of_files(kind) { Profile::LocalEditAllowed } else { Profile::ExternalPublishGated };
    let submission = world.submission("act", Reasoning::Scripted { name: "act".to_owned() });
    let task = world.kernel().submit(&Submission { profile, ..submission }).unwrap().task_id;
    let mut approval = world.drive_to_approval(task);
    if kind == "send" {
        world.person.allow(world.kernel(), task, approval).unwrap();
        approval = world.drive_to_approval(task);
    }
    world.person.allow(world.kernel(), task, approval).unwrap();
    Stage { world, task, approval, server }
}

/// Effects other than looking that were begun.
fn begun(kernel: &Kernel, task: TaskId) -> usize {
    count(kernel, task, "effect.dispatched")
}

/// The digests and bytes of the objects that bind a yes; not those of what was looked at before.
fn bindings(world: &World, task: TaskId, approval: ApprovalId) -> Vec<(ArtifactKind, Digest, Value)> {
    let state = state(world, task);
    let record = &state.approvals[&approval];
    let asked = &record.approval;
    let envelope = record.envelope.as_ref().expect("a yes").artifact_id;
    let bound = state.artifacts.values().filter(|artifact| match artifact.kind {
        ArtifactKind::ActionRequest => artifact.artifact_id == asked.requested_action_ref,
        ArtifactKind::PolicyResult => artifact.artifact_id == asked.policy_result_ref,
        // An act before this one had a packet and a yes of its own.
        ArtifactKind::ApprovalPacket => artifact.artifact_id == asked.approval_packet_ref,
        ArtifactKind::ApprovalDecision => artifact.artifact_id == envelope,
        kind => BINDING.contains(&kind),
    });
    let read = |digest: &Digest| world.kernel().artifacts().read(digest).unwrap();
    let objects = bound.map(|artifact| {
        let digest = state.digest_of(artifact.artifact_id).unwrap();
        (artifact.kind, digest, serde_json::from_slice(&read(&digest)).unwrap())
    });
    objects.collect()
}

/// Pointers to every leaf of an object, and to every object in it, which may be given one member more: an optional
/// field that is absent is none of the leaves.
fn leaves(at: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            found.push(at.to_owned());
            map.iter().for_each(|(k, v)| leaves(&format!("{at}/{k}"), v, found));
        }
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
        Value::Object(members) => {
            let optional = ["if_match", "staged", "not_staged", "instead_of", "max_uses", "mode"];
            let more = optional.into_iter().find(|name| !members.contains_key(*name)).expect("one is absent");
            Value::Object(members.clone().into_iter().chain([(more.to_owned(), json!("x"))]).collect())
        }
        Value::Array(_) => unreachable!("a leaf"),
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
        let Stage { mut world, task, approval, server } = allowed(1_100 + n as u64, kind, &answers);
        let (files, before) = (world.files(), begun(world.kernel(), task));
        let heard = server.heard().len();
        let bindings = bindings(&world, task, approval);
        // A look at a server has nothing that could be observed again.
        for wanted in
            BINDING.into_iter().filter(|wanted| kind != "fetch" || *wanted != ArtifactKind::StateWitness)
        {
            assert!(bindings.iter().any(|(kind, ..)| *kind == wanted), "{kind}: no {wanted:?}");
        }
        world.crash();
        let file = world.store.path().join(ledger::FILE);
        let master: PathBuf = world.store.path().join("master");
        std::fs::copy(&file, &master).unwrap();
        for (bound, digest, object) in bindings {
            let mut pointers = Vec::new();
            leaves("", &object, &mut pointers);
            // One kind whole, of the others what is done wherever it stands, and every fourth of the rest.
            let tried = pointers.into_iter().enumerate();
            let tried =
                tried.filter(|(at, pointer)| n == 0 || at % 4 == n % 4 || pointer.contains("/action/"));
            for (_, pointer) in tried {
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
                assert_eq!(server.heard().len(), heard, "{kind}, {bound:?}{pointer}");
                std::fs::copy(&master, &file).unwrap();
            }
        }
        // Nothing changed: then it is done.
        world.take_up().unwrap();
        world.drive(task);
        assert!(begun(world.kernel(), task) > before, "{kind}");
        let sends = matches!(kind, "fetch" | "send");
        assert_eq!(server.heard().len(), heard + usize::from(sends), "{kind}");
        // There are no walls in this world, and version control is not changed without.
        assert_eq!(world.files() != files, is_of_files(kind), "{kind}");
    }
}

/// A change of the folder by somebody else, after the yes.
type Meddling = (&'static str, fn(&World));

/// Nothing is at the place, as before, so the yes holds; the act is begun, and fails.
const HOPELESS: &str = "its folder is a file";

/// Every way in which a file, its folder, or a free place can become a link.
#[cfg(unix)]
fn links() -> [Vec<Meddling>; 3] {
    fn link(w: &World, to: impl AsRef<Path>, at: &str) {
        std::os::unix::fs::symlink(to, w.path(at)).unwrap();
    }
    [
        vec![
            ("a link to the same bytes", |w| {
                std::fs::rename(w.path("a.txt"), w.path("kept/real")).unwrap();
                link(w, "kept/real", "a.txt");
            }),
            ("a link that leads out", |w| {
                std::fs::remove_file(w.path("a.txt")).unwrap();
                link(w, "/etc/hostname", "a.txt");
            }),
        ],
        vec![
            ("the folder is a link to one that looks the same", |w| {
                std::fs::rename(w.path("kept"), w.path("real")).unwrap();
                link(w, "real", "kept");
            }),
            ("the folder is a link that leads out", |w| {
                let out = w.store.path().join("out");
                std::fs::rename(w.path("kept"), &out).unwrap();
                link(w, &out, "kept");
            }),
        ],
        vec![
            ("a link", |w| {
                std::fs::create_dir(w.path("new")).unwrap();
                link(w, "/etc/hostname", "new/c.txt");
            }),
            ("its folder is a link that leads out", |w| link(w, w.store.path(), "new")),
        ],
    ]
}

/// Not everybody may make a link here.
#[cfg(windows)]
fn links() -> [Vec<Meddling>; 3] {
    Default::default()
}

/// Every way in which a file, its folder, or a free place can become another.
fn meddlings(of: &str) -> Vec<Meddling> {
    let [mut file, mut folder, mut place]: [Vec<Meddling>; 3] = [
        vec![
            ("other bytes, as many", |w| w.file("a.txt", "two")),
            ("longer", |w| w.file("a.txt", "one and more")),
            ("emptied", |w| w.file("a.txt", "")),
            ("gone", |w| std::fs::remove_file(w.path("a.txt")).unwrap()),
            ("a folder now", |w| {
                std::fs::remove_file(w.path("a.txt")).unwrap();
                std::fs::create_dir(w.path("a.txt")).unwrap();
            }),
        ],
        vec![
            ("other bytes", |w| w.file("kept/b.txt", "TWO")),
            ("gone", |w| std::fs::remove_file(w.path("kept/b.txt")).unwrap()),
        ],
        vec![
            ("a file", |w| w.file("new/c.txt", "theirs")),
            ("a folder", |w| std::fs::create_dir_all(w.path("new/c.txt")).unwrap()),
            (HOPELESS, |w| w.file("new", "theirs")),
        ],
    ];
    for (known, more) in [&mut file, &mut folder, &mut place].into_iter().zip(links()) {
        known.extend(more);
    }
    match of {
        "fetch" | "send" => Vec::new(),
        "commit" => [file, folder, of_refs(of)].concat(),
        "create" => place,
        "delete" => folder,
        "overwrite" | "move" => file,
        "change set" => [file, folder].concat(),
        _ => of_refs(of),
    }
}

/// The same of branches and tags.
fn of_refs(of: &str) -> Vec<Meddling> {
    let moved: Vec<Meddling> = vec![
        ("the branch is elsewhere", |w| at(w, 'b')),
        ("the branch is gone", |w| std::fs::remove_file(w.path(".git/refs/heads/main")).unwrap()),
        ("the branch is elsewhere, packed", |w| {
            std::fs::remove_file(w.path(".git/refs/heads/main")).unwrap();
            w.file(".git/packed-refs", &format!("{} refs/heads/main\n", "c".repeat(40)));
        }),
        ("refs are kept otherwise", |w| std::fs::create_dir(w.path(".git/reftable")).unwrap()),
    ];
    match of {
        "commit" => moved,
        "branch" => vec![
            ("somebody has that name", |w| w.file(".git/refs/heads/topic/x", &"b".repeat(40))),
            ("somebody has that name, packed", |w| {
                w.file(".git/packed-refs", &format!("{} refs/heads/topic/x\n", "c".repeat(40)));
            }),
        ],
        "move_ref" | "delete_ref" => vec![
            ("it is elsewhere", |w| w.file(".git/refs/heads/old", &"b".repeat(40))),
            ("it is gone", |w| std::fs::remove_file(w.path(".git/refs/heads/old")).unwrap()),
            ("refs are kept otherwise", |w| std::fs::create_dir(w.path(".git/reftable")).unwrap()),
        ],
        "tag" => vec![("somebody has that name", |w| w.file(".git/refs/tags/v1", &"b".repeat(40)))],
        other => panic!("`{other}` is no act of version control"),
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
            let Stage { world, task, .. } = allowed(1_200 + n as u64, kind, &answers);
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
            let Stage { world, task, server, .. } = allowed(1_300 + n as u64, kind, &answers);
            let (before, files) = (begun(world.kernel(), task), everything(&world));
            let heard = server.heard().len();
            change(&world, task);
            let standing = world.kernel().drive(task);
            assert_eq!(begun(world.kernel(), task), before, "{kind}, {what}: {standing:?}");
            assert_eq!(server.heard().len(), heard, "{kind}, {what}: {standing:?}");
            let rules = world.folder.path().join(".hermit");
            let now = everything(&world).into_iter().filter(|(path, _)| !path.starts_with(&rules));
            assert_eq!(now.collect::<Vec<_>>(), files, "{kind}, {what}");
        }
    }
}
