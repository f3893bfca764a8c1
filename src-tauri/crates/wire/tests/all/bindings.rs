//! The TypeScript of the UI, read off the wire's own sources: one file for each noun, and the table of commands.
//!
//! `HERMIT_BINDINGS=write cargo test -p hermit-wire bindings` writes `ui/src/ipc/generated/`; without it the test
//! says which file is stale.

mod emit;
mod read;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Asked at run time: a test binary of a shared target folder may have been compiled for another clone.
fn room() -> PathBuf {
    PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap())
}

fn folder() -> PathBuf {
    room().join("../../../ui/src/ipc/generated")
}

/// The types of one file, by the name they are imported from.
fn modules() -> BTreeMap<String, Vec<read::Type>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(room().join("src/noun")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if name != "mod" {
            found.insert(name, read::types(&fs::read_to_string(&path).unwrap()));
        }
    }
    let mut shared = Vec::new();
    for file in ["error.rs", "notice.rs", "page.rs", "text.rs"] {
        shared.extend(read::types(&fs::read_to_string(room().join("src").join(file)).unwrap()));
    }
    found.insert("shared".to_owned(), shared);
    let lists = [
        "act",
        "artifact",
        "chat",
        "identity",
        "knowledge",
        "mesh",
        "policy",
        "schedule",
        "step",
        "store",
        "successor",
        "task",
        "training",
    ]
    .map(|file| format!("../words/src/{file}.rs"));
    let lists = lists.iter().flat_map(|file| read::types(&fs::read_to_string(room().join(file)).unwrap()));
    found.insert("words".to_owned(), lists.chain([tools()]).collect());
    found
}

/// The tools of acts.
fn tools() -> read::Type {
    let rows = acts::Action::TOOLS.iter().map(|tool| ((*tool).to_owned(), String::new())).collect();
    read::Type {
        name: "Tool".to_owned(),
        generic: None,
        docs: "The tool of an act.".to_owned(),
        shape: read::Shape::List(rows),
    }
}

fn stale(folder: &Path, wanted: &BTreeMap<String, String>) -> Vec<String> {
    let mut found: Vec<String> = wanted
        .iter()
        .filter(|(name, text)| fs::read_to_string(folder.join(name)).ok().as_ref() != Some(*text))
        .map(|(name, _)| name.clone())
        .collect();
    let there = fs::read_dir(folder).into_iter().flatten();
    let names = there.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    found.extend(names.filter(|name| !wanted.contains_key(name)));
    found
}

#[test]
fn the_typescript_of_the_ui_is_made_from_this_table() {
    let wanted = emit::files(&modules());
    if std::env::var("HERMIT_BINDINGS").is_ok_and(|word| word == "write") {
        fs::create_dir_all(folder()).unwrap();
        for name in stale(&folder(), &wanted) {
            match wanted.get(&name) {
                Some(text) => fs::write(folder().join(&name), text).unwrap(),
                None => fs::remove_file(folder().join(&name)).unwrap(),
            }
        }
    }
    let found = stale(&folder(), &wanted);
    assert!(
        found.is_empty(),
        "stale in ui/src/ipc/generated: {}; run `HERMIT_BINDINGS=write cargo test -p hermit-wire bindings`",
        found.join(", ")
    );
}

#[test]
fn a_changed_a_missing_and_a_left_over_file_are_each_stale() {
    let dir = std::env::temp_dir().join(format!("hermit-bindings-{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("same.ts"), "1").unwrap();
    fs::write(dir.join("changed.ts"), "1").unwrap();
    fs::write(dir.join("left.ts"), "1").unwrap();
    let wanted = [("same.ts", "1"), ("changed.ts", "2"), ("missing.ts", "3")];
    let wanted = wanted.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
    let found = stale(&dir, &wanted);
    fs::remove_dir_all(&dir).unwrap();
    assert_eq!(found, ["changed.ts", "missing.ts", "left.ts"]);
}

#[test]
fn every_kind_of_shape_becomes_the_typescript_of_its_json() {
    let types = read::types(
        r#"
        params! { /// Asks.
            Ask { task: String, after: Option<u32>, #[serde(default)] deep: Vec<Kind> } }
        #[serde(tag = "kind", rename_all = "snake_case")]
        pub enum Kind { Plain, /// Named.
            BothWords { a: u64, #[serde(default, skip_serializing_if = "Option::is_none")] b: Option<String> } }
        #[serde(rename_all = "snake_case")]
        pub enum Word { OneWord, Two }
        crate::names! { /// How it stands.
            pub enum HowItStands ("standing") { /// At work.
                AtWork = "at_work", Ended = "ended", } }
        pub type Asks = Page<Ask>;
        "#,
    );
    let text: Vec<String> = types.iter().map(emit::declaration).collect();
    assert_eq!(
        text,
        [
            "/** Asks. */\nexport interface Ask {\n  task: string;\n  after?: number | null;\n  deep?: Kind[];\n}\n",
            "export type Kind =\n  | { kind: \"plain\" }\n  /** Named. */\n  | { kind: \"both_words\"; a: number; b?: string | null };\n",
            "export type Word =\n  | \"one_word\"\n  | \"two\";\n",
            "/** How it stands. */\nexport const HOW_IT_STANDS = [\n  /** At work. */\n  \"at_work\",\n  \"ended\",\n] as const;\n\
             export type HowItStands = (typeof HOW_IT_STANDS)[number];\n",
            "export type Asks = Page<Ask>;\n",
        ]
    );
}
