//! How long a person waits for a program to say something.

use crate::Asked;
use crate::board::{Board, at, ms, program, timed};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TIMES: usize = 30;

/// A program that does nothing but look at its words, where there is a compiler to make it.
fn empty(folder: &Path) -> Option<PathBuf> {
    let (source, program) = (folder.join("empty.rs"), folder.join("empty"));
    let text =
        "fn main() { if std::env::args().any(|word| word == \"--help\") { println!(\"usage: empty\") } }";
    std::fs::write(&source, text).ok()?;
    let made = Command::new("rustc").arg("-O").arg("-o").arg(&program).arg(&source).output().ok()?;
    made.status.success().then_some(program)
}

/// Seconds from its start to its end, in the middle of many.
fn median(program: &Path, words: &[&str]) -> f64 {
    let run = || Command::new(program).args(words).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let mut times: Vec<_> = (0..TIMES).map(|_| timed(run).0).collect();
    at(&mut times, 0.5)
}

pub fn run(_: &Asked, board: &Board) {
    let Some(hermit) = program("hermit") else {
        return board.figure("hermit --help", "`hermit` is not built");
    };
    let folder = tempfile::tempdir().expect("a folder");
    let (nothing, what) = match empty(folder.path()) {
        Some(program) => (median(&program, &["--help"]), "compiled for this"),
        None => {
            (median(&std::env::current_exe().expect("this program"), &["--nothing"]), "no rustc: this one")
        }
    };
    let help = median(&hermit, &["--help"]);
    let detail = format!("{} of {} ({what})", ms(help), ms(nothing));
    board.at_most("hermit --help / a program that reads its words and ends", help / nothing, 2.0, &detail);
}
