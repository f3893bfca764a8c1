//! The table of escapes, really tried: behind the best walls of this machine, and with none.

use effects::{Escapes, Sandbox};
use model::receipt::SandboxLevel;
use std::path::Path;

const EXEC: &str = env!("CARGO_BIN_EXE_hermit-exec");

/// What needs no program that a machine may lack.
const ALWAYS_TRIED: [&str; 3] = ["write outside", "read outside", "signal"];

#[test]
fn behind_the_best_walls_nothing_of_the_table_gets_through() {
    let walls = Sandbox::probe(Path::new(EXEC));
    if !matches!(walls.level(), SandboxLevel::NamespacesLandlock | SandboxLevel::Namespaces) {
        return conforms::lacks_walls(&format!(
            "bubblewrap ({}), without which nothing is tried,",
            walls.why()
        ));
    }
    let escapes: Escapes = walls.escapes().unwrap();
    assert!(escapes.through.is_empty(), "{escapes}");
    for name in ALWAYS_TRIED {
        assert!(escapes.refused.contains(&name), "{name} was not tried: {escapes}");
    }
}

/// So that a table which finds nothing is a failing test.
#[test]
fn without_walls_the_same_table_gets_through() {
    let escapes = Sandbox::none("a test".to_owned()).escapes().unwrap();
    for name in ALWAYS_TRIED {
        assert!(escapes.through.contains(&name), "{name} was not found out: {escapes}");
    }
    for name in ["socket", "unix socket", "grandchild"] {
        assert!(!escapes.refused.contains(&name), "{name} was taken for refused: {escapes}");
    }
    assert!(!escapes.all_refused());
}

/// Without namespaces there is no view of a copy to try it in.
#[test]
fn walls_without_namespaces_are_not_tried_by_the_table() {
    let walls = Sandbox::probe_without_namespaces(Path::new(EXEC));
    if walls.level() != SandboxLevel::Landlock {
        return conforms::lacks(&format!(
            "Landlock ({}), without which there are no such walls,",
            walls.why()
        ));
    }
    assert!(walls.escapes().unwrap_err().contains("namespaces"));
}
