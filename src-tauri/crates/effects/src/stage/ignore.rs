//! Which places of the folder its own ignore rules leave out: `.gitignore` files and `.git/info/exclude`, as git reads
//! them.
//!
//! The rules are those of the folder itself, not of what the command left: a command cannot ignore its own work. What
//! git has in its index is not ignored, whatever a rule says.

use super::index;
use crate::{Hands, Workspace};
use globset::{GlobBuilder, GlobMatcher};
use model::RelPath;
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
    folders: RefCell<BTreeMap<RelPath, Rc<[Rule]>>>,
    tracked: OnceCell<BTreeSet<RelPath>>,
}

/// One line.
struct Rule {
    glob: GlobMatcher,
    only_folders: bool,
    keeps: bool,
}

impl<'a> Ignore<'a> {
    pub(crate) fn of(hands: &'a Hands) -> Self {
        Self { workspace: &hands.workspace, folders: RefCell::default(), tracked: OnceCell::new() }
    }

    /// Whether the rules leave out what is at `path`, when nothing above it is left out. Version control's own folder
    /// never is.
    pub(crate) fn names(&self, path: &RelPath, is_folder: bool) -> bool {
        if path.file_name() == b".git" {
            return false;
        }
        let mut at = path.parent();
        loop {
            for rule in self.rules(&at).iter().rev().filter(|rule| is_folder || !rule.only_folders) {
                if rule.glob.is_match(names_below(&at, path)) {
                    return !rule.keeps;
                }
            }
            if at.is_root() {
                return false;
            }
            at = at.parent();
        }
    }

    /// Whether git has this file in its index.
    pub(crate) fn tracks(&self, path: &RelPath) -> bool {
        self.tracked().contains(path)
    }

    /// Files below `folder` that git has in its index.
    pub(crate) fn tracked_within<'s>(&'s self, folder: &'s RelPath) -> impl Iterator<Item = &'s RelPath> {
        let begins = move |path: &&RelPath| path.as_bytes().starts_with(folder.as_bytes());
        let within = move |path: &&RelPath| *path != folder && path.is_within(folder);
        self.tracked().range(folder..).take_while(begins).filter(within)
    }

    fn tracked(&self) -> &BTreeSet<RelPath> {
        self.tracked.get_or_init(|| {
            let at = RelPath::from_bytes(b".git/index").ok();
            let bytes = at.and_then(|at| self.workspace.read_whole(&at, INDEX_BYTES_MAX).ok());
            bytes.and_then(|bytes| index::paths(&bytes)).unwrap_or_default()
        })
    }

    fn rules(&self, folder: &RelPath) -> Rc<[Rule]> {
        if let Some(known) = self.folders.borrow().get(folder) {
            return Rc::clone(known);
        }
        let read = |name: &[u8]| {
            let at = folder.join(name).ok()?;
            self.workspace.read_whole(&at, RULES_BYTES_MAX).ok()
        };
        let mut rules: Vec<Rule> = Vec::new();
        if folder.is_root()
            && let Ok(at) = RelPath::from_bytes(b".git/info/exclude")
            && let Ok(text) = self.workspace.read_whole(&at, RULES_BYTES_MAX)
        {
            rules.extend(lines(&text));
        }
        if let Some(text) = read(b".gitignore") {
            rules.extend(lines(&text));
        }
        let rules: Rc<[Rule]> = rules.into();
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

fn lines(text: &[u8]) -> Vec<Rule> {
    let text = String::from_utf8_lossy(text);
    text.trim_start_matches('\u{feff}').lines().filter_map(rule).collect()
}

/// A line as a rule; nothing for what is empty, a remark, or no pattern.
fn rule(line: &str) -> Option<Rule> {
    let line = unpadded(line);
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let (keeps, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
    let (only_folders, line) = line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
    let from_here = line.contains('/');
    let pattern = line.strip_prefix('/').unwrap_or(line);
    if pattern.is_empty() {
        return None;
    }
    let pattern = if from_here { pattern.to_owned() } else { format!("**/{pattern}") };
    let glob = GlobBuilder::new(&pattern).literal_separator(true).backslash_escape(true).build().ok()?;
    Some(Rule { glob: glob.compile_matcher(), only_folders, keeps })
}

/// Without spaces at the end, but for one that a backslash keeps.
fn unpadded(line: &str) -> &str {
    let line = line.strip_suffix('\r').unwrap_or(line);
    let bare = line.trim_end_matches(' ');
    if bare.ends_with('\\') { line.get(..bare.len().saturating_add(1)).unwrap_or(line) } else { bare }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_out(rules: &str, path: &str, is_folder: bool) -> bool {
        let rules = lines(rules.as_bytes());
        let fits = |rule: &&Rule| (is_folder || !rule.only_folders) && rule.glob.is_match(path);
        rules.iter().rev().find(fits).is_some_and(|rule| !rule.keeps)
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
        ] {
            assert_eq!(left_out(rules, path, is_folder), wanted, "{rules:?} {path}");
        }
    }
}
