//! Which folder a command sees.

use crate::system::walls::{plain, surroundings};
use crate::workspace::names;
use crate::{Error, Executors, Sandbox};
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
    /// Places beneath the root that are covered, and whether they are folders: it sees nothing in them.
    pub(crate) masked: Vec<(PathBuf, bool)>,
    /// The same, by their paths in the folder.
    pub(crate) unseen: Vec<RelPath>,
    /// An empty file to cover a file with.
    pub(crate) blank: PathBuf,
    /// A folder of its own outside the root, where there are no namespaces to give it one.
    pub(crate) private: PathBuf,
    /// What is seen at the root instead of what is there: a staged copy.
    pub(crate) source: Option<PathBuf>,
    /// A layer over the root that takes every change: upper folder, then the system's own.
    pub(crate) layer: Option<(PathBuf, PathBuf)>,
    /// Whether nothing can be changed at the root.
    pub(crate) read_only: bool,
    /// Places beneath the root that can be changed all the same. Only access lists tell them apart: elsewhere there are none.
    pub(crate) changes: Vec<PathBuf>,
    /// Folders outside the root that it may read beside the system's.
    pub(crate) reads: Vec<PathBuf>,
    /// Its way out.
    pub(crate) proxy: Option<WayOut>,
    /// The socket by which it reaches Hermit's tools.
    pub(crate) tools: Option<PathBuf>,
    /// The socket by which it hears that it is called off.
    pub(crate) cord: Option<PathBuf>,
    /// What is its HOME and outlives it; else it has an empty one.
    pub(crate) home: Option<PathBuf>,
    /// More of its environment, which stands before all else.
    pub(crate) told: Vec<(String, OsString)>,
}

/// A command's way to the network.
pub(crate) struct WayOut {
    /// The socket of the proxy, which namespaces show to it.
    pub(crate) socket: Option<PathBuf>,
    /// The port of the proxy, which a profile leaves open.
    pub(crate) port: Option<u16>,
    /// Authorities it may trust, when they are not the machine's own.
    pub(crate) roots: Option<PathBuf>,
    /// What it is told of it.
    pub(crate) told: Vec<(String, OsString)>,
}

impl View {
    /// A view of nothing, for trying the walls.
    pub(crate) fn nowhere() -> Self {
        let none = PathBuf::new();
        let cwd = PathBuf::from("/");
        Self {
            root: none.clone(),
            cwd,
            hidden: Vec::new(),
            masked: Vec::new(),
            unseen: Vec::new(),
            blank: none.clone(),
            private: none,
            source: None,
            layer: None,
            read_only: false,
            changes: Vec::new(),
            reads: Vec::new(),
            proxy: None,
            tools: None,
            cord: None,
            home: None,
            told: Vec::new(),
        }
    }

    /// Whether something stands in for the folder itself.
    pub(crate) fn is_staged(&self) -> bool {
        self.source.is_some() || self.layer.is_some()
    }

    /// Covers these places, so that it sees an empty file or folder in each. What is gone by now needs no cover.
    pub(crate) fn mask(&mut self, unseen: &[RelPath], folder: &Path) -> Result<(), Error> {
        if unseen.is_empty() {
            return Ok(());
        }
        self.blank = folder.join("blank");
        std::fs::write(&self.blank, b"")
            .map_err(|source| Error::Spool { doing: "making an empty file", source })?;
        for path in unseen {
            let at = names::below(&self.root, path.as_bytes()).map_err(|e| Error::io("naming", path, e))?;
            match std::fs::symlink_metadata(&at) {
                Ok(there) if there.is_dir() || there.is_file() => self.masked.push((at, there.is_dir())),
                Ok(_) => {
                    let why = "it looks like a key and is neither file nor folder now".to_owned();
                    return Err(Error::Content { path: path.clone(), why });
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io("looking at", path, error)),
            }
        }
        self.unseen = unseen.to_vec();
        Ok(())
    }

    /// The whole environment.
    pub(crate) fn environment(&self, namespaces: bool) -> Vec<(String, OsString)> {
        let (home, tmp) = if namespaces {
            (PathBuf::from("/tmp/home"), PathBuf::from("/tmp"))
        } else {
            let home = self.home.clone().unwrap_or_else(|| self.private.join("home"));
            (plain(home), plain(self.private.clone()))
        };
        let surroundings = surroundings(&home, &tmp);
        let all: [(&str, OsString); 7] = [
            ("PATH", crate::sandbox::PATH.into()),
            ("HOME", home.into()),
            ("TMPDIR", tmp.into()),
            ("LANG", "C.UTF-8".into()),
            ("TERM", "dumb".into()),
            ("USER", "hermit".into()),
            ("HERMIT", "1".into()),
        ];
        let reach = self.proxy.iter().flat_map(|way| way.told.clone()).chain(self.told.clone());
        let all = all.into_iter().chain(surroundings).map(|(name, value)| (name.to_owned(), value));
        let mut environment: Vec<(String, OsString)> = Vec::new();
        for (name, value) in all.chain(reach) {
            environment.retain(|(known, _)| *known != name);
            environment.push((name, value));
        }
        environment
    }
}

/// A view of the lease root itself; [`crate::stage`] puts a copy or a layer in its place.
pub(crate) fn view(executors: &Executors, cwd: &RelPath, transcript: &Path) -> Result<View, Error> {
    let workspace = &executors.workspace;
    // Opened step by step, so that a link on the way is refused by name.
    workspace.folder(cwd)?;
    if !workspace.hidden().is_empty() && !executors.sandbox.can_hide() {
        let say = "Hermit's own store lies in this workspace and this machine cannot hide it from a command";
        let to_do = if Sandbox::is_of_namespaces() { "install bubblewrap or choose" } else { "choose" };
        return Err(Error::Request(format!("{say}; {to_do} a smaller folder")));
    }
    let root = workspace.root().to_path_buf();
    let cwd = names::below(&root, cwd.as_bytes()).map_err(|e| Error::io("naming", cwd, e))?;
    let private = transcript.join("private");
    if !executors.sandbox.has_own_folders() {
        let made = std::fs::create_dir_all(private.join("home"));
        made.map_err(|source| Error::Spool { doing: "making a private folder", source })?;
    }
    let hidden = workspace.hidden().to_vec();
    let (masked, unseen, blank) = (Vec::new(), Vec::new(), PathBuf::new());
    let (source, layer, proxy, reads) = (None, None, None, Vec::new());
    Ok(View {
        root,
        cwd,
        hidden,
        masked,
        unseen,
        blank,
        private,
        source,
        layer,
        read_only: false,
        changes: Vec::new(),
        reads,
        proxy,
        tools: None,
        cord: None,
        home: None,
        told: Vec::new(),
    })
}
