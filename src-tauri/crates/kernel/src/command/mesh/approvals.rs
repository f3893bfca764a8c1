//! Decisions that are asked of a person at another machine.

use super::MeshDone;
use crate::Error;
use crate::kernel::Kernel;
use crate::mesh_registry::MeshRegistry;
use mesh::{Command, Delivered};

impl Kernel {
    pub(super) fn deliver_approval(&self, _delivered: &Delivered) -> Result<MeshDone, Error> {
        Ok(MeshDone::default())
    }

    pub(super) fn news_of_approvals(&self, _registry: &MeshRegistry) -> Result<Vec<Command>, Error> {
        Ok(Vec::new())
    }
}
