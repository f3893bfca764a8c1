//! A host that nobody talks to, seen from outside: when it rests, what it keeps in memory, how long it runs, how often it wakes.

use crate::board::memory_of;
use crate::journeys::stage::Stage;
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use testkit::{Killed, Lines};

/// For so long an idle host is watched.
pub const IDLE: Duration = Duration::from_secs(30);
/// A host that has done next to nothing for so long rests.
const REST: Duration = Duration::from_secs(2);
/// Processor time that is next to nothing in that time, in milliseconds.
const REST_MS: f64 = 10.0;
/// A host that does not rest by then never does.
const PATIENCE: Duration = Duration::from_secs(900);
/// The thread that sleeps until something is due.
const CLOCK: &str = "clock";

/// `hermit serve`, which is killed where it is not ended.
pub struct Host {
    child: Killed,
    /// The process that holds the store.
    pub pid: u32,
    /// When it was started.
    pub begun: Instant,
}

impl Host {
    /// Of the store of a stage, when it says that it serves.
    pub fn of(stage: &Stage) -> Self {
        let begun = Instant::now();
        let mut serve = stage.command(&["--json", "serve"]);
        let mut child = serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let mut lines = Lines::of(child.stdout.take().expect("a pipe"));
        let mut host = Self { child: Killed(child), pid: 0, begun };
        let mut text = String::new();
        while host.pid == 0 {
            let line = lines.next().unwrap_or_else(|| panic!("it ended: {text}"));
            text.push_str(&line);
            let told: Value = serde_json::from_str(&text).unwrap_or_default();
            host.pid = told["pid"].as_u64().map_or(0, |pid| u32::try_from(pid).expect("a process"));
        }
        host
    }

    /// Waits until it rests; how long after its start that was.
    pub fn rests(&self) -> Duration {
        let (mut since, mut ran) = (Instant::now(), self.ran_ms());
        loop {
            std::thread::sleep(REST / 20);
            let now = self.ran_ms();
            if now - ran > REST_MS {
                (since, ran) = (Instant::now(), now);
            } else if since.elapsed() >= REST {
                return since.duration_since(self.begun);
            }
            assert!(self.begun.elapsed() < PATIENCE, "the host never rests");
        }
    }

    fn ran_ms(&self) -> f64 {
        threads(self.pid).values().map(|thread| thread.ran_ms).sum()
    }

    /// Folders that it watches, where the system tells.
    pub fn watches(&self) -> Option<usize> {
        let open = std::fs::read_dir(format!("/proc/{}/fdinfo", self.pid)).ok()?;
        let said = open.flatten().map(|file| std::fs::read_to_string(file.path()).unwrap_or_default());
        Some(said.map(|said| said.lines().filter(|line| line.starts_with("inotify wd:")).count()).sum())
    }

    /// What it costs while nobody wants anything of it.
    pub fn idles(&self) -> Idle {
        let before = threads(self.pid);
        std::thread::sleep(IDLE);
        let after = threads(self.pid);
        let megabytes = |line| memory_of(&self.pid.to_string(), line).unwrap_or(f64::NAN);
        Idle {
            megabytes: megabytes("VmRSS"),
            most: megabytes("VmHWM"),
            ran_ms: since(&before, &after, |thread| thread.ran_ms, None),
            clock_woke: since(&before, &after, |thread| thread.woke, Some(CLOCK)),
            woke: since(&before, &after, |thread| thread.woke, None),
        }
    }

    /// Ends it, as a person would.
    pub fn ends(mut self) {
        let _ = Command::new("kill").arg(self.pid.to_string()).status();
        testkit::ends(&mut self.child);
    }
}

/// What an idle host costs.
pub struct Idle {
    /// Resident now.
    pub megabytes: f64,
    /// Resident at most so far.
    pub most: f64,
    /// Processor time in [`IDLE`], in milliseconds.
    pub ran_ms: f64,
    /// How often its clock woke.
    pub clock_woke: f64,
    /// How often any of its threads woke.
    pub woke: f64,
}

/// A thread as the system tells of it.
struct Thread {
    name: String,
    /// Processor time so far, in milliseconds.
    ran_ms: f64,
    /// How often it has waited of its own accord, and so was woken.
    woke: f64,
}

/// Threads by their number.
type Threads = BTreeMap<String, Thread>;

/// What was added meanwhile, of all threads or of those with this name.
fn since(before: &Threads, after: &Threads, of: fn(&Thread) -> f64, name: Option<&str>) -> f64 {
    let meant = after.iter().filter(|(_, thread)| name.is_none_or(|name| thread.name == name));
    meant.map(|(id, thread)| of(thread) - before.get(id).map_or(0.0, of)).sum()
}

/// The threads of a process that live.
fn threads(pid: u32) -> Threads {
    let all = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let told = |entry: std::fs::DirEntry| {
        let read = |file: &str| std::fs::read_to_string(entry.path().join(file)).unwrap_or_default();
        let (times, status) = (read("schedstat"), read("status"));
        let ran = times.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok());
        let woke = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        let thread = Thread {
            name: read("comm").trim().to_owned(),
            ran_ms: ran.unwrap_or(f64::NAN) / 1e6,
            woke: woke.and_then(|woke| woke.trim().parse().ok()).unwrap_or(f64::NAN),
        };
        (entry.file_name().to_string_lossy().into_owned(), thread)
    };
    // One that ended meanwhile has no name any more.
    all.map(told).filter(|(_, thread)| !thread.name.is_empty()).collect()
}
