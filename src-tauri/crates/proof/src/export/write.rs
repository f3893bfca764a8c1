//! Bytes of planned files into a zip or a folder.

use super::Plan;
use crate::container::{Crc32, DirectorySink, Sink, ZipSink};
use crate::{Error, Source};
use model::TaskId;
use seal::{Digest, Hasher};
use std::path::Path;

/// How many events are asked for at a time.
pub(super) const PAGE: usize = 256;

/// A file of the bundle before it is written.
pub(super) struct Planned {
    pub(super) sha256: Digest,
    size: u64,
    crc: u32,
    content: Content,
}

enum Content {
    /// Small, in memory.
    Bytes(Vec<u8>),
    /// Asked for again when it is written, so that a bundle larger than memory can be made.
    Artifact,
    /// The task's events up to this number, one line each.
    Events(u64),
}

impl Planned {
    pub(super) fn bytes(bytes: Vec<u8>) -> Self {
        let (sha256, crc) = (Digest::of(&bytes), Crc32::of(&bytes));
        Self { sha256, size: bytes.len() as u64, crc, content: Content::Bytes(bytes) }
    }

    pub(super) fn artifact(bytes: &[u8]) -> Self {
        let (sha256, crc) = (Digest::of(bytes), Crc32::of(bytes));
        Self { sha256, size: bytes.len() as u64, crc, content: Content::Artifact }
    }

    pub(super) fn events(measure: Measure, last: u64) -> Self {
        let (size, crc) = (measure.size, measure.crc.finish());
        Self { sha256: measure.hasher.finish(), size, crc, content: Content::Events(last) }
    }
}

/// Digest, CRC and size of bytes that pass.
pub(super) struct Measure {
    hasher: Hasher,
    crc: Crc32,
    size: u64,
}

impl Measure {
    pub(super) fn new() -> Self {
        Self { hasher: Hasher::new(), crc: Crc32::new(), size: 0 }
    }

    pub(super) fn line(&mut self, line: &[u8]) {
        for piece in [line, b"\n"] {
            self.hasher.update(piece);
            self.crc.update(piece);
            self.size += piece.len() as u64;
        }
    }
}

/// Takes an event's number and exact bytes.
type EachEvent<'a> = dyn FnMut(u64, &[u8]) -> Result<(), Error> + 'a;

/// Calls `each` with the exact bytes of the task's events up to number `last`, in order.
pub(super) fn each_event(
    source: &dyn Source,
    task: TaskId,
    last: u64,
    each: &mut EachEvent<'_>,
) -> Result<u64, Error> {
    let mut seq = 0;
    while seq < last {
        let max = usize::try_from(last - seq).unwrap_or(PAGE).min(PAGE);
        let page = source
            .events(task, seq, max)
            .map_err(|why| Error::Source { what: format!("the events of `{task}`"), why })?;
        if page.is_empty() {
            break;
        }
        for bytes in page.iter().take(max) {
            seq += 1;
            each(seq, bytes)?;
        }
    }
    Ok(seq)
}

/// Writes one planned file.
pub(super) fn file(
    source: &dyn Source,
    task: TaskId,
    name: &str,
    planned: &Planned,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    let failed = |e: std::io::Error| Error::io("write", Path::new(name), &e);
    let moved = || Error::inconsistent(format!("`{name}` changed while it was exported"));
    sink.file(name, planned.size, planned.crc, &mut |out| match &planned.content {
        Content::Bytes(bytes) => out.write_all(bytes).map_err(failed),
        Content::Artifact => {
            let bytes = source
                .artifact(&planned.sha256)
                .map_err(|why| Error::Source { what: name.to_owned(), why })?;
            let bytes = bytes.filter(|bytes| Digest::of(bytes) == planned.sha256).ok_or_else(moved)?;
            out.write_all(&bytes).map_err(failed)
        }
        Content::Events(last) => {
            let mut again = Measure::new();
            each_event(source, task, *last, &mut |_, bytes| {
                again.line(bytes);
                out.write_all(bytes).and_then(|()| out.write_all(b"\n")).map_err(failed)
            })?;
            if again.hasher.finish() == planned.sha256 { Ok(()) } else { Err(moved()) }
        }
    })
}

pub(super) fn zip_file(plan: &Plan, source: &dyn Source, task: TaskId, path: &Path) -> Result<u64, Error> {
    let file = std::fs::File::create_new(path).map_err(|e| Error::io("write", path, &e))?;
    let mut out = std::io::BufWriter::with_capacity(256 * 1024, file);
    let mut sink = ZipSink::new(&mut out);
    plan.write(source, task, &mut sink)?;
    let bytes = sink.finish()?;
    let file = out.into_inner().map_err(|e| Error::io("write", path, e.error()))?;
    file.sync_all().map_err(|e| Error::io("write", path, &e))?;
    Ok(bytes)
}

pub(super) fn directory(plan: &Plan, source: &dyn Source, task: TaskId, path: &Path) -> Result<u64, Error> {
    let mut sink = DirectorySink::create(path)?;
    plan.write(source, task, &mut sink)?;
    Ok(plan.files.values().map(|planned| planned.size).sum())
}

/// Takes away what an export that failed has left; that it failed is what is told.
pub(super) fn clear(partial: &Path) {
    let _ = if partial.is_dir() { std::fs::remove_dir_all(partial) } else { std::fs::remove_file(partial) };
}
