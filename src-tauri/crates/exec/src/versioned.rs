//! A change of version control where there is no shell: what `effects/src/vcs/git.sh` does elsewhere, step by step, by git itself and
//! behind the same walls, since this program is started inside them for it. Plumbing alone: no hook, no pager, no editor, no
//! helper, no filter, no configuration but the repository's own, and no network. The ref moves by compare-and-swap, last.
//!
//! The words are in a file, because a line of Windows holds fewer than a commit of many files has. The bytes of the files are beside
//! it, compared with what a person was shown by whoever laid them there: what lies in the folder is not read again.

use crate::Error;
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The file of the words, each behind a zero byte but the first.
const WORDS: &str = "words";
/// The mode of a file that keeps the one it has in the repository: its disk has none.
const KEPT: &str = "kept";
/// The mode of a file that goes.
const GONE: &str = "gone";
/// The program.
pub const GIT: &str = "git";

/// It was not done, as the script says it.
const STOPPED: u8 = 3;
/// No object.
const NOBODY: &str = "0000000000000000000000000000000000000000";
/// What every git is told first.
const SETTINGS: [&str; 16] = [
    "safe.directory=*",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.editor=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.longpaths=true",
    "credential.helper=",
    "protocol.allow=never",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "core.fsync=all",
    "core.fsyncMethod=fsync",
];
/// What stands in its environment.
const ENVIRONMENT: [(&str, &str); 13] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "false"),
    ("GIT_EDITOR", "false"),
    ("GIT_PAGER", "cat"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_DIR", ".git"),
    ("GIT_WORK_TREE", "."),
];

/// The folder of the words, when the first argument is `--git`, and the program that is this person's git, where one was named.
///
/// # Errors
/// [`Error::Argument`] where it names no folder, or something more.
pub fn asked(
    mut arguments: impl Iterator<Item = OsString>,
) -> Result<Option<(PathBuf, Option<PathBuf>)>, Error> {
    if arguments.next().is_none_or(|word| word != "--git") {
        return Ok(None);
    }
    let folder = arguments.next().ok_or_else(|| Error::Argument("--git".to_owned()))?;
    let program = arguments.next().map(PathBuf::from);
    match arguments.next() {
        None => Ok(Some((PathBuf::from(folder), program))),
        Some(more) => Err(Error::Argument(more.to_string_lossy().into_owned())),
    }
}

/// Makes the change in the repository of the folder that this process is in; the number to end with. Without git it says what to do.
#[must_use]
pub fn begin(folder: &Path, git: Option<&Path>) -> u8 {
    let Some(git) = git else {
        eprintln!("hermit: Git is installed neither for all users nor for you; install Git for Windows");
        return STOPPED;
    };
    match std::env::current_dir() {
        Ok(root) => work(folder, &root, git, &mut std::io::stdout().lock()),
        Err(error) => {
            eprintln!("hermit: the folder cannot be named: {error}");
            STOPPED
        }
    }
}

/// Makes the change in the repository of this folder by this git; the number to end with. Where the ref goes is said on `out` before it
/// goes there, and why nothing was done on standard error.
fn work(folder: &Path, root: &Path, git: &Path, out: &mut dyn Write) -> u8 {
    match change(folder, root, git, out) {
        Ok(()) => 0,
        Err(Stop(why)) => {
            eprintln!("hermit: {why}");
            STOPPED
        }
    }
}

/// Why nothing was done, in words for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stop(String);

fn stop<T>(why: String) -> Result<T, Stop> {
    Err(Stop(why))
}

fn change(folder: &Path, root: &Path, git: &Path, out: &mut dyn Write) -> Result<(), Stop> {
    let git = Git { program: git.to_path_buf(), root: root.to_path_buf(), more: Vec::new() };
    let told = std::fs::read(folder.join(WORDS));
    let told = told.map_err(|e| Stop(format!("what is to be done cannot be read: {e}")))?;
    let told = String::from_utf8(told).map_err(|_| Stop("what is to be done is no text".to_owned()))?;
    let words: Vec<&str> = told.split('\0').collect();
    match words.as_slice() {
        ["name", name, _, _, at] => {
            git.has_commit(at)?;
            say(out, at)?;
            git.say(&["update-ref", "-m", "hermit: made", name, at, ""], b"").map(drop)
        }
        ["move", name, prior, _, to, how] => {
            git.has_commit(to)?;
            git.is_free(name)?;
            if *how != "any" && !git.can(&["merge-base", "--is-ancestor", prior, to])? {
                return stop(format!(
                    "{to} does not come after {prior}: moving {name} there would leave commits behind"
                ));
            }
            say(out, to)?;
            git.say(&["update-ref", "-m", "hermit: moved", name, to, prior], b"").map(drop)
        }
        ["delete", name, prior, _] => {
            git.is_free(name)?;
            say(out, "nothing")?;
            git.say(&["update-ref", "-d", name, prior], b"").map(drop)
        }
        ["commit", name, prior, stamp, message, files @ ..] => {
            let commit = Commit { name, prior, stamp, message, folder };
            commit.make(git, files, out)
        }
        _ => stop("what is to be done is not known".to_owned()),
    }
}

/// Says where the ref goes; whoever settles after a crash reads it.
fn say(out: &mut dyn Write, new: &str) -> Result<(), Stop> {
    let said = writeln!(out, "hermit-new {new}").and_then(|()| out.flush());
    said.map_err(|e| Stop(format!("where the ref goes cannot be said: {e}")))
}

/// Real git, at the root of the folder.
#[derive(Debug, Clone)]
struct Git {
    program: PathBuf,
    root: PathBuf,
    /// More of its environment.
    more: Vec<(&'static str, OsString)>,
}

impl Git {
    fn with(&self, name: &'static str, value: impl AsRef<OsStr>) -> Self {
        let mut git = self.clone();
        git.more.push((name, value.as_ref().to_owned()));
        git
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(&self.root).envs(ENVIRONMENT).envs(self.more.iter().cloned());
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, words: &[&str], told: &[u8]) -> Result<Output, Stop> {
        let fail = |e: std::io::Error| Stop(format!("git could not be started: {e}"));
        let mut command = self.command(words);
        command.stdin(if told.is_empty() { Stdio::null() } else { Stdio::piped() });
        let mut child = command.spawn().map_err(fail)?;
        if let Some(mut stdin) = child.stdin.take() {
            // Where it reads no more it has ended, and says why.
            let _ = stdin.write_all(told);
        }
        child.wait_with_output().map_err(fail)
    }

    /// What it says, without its last line break; where it fails, its own last words.
    fn say(&self, words: &[&str], told: &[u8]) -> Result<String, Stop> {
        let output = self.run(words, told)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim_end_matches(['\r', '\n']).to_owned());
        }
        let complained = String::from_utf8_lossy(&output.stderr).into_owned();
        let last = complained.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        let what = words.first().copied().unwrap_or_default();
        stop(format!("git {what} did not succeed: {last}"))
    }

    /// Whether it succeeds.
    fn can(&self, words: &[&str]) -> Result<bool, Stop> {
        Ok(self.run(words, b"")?.status.success())
    }

    fn has_commit(&self, at: &str) -> Result<(), Stop> {
        match self.can(&["cat-file", "-e", &format!("{at}^{{commit}}")])? {
            true => Ok(()),
            false => stop(format!("there is no commit {at}")),
        }
    }

    /// What is checked out, here or in another worktree, is never moved under whoever works there.
    fn is_free(&self, name: &str) -> Result<(), Stop> {
        let Ok(trees) = self.say(&["worktree", "list", "--porcelain"], b"") else {
            return stop("nobody can say what is checked out".to_owned());
        };
        match trees.lines().any(|line| line == format!("branch {name}")) {
            true => stop(format!("{name} is checked out; it is left alone")),
            false => Ok(()),
        }
    }

    /// Whether a blob has a line that ends as on Windows.
    fn has_crlf(&self, object: &str) -> Result<bool, Stop> {
        let fail = |e: std::io::Error| Stop(format!("{object} cannot be read: {e}"));
        let mut command = self.command(&["cat-file", "blob", object]);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().map_err(fail)?;
        let mut found = Ok(false);
        if let Some(stdout) = child.stdout.take() {
            found = has_crlf(stdout);
        }
        // One that is read no further ends when its pipe is closed.
        let _ = child.wait();
        found.map_err(fail)
    }
}

/// Whether a line in it ends as on Windows; it is read no further than there.
fn has_crlf(mut from: impl Read) -> std::io::Result<bool> {
    let (mut piece, mut is_behind_return) = (vec![0; 64 * 1024], false);
    loop {
        let read = match from.read(&mut piece) {
            Ok(0) => return Ok(false),
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        for byte in piece.iter().take(read) {
            if is_behind_return && *byte == b'\n' {
                return Ok(true);
            }
            is_behind_return = *byte == b'\r';
        }
    }
}

/// A commit, but for its files.
struct Commit<'a> {
    name: &'a str,
    /// What it goes on top of; empty: nothing.
    prior: &'a str,
    stamp: &'a str,
    message: &'a str,
    folder: &'a Path,
}

impl Commit<'_> {
    fn make(&self, git: Git, files: &[&str], out: &mut dyn Write) -> Result<(), Stop> {
        let git = self.signed(&git);
        let mut lines = Vec::new();
        let (triples, rest) = files.as_chunks::<3>();
        if !rest.is_empty() {
            return stop("what is to be done is not known".to_owned());
        }
        for [path, mode, bytes] in triples {
            let line = match *mode {
                GONE => format!("0 {NOBODY}\t{path}\0"),
                mode => self.written(&git, path, mode, bytes)?,
            };
            lines.extend_from_slice(line.as_bytes());
        }
        let own = git.with("GIT_INDEX_FILE", self.folder.join("index"));
        let begins = if self.prior.is_empty() { "--empty" } else { self.prior };
        own.say(&["read-tree", begins], b"")?;
        own.say(&["update-index", "-z", "--index-info"], &lines)?;
        let tree = own.say(&["write-tree"], b"")?;
        let new = if self.prior.is_empty() {
            git.say(&["commit-tree", &tree], self.message.as_bytes())?
        } else {
            let before = format!("{}^{{tree}}", self.prior);
            if git.say(&["rev-parse", "--verify", "-q", &before], b"")? == tree {
                return stop("there is nothing to commit: the files are as they are there".to_owned());
            }
            git.say(&["commit-tree", &tree, "-p", self.prior], self.message.as_bytes())?
        };
        say(out, &new)?;
        git.say(&["update-ref", "-m", "hermit: commit", self.name, &new, self.prior], b"")?;
        // What was committed is not to stand there as undone: the index of the branch one is on learns of it.
        let head = git.say(&["symbolic-ref", "-q", "HEAD"], b"").unwrap_or_default();
        if head == self.name && git.say(&["update-index", "-z", "--index-info"], &lines).is_err() {
            let _ = writeln!(out, "hermit-index the index was busy and does not know of it yet");
        }
        Ok(())
    }

    /// Git that signs as the repository says, and at the time of the proposal.
    fn signed(&self, git: &Git) -> Git {
        let own = |what: &str, or: &str| {
            let told = git.say(&["config", "--local", what], b"").unwrap_or_default();
            if told.is_empty() { or.to_owned() } else { told }
        };
        let (name, mail) = (own("user.name", "Hermit"), own("user.email", "hermit@localhost"));
        let at = format!("@{} +0000", self.stamp);
        let by = git.with("GIT_AUTHOR_NAME", &name).with("GIT_AUTHOR_EMAIL", &mail);
        let by = by.with("GIT_AUTHOR_DATE", &at).with("GIT_COMMITTER_NAME", &name);
        by.with("GIT_COMMITTER_EMAIL", &mail).with("GIT_COMMITTER_DATE", &at)
    }

    /// Writes the bytes of a file; its line of the index.
    fn written(&self, git: &Git, path: &str, mode: &str, bytes: &str) -> Result<String, Stop> {
        for attribute in ["filter", "working-tree-encoding"] {
            let told = git.say(&["check-attr", attribute, "--", path], b"")?;
            if !told.ends_with(": unspecified") && !told.ends_with(": unset") {
                return stop(format!(
                    "a program of the repository rewrites {path} when it is committed ({attribute}); commit it yourself"
                ));
            }
        }
        let at = self.folder.join(bytes);
        let before = self.before(git, path)?;
        let mode = match (mode, &before) {
            (KEPT, Some((mode, _))) if mode == "120000" || mode == "160000" => {
                return stop(format!("{path} is no plain file in the repository; commit it yourself"));
            }
            (KEPT, Some((mode, object))) => {
                // Git of Windows turns the ends of lines when it is told to by settings that are not read here.
                let file = std::fs::File::open(&at).and_then(has_crlf);
                if file.map_err(|e| Stop(format!("{path} cannot be read: {e}")))? && !git.has_crlf(object)? {
                    return stop(format!(
                        "the lines of {path} end as on Windows and in the repository they do not; commit it yourself, or \
                         write it with the ends that it has there"
                    ));
                }
                mode.clone()
            }
            (KEPT, None) => "100644".to_owned(),
            (mode, _) => mode.to_owned(),
        };
        let at =
            at.to_str().ok_or_else(|| Stop(format!("the bytes of {path} lie where git cannot name them")))?;
        let object = git.say(&["hash-object", "-w", "--no-filters", "--", at], b"")?;
        Ok(format!("{mode} {object}\t{path}\0"))
    }

    /// Mode and object of a file in what the commit goes on top of.
    fn before(&self, git: &Git, path: &str) -> Result<Option<(String, String)>, Stop> {
        if self.prior.is_empty() {
            return Ok(None);
        }
        let told = git.say(&["ls-tree", "-z", self.prior, "--", path], b"")?;
        let mut parts = told.split(['\t', '\0']).next().unwrap_or_default().split(' ');
        let (mode, kind, object) = (parts.next(), parts.next(), parts.next());
        Ok(match (mode, kind, object) {
            (Some(mode), Some("blob" | "commit"), Some(object)) => Some((mode.to_owned(), object.to_owned())),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests;
