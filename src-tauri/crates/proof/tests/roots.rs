//! Roots of conversations and of memory in a bundle: what they prove to a stranger, and every way in which they could lie.

use crate::twin::agree;
use crate::world::World;
use crate::world::tools::{Bench, Files, Power, files_of, repair, zip_of};
use proof::{Report, Scope, Trust, Verdict, export_to};
use seal::Signer as _;
use serde_json::{Value, json};

const SUBJECTS: &str = "state/subjects.jsonl";

fn rooted(acts: usize) -> World {
    let mut world = World::new(acts, 1);
    world.root();
    world
}

fn bundle(world: &World, scope: Scope) -> Files {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle");
    let options = proof::Options { scope, ..World::everything() };
    export_to(world, world.signers(), world.task, &options, &path).unwrap();
    files_of(&path)
}

/// What both verifiers say, which is the same.
fn verified(world: &World, files: &Files) -> Report {
    let bytes = zip_of(files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())));
    let trust = Trust::from(world.keys.manifest.public());
    let report = Bench::new().verify(&bytes, std::slice::from_ref(&trust));
    let valid = usize::from(report.verdict == Verdict::Valid);
    if let Some(twin) = agree(&[("the bundle".to_owned(), bytes)], &trust) {
        assert_eq!(twin, valid);
    }
    report
}

/// What an insider with the manifest key makes of the lines about roots.
fn forged(world: &World, files: &Files, change: impl FnOnce(&mut Vec<Value>)) -> Files {
    let text = String::from_utf8(files[SUBJECTS].clone()).unwrap();
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    change(&mut lines);
    let text: Vec<u8> = lines
        .iter()
        .flat_map(|line| [seal::canon::canonical_value(line).unwrap(), b"\n".to_vec()])
        .flatten()
        .collect();
    let mut files = files.clone();
    files.insert(SUBJECTS.to_owned(), text);
    repair(&mut files, Power::Manifest, world);
    files
}

#[conforms::conforms(part = "HV-3.6-1")]
#[test]
fn a_bundle_proves_the_roots_of_its_conversation_and_of_memory() {
    let world = rooted(2);
    for (scope, here) in [(Scope::Task, None), (Scope::Span { first: 2, last: 3 }, Some(0))] {
        let report = verified(&world, &bundle(&world, scope));
        assert_eq!(report.verdict, Verdict::Valid, "{report}");
        let said: Vec<&String> = report.proven.iter().filter(|said| said.contains("signed a root")).collect();
        assert_eq!(said.len(), 3, "{:?}", report.proven);
        let messages = world.events.iter().filter(|bytes| {
            let kind = model::Event::from_bytes(bytes).unwrap().event_type;
            ["receipt.issued", "approval.requested", "attempt.terminated"].contains(&kind.as_str())
        });
        let all = messages.count();
        assert!(all > 2);
        let here = here.unwrap_or(all);
        let told = format!("{all} messages of cnv_");
        assert!(
            said[0].contains(&told) && said[0].contains(&format!("{here} of them are events")),
            "{said:?}"
        );
        assert!(said[1].contains("2 records of memory in force in project") || said[2].contains("2 records"));
    }
    let receipt = bundle(&world, Scope::Receipt(world.receipts[0]));
    assert!(receipt.keys().all(|name| !name.starts_with("state/")), "one receipt is small");
}

#[test]
fn roots_that_lie_are_refused_whoever_signed_the_list_of_files() {
    let world = rooted(2);
    let files = bundle(&world, Scope::Task);
    let conversation =
        |lines: &mut Vec<Value>| lines.iter().position(|one| one["leaves"][2] != Value::Null).unwrap();
    type Lie = Box<dyn FnOnce(&mut Vec<Value>)>;
    let lies: [(&str, Lie); 8] = [
        (
            "a message is left out",
            Box::new(move |lines| {
                let at = conversation(lines);
                lines[at]["leaves"].as_array_mut().unwrap().pop();
            }),
        ),
        (
            "and counted less",
            Box::new(move |lines| {
                let at = conversation(lines);
                lines[at]["leaves"].as_array_mut().unwrap().pop();
                lines[at]["size"] = json!(lines[at]["leaves"].as_array().unwrap().len());
            }),
        ),
        (
            "two messages change places",
            Box::new(move |lines| {
                let at = conversation(lines);
                lines[at]["leaves"].as_array_mut().unwrap().swap(0, 1);
            }),
        ),
        (
            "another root for the leaves that are left",
            Box::new(move |lines| {
                let at = conversation(lines);
                lines[at]["leaves"].as_array_mut().unwrap().pop();
                let left: Vec<seal::Digest> = serde_json::from_value(lines[at]["leaves"].clone()).unwrap();
                lines[at]["size"] = json!(left.len());
                lines[at]["root"] = json!(seal::merkle::root(&left));
            }),
        ),
        ("the root of another subject", Box::new(|lines| lines[0]["subject"] = json!("memory:everywhere"))),
        ("a path that leads elsewhere", Box::new(|lines| lines[0]["path"][0] = json!(seal::Digest::ZERO))),
        ("another place", Box::new(|lines| lines[0]["index"] = json!(2))),
        ("a line twice", Box::new(|lines| lines.push(lines.last().unwrap().clone()))),
    ];
    for (what, lie) in lies {
        let report = verified(&world, &forged(&world, &files, lie));
        let Verdict::Invalid { place, .. } = &report.verdict else { panic!("{what}: {report}") };
        assert!(place.starts_with(SUBJECTS), "{what}: {place}");
    }
}

#[test]
fn roots_that_are_not_whole_or_of_another_log_are_refused() {
    let world = rooted(2);
    let files = bundle(&world, Scope::Task);
    let names: Vec<String> = files.keys().filter(|name| name.starts_with("state/")).cloned().collect();
    assert_eq!(names.len(), 4);
    for name in &names {
        let mut less = files.clone();
        less.remove(name);
        repair(&mut less, Power::Manifest, &world);
        let report = verified(&world, &less);
        assert!(
            matches!(&report.verdict, Verdict::Invalid { place, .. } if place == name),
            "{name}: {report}"
        );
    }
    // The roots of another store, or of another moment that this log never covered.
    let other = rooted(3);
    let theirs = bundle(&other, Scope::Task);
    let mut mixed = files.clone();
    mixed.extend(names.iter().map(|name| (name.clone(), theirs[name].clone())));
    repair(&mut mixed, Power::Manifest, &world);
    let report = verified(&world, &mixed);
    assert!(
        matches!(&report.verdict, Verdict::Invalid { place, .. } if place.starts_with("state/")),
        "{report}"
    );
}

#[test]
fn a_log_that_leaves_out_a_message_of_the_task_or_says_it_twice_is_refused() {
    type Lie = fn(&mut Vec<seal::Digest>);
    let lies: [(&str, Lie, &str); 3] = [
        (
            "left out",
            |all| {
                all.remove(1);
            },
            "missing before",
        ),
        ("twice", |all| all.push(all[0]), "twice"),
        ("in another order", |all| all.swap(0, 1), "in the order"),
    ];
    for (what, lie, says) in lies {
        let mut world = World::new(2, 1);
        world.root_of(lie);
        let report = verified(&world, &bundle(&world, Scope::Task));
        let Verdict::Invalid { place, why } = &report.verdict else { panic!("{what}: {report}") };
        assert!(place.starts_with(SUBJECTS) && why.contains(says), "{what}: {place}: {why}");
    }
    // What came after the root is none of its leaves.
    let mut world = World::new(2, 1);
    world.root_of(|all| {
        all.pop();
    });
    assert_eq!(verified(&world, &bundle(&world, Scope::Task)).verdict, Verdict::Valid);
}
