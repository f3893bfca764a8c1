//! The view of a whole clone of Hermit: a program, a home of its own on a file system of a bounded size, and nothing of its parent.

use super::{MERGED, PATH, READABLE, Sandbox, bwrap};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where its home is, inside.
pub const CLONE_HOME: &str = "/tmp/home";
/// Where its program is, inside.
const PROGRAM: &str = "/run/hermit/clone";

/// Devices that a clone has. Pages of `zero` that are shared stay in memory and belong to no process; `full` reads as it does.
const DEVICES: [&str; 4] = ["/dev/null", "/dev/full", "/dev/random", "/dev/urandom"];
/// Names that programs expect beside them, and what they lead to.
const STREAMS: [(&str, &str); 4] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];

/// Where a clone may write.
#[derive(Debug, Clone, Copy)]
pub enum CloneHome<'a> {
    /// In memory of so many bytes: more does not fit, and nothing of it stays.
    Sized(u64),
    /// In a folder of this machine, which whoever starts the clone weighs and takes away.
    Folder(&'a Path),
}

/// What a clone is given. Whoever starts it gives its standard streams.
#[derive(Debug, Clone, Copy)]
pub struct CloneView<'a> {
    /// The program, on this machine.
    pub program: &'a Path,
    /// Its arguments.
    pub arguments: &'a [String],
    /// Where it may write.
    pub home: CloneHome<'a>,
    /// Places of this machine that it may read beside the system's, where they are.
    pub reads: &'a [PathBuf],
    /// Where it begins, inside; its home where nothing is said.
    pub folder: Option<&'a Path>,
    /// Variables of its environment, beside its home and where programs are.
    pub environment: &'a [(String, String)],
    /// Bytes of memory that one process may fill.
    pub memory_bytes: u64,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Seconds of a processor that one process may use.
    pub cpu_seconds: u64,
    /// Processes and threads at once.
    pub processes: u64,
}

impl Sandbox {
    /// The command that becomes a clone: namespaces of its own, no network, limits that are inherited, and a view in which its
    /// parent is not; none where namespaces cannot be made.
    pub fn clone_command(&self, view: &CloneView<'_>) -> Option<Command> {
        if !self.is_confined() || !self.can_hold_network() {
            return None;
        }
        let (bwrap, exec) = (self.bwrap.as_ref()?, self.exec.as_ref()?);
        let mut command = Command::new(bwrap);
        command.env_clear();
        bwrap::system(&mut command);
        devices(&mut command);
        match view.home {
            CloneHome::Sized(bytes) => {
                let bytes = bytes.to_string();
                command.arg("--size").arg(bytes).args(["--tmpfs", "/tmp", "--dir", CLONE_HOME]);
            }
            CloneHome::Folder(folder) => {
                command.args(["--dir", "/tmp", "--bind"]).arg(folder).arg(CLONE_HOME);
            }
        }
        command.arg("--ro-bind").arg(exec).arg(bwrap::EXEC_INSIDE);
        command.arg("--ro-bind").arg(view.program).arg(PROGRAM);
        for place in view.reads {
            command.arg("--ro-bind-try").arg(place).arg(place);
        }
        let own = [("HOME", CLONE_HOME), ("PATH", PATH), ("TMPDIR", CLONE_HOME), ("LANG", "C.UTF-8")];
        for (name, value) in own {
            command.arg("--setenv").arg(name).arg(value);
        }
        for (name, value) in view.environment {
            command.arg("--setenv").arg(name).arg(value);
        }
        let folder = view.folder.unwrap_or(Path::new(CLONE_HOME));
        command.arg("--chdir").arg(folder).args(["--remount-ro", "/", "--", bwrap::EXEC_INSIDE]);
        self.clone_arguments(view, &mut command);
        command.args(["--", PROGRAM]).args(view.arguments);
        Some(command)
    }

    /// What `hermit-exec` is told.
    fn clone_arguments(&self, view: &CloneView<'_>, command: &mut Command) {
        for name in READABLE.iter().chain(&MERGED).chain(&["/proc", bwrap::EXEC_INSIDE, PROGRAM]) {
            command.arg("--read").arg(name);
        }
        for place in view.reads {
            command.arg("--read").arg(place);
        }
        for name in ["/dev", CLONE_HOME] {
            command.arg("--write").arg(name);
        }
        let limits = [
            ("--memory", view.memory_bytes),
            ("--file-size", view.file_bytes),
            ("--cpu", view.cpu_seconds),
            ("--processes", view.processes),
        ];
        for (name, most) in limits {
            command.arg(name).arg(most.to_string());
        }
        command.args(["--no-local-sockets", "--no-held-memory", "--tells"]);
        if self.level() == model::receipt::SandboxLevel::NamespacesLandlock {
            command.arg("--require-landlock");
        }
    }
}

/// Processes and devices. Nothing is put beside the devices: it would be counted by nobody.
fn devices(command: &mut Command) {
    command.args(["--proc", "/proc", "--tmpfs", "/dev"]);
    for device in DEVICES {
        command.args(["--dev-bind", device, device]);
    }
    for (name, leads_to) in STREAMS {
        command.args(["--symlink", leads_to, name]);
    }
    command.args(["--remount-ro", "/dev"]);
}
