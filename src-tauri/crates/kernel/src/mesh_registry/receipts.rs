//! The receipts of other machines, as each tells its own. Notices are kept for some time only; this list keeps what came, the newest.

use super::{MeshReceipt, MeshRegistry, RECEIPTS_MAX};
use mesh::{NodeId, ReceiptLine};

impl MeshRegistry {
    /// Takes in receipts that a machine told. What it tells anew is here already.
    pub(crate) fn apply_receipts(&mut self, from: NodeId, lines: &[ReceiptLine]) {
        let newest = self.receipts.iter().rev().find(|one| one.node == from).map_or(0, |one| one.line.number);
        for line in lines {
            let is_known = |one: &MeshReceipt| one.node == from && one.line == *line;
            // A machine that was put back gives a number twice: both are shown.
            if line.number <= newest && self.receipts.iter().any(is_known) {
                continue;
            }
            self.receipts_told += 1;
            let (place, line) = (self.receipts_told, line.clone());
            self.receipts.push_back(MeshReceipt { place, node: from, line });
            if self.receipts.len() > RECEIPTS_MAX {
                self.receipts.pop_front();
            }
        }
    }
}
