//! What the words of a command lead to: files of the folder, programs, and what looks like a key. Looked up before anybody
//! is asked, and again before it runs.
//!
//! What looks like a key is hidden from a command that does not name it: there is nothing at its place but an empty file
//! or folder. So a `.env` somewhere is no reason to ask about every command, and no command reads one by the way.

use crate::stage::ignore::Ignore;
use crate::vcs::quiet::starts_nothing;
use crate::workspace::descent::Descent;
use crate::workspace::entry::Kind;
use crate::workspace::names;
use crate::{Error, Executors, MANIFEST_ENTRIES_MAX, Workspace};
use acts::Action;
use acts::sensitive_paths::{PathKind, is_secret, path_kind};
use model::RelPath;
use model::action::{ActionClass, Program, Reach};
use model::file_name::is_same;
use std::collections::BTreeSet;
use std::path::Path;

/// Places that are hidden from one command, at most: each is a mount.
const HIDDEN_MAX: usize = 256;
/// Files and programs that the words of one command lead to, at most.
const NAMED_MAX: usize = 256;
/// Parts of the words of one command that are looked up, at most.
const PARTS_MAX: usize = 4_096;

impl Executors {
    /// What the words of a command lead to; nothing for any other act. What cannot be looked up is said in `unsure`.
    pub fn reach(&self, action: &Action) -> Reach {
        self.reach_of(action, self.sandbox.can_hide())
    }

    /// What looks like a key and stays hidden from a program of this name, without a look at the program itself.
    ///
    /// # Errors
    /// In words, when the folder cannot be looked through, or holds more of them than can be hidden: what nobody has seen
    /// would be in sight.
    pub(crate) fn keys_from(&self, program: Vec<String>) -> Result<Vec<RelPath>, String> {
        let (hosts, secrets) = (Vec::new(), Vec::new());
        let alike = Action::Command(acts::Command {
            argv: program.clone(),
            cwd: RelPath::ROOT,
            network: false,
            timeout_ms: 1,
            hosts,
            secrets,
        });
        let mut reach = Reach::default();
        let unsure = |why: &str| {
            format!("the folder cannot be kept from showing keys: {why}; choose a smaller folder")
        };
        let keys = Keys::find(&self.workspace, &Words::of(&program, &RelPath::ROOT))
            .map_err(|why| unsure(&why.to_string()))?;
        keys.told(self, &alike, self.sandbox.can_hide(), &mut reach);
        match reach.unsure {
            Some(why) => Err(unsure(&why)),
            None => Ok(reach.hidden.into_iter().chain(reach.secrets).collect()),
        }
    }

    /// The same, where what it does not name can be hidden from it or cannot.
    pub(crate) fn reach_of(&self, action: &Action, can_hide: bool) -> Reach {
        let Action::Command(acts::Command { argv, cwd, .. }) = action else { return Reach::default() };
        let words = Words::of(argv, cwd);
        let mut reach = Reach { programs: words.programs(&self.workspace), ..Reach::default() };
        reach.files = words.files(&self.workspace);
        match Keys::find(&self.workspace, &words) {
            Ok(keys) => keys.told(self, action, can_hide, &mut reach),
            Err(why) => reach.unsure = Some(why.to_string()),
        }
        // Nothing was looked for in a folder that is named otherwise than it is listed, as Windows can.
        if let Err(why @ Error::Io { .. }) = self.workspace.folder(cwd) {
            reach.unsure = Some(why.to_string());
        }
        if words.cut || reach.files.len() > NAMED_MAX || reach.programs.len() > NAMED_MAX {
            reach.unsure = Some("its words name more than can be looked up".to_owned());
        }
        reach.files.truncate(NAMED_MAX);
        reach.programs.truncate(NAMED_MAX);
        reach
    }
}

/// The words of a command, whole and in the parts that a shell or a program may take out of them.
struct Words<'a> {
    argv: &'a [String],
    cwd: &'a RelPath,
    parts: BTreeSet<&'a str>,
    cut: bool,
}

impl<'a> Words<'a> {
    fn of(argv: &'a [String], cwd: &'a RelPath) -> Self {
        let ends = |c: char| c.is_whitespace() || "'\"`;|&<>(){}[]$=,:@\\!*?#".contains(c);
        let all = argv.iter().flat_map(|word| std::iter::once(word.as_str()).chain(word.split(ends)));
        let (mut parts, mut cut) = (BTreeSet::new(), false);
        for part in all.filter(|part| !part.is_empty()) {
            if parts.len() >= PARTS_MAX {
                cut = true;
                break;
            }
            parts.insert(part);
        }
        Self { argv, cwd, parts, cut }
    }

    /// Whether a part names a place, or something below it: its name stands in the part, and what stands before it there
    /// is how the path goes, as far as both go. Where a shell stands when it comes to a word is not known.
    fn name(&self, path: &RelPath) -> bool {
        let whole: Vec<&[u8]> = path.as_bytes().split(|byte| *byte == b'/').collect();
        let Some((last, parents)) = whole.split_last() else { return false };
        self.parts.iter().any(|part| {
            let up = part.rsplit("../").next().unwrap_or(part);
            let steps: Vec<&[u8]> = up.split('/').map(str::as_bytes).collect();
            let steps: Vec<&[u8]> =
                steps.into_iter().filter(|step| !step.is_empty() && *step != b".").collect();
            let here = |at: usize| {
                steps.iter().take(at).rev().zip(parents.iter().rev()).all(|(step, parent)| step == parent)
            };
            steps.iter().enumerate().any(|(at, step)| step == last && here(at))
        })
    }

    /// Programs by the words for them: the first, and every part where one starts others.
    fn programs(&self, workspace: &Workspace) -> Vec<Program> {
        let first = self.argv.first().map_or("", String::as_str);
        let mut wanted = BTreeSet::from([first]);
        if acts::programs::starts_programs(first) {
            wanted.extend(self.parts.iter().copied());
        }
        wanted
            .into_iter()
            .filter_map(|word| program(workspace, word))
            .take(NAMED_MAX.saturating_add(1))
            .collect()
    }

    /// Files of the folder that a part names, and those beside the command that its programs may run.
    fn files(&self, workspace: &Workspace) -> Vec<RelPath> {
        let mut found = BTreeSet::new();
        let cwd = names::below(workspace.root(), self.cwd.as_bytes()).unwrap_or_default();
        for part in &self.parts {
            for at in [cwd.join(part), workspace.root().join(part)] {
                found.extend(inside(workspace, &at));
                // A link is one file, what it leads to another.
                found.extend(inside_as_written(workspace, &at));
            }
        }
        for folder in BTreeSet::from([self.cwd, &RelPath::ROOT]) {
            let names = workspace.folder(folder).and_then(|open| {
                open.entries(MANIFEST_ENTRIES_MAX).map_err(|e| Error::io("listing", folder, e))
            });
            let paths = names.map(|(names, _)| names).unwrap_or_default();
            let paths = paths.iter().filter_map(|name| folder.join(name).ok());
            let acts = |path: &RelPath| path_kind(path) == PathKind::ActsLater && is_file(workspace, path);
            found.extend(paths.filter(acts));
        }
        found.into_iter().take(NAMED_MAX.saturating_add(1)).collect()
    }
}

fn is_file(workspace: &Workspace, path: &RelPath) -> bool {
    workspace.stat(path).is_ok_and(|stat| stat.kind == Kind::File)
}

fn below(workspace: &Workspace, at: &Path) -> Option<RelPath> {
    let path = RelPath::from_bytes(&names::path_of(at.strip_prefix(workspace.root()).ok()?)?).ok()?;
    (!path.is_root() && !workspace.is_hidden(&path)).then_some(path)
}

/// The file of the folder that a path of the machine leads to, through links.
fn inside(workspace: &Workspace, at: &Path) -> Option<RelPath> {
    let path = below(workspace, &at.canonicalize().ok()?)?;
    is_file(workspace, &path).then_some(path)
}

/// The link that a path is, as it is written.
fn inside_as_written(workspace: &Workspace, at: &Path) -> Option<RelPath> {
    let path = below(workspace, at)?;
    workspace.stat(&path).is_ok_and(|stat| stat.kind == Kind::Symlink).then_some(path)
}

/// The program that a word means outside of the folder, where commands look for programs.
fn program(workspace: &Workspace, word: &str) -> Option<Program> {
    let named = Path::new(word);
    if named.components().nth(1).is_some() && !named.is_absolute() {
        return None;
    }
    let at = crate::sandbox::on_path(word)?.canonicalize().ok()?;
    // Only what could be one: nobody learns the digest of another file by calling it a program.
    if at.starts_with(workspace.root()) || !crate::sandbox::is_system(&at) || !at.is_file() {
        return None;
    }
    let (sha256, _) = disk::digest(std::fs::File::open(&at).ok()?).ok()?;
    let at = crate::system::walls::plain(at);
    Some(Program { name: word.to_owned(), path: at.to_str()?.to_owned(), sha256 })
}

/// What looks like a key, below the folder.
#[derive(Default)]
struct Keys {
    unnamed: BTreeSet<RelPath>,
    named: BTreeSet<RelPath>,
    /// Whether there are more than were kept.
    more: bool,
}

impl Keys {
    fn find(workspace: &Workspace, words: &Words<'_>) -> Result<Self, Error> {
        let mut keys = Self::default();
        let mut descent = Descent::of(workspace);
        let mut waiting = vec![RelPath::ROOT];
        let mut room = MANIFEST_ENTRIES_MAX;
        while let Some(at) = waiting.pop() {
            let inside = match descent.folder(&at) {
                Ok(folder) => folder.kinds(room).map_err(|e| Error::io("listing", &at, e))?,
                // It went away, is something else by now, or is out of reach: nothing is to be found there.
                Err(Error::Absent(_) | Error::NotAFolder(_) | Error::Symlink { .. } | Error::Hidden(_)) => {
                    continue;
                }
                Err(error) => return Err(error),
            };
            for (name, is_folder) in inside {
                room = room.checked_sub(1).ok_or_else(|| {
                    Error::Request(format!("the folder has more than {MANIFEST_ENTRIES_MAX} entries"))
                })?;
                let path = at
                    .join(&name)
                    .map_err(|e| Error::Request(format!("a name in `{at}` cannot be kept: {e}")))?;
                // Names of version control's own files are names of branches and objects.
                if workspace.is_hidden(&path) || is_same(&name, b".git") {
                    continue;
                }
                if is_secret(&path, is_folder) {
                    if keys.named.len().saturating_add(keys.unnamed.len()) >= HIDDEN_MAX {
                        keys.more = true;
                        return Ok(keys);
                    }
                    keys.add(workspace, words, path);
                } else if is_folder {
                    waiting.push(path);
                }
            }
        }
        Ok(keys)
    }

    /// A link is nothing that could be covered: what it leads to is, where that lies in the folder.
    fn add(&mut self, workspace: &Workspace, words: &Words<'_>, path: RelPath) {
        let named = words.name(&path);
        let at = match workspace.stat(&path).map(|stat| stat.kind) {
            Ok(Kind::File | Kind::Folder) => Some(path),
            Ok(Kind::Symlink) => names::below(workspace.root(), path.as_bytes())
                .and_then(|link| link.canonicalize())
                .ok()
                .and_then(|target| below(workspace, &target)),
            Ok(Kind::Special) | Err(_) => None,
        };
        let Some(at) = at else { return };
        match named || words.name(&at) {
            true => self.named.insert(at),
            false => self.unnamed.insert(at),
        };
    }

    fn told(mut self, executors: &Executors, action: &Action, can_hide: bool, reach: &mut Reach) {
        self.unnamed.retain(|path| !self.named.contains(path));
        if self.more {
            reach.unsure = Some(format!("more than {HIDDEN_MAX} places look like keys or passwords"));
        }
        if !can_hide || action.classes().contains(&ActionClass::VcsMutation) {
            // What changes version control would commit them as the empty files that it sees.
            let ignore = Ignore::of(executors);
            if !self.unnamed.is_empty()
                && is_quiet_act(action)
                && ignore.knows_what_git_tracks()
                && starts_nothing(&executors.workspace)
            {
                let known =
                    |path: &&RelPath| ignore.tracks(path) || ignore.tracked_within(path).next().is_some();
                reach.in_sight = self.unnamed.iter().filter(|path| !known(path)).cloned().collect();
            }
            self.named.append(&mut self.unnamed);
        } else if acts::programs::names_version_control(action.as_tool().argv()) {
            // What is committed is read from the history as well.
            let ignore = Ignore::of(executors);
            let known = |path: &&RelPath| ignore.tracks(path) || ignore.tracked_within(path).next().is_some();
            let committed: Vec<RelPath> = self.unnamed.iter().filter(known).cloned().collect();
            self.unnamed.retain(|path| !committed.contains(path));
            self.named.extend(committed);
        }
        reach.hidden = self.unnamed.into_iter().collect();
        reach.secrets = self.named.into_iter().collect();
    }
}

/// Whether an act of git prints no content by its words, in the repository of the folder: git finds another one below.
fn is_quiet_act(action: &Action) -> bool {
    matches!(action, Action::Command(command)
        if command.cwd.is_root() && acts::programs::prints_what_git_keeps(&command.argv))
}

/// What a receipt says of it.
pub(crate) fn told(reach: &Reach) -> Option<String> {
    let places: Vec<String> = reach.hidden.iter().map(|path| format!("`{path}`")).collect();
    (!places.is_empty()).then(|| {
        format!(
            "hidden from the command, because they look like keys or passwords and its words do not name them: {}",
            places.join(", ")
        )
    })
}
