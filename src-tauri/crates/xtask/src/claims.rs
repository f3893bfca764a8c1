//! The claims that stand in the sources: what a whole run would leave, if every test ran and passed.
//!
//! With it the report is written anew after marks have moved, without running a test. `cargo xtask test` still writes it from
//! what ran, and in CI says what differs.

use crate::Problem;
use crate::conformance::{Proof, Proofs};
use std::fs;
use std::path::Path;

/// Folders with sources of tests, and the package and suite of those in TypeScript.
const RUST: [&str; 2] = ["src-tauri", "tests"];
const PAGES: [(&str, &str); 2] = [("ui/verifier/test", "verifier"), ("tests/browser", "browser")];

/// How a test ends that is skipped, and what it names where somebody has to fetch what it needs.
const ON_DEMAND: [&str; 2] = ["conforms::skip(", "`cargo xtask "];

/// Every claim of the checkout. An error where a file that needs what is fetched on demand claims anything: such a report
/// would hold on the machine of whoever fetched it alone.
pub fn in_sources(root: &Path) -> Result<Proofs, Problem> {
    let mut proofs = Proofs::new();
    for folder in RUST {
        of_folder(root, &root.join(folder), &mut proofs)?;
    }
    for (folder, suite) in PAGES {
        for path in files(&root.join(folder), "ts")? {
            for (id, is_part, name) in in_pages(&read(&path)?) {
                let test = format!("{suite}::{name}");
                proofs.entry(id).or_default().insert(Proof::new(&test, suite, is_part));
            }
        }
    }
    proofs.retain(|id, _| id.split('-').nth(1) != Some("0"));
    Ok(proofs)
}

fn read(path: &Path) -> Result<String, Problem> {
    fs::read_to_string(path).map_err(|e| format!("cannot read `{}`: {e}", path.display()))
}

/// The files below with this ending, build output left out.
fn files(folder: &Path, ending: &str) -> Result<Vec<std::path::PathBuf>, Problem> {
    let broken = |e: std::io::Error| format!("cannot read `{}`: {e}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(broken)? {
        let path = entry.map_err(broken)?.path();
        let is_output = ["target", "node_modules", "dist", "gen"].iter().any(|name| path.ends_with(name));
        if path.is_dir() && !is_output {
            found.extend(files(&path, ending)?);
        } else if path.extension().is_some_and(|found| found == ending) {
            found.push(path);
        }
    }
    Ok(found)
}

fn of_folder(root: &Path, folder: &Path, proofs: &mut Proofs) -> Result<(), Problem> {
    for path in files(folder, "rs")? {
        let text = read(&path)?;
        let claims = in_rust(&text);
        if claims.is_empty() || path.starts_with(root.join("src-tauri/crates/conforms-mark")) {
            continue;
        }
        let package = path.ancestors().skip(1).find(|up| up.join("Cargo.toml").is_file());
        let package = package.ok_or_else(|| format!("`{}` is in no package", path.display()))?;
        let manifest = read(&package.join("Cargo.toml"))?;
        let name = value(&manifest, "name").unwrap_or_default();
        let within = path.strip_prefix(package).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        let module = module(&manifest, &name, &within, &package.join("tests"));
        if ON_DEMAND.iter().all(|said| text.contains(said)) {
            let at = path.display();
            return Err(format!(
                "`{at}`: what is fetched on demand is not in CI, so its tests carry no mark"
            ));
        }
        for (id, is_part, test) in claims {
            proofs.entry(id).or_default().insert(Proof::new(&format!("{module}::{test}"), &name, is_part));
        }
    }
    Ok(())
}

/// The first value of this name in a manifest.
fn value(manifest: &str, name: &str) -> Option<String> {
    let line = manifest.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix('='))?;
    Some(line.trim().trim_matches(['"', '\'']).to_owned())
}

/// The path of a file's module, the crate first.
fn module(manifest: &str, package: &str, within: &str, tests: &Path) -> String {
    let section = |head: &str| manifest.split_once(head).map(|(_, after)| after);
    let (target, folder) = if within.starts_with("src/") {
        let own = section("[lib]").and_then(|lib| value(lib, "name"));
        (own.unwrap_or_else(|| package.replace('-', "_")), "src".to_owned())
    } else if let Some(given) = section("[[test]]") {
        let path = value(given, "path").unwrap_or_default();
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        (value(given, "name").unwrap_or_default(), folder)
    } else {
        let first = within.split('/').nth(1).unwrap_or_default();
        let folder = if tests.join(first).is_dir() { format!("tests/{first}") } else { "tests".to_owned() };
        (first.trim_end_matches(".rs").to_owned(), folder)
    };
    let rest = within.strip_prefix(&folder).unwrap_or(within).trim_start_matches('/').trim_end_matches(".rs");
    let mut parts: Vec<&str> = rest.split('/').collect();
    // A root is the crate itself, and `mod.rs` its folder.
    if parts.last().is_some_and(|last| ["lib", "main", "mod", &target].contains(last)) {
        parts.pop();
    }
    parts.insert(0, &target);
    parts.join("::")
}

/// `(id, is it a part, test)` of each attribute; the test has the inner module before it where there is one.
fn in_rust(text: &str) -> Vec<(String, bool, String)> {
    let (mut found, mut inner, mut from) = (Vec::new(), "", 0);
    for line in text.split_inclusive('\n') {
        let at = from;
        from += line.len();
        if let Some(name) = line.trim_end().strip_suffix(" {").and_then(|line| line.strip_prefix("mod ")) {
            inner = name;
        }
        let open = line.trim_start();
        if !open.starts_with("#[conforms(") && !open.starts_with("#[conforms::conforms(") {
            continue;
        }
        let Some((list, after)) = text[at..].split_once(")]") else { continue };
        let Some(name) = after.split_once("fn ").and_then(|(_, name)| name.split('(').next()) else {
            continue;
        };
        let is_inner = line.starts_with(' ') && !inner.is_empty();
        let test = if is_inner { format!("{inner}::{name}") } else { name.to_owned() };
        found.extend(ids(list).into_iter().map(|(id, is_part)| (id, is_part, test.clone())));
    }
    found
}

/// The quoted words, and whether `part =` stands before each.
fn ids(list: &str) -> Vec<(String, bool)> {
    let pieces: Vec<&str> = list.split('"').collect();
    let pairs = pieces.chunks_exact(2);
    pairs.map(|pair| (pair[1].to_owned(), pair[0].trim_end().ends_with('='))).collect()
}

/// `(id, is it a part, test)` of `test("name", conforms("ID", part("ID"), async () => …`.
fn in_pages(text: &str) -> Vec<(String, bool, String)> {
    let (mut found, mut group, mut from) = (Vec::new(), String::new(), 0);
    let quoted = |text: &str| text.split('"').nth(1).unwrap_or_default().replace(['\t', '\n', ','], "");
    for line in text.split_inclusive('\n') {
        let at = from;
        from += line.len();
        // `describe.skipIf(…)("name", …` and its like, too.
        if line.starts_with("describe(") || line.starts_with("describe.") {
            group = format!("{} > ", quoted(line));
        } else if line.starts_with("});") {
            group.clear();
        }
        let mark = ["conforms(\"", "conforms(part(\""].iter().filter_map(|mark| line.split_once(mark));
        let Some((before, _)) = mark.min_by_key(|(before, _)| before.len()) else { continue };
        if !line.trim_start().starts_with("test(") {
            continue;
        }
        let list = &text[at + before.len()..];
        let list = list.split("=>").next().unwrap_or(list);
        let name = format!("{group}{}", quoted(line));
        for (id, _) in ids(list) {
            let is_part = list.contains(&format!("part(\"{id}\")"));
            found.push((id, is_part, name.clone()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_with_their_test_and_its_inner_module() {
        let text = concat!(
            "#[conf",
            "orms(\"HK-1-1\", part = \"HK-1-2\")]\n#[test]\nfn plain() {}\n",
            "mod tests {\n    #[conf",
            "orms::conf",
            "orms(\n        \"RX-1-1\",\n    )]\n    #[test]\n    fn inner() {}\n}\n",
        );
        let claim = |id: &str, part, test: &str| (id.to_owned(), part, test.to_owned());
        let all = [
            claim("HK-1-1", false, "plain"),
            claim("HK-1-2", true, "plain"),
            claim("RX-1-1", false, "tests::inner"),
        ];
        assert_eq!(in_rust(text), all);
    }

    #[test]
    fn a_module_is_named_by_its_target_and_its_file() {
        let named = "[package]\nname = \"hermit-a\"\n[lib]\nname = \"a\"\n[[test]]\nname = \"all\"\npath = \"tests/it/main.rs\"\n";
        let bare = "[package]\nname = \"hermit-b\"\n[lib]\nname = \"b\"\n";
        let none = Path::new("/nowhere");
        for (manifest, within, wanted) in [
            (named, "src/lib.rs", "a"),
            (named, "src/deep/mod.rs", "a::deep"),
            (named, "tests/it/main.rs", "all"),
            (named, "tests/it/one/two.rs", "all::one::two"),
            (bare, "tests/single.rs", "single"),
        ] {
            assert_eq!(module(manifest, "hermit-x", within, none), wanted, "{within}");
        }
    }

    #[test]
    fn marks_of_pages_are_read_with_their_group() {
        let text = "describe(\"group\", () => {\n  test(\"a thing, whole\", conforms(\"HK-1-1\", part(\"HK-1-2\"), async () => {\n  }));\n});\n\
            test(\"another\", conforms(\"RX-1-1\", () => \"HK-9-9\"));\n\
            test(\"a part alone\", conforms(part(\"RX-1-2\"), async () => {\n\
            describe.skipIf(NONE === undefined)(\"another group\", () => {\n  test(\"a third\", conforms(\"RX-1-3\", async () => {\n";
        let claim = |id: &str, part, test: &str| (id.to_owned(), part, test.to_owned());
        let all = [
            claim("HK-1-1", false, "group > a thing whole"),
            claim("HK-1-2", true, "group > a thing whole"),
            claim("RX-1-1", false, "another"),
            claim("RX-1-2", true, "a part alone"),
            claim("RX-1-3", false, "another group > a third"),
        ];
        assert_eq!(in_pages(text), all);
    }
}
