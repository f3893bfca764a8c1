//! Whether a repository starts programs by itself when git changes something in it: hooks, drivers, filters, an editor. Each of them
//! could print whatever lies in the folder.

use crate::{Error, Workspace};
use model::RelPath;

/// Bytes of settings that are read.
const CONFIG_BYTES_MAX: u64 = 64 * 1024;
/// Names of a folder that are looked at.
const NAMES_MAX: usize = 1_000;
/// Sections of settings that may stand there, in small letters.
const SECTIONS: [&str; 5] = ["core", "remote", "branch", "user", "init"];
/// Settings that may stand in them: what a new or a cloned repository has.
const SETTINGS: [&str; 16] = [
    "autocrlf",
    "bare",
    "defaultbranch",
    "email",
    "eol",
    "fetch",
    "filemode",
    "ignorecase",
    "logallrefupdates",
    "merge",
    "name",
    "precomposeunicode",
    "remote",
    "repositoryformatversion",
    "symlinks",
    "url",
];

/// Whether the repository of the folder starts nothing by itself, as far as all of it is seen.
pub(crate) fn starts_nothing(workspace: &Workspace) -> bool {
    let at = |path: &[u8]| RelPath::from_bytes(path).ok();
    let names = |path: &[u8]| {
        let folder = at(path).map(|path| workspace.folder(&path));
        match folder? {
            Ok(folder) => folder.entries(NAMES_MAX).ok().filter(|(_, more)| !more).map(|(names, _)| names),
            Err(Error::Absent(_)) => Some(Vec::new()),
            Err(_) => None,
        }
    };
    let is_whole = |names: Vec<Vec<u8>>| {
        // Settings of one working tree, the name of a folder that has hooks and settings in place of this one, and the part of an index
        // that others share, lie beside.
        let beside = |name: &Vec<u8>| {
            let name = name.to_ascii_lowercase();
            name == b"config.worktree" || name == b"commondir" || name.starts_with(b"sharedindex.")
        };
        !names.iter().any(beside)
    };
    let is_sample = |name: &Vec<u8>| name.ends_with(b".sample");
    let config = at(b".git/config").and_then(|path| workspace.read_whole(&path, CONFIG_BYTES_MAX).ok());
    names(b".git").is_some_and(is_whole)
        && names(b".git/hooks").is_some_and(|hooks| hooks.iter().all(is_sample))
        && config.is_some_and(|config| std::str::from_utf8(&config).is_ok_and(is_plain))
}

/// Whether settings hold nothing but what is known to start no program.
fn is_plain(config: &str) -> bool {
    config.lines().map(str::trim).all(|line| {
        if line.is_empty() || line.starts_with(['#', ';']) {
            return true;
        }
        let small = line.to_ascii_lowercase();
        if let Some(section) = small.strip_prefix('[') {
            // More may stand behind a section in its line, another one as well.
            let section = section.strip_suffix(']').filter(|name| !name.contains(['[', ']']));
            let named = section.and_then(|name| name.split([' ', '\t']).next());
            return named.is_some_and(|name| SECTIONS.contains(&name));
        }
        let name = small.split('=').next().unwrap_or_default().trim();
        // A value may go on in the next line.
        SETTINGS.contains(&name) && !small.ends_with('\\')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[remote \"origin\"]\n\
                         \turl = /srv/x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n";

    #[test]
    fn settings_that_may_start_a_program_are_not_plain() {
        assert!(is_plain("") && is_plain(PLAIN) && is_plain("# core\n[user]\nname = x\n"));
        for more in [
            "[core]\nhooksPath = hooks\n",
            "[core] fsmonitor = x\n",
            "[filter \"x\"]\nclean = cat\n",
            "[diff \"x\"]\ntextconv = cat\n",
            "[include]\npath = x\n",
            "[core]\neditor = cat\n",
            "[commit]\nverbose = true\n",
            "[extensions]\nworktreeConfig = true\n",
            "[user]\nname = x\\\n",
            "[remote \"x\"] [core] hooksPath = hooks ;]\n",
            "[remote \"x\"][filter \"x\"] clean = cat #]\n",
        ] {
            assert!(!is_plain(&format!("{PLAIN}{more}")), "{more}");
        }
    }

    #[test]
    fn a_repository_starts_nothing_where_all_of_it_is_seen_and_plain() {
        let folder = tempfile::tempdir().unwrap();
        let git = folder.path().join(".git");
        let id = format!("wsp_{}", "1".repeat(32)).parse().unwrap();
        let workspace = || Workspace::open(folder.path(), id).unwrap();
        assert!(!starts_nothing(&workspace()), "there is no repository");
        std::fs::create_dir_all(git.join("hooks")).unwrap();
        std::fs::write(git.join("config"), PLAIN).unwrap();
        std::fs::write(git.join("hooks/pre-commit.sample"), "cat .env").unwrap();
        assert!(starts_nothing(&workspace()));
        for name in ["hooks/pre-commit", "config.worktree", "commondir", "sharedindex.1"] {
            std::fs::write(git.join(name), "cat .env").unwrap();
            assert!(!starts_nothing(&workspace()), "{name}");
            std::fs::remove_file(git.join(name)).unwrap();
        }
        assert!(starts_nothing(&workspace()));
    }
}
