//! Who a machine is, published at relays, and followed by somebody who has neither its store nor its keys.

use super::machines::Relay;
use crate::journeys::stage::{Ran, Stage};
use crate::journeys::tool_servers::{asked, card, put, yes};
use model::Digest;
use serde_json::{Value, json};

/// Reads what a key published, at a place that has no store, into a new file.
fn read(stage: &Stage, key: &str, file: &str, relays: &[&str]) -> Ran {
    let path = stage.at(file);
    let mut words = vec!["--json", "identity", "fetch", key, path.to_str().expect("UTF-8")];
    relays.iter().for_each(|relay| words.extend(["--relay", *relay]));
    let mut command = stage.command(&words);
    command.env("HERMIT_HOME", stage.at("elsewhere")).env_remove("HERMIT_PASSPHRASE_FILE");
    Stage::ran(&mut command)
}

#[conforms::conforms("HV-3.9-2")]
#[test]
fn a_chain_is_published_where_its_person_said_and_followed_by_whoever_reads_it() {
    let (asks, open) = (Relay::asking(), Relay::new());
    let nobody = "ws://127.0.0.1:9";
    let stage = Stage::new();
    let text = "# Ada\nI keep the letters of the harbour in order.\n";
    put(&stage, "SOUL.md", text);
    let soul = stage.work().join("SOUL.md");
    let edited = stage.hermit(&["identity", "edit", soul.to_str().expect("UTF-8")]).ends(4).json();
    yes(&stage, &asked(&edited).1);
    stage.hermit(&["identity", "publish"]).complains(&["no relay is named"]);
    let relays = ["--relay", asks.url.as_str(), "--relay", nobody, "--relay", open.url.as_str()];
    let words = [&["identity", "publish"][..], &relays].concat();
    let (task, approval) = asked(&stage.hermit(&words).ends(4).json());
    let shown = card(&stage, &approval);
    assert!(shown.contains(&format!("PUBLISH it at {}", asks.url)) && shown.contains(nobody), "{shown}");
    yes(&stage, &approval);
    // A relay that is not there stops no other, and one that asks who is there is told.
    let told = stage.hermit(&["identity", "show"]).ends(0).json();
    assert_eq!(told["graph"]["links"][0]["published"], json!([asks.url, open.url]), "{told}");
    let receipts = stage.hermit(&["receipts", "list"]).ends(0).json().to_string();
    assert!(receipts.contains(&task), "{receipts}");
    // Somebody else, by the key as Nostr spells it.
    let npub = told["npub"].as_str().expect("a key").to_owned();
    let graph = read(&stage, &npub, "theirs.jsonl", &[open.url.as_str(), nobody]).ends(0).json();
    assert_eq!((&graph["unbroken"], &graph["key_in_force"]), (&Value::from(true), &told["instance_pubkey"]));
    assert_eq!(graph["instance_id"], told["instance_id"]);
    let link = &graph["links"][0];
    assert_eq!(
        (&link["soul_sha256"], &link["signed_by"][0]),
        (&told["soul_sha256"], &told["instance_pubkey"])
    );
    assert_eq!(told["soul_sha256"], Digest::of(text.as_bytes()).to_string(), "it is the digest of SOUL.md");
    let kept = std::fs::read_to_string(stage.at("theirs.jsonl")).expect("a file");
    assert!(!kept.contains("harbour"), "no word of SOUL.md: {kept}");
    // Whoever proves no key is given nothing by the relay that asks, and no relay has anything of another key.
    read(&stage, &npub, "none.jsonl", &[asks.url.as_str()]).complains(&["auth-required"]);
    let other = "f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9";
    read(&stage, other, "none.jsonl", &[open.url.as_str()]).complains(&["it keeps nothing of this key"]);
    read(&stage, "npub1nobody", "none.jsonl", &[open.url.as_str()]).complains(&["no key of an instance"]);
    assert!(!stage.at("none.jsonl").exists());
    stage.is_sound();
}
