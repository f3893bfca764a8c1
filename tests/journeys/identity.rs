//! Who an instance is, through the built program: SOUL.md by cards, five generations of keys by rotation, and a chain that somebody
//! else follows back to genesis without this store, and whose tampered copies are each named.

use super::stage::{Ran, Stage};
use super::tool_servers::{asked, card, put, yes};
use serde_json::Value;
use std::path::{Path, PathBuf};

const SOUL: &str = "# Ada\nI keep the letters of the harbour in order.\nI never throw a letter away.\n";

/// `hermit --json` in the folder.
pub fn here(stage: &Stage, words: &[&str]) -> Ran {
    let all: Vec<&str> = std::iter::once("--json").chain(words.iter().copied()).collect();
    Stage::ran(stage.command(&all).current_dir(stage.work()))
}

fn shown(stage: &Stage) -> Value {
    stage.hermit(&["identity", "show"]).ends(0).json()
}

/// A text is put to its person, who says yes.
fn written(stage: &Stage, text: &str) {
    put(stage, "SOUL.md", text);
    let (_, approval) = asked(&here(stage, &["identity", "edit", "SOUL.md"]).ends(4).json());
    yes(stage, &approval);
}

fn exported(stage: &Stage, name: &str) -> PathBuf {
    let path = stage.at(name);
    stage.hermit(&["identity", "export", path.to_str().expect("UTF-8")]).ends(0);
    path
}

/// Follows a chain at a place that has no store, with no passphrase at hand.
fn followed(stage: &Stage, path: &Path, code: i32) -> Value {
    let path = path.to_str().expect("UTF-8");
    let mut command = stage.command(&["--json", "identity", "verify", path]);
    command.env("HERMIT_HOME", stage.at("elsewhere")).env_remove("HERMIT_PASSPHRASE_FILE");
    Stage::ran(&mut command).ends(code).json()
}

/// What was found wrong, by line.
fn named(graph: &Value) -> Vec<(String, u64)> {
    let findings = graph["findings"].as_array().expect("findings").iter();
    findings
        .map(|one| (one["what"].as_str().expect("a word").to_owned(), one["number"].as_u64().unwrap_or(0)))
        .collect()
}

#[conforms::conforms("HV-3.9-4", part = "HV-3.9-1", part = "HV-3.9-2")]
#[test]
fn five_generations_of_keys_are_followed_elsewhere_and_each_tampered_copy_is_named() {
    let (stage, other) = (Stage::new(), Stage::new());
    assert_eq!(
        (&shown(&stage)["version"], &shown(&stage)["attested"]),
        (&Value::from(0), &Value::from(false))
    );
    stage.hermit(&["identity", "attest"]).complains(&["nobody has written SOUL.md"]);
    written(&stage, SOUL);
    written(&other, SOUL);
    let (first, others) = (shown(&stage), shown(&other));
    assert_eq!((&first["version"], &first["attested"]), (&Value::from(1), &Value::from(true)), "{first}");
    assert_eq!(first["soul"], SOUL);
    assert!(first["npub"].as_str().is_some_and(|npub| npub.starts_with("npub1")), "{first}");
    // The same SOUL.md elsewhere is another instance, with a key of its own.
    assert_eq!(first["soul_sha256"], others["soul_sha256"]);
    assert_ne!(first["instance_pubkey"], others["instance_pubkey"]);
    assert_ne!(first["instance_id"], others["instance_id"]);
    // A new version keeps the key; each rotation puts another in its place, and the instance stays who it is.
    written(&stage, &format!("{SOUL}I speak plainly.\n"));
    assert_eq!(shown(&stage)["instance_pubkey"], first["instance_pubkey"]);
    let log = stage.key("log");
    let mut keys = vec![first["instance_pubkey"].clone()];
    for _ in 1..5 {
        stage.hermit(&["keys", "rotate", "--yes"]).ends(0);
        stage.hermit(&["identity", "attest"]).ends(0);
        let now = shown(&stage);
        assert_eq!(now["instance_id"], first["instance_id"]);
        assert!(!keys.contains(&now["instance_pubkey"]), "{now}");
        keys.push(now["instance_pubkey"].clone());
    }
    let file = exported(&stage, "chain.jsonl");
    let graph = followed(&stage, &file, 0);
    assert_eq!((&graph["unbroken"], named(&graph).len()), (&Value::from(true), 0), "{graph}");
    assert_eq!(graph["links"].as_array().map(Vec::len), Some(10), "six attestations and four hand-overs");
    assert_eq!((&graph["key_in_force"], &graph["instance_id"]), (&keys[4], &first["instance_id"]));
    assert!(graph["log_key"].is_string(), "{graph}");
    tampered(&stage, &file, &exported(&other, "other.jsonl"));
    stage.is_sound();
    // Whoever revokes a key of the log revokes the key that came of the same root; the chain says so, and stays unbroken.
    stage.hermit(&["keys", "revoke", &log, "--reason", "it was copied", "--yes"]).ends(0);
    let graph = followed(&stage, &exported(&stage, "revoked.jsonl"), 0);
    assert_eq!((&graph["links"][10]["kind"], &graph["key_in_force"]), (&Value::from("revocation"), &keys[4]));
    assert_eq!(graph["links"][10]["revoked"], keys[0], "it says which");
}

/// What becomes of the lines of a chain: the first is that of the key, so that a link's line is its number.
type Change<'c> = Box<dyn Fn(&mut Vec<String>) + 'c>;

/// Another digit at the beginning of a field.
fn field<'c>(at: usize, field: &'static str) -> Change<'c> {
    Box::new(move |lines: &mut Vec<String>| {
        let line = lines[at].clone();
        let place = line.find(&format!("\"{field}\":\"")).expect("the field") + field.len() + 4;
        let digit = if line.as_bytes()[place] == b'0' { "1" } else { "0" };
        lines[at] = format!("{}{digit}{}", &line[..place], &line[place + 1..]);
    })
}

fn change<'c>(change: impl Fn(&mut Vec<String>) + 'c) -> Change<'c> {
    Box::new(change)
}

/// Each variant of a chain, by its name, and what is found on which of its links.
fn tampered(stage: &Stage, file: &Path, other: &Path) {
    let read = |path: &Path| {
        let text = std::fs::read_to_string(path).expect("a chain");
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let (whole, other) = (read(file), read(other));
    let variants: [(&str, Change<'_>, &str, u64); 13] = [
        ("the statement of the key", field(0, "soul_sha256"), "no_log_key", 0),
        ("a SOUL.md", field(1, "soul_sha256"), "bad_signature", 1),
        ("a link before", field(2, "previous"), "gap", 2),
        ("a signature", field(3, "signature"), "bad_signature", 3),
        ("left out", change(|lines| drop(lines.remove(3))), "gap", 3),
        ("genesis left out", change(|lines| drop(lines.remove(1))), "gap", 1),
        (
            "doubled",
            change(|lines| {
                let line = lines[4].clone();
                lines.insert(5, line);
            }),
            "out_of_order",
            5,
        ),
        ("swapped", change(|lines| lines.swap(4, 5)), "out_of_order", 4),
        ("a link of another instance", change(|lines| lines.push(other[1].clone())), "other_instance", 11),
        ("the key of another instance", change(|lines| lines[0].clone_from(&other[0])), "other_instance", 1),
        ("spelled otherwise", change(|lines| lines[2] = lines[2].replacen(':', ": ", 1)), "malformed", 2),
        ("no link", change(|lines| lines.push("{}".to_owned())), "malformed", 11),
        ("too long", change(|lines| lines[6].push_str(&" ".repeat(20_000))), "malformed", 6),
    ];
    for (what, change, finding, number) in variants {
        let mut lines = whole.clone();
        change(&mut lines);
        let path = stage.at("tampered.jsonl");
        std::fs::write(&path, lines.join("\n") + "\n").expect("a file");
        let graph = followed(stage, &path, 5);
        assert_eq!(graph["unbroken"], false, "{what}");
        assert!(named(&graph).contains(&(finding.to_owned(), number)), "{what}: {}", graph["findings"]);
    }
}

#[test]
fn a_text_that_cannot_be_soul_is_refused_in_words_and_one_that_waits_is_told() {
    let stage = Stage::new();
    put(&stage, "long.md", &"long ".repeat(210_000));
    here(&stage, &["identity", "edit", "long.md"]).complains(&["64 KB", "shorten it"]);
    std::fs::write(stage.work().join("bytes.md"), b"\xff\xfe I am").expect("a file");
    here(&stage, &["identity", "edit", "bytes.md"]).complains(&["no text in UTF-8"]);
    put(&stage, "empty.md", "\n");
    here(&stage, &["identity", "edit", "empty.md"]).complains(&["empty"]);
    here(&stage, &["identity", "edit", "nowhere.md"]).complains(&["nowhere.md"]);
    stage.hermit(&["identity", "export", "chain.jsonl"]).complains(&["said nothing of itself"]);
    put(&stage, "SOUL.md", SOUL);
    here(&stage, &["identity", "edit", "SOUL.md", "--replaces", "3"]).complains(&["version 0 by now"]);
    let (task, approval) = asked(&here(&stage, &["identity", "edit", "SOUL.md"]).ends(4).json());
    let told = card(&stage, &approval);
    for words in ["I never throw a letter away.", "gives no authority", "derives from exactly this text"] {
        assert!(told.contains(words), "`{words}` is not on the card: {told}");
    }
    let now = shown(&stage);
    assert_eq!((&now["version"], &now["asked"]), (&Value::from(0), &Value::from(task.as_str())), "{now}");
    yes(&stage, &approval);
    here(&stage, &["identity", "edit", "SOUL.md"]).complains(&["this text already"]);
    put(&stage, "SOUL.md", "# Eve\n");
    here(&stage, &["identity", "edit", "SOUL.md", "--replaces", "0"]).complains(&["version 1 by now"]);
    stage.prove(&task);
    stage.is_sound();
}
