//! What the second verifier knows of the records of the rooms `model` and `acts` is made from them, and so is the corpus that both
//! verifiers are held to: a new action, event or field is known to both, or this fails.
//!
//! `HERMIT_BINDINGS=write cargo test -p hermit-proof nouns` writes `ui/verifier/src/verify/generated/nouns.ts`.

mod emit;
mod read;
mod sample;

use model::body::{Body, REGISTRY};
use read::Model;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static MODEL: LazyLock<Model> = LazyLock::new(|| {
    let mut model = Model::default();
    for text in ["../words/src", "../model/src"].into_iter().flat_map(texts) {
        model.read(&text);
    }
    // What stands in a file of its own below another.
    for part in [
        "body/schedules.rs",
        "schedule/afar.rs",
        "schedule/bounds.rs",
        "schedule/trigger.rs",
        "body/skins.rs",
        "body/passkeys.rs",
        "body/hooks.rs",
        "body/gateways.rs",
        "body/elsewhere.rs",
        "body/identity.rs",
        "body/anchors.rs",
        "body/mesh.rs",
        "body/dual.rs",
        "body/successor.rs",
        "body/training.rs",
    ] {
        model.read(&std::fs::read_to_string(room().join("../model/src").join(part)).unwrap());
    }
    // Of the room `acts` what is stored, and not what is computed of it.
    let mut acts = Model::default();
    texts("../acts/src").iter().filter(|text| text.contains("Deserialize")).for_each(|text| acts.read(text));
    model.take_tools(acts, &std::fs::read_to_string(room().join("../acts/src/lib.rs")).unwrap());
    model
});

/// The sources of a folder, in order.
fn texts(folder: &str) -> Vec<String> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(room().join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "rs"));
    files.sort();
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

/// Asked at run time: a test binary of a shared target folder may have been compiled for another clone.
fn room() -> PathBuf {
    let package = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap());
    // The benchmarks make the same records.
    if package.join("../model").is_dir() { package } else { package.join("../src-tauri/crates/proof") }
}

/// Values of a type of the room `model`, every variant among them; each is read, and written again as it was.
pub fn samples<T: DeserializeOwned + Serialize>(name: &str) -> Vec<T> {
    let read = |value: &Value| {
        let typed: T =
            serde_json::from_value(value.clone()).unwrap_or_else(|e| panic!("{name}: {e}: {value}"));
        assert_eq!(
            serde_json::to_value(&typed).unwrap(),
            *value,
            "{name} is written otherwise than it is read"
        );
        typed
    };
    MODEL.samples(name).iter().map(read).collect()
}

/// A body of every kind of event, with every variant that is in one.
pub fn bodies() -> Vec<Body> {
    let of = |(event_type, version): &(&str, u32)| -> Vec<Body> {
        let read = |value: Value| Body::read(event_type, *version, value).unwrap();
        MODEL.payloads(event_type).into_iter().map(read).collect()
    };
    REGISTRY.iter().flat_map(of).collect()
}

/// The events whose bodies the checks read: those that `proof::facts` lists.
fn read_bodies() -> Vec<String> {
    let source = std::fs::read_to_string(room().join("src/facts.rs")).unwrap();
    let list = source.split("const TYPES").nth(1).unwrap().split("];").next().unwrap();
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

fn wanted() -> String {
    use model::{approval, passkey, receipt, standing};
    let quoted = |text: &str| format!("\"{text}\"");
    let granting = approval::Surface::ALL.iter().filter(|surface| surface.may_grant());
    let granting: Vec<String> = granting.map(|surface| quoted(surface.as_str())).collect();
    let constants = [
        ("STATEMENT_TYPE", quoted(receipt::STATEMENT_TYPE)),
        ("RECEIPT_TYPE", quoted(receipt::PREDICATE_TYPE)),
        ("DECISION_TYPE", quoted(approval::DECISION_PAYLOAD_TYPE)),
        ("STANDING_TYPE", quoted(standing::STANDING_PAYLOAD_TYPE)),
        ("STANDING_FORMAT", quoted(standing::STANDING_FORMAT)),
        ("PASSKEY_TYPE", quoted(passkey::PASSKEY_PAYLOAD_TYPE)),
        ("PASSKEY_FORMAT", quoted(passkey::PASSKEY_FORMAT)),
        ("GRANTING_SURFACES: readonly string[]", format!("[{}]", granting.join(", "))),
    ];
    emit::module(&MODEL, &read_bodies(), &constants)
}

#[test]
fn the_shapes_of_the_second_verifier_are_made_from_the_records() {
    let file = room().join("../../../ui/verifier/src/verify/generated/nouns.ts");
    if std::env::var("HERMIT_BINDINGS").is_ok_and(|word| word == "write") {
        std::fs::write(&file, wanted()).unwrap();
    }
    let stale = std::fs::read_to_string(Path::new(&file)).unwrap_or_default() != wanted();
    assert!(!stale, "nouns.ts is stale; run `HERMIT_BINDINGS=write cargo test -p hermit-proof nouns`");
}

#[test]
fn every_registered_body_has_samples_that_are_written_as_they_are_read() {
    let mut seen = std::collections::BTreeSet::new();
    for body in bodies() {
        let again = Body::read(body.event_type(), body.version(), body.to_value().unwrap()).unwrap();
        assert_eq!(again, body);
        seen.insert(body.event_type());
    }
    assert_eq!(seen.len(), REGISTRY.len());
    let tools: std::collections::BTreeSet<&str> =
        samples::<acts::Action>("Action").iter().map(acts::Action::tool).collect();
    assert_eq!(tools, acts::Action::TOOLS.iter().copied().collect());
}

#[test]
fn every_kind_of_shape_is_read_and_written() {
    let mut model = Model::default();
    model.read(
        r#"
        ids! { /// One.
            OneId = "one", "one"; }
        crate::names! { pub enum Absence ("why") { None = "none", } }
        crate::names! { /// Words.
            pub enum Word ("word") { /// A.
                A = "a.a", B = "b", } }
        #[serde(deny_unknown_fields)]
        pub struct Rec { id: OneId, #[serde(rename = "_type")] kind: Word, #[serde(default)] list: Vec<u16>,
            #[serde(default, skip_serializing_if = "Option::is_none")] text: Option<Sensitive<String>> }
        #[serde(tag = "op", rename_all = "snake_case")]
        pub enum Act { Go, DoIt { slot: Slot<Digest> }, Rec(Rec) }
        #[serde(rename_all = "snake_case")]
        pub enum Prior { NotThere, Sha(Digest) }
        bodies! { /// It.
            It ("it.was", 1, Store, |b| b.id) { act: Act, prior: BTreeMap<String, Prior>, } }
        "#,
    );
    // The records themselves are of the real sources.
    let text = wanted();
    assert!(
        text.contains("  fetch: fetch,\n") && text.contains("export const fetch = object({ method: method"),
        "{text}"
    );
    let payloads = model.payloads("it.was");
    assert_eq!(payloads.len(), 5, "{payloads:?}");
    let digest = seal::Digest::of(b"a sample").to_string();
    let act = |n: usize| payloads[n]["act"].clone();
    assert_eq!(act(0), serde_json::json!({ "op": "go" }));
    assert_eq!(act(1), serde_json::json!({ "op": "do_it", "slot": { "value": digest } }));
}
