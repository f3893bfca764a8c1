//! Removing a folder with everything in it, whatever a command made of it: however deep, and closed to its own maker.

use std::io;
use std::path::Path;

/// Removes the folder at `path`; one that is not there is fine.
#[cfg(not(unix))]
pub(crate) fn remove_tree(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(unix)]
pub(crate) use unix::remove_tree;

/// Nothing here goes down: what is in a folder is moved up beside it, and so three handles are enough for any depth.
#[cfg(unix)]
mod unix {
    use super::{Path, io};
    use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
    use rustix::io::Errno;
    use std::ffi::CString;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

    /// Names that are taken from a folder at once.
    const NAMES_AT_ONCE: usize = 1024;

    /// Removes the folder at `path`; one that is not there is fine.
    pub(crate) fn remove_tree(path: &Path) -> io::Result<()> {
        let top = match open(CWD, path) {
            Err(Errno::NOENT) => return Ok(()),
            other => other?,
        };
        let mut lifted = 0;
        loop {
            let names = names(top.as_fd())?;
            if names.is_empty() {
                break;
            }
            for (name, is_folder) in names {
                if is_folder {
                    clear(top.as_fd(), &name, &mut lifted)?;
                } else {
                    rustix::fs::unlinkat(&top, &name, AtFlags::empty())?;
                }
            }
        }
        drop(top);
        std::fs::remove_dir(path)
    }

    /// Opens a folder, which may be closed to its owner, and gives its owner every right in it.
    fn open<P: rustix::path::Arg + Copy>(above: BorrowedFd<'_>, name: P) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let once = || rustix::fs::openat(above, name, flags, Mode::empty());
        let folder = match once() {
            Err(Errno::ACCESS) => {
                rustix::fs::chmodat(above, name, Mode::RWXU, AtFlags::empty())?;
                once()?
            }
            other => other?,
        };
        rustix::fs::fchmod(&folder, Mode::RWXU)?;
        Ok(folder)
    }

    /// Some of what is in a folder, and which of it are folders.
    fn names(folder: BorrowedFd<'_>) -> io::Result<Vec<(CString, bool)>> {
        let mut found = Vec::new();
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
                    FileType::from_raw_mode(stat.st_mode)
                }
                known => known,
            };
            found.push((name.to_owned(), kind == FileType::Directory));
            if found.len() >= NAMES_AT_ONCE {
                break;
            }
        }
        Ok(found)
    }

    /// Removes the folder `name` of `top`; the folders in it are moved up into `top`.
    fn clear(top: BorrowedFd<'_>, name: &CString, lifted: &mut u64) -> io::Result<()> {
        let folder = open(top, name)?;
        loop {
            let names = names(folder.as_fd())?;
            if names.is_empty() {
                break;
            }
            for (inner, is_folder) in names {
                if is_folder {
                    lift(folder.as_fd(), &inner, top, lifted)?;
                } else {
                    rustix::fs::unlinkat(&folder, &inner, AtFlags::empty())?;
                }
            }
        }
        Ok(rustix::fs::unlinkat(top, name, AtFlags::REMOVEDIR)?)
    }

    /// Moves a folder up, to the first name that is free there.
    fn lift(
        folder: BorrowedFd<'_>,
        inner: &CString,
        top: BorrowedFd<'_>,
        lifted: &mut u64,
    ) -> io::Result<()> {
        // Its owner must be able to write into a folder that gets another one above it.
        drop(open(folder, inner)?);
        loop {
            *lifted = lifted.saturating_add(1);
            match rustix::fs::renameat(folder, inner, top, format!(".lifted-{lifted}")) {
                // A name that somebody chose beforehand.
                Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
                other => return Ok(other?),
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// Folders in each other, as deep as asked, each with a file, every third closed; and one name taken.
        fn deep(top: &Path, depth: usize) {
            std::fs::create_dir(top).unwrap();
            std::fs::write(top.join(".lifted-1"), "taken").unwrap();
            let mut at = open(CWD, top).unwrap();
            for level in 0..depth {
                rustix::fs::mkdirat(&at, "d", Mode::RWXU).unwrap();
                let inner = open(at.as_fd(), "d").unwrap();
                let file = rustix::fs::openat(&inner, "f", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR);
                drop(file.unwrap());
                if level % 3 == 0 {
                    rustix::fs::fchmod(&inner, Mode::empty()).unwrap();
                }
                at = inner;
            }
        }

        #[test]
        fn a_tree_deeper_than_any_path_and_closed_to_its_owner_is_removed_from_a_small_stack() {
            let dir = tempfile::tempdir().unwrap();
            let top = dir.path().join("top");
            deep(&top, 3_000);
            let small = std::thread::Builder::new().stack_size(64 * 1024);
            let removing = top.clone();
            small.spawn(move || remove_tree(&removing)).unwrap().join().unwrap().unwrap();
            assert!(!top.exists());
            remove_tree(&top).unwrap();
        }

        #[test]
        fn a_link_is_removed_and_not_followed() {
            let dir = tempfile::tempdir().unwrap();
            let (top, kept) = (dir.path().join("top"), dir.path().join("kept"));
            std::fs::create_dir_all(top.join("in")).unwrap();
            std::fs::create_dir(&kept).unwrap();
            std::fs::write(kept.join("file"), "theirs").unwrap();
            std::os::unix::fs::symlink(&kept, top.join("in/link")).unwrap();
            remove_tree(&top).unwrap();
            assert_eq!(std::fs::read(kept.join("file")).unwrap(), b"theirs");
            assert!(remove_tree(&kept.join("file")).is_err(), "only a folder is removed");
        }
    }
}
