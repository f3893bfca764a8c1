//! Files of bundles, what an attacker can repair, and a second writer of zips.

use super::World;
use proof::{Options, Report, Trust, export_to};
use seal::{Digest, Signer as _, dsse, sshsig};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files of a bundle by name.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Reads a directory bundle.
pub fn files_of(root: &Path) -> Files {
    fn walk(root: &Path, folder: &Path, files: &mut Files) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, files);
            } else {
                let name = path
                    .strip_prefix(root)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .replace(std::path::MAIN_SEPARATOR, "/");
                files.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    let mut files = Files::new();
    walk(root, root, &mut files);
    files
}

/// What a stranger who trusts the manifest key, which vouches also where no receipt is in scope, says of a bundle of this world.
pub fn checked(world: &World, options: &Options) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle.zip");
    export_to(world, world.signers(), world.task, options, &path).unwrap();
    let zip = std::fs::read(path).unwrap();
    Bench::new().verify(&zip, &[Trust::from(world.keys.manifest.public())])
}

/// The files of a bundle of this world.
pub fn exported(world: &World, options: &Options) -> Files {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle");
    export_to(world, world.signers(), world.task, options, &path).unwrap();
    files_of(&path)
}

/// These files as a zip.
pub fn zip(files: &Files) -> Vec<u8> {
    zip_of(files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())))
}

/// What an attacker may have got hold of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Power {
    /// An editor.
    Editor,
    /// `sha256sum`.
    Sums,
    /// The manifest key.
    Manifest,
    /// The manifest key and the receipt key.
    Receipt,
}

/// Makes the files look right again, as far as the power goes.
pub fn repair(files: &mut Files, power: Power, world: &World) {
    if power == Power::Editor {
        return;
    }
    if power == Power::Receipt
        && let Some(bytes) = files.get("statement.dsse.json")
        && let Ok(envelope) = dsse::Envelope::parse(bytes)
    {
        let mut statement: serde_json::Value = serde_json::from_slice(&envelope.payload).unwrap();
        let subjects: Vec<serde_json::Value> = files
            .iter()
            .filter(|(name, _)| {
                let fixed = ["log/checkpoint", "task/checkpoint", "gate/checkpoint", "task/events.jsonl"];
                let folders = ["receipts/", "artifacts/", "task/events/"];
                fixed.contains(&name.as_str())
                    || *name == "gate/entries.jsonl"
                    || folders.iter().any(|folder| name.starts_with(folder))
            })
            .map(|(name, bytes)| serde_json::json!({"name": name, "digest": {"sha256": Digest::of(bytes)}}))
            .collect();
        statement["subject"] = subjects.into();
        let payload = seal::canon::canonical_value(&statement).unwrap();
        let signed = dsse::sign(dsse::IN_TOTO, &payload, &world.keys.receipt).unwrap().to_bytes().unwrap();
        files.insert("statement.dsse.json".to_owned(), signed);
    }
    let sums: String = files
        .iter()
        .filter(|(name, _)| !name.starts_with("SHA256SUMS"))
        .map(|(name, bytes)| format!("{}  {name}\n", Digest::of(bytes)))
        .collect();
    if power >= Power::Manifest {
        let signature = world.keys.manifest.sign(sums.as_bytes()).unwrap();
        files.insert("SHA256SUMS.ed25519".to_owned(), signature.as_bytes().to_vec());
        let armored = sshsig::sign(sums.as_bytes(), sshsig::NAMESPACE, &world.keys.manifest).unwrap();
        files.insert("SHA256SUMS.sshsig".to_owned(), armored.into_bytes());
    }
    files.insert("SHA256SUMS".to_owned(), sums.into_bytes());
}

fn crc(bytes: &[u8]) -> u32 {
    static TABLE: std::sync::LazyLock<[u32; 256]> = std::sync::LazyLock::new(|| {
        std::array::from_fn(|n| {
            (0..8).fold(n as u32, |c, _| if c & 1 == 1 { c >> 1 ^ 0xEDB8_8320 } else { c >> 1 })
        })
    });
    !bytes.iter().fold(!0, |c, b| TABLE[((c ^ u32::from(*b)) & 255) as usize] ^ (c >> 8))
}

/// A zip of these files as the format wants it, written a second time from its description.
pub fn zip_of<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let (mut out, mut directory, mut count) = (Vec::new(), Vec::new(), 0_u16);
    for (name, bytes) in files {
        let (size, at) = (bytes.len() as u32, out.len() as u32);
        let mut fields = Vec::new();
        fields.extend([10, 0, 0, 0, 0, 0, 0, 0, 0x21, 0]);
        fields.extend([crc(bytes), size, size].iter().flat_map(|n| n.to_le_bytes()));
        fields.extend((name.len() as u16).to_le_bytes());
        fields.extend([0, 0]);
        out.extend(b"PK\x03\x04");
        out.extend(&fields);
        out.extend(name.as_bytes());
        out.extend(bytes);
        directory.extend(b"PK\x01\x02\x0a\x03");
        directory.extend(&fields);
        directory.extend([0; 6]);
        directory.extend((0o100_644_u32 << 16).to_le_bytes());
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
        count += 1;
    }
    let (size, at) = (directory.len() as u32, out.len() as u32);
    out.extend(directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([count, count].iter().flat_map(|n| n.to_le_bytes()));
    out.extend([size, at].iter().flat_map(|n| n.to_le_bytes()));
    out.extend([0, 0]);
    out
}

/// A place to put one mutant after the other.
pub struct Bench {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Bench {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mutant.zip");
        Self { _folder: folder, path }
    }

    pub fn verify(&self, zip: &[u8], trust: &[proof::Trust]) -> proof::Report {
        self.verify_since(zip, trust, None)
    }

    pub fn verify_since(&self, zip: &[u8], trust: &[proof::Trust], held: Option<&[u8]>) -> proof::Report {
        self.verify_given(zip, trust, &proof::Given { held, ..proof::Given::default() })
    }

    pub fn verify_given(
        &self,
        zip: &[u8],
        trust: &[proof::Trust],
        given: &proof::Given<'_>,
    ) -> proof::Report {
        std::fs::write(&self.path, zip).unwrap();
        proof::verify_given(&self.path, trust, given).unwrap()
    }

    pub fn verify_files(&self, files: &Files, trust: &[proof::Trust]) -> proof::Report {
        self.verify(&zip_of(files.iter().map(|(n, b)| (n.as_str(), b.as_slice()))), trust)
    }
}
