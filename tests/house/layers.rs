//! The layers and modules that the kernel's document names, and where each is in this house. A file has one layer.

use super::doors::reached;
use super::syntax::code_lines;
use super::tree::{Source, sources};
use std::collections::BTreeSet;

/// The six layers: rooms, and modules of the room `kernel`, in which the three that decide meet.
const LAYERS: [(&str, &[&str], &[&str]); 6] = [
    (
        "control plane",
        &["api", "gateway"],
        &[
            "command",
            "sender",
            "keyring",
            "logins",
            "gateway_registry",
            "passkey_registry",
            "push_registry",
            "identity_registry",
            "anchor_registry",
            "mesh_registry",
            "tool_registry",
            "skill_registry",
            "skin_registry",
            "playbook_registry",
            "training_registry",
            "trial_registry",
            "adoption_registry",
        ],
    ),
    (
        "task and step orchestrator",
        &["schedule", "iteration"],
        &["next", "decide", "state", "folders", "schedule_registry", "mesh_schedules"],
    ),
    ("durable execution engine", &["ledger", "effects", "reasoning"], &["drive", "tx", "workspace"]),
    ("policy, approval and capability layer", &["governance", "gate"], &["gatepass"]),
    (
        "artifact, knowledge and context layer",
        &["artifacts", "knowledge"],
        &["meaning", "redaction", "writeup"],
    ),
    ("supervision and proof surface", &["projections", "lineage", "proof"], &["query"]),
];

/// Modules of the room `kernel` in which the layers meet.
const MEET: [&str; 6] = ["lib", "kernel", "error", "ports", "store", "open"];

/// What no room of a layer reaches, through however many doors.
const APART: [(&str, &[&str]); 5] = [
    ("task and step orchestrator", &["effects", "governance", "ledger", "artifacts", "reasoning", "kernel"]),
    ("durable execution engine", &["kernel", "api", "projections", "knowledge"]),
    ("policy, approval and capability layer", &["effects", "reasoning", "ledger", "artifacts", "kernel"]),
    ("artifact, knowledge and context layer", &["effects", "governance", "ledger", "reasoning", "kernel"]),
    ("supervision and proof surface", &["effects", "governance", "reasoning", "kernel"]),
];

/// Whether a folder or file of a room holds code that is no test's.
fn has_code(place: &str) -> bool {
    let (file, folder) = (format!("src-tauri/crates/{place}.rs"), format!("src-tauri/crates/{place}/"));
    let below = |source: &&Source| {
        source.is_rust()
            && (source.path == file || source.path.starts_with(&folder))
            && !source.path.contains("/tests/")
    };
    sources().iter().filter(below).any(|source| code_lines(&source.text) > 0)
}

#[conforms::conforms("HK-10-1")]
#[test]
fn the_kernel_is_six_layers_and_each_of_its_files_stands_in_one() {
    let mut stands = BTreeSet::from(MEET);
    for (layer, rooms, modules) in LAYERS {
        for room in rooms {
            assert!(has_code(&format!("{room}/src")), "{layer}: `{room}` is empty");
        }
        for module in modules {
            assert!(has_code(&format!("kernel/src/{module}")), "{layer}: `{module}` is empty");
            assert!(stands.insert(*module), "`{module}` stands in two layers");
        }
    }
    let rooms: Vec<&str> = LAYERS.iter().flat_map(|(_, rooms, _)| rooms.iter().copied()).collect();
    assert_eq!(rooms.iter().collect::<BTreeSet<_>>().len(), rooms.len(), "a room stands in one layer");
    let of_kernel = sources().iter().filter_map(|s| s.path.strip_prefix("src-tauri/crates/kernel/src/"));
    let modules: BTreeSet<&str> = of_kernel.filter_map(|path| path.split(['/', '.']).next()).collect();
    assert_eq!(modules, stands, "each module of the kernel stands in one layer");
    for (layer, others) in APART {
        let (_, rooms, _) = LAYERS.into_iter().find(|(name, ..)| *name == layer).expect("a layer");
        for room in rooms {
            for other in others {
                assert!(!reached(room).contains(*other), "{layer}: `{room}` reaches `{other}`");
            }
        }
    }
    for (_, rooms, _) in LAYERS.iter().skip(1).take(4) {
        assert!(rooms.iter().all(|room| reached("kernel").contains(*room)), "{rooms:?} meet in the kernel");
    }
}

/// The modules that the document names, where each is here, and the word by which its first sentence says so.
const MODULES: [(&str, &str, &str); 21] = [
    ("control", "kernel/src/command.rs", "may ask of the kernel"),
    ("tasks", "kernel/src/state.rs", "task"),
    ("steps", "model/src/task.rs", "steps"),
    ("execution", "kernel/src/drive.rs", "commits it"),
    ("events", "ledger/src/lib.rs", "event log"),
    ("artifacts", "artifacts/src/lib.rs", "content-addressed"),
    ("evidence", "kernel/src/drive/evidence.rs", "evidence"),
    ("working_state", "knowledge/src/working_state.rs", "execution state"),
    ("beliefs", "knowledge/src/belief.rs", "beliefs"),
    ("memory", "knowledge/src/memory.rs", "memory"),
    ("decisions", "model/src/decision.rs", "judgments"),
    ("policy", "governance/src/policy/mod.rs", "policy"),
    ("approvals", "governance/src/approval/mod.rs", "yes or no"),
    ("capabilities", "governance/src/grant/mod.rs", "authority"),
    ("receipts", "kernel/src/drive/receipt.rs", "receipts"),
    ("proofs", "proof/src/lib.rs", "verifier"),
    ("workspaces", "kernel/src/workspace.rs", "folders"),
    ("context", "knowledge/src/pack.rs", "context compiler"),
    ("supervision", "api/src/lib.rs", "command bodies"),
    ("projections", "projections/src/lib.rs", "folded from events"),
    ("identity", "identity/src/lib.rs", "instance"),
];

#[conforms::conforms("HK-23-1")]
#[test]
fn each_module_that_the_document_names_is_one_place_of_its_own_that_says_what_it_is_for() {
    let mut places = BTreeSet::new();
    for (name, place, word) in MODULES {
        let path = format!("src-tauri/crates/{place}");
        let source = sources().iter().find(|source| source.path == path);
        let source = source.unwrap_or_else(|| panic!("{name}: no file {path}"));
        let says = source.text.lines().next().unwrap_or_default().to_lowercase();
        assert!(says.starts_with("//!") && says.contains(word), "{name}: `{says}` is about something else");
        let at =
            ["/mod.rs", "/lib.rs", ".rs"].iter().find_map(|end| place.strip_suffix(*end)).unwrap_or(place);
        assert!(has_code(at), "{name}: {path} is empty");
        assert!(places.insert(place), "{name}: {place} stands for two");
    }
    // Where two stand in one room, a boundary of the language is between them: each is a module that is told by name.
    let told = |room: &str, module: &str| {
        let door = ["lib.rs", "drive.rs"].map(|file| format!("src-tauri/crates/{room}/src/{file}"));
        sources()
            .iter()
            .filter(|s| door.contains(&s.path))
            .any(|s| s.text.contains(&format!("mod {module};")))
    };
    for (name, place, _) in MODULES.into_iter().filter(|(_, place, _)| !place.ends_with("lib.rs")) {
        let room = place.split('/').next().unwrap_or_default();
        let module =
            place.trim_end_matches("/mod.rs").trim_end_matches(".rs").rsplit('/').next().unwrap_or_default();
        assert!(told(room, module), "{name}: `{room}` has no module `{module}`");
    }
}
