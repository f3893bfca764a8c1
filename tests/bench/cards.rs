//! A card of 100,000 rows in Chromium: how soon it is open, and the longest stretch in which its page heard nobody.

use crate::Asked;
use crate::board::Board;
use std::path::Path;
use std::process::Command;

/// The story that prints the figures.
const STORY: &str = "100,000 rows";

pub fn run(_: &Asked, board: &Board) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let words =
        ["node_modules/vitest/vitest.mjs", "run", "--config", "tests/browser/vite.config.ts", "large", "-t"];
    let ran = Command::new("node").args(words).arg(STORY).current_dir(root).output();
    let said = ran.map(|ran| String::from_utf8_lossy(&ran.stdout).into_owned()).unwrap_or_default();
    let Some(line) = said.lines().find(|line| line.starts_with("a card of ")) else {
        return board.figure(
            "a card of 100,000 rows",
            "not shown: `cargo xtask setup`, and build the programs first",
        );
    };
    let number = |after: &str| -> Option<f64> {
        line.split_once(after)?.1.trim_start().split(' ').next()?.parse().ok()
    };
    let figures = [
        ("open after, ms", "opened after", 1_000.0),
        ("longest task while it opens, ms", "longest task of", 50.0),
        ("longest task while its groups open, ms", "unfolded", 50.0),
        ("longest task while it is scrolled, ms", "scrolled", 50.0),
        ("longest task to its last row, ms", "to its end", 50.0),
        ("longest task while a file is looked for, ms", "found", 50.0),
    ];
    for (what, after, bound) in figures {
        match number(after) {
            Some(figure) => board.at_most(what, figure, bound, ""),
            None => board.figure(what, line),
        }
    }
}
