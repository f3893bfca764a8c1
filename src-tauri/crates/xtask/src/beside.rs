//! Tests that mostly wait: for programs, for windows, for minutes to pass. They come after all the rest, more of them at a time than there
//! are processors. What is measured, or keeps a processor busy, is not among them.

use crate::Problem;
use crate::hung::SILENCE;
use crate::shell::{like, say, spelled};
use crate::told::{Ran, count_lines};
use std::process::{Command, Stdio};

/// The program whose tests these are.
const PROGRAM: [&str; 2] = ["--test", "house"];

/// A run of its own.
struct Later {
    /// What stands before its lines.
    called: &'static str,
    /// How many tests run at a time; none: one more than there are processors.
    at_a_time: Option<usize>,
    /// How the names of its tests begin.
    tests: &'static [&'static str],
    /// How those begin that have their turn elsewhere.
    but: &'static [&'static str],
}

/// Stories that have to be answered within seconds, and are not crowded.
const MEASURED: [&str; 3] =
    ["journeys::adopted_program::", "journeys::agents_each_alone::", "journeys::agents_tools::"];
/// Stories in which minutes have to pass, which they spend asleep.
const MINUTES: [&str; 3] = ["journeys::scheduled::", "mesh::schedules::", "mesh::triggers::"];

/// These follow each other; those of one stand beside each other.
const STAGES: [&[Later]; 3] = [
    // They start programs, and wait for them.
    &[Later {
        called: "journeys",
        at_a_time: None,
        tests: &["journeys::"],
        but: &[MEASURED[0], MEASURED[1], MEASURED[2], MINUTES[0]],
    }],
    &[Later { called: "measured", at_a_time: Some(2), tests: &MEASURED, but: &[] }],
    &[
        // One window is open at a time, so that a second thread would only wait for its turn.
        Later { called: "windows", at_a_time: Some(1), tests: &["desktop::"], but: &[] },
        Later { called: "minutes", at_a_time: Some(5), tests: &MINUTES, but: &[] },
    ],
];

impl Later {
    fn command(&self, cargo: &Command) -> Command {
        let usual = || std::thread::available_parallelism().map_or(2, usize::from) + 1;
        let mut command = like(cargo);
        command.args(PROGRAM).arg("--");
        command.arg(format!("--test-threads={}", self.at_a_time.unwrap_or_else(usual)));
        command.args(self.tests).args(self.but.iter().flat_map(|name| ["--skip", *name]));
        command
    }
}

/// Runs all that this command of cargo runs, those that wait last.
pub fn all(cargo: &Command) -> Result<Ran, Problem> {
    let mut first = like(cargo);
    first.arg("--");
    for later in STAGES.into_iter().flatten() {
        first.args(later.tests.iter().flat_map(|name| ["--skip", *name]));
    }
    let (mut count, mut failed, mut clean) = ran(&mut first, "")?;
    let (left_out, mut had_their_turn) = (std::mem::take(&mut count.left_out), 0);
    for stage in STAGES {
        for (mut more, also_failed, was_clean) in beside(cargo, stage)? {
            more.left_out = 0;
            had_their_turn += more.passed + more.failed + more.skipped;
            count.add_all(more);
            failed.extend(also_failed);
            clean &= was_clean;
        }
    }
    // A test of another program that is called as these would have no turn at all.
    if left_out != had_their_turn {
        say(&format!("{left_out} tests were left for later, and {had_their_turn} had their turn"));
        count.failed += 1;
        clean = false;
    }
    Ok((count, failed, clean))
}

/// Runs these beside each other.
fn beside(cargo: &Command, stage: &'static [Later]) -> Result<Vec<Ran>, Problem> {
    std::thread::scope(|scope| {
        let begun = stage.iter().map(|later| {
            let mut command = later.command(cargo);
            scope.spawn(move || ran(&mut command, later.called))
        });
        let begun: Vec<_> = begun.collect();
        let ended = begun.into_iter().map(|run| run.join());
        ended.map(|ran| ran.unwrap_or_else(|_| Err("a run of tests was lost".to_owned()))).collect()
    })
}

fn ran(cargo: &mut Command, called: &str) -> Result<Ran, Problem> {
    say(&format!("{} ...", spelled(cargo)));
    count_lines(cargo.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()), SILENCE, called)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::fs;

    /// Says what cargo would.
    const CARGO: &str = r#"
ends="0 ignored; 0 measured"
case "$*" in
  "-- --skip "*) echo "running 1 test"; echo "test a::b ... ok"
    echo "test result: ok. 1 passed; 0 failed; $ends; LEFT filtered out; finished in 0.00s" ;;
  *" desktop::"*) echo "running 1 test"; echo "test desktop::c ... ok"
    echo "test result: ok. 1 passed; 0 failed; $ends; 2 filtered out; finished in 0.00s" ;;
  *" mesh::schedules::"*) echo "running 1 test"; echo "test mesh::schedules::d ... FAILED"
    echo "test result: FAILED. 0 passed; 1 failed; $ends; 2 filtered out; finished in 0.00s"; exit 1 ;;
  *) echo "running 0 tests"
    echo "test result: ok. 0 passed; 0 failed; $ends; 3 filtered out; finished in 0.00s" ;;
esac
"#;

    fn ran_with(left: &str) -> Ran {
        let path = std::env::temp_dir().join(format!("hermit-beside-{left}-{}", std::process::id()));
        fs::write(&path, CARGO.replace("LEFT", left)).expect("a script");
        let mut cargo = Command::new("sh");
        let ran = all(cargo.arg(&path)).expect("it runs");
        fs::remove_file(&path).expect("it goes");
        ran
    }

    #[test]
    fn what_is_left_for_later_is_run_counted_and_missed_where_it_has_no_turn() {
        let (count, failed, clean) = ran_with("2");
        assert_eq!((count.passed, count.failed, count.left_out), (2, 1, 0));
        assert_eq!((failed, clean), (vec!["mesh::schedules::d".to_owned()], false));
        let (count, failed, clean) = ran_with("3");
        assert_eq!((count.passed, count.failed, failed.len(), clean), (2, 2, 1, false));
    }
}
