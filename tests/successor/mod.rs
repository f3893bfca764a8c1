//! Clones of Hermit by real processes: what they use up, what they cannot reach, what they leave, and the verdict on a change.

mod as_typed;
mod asked_words;
mod budget;
mod changed;
mod code;
mod copied;
mod ended;
mod from_a_page;
mod in_turn;
mod killed;
mod memory;
mod misbehaving;
mod models;
mod own_code;
mod paired;
mod playbooks;
mod proposed;
mod reach;
mod refused;
mod scheduled;
mod seeded;
mod skins_and_skills;
mod trial;
mod variants;
mod whole_way;

use crate::journeys::exec;
use ::successor::Budget;
use effects::Sandbox;
use host::successor::{CloneEnd, CloneProgram, run_confined};
use model::receipt::SandboxLevel;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// What confines clones here, tried once.
fn sandbox() -> Sandbox {
    static WALLS: OnceLock<Sandbox> = OnceLock::new();
    WALLS.get_or_init(|| Sandbox::probe(exec())).clone()
}

/// Whether clones can be confined here; where they cannot, the test is skipped by that name.
fn has_walls() -> bool {
    let walls = sandbox();
    let stand = matches!(walls.level(), SandboxLevel::NamespacesLandlock | SandboxLevel::Namespaces);
    if !stand {
        conforms::lacks_walls("a sandbox of namespaces (bubblewrap)");
    }
    stand
}

/// A shell, whatever its name leads to.
fn shell() -> PathBuf {
    Path::new("/bin/sh").canonicalize().expect("a shell")
}

/// A budget that nothing ordinary uses up.
const AMPLE: Budget = Budget {
    wall_ms: 60_000,
    cpu_ms: 60_000,
    memory_bytes: 512 << 20,
    disk_bytes: 64 << 20,
    processes: 64,
    tokens: 1_000_000,
};

/// A clone that is a shell with these words.
fn misbehaves(words: &str, budget: &Budget) -> CloneEnd {
    let clone = CloneProgram::of(&shell(), &["-c", words]);
    run_confined(&sandbox(), &clone, Vec::new(), budget, &|| false).expect("it runs in a sandbox")
}

/// Processes whose words hold this.
fn processes_with(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("processes").flatten() {
        let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).replace('\0', " ");
        if words.contains(mark) {
            found.push(words);
        }
    }
    found
}

/// Waits until it is so; long, where many programs are started meanwhile.
#[track_caller]
fn soon(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(300), "not so: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
