//! `hermit logs`: the path, the last lines, what is added.

use crate::bench::{Bench, alone, program};
use crate::without_terminal;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::process::Stdio;
use testkit::{Killed, Lines};

fn log(bench: &Bench, text: &[u8]) -> std::path::PathBuf {
    let folder = bench.home().join("logs");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("hermit.log");
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn the_log_is_named_and_its_last_lines_are_printed_without_what_moves_a_terminal() {
    let bench = Bench::new();
    let text: String = (0..500).map(|at| format!("line {at} of the log\n")).collect();
    let path = log(&bench, format!("{text}a \u{1b}[31mred\u{1b}[0m line\nnot whole").as_bytes());
    let ran = bench.run(&["logs", "--lines", "3"]).ends_with(0);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines[0], path.to_str().unwrap());
    assert_eq!(&lines[1..], ["line 499 of the log", "a \\u{1b}[31mred\\u{1b}[0m line", "not whole"]);
    let told = bench.run(&["logs", "-n", "2", "--json"]).ends_with(0).json();
    assert_eq!(told["path"], path.to_str().unwrap());
    assert_eq!(told["lines"][1], "not whole");
    assert_eq!(told["lines"].as_array().unwrap().len(), 2);
    assert_eq!(bench.run(&["logs"]).ends_with(0).out.lines().count(), 41);
}

#[test]
fn of_a_long_log_only_the_end_is_read_and_no_log_says_where_it_would_be() {
    let bench = Bench::new();
    // Three times as long as what is looked at, and a line of it longer than any that is shown whole.
    let mut text = format!("{}\n", "x".repeat(64)).repeat(48 * 1024).into_bytes();
    text.extend(vec![b'y'; 40_000]);
    let path = log(&bench, &text);
    let told = bench.run(&["logs", "--lines", "10000", "--json"]).ends_with(0).json();
    let lines = told["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 10_000);
    assert!(lines.iter().all(|line| line.as_str().unwrap().len() <= 16 * 1024), "bounded");
    bench.run(&["logs", "--lines", "0"]).ends_with(2);
    bench.run(&["logs", "--lines", "10001"]).ends_with(2);
    std::fs::remove_file(&path).unwrap();
    let none = bench.run(&["logs"]).ends_with(1);
    assert!(none.err.contains(path.to_str().unwrap()) && none.err.contains("hint:"), "{}", none.err);
}

#[test]
fn a_log_is_followed_also_where_it_is_begun_anew() {
    let bench = Bench::new();
    let path = log(&bench, b"first\nbegun");
    let mut command = without_terminal(program());
    alone(command.args(["logs", "--follow", "-n", "1", "--json"])).env("HERMIT_HOME", bench.home());
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = Lines::of(child.stdout.take().unwrap());
    let _killed = Killed(child);
    let mut next = || out.next().unwrap();
    assert!(next().contains("\"path\""));
    assert_eq!(next(), r#"{"line":"first"}"#);
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b" and ended\n").unwrap();
    assert_eq!(next(), r#"{"line":"begun and ended"}"#);
    std::fs::rename(&path, path.with_extension("log.1")).unwrap();
    file.write_all(b"last\n").unwrap();
    File::create(&path).unwrap().write_all(b"anew\n").unwrap();
    assert_eq!(next(), r#"{"line":"last"}"#);
    assert_eq!(next(), r#"{"line":"anew"}"#);
}
