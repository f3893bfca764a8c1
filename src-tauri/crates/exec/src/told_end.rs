//! `--tells`: this process stays beside the command and tells on the standard error how it ended and what all of it used until then.
//!
//! Whoever measures a command from outside looks from time to time; what a limit of the system ends between two looks is gone by the
//! next. What is told stands in one line, the last, behind `hermit-exec: end`. The command could have written it as well, so it is
//! believed no more than the command is.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, getpid, set_child_subreaper, wait};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};
use std::time::Duration;

/// How often a full pipe is tried again, and how long is waited between.
const TRIES: u32 = 1_000;
const WAIT: Duration = Duration::from_millis(1);

/// Starts the command, waits until it has ended, tells it, and answers as it did: 128 and the number of the signal, where one ended it.
///
/// # Errors
/// What the system says, where it cannot be started or waited for.
#[allow(clippy::zombie_processes, reason = "every child is waited for, whoever made it")]
pub fn run(program: &OsStr, arguments: &[OsString]) -> io::Result<ExitCode> {
    // What outlives its own parent comes to this one, so that what it used is counted.
    set_child_subreaper(Some(getpid()))?;
    // Before it is started: where this fails, nothing was.
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    // A group of its own: what the command sends to its whole group is not for this one.
    let child = Command::new(program).args(arguments).process_group(0).spawn()?;
    // Only the command has the streams: whoever is at their other end hears at once that it has closed them.
    rustix::stdio::dup2_stdin(nothing.as_fd())?;
    rustix::stdio::dup2_stdout(nothing.as_fd())?;
    let status = end_of(Pid::from_child(&child))?;
    // The others that have ended by now.
    while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
    let code = code_of(status);
    tell(&format!("\nhermit-exec: end code={code} {}\n", used()));
    Ok(ExitCode::from(code))
}

/// Waits for the first child, and for whoever ends before it.
fn end_of(first: Pid) -> io::Result<WaitStatus> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == first => return Ok(status),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// The number by which a shell tells how something ended.
fn code_of(status: WaitStatus) -> u8 {
    let code = status.exit_status().or_else(|| status.terminating_signal().map(|signal| signal | 128));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// What everything that has ended used (of memory, what the largest of it had), how many threads there are now, and how full the home is.
fn used() -> String {
    let (mut cpu_ms, mut memory_kib) = (0, 0);
    if let Ok(children) = getrusage(UsageWho::RUSAGE_CHILDREN) {
        cpu_ms = milliseconds(children.user_time()).saturating_add(milliseconds(children.system_time()));
        memory_kib = u64::try_from(children.max_rss()).unwrap_or(0);
    }
    let mut told = format!("cpu_ms={cpu_ms} memory_kib={memory_kib} threads={}", threads());
    let home = std::env::var_os("HOME").and_then(|home| rustix::fs::statvfs(&home).ok());
    if let Some(at) = home {
        let bytes = |blocks: u64| blocks.saturating_mul(at.f_frsize);
        let names = at.f_files.saturating_sub(at.f_ffree);
        told.push_str(&format!(" total={} free={} names={names}", bytes(at.f_blocks), bytes(at.f_bfree)));
    }
    told
}

fn milliseconds(time: TimeVal) -> u64 {
    let seconds = u64::try_from(time.tv_sec()).unwrap_or(0);
    seconds.saturating_mul(1000).saturating_add(u64::try_from(time.tv_usec()).unwrap_or(0) / 1000)
}

/// Threads of every process that is seen from here, this one's among them.
fn threads() -> u64 {
    let mut sum = 0_u64;
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let is_process = entry.file_name().to_str().is_some_and(|name| name.parse::<u32>().is_ok());
        let Some(stat) = std::fs::read(entry.path().join("stat")).ok().filter(|_| is_process) else {
            continue;
        };
        sum = sum.saturating_add(threads_in(&stat));
    }
    sum
}

/// Threads of a process by its `stat`, behind the name, which may hold anything, also what is no UTF-8.
fn threads_in(stat: &[u8]) -> u64 {
    let stat = String::from_utf8_lossy(stat);
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    fields.split_whitespace().nth(17).and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Writes to the standard error, which the command may have left full, or closed to waiting.
fn tell(line: &str) {
    let (mut bytes, mut tries) = (line.as_bytes(), 0);
    while !bytes.is_empty() && tries < TRIES {
        match rustix::io::write(rustix::stdio::stderr(), bytes) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or(&[]),
            Err(Errno::AGAIN | Errno::INTR) => {
                tries += 1;
                std::thread::sleep(WAIT);
            }
            // Nobody listens any more.
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_one_line_of_numbers() {
        assert!(threads() >= 1);
        assert_eq!(threads_in(b"42 (a\xff) b) S 7 9 9 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 3 0 100"), 3);
        assert_eq!(threads_in(b"nothing"), 0);
        let told = used();
        for name in ["cpu_ms=", "memory_kib=", "threads="] {
            let number = told.split(' ').find_map(|word| word.strip_prefix(name));
            assert!(number.is_some_and(|number| number.parse::<u64>().is_ok()), "{name}: {told}");
        }
    }
}
