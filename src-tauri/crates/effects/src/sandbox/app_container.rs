//! The walls of Windows as a plan: which token, which job, which access to files, which way to the proxy. Nothing here asks the
//! system: what a plan comes to is what `hermit-exec` is told and what is lent at which place.

use super::escapes::Escapes;
use super::shape::Shape;
use crate::system::lent_places::{Entry, Lending};
use crate::system::walls::OF_WINDOWS as READABLE;
use model::Digest;
use model::receipt::SandboxLevel;
use std::fmt;
use std::path::{Path, PathBuf};

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

/// Which walls of Windows, from the best down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An AppContainer in a job.
    AppContainer,
    /// A restricted token in a job.
    Restricted,
}

/// What gets through a restricted token as it is meant: its network is open.
const OPEN_BY_PLAN: [&str; 2] = ["socket", "network"];

impl Kind {
    /// All of them, from the best down.
    pub(crate) const ALL: [Self; 2] = [Self::AppContainer, Self::Restricted];

    /// The level that they reach when nothing gets through but what is meant to.
    pub(crate) const fn level(self) -> SandboxLevel {
        match self {
            Self::AppContainer => SandboxLevel::AppContainer,
            Self::Restricted => SandboxLevel::RestrictedToken,
        }
    }

    /// What they are, in words.
    pub(super) const fn in_words(self) -> &'static str {
        match self {
            Self::AppContainer => "an AppContainer",
            Self::Restricted => "a restricted token",
        }
    }

    /// Whether what was tried against them is what they promise. What could not be tried is not believed.
    pub(crate) fn is_reached(self, tried: &Escapes) -> bool {
        let is_meant = |name: &&str| self == Self::Restricted && OPEN_BY_PLAN.contains(name);
        tried.not_tried.is_empty() && !tried.refused.is_empty() && tried.through.iter().all(is_meant)
    }
}

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

    /// Whether they are taken, and which, as Windows has them in bits.
    const fn bits(self) -> (bool, u32) {
        match self {
            Self::Read => (false, 0x0012_00a9),
            Self::Modify => (false, 0x0013_01bf),
            Self::Nothing => (true, 0x001f_01ff),
            // Bytes, what is in a folder, attributes, the thing itself, its list and its owner.
            Self::Keep => (true, 0x000d_0156),
        }
    }
}

/// Which token a command gets.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// That of a container of its own name. It has no capability: `internetClient`, too, would let it go past the proxy.
    AppContainer { name: String },
    /// That of the person without groups that give more than everybody has and without privileges, at low integrity. What it
    /// reaches has to be open to this name as well, or to everybody. It does not hold the network.
    Restricted { name: String },
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
    /// Of these walls.
    pub(crate) fn of(kind: Kind, shape: &Shape) -> Self {
        match kind {
            Kind::AppContainer => Self::best(shape),
            Kind::Restricted => Self::next(shape),
        }
    }

    /// The best walls: an AppContainer in a job. A named pipe leads to the proxy, because to open the loopback address for a
    /// container takes an administrator.
    fn best(shape: &Shape) -> Self {
        let name = container(shape);
        let pipe = shape.proxy.map(|port| format!(r"\\.\pipe\{name}.{port}"));
        Self { token: Token::AppContainer { name }, pipe, ..Self::next(shape) }
    }

    /// The next: a restricted token in a job. What it says of the network is that it is open: whatever asks for the network is
    /// refused at this level.
    fn next(shape: &Shape) -> Self {
        let denied = shape.covered.iter().map(|at| (at.clone(), Rights::Nothing));
        // Where nothing can be changed there is nothing to keep, and no folder is made in that of a person to be closed.
        let kept = shape.kept.iter().filter(|_| !shape.read_only).map(|at| (at.clone(), Rights::Keep));
        let of_folder = if shape.read_only { Rights::Read } else { Rights::Modify };
        let folder = shape.folder.iter().map(|at| (at.clone(), of_folder));
        let changed = shape.changed.iter().map(|at| (at.clone(), Rights::Modify));
        let private = shape.private.iter().chain(&shape.home).map(|at| (at.clone(), Rights::Modify));
        let system = READABLE.iter().map(|at| (PathBuf::from(at), Rights::Read));
        let reads = shape.reads.iter().map(|at| (at.clone(), Rights::Read));
        Self {
            token: Token::Restricted { name: second_name(shape) },
            processes: shape.processes,
            memory_bytes: shape.memory_bytes,
            cpu_seconds: shape.cpu_seconds,
            access: denied
                .chain(kept)
                .chain(folder)
                .chain(changed)
                .chain(private)
                .chain(system)
                .chain(reads)
                .collect(),
            pipe: None,
        }
    }

    /// What is lent to the command, in the order of the plan. What Windows opens to everybody is not in it.
    pub(crate) fn lending(&self, shape: &Shape) -> Lending {
        let own = self.access.iter().filter(|(at, _)| !READABLE.iter().any(|system| at == Path::new(system)));
        let entry = |(at, rights): &(PathBuf, Rights)| {
            let (is_denied, rights_as_bits) = rights.bits();
            Entry {
                at: at.clone(),
                is_denied,
                rights: rights_as_bits,
                // A toolchain that cannot be opened is one that the command does not find.
                is_needed: *rights != Rights::Read || shape.folder.as_ref() == Some(at),
                is_made: *rights == Rights::Keep,
            }
        };
        let folder = shape.folder.iter().filter(|_| !shape.read_only);
        let written = folder.chain(&shape.changed).chain(&shape.private).chain(&shape.home);
        let (container, name, low) = match &self.token {
            Token::AppContainer { name } => (Some(name.clone()), String::new(), Vec::new()),
            Token::Restricted { name } => (None, name.clone(), written.cloned().collect()),
        };
        Lending { container, name, entries: own.map(entry).collect(), low }
    }
}

/// What `hermit-exec` is told: as whom the command runs, which is nobody else than Hermit where no walls are, with which process
/// it ends, and its limits.
pub(super) fn told(kind: Option<Kind>, who: &str, host: u32, shape: &Shape) -> Vec<String> {
    let mut told = match kind {
        Some(Kind::AppContainer) => vec!["--container".to_owned(), who.to_owned()],
        Some(Kind::Restricted) => vec!["--restricted".to_owned(), who.to_owned()],
        None => vec!["--own".to_owned()],
    };
    let limits = [
        ("--host", u64::from(host)),
        ("--memory", shape.memory_bytes),
        ("--processes", shape.processes),
        ("--cpu", shape.cpu_seconds),
    ];
    for (name, most) in limits {
        told.extend([name.to_owned(), most.to_string()]);
    }
    told
}

/// The digest of the folders that a command may change, so that nothing is shared between commands that have others.
fn of_folders(shape: &Shape) -> String {
    let mut told = Vec::new();
    for place in shape.folder.iter().chain(&shape.private).chain(&shape.home) {
        told.extend_from_slice(place.as_os_str().as_encoded_bytes());
        told.push(0);
    }
    Digest::of(&told).to_string()
}

/// The name of a container: the same for the same folders, of letters and digits, and short enough for Windows.
fn container(shape: &Shape) -> String {
    let digest = of_folders(shape);
    format!("hermit.{}", digest.get(..32).unwrap_or(&digest))
}

/// In whose name a restricted token is looked at a second time, as Windows writes it: nobody else has this one.
fn second_name(shape: &Shape) -> String {
    let digest = of_folders(shape);
    let part = |at: usize| {
        let hex = digest.get(8 * at..8 * at + 8).unwrap_or_default();
        u32::from_str_radix(hex, 16).unwrap_or_default()
    };
    // Of those who manage resources and may name whom they like.
    format!("S-1-9-1214607981-{}-{}-{}-{}", part(0), part(1), part(2), part(3))
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.token {
            Token::AppContainer { name } => writeln!(f, "token: AppContainer {name}, capabilities: none")?,
            Token::Restricted { name } => {
                writeln!(
                    f,
                    "token: restricted to {name}, no groups of its own, no privileges, low integrity"
                )?;
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
            (None, Token::Restricted { .. }) => writeln!(f, "network: open"),
        }
    }
}

/// A place on one line, in quotes that nothing in it can close.
fn shown(at: &Path) -> String {
    format!("\"{}\"", acts::visible(&at.to_string_lossy()).replace('"', "\\\""))
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

    /// The shapes of which macOS has profiles, each under the same name.
    fn shapes() -> [(&'static str, Shape, &'static str); 9] {
        let folder = Shape { covered: Vec::new(), kept: Vec::new(), reads: Vec::new(), ..shape() };
        let staged =
            Shape { folder: Some(PathBuf::from(r"C:\Users\ann\hermit\staged\tree")), ..folder.clone() };
        let read_only = Shape { read_only: true, ..folder.clone() };
        let git = vec![PathBuf::from(r"C:\Users\ann\notes\.git")];
        let home = PathBuf::from(r"C:\Users\ann\AppData\Local\hermit\home\claude");
        let proxy = Shape { proxy: Some(49152), ..folder.clone() };
        [
            ("nowhere", Shape::default(), include_str!("app_container/golden/nowhere.txt")),
            ("folder", folder, include_str!("app_container/golden/folder.txt")),
            ("read_only", read_only.clone(), include_str!("app_container/golden/read_only.txt")),
            (
                "hidden",
                Shape { reads: Vec::new(), ..shape() },
                include_str!("app_container/golden/hidden.txt"),
            ),
            ("staged", staged.clone(), include_str!("app_container/golden/staged.txt")),
            (
                "staged_tools",
                Shape { reads: shape().reads, ..staged },
                include_str!("app_container/golden/staged_tools.txt"),
            ),
            ("proxy", proxy.clone(), include_str!("app_container/golden/proxy.txt")),
            ("guest", Shape { home: Some(home), ..proxy }, include_str!("app_container/golden/guest.txt")),
            ("git", Shape { changed: git, ..read_only }, include_str!("app_container/golden/git.txt")),
        ]
    }

    /// Both levels, one behind the other; what is made of digests is called `FOLDERS` and `NAME`.
    #[test]
    fn the_plan_of_every_shape_is_the_one_that_was_read_by_a_person() {
        for (name, shape, golden) in shapes() {
            let plans = format!("{}\n{}", Plan::best(&shape), Plan::next(&shape));
            let made = plans.replace(&container(&shape), "FOLDERS").replace(&second_name(&shape), "NAME");
            assert!(made == golden, "app_container/golden/{name}.txt is not what is made now:\n{made}");
        }
    }

    #[test]
    fn an_app_container_has_no_capability_and_reaches_the_proxy_by_a_pipe_alone() {
        let name = container(&shape());
        let token = format!("token: AppContainer {name}, capabilities: none\n");
        let alone = Plan::best(&shape());
        assert_eq!(alone.to_string(), format!("{token}{JOB}{ACCESS}network: none\n"));
        let out = Plan::best(&Shape { proxy: Some(3128), ..shape() }).to_string();
        assert_eq!(out, format!("{token}{JOB}{ACCESS}network: the pipe \\\\.\\pipe\\{name}.3128\n"));
        for word in ["internetClient", "privateNetwork", "loopback"] {
            assert!(!out.contains(word), "{word}: {out}");
        }
    }

    #[test]
    fn a_restricted_token_says_that_its_network_is_open_and_never_names_a_pipe() {
        let plan = Plan::next(&Shape { proxy: Some(3128), ..shape() });
        let name = second_name(&shape());
        let token =
            format!("token: restricted to {name}, no groups of its own, no privileges, low integrity\n");
        assert_eq!(plan.to_string(), format!("{token}{JOB}{ACCESS}network: open\n"));
    }

    #[test]
    fn a_folder_that_is_only_read_is_not_modified_and_a_view_of_nothing_has_the_system_alone() {
        let told = Plan::best(&Shape { read_only: true, ..shape() }).to_string();
        assert!(told.contains("access: read \"C:\\\\Users\\\\ann\\\\notes\"\n"), "{told}");
        assert!(!told.contains("access: deny write"), "nothing is made in it: {told}");
        let git = PathBuf::from(r"C:\Users\ann\notes\.git");
        let of_git = Shape { read_only: true, changed: vec![git.clone()], ..shape() };
        let told = Plan::next(&of_git).to_string();
        let both =
            "read \"C:\\\\Users\\\\ann\\\\notes\"\naccess: modify \"C:\\\\Users\\\\ann\\\\notes\\\\.git\"\n";
        assert!(told.contains(both), "{told}");
        let low = Plan::next(&of_git).lending(&of_git).low;
        assert_eq!(low, [git, shape().private.unwrap()], "of the folder nothing else is labelled");
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
    fn a_restricted_token_is_named_by_its_folders_as_well() {
        let other = Shape { folder: Some(PathBuf::from(r"C:\Users\ann\notes2")), ..shape() };
        let name = second_name(&shape());
        assert_eq!(name, second_name(&shape()));
        assert_ne!(name, second_name(&other));
        let parts: Vec<&str> = name.split('-').collect();
        assert_eq!(parts.len(), 8, "{name}");
        assert!(
            name.starts_with("S-1-9-") && parts[3..].iter().all(|part| part.parse::<u32>().is_ok()),
            "{name}"
        );
    }

    /// What a plan says and what is done are the same places in the same order, but for what Windows opens to everybody.
    #[test]
    fn what_is_lent_is_what_the_plan_says() {
        for kind in Kind::ALL {
            let plan = Plan::of(kind, &shape());
            let lending = plan.lending(&shape());
            let places: Vec<&Path> = lending.entries.iter().map(|entry| entry.at.as_path()).collect();
            let planned: Vec<&Path> = plan.access.iter().map(|(at, _)| at.as_path()).collect();
            let planned: Vec<&Path> = planned
                .into_iter()
                .filter(|at| !READABLE.iter().any(|system| *at == Path::new(system)))
                .collect();
            assert_eq!(places, planned);
            let bits: Vec<(bool, u32)> = lending.entries.iter().map(|e| (e.is_denied, e.rights)).collect();
            let (modify, keep) = (Rights::Modify.bits(), Rights::Keep.bits());
            assert_eq!(bits, [Rights::Nothing.bits(), keep, modify, modify, Rights::Read.bits()]);
            // To write, to delete, and to write the list and the owner are taken; to read is not.
            assert!(keep.1 & 0x000d_0002 == 0x000d_0002 && keep.1 & Rights::Read.bits().1 == 0);
            assert_eq!(modify.1 & 0x000c_0040, 0, "no list, no owner, and nothing that denies it");
            let needed: Vec<bool> = lending.entries.iter().map(|entry| entry.is_needed).collect();
            assert_eq!(needed, [true, true, true, true, false], "a toolchain is left out, a wall is not");
            let made: Vec<bool> = lending.entries.iter().map(|entry| entry.is_made).collect();
            assert_eq!(made, [false, true, false, false, false]);
        }
        let (best, next) = (Plan::of(Kind::AppContainer, &shape()), Plan::of(Kind::Restricted, &shape()));
        let (best, next) = (best.lending(&shape()), next.lending(&shape()));
        assert_eq!((best.container, best.low), (Some(container(&shape())), Vec::new()));
        assert_eq!((next.container, next.name), (None, second_name(&shape())));
        assert_eq!(next.low.len(), 2, "the folder and its private one");
        let read_only = Shape { read_only: true, ..shape() };
        let only = Plan::of(Kind::Restricted, &read_only).lending(&read_only);
        assert_eq!(only.low, [shape().private.unwrap()]);
        assert!(
            only.entries.iter().any(|entry| Some(&entry.at) == shape().folder.as_ref() && entry.is_needed)
        );
    }

    #[test]
    fn the_program_beside_a_command_is_told_as_whom_it_runs_and_every_bound() {
        let limits = ["--host", "7", "--memory", "4096", "--processes", "8", "--cpu", "60"];
        for (kind, who) in [
            (Some(Kind::AppContainer), &["--container", "S-1-15-2-1"][..]),
            (Some(Kind::Restricted), &["--restricted", "S-1-15-2-1"][..]),
            (None, &["--own"][..]),
        ] {
            assert_eq!(told(kind, "S-1-15-2-1", 7, &shape()), [who, &limits].concat());
        }
    }

    #[test]
    fn walls_are_believed_only_when_all_was_tried_and_nothing_came_through_that_is_not_meant_to() {
        let tried = |refused: &[&'static str], through: &[&'static str], not_tried: &[&'static str]| {
            Escapes { refused: refused.to_vec(), through: through.to_vec(), not_tried: not_tried.to_vec() }
        };
        let (best, next) = (Kind::AppContainer, Kind::Restricted);
        let all = tried(&["signal", "network"], &[], &[]);
        assert!(best.is_reached(&all) && next.is_reached(&all));
        let open = tried(&["signal"], &["socket", "network"], &[]);
        assert!(!best.is_reached(&open) && next.is_reached(&open));
        for other in [
            tried(&["signal"], &["read outside"], &[]),
            tried(&["signal"], &["network", "grandchild"], &[]),
            tried(&["signal"], &[], &["keychain"]),
            tried(&[], &["network"], &[]),
            Escapes::default(),
        ] {
            assert!(!best.is_reached(&other) && !next.is_reached(&other), "{other}");
        }
        assert_eq!(best.level(), SandboxLevel::AppContainer);
        assert_eq!(next.level(), SandboxLevel::RestrictedToken);
    }
}
