//! Which rooms that hold every other change in check a change touches.

use crate::world::{code, one_line, patch};
use successor::{Change, constitutional};

#[test]
fn a_change_of_what_holds_changes_in_check_is_named_by_its_rooms() {
    let of = |paths: &[&str]| {
        let diff: String = paths.iter().map(|path| one_line(path)).collect();
        constitutional(&patch(code(&diff)))
    };
    assert!(of(&["src-tauri/crates/cli/src/lib.rs", "ui/src/app/App.tsx", "README.md"]).is_empty());
    assert_eq!(of(&["src-tauri/crates/gate/src/lib.rs"]), ["gate"]);
    assert_eq!(of(&["src-tauri/crates/governance/policies/base.cedar"]), ["policy"]);
    assert_eq!(of(&["src-tauri/crates/governance/src/approval/packet.rs"]), ["approval"]);
    assert_eq!(
        of(&["ui/verifier/src/verify/check.ts", "src-tauri/crates/successor/src/judge.rs"]),
        ["proof", "successor"]
    );
    let all = ["approval", "gate", "policy", "proof", "successor"];
    for file in [
        "Cargo.toml",
        ".cargo/config.toml",
        "src-tauri/build.rs",
        "src-tauri/crates/cli/Cargo.toml",
        "src-tauri/crates/conforms-mark/src/lib.rs",
    ] {
        assert_eq!(of(&[file]), all, "{file}: by which every room is built");
    }
    assert_eq!(of(&["src-tauri/crates/effects/src/sandbox/whole.rs"]), ["successor"]);
    let renamed = "diff --git a/src-tauri/crates/gate/src/pass.rs b/old.rs\nrename from src-tauri/crates/gate/src/pass.rs\n\
                   rename to old.rs\n";
    assert_eq!(constitutional(&patch(code(renamed))), ["gate"]);
    assert_eq!(constitutional(&patch(code("@@ -1 +1 @@\n"))), all, "what cannot be read");
    let rules = Change::Policy { rules: String::new(), profile: None };
    assert!(constitutional(&patch(rules)).is_empty(), "a person's own rules are no room");
}
