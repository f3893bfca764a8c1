//! Which programs a person adopted at this machine, and for which store. It is kept outside of every store's folder: a folder that
//! came from elsewhere, or is another user's, says whatever whoever made it likes, and brings no program that is started here.

use model::Digest;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Bytes of a mark.
const MARK_BYTES_MAX: u64 = 64 * 1024;

/// That a program was adopted here for a store, and how its files were when they were compared last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mark {
    /// Its digest.
    pub(crate) sha256: Digest,
    /// That of the program that runs its commands, where one lies beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) executor: Option<Digest>,
    /// Its files as they were when their digests were compared last ([`stamp`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) compared: Option<String>,
    /// The installed program that last asked whether it is healthy, and heard that it is ([`stamp`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) asked_by: Option<String>,
}

/// Where marks lie; none where the platform names no place for them.
#[derive(Debug, Clone)]
pub(crate) struct Marks(Option<PathBuf>);

impl Marks {
    /// Those of the user who runs this.
    pub(crate) fn own() -> Self {
        Self(crate::places::state().map(|place| place.join("adopted")))
    }

    /// The mark of a program for the store in this folder; none where nobody adopted it here for that.
    pub(crate) fn read(&self, store: &Path, sha256: Digest) -> Option<Mark> {
        let file = File::open(self.path(store, sha256).ok()?).ok()?;
        if !disk::is_own(&file) {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(MARK_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        let mark: Mark = serde_json::from_slice(&bytes).ok()?;
        (mark.sha256 == sha256).then_some(mark)
    }

    /// Keeps one, whole or not at all.
    ///
    /// # Errors
    /// What the disk says, and where there is no place.
    pub(crate) fn keep(&self, store: &Path, mark: &Mark) -> io::Result<()> {
        let path = self.path(store, mark.sha256)?;
        std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
        let bytes = serde_json::to_vec_pretty(mark)?;
        disk::replace(&path, &bytes)
    }

    fn path(&self, store: &Path, sha256: Digest) -> io::Result<PathBuf> {
        let none = || io::Error::other("neither `XDG_STATE_HOME` nor `HOME` names a place for it");
        let folder = self.0.as_ref().ok_or_else(none)?;
        let store = std::fs::canonicalize(store)?;
        let of_store = Digest::of(store.as_os_str().as_encoded_bytes());
        Ok(folder.join(of_store.to_string()).join(format!("{sha256}.json")))
    }
}

/// A file as its disk has it, so that another in its place, or a change of it, is seen without reading it; none where a disk does
/// not say.
pub(crate) fn stamp(path: &Path) -> Option<String> {
    let found = disk::stamp(&std::fs::metadata(path).ok()?)?;
    let (device, file) = found.place;
    let moment = |(seconds, nanos): (i64, i64)| format!("{seconds}.{nanos:09}");
    let (written, changed) = (moment(found.written), moment(found.changed));
    Some(format!("{device} {file} {} {written} {changed}", found.size))
}

#[cfg(test)]
impl Marks {
    /// Those that lie in a folder.
    pub(crate) fn at(folder: PathBuf) -> Self {
        Self(Some(folder))
    }
}
