//! Which folder a command sees.

use crate::workspace::names;
use crate::{Error, Hands};
use model::RelPath;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A command's world.
pub(crate) struct View {
    /// The folder it may change.
    pub(crate) root: PathBuf,
    /// Where it begins.
    pub(crate) cwd: PathBuf,
    /// Folders beneath the root that it must not see.
    pub(crate) hidden: Vec<RelPath>,
    /// A folder of its own outside the root, where there are no namespaces to give it one.
    pub(crate) private: PathBuf,
}

impl View {
    /// A view of nothing, for trying the walls.
    pub(crate) fn nowhere() -> Self {
        let none = PathBuf::new();
        Self { root: none.clone(), cwd: PathBuf::from("/"), hidden: Vec::new(), private: none }
    }

    /// The whole environment.
    pub(crate) fn environment(&self, namespaces: bool) -> Vec<(&'static str, OsString)> {
        let (home, tmp) = if namespaces {
            (PathBuf::from("/tmp/home"), PathBuf::from("/tmp"))
        } else {
            (self.private.join("home"), self.private.clone())
        };
        vec![
            ("PATH", crate::sandbox::PATH.into()),
            ("HOME", home.into()),
            ("TMPDIR", tmp.into()),
            ("LANG", "C.UTF-8".into()),
            ("TERM", "dumb".into()),
            ("USER", "hermit".into()),
            ("HERMIT", "1".into()),
        ]
    }
}

/// Decides where a command works: in the lease root itself. A staged copy takes this place when commands run in one.
pub(crate) fn view(hands: &Hands, cwd: &RelPath, transcript: &Path) -> Result<View, Error> {
    let workspace = &hands.workspace;
    // Opened step by step, so that a link on the way is refused by name.
    workspace.folder(cwd)?;
    if !workspace.hidden().is_empty() && !hands.sandbox.can_hide() {
        let say = "Hermit's own store lies in this workspace and this machine cannot hide it from a command; \
                   install bubblewrap or choose a smaller folder";
        return Err(Error::Request(say.to_owned()));
    }
    let root = workspace.root().to_path_buf();
    let cwd = names::below(&root, cwd.as_bytes()).map_err(|e| Error::io("naming", cwd, e))?;
    let private = transcript.join("private");
    if !hands.sandbox.can_hide() {
        let made = std::fs::create_dir_all(private.join("home"));
        made.map_err(|source| Error::Spool { doing: "making a private folder", source })?;
    }
    Ok(View { root, cwd, hidden: workspace.hidden().to_vec(), private })
}
