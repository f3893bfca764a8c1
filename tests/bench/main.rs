//! How fast it is, beside what the machine itself can do in the same run (recovery.md 4).
//!
//! `cargo bench -p hermit-tests -- [SECTION ...] [--events N]`; sections: `steps`, `verify`, `views`, `open`, `action`,
//! `rules`, `spawn`, `stage`, `guests`, `content`, `proof`, `programs`, `tools`. Only when named, because they are long or want a display: `mutants`
//! [--mutants N], `footprint` [--task-events N], `memory` [--memories N] (a real embedding model, where one is here), `app`, `goals` [--into FOLDER] (a real model at work), `cards` (a card of 100,000 rows in Chromium), `schedule` [--schedules N] [--folders N] [--files N], `gateways`, `mesh`, `successor` [--clone-events N], `training` [--train-steps N] (what `cargo xtask trainer` builds), and `grow` --events N --into FOLDER, which leaves its store there. Figures depend on the machine, so they are printed, never asserted.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a measurement asks the clock and the machine, and stops where it cannot go on"
)]

// The views' tests write legal histories; their parts name each other from the root.
#[allow(dead_code, missing_docs, reason = "shared with the tests of the room")]
#[path = "../../src-tauri/crates/projections/tests/claims.rs"]
mod claims;
#[allow(dead_code, missing_docs, reason = "shared with the tests of the room")]
#[path = "../../src-tauri/crates/projections/tests/history.rs"]
mod history;
#[allow(dead_code, missing_docs, reason = "shared with the tests of the room")]
#[path = "../../src-tauri/crates/projections/tests/store.rs"]
mod store;
#[allow(dead_code, missing_docs, reason = "shared with the tests of the room")]
#[path = "../../src-tauri/crates/projections/tests/way.rs"]
mod way;
#[allow(dead_code, missing_docs, reason = "shared with the tests of the room")]
#[path = "../../src-tauri/crates/projections/tests/world.rs"]
mod world;

/// The passkeys of the world that bundles are made of.
mod authenticator {
    pub use testkit::Authenticator;
}

/// Where no clone can be made.
#[cfg(not(target_os = "linux"))]
mod successor {
    pub fn run(_: &crate::Asked, board: &crate::board::Board) {
        board.figure("trials", "clones are made on Linux alone");
    }
}

#[allow(dead_code, missing_docs, unused_imports, reason = "shared with the journeys")]
#[path = "../journeys"]
mod journeys {
    #[path = "../../src-tauri/crates/seal/tests/foreign/mod.rs"]
    pub mod foreign;
    pub mod goals;
    pub mod programs;
    pub mod stage;
    pub mod summary;
    pub mod tree;
}

mod action;
mod app;
mod board;
mod cards;
mod content;
mod conversations;
mod footprint;
mod gateways;
mod goals;
mod grown;
mod guests;
mod idle;
mod memory;
mod mesh;
mod mutants;
mod open;
mod programs;
mod proofs;
mod rules;
mod schedule;
mod spawn;
mod stage;
mod steps;
#[cfg(target_os = "linux")]
mod successor;
mod tools;
mod training;
mod verify;
mod views;

use board::Board;
// Names that the tests of the room give from their root.
use proofs::shared::nouns;
use std::path::PathBuf;

/// What was asked for on the command line.
pub struct Asked {
    sections: Vec<String>,
    /// Events of the large store.
    pub events: u64,
    /// Mutants of the harness.
    pub mutants: u64,
    /// Events of the one long task.
    pub task_events: u64,
    /// Memories of the large project.
    pub memories: u64,
    /// Schedules of the store that has many.
    pub schedules: u64,
    /// Folders that schedules watch.
    pub folders: u64,
    /// Files of each of them.
    pub files: u64,
    /// Events of the store that clones are made from.
    pub clone_events: u64,
    /// Steps of a run of training.
    pub train_steps: u64,
    /// Where a grown store is left.
    pub into: Option<PathBuf>,
}

impl Asked {
    fn read(arguments: impl Iterator<Item = String>) -> Self {
        let mut asked = Self {
            sections: Vec::new(),
            events: 200_000,
            mutants: 500_000,
            task_events: 1_000_000,
            memories: 100_000,
            schedules: 10_000,
            folders: 200,
            files: 200,
            clone_events: 150_000,
            train_steps: 8,
            into: None,
        };
        let mut arguments = arguments.filter(|a| a != "--bench");
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--clone-events" => asked.clone_events = number(&mut arguments, "--clone-events N"),
                "--events" => asked.events = number(&mut arguments, "--events N"),
                "--files" => asked.files = number(&mut arguments, "--files N"),
                "--folders" => asked.folders = number(&mut arguments, "--folders N"),
                "--into" => asked.into = Some(arguments.next().expect("--into FOLDER").into()),
                "--mutants" => asked.mutants = number(&mut arguments, "--mutants N"),
                "--memories" => asked.memories = number(&mut arguments, "--memories N"),
                "--schedules" => asked.schedules = number(&mut arguments, "--schedules N"),
                "--task-events" => asked.task_events = number(&mut arguments, "--task-events N"),
                "--train-steps" => asked.train_steps = number(&mut arguments, "--train-steps N"),
                _ => asked.sections.push(argument),
            }
        }
        asked
    }

    fn wants(&self, section: &str) -> bool {
        let long = [
            "mutants",
            "footprint",
            "memory",
            "app",
            "grow",
            "goals",
            "cards",
            "schedule",
            "gateways",
            "mesh",
            "successor",
            "training",
        ];
        let long = long.contains(&section);
        self.sections.is_empty() && !long || self.sections.iter().any(|s| s == section)
    }
}

fn number(arguments: &mut impl Iterator<Item = String>, usage: &str) -> u64 {
    arguments.next().and_then(|n| n.parse().ok()).expect(usage)
}

type Section = fn(&Asked, &Board);

const SECTIONS: [(&str, Section); 25] = [
    ("steps", steps::run),
    ("verify", verify::run),
    ("views", views::run),
    ("open", open::run),
    ("action", action::run),
    ("rules", rules::run),
    ("spawn", spawn::run),
    ("stage", stage::run),
    ("guests", guests::run),
    ("content", content::run),
    ("proof", proofs::run),
    ("programs", programs::run),
    ("tools", tools::run),
    ("mutants", mutants::run),
    ("footprint", footprint::run),
    ("memory", memory::run),
    ("app", app::run),
    ("grow", grown::run),
    ("goals", goals::run),
    ("cards", cards::run),
    ("schedule", schedule::run),
    ("gateways", gateways::run),
    ("mesh", mesh::run),
    ("successor", successor::run),
    ("training", training::run),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Run again below strace, or to be timed: these words never come from a person.
    match arguments.first().map(String::as_str) {
        Some("--nothing") => return,
        Some("--steps-only") => return steps::only(&arguments),
        Some("--verify-only") => return open::verify_only(&arguments),
        Some("--host-only") => return open::host_only(&arguments),
        Some("--actions-only") => return action::only(&arguments),
        Some("--footprint-only") => return footprint::only(&arguments),
        _ => {}
    }
    let asked = Asked::read(arguments.into_iter());
    let board = Board::open();
    for (name, section) in SECTIONS.iter().filter(|(name, _)| asked.wants(name)) {
        println!("\n{name}");
        section(&asked, &board);
    }
}
