//! A program of the system, asked within a time: what it said, or that it is not there.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longer than a service may take to end.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long a program may take that only says how something stands.
const SOON: Duration = Duration::from_secs(5);
/// How often it is looked at whether it has ended.
const LOOK: Duration = Duration::from_millis(20);
/// Bytes of what it says that are read.
const SAID_MAX: u64 = 16 * 1024;

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asked {
    /// It did what it was asked, and said this.
    Done(String),
    /// It did not, and said why.
    Failed(String),
    /// It is not on this machine, cannot be started, or does not say in time how something stands.
    NotHere(String),
}

/// Asks a program that lies where the system looks for programs.
pub(super) fn ask(program: &str, words: &[&str]) -> Asked {
    asked(program, words, PATIENCE).unwrap_or_else(|| Asked::Failed(late(program, words, PATIENCE)))
}

/// Asks how something stands: whoever looks does not wait for a program that is stuck.
pub(crate) fn ask_soon(program: &str, words: &[&str]) -> Asked {
    asked(program, words, SOON).unwrap_or_else(|| Asked::NotHere(late(program, words, SOON)))
}

fn late(program: &str, words: &[&str], patience: Duration) -> String {
    format!("`{program} {}` did not end in {}", words.join(" "), model::lasting(patience))
}

/// What came of it; none where it did not end in time, and was ended.
fn asked(program: &str, words: &[&str], patience: Duration) -> Option<Asked> {
    let mut command = Command::new(program);
    command.args(words).env("LC_ALL", "C").env("SYSTEMD_PAGER", "");
    let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => return Some(Asked::NotHere(format!("`{program}` cannot be started: {error}"))),
    };
    let (out, err) = (child.stdout.take().map(hear), child.stderr.take().map(hear));
    let ended = ends(&mut child, patience)?;
    let said = |heard: Option<Heard>| heard.and_then(|heard| heard.join().ok()).unwrap_or_default();
    Some(match ended {
        true => Asked::Done(said(out)),
        false => {
            let why = [said(err), said(out)].into_iter().find(|text| !text.is_empty());
            Asked::Failed(why.unwrap_or_else(|| format!("`{program}` failed without a word")))
        }
    })
}

type Heard = std::thread::JoinHandle<String>;

/// Reads what is said until its end; what is more than is kept is read and dropped, so that nobody waits for room.
fn hear(mut from: impl std::io::Read + Send + 'static) -> Heard {
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        let _ = from.by_ref().take(SAID_MAX).read_to_end(&mut kept);
        let _ = std::io::copy(&mut from, &mut std::io::sink());
        String::from_utf8_lossy(&kept).trim().to_owned()
    })
}

/// Whether it ended well; none where it did not end in time, and was ended.
fn ends(child: &mut Child, patience: Duration) -> Option<bool> {
    let until = Instant::now() + patience;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) if Instant::now() < until => std::thread::sleep(LOOK),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}
