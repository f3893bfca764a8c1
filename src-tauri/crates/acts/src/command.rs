//! Running a program.

use crate::shell::{Simple, simple_commands};
use crate::{ActionRequest, Counts, Line, LineKind, Part, Tool, inside, programs, visible, visible_path};
use model::action::{ActionClass, ExpectedEffect, Reversibility};
use model::grant::FilesystemScope;
use model::limits::COMMAND_MS_MAX;
use model::receipt::{ReceiptClass, ResultCode};
use model::witness::Fingerprint;
use model::{RelPath, ResourceId, WorkspaceId, lasting};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

/// Name and port that stand for any public host: a command that asks for the network and names none.
const ANY_HOST: (&str, u16) = ("*", 0);

/// Subcommands of git that leave refs, index and objects as they are.
const GIT_LOOKS: [&str; 22] = [
    "status",
    "log",
    "diff",
    "show",
    "blame",
    "ls-files",
    "ls-tree",
    "rev-parse",
    "rev-list",
    "describe",
    "grep",
    "cat-file",
    "shortlog",
    "merge-base",
    "name-rev",
    "for-each-ref",
    "show-ref",
    "check-ignore",
    "help",
    "version",
    "--version",
    "--help",
];

/// What makes a look of git more than one: other settings, other programs, other places.
const GIT_BEYOND: [&str; 10] = [
    "-c",
    "--config-env",
    "--exec-path",
    "--git-dir",
    "--work-tree",
    "--output",
    "--ext-diff",
    "--textconv",
    "--open-files-in-pager",
    "-O",
];

/// Hosts, or secrets, that one command may name.
const REACH_MAX: usize = 16;

/// A program with its arguments, run under the sandbox; no shell unless the program is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Where, below the lease root.
    pub cwd: RelPath,
    /// Whether it asks for the network.
    pub network: bool,
    /// How long it may run, in milliseconds: 1 to [`COMMAND_MS_MAX`].
    pub timeout_ms: u64,
    /// Hosts it may reach, as `name:port`, through Hermit's proxy; with none, any public host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Handles of secrets it may use; what it sees of them are sentinels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
}

/// A command as a model asks for it: it need name no more than the program.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    argv: Vec<String>,
    #[serde(default, deserialize_with = "inside")]
    cwd: RelPath,
    #[serde(default)]
    network: bool,
    #[serde(default = "longest_ms")]
    timeout_ms: u64,
    #[serde(default)]
    hosts: Vec<String>,
    #[serde(default)]
    secrets: Vec<String>,
}

const fn longest_ms() -> u64 {
    COMMAND_MS_MAX
}

impl Tool for Command {
    fn offered() -> Option<&'static str> {
        Some(include_str!("command.json"))
    }

    fn from_call(arguments: Value) -> Result<Self, serde_json::Error> {
        let Asked { argv, cwd, network, timeout_ms, hosts, secrets } = serde_json::from_value(arguments)?;
        Ok(Self { argv, cwd, network, timeout_ms, hosts, secrets })
    }

    fn check(&self) -> Result<(), String> {
        let Self { argv, network, timeout_ms, hosts, secrets, .. } = self;
        if argv.first().is_none_or(|program| program.trim().is_empty()) {
            return Err("`argv` begins with a program".to_owned());
        }
        if argv.iter().any(|word| word.contains('\0')) || !(1..=COMMAND_MS_MAX).contains(timeout_ms) {
            return Err(format!("`argv` holds no NUL, and `timeout_ms` goes from 1 to {COMMAND_MS_MAX}"));
        }
        let reaches_out = !hosts.is_empty() || !secrets.is_empty();
        if reaches_out && !network {
            return Err("`hosts` and `secrets` need `network` to be true".to_owned());
        }
        if hosts.len() > REACH_MAX || secrets.len() > REACH_MAX {
            return Err(format!("a command names up to {REACH_MAX} `hosts` and as many `secrets`"));
        }
        if !hosts.iter().all(|host| is_host(host)) {
            let say = "`hosts` are written as `name:port`, in small letters, such as `api.example.org:443`";
            return Err(say.to_owned());
        }
        Ok(())
    }

    /// A command that asks for the network may send as well as fetch, so it is a network write too. What it does inside
    /// its walls cannot be read from its words: a script that calls git is a command here, and the sandbox is the
    /// boundary (governance.md 1).
    fn classes(&self) -> BTreeSet<ActionClass> {
        let mut found = BTreeSet::from([ActionClass::ExecuteCommand]);
        if self.network {
            found.extend([ActionClass::NetworkRead, ActionClass::NetworkWrite]);
        }
        if !self.secrets.is_empty() {
            found.insert(ActionClass::CredentialedApiCall);
        }
        if changes_version_control(&self.argv) {
            found.insert(ActionClass::VcsMutation);
        }
        found
    }

    /// It may touch everything below the lease root, so it names the root; with the network the hosts it asks for, or
    /// `host:*:0`, any public one.
    fn resources(&self, workspace: WorkspaceId) -> BTreeSet<ResourceId> {
        let mut found = BTreeSet::from([ResourceId::File(workspace, RelPath::ROOT)]);
        if self.network && self.hosts.is_empty() {
            found.insert(ResourceId::Host(ANY_HOST.0.to_owned(), ANY_HOST.1));
        }
        found.extend(self.hosts.iter().filter_map(|host| format!("host:{host}").parse().ok()));
        found.extend(self.secrets.iter().cloned().map(ResourceId::Secret));
        found
    }

    fn counts(&self) -> Counts {
        let mut counts = Counts { network: self.network, ..Counts::default() };
        counts.add_path(&self.cwd);
        counts
    }

    fn parts(&self) -> Vec<Part> {
        parts(&self.argv)
    }

    fn argv(&self) -> &[String] {
        &self.argv
    }

    /// A staged view has no network.
    fn may_be_staged(&self) -> bool {
        !self.network
    }

    /// Its changes of files are put back as far as they were kept; what it sends is not.
    fn reversibility(&self) -> Reversibility {
        Reversibility::Partial
    }

    fn reversibility_without_changes(&self, request: &ActionRequest, _: ResultCode) -> Reversibility {
        match request.staged {
            Some(_) => Reversibility::NoEffect,
            None => Reversibility::Partial,
        }
    }

    fn receipt_class(&self) -> ReceiptClass {
        ReceiptClass::CommandExecution
    }

    fn filesystem_scope(&self) -> FilesystemScope {
        FilesystemScope::Lease
    }

    fn title(&self) -> String {
        let words: Vec<String> = self.argv.iter().map(|word| format!("\"{}\"", visible(word))).collect();
        let network = match (self.network, self.hosts.as_slice()) {
            (false, _) => String::new(),
            (true, []) => " with the network".to_owned(),
            (true, hosts) => format!(" with the network: {}", visible(&hosts.join(", "))),
        };
        format!("run {}{network}", words.join(" "))
    }

    fn one_line(&self) -> String {
        format!("run {}", self.argv.join(" "))
    }

    fn lines(&self, _: &ActionRequest) -> Vec<Line> {
        let reach = self.network.then_some((&self.hosts, &self.secrets));
        lines(&self.argv, &self.cwd, reach, self.timeout_ms)
    }

    fn expected(&self, workspace: WorkspaceId, _: &[Fingerprint]) -> Vec<ExpectedEffect> {
        vec![ExpectedEffect {
            resource: ResourceId::File(workspace, self.cwd.clone()),
            effect: "run".to_owned(),
            before_sha256: None,
            after_sha256: None,
            byte_size: None,
        }]
    }
}

fn is_host(host: &str) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '_' | '*');
    host.rsplit_once(':').is_some_and(|(name, port)| {
        !name.is_empty() && name.chars().all(letter) && port.parse::<u16>().is_ok_and(|port| port > 0)
    })
}

/// What rules can speak of in the words of a command: each simple command of it.
pub fn parts(argv: &[String]) -> Vec<Part> {
    match simple_commands(argv) {
        Ok(all) => all.into_iter().map(|one| Part::Command(one.words)).collect(),
        Err(_) => vec![Part::Unreadable],
    }
}

/// Hosts and secrets, where there is a network at all.
type Reach<'a> = Option<(&'a Vec<String>, &'a Vec<String>)>;

fn lines(argv: &[String], cwd: &RelPath, reach: Reach<'_>, timeout_ms: u64) -> Vec<Line> {
    let mut lines: Vec<Line> = argv
        .iter()
        .enumerate()
        .map(|(at, word)| match at {
            0 => Line::effect(format!("run the program \"{}\"", visible(word))),
            at => Line::effect(format!("argument {at}: \"{}\"", visible(word))),
        })
        .collect();
    lines.push(Line::effect(format!("in the folder {}", visible_path(cwd))));
    lines.push(Line::effect("it may change anything in the workspace".to_owned()));
    match reach {
        None => lines.push(Line::effect("without the network".to_owned())),
        Some((hosts, secrets)) => {
            let grave = |text: String| Line { kind: LineKind::Unrecoverable, text };
            lines.push(grave("WITH the network: what it sends cannot be taken back".to_owned()));
            if hosts.is_empty() {
                lines.push(grave("it may reach ANY public host".to_owned()));
            }
            lines.extend(hosts.iter().map(|host| grave(format!("it may reach {}", visible(host)))));
            lines.extend(
                secrets.iter().map(|handle| grave(format!("it may use `secret:{}`", visible(handle)))),
            );
        }
    }
    lines.push(Line::effect(format!("for at most {}", lasting(Duration::from_millis(timeout_ms)))));
    lines
}

/// Whether the words of a command say that it changes version control.
fn changes_version_control(argv: &[String]) -> bool {
    let Some((program, arguments)) = argv.split_first() else {
        return false;
    };
    if programs::name(program) == "git" {
        return !only_looks(arguments);
    }
    if programs::is_version_control(program) {
        return true;
    }
    // What a shell would run is read command by command, where it can be read for sure.
    if let ([shell, flag, _], Ok(simple)) = (argv, simple_commands(argv))
        && programs::is_read_shell(shell)
        && flag.ends_with('c')
        && simple.iter().all(|one| one.words.first().is_some_and(Option::is_some))
    {
        let words =
            |one: &Simple| one.words.iter().map(|w| w.clone().unwrap_or_default()).collect::<Vec<_>>();
        return simple.iter().any(|one| changes_version_control(&words(one)));
    }
    programs::starts_programs(program)
        && arguments.iter().any(|argument| programs::mentions_version_control(argument))
}

/// Whether git is only asked for what it has. Settings of a hostile repository may still start programs; they stay
/// inside the walls, where the command runs staged like every other.
fn only_looks(arguments: &[String]) -> bool {
    let beyond = |word: &String| {
        let name = word.split('=').next().unwrap_or(word);
        GIT_BEYOND.contains(&name) || (word.starts_with("-c") && !word.starts_with("--"))
    };
    let mut rest = arguments.iter();
    let first = loop {
        match rest.next().map(String::as_str) {
            Some("--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs") => {}
            first => break first,
        }
    };
    first.is_none_or(|word| GIT_LOOKS.contains(&word)) && !arguments.iter().any(beyond)
}
