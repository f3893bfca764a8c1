//! The README's table of `hermit` names exactly the commands that the program offers, with their verbs.

use super::tree::{root, sources};
use std::collections::BTreeMap;
use std::fs;
use syn::{Fields, Item, ItemEnum, Type};

/// `TaskList` as the program spells it: `task-list`.
fn spelled(variant: &str) -> String {
    let mut word = String::new();
    for letter in variant.chars() {
        if letter.is_uppercase() && !word.is_empty() {
            word.push('-');
        }
        word.extend(letter.to_lowercase());
    }
    word
}

/// The enum of verbs that a variant hands on to, if it does.
fn handed_to(fields: &Fields) -> Option<String> {
    let field = fields.iter().next()?;
    let Type::Path(path) = &field.ty else { return None };
    let name = path.path.segments.last()?.ident.to_string();
    name.ends_with("Verb").then_some(name)
}

/// Enums whose name ends in `Verb`, by name: each variant's word and the enum it hands on to.
fn verbs(texts: &[&str]) -> BTreeMap<String, Vec<(String, Option<String>)>> {
    let items = texts.iter().flat_map(|text| syn::parse_file(text).expect("it is Rust").items);
    let enums = items.filter_map(|item| match item {
        Item::Enum(item) if item.ident.to_string().ends_with("Verb") => Some(item),
        _ => None,
    });
    let words = |item: &ItemEnum| {
        item.variants.iter().map(|v| (spelled(&v.ident.to_string()), handed_to(&v.fields))).collect()
    };
    enums.map(|item| (item.ident.to_string(), words(&item))).collect()
}

/// What is wrong with a README, given the verbs; one sentence each.
fn wrong(readme: &str, verbs: &BTreeMap<String, Vec<(String, Option<String>)>>) -> Vec<String> {
    let mut found = Vec::new();
    let row = |word: &str| readme.lines().find(|line| line.starts_with(&format!("| `hermit {word}` |")));
    let all = verbs.get("Verb").cloned().unwrap_or_default();
    for (word, below) in &all {
        let Some(row) = row(word) else {
            found.push(format!("the README's table lacks `hermit {word}`"));
            continue;
        };
        let below = below.as_ref().and_then(|name| verbs.get(name));
        for (verb, _) in below.into_iter().flatten() {
            if !row.contains(&format!("`{verb}`")) {
                found.push(format!("the README's row of `hermit {word}` lacks `{verb}`"));
            }
        }
    }
    let named = readme.lines().filter_map(|line| line.strip_prefix("| `hermit ")?.split('`').next());
    for word in named.filter(|word| !all.iter().any(|(known, _)| known == word)) {
        found.push(format!("the README names `hermit {word}`, which there is not"));
    }
    found
}

#[test]
fn the_readme_names_the_commands_that_the_program_has() {
    let args = sources().iter().filter(|s| s.path.starts_with("src-tauri/crates/cli/src/args"));
    let texts: Vec<_> = args.map(|s| s.text.as_str()).collect();
    let verbs = verbs(&texts);
    assert!(verbs.get("Verb").is_some_and(|all| all.len() > 10), "the commands stand somewhere else now");
    let readme = fs::read_to_string(root().join("README.md")).unwrap_or_default();
    let found = wrong(&readme, &verbs);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_missing_a_stale_and_an_incomplete_row_are_each_found() {
    let verbs = verbs(&["enum Verb { Task(TaskVerb), Boot } enum TaskVerb { ShowAll, Pause }"]);
    let whole = "| `hermit task` | `show-all`, `pause` |\n| `hermit boot` | again |\n";
    assert_eq!(wrong(whole, &verbs), Vec::<String>::new());
    for (readme, says) in [
        ("| `hermit boot` | again |\n", "lacks `hermit task`"),
        (&whole.replace("`pause`", ""), "lacks `pause`"),
        (&format!("{whole}| `hermit fly` | off |\n"), "`hermit fly`, which there is not"),
    ] {
        let found = wrong(readme, &verbs);
        assert!(found.iter().any(|f| f.contains(says)) && found.len() == 1, "{says}: {found:?}");
    }
}
