//! Whether Hermit may lean on what it leans on, told offline from its lock files: licences, registries, crates that a rule keeps out or has
//! only once. Whether an advisory speaks of one of them is told by `cargo-deny` or `cargo-audit`, where one of them lies here with its
//! database; nothing is fetched.

use crate::packages::Rules;
use crate::place::{Place, cargo_home};
use crate::shell::{answers, run, say};
use crate::{Problem, gather};
use std::fs;
use std::path::Path;

/// What each crate says of its licence.
const LICENCES: &str = "tests/house/licences.tsv";
/// What is ruled of packages.
const RULES: &str = "tests/house/packages.tsv";

/// Programs that know advisories: the word behind `cargo`, what it is told so that it fetches nothing, and the folder of its
/// database below cargo's own.
const KNOW_ADVISORIES: [(&str, &[&str], &str); 2] = [
    ("deny", &["--offline", "check", "advisories"], "advisory-dbs"),
    ("audit", &["--no-fetch", "--stale"], "advisory-db"),
];

/// The two lists, as texts.
pub fn lists(root: &Path) -> Result<(String, String), Problem> {
    let read =
        |path: &str| fs::read_to_string(root.join(path)).map_err(|e| format!("cannot read `{path}`: {e}"));
    Ok((read(LICENCES)?, read(RULES)?))
}

/// Holds every lock file to the rules, and asks for advisories where that is possible here.
pub fn check(place: &Place) -> Result<(), Problem> {
    let (locks, found) = against_locks(&place.root)?;
    if !found.is_empty() {
        return Err(format!("these dependencies may not be:\n  {}", found.join("\n  ")));
    }
    say(&format!("{locks} lock files hold nothing that the rules keep out"));
    let home = cargo_home()?;
    let has = |word: &str| answers("cargo", &[word, "--version"]);
    match asker(has, |folder| is_filled(&home.join(folder))) {
        Ok((word, words)) => run(place.cargo().arg(word).args(words)),
        Err(why) => {
            say(&format!("advisories were not looked at: {why}"));
            Ok(())
        }
    }
}

/// How many lock files there are, and what stands against what they name.
fn against_locks(root: &Path) -> Result<(usize, Vec<String>), Problem> {
    let (licences, rules) = lists(root)?;
    let rules = Rules::read(&licences, &rules).map_err(|why| format!("{RULES}: {why}"))?;
    let files = gather::listed(root)
        .map_err(|e| format!("the files of `{}` cannot be listed: {e}", root.display()))?;
    let is_lock = |path: &&String| {
        ["Cargo.lock", "package-lock.json"].iter().any(|name| path.rsplit('/').next() == Some(*name))
    };
    let (mut locks, mut found) = (0, Vec::new());
    for path in files.iter().filter(is_lock) {
        let text = fs::read_to_string(root.join(path)).map_err(|e| format!("cannot read `{path}`: {e}"))?;
        found.extend(rules.against(path, &text));
        locks += 1;
    }
    Ok((locks, found))
}

fn is_filled(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

/// The first program that is here with its database; else what is missing, by name.
fn asker(
    has: impl Fn(&str) -> bool,
    is_filled: impl Fn(&str) -> bool,
) -> Result<(&'static str, &'static [&'static str]), String> {
    let mut missing = Vec::new();
    for (word, words, database) in KNOW_ADVISORIES {
        match (has(word), is_filled(database)) {
            (true, true) => return Ok((word, words)),
            (true, false) => {
                missing.push(format!("`cargo-{word}` is here without its database `{database}`"))
            }
            (false, _) => missing.push(format!("`cargo-{word}` is not here")),
        }
    }
    Err(missing.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advisories_are_asked_of_whoever_is_here_with_a_database_and_who_is_missing_is_named() {
        let all = |_: &str| true;
        assert_eq!(asker(all, all).map(|(word, _)| word), Ok("deny"));
        assert_eq!(asker(|word| word == "audit", all).map(|(word, _)| word), Ok("audit"));
        let why = asker(|word| word == "deny", |_| false);
        assert_eq!(
            why,
            Err("`cargo-deny` is here without its database `advisory-dbs`; `cargo-audit` is not here"
                .to_owned())
        );
    }

    #[test]
    fn a_lock_that_breaks_a_rule_is_found_in_whatever_folder_it_lies() {
        let root = std::env::temp_dir().join(format!("hermit-locks-{}", std::process::id()));
        fs::create_dir_all(root.join("tests/house")).expect("a folder");
        fs::create_dir_all(root.join("src-tauri/lamp")).expect("a folder");
        fs::write(root.join(LICENCES), "lamp\tMIT\n").expect("a file");
        fs::write(root.join(RULES), "never\tlamp\tit is too bright\n").expect("a file");
        let lock = "[[package]]\nname = \"lamp\"\nversion = \"1.0.0\"\nsource = \"git+https://lamp.test\"\n";
        fs::write(root.join("src-tauri/lamp/Cargo.lock"), lock).expect("a file");
        fs::write(root.join("package-lock.json"), "{}\n").expect("a file");
        let found = against_locks(&root);
        fs::remove_dir_all(&root).expect("it goes");
        let (locks, found) = found.expect("the locks are read");
        assert_eq!((locks, found.len()), (2, 2), "{found:?}");
        assert!(found.iter().all(|one| one.starts_with("src-tauri/lamp/Cargo.lock: the crate `lamp` ")));
    }
}
