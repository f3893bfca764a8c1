//! Programs that a guest has run for it: inside the same sandbox, ended with its turn, the last of their output kept.

use super::Event;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};

/// Terminals of one turn at once.
const TERMINALS_MAX: usize = 32;
/// Bytes that are kept of one.
const OUTPUT_BYTES_MAX: usize = 1024 * 1024;

/// The last of what a program printed.
struct Kept {
    bytes: VecDeque<u8>,
    most: usize,
    cut: bool,
}

impl Kept {
    fn take(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        let over = self.bytes.len().saturating_sub(self.most);
        self.cut |= over > 0;
        self.bytes.drain(..over);
    }

    /// As text, from the first whole letter on.
    fn text(&self) -> String {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        let part = |byte: &&u8| self.cut && **byte & 0b1100_0000 == 0b1000_0000;
        let from = bytes.iter().take(3).take_while(part).count();
        String::from_utf8_lossy(bytes.get(from..).unwrap_or(&[])).into_owned()
    }
}

struct Terminal {
    group: Option<Pid>,
    kept: Arc<Mutex<Kept>>,
    ended: Option<ExitStatus>,
    /// Who waits for its end, by the id of what they asked.
    waits: Vec<Value>,
}

/// All of a turn.
#[derive(Default)]
pub struct Terminals {
    alive: BTreeMap<String, Terminal>,
    began: usize,
}

impl Terminals {
    /// Starts a program; its name here.
    ///
    /// # Errors
    /// In words.
    pub fn create(
        &mut self,
        root: &Path,
        params: &Value,
        heard: &SyncSender<Event>,
    ) -> Result<(String, String), String> {
        if self.alive.len() >= TERMINALS_MAX {
            return Err(format!("{TERMINALS_MAX} terminals are open; release one first"));
        }
        let text = |name: &str| params.get(name).and_then(Value::as_str);
        let line = text("command").filter(|line| !line.trim().is_empty()).ok_or("there is no `command`")?;
        let list = |name: &str| params.get(name).and_then(Value::as_array).into_iter().flatten();
        let words: Vec<&str> = list("args").filter_map(Value::as_str).collect();
        let cwd = text("cwd").map_or_else(|| root.to_owned(), PathBuf::from);
        if !cwd.is_absolute() || !cwd.is_dir() {
            return Err(format!("`{}` is no folder to begin in", cwd.display()));
        }
        // Some name a program and its words, others say one line as a shell reads it.
        let mut command = match words.as_slice() {
            [] => {
                let mut command = Command::new("/bin/sh");
                command.arg("-c").arg(line);
                command
            }
            words => {
                let mut command = Command::new(line);
                command.args(words);
                command
            }
        };
        for one in list("env") {
            let member = |name: &str| one.get(name).and_then(Value::as_str);
            if let (Some(name), Some(value)) = (member("name"), member("value"))
                && !name.is_empty()
                && !name.contains(['=', '\0'])
                && !value.contains('\0')
            {
                command.env(name, value);
            }
        }
        command
            .current_dir(cwd)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let limit = params.get("outputByteLimit").and_then(Value::as_u64);
        let most = limit.map_or(OUTPUT_BYTES_MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let id = self.begin(command, most.min(OUTPUT_BYTES_MAX), heard)?;
        Ok((id, std::iter::once(line).chain(words).collect::<Vec<_>>().join(" ")))
    }

    fn begin(
        &mut self,
        mut command: Command,
        most: usize,
        heard: &SyncSender<Event>,
    ) -> Result<String, String> {
        let mut child = command.spawn().map_err(|e| format!("it could not be started: {e}"))?;
        self.began = self.began.saturating_add(1);
        let id = format!("terminal-{}", self.began);
        let kept = Arc::new(Mutex::new(Kept { bytes: VecDeque::new(), most, cut: false }));
        let readers = [child.stdout.take().map(reads(&kept)), child.stderr.take().map(reads_err(&kept))];
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let (heard, named) = (heard.clone(), id.clone());
        std::thread::spawn(move || {
            let status = child.wait().ok();
            // What it printed last is there before its end is told; whoever holds its pipes open is not waited for.
            for reader in readers.into_iter().flatten() {
                let end = std::time::Instant::now() + std::time::Duration::from_millis(500);
                while !reader.is_finished() && std::time::Instant::now() < end {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
            }
            let _ = heard.send(Event::Ended(named, status));
        });
        self.alive.insert(id.clone(), Terminal { group, kept, ended: None, waits: Vec::new() });
        Ok(id)
    }

    /// Takes the end of a program; whom to tell, and what.
    pub fn ended(&mut self, id: &str, status: Option<ExitStatus>) -> (Vec<Value>, Value) {
        let Some(terminal) = self.alive.get_mut(id) else { return (Vec::new(), Value::Null) };
        terminal.ended = Some(status.unwrap_or_else(|| ExitStatus::from_raw(Signal::KILL.as_raw())));
        (std::mem::take(&mut terminal.waits), terminal.ended.map(exit).unwrap_or_default())
    }

    /// What it has printed, and whether it has ended.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn output(&self, params: &Value) -> Result<Value, String> {
        let terminal = self.alive.get(id_of(params)?).ok_or_else(gone)?;
        let kept = terminal.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut said = json!({ "output": kept.text(), "truncated": kept.cut });
        if let (Some(said), Some(ended)) = (said.as_object_mut(), terminal.ended) {
            said.insert("exitStatus".to_owned(), exit(ended));
        }
        Ok(said)
    }

    /// How it ended; none when it is at work, and whoever asked hears it later.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn wait(&mut self, params: &Value, id: &Value) -> Result<Option<Value>, String> {
        let terminal = self.alive.get_mut(id_of(params)?).ok_or_else(gone)?;
        if terminal.ended.is_none() {
            terminal.waits.push(id.clone());
        }
        Ok(terminal.ended.map(exit))
    }

    /// Ends it; what it printed is still there.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn kill(&self, params: &Value) -> Result<(), String> {
        self.alive.get(id_of(params)?).ok_or_else(gone).map(end)
    }

    /// Ends and forgets it; who still waits for it.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn release(&mut self, params: &Value) -> Result<Vec<Value>, String> {
        let terminal = self.alive.remove(id_of(params)?).ok_or_else(gone)?;
        end(&terminal);
        Ok(terminal.waits)
    }

    /// Ends all of them.
    pub fn end_all(&self) {
        self.alive.values().for_each(end);
    }
}

fn end(terminal: &Terminal) {
    if let (Some(group), None) = (terminal.group, terminal.ended) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn exit(status: ExitStatus) -> Value {
    json!({ "exitCode": status.code(), "signal": status.signal().map(|signal| signal.to_string()) })
}

fn id_of(params: &Value) -> Result<&str, String> {
    params.get("terminalId").and_then(Value::as_str).ok_or_else(|| "there is no `terminalId`".to_owned())
}

fn gone() -> String {
    "there is no such terminal".to_owned()
}

type Reader = std::thread::JoinHandle<()>;

fn reads(kept: &Arc<Mutex<Kept>>) -> impl FnOnce(std::process::ChildStdout) -> Reader {
    let kept = Arc::clone(kept);
    move |pipe| std::thread::spawn(move || read(pipe, &kept))
}

fn reads_err(kept: &Arc<Mutex<Kept>>) -> impl FnOnce(std::process::ChildStderr) -> Reader {
    let kept = Arc::clone(kept);
    move |pipe| std::thread::spawn(move || read(pipe, &kept))
}

fn read(mut pipe: impl Read, kept: &Mutex<Kept>) {
    let mut piece = vec![0_u8; 16 * 1024];
    while let Ok(read @ 1..) = pipe.read(&mut piece) {
        kept.lock().unwrap_or_else(PoisonError::into_inner).take(piece.get(..read).unwrap_or(&[]));
    }
}

#[cfg(test)]
mod tests {
    use super::Kept;
    use std::collections::VecDeque;

    #[test]
    fn the_last_of_what_a_program_printed_is_kept_from_a_whole_letter_on() {
        let mut kept = Kept { bytes: VecDeque::new(), most: 5, cut: false };
        kept.take("abc".as_bytes());
        assert_eq!((kept.text().as_str(), kept.cut), ("abc", false));
        kept.take("dé€".as_bytes());
        assert_eq!((kept.text().as_str(), kept.cut), ("é€", true));
        kept.take("12".as_bytes());
        assert_eq!(kept.text(), "€12");
        kept.take("3".as_bytes());
        // A letter that was cut in the middle is gone as a whole.
        assert_eq!(kept.text(), "123");
    }
}
