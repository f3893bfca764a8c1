//! How many processes a command has running at once, and how much memory they fill together.
//!
//! The system's own limit of processes does not hold for root, and counts all of a user's processes where there is no
//! namespace of users. So the command's processes are counted from outside as well, and a crowd is ended as a whole.

#[cfg(target_os = "linux")]
mod held;
#[cfg(any(target_os = "macos", test))]
mod listed;
mod looks;

pub use looks::FamilyLooks;

use std::time::{Duration, Instant};

/// How often everything is counted, however quiet it looks.
const COUNT: Duration = Duration::from_millis(500);
/// Parts of the limit by which all processes of the machine may grow before it is worth counting.
const PART: u64 = 4;

/// Counts in a row that may fail, and for how long: the whole machine may be short of something for a moment, which says nothing of
/// what is counted.
const MISSED_MAX: u32 = 3;
const MISSED_FOR: Duration = Duration::from_secs(2);

/// Why what cannot be counted is ended.
const UNCOUNTED: &str =
    "the system did not list its processes, so nothing holds it to what it may have running; it was ended";

/// What a command may have running.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Processes and threads at once.
    pub(crate) processes: u64,
    /// Bytes of memory of its own that all of them fill together.
    pub(crate) memory_bytes: u64,
}

/// Counts in a row that failed.
#[derive(Debug, Default)]
struct Missed {
    since: Option<Instant>,
    times: u32,
}

impl Missed {
    /// Whether there are too many with one that failed now.
    fn is_too_often(&mut self, now: Instant) -> bool {
        let since = *self.since.get_or_insert(now);
        self.times = self.times.saturating_add(1);
        self.times >= MISSED_MAX && now.saturating_duration_since(since) >= MISSED_FOR
    }
}

/// A command and all that came from it, counted from outside.
pub(crate) struct ProcessUse {
    first: u32,
    bounds: Bounds,
    quiet: Option<u64>,
    counted: Instant,
    missed: Missed,
}

impl ProcessUse {
    /// The processes that come from `first`, which leads a group of its own.
    pub(crate) fn of(first: u32, bounds: Bounds) -> Self {
        Self { first, bounds, quiet: machine(), counted: Instant::now(), missed: Missed::default() }
    }

    /// Why it has to be ended, if it has.
    pub(crate) fn too_large(&mut self) -> Option<String> {
        let grown = machine().zip(self.quiet).map_or(0, |(now, quiet)| now.saturating_sub(quiet));
        if grown <= self.bounds.processes / PART && self.counted.elapsed() < COUNT {
            return None;
        }
        self.counted = Instant::now();
        self.beyond(family(self.first), self.counted)
    }

    /// Why what was counted has to be ended; what again and again cannot be counted is held to no bound.
    fn beyond(&mut self, found: Option<FamilyUse>, now: Instant) -> Option<String> {
        let Some(found) = found else {
            return self.missed.is_too_often(now).then(|| UNCOUNTED.to_owned());
        };
        self.missed = Missed::default();
        if found.threads > self.bounds.processes {
            return Some(format!(
                "it had more than the {} processes that one command may have at once, and was ended",
                self.bounds.processes
            ));
        }
        if found.bytes > self.bounds.memory_bytes {
            return Some(format!(
                "its processes filled more than the {} bytes of memory that one command may fill, and were ended",
                self.bounds.memory_bytes
            ));
        }
        None
    }
}

/// What a family of processes uses.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct FamilyUse {
    /// Threads, of all of them.
    pub threads: u64,
    /// Bytes of memory that are of no file; where it is looked at under bounds, with what the system keeps for it.
    pub bytes: u64,
    /// Milliseconds of processors, with those of members that have ended and were waited for.
    pub cpu_ms: u64,
    /// The first child of the first one: behind namespaces, that with which they end.
    pub child: Option<u32>,
}

/// Milliseconds of one tick, in which the system tells programs how long a process ran.
#[cfg(target_os = "linux")]
const TICK_MS: u64 = 10;

/// Threads on the whole machine; none where it does not say.
#[cfg(target_os = "linux")]
fn machine() -> Option<u64> {
    let load = std::fs::read_to_string("/proc/loadavg").ok()?;
    let threads = load.split_whitespace().nth(3)?.split_once('/')?.1.parse().ok();
    threads.filter(|threads| *threads > 0)
}

/// Bytes of memory that the whole machine has left to give; none where it does not say.
#[cfg(target_os = "linux")]
fn free_bytes() -> Option<u64> {
    bytes_at(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

#[cfg(not(target_os = "linux"))]
fn machine() -> Option<u64> {
    None
}

#[cfg(not(target_os = "linux"))]
fn free_bytes() -> Option<u64> {
    None
}

#[cfg(target_os = "macos")]
use listed::family;

/// Nothing is counted where a job of the system holds the bounds.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
#[allow(clippy::unnecessary_wraps, reason = "other systems may fail to list")]
fn family(_: u32) -> Option<FamilyUse> {
    Some(FamilyUse::default())
}

#[cfg(not(target_os = "linux"))]
fn whole_family(first: u32) -> Option<FamilyUse> {
    family(first)
}

/// Everything that descends from a process or is of its group; none where the system does not list its processes.
#[cfg(target_os = "linux")]
fn family(first: u32) -> Option<FamilyUse> {
    members(first).map(|(_, seen)| seen)
}

/// The same, with the memory that the system keeps for it and no process shows as its own.
#[cfg(target_os = "linux")]
fn whole_family(first: u32) -> Option<FamilyUse> {
    let (pids, seen) = members(first)?;
    Some(FamilyUse { bytes: seen.bytes.saturating_add(held::bytes(&pids, seen.child)), ..seen })
}

/// Its processes, and what they use.
#[cfg(target_os = "linux")]
fn members(first: u32) -> Option<(std::collections::BTreeSet<u32>, FamilyUse)> {
    let mut known: Vec<Seen> = Vec::new();
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        known.extend(
            std::fs::read(entry.path().join("stat"))
                .ok()
                .and_then(|stat| seen(pid, &String::from_utf8_lossy(&stat))),
        );
    }
    // At least this process is there: nothing of the list could be read.
    if known.is_empty() {
        return None;
    }
    let mut of_it: std::collections::BTreeSet<u32> =
        known.iter().filter(|p| p.pid == first || p.group == first).map(|p| p.pid).collect();
    let mut grown = true;
    while grown {
        let before = of_it.len();
        of_it.extend(known.iter().filter(|p| of_it.contains(&p.parent)).map(|p| p.pid).collect::<Vec<_>>());
        grown = of_it.len() > before;
    }
    let child = known.iter().filter(|p| p.parent == first).map(|p| p.pid).min();
    let none = FamilyUse { child, ..FamilyUse::default() };
    let used = known.iter().filter(|p| of_it.contains(&p.pid)).fold(none, |used, p| FamilyUse {
        threads: used.threads.saturating_add(p.threads),
        bytes: used.bytes.saturating_add(own_bytes(p.pid)),
        cpu_ms: used.cpu_ms.saturating_add(p.ticks.saturating_mul(TICK_MS)),
        ..used
    });
    Some((of_it, used))
}

/// One process as the system tells it.
#[cfg(target_os = "linux")]
struct Seen {
    pid: u32,
    parent: u32,
    group: u32,
    threads: u64,
    ticks: u64,
}

/// Fields of `stat` behind the name, which may hold anything, also what is no UTF-8: by that nobody hides.
#[cfg(target_os = "linux")]
fn seen(pid: u32, stat: &str) -> Option<Seen> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let small = |at: usize| number(at).and_then(|n| u32::try_from(n).ok());
    // Its own in both modes, and those of its children that have ended.
    let ticks = (11..=14).map(|at| number(at).unwrap_or(0)).fold(0, u64::saturating_add);
    Some(Seen { pid, parent: small(1)?, group: small(2)?, threads: number(17)?, ticks })
}

/// Bytes of memory that are of no file on a disk, also where they were put out of memory, and the tables by which they are found.
#[cfg(target_os = "linux")]
fn own_bytes(pid: u32) -> u64 {
    let Ok(status) = std::fs::read(format!("/proc/{pid}/status")) else { return 0 };
    let status = String::from_utf8_lossy(&status);
    let bytes = |name: &str| bytes_at(&status, name).unwrap_or(0);
    ["RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:"].map(bytes).into_iter().fold(0, u64::saturating_add)
}

/// What the line of a name says in KiB, in bytes.
#[cfg(target_os = "linux")]
fn bytes_at(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_whatever_its_name_is() {
        let stat = "42 (a) b (c) S 7 9 9 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 3 0 100 1000 10";
        let process = seen(42, stat).unwrap();
        assert_eq!((process.parent, process.group, process.threads, process.ticks), (7, 9, 3, 0));
        assert!(seen(1, "nothing").is_none());
    }

    #[test]
    fn a_process_whose_name_is_no_text_is_counted_with_what_it_fills() {
        use std::os::unix::ffi::OsStrExt as _;
        use std::os::unix::process::CommandExt as _;
        let folder = tempfile::TempDir::new().unwrap();
        // The system names a process after the last part of the path by which it is begun.
        let program = folder.path().join(std::ffi::OsStr::from_bytes(b"a\xff) b"));
        std::os::unix::fs::symlink("/bin/cat", &program).unwrap();
        let waits = std::process::Stdio::piped();
        let mut child = std::process::Command::new(&program).arg0("cat").stdin(waits).spawn().unwrap();
        let used = family(child.id());
        child.kill().unwrap();
        child.wait().unwrap();
        let used = used.unwrap();
        assert!(used.threads == 1 && used.bytes > 0, "{used:?}");
    }

    #[test]
    fn this_process_is_of_its_own_family_and_fills_memory() {
        let used = family(std::process::id()).unwrap();
        assert!(used.threads >= 1 && used.bytes > 0, "{used:?}");
        assert_eq!(family(u32::MAX), Some(FamilyUse::default()));
        let bounds = |processes| Bounds { processes, memory_bytes: u64::MAX };
        let mut crowd = ProcessUse::of(std::process::id(), bounds(0));
        crowd.quiet = Some(0);
        assert!(crowd.too_large().unwrap().contains("processes"));
        let mut crowd = ProcessUse::of(std::process::id(), bounds(1_000_000));
        crowd.quiet = Some(0);
        assert_eq!(crowd.too_large(), None);
    }

    #[test]
    fn what_again_and_again_cannot_be_counted_is_ended_and_not_taken_for_nothing() {
        let bounds = Bounds { processes: u64::MAX, memory_bytes: u64::MAX };
        let mut crowd = ProcessUse::of(std::process::id(), bounds);
        let now = Instant::now();
        let late = now.checked_add(MISSED_FOR).unwrap();
        for at in [now, late] {
            assert_eq!(crowd.beyond(None, at), None, "once or twice says nothing of what is counted");
        }
        assert_eq!(crowd.beyond(Some(FamilyUse::default()), late), None);
        for _ in 0..=MISSED_MAX {
            assert_eq!(crowd.beyond(None, now), None, "a moment says nothing either");
        }
        assert!(crowd.beyond(None, late).unwrap().contains("did not list its processes"));
    }
}
