//! What a file of the tree refers to: nothing outside the tree, where studies lie, and no study inside it.

use super::labels::labelled;

/// What begins a reference in Rust, up to the quotation mark before it.
const IN_RUST: [&str; 4] = ["include!(", "include_str!(", "include_bytes!(", "#[path = "];
/// As above in scripts and style sheets.
const IN_SCRIPTS: [&str; 5] = ["from ", "import ", "import(", "require(", "@import "];

/// The references of a file that lead out of the tree, to a place of one machine, or to study material; as they stand there.
pub fn leaving(path: &str, text: &str) -> Vec<String> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let refers = |reference: &&str| leaves(folder, reference);
    let mut found: Vec<&str> = match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "rs" => behind(text, &IN_RUST).into_iter().filter(refers).collect(),
        "ts" | "tsx" | "js" | "mjs" | "css" | "html" => {
            behind(text, &IN_SCRIPTS).into_iter().filter(refers).collect()
        }
        _ => Vec::new(),
    };
    if name == "Cargo.toml" {
        found.extend(behind(text, &["path = ", "path="]).into_iter().filter(refers));
    }
    if name == "Cargo.toml" || path == ".cargo/config.toml" {
        // What a configuration names lies beside the folder `.cargo`.
        let folder = folder.strip_suffix(".cargo").unwrap_or(folder);
        let is_place = |string: &&str| string.starts_with('/') || string.contains("../");
        let leads = |string: &&str| leaves(folder, string);
        found.extend(text.lines().flat_map(strings).filter(is_place).filter(leads));
    }
    if name == "package.json" {
        let words = strings(text).into_iter().flat_map(str::split_whitespace);
        found.extend(words.filter(|word| word.contains("../")).filter(refers));
        let local = |text: &&str| ["file:", "link:"].iter().any(|kind| text.starts_with(kind));
        let place = |text: &&str| text.split_once(':').is_some_and(|(_, place)| leaves(folder, place));
        found.extend(strings(text).into_iter().filter(local).filter(place));
    }
    // What configures a build names its places in any form.
    if name == "build.rs" || name.starts_with("tsconfig") || name.contains(".config.") {
        let relative = |text: &&str| text.starts_with("./") || text.contains("../");
        found.extend(strings(text).into_iter().filter(relative).filter(refers));
    }
    if name.ends_with(".rs") {
        let own = manifest_folder(path);
        let places = text.split("CARGO_MANIFEST_DIR\"").skip(1);
        let places = places.filter_map(|rest| rest.split_once('"')).filter(|(between, _)| between.len() < 8);
        let places = places.filter_map(|(_, rest)| rest.split('"').next()).filter(|at| at.starts_with('/'));
        found.extend(places.filter(|at| leaves(own, at.trim_start_matches('/'))));
    }
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(str::to_owned).collect()
}

/// The folder of the manifest that a file of Rust belongs to, by the folders that cargo looks into.
fn manifest_folder(path: &str) -> &str {
    let at = ["/src/", "/tests/", "/benches/"].iter().filter_map(|part| path.find(part)).min();
    at.and_then(|at| path.get(..at)).or_else(|| path.rsplit_once('/').map(|(folder, _)| folder)).unwrap_or("")
}

/// The strings that stand right behind one of these beginnings.
fn behind<'a>(text: &'a str, beginnings: &[&str]) -> Vec<&'a str> {
    let after = beginnings.iter().flat_map(|beginning| text.split(*beginning).skip(1));
    let strings = after.filter_map(|rest| {
        let rest = rest.trim_start();
        let mark = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        rest.get(1..)?.split(mark).next()
    });
    strings.filter(|reference| !reference.contains('\n')).collect()
}

/// Every string of a text.
fn strings(text: &str) -> Vec<&str> {
    text.split('"').skip(1).step_by(2).filter(|string| !string.contains('\n')).collect()
}

/// Whether a reference from a folder leads out of the tree or into study material.
fn leaves(folder: &str, reference: &str) -> bool {
    if reference.starts_with('/') && !reference.starts_with("//") {
        return true;
    }
    let is_module = !reference.starts_with(['.', '/']) && !reference.contains('/');
    if is_module {
        return false;
    }
    let mut place: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in reference.split('/') {
        match part {
            "" | "." => {}
            ".." if place.pop().is_none() => return true,
            ".." => {}
            part => place.push(part),
        }
    }
    let at = format!("{}/x", place.join("/"));
    !labelled(std::iter::once(at.as_str())).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_out_of_the_tree_and_into_a_study_is_found() {
        for (path, text) in [
            ("src-tauri/crates/a/src/b.rs", "const X: &str = include_str!(\"../../../../../lamp/fold.rs\");"),
            ("src-tauri/crates/a/src/b.rs", "#[path = \"../study/fold.rs\"]\nmod fold;"),
            (
                "src-tauri/crates/a/src/b.rs",
                "include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/../../../../lamp.rs\"));",
            ),
            ("src-tauri/crates/a/Cargo.toml", "lamp = { path = \"../../../../lamp\" }"),
            ("Cargo.toml", "members = [\"src-tauri\", \"../lamp\"]"),
            (".cargo/config.toml", "paths = [\"../lamp\"]"),
            ("package.json", "{ \"scripts\": { \"fold\": \"node ../lamp/fold.mjs\" } }"),
            ("src-tauri/crates/a/build.rs", "fs::copy(\"../../../study/a.c\", out)"),
            ("src-tauri/crates/a/src/b.rs", "include_bytes!(\"/srv/lamp/fold.bin\")"),
            ("package.json", "{ \"lamp\": \"file:../lamp\" }"),
            ("ui/tsconfig.json", "{ \"paths\": { \"lamp/*\": [\"../../lamp/*\"] } }"),
            ("ui/src/a.ts", "import { fold } from \"../study/fold\";"),
            ("ui/src/a.ts", "const fold = await import('../../../lamp/fold');"),
            ("ui/vite.config.ts", "alias: { lamp: resolve(\"./study/lamp\") }"),
        ] {
            assert_eq!(leaving(path, text).len(), 1, "{path}: {text}");
        }
    }

    #[test]
    fn what_stays_in_the_tree_is_no_finding() {
        for (path, text) in [
            (
                "src-tauri/crates/a/src/b.rs",
                "include_str!(\"../../../../Cargo.toml\"); include_str!(\"b.tsv\");",
            ),
            ("src-tauri/crates/a/src/b.rs", "// a study of lamps\nmod study_of;"),
            ("src-tauri/crates/a/Cargo.toml", "b = { path = \"../b\" }\nc = \"1\""),
            (".cargo/config.toml", "[alias]\nxtask = \"run --package hermit-xtask --\""),
            ("ui/src/a.ts", "import { x } from \"~/screen/x\"; import y from \"react\";"),
            ("ui/tsconfig.json", "{ \"paths\": { \"~/*\": [\"./src/*\"] } }"),
        ] {
            assert_eq!(leaving(path, text), Vec::<String>::new(), "{path}: {text}");
        }
    }
}
