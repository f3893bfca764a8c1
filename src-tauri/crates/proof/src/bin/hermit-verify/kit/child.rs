//! One run of somebody's program, in bounded time and with bounded output.
#![allow(
    clippy::disallowed_methods,
    reason = "a verifier that is graded is run, by the person who grades it, and a clock says when it has had its time"
)]

use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// What one run may take.
pub struct Bounds {
    pub time: Duration,
    pub bytes: u64,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this exit code.
    Code(i32),
    /// By a signal.
    Signal,
    /// It took longer than it may.
    Slow,
    /// It wrote more than it may.
    Loud,
}

/// The words of a command for one bundle and one key.
pub fn filled(command: &[String], bundle: &Path, key: &Path) -> Vec<String> {
    let (bundle, key) = (bundle.display().to_string(), key.display().to_string());
    command.iter().map(|word| word.replace("{bundle}", &bundle).replace("{key}", &key)).collect()
}

/// Runs it without a shell and without input; how it ended, and what it wrote to its standard output.
///
/// # Errors
/// When it cannot be started at all, in words.
pub fn run(words: &[String], bounds: &Bounds) -> Result<(Ended, Vec<u8>), String> {
    let Some((program, rest)) = words.split_first() else { return Err("there is no command".to_owned()) };
    let mut command = Command::new(program);
    command.args(rest).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    in_own_group(&mut command);
    let mut child = command.spawn().map_err(|e| format!("cannot start `{program}`: {e}"))?;
    let until = Instant::now() + bounds.time;
    let heard = listen(&mut child, bounds.bytes).recv_timeout(bounds.time);
    let ended = match &heard {
        Ok(said) if said.len() as u64 > bounds.bytes => Ok(Some(Ended::Loud)),
        Ok(_) => waited(&mut child, until),
        Err(_) => Ok(None),
    };
    // What it started and left behind ends with it, however it ended itself.
    end(&mut child);
    let ended = ended.map_err(|e| format!("cannot wait for `{program}`: {e}"))?.unwrap_or(Ended::Slow);
    Ok((ended, heard.unwrap_or_default()))
}

/// Hears what it writes, up to one byte more than it may: then nobody listens any more.
fn listen(child: &mut Child, bytes: u64) -> Receiver<Vec<u8>> {
    let (send, receive) = channel();
    if let Some(out) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut said = Vec::new();
            // What came before an error was said all the same. Nobody waits any more: then the words are not missed.
            let _ = out.take(bytes.saturating_add(1)).read_to_end(&mut said);
            let _ = send.send(said);
        });
    }
    receive
}

fn waited(child: &mut Child, until: Instant) -> std::io::Result<Option<Ended>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(of(status)));
        }
        if Instant::now() >= until {
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn of(status: ExitStatus) -> Ended {
    status.code().map_or(Ended::Signal, Ended::Code)
}

#[cfg(unix)]
fn in_own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0);
}

#[cfg(not(unix))]
fn in_own_group(_: &mut Command) {}

/// Ends it, and on systems with groups of processes what it started too. What is gone already needs no end.
fn end(child: &mut Child) {
    if cfg!(unix) {
        let group = format!("-{}", child.id());
        let mut kill = Command::new("kill");
        kill.args(["-KILL", "--", &group]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let _ = kill.status();
    }
    let _ = child.kill();
    let _ = child.wait();
}
