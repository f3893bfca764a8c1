//! Bounds hold to the byte: what is exactly as long as it may be is read, and one byte more is not.

use crate::twin::followed;
use crate::world::World;
use crate::world::tools::{Bench, Files, Power, files_of, repair, zip};
use proof::{Report, Trust, export_to, verify};
use seal::{SeedSigner, Signer as _, sshsig};
use std::path::PathBuf;

const MIB: usize = 1024 * 1024;

struct Sent {
    world: World,
    files: Files,
    folder: tempfile::TempDir,
}

impl Sent {
    fn new() -> Self {
        let world = World::new(1, 1);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("honest");
        export_to(&world, world.signers(), world.task, &World::everything(), &path).unwrap();
        Self { files: files_of(&path), world, folder }
    }

    /// The verdict on the folder with this file so long, of nothing.
    fn stretched(&self, name: &str, length: usize) -> Report {
        let root: PathBuf = self.folder.path().join("honest");
        let file = std::fs::File::options().write(true).truncate(true).open(root.join(name)).unwrap();
        file.set_len(length as u64).unwrap();
        let report = verify(&root, &[]).unwrap();
        std::fs::write(root.join(name), &self.files[name]).unwrap();
        report
    }

    /// The verdict on the bundle with these bytes in a file, sums and their signatures made anew.
    fn with(&self, name: &str, bytes: Vec<u8>) -> Report {
        let mut files = self.files.clone();
        files.insert(name.to_owned(), bytes);
        repair(&mut files, Power::Receipt, &self.world);
        let trust = Trust::from(self.world.keys.manifest.public());
        Bench::new().verify_files(&files, &[trust])
    }

    fn first(&self, folder: &str) -> &str {
        self.files.keys().find(|name| name.starts_with(folder)).unwrap()
    }
}

fn refused(report: &Report, what: &str, place: &str, word: &str) {
    let said = report.headline();
    let begins = format!("invalid at {place}");
    assert!(said.starts_with(&begins) && said.contains(word), "{what}: {report}");
}

#[test]
fn a_file_that_is_read_whole_is_as_long_as_it_may_be_and_no_byte_longer() {
    let sent = Sent::new();
    let packet = seal::Digest(
        sent.world
            .artifacts
            .iter()
            .find_map(|(digest, bytes)| {
                bytes.windows(16).any(|w| w == b"\"action_summary\"").then_some(digest.0)
            })
            .unwrap(),
    );
    let record = format!("artifacts/sha256/{}/{packet}", &packet.to_string()[..2]);
    let bounds = [
        ("keys/receipt.pub.pem", MIB),
        ("log/checkpoint", MIB),
        ("SHA256SUMS.ed25519", MIB),
        (sent.first("disclosures/"), 4 * MIB),
        (sent.first("receipts/"), 64 * MIB),
        ("statement.dsse.json", 64 * MIB),
        (&record, 16 * MIB),
    ];
    for (name, bound) in bounds {
        let more = format!("more than the {bound} such a file may have");
        refused(&sent.stretched(name, bound + 1), name, name, &more);
        let exactly = sent.stretched(name, bound);
        assert_eq!(exactly.exit_code(), 5, "{name}: {exactly}");
        assert!(!exactly.headline().contains("such a file may have"), "{name}: {exactly}");
    }
    assert_eq!(verify(&sent.folder.path().join("honest"), &[]).unwrap().exit_code(), 6, "it is whole again");
}

#[test]
fn a_line_is_as_long_as_it_may_be_and_no_byte_longer() {
    let sent = Sent::new();
    let name = "task/events.jsonl";
    let place = format!("{name} line 1");
    let line = |length: usize, end: &[u8]| [vec![b'x'; length], end.to_vec()].concat();
    let long = "longer than any of ours";
    for (length, end, word) in [
        (4 * MIB, b"\n".as_slice(), "canonical"),
        (4 * MIB, b"\nx", "canonical"),
        (4 * MIB + 1, b"\n", long),
        (4 * MIB + 1, b"", long),
        (4 * MIB, b"", "cut off"),
        (4 * MIB - 1, b"", "cut off"),
    ] {
        let report = sent.with(name, line(length, end));
        let said = report.headline();
        assert!(said.starts_with(&format!("invalid at {place}: ")), "{length}: {said:.300}");
        assert_eq!(said.contains(long), word == long, "{length}: {said:.300}");
        assert_eq!(said.contains("cut off"), word == "cut off", "{length}: {said:.300}");
    }
}

#[test]
fn what_no_program_reads_is_short_and_may_say_anything() {
    let sent = Sent::new();
    assert_eq!(sent.with("README.txt", vec![b'x'; MIB]).exit_code(), 0);
    refused(&sent.with("README.txt", vec![b'x'; MIB + 1]), "readme", "README.txt", "it was changed");
    assert_eq!(sent.with("prov.json", vec![b'x'; MIB + 1]).exit_code(), 0, "a long task has a long lineage");
}

/// Its name says what its bytes are, and so must the sums: a signed list with another digest is refused as a list.
#[test]
fn a_file_named_by_its_digest_has_no_other_digest_in_the_sums() {
    let sent = Sent::new();
    for name in [sent.first("disclosures/"), sent.first("artifacts/")] {
        let mut files = sent.files.clone();
        let own = seal::Digest::of(&files[name]).to_string();
        let sums = String::from_utf8(files["SHA256SUMS"].clone()).unwrap();
        let sums = sums.replace(&format!("{own}  {name}"), &format!("{}  {name}", seal::Digest::of(b"")));
        let signature = sent.world.keys.manifest.sign(sums.as_bytes()).unwrap();
        files.insert("SHA256SUMS.ed25519".to_owned(), signature.as_bytes().to_vec());
        let armored = sshsig::sign(sums.as_bytes(), sshsig::NAMESPACE, &sent.world.keys.manifest).unwrap();
        files.insert("SHA256SUMS.sshsig".to_owned(), armored.into_bytes());
        files.insert("SHA256SUMS".to_owned(), sums.into_bytes());
        let trust = Trust::from(sent.world.keys.manifest.public());
        let report = Bench::new().verify_files(&files, &[trust]);
        refused(&report, name, "SHA256SUMS line", "the file's digest is not the one that is its name");
    }
}

#[test]
fn keys_follow_each_other_two_thousand_times_and_not_once_more() {
    let mut sent = Sent::new();
    let key = |n: u32| match n {
        2_001 => SeedSigner::from_seed([10; 32]),
        n => SeedSigner::from_seed(seal::Digest::of(&n.to_le_bytes()).0),
    };
    assert_eq!(key(2_001).public(), sent.world.keys.log.public());
    let mut next = key(2_001);
    for n in (1..=2_000).rev() {
        let before = key(n);
        let note = followed(&sent.world.log_id, "log", &before, &next);
        sent.files.insert(format!("keys/rotations/{n}.note"), note);
        next = before;
    }
    let readme = sent.files["README.txt"].clone();
    let report = sent.with("README.txt", readme.clone());
    assert_eq!(report.exit_code(), 0, "{report}");
    let note = followed(&sent.world.log_id, "log", &key(1), &key(2));
    sent.files.insert("keys/rotations/2001.note".to_owned(), note);
    refused(&sent.with("README.txt", readme), "too many", "keys/rotations", "more than 2000 times");
}

/// A zip's end names its directory, and the directory is no larger than the files it lists can need.
#[test]
fn a_zip_whose_directory_is_larger_than_its_files_need_is_refused_before_it_is_read() {
    let bench = Bench::new();
    let zip = |directory: usize| {
        let mut bytes = vec![0_u8; directory];
        bytes.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
        bytes.extend(u32::try_from(directory).unwrap().to_le_bytes());
        bytes.extend([0; 6]);
        bytes
    };
    let word = "its directory is larger than its files need";
    refused(&bench.verify(&zip(46 + 128 + 1), &[]), "one more", "the zip", word);
    let exactly = bench.verify(&zip(46 + 128), &[]).headline();
    assert!(exactly.starts_with("invalid at ") && !exactly.contains(word), "{exactly}");
    // Twenty-two bytes are the shortest zip, and it has no files.
    refused(&bench.verify(&zip(0)[..21], &[]), "cut", "the zip", "too short");
    let mut empty = zip(0);
    (empty[8], empty[10]) = (0, 0);
    refused(&bench.verify(&empty, &[]), "empty", "SHA256SUMS", "it is missing");
}

#[test]
fn a_zip_whose_directory_does_not_fit_its_files_to_the_byte_is_refused() {
    let sent = Sent::new();
    let zip = zip(&sent.files);
    let end = zip.len() - 22;
    let number = |at: usize| u32::from_le_bytes(zip[at..at + 4].try_into().unwrap());
    let at = usize::try_from(number(end + 16)).unwrap();
    let bench = Bench::new();
    // Bytes before the directory, which its end accounts for.
    let mut hidden = [&zip[..at], b"hidden", &zip[at..]].concat();
    let place = hidden.len() - 6;
    hidden[place..place + 4].copy_from_slice(&(number(end + 16) + 6).to_le_bytes());
    refused(&bench.verify(&hidden, &[]), "hidden", "the zip's directory", "between or behind the files");
    // An entry more than it counts.
    let mut fewer = zip.clone();
    let files = u16::try_from(sent.files.len() - 1).unwrap().to_le_bytes();
    fewer[end + 8..end + 10].copy_from_slice(&files);
    fewer[end + 10..end + 12].copy_from_slice(&files);
    refused(&bench.verify(&fewer, &[]), "fewer", "the zip's directory", "between or behind the files");
}
