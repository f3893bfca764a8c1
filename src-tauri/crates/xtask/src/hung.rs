//! Test binaries that hang: one that prints nothing for long is ended and named, so that a run says what hung and goes on.

use crate::shell::say;
use std::collections::BTreeSet;
use std::time::Duration;

/// How long a test binary may print nothing. Every test of the house prints its line sooner, also on a slow machine, but for
/// those that build a program first.
pub const SILENCE: Duration = Duration::from_secs(15 * 60);
/// What runs while a program is built.
const BUILDS: [&str; 2] = ["cargo", "rustc"];

/// What is known of the test binary that runs now, from what it printed.
#[derive(Default, Debug, PartialEq, Eq)]
pub struct Running {
    /// How many tests it began with; none when no binary runs.
    tests: Option<usize>,
    passed: usize,
    ended: usize,
    /// Tests that the runner said are long at it.
    long: BTreeSet<String>,
}

/// Tests of a binary that was ended.
#[derive(Default, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Those that had passed before.
    pub passed: usize,
    /// Those that hung.
    pub hung: Vec<String>,
    /// How many had no turn, or have no name.
    pub others: usize,
}

impl Running {
    /// Reads one line.
    pub fn reads(&mut self, line: &str) {
        let began = line.strip_prefix("running ").and_then(|rest| rest.split_once(" test"));
        if let Some((tests, _)) = began {
            *self = Self { tests: tests.parse().ok(), ..Self::default() };
        } else if line.starts_with("test result: ") {
            *self = Self::default();
        } else if let Some(test) = line.strip_prefix("test ") {
            if let Some((name, _)) = test.split_once(" has been running for over ") {
                self.long.insert(name.to_owned());
            } else if let Some((name, how)) = test.split_once(" ... ") {
                self.ended += 1;
                self.passed += usize::from(how == "ok");
                self.long.remove(name);
            }
        }
    }

    /// Ends the binary and all that it started, children of `runner`. None when no binary runs, it builds something, or none can
    /// be found.
    pub fn end(&mut self, runner: u32) -> Option<Ended> {
        let tests = self.tests?;
        let all = descendants(runner);
        if all.is_empty() || all.iter().any(|(_, name)| BUILDS.contains(&name.as_str())) {
            return None;
        }
        let Self { passed, ended, long, .. } = std::mem::take(self);
        let hung: Vec<String> = long.into_iter().collect();
        say(&format!(
            "a test binary printed nothing for long and was ended; at work were: {}",
            hung.join(", ")
        ));
        let all: Vec<String> = all.iter().map(|(process, _)| process.to_string()).collect();
        let _ = std::process::Command::new("sh").args(["-c", "kill -KILL \"$@\"", "sh"]).args(all).status();
        let others = tests.saturating_sub(ended).saturating_sub(hung.len());
        Some(Ended { passed, others: others.max(usize::from(hung.is_empty())), hung })
    }
}

/// The processes that come of one and their names, from the table that Linux keeps; elsewhere none is found.
fn descendants(of: u32) -> Vec<(u32, String)> {
    let parents: Vec<(u32, u32, String)> = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let process = entry.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name of a program may hold anything; its parent is the second word behind it.
            let (begin, rest) = stat.rsplit_once(')')?;
            let parent = rest.split_whitespace().nth(1)?.parse().ok()?;
            Some((process, parent, begin.split_once('(')?.1.to_owned()))
        })
        .collect();
    let mut found = vec![(of, String::new())];
    let mut next = 0;
    while let Some(parent) = found.get(next).map(|(process, _)| *process) {
        let children = parents.iter().filter(|(_, of, _)| *of == parent);
        found.extend(children.map(|(process, _, name)| (*process, name.clone())));
        next += 1;
    }
    found.split_off(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_at_work_is_known_from_the_lines() {
        let mut running = Running::default();
        for line in [
            "running 4 tests",
            "test a::b ... ok",
            "test c has been running for over 60 seconds",
            "test d has been running for over 60 seconds",
            "test d ... FAILED",
        ] {
            running.reads(line);
        }
        let long = BTreeSet::from(["c".to_owned()]);
        assert_eq!(running, Running { tests: Some(4), passed: 1, ended: 2, long });
        running.reads("test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out");
        assert_eq!(running, Running::default());
        assert_eq!(running.end(std::process::id()), None, "nothing runs");
    }
}
