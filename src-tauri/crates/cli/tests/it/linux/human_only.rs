//! Every verb of the program, tried as an approver by a script that knows every identifier and types everything a
//! person would type, the right passphrase included, but has no terminal.

use crate::bench::{APPROVAL, Bench, program};
use std::io::{Seek as _, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What only a person can make happen; everything of it would be an event. The keys of the store are not the person's:
/// who has opened the vault may rotate them.
const GRAVE: &str = "SELECT count(*) FROM events WHERE event_type IN ('approval.granted', 'approval.signed', \
    'grant.standing_allowed', 'passkey.enrolled', 'passkey.signed_in', 'push.subscribed', \
    'person.decided', 'policy.overridden') \
    OR (event_type = 'key.rotated' AND instr(CAST(bytes AS TEXT), '\"approval\"') > 0)";

/// How long a verb may take that hosts or follows.
const PATIENCE: Duration = Duration::from_millis(1_000);

/// Verbs that end what waits; tried when all others have been.
const LAST: [&str; 6] = ["cancel", "deny", "halt", "pause", "resolve", "retry"];

/// A verb with a handler, how many words it takes, and the words it knows that say "do it".
struct Verb {
    words: Vec<String>,
    places: usize,
    eager: Vec<&'static str>,
}

/// Every verb, as the help tells them.
fn verbs(bench: &Bench, above: &[String], found: &mut Vec<Verb>) {
    let words: Vec<&str> = above.iter().map(String::as_str).chain(["--help"]).collect();
    let help = bench.run(&words).ends_with(0).out;
    let below = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|l| !l.is_empty());
    let names: Vec<&str> = below
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    if names.is_empty() {
        let line = help.lines().find(|line| line.starts_with("Usage: ")).unwrap();
        let is_place = |word: &&str| word.starts_with(['<', '[']) && *word != "[OPTIONS]";
        let places = line.split_whitespace().filter(is_place).count();
        let mut eager = Vec::new();
        if help.contains("--yes") {
            eager.push("--yes");
        }
        if help.contains("--reason ") {
            eager.extend(["--reason", "it is fine"]);
        }
        found.push(Verb { words: above.to_vec(), places, eager });
    }
    for name in names {
        verbs(bench, &[above, &[name.to_owned()]].concat(), found);
    }
}

/// Runs without any terminal, with everything on standard input that a card asks for; what goes on is stopped.
fn tried(bench: &Bench, words: &[&str]) {
    let mut typed = tempfile::tempfile().unwrap();
    for _ in 0..8 {
        write!(typed, "allow\nhigh\ncritical\n{APPROVAL}\nyes\nalways\n").unwrap();
    }
    typed.rewind().unwrap();
    // In a session of its own no terminal of whoever runs the tests can be reached.
    let mut command = Command::new("setsid");
    command.arg(program()).args(words).current_dir(bench.path("")).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("HERMIT_HOME", bench.home());
    command.env("HERMIT_PASSPHRASE_FILE", bench.path("vault"));
    let mut child = command.stdin(typed).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn no_verb_of_the_program_allows_anything_without_a_terminal() {
    let bench = Bench::new();
    let (_, receipt) = bench.tidied();
    std::fs::write(bench.folder().join("more.txt"), "more").unwrap();
    let (task, approval) = bench.waiting();
    let folder = bench.files();
    let grave = bench.sqlite(GRAVE);
    let mut all = Vec::new();
    verbs(&bench, &[], &mut all);
    assert!(all.len() > 60, "{} verbs", all.len());
    all.sort_by_key(|verb| LAST.contains(&verb.words.last().unwrap().as_str()));
    for (n, verb) in all.iter().enumerate() {
        let ids = if verb.places == 0 { vec![""] } else { vec![&*approval, &*task, &*receipt] };
        for id in ids {
            let mut words: Vec<&str> = verb.words.iter().map(String::as_str).collect();
            words.extend(std::iter::repeat_n(id, verb.places));
            words.extend(&verb.eager);
            tried(&bench, &words);
        }
        assert_eq!(bench.files(), folder, "`{}` changed the folder", verb.words.join(" "));
        if n % 10 == 0 || n + 1 == all.len() {
            assert_eq!(
                bench.sqlite(GRAVE),
                grave,
                "up to `{}`: what only a person may",
                verb.words.join(" ")
            );
        }
    }
    assert_ne!(bench.status(&approval), "granted");
}
