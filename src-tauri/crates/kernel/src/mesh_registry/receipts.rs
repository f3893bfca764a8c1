//! The receipts of other machines, as each tells its own. Notices are kept for some time only; this list keeps the newest of each.

use super::{MeshReceipt, MeshRegistry, RECEIPTS_EACH_MAX};
use mesh::{NodeId, ReceiptLine};

impl MeshRegistry {
    /// Takes in receipts that a machine told. What it tells anew is here already.
    pub(crate) fn apply_receipts(&mut self, from: NodeId, lines: &[ReceiptLine]) {
        let newest = self.receipts.of(from).next_back().map_or(0, |one| one.line.number);
        for line in lines {
            // A machine that was put back gives a number twice: both are shown.
            if line.number <= newest && self.receipts.of(from).rev().any(|one| one.line == *line) {
                continue;
            }
            let one = MeshReceipt { place: self.receipts.next_place(), node: from, line: line.clone() };
            self.receipts.push((from, RECEIPTS_EACH_MAX), one, |_| true);
        }
    }
}
