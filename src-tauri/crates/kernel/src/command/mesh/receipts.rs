//! One list of the receipts of all machines (mesh.md 1): each tells the digests of its own.

use super::MeshDone;
use crate::Error;
use crate::kernel::Kernel;
use crate::mesh_registry::MeshRegistry;
use crate::query::view;
use mesh::{Command, Delivered, RECEIPTS_MAX, ReceiptLine};
use projections::query::Ask;
use projections::rows::ReceiptRow;

/// Notices of receipts that are told at once; the next ones follow when these are on record.
const NOTICES_AT_ONCE: usize = 4;

impl Kernel {
    /// Receipts that were not told yet, the oldest first; at the very first the newest that are told at once. What other machines
    /// hear of one is its number in the log, its digest and its time.
    pub(super) fn news_of_receipts(&self, registry: &MeshRegistry) -> Result<Vec<Command>, Error> {
        let state = registry.state().filter(|state| state.peers().next().is_some());
        let Some(told) = state.map(mesh::State::told_receipts) else { return Ok(Vec::new()) };
        let limit = u32::try_from(NOTICES_AT_ONCE * RECEIPTS_MAX).unwrap_or(u32::MAX);
        let query = self.query()?;
        let rows: Vec<ReceiptRow> = match told {
            0 => {
                let newest = query.receipts(None, None, Ask { limit, ..Ask::default() }).map_err(view)?;
                newest.rows.into_iter().rev().collect()
            }
            told => query.receipts_after(told, limit).map_err(view)?,
        };
        let lines: Vec<ReceiptLine> = rows.iter().map(line).collect();
        Ok(lines.chunks(RECEIPTS_MAX).map(|lines| Command::Receipts(lines.to_vec())).collect())
    }

    /// Receipts of another machine: the delivery itself puts them into the list.
    pub(super) fn deliver_receipts(&self, delivered: &Delivered) -> Result<MeshDone, Error> {
        if let Delivered::Receipts { from, lines } = delivered {
            tracing::debug!(node = %from, receipts = lines.len(), "receipts of another machine");
        }
        Ok(MeshDone::default())
    }
}

fn line(row: &ReceiptRow) -> ReceiptLine {
    ReceiptLine { number: row.seq, sha256: row.statement_sha256, at: row.issued_at }
}
