//! The trainer is built apart and has a lock of its own, which names what the rooms in it lean on. No build of the house reads that lock,
//! so that whoever builds the trainer next would be the first to see that it is stale.

use super::tree::root;
use std::fs;
use toml::{Table, Value};

/// Where the program stands.
const PROGRAM: &str = "src-tauri/trainer";

fn table(path: &str) -> Table {
    let text = fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    toml::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The packages that a manifest always leans on, on whichever system; what the house calls otherwise has its name in the house's manifest.
fn leans_on(manifest: &Table, house: &Table) -> Vec<String> {
    let within = |of: &Value| of.get("dependencies").and_then(Value::as_table).cloned();
    let own = manifest.get("dependencies").and_then(Value::as_table).cloned();
    let systems = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(|all| all.values());
    let all = own.into_iter().chain(systems.filter_map(within)).flatten();
    let always = all.filter(|(_, how)| how.get("optional").and_then(Value::as_bool) != Some(true));
    always
        .map(|(name, how)| {
            let how = if how.get("workspace").is_some() { house.get(&name).cloned() } else { Some(how) };
            how.as_ref().and_then(|how| how.get("package")?.as_str()).unwrap_or(&name).to_owned()
        })
        .collect()
}

/// What the lock leaves out of what its rooms lean on, as `room: package`.
fn left_out(lock: &Table, manifest: impl Fn(&str) -> Table, house: &Table) -> Vec<String> {
    let packages = lock["package"].as_array().expect("packages");
    let of = |package: &Value| -> Vec<String> {
        let name = package["name"].as_str().expect("a name");
        let listed = package.get("dependencies").and_then(Value::as_array).into_iter().flatten();
        // `name`, or `name version` where there are several.
        let listed: Vec<&str> =
            listed.filter_map(Value::as_str).filter_map(|one| one.split(' ').next()).collect();
        let needed = leans_on(&manifest(name), house).into_iter();
        needed.filter(|one| !listed.contains(&one.as_str())).map(|one| format!("{name}: {one}")).collect()
    };
    packages.iter().filter(|package| package.get("source").is_none()).flat_map(of).collect()
}

#[test]
fn the_lock_of_the_trainer_has_what_its_rooms_lean_on() {
    let house = table("Cargo.toml");
    let house = house["workspace"]["dependencies"].as_table().expect("dependencies of the house");
    let manifest = |name: &str| match name {
        "hermit-train" => table(&format!("{PROGRAM}/Cargo.toml")),
        room => table(&format!("src-tauri/crates/{}/Cargo.toml", room.trim_start_matches("hermit-"))),
    };
    let lock = table(&format!("{PROGRAM}/Cargo.lock"));
    let missing = left_out(&lock, manifest, house);
    assert!(
        missing.is_empty(),
        "run `cargo metadata --manifest-path {PROGRAM}/Cargo.toml` and commit its lock: {missing:?}"
    );
    // A room that leans on one thing more is seen.
    let mut more = house.clone();
    more.insert("lamp".to_owned(), Value::String("1".to_owned()));
    let with_lamp = |name: &str| {
        let mut manifest = manifest(name);
        if name == "hermit-disk" {
            let lamp = Value::Table(Table::from_iter([("workspace".to_owned(), Value::Boolean(true))]));
            manifest["dependencies"].as_table_mut().expect("dependencies").insert("lamp".to_owned(), lamp);
        }
        manifest
    };
    assert_eq!(left_out(&lock, with_lamp, &more), ["hermit-disk: lamp"]);
}
