//! A program of Hermit's own behind the walls: it has no network and no folder, and reads its own file and those that are
//! named. It is spoken to over its standard streams.

use super::complaints::Complaints;
use super::{Pipes, ServerSessions};
use crate::command::process_limits::ProcessUse;
use crate::command::supervise::end_all;
use crate::command::view::View;
use crate::sandbox::Sandbox;
use crate::system::lent_places::LentPlaces;
use crate::system::process_group;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;

/// Seconds of processor time: it is ended when it is idle, and works as long as somebody asks it.
const CPU_S: u64 = 30 * 24 * 60 * 60;

/// Of a program that is spoken to and nothing else.
const NO_ARGUMENTS: &[String] = &[];

/// A program that was started. Dropped, it is ended with everything it started.
pub struct Lone {
    child: Child,
    /// Taken back when it has ended.
    _lent: LentPlaces,
    used: ProcessUse,
    pipes: Option<Pipes>,
    complaints: Arc<Complaints>,
}

impl Lone {
    /// Starts a program behind these walls, which may fill so much memory. Where this system has walls for commands and
    /// this machine has not, it is not started; a system for which Hermit knows no walls starts it without.
    ///
    /// # Errors
    /// In words, with what to do.
    pub fn start(
        walls: &Sandbox,
        sessions: &ServerSessions,
        program: &Path,
        reads: &[PathBuf],
        memory_bytes: u64,
    ) -> Result<Self, String> {
        let walls = walls.clone().reading_nothing_more().with_memory(memory_bytes);
        let walled = walled(&walls, View::nowhere(), (program, NO_ARGUMENTS), reads, CPU_S)?;
        Self::begin(&walls, sessions, program, walled)
    }

    fn begin(
        walls: &Sandbox,
        sessions: &ServerSessions,
        program: &Path,
        (mut command, lent): (Command, LentPlaces),
    ) -> Result<Self, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = process_group::lead(&mut command).and_then(|()| sessions.start(command));
        let mut child = started.map_err(|e| format!("`{}` cannot be started: {e}", program.display()))?;
        let pipes = match (child.stdin.take(), child.stdout.take()) {
            (Some(stdin), Some(stdout)) => Some(Pipes { stdin, stdout, folder: None }),
            _ => None,
        };
        let used = ProcessUse::of(child.id(), walls.bounds());
        let complaints = Complaints::from(child.stderr.take(), redact::Shared::default());
        let complaints = complaints.map_err(|error| {
            end_all(&mut child);
            error.to_string()
        })?;
        Ok(Self { child, _lent: lent, used, pipes, complaints })
    }

    /// Starts a program with arguments and a folder of its own behind these walls, the only place where it writes; otherwise as
    /// [`Lone::start`], for so many seconds of processor time.
    ///
    /// # Errors
    /// In words, with what to do.
    pub fn start_in(
        walls: &Sandbox,
        sessions: &ServerSessions,
        (program, arguments): (&Path, &[String]),
        (folder, reads): (&Path, &[PathBuf]),
        (memory_bytes, cpu_seconds): (u64, u64),
    ) -> Result<Self, String> {
        let walls = walls.clone().reading_nothing_more().with_memory(memory_bytes);
        let mut view = View::nowhere();
        view.root = folder.to_owned();
        view.cwd = folder.to_owned();
        let walled = walled(&walls, view, (program, arguments), reads, cpu_seconds)?;
        Self::begin(&walls, sessions, program, walled)
    }

    /// Its standard streams, once.
    pub fn pipes(&mut self) -> Option<Pipes> {
        self.pipes.take()
    }

    /// Why it has to be ended, or that it has ended by itself; none while it works.
    pub fn over(&mut self) -> Option<String> {
        match self.child.try_wait() {
            Ok(None) => self.used.too_large(),
            Ok(Some(status)) => Some(ended(status, self.complaints.last())),
            Err(error) => Some(error.to_string()),
        }
    }

    /// Why it has to be ended, while it works or says something.
    pub fn too_large(&mut self) -> Option<String> {
        self.used.too_large()
    }
}

/// How it ended, with what it complained of last. These three codes say that it never began.
fn ended(status: ExitStatus, last: Option<String>) -> String {
    let how = match status.code() {
        Some(code @ 125..=127) => format!("it could not be started in its sandbox (status {code})"),
        _ => format!("it ended by itself ({status})"),
    };
    match last {
        Some(last) => format!("{how}: {last}"),
        None => how,
    }
}

impl Drop for Lone {
    fn drop(&mut self) {
        drop(self.pipes.take());
        end_all(&mut self.child);
    }
}

fn walled(
    walls: &Sandbox,
    mut view: View,
    (program, arguments): (&Path, &[String]),
    reads: &[PathBuf],
    cpu_seconds: u64,
) -> Result<(Command, LentPlaces), String> {
    let argv: Vec<String> =
        std::iter::once(program.to_string_lossy().into_owned()).chain(arguments.iter().cloned()).collect();
    view.reads = std::iter::once(program.to_owned()).chain(reads.iter().cloned()).collect();
    if let Some(command) = walls.server(&view, &argv, false, cpu_seconds) {
        return Ok((command, LentPlaces::none()));
    }
    if walls.is_by_profile() {
        return walls.enclosed(&view, &argv, cpu_seconds).map(|command| (command, LentPlaces::none()));
    }
    if walls.has_walls() && walls.is_by_token() {
        return walls.with_one_beside(&view, &argv, cpu_seconds);
    }
    if Sandbox::is_built_here() {
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        let say = format!("this machine has no sandbox for `{name}` ({})", walls.why());
        return Err(if Sandbox::is_of_namespaces() { format!("{say}; install bubblewrap") } else { say });
    }
    let mut command = Command::new(program);
    command.args(arguments).env_clear();
    if view.root != Path::new("") {
        command.current_dir(&view.cwd);
    }
    Ok((command, LentPlaces::none()))
}
