//! What is shipped: the configuration of the packages names every program, text and picture that belongs into one, and the workflows run the
//! whole suite on three systems, where a test of the walls fails when there are none.

use super::tree::root;
use serde_json::Value;
use std::fs;

const CONFIGURATION: &str = "src-tauri/tauri.conf.json";
/// What `cargo xtask bundle` adds: files that are made on the way to a package.
const MADE: &str = "src-tauri/bundle.json";
const WORKSHOP: &str = "src-tauri/crates/xtask/src/app.rs";
const SUITE: &str = ".github/workflows/test.yml";
const PACKAGES: &str = ".github/workflows/app.yml";

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn json(path: &str) -> Value {
    serde_json::from_str(&text(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn words(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// What packages by this configuration would lack, one sentence each. `programs` are those that lie beside the app.
fn lacking(configuration: &Value, made: &Value, programs: &[&str]) -> Vec<String> {
    let bundle = &configuration["bundle"];
    let mut found = Vec::new();
    let beside = words(&made["bundle"]["externalBin"]);
    for program in programs {
        if !beside.contains(&format!("binaries/{program}").as_str()) {
            found.push(format!("{MADE} does not name the program `{program}`"));
        }
    }
    let resources = made["bundle"]["resources"].as_object();
    let names: Vec<&str> = resources.into_iter().flatten().filter_map(|(_, to)| to.as_str()).collect();
    if names != ["licence-texts.txt"] {
        found.push(format!("{MADE} does not put the licence texts beside the programs"));
    }
    for kind in ["deb", "rpm", "appimage", "dmg", "nsis", "msi"] {
        if !words(&bundle["targets"]).contains(&kind) {
            found.push(format!("{CONFIGURATION} makes no {kind}"));
        }
    }
    for kind in ["deb", "rpm"] {
        let of = &bundle["linux"][kind];
        if !words(&of["recommends"]).contains(&"bubblewrap") {
            found.push(format!("the {kind} does not recommend what the sandbox needs"));
        }
        if !of["files"].as_object().is_some_and(|files| files.values().any(|from| from == "../LICENSE")) {
            found.push(format!("the {kind} does not hold Hermit's licence"));
        }
    }
    let icons = words(&bundle["icon"]);
    for name in ["32x32.png", "128x128.png", "icon.icns", "icon.ico"] {
        if !icons.iter().any(|icon| icon.ends_with(name)) {
            found.push(format!("{CONFIGURATION} does not name the icon `{name}`"));
        }
    }
    for word in ["category", "shortDescription", "license", "licenseFile"] {
        if bundle[word].as_str().is_none_or(str::is_empty) {
            found.push(format!(
                "{CONFIGURATION} does not say `{word}`, which the entry of the menu or the package shows"
            ));
        }
    }
    found
}

/// The programs that the workshop puts beside the app.
fn beside() -> Vec<String> {
    let text = text(WORKSHOP);
    let list = text.split_once("pub const BESIDE: [&str; ").and_then(|(_, rest)| rest.split_once("= ["));
    let list = list.and_then(|(_, rest)| rest.split_once(']')).map(|(list, _)| list);
    let list = list.unwrap_or_else(|| panic!("{WORKSHOP} has no list `BESIDE` any more"));
    list.split(',').map(|name| name.trim().trim_matches('"').to_owned()).filter(|n| !n.is_empty()).collect()
}

#[test]
fn packages_hold_every_program_the_licence_texts_the_entry_of_the_menu_and_the_icons() {
    let beside = beside();
    assert!(beside.len() > 2, "{beside:?}");
    let programs: Vec<&str> = beside.iter().map(String::as_str).collect();
    let configuration = json(CONFIGURATION);
    let found = lacking(&configuration, &json(MADE), &programs);
    assert!(found.is_empty(), "{}", found.join("\n"));
    let (icons, licence) =
        (words(&configuration["bundle"]["icon"]), configuration["bundle"]["licenseFile"].as_str());
    for path in icons.into_iter().chain(licence) {
        assert!(
            root().join("src-tauri").join(path).is_file(),
            "{CONFIGURATION} names `{path}`, which is not there"
        );
    }
}

#[test]
fn whatever_a_configuration_leaves_out_is_found() {
    let (configuration, made) = (json(CONFIGURATION), json(MADE));
    let programs = ["hermit", "hermit-verify"];
    let lacks = |configuration: &Value, made: &Value, says: &str| {
        let found = lacking(configuration, made, &programs);
        assert!(found.len() == 1 && found[0].contains(says), "{says}: {found:?}");
    };
    let mut without = made.clone();
    without["bundle"]["externalBin"] = serde_json::json!(["binaries/hermit"]);
    lacks(&configuration, &without, "`hermit-verify`");
    let mut without = made.clone();
    without["bundle"]["resources"] = serde_json::json!({});
    lacks(&configuration, &without, "licence texts");
    for (place, empty, says) in [
        ("/bundle/targets", serde_json::json!(["rpm", "appimage", "dmg", "nsis", "msi"]), "makes no deb"),
        ("/bundle/icon", serde_json::json!(["32x32.png", "128x128.png", "icon.icns"]), "`icon.ico`"),
        ("/bundle/linux/deb/recommends", serde_json::json!([]), "the deb does not recommend"),
        ("/bundle/linux/rpm/files", serde_json::json!({}), "the rpm does not hold"),
        ("/bundle/category", serde_json::json!(""), "`category`"),
    ] {
        let mut without = configuration.clone();
        *without.pointer_mut(place).expect(place) = empty;
        lacks(&without, &made, says);
    }
}

/// What the workflows lack, one sentence each.
fn unrun(suite: &str, packages: &str) -> Vec<String> {
    let mut found = Vec::new();
    for system in ["ubuntu-", "macos-", "windows-"] {
        if !suite.contains(&format!("- system: {system}")) {
            found.push(format!("{SUITE} does not run on {system}"));
        }
        if !packages.contains(&format!("- system: {system}")) {
            found.push(format!("{PACKAGES} makes no package on {system}"));
        }
    }
    for (line, why) in [
        ("run: bash .ci/run", "does not run the whole suite"),
        ("HERMIT_WALLS: must", "lets tests of the walls be skipped"),
        ("fail-fast: false", "ends the other systems when one fails"),
        ("run: cargo xtask systems", "does not see that the rooms compile for other systems"),
        ("run: cargo xtask wine programs", "lets no store go to and fro between Linux and Windows"),
        ("run: npm run check", "does not check licences and sources of what is depended on"),
        ("run: cargo xtask trainer test", "does not run the tests of the program that trains"),
    ] {
        if !suite.contains(line) {
            found.push(format!("{SUITE} {why}"));
        }
    }
    if !packages.contains("run: cargo xtask reproducible all") {
        found.push(format!("{PACKAGES} compares no two builds"));
    }
    if !packages.contains("HERMIT_TARGET_DIR: target\n") {
        found.push(format!("{PACKAGES} looks for packages where CI does not put them"));
    }
    for (path, text) in [(SUITE, suite), (PACKAGES, packages)] {
        let jobs = text.split_once("\njobs:\n").map_or("", |(_, jobs)| jobs);
        let is_job = |line: &&str| line.starts_with("  ") && !line.starts_with("   ") && line.ends_with(':');
        if jobs.lines().filter(is_job).count() > jobs.matches("timeout-minutes:").count() {
            found.push(format!("{path} has a job that may hang for hours"));
        }
        if !text.contains("permissions:\n  contents: read\n") {
            found.push(format!("{path} may write to the repository"));
        }
    }
    found
}

#[test]
fn the_whole_suite_runs_on_three_systems_and_fails_where_the_walls_are_missing() {
    let (suite, packages) = (text(SUITE), text(PACKAGES));
    assert_eq!(unrun(&suite, &packages), Vec::<String>::new());
    for (from, says) in [
        ("- system: windows-", "does not run on windows-"),
        ("HERMIT_WALLS: must", "lets tests of the walls be skipped"),
        ("run: bash .ci/run", "does not run the whole suite"),
        ("run: cargo xtask trainer test", "does not run the tests of the program that trains"),
        ("timeout-minutes:", "may hang for hours"),
        ("contents: read", "may write to the repository"),
    ] {
        let found = unrun(&suite.replace(from, "other"), &packages);
        assert!(found.iter().any(|one| one.contains(says)), "{from}: {found:?}");
    }
}
