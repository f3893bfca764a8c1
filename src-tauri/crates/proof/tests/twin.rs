//! The second implementation, in TypeScript, must say of every bundle what the first one says: the same verdict, at
//! the same place. The mutants go up to those of an insider who holds every key of the store.
//!
//! `HERMIT_TWIN_MUTANTS` asks for more mutants of each kind than the suite takes.

mod allowed;
pub mod chains;
pub mod insider;
mod kinds;
pub mod said;
mod successors;
mod vouched;
mod words;

pub use successors::followed;
use words::said;

use crate::world::World;
use crate::world::tools::{Bench, Files, Power, files_of, repair, zip};
use proof::{Report, Scope, Trust, Verdict, export_to};
use seal::{Digest, Signer as _};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

const POWERS: [Power; 4] = [Power::Editor, Power::Sums, Power::Manifest, Power::Receipt];

/// The other verifier: the one that the run of all tests names, else the one last built in this checkout.
pub fn twin() -> Option<PathBuf> {
    let built = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../ui/verifier/dist/verify.mjs");
    let path = std::env::var_os("HERMIT_VERIFY_MJS").map_or(built, PathBuf::from);
    let node = Command::new("node").arg("--version").output().is_ok();
    if !node || !path.is_file() {
        conforms::lacks("`node` with the verifier in TypeScript, which `npm run verifier:build` makes,");
        return None;
    }
    Some(path)
}

/// How many mutants of one kind.
fn many(usual: usize) -> usize {
    let asked = std::env::var("HERMIT_TWIN_MUTANTS").ok().and_then(|n| n.parse().ok());
    asked.unwrap_or(usual)
}

/// Repeatable chance.
pub struct Dice(u64);

impl Dice {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end.max(1) as u64).unwrap()
    }
}

/// Asks the twin about every bundle and compares; how many of them were valid.
pub fn agree(zips: &[(String, Vec<u8>)], trust: &Trust) -> Option<usize> {
    agree_since(zips, trust, None)
}

/// [`agree`] for a receiver who holds a checkpoint from before.
fn agree_since(zips: &[(String, Vec<u8>)], trust: &Trust, held: Option<&[u8]>) -> Option<usize> {
    agree_given(zips, trust, &proof::Given { held, ..proof::Given::default() })
}

/// [`agree`] for a receiver who has more than a key.
pub fn agree_given(zips: &[(String, Vec<u8>)], trust: &Trust, given: &proof::Given<'_>) -> Option<usize> {
    let mut command = Command::new("node");
    command.arg(twin()?).args(["--frames", "--trust", &trust.to_string()]);
    let folder = tempfile::tempdir().unwrap();
    let files = [("--since", given.held), ("--bitcoin-headers", given.bitcoin_headers)];
    let files = files.into_iter().filter_map(|(flag, bytes)| Some((flag, bytes?)));
    let authorities = given.authorities.iter().map(|file| ("--trust-authority", file.as_slice()));
    for (at, (flag, bytes)) in files.chain(authorities).enumerate() {
        let file = folder.path().join(format!("given-{at}"));
        std::fs::write(&file, bytes).unwrap();
        command.arg(flag).arg(file);
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let frames: Vec<Vec<u8>> = zips.iter().map(|(_, zip)| zip.clone()).collect();
    let writer = std::thread::spawn(move || {
        for zip in frames {
            input.write_all(&u32::try_from(zip.len()).unwrap().to_be_bytes()).unwrap();
            input.write_all(&zip).unwrap();
        }
    });
    let (send, answers) = channel();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| send.send(line)));
    let (bench, mut valid) = (Bench::new(), 0);
    for (what, zip) in zips {
        let ours: Report = bench.verify_given(zip, std::slice::from_ref(trust), given);
        let answer = answers.recv_timeout(Duration::from_secs(120)).unwrap_or_else(|e| {
            let _ = child.kill();
            panic!("{what}: the twin fell silent: {e}")
        });
        let theirs: Value = serde_json::from_str(&answer).unwrap();
        let mine = serde_json::to_value(&ours).unwrap();
        if said(&mine) != said(&theirs) {
            if let Some(folder) = std::env::var_os("HERMIT_TWIN_KEEP") {
                std::fs::write(PathBuf::from(folder).join("differs.zip"), zip).unwrap();
            }
            panic!("{what}\nfirst:  {mine}\nsecond: {theirs}");
        }
        valid += usize::from(ours.verdict == Verdict::Valid);
    }
    writer.join().unwrap();
    assert!(child.wait().unwrap().success());
    Some(valid)
}

struct Field {
    world: World,
    files: Files,
}

impl Field {
    fn new(world: World, options: &proof::Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bundle");
        export_to(&world, world.signers(), world.task, options, &path).unwrap();
        Self { files: files_of(&path), world }
    }

    /// A whole task, one receipt of it, a span of its events with an older checkpoint, and a task without content or
    /// sensitive values.
    fn all() -> Vec<Self> {
        let receipt = World::new(2, 1);
        let one = proof::Options { scope: Scope::Receipt(receipt.receipts[0]), ..proof::Options::default() };
        let closed = proof::Options {
            artifacts: proof::Include::None,
            redact: proof::Redact::All,
            ..proof::Options::default()
        };
        let (later, held) = Self::later();
        let scope = Scope::Span { first: 3, last: 9 };
        let span = proof::Options { scope, since: Some(held), ..proof::Options::default() };
        vec![
            Self::new(World::new(1, 2), &World::everything()),
            Self::new(receipt, &one),
            Self::new(later, &span),
            Self::new(World::new(1, 1), &closed),
        ]
    }

    /// A store that went on, and its log's checkpoint from before.
    fn later() -> (World, Vec<u8>) {
        let held = Self::new(World::new(1, 2), &World::everything()).files["log/checkpoint"].clone();
        let mut later = World::new(1, 2);
        let before = later.notes();
        later.others.extend(before);
        later.goal("one event more");
        (later, held)
    }

    fn trust(&self) -> Trust {
        Trust::from(self.world.keys.log.public())
    }

    fn manifest(&self) -> Trust {
        Trust::from(self.world.keys.manifest.public())
    }

    fn zip(&self) -> Vec<u8> {
        zip(&self.files)
    }
}

#[test]
fn the_twin_reads_untouched_bundles_of_every_scope_and_every_trust_the_same() {
    for field in Field::all() {
        let zips = [("untouched".to_owned(), field.zip())];
        let keys = &field.world.keys;
        let signers = [&keys.log, &keys.receipt, &keys.manifest, &keys.approval];
        for key in signers.iter().map(|k| k.public()).chain([seal::SeedSigner::from_seed([99; 32]).public()])
        {
            for trust in [Trust::from(key), Trust::Ssh(seal::sshsig::fingerprint(&key))] {
                let Some(valid) = agree(&zips, &trust) else { return };
                // The receipt key vouches for the rest through a statement, which one receipt alone has not.
                if key == keys.manifest.public() {
                    assert_eq!(valid, 1, "who trusts the manifest key has a valid bundle");
                }
            }
        }
    }
    let keyless = Field::new(World::without_keys(1), &World::everything());
    agree(&[("without keys".to_owned(), keyless.zip())], &keyless.trust());
}

#[test]
fn the_twin_sees_the_same_history_behind_a_bundle() {
    let (later, held) = Field::later();
    let plain = Field::new(later, &World::everything());
    let (later, _) = Field::later();
    let since = proof::Options { since: Some(held.clone()), ..World::everything() };
    let grown = Field::new(later, &since);
    let mut forked = World::new(1, 2);
    forked.others.reverse();
    let fork = Field::new(forked, &World::everything()).files["log/checkpoint"].clone();
    let ahead = plain.files["log/checkpoint"].clone();
    let old = Field::new(World::new(1, 2), &World::everything());
    let mut zips = vec![
        ("without a way".to_owned(), plain.zip()),
        ("with a way".to_owned(), grown.zip()),
        ("from before".to_owned(), old.zip()),
    ];
    let mut dice = Dice(23);
    for name in ["log/checkpoint.prev", "log/consistency.txt"] {
        for _ in 0..many(4) {
            for power in POWERS {
                let mut files = grown.files.clone();
                let bytes = files.get_mut(name).unwrap();
                let at = dice.below(bytes.len());
                bytes[at] ^= 1 << dice.below(8);
                repair(&mut files, power, &grown.world);
                zips.push((format!("{name} changed with {power:?}"), zip(&files)));
            }
        }
    }
    for held in [held, fork, ahead, b"nonsense".to_vec()] {
        if agree_since(&zips, &grown.trust(), Some(&held)).is_none() {
            return;
        }
    }
}

#[test]
fn the_twin_refuses_changed_cut_and_grown_zips_at_the_same_place() {
    let mut compared = 0;
    for field in Field::all() {
        let (whole, mut dice, mut zips) = (field.zip(), Dice(7), Vec::new());
        let step = (whole.len() / many(60)).max(1);
        // The directory stands at the end and is read most strictly.
        for at in (0..whole.len()).step_by(step).chain(whole.len() - 120..whole.len()) {
            let mut mutant = whole.clone();
            mutant[at] ^= 1 << dice.below(8);
            zips.push((format!("byte {at}"), mutant));
        }
        for _ in 0..many(12) {
            let (from, to, length) = (dice.below(whole.len()), dice.below(whole.len()), dice.below(300));
            let piece = &whole[from..(from + length).min(whole.len())];
            let end = (to + dice.below(300)).min(whole.len());
            zips.push((format!("splice at {to}"), [&whole[..to], piece, &whole[end..]].concat()));
            zips.push((format!("cut at {to}"), whole[..to].to_vec()));
        }
        let Some(valid) = agree(&zips, &field.trust()) else { return };
        assert!(valid <= 1, "a splice may put back what it took");
        compared += zips.len();
    }
    println!("{compared} changed zips: both verifiers at the same place");
}

#[test]
fn the_twin_refuses_repaired_mutants_at_the_same_place() {
    let mut compared = 0;
    for field in Field::all() {
        let mut zips = Vec::new();
        for power in POWERS {
            changed(&field, power, &mut zips);
            moved(&field, power, &mut zips);
        }
        if agree(&zips, &field.trust()).is_none() {
            return;
        }
        compared += zips.len();
    }
    println!("{compared} mutants repaired with the powers {POWERS:?}: both verifiers at the same place");
}

/// One byte or one line of one file, then everything is made to look right again as far as the power goes.
fn changed(field: &Field, power: Power, zips: &mut Vec<(String, Vec<u8>)>) {
    let mut dice = Dice(11);
    let names: Vec<&String> = field.files.keys().filter(|n| !n.starts_with("SHA256SUMS")).collect();
    for _ in 0..many(20) {
        let name = names[dice.below(names.len())];
        let mut files = field.files.clone();
        let bytes = files.get_mut(name).unwrap();
        let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
        let (at, other) = (dice.below(lines.len()), dice.below(lines.len()));
        match dice.below(8) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(other, lines[at].clone()),
            2 => lines.swap(at, other),
            3 => lines.truncate(at),
            4 => lines.push(b"\n".to_vec()),
            _ => {
                let place = dice.below(lines[at].len());
                lines[at][place] ^= 1 << dice.below(8);
            }
        }
        *bytes = lines.concat();
        let statement = name == "statement.dsse.json" && power == Power::Receipt;
        repair(&mut files, if statement { Power::Manifest } else { power }, &field.world);
        zips.push((format!("{name} with {power:?}"), zip(&files)));
    }
}

/// Files removed, added and exchanged, keys among them.
fn moved(field: &Field, power: Power, zips: &mut Vec<(String, Vec<u8>)>) {
    let mut dice = Dice(13);
    let names: Vec<&String> = field.files.keys().collect();
    let mut push = |what: String, mut files: Files| {
        repair(&mut files, power, &field.world);
        zips.push((format!("{what} with {power:?}"), zip(&files)));
    };
    for _ in 0..many(10) {
        let (one, two) = (names[dice.below(names.len())], names[dice.below(names.len())]);
        let mut removed = field.files.clone();
        removed.remove(one);
        push(format!("without {one}"), removed);
        let mut exchanged = field.files.clone();
        exchanged.insert(one.clone(), field.files[two].clone());
        exchanged.insert(two.clone(), field.files[one].clone());
        push(format!("{one} and {two} exchanged"), exchanged);
    }
    let stranger = seal::SeedSigner::from_seed([77; 32]).public().to_pem().into_bytes();
    let weak = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n-----END PUBLIC KEY-----\n";
    for name in ["log", "receipt", "manifest", "approval"].map(|n| format!("keys/{n}.pub.pem")) {
        for pem in
            [&stranger, &weak.as_bytes().to_vec(), &field.world.keys.log.public().to_pem().into_bytes()]
        {
            let mut files = field.files.clone();
            files.insert(name.clone(), pem.clone());
            push(format!("{name} exchanged"), files);
        }
    }
    let digest = Digest::of(b"[]");
    let strangers = [
        "notes.txt",
        "task/events/1.json",
        "task/events/01.json",
        "statement.json",
        "keys/../README.txt",
        "a\u{e9}\u{202e}\"",
        "log/checkpoint.prev",
    ];
    for name in strangers.map(str::to_owned).into_iter().chain([format!("disclosures/{digest}.json")]) {
        let mut files = field.files.clone();
        files.insert(name.clone(), b"[]".to_vec());
        push(format!("{name} added"), files);
    }
}

#[test]
fn the_twin_judges_what_an_insider_with_every_key_has_rewritten_the_same() {
    let (mut compared, mut valid) = (0, 0);
    for (seed, field) in [World::new(1, 1), World::new(2, 0)].into_iter().enumerate() {
        let field = Field::new(field, &World::everything());
        let mut dice = Dice(17 + seed as u64);
        let zips: Vec<(String, Vec<u8>)> =
            std::iter::once(("signed anew".to_owned(), insider::signed_anew(&field.files, &field.world)))
                .chain(
                    std::iter::repeat_with(|| insider::rewritten(&field.files, &field.world, &mut dice))
                        .take(many(100)),
                )
                .map(|(what, files)| (what, zip(&files)))
                .collect();
        let Some(more) = agree(&zips, &field.trust()) else { return };
        (compared, valid) = (compared + zips.len(), valid + more);
    }
    assert!(valid > 2, "some of what an insider writes must pass, or nothing deep was compared");
    println!(
        "{compared} bundles of an insider with every key, {valid} of them valid: both verifiers say the same"
    );
}

#[test]
fn the_twin_follows_keys_to_those_that_came_after_and_hears_the_same_witnesses() {
    let mut valid = 0;
    for (field, before, held) in successors::all() {
        let zips = [("keys that followed others".to_owned(), field.zip())];
        for trust in successors::trusts(&field, &before) {
            for held in [None, Some(held.as_slice())] {
                let Some(more) = agree_since(&zips, &trust, held) else { return };
                valid += more;
            }
        }
    }
    assert!(valid >= 8, "keys of before and of now must make bundles valid, not only {valid}");
}

#[test]
fn the_twin_refuses_forged_notes_about_keys_and_witnesses_at_the_same_place() {
    let (mut compared, mut valid) = (0, 0);
    for (field, before, _) in successors::all() {
        let mut dice = Dice(29);
        let mut zips: Vec<(String, Vec<u8>)> = successors::rewritten(&field, &before)
            .into_iter()
            .map(|(what, files)| (what, zip(&files)))
            .collect();
        let notes =
            |n: &&String| n.starts_with("keys/r") || n.starts_with("log/") || n.ends_with("tlog-proof");
        for name in field.files.keys().filter(notes) {
            for power in POWERS.into_iter().cycle().take(many(8)) {
                let mut files = field.files.clone();
                let bytes = files.get_mut(name).unwrap();
                let at = dice.below(bytes.len());
                bytes[at] ^= 1 << dice.below(8);
                repair(&mut files, power, &field.world);
                zips.push((format!("{name} changed with {power:?}"), zip(&files)));
            }
        }
        for trust in [Trust::from(before.old.log.public()), Trust::Witness(successors::witness(1).0)] {
            let Some(more) = agree(&zips, &trust) else { return };
            (compared, valid) = (compared + zips.len(), valid + more);
        }
    }
    assert!(valid > 10, "some of what is written anew must pass, or nothing deep was compared");
    println!("{compared} bundles with forged notes, {valid} of them valid: both verifiers say the same");
}

#[test]
fn the_twin_misses_a_gate_entry_that_one_receipt_alone_names() {
    let world = World::new(2, 1);
    let one = proof::Options { scope: Scope::Receipt(world.receipts[0]), ..proof::Options::default() };
    let field = Field::new(world, &one);
    let mut files = field.files.clone();
    files.retain(|name, _| !name.starts_with("gate/"));
    assert!(files.len() < field.files.len(), "it had one");
    repair(&mut files, Power::Receipt, &field.world);
    let mutant = zip(&files);
    let report = crate::world::tools::Bench::new().verify(&mutant, &[field.trust()]);
    assert_eq!(report.exit_code(), 7, "{report}");
    // Nor is it there twice (found by the harness at full size).
    let mut files = field.files.clone();
    let entries = files.get_mut("gate/entries.jsonl").unwrap();
    let doubled = [entries.as_slice(), entries.as_slice()].concat();
    *entries = doubled;
    repair(&mut files, Power::Receipt, &field.world);
    let twice = zip(&files);
    let report = crate::world::tools::Bench::new().verify(&twice, &[field.trust()]);
    assert_eq!(report.exit_code(), 5, "{report}");
    let zips = [("without its gate entry".to_owned(), mutant), ("with it twice".to_owned(), twice)];
    agree(&zips, &field.trust());
}

/// Bundles that the page's own tests read. They are committed, so that what was once exported stays checkable.
#[test]
fn the_bundles_that_the_page_is_tested_with_are_ours_and_valid() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../ui/verifier/test/data");
    let receipt = World::new(2, 1);
    let one = proof::Options { scope: Scope::Receipt(receipt.receipts[0]), ..proof::Options::default() };
    let bundles = [("task.zip", World::new(2, 1), World::everything()), ("receipt.zip", receipt, one)];
    for (name, world, options) in bundles {
        let path = folder.join(name);
        let field = Field::new(world, &options);
        if std::env::var_os("HERMIT_WRITE_BUNDLES").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, field.zip()).unwrap();
            std::fs::write(folder.join("log.pub.pem"), field.world.keys.log.public().to_pem()).unwrap();
            successors::write(&folder);
        }
        let report = proof::verify(&path, &[field.trust()]).unwrap();
        let again = "with HERMIT_WRITE_BUNDLES=1 this test writes it again, if it may no longer be valid";
        assert_eq!(report.verdict, Verdict::Valid, "{name}: {report}\n{again}");
    }
    let key = std::fs::read_to_string(folder.join("rotated.before.pub.pem")).unwrap();
    let held = std::fs::read(folder.join("rotated.before.checkpoint")).unwrap();
    let trust = [Trust::parse(&key).unwrap()];
    let report = proof::verify_since(&folder.join("rotated.zip"), &trust, Some(&held)).unwrap();
    assert_eq!(report.verdict, Verdict::Valid, "{report}");
}
