//! What somebody may send to harm whoever checks it: a clear answer, exit code 5, in bounded memory and time.
#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "this test runs the program below a limit of memory")]

use crate::world::World;
use crate::world::tools::{Files, Power, files_of, repair, zip, zip_of};
use proof::export_to;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Address space that the verifier gets.
const KILOBYTES: u64 = 256 * 1_024;
const SECONDS: u64 = 60;
const FOUR_GIB: u64 = 4 * 1024 * 1024 * 1024;

struct Sent {
    folder: tempfile::TempDir,
    world: World,
    files: Files,
}

impl Sent {
    fn new() -> Self {
        let world = World::new(1, 1);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("honest");
        export_to(&world, world.signers(), world.task, &World::everything(), &path).unwrap();
        Self { files: files_of(&path), world, folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A copy of the honest bundle as a folder.
    fn copy(&self, name: &str) -> PathBuf {
        let root = self.path(name);
        for (file, bytes) in &self.files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        root
    }

    /// With one file changed, and everything made to look right again by who holds two keys.
    fn forged(&self, file: &str, bytes: Vec<u8>) -> Vec<u8> {
        let mut files = self.files.clone();
        files.insert(file.to_owned(), bytes);
        repair(&mut files, Power::Receipt, &self.world);
        zip(&files)
    }

    fn written(&self, name: &str, zip: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, zip).unwrap();
        path
    }
}

/// A zip meant to harm: what it is called, its bytes, and a word of the refusal.
type Harm = (String, Vec<u8>, String);

/// Every harmful zip; the twin is asked about them, too.
pub fn harms() -> (Vec<Harm>, World) {
    let sent = Sent::new();
    let all = [strange(&sent), forged(&sent), later(&sent)].concat();
    (all, sent.world)
}

fn strange(sent: &Sent) -> Vec<Harm> {
    // A few packed bytes that would be four gigabytes: what unpacks first and asks later runs out of disk.
    let mut bomb = zip(&sent.files);
    let end = bomb.len() - 6;
    let directory = u32::from_le_bytes(bomb[end..end + 4].try_into().unwrap()) as usize;
    for (header, method) in [(0, 8), (directory, 10)] {
        bomb[header + method..header + method + 2].copy_from_slice(&8_u16.to_le_bytes());
    }
    bomb[directory + 24..directory + 28].copy_from_slice(&u32::MAX.to_le_bytes());
    let mut all = vec![("bomb.zip".to_owned(), bomb, "compressed".to_owned())];
    for (name, file) in
        [("up.zip", "../evil"), ("root.zip", "/etc/passwd"), ("inside.zip", "keys/../../evil")]
    {
        let mut files = sent.files.clone();
        files.insert(file.to_owned(), b"x".to_vec());
        all.push((name.to_owned(), zip(&files), "no file of this name".to_owned()));
    }
    let mut twice: Vec<(&str, &[u8])> = sent.files.iter().map(|(n, b)| (n.as_str(), b.as_slice())).collect();
    twice.insert(1, twice[0]);
    all.push(("twice.zip".to_owned(), zip_of(twice), "twice".to_owned()));
    all
}

fn forged(sent: &Sent) -> Vec<Harm> {
    let note = String::from_utf8(sent.files["log/checkpoint"].clone()).unwrap();
    let line = note.lines().last().unwrap().to_owned();
    let mut many = note.clone();
    for n in 0..1_000 {
        many.push_str(&line.replacen("hermit.local", &format!("witness-{n}.example"), 1));
        many.push('\n');
    }
    let many = sent.forged("log/checkpoint", many.into_bytes());
    let mut all = vec![("many.zip".to_owned(), many, "more than 16 signatures".to_owned())];
    for file in ["log/checkpoint", "task/events.jsonl", "gate/entries.jsonl", "keys/log.vkey"] {
        let text = String::from_utf8(sent.files[file].clone()).unwrap().replace('\n', "\r\n");
        let name = format!("cr-{}.zip", file.replace('/', "-"));
        all.push((name, sent.forged(file, text.into_bytes()), file.to_owned()));
    }
    let sums = String::from_utf8(sent.files["SHA256SUMS"].clone()).unwrap().replace('\n', "\r\n");
    let mut files = sent.files.clone();
    files.insert("SHA256SUMS".to_owned(), sums.into_bytes());
    all.push(("cr-sums.zip".to_owned(), zip(&files), "SHA256SUMS".to_owned()));
    let files = sent.files.iter().map(|(name, bytes)| {
        let text = String::from_utf8_lossy(bytes).replace('\n', "\r\n");
        (name.clone(), if name.ends_with("ed25519") { bytes.clone() } else { text.into_bytes() })
    });
    all.push(("cr-all.zip".to_owned(), zip(&files.collect()), String::new()));
    all
}

const LATER: [&str; 3] = ["hermit-proof/2", "hermit-proof/10", "hermit-proof/1.1"];

fn later(sent: &Sent) -> Vec<Harm> {
    let of = |other: &&str| {
        let mut files = sent.files.clone();
        let readme = String::from_utf8(files["README.txt"].clone()).unwrap();
        files.insert("README.txt".to_owned(), readme.replacen("hermit-proof/1", other, 1).into_bytes());
        files.insert("task/future.cbor".to_owned(), b"x".to_vec());
        (format!("{}.zip", other.replace('/', "-")), zip(&files), (*other).to_owned())
    };
    LATER.iter().map(of).collect()
}

/// Refused with exit code 5 and a sentence that has the word in it, within the limits.
fn refused(path: &Path, word: &str) {
    let begin = Instant::now();
    let output = Command::new("sh")
        .args(["-c", "ulimit -v $0 && exec \"$@\"", &KILOBYTES.to_string()])
        .arg(env!("CARGO_BIN_EXE_hermit-verify"))
        .arg(path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let name = path.file_name().unwrap().to_string_lossy();
    assert_eq!(output.status.code(), Some(5), "{name}: {said}");
    let first = said.lines().next().unwrap_or_default();
    assert!(first.starts_with("invalid at ") && first.contains(word), "{name}: {first}");
    assert!(first.len() < 400, "{name}: {first}");
    assert!(begin.elapsed().as_secs() < SECONDS, "{name} took {:?}", begin.elapsed());
    println!("{name}: {first}");
}

fn sparse(path: &Path) {
    fs::File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .unwrap()
        .set_len(FOUR_GIB)
        .unwrap();
}

#[test]
fn four_gigabytes_of_nothing_are_refused_wherever_they_stand() {
    let sent = Sent::new();
    let zip = sent.path("huge.zip");
    sparse(&zip);
    refused(&zip, "does not end as a bundle's zip does");
    for (file, word) in [
        ("SHA256SUMS", "longer than any"),
        ("task/events.jsonl", "longer than any"),
        ("gate/entries.jsonl", "longer than any"),
        ("README.txt", "changed"),
        ("statement.dsse.json", "more than the"),
        ("log/checkpoint", "more than the"),
        ("keys/log.pub.pem", "more than the"),
    ] {
        let root = sent.copy(&format!("huge-{}", file.replace('/', "-")));
        sparse(&root.join(file));
        refused(&root, word);
    }
    let record = sent.files.keys().find(|name| name.starts_with("disclosures/")).unwrap();
    let root = sent.copy("huge-disclosure");
    sparse(&root.join(record));
    refused(&root, "more than the");
}

#[test]
fn zip_bombs_doubled_names_and_names_that_lead_elsewhere_are_refused() {
    let sent = Sent::new();
    for (name, zip, word) in strange(&sent) {
        refused(&sent.written(&name, &zip), &word);
    }
}

#[test]
fn links_pipes_and_strange_places_are_refused_and_never_waited_for() {
    let sent = Sent::new();
    let link = sent.copy("link");
    fs::remove_file(link.join("log/checkpoint")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", link.join("log/checkpoint")).unwrap();
    refused(&link, "link or a special file");
    for (name, file) in [("pipe", "README.txt"), ("pipe-inside", "task/events.jsonl")] {
        let root = sent.copy(name);
        fs::remove_file(root.join(file)).unwrap();
        assert!(Command::new("mkfifo").arg(root.join(file)).status().unwrap().success());
        refused(&root, "link or a special file");
    }
    let pipe = sent.path("pipe.zip");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    refused(&pipe, "neither a file nor a folder");
    refused(Path::new("/dev/zero"), "neither a file nor a folder");
}

#[test]
fn a_thousand_signatures_and_the_line_ends_of_another_system_are_refused() {
    let sent = Sent::new();
    for (name, zip, word) in forged(&sent) {
        refused(&sent.written(&name, &zip), &word);
    }
}

#[test]
fn another_version_is_named_as_such_in_both_shapes_and_whatever_else_it_has() {
    let sent = Sent::new();
    for (name, zip, word) in later(&sent) {
        refused(&sent.written(&name, &zip), &word);
    }
    for other in LATER {
        let root = sent.copy(&other.replace('/', "-"));
        fs::write(root.join("README.txt"), format!("{other}\n")).unwrap();
        fs::write(root.join("future"), b"x").unwrap();
        refused(&root, other);
    }
    // A link to a zip is a way to write its name; a link inside a folder is none of ours and is not followed.
    let (name, zip, word) = later(&sent).remove(0);
    let (zip, link) = (sent.written(&name, &zip), sent.path("link.zip"));
    std::os::unix::fs::symlink(&zip, &link).unwrap();
    refused(&link, &word);
    let root = sent.copy("linked");
    fs::remove_file(root.join("README.txt")).unwrap();
    fs::write(sent.path("later.txt"), "hermit-proof/2\n").unwrap();
    std::os::unix::fs::symlink(sent.path("later.txt"), root.join("README.txt")).unwrap();
    refused(&root, "link or a special file");
    // A text that stands where a zip has its first file is not one; nor is the name of a format alone another one.
    let text = [b"x".repeat(40), b"hermit-proof/2\n".repeat(8)].concat();
    refused(&sent.written("text.zip", &text), "does not end as a bundle's zip does");
    let root = sent.copy("own");
    fs::write(root.join("README.txt"), "hermit-proof/1\n").unwrap();
    refused(&root, "it was changed");
}
