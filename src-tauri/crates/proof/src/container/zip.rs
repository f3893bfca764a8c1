//! A bundle as one file: a zip without compression, comments, extra fields, gaps or choices.
//!
//! Names are sorted, times are 1980-01-01, files follow each other without a gap, and every header is what its
//! name, size and CRC make of it. So the same files always give the same bytes, every stock unzip reads them, and
//! the reader can refuse whatever was not written this way: compressed entries, duplicates, links, hidden bytes.

use super::{Body, Crc32, Sink, Stop, check_name};
use crate::names::Names;
use crate::{Error, layout};
use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const LOCAL_BYTES: u64 = 30;
const CENTRAL_BYTES: u64 = 46;
const END_BYTES: u64 = 22;
const VERSION: u16 = 10;
/// Made on Unix, so that the permissions below count.
const MADE_BY: u16 = 0x0300 | VERSION;
/// A regular file that everybody may read.
const ATTRIBUTES: u32 = 0o100_644 << 16;
/// 1980-01-01, the zero of DOS dates.
const DATE: u16 = 0x0021;

/// What is known of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    offset: u32,
    size: u32,
    crc: u32,
}

impl Entry {
    pub(super) fn size(&self) -> u64 {
        self.size.into()
    }
}

/// The fields that both headers of a file share, from the version needed to the length of extra fields.
fn shared(name: &str, entry: Entry) -> Vec<u8> {
    let length = u16::try_from(name.len()).unwrap_or(u16::MAX);
    let mut bytes = Vec::with_capacity(26);
    for field in [VERSION, 0, 0, 0, DATE] {
        bytes.extend(field.to_le_bytes());
    }
    for field in [entry.crc, entry.size, entry.size] {
        bytes.extend(field.to_le_bytes());
    }
    bytes.extend(length.to_le_bytes());
    bytes.extend(0_u16.to_le_bytes());
    bytes
}

fn local(name: &str, entry: Entry) -> Vec<u8> {
    [LOCAL.to_le_bytes().as_slice(), &shared(name, entry), name.as_bytes()].concat()
}

fn central(name: &str, entry: Entry) -> Vec<u8> {
    let mut bytes = CENTRAL.to_le_bytes().to_vec();
    bytes.extend(MADE_BY.to_le_bytes());
    bytes.extend(shared(name, entry));
    for _comment_disk_internal in 0..3 {
        bytes.extend(0_u16.to_le_bytes());
    }
    bytes.extend(ATTRIBUTES.to_le_bytes());
    bytes.extend(entry.offset.to_le_bytes());
    bytes.extend(name.as_bytes());
    bytes
}

fn end(files: u16, directory_bytes: u32, directory_at: u32) -> Vec<u8> {
    let mut bytes = END.to_le_bytes().to_vec();
    for field in [0, 0, files, files] {
        bytes.extend(field.to_le_bytes());
    }
    bytes.extend(directory_bytes.to_le_bytes());
    bytes.extend(directory_at.to_le_bytes());
    bytes.extend(0_u16.to_le_bytes());
    bytes
}

/// Writes a zip from front to back.
pub(crate) struct ZipSink<'a> {
    out: &'a mut dyn Write,
    at: u64,
    directory: Vec<u8>,
    files: u64,
}

impl<'a> ZipSink<'a> {
    pub(crate) fn new(out: &'a mut dyn Write) -> Self {
        Self { out, at: 0, directory: Vec::new(), files: 0 }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.out.write_all(bytes).map_err(|e| Error::io("write", Path::new("the zip"), &e))?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Ends the file; the number of its bytes.
    pub(crate) fn finish(mut self) -> Result<u64, Error> {
        let files = u16::try_from(self.files).ok().filter(|files| *files < u16::MAX);
        let files = files.ok_or_else(|| too_large(format!("{} files", self.files)))?;
        let directory = std::mem::take(&mut self.directory);
        let tail = end(files, narrow(directory.len() as u64)?, narrow(self.at)?);
        self.write(&directory)?;
        self.write(&tail)?;
        self.out.flush().map_err(|e| Error::io("write", Path::new("the zip"), &e))?;
        Ok(self.at)
    }
}

impl Sink for ZipSink<'_> {
    fn file(&mut self, name: &str, size: u64, crc: u32, body: &mut Body<'_>) -> Result<(), Error> {
        let entry = Entry { offset: narrow(self.at)?, size: narrow(size)?, crc };
        self.write(&local(name, entry))?;
        let mut counted = Counted { out: &mut *self.out, written: 0 };
        body(&mut counted)?;
        if counted.written != size {
            return Err(Error::inconsistent(format!("`{name}` changed while it was exported")));
        }
        self.at += size;
        self.directory.extend(central(name, entry));
        self.files += 1;
        Ok(())
    }
}

fn narrow(number: u64) -> Result<u32, Error> {
    u32::try_from(number).ok().filter(|n| *n < u32::MAX).ok_or_else(|| too_large(format!("{number} bytes")))
}

fn too_large(why: String) -> Error {
    Error::TooLarge { why }
}

struct Counted<'a> {
    out: &'a mut dyn Write,
    written: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A zip that is being read.
pub(crate) struct Zip {
    file: Mutex<File>,
    entries: Names<Entry>,
}

impl Zip {
    pub(super) fn open(path: &Path) -> Result<Self, Stop> {
        let failed = |e: io::Error| Stop::Failed(Error::io("read", path, &e));
        super::is_file(path).map_err(failed)?;
        let mut file = File::open(path).map_err(failed)?;
        let length = file.seek(SeekFrom::End(0)).map_err(failed)?;
        let bad = |why: &str| Stop::at("the zip", why);
        if length < END_BYTES {
            return Err(bad("it is too short to be one"));
        }
        let tail: [u8; END_BYTES as usize] = exact(&mut file, length - END_BYTES).map_err(failed)?;
        let (files, directory_bytes, directory_at) =
            (u16_at(&tail, 10), u32_at(&tail, 12), u32_at(&tail, 16));
        if tail.as_slice() != end(files, directory_bytes, directory_at) {
            return Err(bad(
                "it does not end as a bundle's zip does: a comment, more than one part, or no zip",
            ));
        }
        if u64::from(directory_at) + u64::from(directory_bytes) + END_BYTES != length {
            return Err(bad("bytes stand before, between or behind its parts"));
        }
        let most = u64::from(files) * (CENTRAL_BYTES + layout::NAME_BYTES_MAX as u64);
        if u64::from(directory_bytes) > most || usize::from(files) > layout::FILES_MAX {
            return Err(bad("its directory is larger than its files need"));
        }
        let mut directory = vec![0; usize::try_from(directory_bytes).unwrap_or_default()];
        file.seek(SeekFrom::Start(directory_at.into()))
            .and_then(|_| file.read_exact(&mut directory))
            .map_err(failed)?;
        let entries = parse_directory(&directory, files, directory_at)?;
        Ok(Self { file: Mutex::new(file), entries })
    }

    pub(super) fn files(&self) -> &Names<Entry> {
        &self.entries
    }

    pub(super) fn size(&self, name: &str) -> Option<u64> {
        self.entries.get(name).map(|entry| u64::from(entry.size))
    }

    pub(super) fn reader(&self, name: &str) -> Result<Box<dyn Read + '_>, Stop> {
        let entry = *self.entries.get(name).ok_or_else(|| Stop::at(name, "it is missing"))?;
        let expected = local(name, entry);
        let mut found = vec![0; expected.len()];
        self.read_at(entry.offset.into(), &mut found).map_err(|e| super::unread(name, &e))?;
        if found != expected {
            return Err(Stop::at(name, "its header differs from what the zip's directory says of it"));
        }
        let at = u64::from(entry.offset) + expected.len() as u64;
        Ok(Box::new(Reader {
            zip: self,
            at,
            left: entry.size.into(),
            crc: Crc32::new(),
            expected: entry.crc,
        }))
    }

    fn read_at(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(bytes)
    }
}

fn parse_directory(bytes: &[u8], files: u16, ends_at: u32) -> Result<Names<Entry>, Stop> {
    let bad = |why: &str| Stop::at("the zip's directory", why);
    let mut entries = Names::default();
    let (mut rest, mut last) = (bytes, "");
    let mut offset = 0_u64;
    for _ in 0..files {
        let (head, tail) =
            rest.split_at_checked(CENTRAL_BYTES as usize).ok_or_else(|| bad("it ends too early"))?;
        let (name, tail) =
            tail.split_at_checked(u16_at(head, 28).into()).ok_or_else(|| bad("it ends too early"))?;
        let name = std::str::from_utf8(name).map_err(|_| bad("a name is not UTF-8"))?;
        check_name(name)?;
        let method = u16_at(head, 10);
        if method != 0 {
            return Err(Stop::at(
                name,
                format!("it is compressed (method {method}), and nothing in a bundle is"),
            ));
        }
        if u32_at(head, 38) >> 28 != ATTRIBUTES >> 28 {
            return Err(Stop::at(name, "it is a link or a special file, and a bundle has none"));
        }
        let entry = Entry { offset: u32_at(head, 42), size: u32_at(head, 24), crc: u32_at(head, 16) };
        if u64::from(entry.offset) != offset {
            return Err(Stop::at(name, "bytes stand between the files of the zip, or two files share some"));
        }
        if [head, name.as_bytes()].concat() != central(name, entry) {
            return Err(Stop::at(name, "its entry in the zip's directory is not as a bundle writes it"));
        }
        if last >= name {
            return Err(Stop::at(name, "the zip's files are not sorted, or one comes twice"));
        }
        offset += LOCAL_BYTES + name.len() as u64 + u64::from(entry.size);
        entries.add(name, entry);
        (rest, last) = (tail, name);
    }
    entries.settle();
    if !rest.is_empty() || offset != u64::from(ends_at) {
        return Err(bad("bytes stand between or behind the files of the zip"));
    }
    Ok(entries)
}

fn exact<const N: usize>(file: &mut File, at: u64) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|b| b.try_into().ok()).map_or(0, u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// One file's bytes, and at their end whether the CRC fits.
struct Reader<'a> {
    zip: &'a Zip,
    at: u64,
    left: u64,
    crc: Crc32,
    expected: u32,
}

impl Read for Reader<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let wanted = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
        let Some(piece) = bytes.get_mut(..wanted).filter(|piece| !piece.is_empty()) else {
            if self.left == 0 && self.crc.finish() != self.expected {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "its bytes do not give the zip's CRC",
                ));
            }
            return Ok(0);
        };
        self.zip.read_at(self.at, piece)?;
        self.crc.update(piece);
        self.at += wanted as u64;
        self.left -= wanted as u64;
        Ok(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What has all bits set means in a zip that the number stands elsewhere; this format has no elsewhere.
    #[test]
    fn numbers_that_a_zip_keeps_for_larger_ones_are_not_written() -> Result<(), Error> {
        let most = u32::MAX - 1;
        assert_eq!(narrow(most.into()).ok(), Some(most));
        assert!(narrow(u32::MAX.into()).is_err() && narrow(u64::from(u32::MAX) + 1).is_err());
        let files = |files: u64| {
            let mut out = Vec::new();
            ZipSink { out: &mut out, at: 0, directory: Vec::new(), files }.finish().map(|size| (size, out))
        };
        assert_eq!(files(65_534)?, (22, end(65_534, 0, 0)));
        assert!(files(65_535).is_err() && files(65_536).is_err());
        Ok(())
    }
}
