//! Lines of figures, and the ways to get one.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Where figures are shown.
pub struct Board(());

impl Board {
    /// Says what machine this is.
    pub fn open() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = info.lines().find_map(|l| l.strip_prefix("model name")).unwrap_or(": unknown");
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        println!("{} {}, {cores} cores,{model}", std::env::consts::OS, std::env::consts::ARCH);
        println!("load before: {}", load.trim());
        Self(())
    }

    /// A figure without a bound.
    pub fn figure(&self, what: &str, figure: &str) {
        println!("  {what:<58} {figure}");
    }

    /// A figure that must be at least `bound`.
    pub fn at_least(&self, what: &str, figure: f64, bound: f64, detail: &str) {
        self.judged(what, figure, figure >= bound, &format!(">= {bound}"), detail);
    }

    /// A figure that must be at most `bound`.
    pub fn at_most(&self, what: &str, figure: f64, bound: f64, detail: &str) {
        self.judged(what, figure, figure <= bound, &format!("<= {bound}"), detail);
    }

    fn judged(&self, what: &str, figure: f64, holds: bool, bound: &str, detail: &str) {
        let verdict = if holds { "holds" } else { "MISSED" };
        println!("  {what:<58} {figure:>9.2}  {bound:<8} {verdict:<7} {detail}");
    }
}

/// How long it took.
pub fn timed<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let began = Instant::now();
    let made = run();
    (began.elapsed(), made)
}

/// Seconds at a share of the sorted times: 0.5 is the median.
pub fn at(times: &mut [Duration], share: f64) -> f64 {
    times.sort_unstable();
    let last = times.len().saturating_sub(1);
    let n = (last as f64 * share).round() as usize;
    times.get(n).map_or(0.0, Duration::as_secs_f64)
}

/// Milliseconds in words.
pub fn ms(seconds: f64) -> String {
    format!("{:.2} ms", seconds * 1_000.0)
}

/// How often this program syncs when it runs with these words, by strace; nothing where there is none.
pub fn syncs(words: &[&str]) -> Option<u64> {
    let folder = tempfile::tempdir().ok()?;
    let trace = folder.path().join("trace");
    let me = std::env::current_exe().ok()?;
    let run = Command::new("strace")
        .args(["-f", "-qq", "-e", "trace=fsync,fdatasync,sync_file_range,msync", "-o"])
        .arg(&trace)
        .arg(me)
        .args(words)
        .output()
        .ok()?;
    if !run.status.success() {
        return None;
    }
    let lines = std::fs::read_to_string(trace).ok()?;
    Some(lines.lines().filter(|line| line.contains("sync(") && !line.contains("resumed")).count() as u64)
}

/// A program of ours beside this one, if it was built.
pub fn program(name: &str) -> Option<std::path::PathBuf> {
    let me = std::env::current_exe().ok()?;
    let folder = me.parent().and_then(Path::parent)?;
    let path = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    path.exists().then_some(path)
}

/// What this program says when it runs with these words, if it ends well.
pub fn again(words: &[&str]) -> Option<String> {
    let run = Command::new(std::env::current_exe().ok()?).args(words).output().ok()?;
    if !run.status.success() {
        eprint!("{}", String::from_utf8_lossy(&run.stderr));
        return None;
    }
    String::from_utf8(run.stdout).ok()
}

/// Megabytes of this process by one line of its status, where the system tells: `VmRSS` now, `VmHWM` at most.
pub fn memory(line: &str) -> Option<f64> {
    memory_of("self", line)
}

/// The same of another process, by its number.
pub fn memory_of(process: &str, line: &str) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let found = status.lines().find_map(|l| l.strip_prefix(line)?.strip_prefix(':'))?;
    let kilobytes: f64 = found.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes / 1_024.0)
}
