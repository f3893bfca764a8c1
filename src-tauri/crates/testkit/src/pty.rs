//! A program on a terminal of its own, and a hand that types: for what only a person at a terminal may do.
//!
//! The program becomes the leader of a session whose controlling terminal is ours, through `setsid --ctty` of
//! util-linux, because becoming it in this process needs code that this house does not write.

#![allow(clippy::disallowed_methods, reason = "it starts a real program and waits for it")]

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// How long anything expected may take on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a model may take for all that it is asked, one thread of a machine at work.
const WITHOUT_HURRY: Duration = Duration::from_secs(3_600);

/// Columns and rows of a terminal that says nothing of it.
const USUAL: (u16, u16) = (80, 24);

struct Screen {
    /// Everything that came.
    text: String,
    /// The first bytes of a character whose others have not come yet.
    begun: Vec<u8>,
    /// What stands on it now.
    now: vt100::Parser,
    closed: bool,
}

impl Screen {
    fn new((columns, rows): (u16, u16)) -> Self {
        let now = vt100::Parser::new(some(rows), some(columns), 0);
        Self { text: String::new(), begun: Vec::new(), now, closed: false }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.now.process(bytes);
        self.begun.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.begun) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.begun.len(),
        };
        let whole: Vec<u8> = self.begun.drain(..whole).collect();
        self.text.push_str(&String::from_utf8_lossy(&whole));
    }
}

/// A program on a terminal.
pub struct Pty {
    master: File,
    child: Child,
    screen: Arc<(Mutex<Screen>, Condvar)>,
    /// Where expecting goes on: what was found once is not found again.
    at: usize,
    patience: Duration,
}

impl Pty {
    /// Starts a program on a new terminal; nothing of the environment but `PATH` and what is given.
    pub fn spawn(program: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        Self::begin(program, arguments, environment, None)
    }

    /// As [`Self::spawn`], on a terminal that says how many columns and rows it has.
    pub fn sized(program: &Path, arguments: &[&str], environment: &[(&str, &str)], size: (u16, u16)) -> Self {
        Self::begin(program, arguments, environment, Some(size))
    }

    fn begin(
        program: &Path,
        arguments: &[&str],
        environment: &[(&str, &str)],
        size: Option<(u16, u16)>,
    ) -> Self {
        let master =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
        if let Some(size) = size {
            tcsetwinsize(&master, winsize(size)).expect("sized");
        }
        grantpt(&master).expect("granted");
        unlockpt(&master).expect("unlocked");
        let name = ptsname(&master, Vec::new()).expect("a name");
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave: OwnedFd = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).expect("its other end");
        let end = || Stdio::from(slave.try_clone().expect("a copy"));
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg("--wait").arg(program).args(arguments);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("TERM", "xterm");
        command.envs(environment.iter().copied());
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn().expect("`setsid` of util-linux");
        drop(command);
        drop(slave);
        let master = File::from(master);
        let screen = Arc::new((Mutex::new(Screen::new(size.unwrap_or(USUAL))), Condvar::new()));
        let (mut from, to) = (master.try_clone().expect("a copy"), Arc::clone(&screen));
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            loop {
                // A terminal whose last program has gone answers with an error, which is its end.
                let read = from.read(&mut buffer).unwrap_or(0);
                let mut screen = to.0.lock().expect("no poison");
                screen.take(&buffer[..read]);
                screen.closed = read == 0;
                to.1.notify_all();
                if read == 0 {
                    return;
                }
            }
        });
        Self { master, child, screen, at: 0, patience: PATIENCE }
    }

    /// The same, for a program that waits for a model: its own limits end it.
    #[must_use]
    pub fn without_hurry(mut self) -> Self {
        self.patience = WITHOUT_HURRY;
        self
    }

    /// Waits for whichever of these words comes first, as [`Self::expect`] does; nothing when the program ends without.
    pub fn expect_one_or_end(&mut self, any: &[&str]) -> Option<usize> {
        let until = Instant::now() + self.patience;
        let mut screen = self.screen.0.lock().expect("no poison");
        loop {
            let shown = &screen.text[self.at..];
            let first = any.iter().enumerate().filter_map(|(n, words)| Some((shown.find(words)?, n))).min();
            if let Some((at, which)) = first {
                self.at += at + any[which].len();
                return Some(which);
            }
            if screen.closed {
                return None;
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "none of {any:?} came; the screen shows:\n{shown}");
            screen = self.screen.1.wait_timeout(screen, left).expect("no poison").0;
        }
    }

    /// Waits until the words are on the screen, behind those that were waited for before.
    pub fn expect(&mut self, words: &str) -> &mut Self {
        let until = Instant::now() + self.patience;
        let mut screen = self.screen.0.lock().expect("no poison");
        loop {
            if let Some(found) = screen.text[self.at..].find(words) {
                self.at += found + words.len();
                drop(screen);
                return self;
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(
                !screen.closed && !left.is_zero(),
                "`{words}` did not come; the screen shows:\n{}",
                &screen.text[self.at..]
            );
            screen = self.screen.1.wait_timeout(screen, left).expect("no poison").0;
        }
    }

    /// Waits until the words stand on the screen as it is now, wherever on it.
    pub fn sees(&mut self, words: &str) -> &mut Self {
        self.until(words, |screen| screen.contents().contains(words));
        self
    }

    /// Waits until the words are gone from the screen.
    pub fn misses(&mut self, words: &str) -> &mut Self {
        self.until(words, |screen| !screen.contents().contains(words));
        self
    }

    fn until(&self, what: &str, holds: impl Fn(&vt100::Screen) -> bool) {
        let until = Instant::now() + self.patience;
        let mut screen = self.screen.0.lock().expect("no poison");
        while !holds(screen.now.screen()) {
            let left = until.saturating_duration_since(Instant::now());
            let shown = screen.now.screen().contents();
            assert!(
                !screen.closed && !left.is_zero(),
                "`{what}` did not come or go; the screen shows:\n{shown}"
            );
            screen = self.screen.1.wait_timeout(screen, left).expect("no poison").0;
        }
    }

    /// What stands on the screen now, row by row.
    pub fn seen(&self) -> String {
        self.screen.0.lock().expect("no poison").now.screen().contents()
    }

    /// Whether a program has the screen for itself, or has hidden the cursor.
    pub fn is_taken(&self) -> bool {
        let screen = self.screen.0.lock().expect("no poison");
        screen.now.screen().alternate_screen() || screen.now.screen().hide_cursor()
    }

    /// Gives the terminal another size.
    pub fn resize(&mut self, size: (u16, u16)) -> &mut Self {
        self.screen.0.lock().expect("no poison").now.screen_mut().set_size(some(size.1), some(size.0));
        tcsetwinsize(&self.master, winsize(size)).expect("sized");
        self
    }

    /// The modes of the terminal: echo, lines, signals.
    pub fn modes(&self) -> Termios {
        tcgetattr(&self.master).expect("modes")
    }

    /// The process identifier of the program.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Types.
    pub fn send(&mut self, keys: &str) -> &mut Self {
        self.master.write_all(keys.as_bytes()).expect("typed");
        self
    }

    /// Everything shown so far.
    pub fn shown(&self) -> String {
        self.screen.0.lock().expect("no poison").text.clone()
    }

    /// Waits until the program has ended; its exit code and everything it showed.
    pub fn end(mut self) -> (i32, String) {
        (self.ended(), self.shown())
    }

    /// Waits until the program has ended; its exit code, -1 when a signal ended it.
    pub fn ended(&mut self) -> i32 {
        let until = Instant::now() + self.patience;
        let mut screen = self.screen.0.lock().expect("no poison");
        while !screen.closed {
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "the program does not end; the screen shows:\n{}", screen.text);
            screen = self.screen.1.wait_timeout(screen, left).expect("no poison").0;
        }
        drop(screen);
        let status = self.child.wait().expect("it has ended");
        status.code().unwrap_or(-1)
    }
}

/// At least one.
fn some(many: u16) -> NonZeroU16 {
    NonZeroU16::new(many).unwrap_or(NonZeroU16::MIN)
}

const fn winsize((columns, rows): (u16, u16)) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // Whoever stops expecting leaves no program behind; one that has ended already needs nothing.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
