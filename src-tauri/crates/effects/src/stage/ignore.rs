//! Which places of the folder its own ignore rules leave out: `.gitignore` files and `.git/info/exclude`, as git reads
//! them.
//!
//! The rules are those of the folder itself, not of what the command left: a command cannot ignore its own work. What
//! git has in its index is not ignored, whatever a rule says.

use super::index;
use crate::{Error, Executors, Workspace};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use model::RelPath;
use model::file_name::is_same;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Bytes of one file of rules that are heeded.
const RULES_BYTES_MAX: u64 = 1024 * 1024;
/// Bytes of a git index that is read.
const INDEX_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The rules, read as they are needed.
pub(crate) struct Ignore<'a> {
    workspace: &'a Workspace,
    folders: RefCell<BTreeMap<RelPath, Rc<Gitignore>>>,
    tracked: OnceCell<Option<BTreeSet<RelPath>>>,
}

impl<'a> Ignore<'a> {
    pub(crate) fn of(executors: &'a Executors) -> Self {
        Self { workspace: &executors.workspace, folders: RefCell::default(), tracked: OnceCell::new() }
    }

    /// Whether the rules leave out what is at `path`, when nothing above it is left out. Version control's own folder
    /// never is.
    pub(crate) fn names(&self, path: &RelPath, is_folder: bool) -> bool {
        if is_same(path.file_name(), b".git") {
            return false;
        }
        let mut at = path.parent();
        loop {
            match self.rules(&at).matched(names_below(&at, path), is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
            if at.is_root() {
                return false;
            }
            at = at.parent();
        }
    }

    /// Whether git has this file in its index.
    pub(crate) fn tracks(&self, path: &RelPath) -> bool {
        self.tracked().is_some_and(|tracked| tracked.contains(path))
    }

    /// Files below `folder` that git has in its index.
    pub(crate) fn tracked_within<'s>(&'s self, folder: &'s RelPath) -> impl Iterator<Item = &'s RelPath> {
        let begins = move |path: &&RelPath| path.as_bytes().starts_with(folder.as_bytes());
        let within = move |path: &&RelPath| *path != folder && path.is_within(folder);
        let tracked = self.tracked().into_iter();
        tracked.flat_map(move |tracked| tracked.range(folder..).take_while(begins).filter(within))
    }

    /// Whether all is known that git has in its index: it has none yet, or one that is understood here.
    pub(crate) fn knows_what_git_tracks(&self) -> bool {
        self.tracked().is_some()
    }

    fn tracked(&self) -> Option<&BTreeSet<RelPath>> {
        let read = || {
            let at = RelPath::from_bytes(b".git/index").ok()?;
            match self.workspace.read_whole(&at, INDEX_BYTES_MAX) {
                Ok(bytes) => index::paths(&bytes),
                Err(Error::Absent(_)) => Some(BTreeSet::new()),
                Err(_) => None,
            }
        };
        self.tracked.get_or_init(read).as_ref()
    }

    fn rules(&self, folder: &RelPath) -> Rc<Gitignore> {
        if let Some(known) = self.folders.borrow().get(folder) {
            return Rc::clone(known);
        }
        let read = |at: Option<RelPath>| self.workspace.read_whole(&at?, RULES_BYTES_MAX).ok();
        let exclude = folder.is_root().then(|| RelPath::from_bytes(b".git/info/exclude").ok()).flatten();
        let texts = [read(exclude), read(folder.join(b".gitignore").ok())];
        let rules = Rc::new(rules(texts.iter().flatten().map(Vec::as_slice)));
        self.folders.borrow_mut().insert(folder.clone(), Rc::clone(&rules));
        rules
    }
}

/// The names of `path` below `folder`, as a rule of that folder sees them.
fn names_below(folder: &RelPath, path: &RelPath) -> std::path::PathBuf {
    let skip = if folder.is_root() { 0 } else { folder.as_bytes().len().saturating_add(1) };
    let names = path.as_bytes().get(skip..).unwrap_or_default();
    crate::workspace::names::os_name(names).map(Into::into).unwrap_or_default()
}

/// The rules of one folder: the later ones win. A line that is no pattern is no rule, as with git; and where all of them
/// together cannot be used, nothing is left out, so that more is shown and not less.
fn rules<'t>(texts: impl Iterator<Item = &'t [u8]>) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    for text in texts {
        let text = String::from_utf8_lossy(text);
        for line in text.trim_start_matches('\u{feff}').lines() {
            let _ = builder.add_line(None, line);
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_out(text: &str, path: &str, is_folder: bool) -> bool {
        rules([text.as_bytes()].into_iter()).matched(path, is_folder).is_ignore()
    }

    #[test]
    fn lines_mean_what_they_mean_to_git() {
        for (rules, path, is_folder, wanted) in [
            ("target/\n", "target", true, true),
            ("target/\n", "target", false, false),
            ("target/\n", "deep/target", true, true),
            ("/target/\n", "deep/target", true, false),
            ("*.log\n", "a/b/c.log", false, true),
            ("*.log\n!keep.log\n", "a/keep.log", false, false),
            ("# a remark\n\n", "# a remark", false, false),
            ("\\#odd\n", "#odd", false, true),
            ("docs/*.html\n", "docs/a.html", false, true),
            ("docs/*.html\n", "docs/deep/a.html", false, false),
            ("a/**/z\n", "a/b/c/z", false, true),
            ("a/**/z\n", "a/z", false, true),
            ("build/**\n", "build/x/y", false, true),
            ("padded   \n", "padded", false, true),
            ("windows\r\n", "windows", false, true),
            ("[ab].txt\n", "b.txt", false, true),
            ("[!ab].txt\n", "b.txt", false, false),
            ("/\n", "anything", false, false),
            ("\u{feff}first\n", "first", false, true),
            ("\\!odd\n", "!odd", false, true),
            ("kept\\ \n", "kept ", false, true),
            ("a[\n*.o\n", "x.o", false, true),
        ] {
            assert_eq!(left_out(rules, path, is_folder), wanted, "{rules:?} {path}");
        }
    }
}
