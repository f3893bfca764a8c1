//! Some lines of a file: a line of a long file costs a line.

use super::read::encode;
use crate::{Error, READ_BYTES_MAX, Workspace};
use model::RelPath;
use redact::Redactor;
use serde_json::{Value, json};
use std::io::{self, Read};

/// Digest and size are of the whole file; the lines given are those from `from` to `to`, as far as the file has them.
///
/// A value that lies in several lines would be seen by nobody in a few of them: where the lines, with what stands around
/// them, hold what must not be seen, they are not given.
pub(crate) fn lines(
    workspace: &Workspace,
    path: &RelPath,
    from: u64,
    to: u64,
    redactor: &Redactor,
) -> Result<Value, Error> {
    let (file, _) = workspace.parent(path)?.open_file(path.file_name(), path)?;
    let mut picking =
        Picking { inner: file, from, to, line: 1, open: false, kept: Vec::new(), around: Around::default() };
    let (sha256, byte_size) = disk::digest(&mut picking).map_err(|e| Error::io("reading", path, e))?;
    let count = picking.line - u64::from(!picking.open);
    if from > count {
        return Err(Error::Request(format!("`{path}` has {count} lines, and line {from} was asked for")));
    }
    let wide = picking.around.with(&picking.kept);
    if !redactor.holds(&wide).is_empty() || redactor.text(&String::from_utf8_lossy(&wide)).summary().is_some()
    {
        return Err(Error::Request(format!(
            "lines {from} to {to} of `{path}` hold or touch what looks like a secret; read the whole file instead"
        )));
    }
    let cut = picking.kept.len() as u64 >= READ_BYTES_MAX;
    let (name, encoding, text) = encode(picking.kept, cut);
    let mut value = json!({
        "op": "read",
        "path": path.to_string(),
        "sha256": sha256.to_string(),
        "byte_size": byte_size,
        "cut": cut,
        "from": from,
        "to": to.min(count),
        "lines": count,
        "encoding": encoding,
    });
    if let Some(object) = value.as_object_mut() {
        object.insert(name.to_owned(), Value::String(text));
    }
    Ok(value)
}

/// Bytes looked at on each side of the lines for a value that lies across their edge.
const AROUND_BYTES: usize = redact::VALUE_BYTES_MAX;

/// What stands before and behind the lines.
#[derive(Default)]
struct Around {
    before: Vec<u8>,
    behind: Vec<u8>,
}

impl Around {
    fn with(&self, kept: &[u8]) -> Vec<u8> {
        let before = self.before.get(self.before.len().saturating_sub(AROUND_BYTES)..).unwrap_or_default();
        [before, kept, &self.behind].concat()
    }
}

/// A reader that keeps some lines of what goes by.
struct Picking<R> {
    inner: R,
    from: u64,
    to: u64,
    /// The line at hand, from 1.
    line: u64,
    /// Whether the line at hand has a byte.
    open: bool,
    kept: Vec<u8>,
    around: Around,
}

impl<R: Read> Read for Picking<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        for piece in buffer.get(..n).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
            self.take(piece);
            self.open = !piece.ends_with(b"\n");
            self.line += u64::from(!self.open);
        }
        Ok(n)
    }
}

impl<R> Picking<R> {
    fn take(&mut self, piece: &[u8]) {
        let (most, into) = if self.line < self.from {
            if self.around.before.len() > 4 * AROUND_BYTES {
                let old = self.around.before.len() - AROUND_BYTES;
                self.around.before.drain(..old);
            }
            (usize::MAX, &mut self.around.before)
        } else if self.line <= self.to {
            (usize::try_from(READ_BYTES_MAX).unwrap_or(usize::MAX), &mut self.kept)
        } else {
            (AROUND_BYTES, &mut self.around.behind)
        };
        let room = most.saturating_sub(into.len());
        into.extend_from_slice(piece.get(..piece.len().min(room)).unwrap_or(piece));
    }
}
