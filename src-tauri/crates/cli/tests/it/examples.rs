//! What the program's own help shows and what its advice names: all of it exists, and does what it says.

use crate::bench::{Bench, program};
use std::collections::BTreeSet;
use std::process::Command;

fn help(words: &[String]) -> String {
    let output = Command::new(program()).args(words).arg("--help").output().unwrap();
    assert!(output.status.success(), "{words:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Every verb, with the verbs inside it, and its help.
fn pages() -> Vec<(Vec<String>, String)> {
    let mut open: Vec<Vec<String>> = vec![Vec::new()];
    let mut pages = Vec::new();
    while let Some(words) = open.pop() {
        let page = help(&words);
        let verbs = page.lines().skip_while(|line| *line != "Commands:").skip(1);
        for line in verbs.take_while(|line| line.starts_with("  ") || line.is_empty()) {
            let verb = line.strip_prefix("  ").filter(|line| !line.starts_with(' '));
            if let Some(verb) =
                verb.and_then(|line| line.split_whitespace().next()).filter(|verb| *verb != "help")
            {
                open.push(words.iter().cloned().chain([verb.to_owned()]).collect());
            }
        }
        pages.push((words, page));
    }
    pages
}

/// The words of a line as a shell splits them.
fn words(line: &str) -> Vec<String> {
    let (mut all, mut word, mut quote, mut open) = (Vec::new(), String::new(), None, false);
    for c in line.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                open = true;
            }
            (None, c) if c.is_whitespace() => {
                if open || !word.is_empty() {
                    all.push(std::mem::take(&mut word));
                }
                open = false;
            }
            (_, c) => word.push(c),
        }
    }
    if open || !word.is_empty() {
        all.push(word);
    }
    all
}

/// Examples on a page: lines of their own that begin with the program's name.
fn examples(page: &str) -> Vec<Vec<String>> {
    let mut all: Vec<String> = Vec::new();
    let mut open = false;
    for line in page.lines() {
        match line.strip_prefix("  ") {
            Some(begins) if begins.starts_with("hermit ") => {
                all.push(begins.trim_start_matches("hermit ").to_owned());
                open = true;
            }
            // A narrow page breaks a long line.
            Some(rest) if open => {
                if let Some(last) = all.last_mut() {
                    *last = format!("{} {}", last.trim_end_matches('\\'), rest.trim_start());
                }
            }
            _ => open = false,
        }
    }
    all.iter().map(|line| words(line)).collect()
}

/// Whether the program takes these words: what it says of words that it does not is clap's.
fn is_taken(bench: &Bench, words: &[&str]) {
    let ran = bench.run(words);
    for refusal in [
        "unexpected argument",
        "unrecognized subcommand",
        "invalid value",
        "required arguments",
        "has no parameter",
    ] {
        assert!(!ran.err.contains(refusal), "{words:?}: {}", ran.err);
    }
}

#[test]
fn every_example_of_a_playbook_in_the_help_runs() {
    let bench = Bench::bare();
    let mut seen = 0;
    for (verb, page) in pages() {
        for example in examples(&page) {
            if let Some(at) = example.iter().position(|word| word == "--playbook") {
                seen += 1;
                if example[at + 1].contains('/') {
                    continue;
                }
                let folder = bench.folder();
                let given = example.iter().map(String::as_str).skip_while(|word| *word != "--playbook");
                let mut run = vec!["run", "--no-input", "--workspace", folder.to_str().unwrap()];
                let mut given = given.peekable();
                while let Some(word) = given.next() {
                    if word == "--workspace" {
                        given.next();
                    } else {
                        run.push(word);
                    }
                }
                let ran = bench.run(&run);
                assert!([0, 4].contains(&ran.code), "{verb:?} {run:?}: {} {}", ran.out, ran.err);
                assert!(!ran.out.contains("Nothing to do: give"), "{run:?}: {}", ran.out);
            }
        }
    }
    assert!(seen >= 3, "the examples were not found: {seen}");
}

#[test]
fn the_playbooks_are_listed_with_what_they_do_and_what_they_take() {
    let bench = Bench::bare();
    let listed = bench.run(&["playbooks"]).ends_with(0);
    for name in ["inventory", "tidy", "duplicates", "rename", "changes"] {
        assert!(listed.out.contains(name), "{}", listed.out);
        let shown = bench.run(&["playbooks", name]).ends_with(0);
        assert!(shown.out.contains("--param NAME=VALUE") && shown.out.contains("folder"), "{}", shown.out);
    }
    assert!(bench.run(&["playbooks", "rename"]).ends_with(0).out.contains("replacement"));
    let none = bench.run(&["playbooks", "redact"]).ends_with(1);
    assert!(none.err.contains("duplicates"), "{}", none.err);
}

#[test]
fn every_setting_that_advice_about_a_model_names_exists() {
    let bench = Bench::new();
    let address = "openai:http://127.0.0.1:9/v1#tiny";
    let mut tried = BTreeSet::new();
    for advice in host::advice(address, "tiny") {
        for command in advice.split('`').filter_map(|part| part.strip_prefix("hermit ")) {
            let command: Vec<&str> = command.split_whitespace().collect();
            is_taken(&bench, &[&command[..], &["--help"]].concat());
            if command.get(2) == Some(&address) {
                let set = bench.run(&command).ends_with(0);
                assert!(set.out.contains("context"), "{}", set.out);
                tried.insert(command[3].to_owned());
            }
        }
    }
    let all: Vec<&str> = tried.iter().map(String::as_str).collect();
    assert_eq!(all, ["--context", "--mode", "--output", "--temperature"]);
    let settings = std::fs::read_to_string(bench.home().join("config.json")).unwrap();
    assert!(settings.contains("\"temperature\": \"own\""), "{settings}");
    bench.run(&["models", "set", address, "--temperature", "7"]).ends_with(2);
    bench.run(&["models", "set", address, "--mode", "psychic"]).ends_with(2);
    bench.run(&["models", "set", "openai:https://models.example.org/v1#m", "--context", "9000"]).ends_with(2);
    let shown = bench.run(&["models", "list"]).ends_with(0);
    assert!(shown.out.contains(address) && shown.out.contains("temperature own"), "{}", shown.out);
}
