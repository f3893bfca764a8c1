//! The gate's own bundle as a file (KS-4.8, KS-5.6): all entries of the store from genesis, replayable (KS-7).
//!
//! The file is the canonical bytes of [`gate::EvidenceBundle`] and a final newline. It is written entry by entry,
//! so a long log need not be in memory; it is read whole, up to [`FILE_BYTES_MAX`].

use crate::{Error, Report, Verdict};
use gate::{EvidenceBundle, Replay, verify_bundle};
use model::UnixMs;
use seal::Digest;
use std::io::{Read as _, Write};
use std::path::Path;

/// Largest file that [`verify`] reads.
pub const FILE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Writes all entries, in order, as they are stored. They must replay: a broken log is not exported as if it were
/// whole. Returns their number and the root hash.
///
/// # Errors
/// [`Error::Inconsistent`] with the first offending entry, [`Error::Source`], [`Error::Io`].
pub fn export(
    entries: impl IntoIterator<Item = Result<Vec<u8>, String>>,
    kernel_id: &str,
    variant: &str,
    exported_at: UnixMs,
    out: &mut dyn Write,
) -> Result<(u64, Digest), Error> {
    let failed = |e: std::io::Error| Error::io("write", Path::new("the evidence bundle"), &e);
    let text = |value: &str| seal::canon::to_canonical(value).map_err(Error::inconsistent);
    // Names in canonical order: exported_at_ms, kernel_id, ledger_entries, root_hash, variant.
    write!(out, "{{\"exported_at_ms\":{},\"kernel_id\":", exported_at.0).map_err(failed)?;
    out.write_all(&text(kernel_id)?).map_err(failed)?;
    out.write_all(b",\"ledger_entries\":[").map_err(failed)?;
    let mut replay = Replay::new();
    for (at, bytes) in entries.into_iter().enumerate() {
        let bytes = bytes.map_err(|why| Error::Source { what: "the gate's entries".to_owned(), why })?;
        replay.push_bytes(&bytes).map_err(Error::inconsistent)?;
        let comma: &[u8] = if at == 0 { b"" } else { b"," };
        out.write_all(comma).and_then(|()| out.write_all(&bytes)).map_err(failed)?;
    }
    let verified = replay.finish().map_err(Error::inconsistent)?;
    write!(out, "],\"root_hash\":\"{}\",\"variant\":", verified.root).map_err(failed)?;
    out.write_all(&text(variant)?).map_err(failed)?;
    out.write_all(b"}\n").and_then(|()| out.flush()).map_err(failed)?;
    Ok((verified.entries, verified.root))
}

/// Replays the file from genesis and compares its end with its root hash (KS-7.1, KS-7.2).
///
/// Nobody signs this file. With `root`, the hash of the last entry as known from elsewhere (a checkpoint, an older
/// export), the verdict may be valid; without, the best is unverifiable.
///
/// # Errors
/// [`Error::Io`] when it cannot be read.
pub fn verify(path: &Path, root: Option<Digest>) -> Result<Report, Error> {
    let failed = |e: std::io::Error| Error::io("read", path, &e);
    crate::container::is_file(path).map_err(failed)?;
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    let mut report = crate::verify::blank(Verdict::Valid);
    (report.counts.files, report.counts.bytes) = (1, bytes.len() as u64);
    let checked = bytes
        .strip_suffix(b"\n")
        .filter(|_| bytes.len() as u64 <= FILE_BYTES_MAX)
        .ok_or_else(|| "it is larger than any, or its final newline is missing".to_owned())
        .and_then(|text| EvidenceBundle::from_bytes(text).map_err(|e| e.to_string()))
        .and_then(|bundle| verify_bundle(&bundle).map(|v| (v, bundle)).map_err(|e| e.to_string()));
    let (verified, bundle) = match checked {
        Ok(checked) => checked,
        Err(why) => {
            report.verdict = Verdict::Invalid { place: path.display().to_string(), why };
            return Ok(report);
        }
    };
    report.counts.gate_entries = verified.entries;
    report.exported_at_ms = Some(bundle.exported_at_ms.0);
    report.log_id = Some(bundle.kernel_id);
    report.verdict = match root {
        Some(root) if root == verified.root => Verdict::Valid,
        Some(root) => Verdict::Invalid {
            place: path.display().to_string(),
            why: format!("it ends at `{}`, not at `{root}`", verified.root),
        },
        None => Verdict::Unverifiable {
            why: format!(
                "consistent, {} entries end at {}; compare that with a checkpoint",
                verified.entries, verified.root
            ),
        },
    };
    report.proven.push(format!(
        "{} entries replay from genesis, and nothing executed without an explicit ALLOW",
        verified.entries
    ));
    report.asserted.push("that these are all entries there ever were: nobody signs this file".to_owned());
    Ok(report)
}
