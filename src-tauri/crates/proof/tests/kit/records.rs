//! What records may not say, whoever signed them: those of the tests of each, and some more.

use super::mended::whole;
use super::vectors::{INVALID, Maker, REFUSED, VALID, exported};
use crate::blocks::in_a_block;
use crate::twin::{chains, followed};
use crate::world::tools::{Files, Power, repair};
use crate::world::{World, answers, dual, passkeys, standing};
use model::anchor::AnchorClock;
use proof::{Options, Scope};
use seal::{Digest, SeedSigner};
use serde_json::{Value, json};

pub fn said(maker: &mut Maker) {
    for (group, said) in crate::twin::said::all() {
        let class = match group {
            "effect" => "gate",
            "receipt" => "receipt",
            "statement" => "statement",
            "event" => "events",
            "authority" => "authority",
            _ => "list",
        };
        for (what, word, files) in said {
            let codes = if word.is_some() { REFUSED } else { VALID };
            maker.files(class, &format!("{group}, {what}"), codes, word.unwrap_or_default(), &files);
        }
    }
    for (what, word, files) in chains::broken() {
        let class = if what.contains("entry") { "gate" } else { "events" };
        maker.files(class, what, INVALID, word, &files);
    }
}

/// Lines of the two files that have one for each record.
pub fn lines(maker: &mut Maker) {
    let (world, files) = whole();
    type Edit = fn(&mut Vec<Vec<u8>>);
    let edits: [(&str, Edit); 6] = [
        ("a line less", |lines| drop(lines.remove(0))),
        ("the last line less", |lines| drop(lines.pop())),
        ("a line twice", |lines| lines.insert(1, lines[0].clone())),
        ("two lines exchanged", |lines| lines.swap(0, 1)),
        ("a space in a record", |lines| {
            let text = String::from_utf8(lines[0].clone()).unwrap();
            lines[0] = text.replacen(':', ": ", 1).into_bytes();
        }),
        ("no newline at the end", |lines| {
            let last = lines.len() - 1;
            lines[last].pop();
        }),
    ];
    for (class, name) in [("events", "task/events.jsonl"), ("gate", "gate/entries.jsonl")] {
        for (what, edit) in edits {
            let mut lines: Vec<Vec<u8>> =
                files[name].split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            edit(&mut lines);
            let mut changed = files.clone();
            changed.insert(name.to_owned(), lines.concat());
            repair(&mut changed, Power::Receipt, &world);
            maker.files(class, what, INVALID, "", &changed);
        }
    }
    let proof = files.keys().find(|name| name.starts_with("gate/proofs")).unwrap();
    let entries = String::from_utf8(files["gate/entries.jsonl"].clone()).unwrap();
    let other = entries.replacen("\"intent\":\"", "\"intent\":\"x", 1);
    let changes: [(&str, &str, Option<Vec<u8>>, &str); 4] = [
        ("an entry without its proof", proof, None, ""),
        ("no entries", "gate/entries.jsonl", None, "it proves the place of an entry that is not here"),
        (
            "nothing in the file",
            "gate/entries.jsonl",
            Some(Vec::new()),
            "it has fewer entries than there are",
        ),
        ("an entry that was changed", "gate/entries.jsonl", Some(other.into_bytes()), "do not give the hash"),
    ];
    for (what, name, bytes, word) in changes {
        let mut changed = files.clone();
        match bytes {
            Some(bytes) => changed.insert(name.to_owned(), bytes),
            None => changed.remove(name),
        };
        repair(&mut changed, Power::Receipt, &world);
        maker.files("gate", what, INVALID, word, &changed);
    }
    let alone = Options { scope: Scope::Receipt(world.receipts[0]), ..Options::default() };
    let alone = exported(&world, &alone);
    let mut without = alone.clone();
    without.retain(|name, _| !name.starts_with("gate/"));
    repair(&mut without, Power::Receipt, &world);
    maker.files("trust", "one receipt alone without its entry", &[7], "the gate entry of receipt", &without);
    let mut twice = alone;
    let entry = &twice["gate/entries.jsonl"];
    let doubled = [entry.as_slice(), entry.as_slice()].concat();
    twice.insert("gate/entries.jsonl".to_owned(), doubled);
    repair(&mut twice, Power::Receipt, &world);
    maker.files("gate", "one entry twice in one receipt alone", INVALID, "the same entry stands", &twice);
}

/// What people said, as the tests of each way to say it have it.
pub fn cases(maker: &mut Maker) {
    let all = [
        ("authority", answers::cases()),
        ("passkey", passkeys::cases()),
        ("dual", dual::cases()),
        ("standing", standing::cases()),
    ];
    for (class, cases) in all {
        for case in cases {
            let files = exported(&case.world, &World::everything());
            let what =
                if class == "authority" { format!("an answer, {}", case.what) } else { case.what.to_owned() };
            maker.files(class, &what, &[case.code], case.word, &files);
        }
    }
}

pub fn content(maker: &mut Maker) {
    let (world, files) = whole();
    let digest = Digest::of(b"[]");
    let strange = [
        ("a disclosure of nothing", format!("disclosures/{digest}.json"), "it opens nothing in this bundle"),
        (
            "an artifact that nothing names",
            format!("artifacts/sha256/{}/{digest}", &digest.to_string()[..2]),
            "no event and no receipt of this bundle names it",
        ),
    ];
    for (what, name, word) in strange {
        let mut more = files.clone();
        more.insert(name, b"[]".to_vec());
        repair(&mut more, Power::Receipt, &world);
        maker.files("content", what, INVALID, word, &more);
    }
    let alone = Options { scope: Scope::Receipt(world.receipts[0]), ..Options::default() };
    let alone = exported(&world, &alone);
    let lines = String::from_utf8(alone["disclosures.jsonl"].clone()).unwrap();
    let backwards: String = lines.split_inclusive('\n').rev().collect();
    let mut more: Vec<&str> = lines.lines().chain(["[]"]).collect();
    more.sort_by_key(|line| Digest::of(line.as_bytes()));
    let more: String = more.iter().map(|line| format!("{line}\n")).collect();
    let changes = [
        ("disclosures in another order", backwards, "the lines are not in the order of their digests"),
        ("a disclosure of nothing in one receipt alone", more, "opens nothing"),
        ("disclosures cut off", lines.trim_end().to_owned(), "its final newline is missing"),
    ];
    for (what, text, word) in changes {
        let mut changed = alone.clone();
        changed.insert("disclosures.jsonl".to_owned(), text.into_bytes());
        repair(&mut changed, Power::Receipt, &world);
        maker.files("content", what, INVALID, word, &changed);
    }
}

pub fn rotation(maker: &mut Maker) {
    let key = |n: u8| SeedSigner::from_seed([n; 32]);
    let (world, files) = whole();
    let now = &world.keys.log;
    let id = world.log_id.as_str();
    let notes = [
        ("a key that followed another", VALID, "", followed(id, "log", &key(150), now)),
        (
            "keys of another log",
            INVALID,
            "it is about the keys of another log",
            followed("another", "log", &key(150), now),
        ),
        (
            "a way to another key",
            INVALID,
            "it does not lead to the key in force",
            followed(id, "log", &key(150), &key(151)),
        ),
    ];
    for (what, codes, word, note) in notes {
        let mut changed = files.clone();
        changed.insert("keys/rotations/1.note".to_owned(), note);
        repair(&mut changed, Power::Receipt, &world);
        maker.files("rotation", what, codes, word, &changed);
    }
}

pub fn state(maker: &mut Maker) {
    let mut world = World::new(2, 1);
    world.root();
    let files = exported(&world, &World::everything());
    maker.files("state", "roots of a conversation and of memory", VALID, "", &files);
    for name in files.keys().filter(|name| name.starts_with("state/")) {
        let mut less = files.clone();
        less.remove(name);
        repair(&mut less, Power::Manifest, &world);
        maker.files("state", &format!("without {name}"), INVALID, "it is missing", &less);
    }
    let subjects = "state/subjects.jsonl";
    let text = String::from_utf8(files[subjects].clone()).unwrap();
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut write = |what: &str, word: &str, lines: &[Value]| {
        let line = |line: &Value| [seal::canon::canonical_value(line).unwrap(), b"\n".to_vec()].concat();
        let mut changed = files.clone();
        changed.insert(subjects.to_owned(), lines.iter().flat_map(line).collect());
        repair(&mut changed, Power::Manifest, &world);
        maker.files("state", what, INVALID, word, &changed);
    };
    let twice: Vec<Value> = lines.iter().chain(lines.last()).cloned().collect();
    write("a line twice", "the lines are not in the order of their subjects", &twice);
    lines[0]["path"][0] = json!(Digest::ZERO);
    write("a path that leads elsewhere", "", &lines);
    type Lie = fn(&mut Vec<Digest>);
    let lies: [(&str, Lie, &str); 3] = [
        (
            "a message left out",
            |all| {
                all.remove(1);
            },
            "missing before",
        ),
        ("a message twice", |all| all.push(all[0]), "twice"),
        ("messages in another order", |all| all.swap(0, 1), "in the order"),
    ];
    for (what, lie, word) in lies {
        let mut world = World::new(2, 1);
        world.root_of(lie);
        maker.files("state", what, INVALID, word, &exported(&world, &World::everything()));
    }
}

/// A store whose instance said who it is, with a head and a link that a clock has.
fn stamped() -> (World, Files) {
    let mut world = World::new(2, 1);
    world.attest();
    world.stamp(1, |digest| vec![(AnchorClock::OpenTimestamps, in_a_block(digest))]);
    world.stamp_link(2, 1, |digest| vec![(AnchorClock::OpenTimestamps, in_a_block(digest))]);
    let files = exported(&world, &World::everything());
    (world, files)
}

pub fn clocks_and_links(maker: &mut Maker) {
    let (world, files) = stamped();
    maker.files("anchor", "a head and a link that a clock has", VALID, "", &files);
    let asked = |number: u64, change: fn(&mut Value)| {
        let name = format!("anchors/{number}.json");
        let mut asked: Value = serde_json::from_slice(&files[&name]).unwrap();
        change(&mut asked);
        (name, seal::canon::canonical_value(&asked).unwrap())
    };
    let zero = Digest::ZERO.to_string();
    let links = String::from_utf8(files["identity/links.jsonl"].clone()).unwrap();
    let fewer = links.split_inclusive('\n').skip(1).collect::<String>();
    let text = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
    let place = files["anchors/1.tlog-proof"].clone();
    let changes = [
        ("anchor", "another number", "it is anchor 2", asked(1, |asked| asked["number"] = 2.into())),
        (
            "anchor",
            "another size",
            "it is another head than",
            asked(1, |asked| asked["subject"]["size"] = 3.into()),
        ),
        ("anchor", "another digest", "its digest is not that of the head's text", {
            asked(1, |asked| asked["digest"] = Digest::ZERO.to_string().into())
        }),
        (
            "anchor",
            "another link",
            "there is no link 9",
            asked(2, |asked| asked["subject"]["number"] = 9.into()),
        ),
        ("anchor", "another digest of a link", "its digest is not that of link 1", {
            asked(2, |asked| asked["digest"] = Digest::ZERO.to_string().into())
        }),
        (
            "anchor",
            "a link with a place",
            "only an anchored head has it",
            ("anchors/2.tlog-proof".to_owned(), place),
        ),
        ("identity", "links without their beginning", "", text("identity/links.jsonl", &fewer)),
        (
            "identity",
            "links cut off",
            "its final newline is missing",
            text("identity/links.jsonl", links.trim_end()),
        ),
        ("identity", "a key that is none", "", text("identity/key.json", &zero)),
    ];
    for (class, what, word, (name, bytes)) in changes {
        let mut changed = files.clone();
        changed.insert(name, bytes);
        repair(&mut changed, Power::Manifest, &world);
        maker.files(class, what, INVALID, word, &changed);
    }
}

/// Of files that belong together one is not there, or there are too many.
pub fn clocks_and_links_left_out(maker: &mut Maker) {
    let (world, files) = stamped();
    for (class, name, word) in [
        ("anchor", "anchors/1.json", "it is missing"),
        ("anchor", "anchors/1.checkpoint", "it is missing"),
        ("anchor", "anchors/1.opentimestamps.ots", "no clock has given anything for it"),
        ("identity", "identity/key.json", "it is missing"),
        ("identity", "identity/links.jsonl", "it is missing"),
    ] {
        let mut less = files.clone();
        less.remove(name);
        repair(&mut less, Power::Manifest, &world);
        maker.files(class, &format!("without {name}"), INVALID, word, &less);
    }
    let mut many = files.clone();
    many.extend((3..=9).map(|n| (format!("anchors/{n}.json"), b"{}".to_vec())));
    repair(&mut many, Power::Manifest, &world);
    maker.files("anchor", "more than a bundle has", INVALID, "no bundle has more than 8 anchors", &many);
}
