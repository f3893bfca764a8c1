//! Stores whose keys followed each other: bundles with rotations, a revocation and a cosignature, and what a forger
//! with the keys in force may write in their place.

use super::Field;
use crate::world::tools::{Files, Power, repair};
use crate::world::{Persons, World};
use proof::{Options, Scope, Trust};
use seal::cosignature::{Policy, WitnessKey};
use seal::note::{Note, NoteSignature, VerifierKey, sign_note};
use seal::succession::Revocation;
use seal::{SeedSigner, Signer};
use std::path::Path;

/// The keys before the ones in force, and the log key before them, which is revoked.
pub struct Before {
    pub old: Persons,
    pub oldest: SeedSigner,
}

/// The witnesses that the policy names; only the first has cosigned.
pub fn witness(n: u8) -> (WitnessKey, SeedSigner) {
    let signer = SeedSigner::from_seed([200 + n; 32]);
    (WitnessKey::new(&format!("witness.example/w{n}"), signer.public()).unwrap(), signer)
}

/// A whole task with an older checkpoint, and one receipt alone, both signed by keys that came later.
pub fn all() -> Vec<(Field, Before, Vec<u8>)> {
    let (later, held) = Field::later();
    let (mut one, _) = Field::later();
    let scope = Scope::Receipt(one.receipts[0]);
    let old = std::mem::replace(&mut one.keys, Persons::new(110));
    let single = dressed(one, old, Options { scope, ..Options::default() }, None);
    let mut later = later;
    let old = std::mem::replace(&mut later.keys, Persons::new(110));
    let origin = format!("hermit.local/{}", later.log_id);
    let text = Note::parse(&held).unwrap().text;
    let anew = sign_note(&text, &origin, &later.keys.log).unwrap().to_bytes();
    let whole = dressed(later, old, Options { since: Some(anew), ..World::everything() }, Some(&held));
    [whole, single].into_iter().map(|(field, before)| (field, before, held.clone())).collect()
}

/// Writes the whole task for the page's own tests: its bundle, and the log key and the head from before.
pub fn write(folder: &Path) {
    let Some((field, before, held)) = all().into_iter().next() else { return };
    std::fs::write(folder.join("rotated.zip"), field.zip()).unwrap();
    std::fs::write(folder.join("rotated.before.pub.pem"), before.old.log.public().to_pem()).unwrap();
    std::fs::write(folder.join("rotated.before.checkpoint"), held).unwrap();
}

fn dressed(world: World, old: Persons, options: Options, held: Option<&[u8]>) -> (Field, Before) {
    let mut field = Field::new(world, &options);
    let oldest = SeedSigner::from_seed([9; 32]);
    let (log_id, keys, files) = (&field.world.log_id, &field.world.keys, &mut field.files);
    let steps: [(&str, &SeedSigner, &SeedSigner); 5] = [
        ("log", &oldest, &old.log),
        ("log", &old.log, &keys.log),
        ("receipt", &old.receipt, &keys.receipt),
        ("manifest", &old.manifest, &keys.manifest),
        ("approval", &old.approval, &keys.approval),
    ];
    let has_approval = files.contains_key("keys/approval.pub.pem");
    let goes = steps.iter().filter(|(purpose, ..)| has_approval || *purpose != "approval");
    for (n, (purpose, from, to)) in goes.enumerate() {
        files.insert(format!("keys/rotations/{}.note", n + 1), followed(log_id, purpose, *from, *to));
    }
    let revocation = Revocation {
        log_id: log_id.clone(),
        purpose: "log".to_owned(),
        key: oldest.public(),
        by: keys.log.public(),
    };
    let signature = revocation.sign(&keys.log).unwrap();
    files.insert("keys/revocations/1.note".to_owned(), revocation.note(&signature).unwrap().to_bytes());
    let named = [1, 2].map(|n| (format!("w{n}"), witness(n).0, None));
    let policy = Policy::of(named.to_vec(), 1).to_text("");
    files.insert("log/policy".to_owned(), policy.into_bytes());
    if let Some(held) = held {
        files.insert("log/checkpoint.prev".to_owned(), held.to_vec());
    }
    cosign(files, &witness(1));
    repair(files, Power::Receipt, &field.world);
    (field, Before { old, oldest })
}

/// Adds the witness's line to the log's head wherever it stands.
fn cosign(files: &mut Files, (key, signer): &(WitnessKey, SeedSigner)) {
    for name in ["log/checkpoint", "task/checkpoint.tlog-proof", "gate/checkpoint.tlog-proof"] {
        let Some(bytes) = files.get_mut(name) else { continue };
        let text = String::from_utf8(bytes.clone()).unwrap();
        let note = if name == "log/checkpoint" { &text } else { text.split_once("\n\n").unwrap().1 };
        let line = key.cosign(&Note::parse(note.as_bytes()).unwrap().text, 1_760_000_901, signer).unwrap();
        bytes.extend(format!("{line}\n").into_bytes());
    }
}

/// One key followed another, signed by both.
pub fn followed(log_id: &str, purpose: &str, from: &dyn Signer, to: &dyn Signer) -> Vec<u8> {
    let text = format!("hermit.local/{log_id}/keys/{purpose}\nold {}\nnew {}\n", from.public(), to.public());
    signed(&text, &[from, to])
}

/// A note by whoever, about whatever.
fn signed(text: &str, signers: &[&dyn Signer]) -> Vec<u8> {
    let name = text.lines().next().unwrap();
    let line = |signer: &&dyn Signer| NoteSignature {
        name: name.to_owned(),
        key_id: VerifierKey::new(name, signer.public()).unwrap().key_id(),
        bytes: signer.sign(text.as_bytes()).unwrap().0.to_vec(),
    };
    Note { text: text.to_owned(), signatures: signers.iter().map(line).collect() }.to_bytes()
}

/// Keys that a receiver may hold.
pub fn trusts(field: &Field, Before { old, oldest }: &Before) -> Vec<Trust> {
    let keys = &field.world.keys;
    let now = [&keys.log, &keys.receipt, &keys.manifest, &keys.approval];
    let then = [&old.log, &old.receipt, &old.manifest, &old.approval, oldest];
    let stranger = SeedSigner::from_seed([99; 32]);
    let all = now.into_iter().chain(then).chain([&stranger]).map(|key| Trust::from(key.public()));
    all.chain([1, 2, 3].map(|n| Trust::Witness(witness(n).0))).collect()
}

/// Notes and policies that somebody with the keys in force writes, good ones among them.
pub fn rewritten(field: &Field, Before { old, oldest }: &Before) -> Vec<(String, Files)> {
    let (id, keys) = (field.world.log_id.as_str(), &field.world.keys);
    let stranger = SeedSigner::from_seed([77; 32]);
    let about = |log: &str, words: [&str; 2], one: &SeedSigner, two: &SeedSigner| {
        format!("hermit.local/{log}\n{} {}\n{} {}\n", words[0], one.public(), words[1], two.public())
    };
    let log = format!("{id}/keys/log");
    let step = about(&log, ["old", "new"], &old.log, &keys.log);
    let (first, second) = ("keys/rotations/1.note", "keys/rotations/2.note");
    let revocation = "keys/revocations/1.note";
    let by = |key: &SeedSigner, by: &SeedSigner| {
        signed(&about(&log, ["revoked", "by"], key, by), &[by as &dyn Signer])
    };
    let mut written: Vec<(&str, Vec<u8>)> = vec![
        (second, signed(&step, &[&old.log])),
        (second, signed(&step, &[&keys.log, &old.log])),
        (second, signed(&step, &[&old.log, &keys.log, &stranger])),
        (second, signed(&format!("{step}more\n"), &[&old.log, &keys.log])),
        (second, signed(&step.to_uppercase(), &[&old.log, &keys.log])),
        (second, followed(id, "log", &old.log, &stranger)),
        (second, followed(id, "log", &keys.log, &old.log)),
        (second, followed(id, "log", &stranger, &keys.log)),
        (second, followed(id, "receipt", &old.log, &keys.log)),
        (second, followed(id, "nothing", &old.log, &keys.log)),
        (second, followed("another", "log", &old.log, &keys.log)),
        (second, followed(id, "log/more", &old.log, &keys.log)),
        (first, followed(id, "log", &keys.log, oldest)),
        (first, followed(id, "log", &stranger, &old.log)),
        (first, signed(&about(&log, ["old", "new"], &old.log, &old.log), &[&old.log])),
        ("keys/rotations/9.note", followed(id, "log", oldest, &old.log)),
        ("keys/rotations/6.note", followed(id, "log", &keys.log, oldest)),
        ("keys/rotations/06.note", b"".to_vec()),
        (revocation, by(&old.log, &keys.log)),
        (revocation, by(&keys.log, &old.log)),
        (revocation, by(&stranger, &keys.log)),
        (revocation, by(&old.log, &stranger)),
        (revocation, by(&old.log, &old.log)),
        ("keys/revocations/2.note", by(&old.log, oldest)),
        ("keys/revocations/3.note", by(&old.log, oldest)),
    ];
    written.extend(policies().into_iter().map(|text| ("log/policy", text.into_bytes())));
    let mut all: Vec<(String, Files)> = Vec::new();
    for (n, (name, bytes)) in written.into_iter().enumerate() {
        let mut files = field.files.clone();
        files.insert(name.to_owned(), bytes);
        all.push((format!("{name} rewritten, {n}"), files));
    }
    for name in field.files.keys().filter(|n| n.starts_with("keys/r") || n.starts_with("log/")) {
        let mut files = field.files.clone();
        files.remove(name);
        all.push((format!("without {name}"), files));
    }
    let mut twice = field.files.clone();
    cosign(&mut twice, &witness(2));
    all.push(("a second witness".to_owned(), twice));
    for (_, files) in &mut all {
        repair(files, Power::Receipt, &field.world);
    }
    all
}

/// Policies in every spelling that comes to mind, right and wrong.
fn policies() -> Vec<String> {
    let [one, two] = [1, 2].map(|n| witness(n).0.to_string());
    let both = format!("witness a {one}\nwitness b {two} https://example.org\n");
    let after = |rest: &str| format!("{both}{rest}");
    let mut all: Vec<String> = [
        "quorum a\n",
        "quorum b\n",
        "quorum none\n",
        "quorum c\n",
        "",
        "quorum a\nquorum b\n",
        "quorum a b\n",
        "group g all a b\nquorum g\n",
        "group g any a b\nquorum g\n",
        "group g 2 a b\nquorum g\n",
        "group g 3 a b\nquorum g\n",
        "group g 0 a b\nquorum g\n",
        "group g +1 a b\nquorum g\n",
        "group g 01 a b\nquorum g\n",
        "group g -1 a b\nquorum g\n",
        "group g 1 a a\nquorum g\n",
        "group g 99999999999999999999999 a\nquorum g\n",
        "group g 1 a\ngroup h 2 b b\nquorum h\n",
        "group g 1 a\ngroup h 1 a\nquorum h\n",
        "group g 1 b\ngroup h any g a\nquorum h\n",
        "group g 1 g\nquorum g\n",
        "group g any none\nquorum g\n",
        "group a any b\nquorum a\n",
        "group g all\nquorum g\n",
        "# a remark\n\n \t quorum \t a \t\n",
        "\u{a0}quorum a\u{3000}\n",
        "\u{feff}quorum a\n",
        "quorum\u{a0}a\n",
        "quorum a\r\n",
        "quorum a",
        "quorum a\u{85}\n",
        "quorum a\u{7f}\n",
        "log x\nlog x y\nquorum a\n",
        "log\nquorum a\n",
        "log x y z\nquorum a\n",
        "Quorum a\n",
        "witness\nquorum a\n",
        "quorum\n",
        "witness none x\n",
    ]
    .map(after)
    .to_vec();
    // The key of a log, which signs without a time.
    let plain = VerifierKey::new("witness.example/w1", witness(1).1.public()).unwrap();
    let spelled = [
        format!("witness a {one}\nwitness b {one}\nquorum a\n"),
        format!("witness a {one}\nwitness a {two}\nquorum a\n"),
        format!("witness none {one}\nquorum none\n"),
        format!("witness a {one} u v\nquorum a\n"),
        format!("witness a {}\nquorum a\n", one.replacen("w1", "w9", 1)),
        format!("witness a {}\nquorum a\n", one.replacen('+', "-", 1)),
        format!("witness a {plain}\nquorum a\n"),
        "quorum none\n".to_owned(),
        format!("{}quorum none\n", "\n".repeat(255)),
        format!("{}quorum none\n", "\n".repeat(256)),
        String::new(),
    ];
    all.extend(spelled);
    all
}
