//! What files are made of when they are written: asked of the source again, so that no bundle need be held.

use super::prov::Prov;
use crate::container::Crc32;
use crate::layout::Named;
use crate::{Error, Source};
use model::TaskId;
use seal::merkle::{Tree, leaf_hash, verify_inclusion};
use seal::note::{Checkpoint, Note};
use seal::tlog_proof::TlogProof;
use seal::{Digest, Hasher};
use std::io::{self, Read as _, Write};
use std::path::Path;

/// How many events are asked for at a time.
const PAGE: usize = 256;

/// A file of the bundle before it is written.
#[derive(Debug)]
pub(super) enum Planned {
    /// Small, in memory.
    Whole(Box<Whole>),
    /// Named by the digest of its bytes: an artifact or a disclosure.
    ByDigest {
        /// Its bytes.
        size: u64,
        /// For the zip.
        crc: u32,
    },
    /// Made twice, once to be measured.
    Made(Box<Measured>),
}

#[derive(Debug)]
pub(super) struct Whole {
    sha256: Digest,
    crc: u32,
    bytes: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct Measured {
    sha256: Digest,
    size: u64,
    crc: u32,
    what: What,
}

/// What is made when it is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// The task's events, a line each.
    Events,
    /// Their lineage.
    Prov,
    /// The gate's entries, a line each.
    Entries,
    /// The place of an entry of this number.
    EntryProof(u64),
    /// A list of all files, which the plan writes.
    Sums,
}

impl Planned {
    pub(super) fn whole(bytes: Vec<u8>) -> Self {
        let (sha256, crc) = (Digest::of(&bytes), Crc32::of(&bytes));
        Self::Whole(Box::new(Whole { sha256, crc, bytes }))
    }

    pub(super) fn made(measure: Measure, what: What) -> Self {
        let (size, crc) = (measure.size, measure.crc.finish());
        Self::Made(Box::new(Measured { sha256: measure.hasher.finish(), size, crc, what }))
    }

    /// Size and CRC.
    pub(super) fn facts(&self) -> (u64, u32) {
        match self {
            Self::Whole(whole) => (whole.bytes.len() as u64, whole.crc),
            Self::ByDigest { size, crc } => (*size, *crc),
            Self::Made(made) => (made.size, made.crc),
        }
    }

    /// SHA-256 of the file of this name.
    pub(super) fn sha256(&self, name: &str) -> Digest {
        match (self, Named::parse(name)) {
            (Self::Whole(whole), _) => whole.sha256,
            (Self::Made(made), _) => made.sha256,
            (Self::ByDigest { .. }, Some(Named::Artifact(digest) | Named::Disclosure(digest))) => digest,
            // Only those two are planned so.
            (Self::ByDigest { .. }, _) => Digest::ZERO,
        }
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

    pub(super) fn by_digest(self) -> (Digest, Planned) {
        (self.hasher.finish(), Planned::ByDigest { size: self.size, crc: self.crc.finish() })
    }

    pub(super) fn line(&mut self, line: &[u8]) {
        self.take(line);
        self.take(b"\n");
    }

    fn take(&mut self, piece: &[u8]) {
        self.hasher.update(piece);
        self.crc.update(piece);
        self.size += piece.len() as u64;
    }
}

impl Write for Measure {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.take(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Where everything comes from, as of the signed heads.
pub(super) struct Ground<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) task: TaskId,
    /// Number of the task's events.
    pub(super) last: u64,
    /// The gate's signed head.
    pub(super) gate: Option<(Note, Checkpoint)>,
    /// Numbers of the gate's entries that go along.
    pub(super) entries: Vec<u64>,
    pub(super) prov: Prov,
}

/// Takes an event's number and exact bytes.
type EachEvent<'a> = dyn FnMut(u64, &[u8]) -> Result<(), Error> + 'a;

impl Ground<'_> {
    /// Writes what a file is made of.
    pub(super) fn make(&self, what: What, out: &mut dyn Write) -> Result<(), Error> {
        let failed = |e: io::Error| Error::io("write", Path::new("the bundle"), &e);
        let mut line =
            |bytes: &[u8]| out.write_all(bytes).and_then(|()| out.write_all(b"\n")).map_err(failed);
        match what {
            What::Events => self.each_event(&mut |_, bytes| line(bytes)).map(|_| ()),
            What::Entries => self.entries.iter().try_for_each(|n| line(&self.entry(*n)?)),
            What::EntryProof(number) => {
                let text = self.entry_proof(number, &self.entry(number)?)?;
                out.write_all(text.as_bytes()).map_err(failed)
            }
            What::Prov => {
                self.prov.write(out, &mut |each| self.each_event(&mut |_, bytes| each(bytes)).map(|_| ()))
            }
            What::Sums => Ok(()),
        }
    }

    /// Measures what a file is made of.
    pub(super) fn plan(&self, what: What) -> Result<Planned, Error> {
        let mut measure = Measure::new();
        self.make(what, &mut measure)?;
        Ok(Planned::made(measure, what))
    }

    /// Writes one planned file, but for the list of all files.
    pub(super) fn write(&self, name: &str, planned: &Planned, out: &mut dyn Write) -> Result<(), Error> {
        let failed = |e: io::Error| Error::io("write", Path::new(name), &e);
        let moved = || Error::inconsistent(format!("`{name}` changed while it was exported"));
        let mut both = Both { out, measure: Measure::new() };
        match (planned, Named::parse(name)) {
            (Planned::Whole(whole), _) => return both.out.write_all(&whole.bytes).map_err(failed),
            (Planned::Made(made), _) => self.make(made.what, &mut both)?,
            (_, Some(Named::Artifact(digest))) => {
                let mut bytes = self.artifact(&digest)?.ok_or_else(moved)?;
                io::copy(&mut bytes, &mut both).map_err(failed)?;
            }
            (_, Some(Named::Disclosure(digest))) => {
                both.write_all(&self.disclosure(&digest)?.ok_or_else(moved)?).map_err(failed)?;
            }
            (Planned::ByDigest { .. }, _) => return Err(moved()),
        }
        if both.measure.hasher.finish() == planned.sha256(name) { Ok(()) } else { Err(moved()) }
    }

    /// Calls `each` with the exact bytes of the task's events up to the last, in order; their number.
    pub(super) fn each_event(&self, each: &mut EachEvent<'_>) -> Result<u64, Error> {
        let mut seq = 0;
        while seq < self.last {
            let max = usize::try_from(self.last - seq).unwrap_or(PAGE).min(PAGE);
            let page = self.page(seq, max)?;
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

    /// Exact bytes of one event.
    pub(super) fn event(&self, seq: u64) -> Result<Vec<u8>, Error> {
        let gone = || Error::inconsistent(format!("event {seq} is no longer there"));
        self.page(seq.saturating_sub(1), 1)?.into_iter().next().ok_or_else(gone)
    }

    fn page(&self, after: u64, max: usize) -> Result<Vec<Vec<u8>>, Error> {
        let what = || format!("the events of `{}`", self.task);
        self.source.events(self.task, after, max).map_err(|why| Error::Source { what: what(), why })
    }

    pub(super) fn artifact(&self, digest: &Digest) -> Result<Option<Box<dyn io::Read + '_>>, Error> {
        let what = || format!("the artifact `{digest}`");
        self.source.artifact(digest).map_err(|why| Error::Source { what: what(), why })
    }

    /// The whole bytes of an artifact that is a record and not content.
    pub(super) fn record(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        let Some(reader) = self.artifact(digest)? else { return Ok(None) };
        let mut bytes = Vec::new();
        let most = crate::layout::WHOLE_BYTES_MAX;
        reader
            .take(most + 1)
            .read_to_end(&mut bytes)
            .map_err(|e| Error::io("read", Path::new("an artifact"), &e))?;
        if Digest::of(&bytes) == *digest {
            return Ok(Some(bytes));
        }
        Err(Error::inconsistent(format!("the artifact `{digest}` has other bytes than its digest says")))
    }

    pub(super) fn disclosure(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        let what = || format!("the disclosure `{digest}`");
        let found = self.source.disclosure(digest).map_err(|why| Error::Source { what: what(), why })?;
        match found {
            Some(bytes) if Digest::of(&bytes) != *digest => {
                Err(Error::inconsistent(format!("{} has other bytes than its digest says", what())))
            }
            other => Ok(other),
        }
    }

    pub(super) fn entry(&self, number: u64) -> Result<Vec<u8>, Error> {
        let what = || format!("the gate's entry {number}");
        self.source.gate_entry(number).map_err(|why| Error::Source { what: what(), why })
    }

    /// The entry's place in the gate's tree, checked.
    fn entry_proof(&self, number: u64, entry: &[u8]) -> Result<String, Error> {
        let (note, head) =
            self.gate.as_ref().ok_or_else(|| Error::inconsistent("the gate has entries and no head"))?;
        let what = || format!("the place of the gate's entry {number}");
        let path =
            self.source.gate_proof(number, head.size).map_err(|why| Error::Source { what: what(), why })?;
        let index = number.checked_sub(1).ok_or_else(|| Error::inconsistent("entries count from 1"))?;
        verify_inclusion(&leaf_hash(entry), index, head.size, &path, &head.root)
            .map_err(Error::inconsistent)?;
        Ok(TlogProof::new(index, path, note.clone()).to_text())
    }
}

/// The place of an event in the task's tree.
pub(super) fn event_proof(tree: &Tree, seq: u64, note: &Note) -> Result<String, Error> {
    let index = seq.saturating_sub(1);
    let path = tree.inclusion_proof(index).map_err(Error::inconsistent)?;
    Ok(TlogProof::new(index, path, note.clone()).to_text())
}

struct Both<'a> {
    out: &'a mut dyn Write,
    measure: Measure,
}

impl Write for Both<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write_all(bytes)?;
        self.measure.take(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
