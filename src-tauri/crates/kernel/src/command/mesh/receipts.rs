//! One list of the receipts of all machines.

use super::MeshDone;
use crate::Error;
use crate::kernel::Kernel;
use crate::mesh_registry::MeshRegistry;
use mesh::{Command, Delivered};

impl Kernel {
    pub(super) fn deliver_receipts(&self, _delivered: &Delivered) -> Result<MeshDone, Error> {
        Ok(MeshDone::default())
    }

    pub(super) fn news_of_receipts(&self, _registry: &MeshRegistry) -> Result<Vec<Command>, Error> {
        Ok(Vec::new())
    }
}
