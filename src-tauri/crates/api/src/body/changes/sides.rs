//! Both sides of a change, with their bytes where they are at hand.

use crate::change_lists::{At, Known, Row, small};
use crate::{Host, Wire as _};
use model::{AttemptId, Digest, TaskId};
use std::io::Read as _;
use std::path::PathBuf;
use wire::Error;
use wire::changes::{Edit, FileChange, Side};
use words::act::{ChangeKind, NoText};

/// Bytes of one side that are given as text: more is read as an artifact, part by part.
pub(super) const SIDE_BYTES_MAX: u64 = kernel::hunks::HUNK_BYTES_MAX;

/// What changes between two texts, by the hunks in which a person can take it.
fn edits(before: Option<&Side>, after: Option<&Side>) -> Vec<Edit> {
    let text = |side: Option<&'_ Side>| side.and_then(|side| side.text.clone());
    let (Some(before), Some(after)) = (text(before), text(after)) else { return Vec::new() };
    let all = kernel::hunks::edits(before.as_bytes(), after.as_bytes()).unwrap_or_default();
    let told = |edit: kernel::hunks::Edit| Edit {
        hunk: small(edit.hunk),
        before: small(edit.before.start),
        before_lines: small(edit.before.len()),
        after: small(edit.after.start),
        after_lines: small(edit.after.len()),
    };
    all.into_iter().map(told).collect()
}

/// Reads sides until the answer is full.
pub(super) struct Sides<'a> {
    pub(super) task: TaskId,
    pub(super) host: &'a dyn Host,
    pub(super) root: Option<PathBuf>,
    /// Bytes that the answer has room for.
    pub(super) left: u64,
    /// Without bytes that have to be read first.
    pub(super) brief: bool,
}

impl Sides<'_> {
    pub(super) fn row(&mut self, row: &Row) -> Result<FileChange, Error> {
        let (before, after) = (self.known(row, row.before.as_ref())?, self.known(row, row.after.as_ref())?);
        let edits = match (row.op, &row.outcome) {
            (ChangeKind::Write, None) => edits(before.as_ref(), after.as_ref()),
            _ => Vec::new(),
        };
        Ok(FileChange {
            op: row.op,
            path: row.path.clone(),
            to: row.to.clone(),
            same_as: row.same_as.clone(),
            before,
            after,
            outcome: row.outcome,
            note: row.note.clone(),
            edits,
        })
    }

    fn known(&mut self, row: &Row, known: Option<&Known>) -> Result<Option<Side>, Error> {
        let Some(Known { sha256, byte_size, at }) = known else { return Ok(None) };
        if self.brief && matches!(at, At::Kept | At::Folder | At::Staged(_)) {
            let missing = Some(NoText::Later);
            return Ok(Some(Side { sha256: sha256.to_string(), byte_size: *byte_size, text: None, missing }));
        }
        Ok(Some(match at {
            At::Same => Side { sha256: sha256.to_string(), byte_size: *byte_size, text: None, missing: None },
            At::Here(text) => Side {
                sha256: sha256.to_string(),
                byte_size: *byte_size,
                text: Some(text.clone()),
                missing: None,
            },
            At::Kept => self.kept(sha256, *byte_size)?,
            At::Folder => self.prior(&row.path, sha256)?,
            At::Staged(attempt) => self.staged(*attempt, &row.path, sha256, *byte_size)?,
        }))
    }

    /// What a file is before: its bytes are kept, in the folder still, or they have drifted.
    fn prior(&mut self, path: &str, sha256: &Digest) -> Result<Side, Error> {
        let kept = self.kept(sha256, None)?;
        if kept.missing != Some(NoText::Gone) {
            return Ok(kept);
        }
        if self.left == 0 {
            return Ok(Side { missing: Some(NoText::Later), ..kept });
        }
        Ok(match self.live(path) {
            Some(bytes) if Digest::of(&bytes) == *sha256 => self.side(sha256, &bytes),
            Some(_) => Side { missing: Some(NoText::Drifted), ..kept },
            None => kept,
        })
    }

    /// What a staged run left: its bytes are kept once it was dispatched, and wait in its view until then.
    fn staged(
        &mut self,
        attempt: AttemptId,
        path: &str,
        sha256: &Digest,
        byte_size: Option<u64>,
    ) -> Result<Side, Error> {
        let kept = self.kept(sha256, byte_size)?;
        if kept.missing != Some(NoText::Gone) {
            return Ok(kept);
        }
        let why = match byte_size {
            Some(size) if size > SIDE_BYTES_MAX => NoText::Large,
            Some(size) if size > self.left => NoText::Later,
            _ => {
                let path = path.parse().ok();
                let kernel = self.host.kernel().ok();
                let bytes = kernel
                    .zip(path)
                    .and_then(|(kernel, path)| kernel.staged_bytes(self.task, attempt, &path, sha256));
                return Ok(bytes.map_or(kept, |bytes| self.side(sha256, &bytes)));
            }
        };
        Ok(Side { missing: Some(why), ..kept })
    }

    /// The bytes that stand in the folder now. They are shown only where their digest is the one that was recorded.
    fn live(&self, path: &str) -> Option<Vec<u8>> {
        let root = kernel::workspace::decode_root(path).ok()?;
        let file = crate::files::open(&self.root.as_ref()?.join(root)).ok()?;
        let mut bytes = Vec::new();
        file.take(SIDE_BYTES_MAX.saturating_add(1)).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Bytes of the content store.
    fn kept(&mut self, sha256: &Digest, byte_size: Option<u64>) -> Result<Side, Error> {
        let gone = |why: NoText, byte_size| Side {
            sha256: sha256.to_string(),
            byte_size,
            text: None,
            missing: Some(why),
        };
        let store = self.host.artifacts()?;
        if !store.contains(sha256).wire()? {
            return Ok(gone(NoText::Gone, byte_size));
        }
        let mut content = store.content(sha256).wire()?;
        let size = content.byte_size();
        if size > SIDE_BYTES_MAX {
            return Ok(gone(NoText::Large, Some(size)));
        }
        if size > self.left {
            return Ok(gone(NoText::Later, Some(size)));
        }
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes).map_err(crate::failed)?;
        Ok(self.side(sha256, &bytes))
    }

    fn side(&mut self, sha256: &Digest, bytes: &[u8]) -> Side {
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.left = self.left.saturating_sub(size);
        let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')).map(str::to_owned);
        let missing = text.is_none().then_some(NoText::Binary);
        Side { sha256: sha256.to_string(), byte_size: Some(size), text, missing }
    }
}
