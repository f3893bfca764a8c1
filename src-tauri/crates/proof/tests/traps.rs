//! Zip files and directories that try to be something else.

use crate::world::World;
use crate::world::tools::{Bench, Files, files_of, zip_of};
use proof::{Options, Verdict, export_to, verify};
use std::io::Write as _;

fn bundle() -> Files {
    let world = World::new(1, 0);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle");
    export_to(&world, world.signers(), world.task, &Options::default(), &path).unwrap();
    files_of(&path)
}

fn refused(report: &proof::Report, word: &str) {
    let Verdict::Invalid { place, why } = &report.verdict else { panic!("{report}") };
    assert!(format!("{place}: {why}").contains(word), "`{place}: {why}` does not say `{word}`");
}

#[test]
fn another_zip_writer_is_read_by_stock_readers_and_its_liberties_are_refused() {
    let (files, bench) = (bundle(), Bench::new());
    let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    // Whatever system it runs on, it says of which one the files are.
    let stored = stored.system(zip::System::Unix);
    let written = |entries: &[(&str, &[u8])], stored: zip::write::SimpleFileOptions| {
        let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, bytes) in entries {
            writer.start_file(*name, stored).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    };
    let all: Vec<(&str, &[u8])> = files.iter().map(|(n, b)| (n.as_str(), b.as_slice())).collect();
    let own = zip_of(all.iter().copied());
    assert!(written(&all, stored) == own, "the zip crate, asked for nothing else, writes the same bytes");
    for liberty in [stored.unix_permissions(0o777), stored.large_file(true)] {
        refused(&bench.verify(&written(&all, liberty), &[]), "");
    }
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(own)).unwrap();
    assert_eq!(archive.len(), files.len());
    for (name, bytes) in &files {
        let mut read = Vec::new();
        std::io::Read::read_to_end(&mut archive.by_name(name).unwrap(), &mut read).unwrap();
        assert_eq!(read, *bytes, "{name} by the zip crate");
    }
}

#[test]
fn names_that_lead_elsewhere_come_twice_or_are_not_sorted_are_refused() {
    let (files, bench) = (bundle(), Bench::new());
    let with = |name: &str| {
        let mut all: Vec<(String, Vec<u8>)> = files.clone().into_iter().collect();
        all.push((name.to_owned(), b"x".to_vec()));
        all.sort();
        zip_of(all.iter().map(|(n, b)| (n.as_str(), b.as_slice())).collect::<Vec<_>>())
    };
    for name in [
        "../evil",
        "/etc/passwd",
        "keys/../../evil",
        "keys\\evil",
        "C:evil",
        "./README.txt",
        "log/",
        "a\0b",
        "task/checkpoint ",
    ] {
        refused(&bench.verify(&with(name), &[]), "no file of this name");
    }
    refused(&bench.verify(&with("README.txt"), &[]), "twice");
    let backwards: Vec<(&str, &[u8])> = files.iter().rev().map(|(n, b)| (n.as_str(), b.as_slice())).collect();
    refused(&bench.verify(&zip_of(backwards), &[]), "not sorted");
}

#[test]
fn compressed_entries_links_bombs_and_hidden_bytes_are_refused_before_they_are_read() {
    let (files, bench) = (bundle(), Bench::new());
    let zip = zip_of(files.iter().map(|(n, b)| (n.as_str(), b.as_slice())));
    let directory = u32::from_le_bytes(zip[zip.len() - 6..zip.len() - 2].try_into().unwrap()) as usize;
    let change = |at: usize, bytes: &[u8]| {
        let mut mutant = zip.clone();
        mutant[at..at + bytes.len()].copy_from_slice(bytes);
        mutant
    };
    refused(&bench.verify(&change(directory + 10, &8_u16.to_le_bytes()), &[]), "compressed");
    refused(&bench.verify(&change(directory + 38, &(0o120_777_u32 << 16).to_le_bytes()), &[]), "link");
    // A bomb: sizes that the file does not have, an entry that covers others, more entries than there are.
    refused(&bench.verify(&change(directory + 24, &u32::MAX.to_le_bytes()), &[]), "");
    refused(&bench.verify(&change(directory + 42, &7_u32.to_le_bytes()), &[]), "between the files");
    refused(&bench.verify(&change(zip.len() - 14, &[0xff; 4]), &[]), "");
    refused(&bench.verify(&change(zip.len() - 10, &u32::MAX.to_le_bytes()), &[]), "");
    refused(&bench.verify(&[&zip[..directory], b"hidden", &zip[directory..]].concat(), &[]), "");
    let mut comment = zip.clone();
    let end = comment.len() - 2;
    comment[end] = 5;
    comment.extend(b"hello");
    refused(&bench.verify(&comment, &[]), "");
    refused(&bench.verify(b"", &[]), "too short");
    refused(&bench.verify(&[0; 4096], &[]), "");
}

#[cfg(unix)]
#[test]
fn a_directory_with_links_strange_files_or_deep_folders_is_refused() {
    let world = World::new(1, 0);
    let make = |name: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        export_to(&world, world.signers(), world.task, &Options::default(), &path).unwrap();
        (folder, path)
    };
    let (_a, path) = make("a");
    let key = path.join("keys/log.pub.pem");
    std::fs::rename(&key, path.join("../log.pub.pem")).unwrap();
    std::os::unix::fs::symlink("../../log.pub.pem", &key).unwrap();
    refused(&verify(&path, &[]).unwrap(), "link");
    let (_b, path) = make("b");
    std::fs::create_dir_all(path.join("keys/a/b/c/d/e/f")).unwrap();
    refused(&verify(&path, &[]).unwrap(), "deeper");
    let (_c, path) = make("c");
    std::fs::write(path.join("keys/.hidden"), b"x").unwrap();
    refused(&verify(&path, &[]).unwrap(), "no file of this name");
    let (_d, path) = make("d");
    std::fs::write(path.join("README.txt"), vec![b'x'; 5_000_000]).unwrap();
    refused(&verify(&path, &[]).unwrap(), "changed");
}

#[test]
fn an_empty_or_absent_bundle_is_no_bundle() {
    let folder = tempfile::tempdir().unwrap();
    refused(&verify(folder.path(), &[]).unwrap(), "missing");
    assert!(matches!(verify(&folder.path().join("nothing"), &[]), Err(proof::Error::Io { .. })));
}
