//! How the pages lean on each other: folders by their imports, one way only, and one file that knows the window.

use super::tree::{Source, sources};
use std::collections::{BTreeMap, BTreeSet};

/// The layers of `ui/src` by their folders, lowest first: a file imports from its own layer and from lower ones.
/// A folder inside another (`features/approvals`) belongs to the layer with the longest name that fits.
const LAYERS: [&str; 9] =
    ["styles", "primitives", "ipc/generated", "host", "ipc", "screen", "features", "app", ""];
/// The folders whose scripts are read.
const ROOTS: [&str; 2] = ["ui/src", "ui/verifier/src"];

/// An import of one file by another, both by their paths without an ending.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Import {
    from: String,
    to: String,
}

impl Import {
    fn folders(&self) -> (&str, &str) {
        (folder(&self.from), folder(&self.to))
    }
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Whether a file belongs to what a person runs; a test may import whatever it tests.
fn of_the_pages(source: &Source) -> bool {
    let script = source.path.ends_with(".ts") || source.path.ends_with(".tsx");
    let test = source.path.contains(".test.") || source.path.starts_with("ui/src/test/");
    script && !test && ROOTS.iter().any(|root| source.path.starts_with(&format!("{root}/")))
}

fn imports<'a>(pages: impl Iterator<Item = &'a Source>) -> BTreeSet<Import> {
    let all = pages.flat_map(|source| {
        let named = modules(&source.text).into_iter();
        named.filter_map(|name| {
            Some(Import { from: source.path.clone(), to: resolve(folder(&source.path), name)? })
        })
    });
    all.collect()
}

/// What a script imports or exports onward, type or value, at its start or later on.
fn modules(text: &str) -> Vec<&str> {
    let starts = ["from \"", "import \"", "import(\""];
    let found = starts.iter().flat_map(|start| text.split(*start).skip(1));
    found.filter_map(|rest| rest.split('"').next()).filter(|name| name.starts_with(['.', '~'])).collect()
}

/// The path of a module as a file of `folder` names it; `~` is `ui/src`.
fn resolve(folder: &str, name: &str) -> Option<String> {
    if let Some(rest) = name.strip_prefix("~/") {
        return Some(format!("ui/src/{rest}"));
    }
    let mut path: Vec<&str> = folder.split('/').collect();
    for part in name.split('/') {
        match part {
            "." => {}
            ".." => {
                path.pop()?;
            }
            part => path.push(part),
        }
    }
    Some(path.join("/"))
}

/// The first way from a folder back to itself, as the imports that lead round.
fn way_round(imports: &BTreeSet<Import>) -> Option<Vec<Import>> {
    let mut next: BTreeMap<&str, BTreeMap<&str, &Import>> = BTreeMap::new();
    for import in imports {
        let (from, to) = import.folders();
        if from != to {
            next.entry(from).or_default().entry(to).or_insert(import);
        }
    }
    next.keys().find_map(|start| shortest_way(&next, start))
}

/// The shortest way from `start` back to it, breadth first.
fn shortest_way(next: &BTreeMap<&str, BTreeMap<&str, &Import>>, start: &str) -> Option<Vec<Import>> {
    let mut ways: Vec<Vec<&Import>> = vec![Vec::new()];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            let at = way.last().map_or(start, |import| import.folders().1);
            for (to, import) in next.get(at).into_iter().flatten() {
                let onward: Vec<&Import> = way.iter().copied().chain([*import]).collect();
                if *to == start {
                    return Some(onward.into_iter().cloned().collect());
                }
                if seen.insert(*to) {
                    longer.push(onward);
                }
            }
        }
        ways = longer;
    }
    None
}

/// The place of a file of `ui/src` in [`LAYERS`].
fn layer(path: &str) -> Option<usize> {
    let inside = format!("{}/", folder(path).strip_prefix("ui/src")?.trim_start_matches('/'));
    let fits = |name: &&&str| (inside == "/" && name.is_empty()) || inside.starts_with(&format!("{name}/"));
    let longest = LAYERS.iter().filter(fits).max_by_key(|name| name.len())?;
    LAYERS.iter().position(|name| name == longest)
}

/// The imports that go up.
fn upward(imports: &BTreeSet<Import>) -> Vec<&Import> {
    let up = |import: &&Import| match (layer(&import.from), layer(&import.to)) {
        (Some(from), Some(to)) => to > from,
        (Some(_), None) => true,
        (None, _) => import.from.starts_with("ui/src/"),
    };
    imports.iter().filter(up).collect()
}

#[test]
fn no_folder_of_the_pages_imports_from_itself_by_a_way_round() {
    let imports = imports(sources().iter().filter(|source| of_the_pages(source)));
    assert!(imports.len() > 400, "the imports were read: {}", imports.len());
    assert_eq!(way_round(&imports), None, "these imports lead back to the folder they began at");
}

/// `ui/README.md` says what each layer is for.
#[test]
fn the_pages_import_downward() {
    let imports = imports(sources().iter().filter(|source| of_the_pages(source)));
    let up = upward(&imports);
    assert!(up.is_empty(), "an import goes to a higher layer, or to none: {up:#?}");
}

/// The pages talk to the window in one file; everything else asks that.
#[test]
fn the_pages_meet_the_window_in_one_file() {
    let pages = sources().iter().filter(|source| source.path.starts_with("ui/"));
    let meet: Vec<&str> = pages
        .filter(|source| source.text.contains("\"@tauri-apps/") || source.text.contains("__TAURI"))
        .map(|source| source.path.as_str())
        .collect();
    assert_eq!(meet, ["ui/src/host/tauri.ts"]);
}

fn made_up(files: &[(&str, &str)]) -> BTreeSet<Import> {
    let file = |(path, text): &(&str, &str)| Source { path: (*path).into(), text: (*text).into() };
    let files: Vec<Source> = files.iter().map(file).collect();
    imports(files.iter().filter(|source| of_the_pages(source)))
}

#[test]
fn a_way_round_over_three_folders_is_named_file_by_file() {
    let imports = made_up(&[
        (
            "ui/src/features/approval-window/ApprovalWindow.tsx",
            "import {\n  Card,\n} from \"~/features/cards/Card\";\n",
        ),
        ("ui/src/features/cards/Card.tsx", "import \"./Card.css\";\nexport * from \"../keys/Keys\";\n"),
        ("ui/src/features/keys/Keys.tsx", "const later = import(\"../approval-window/ApprovalWindow\");\n"),
        ("ui/src/features/keys/Keys.test.tsx", "import { Other } from \"~/app/App\";\n"),
    ]);
    let way = way_round(&imports).expect("there is a way round");
    let steps: Vec<&str> = way.iter().map(|import| import.from.as_str()).collect();
    assert_eq!(
        steps,
        [
            "ui/src/features/approval-window/ApprovalWindow.tsx",
            "ui/src/features/cards/Card.tsx",
            "ui/src/features/keys/Keys.tsx"
        ]
    );
    let without: BTreeSet<Import> = imports.into_iter().filter(|import| *import != way[1]).collect();
    assert_eq!(way_round(&without), None);
}

#[test]
fn an_import_that_goes_up_is_found_and_so_is_a_folder_of_no_layer() {
    let imports = made_up(&[
        ("ui/src/primitives/Tag.tsx", "import { plain } from \"~/screen/words\";\n"),
        ("ui/src/ipc/client.ts", "import type { Task } from \"./generated/task\";\n"),
        ("ui/src/features/task/Task.tsx", "import { Frame } from \"~/app/Frame\";\n"),
        ("ui/src/main.tsx", "import { App } from \"./app/App\";\n"),
        ("ui/src/features/inbox/Inbox.tsx", "import { odd } from \"~/utils/odd\";\n"),
    ]);
    let up: Vec<&str> = upward(&imports).iter().map(|import| import.to.as_str()).collect();
    assert_eq!(up, ["ui/src/utils/odd", "ui/src/app/Frame", "ui/src/screen/words"]);
}
