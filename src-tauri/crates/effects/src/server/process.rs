//! One server behind walls, from its start to the end of everything it started.

use super::advice::{self, OFFLINE};
use super::complaints::{Complaints, with_last};
use super::{
    Ended, Heard, Offers, Pipes, START, ToolCall, ToolReply, ToolSession, Unspoken, check_launch, offered,
};
use crate::command::process_limits::ProcessUse;
use crate::command::removal::remove_tree;
use crate::command::supervise::end_all;
use crate::command::view::{View, view};
use crate::egress_proxy::Outlet;
use crate::system::lent_places::LentPlaces;
use crate::system::process_group;
use crate::{Error, Executors};
use model::RelPath;
use model::limits::SERVER_CPU_S;
use model::tool_server::{ServerLaunch, ToolManifest};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a server that hung up may take to end.
const HANGS_UP: Duration = Duration::from_millis(300);

/// A server that was started. Dropped, it is ended with everything it started.
pub(super) struct Process {
    launch: ServerLaunch,
    /// The folder, at the path where it sees it.
    root: PathBuf,
    child: Child,
    /// Taken back when it has ended.
    lent: LentPlaces,
    /// None before it was greeted.
    session: Option<Box<dyn ToolSession>>,
    used: ProcessUse,
    outlet: Option<Outlet>,
    complaints: Arc<Complaints>,
    /// Its own folder, for the socket of its proxy; none where it works in a staged view.
    folder: Option<PathBuf>,
    /// What looked like a key when it was started: it sees none of that.
    hidden: Vec<RelPath>,
    offers: Offers,
}

impl Process {
    /// Starts a server that reaches the hosts of its launch and sees nothing of `hidden`.
    pub(super) fn start(
        executors: &Executors,
        launch: &ServerLaunch,
        hidden: Vec<RelPath>,
        offers: Offers,
    ) -> Result<Self, Error> {
        check_launch(launch)?;
        let folder = executors.spool.probe()?;
        let started = Self::start_in(executors, launch, &folder, hidden);
        let started = started.map(|mut started| {
            started.offers = offers;
            started
        });
        if started.is_err() {
            forget(&folder)?;
        }
        started
    }

    fn start_in(
        executors: &Executors,
        launch: &ServerLaunch,
        folder: &Path,
        hidden: Vec<RelPath>,
    ) -> Result<Self, Error> {
        let mut view = view(executors, &RelPath::ROOT, folder)?;
        view.read_only = true;
        view.reads = launch.reads.iter().map(PathBuf::from).collect();
        view.told = told(launch);
        view.mask(&hidden, folder)?;
        let uses_network = !launch.hosts.is_empty();
        let outlet = uses_network.then(|| {
            let (salt, secrets) = (folder.display().to_string(), super::secrets_of(launch));
            let at = (folder, executors.sandbox.meets());
            Outlet::open(at, &launch.hosts, &secrets, &*executors.secrets, &salt).map_err(Error::Request)
        });
        let outlet = outlet.transpose()?;
        if let Some(outlet) = &outlet {
            let mut way = outlet.way_out();
            for (name, handle) in &launch.secrets {
                way.told.extend(outlet.stand_in(handle).map(|stand_in| (name.clone(), stand_in)));
            }
            view.proxy = Some(way);
        }
        let mut started = Self::spawn(executors, launch, &view, uses_network)?;
        (started.outlet, started.folder, started.hidden) = (outlet, Some(folder.to_owned()), hidden);
        Ok(started)
    }

    /// Starts a server in a staged view of the folder, without the network.
    pub(super) fn start_staged(
        executors: &Executors,
        launch: &ServerLaunch,
        view: &mut View,
        offers: Offers,
    ) -> Result<Self, Error> {
        check_launch(launch)?;
        view.reads = launch.reads.iter().map(PathBuf::from).collect();
        view.told.extend(told(launch));
        let mut started = Self::spawn(executors, launch, view, false)?;
        started.offers = offers;
        Ok(started)
    }

    fn spawn(
        executors: &Executors,
        launch: &ServerLaunch,
        view: &View,
        network: bool,
    ) -> Result<Self, Error> {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
        let program = launch.argv.first().map_or("", String::as_str);
        let walled = executors.sandbox.spoken_to(view, &launch.argv, network, SERVER_CPU_S * cores);
        let (mut command, lent) = walled.map_err(Error::Request)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let fail = |e: std::io::Error| Error::Spawn { program: program.to_owned(), why: e.to_string() };
        process_group::lead(&mut command).map_err(fail)?;
        let mut child = executors.sessions.start(command).map_err(fail)?;
        let complaints = Complaints::from(child.stderr.take(), executors.redactor.clone());
        let complaints = complaints.map_err(|error| {
            end_all(&mut child);
            fail(error)
        })?;
        let used = ProcessUse::of(child.id(), executors.sandbox.bounds());
        Ok(Self {
            launch: launch.clone(),
            root: executors.sandbox.root_of(view),
            child,
            lent,
            session: None,
            used,
            outlet: None,
            complaints,
            folder: None,
            hidden: Vec::new(),
            offers: Offers::default(),
        })
    }

    /// What it says it offers now.
    pub(super) fn manifest(
        &mut self,
        executors: &Executors,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<ToolManifest, String> {
        let is_first = self.session.is_none();
        let Self { child, session, used, offers, root, .. } = self;
        let greet = |ended: Ended<'_>| match (child.stdin.take(), child.stdout.take()) {
            (Some(stdin), Some(stdout)) => {
                let pipes = Pipes { stdin, stdout, folder: Some(root.clone()) };
                executors.servers.open(pipes, *offers, START, ended)
            }
            _ => Err("its standard streams are not there".to_owned()),
        };
        let told = offered(session, &mut || ended(used, cancelled), greet);
        told.map_err(|found| match is_first && self.session.is_none() && !cancelled() {
            true => self.did_not_greet(&found),
            false => self.complaints.with(&found),
        })
    }

    /// Why it did not greet, its own last words, and what to do.
    fn did_not_greet(&mut self, found: &str) -> String {
        let ended = self.has_ended();
        let last = self.complaints.last();
        let (why, advice) = advice::told(&self.launch, ended, last.as_deref().unwrap_or_default(), found);
        format!("{}; {advice}", with_last(&why, last.as_deref()))
    }

    /// How it ended by itself; none while it works. One that hung up has a moment to end.
    fn has_ended(&mut self) -> Option<ExitStatus> {
        let by = Instant::now() + HANGS_UP;
        loop {
            match self.child.try_wait() {
                Ok(None) if Instant::now() < by => std::thread::sleep(Duration::from_millis(5)),
                Ok(ended) => return ended,
                Err(_) => return None,
            }
        }
    }

    /// Calls a tool once: its answer, or its refusal in its own words.
    pub(super) fn call(
        &mut self,
        call: ToolCall,
        heard: Heard<'_>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Result<ToolReply, String>, Unspoken> {
        let used = &mut self.used;
        let mut ended = || ended(used, cancelled);
        let spoken = match &mut self.session {
            Some(session) => session.call(call, heard, &mut ended),
            None => Err(Unspoken::NotCalled("it was not greeted".to_owned())),
        };
        spoken.map_err(|why| match why {
            Unspoken::NotCalled(why) => Unspoken::NotCalled(self.complaints.with(&why)),
            Unspoken::Lost(why) => Unspoken::Lost(self.complaints.with(&why)),
        })
    }

    /// Whether it told that it offers something else now.
    pub(super) fn has_changed(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.has_changed())
    }

    /// Whether all of this is hidden from it.
    pub(super) fn hides(&self, all: &[RelPath]) -> bool {
        all.iter().all(|path| self.hidden.contains(path))
    }

    /// What it was told that it may ask for.
    pub(super) const fn offers(&self) -> Offers {
        self.offers
    }

    /// Which connections it made since this was last asked, and what it could not be lent, in words.
    pub(super) fn connections(&self) -> Vec<String> {
        let through = self.outlet.as_ref().map(Outlet::told).unwrap_or_default();
        through.into_iter().chain(self.lent.not_lent().iter().cloned()).collect()
    }

    /// Whether it has ended, or grown too large to be kept.
    pub(super) fn is_over(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None)) || self.used.too_large().is_some()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.session.take());
        end_all(&mut self.child);
        drop(self.outlet.take());
        // It may end long after the last call, so nobody is left to be told; an entry that stays names nobody who comes again.
        drop(std::mem::replace(&mut self.lent, LentPlaces::none()).take_back());
        if let Some(folder) = &self.folder {
            let _ = remove_tree(folder);
        }
    }
}

/// Why a server is not waited for any more, if it is not.
fn ended(used: &mut ProcessUse, cancelled: &dyn Fn() -> bool) -> Option<String> {
    match cancelled() {
        true => Some("it was cancelled".to_owned()),
        false => used.too_large(),
    }
}

/// Variables that are set for it, beside those of the sandbox.
fn told(launch: &ServerLaunch) -> Vec<(String, OsString)> {
    let offline = OFFLINE.iter().filter(|_| launch.hosts.is_empty());
    let offline = offline.map(|(name, value)| ((*name).to_owned(), OsString::from(value)));
    let named = launch.variables.iter().map(|(name, value)| (name.clone(), value.into()));
    offline.chain(named).collect()
}

/// Its folder is needed no more.
fn forget(folder: &Path) -> Result<(), Error> {
    let fail = |source| Error::Spool { doing: "forgetting a server's folder", source };
    remove_tree(folder).map_err(fail)
}

/// What looks like a key in the folder, which a server does not see whatever its words name.
pub(super) fn hidden(executors: &Executors, launch: &ServerLaunch) -> Result<Vec<RelPath>, String> {
    hidden_from(executors, launch.argv.iter().take(1).cloned().collect())
}

/// What looks like a key in the folder and is hidden from a program of this name.
pub(crate) fn hidden_from(executors: &Executors, program: Vec<String>) -> Result<Vec<RelPath>, String> {
    executors.keys_from(program)
}
