//! The walls of Windows as a plan: which token, which job, which access to files, which way to the proxy. Nothing here asks the
//! system; the calls that put a plan up are not written yet, so a command is refused there.

use super::Sandbox;
use super::shape::Shape;
use crate::command::view::View;
use model::Digest;
use model::receipt::SandboxLevel;
use std::fmt;
use std::path::{Path, PathBuf};

/// Where programs and libraries are, beside what a person names. An AppContainer may read them as Windows comes.
const READABLE: [&str; 3] = [r"C:\Windows", r"C:\Program Files", r"C:\Program Files (x86)"];

/// What a job forbids of the desktop: handles of other programs' windows, the clipboard in both directions, the settings of
/// the system and of the screen, global atoms, other desktops, and the end of the session.
const FORBIDDEN: [&str; 8] = [
    "handles",
    "read clipboard",
    "write clipboard",
    "system parameters",
    "display settings",
    "global atoms",
    "desktop",
    "exit windows",
];

/// What is allowed at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rights {
    /// Read and run.
    Read,
    /// Read, run, write, make and delete.
    Modify,
    /// Nothing, whatever another entry allows.
    Nothing,
    /// Read and run; writing and deleting are denied, whatever another entry allows.
    Keep,
}

impl Rights {
    const fn in_words(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Modify => "modify",
            Self::Nothing => "deny all",
            Self::Keep => "deny write",
        }
    }
}

/// Which token a command gets.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// That of a container of its own name. It has no capability: `internetClient`, too, would let it go past the proxy.
    AppContainer { name: String },
    /// That of the person without its groups and privileges, at low integrity. It does not hold the network.
    Restricted,
}

/// A plan, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    token: Token,
    processes: u64,
    memory_bytes: u64,
    cpu_seconds: u64,
    /// In the order in which they are set: what is denied stands before what is allowed.
    access: Vec<(PathBuf, Rights)>,
    /// The pipe of the proxy, which only this container may open.
    pipe: Option<String>,
}

impl Plan {
    /// The best walls: an AppContainer in a job. A named pipe leads to the proxy, because to open the loopback address for a
    /// container takes an administrator.
    pub(crate) fn best(shape: &Shape) -> Self {
        let name = container(shape);
        let pipe = shape.proxy.map(|port| format!(r"\\.\pipe\{name}.{port}"));
        Self { token: Token::AppContainer { name }, pipe, ..Self::next(shape) }
    }

    /// The next: a restricted token in a job. What it says of the network is that it is open: whatever asks for the network is
    /// refused at this level.
    pub(crate) fn next(shape: &Shape) -> Self {
        let denied = shape.covered.iter().map(|at| (at.clone(), Rights::Nothing));
        let kept = shape.kept.iter().map(|at| (at.clone(), Rights::Keep));
        let of_folder = if shape.read_only { Rights::Read } else { Rights::Modify };
        let folder = shape.folder.iter().map(|at| (at.clone(), of_folder));
        let private = shape.private.iter().map(|at| (at.clone(), Rights::Modify));
        let system = READABLE.iter().map(|at| (PathBuf::from(at), Rights::Read));
        let reads = shape.reads.iter().map(|at| (at.clone(), Rights::Read));
        Self {
            token: Token::Restricted,
            processes: shape.processes,
            memory_bytes: shape.memory_bytes,
            cpu_seconds: shape.cpu_seconds,
            access: denied.chain(kept).chain(folder).chain(private).chain(system).chain(reads).collect(),
            pipe: None,
        }
    }

    /// The level that it would reach when nothing gets through it.
    pub(crate) const fn level(&self) -> SandboxLevel {
        match self.token {
            Token::AppContainer { .. } => SandboxLevel::AppContainer,
            Token::Restricted => SandboxLevel::RestrictedToken,
        }
    }
}

/// The name of a container: the same for the same folders, of letters and digits, and short enough for Windows.
fn container(shape: &Shape) -> String {
    let mut told = Vec::new();
    for place in shape.folder.iter().chain(&shape.private) {
        told.extend_from_slice(place.as_os_str().as_encoded_bytes());
        told.push(0);
    }
    let digest = Digest::of(&told).to_string();
    format!("hermit.{}", digest.get(..32).unwrap_or(&digest))
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.token {
            Token::AppContainer { name } => writeln!(f, "token: AppContainer {name}, capabilities: none")?,
            Token::Restricted => {
                writeln!(f, "token: restricted, no groups, no privileges, low integrity")?;
            }
        }
        let Self { processes, memory_bytes, cpu_seconds, .. } = self;
        write!(f, "job: {processes} processes, {memory_bytes} bytes of memory, {cpu_seconds} seconds")?;
        writeln!(f, ", ends with its handle, nobody may leave it")?;
        writeln!(f, "desktop: denied are {}", FORBIDDEN.join(", "))?;
        for (at, rights) in &self.access {
            writeln!(f, "access: {} {}", rights.in_words(), shown(at))?;
        }
        match (&self.pipe, &self.token) {
            (Some(pipe), _) => writeln!(f, "network: the pipe {pipe}"),
            (None, Token::AppContainer { .. }) => writeln!(f, "network: none"),
            (None, Token::Restricted) => writeln!(f, "network: open"),
        }
    }
}

/// A place on one line, in quotes that nothing in it can close.
fn shown(at: &Path) -> String {
    format!("\"{}\"", acts::visible(&at.to_string_lossy()).replace('"', "\\\""))
}

/// Why no command runs there, with what would stand around one.
pub(crate) fn not_yet(walls: &Sandbox) -> String {
    let shape = Shape::of(walls, &View::nowhere(), None, 0);
    let planned = [Plan::best(&shape), Plan::next(&shape)].map(|plan| {
        let lines: Vec<String> = plan.to_string().lines().map(str::to_owned).collect();
        format!("{} ({})", plan.level().in_words(), lines.join("; "))
    });
    format!("{}; planned: {}", disk::not_on_this_system("a sandbox for commands"), planned.join(", or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape() -> Shape {
        Shape {
            folder: Some(PathBuf::from(r"C:\Users\ann\notes")),
            private: Some(PathBuf::from(r"C:\Users\ann\AppData\Local\hermit\run\private")),
            reads: vec![PathBuf::from(r"D:\toolchain")],
            covered: vec![PathBuf::from(r"C:\Users\ann\notes\.env")],
            kept: vec![PathBuf::from(r"C:\Users\ann\notes\.hermit")],
            memory_bytes: 4096,
            processes: 8,
            cpu_seconds: 60,
            ..Shape::default()
        }
    }

    const ACCESS: &str = r#"access: deny all "C:\\Users\\ann\\notes\\.env"
access: deny write "C:\\Users\\ann\\notes\\.hermit"
access: modify "C:\\Users\\ann\\notes"
access: modify "C:\\Users\\ann\\AppData\\Local\\hermit\\run\\private"
access: read "C:\\Windows"
access: read "C:\\Program Files"
access: read "C:\\Program Files (x86)"
access: read "D:\\toolchain"
"#;
    const JOB: &str = "job: 8 processes, 4096 bytes of memory, 60 seconds, ends with its handle, nobody may leave it\n\
        desktop: denied are handles, read clipboard, write clipboard, system parameters, display settings, global atoms, \
        desktop, exit windows\n";

    #[test]
    fn an_app_container_has_no_capability_and_reaches_the_proxy_by_a_pipe_alone() {
        let name = container(&shape());
        let token = format!("token: AppContainer {name}, capabilities: none\n");
        let alone = Plan::best(&shape());
        assert_eq!(alone.to_string(), format!("{token}{JOB}{ACCESS}network: none\n"));
        assert_eq!(alone.level(), SandboxLevel::AppContainer);
        let out = Plan::best(&Shape { proxy: Some(3128), ..shape() }).to_string();
        assert_eq!(out, format!("{token}{JOB}{ACCESS}network: the pipe \\\\.\\pipe\\{name}.3128\n"));
        for word in ["internetClient", "privateNetwork", "loopback"] {
            assert!(!out.contains(word), "{word}: {out}");
        }
    }

    #[test]
    fn a_restricted_token_says_that_its_network_is_open_and_never_names_a_pipe() {
        let plan = Plan::next(&Shape { proxy: Some(3128), ..shape() });
        let token = "token: restricted, no groups, no privileges, low integrity\n";
        assert_eq!(plan.to_string(), format!("{token}{JOB}{ACCESS}network: open\n"));
        assert_eq!(plan.level(), SandboxLevel::RestrictedToken);
    }

    #[test]
    fn a_folder_that_is_only_read_is_not_modified_and_a_view_of_nothing_has_the_system_alone() {
        let told = Plan::best(&Shape { read_only: true, ..shape() }).to_string();
        assert!(told.contains("access: read \"C:\\\\Users\\\\ann\\\\notes\"\n"), "{told}");
        let nothing = Plan::best(&Shape::default());
        assert!(nothing.access.iter().all(|(_, rights)| *rights == Rights::Read), "{nothing}");
        assert_eq!(nothing.access.len(), READABLE.len());
    }

    #[test]
    fn a_container_is_named_by_its_folders_and_the_name_is_one_that_windows_takes() {
        let other = Shape { folder: Some(PathBuf::from(r"C:\Users\ann\notes2")), ..shape() };
        assert_eq!(container(&shape()), container(&shape()));
        assert_ne!(container(&shape()), container(&other));
        let name = container(&other);
        assert!(name.len() <= 64 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.'), "{name}");
        // Where one name ends and the next begins is part of it.
        let of = |folder: &str, private: &str| Shape {
            folder: Some(PathBuf::from(folder)),
            private: Some(PathBuf::from(private)),
            ..Shape::default()
        };
        assert_ne!(container(&of("ab", "c")), container(&of("a", "bc")));
    }

    #[test]
    fn a_name_cannot_close_its_quotes_or_begin_a_line_of_the_plan() {
        let bad = PathBuf::from("C:\\a\" x\naccess: modify \"C:\\");
        let plan = Plan::next(&Shape { reads: vec![bad], ..Shape::default() }).to_string();
        let lines: Vec<&str> = plan.lines().filter(|line| line.starts_with("access: ")).collect();
        assert_eq!(lines.len(), READABLE.len() + 1, "{plan}");
        assert!(lines.iter().all(|line| !line.starts_with("access: modify")), "{plan}");
    }

    #[test]
    fn where_nothing_stands_yet_it_says_so_and_what_is_planned() {
        let why = not_yet(&Sandbox::none(String::new()));
        assert!(
            why.contains("not have this on this system yet") && why.contains("capabilities: none"),
            "{why}"
        );
        assert!(why.contains(SandboxLevel::RestrictedToken.in_words()) && !why.contains('\n'), "{why}");
    }
}
