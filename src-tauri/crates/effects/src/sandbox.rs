//! Which walls this machine can put around a command, found out by putting them up once.

mod app_container;
mod beside;
pub(crate) mod bwrap;
mod escapes;
mod lacks;
mod landlock;
mod measure;
mod namespaces;
mod seatbelt;
mod shape;
mod whole;

pub use escapes::Escapes;
pub(crate) use lacks::Asks;
pub use whole::{CLONE_HOME, CloneHome, CloneView};

use crate::command::process_limits::Bounds;
use crate::command::view::View;
use crate::egress_proxy::Meets;
use crate::system::lent_places::LentPlaces;
pub(crate) use crate::system::walls::PATH;
use crate::system::walls::{self, NOWHERE, System};
use crate::workspace::names;
use model::receipt::SandboxLevel;
use seatbelt::Seatbelt;
use shape::Shape;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

/// Where bubblewrap is looked for; never through a search path that somebody else could set.
const BWRAP: [&str; 3] = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];

/// Folders of programs and libraries, and the few files of `/etc` that programs need: no passwords, no keys.
pub(crate) const READABLE: [&str; 26] = [
    "/usr",
    "/opt",
    "/nix/store",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/fonts",
    "/etc/group",
    "/etc/hosts",
    "/etc/java",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
    "/etc/xml",
];

/// Top-level names that are folders on some systems and links into `/usr` on others.
pub(crate) const MERGED: [&str; 5] = ["/bin", "/sbin", "/lib", "/lib64", "/lib32"];

/// Bytes of memory that one process of a command may fill.
const MEMORY_BYTES: u64 = 4 << 30;
/// Processes and threads of a command at once.
const PROCESSES: u64 = 1024;
/// Bytes of one file that a command may write.
const FILE_BYTES: u64 = 2 << 30;
/// Bytes of the private `/tmp`.
const TMP_BYTES: u64 = 1 << 30;

/// The walls of this machine.
#[derive(Debug, Clone)]
pub struct Sandbox {
    level: SandboxLevel,
    why: String,
    bwrap: Option<PathBuf>,
    exec: Option<PathBuf>,
    /// What puts a Seatbelt profile around a command.
    seatbelt: Option<Seatbelt>,
    /// The program that stays beside a command, and as whom it starts it; no walls but its job where nobody is named.
    beside: Option<(PathBuf, Option<app_container::Kind>)>,
    /// What came of trying the walls of git, where those are others.
    git_tried: Arc<OnceLock<Self>>,
    readable: Vec<PathBuf>,
    memory_bytes: u64,
    processes: u64,
    layers: bool,
}

impl Sandbox {
    /// Puts the walls up around a trivial command, tries to get out of them, and reports which of them held. `exec` is `hermit-exec`,
    /// next to the running program; a system whose walls are made otherwise does not need it.
    pub fn probe(exec: &Path) -> Self {
        if let Some(program) = walls::SEATBELT {
            return Self::by_profile(Path::new(program));
        }
        if walls::SYSTEM == System::Windows {
            return Self::by_token(exec);
        }
        let exec = match exec.canonicalize() {
            Ok(exec) => exec,
            Err(error) => {
                return Self::none(format!("`hermit-exec` is not at `{}`: {error}", exec.display()));
            }
        };
        let at = BWRAP.iter().map(Path::new).filter(|path| path.exists());
        Self::of_namespaces(exec, &at.collect::<Vec<_>>())
    }

    /// Walls by a profile that this program reads, at the level that what is tried against them shows. The first way to keep
    /// processes in their group behind which a command begins is taken: an older system does not know each of them.
    fn by_profile(program: &Path) -> Self {
        let mut walls = Self::none(String::new());
        for stays in seatbelt::Stays::ALL {
            let seatbelt = Some(Seatbelt { program: program.to_path_buf(), stays });
            let tried = Self { seatbelt, ..Self::none(String::new()) };
            let escapes = tried.escapes();
            walls = tried.measured(escapes);
            if walls.has_walls() {
                let costs = stays.costs().filter(|_| walls.level == SandboxLevel::Seatbelt);
                walls.why = std::iter::once(walls.why.as_str()).chain(costs).collect::<Vec<_>>().join("; ");
                break;
            }
        }
        walls
    }

    /// No walls at all, for the reason given.
    pub fn none(why: String) -> Self {
        Self {
            level: SandboxLevel::Unconfined,
            why,
            bwrap: None,
            exec: None,
            seatbelt: None,
            beside: None,
            git_tried: Arc::default(),
            readable: Vec::new(),
            memory_bytes: MEMORY_BYTES,
            processes: PROCESSES,
            layers: true,
        }
    }

    fn with(exec: PathBuf) -> Self {
        Self { exec: Some(exec), ..Self::none(String::new()) }
    }

    /// The same walls with more places that commands may read: toolchains outside the system folders.
    #[must_use]
    pub fn with_readable(mut self, places: impl IntoIterator<Item = PathBuf>) -> Self {
        self.readable.extend(places);
        self
    }

    /// The same walls without those places.
    pub(crate) fn reading_nothing_more(mut self) -> Self {
        self.readable.clear();
        self
    }

    /// The same walls, for a machine whose folders take no layer: a staged run gets a copy.
    #[must_use]
    pub fn without_layers(mut self) -> Self {
        self.layers = false;
        self
    }

    /// The same walls with another bound on the memory one process may fill, in bytes.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.memory_bytes = bytes;
        self
    }

    /// The same walls with another bound on the processes and threads that one command has at once.
    #[must_use]
    pub fn with_processes(mut self, processes: u64) -> Self {
        self.processes = processes;
        self
    }

    /// What one command may have running, counted from outside: the system's own limits do not hold for root.
    pub(crate) fn bounds(&self) -> Bounds {
        Bounds { processes: self.processes, memory_bytes: self.memory_bytes }
    }

    /// The walls that stood.
    pub fn level(&self) -> SandboxLevel {
        self.level
    }

    /// The level and why it is that one, as receipts tell it.
    pub(crate) fn told(&self) -> String {
        format!("sandbox: {} ({})", self.level.in_words(), self.why)
    }

    /// What is missing, with what to do about it on this system or why it is so.
    pub(crate) fn missing(&self, what: &str) -> String {
        match walls::SYSTEM {
            System::Linux => format!("{what}; install bubblewrap"),
            System::MacOs | System::Windows => format!("{what} ({})", self.why),
        }
    }

    /// Whether a program reads a profile here and becomes the command.
    pub(crate) fn is_by_profile(&self) -> bool {
        self.seatbelt.is_some()
    }

    /// Why these and not more, in words.
    pub fn why(&self) -> &str {
        &self.why
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    pub(crate) fn readable(&self) -> &[PathBuf] {
        &self.readable
    }

    /// The command that will become `argv` behind the walls, complete but for its standard streams; and what it is lent, which
    /// is taken back when it has ended.
    ///
    /// # Errors
    /// In words, when no walls can be made for this view: it is not run without.
    pub(crate) fn command(
        &self,
        view: &View,
        argv: &[String],
        network: bool,
        cpu_seconds: u64,
    ) -> Result<(Command, LentPlaces), String> {
        if self.is_by_profile() {
            return self.enclosed(view, argv, cpu_seconds).map(|command| (command, LentPlaces::none()));
        }
        if walls::SYSTEM == System::Windows || self.beside.is_some() {
            return self.with_one_beside(view, argv, cpu_seconds);
        }
        let mut command = match (&self.exec, self.shell(view)) {
            (Some(_), Some(command)) => command,
            (Some(exec), None) => {
                let mut command = Command::new(exec);
                self.environment(view, &mut command);
                command
            }
            (None, _) => return Ok((self.bare(view, argv), LentPlaces::none())),
        };
        command.args(self.exec_arguments(view, network, cpu_seconds));
        // Its standard input is the file to mark.
        command.args(["--started", "--"]).args(argv);
        Ok((command, LentPlaces::none()))
    }

    /// The command behind a Seatbelt profile, with no network but the port of its proxy. Nothing marks its start.
    ///
    /// # Errors
    /// In words, when there is no profile for this view.
    pub(crate) fn enclosed(&self, view: &View, argv: &[String], cpu_seconds: u64) -> Result<Command, String> {
        let seatbelt = self.seatbelt.as_ref().ok_or("no program here reads a profile")?;
        let port = view.proxy.as_ref().and_then(|way| way.port);
        let shape = Shape::of(self, view, port, cpu_seconds);
        let mut command = seatbelt.command(&shape, argv)?;
        self.environment(view, &mut command);
        command.current_dir(Shape::begins(view));
        if shape.private.is_none() {
            // A program of Hermit's own has no folder for it.
            command.env("HOME", NOWHERE).env("TMPDIR", NOWHERE);
        }
        Ok(command)
    }

    /// The command in namespaces, of what is spoken to over its standard streams, so that nothing marks its start; only where its
    /// network can be held.
    pub(crate) fn server(
        &self,
        view: &View,
        argv: &[String],
        network: bool,
        cpu_seconds: u64,
    ) -> Option<Command> {
        let mut command = self.shell(view).filter(|_| self.can_hold_network())?;
        command.args(self.exec_arguments(view, network, cpu_seconds)).arg("--").args(argv);
        Some(command)
    }

    fn environment(&self, view: &View, command: &mut Command) {
        command.env_clear().current_dir(&view.cwd);
        for (name, value) in view.environment(self.bwrap.is_some()) {
            command.env(name, value);
        }
    }

    fn bare(&self, view: &View, argv: &[String]) -> Command {
        let mut command = Command::new(argv.first().map_or("", String::as_str));
        self.environment(view, &mut command);
        command.args(argv.get(1..).unwrap_or(&[]));
        command
    }

    fn exec_arguments(&self, view: &View, network: bool, cpu_seconds: u64) -> Vec<OsString> {
        let mut arguments = landlock::paths(self, view, self.bwrap.is_some());
        let mut flag = |name: &str, value: Option<u64>| {
            arguments.push(name.into());
            arguments.extend(value.map(|v| v.to_string().into()));
        };
        if network {
            flag("--network", None);
            flag("--proxy", None);
        }
        flag("--memory", Some(self.memory_bytes()));
        flag("--file-size", Some(FILE_BYTES));
        flag("--cpu", Some(cpu_seconds));
        if self.bwrap.is_some() {
            flag("--processes", Some(self.processes));
        } else {
            // Without a process namespace the group is all there is to end a command by: nobody may leave it.
            flag("--shared", None);
        }
        if !view.is_staged() {
            // The folder itself is seen, and a socket in it would be a way out of it.
            flag("--no-local-sockets", None);
        }
        if matches!(self.level, SandboxLevel::NamespacesLandlock | SandboxLevel::Landlock) {
            flag("--require-landlock", None);
        }
        arguments
    }

    /// Whether a command can be kept out of the folders a workspace hides: only a mount, or a profile or a container that was
    /// tried, can cover a part.
    pub(crate) fn can_hide(&self) -> bool {
        self.bwrap.is_some() || matches!(self.level, SandboxLevel::Seatbelt | SandboxLevel::AppContainer)
    }

    /// Whether a command has private folders of its own making; else it is given them.
    pub(crate) fn has_own_folders(&self) -> bool {
        self.bwrap.is_some()
    }

    /// Whether walls are namespaces on this system, where they are built.
    #[must_use]
    pub const fn is_of_namespaces() -> bool {
        matches!(walls::SYSTEM, System::Linux)
    }

    /// Whether walls are built on this system at all.
    #[must_use]
    pub const fn is_built_here() -> bool {
        walls::ARE_BUILT
    }

    /// Whether a command can be given a network with nothing in it but the proxy: one of its own, or a profile that was tried and
    /// leaves one port open.
    pub(crate) fn can_hold_network(&self) -> bool {
        let namespaces = self.bwrap.is_some() && self.exec.is_some();
        walls::ARE_BUILT && (namespaces || (self.is_by_profile() && self.level == SandboxLevel::Seatbelt))
    }

    /// Where a command comes to its proxy.
    pub(crate) fn meets(&self) -> Meets {
        if self.is_by_profile() { Meets::AtPort } else { Meets::AtSocket }
    }

    /// Whether a layer can be put over the root, for a staged run.
    pub(crate) fn can_layer(&self) -> bool {
        walls::ARE_BUILT && self.layers && self.bwrap.is_some() && self.exec.is_some()
    }

    /// Whether any walls stand around a command.
    pub(crate) fn has_walls(&self) -> bool {
        self.level.confines() || self.level == SandboxLevel::SeatbeltOpen
    }

    /// Whether a command reaches nothing but its view.
    pub(crate) fn is_confined(&self) -> bool {
        self.level.isolates()
    }

    /// Whether `hermit-exec` stands between and marks the start.
    pub(crate) fn marks_start(&self) -> bool {
        self.exec.is_some()
    }
}

/// Whether a place of the machine, with every link followed, is among the folders of programs.
pub(crate) fn is_system(at: &Path) -> bool {
    let at = walls::plain(at.to_path_buf());
    walls::PROGRAMS.iter().any(|folder| at.starts_with(folder))
}

/// The program that a name means behind the walls.
pub(crate) fn program(view: &View, name: &str) -> Option<PathBuf> {
    walls::candidates(name, &view.cwd).into_iter().find(|path| path.is_file())
}

/// The program that a name without a place means.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    walls::candidates(name, Path::new("")).into_iter().find(|path| path.is_file())
}

/// A path below the view's root.
pub(crate) fn inside(view: &View, path: &model::RelPath) -> Option<PathBuf> {
    names::below(&view.root, path.as_bytes()).ok()
}
