//! Trying the table of escapes behind walls: beside a folder that a command may use there is one that it may not, with a file, a
//! way in, a port and a process that have to stay as they are.

use super::Sandbox;
use super::escapes::{Came, Escapes, Evidence, NOT_TRIED, THROUGH, Try, table};
use crate::command::supervise::end_all;
use crate::command::view::{View, WayOut};
use crate::system::lent_places::LentPlaces;
use crate::system::tried_against::{self, BEGUN, Door};
use crate::system::{process_group, walls};
use std::fs::File;
use std::io::Read as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// How long one try may take.
const LIMIT: Duration = Duration::from_secs(20);
/// How often it is looked whether it has ended.
const LOOK: Duration = Duration::from_millis(5);
/// How long its output may stay open after it was ended with its group: longer means that somebody outlived it.
const DRAIN: Duration = Duration::from_secs(5);
/// Bytes of its output that are read.
const OUTPUT_BYTES_MAX: u64 = 64 * 1024;
/// Seconds of a processor.
const CPU_S: u64 = 20;
/// How the line before a try begins.
const HEAD: &str = "[try ";

/// What has to stay as it is, and the folder of the command beside it.
struct Outside {
    folder: tempfile::TempDir,
    port: TcpListener,
    /// What stands for the proxy.
    proxy: TcpListener,
    door: Door,
    victim: Child,
}

impl Outside {
    fn new() -> std::io::Result<Self> {
        let folder = tempfile::tempdir()?;
        for name in ["outside", "inside/private/home"] {
            std::fs::create_dir_all(folder.path().join(name))?;
        }
        std::fs::write(folder.path().join("inside/kept"), "")?;
        std::fs::write(folder.path().join("outside/secret"), THROUGH)?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        port.set_nonblocking(true)?;
        let proxy = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let door = Door::open(&folder.path().canonicalize()?.join("outside"))?;
        let mut victim = tried_against::victim();
        victim.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        process_group::lead(&mut victim)?;
        Ok(Self { victim: victim.spawn()?, folder, port, proxy, door })
    }

    fn at(&self, name: &str) -> std::io::Result<PathBuf> {
        Ok(walls::plain(self.folder.path().canonicalize()?).join(name))
    }

    /// The view of a staged copy, of which nothing else is seen; of the folder itself where nothing is staged.
    fn view(&self, is_staged: bool) -> std::io::Result<View> {
        let inside = self.at("inside")?;
        let mut view = View::nowhere();
        view.private = inside.join("private");
        view.source = is_staged.then(|| inside.clone());
        (view.root, view.cwd) = (inside.clone(), inside);
        // A profile is tried as a command with a proxy has it: with one port open, which is not the one that has to stay closed.
        let port = Some(self.proxy.local_addr()?.port());
        view.proxy = Some(WayOut { socket: None, port, roots: None, told: Vec::new() });
        Ok(view)
    }

    fn argv(&self, script: &str) -> std::io::Result<Vec<String>> {
        let words = [
            self.at("outside")?.to_string_lossy().into_owned(),
            self.port.local_addr()?.port().to_string(),
            self.victim.id().to_string(),
            self.door.name().to_owned(),
        ];
        Ok(tried_against::argv(script, words))
    }

    /// Whether that got through of which the evidence tells.
    fn shows(&mut self, evidence: Evidence, said: &Said) -> bool {
        let printed = said.printed.contains(THROUGH);
        match evidence {
            Evidence::Written => self.folder.path().join("outside/written").exists(),
            Evidence::Printed => printed,
            Evidence::Connected => self.port.accept().is_ok(),
            Evidence::ConnectedLocally => self.door.was_entered(),
            Evidence::Ended => printed || !matches!(self.victim.try_wait(), Ok(None)),
            Evidence::Outlives => said.outlives,
        }
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        end_all(&mut self.victim);
    }
}

/// What came out of one try.
struct Said {
    printed: String,
    /// Somebody kept its output open.
    outlives: bool,
}

impl Sandbox {
    /// Tries the table of escapes of this system behind these walls. It takes a second or so, six where a process outlives its
    /// command, and more on Windows, whose shell takes a second to begin.
    ///
    /// # Errors
    /// In words, when nothing can be tried, or no command begins behind them.
    pub fn escapes(&self) -> Result<Escapes, String> {
        let mut outside = Outside::new().map_err(|e| e.to_string())?;
        let told = outside.folder.path().join("said");
        let first = self.tried(&outside, tried_against::NOTHING, &told)?;
        has_begun(&first, &told)?;
        let mut escapes = Escapes::default();
        for one in table(walls::SYSTEM) {
            let said = self.tried(&outside, one.script, &told)?;
            escapes.add(one.name, came(one, &mut outside, &said));
        }
        Ok(escapes)
    }

    /// The same in one shell, which takes no longer than one command. Where something gets through each try is made again, alone: a
    /// process inside may have the number of the one outside, and of a shell that somebody outlives nothing is heard.
    ///
    /// # Errors
    /// As [`Sandbox::escapes`].
    pub(super) fn escapes_at_once(&self) -> Result<Escapes, String> {
        let mut outside = Outside::new().map_err(|e| e.to_string())?;
        let told = outside.folder.path().join("said");
        let table = table(walls::SYSTEM);
        let script: String =
            table.iter().map(|one| format!("\necho '{}'\n(\n{}\n)", head(one), one.script)).collect();
        let all = self.tried(&outside, &script, &told)?;
        if all.outlives {
            return self.escapes();
        }
        has_begun(&all, &told)?;
        let mut escapes = Escapes::default();
        for one in table {
            // What is not there did not run.
            let part = part(&all.printed, one).map_or_else(String::new, |part| format!("{BEGUN} {part}"));
            let said = Said { printed: part, outlives: false };
            escapes.add(one.name, came(one, &mut outside, &said));
        }
        if escapes.through.is_empty() { Ok(escapes) } else { self.escapes() }
    }

    /// Runs one script, with its complaints in a file, and ends it with its group.
    fn tried(&self, outside: &Outside, script: &str, told: &Path) -> Result<Said, String> {
        let fail = |e: std::io::Error| e.to_string();
        // Without namespaces a command works in the folder itself.
        let is_staged = self.bwrap.is_some() || self.exec.is_none();
        let (view, argv) = (outside.view(is_staged).map_err(fail)?, outside.argv(script).map_err(fail)?);
        let (mut command, lent) = match (&self.beside, &self.seatbelt, &self.exec) {
            (Some(_), ..) => self.with_one_beside(&view, &argv, CPU_S)?,
            (None, Some(_), _) => (self.enclosed(&view, &argv, CPU_S)?, LentPlaces::none()),
            (None, None, Some(_)) => {
                let command = self.behind_exec(&view, &argv, CPU_S);
                (command.ok_or("there is no `hermit-exec`")?, LentPlaces::none())
            }
            (None, None, None) => (self.bare(&view, &argv), LentPlaces::none()),
        };
        let complaints = File::create(told).map_err(fail)?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(complaints);
        process_group::lead(&mut command).map_err(fail)?;
        let mut child = command.spawn().map_err(fail)?;
        let (send, heard) = channel();
        if let Some(pipe) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut printed = Vec::new();
                let _ = pipe.take(OUTPUT_BYTES_MAX).read_to_end(&mut printed);
                let _ = send.send(printed);
            });
        }
        let begun = Instant::now();
        while !process_group::has_ended(&mut child) && begun.elapsed() < LIMIT {
            std::thread::sleep(LOOK);
        }
        end_all(&mut child);
        let printed = heard.recv_timeout(DRAIN);
        let outlives = printed.is_err();
        // Each try is lent its places anew, so what is not taken back here is seen by the next as it is.
        drop(lent.take_back());
        Ok(Said { printed: String::from_utf8_lossy(&printed.unwrap_or_default()).into_owned(), outlives })
    }
}

/// Whether a command begins behind the walls at all; else what it complained of.
fn has_begun(first: &Said, told: &Path) -> Result<(), String> {
    if first.printed.contains(BEGUN) {
        return Ok(());
    }
    let why = std::fs::read_to_string(told).map_err(|e| e.to_string())?;
    Err(format!("no command begins in it: {}", acts::visible(why.trim())))
}

/// What stands before that which a try prints, where all are made in one shell.
fn head(one: &Try) -> String {
    format!("{HEAD}{}]", one.name)
}

/// What a try printed, where all were made in one shell; none where it was not come to.
fn part<'p>(printed: &'p str, one: &Try) -> Option<&'p str> {
    let (_, behind) = printed.split_once(&head(one))?;
    behind.split(HEAD).next()
}

fn came(one: &Try, outside: &mut Outside, said: &Said) -> Came {
    if outside.shows(one.evidence, said) {
        Came::Through
    } else if said.printed.contains(NOT_TRIED) || !said.printed.contains(BEGUN) {
        Came::NotTried
    } else {
        Came::Refused
    }
}

#[cfg(test)]
mod tests;
