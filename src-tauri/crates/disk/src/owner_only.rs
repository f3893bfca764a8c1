//! Files and folders for their owner alone, whatever the process's mask says. Whoever writes something of a store, a copy
//! of it or an export makes it here.

use std::fs::{File, OpenOptions};
use std::io::{Result, Write as _};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

#[cfg(windows)]
pub(crate) use system::list_of;

/// Others than its owner who may reach a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Others {
    /// Who they are, as the system tells it: the bits of its mode, or names.
    pub who: String,
    /// Whether they see what is in it; else they change it, or what is known of it.
    pub can_read: bool,
    /// What a person does about it, as the rest of a sentence in which `FILE` stands for the path.
    remedy: &'static str,
}

impl Others {
    /// What a person does about it, as the rest of a sentence: a command that they can give as it stands.
    pub fn remedy_for<P: AsRef<Path> + ?Sized>(&self, path: &P) -> String {
        self.remedy.replace("FILE", &system::word(&path.as_ref().to_string_lossy()))
    }
}

/// Makes a folder and the missing ones above it; one that is there is closed to others.
///
/// # Errors
/// What the file system says.
pub fn folder(path: &Path) -> Result<()> {
    system::folder(path)
}

/// Makes a folder that is not there yet, below one that is.
///
/// # Errors
/// What the file system says.
pub fn new_folder(path: &Path) -> Result<()> {
    system::new_folder(path)
}

/// Makes a folder and the missing ones above it, and leaves one that is there as it is.
///
/// # Errors
/// What the file system says.
pub fn missing_folders(path: &Path) -> Result<()> {
    system::missing_folders(path)
}

/// Who beside its owner may reach a file that is open for reading or writing; none where it is closed to others. Whoever reaches
/// every file anyway is nobody.
///
/// # Errors
/// What the file system says.
pub fn open_to_others(file: &File) -> Result<Option<Others>> {
    system::open_to_others(file)
}

/// The folder on the real way to a file that nobody passes but the user who runs this, whatever the file's own rights; none where there
/// is no such folder, or the file has another name elsewhere. What is mounted in two places is told by no system, and is not seen here.
///
/// # Errors
/// What the file system says.
pub fn closed_folder_above(path: &Path) -> Result<Option<PathBuf>> {
    system::closed_folder_above(&path.canonicalize()?)
}

/// What a person does about a file that is open to others and that they cannot change, as the rest of a sentence.
#[must_use]
pub const fn remedy_where_mounted() -> &'static str {
    system::REMEDY_WHERE_MOUNTED
}

/// Opens a file with these options, which make it where it is missing; it is readable by its owner alone then.
///
/// # Errors
/// What the file system says.
pub fn open(options: &mut OpenOptions, path: &Path) -> Result<File> {
    system::open(options, path)
}

/// Makes a file, or empties the one that is there.
///
/// # Errors
/// What the file system says.
pub fn create(path: &Path) -> Result<File> {
    open(OpenOptions::new().write(true).create(true).truncate(true), path)
}

/// Makes a file that is not there yet.
///
/// # Errors
/// What the file system says.
pub fn create_new(path: &Path) -> Result<File> {
    system::create_new(path)
}

/// Writes a file whole and synced; the caller gives it its name.
///
/// # Errors
/// What the file system says.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Sees to it that a file is there and closed to others before a database is opened in it: SQLite gives its own files the
/// mode of the first.
///
/// # Errors
/// What the file system says.
pub fn database(path: &Path) -> Result<()> {
    open(OpenOptions::new().write(true).create(true).truncate(false), path).map(drop)
}

/// Makes a temporary file, which is its owner's alone from its first moment.
pub(crate) fn temporary(builder: &mut Builder<'_, '_>, folder: &Path) -> Result<NamedTempFile> {
    system::temporary(builder, folder)
}

#[cfg(unix)]
mod system {
    use super::Others;
    use std::fs::{DirBuilder, File, OpenOptions, Permissions};
    use std::io::Result;
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
    use std::path::{Path, PathBuf};
    use tempfile::{Builder, NamedTempFile};

    const REMEDY: &str = "run `chmod 600 FILE`";

    /// A path as one word of a shell.
    pub(super) fn word(path: &str) -> String {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+,:@%".contains(&byte);
        match !path.is_empty() && path.bytes().all(is_plain) {
            true => path.to_owned(),
            false => format!("'{}'", path.replace('\'', "'\\''")),
        }
    }

    pub(super) const REMEDY_WHERE_MOUNTED: &str = "where it is mounted read-only, mount it for this user with \
        mode 0400 (`mode: 0400` of a secret, `defaultMode: 0400` of a volume), or below a folder of this user with mode 0700";

    pub(super) fn closed_folder_above(path: &Path) -> Result<Option<PathBuf>> {
        let user = rustix::process::geteuid().as_raw();
        // A second name may lie in a folder that anybody passes.
        if std::fs::metadata(path)?.nlink() != 1 {
            return Ok(None);
        }
        for folder in path.ancestors().skip(1) {
            let found = std::fs::metadata(folder)?;
            if found.uid() == user && found.mode() & 0o077 == 0 {
                return Ok(Some(folder.to_path_buf()));
            }
        }
        Ok(None)
    }

    pub(super) fn missing_folders(path: &Path) -> Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)
    }

    pub(super) fn open_to_others(file: &File) -> Result<Option<Others>> {
        let mode = file.metadata()?.permissions().mode() & 0o777;
        let can_read = mode & 0o044 != 0;
        let others = || Others { who: format!("mode {mode:o}"), can_read, remedy: REMEDY };
        Ok((mode & 0o077 != 0).then(others))
    }

    pub(super) fn folder(path: &Path) -> Result<()> {
        missing_folders(path)?;
        if std::fs::metadata(path)?.permissions().mode() & 0o077 == 0 {
            return Ok(());
        }
        std::fs::set_permissions(path, Permissions::from_mode(0o700))
    }

    pub(super) fn new_folder(path: &Path) -> Result<()> {
        DirBuilder::new().mode(0o700).create(path)?;
        std::fs::set_permissions(path, Permissions::from_mode(0o700))
    }

    pub(super) fn open(options: &mut OpenOptions, path: &Path) -> Result<File> {
        let file = options.mode(0o600).open(path)?;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        Ok(file)
    }

    pub(super) fn create_new(path: &Path) -> Result<File> {
        open(OpenOptions::new().write(true).create_new(true), path)
    }

    pub(super) fn temporary(builder: &mut Builder<'_, '_>, folder: &Path) -> Result<NamedTempFile> {
        builder.permissions(Permissions::from_mode(0o600)).tempfile_in(folder)
    }
}

#[cfg(windows)]
mod system {
    use super::Others;
    use std::fs::{File, OpenOptions};
    use std::io::{Error, ErrorKind, Result};
    use std::path::{Path, PathBuf};
    use tempfile::{Builder, NamedTempFile};
    use win32::access::{AccessList, Sid};

    /// A path as one word of a command line: no name there has such marks in it.
    pub(super) fn word(path: &str) -> String {
        format!("\"{path}\"")
    }

    pub(super) const REMEDY_WHERE_MOUNTED: &str = "where you cannot change it, name a copy of your own";

    /// A path leads past a closed folder here: only the list of the file itself counts.
    pub(super) fn closed_folder_above(path: &Path) -> Result<Option<PathBuf>> {
        std::fs::metadata(path).map(|_| None)
    }

    /// What a person does about it.
    const REMEDY: &str = "take their permission away: `icacls FILE /inheritance:r /grant:r \"%USERNAME%:F\"`";

    pub(crate) fn list_of(file: &File) -> Result<AccessList> {
        AccessList::read(&win32::descriptor(file)?).map_err(|why| Error::new(ErrorKind::InvalidData, why))
    }

    /// An access list was set; whether it holds is looked at, because a disk may have none.
    fn seen_closed(file: &File, user: &Sid) -> Result<()> {
        let others = list_of(file)?.others(user);
        if others.is_empty() {
            return Ok(());
        }
        let others = others.join(", ");
        Err(Error::new(
            ErrorKind::PermissionDenied,
            format!(
                "it stays open to others ({others}); keep it on a disk that has access lists, as NTFS does"
            ),
        ))
    }

    pub(super) fn missing_folders(path: &Path) -> Result<()> {
        let user = win32::user()?;
        let is_missing = |at: &&Path| !at.as_os_str().is_empty() && !at.is_dir();
        let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
        for at in missing.into_iter().rev() {
            match win32::create_folder(at, &user) {
                // Somebody else was faster.
                Err(error) if error.kind() == ErrorKind::AlreadyExists && at.is_dir() => {}
                made => made?,
            }
        }
        Ok(())
    }

    pub(super) fn open_to_others(file: &File) -> Result<Option<Others>> {
        let (list, user) = (list_of(file)?, win32::user()?);
        let who = list.others(&user).join(", ");
        let can_read = list.is_read_by_others(&user);
        Ok(if who.is_empty() { None } else { Some(Others { who, can_read, remedy: REMEDY }) })
    }

    pub(super) fn folder(path: &Path) -> Result<()> {
        missing_folders(path)?;
        let user = win32::user()?;
        if list_of(&crate::open_folder(path)?)?.is_closed(&user) {
            return Ok(());
        }
        win32::close_to_others(path, &user, true)?;
        seen_closed(&crate::open_folder(path)?, &user)
    }

    pub(super) fn new_folder(path: &Path) -> Result<()> {
        win32::create_folder(path, &win32::user()?)
    }

    /// It is made with its list first where it is missing, because a file that is opened takes none.
    pub(super) fn open(options: &mut OpenOptions, path: &Path) -> Result<File> {
        let user = win32::user()?;
        match win32::create_new(path, &user) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            Ok(_) | Err(_) => {}
        }
        let file = options.open(path)?;
        if !list_of(&file)?.others(&user).is_empty() {
            win32::close_to_others(path, &user, false)?;
            seen_closed(&file, &user)?;
        }
        Ok(file)
    }

    pub(super) fn create_new(path: &Path) -> Result<File> {
        win32::create_new(path, &win32::user()?)
    }

    pub(super) fn temporary(builder: &mut Builder<'_, '_>, folder: &Path) -> Result<NamedTempFile> {
        let user = win32::user()?;
        builder.make_in(folder, |path| win32::create_new(path, &user))
    }
}
