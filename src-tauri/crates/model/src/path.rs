//! Paths relative to a lease root, as bytes: a file name that is not UTF-8 is no exception.

use crate::Error;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, percent_encode};
use std::fmt;
use std::str::FromStr;

/// Bytes that are escaped in the written form: everything but unreserved characters and `/`.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b'\\')
    .add(b'^')
    .add(b'|')
    .add(b'[')
    .add(b']');

/// A path below a workspace root: parts joined by `/`, no `.`/`..`/empty part, no NUL. The root is empty.
///
/// Written and stored percent-encoded; [`RelPath::as_bytes`] are the bytes the file system knows.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct RelPath(Vec<u8>);

impl RelPath {
    /// The workspace root itself.
    pub const ROOT: Self = Self(Vec::new());

    /// Checks and wraps raw bytes.
    ///
    /// # Errors
    /// [`Error::Path`] when absolute, climbing, or malformed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.is_empty() {
            return Ok(Self::ROOT);
        }
        let bad = |part: &[u8]| part.is_empty() || part == b"." || part == b".." || part.contains(&0);
        if bytes.len() > crate::limits::PATH_BYTES_MAX || bytes.split(|b| *b == b'/').any(bad) {
            return Err(Error::Path(String::from_utf8_lossy(bytes).into_owned()));
        }
        Ok(Self(bytes.to_vec()))
    }

    /// The bytes the file system knows.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether this is the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// This path with one more part or several.
    ///
    /// # Errors
    /// [`Error::Path`] when the result is no path.
    pub fn join(&self, tail: &[u8]) -> Result<Self, Error> {
        if self.is_root() {
            return Self::from_bytes(tail);
        }
        let mut bytes = self.0.clone();
        bytes.push(b'/');
        bytes.extend_from_slice(tail);
        Self::from_bytes(&bytes)
    }

    /// The folder this path is in; the root is in itself.
    pub fn parent(&self) -> Self {
        match self.0.iter().rposition(|b| *b == b'/') {
            Some(at) => Self(self.0.iter().take(at).copied().collect()),
            None => Self::ROOT,
        }
    }

    /// The last part's bytes.
    pub fn file_name(&self) -> &[u8] {
        self.0.rsplit(|b| *b == b'/').next().unwrap_or(&[])
    }

    /// Whether `self` is `ancestor` or lies beneath it.
    pub fn is_within(&self, ancestor: &Self) -> bool {
        ancestor.is_root()
            || self == ancestor
            || (self.0.starts_with(&ancestor.0) && self.0.get(ancestor.0.len()) == Some(&b'/'))
    }

    /// For people: UTF-8 where it is, replacement characters where it is not.
    pub fn display_lossy(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        percent_encode(&self.0, ESCAPED).fmt(f)
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

impl FromStr for RelPath {
    type Err = Error;
    /// Reads the percent-encoded form, and only the form this type writes.
    fn from_str(text: &str) -> Result<Self, Error> {
        let path = Self::from_bytes(&percent_decode_str(text).collect::<Vec<u8>>())?;
        if path.to_string() == text { Ok(path) } else { Err(Error::Path(text.to_owned())) }
    }
}

impl serde::Serialize for RelPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for RelPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <String as serde::Deserialize>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
