//! What a version tells of itself (HV-1-3), read from its source: rooms, doors, limits, requirements, and the tests that show
//! them. Nothing here is a list of its own; what the source does not say is not told.

use crate::archive::{Archive, File};
use std::collections::BTreeMap;
use toml::Table;

/// Who may import whom.
const DOORS: &str = "tests/house/doors.toml";
/// Requirements with how each stands.
const REPORT: &str = "tests/conformance/report.tsv";
/// Requirements with their words.
const REQUIREMENTS: &str = "tests/conformance/requirements.tsv";
/// How the name of a constant that bounds something ends.
const BOUNDS: [&str; 4] = ["_MAX", "_MIN", "_QUOTA", "_DEFAULT"];
/// Bytes of a bound's value that are told: what is longer is a table.
const VALUE_BYTES_MAX: usize = 120;

/// One thing that a version tells of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Told {
    /// Its name; within one answer there is one of a name and a place.
    pub name: String,
    /// What it is for, in a sentence.
    pub about: String,
    /// Its value or how it stands; empty where it has none.
    pub value: String,
    /// Where it stands: a path, with `:LINE` where it is a line.
    pub at: String,
    /// What it leads to: doors of a room, tests of a requirement, requirements of a test.
    pub leads_to: Vec<String>,
}

/// The rooms of a version: crates with their purpose, and the rooms each needs.
pub fn rooms(archive: &Archive<'_>) -> Vec<Told> {
    let members = table(archive, "Cargo.toml");
    let members = members.get("workspace").and_then(|workspace| workspace.get("members"));
    let folders = members.and_then(|members| members.as_array()).into_iter().flatten();
    folders.filter_map(|folder| room(archive, folder.as_str()?)).collect()
}

fn room(archive: &Archive<'_>, folder: &str) -> Option<Told> {
    let at = format!("{folder}/Cargo.toml");
    let manifest = table(archive, &at);
    let package = manifest.get("package")?;
    let short = |name: &str| name.strip_prefix("hermit-").unwrap_or(name).to_owned();
    // Those of one system alone stand in a table of that system.
    let targets = manifest.get("target").and_then(|targets| targets.as_table()).into_iter().flatten();
    let tables = std::iter::once(&manifest).chain(targets.filter_map(|(_, target)| target.as_table()));
    let needs = tables.filter_map(|table| table.get("dependencies")?.as_table());
    // Rooms are named as the workspace names them; everything else is somebody else's crate.
    let ours = |name: &&String| archive.text(&format!("src-tauri/crates/{name}/Cargo.toml")).is_some();
    Some(Told {
        name: short(package.get("name")?.as_str()?),
        about: package.get("description").and_then(|about| about.as_str()).unwrap_or_default().to_owned(),
        at,
        leads_to: needs.flat_map(|needs| needs.keys()).filter(ours).cloned().collect(),
        ..Told::default()
    })
}

/// The rules of the house about doors: for each room which others it may import.
pub fn doors(archive: &Archive<'_>) -> Vec<Told> {
    let doors = table(archive, DOORS);
    let rooms = doors.get("rooms").and_then(|rooms| rooms.as_table()).into_iter().flatten();
    let words = |to: &toml::Value| {
        let to = to.as_array().into_iter().flatten();
        to.filter_map(|room| room.as_str().map(str::to_owned)).collect()
    };
    let told = |(name, to): (&String, &toml::Value)| Told {
        name: name.clone(),
        about: "may import these rooms and no others".to_owned(),
        at: DOORS.to_owned(),
        leads_to: words(to),
        ..Told::default()
    };
    rooms.map(told).collect()
}

/// The bounds of a version: constants whose names say that they are one, with value, reason and place.
pub fn limits(archive: &Archive<'_>) -> Vec<Told> {
    let of_product = |file: &&File<'_>| {
        file.path.starts_with("src-tauri/") && file.path.ends_with(".rs") && !file.path.contains("/tests/")
    };
    archive.files().iter().filter(of_product).flat_map(|file| limits_of(archive, file.path)).collect()
}

fn limits_of(archive: &Archive<'_>, path: &str) -> Vec<Told> {
    let mut found = Vec::new();
    let mut about: Vec<&str> = Vec::new();
    for (at, line) in archive.text(path).unwrap_or_default().lines().enumerate() {
        let code = line.trim();
        // What stands behind here is for tests.
        if code == "#[cfg(test)]" {
            break;
        }
        if let Some(words) = code.strip_prefix("///") {
            about.push(words.trim());
            continue;
        }
        if let Some((name, value)) = bound(code) {
            let (about, at) = (about.join(" "), format!("{path}:{}", at + 1));
            found.push(Told {
                name: name.to_owned(),
                about,
                value: value.to_owned(),
                at,
                leads_to: Vec::new(),
            });
        }
        about.clear();
    }
    found
}

/// Name and value of a constant that bounds something, where a line declares one.
fn bound(code: &str) -> Option<(&str, &str)> {
    let code = code.strip_prefix("pub(crate) ").or_else(|| code.strip_prefix("pub ")).unwrap_or(code);
    let (name, rest) = code.strip_prefix("const ")?.split_once(": ")?;
    let (_, value) = rest.split_once(" = ")?;
    let value = value.strip_suffix(';')?;
    let is_bound = BOUNDS.iter().any(|ending| name.ends_with(ending)) && value.len() <= VALUE_BYTES_MAX;
    is_bound.then_some((name, value))
}

/// The requirements of a version: their words, how each stands, and the tests that show it.
pub fn requirements(archive: &Archive<'_>) -> Vec<Told> {
    let words: BTreeMap<&str, &str> =
        columns(archive, REQUIREMENTS).filter_map(|row| Some((*row.first()?, *row.last()?))).collect();
    let told = |row: Vec<&str>| {
        let &[id, level, area, state, tests, note] = row.as_slice() else { return None };
        let about = words.get(id).copied().unwrap_or_default();
        let note = if note.is_empty() { String::new() } else { format!("; {note}") };
        Some(Told {
            name: id.to_owned(),
            about: about.to_owned(),
            value: format!("{level}, {area}: {state}{note}"),
            at: REPORT.to_owned(),
            leads_to: listed(tests).map(str::to_owned).collect(),
        })
    };
    columns(archive, REPORT).filter_map(told).collect()
}

/// The tests that show a requirement, with the requirements each shows, whole or in part.
pub fn tests(archive: &Archive<'_>) -> Vec<Told> {
    let mut found: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for row in columns(archive, REPORT) {
        let &[id, _, _, _, tests, _] = row.as_slice() else { continue };
        for test in listed(tests) {
            let (whole, test) = test.strip_prefix("part ").map_or((true, test), |test| (false, test));
            let (surface, name) = test.split_once(' ').unwrap_or(("", test));
            let id = if whole { id.to_owned() } else { format!("{id} in part") };
            found.entry((name, surface)).or_default().push(id);
        }
    }
    let told = |((name, surface), leads_to): ((&str, &str), Vec<String>)| Told {
        name: name.to_owned(),
        about: "shows these requirements".to_owned(),
        value: surface.to_owned(),
        at: REPORT.to_owned(),
        leads_to,
    };
    found.into_iter().map(told).collect()
}

/// The tests that one column names.
fn listed(tests: &str) -> impl Iterator<Item = &str> {
    tests.split(", ").filter(|test| !test.is_empty())
}

/// The rows of a list in the tree, without its head.
fn columns<'a>(archive: &Archive<'a>, path: &str) -> impl Iterator<Item = Vec<&'a str>> {
    let lines = archive.text(path).unwrap_or_default().lines().filter(|line| !line.starts_with('#'));
    lines.skip(1).map(|line| line.split('\t').collect())
}

/// A file of settings; an empty one where it is not there.
fn table(archive: &Archive<'_>, path: &str) -> Table {
    archive.text(path).and_then(|text| text.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::{Files, pack};

    /// A tree of a few files.
    fn stream(files: &[(&str, &str)]) -> Vec<u8> {
        let of = |(path, text): &(&str, &str)| ((*path).to_owned(), (false, text.as_bytes().to_vec()));
        pack(&files.iter().map(of).collect::<Files>()).expect("it fits")
    }

    #[test]
    fn a_version_tells_what_its_source_says_and_nothing_else() {
        let stream = stream(&[
            ("Cargo.toml", "[workspace]\nmembers = [\"src-tauri/crates/a\", \"src-tauri/crates/gone\"]\n"),
            (
                "src-tauri/crates/a/Cargo.toml",
                "[package]\nname = \"hermit-a\"\ndescription = \"for lamps\"\n[dependencies]\nb.workspace = true\nserde = \"1\"\n",
            ),
            ("src-tauri/crates/b/Cargo.toml", "[package]\nname = \"hermit-b\"\n"),
            (
                "src-tauri/crates/a/src/lib.rs",
                "/// Lamps of a room:\n/// more are too bright.\npub const LAMPS_MAX: usize = 4 * 2;\nconst OTHER: u8 = 1;\n\
                 #[cfg(test)]\nconst IN_TESTS_MAX: u8 = 1;\n",
            ),
            ("tests/house/doors.toml", "[rooms]\na = [\"b\"]\n"),
            ("tests/conformance/requirements.tsv", "id\tsource\ttext\nX-1\ts\tIt shines.\n"),
            (
                "tests/conformance/report.tsv",
                "# head\nid\tlevel\tarea\tstate\ttests\tnote\nX-1\tMUST\tlamps\tproven\tkernel k::one, part room r::two\t\n",
            ),
        ]);
        let archive = Archive::read(&stream).expect("an archive");
        let rooms = rooms(&archive);
        assert_eq!(rooms.len(), 1, "a member that is not there tells nothing: {rooms:?}");
        assert_eq!((rooms[0].name.as_str(), rooms[0].about.as_str()), ("a", "for lamps"));
        assert_eq!(
            (&rooms[0].leads_to, &doors(&archive)[0].leads_to),
            (&vec!["b".to_owned()], &vec!["b".to_owned()])
        );
        let limits = limits(&archive);
        let [limit] = limits.as_slice() else { panic!("{limits:?}") };
        assert_eq!((limit.name.as_str(), limit.value.as_str()), ("LAMPS_MAX", "4 * 2"));
        assert_eq!(limit.about, "Lamps of a room: more are too bright.");
        assert_eq!(limit.at, "src-tauri/crates/a/src/lib.rs:3");
        let [one] = &requirements(&archive)[..] else { panic!("one requirement") };
        assert_eq!((one.about.as_str(), one.value.as_str()), ("It shines.", "MUST, lamps: proven"));
        assert_eq!(one.leads_to, ["kernel k::one", "part room r::two"]);
        let told: Vec<_> = tests(&archive).into_iter().map(|told| (told.name, told.leads_to)).collect();
        assert_eq!(told[0], ("k::one".to_owned(), vec!["X-1".to_owned()]));
        assert_eq!(told[1], ("r::two".to_owned(), vec!["X-1 in part".to_owned()]));
    }

    #[test]
    fn a_tree_without_these_files_tells_nothing() {
        let stream = stream(&[("README.md", "lamps\n")]);
        let archive = Archive::read(&stream).expect("an archive");
        for told in
            [rooms(&archive), doors(&archive), limits(&archive), requirements(&archive), tests(&archive)]
        {
            assert_eq!(told, Vec::new());
        }
    }
}
