//! What a command may reach, as plain data, from which each system's walls are computed.

use super::{FILE_BYTES, Sandbox, inside};
use crate::command::view::View;
use crate::system::walls::plain;
use std::path::{Path, PathBuf};

/// The shape of a grant. Paths are places of the machine, absolute and with links followed where they are there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Shape {
    /// The folder or the staged copy of it; none where it has no folder at all.
    pub(crate) folder: Option<PathBuf>,
    /// Whether nothing can be changed in the folder.
    pub(crate) read_only: bool,
    /// Places in the folder that it can change all the same.
    pub(crate) changed: Vec<PathBuf>,
    /// A folder of its own, for HOME and temporary files.
    pub(crate) private: Option<PathBuf>,
    /// What is its HOME and outlives it; else its private folder holds one.
    pub(crate) home: Option<PathBuf>,
    /// Toolchains and other places that may be read and run from, beside the system's.
    pub(crate) reads: Vec<PathBuf>,
    /// Places in the folder that it can neither read nor change.
    pub(crate) covered: Vec<PathBuf>,
    /// Places in the folder that it can read and not change.
    pub(crate) kept: Vec<PathBuf>,
    /// The port of the loopback address at which the proxy listens; none where it has no network.
    pub(crate) proxy: Option<u16>,
    /// Bytes of memory that one process may fill.
    pub(crate) memory_bytes: u64,
    /// Processes at once.
    pub(crate) processes: u64,
    /// Bytes of one file.
    pub(crate) file_bytes: u64,
    /// Seconds of a processor.
    pub(crate) cpu_seconds: u64,
}

/// A place with every link followed; as it is named where nothing is there.
fn followed(path: &Path) -> PathBuf {
    plain(path.canonicalize().unwrap_or_else(|_| path.to_path_buf()))
}

impl Shape {
    /// The shape of a view behind these walls. There is no mount that could show one place at another: a staged copy is seen
    /// where it lies.
    pub(crate) fn of(walls: &Sandbox, view: &View, proxy: Option<u16>, cpu_seconds: u64) -> Self {
        let named = |path: &Path| (path != Path::new("")).then(|| followed(path));
        let bounds = walls.bounds();
        // There is no mount that could show them elsewhere.
        let roots = view.proxy.iter().filter_map(|way| way.roots.as_ref());
        let mut shape = Self {
            folder: named(view.source.as_ref().unwrap_or(&view.root)),
            read_only: view.read_only,
            changed: view.changes.iter().map(|place| followed(place)).collect(),
            private: named(&view.private),
            home: view.home.as_ref().map(|home| followed(home)),
            reads: walls
                .readable()
                .iter()
                .chain(&view.reads)
                .chain(roots)
                .map(|place| followed(place))
                .collect(),
            proxy,
            memory_bytes: bounds.memory_bytes,
            processes: bounds.processes,
            file_bytes: FILE_BYTES,
            cpu_seconds,
            ..Self::default()
        };
        // What a copy is not to show is empty in it.
        if let (Some(root), false) = (&shape.folder, view.is_staged()) {
            let hidden = view.hidden.iter().filter_map(|hidden| inside(view, hidden));
            let masked = view.masked.iter().map(|(at, _)| at.clone());
            shape.covered = hidden.chain(masked).map(|at| moved(&at, &view.root, root)).collect();
            shape.kept = vec![root.join(acts::sensitive_paths::CAPABILITY_FOLDER)];
        }
        shape
    }

    /// Where a place of the folder is seen: in the copy that stands in for it, where there is one.
    pub(crate) fn seen(view: &View, at: &Path) -> PathBuf {
        let Some(source) = &view.source else { return plain(at.to_path_buf()) };
        let root = plain(view.root.clone());
        moved(&plain(at.to_path_buf()), &root, &plain(source.clone()))
    }

    /// Where a command of this view begins.
    pub(crate) fn begins(view: &View) -> PathBuf {
        plain(moved(&view.cwd, &view.root, view.source.as_ref().unwrap_or(&view.root)))
    }
}

/// The same place below another folder; one that is not below the first stays.
fn moved(at: &Path, from: &Path, to: &Path) -> PathBuf {
    match at.strip_prefix(from) {
        Ok(rest) if rest == Path::new("") => to.to_path_buf(),
        Ok(rest) => to.join(rest),
        Err(_) => at.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::view::WayOut;

    #[test]
    fn what_a_guest_is_lent_is_its_home_and_whom_it_may_trust() {
        let mut view = View::nowhere();
        view.root = PathBuf::from("/no such/lease");
        view.private = PathBuf::from("/no such/private");
        view.home = Some(PathBuf::from("/no such/home"));
        let roots = Some(PathBuf::from("/no such/run/roots.pem"));
        view.proxy = Some(WayOut { socket: None, port: Some(9), roots, told: Vec::new() });
        let shape = Shape::of(&Sandbox::none("a test".to_owned()), &view, Some(9), 1);
        assert_eq!(shape.home, Some(PathBuf::from("/no such/home")));
        assert_eq!(shape.reads, [PathBuf::from("/no such/run/roots.pem")]);
        let environment = view.environment(false);
        let home = environment.iter().find(|(name, _)| name == "HOME").unwrap();
        assert_eq!(home.1, "/no such/home", "it outlives the turn, and is where the guest looks for it");
    }

    #[test]
    fn a_staged_copy_is_seen_where_it_lies_and_nothing_of_the_folder_itself_is() {
        let walls = Sandbox::none("a test".to_owned());
        let mut view = View::nowhere();
        view.root = PathBuf::from("/no such/lease");
        view.cwd = PathBuf::from("/no such/lease/src");
        view.private = PathBuf::from("/no such/private");
        view.masked = vec![(PathBuf::from("/no such/lease/.env"), false)];
        let own = Shape::of(&walls, &view, None, 7);
        assert_eq!(own.folder, Some(PathBuf::from("/no such/lease")));
        assert_eq!(own.covered, [PathBuf::from("/no such/lease/.env")]);
        assert_eq!(own.kept, [PathBuf::from("/no such/lease/.hermit")]);
        assert_eq!((own.cpu_seconds, own.proxy), (7, None));
        assert_eq!(Shape::begins(&view), PathBuf::from("/no such/lease/src"));

        view.source = Some(PathBuf::from("/no such/tree"));
        let staged = Shape::of(&walls, &view, Some(3128), 7);
        assert_eq!(staged.folder, Some(PathBuf::from("/no such/tree")));
        assert!(staged.covered.is_empty() && staged.kept.is_empty(), "{staged:?}");
        assert_eq!(Shape::begins(&view), PathBuf::from("/no such/tree/src"));
        assert_eq!(staged.proxy, Some(3128));
        for (at, seen) in [
            ("/no such/lease", "/no such/tree"),
            ("/no such/lease/a.txt", "/no such/tree/a.txt"),
            ("/no such/lease2", "/no such/lease2"),
            ("a.txt", "a.txt"),
        ] {
            assert_eq!(Shape::seen(&view, Path::new(at)), PathBuf::from(seen));
        }
        let alone = View { source: None, ..view };
        assert_eq!(Shape::seen(&alone, Path::new("/no such/lease")), PathBuf::from("/no such/lease"));

        let nowhere = Shape::of(&walls, &View::nowhere(), None, 1);
        assert_eq!((nowhere.folder, nowhere.private), (None, None));
    }

    /// Names of the machine are followed, so that a rule by path means what the system will see.
    #[test]
    fn links_are_followed_before_a_place_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let mut view = View::nowhere();
        view.root = real.join(".").join("..").join(real.file_name().unwrap());
        let shape = Shape::of(&Sandbox::none(String::new()), &view, None, 1);
        assert_eq!(shape.folder, Some(plain(real)));
    }
}
