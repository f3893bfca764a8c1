//! Bundles with one thing wrong, everything around it made to look right again by whoever holds the keys.

use super::vectors::{INVALID, Maker, VALID, exported};
use crate::hostile::harms;
use crate::twin::insider;
use crate::world::World;
use crate::world::tools::{Files, Power, repair, zip_of};
use proof::{Options, Scope};
use seal::note::{Checkpoint, Note};
use seal::tlog_proof::TlogProof;
use seal::{Digest, SeedSigner, Signer as _, dsse, sshsig};

/// A whole task, and the store it is of.
pub fn whole() -> (World, Files) {
    let world = World::new(1, 1);
    let files = exported(&world, &World::everything());
    (world, files)
}

fn stranger() -> SeedSigner {
    SeedSigner::from_seed([77; 32])
}

pub fn container(maker: &mut Maker) {
    for (name, zip, word) in harms().0 {
        let class = if name.starts_with("hermit-proof") { "version" } else { "container" };
        maker.zip(class, name.trim_end_matches(".zip"), INVALID, &word, zip);
    }
    let (_, files) = whole();
    let zip = zip_of(files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())));
    let end = zip.len() - 22;
    let number = |at: usize| u32::from_le_bytes(zip[at..at + 4].try_into().unwrap());
    let directory = usize::try_from(number(end + 16)).unwrap();
    let change = |at: usize, bytes: &[u8]| {
        let mut changed = zip.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        changed
    };
    let mut broken = |what: &str, word: &str, zip: Vec<u8>| maker.zip("container", what, INVALID, word, zip);
    broken("no zip at all", "it does not end as a bundle's zip does", vec![b'x'; 4_096]);
    broken("nothing", "too short", Vec::new());
    broken("cut in the middle", "it does not end as a bundle's zip does", zip[..zip.len() / 2].to_vec());
    let link = (0o120_777_u32 << 16).to_le_bytes();
    broken("a link", "it is a link or a special file", change(directory + 38, &link));
    broken("two files that share bytes", "between the files", change(directory + 42, &7_u32.to_le_bytes()));
    broken("another date in an entry", "is not as a bundle writes it", change(directory + 14, &[0x22]));
    broken("another date before a file", "its header differs", change(12, &[0x22]));
    broken("a byte of a file", "its bytes do not give the zip's CRC", change(100, &[zip[100] ^ 1]));
    broken("a name not in UTF-8", "a name is not UTF-8", change(directory + 46, &[0xff]));
    let more = u16::try_from(files.len() + 1).unwrap().to_le_bytes();
    broken("more files than there are", "it ends too early", change(end + 8, &[more, more].concat()));
    let mut large = vec![0_u8; 46 + 128 + 1];
    large.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0\xaf\0\0\0\0\0\0\0\0\0");
    broken("a directory larger than its files need", "its directory is larger than", large);
    let mut hidden = [&zip[..directory], b"hidden", &zip[directory..]].concat();
    let place = hidden.len() - 6;
    hidden[place..place + 4].copy_from_slice(&(number(end + 16) + 6).to_le_bytes());
    broken("hidden bytes", "between or behind the files", hidden);
    broken(
        "bytes before it",
        "bytes stand before, between or behind its parts",
        [b"x".as_slice(), &zip].concat(),
    );
    let backwards = zip_of(files.iter().rev().map(|(name, bytes)| (name.as_str(), bytes.as_slice())));
    broken("not sorted", "not sorted", backwards);
}

/// These files, their list written by hand and signed by the manifest key.
fn listed(files: &Files, world: &World, sums: Vec<u8>) -> Files {
    let mut files = files.clone();
    let signature = world.keys.manifest.sign(&sums).unwrap();
    files.insert("SHA256SUMS.ed25519".to_owned(), signature.as_bytes().to_vec());
    let armored = sshsig::sign(&sums, sshsig::NAMESPACE, &world.keys.manifest).unwrap();
    files.insert("SHA256SUMS.sshsig".to_owned(), armored.into_bytes());
    files.insert("SHA256SUMS".to_owned(), sums);
    files
}

pub fn list(maker: &mut Maker) {
    let (world, files) = whole();
    let mut broken = |what: &str, word: &str, files: Files| maker.files("list", what, INVALID, word, &files);
    let with = |name: &str, bytes: &[u8]| {
        let mut files = files.clone();
        files.insert(name.to_owned(), bytes.to_vec());
        files
    };
    let without = |name: &str| {
        let mut files = files.clone();
        files.remove(name);
        files
    };
    let nobody = format!("disclosures/{}.json", Digest::of(b"[]"));
    broken("a file that was added", "it was added", with(&nobody, b"[]"));
    broken("a file that was removed", "it was removed", without("prov.json"));
    broken("a file that was changed", "it was changed", with("README.txt", b"hermit-proof/1 - another\n"));
    broken("no list", "it is missing", without("SHA256SUMS"));
    let sums = String::from_utf8(files["SHA256SUMS"].clone()).unwrap();
    let lines: Vec<&str> = sums.split_inclusive('\n').collect();
    let own = |text: String| listed(&files, &world, text.into_bytes());
    let swapped = [&[lines[1], lines[0]][..], &lines[2..]].concat().concat();
    broken("names in another order", "the names are not sorted", own(swapped));
    broken("a line twice", "the names are not sorted", own([lines[0], sums.as_str()].concat()));
    broken("one space between", "it is not `digest  name`", own(sums.replacen("  ", " ", 1)));
    broken("a digest that is none", "", own(format!("x{}", sums.get(1..).unwrap())));
    let beyond = format!("{sums}{}  zzz.txt\n", Digest::of(b"x"));
    broken("a name that no bundle has", "it lists a file that no bundle has", own(beyond));
    broken("cut off", "it was cut off", own(sums.trim_end().to_owned()));
    broken("nothing in the list", "it is empty", own(String::new()));
    let latin = [sums.as_bytes(), b"\xe9\n"].concat();
    broken("not in UTF-8", "it is not UTF-8", listed(&files, &world, latin));
    let named = files.keys().find(|name| name.starts_with("artifacts/")).unwrap();
    let line = lines.iter().find(|line| line.trim_end().ends_with(named.as_str())).unwrap();
    let other = sums.replace(*line, &format!("{}  {named}\n", Digest::of(b"")));
    broken("another digest than the name", "the file's digest is not the one that is its name", own(other));
    for (name, word) in [
        ("keys/receipt.pub.pem", "a signed bundle always has it"),
        ("statement.dsse.json", "the bundle of a task always has it"),
        ("task/events.jsonl", "it is missing"),
        ("task/checkpoint.tlog-proof", ""),
    ] {
        let mut less = without(name);
        repair(&mut less, Power::Receipt, &world);
        broken(&format!("without {name}"), word, less);
    }
}

pub fn keys(maker: &mut Maker) {
    let (world, files) = whole();
    let mut broken = |what: &str, word: &str, name: &str, text: String| {
        let mut files = files.clone();
        files.insert(name.to_owned(), text.into_bytes());
        repair(&mut files, Power::Manifest, &world);
        maker.files("keys", what, INVALID, word, &files);
    };
    let receipt = world.keys.receipt.public().to_pem();
    broken("one for two purposes", "one key serves two purposes", "keys/log.pub.pem", receipt);
    let line = sshsig::allowed_signers_line("manifest", sshsig::NAMESPACE, &stranger().public()).unwrap();
    broken("another signer", "it names another key than", "keys/allowed_signers", line);
    broken("another receipt key", "", "keys/receipt.pub.pem", stranger().public().to_pem());
    broken("no key", "", "keys/receipt.pub.pem", "nothing\n".to_owned());
    let vkeys = String::from_utf8(files["keys/log.vkey"].clone()).unwrap();
    let fewer = vkeys.lines().take(2).map(|line| format!("{line}\n")).collect();
    broken("a name less", "it names another key, log or task", "keys/log.vkey", fewer);
}

fn envelope(bytes: &[u8]) -> dsse::Envelope {
    dsse::Envelope::parse(bytes).unwrap()
}

/// The note of a file, signed by somebody else under the same name.
fn signed_by_stranger(bytes: &[u8]) -> Note {
    let head = Checkpoint::from_text(&Note::parse(bytes).unwrap().text).unwrap();
    Checkpoint::new(&head.origin, head.size, head.root).sign(&stranger()).unwrap()
}

pub fn signature(maker: &mut Maker) {
    let (world, files) = whole();
    let mut broken = |what: &str, files: &Files| maker.files("signature", what, INVALID, "", files);
    let mut list = files.clone();
    let raw = stranger().sign(&files["SHA256SUMS"]).unwrap();
    list.insert("SHA256SUMS.ed25519".to_owned(), raw.as_bytes().to_vec());
    broken("the list by a stranger", &list);
    let mut list = files.clone();
    let armored = sshsig::sign(&files["SHA256SUMS"], sshsig::NAMESPACE, &stranger()).unwrap();
    list.insert("SHA256SUMS.sshsig".to_owned(), armored.into_bytes());
    broken("the list by a stranger, for ssh", &list);
    let mut stated = files.clone();
    let payload = envelope(&files["statement.dsse.json"]).payload;
    let signed = dsse::sign(dsse::IN_TOTO, &payload, &stranger()).unwrap().to_bytes().unwrap();
    stated.insert("statement.dsse.json".to_owned(), signed);
    repair(&mut stated, Power::Manifest, &world);
    broken("the statement by a stranger", &stated);
    let mut noted = files.clone();
    let head = signed_by_stranger(&files["log/checkpoint"]);
    for name in ["task/checkpoint.tlog-proof", "gate/checkpoint.tlog-proof"] {
        let TlogProof { index, hashes, .. } = TlogProof::parse(&files[name]).unwrap();
        noted.insert(name.to_owned(), TlogProof::new(index, hashes, head.clone()).to_text().into_bytes());
    }
    noted.insert("log/checkpoint".to_owned(), head.to_bytes());
    repair(&mut noted, Power::Receipt, &world);
    broken("the head of the log by a stranger", &noted);
    let mut noted = files.clone();
    noted.insert("task/checkpoint".to_owned(), signed_by_stranger(&files["task/checkpoint"]).to_bytes());
    repair(&mut noted, Power::Receipt, &world);
    broken("the head of the task by a stranger", &noted);
    let mut other = World::new(1, 1);
    other.keys.receipt = stranger();
    let name = files.keys().find(|name| name.starts_with("receipts/")).unwrap().clone();
    let mut receipted = files.clone();
    insider::edit_receipt(&mut receipted, &other, &name, &mut |_| ());
    broken("a receipt by a stranger", &insider::signed_anew(&receipted, &world));
}

pub fn inclusion(maker: &mut Maker) {
    let (world, files) = whole();
    let scope = Scope::Span { first: 2, last: 4 };
    let span = exported(&world, &Options { scope, ..Options::default() });
    let first =
        |files: &Files, folder: &str| files.keys().find(|name| name.starts_with(folder)).unwrap().clone();
    let (entry, event) = (first(&files, "gate/proofs.tlog-proof/"), first(&span, "task/proofs.tlog-proof/"));
    let (task, gate) = ("task/checkpoint.tlog-proof", "gate/checkpoint.tlog-proof");
    type Edit = fn(&mut TlogProof);
    let another: Edit = |proof| proof.hashes[0] = Digest::ZERO;
    let all: [(&str, &Files, &str, Edit); 12] = [
        ("another hash for the task", &files, task, another),
        ("another hash for the gate", &files, gate, another),
        ("another hash for an entry", &files, &entry, another),
        ("another hash for an event", &span, &event, another),
        ("a hash less", &files, task, |proof| proof.hashes.truncate(proof.hashes.len() - 1)),
        ("a hash more", &files, task, |proof| proof.hashes.push(Digest::ZERO)),
        ("hashes in another order", &files, task, |proof| proof.hashes.reverse()),
        ("another place", &files, task, |proof| proof.index -= 1),
        ("another place for an entry", &files, &entry, |proof| proof.index += 1),
        ("another place for an event", &span, &event, |proof| proof.index += 1),
        ("a place beyond the tree", &files, task, |proof| proof.index = 1_000_000),
        ("no hashes at all", &files, task, |proof| proof.hashes.clear()),
    ];
    for (what, files, name, edit) in all {
        let mut files = files.clone();
        let mut proof = TlogProof::parse(&files[name]).unwrap();
        edit(&mut proof);
        files.insert(name.to_owned(), proof.to_text().into_bytes());
        repair(&mut files, Power::Receipt, &world);
        maker.files("inclusion", what, INVALID, "", &files);
    }
}

pub fn consistency(maker: &mut Maker) {
    let held = exported(&World::new(1, 2), &World::everything())["log/checkpoint"].clone();
    let mut world = World::new(1, 2);
    let before = world.notes();
    world.others.extend(before);
    world.goal("one event more");
    let files = exported(&world, &Options { since: Some(held), ..World::everything() });
    maker.files("consistency", "a way from an older head", VALID, "", &files);
    let (way, previous) = ("log/consistency.txt", "log/checkpoint.prev");
    let text = String::from_utf8(files[way].clone()).unwrap();
    let last = text.lines().last().unwrap();
    let changed: [(&str, &str, Option<Vec<u8>>, &str); 5] = [
        ("without the way", way, None, "it is missing"),
        ("without the older head", previous, None, "it is missing"),
        ("another hash", way, Some(text.replace(last, &Digest::ZERO.to_string()).into_bytes()), ""),
        ("a hash less", way, Some(text.replace(&format!("{last}\n"), "").into_bytes()), ""),
        (
            "another spelling",
            way,
            Some(text.replacen("old ", "old 0", 1).into_bytes()),
            "spelled as it should",
        ),
    ];
    for (what, name, bytes, word) in changed {
        let mut files = files.clone();
        match bytes {
            Some(bytes) => files.insert(name.to_owned(), bytes),
            None => files.remove(name),
        };
        repair(&mut files, Power::Receipt, &world);
        maker.files("consistency", what, INVALID, word, &files);
    }
}
