//! Bytes of planned files into a zip or a folder.

use super::Plan;
use crate::Error;
use crate::container::{DirectorySink, Sink, ZipSink};
use std::path::Path;

pub(super) fn zip_file(plan: &Plan<'_>, path: &Path) -> Result<u64, Error> {
    let file = crate::container::create_new(path).map_err(|e| Error::io("write", path, &e))?;
    let mut out = std::io::BufWriter::with_capacity(256 * 1024, file);
    let mut sink = ZipSink::new(&mut out);
    plan.write(&mut sink)?;
    let bytes = sink.finish()?;
    let file = out.into_inner().map_err(|e| Error::io("write", path, e.error()))?;
    file.sync_all().map_err(|e| Error::io("write", path, &e))?;
    Ok(bytes)
}

pub(super) fn directory(plan: &Plan<'_>, path: &Path) -> Result<u64, Error> {
    let mut sink = DirectorySink::create(path)?;
    plan.write(&mut sink)?;
    Ok(plan.files.iter().map(|(_, planned)| planned.facts().0).sum())
}

/// Whether a zip can hold so many files; it is told before the work is done.
pub(super) fn fits_zip(plan: &Plan<'_>) -> Result<(), Error> {
    let bytes: u64 = plan.files.iter().map(|(name, p)| p.facts().0 + 2 * name.len() as u64 + 76).sum();
    let files = plan.files.len();
    if files < usize::from(u16::MAX) && bytes < u64::from(u32::MAX) {
        return Ok(());
    }
    let why = format!("{files} files of {bytes} bytes, for a zip; export it as a directory");
    Err(Error::TooLarge { why })
}

impl Plan<'_> {
    /// Writes all files, in the order of their names.
    pub(super) fn write(&self, sink: &mut dyn Sink) -> Result<(), Error> {
        self.files.iter().try_for_each(|(name, planned)| {
            let (size, crc) = planned.facts();
            sink.file(&name, size, crc, &mut |out| match name.as_ref() {
                crate::layout::SUMS => self.sums(&mut |line| {
                    out.write_all(line).map_err(|e| Error::io("write", Path::new("SHA256SUMS"), &e))
                }),
                _ => self.ground.write(&name, planned, out),
            })
        })
    }
}

/// Takes away what an export that failed has left; that it failed is what is told.
pub(super) fn clear(partial: &Path) {
    let _ = if partial.is_dir() { std::fs::remove_dir_all(partial) } else { std::fs::remove_file(partial) };
}
