//! What no file of the house may hold: unfinished code, sleeping tests, paths of one machine, registry hosts.

use super::syntax::code_words;
use super::tree::{Source, root, sources};

/// Words of unfinished or sleeping code; cut in two so that this file does not find itself.
const UNFINISHED: [&str; 6] = [
    concat!("tod", "o!("),
    concat!("unimple", "mented!("),
    concat!("#[ig", "nore]"),
    concat!("#[ig", "nore ="),
    concat!(".sk", "ip(\""),
    concat!(".on", "ly("),
];

/// Hosts that only the package clients know; cut in two for the same reason.
const HOSTS: [&str; 8] = [
    concat!("crates", ".io"),
    concat!("npmjs", ".org"),
    concat!("npmmirror", ".com"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("proxy.golang", ".org"),
    concat!("static.rust-lang", ".org"),
    concat!("deb.debian", ".org"),
];

/// Lines of a file that hold any of the words: `path:line says word`.
fn lines_with(source: &Source, words: &[&str]) -> Vec<String> {
    let lines = source.text.lines().enumerate();
    lines
        .flat_map(|(at, line)| {
            let said = words.iter().filter(move |w| line.contains(**w));
            said.map(move |w| format!("{}:{} says `{w}`", source.path, at + 1))
        })
        .collect()
}

/// Absolute paths of the machines this house was built on, and of this clone where its path is long enough not
/// to be anybody's word.
fn machine_paths(text: &str, clone: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let folders = ["work", "farm", "root"].map(|f| format!("/{f}/"));
        let absolute = folders.iter().any(|f| starts_a_path(line, f));
        if absolute || (clone.matches('/').count() > 1 && line.contains(clone)) {
            found.push(format!("{}: {}", at + 1, line.trim()));
        }
    }
    found
}

/// Whether `folder` stands in the line where a path begins, not inside a longer path or a URL.
fn starts_a_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line.get(..at).and_then(|b| b.chars().next_back());
        before.is_none_or(|c| !(c.is_alphanumeric() || "._-:/}])*~".contains(c)))
    })
}

fn report(found: Vec<String>) {
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn nothing_is_left_unfinished_or_asleep() {
    let code = sources().iter().filter(|s| [".rs", ".ts", ".tsx"].iter().any(|e| s.path.ends_with(e)));
    report(code.flat_map(|s| lines_with(s, &UNFINISHED)).collect());
}

#[test]
fn no_file_knows_a_path_of_one_machine() {
    let clone = root().to_string_lossy().into_owned();
    let found = sources()
        .iter()
        .flat_map(|s| machine_paths(&s.text, &clone).into_iter().map(|l| format!("{}:{l}", s.path)));
    report(found.collect());
}

#[test]
fn no_file_knows_a_registry_host() {
    // Cargo writes the index into its lock itself.
    let files = sources().iter().filter(|s| !s.path.ends_with("Cargo.lock"));
    report(files.flat_map(|s| lines_with(s, &HOSTS)).collect());
}

#[test]
fn every_rust_file_is_part_of_a_crate() {
    let forgotten: Vec<_> =
        sources().iter().filter(|s| s.is_rust() && is_forgotten(&s.path)).map(|s| &s.path).collect();
    assert!(
        forgotten.is_empty(),
        "no `mod` names these files, so nothing compiles or tests them: {forgotten:?}"
    );
}

/// Whether no parent file declares this one as a module. Crate roots need none.
fn is_forgotten(path: &str) -> bool {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let last = folder.rsplit('/').next().unwrap_or_default();
    let is_root =
        matches!(file, "lib.rs" | "main.rs" | "build.rs") || matches!(last, "bin" | "examples" | "benches");
    let own_test_binary = last == "tests" && folder.starts_with("src-tauri/");
    // `cargo xtask toy` puts these into a copy of the sources, where they are named.
    let is_toy = folder == "tests/toy";
    if is_root || own_test_binary || is_toy {
        return false;
    }
    let (name, home) = match file.strip_suffix(".rs") {
        Some("mod") => (last, folder.strip_suffix(last).unwrap_or_default().trim_end_matches('/')),
        stem => (stem.unwrap_or(file), folder),
    };
    let declares = format!("mod {name};");
    let parents =
        [format!("{home}/mod.rs"), format!("{home}/lib.rs"), format!("{home}/main.rs"), format!("{home}.rs")];
    let mut parents = parents.iter().filter_map(|p| sources().iter().find(|s| s.path == *p));
    !parents.any(|p| p.text.contains(&declares) || lists(&p.text, name)) && !named_by_path(home, file, name)
}

/// Whether a parent makes its modules from the list of tools, and a tool's file has that name.
fn lists(parent: &str, name: &str) -> bool {
    let list = || sources().iter().find(|s| s.path == "src-tauri/crates/acts/src/lib.rs");
    let row = format!("            {name}::");
    parent.contains("acts::each_tool!(") && list().is_some_and(|list| list.text.contains(&row))
}

/// `#[path = "..."]` or a test binary's `mod` beside it.
fn named_by_path(home: &str, file: &str, name: &str) -> bool {
    let beside = sources().iter().filter(|s| s.is_rust() && s.path.starts_with(home));
    let wanted = format!("{file}\"]");
    beside.into_iter().any(|s| s.text.contains(&wanted) || s.text.contains(&format!("mod {name};")))
}

/// Names that say nothing, one each: what a thing does is its name.
fn empty_names(text: &str) -> Vec<String> {
    let words = code_words(text);
    let words: Vec<&str> = words.split(' ').collect();
    let named = words.windows(2).filter(|w| match w[0] {
        // What people chat through is a service, and is called so (schedule.md 2).
        "struct" | "enum" if w[1] == "Service" || w[1] == "ChatService" => false,
        "struct" | "enum" | "trait" | "union" => EMPTY_ENDINGS.iter().any(|e| w[1].ends_with(e)),
        "mod" => EMPTY_MODULES.contains(&w[1]),
        _ => false,
    });
    named.map(|w| w.join(" ")).collect()
}

const EMPTY_ENDINGS: [&str; 7] = ["Manager", "Service", "Helper", "Helpers", "Util", "Utils", "Processor"];
const EMPTY_MODULES: [&str; 7] = ["core", "common", "utils", "util", "helpers", "helper", "misc"];

#[test]
fn no_name_says_nothing() {
    let code = sources().iter().filter(|s| s.is_rust());
    report(
        code.flat_map(|s| empty_names(&s.text).into_iter().map(|n| format!("{}: `{n}`", s.path))).collect(),
    );
    assert_eq!(
        empty_names("mod utils; struct TaskManager; mod tasks; struct Managed;"),
        ["mod utils", "struct TaskManager"]
    );
}

#[test]
fn unfinished_code_a_sleeping_test_and_a_path_are_found() {
    for word in UNFINISHED {
        let source = Source { path: "a.rs".to_owned(), text: format!("fn a() {{ {word}) }}") };
        assert_eq!(lines_with(&source, &UNFINISHED).len(), 1, "{word}");
    }
    let [home, desk] = ["root", "work"].map(|f| format!("/{f}/x"));
    assert_eq!(machine_paths(&format!("see {home}\nand \"{desk}\"\n"), "/c").len(), 2);
    assert_eq!(
        machine_paths(&format!("https://h{desk} and a{desk} and ${{X}}{desk}"), "/c"),
        Vec::<String>::new()
    );
    assert_eq!(machine_paths("in /srv/clone/a", "/srv/clone").len(), 1);
}
