//! One host, and whoever attaches to it: real programs, real terminals, real kills.

use super::stage::{Stage, say_yes};
use super::tree;
use conforms::conforms;
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testkit::pty::Pty;
use testkit::{Killed, Lines};

/// How long anything expected may take on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Files that a host with [`WAITS`] moves.
pub const MOVED: usize = 20;

/// Has a host stand still before it moves the next file, so that it is killed in the middle, however busy the machine is.
pub const WAITS: (&str, &str) = ("HERMIT_FAULT", "item.move:before:wait:21");

/// `hermit serve`, which is killed when the story is over.
pub struct Served {
    child: Killed,
    told: Value,
}

impl Served {
    pub fn by(stage: &Stage) -> Self {
        Self::told(stage, &[])
    }

    /// The same with more in its environment.
    fn told(stage: &Stage, more: &[(&str, &str)]) -> Self {
        let mut child = stage
            .command(&["--json", "serve"])
            .envs(more.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut lines = Lines::of(child.stdout.take().expect("a pipe"));
        // Killed also where it says nothing.
        let mut served = Self { child: Killed(child), told: Value::Null };
        let mut text = String::new();
        served.told = loop {
            let line = lines.next().unwrap_or_else(|| panic!("it ended: {text}"));
            text.push_str(&line);
            if let Ok(told) = serde_json::from_str(&text) {
                break told;
            }
        };
        served
    }

    /// The process that holds the store: what was started may only have started it.
    pub fn pid(&self) -> String {
        self.told["pid"].as_u64().expect("a process").to_string()
    }

    /// Where it is reached: name and port.
    pub fn address(&self) -> String {
        self.told["address"].as_str().expect("an address").to_owned()
    }

    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.pid()]).status().expect("kill");
        assert!(sent.success());
    }

    /// A request of a program that has the token of the host: status and answer.
    pub fn ask(&self, stage: &Stage, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let token = std::fs::read_to_string(stage.home().join("gateway.token")).expect("a token");
        self.ask_with(&format!("Authorization: Bearer {}\r\n", token.trim()), (method, path), body)
    }

    /// The same with other header lines.
    pub fn ask_with(&self, lines: &str, (method, path): (&str, &str), body: &Value) -> (u16, Value) {
        let (status, _, text) = self.exchange(lines, (method, path), body);
        (status, serde_json::from_str(&text).unwrap_or_else(|e| panic!("no JSON: {e}: {text}")))
    }

    /// The same: status, head and body of the answer. Null is no body.
    pub fn exchange(&self, lines: &str, (method, path): (&str, &str), body: &Value) -> (u16, String, String) {
        let address = self.told["address"].as_str().expect("an address");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{lines}Content-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        )
        .expect("it is sent");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("an answer");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, head.to_owned(), body.to_owned())
    }

    /// Waits for its end; its exit code.
    pub fn end(mut self) -> Option<i32> {
        testkit::ends(&mut self.child).code()
    }
}

fn files(stage: &Stage, count: usize) {
    for n in 0..count {
        std::fs::write(stage.work().join(format!("{n:03}.txt")), format!("number {n}\n")).expect("a file");
    }
}

pub fn lying(stage: &Stage, folder: &str) -> usize {
    let entries = std::fs::read_dir(stage.work().join(folder)).into_iter().flatten().flatten();
    entries.filter(|entry| entry.path().is_file()).count()
}

/// Waits until a host with [`WAITS`] has moved its part of 150 files.
fn stands_still(stage: &Stage, pty: &Pty) {
    let until = Instant::now() + PATIENCE;
    while lying(stage, "Documents") < MOVED {
        assert!(Instant::now() < until, "it never began: {}", pty.shown());
        std::thread::yield_now();
    }
    assert_eq!((lying(stage, "Documents"), lying(stage, "")), (MOVED, 150 - MOVED), "it stands still");
}

fn status(stage: &Stage, task: &str) -> String {
    let shown = stage.hermit(&["task", "show", task]).ends(0).json();
    shown["row"]["status"].as_str().expect("a word").to_owned()
}

#[track_caller]
fn comes_to(stage: &Stage, task: &str, wanted: &str) {
    let until = Instant::now() + PATIENCE;
    while status(stage, task) != wanted {
        assert!(Instant::now() < until, "it is {}", status(stage, task));
    }
}

#[test]
fn a_task_is_given_and_allowed_through_a_host_and_the_host_ends_when_told_to() {
    let stage = Stage::new();
    files(&stage, 3);
    let host = Served::by(&stage);
    // Given from a script: the host works, the script is told what is waited for.
    let (task, approval) = stage.asks("tidy");
    assert_eq!(
        stage.hermit(&["serve"]).ends(0).json()["pid"].to_string(),
        host.pid(),
        "the same host answers"
    );
    // Allowed by a person at a terminal of their own: only the signed envelope travels.
    let (code, screen) = stage.approve(&approval);
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("Done."), "{screen}");
    assert_eq!(lying(&stage, "Documents"), 3);
    let events = stage.events(&task);
    let granted = events.iter().find(|e| e["event_type"] == "approval.granted").expect("a yes");
    assert_eq!(granted["body"]["surface"], "terminal");
    host.signal("-TERM");
    assert_eq!(host.end(), Some(0));
    assert!(!stage.home().join("gateway.token").exists());
    let lock = std::fs::read_to_string(stage.home().join("ledger.lock")).expect("a file");
    assert!(!lock.contains("address"), "{lock}");
    stage.is_sound();
    stage.prove(&task);
}

#[conforms("RA-4.4a-3")]
#[test]
fn a_terminal_that_dies_while_it_follows_leaves_the_work_of_the_host_untouched() {
    let stage = Stage::new();
    files(&stage, 120);
    let host = Served::by(&stage);
    let (task, approval) = stage.asks("tidy");
    let pty = stage.allow(&approval, &[]);
    let until = Instant::now() + PATIENCE;
    while lying(&stage, "Documents") == 0 {
        assert!(Instant::now() < until, "it never began: {}", pty.shown());
    }
    // SIGKILL for whatever runs on that terminal.
    drop(pty);
    comes_to(&stage, &task, "completed");
    assert_eq!(lying(&stage, "Documents"), 120);
    assert_eq!(stage.count(&task, "effect.dispatched"), stage.count(&task, "effect.observed"));
    let events = stage.events(&task);
    assert!(!events.iter().any(|e| e["body"]["recovered"] == true), "nobody had to recover anything");
    host.signal("-TERM");
    assert_eq!(host.end(), Some(0));
    stage.is_sound();
}

#[test]
fn a_host_killed_in_mid_change_is_followed_by_the_next_command_and_the_work_is_done_once() {
    let stage = Stage::new();
    files(&stage, 150);
    let before = tree::of(&stage.work());
    let host = Served::told(&stage, &[WAITS]);
    let (task, approval) = stage.asks("tidy");
    let mut pty = stage.terminal(&["approvals", "approve", &approval], &[]);
    let shown = stage.hermit(&["approvals", "show", &approval]).ends(0).json();
    say_yes(&mut pty, shown["row"]["risk"].as_str().expect("a risk"));
    stands_still(&stage, &pty);
    host.signal("-KILL");
    drop(host);
    // Whoever had attached takes its place by itself, or the next command does.
    drop(pty);
    stage.hermit(&["resume"]);
    comes_to(&stage, &task, "completed");
    assert_eq!((lying(&stage, "Documents"), lying(&stage, "")), (150, 0));
    assert_eq!(tree::contents(&before), tree::contents(&tree::of(&stage.work())));
    assert_eq!(stage.count(&task, "approval.requested"), 1, "nobody is asked twice");
    assert_eq!(stage.count(&task, "effect.dispatched"), stage.count(&task, "effect.observed"));
    stage.is_sound();
}

#[test]
fn a_follower_takes_the_place_of_its_host_and_finishes_the_work() {
    let stage = Stage::new();
    files(&stage, 150);
    let host = Served::told(&stage, &[WAITS]);
    let (task, approval) = stage.asks("tidy");
    let pty = stage.allow(&approval, &[]);
    stands_still(&stage, &pty);
    host.signal("-KILL");
    drop(host);
    let (code, screen) = pty.end();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("Done."), "{screen}");
    assert_eq!((lying(&stage, "Documents"), lying(&stage, "")), (150, 0));
    assert_eq!(stage.count(&task, "approval.requested"), 1);
    stage.is_sound();
}

#[test]
fn while_a_run_waits_at_one_terminal_another_one_allows_it() {
    let stage = Stage::new();
    files(&stage, 3);
    let work = stage.work();
    let words = ["run", "--playbook", "tidy", "--workspace", work.to_str().expect("UTF-8")];
    let mut first = stage.terminal(&words, &[]);
    first.expect("Approve?");
    let waiting = stage.waiting();
    let approval = waiting[0]["approval_id"].as_str().expect("an approval");
    let (code, screen) = stage.approve(approval);
    assert_eq!(code, 0, "{screen}");
    assert_eq!(lying(&stage, "Documents"), 3);
    // The first one's answer comes too late, changes nothing, and it tells how it came out.
    first.send("deny\r").expect("Reason (optional").send("\r");
    let (code, screen) = first.end();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("your answer changed nothing") && screen.contains("Done."), "{screen}");
    stage.is_sound();
}
