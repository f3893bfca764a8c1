//! Tests that mostly wait, beside each other and after all the rest. What must be measured alone, or needs both processors of a small
//! machine, is not among them.

use crate::Problem;
use crate::hung::SILENCE;
use crate::shell::{like, say, spelled};
use crate::told::{Ran, count_lines};
use std::process::{Command, Stdio};

/// The program whose tests these are.
const PROGRAM: [&str; 2] = ["--test", "house"];

/// Each of them is a run of its own: what it is called, how many tests it runs at a time, and how their names begin.
const LATER: [(&str, &str, &[&str]); 2] = [
    // One window is open at a time, so that a second thread would only wait for its turn.
    ("windows", "1", &["desktop::"]),
    // Minutes have to pass in them, which they spend asleep.
    ("waits", "5", &["mesh::schedules::", "mesh::triggers::", "journeys::scheduled::"]),
];

/// Runs all that this command of cargo runs, those that wait last and beside each other.
pub fn all(cargo: &Command) -> Result<Ran, Problem> {
    let mut first = like(cargo);
    first.arg("--");
    for name in LATER.iter().flat_map(|(_, _, names)| names.iter()) {
        first.args(["--skip", *name]);
    }
    let (mut count, mut failed, mut clean) = ran(&mut first, "")?;
    let later = std::thread::scope(|scope| {
        let runs = LATER.map(|(name, at_a_time, tests)| {
            let mut command = like(cargo);
            command.args(PROGRAM).arg("--").arg(format!("--test-threads={at_a_time}")).args(tests);
            scope.spawn(move || ran(&mut command, name))
        });
        runs.map(|run| run.join().unwrap_or_else(|_| Err("a run of tests was lost".to_owned())))
    });
    let (left_out, mut had_their_turn) = (std::mem::take(&mut count.left_out), 0);
    for run in later {
        let (mut more, also_failed, was_clean) = run?;
        more.left_out = 0;
        had_their_turn += more.passed + more.failed + more.skipped;
        count.add_all(more);
        failed.extend(also_failed);
        clean &= was_clean;
    }
    // A test of another program that is called as these would have no turn at all.
    if left_out != had_their_turn {
        say(&format!("{left_out} tests were left for later, and {had_their_turn} had their turn"));
        count.failed += 1;
        clean = false;
    }
    Ok((count, failed, clean))
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

    /// Says what cargo would: three tests, of which those that are called so are left out, or no others are run.
    const CARGO: &str = r#"
case "$*" in
  *--skip*) echo "running 1 test"; echo "test a::b ... ok"
    echo "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; LEFT filtered out; finished in 0.00s" ;;
  *desktop::*) echo "running 1 test"; echo "test desktop::c ... ok"
    echo "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 2 filtered out; finished in 0.00s" ;;
  *) echo "running 1 test"; echo "test mesh::schedules::d ... FAILED"
    echo "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 2 filtered out; finished in 0.00s"; exit 1 ;;
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
