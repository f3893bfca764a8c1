//! What a reader can be asked for by digest: disclosures, small artifacts, and what was erased.

use crate::Error;
use crate::reader::Reader;
use crate::rows::Hash;
use rusqlite::OptionalExtension;
use seal::Digest;

impl Reader {
    /// The bytes that open a concealed leaf, unless they were erased.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`] also when they do not hash to the digest.
    pub fn disclosure(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        self.content("SELECT bytes FROM disclosures WHERE digest = ?1", "disclosure", digest)
    }

    /// What `with` makes of the leaves that it asks for. One that was erased is none; one that cannot be read is an error,
    /// and never passes for an erased one.
    ///
    /// # Errors
    /// As [`Reader::disclosure`], of the first one that could not be read.
    pub fn revealing<T>(
        &self,
        with: impl FnOnce(&dyn Fn(&Digest) -> Option<Vec<u8>>) -> T,
    ) -> Result<T, Error> {
        let failed = std::cell::RefCell::new(None);
        let made = with(&|digest| match self.disclosure(digest) {
            Ok(found) => found,
            Err(error) => {
                failed.borrow_mut().get_or_insert(error);
                None
            }
        });
        failed.into_inner().map_or(Ok(made), Err)
    }

    /// A small artifact.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`] also when it does not hash to the digest.
    pub fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        self.content("SELECT bytes FROM blobs WHERE digest = ?1", "artifact", digest)
    }

    /// Whether the log says that this content was let go.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Corrupt`].
    pub fn is_content_erased(&self, digest: &Digest) -> Result<bool, Error> {
        self.read("reading what was erased", |conn| {
            conn.prepare_cached("SELECT 1 FROM erasures WHERE digest = ?1")?.exists([Hash(*digest)])
        })
    }

    fn content(&self, text: &str, what: &str, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        let found: Option<Vec<u8>> = self.read("reading content", |conn| {
            conn.prepare_cached(text)?.query_row([Hash(*digest)], |row| row.get(0)).optional()
        })?;
        match found {
            Some(bytes) if Digest::of(&bytes) != *digest => {
                let path = crate::schema::path(self.dir());
                Err(Error::corrupt(&path, format!("the {what} `{digest}` does not hash to its name")))
            }
            found => Ok(found),
        }
    }
}
