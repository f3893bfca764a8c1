//! What a program writes on its error output: all of it is heard, so that it never waits for somebody who reads, and the last of
//! it is told with the error when the program ends, hangs or does not answer. It is the program's own word, and said to be.

use std::collections::VecDeque;
use std::io::{self, Read as _};
use std::process::ChildStderr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Bytes that are kept, the last ones: far more than are told, so that no value of a secret is told in part.
const KEPT_BYTES: usize = 64 * 1024;
/// Lines that are told, the last ones, and letters of each.
const LINES_MAX: usize = 8;
const LINE_CHARS_MAX: usize = 200;
/// How long the last of it may take to arrive after the program has ended.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The last of what a program writes on its error output.
#[derive(Default)]
pub(super) struct Complaints {
    heard: Mutex<Heard>,
    more: Condvar,
    redactor: redact::Shared,
}

#[derive(Default)]
struct Heard {
    last: VecDeque<u8>,
    /// Something before it was let go.
    is_cut: bool,
    is_all: bool,
}

impl Complaints {
    /// Hears all that comes from there, in a thread of its own; what this redactor knows is told to nobody.
    ///
    /// # Errors
    /// When no thread can be started.
    pub(super) fn from(stderr: Option<ChildStderr>, redactor: redact::Shared) -> io::Result<Arc<Self>> {
        let complaints = Arc::new(Self { redactor, ..Self::default() });
        let Some(stderr) = stderr else {
            complaints.lock().is_all = true;
            return Ok(complaints);
        };
        let hears = Arc::clone(&complaints);
        std::thread::Builder::new().name("complaints".to_owned()).spawn(move || hears.hear(stderr))?;
        Ok(complaints)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, mut from: ChildStderr) {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            self.lock().take(buffer.get(..read).unwrap_or_default());
        }
        self.lock().is_all = true;
        self.more.notify_all();
    }

    /// The last lines of it, what cannot be seen written out, without what must not be seen; none where it wrote nothing.
    pub(super) fn last(&self) -> Option<String> {
        let heard = self.more.wait_timeout_while(self.lock(), LAST_WORDS, |heard| !heard.is_all);
        let mut heard = heard.unwrap_or_else(PoisonError::into_inner).0;
        let is_cut = heard.is_cut;
        let text = String::from_utf8_lossy(heard.last.make_contiguous()).into_owned();
        drop(heard);
        let clean = self.redactor.now().text(&text).rest.into_owned();
        let mut lines: Vec<&str> = clean.lines().filter(|line| !line.trim().is_empty()).collect();
        // Of the first line the beginning may be gone.
        let first = usize::from(is_cut && lines.len() > 1).max(lines.len().saturating_sub(LINES_MAX));
        let told: Vec<String> = lines.drain(first..).map(shown).collect();
        (!told.is_empty()).then(|| told.join(" | "))
    }

    /// Why it did not go well, with the last that the program wrote.
    pub(super) fn with(&self, why: &str) -> String {
        with_last(why, self.last().as_deref())
    }
}

/// Why it did not go well, with the last that the program wrote.
pub(super) fn with_last(why: &str, last: Option<&str>) -> String {
    match last {
        Some(last) => {
            format!("{why}; the last that the server itself wrote on its error output: \"{last}\"")
        }
        None => why.to_owned(),
    }
}

impl Heard {
    fn take(&mut self, bytes: &[u8]) {
        self.last.extend(bytes);
        let over = self.last.len().saturating_sub(KEPT_BYTES);
        self.last.drain(..over);
        self.is_cut |= over > 0;
    }
}

/// A line within bounds, nothing in it hidden.
fn shown(line: &str) -> String {
    let part: String = line.trim_end().chars().take(LINE_CHARS_MAX).collect();
    let cut = if part.len() < line.trim_end().len() { "…" } else { "" };
    format!("{}{cut}", acts::visible(&part))
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use zeroize::Zeroizing;

    /// What is told of a program that writes so.
    fn told(script: &str, redactor: redact::Shared) -> String {
        let mut shell = Command::new("/bin/sh");
        let mut child = shell.args(["-c", script]).stderr(Stdio::piped()).spawn().unwrap();
        let complaints = Complaints::from(child.stderr.take(), redactor).unwrap();
        let told = complaints.with("it ended");
        child.wait().unwrap();
        told
    }

    #[test]
    fn the_last_lines_are_told_as_the_programs_own_whole_and_late_as_they_come() {
        let said =
            told("exec 1>&-; sleep 0.1; printf 'one\\n\\n two\\033[31m\\n' >&2", redact::Shared::default());
        let words =
            "it ended; the last that the server itself wrote on its error output: \"one |  two\\u{1b}[31m\"";
        assert_eq!(said, words);
        assert_eq!(told("exit 3", redact::Shared::default()), "it ended");
    }

    #[test]
    fn what_is_told_is_bounded_and_holds_no_value_of_a_secret() {
        let value = "correct-horse-battery-staple".to_owned();
        let redactor = redact::Shared::default();
        let known = [("wiki".to_owned(), Zeroizing::new(value.clone().into_bytes()))];
        redactor.put(redact::Redactor::new(known).unwrap());
        let script = format!(
            "i=0; while [ $i -lt 3000 ]; do echo \"line $i {value} {}\" >&2; i=$((i+1)); done",
            "x".repeat(500)
        );
        let said = told(&script, redactor);
        assert!(said.contains("line 2999") && !said.contains("line 2991 "), "{said}");
        assert!(!said.contains(&value) && !said.contains("battery"), "{said}");
        assert!(said.len() < 3_000, "{}", said.len());
    }
}
