//! One server behind walls, from its start to the end of everything it started.

use super::{Pipes, START, Spoken, ToolCall, Unspoken, check_launch};
use crate::command::process_limits::ProcessUse;
use crate::command::supervise::end_all;
use crate::command::view::{WayOut, view};
use crate::egress_proxy::Outlet;
use crate::{Error, Executors};
use acts::Action;
use model::RelPath;
use model::limits::{SERVER_START_MS, TOOL_CALL_MS};
use model::tool_server::{ServerLaunch, ToolManifest};
use std::collections::VecDeque;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of what a server complains about that are kept: the last ones say why it ended.
const COMPLAINT_BYTES: usize = 4 * 1024;

/// A server that was started. Dropped, it is ended with everything it started.
pub(super) struct Process {
    child: Child,
    outlet: Option<Outlet>,
    complaint: Arc<Mutex<VecDeque<u8>>>,
    /// Its own folder, for the socket of its proxy.
    folder: PathBuf,
}

impl Process {
    /// Starts a server; `hosts` and `secrets` are what it may use of the network.
    pub(super) fn start(
        executors: &Executors,
        launch: &ServerLaunch,
        hosts: &[String],
        secrets: &[String],
    ) -> Result<Self, Error> {
        check_launch(launch)?;
        let folder = executors.spool.probe()?;
        let started = Self::start_in(executors, launch, &folder, (hosts, secrets));
        if started.is_err() {
            forget(&folder)?;
        }
        started
    }

    fn start_in(
        executors: &Executors,
        launch: &ServerLaunch,
        folder: &Path,
        (hosts, secrets): (&[String], &[String]),
    ) -> Result<Self, Error> {
        let mut view = view(executors, &RelPath::ROOT, folder)?;
        view.read_only = true;
        view.reads = launch.reads.iter().map(PathBuf::from).collect();
        view.mask(&hidden(executors, launch), folder)?;
        let uses_network = !hosts.is_empty();
        let outlet = uses_network.then(|| {
            let salt = folder.display().to_string();
            Outlet::open(folder, hosts, secrets, &*executors.secrets, &salt).map_err(Error::Request)
        });
        let outlet = outlet.transpose()?;
        if let Some(outlet) = &outlet {
            let mut told = outlet.environment();
            for (name, handle) in &launch.secrets {
                told.extend(outlet.stand_in(handle).map(|stand_in| (name.clone(), stand_in)));
            }
            let (socket, roots) = (outlet.socket().to_owned(), outlet.roots().map(Path::to_owned));
            view.proxy = Some(WayOut { socket, roots, told });
        }
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
        let cpu = (SERVER_START_MS + TOOL_CALL_MS) / 1000 * cores;
        let program = launch.argv.first().map_or("", String::as_str);
        let command = executors.sandbox.server(&view, &launch.argv, uses_network, cpu);
        let mut command = command.ok_or_else(|| {
            let say = "this machine has no walls for a server of tools; install bubblewrap";
            Error::Request(say.to_owned())
        })?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let fail = |e: std::io::Error| Error::Spawn { program: program.to_owned(), why: e.to_string() };
        let mut child = command.spawn().map_err(fail)?;
        let complaint = Arc::default();
        if let Some(stderr) = child.stderr.take() {
            hear(stderr, Arc::clone(&complaint));
        }
        Ok(Self { child, outlet, complaint, folder: folder.to_owned() })
    }

    /// Speaks to it and ends it: what came of it, and which connections it made.
    pub(super) fn speak(
        mut self,
        executors: &Executors,
        next: &mut dyn FnMut(&ToolManifest) -> Option<ToolCall>,
        cancelled: &dyn Fn() -> bool,
    ) -> (Result<Spoken, Unspoken>, Vec<String>) {
        let spoken = match (self.child.stdin.take(), self.child.stdout.take()) {
            (Some(stdin), Some(stdout)) => {
                let mut crowd = ProcessUse::of(self.child.id(), executors.sandbox.bounds());
                let mut ended = || match cancelled() {
                    true => Some("it was cancelled".to_owned()),
                    false => crowd.too_large(),
                };
                executors.servers.speak(Pipes { stdin, stdout }, START, next, &mut ended)
            }
            _ => Err(Unspoken::NotCalled("its standard streams are not there".to_owned())),
        };
        end_all(&mut self.child);
        let mut told = self.outlet.take().map(Outlet::close).unwrap_or_default();
        told.extend(forget(&self.folder).err().map(|error| error.to_string()));
        let spoken = spoken.map_err(|why| match why {
            Unspoken::NotCalled(why) => Unspoken::NotCalled(self.with_complaint(&why)),
            Unspoken::Lost(why) => Unspoken::Lost(self.with_complaint(&why)),
        });
        (spoken, told)
    }

    /// Why it did not go well, with the last that the server said of itself.
    fn with_complaint(&self, why: &str) -> String {
        let kept = self.complaint.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.iter().copied().collect();
        let said = String::from_utf8_lossy(&bytes).trim().to_owned();
        if said.is_empty() { why.to_owned() } else { format!("{why}; it said: {said}") }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        end_all(&mut self.child);
    }
}

/// Its folder is needed no more.
fn forget(folder: &Path) -> Result<(), Error> {
    let fail = |source| Error::Spool { doing: "forgetting a server's folder", source };
    crate::command::removal::remove_tree(folder).map_err(fail)
}

/// What looks like a key in the folder, which a server does not see whatever its words name.
fn hidden(executors: &Executors, launch: &ServerLaunch) -> Vec<RelPath> {
    let program = launch.argv.iter().take(1).cloned().collect();
    let (hosts, secrets) = (Vec::new(), Vec::new());
    let alike =
        acts::Command { argv: program, cwd: RelPath::ROOT, network: false, timeout_ms: 1, hosts, secrets };
    let reach = executors.reach(&Action::Command(alike));
    reach.hidden.into_iter().chain(reach.secrets).collect()
}

/// Hears what a server complains about for as long as it lives, and keeps the last of it.
fn hear(mut stderr: ChildStderr, kept: Arc<Mutex<VecDeque<u8>>>) {
    std::thread::spawn(move || {
        let mut buffer = [0_u8; 4096];
        while let Ok(read) = stderr.read(&mut buffer) {
            let heard = buffer.get(..read).unwrap_or(&[]);
            if heard.is_empty() {
                return;
            }
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(heard);
            let over = kept.len().saturating_sub(COMPLAINT_BYTES);
            kept.drain(..over);
        }
    });
}
