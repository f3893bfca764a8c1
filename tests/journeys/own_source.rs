//! The source that `hermit` carries: all of it, exactly, the same wherever it is gathered; what the program tells of itself by
//! it; and the clean room, seen on what the program itself gives out.

use super::programs::{hermit, root};
use super::stage::Stage;
use crate::house::clean_room;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// What git tracks in this checkout; none where it is none, or git is not here.
fn tracked() -> Option<BTreeSet<String>> {
    root().join(".git").exists().then_some(())?;
    let said = Command::new("git").current_dir(root()).args(["ls-files", "-z"]).output().ok()?;
    let names = String::from_utf8(said.stdout).ok().filter(|_| said.status.success())?;
    Some(
        names
            .split('\0')
            .filter(|name| !name.is_empty() && root().join(name).is_file())
            .map(str::to_owned)
            .collect(),
    )
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).expect("a file").permissions().mode() & 0o100 != 0
}

/// A store is not needed, and none is made: the stage has no keys.
#[test]
fn the_program_unpacks_exactly_the_source_that_it_was_made_of() {
    let stage = Stage::bare();
    let folder = stage.at("unpacked");
    let told = stage.hermit(&["source", text(&folder)]).ends(0).json();
    let by_version =
        Command::new(hermit()).args(["--version", "--json"]).env("HERMIT_HOME", stage.home()).output();
    let by_version: serde_json::Value =
        serde_json::from_slice(&by_version.expect("it runs").stdout).expect("a document");
    assert_eq!(told, by_version);
    assert!(!stage.home().exists(), "nothing is made by asking");

    // The same code that the build gathers by, over what was unpacked: another root, no git, the same digest.
    let listed = source::gather::listed(&folder).expect("it can be listed");
    let again = source::gather::read(&folder, &listed).expect("it can be read");
    let stream = provenance::archive::pack(&again).expect("it is an archive");
    assert_eq!(told["source_sha256"], model::Digest::of(&stream).to_string());
    assert_eq!(told["source_files"], listed.len());

    for path in &listed {
        let (here, there) = (root().join(path), folder.join(path));
        assert_eq!(
            fs::read(&here).expect(path),
            fs::read(&there).expect(path),
            "{path} is not as it is here"
        );
        assert_eq!(is_executable(&here), is_executable(&there), "{path}");
    }
    let lacking: Vec<String> =
        tracked().unwrap_or_default().into_iter().filter(|path| !listed.contains(path)).collect();
    assert!(lacking.is_empty(), "git tracks these, and the program lacks them: {lacking:?}");

    let again = stage.hermit(&["source", text(&folder)]);
    again.ends(1).complains(&["conflict", "is not empty"]);
    let file = stage.at("file");
    fs::write(&file, "mine").expect("a file");
    stage.hermit(&["source", text(&file)]).ends(2).complains(&["is no folder"]);
    assert_eq!(fs::read(&file).expect("it is there"), b"mine");
}

#[conforms::conforms(part = "HV-1-3")]
#[test]
fn the_program_tells_rooms_doors_commands_limits_requirements_and_tests_as_its_source_has_them() {
    let stage = Stage::bare();
    let tell = |words: &[&str]| {
        let told = stage.hermit(&[&["introspect"][..], words].concat()).ends(0).json();
        let rows = told["rows"].as_array().expect("rows").clone();
        rows.into_iter()
            .map(|row| (row["name"].as_str().expect("a name").to_owned(), row))
            .collect::<BTreeMap<_, _>>()
    };
    let rooms = tell(&["rooms"]);
    for room in crate::house::tree::rooms() {
        let told = &rooms[&room.name];
        assert_eq!(told["about"], room.description);
        let needs: BTreeSet<String> =
            room.needs.iter().filter_map(|need| need.strip_prefix("hermit-")).map(str::to_owned).collect();
        let leads: Vec<String> = serde_json::from_value(told["leads_to"].clone()).expect("names");
        // What only a build script needs is a door too, and is not told among them.
        assert!(leads.iter().all(|to| needs.contains(to)), "{}: {leads:?}", room.name);
        assert!(
            room.name == "desktop" || leads.len() == needs.len(),
            "{}: {leads:?} of {needs:?}",
            room.name
        );
    }
    let doors = tell(&["doors"]);
    assert_eq!(doors["reasoning"]["leads_to"], serde_json::json!(["model", "words"]));
    let commands = tell(&["commands"]);
    let table: BTreeSet<&str> = wire::COMMANDS.iter().map(|info| info.name).collect();
    assert_eq!(commands.keys().map(String::as_str).collect::<BTreeSet<_>>(), table);
    let limits = tell(&["limits", "--words", "model limits goal"]);
    assert_eq!(limits["GOAL_BYTES_MAX"]["value"], "256 * 1024");
    let at = limits["GOAL_BYTES_MAX"]["at"].as_str().expect("a place");
    let (path, line) = at.rsplit_once(':').expect("a line");
    let source = fs::read_to_string(root().join(path)).expect("it is there");
    let line = source.lines().nth(line.parse::<usize>().expect("a number") - 1).expect("the line");
    assert!(line.contains("GOAL_BYTES_MAX"), "{line}");
    let requirements = tell(&["requirements"]);
    let report = fs::read_to_string(root().join("tests/conformance/requirements.tsv")).expect("the table");
    assert_eq!(requirements.len(), report.lines().count() - 1, "more than one part of a list, all of it");
    let doors_test = "house::house::doors::no_room_opens_a_forbidden_door";
    assert!(requirements["HK-6.2-1"]["leads_to"].to_string().contains(doors_test));
    assert!(tell(&["tests", "--words", doors_test])[doors_test]["leads_to"].to_string().contains("HK-6.2-1"));
}

/// Of the source that the program carries: whoever it is given to sees the same.
#[conforms::conforms(part = "HV-1-4", part = "HV-7-4")]
#[test]
fn what_the_program_carries_is_written_in_a_clean_room_and_whatever_is_not_is_found() {
    let stage = Stage::bare();
    let folder = stage.at("unpacked");
    stage.hermit(&["source", text(&folder)]).ends(0);
    let listed = source::gather::listed(&folder).expect("it can be listed");
    let texts: BTreeMap<&str, String> = listed
        .iter()
        .filter_map(|path| Some((path.as_str(), fs::read_to_string(folder.join(path)).ok()?)))
        .collect();
    let texts: BTreeMap<&str, &str> = texts.iter().map(|(path, text)| (*path, text.as_str())).collect();
    assert!(texts.len() > 2_000, "the whole of it: {}", texts.len());
    let found = clean_room::findings(&texts);
    assert!(found.is_empty(), "{}", found.join("\n"));
    clean_room::each_planted_is_found(&texts);
    clean_room::copies_are_found(&texts);
}
