//! How long a person waits for a program to say something.

use crate::Asked;
use crate::board::{Board, at, ms, program, timed};
use std::path::Path;
use std::process::{Command, Stdio};

const TIMES: usize = 30;

fn median(program: &Path, words: &[&str]) -> f64 {
    let run = || Command::new(program).args(words).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let mut times: Vec<_> = (0..TIMES).map(|_| timed(run).0).collect();
    at(&mut times, 0.5)
}

pub fn run(_: &Asked, board: &Board) {
    let Some(hermit) = program("hermit") else {
        return board.figure("hermit --help", "`hermit` is not built");
    };
    let me = std::env::current_exe().expect("this program");
    let (nothing, help) = (median(&me, &["--nothing"]), median(&hermit, &["--help"]));
    let detail = format!("{} of {}", ms(help), ms(nothing));
    board.at_most("hermit --help / a program that reads its words and ends", help / nothing, 2.0, &detail);
}
