//! Reading bytes back: never without comparing their digest.

use crate::Error;
use crate::list::List;
use crate::store::Store;
use model::{Digest, limits};
use seal::Hasher;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::PathBuf;

/// Content being read. The end is reached only if everything hashed to the digest; otherwise the last read fails.
#[derive(Debug)]
pub struct Content {
    source: Source,
    digest: Digest,
    /// Taken when the end was compared.
    hasher: Option<Hasher>,
    left: u64,
    byte_size: u64,
}

#[derive(Debug)]
enum Source {
    Inline(Cursor<Vec<u8>>),
    File(File),
    Chunks(Chunks),
}

/// Chunks read one after the other, each compared with its digest before a byte of it is handed on.
#[derive(Debug)]
struct Chunks {
    /// The folder of chunks.
    folder: PathBuf,
    list: List,
    /// Those that were read.
    done: usize,
    at_hand: Cursor<Vec<u8>>,
}

impl Chunks {
    fn read(&mut self, of: &Digest, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            let read = self.at_hand.read(buffer)?;
            if read > 0 || self.done == self.list.chunks.len() {
                return Ok(read);
            }
            self.done += 1;
            let bytes = self.list.chunk(&self.folder, of, self.done).map_err(std::io::Error::other)?;
            self.at_hand = Cursor::new(bytes);
        }
    }
}

impl Content {
    /// How many bytes there are.
    #[must_use]
    pub const fn byte_size(&self) -> u64 {
        self.byte_size
    }
}

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let damaged = |why: &str| std::io::Error::other(Error::corrupt(self.digest, why));
        let read = match &mut self.source {
            Source::Inline(bytes) => bytes.read(buffer)?,
            Source::File(file) => file.read(buffer)?,
            Source::Chunks(chunks) => chunks.read(&self.digest, buffer)?,
        };
        let Some(hasher) = &mut self.hasher else {
            return if read == 0 { Ok(0) } else { Err(damaged("it grew while it was read")) };
        };
        self.left = match self.left.checked_sub(read as u64) {
            Some(left) => left,
            None => return Err(damaged("it grew while it was read")),
        };
        hasher.update(buffer.get(..read).unwrap_or_default());
        if read > 0 && self.left > 0 {
            return Ok(read);
        }
        if self.left > 0 {
            return Err(damaged("it is shorter than when it was opened"));
        }
        match self.hasher.take().map(Hasher::finish) {
            Some(found) if found != self.digest => Err(damaged("its bytes do not hash to its name")),
            _ => Ok(read),
        }
    }
}

impl Store {
    /// All bytes of an artifact.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Corrupt`], [`Error::TooLarge`] for a file no artifact can be, [`Error::Io`].
    pub fn read(&self, digest: &Digest) -> Result<Vec<u8>, Error> {
        if let Some(bytes) = self.inline_bytes(digest)? {
            return match Digest::of(&bytes) == *digest {
                true => Ok(bytes),
                false => Err(Error::corrupt(*digest, "its bytes in the ledger do not hash to its name")),
            };
        }
        let mut content = self.open_file(digest)?;
        let mut bytes = Vec::with_capacity(usize::try_from(content.byte_size).unwrap_or(0));
        content.read_to_end(&mut bytes).map_err(|e| unread(*digest, &e))?;
        Ok(bytes)
    }

    /// An artifact as a stream, for content that should not be in memory at once.
    ///
    /// # Errors
    /// As [`Store::read`]; damage is told by the last read.
    pub fn content(&self, digest: &Digest) -> Result<Content, Error> {
        match self.inline_bytes(digest)? {
            Some(bytes) => {
                let byte_size = bytes.len() as u64;
                Ok(Content::new(Source::Inline(Cursor::new(bytes)), *digest, byte_size))
            }
            None => self.open_file(digest),
        }
    }

    /// Reads a whole file and forgets it: whether it is still what its name says.
    pub(crate) fn verify_file(&self, digest: &Digest) -> Result<u64, Error> {
        let mut content = self.open_file(digest)?;
        std::io::copy(&mut content, &mut std::io::sink()).map_err(|e| unread(*digest, &e))
    }

    fn open_file(&self, digest: &Digest) -> Result<Content, Error> {
        let path = self.path_of(digest);
        let failed = |e: &std::io::Error| Error::file(format!("opening `{}`", path.display()), e);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return self.open_chunks(digest);
            }
            Err(e) => return Err(failed(&e)),
        };
        let meta = file.metadata().map_err(|e| failed(&e))?;
        if !meta.is_file() {
            return Err(Error::corrupt(*digest, "there is no file under its name"));
        }
        if meta.len() > limits::ARTIFACT_BYTES_MAX {
            return Err(Error::TooLarge { max: limits::ARTIFACT_BYTES_MAX });
        }
        Ok(Content::new(Source::File(file), *digest, meta.len()))
    }
}

impl Store {
    fn open_chunks(&self, digest: &Digest) -> Result<Content, Error> {
        let Some(list) = self.list(digest)? else { return Err(Error::Missing { digest: *digest }) };
        let byte_size = list.byte_size;
        let (folder, at_hand) = (self.chunks.clone(), Cursor::default());
        Ok(Content::new(Source::Chunks(Chunks { folder, list, done: 0, at_hand }), *digest, byte_size))
    }
}

impl Content {
    fn new(source: Source, digest: Digest, byte_size: u64) -> Self {
        Self { source, digest, hasher: Some(Hasher::new()), left: byte_size, byte_size }
    }
}

fn unread(digest: Digest, error: &std::io::Error) -> Error {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(own) => own.clone(),
        None => Error::file(format!("reading the artifact `{digest}`"), error),
    }
}
