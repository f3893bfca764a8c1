//! A folder with everything in it, to be compared byte for byte.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// One thing in a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Thing {
    /// A folder.
    Folder,
    /// A link and where it points.
    Link(PathBuf),
    /// A file: permissions, bytes.
    File(u32, Vec<u8>),
}

/// Everything below a folder by its name.
pub type Tree = BTreeMap<PathBuf, Thing>;

/// Reads everything below a folder.
pub fn of(root: &Path) -> Tree {
    let mut tree = Tree::new();
    gather(root, root, &mut tree);
    tree
}

fn gather(root: &Path, folder: &Path, tree: &mut Tree) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let meta = std::fs::symlink_metadata(&path).expect("it is there");
        let name = path.strip_prefix(root).expect("below").to_owned();
        if meta.is_symlink() {
            tree.insert(name, Thing::Link(std::fs::read_link(&path).expect("a link")));
        } else if meta.is_dir() {
            tree.insert(name, Thing::Folder);
            gather(root, &path, tree);
        } else {
            tree.insert(
                name,
                Thing::File(meta.permissions().mode(), std::fs::read(&path).unwrap_or_default()),
            );
        }
    }
}

/// The bytes of all files, sorted: what must be the same however files are moved about.
pub fn contents(tree: &Tree) -> Vec<&[u8]> {
    let mut all: Vec<&[u8]> = tree
        .values()
        .filter_map(|thing| match thing {
            Thing::File(_, bytes) => Some(bytes.as_slice()),
            _ => None,
        })
        .collect();
    all.sort_unstable();
    all
}

/// A file name that is not UTF-8.
pub fn odd_name() -> &'static OsStr {
    OsStr::from_bytes(b"caf\xe9 notes.txt")
}

/// Makes a folder as people have them: files of many kinds with copies, an empty one, one that nobody may read, names
/// that are hard, folders with more in them, links inside and out. Returns how many files lie loose.
pub fn mixed(root: &Path, outside: &Path) -> usize {
    let write = |name: &OsStr, bytes: &[u8]| std::fs::write(root.join(name), bytes).expect("a file");
    let mut loose = 0;
    let mut file = |name: &OsStr, bytes: &[u8]| {
        write(name, bytes);
        loose += 1;
    };
    let kinds = ["pdf", "txt", "md", "jpg", "png", "mp3", "zip", "csv", "rs", "mp4"];
    for (n, kind) in (0_u32..).zip(kinds.iter().cycle().take(30)) {
        let bytes: Vec<u8> = (0..n * 37).map(|i| (i * 7 + n) as u8).collect();
        file(OsStr::new(&format!("file {n:02}.{kind}")), &bytes);
    }
    file(OsStr::new("empty.txt"), b"");
    file(OsStr::new("copy of letter.txt"), b"the same words\n");
    file(OsStr::new("letter.txt"), b"the same words\n");
    file(OsStr::new("no ending"), b"no ending\n");
    file(OsStr::new("nicht lesbar.txt"), b"for nobody\n");
    file(OsStr::new("zeile\numbruch.txt"), b"a name of two lines\n");
    file(OsStr::new("\u{202e}fdp.exe.txt"), b"a name that reads backwards\n");
    file(odd_name(), b"a name in Latin-1\n");
    std::fs::set_permissions(root.join("nicht lesbar.txt"), std::fs::Permissions::from_mode(0o000))
        .expect("closed");
    write(OsStr::new(".hidden"), b"stays\n");
    for (folder, file) in [("project/src", "main.rs"), ("project", "README"), ("Documents", "old letter.txt")]
    {
        std::fs::create_dir_all(root.join(folder)).expect("a folder");
        std::fs::write(root.join(folder).join(file), format!("{folder}/{file}\n")).expect("a file");
    }
    std::fs::create_dir(root.join("empty folder")).expect("a folder");
    std::fs::write(outside.join("secret.txt"), b"not yours\n").expect("a file");
    symlink(outside.join("secret.txt"), root.join("link out")).expect("a link");
    symlink("letter.txt", root.join("link in")).expect("a link");
    loose
}

/// Whether this process is root's.
pub fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0)
}
