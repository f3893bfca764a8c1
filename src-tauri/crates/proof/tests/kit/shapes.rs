//! Bundles that are put together wrongly: heads of something else, and files that belong to another scope.

use super::mended::whole;
use super::vectors::{INVALID, Maker, exported};
use crate::world::World;
use crate::world::tools::{Files, Power, repair};
use proof::{Options, Scope};
use seal::merkle::empty_root;
use seal::note::{Checkpoint, Note};
use seal::tlog_proof::TlogProof;
use seal::{Digest, SeedSigner, Signer as _, dsse};
use serde_json::Value;

/// The files with these taken out, put in or changed, as far as two keys can make it look right.
fn with(world: &World, files: &Files, change: impl FnOnce(&mut Files)) -> Files {
    let mut files = files.clone();
    change(&mut files);
    repair(&mut files, Power::Receipt, world);
    files
}

pub fn heads(maker: &mut Maker) {
    let (world, files) = whole();
    let (log, task, gate) = ("log/checkpoint", "task/checkpoint.tlog-proof", "gate/checkpoint.tlog-proof");
    let origin = format!("hermit.local/{}", world.log_id);
    let under = |name: &str, head: &Note| {
        let TlogProof { index, hashes, .. } = TlogProof::parse(&files[name]).unwrap();
        TlogProof::new(index, hashes, head.clone()).to_text().into_bytes()
    };
    let other = Checkpoint::new(&origin, 9, Digest::of(b"another")).sign(&world.keys.log).unwrap();
    let elsewhere = with(&world, &files, |files| drop(files.insert(task.to_owned(), under(task, &other))));
    let word = "it leads to another checkpoint than the one in the bundle";
    maker.files("head", "a proof under another head", INVALID, word, &elsewhere);
    let none = Checkpoint::new(&origin, 0, empty_root()).sign(&world.keys.log).unwrap();
    let empty = with(&world, &files, |files| {
        files.extend([task, gate].map(|name| (name.to_owned(), under(name, &none))));
        files.insert(log.to_owned(), none.to_bytes());
    });
    maker.files("head", "a head of nothing", INVALID, "it signs an empty tree", &empty);
    let another = with(&world, &files, |files| {
        let text = String::from_utf8(files["task/events.jsonl"].clone()).unwrap();
        let (before, last) = text.trim_end().rsplit_once('\n').unwrap();
        let mut event: Value = serde_json::from_str(last).unwrap();
        event["correlation_id"] = "another".into();
        let last = String::from_utf8(seal::canon::canonical_value(&event).unwrap()).unwrap();
        files.insert("task/events.jsonl".to_owned(), format!("{before}\n{last}\n").into_bytes());
    });
    let word = "its events do not give the root that was signed";
    maker.files("head", "another last event", INVALID, word, &another);
}

pub fn spans(maker: &mut Maker) {
    let (world, _) = whole();
    let scope = Scope::Span { first: 2, last: 4 };
    let span = exported(&world, &Options { scope, ..Options::default() });
    let without = |names: &[&str]| {
        with(&world, &span, |files| files.retain(|name, _| !names.iter().any(|one| name.starts_with(*one))))
    };
    let (event, place) = ("task/events/3.json", "task/proofs.tlog-proof/3");
    for (what, word, files) in [
        ("a span without an event", "of an event that is not here", without(&[event])),
        ("a span without an event and its place", "are what it is about, no fewer", without(&[event, place])),
        ("a span without the place of an event", "it is missing", without(&[place])),
        (
            "a span without events",
            "the events it is about are missing",
            without(&["task/events/", "task/proofs.tlog-proof/"]),
        ),
    ] {
        maker.files("events", what, INVALID, word, &files);
    }
}

pub fn gates(maker: &mut Maker) {
    let (world, files) = whole();
    let number = |name: &&String| name.rsplit('/').next().and_then(|last| last.parse::<u64>().ok());
    let proofs = files.keys().filter(|name| name.starts_with("gate/proofs.tlog-proof/"));
    let last = proofs.max_by_key(number).unwrap();
    let less = with(&world, &files, |files| drop(files.remove(last)));
    maker.files("gate", "the last entry without its place", INVALID, "no proof of its place is here", &less);
    let headless = with(&world, &files, |files| {
        files.retain(|name, _| name != "gate/entries.jsonl" && !name.starts_with("gate/proofs"));
    });
    let word = "there are no entries it could be the head of";
    maker.files("gate", "a head without entries", INVALID, word, &headless);
}

pub fn receipts(maker: &mut Maker) {
    let (world, files) = whole();
    let name = files.keys().find(|name| name.starts_with("receipts/")).unwrap().clone();
    let bare = name.replace(".dsse.json", ".json");
    // What the receipt discloses would open nothing any more.
    let missing = with(&world, &files, |files| {
        files.retain(|one, _| *one != name && !one.starts_with("disclosures/"));
    });
    maker.files("trust", "without a receipt that an event records", &[7], "which event", &missing);
    let payload = dsse::Envelope::parse(&files[&name]).unwrap().payload;
    let other = with(&world, &files, |files| {
        let mut said: Value = serde_json::from_slice(&payload).unwrap();
        said["predicate"]["replay_class"] = "another".into();
        let said = seal::canon::canonical_value(&said).unwrap();
        let signed = dsse::sign(dsse::IN_TOTO, &said, &world.keys.receipt).unwrap().to_bytes().unwrap();
        files.insert(name.clone(), signed);
    });
    maker.files("receipt", "signed again, saying otherwise", INVALID, "records other bytes", &other);
    let twice = with(&world, &files, |files| drop(files.insert(bare.clone(), payload.clone())));
    maker.files("receipt", "the same receipt twice", INVALID, "the same receipt is there twice", &twice);
}

/// One receipt alone.
pub fn alone(maker: &mut Maker) {
    let (world, whole) = whole();
    let scope = Scope::Receipt(world.receipts[0]);
    let files = exported(&world, &Options { scope, ..Options::default() });
    let name = files.keys().find(|name| name.starts_with("receipts/")).unwrap().clone();
    let bare = name.replace(".dsse.json", ".json");
    let entries = String::from_utf8(whole["gate/entries.jsonl"].clone()).unwrap();
    let own = String::from_utf8(files["gate/entries.jsonl"].clone()).unwrap();
    let stray = entries.lines().find(|line| *line != own.trim_end()).unwrap();
    let changes = [
        (
            "alone, without its receipt",
            "a bundle without a statement is about one receipt",
            with(&world, &files, |files| drop(files.remove(&name))),
        ),
        (
            "alone, signed by nobody",
            "it is a receipt that nobody signed, in a store with keys",
            with(&world, &files, |files| {
                let bytes = files.remove(&name).unwrap();
                files.insert(bare.clone(), bytes);
            }),
        ),
        (
            "alone, without places",
            "the receipt's event has no place",
            with(&world, &files, |files| files.retain(|name, _| !name.starts_with("task/proofs"))),
        ),
        (
            "alone, with a lineage",
            "the bundle of one receipt alone has no such file",
            with(&world, &files, |files| drop(files.insert("prov.json".to_owned(), b"{}".to_vec()))),
        ),
        (
            "alone, with an entry of something else",
            "the receipt does not name the entry",
            with(&world, &files, |files| {
                let both = format!("{own}{stray}\n").into_bytes();
                files.insert("gate/entries.jsonl".to_owned(), both);
            }),
        ),
    ];
    for (what, word, files) in changes {
        maker.files("receipt", what, INVALID, word, &files);
    }
}

pub fn revoked(maker: &mut Maker) {
    let (world, files) = whole();
    let [key, by] = [150, 151].map(|seed| SeedSigner::from_seed([seed; 32]));
    let said = seal::succession::Revocation {
        log_id: world.log_id.clone(),
        purpose: "log".to_owned(),
        key: key.public(),
        by: by.public(),
    };
    let note = said.note(&said.sign(&by).unwrap()).unwrap().to_bytes();
    let files = with(&world, &files, |files| drop(files.insert("keys/revocations/1.note".to_owned(), note)));
    let word = "it is about keys that are none of this bundle's";
    maker.files("rotation", "strangers' keys revoked", INVALID, word, &files);
}

pub fn keyless(maker: &mut Maker) {
    let world = World::without_keys(1);
    let files = exported(&world, &World::everything());
    for (what, name, word) in [
        ("without keys, with a key that followed", "keys/rotations/1.note", "has no such file"),
        ("without keys, with a head of the gate", "gate/checkpoint", "has no such file"),
        ("without keys, with a place of an entry", "gate/proofs.tlog-proof/1", ""),
    ] {
        let mut more = files.clone();
        more.insert(name.to_owned(), b"x\n".to_vec());
        repair(&mut more, Power::Sums, &world);
        maker.files("keys", what, INVALID, word, &more);
    }
}

/// Roots that are about something else.
pub fn roots(maker: &mut Maker) {
    let mut world = World::new(2, 1);
    world.root();
    let files = exported(&world, &World::everything());
    let subjects = String::from_utf8(files["state/subjects.jsonl"].clone()).unwrap();
    let mut lines: Vec<Value> = subjects.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let line =
        lines.iter_mut().find(|line| line["leaves"].as_array().is_some_and(|all| all.len() > 1)).unwrap();
    line["leaves"].as_array_mut().unwrap().pop();
    line["size"] = line["leaves"].as_array().unwrap().len().into();
    let text =
        lines.iter().flat_map(|line| [seal::canon::canonical_value(line).unwrap(), b"\n".to_vec()].concat());
    let text: Vec<u8> = text.collect();
    let fewer = with(&world, &files, |files| drop(files.insert("state/subjects.jsonl".to_owned(), text)));
    let word = "its leaves do not give the root that was stated";
    maker.files("state", "a leaf left out", INVALID, word, &fewer);
    let other = with(&world, &files, |files| {
        drop(files.insert("state/rooted.json".to_owned(), world.events[0].clone()))
    });
    maker.files(
        "state",
        "an event that states no roots",
        INVALID,
        "it is no event that states roots",
        &other,
    );
}
