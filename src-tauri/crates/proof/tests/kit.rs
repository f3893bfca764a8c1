//! The kit for others: vectors that grade anybody's verifier, made here and graded through the built programs.
//!
//! `cargo xtask kit --out FOLDER` writes it, as `HERMIT_KIT=FOLDER cargo test -p hermit-proof --test all kit` does.
#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "this test runs the programs that it grades")]

mod findings;
mod mended;
mod records;
mod shapes;
mod vectors;

use crate::twin::{agree, twin};
use crate::world::World;
use proof::{Options, export_to};
use seal::{Digest, Signer as _};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use vectors::{CLASSES, Vector};

const OURS: &str = env!("CARGO_BIN_EXE_hermit-verify");
const OUR_CODES: [&str; 2] = ["--invalid-codes", "5,6,7"];
const TWO: [&str; 2] = ["--jobs", "2"];

/// The vectors, made once, and the folder with the kit of them: always the same, and always with the same in it.
static KIT: LazyLock<(Vec<Vector>, PathBuf)> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kit");
    let all = vectors::made(&vectors::MAKERS);
    written(&all, &folder);
    (all, folder)
});

fn folder() -> &'static Path {
    &KIT.1
}

fn written(all: &[Vector], root: &Path) {
    std::fs::create_dir_all(root.join("vectors")).unwrap();
    let key = vectors::key().to_pem();
    let requirement = |class: &str| CLASSES.iter().find(|(name, ..)| *name == class).unwrap().1;
    let rows = all.iter().map(|vector| {
        json!({
            "name": vector.name,
            "class": vector.class,
            "about": vector.about,
            "requirement": requirement(vector.class),
            "verdict": vector.verdict(),
            "place": vector.place(),
            "says": vector.report.headline(),
            "sha256": Digest::of(&vector.zip),
        })
    });
    let rows: Vec<Value> = rows.collect();
    let kit = json!({ "format": "hermit-kit/1", "key_sha256": Digest::of(key.as_bytes()), "vectors": rows });
    let text = serde_json::to_string_pretty(&kit).unwrap() + "\n";
    std::fs::write(root.join("kit.json"), text).unwrap();
    std::fs::write(root.join("trusted.pub.pem"), key).unwrap();
    let classes: String =
        CLASSES.iter().map(|(class, id, what)| format!("| {class} | {id} | {what} |\n")).collect();
    let readme = include_str!("kit/README.md").replace("{classes}\n", &classes);
    std::fs::write(root.join("README.md"), readme).unwrap();
    for vector in all {
        std::fs::write(root.join("vectors").join(format!("{}.zip", vector.name)), &vector.zip).unwrap();
    }
}

fn called(words: &[&str]) -> Output {
    Command::new(OURS).arg("kit").args(words).output().unwrap()
}

/// Grades a command; the exit code and the scoreboard.
fn graded(options: &[&str], command: &[&str]) -> (i32, Value) {
    let grade = ["grade", folder().to_str().unwrap(), "--json"];
    let words = [grade.as_slice(), options, &["--"], command].concat();
    let output = called(&words);
    let said = String::from_utf8(output.stdout).unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    let board = serde_json::from_str(&said).unwrap_or_else(|e| panic!("{e}: {said}{complaint}"));
    (output.status.code().unwrap(), board)
}

/// Names of the vectors of a board that were judged wrong.
fn wrong(board: &Value) -> BTreeSet<String> {
    let rows = board["vectors"].as_array().unwrap().iter().filter(|row| row["right"] == false);
    rows.map(|row| row["name"].as_str().unwrap().to_owned()).collect()
}

/// Names of the vectors that are so.
fn named(is_so: impl Fn(&Vector) -> bool) -> BTreeSet<String> {
    KIT.0.iter().filter(|vector| is_so(vector)).map(|vector| vector.name.clone()).collect()
}

#[test]
fn the_kit_is_written_where_it_is_asked_for() {
    if let Some(folder) = std::env::var_os("HERMIT_KIT").map(PathBuf::from) {
        written(&KIT.0, &folder);
    }
    // Made twice, it is the same.
    for again in vectors::made(&vectors::MAKERS[..9]) {
        let first = KIT.0.iter().find(|one| one.name == again.name).unwrap();
        assert!(first.zip == again.zip, "{} is another one the second time", again.name);
    }
    let classes: BTreeSet<&str> = KIT.0.iter().map(|vector| vector.class).collect();
    let told: BTreeSet<&str> = CLASSES.iter().map(|(class, ..)| *class).collect();
    assert_eq!(classes, told, "the README tells of the classes that there are");
    for verdict in ["valid", "invalid", "incomplete", "unverifiable", "unsupported"] {
        assert!(KIT.0.iter().any(|vector| vector.verdict() == verdict), "none is {verdict}");
    }
}

#[test]
fn both_of_our_verifiers_get_full_marks_at_every_place() {
    let check = |options: &[&str], command: &[&str]| {
        let (code, board) = graded(&[options, &OUR_CODES, &TWO].concat(), command);
        assert_eq!((code, wrong(&board)), (0, BTreeSet::new()), "{command:?}");
        let marks = &board["marks"];
        assert_eq!(marks["same_places"], marks["named_places"], "{command:?}");
        let with_place =
            board["vectors"].as_array().unwrap().iter().filter(|row| !row["same_place"].is_null());
        assert_eq!(marks["named_places"], with_place.count(), "{command:?}");
        (marks["of"].clone(), marks["named_places"].clone())
    };
    let all: (Value, Value) = (KIT.0.len().into(), named(|vector| vector.place().is_some()).len().into());
    assert_eq!(check(&[], &[OURS, "{bundle}", "--trust", "{key}", "--json"]), all);
    let Some(twin) = twin() else { return };
    // Node takes long to start: some one by one, all in one run, and with `HERMIT_KIT_WHOLE` all one by one.
    let is_whole = std::env::var_os("HERMIT_KIT_WHOLE").is_some();
    let only = ["--only", "signature-", "--only", "inclusion-", "--only", "version-", "--only", "trust-"];
    let only = if is_whole { &only[..0] } else { &only[..] };
    let node = check(only, &["node", twin.to_str().unwrap(), "{bundle}", "--trust", "{key}", "--json"]);
    assert!(node == all || !is_whole);
    let zips: Vec<(String, Vec<u8>)> =
        KIT.0.iter().map(|vector| (vector.name.clone(), vector.zip.clone())).collect();
    let valid = named(|vector| vector.verdict() == "valid").len();
    assert_eq!(agree(&zips, &proof::Trust::from(vectors::key())), Some(valid));
}

#[test]
fn a_scoreboard_is_the_same_for_whoever_repeats_it_and_reads_as_a_table() {
    let only = ["--only", "signature-", "--only", "version-"];
    let command = [OURS, "{bundle}", "--trust", "{key}"];
    let options = [only.as_slice(), &OUR_CODES].concat();
    let first = graded(&options, &command);
    assert_eq!(first, graded(&[options.as_slice(), &TWO].concat(), &command));
    assert_eq!(
        first.1["kit_sha256"],
        Digest::of(&std::fs::read(folder().join("kit.json")).unwrap()).to_string()
    );
    assert_eq!(first.1["files"][0]["sha256"], Digest::of(&std::fs::read(OURS).unwrap()).to_string());
    assert_ne!(first.1["command_sha256"], graded(&options, &["true"]).1["command_sha256"]);
    let grade = ["grade", folder().to_str().unwrap()];
    let words = [grade.as_slice(), &only, &["--", "true"]].concat();
    let output = called(&words);
    let table = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(5), "{table}");
    assert!(table.starts_with("0 of "), "{table}");
    for word in
        ["signature ", "version ", "- signature-the-list-by-a-stranger: accepted", "we say: invalid at"]
    {
        assert!(table.contains(word), "{word}: {table}");
    }
}

#[test]
fn a_verifier_that_always_says_the_same_fails_where_the_other_answer_is_right() {
    let (code, board) = graded(&TWO, &["true", "{bundle}"]);
    assert_eq!((code, wrong(&board)), (5, named(|vector| vector.verdict() != "valid")));
    let (code, board) = graded(&TWO, &["false", "{bundle}"]);
    assert_eq!((code, wrong(&board)), (5, named(|vector| vector.verdict() == "valid")));
    // Without the codes by which ours says no it gives no answer, which is right where it cannot know the format.
    let only = ["--only", "version-", "--only", "trust-"];
    let (code, board) = graded(&only, &[OURS, "{bundle}"]);
    assert_eq!((code, wrong(&board)), (5, named(|vector| vector.class == "trust")));
}

/// It is written by the description alone, and shares nothing with ours.
#[test]
fn an_independent_verifier_that_leaves_out_a_check_fails_exactly_there() {
    let room = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap());
    let program = room.join("tests/kit/small.py");
    // The interpreter itself: what stands before it in the path of some machines takes longer than the check.
    let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let Ok(asked) = asked else {
        conforms::lacks("`python3`");
        return;
    };
    let python = String::from_utf8(asked.stdout).unwrap();
    let honest = ["--only", "honest-a-whole", "--only", "honest-a-span", "--only", "honest-one-receipt"];
    let grade = |only: &[&str], ignored: &str| {
        let all = [python.trim(), program.to_str().unwrap(), "{bundle}", "{key}", ignored];
        let command = if ignored.is_empty() { &all[..4] } else { &all[..] };
        let (code, board) = graded(&[honest.as_slice(), only, &TWO].concat(), command);
        (code, wrong(&board))
    };
    let only = ["--only", "signature-", "--only", "inclusion-"];
    for ignored in ["", "signature", "inclusion"] {
        let (code, wrong) = grade(&only, ignored);
        assert_eq!(wrong, named(|vector| vector.class == ignored), "without {ignored}");
        assert_eq!(code == 0, ignored.is_empty());
    }
    // In these classes it sees only a part, as it is small. What it does not see any more without a check is of the class of that.
    let only = ["--only", "list-", "--only", "events-", "--only", "trust-"];
    let (_, before) = grade(&only, "");
    for ignored in ["list", "events", "trust"] {
        let (code, wrong) = grade(&only, ignored);
        let more: BTreeSet<String> = wrong.difference(&before).cloned().collect();
        let of_class = named(|vector| vector.class == ignored);
        assert!(!more.is_empty() && more.is_subset(&of_class), "without {ignored}: {more:?}");
        assert!(code == 5 && before.is_subset(&wrong), "without {ignored} it sees no more than with it");
    }
}

#[test]
fn a_verifier_that_hangs_floods_or_falls_is_ended_and_has_no_marks() {
    let one = ["--only", "container-nothing", "--seconds", "1", "--bytes", "10000"];
    for (command, said) in [
        (["sh", "-c", "exec sleep 60", "{bundle}"].as_slice(), "too_slow"),
        (&["sh", "-c", "sleep 60 & exit 1"], "too_slow"),
        (&["sh", "-c", "exec >&-; sleep 60"], "too_slow"),
        (&["yes", "{bundle}"], "too_loud"),
        (&["sh", "-c", "kill -KILL $$"], "crashed"),
        (&["sh", "-c", "exit 3"], "no_answer"),
    ] {
        let begin = Instant::now();
        let (code, board) = graded(&one, command);
        assert_eq!((code, &board["vectors"][0]["said"]), (5, &said.into()), "{command:?}");
        assert!(begin.elapsed() < Duration::from_secs(20), "{command:?} took {:?}", begin.elapsed());
    }
    let output = called(&["grade", folder().to_str().unwrap(), "--", "no-such-verifier"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot start `no-such-verifier`"));
}

#[test]
fn a_verifier_finds_the_bundle_and_the_key_and_nothing_that_tells_the_right_answer() {
    let looks = r#"
        for file in "$1" "$2"; do [ "$(ls -A "$(dirname "$file")" | wc -l)" -eq 1 ] || exit 3; done
        [ "$(ls -A "$(dirname "$1")/.." | wc -l)" -eq 2 ] || exit 4
        case "$1" in *honest*|*container*) exit 5;; esac
        [ -s "$1" ] && [ -s "$2" ] || exit 6
        echo changed >> "$1"
        exit 1"#;
    let command = ["sh", "-c", looks, "sh", "{bundle}", "{key}"];
    let only = ["--only", "honest-a-whole", "--only", "honest-a-span", "--jobs", "2"];
    for _ in 0..2 {
        let (_, board) = graded(&only, &command);
        let rows = board["vectors"].as_array().unwrap();
        assert!(rows.len() > 1 && rows.iter().all(|row| row["said"] == "refused"), "{board}");
    }
    let inside = ["kit", "grade", ".", "--", "true"];
    let output = Command::new(OURS).args(inside).current_dir(folder().join("vectors/..")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && said.contains("from outside its folder"), "{said}");
}

#[test]
fn what_a_kit_or_a_verifier_says_steers_no_terminal_and_has_an_end() {
    let other = tempfile::tempdir().unwrap();
    let at = |name: &str| other.path().join(name);
    std::fs::create_dir(at("vectors")).unwrap();
    let text = std::fs::read_to_string(folder().join("kit.json")).unwrap();
    let mut kit: Value = serde_json::from_str(&text).unwrap();
    let mut row =
        kit["vectors"].as_array().unwrap().iter().find(|row| row["verdict"] == "invalid").unwrap().clone();
    let file = format!("vectors/{}.zip", row["name"].as_str().unwrap());
    for name in ["trusted.pub.pem", file.as_str()] {
        std::fs::copy(folder().join(name), at(name)).unwrap();
    }
    let odd = format!("\u{1b}[2J\u{202e}x\nfull marks\u{9b}{}", "y".repeat(100_000));
    for member in ["class", "about", "says"] {
        row[member] = odd.clone().into();
    }
    kit["vectors"] = json!([row]);
    std::fs::write(at("kit.json"), kit.to_string()).unwrap();
    let is_plain = |said: &str| !said.contains(['\u{1b}', '\u{202e}', '\u{9b}']) && said.len() < 10_000;
    let said = |words: &[&str]| {
        let output = called(words);
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let board = said(&["grade", other.path().to_str().unwrap(), "--", "true"]);
    assert!(is_plain(&board) && board.contains("\\u{1b}[2J") && !board.contains("\nfull marks"), "{board}");
    kit["format"] = odd.into();
    std::fs::write(at("kit.json"), kit.to_string()).unwrap();
    let refused = said(&["grade", other.path().to_str().unwrap(), "--", "true"]);
    assert!(is_plain(&refused) && refused.contains("it is a `\\u{1b}"), "{refused}");
    let bundle = at(&file);
    let names = r#"printf '%s\n' '{"place": "\u001b[2Jx"}'; exit 1"#;
    let graded = said(&["grade-bundle", bundle.to_str().unwrap(), "--", "sh", "-c", names]);
    assert!(is_plain(&graded) && graded.contains("it names \\u{1b}[2Jx"), "{graded}");
}

#[test]
fn a_kit_that_was_changed_or_leads_elsewhere_is_not_graded_with() {
    let text = std::fs::read_to_string(folder().join("kit.json")).unwrap();
    let mut kit: Value = serde_json::from_str(&text).unwrap();
    kit["vectors"].as_array_mut().unwrap().truncate(1);
    let first = kit["vectors"][0]["name"].as_str().unwrap().to_owned();
    let other = tempfile::tempdir().unwrap();
    let at = |name: &str| other.path().join(name);
    std::fs::create_dir(at("vectors")).unwrap();
    for name in ["trusted.pub.pem".to_owned(), format!("vectors/{first}.zip")] {
        std::fs::copy(folder().join(&name), at(&name)).unwrap();
    }
    let refused = |change: &dyn Fn(&mut Value), word: &str| {
        let mut kit = kit.clone();
        change(&mut kit);
        std::fs::write(at("kit.json"), kit.to_string()).unwrap();
        let output = called(&["grade", other.path().to_str().unwrap(), "--", "true"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(word), "{word}: {said}");
    };
    refused(&|kit| kit["format"] = "hermit-kit/2".into(), "it is a `hermit-kit/2`");
    refused(&|kit| kit["vectors"] = json!([]), "a kit has from 1");
    refused(&|kit| kit["vectors"][0]["name"] = "../evil".into(), "is no name of a vector");
    refused(&|kit| kit["vectors"][0]["sha256"] = json!(Digest::ZERO), "was changed");
    refused(&|kit| kit["key_sha256"] = json!(Digest::ZERO), "trusted.pub.pem");
    refused(&|kit| kit["more"] = 1.into(), "lists no kit");
    refused(
        &|kit| {
            let row = kit["vectors"][0].clone();
            kit["vectors"].as_array_mut().unwrap().push(row);
        },
        "comes twice",
    );
    for words in [&["grade"][..], &["judge", "x"], &["grade", "a", "b", "--", "true"], &["grade", "a"]] {
        assert_eq!(called(words).status.code(), Some(2), "{words:?}");
    }
    for words in [["--seconds", "0"], ["--invalid-codes", "0"], ["--jobs", "x"], ["--what", "x"]] {
        let grade = ["grade", folder().to_str().unwrap()];
        let words = [grade.as_slice(), &words, &["--", "true"]].concat();
        assert_eq!(called(&words).status.code(), Some(2), "{words:?}");
    }
    assert_eq!(called(&["--help"]).status.code(), Some(0));
}

#[test]
fn a_bundle_is_graded_by_ours_and_by_whoever_else_is_named() {
    let world = World::new(1, 1);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bundle.zip");
    export_to(&world, world.signers(), world.task, &Options::default(), &path).unwrap();
    let keyid = world.keys.manifest.public().keyid().to_string();
    let (file, trust) = (path.to_str().unwrap(), ["--trust", &keyid, "--json"]);
    let ask = |command: &[&str]| {
        let output = called(&[["grade-bundle", file].as_slice(), &trust, command].concat());
        let board: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code().unwrap(), board)
    };
    let (code, board) = ask(&[]);
    assert_eq!((code, &board["report"]["verdict"], &board["other"]), (0, &"valid".into(), &Value::Null));
    assert_eq!(board["canonical"], true);
    assert_eq!((&board["parts"]["README.txt"], &board["parts"]["keys"]), (&1.into(), &6.into()));
    assert_eq!(ask(&["--", "true"]).1["other"]["agrees"], true);
    assert_eq!(ask(&["--", "false"]).0, 5);
    if let Some(twin) = twin() {
        let (code, board) =
            ask(&["--", "node", twin.to_str().unwrap(), "{bundle}", "--trust", &keyid, "--json"]);
        assert_eq!((code, &board["other"]["code"]), (0, &0.into()), "{board}");
    }
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let (code, board) = ask(&["--", OURS, "{bundle}", "--json"]);
    assert_eq!((code, &board["other"]["agrees"], &board["canonical"]), (5, &true.into(), &Value::Null));
    assert_eq!(board["other"]["place"], board["report"]["place"]);
    let output = called(&["grade-bundle", file]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with("invalid at ") && said.contains("- README.txt: 1"), "{said}");
}
