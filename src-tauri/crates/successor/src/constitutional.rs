//! Which changes touch what holds every other change in check (successor.md 5).

use crate::{Change, Patch, diff};
use std::collections::BTreeSet;

/// Where each of these rooms stands in the source: a beginning of a path, and the room.
const ROOMS: [(&str, &str); 32] = [
    ("src-tauri/crates/gate/", "gate"),
    ("src-tauri/crates/kernel/src/gatepass", "gate"),
    ("src-tauri/crates/governance/src/approval", "approval"),
    ("src-tauri/crates/governance/", "policy"),
    ("src-tauri/crates/kernel/src/drive/judge", "policy"),
    ("src-tauri/crates/kernel/src/command/rules", "policy"),
    ("src-tauri/crates/kernel/src/command/policy_override", "policy"),
    ("src-tauri/crates/kernel/src/command/approve", "approval"),
    ("src-tauri/crates/kernel/src/command/person", "approval"),
    ("src-tauri/crates/kernel/src/command/standing", "approval"),
    ("src-tauri/crates/keychain/", "approval"),
    ("src-tauri/crates/securitykey/", "approval"),
    ("src-tauri/crates/host/src/approval", "approval"),
    ("src-tauri/crates/successor/", "successor"),
    ("src-tauri/crates/host/src/successor", "successor"),
    ("src-tauri/crates/kernel/src/command/successor", "successor"),
    ("src-tauri/crates/kernel/src/trial_registry", "successor"),
    ("src-tauri/crates/kernel/src/adoption_registry", "successor"),
    ("src-tauri/crates/kernel/src/command/adopting", "successor"),
    ("src-tauri/crates/model/src/adoption", "successor"),
    ("src-tauri/crates/acts/src/adoption", "successor"),
    ("src-tauri/crates/host/src/programs", "successor"),
    ("src-tauri/crates/host/src/launch", "successor"),
    ("src-tauri/crates/host/src/adoptions", "successor"),
    // What confines clones and measures them, and what their sources are held to.
    ("src-tauri/crates/exec/", "successor"),
    ("src-tauri/crates/effects/src/sandbox", "successor"),
    ("src-tauri/crates/effects/src/command/process_limits", "successor"),
    ("src-tauri/crates/provenance/src/clean_room", "successor"),
    ("src-tauri/crates/words/src/successor", "successor"),
    ("src-tauri/crates/proof/", "proof"),
    ("src-tauri/crates/seal/", "proof"),
    ("ui/verifier/", "proof"),
];

/// Every room that [`constitutional`] names.
const ALL: [&str; 5] = ["approval", "gate", "policy", "proof", "successor"];

/// Files by which every room is built, wherever they lie: who changes one of them changes any room, and which tests there are.
const BUILD: [&str; 8] = [
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    "rust-toolchain",
    "build.rs",
    "package.json",
    "package-lock.json",
    ".npmrc",
];
/// Rooms that run while every other one is built.
const RUNS_IN_BUILDS: [&str; 4] = [
    "src-tauri/crates/conforms-mark/",
    "src-tauri/crates/source/src/gather",
    "src-tauri/crates/provenance/src/archive",
    "src-tauri/crates/provenance/src/clean_room/labels",
];

/// The rooms of gate, policy, approval, successor and proof that a change of the source touches, by name and in order.
pub fn constitutional(patch: &Patch) -> Vec<String> {
    let Change::Code { diff, .. } = &patch.change else { return Vec::new() };
    // What cannot be read touches whatever it likes.
    let Ok(files) = diff::files(diff) else { return ALL.map(str::to_owned).to_vec() };
    let mut rooms: BTreeSet<&str> = BTreeSet::new();
    for path in files.iter().flat_map(|file| file.paths()) {
        if is_of_build(path) {
            rooms.extend(ALL);
        }
        rooms.extend(
            ROOMS.iter().chain(&GUARDS).find(|(begins, _)| path.starts_with(begins)).map(|(_, room)| *room),
        );
    }
    rooms.into_iter().map(str::to_owned).collect()
}

/// Whether a path is one of the files by which every room is built.
pub(crate) fn is_of_build(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let file = parts.next().unwrap_or(path);
    // A module of this name beside others is one of a room.
    let is_module = file == "build.rs" && path.contains("/src/");
    (BUILD.contains(&file) && !is_module)
        || parts.any(|folder| folder == ".cargo")
        || RUNS_IN_BUILDS.iter().any(|begins| path.starts_with(begins))
}

/// Whether a path is one of what judges a change.
pub(crate) fn is_evaluator(path: &str) -> bool {
    ROOMS.iter().any(|(begins, room)| *room == "successor" && path.starts_with(begins))
        || path.starts_with("tests/successor/")
}

/// Whether a path is one of a test.
pub(crate) fn is_test(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    path.starts_with("tests/")
        || path.contains("/tests/")
        || path.contains("/test/")
        || matches!(file, "tests.rs" | "test.rs")
        || file.ends_with("_test.rs")
        || file.contains(".test.")
}

/// Where other rooms keep the keys, the cards and the proposals by which these hold.
const GUARDS: [(&str, &str); 19] = [
    ("src-tauri/crates/kernel/src/drive/act", "gate"),
    ("src-tauri/crates/kernel/src/drive/rules", "policy"),
    ("src-tauri/crates/kernel/src/drive/ask", "approval"),
    ("src-tauri/crates/kernel/src/drive/receipt", "proof"),
    ("src-tauri/crates/kernel/src/command/capability", "approval"),
    ("src-tauri/crates/kernel/src/command/dual", "approval"),
    ("src-tauri/crates/kernel/src/command/keys", "approval"),
    ("src-tauri/crates/kernel/src/command/mesh/approvals", "approval"),
    ("src-tauri/crates/kernel/src/command/partial", "approval"),
    ("src-tauri/crates/kernel/src/command/passkeys", "approval"),
    ("src-tauri/crates/kernel/src/command/revoke", "approval"),
    ("src-tauri/crates/kernel/src/command/rotate_keys", "approval"),
    ("src-tauri/crates/kernel/src/passkey_registry", "approval"),
    ("src-tauri/crates/host/src/attached_person", "approval"),
    ("src-tauri/crates/host/src/keys", "approval"),
    ("src-tauri/crates/host/src/key_", "approval"),
    ("src-tauri/crates/cli/src/approve", "approval"),
    ("src-tauri/crates/cli/src/card", "approval"),
    ("src-tauri/crates/kernel/src/ports/adopting", "successor"),
];
