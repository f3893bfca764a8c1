//! Whatever is changed, by whoever holds less than the log key, is refused; and the counts are printed.

use crate::world::tools::{Bench, Files, Power, files_of, repair, zip_of};
use crate::world::{self, World};
use proof::{Trust, export_to};
use seal::{Signer as _, dsse};

const POWERS: [Power; 4] = [Power::Editor, Power::Sums, Power::Manifest, Power::Receipt];

struct Field {
    world: World,
    files: Files,
    bench: Bench,
    trust: Vec<Trust>,
}

/// A bundle, and a receiver who trusts the log key: the one no attacker here has.
fn field(options: &proof::Options) -> Field {
    let world = World::new(2, 3);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle");
    export_to(&world, world.signers(), world.task, options, &path).unwrap();
    let trust = vec![Trust::from(world.keys.log.public())];
    Field { files: files_of(&path), world, bench: Bench::new(), trust }
}

impl Field {
    /// Whether the mutant passes as valid; it must also have been a mutant.
    fn passes(&self, files: &Files) -> bool {
        assert_ne!(*files, self.files);
        self.bench.verify_files(files, &self.trust).exit_code() == 0
    }
}

/// Some offsets of a file: its ends and places spread over it.
fn offsets(length: usize, count: usize) -> Vec<usize> {
    let mut at: Vec<usize> = (0..count).map(|n| n * length / count).chain([1, length - 1]).collect();
    at.retain(|n| *n < length);
    at.sort_unstable();
    at.dedup();
    at
}

#[test]
fn a_changed_byte_anywhere_in_the_zip_is_refused() {
    let field = field(&World::everything());
    let zip = zip_of(field.files.iter().map(|(n, b)| (n.as_str(), b.as_slice())));
    assert_eq!(field.bench.verify(&zip, &field.trust).exit_code(), 0, "the untouched one is valid");
    let mut own = Vec::new();
    proof::export(&field.world, field.world.signers(), field.world.task, &World::everything(), &mut own)
        .unwrap();
    assert!(own == zip, "two writers, one from the description, make the same zip");
    let mut made = 0;
    for at in (0..zip.len()).step_by(331).chain(zip.len() - 400..zip.len()) {
        for bit in [1_u8, 0x80] {
            let mut mutant = zip.clone();
            mutant[at] ^= bit;
            let report = field.bench.verify(&mutant, &field.trust);
            assert_eq!(report.exit_code(), 5, "byte {at} bit {bit:#x}: {report}");
            made += 1;
        }
    }
    for cut in [0, 1, 21, 22, 100, zip.len() / 2, zip.len() - 22, zip.len() - 1] {
        assert_eq!(field.bench.verify(&zip[..cut], &field.trust).exit_code(), 5, "cut at {cut}");
        made += 1;
    }
    for (front, back) in [(b"x".as_slice(), b"".as_slice()), (b"", b"x"), (b"", &zip[..30]), (&zip, b"")] {
        let mutant = [front, &zip, back].concat();
        assert_eq!(field.bench.verify(&mutant, &field.trust).exit_code(), 5);
        made += 1;
    }
    println!("{made} changed zips refused");
}

/// Files whose content binds nobody: whoever has the manifest key may write there what they like.
fn binds_nobody(name: &str) -> bool {
    matches!(name, "README.txt" | "prov.json")
}

#[test]
fn a_changed_byte_in_any_file_is_refused_however_far_the_attacker_can_repair_the_rest() {
    let field = field(&World::everything());
    let mut made = [0_u32; 4];
    for (name, bytes) in &field.files {
        for (rank, power) in POWERS.into_iter().enumerate() {
            let own = name.starts_with("SHA256SUMS") && power > Power::Editor;
            if own || (binds_nobody(name) && power >= Power::Manifest) {
                continue;
            }
            let statement = name == "statement.dsse.json" && power == Power::Receipt;
            for at in offsets(bytes.len(), if bytes.len() > 5_000 { 24 } else { 3 }) {
                let mut files = field.files.clone();
                files.get_mut(name).unwrap()[at] ^= 1;
                repair(&mut files, if statement { Power::Manifest } else { power }, &field.world);
                assert!(!field.passes(&files), "{name} byte {at} with {power:?}");
                made[rank] += 1;
            }
        }
    }
    println!("changed bytes refused, by what the attacker has {POWERS:?}: {made:?}");
}

#[test]
fn lines_deleted_doubled_swapped_or_cut_are_refused_even_from_the_holder_of_two_keys() {
    let field = field(&World::everything());
    let mut made = 0;
    for name in ["task/events.jsonl", "gate/entries.jsonl", "SHA256SUMS", "keys/log.vkey", "task/checkpoint"]
    {
        let lines: Vec<Vec<u8>> =
            field.files[name].split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
        let mut variants: Vec<Vec<u8>> = Vec::new();
        for at in 0..lines.len() {
            let mut deleted = lines.clone();
            deleted.remove(at);
            let mut doubled = lines.clone();
            doubled.insert(at, lines[at].clone());
            variants.extend([deleted.concat(), doubled.concat(), lines[..at].concat()]);
            if at > 0 && lines[at] != lines[at - 1] {
                let mut swapped = lines.clone();
                swapped.swap(at, at - 1);
                variants.push(swapped.concat());
            }
        }
        let whole = &field.files[name];
        variants.push(whole[..whole.len() - 1].to_vec());
        variants.push([whole.as_slice(), b"\n"].concat());
        variants.push(String::from_utf8(whole.clone()).unwrap().replace('\n', "\r\n").into_bytes());
        for variant in variants {
            for power in POWERS {
                if name == "SHA256SUMS" && power > Power::Editor {
                    continue;
                }
                let mut files = field.files.clone();
                files.insert(name.to_owned(), variant.clone());
                repair(&mut files, power, &field.world);
                assert!(!field.passes(&files), "{name} with {power:?}");
                made += 1;
            }
        }
    }
    println!("{made} bundles with other lines refused");
}

fn proof_path(digest: &seal::Digest) -> String {
    let hex = digest.to_string();
    format!("artifacts/sha256/{}/{hex}", hex.get(..2).unwrap())
}

#[test]
fn files_removed_added_or_exchanged_are_refused() {
    let field = field(&World::everything());
    let names: Vec<&String> = field.files.keys().collect();
    let mut made = 0;
    for (at, name) in names.iter().enumerate() {
        for power in POWERS {
            let withheld = name.starts_with("disclosures/") || binds_nobody(name);
            let own = name.starts_with("SHA256SUMS") && power > Power::Editor;
            if own || (withheld && power >= Power::Manifest) {
                continue;
            }
            let mut removed = field.files.clone();
            removed.remove(*name);
            repair(&mut removed, power, &field.world);
            let artifact = name.starts_with("artifacts/") && power == Power::Receipt;
            // Who holds the receipt key may leave content out, and the report says that it is not shown.
            assert!(artifact || !field.passes(&removed), "without {name}, {power:?}");
            let other = names[(at + 1) % names.len()];
            let idle = binds_nobody(other) && binds_nobody(name);
            if !(idle || other.starts_with("SHA256SUMS")) {
                let mut swapped = field.files.clone();
                swapped.insert((*name).clone(), field.files[other].clone());
                swapped.insert(other.clone(), field.files[*name].clone());
                repair(&mut swapped, power, &field.world);
                assert!(!field.passes(&swapped), "{name} and {other} exchanged, {power:?}");
                made += 1;
            }
            made += 1;
        }
    }
    let digest = seal::Digest::of(b"[]");
    let stranger = proof_path(&digest);
    let strangers = [
        "notes.txt",
        "task/events/1.json",
        "receipts/x.json",
        "log/checkpoint.old",
        "statement.json",
        "keys/../README.txt",
    ];
    let unasked = [format!("disclosures/{digest}.json"), stranger];
    for name in strangers.iter().map(|n| (*n).to_owned()).chain(unasked) {
        for power in POWERS {
            let mut files = field.files.clone();
            files.insert(name.clone(), b"[]".to_vec());
            repair(&mut files, power, &field.world);
            assert!(!field.passes(&files), "{name} added, {power:?}");
            made += 1;
        }
    }
    println!("{made} bundles with other files refused");
}

#[test]
fn parts_of_another_bundle_of_the_same_store_do_not_fit() {
    let field = field(&World::everything());
    let mut grown = World::new(2, 3);
    grown.goal("one event more");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grown");
    export_to(&grown, grown.signers(), grown.task, &World::everything(), &path).unwrap();
    let later = files_of(&path);
    assert_eq!(field.bench.verify_files(&later, &field.trust).exit_code(), 0);
    let mut made = 0;
    for (name, bytes) in &later {
        if field.files.get(name) == Some(bytes) || binds_nobody(name) || name.starts_with("SHA256SUMS") {
            continue;
        }
        for power in POWERS {
            let mut files = field.files.clone();
            files.insert(name.clone(), bytes.clone());
            repair(&mut files, power, &field.world);
            assert!(!field.passes(&files), "{name} of the later bundle, {power:?}");
            made += 1;
        }
    }
    println!("{made} mixtures of two bundles of one store refused");
}

#[test]
fn exchanged_keys_are_refused_or_at_least_not_trusted() {
    let field = field(&World::everything());
    let keys = ["keys/log.pub.pem", "keys/receipt.pub.pem", "keys/manifest.pub.pem", "keys/approval.pub.pem"];
    let stranger = seal::SeedSigner::from_seed([77; 32]).public().to_pem();
    let mut made = 0;
    for name in keys {
        let others = keys.iter().filter(|k| **k != name).map(|k| field.files[*k].clone());
        for pem in others.chain([stranger.clone().into_bytes()]) {
            for power in POWERS {
                let mut files = field.files.clone();
                files.insert(name.to_owned(), pem.clone());
                repair(&mut files, power, &field.world);
                assert!(!field.passes(&files), "{name}, {power:?}");
                made += 1;
            }
        }
    }
    println!("{made} bundles with exchanged keys refused");
}

#[test]
fn an_attacker_with_keys_of_their_own_passes_with_nobody_who_trusts_the_real_ones() {
    let mut made = 0;
    for acts in [0, 1] {
        let world = World::new(acts, 3);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bundle");
        export_to(&world, world.signers(), world.task, &World::everything(), &path).unwrap();
        let mut files = files_of(&path);
        let mut forger = World::new(0, 0);
        forger.keys = world::Persons::new(120);
        let own = world::Persons::new(120);
        let allowed =
            seal::sshsig::allowed_signers_line("manifest", seal::sshsig::NAMESPACE, &own.manifest.public());
        files.insert("keys/allowed_signers".to_owned(), allowed.unwrap().into_bytes());
        for (name, key) in [
            ("receipt", own.receipt.public()),
            ("manifest", own.manifest.public()),
            ("approval", own.approval.public()),
        ] {
            files.insert(format!("keys/{name}.pub.pem"), key.to_pem().into_bytes());
        }
        let envelope = dsse::Envelope::parse(&files["statement.dsse.json"]).unwrap();
        let mut statement: serde_json::Value = serde_json::from_slice(&envelope.payload).unwrap();
        for (name, key) in [
            ("receipt", own.receipt.public()),
            ("manifest", own.manifest.public()),
            ("approval", own.approval.public()),
        ] {
            statement["predicate"]["keys"][name] = key.keyid().to_string().into();
        }
        let payload = seal::canon::canonical_value(&statement).unwrap();
        let signed = dsse::sign(dsse::IN_TOTO, &payload, &own.receipt).unwrap().to_bytes().unwrap();
        files.insert("statement.dsse.json".to_owned(), signed);
        files.insert("README.txt".to_owned(), b"believe me\n".to_vec());
        repair(&mut files, Power::Manifest, &forger);
        for key in [world.keys.log.public(), world.keys.receipt.public(), world.keys.manifest.public()] {
            let report = Bench::new().verify_files(&files, &[Trust::from(key)]);
            assert_ne!(report.exit_code(), 0, "{acts} acts: {report}");
            made += 1;
        }
        let honest = proof::verify(&path, &[Trust::from(world.keys.log.public())]).unwrap();
        assert_eq!(honest.exit_code(), if acts == 0 { 6 } else { 0 }, "{honest}");
    }
    println!("{made} bundles under an attacker's own keys refused");
}

#[test]
fn a_receipt_signed_by_another_key_or_a_yes_of_another_person_is_refused() {
    // Forged inside the store before the export: the chain and the tree then hold, the signatures must not.
    for forge in ["receipt", "approval"] {
        let mut world = World::new(0, 0);
        let own = std::mem::replace(&mut world.keys, world::Persons::new(60));
        let (log, manifest) = (own.log, own.manifest);
        world.keys.log = log;
        world.keys.manifest = manifest;
        if forge == "approval" {
            world.keys.receipt = own.receipt;
        } else {
            world.keys.approval = own.approval;
        }
        world.act(0);
        let honest = world::Persons::new(10);
        world.keys = honest;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("forged");
        export_to(&world, world.signers(), world.task, &World::everything(), &path).unwrap();
        let report = proof::verify(&path, &[Trust::from(world.keys.log.public())]).unwrap();
        assert_ne!(report.exit_code(), 0, "{forge}: {report}");
    }
}

#[test]
fn one_receipt_bundles_are_as_tight() {
    let world = World::new(2, 3);
    let scope = proof::Scope::Receipt(world.receipts[0]);
    let field = field(&proof::Options { scope, ..proof::Options::default() });
    let mut made = 0;
    for (name, bytes) in &field.files {
        for power in POWERS {
            if binds_nobody(name) && power >= Power::Manifest
                || name.starts_with("SHA256SUMS") && power > Power::Editor
            {
                continue;
            }
            let statement = name == "statement.dsse.json" && power == Power::Receipt;
            for at in offsets(bytes.len(), 5) {
                let mut files = field.files.clone();
                files.get_mut(name).unwrap()[at] ^= 2;
                repair(&mut files, if statement { Power::Manifest } else { power }, &field.world);
                assert!(!field.passes(&files), "{name} byte {at} with {power:?}");
                made += 1;
            }
        }
    }
    let mut other = field.files.clone();
    let foreign = dsse::sign(dsse::IN_TOTO, b"{}", &field.world.keys.receipt).unwrap().to_bytes().unwrap();
    other.insert(format!("receipts/{}.dsse.json", field.world.receipts[0]), foreign);
    repair(&mut other, Power::Receipt, &field.world);
    assert!(!field.passes(&other));
    println!("{made} changed single-receipt bundles refused");
}
