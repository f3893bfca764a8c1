//! The profile that macOS enforces: everything is refused but what a rule allows, and of two rules that fit the later one holds.

use super::Sandbox;
use super::shape::Shape;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes of one profile, which is handed over as one argument.
const PROFILE_BYTES_MAX: usize = 256 * 1024;

/// Programs, libraries, and what they need of the system: no passwords, no keys, no settings of a person.
const READABLE: [&str; 41] = [
    "/System/Library",
    "/System/Cryptexes",
    "/System/Volumes/Preboot/Cryptexes",
    "/Library/Apple",
    "/Library/Developer/CommandLineTools",
    "/Library/Frameworks",
    "/Library/Java",
    "/Applications/Xcode.app/Contents",
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/lib",
    "/usr/libexec",
    "/usr/sbin",
    "/usr/share",
    "/usr/local/bin",
    "/usr/local/lib",
    "/usr/local/libexec",
    "/usr/local/include",
    "/usr/local/share",
    "/usr/local/opt",
    "/usr/local/Cellar",
    "/opt/homebrew/bin",
    "/opt/homebrew/lib",
    "/opt/homebrew/include",
    "/opt/homebrew/share",
    "/opt/homebrew/opt",
    "/opt/homebrew/Cellar",
    "/opt/homebrew/etc/ca-certificates",
    "/opt/homebrew/etc/openssl@3",
    "/nix/store",
    "/private/etc/hosts",
    "/private/etc/localtime",
    "/private/etc/passwd",
    "/private/etc/group",
    "/private/etc/protocols",
    "/private/etc/services",
    "/private/etc/ssl",
    "/private/var/db/timezone",
    "/private/var/db/xcode_select_link",
    "/private/var/select",
];

/// Links and folders on the way to them.
const ON_THE_WAY: [&str; 13] = [
    "/",
    "/etc",
    "/tmp",
    "/var",
    "/private",
    "/private/etc",
    "/private/var",
    "/private/var/db",
    "/usr",
    "/usr/local",
    "/opt",
    "/opt/homebrew",
    "/dev",
];

/// What a program may ask of the kernel by name; arguments and variables of other processes are not among it.
const SYSCTL: [&str; 24] = [
    "hw.activecpu",
    "hw.byteorder",
    "hw.cachelinesize",
    "hw.cpufamily",
    "hw.cpusubtype",
    "hw.cputype",
    "hw.logicalcpu",
    "hw.logicalcpu_max",
    "hw.machine",
    "hw.memsize",
    "hw.model",
    "hw.ncpu",
    "hw.pagesize",
    "hw.physicalcpu",
    "hw.physicalcpu_max",
    "kern.argmax",
    "kern.hostname",
    "kern.maxfilesperproc",
    "kern.osproductversion",
    "kern.osrelease",
    "kern.ostype",
    "kern.osversion",
    "kern.version",
    "vm.loadavg",
];

/// Services of the system that a program may look up: who a user is, and no more. By others it would reach the keychain,
/// the clipboard, settings, other programs, and a service that fetches from the network for whoever asks.
const SERVICES: [&str; 2] =
    ["com.apple.system.opendirectoryd.libinfo", "com.apple.system.opendirectoryd.membership"];

/// Limits, then the command. A limit that cannot be set is one that stands lower already. `ulimit -f` counts in half KiB.
const LIMITED: &str = "ulimit -c 0 2>/dev/null; ulimit -t \"$1\" 2>/dev/null; ulimit -f \"$2\" 2>/dev/null; shift 2; exec \"$@\"";

/// The calls by which a process begins a session or a group of its own: `setpgid` and `setsid`.
const LEAVES: &str = "(syscall-number 82) (syscall-number 147)";
/// The call that starts a program in one step, `posix_spawn`. It can put it into a session of its own, and no rule sees what it is told.
const SPAWNS: &str = "(syscall-number 244)";
/// What a program reads from a call that its system has not (`ENOSYS`): many then start others by `fork` and `exec`.
const NOT_THERE: &str = "(with errno 78)";

/// How a profile keeps processes in the group that is ended with their command. Numbers stand in the place of names, which older
/// systems do not all know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stays {
    /// Leaving it is refused, and `posix_spawn` is answered as a call that is not there.
    WithoutSpawn,
    /// Leaving it and `posix_spawn` are refused.
    Refused,
    /// Nothing keeps them there.
    Open,
}

impl Stays {
    /// All ways, the best first.
    pub(super) const ALL: [Self; 3] = [Self::WithoutSpawn, Self::Refused, Self::Open];

    fn rules(self) -> Vec<String> {
        let leaves = format!("(deny syscall-unix {LEAVES})");
        match self {
            Self::WithoutSpawn => vec![leaves, format!("(deny syscall-unix {NOT_THERE} {SPAWNS})")],
            Self::Refused => vec![leaves, format!("(deny syscall-unix {SPAWNS})")],
            Self::Open => Vec::new(),
        }
    }

    /// What programs cannot do for it, in words; none where nothing is kept from them.
    pub(super) const fn costs(self) -> Option<&'static str> {
        match self {
            Self::WithoutSpawn | Self::Refused => Some(
                "so that nothing outlives its command, no program starts another by `posix_spawn`: those that know no other way \
                 (Rust's and C's compilers, Java) cannot start theirs",
            ),
            Self::Open => None,
        }
    }
}

/// What puts a profile around a command: the program that reads it, and how the profile keeps processes in their group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seatbelt {
    pub(super) program: PathBuf,
    pub(super) stays: Stays,
}

/// The profile of a shape.
///
/// # Errors
/// In words, when a place has a name that no profile can hold, or the profile is too long.
fn profile(shape: &Shape, stays: Stays) -> Result<String, String> {
    let mut profile = Profile::default();
    profile.line("(version 1)");
    profile.line("(deny default)");
    profile.line("(allow process-exec*)");
    profile.line("(allow process-fork)");
    for rule in stays.rules() {
        profile.line(&rule);
    }
    profile.line("(allow process-info* (target same-sandbox))");
    profile.line("(allow signal (target same-sandbox))");
    profile.names("allow sysctl-read", "sysctl-name", &SYSCTL);
    profile.names("allow mach-lookup", "global-name", &SERVICES);
    profile.line("(deny appleevent-send)");
    profile.line("(deny lsopen)");
    reads(&mut profile, shape)?;
    writes(&mut profile, shape)?;
    if let Some(port) = shape.proxy {
        // The name of this machine is all that the language takes here beside `*`; it means both loopback addresses.
        profile.line(&format!("(allow network-outbound (remote tcp \"localhost:{port}\"))"));
    }
    match profile.0.len() {
        ..=PROFILE_BYTES_MAX => Ok(profile.0),
        _ => Err(format!(
            "its rules have more than {PROFILE_BYTES_MAX} bytes; choose a smaller folder or fewer places to read"
        )),
    }
}

fn reads(profile: &mut Profile, shape: &Shape) -> Result<(), String> {
    let fixed = READABLE.iter().map(PathBuf::from);
    let own = shape.reads.iter().chain(&shape.folder).chain(&shape.private).chain(&shape.home);
    let open: Vec<PathBuf> = fixed.chain(own.cloned()).collect();
    profile.paths("allow file-read* file-map-executable", "subpath", &open)?;
    // Programs ask what each folder on the way to a place is; none of them is listed by it.
    let mut on_the_way: Vec<PathBuf> = ON_THE_WAY.iter().map(PathBuf::from).collect();
    for place in shape.reads.iter().chain(&shape.folder).chain(&shape.private).chain(&shape.home) {
        on_the_way.extend(above(place));
    }
    on_the_way.sort();
    on_the_way.dedup();
    profile.paths("allow file-read-metadata", "literal", &on_the_way)?;
    // The loader opens the root itself.
    profile.line("(allow file-read-data (literal \"/\"))");
    let devices = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/dtracehelper"];
    profile.names("allow file-read*", "literal", &devices);
    profile.line("(allow file-read* file-write-data (subpath \"/dev/fd\"))");
    profile.line("(allow file-write-data (literal \"/dev/null\") (literal \"/dev/zero\"))");
    Ok(())
}

fn writes(profile: &mut Profile, shape: &Shape) -> Result<(), String> {
    let folder = shape.folder.iter().filter(|_| !shape.read_only);
    let open: Vec<PathBuf> =
        folder.chain(&shape.changed).chain(&shape.private).chain(&shape.home).cloned().collect();
    profile.paths("allow file-write*", "subpath", &open)?;
    profile.line("(deny file-write-setugid)");
    profile.paths("deny file-read* file-map-executable file-write*", "subpath", &shape.covered)?;
    profile.paths("deny file-write*", "subpath", &shape.kept)?;
    // Where nothing is there yet, a rule is asked about the name that a program gives, and a disk may take another case for the same.
    let in_any_case: Result<Vec<String>, String> = shape.kept.iter().map(|place| any_case(place)).collect();
    profile.rule("deny file-write*", "regex", &in_any_case?);
    // Rules are by path: a folder that was moved would take what is in it to a path of which no rule speaks.
    let Some(root) = &shape.folder else { return Ok(()) };
    let mut stay: Vec<PathBuf> = vec![root.clone()];
    for place in shape.covered.iter().chain(&shape.kept) {
        stay.extend(above(place).filter(|folder| folder.starts_with(root)));
    }
    stay.sort();
    stay.dedup();
    profile.paths("deny file-write-unlink", "literal", &stay)
}

/// The folders that a place lies in.
fn above(place: &Path) -> impl Iterator<Item = PathBuf> {
    place.ancestors().skip(1).filter(|folder| *folder != Path::new("")).map(Path::to_path_buf)
}

impl Seatbelt {
    /// The command that becomes `argv` behind the profile of a shape; complete but for its folder, environment and standard
    /// streams.
    ///
    /// # Errors
    /// As [`profile`].
    pub(super) fn command(&self, shape: &Shape, argv: &[String]) -> Result<Command, String> {
        let profile = profile(shape, self.stays)?;
        let mut command = Command::new(&self.program);
        command.arg("-p").arg(profile).args(["/bin/sh", "-c", LIMITED, "hermit"]);
        command.arg(shape.cpu_seconds.to_string()).arg((shape.file_bytes / 512).to_string()).args(argv);
        Ok(command)
    }
}

/// What programs print that could not start another one: the words of the system for a call that is not there, and for one that is
/// refused where a compiler names it.
const NOT_STARTED: [&[u8]; 3] = [b"Function not implemented", b"os error 78", b"posix_spawn"];

impl Sandbox {
    /// What this sandbox may have kept from a command that failed and printed this; none where nothing looks like it.
    pub(crate) fn may_have_kept_from(&self, printed: &[u8]) -> Option<String> {
        let costs = self.seatbelt.as_ref()?.stays.costs()?;
        let says = NOT_STARTED.iter().any(|words| printed.windows(words.len()).any(|part| part == *words));
        says.then(|| format!("sandbox: {costs}"))
    }
}

/// A profile that grows by whole rules.
#[derive(Default)]
struct Profile(String);

impl Profile {
    fn line(&mut self, rule: &str) {
        self.0.push_str(rule);
        self.0.push('\n');
    }

    fn rule(&mut self, head: &str, filter: &str, quoted: &[String]) {
        if quoted.is_empty() {
            return;
        }
        self.0.push_str(&format!("({head}"));
        for text in quoted {
            self.0.push_str(&format!("\n  ({filter} {text})"));
        }
        self.line(")");
    }

    /// A rule about names that stand in this source.
    fn names(&mut self, head: &str, filter: &str, names: &[&str]) {
        let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        self.rule(head, filter, &quoted);
    }

    /// A rule about places; of none there is no rule, since one without a filter would fit everything.
    fn paths(&mut self, head: &str, filter: &str, paths: &[PathBuf]) -> Result<(), String> {
        let root_may = filter == "literal";
        let quoted: Result<Vec<String>, String> = paths.iter().map(|path| quoted(path, root_may)).collect();
        self.rule(head, filter, &quoted?);
        Ok(())
    }
}

/// A place as a text of the profile's language.
fn quoted(path: &Path, root_may: bool) -> Result<String, String> {
    unquoted(path, root_may).map(in_quotes)
}

/// A text of the profile's language, in which a backslash and a quote are written behind a backslash.
fn in_quotes(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A place as the profile can name it; what its language has no sure way to write, and what is no plain path, is refused.
fn unquoted(path: &Path, root_may: bool) -> Result<&str, String> {
    let no = |why: &str| Err(format!("`{}` {why}", acts::visible(&path.to_string_lossy())));
    let Some(text) = path.to_str() else {
        return no("is not UTF-8, and no rule of the sandbox can name it; rename it");
    };
    if text.chars().any(char::is_control) {
        return no(
            "holds a line break or another control character, and no rule of the sandbox can name it; rename it",
        );
    }
    let Some(names) = text.strip_prefix('/') else {
        return no("is no whole path");
    };
    if names.is_empty() {
        return if root_may { Ok(text) } else { no("is the whole disk; choose a folder") };
    }
    if names.split('/').any(|name| matches!(name, "" | "." | "..")) {
        return no("has a step that is empty, `.` or `..`; name the place itself");
    }
    Ok(text)
}

/// A place, and what lies below it, with its name in whatever case, as an expression of the profile's language. Letters beyond ASCII
/// stay as they are: what is kept has a name of Hermit's own.
fn any_case(path: &Path) -> Result<String, String> {
    let text = unquoted(path, false)?;
    let (above, name) = text.rsplit_once('/').unwrap_or_default();
    let plain = |letter: char| match letter {
        '\\' | '^' | '$' | '.' | '|' | '?' | '*' | '+' | '(' | ')' | '[' | ']' | '{' | '}' => {
            format!("\\{letter}")
        }
        letter => letter.to_string(),
    };
    let either = |letter: char| match letter.is_ascii_alphabetic() {
        true => format!("[{}{}]", letter.to_ascii_lowercase(), letter.to_ascii_uppercase()),
        false => plain(letter),
    };
    let (above, name): (String, String) =
        (above.chars().map(plain).collect(), name.chars().map(either).collect());
    Ok(in_quotes(&format!("^{above}/{name}(/.*)?$")))
}

#[cfg(test)]
mod tests;
