//! Files that are programs, and whose they are.

use std::fs::File;
use std::io::Result;
use std::path::Path;

/// Whether a file is a program.
#[must_use]
pub fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && system::runs(path, &found))
}

/// Makes a program of a file, which nobody writes to any more.
///
/// # Errors
/// What the disk says.
pub fn make_program(file: &File) -> Result<()> {
    system::make_program(file)
}

/// Makes a file that is not there yet, which others may read, and run where it is a program.
///
/// # Errors
/// What the disk says.
pub fn create_for_all(path: &Path, is_program: bool) -> Result<File> {
    system::create_for_all(File::options().write(true).create_new(true), path, is_program)
}

/// Whether a file or folder that is open for reading is of the user who runs this, and nobody else can write it. What is not
/// known is not.
#[must_use]
pub fn is_own(file: &File) -> bool {
    system::is_own(file)
}

#[cfg(unix)]
mod system {
    use std::fs::{File, Metadata, OpenOptions, Permissions};
    use std::io::Result;
    use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
    use std::path::Path;

    pub(super) fn runs(_: &Path, found: &Metadata) -> bool {
        found.mode() & 0o111 != 0
    }

    pub(super) fn create_for_all(options: &mut OpenOptions, path: &Path, is_program: bool) -> Result<File> {
        options.mode(if is_program { 0o755 } else { 0o644 }).open(path)
    }

    pub(super) fn make_program(file: &File) -> Result<()> {
        file.set_permissions(Permissions::from_mode(0o555))
    }

    pub(super) fn is_own(file: &File) -> bool {
        let is_own =
            |found: Metadata| found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0;
        file.metadata().is_ok_and(is_own)
    }
}

#[cfg(windows)]
mod system {
    use std::fs::{File, Metadata, OpenOptions};
    use std::io::Result;
    use std::path::Path;

    /// A program is one by the end of its name.
    pub(super) fn runs(path: &Path, _: &Metadata) -> bool {
        let ends = path.extension().and_then(|end| end.to_str()).map(str::to_ascii_lowercase);
        ends.is_some_and(|end| matches!(end.as_str(), "exe" | "com" | "cmd" | "bat"))
    }

    /// Whoever may read the folder may read it.
    pub(super) fn create_for_all(options: &mut OpenOptions, path: &Path, _: bool) -> Result<File> {
        options.open(path)
    }

    pub(super) fn make_program(file: &File) -> Result<()> {
        let mut permissions = file.metadata()?.permissions();
        permissions.set_readonly(true);
        file.set_permissions(permissions)
    }

    /// A file of those who administer the machine is of its user as well, who has started it as one of them.
    pub(super) fn is_own(file: &File) -> bool {
        let list = crate::owner_only::list_of(file);
        matches!((list, win32::user()), (Ok(list), Ok(user)) if list.is_own(&user))
    }
}
