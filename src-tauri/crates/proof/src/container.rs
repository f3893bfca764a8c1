//! The two shapes of a bundle: a directory, or an uncompressed zip that has only one spelling.

mod crc;
mod directory;
mod zip;

pub(crate) use crc::Crc32;
pub(crate) use directory::{DirectorySink, create_new};
pub(crate) use zip::ZipSink;

use crate::Error;
use crate::layout;
use std::borrow::Cow;
use std::io::{Read, Write};
use std::path::Path;

/// Why checking ends here.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The bundle is wrong.
    Invalid {
        /// Where.
        place: String,
        /// What is wrong.
        why: String,
    },
    /// The disk failed; nothing is said about the bundle.
    Failed(Error),
}

impl Stop {
    pub(crate) fn at(place: impl Into<String>, why: impl ToString) -> Self {
        Self::Invalid { place: place.into(), why: why.to_string() }
    }
}

/// What a bundle is written into.
pub(crate) trait Sink {
    /// Adds a file. Names come in ascending order; `body` writes exactly `size` bytes whose CRC-32 is `crc`.
    fn file(&mut self, name: &str, size: u64, crc: u32, body: &mut Body<'_>) -> Result<(), Error>;
}

/// Writes the content of one file.
pub(crate) type Body<'a> = dyn FnMut(&mut dyn Write) -> Result<(), Error> + 'a;

/// A bundle that is being read.
pub(crate) enum Container {
    /// A folder.
    Directory(directory::Directory),
    /// A zip file.
    Zip(zip::Zip),
}

impl Container {
    /// Lists the files without reading them; refuses every name a bundle does not have.
    pub(crate) fn open(path: &Path) -> Result<Self, Stop> {
        let facts = std::fs::metadata(path).map_err(|e| Stop::Failed(Error::io("read", path, &e)))?;
        if !facts.is_dir() && !facts.is_file() {
            return Err(Stop::at(path.display().to_string(), "it is neither a file nor a folder"));
        }
        if facts.is_dir() {
            directory::Directory::open(path).map(Self::Directory)
        } else {
            zip::Zip::open(path).map(Self::Zip)
        }
    }

    /// Number of files, and of their bytes.
    pub(crate) fn totals(&self) -> (u64, u64) {
        let sizes: &mut dyn Iterator<Item = u64> = match self {
            Self::Directory(directory) => &mut directory.files().iter().map(|(_, size)| *size),
            Self::Zip(zip) => &mut zip.files().iter().map(|(_, entry)| entry.size()),
        };
        sizes.fold((0, 0), |(files, bytes), size| (files + 1, bytes + size))
    }

    /// The first name, in order, that `odd` finds odd.
    pub(crate) fn find(&self, odd: &dyn Fn(&str) -> bool) -> Option<String> {
        match self {
            Self::Directory(directory) => {
                directory.files().iter().map(|(name, _)| name).find(|name| odd(name))
            }
            Self::Zip(zip) => zip.files().iter().map(|(name, _)| name).find(|name| odd(name)),
        }
        .map(Cow::into_owned)
    }

    pub(crate) fn size(&self, name: &str) -> Option<u64> {
        match self {
            Self::Directory(directory) => directory.size(name),
            Self::Zip(zip) => zip.size(name),
        }
    }

    /// Opens a file for reading in pieces. Reading it to its end checks what the container itself promises of it.
    pub(crate) fn reader(&self, name: &str) -> Result<Box<dyn Read + '_>, Stop> {
        match self {
            Self::Directory(directory) => directory.reader(name),
            Self::Zip(zip) => zip.reader(name),
        }
    }

    /// A whole file of at most `max` bytes.
    pub(crate) fn read(&self, name: &str, max: u64) -> Result<Vec<u8>, Stop> {
        let size = self.size(name).ok_or_else(|| Stop::at(name, "it is missing"))?;
        if size > max {
            return Err(Stop::at(
                name,
                format!("it has {size} bytes, more than the {max} such a file may have"),
            ));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        self.reader(name)?.take(size + 1).read_to_end(&mut bytes).map_err(|e| unread(name, &e))?;
        if bytes.len() as u64 != size {
            return Err(Stop::at(name, "its size changed while it was read"));
        }
        Ok(bytes)
    }
}

/// A pipe would be waited for, and a device never ends: only a file is opened.
pub(crate) fn is_file(path: &Path) -> std::io::Result<()> {
    if std::fs::metadata(path)?.is_file() {
        return Ok(());
    }
    Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is no regular file"))
}

/// A failed read: wrong bytes are the bundle's fault, everything else the disk's.
pub(crate) fn unread(name: &str, error: &std::io::Error) -> Stop {
    match error.kind() {
        std::io::ErrorKind::InvalidData | std::io::ErrorKind::UnexpectedEof => Stop::at(name, error),
        _ => Stop::Failed(Error::io("read", Path::new(name), error)),
    }
}

/// Refuses a name before anything is done with it.
fn check_name(name: &str) -> Result<(), Stop> {
    if layout::is_known(name) {
        return Ok(());
    }
    let shown: String = name.chars().take(layout::NAME_BYTES_MAX).flat_map(char::escape_default).collect();
    Err(Stop::at(shown, "a bundle has no file of this name"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_grows_or_shrinks_while_it_is_read_is_refused() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join(layout::README);
        std::fs::write(&path, b"four")?;
        let Ok(container) = Container::open(folder.path()) else {
            return Err(std::io::ErrorKind::Other.into());
        };
        assert!(matches!(container.read(layout::README, 4), Ok(bytes) if bytes == b"four"));
        for other in [b"fours".as_slice(), b"for", b""] {
            std::fs::write(&path, other)?;
            let read = container.read(layout::README, 4);
            assert!(matches!(read, Err(Stop::Invalid { why, .. }) if why.contains("its size changed")));
        }
        Ok(())
    }
}
