//! What nobody here wrote agrees, and refuses changes: `sha256sum`, `openssl`, `ssh-keygen`, `unzip` by Python,
//! `rfc8785`, `securesystemslib`, Go's `sumdb`. A tool that is not on this machine is skipped with a word.
#![allow(clippy::disallowed_methods, reason = "these tests run the tools a stranger would run")]

use crate::world::tools::run;
use crate::world::{self, World};
use proof::export_to;
use seal::Signer as _;
use std::fs;
use std::path::{Path, PathBuf};

fn bundle() -> (World, tempfile::TempDir, PathBuf) {
    let world = World::new(2, 5);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle");
    export_to(&world, world.signers(), world.task, &World::everything(), &path).unwrap();
    (world, folder, path)
}

fn flip(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn cross_check_the_commands_of_the_readme_accept_the_bundle_and_refuse_a_changed_one() {
    let (_world, _folder, path) = bundle();
    let readme = fs::read_to_string(path.join("README.txt")).unwrap();
    let commands: Vec<&str> = readme
        .lines()
        .filter_map(|l| l.strip_prefix("  "))
        .filter(|l| !l.starts_with("hermit-verify"))
        .collect();
    assert_eq!(commands.len(), 3, "{commands:?}");
    let accepted = |said: &str| -> Vec<bool> {
        commands
            .iter()
            .filter_map(|c| {
                let tool = c.split(' ').next().unwrap();
                run(tool, &path, &["--version"], b"")?;
                let (ok, text) = run("sh", &path, &["-c", c], b"")?;
                println!("{said}: {tool}: {}", text.lines().last().unwrap_or_default());
                Some(ok)
            })
            .collect()
    };
    assert!(accepted("whole").iter().all(|ok| *ok));
    flip(&path.join("SHA256SUMS"));
    assert!(accepted("SHA256SUMS changed").iter().all(|ok| !ok));
}

#[test]
fn cross_check_every_file_is_under_sha256sum_and_every_change_is_seen_by_it() {
    let (_world, _folder, path) = bundle();
    let names: Vec<String> =
        world::tools::files_of(&path).into_keys().filter(|n| !n.starts_with("SHA256SUMS")).collect();
    let mut seen = 0;
    for name in names.iter().step_by(7) {
        let before = fs::read(path.join(name)).unwrap();
        flip(&path.join(name));
        let Some((ok, _)) = run("sha256sum", &path, &["-c", "--quiet", "SHA256SUMS"], b"") else { return };
        assert!(!ok, "{name}");
        fs::write(path.join(name), before).unwrap();
        seen += 1;
    }
    println!("{seen} changed files seen by sha256sum");
}

#[test]
fn cross_check_python_opens_the_zip_and_disclosures_hash_to_their_names() {
    let world = World::new(1, 3);
    let folder = tempfile::tempdir().unwrap();
    export_to(&world, world.signers(), world.task, &World::everything(), &folder.path().join("b.zip"))
        .unwrap();
    let program = "import hashlib, zipfile\n\
        z = zipfile.ZipFile('b.zip')\n\
        assert z.testzip() is None\n\
        names = [n for n in z.namelist() if n.startswith('disclosures/')]\n\
        good = sum(hashlib.sha256(z.read(n)).hexdigest() in n for n in names)\n\
        print(len(names) == good > 0, all(i.compress_type == 0 for i in z.infolist()))";
    let Some((ok, said)) = run("python3", folder.path(), &["-c", program], b"") else { return };
    assert!(ok, "{said}");
    assert_eq!(said, "True True\n");
}

/// Whether this machine's Python has a module; says so when not.
fn python_has(folder: &Path, module: &str) -> bool {
    let has = run("python3", folder, &["-c", &format!("import {module}")], b"").is_some_and(|(ok, _)| ok);
    if !has {
        eprintln!("skipped: python3 has no `{module}`");
    }
    has
}

#[test]
fn cross_check_python_rfc8785_walks_the_chain_and_securesystemslib_opens_the_receipts() {
    let (world, _folder, path) = bundle();
    if python_has(&path, "rfc8785") {
        let program = "import json, hashlib, rfc8785\n\
            prev, n = '0' * 64, 0\n\
            for line in open('task/events.jsonl', 'rb'):\n\
            \u{20}   line = line.rstrip(b'\\n'); e = json.loads(line); n += 1\n\
            \u{20}   assert rfc8785.dumps(e) == line and e['prev_event_hash'] == prev and e['task_seq'] == n\n\
            \u{20}   prev = hashlib.sha256(line).hexdigest()\n\
            for line in open('gate/entries.jsonl', 'rb'):\n\
            \u{20}   e = json.loads(line); h = e.pop('entry_hash')\n\
            \u{20}   assert hashlib.sha256(rfc8785.dumps(e)).hexdigest() == h\n\
            print(n)";
        let (ok, said) = run("python3", &path, &["-c", program], b"").unwrap();
        assert!(ok, "{said}");
        assert_eq!(said.trim(), world.events.len().to_string());
    }
    if python_has(&path, "securesystemslib.dsse") {
        let key = world.keys.receipt.public();
        let program = format!(
            "import glob, json\n\
             from securesystemslib.dsse import Envelope\n\
             from securesystemslib.signer import SSlibKey\n\
             key = SSlibKey('{}', 'ed25519', 'ed25519', {{'public': '{key}'}})\n\
             names = glob.glob('receipts/*.dsse.json') + ['statement.dsse.json']\n\
             for name in names: Envelope.from_dict(json.load(open(name))).verify([key], 1)\n\
             print(len(names))",
            key.keyid()
        );
        let (ok, said) = run("python3", &path, &["-c", &program], b"").unwrap();
        assert!(ok, "{said}");
        assert_eq!(said.trim(), "3");
    }
}

#[test]
fn cross_check_go_sumdb_opens_the_checkpoints_and_places_task_and_entries_in_their_trees() {
    const GOPATH: &str = "/usr/share/gocode";
    if !Path::new(GOPATH).join("src/golang.org/x/mod/sumdb/tlog").is_dir() {
        eprintln!("skipped: golang-golang-x-mod-dev is not installed");
        return;
    }
    let Some(go) = ["go", "/usr/lib/go/bin/go"]
        .into_iter()
        .find(|go| std::process::Command::new(go).arg("version").output().is_ok())
    else {
        eprintln!("skipped: Go is not installed");
        return;
    };
    let (world, _folder, path) = bundle();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bundle_check/main.go");
    let output = std::process::Command::new(go)
        .arg("run")
        .arg(program)
        .current_dir(&path)
        .env("GO111MODULE", "off")
        .env("GOPATH", GOPATH)
        .env("GOCACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-cache"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{said}");
    let expected = format!("events {} entries {}\n", world.events.len(), world.ours.len());
    assert_eq!(said, expected);
}
