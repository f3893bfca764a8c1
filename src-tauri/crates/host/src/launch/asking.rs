//! A program beside this one is asked whether it is healthy. A first start may be slow, where a machine is busy or a log is long, so it
//! is not judged by the clock alone: it tells the steps that it takes, and only an end without its word, or a very long silence, speaks
//! against it. Nor can a program that means harm hold the start for as long as it likes: a step that it tells again is none, and
//! all of them together have a bound.

use super::{ASKED, HEALTH, Health, PASSPHRASE_FILE, STARTED_BY};
use crate::{Home, program_group};
use model::{Digest, lasting};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Says to a program that is asked that its steps are read. One from before tells none, and one that is asked by a program from before
/// must not, since that reads one line.
const TELLS_STEPS: &str = "HERMIT_TELLS_STEPS";
/// A program may be silent for this time, and longer by the size of the log.
const SILENCE: Duration = Duration::from_secs(10 * 60);
/// Bytes of a log that are verified in a second, on the busiest machine.
const VERIFIED_A_SECOND: u64 = 512 * 1024;
/// And never longer than that.
const SILENCE_MAX: Duration = Duration::from_secs(2 * 60 * 60);
/// A start has so many stretches, each with a silence at most: until it opens the store, has it open, has verified the log, has answered,
/// and has ended.
const STRETCHES: u32 = 5;
/// Steps that are heard.
const STEPS_MAX: usize = 64;
/// Bytes of a line by which it says something.
const LINE_BYTES_MAX: u64 = 4 * 1024;
/// How often it is looked at whether a program has ended.
const LOOK: Duration = Duration::from_millis(20);
/// How long its last lines may take to arrive once it has ended.
const ARRIVES_IN: Duration = Duration::from_secs(10);

/// How far a program is that is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// It begins to open the store, which may bring it to another format.
    Opening,
    /// The store is open, and its log is verified next.
    Opened,
    /// Its log was verified.
    Verified,
}

impl Step {
    const fn name(self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::Opened => "opened",
            Self::Verified => "verified",
        }
    }
}

/// The line of a step. A newer program may tell more of it, which is no answer yet.
#[derive(Debug, Deserialize)]
struct Told {
    step: String,
}

/// Tells a step to whoever asks this program, where steps are read.
pub(super) fn tell(step: Step, say: &dyn Fn(&str)) {
    if std::env::var_os(TELLS_STEPS).is_some() {
        say(&format!("{{\"step\":\"{}\"}}", step.name()));
    }
}

/// How long a program may say nothing with this store: until its next step the log may be read whole.
pub(super) fn silence(home: &Home) -> Duration {
    let bytes = std::fs::metadata(home.path(ledger::FILE)).map_or(0, |found| found.len());
    SILENCE.saturating_add(Duration::from_secs(bytes / VERIFIED_A_SECOND)).min(SILENCE_MAX)
}

/// Asks a program whether it is healthy with this store, and waits for as long as it goes on.
///
/// # Errors
/// In words, why it is not: it ended, said something else, or nothing for this time since its last step, or took five times as
/// long in all.
pub fn asked(home: &Home, program: &Path, sha256: Digest, silence: Duration) -> Result<Health, String> {
    let fail = |e: io::Error| format!("it cannot be started: {e}");
    let mut command = program_group::command(program).map_err(fail)?;
    command.arg(HEALTH).arg(home.dir()).env(STARTED_BY, ASKED).env("HERMIT_HOME", home.dir());
    command.env(TELLS_STEPS, "1").env_remove(PASSPHRASE_FILE);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let begun = program_group::lead(&mut command).and_then(|()| command.spawn());
    let mut child = begun.map_err(fail)?;
    let answer = match child.stdout.take().map(lines) {
        Some(lines) => heard(&mut child, &lines, silence),
        None => Err("it says nothing".to_owned()),
    };
    end(&mut child);
    let health: Health = serde_json::from_str(answer?.trim()).map_err(|_| NO_WORD.to_owned())?;
    match health.healthy == sha256 {
        true => Ok(health),
        false => Err("it says that it is another program".to_owned()),
    }
}

const NO_WORD: &str = "it did not say that it is healthy";

/// What it says, line by line, until it closes its output or has said too much.
fn lines(stdout: ChildStdout) -> Receiver<io::Result<String>> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut from = BufReader::new(stdout);
        for _ in 0..=STEPS_MAX {
            let mut line = String::new();
            let read = (&mut from).take(LINE_BYTES_MAX).read_line(&mut line);
            let is_over = !matches!(read, Ok(1..));
            if matches!(read, Ok(0)) || send.send(read.map(|_| line)).is_err() || is_over {
                return;
            }
        }
    });
    receive
}

/// Its answer, once it has ended well.
fn heard(
    child: &mut Child,
    lines: &Receiver<io::Result<String>>,
    silence: Duration,
) -> Result<String, String> {
    let (asked_at, mut hearing) = (Instant::now(), Hearing::new(silence));
    loop {
        let sign = match lines.recv_timeout(LOOK) {
            Ok(Ok(line)) => Sign::Line(line),
            Ok(Err(error)) => return Err(format!("what it says cannot be read: {error}")),
            Err(RecvTimeoutError::Timeout) => Sign::Nothing,
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(LOOK);
                Sign::Closed
            }
        };
        if let Some(came) = hearing.hears(sign, asked_at.elapsed()) {
            return came;
        }
        let ended = child.try_wait().map_err(|e| format!("whether it ended cannot be told: {e}"))?;
        let Some(status) = ended else { continue };
        let ended = if status.success() { Ok(()) } else { Err(status.to_string()) };
        if let Some(came) = hearing.hears(Sign::Ended(ended), asked_at.elapsed()) {
            return came;
        }
    }
}

/// Ends it and what it started.
fn end(child: &mut Child) {
    program_group::end(child);
    let _ = child.kill();
    let _ = child.wait();
}

/// What is noticed of a program that was asked.
#[derive(Debug)]
enum Sign {
    /// It said a line.
    Line(String),
    /// It says nothing any more.
    Closed,
    /// It ended: well, or with this status.
    Ended(Result<(), String>),
    /// Nothing for a moment.
    Nothing,
}

/// What is known of a program that was asked. Times are counted from the asking.
#[derive(Debug)]
struct Hearing {
    silence: Duration,
    heard_at: Duration,
    ended_at: Option<Duration>,
    steps: usize,
    /// Those that it has told; one that is told again shows nothing of how it goes on.
    told: BTreeSet<String>,
    step: Option<String>,
    answer: Option<String>,
    is_closed: bool,
}

impl Hearing {
    const fn new(silence: Duration) -> Self {
        let heard_at = Duration::ZERO;
        let told = BTreeSet::new();
        Self { silence, heard_at, ended_at: None, steps: 0, told, step: None, answer: None, is_closed: false }
    }

    /// Takes a sign in; its answer, or why there will be none, as soon as that is known.
    fn hears(&mut self, sign: Sign, at: Duration) -> Option<Result<String, String>> {
        match sign {
            Sign::Line(line) => {
                match serde_json::from_str::<Told>(line.trim()) {
                    Ok(told) => {
                        self.steps += 1;
                        if self.told.insert(told.step.clone()) {
                            self.heard_at = at;
                            self.step = Some(told.step);
                        }
                    }
                    // Its first answer stands, and what it says behind that is no step: it is waited for no longer.
                    Err(_) if self.answer.is_some() => {}
                    Err(_) => {
                        self.heard_at = at;
                        self.answer = Some(line);
                    }
                }
                if self.steps > STEPS_MAX {
                    return Some(Err(format!("it told {STEPS_MAX} steps and came to no end")));
                }
            }
            Sign::Closed => self.is_closed = true,
            Sign::Ended(Err(status)) => return Some(Err(format!("it ended at its start, with {status}"))),
            Sign::Ended(Ok(())) => {
                let ended_at = *self.ended_at.get_or_insert(at);
                let is_known = self.is_closed || at.saturating_sub(ended_at) > ARRIVES_IN;
                if self.answer.is_some() || is_known {
                    return Some(self.answer.take().ok_or_else(|| NO_WORD.to_owned()));
                }
            }
            Sign::Nothing => {}
        }
        if self.ended_at.is_some() {
            return None;
        }
        let whole = self.silence.saturating_mul(STRETCHES);
        if at > whole {
            return Some(Err(format!("it was not ready within {} in all", lasting(whole))));
        }
        (at.saturating_sub(self.heard_at) > self.silence).then(|| Err(self.was_silent()))
    }

    fn was_silent(&self) -> String {
        let silence = lasting(self.silence);
        if self.answer.is_some() {
            return format!("it did not end within {silence} of its answer");
        }
        let since = match self.step.as_deref() {
            None => return format!("it said nothing within {silence}"),
            Some("opening") => "it began to open the store",
            Some("opened") => "it had the store open",
            Some("verified") => "it had verified the log",
            Some(_) => "its last step",
        };
        format!("it said nothing for {silence} since {since}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn line(text: &str) -> Sign {
        Sign::Line(format!("{text}\n"))
    }

    fn told(step: Step) -> Sign {
        line(&format!("{{\"step\":\"{}\"}}", step.name()))
    }

    #[test]
    fn a_slow_start_that_goes_on_is_waited_for_and_its_word_counts_whenever_it_comes() {
        let mut hearing = Hearing::new(MINUTE * 10);
        // The steps take far longer together than each may.
        for (n, step) in (1..).zip([Step::Opening, Step::Opened, Step::Verified]) {
            assert_eq!(hearing.hears(Sign::Nothing, MINUTE * (9 * n)), None, "{step:?}");
            assert_eq!(hearing.hears(told(step), MINUTE * (9 * n)), None, "{step:?}");
        }
        assert_eq!(hearing.hears(line("healthy"), MINUTE * 36), None, "it has not ended yet");
        assert_eq!(hearing.hears(Sign::Nothing, MINUTE * 45), None);
        let came = hearing.hears(Sign::Ended(Ok(())), MINUTE * 45);
        assert_eq!(came, Some(Ok("healthy\n".to_owned())));
    }

    #[test]
    fn an_end_a_crash_and_a_very_long_silence_speak_against_it_and_say_how_far_it_came() {
        let silent = |signs: Vec<Sign>| {
            let mut hearing = Hearing::new(MINUTE);
            for sign in signs {
                assert_eq!(hearing.hears(sign, MINUTE), None);
            }
            assert_eq!(hearing.hears(Sign::Nothing, MINUTE * 2), None, "not yet");
            hearing.hears(Sign::Nothing, MINUTE * 2 + LOOK).unwrap().unwrap_err()
        };
        assert!(silent(vec![told(Step::Opening)]).contains("since it began to open the store"));
        assert!(silent(vec![told(Step::Opening), told(Step::Opened)]).contains("had the store open"));
        let newer = "{\"step\":\"of a newer program\",\"of\":3}";
        assert!(silent(vec![line(newer)]).contains("since its last step"));
        assert!(silent(vec![line("healthy")]).contains("did not end within 1 minute of"));
        // Who answered and goes on talking is waited for no longer.
        let mut talks = Hearing::new(MINUTE);
        for second in (0..60).step_by(10) {
            assert_eq!(talks.hears(line("healthy"), Duration::from_secs(second)), None);
        }
        let why = talks.hears(line("healthy"), MINUTE + LOOK).unwrap().unwrap_err();
        assert!(why.contains("did not end within 1 minute of"), "{why}");
        let never = Hearing::new(MINUTE).hears(Sign::Nothing, MINUTE + LOOK);
        assert_eq!(never, Some(Err("it said nothing within 1 minute".to_owned())));

        let mut crashed = Hearing::new(MINUTE);
        assert_eq!(crashed.hears(line("healthy"), LOOK), None);
        let came = crashed.hears(Sign::Ended(Err("signal 9".to_owned())), LOOK);
        assert_eq!(came, Some(Err("it ended at its start, with signal 9".to_owned())), "whatever it said");

        let mut left = Hearing::new(MINUTE);
        assert_eq!(left.hears(told(Step::Opening), LOOK), None);
        assert_eq!(left.hears(Sign::Ended(Ok(())), LOOK), None, "its last lines may be on their way");
        assert_eq!(left.hears(Sign::Closed, LOOK), None);
        assert_eq!(left.hears(Sign::Ended(Ok(())), LOOK), Some(Err(NO_WORD.to_owned())));

        // Its output is held open by something that it has started.
        let mut held = Hearing::new(LOOK);
        assert_eq!(held.hears(Sign::Ended(Ok(())), MINUTE), None);
        assert_eq!(held.hears(Sign::Nothing, MINUTE + ARRIVES_IN), None);
        let came = held.hears(Sign::Ended(Ok(())), MINUTE + ARRIVES_IN + LOOK);
        assert_eq!(came, Some(Err(NO_WORD.to_owned())));
    }

    #[test]
    fn one_that_tells_what_it_told_before_or_ever_new_steps_holds_a_start_no_longer() {
        let mut again = Hearing::new(MINUTE);
        for second in [0, 20, 40, 60] {
            assert_eq!(again.hears(told(Step::Opening), Duration::from_secs(second)), None);
        }
        let why = again.hears(told(Step::Opening), MINUTE + LOOK).unwrap().unwrap_err();
        assert!(why.contains("since it began to open the store"), "{why}");
        let mut invents = Hearing::new(MINUTE);
        let step = |n: u32| line(&format!("{{\"step\":\"number {n}\"}}"));
        for n in 0..=STRETCHES {
            assert_eq!(invents.hears(step(n), MINUTE * n), None, "{n}");
        }
        let why = invents.hears(step(STRETCHES + 1), MINUTE * STRETCHES + LOOK).unwrap().unwrap_err();
        assert!(why.contains("within 5 minutes in all"), "{why}");
    }

    #[test]
    fn one_that_never_stops_to_tell_steps_is_ended() {
        let mut hearing = Hearing::new(MINUTE);
        for _ in 0..STEPS_MAX {
            assert_eq!(hearing.hears(told(Step::Opening), LOOK), None);
        }
        let why = hearing.hears(told(Step::Opening), LOOK).unwrap().unwrap_err();
        assert!(why.contains("64 steps"), "{why}");
    }
}
