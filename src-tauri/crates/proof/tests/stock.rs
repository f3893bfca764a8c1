//! What nobody here wrote agrees, about every form of bundle there is, and refuses changes: `sha256sum`, `openssl`,
//! `ssh-keygen`, python's `zipfile`, `rfc8785`, `securesystemslib`, `in-toto-attestation` and `prov`, Go's `sumdb`.

use crate::foreign;
use crate::world::tools::files_of;
use crate::world::{self, World};
use proof::{Include, Options, Redact, Scope, Trust, export_to};
use seal::Signer as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Every form of bundle that a store with keys makes, as folders that have the form's name.
struct Gallery {
    _folder: tempfile::TempDir,
    forms: Vec<(&'static str, PathBuf)>,
    events: Vec<u64>,
}

fn gallery() -> Gallery {
    let (folder, mut forms, mut events) = (tempfile::tempdir().unwrap(), Vec::new(), Vec::new());
    let older = World::new(2, 5);
    let mut world = World::new(2, 5);
    let before = world.notes();
    world.others.extend(before);
    world.goal("one event more");
    let held = {
        let path = folder.path().join("older");
        export_to(&older, older.signers(), older.task, &Options::default(), &path).unwrap();
        fs::read(path.join("log/checkpoint")).unwrap()
    };
    let one = Scope::Receipt(world.receipts[1]);
    let span = Scope::Span { first: 3, last: world.events.len() as u64 - 2 };
    let closed = || Options { redact: Redact::All, artifacts: Include::None, ..Options::default() };
    let since = Some(held);
    let options = [
        ("task", World::everything()),
        ("task-redacted", closed()),
        ("task-since", Options { since: since.clone(), ..Options::default() }),
        ("span", Options { scope: span, ..World::everything() }),
        ("span-redacted", Options { scope: span, redact: Redact::Paths, ..closed() }),
        ("receipt", Options { scope: one, ..Options::default() }),
        ("receipt-slim", Options { scope: one, artifacts: Include::None, ..Options::default() }),
        ("receipt-redacted", Options { scope: one, ..closed() }),
        ("receipt-since", Options { scope: one, since, ..Options::default() }),
    ];
    for (name, options) in options {
        let path = folder.path().join(name);
        export_to(&world, world.signers(), world.task, &options, &path).unwrap();
        let report = proof::verify(&path, &[Trust::from(world.keys.log.public())]).unwrap();
        assert_eq!(report.exit_code(), 0, "{name}: {report}");
        events.push(report.counts.events);
        forms.push((name, path));
    }
    Gallery { _folder: folder, forms, events }
}

fn flip(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}

/// The commands that a bundle's README gives, but for our own program.
fn commands(bundle: &Path) -> Vec<String> {
    let readme = fs::read_to_string(bundle.join("README.txt")).unwrap();
    let tools = ["sha256sum ", "openssl ", "ssh-keygen "];
    let lines = readme.lines().filter_map(|line| line.strip_prefix("  "));
    lines.filter(|line| tools.iter().any(|tool| line.starts_with(tool))).map(str::to_owned).collect()
}

#[test]
fn cross_check_the_commands_of_every_readme_accept_the_bundle_and_refuse_a_changed_one() {
    let gallery = gallery();
    for (name, path) in &gallery.forms {
        let commands = commands(path);
        assert_eq!(commands.len(), 3, "{name}: {commands:?}");
        for changed in [false, true] {
            if changed {
                // Another digit: of a line that is none at all `sha256sum` without `--strict` only warns.
                let mut sums = fs::read(path.join("SHA256SUMS")).unwrap();
                sums[0] = if sums[0] == b'0' { b'1' } else { b'0' };
                fs::write(path.join("SHA256SUMS"), sums).unwrap();
            }
            for command in &commands {
                let tool = command.split(' ').next().unwrap();
                let present = if tool == "ssh-keygen" { "-?" } else { "--version" };
                if foreign::run(tool, path, &[present], b"").is_none() {
                    return;
                }
                let (ok, said) = foreign::run("sh", path, &["-c", command], b"").unwrap();
                assert_eq!(ok, !changed, "{name}: {command}: {said}");
            }
        }
    }
    println!("{} forms of bundle checked by the commands of their own READMEs", gallery.forms.len());
}

#[test]
fn cross_check_every_file_is_under_sha256sum_and_every_change_is_seen_by_it() {
    let gallery = gallery();
    let mut seen = 0;
    for (form, path) in &gallery.forms {
        for name in files_of(path).into_keys().filter(|n| !n.starts_with("SHA256SUMS")).step_by(9) {
            let before = fs::read(path.join(&name)).unwrap();
            flip(&path.join(&name));
            let said = foreign::run("sha256sum", path, &["-c", "--quiet", "SHA256SUMS"], b"");
            let Some((ok, _)) = said else { return };
            assert!(!ok, "{form}: {name}");
            fs::write(path.join(&name), before).unwrap();
            seen += 1;
        }
    }
    println!("{seen} changed files seen by sha256sum");
}

#[test]
fn cross_check_python_opens_the_zip_and_every_entry_is_stored_whole() {
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
    let Some((ok, said)) = foreign::run("python3", folder.path(), &["-c", program], b"") else { return };
    assert!(ok, "{said}");
    assert_eq!(said, "True True\n");
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bundle_check").join(name)
}

fn paths(gallery: &Gallery) -> Vec<String> {
    gallery.forms.iter().map(|(_, path)| path.to_str().unwrap().to_owned()).collect()
}

#[test]
fn cross_check_python_rfc8785_securesystemslib_in_toto_and_prov_read_every_form_and_refuse_a_changed_one() {
    let gallery = gallery();
    let Some(python) = foreign::python(foreign::STATEMENTS) else { return };
    let program = data("check.py").to_string_lossy().into_owned();
    let ask = |roots: &[String]| {
        let words: Vec<&str> = std::iter::once(&program).chain(roots).map(String::as_str).collect();
        foreign::run(&python, Path::new("."), &words, b"").unwrap()
    };
    let (ok, said) = ask(&paths(&gallery));
    assert!(ok, "{said}");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), gallery.forms.len(), "{said}");
    for (((name, _), events), line) in gallery.forms.iter().zip(&gallery.events).zip(lines) {
        assert!(line.starts_with(&format!("{name} events {events} envelopes ")), "{line}");
    }
    for (name, path) in gallery.forms.iter().filter(|(name, _)| name.ends_with("-slim") || *name == "task") {
        let receipt = files_of(path).into_keys().find(|n| n.starts_with("receipts/")).unwrap();
        flip(&path.join(receipt));
        let (ok, said) = ask(&[path.to_str().unwrap().to_owned()]);
        assert!(!ok, "{name}: {said}");
    }
}

#[test]
fn cross_check_go_sumdb_places_events_tasks_entries_and_histories_of_every_form() {
    let gallery = gallery();
    let roots = paths(&gallery);
    let words: Vec<&str> = roots.iter().map(String::as_str).collect();
    let Some(said) = foreign::go(&data("main.go"), Path::new("."), &words) else { return };
    let said = said.unwrap_or_else(|said| panic!("{said}"));
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), gallery.forms.len(), "{said}");
    for (((name, _), events), line) in gallery.forms.iter().zip(&gallery.events).zip(lines) {
        assert!(line.starts_with(&format!("{name} events {events} entries ")), "{line}");
        assert_eq!(line.ends_with(" since 0"), !name.ends_with("-since"), "{line}");
    }
    // Another place, another history: the reference implementation refuses them too.
    for (name, file) in [("receipt", "task/checkpoint.tlog-proof"), ("task-since", "log/consistency.txt")] {
        let path = &gallery.forms.iter().find(|(form, _)| form == &name).unwrap().1;
        let text = fs::read_to_string(path.join(file)).unwrap();
        let changed = if file.ends_with("txt") {
            text.lines().take(3).chain(text.lines().skip(4)).map(|l| format!("{l}\n")).collect()
        } else {
            text.replacen("index ", "index 1", 1)
        };
        fs::write(path.join(file), changed).unwrap();
        let refused = foreign::go(&data("main.go"), Path::new("."), &[path.to_str().unwrap()]).unwrap();
        assert!(refused.is_err(), "{name}: {refused:?}");
    }
}

#[test]
fn a_bundle_of_a_store_without_keys_is_under_sha256sum_and_rfc8785() {
    let world = world::World::without_keys(1);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keyless");
    export_to(&world, None, world.task, &Options::default(), &path).unwrap();
    let said = foreign::run("sha256sum", &path, &["-c", "--strict", "--quiet", "SHA256SUMS"], b"");
    let Some((ok, said)) = said else { return };
    assert!(ok, "{said}");
    let Some(python) = foreign::python(foreign::STATEMENTS) else { return };
    let program = data("check.py");
    let words = [program.to_str().unwrap(), path.to_str().unwrap()];
    let (ok, said) = foreign::run(&python, Path::new("."), &words, b"").unwrap();
    assert!(ok && said.ends_with("envelopes 0\n"), "{said}");
}
