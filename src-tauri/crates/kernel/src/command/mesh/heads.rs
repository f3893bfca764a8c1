//! Heads of logs, cosigned by the other machines of the same person (HV-3.6-3).

use super::MeshDone;
use crate::Error;
use crate::kernel::Kernel;
use crate::mesh_registry::MeshRegistry;
use mesh::{Command, Delivered};

impl Kernel {
    pub(super) fn deliver_head(&self, _delivered: &Delivered) -> Result<MeshDone, Error> {
        Ok(MeshDone::default())
    }

    pub(super) fn deliver_cosigned(&self, _delivered: &Delivered) -> Result<MeshDone, Error> {
        Ok(MeshDone::default())
    }

    pub(super) fn deliver_rolled_back(&self, _delivered: &Delivered) -> Result<MeshDone, Error> {
        Ok(MeshDone::default())
    }

    pub(super) fn news_of_heads(&self, _registry: &MeshRegistry) -> Result<Vec<Command>, Error> {
        Ok(Vec::new())
    }
}
