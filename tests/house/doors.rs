//! Who imports whom, read from `cargo metadata` against `doors.toml`.

use super::tree::{Room, rooms, short};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Doors {
    rooms: BTreeMap<String, Vec<String>>,
    workshop: Workshop,
    third_party: Vec<ThirdParty>,
    ground: Ground,
    never_reaches: Vec<NeverReaches>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Workshop {
    dev_only: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ThirdParty {
    crates: Vec<String>,
    only: Vec<String>,
    why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ground {
    rooms: Vec<String>,
    refuses: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NeverReaches {
    room: String,
    rooms: Vec<String>,
    why: String,
}

fn doors() -> Doors {
    toml::from_str(include_str!("doors.toml")).expect("doors.toml is well formed")
}

/// The doors of a room that `doors.toml` allows.
pub fn allowed(room: &str) -> Vec<String> {
    doors().rooms.remove(room).unwrap_or_default()
}

/// Every room of ours behind this one, through however many doors.
pub fn reached(room: &str) -> BTreeSet<String> {
    reach(rooms(), room)
}

/// The rooms of the ground floor.
pub fn ground() -> &'static [String] {
    static GROUND: OnceLock<Vec<String>> = OnceLock::new();
    GROUND.get_or_init(|| doors().ground.rooms)
}

/// What is wrong with these rooms under these doors, one sentence each.
fn forbidden(rooms: &[Room], doors: &Doors) -> Vec<String> {
    let mut found = Vec::new();
    for room in rooms {
        let Some(may) = doors.rooms.get(&room.name) else {
            found.push(format!("`{}` has no line in tests/house/doors.toml", room.name));
            continue;
        };
        for need in &room.needs {
            found.extend(forbidden_need(room, need, may, doors));
        }
    }
    found.extend(forbidden_reach(rooms, doors));
    found
}

fn forbidden_need(room: &Room, need: &str, may: &[String], doors: &Doors) -> Option<String> {
    let name = &room.name;
    if need.starts_with("hermit-") {
        let to = short(need);
        if doors.workshop.dev_only.contains(&to) {
            return Some(format!("`{name}` needs `{to}`, which is for tests: a dev-dependency only"));
        }
        return (!may.contains(&to)).then(|| format!("`{name}` opened a door to `{to}`"));
    }
    if doors.ground.rooms.contains(name) && doors.ground.refuses.iter().any(|r| r == need) {
        return Some(format!("`{name}` is on the ground floor and needs `{need}`"));
    }
    let rule = doors.third_party.iter().find(|t| t.crates.iter().any(|c| names(c, need)))?;
    (!rule.only.contains(name)).then(|| format!("`{name}` needs `{need}`: {}", rule.why))
}

fn forbidden_reach(rooms: &[Room], doors: &Doors) -> Vec<String> {
    let mut found = Vec::new();
    for rule in &doors.never_reaches {
        let within = reach(rooms, &rule.room);
        for to in rule.rooms.iter().filter(|r| within.contains(*r)) {
            found.push(format!("`{}` reaches `{to}` through other rooms: {}", rule.room, rule.why));
        }
    }
    found
}

/// Every room of ours behind this one, through however many doors.
fn reach(rooms: &[Room], from: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(name) = open.pop() {
        for need in rooms.iter().filter(|r| r.name == name).flat_map(|r| &r.needs) {
            if need.starts_with("hermit-") && seen.insert(short(need)) {
                open.push(short(need));
            }
        }
    }
    seen
}

fn names(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |start| name.starts_with(start))
}

fn made_up(name: &str, needs: &[&str]) -> Room {
    Room {
        name: name.to_owned(),
        description: String::new(),
        folder: String::new(),
        needs: needs.iter().map(|n| (*n).to_owned()).collect(),
        test_binaries: 0,
    }
}

#[conforms::conforms("HK-6.2-1")]
#[test]
fn no_room_opens_a_forbidden_door() {
    let found = forbidden(rooms(), &doors());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[conforms::conforms("RX-12-1", part = "RX-12-2", "RX-12-3")]
#[test]
fn what_decides_what_acts_and_what_keeps_are_rooms_apart_that_meet_in_one() {
    let (decides, acts, keeps) = ("iteration", "effects", ["ledger", "artifacts"]);
    let reaches = |from: &str, to: &str| reach(rooms(), from).contains(to);
    for room in keeps {
        for (from, to) in [(decides, room), (acts, room), (room, decides), (room, acts)] {
            assert!(!reaches(from, to), "`{from}` reaches `{to}`");
        }
        assert!(reaches("kernel", room), "{room}");
    }
    for (from, to) in [(decides, acts), (acts, decides), (decides, "kernel"), (acts, "kernel")] {
        assert!(!reaches(from, to), "`{from}` reaches `{to}`");
    }
    assert!(reaches("kernel", decides) && reaches("kernel", acts));
}

#[test]
fn every_rule_names_rooms_that_have_a_rule() {
    let doors = doors();
    let named = doors.rooms.values().flatten();
    let named = named.chain(&doors.ground.rooms).chain(&doors.workshop.dev_only);
    let named = named.chain(doors.third_party.iter().flat_map(|t| &t.only));
    let named = named.chain(doors.never_reaches.iter().flat_map(|n| n.rooms.iter().chain([&n.room])));
    let unknown: BTreeSet<_> = named.filter(|n| !doors.rooms.contains_key(*n)).collect();
    assert!(unknown.is_empty(), "doors.toml names rooms without a rule: {unknown:?}");
}

#[test]
fn no_rule_outlives_its_room() {
    let standing: BTreeSet<_> = rooms().iter().map(|r| r.name.as_str()).collect();
    // The shell joins with the window; its doors are decided beforehand.
    let gone: Vec<_> =
        doors().rooms.into_keys().filter(|n| n != "desktop" && !standing.contains(n.as_str())).collect();
    assert!(gone.is_empty(), "doors.toml keeps rules for rooms that are gone: {gone:?}");
}

#[test]
fn a_forbidden_door_is_found() {
    let doors = doors();
    for (room, needs, says) in [
        ("reasoning", "hermit-effects", "opened a door to `effects`"),
        ("api", "tauri", "without a webview"),
        ("cli", "tauri-plugin-shell", "without a webview"),
        ("kernel", "rusqlite", "own a database file"),
        ("governance", "tokio", "on the ground floor"),
        ("reasoning", "ureq", "lent it through a port"),
        ("ledger", "hermit-testkit", "a dev-dependency only"),
        ("attic", "serde", "has no line"),
    ] {
        let found = forbidden(&[made_up(room, &[needs])], &doors);
        assert!(found.iter().any(|f| f.contains(says)), "{room} needs {needs}: {found:?}");
    }
}

#[test]
fn a_way_round_is_found() {
    let way = [made_up("proof", &["hermit-gate"]), made_up("gate", &["hermit-ledger"])];
    let found = forbidden(&way, &doors());
    assert!(found.iter().any(|f| f.contains("`proof` reaches `ledger`")), "{found:?}");
}
