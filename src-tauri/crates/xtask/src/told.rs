//! What a run of cargo tells while it is under way: shown as it comes, counted, and held to a limit of silence.

use crate::Problem;
use crate::hung::Running;
use crate::tests_run::Count;
use std::io::{BufRead as _, BufReader, Read};
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// The count, the names of tests that failed, and whether cargo was content.
pub type Ran = (Count, Vec<String>, bool);

/// How long the last words of cargo are waited for once it has ended.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// One line of cargo or of what it runs.
enum Told {
    Output(Vec<u8>),
    Complaint(Vec<u8>),
    /// The output broke off.
    Broken(std::io::Error),
    /// There is no more output.
    End,
}

/// Runs cargo to its end. A test binary that prints nothing for so long is ended; what it was at has failed. A run beside others is
/// called something, which stands before each of its lines.
pub fn count_lines(cargo: &mut Command, silence: Duration, called: &str) -> Result<Ran, Problem> {
    let mut child = cargo.spawn().map_err(|e| format!("cargo could not be started: {e}"))?;
    let (tells, told) = channel();
    if let Some(complaints) = child.stderr.take() {
        let tells = tells.clone();
        std::thread::spawn(move || passes_on(complaints, &tells, Told::Complaint));
    }
    let output = child.stdout.take().ok_or("cargo's output cannot be read")?;
    std::thread::spawn(move || {
        passes_on(output, &tells, Told::Output);
        tells.send(Told::End)
    });
    let mut heard = Heard { called, ..Heard::default() };
    let mut until = Instant::now() + silence;
    loop {
        match told.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Told::Output(line)) => {
                heard.reads(&line);
                until = Instant::now() + silence;
            }
            Ok(Told::Complaint(line)) => heard.reads_complaint(&line),
            Ok(Told::Broken(error)) => return Err(format!("cargo's output broke off: {error}")),
            Ok(Told::End) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                // Cargo has ended, and what a test left behind holds its output open: nobody waits for that.
                if child.try_wait().map_err(|e| format!("cargo was lost: {e}"))?.is_some() {
                    break;
                }
                heard.ends(child.id());
                until = Instant::now() + silence;
            }
        }
    }
    let status = child.wait().map_err(|e| format!("cargo was lost: {e}"))?;
    while let Ok(Told::Complaint(line)) = told.recv_timeout(LAST_WORDS) {
        heard.reads_complaint(&line);
    }
    Ok((heard.count, heard.failed, status.success()))
}

/// Sends each line on until there is none, or nobody listens any more.
fn passes_on(from: impl Read, tells: &Sender<Told>, is: fn(Vec<u8>) -> Told) {
    for line in BufReader::new(from).split(b'\n') {
        let is_broken = line.is_err();
        if tells.send(line.map_or_else(Told::Broken, is)).is_err() || is_broken {
            return;
        }
    }
}

/// What was heard of a run.
#[derive(Default)]
struct Heard<'a> {
    called: &'a str,
    count: Count,
    failed: Vec<String>,
    running: Running,
    /// The program that runs now.
    binary: String,
}

impl Heard<'_> {
    /// A line of the output: shown, and counted.
    fn reads(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        println!("{}", self.shown(&line));
        self.count.add(&line);
        let name = if self.called.is_empty() { self.binary.as_str() } else { self.called };
        self.count.took.extend(seconds_of_result(&line).map(|seconds| (seconds, name.to_owned())));
        self.running.reads(&line);
        self.failed.extend(name_of_failed(&line).map(str::to_owned));
    }

    /// A line beside the output, where cargo says which program it begins.
    fn reads_complaint(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        eprintln!("{}", self.shown(&line));
        if let Some(name) = name_of_binary(&line) {
            name.clone_into(&mut self.binary);
        }
    }

    /// A line as a person sees it: of runs beside each other it says which.
    fn shown(&self, line: &str) -> String {
        if self.called.is_empty() { line.to_owned() } else { format!("{} | {line}", self.called) }
    }

    /// Ends the test binary below this process.
    fn ends(&mut self, runner: u32) {
        if let Some(ended) = self.running.end(runner) {
            self.count.passed += ended.passed;
            self.count.failed += ended.hung.len() + ended.others;
            self.failed.extend(ended.hung);
        }
    }
}

/// Reads `test a::b ... FAILED`; in any other line no test has failed.
fn name_of_failed(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?.split(" - should panic").next()
}

/// Reads `     Running tests/it/main.rs (target/debug/deps/it-a0a0459dd7dc4e55)`; any other line begins no binary.
fn name_of_binary(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("Running ")?.strip_suffix(')')?.rsplit(['/', '\\']).next()
}

/// Reads `test result: ok. 5 passed; ...; finished in 29.20s`; any other line tells no time.
fn seconds_of_result(line: &str) -> Option<u64> {
    let told = line.trim_start().strip_prefix("test result: ")?.rsplit("finished in ").next()?;
    told.strip_suffix('s')?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_took_how_long_is_read_from_the_lines_of_cargo() {
        let begun = "     Running tests/it/main.rs (target/debug/deps/it-a0a0459dd7dc4e55)";
        assert_eq!(name_of_binary(begun), Some("it-a0a0459dd7dc4e55"));
        assert_eq!(name_of_binary("Running 3 tests"), None);
        let ended =
            "test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 602.99s";
        assert_eq!(seconds_of_result(ended), Some(602));
        assert_eq!(seconds_of_result("test a::b ... ok"), None);
        let mut heard = Heard::default();
        heard.reads_complaint(begun.as_bytes());
        heard.reads(ended.as_bytes());
        assert_eq!(heard.count.took, [(602, "it-a0a0459dd7dc4e55".to_owned())]);
        let mut heard = Heard { called: "windows", ..Heard::default() };
        heard.reads_complaint(begun.as_bytes());
        heard.reads(ended.as_bytes());
        assert_eq!(heard.count.took, [(602, "windows".to_owned())]);
        assert_eq!(heard.shown("test a ... ok"), "windows | test a ... ok");
    }

    #[test]
    fn a_test_that_failed_is_known_by_its_name() {
        assert_eq!(name_of_failed("test a::b ... FAILED"), Some("a::b"));
        assert_eq!(name_of_failed("test a::b - should panic ... FAILED"), Some("a::b"));
        assert_eq!(name_of_failed("test a::b ... ok"), None);
        assert_eq!(name_of_failed("test result: FAILED. 1 passed; 1 failed"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_test_that_hangs_is_ended_and_named_and_the_next_binary_has_its_turn() {
        let said = "echo 'running 2 tests'; echo 'test a ... ok'; echo 'test b has been running for over 60 seconds'; \
            (sleep 600; :); echo 'running 1 test'; echo 'test c ... ok'; echo 'test result: ok. 1 passed; 0 failed; 0 ignored'; \
            exit 1";
        let mut cargo = Command::new("sh");
        cargo.args(["-c", said]).stdout(std::process::Stdio::piped());
        let (count, failed, clean) = count_lines(&mut cargo, Duration::from_millis(500), "").unwrap();
        assert_eq!(count, Count { passed: 2, failed: 1, ..Count::default() });
        assert_eq!((failed, clean), (vec!["b".to_owned()], false));
    }
}
